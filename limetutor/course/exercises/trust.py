"""Exercises of the chapter *Can it be shown?*."""

from ..judging.kinds import Given, Paragraph, Value, between, with_hints


def _shared(a: float, b: float) -> float:
    return float((2 + a**2 + b**2 + (1 - a - b) ** 2) / 3)


EXERCISES = (
    Value(
        given={
            "a": Given(0.5, "the first probability", between(40, 60, per=100)),
            "b": Given(0.3, "the second probability", between(22, 34, per=100)),
        },
        asks="the share of features in common",
        right=_shared,
        mistakes=with_hints(
            lambda a, b: 3 * _shared(a, b),
            "That is how many features two runs have in common. Which share of three is that?",
            lambda a, b: 2 / 3,
            "Two runs can agree on the third place by chance. How likely is that?",
            lambda a, b: (2 + a) / 3,
            "That compares a run with the likeliest list, not two runs with each other.",
        ),
        nudge="When is a feature on both of two lists?",
        formula="The probability that both runs keep a feature is the square of the probability that one does. "
        "Add these squares up and divide by the length of a list.",
        step="(1 + 1 + {a}² + {b}² + …) / 3, with the third probability for the dots.",
    ),
    Paragraph(
        rubric=[
            "Leaves out the reasons that come and go from run to run, or says that they do.",
            "Says what holds for other boxes: which signs stay the same, and that bmi's does not.",
            "Says what a reason rests on: a comparison of two groups of made-up patients.",
            "Adds something that was asked of the model directly, such as the prediction at another bmi.",
            "Reads no coefficient as a slope and claims nothing about the disease.",
        ],
        fewest=40,
    ),
)
