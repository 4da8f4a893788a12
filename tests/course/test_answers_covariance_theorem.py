"""The judges of the chapters on the covariance and the theorem."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import limetutor as lt
from limetutor.course.answers import verdict
from limetutor.course.experiments import running_example

ALPHA = lt.limit(*running_example(), nu=1.0).alpha
V = ALPHA * (1 - ALPHA)
CORNER = 1 + np.sum(ALPHA / (1 - ALPHA))
FACTORS = lt.limit(lt.Linear([1, 1]), [0.961, 0.432], lt.Gaussian(), nu=1.0).coef


def share_outside(nu: float) -> float:
    """Written out: the mass of the tilted law outside the box, seen from its middle."""
    q = stats.norm.ppf(0.75)
    law = stats.norm(q / 2 / (1 + nu**2), nu / np.sqrt(1 + nu**2))
    return law.cdf(0) + law.sf(q)


TROUBLE = optimize.brentq(lambda nu: share_outside(nu) - 0.01, 0.05, 0.5)

RIGHT = {
    "covariance/1": [[0.30, 0.06, 0.15], [0.06, 0.06, 0.03], [0.15, 0.03, 0.15]],
    "covariance/2": TROUBLE,
    "covariance/3": CORNER + 1 / V.min(),
    "theorem/1": 2 / 3,
    "theorem/2": 5.7 / FACTORS,
    "theorem/3": -0.25,
}
WRONG = [
    ("covariance/1", [[1, 0.2, 0.5], [0.2, 0.2, 0.1], [0.5, 0.1, 0.5]], "mean weight is missing"),
    ("covariance/1", [[0.3, 0.06, 0.15], [0.06, 0.012, 0.03], [0.15, 0.03, 0.075]], "z² = z"),
    ("covariance/1", [0.3, 0.06, 0.15], "Three rows"),
    ("covariance/2", TROUBLE * 1.05, "go down"),
    ("covariance/2", TROUBLE / 1.05, "go up"),
    ("covariance/2", 0.0, "fraction of it"),
    ("covariance/2", "narrow", "one number"),
    ("covariance/3", CORNER + np.sum(1 / V), "trace"),
    ("covariance/3", 30 / V.min(), "paper's bound"),
    ("covariance/3", 10.488, "eigenvalue itself"),
    ("covariance/3", 2.0, "Corner"),
    ("theorem/1", 0.5, "all of the data"),
    ("theorem/1", 0.75, "three quarters"),
    ("theorem/1", 1.0, "quarters"),
    ("theorem/2", 5.7 * FACTORS, "divide"),
    ("theorem/2", [5.7, 5.7], "own factor"),
    ("theorem/2", (5.7 / FACTORS)[::-1], "wrong order"),
    ("theorem/2", 5.0, "two slopes"),
    ("theorem/3", 0.0, "slope"),
    ("theorem/3", 0.25, "sign"),
    ("theorem/3", -4.0, "wrong way round"),
    ("theorem/3", -0.5, "squared"),
    ("theorem/3", 7.0, "μ̃₂"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_the_right_answer_is_accepted(name: str):
    assert verdict(name, RIGHT[name]) == (True, "✓ Right.")


@pytest.mark.parametrize(("name", "answer", "hint"), WRONG)
def test_a_likely_mistake_gets_its_hint(name: str, answer: Any, hint: str):
    right, text = verdict(name, answer)
    assert not right
    assert hint in text


def test_the_bandwidth_may_be_off_by_a_hundredth():
    assert verdict("covariance/2", 1.01 * TROUBLE)[0]
    assert verdict("covariance/2", TROUBLE / 1.01)[0]
