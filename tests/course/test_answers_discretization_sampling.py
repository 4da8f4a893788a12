"""Judges of two chapters: the right answer passes, typical mistakes get their own hint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from limetutor.course.answers import verdict

Z5 = norm.ppf(np.arange(1, 5) / 5)
EDGE = norm.ppf(0.75)
SHARE = np.sqrt(2 / (500 * np.pi)) * (0.5 + 2 * np.sqrt(0.1875))
MEAN = 4 * (norm.pdf(0) - norm.pdf(EDGE))
MASSES = np.diff([0, norm.cdf(-1), norm.cdf(2), 1])

RIGHT = {
    "discretization/1": 94.6 + 13.8 * Z5,
    "discretization/2": 0.1875 / norm.pdf(EDGE) ** 2 / 0.01**2,
    "discretization/3": 1 - (1 - SHARE) ** 10,
    "sampling/1": MEAN,
    "sampling/2": list(MASSES),
    "sampling/3": 5000 / 4**10,
}

WRONG = [
    ("discretization/1", 94.6 + 13.8 * np.array([-np.inf, *Z5, np.inf]), "infinity"),
    ("discretization/1", Z5, "units of the deviation"),
    ("discretization/1", 94.6 + Z5, "deviation is missing"),
    ("discretization/1", 94.6 + 13.8 * norm.ppf([0.25, 0.5, 0.75]), "four boxes"),
    ("discretization/1", 80, "Φ⁻¹"),
    ("discretization/2", 0.25 / norm.pdf(0) ** 2 / 0.01**2, "median"),
    ("discretization/2", np.sqrt(0.1875) / norm.pdf(EDGE) / 0.01, "root of n"),
    ("discretization/2", 1875, "density is missing"),
    ("discretization/2", "many", "solve for n"),
    ("discretization/3", SHARE, "single feature"),
    ("discretization/3", 10 * SHARE, "Adding"),
    ("discretization/3", (1 - SHARE) ** 10, "all ten features stay"),
    ("discretization/3", 0.5, "stay put"),
    ("sampling/1", EDGE / 2, "middle"),
    ("sampling/1", MEAN / 4, "1/4"),
    ("sampling/1", -MEAN, "sign"),
    ("sampling/1", 1.0, "two edges"),
    ("sampling/2", [1 / 3] * 3, "quantile boxes only"),
    ("sampling/2", norm.cdf([-1, 2]), "differences"),
    ("sampling/2", [0.2, 0.7, 0.1], "three numbers"),
    ("sampling/3", 4.0**-10, "5000"),
    ("sampling/3", 1250, "at once"),
    ("sampling/3", 1, "1/4"),
]


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_pass(name):
    assert verdict(name, RIGHT[name]) == (True, "✓ Right.")


@pytest.mark.parametrize(("name", "answer", "hint"), WRONG)
def test_wrong_answers_get_a_hint(name, answer, hint):
    right, text = verdict(name, answer)
    assert not right
    assert hint in text
