"""How answers are read and compared, on exercises made for the purpose."""

import time
from decimal import Decimal
from fractions import Fraction  # noqa: F401 - a case has it
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # noqa: F401 - a case has it
import pytest
from cases import cases

import limetutor as lt
from limetutor.course.judging.grammar import FORM, UnreadableError, readings
from limetutor.course.judging.kinds import Function, Given, Members, Mistake, Value

HINTS = {"nudge": "Nudge.", "formula": "Formula.", "step": "Step."}


def value(right: Any, **more: Any) -> Value:
    return Value(name="mine/1", asks="it", right=lambda **given: right, **HINTS, **more)


@pytest.mark.parametrize(
    ("answers", "values", "shape"),
    cases(Path(__file__).parent / "support" / "read_answers.txt", globals()),
)
def test_what_an_answer_is_read_as(answers: list[Any], values: list[float], shape: tuple[int, ...]):
    for answer in answers:
        first = readings(answer)[0]
        assert list(first.values) == values and first.shape == shape, answer


def test_a_comma_between_digits_may_mean_three_things():
    assert [r.values for r in readings("20,000")] == [(20.0,), (20_000.0,), (20.0, 0.0)]
    assert [r.values for r in readings("1,2")] == [(1.2,), (1.0, 2.0)]
    assert [r.values for r in readings("20 000")] == [(20.0, 0.0), (20_000.0,)]


@pytest.mark.parametrize(
    ("key", "answers"),
    [
        ("truth", [True, np.bool_(True), [True, 1]]), ("none", [None, [1, None]]),
        ("finite", [float("nan"), [1, np.inf], np.ma.masked_array([1, 2], [True, False]), "1/0", Decimal("sNaN")]),
        ("text", ["hello", "1;;2", ["1, 2", 3]]), ("empty", ["", [], [[], []]]),
        ("huge", [1e101, 10**400]), ("ragged", [[[1, 2], [3]], [[1, 2], 3], "[[1, 2], [3]]"]),
        ("deep", [np.zeros((2, 2, 2))]),
        ("many", [np.zeros(2000), np.zeros((10**9, 0)), [np.zeros((10**9, 0))], range(10**12)]),
        ("long", ["1" + " " * 40_000 + "2", "7" * 1001]),
        ("type", [1j, b"1", {"a": 1}, slice(1), len]), ("dots", [...]),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_in_one_sentence(key: str, answers: list[Any]):
    for answer in answers:
        with pytest.raises(UnreadableError) as problem:
            readings(answer)
        assert problem.value.key == key
        verdict = value(0.5).judge(answer)
        assert verdict.kind == "unread" and FORM[key] in verdict.words


@pytest.mark.parametrize(
    ("right", "kind", "said", "answers"), cases(Path(__file__).parent / "support" / "judged.txt")
)
def test_a_value_is_told_from_what_looks_like_it(right: Any, kind: str, said: str, answers: list):
    for answer in answers:
        verdict = value(right).judge(answer)
        assert verdict.kind == kind and said in verdict.words, answer
        assert str(verdict) == verdict.words


def test_a_number_of_things_is_not_given_in_per_cent():
    share, number = value(0.00477), value(0.00477, count=True)
    assert share.judge("0.477").kind == "close" and number.judge("0.477").kind == "wrong"
    assert lt.judge("sampling/3", 100 * 5000 / 4**10).kind == "wrong"


def test_order_may_not_matter():
    anyhow = value([3.0, 1.0], ordered=False)
    assert anyhow.judge("1, 3").kind == anyhow.judge("3, 1").kind == "right"
    assert anyhow.judge("-3, -1").words == "✗ Not yet. Check the sign."


def test_a_slip_of_the_sign_or_the_order_is_all_that_is_said_however_often():
    for attempt in (1, 2, 3):
        assert value(1.64).judge("-1.64", attempt).words == "✗ Not yet. Check the sign."
        assert value([3.0, 1.5]).judge("1.5, 3", attempt).words.endswith("in the other order.")


def test_the_third_hint_is_given_from_the_third_attempt_on():
    inputs = lambda rng: (rng.normal(size=3),)  # noqa: E731
    doubled = Function(name="mine/2", reference=lambda x: 2 * x, inputs=inputs, **HINTS)
    for attempt, hint in {1: "Nudge.", 2: "Formula.", 3: "Step.", 4: "Step.", 99: "Step."}.items():
        assert doubled.judge(lambda x: 7 * x, attempt).words.endswith(f"not right. {hint}")


def test_a_wrong_count_is_told_first_and_what_the_question_is_about_later():
    assert value([1.0, 2, 3]).judge("1, 2").words == "✗ Not yet. Give 3 numbers, such as 1, 2, 3."
    assert value([1.0, 2, 3]).judge("1, 2", 2).words.endswith("1, 2, 3. Formula.")
    assert "such as 1, 2, 3; 4, 5, 6." in value([[1, 2, 3], [4, 5, 7]]).judge("1").words


def test_two_digits_allow_half_a_unit_of_the_second():
    slider = value(0.5268, digits=2, reason="read off a slider")
    for answer in (0.53, 0.522, 0.5318):
        assert slider.judge(answer).kind == "right"
    for answer in (0.52, 0.54):
        assert slider.judge(answer).kind == "wrong"


def test_a_declared_mistake_comes_before_a_slip_and_is_known_rounded():
    squared = value(0.8823, mistakes=[Mistake(lambda: 0.8823**2, "Take the root.")])
    assert squared.judge(0.7785).words == squared.judge(0.78).words == "✗ Not yet. Take the root."
    assert squared.judge(0.7785, 2).words == "✗ Not yet. Take the root. Formula."
    assert squared.judge(0.7785, 7).words == "✗ Not yet. Take the root. Step."


def test_rounded_so_far_that_it_may_be_a_mistake_it_is_neither():
    tail = value(12.39, mistakes=[Mistake(lambda: 12.02, "The mean lies farther out.")])
    for answer in ("12", 12, 12.0):
        unclear = tail.judge(answer)
        assert unclear.kind == "wrong" and "give three digits" in unclear.words
    assert tail.judge("12.0").words == "✗ Not yet. The mean lies farther out."
    assert tail.judge("12.4").kind == "right"


def test_the_digits_that_a_text_shows():
    shown = {"0.90": 2, "0,9": 1, "12.0": 3, "20": 1, "1.50e3": 3, "007": 1, "3/4": 99, "0": 0}
    assert {text: readings(text)[0].shown[0] for text in shown} == shown


def test_a_number_of_the_question_is_not_the_answer():
    asked = value(0.8823, given={"nu": Given(-0.7, "the bandwidth")})
    told = "That is the bandwidth, which the question gives. You are asked for it."
    assert all(told in asked.judge(answer).words for answer in (-0.7, "0,7"))


def test_numbers_at_which_a_mistake_is_right_are_not_drawn():
    def drawn(values: list[float]) -> Value:
        rows, words = iter(values), HINTS | {"step": "Square {a}."}
        given = {"a": Given(3.0, "a", lambda rng: next(rows))}
        wrong = [Mistake(lambda a: 2 * a, "Twice.")]
        words |= {"name": "mine/1", "asks": "it"}
        return Value(given=given, right=lambda a: a**2, mistakes=wrong, **words)

    variant = drawn([2.0, 1.0, 5.0]).variant(np.random.default_rng(0))
    assert variant.params == {"a": 5.0} and variant.table.ladder[2] == "Square 5."
    with pytest.raises(ValueError, match="mine/1: no numbers"):
        drawn([2.0] * 200).variant(np.random.default_rng(0))


def test_members_in_any_order_one_too_many_one_too_few():
    wrong = [Mistake(lambda: [2, 4, 6], "Even."), Mistake(lambda: [7, 9], "Too large.")]
    odd = Members(name="mine/1", right=lambda: [3, 5], mistakes=wrong, **HINTS)
    for answer in ("3, 5", [5, 3], {3, 5}, "3,5", np.array([3.0, 5.0])):
        assert odd.judge(answer).kind == "right"
    for said, answers in (
        ("Even.", [[3, 4, 5]]),
        ("Too large.", ["7"]),
        ("Nudge.", [[3], "35", [3.9, 5.2]]),
    ):
        for verdict in map(odd.judge, answers):
            assert verdict.kind == "wrong" and said in verdict.words


def test_an_answer_of_the_greatest_length_is_judged_at_once():
    """Patterns that try every pair of spaces would take minutes at this length without its limit."""
    for text in ("1" + " " * 998 + "2", "1/" * 500, "," * 1000, "[(" * 500, "1 ; " * 250):
        start = time.perf_counter()
        value(0.5).judge(text)
        assert time.perf_counter() - start < 0.5, text[:9]


def test_a_thousand_numbers_are_read_and_per_cent_is_known_up_to_two():
    assert len(readings([0.5] * 1000)[0].values) == 1000
    for answer in ([0.5] * 1001, np.zeros((7, 143)), range(1001)):
        with pytest.raises(UnreadableError) as problem:
            readings(answer)
        assert problem.value.key == "many"
    for right, kind in ((0.5, "close"), (2.0, "close"), (2.01, "wrong"), (50.0, "wrong")):
        assert value(right).judge(100 * right).kind == kind
