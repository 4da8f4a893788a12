"""Judges of the exercises: the right answer is accepted, a likely mistake gets its own hint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import limetutor as lt
from limetutor.course.answers import verdict

Q = stats.norm.ppf(0.75)
WORLD = lt.Gaussian()
OFF = np.sqrt((2 * 0.432 - Q) / Q)  # the critical bandwidth by hand
INSIDE = lt.limit(lt.Linear([1, 1]), [0.961, 0.432], WORLD, nu=1).tilt.inside
WIDE = lt.limit(lt.Linear([10]), [0.961], WORLD, nu=5).coef[0]
QUARTER = stats.truncnorm(Q, np.inf).mean()
BOX = stats.truncnorm(0, Q).mean()

RIGHT = {
    "switch-off/1": np.sqrt((2 * 0.6 - Q) / Q),
    "switch-off/2": Q * (1 + 0.75**2) / 2,
    "switch-off/3": 1,
    "local-error/1": BOX,
    "local-error/2": -INSIDE[0] / INSIDE[1],
    "ten-minutes/1": 10.8,
    "ten-minutes/2": 20_000,
    "welcome/1": OFF,
    "welcome/2": WIDE / 10,
    "integrals/1": QUARTER,
    "integrals/2": 1 / 32,
}

MISTAKES = [
    ("switch-off/1", (2 * 0.6 - Q) / Q, "square of the bandwidth"),
    ("switch-off/1", 3.0, "Which box"),
    ("switch-off/2", Q * 1.75 / 2, "0.75²"),
    ("switch-off/2", 0.1, "between 0 and 0.674"),
    ("switch-off/3", 0.5, "compare the boxes"),
    ("local-error/1", Q / 2, "middle of the box"),
    ("local-error/1", 0.6, "mean of N(0, 1)"),
    ("local-error/2", INSIDE[0] / INSIDE[1], "opposite signs"),
    ("local-error/2", -INSIDE[1] / INSIDE[0], "wrong way round"),
    ("local-error/2", 9.0, "inside₁"),
    ("ten-minutes/1", 1 / 10.8, "not the other way round"),
    ("ten-minutes/1", [10.8, 2.0], "one number"),
    ("ten-minutes/1", 1000.0, "standard error of bmi"),
    ("ten-minutes/2", 10_000, "factor of 1.4"),
    ("ten-minutes/2", 7, "square root"),
    ("welcome/1", 0.9, "Move the slider"),
    ("welcome/2", WIDE, "divide it"),
    ("welcome/2", 3.0, "nu=5"),
    ("integrals/1", QUARTER / 4, "mass of the quarter"),
    ("integrals/1", 0.2, "order 1"),
    ("integrals/2", 2**-0.5, "there are ten"),
    ("integrals/2", 2.0**-10, "root of one half"),
    ("integrals/2", "a lot", "what is left"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_answer_is_accepted(name, capsys):
    lt.check(name, RIGHT[name])
    assert capsys.readouterr().out == "✓ Right.\n"


@pytest.mark.parametrize(("name", "answer", "hint"), MISTAKES)
def test_a_likely_mistake_gets_its_own_hint(name, answer, hint):
    right, text = verdict(name, answer)
    assert not right
    assert text.startswith("✗ Not yet. ") and hint in text


def test_three_dots_are_not_judged():
    right, text = verdict("welcome/1", ...)
    assert not right and "three dots" in text


def test_an_unknown_exercise_is_refused():
    with pytest.raises(ValueError, match=r"exercise must be one of .*, got 'welcome/9'\."):
        lt.check("welcome/9", 1)
