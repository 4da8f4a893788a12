"""Exercises of the appendix *Gaussian integrals*."""

from typing import Any

import numpy as np

from ...core.truncated import normal_box, tilted_normal
from ..judging.kinds import Function, Given, Value, one_of, with_hints

_OTHERS = ([0.4, 0.2, 0.4], [0.4, 0.3, 0.3], [0.2, 0.6, 0.2])  # frequencies of a variant
_TOP = float(normal_box(1.0, np.inf).mean_inside)  # the mean of N(0, 1) above 1, 1.525


def _contrast(frequency: Any, power: float = 1.0) -> float:
    """β of f(x) = x for ξ in the last of the boxes cut at −1 and 1, at a very large bandwidth."""
    low, middle, _ = np.asarray(frequency, float) ** power
    return _TOP + _TOP * low / (low + middle)


def _dimensions(share: float, per_root: float = 1.0) -> float:
    """The dimension at which the mean weight is the share, for ξ = μ and ν = σ."""
    _, _, log_c = tilted_normal(np.array(0.0), np.array(0.0), 1.0, np.array(1.0))
    return float(np.log(share) / (per_root * log_c))


def _intervals(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    lo = rng.uniform(-40, 40, size=int(rng.integers(4, 10))).round(2)
    return lo, lo + rng.uniform(0.2, 3, size=lo.shape).round(2)


EXERCISES = (
    Value(
        given={"frequency": Given([0.1, 0.5, 0.4], "the frequencies", one_of(*_OTHERS))},
        asks="a coefficient",
        right=_contrast,
        mistakes=with_hints(
            lambda frequency: _contrast(frequency, 0.0),
            "The two other boxes are not equally frequent.",
            lambda frequency: _TOP * (1 - frequency[2] + frequency[0]),
            "You compared the box with all boxes. Compare it with the other two.",
            lambda frequency: _TOP * (1 + frequency[0]),
            "The frequencies of the other two do not add up to 1: that sum is not a mean yet.",
            lambda frequency: _TOP,
            "That is the mean in the box of ξ; the coefficient is a difference.",
        ),
        nudge="What are the means of x in the three boxes? One is obvious, and two mirror each other.",
        formula="At a very large bandwidth, all samples count alike. The mean above 1 is φ(1)/(1 − Φ(1)).",
        step="The means are −1.525, 0 and 1.525. Weight the first two by their frequencies, from {frequency}, "
        "divide by the sum of the two, and subtract that from the third.",
    ),
    Value(
        given={"share": Given(0.01, "the mean weight", one_of(0.05, 0.02, 0.005, 0.001))},
        asks="a dimension",
        right=lambda share: np.ceil(_dimensions(share)),
        mistakes=with_hints(
            _dimensions,
            "A dimension is a whole number. Which is the first below?",
            lambda share: np.floor(_dimensions(share)),
            "Nearly: try that one, it is still above.",
            lambda share: np.ceil(_dimensions(share, 2.0)),
            "Each feature contributes the square root of one half.",
        ),
        nudge="What does one feature contribute to the mean weight, and how do the contributions combine?",
        formula="With ξ at μ, the exponential in c is 1. What is left is ν/√(ν² + σ²), and C is its d-th power.",
        step="C = 2^(−d/2). Find the first whole d with 2^(−d/2) below {share}.",
    ),
    Function(
        reference=lambda lo, hi: normal_box(lo, hi).log_inside,
        inputs=_intervals,
        mistakes=with_hints(
            lambda lo, hi: np.exp(normal_box(lo, hi).log_inside),
            "That is the mass. The question asks for its logarithm, which is finite where the mass rounds to 0.",
            lambda lo, hi: normal_box(lo, np.full_like(hi, np.inf)).log_inside,
            "That is all that lies above the lower end.",
            lambda lo, hi: normal_box(np.full_like(lo, -np.inf), hi).log_inside,
            "That is all that lies below the upper end.",
        ),
        nudge="On which side of 0 is each of the two tails small, and can you work with small numbers only?",
        formula="The mass is the same for the reflected interval. Reflect those below 0; then it is a difference "
        "between two upper tails, whose logarithms scipy.special.log_ndtr computes.",
        step="With a = log_ndtr(-lo) and b = log_ndtr(-hi), the logarithm of the difference is "
        "a + np.log1p(-np.exp(b - a)).",
    ),
)
