"""The judges of the chapters on the number of samples and the real lime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import limetutor as lt
from limetutor.course.answers import verdict
from limetutor.course.experiments import running_example
from limetutor.normal_limit import asymptotic_covariance

F, XI, WORLD = running_example()
BETA = lt.limit(F, XI, WORLD, 1.0).coef[1]
V = asymptotic_covariance(F, XI, WORLD, 1.0)
WIDE, NARROW = (lt.samples_needed(F, XI, WORLD, nu, 1.0) for nu in (1.0, 0.53))
MISMATCH = lt.limit(lt.Linear(np.ones(10)), np.zeros(10), WORLD, 0.75, "mismatch")
S = MISMATCH.alpha[0] * (1 - MISMATCH.alpha[0])


def above(variance: float) -> float:
    return float(norm.sf(0, loc=BETA, scale=np.sqrt(variance)))


RIGHT = {
    "samples/1": 61_466,
    "samples/2": above(V[2, 2] / 500),
    "samples/3": NARROW.weighted / WIDE.weighted,
    "real-lime/1": 4.0,
    "real-lime/2": 99 / (S * MISMATCH.C),
    "real-lime/3": [3, 5],
}
WRONG = [
    ("samples/1", 16_000, "1.96 times"),
    ("samples/1", 7840, "squared"),
    ("samples/1", 61.47, "multiply it by the 1000"),
    ("samples/1", 5, "goes like"),
    ("samples/2", 1 - above(V[2, 2] / 500), "right sign"),
    ("samples/2", above(V[1, 1] / 500), "index 2"),
    ("samples/2", above(V[2, 2]), "divide it by n"),
    ("samples/2", above((V[2, 2] / 500) ** 2), "the root"),
    ("samples/2", 0.5, "how much is above 0"),
    ("samples/3", WIDE.weighted / NARROW.weighted, "other way round"),
    ("samples/3", NARROW.weighted / NARROW.tilted, "two bandwidths"),
    ("samples/3", WIDE.share / NARROW.share, "effective sample sizes"),
    ("samples/3", 2, "Divide"),
    ("real-lime/1", 4 / 3, "multiply it by the slope"),
    ("real-lime/1", 3.0, "*other* boxes"),
    ("real-lime/1", -4.0, "Own box"),
    ("real-lime/1", 28, "Three times"),
    ("real-lime/2", 99 / S, "n C together"),
    ("real-lime/2", 99 / MISMATCH.C, "variance of the indicator"),
    ("real-lime/2", 1 / (S * MISMATCH.C), "one half"),
    ("real-lime/2", 5000, "solve for n"),
    ("real-lime/3", [3, 4], "even number"),
    ("real-lime/3", [3, 5, 7], "too narrow"),
    ("real-lime/3", [3], "one more"),
    ("real-lime/3", 3, "a list"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_accepted(name: str) -> None:
    assert verdict(name, RIGHT[name]) == (True, "✓ Right.")


@pytest.mark.parametrize(("name", "answer", "hint"), WRONG)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    right, words = verdict(name, answer)
    assert not right
    assert hint in words
