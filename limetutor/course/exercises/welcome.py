"""Exercises of the page *How LIME really behaves*."""

from ..judging.kinds import Paragraph, Value, with_hints


def _features(run: int) -> set[str]:
    """The features on the list of one run of the first figure."""
    from ..figures.welcome import reasons_for

    return {reason.feature for reason in reasons_for(run)}


def _runs_with(feature: str) -> int:
    return sum(feature in _features(run) for run in range(1, 9))


EXERCISES = (
    Value(
        asks="a number of runs",
        right=lambda: _runs_with("age"),
        mistakes=with_hints(
            lambda: 8 - _runs_with("age"),
            "That is how many lists lack it. How many have it?",
            lambda: _runs_with("bp"),
            "That many lists have bp. Look for age.",
            lambda: 8,
            "Look at run 3 once more.",
        ),
        nudge="Move the slider through all eight runs and read the names.",
        formula="Count the runs whose list has a line with age.",
        step="Run 1 has it. Go on to run 8, and count the runs that have it.",
    ),
    Paragraph(
        rubric=[
            "It does not follow: a coefficient compares a box with the other boxes.",
            "With four boxes, the coefficient of the same feature is positive, for the same model.",
            "More samples would not change the sign.",
            "The model itself can be asked about another body mass: on the whole, its prediction rises with bmi.",
        ],
    ),
)
