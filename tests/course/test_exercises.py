"""The declared exercises and ``limetutor.course.check``: what is right, nearly right and wrong."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from answers_table import RIGHT
from scipy import stats
from typed_answers import typed

import limetutor as lt
from limetutor.classroom.assignments import assignments
from limetutor.core.covariance import covariance, inverse_covariance
from limetutor.course.exercises import chapters, exercises
from limetutor.course.judging.grammar import FORM
from limetutor.course.judging.kinds import Function, Members, Paragraph, Tabulated, Value

TABULATED = [e for e in exercises().values() if isinstance(e, Tabulated)]
VALUES = [e for e in TABULATED if isinstance(e, Value)]
FUNCTIONS = [e for e in exercises().values() if isinstance(e, Function)]
QUESTIONS = {q.name: q.exercise for a in assignments().values() for q in a.questions}
SUPPORT = Path(__file__).parent / "support"


def named(items: list[Any]) -> dict[str, Any]:
    return {"argvalues": items, "ids": [item.name for item in items]}


def test_every_typed_answer_gets_its_verdict():
    wrong = []
    for row in typed():
        verdict = lt.judge(row.name, row.text, row.attempt)
        if verdict.kind != row.kind or row.said not in verdict.words:
            wrong.append(f"{row}: {verdict}")
    assert not wrong, "\n".join(wrong)


def test_each_known_mistake_is_the_number_that_a_reader_gets():
    listed = yaml.safe_load((SUPPORT / "mistakes.yml").read_text("utf-8"))
    assert listed.keys() == {e.name for e in VALUES if e.mistakes}
    for name, rows in listed.items():
        assert len(rows) == len(exercises()[name].mistakes)
        for answer, hint in rows.items():
            assert hint in (said := lt.judge(name, str(answer))).words and said.kind == "wrong"


def test_variants_draw_the_numbers_that_are_listed():
    """All values of a number, or how many there are from the least to the greatest; how many texts."""

    def words(values: np.ndarray) -> str:
        if values.dtype.kind == "U":
            return f"{len(np.unique(values))} texts"
        each = [f"{value:g}" for value in np.unique(values.astype(float).round(9))]
        return " ".join(each) if len(each) <= 8 else f"{len(each)} from {each[0]} to {each[-1]}"

    rng, found = np.random.default_rng(0), {}
    for name, exercise in (exercises() | QUESTIONS).items():
        for key, given in exercise.given.items():
            drawn = np.array([given.draw(rng) for _ in range(6000)] if given.draw else [])
            if drawn.size:
                found[f"{name} {key}"] = "; ".join(map(words, drawn.reshape(6000, -1).T))
    assert found == yaml.safe_load((SUPPORT / "draws.yml").read_text("utf-8"))


def test_functions_and_mistaken_functions_return_the_numbers_that_are_listed():
    """Over ten hidden inputs: what is right, then each mistake; first, last, mean size and square."""

    def words(function: Any, inputs: list[Any], params: dict[str, Any]) -> str:
        values = [np.ravel(function(*given, **params)) for given in inputs]
        values = np.concatenate(values).astype(float)
        shown = (values[0], values[-1], np.abs(values).mean(), (values**2).mean())
        return " ".join(f"{value:.4g}" for value in shown)

    found = {}
    for name, exercise in (exercises() | QUESTIONS).items():
        if isinstance(exercise, Function):
            rng = np.random.default_rng(0)
            inputs = [exercise.inputs(rng) for _ in range(10)]
            functions = (exercise.reference, *(mistake.value for mistake in exercise.mistakes))
            found[name] = [words(function, inputs, exercise.params) for function in functions]
    assert found == yaml.safe_load((SUPPORT / "functions.yml").read_text("utf-8"))


@pytest.mark.parametrize(("name", "answer"), RIGHT, ids=[name for name, _ in RIGHT])
def test_what_is_right_agrees_with_another_way_to_compute_it(name: str, answer: Any):
    assert lt.judge(name, answer).kind == "right"


def test_every_exercise_with_a_value_is_computed_in_another_way_too():
    assert {e.name for e in TABULATED} == {name for name, _ in RIGHT}


@pytest.mark.parametrize("exercise", **named(VALUES))
def test_no_judge_accepts_what_is_off_by_three_per_cent(exercise: Value):
    """Unless the precision of the question allows it, and then it says why."""
    for factor in (0.97, 1.03):
        accepted = lt.judge(exercise.name, exercise.value * factor).kind == "right"
        assert not accepted or exercise.reason
    ordinary = exercise.rtol <= 0.005 and exercise.digits == 3
    assert ordinary or exercise.reason, "say why the tolerance is not the usual one"


@pytest.mark.parametrize("exercise", **named(VALUES))
def test_plausible_wrong_answers_that_nobody_declared_are_refused(exercise: Value):
    v = exercise.value
    factors = (1.03, 0.97, 2, 1 / 2, 10, 1 / 10, np.sqrt(2))
    answers = [*(factor * v for factor in factors), 1 - v, v + 1, np.exp(-v)]
    # one more of many is no mistake
    answers = [wrong for wrong in answers if not np.allclose(wrong, v, rtol=0.02)]
    verdicts = [lt.judge(exercise.name, wrong) for wrong in answers]
    assert all(verdict.kind != "right" for verdict in verdicts if exercise.rtol < 0.03)
    unknown = [v for v in verdicts if v.words == f"✗ Not yet. {exercise.table.ladder[0]}"]
    assert len(unknown) >= 4


@pytest.mark.parametrize("exercise", **named(VALUES))
def test_right_and_each_mistake_lie_apart(exercise: Value):
    right = next(row.box for row in exercise.table.rows if row.kind == "right")
    for mistake in exercise.mistakes:
        values = np.ravel(mistake.value(**exercise.params))
        box = exercise.around(exercise._sorted(values))
        assert len(box) != len(right) or any(
            b[1] < a[0] or a[1] < b[0] for a, b in zip(box, right, strict=True)
        ), mistake.hint


@pytest.mark.parametrize("exercise", **named(TABULATED + FUNCTIONS))
def test_no_hint_gives_the_answer_and_the_first_no_formula(exercise: Any):
    ladder = exercise.ladder
    assert len(set(ladder)) == 3
    hints = [m[1] for m in exercise.mistakes]
    for hint in (ladder[0], *hints):
        assert "=" not in hint, f"a formula at the first attempt: {hint}"
    if not isinstance(exercise, Value):
        return
    for hint in (*ladder, *map(exercise._filled, hints), *FORM.values()):
        for number in re.findall(r"[-−]?\d+(?:[.,]\d+)?(?:/\d+)?", hint):
            assert lt.judge(exercise.name, number).kind in ("wrong", "unread"), (
                f"{number} in: {hint}"
            )


@pytest.mark.parametrize("exercise", **named(list(exercises().values())))
def test_hints_are_sentences_in_plain_text(exercise: Any):
    """A capital behind "Not yet.", whatever number is filled in; formulas and code keep their case."""
    told = [*getattr(exercise, "ladder", ()), *(m[1] for m in getattr(exercise, "mistakes", ()))]
    told += getattr(exercise, "rubric", ())
    for hint in map(exercise._filled, told):
        assert not re.match(r"[a-z]{2,},? (?!=)", hint), f"begins with a small letter: {hint}"
        assert not re.search(r"`|(?<!\S)[*_]+\w|\w[*_]+(?!\S)|]\(|\$", hint), f"markdown: {hint}"


@pytest.mark.parametrize("exercise", **named([e for e in TABULATED if e.given]))
def test_a_variant_is_judged_by_its_own_numbers(exercise: Tabulated):
    assert any(given.draw for given in exercise.given.values()), "no number can be drawn"
    rng = np.random.default_rng(0)
    for _ in range(20):
        variant = exercise.variant(rng)
        right = variant.value if isinstance(variant, Value) else variant.right(**variant.params)
        assert variant.judge(right).kind == "right"
        assert np.all(np.isfinite(right))
        for mistake in variant.mistakes:
            assert variant.judge(mistake.value(**variant.params)).kind != "right"
        for given in variant.given.values():
            assert given.shown


def test_attempts_are_counted_by_new_answers_and_later_ones_get_more(capsys):
    steps = exercises()["images/2"].table.ladder  # type: ignore[attr-defined]
    said = []
    for answer in (3, 3, "what?", 4, 5, 6):
        lt.check("images/2", answer)
        said.append(capsys.readouterr().out.strip())
    first, again, unread, *rest = said
    assert first == again == f"✗ Not yet. {steps[0]}" and FORM["text"] in unread
    assert rest == [f"✗ Not yet. {step}" for step in (steps[1], steps[2], steps[2])]


def test_who_asks_for_what_is_not_there_is_told():
    for call in (lt.check, lt.judge):
        for name in ("welcome/9", "switch-off/9", "nowhere/1", "weights", 3):
            said = rf"^name must be that of one of the {len(exercises())} exercises, .*, got {name!r}\.$"
            with pytest.raises(ValueError, match=said):
                call(name, 1)
    with pytest.raises(ValueError, match="attempt must be"):
        lt.judge("switch-off/1", 1, attempt=0)


@pytest.mark.parametrize("exercise", **named(FUNCTIONS))
def test_a_function_is_judged_by_what_it_does(exercise: Function):
    def spoils(*given: Any) -> Any:
        result = exercise.reference(*given)
        for value in given:
            if isinstance(value, np.ndarray):
                value *= 0
        return result

    def raises(*given: Any) -> Any:
        raise KeyError("no such thing")

    assert exercise.judge(exercise.reference).kind == "right"
    assert exercise.judge(lambda *given: exercise.reference(*given), 3).kind == "right"
    for function, words in (
        (spoils, "changes what it was given"),
        (raises, "raises KeyError: 'no such thing'"),
        (lambda: 1, "raises TypeError"),
        (lambda *given: None, "returns nothing"),
        (lambda *given: "yes", "returns 'yes'"),
        (lambda *given: exercise.reference(*given) * np.nan, "nan"),
        (lambda *given: np.zeros((1, 2, 3)), "shape (1, 2, 3)"),
        (lambda *given: 1 - np.asarray(exercise.reference(*given), float), "not right"),
        (3.5, "the function itself"),
        (..., "three dots"),
    ):
        verdict = exercise.judge(function)
        assert verdict.kind == "wrong" and words in verdict.words, verdict
    for mistaken, hint in exercise.mistakes:
        verdict = exercise.judge(mistaken)
        assert verdict.kind == "wrong" and hint in verdict.words


def test_the_ten_lines_are_the_package_on_an_edge_too():
    """At ξ₁ = 0 the box above 0 counts; one step of doubles below it the other, with another sign."""
    lime, f = exercises()["surrogate/2"].reference, lt.Linear([10, -10])
    how = {"n": 2000, "seed": 2}
    first = []
    for xi in (np.array([0, 0.4]), np.array([np.nextafter(0, -1), 0.4])):
        ex = lt.explain(f, xi, lt.Gaussian(), nu=1.0, sampler="gaussian", **how)
        np.testing.assert_allclose(lime(f, xi, 1.0, **how), [ex.intercept, *ex.coef], rtol=1e-6)
        first.append(ex.coef[0])
    assert first[0] > 1 and first[1] < -1


@pytest.mark.parametrize("whole", [True, False], ids=["Σ", "its inverse"])
def test_who_builds_a_matrix_where_none_is_to_be_built_is_told(whole: bool):
    def by_matrix(alpha: np.ndarray, C: float, gamma: np.ndarray) -> np.ndarray:
        return (
            np.linalg.solve(C * covariance(alpha), gamma)
            if whole
            else (inverse_covariance(alpha) @ gamma / C)
        )

    def one_by_one(alpha: np.ndarray, C: float, gamma: np.ndarray) -> list[float]:
        """Without a matrix, and without numpy."""
        pairs = zip(alpha, gamma[1:], strict=True)
        coef = [(g - a * gamma[0]) / (C * a * (1 - a)) for a, g in pairs]
        return [gamma[0] / C - sum(a * b for a, b in zip(alpha, coef, strict=True)), *coef]

    exercise = exercises()["covariance/5"]
    verdict = exercise.judge(by_matrix)
    assert verdict.kind == "wrong" and "it builds a matrix" in verdict.words
    assert exercise.judge(one_by_one).kind == "right"


def test_each_attempt_sees_other_inputs():
    exercise = FUNCTIONS[0]
    seen: list[str] = []

    def records(*given: Any) -> Any:
        seen.append(repr(given))
        return exercise.reference(*given)

    for attempt in (1, 1, 2):
        exercise.judge(records, attempt)
    one, two, three = (seen[k : k + exercise.calls] for k in range(0, len(seen), exercise.calls))
    assert one == two and not set(one) & set(three)


def test_a_paragraph_is_compared_not_judged():
    for exercise in exercises().values():
        if isinstance(exercise, Paragraph):
            assert len(exercise.rubric) >= 3
            for answer in (..., 3, "", "Too short."):
                assert exercise.judge(answer).kind == "wrong"
            verdict = exercise.judge("word " * 40)
            assert verdict.kind == "close"
            assert all(point in verdict.words for point in exercise.rubric)


def test_names_follow_the_order_of_the_page():
    for stem, declared in chapters().items():
        names = [e.name for e in declared]
        chapter = names[0].partition("/")[0]
        assert names == [f"{chapter}/{k}" for k in range(1, len(names) + 1)], stem
        assert any(isinstance(e, Function | Paragraph) for e in declared), stem
    assert not {type(e) for e in exercises().values()} - {Value, Members, Function, Paragraph}


def test_who_takes_an_edge_for_the_middle_of_the_box_is_told():
    """The fifth of six boxes, from 0.4307 to 0.9674 deviations of 2: each known mistake by hand."""
    low, high = stats.norm.ppf([2 / 3, 5 / 6])
    right = 2 * np.sqrt((high - low) / (high + low))
    assert lt.judge("interactions/1", right).kind == "right"
    for answer, words in (
        (right / np.sqrt(2), "are squared"),
        (np.sqrt(2) * right, "a factor of 2"),
        (2 * np.sqrt((high - low) / (2 * high)), "You took its upper edge"),
    ):
        said = lt.judge("interactions/1", answer)
        assert said.kind == "wrong" and words in said.words, said


def test_hidden_pixels_have_no_tone_of_the_superpixel():
    """Then every pixel counts in the sum, in the question and in each variant of it."""
    exercise, rng = exercises()["images/1"], np.random.default_rng(0)
    for asked in (exercise.variant(rng) for _ in range(100)):
        assert asked.params["hidden"] not in asked.params["tones"]


def test_frequencies_of_a_variant_add_up():
    for seed in range(20):
        drawn = exercises()["integrals/1"].variant(np.random.default_rng(seed))
        assert sum(drawn.params["frequency"]) == pytest.approx(1)
