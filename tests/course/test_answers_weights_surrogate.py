"""The judges of the chapters on weights and the surrogate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import limetutor as lt
from limetutor.course.answers import verdict
from limetutor.course.experiments import running_example

AT = lt.limit(*running_example(), nu=1.0)
S = AT.alpha[0] * (1 - AT.alpha[0])
NU = 0.75 * np.sqrt(10)

RIGHT = {
    "weights/1": 0.5,
    "weights/2": 100 / (np.sqrt(3) / 2) ** 20,
    "weights/3": 1 / (1 + 3 * np.exp(-1 / (2 * NU**2))),
    "surrogate/1": [1.5, 0.5],
    "surrogate/2": [0.3, -0.05, 0.06],
    "surrogate/3": 10_000 * AT.C * S,
}
WRONG = [
    ("weights/1", 0.25, "take the root"),
    ("weights/1", 2.0, "towards ξ"),
    ("weights/1", 1.0, "Solve"),
    ("weights/2", 100 * 2.0**10, "mean weight"),
    ("weights/2", 100 / (np.sqrt(3) / 2), "one feature"),
    ("weights/2", 2000, "Divide"),
    ("weights/3", 0.25, "before weighting"),
    ("weights/3", 1 / (1 + 3 * np.exp(-1 / NU**2)), "square root"),
    ("weights/3", 1 / (1 + 3 * np.exp(-1 / (2 * 7.5**2))), "0.75 √d"),
    ("weights/3", 0.9, "four boxes"),
    ("surrogate/1", [0.5, 1.5], "comes first"),
    ("surrogate/1", [1.5, 0.0], "weights out"),
    ("surrogate/1", [1.5, 2.0], "difference"),
    ("surrogate/1", 0.5, "weighted mean"),
    ("surrogate/2", [-0.7, -0.05, 0.06], "add up to 1"),
    ("surrogate/2", [0.7, 0.05, -0.06], "missing"),
    ("surrogate/2", "C", "three probabilities"),
    ("surrogate/3", 10_000 * S, "n C together"),
    ("surrogate/3", 10_000 * AT.C, "total weight"),
    ("surrogate/3", AT.C * S, "multiply by n"),
    ("surrogate/3", 1, "solve for λ"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_accepted(name: str) -> None:
    assert verdict(name, RIGHT[name]) == (True, "✓ Right.")


@pytest.mark.parametrize(("name", "answer", "hint"), WRONG)
def test_wrong_answers_get_their_hint(name: str, answer: Any, hint: str) -> None:
    right, words = verdict(name, answer)
    assert not right
    assert hint in words
