"""Judges of the chapters whose exercises are not yet declared in ``exercises``; it goes with the last.

A judge is a function of the answer that returns a hint, or None when the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..closed_forms import limit
from ..kernels import tilt
from ..laws import normal_box
from ..normal_limit import effective_sample_size
from ..surrogate import Sums, fit
from ..theory import gaussian_tilt
from ..worlds import Gaussian, edge_stderr, misplaced_share, standard_quantiles
from .experiments import running_example

Judge = Callable[[Any], str | None]

_EXERCISES: dict[str, Judge] = {}


def verdict(exercise: str, answer: Any) -> tuple[bool, str]:
    """Whether the answer is right, and what to tell the reader."""
    if answer is Ellipsis:
        return False, "Replace the three dots with your answer, then run the cell again."
    hint = _EXERCISES[exercise](answer)
    return (True, "✓ Right.") if hint is None else (False, f"✗ Not yet. {hint}")


def exercise(name: str) -> Callable[[Judge], Judge]:
    """Register the judge of an exercise under its name, ``chapter/number``."""

    def register(judge: Judge) -> Judge:
        _EXERCISES[name] = judge
        return judge

    return register


def close(answer: Any, expected: Any, rtol: float = 0.01, atol: float = 0.0) -> bool:
    """Whether the answer has the shape of what is expected and lies within tolerance."""
    try:
        answer = np.asarray(answer, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return False
    expected = np.asarray(expected, dtype=float)
    return answer.shape == expected.shape and np.allclose(answer, expected, rtol=rtol, atol=atol)


_BOXES_OF_THE_EXAMPLE = [standard_quantiles(4)[3:5], standard_quantiles(4)[2:4]]


# --- LIME in ten minutes ---------------------------------------------------------------------


@exercise("ten-minutes/1")
def _read_a_weight(answer: Any) -> str | None:
    if close(answer, 0, atol=1.0):
        return "Divide the coefficient by its standard error, not the other way round."
    if np.ndim(answer) > 0:
        return "Give one number: pick the entry of bmi by its position in ours.names."
    if not (isinstance(answer, int | float | np.floating) and 5 < answer < 60):
        return "Take the coefficient of bmi and divide it by the standard error of bmi."
    return None


@exercise("ten-minutes/2")
def _half_the_noise(answer: Any) -> str | None:
    if close(answer, 10_000):
        return "Twice the samples shrink the noise by a factor of 1.4 only."
    if not close(answer, 20_000):
        return "The standard error falls with the square root of n."
    return None


# --- discretization --------------------------------------------------------------------------


@exercise("discretization/1")
def _cut_the_blood_pressure(answer: Any) -> str | None:
    q = standard_quantiles(5)
    right = 94.6 + 13.8 * q[1:-1]
    if close(answer, 94.6 + 13.8 * q):
        return "Those are all six edges; leave out the two at infinity."
    if close(answer, q[1:-1]):
        return "Those are the edges in units of the deviation: multiply by σ and add μ."
    if close(answer, 94.6 + q[1:-1]):
        return "The deviation is missing: multiply the standard quantiles by 13.8."
    if close(answer, 94.6 + 13.8 * standard_quantiles(4)[1:-1]):
        return "Those are the edges of four boxes; five boxes have four inner edges."
    if not close(answer, right, rtol=1e-3):
        return "The edges are μ + σ Φ⁻¹(k/5) for k = 1 to 4; standard_quantiles(5) has the Φ⁻¹."
    return None


@exercise("discretization/2")
def _enough_training_values(answer: Any) -> str | None:
    once = edge_stderr(4, 1)
    n = (once[2] / 0.01) ** 2
    if close(answer, (once[1] / 0.01) ** 2):
        return "That is right for the median; the third quartile is the last of the three edges."
    if close(answer, once[2] / 0.01):
        return "That is the root of n: the standard error falls like 1/√n, so square it."
    if close(answer, 0.25 * 0.75 / 0.01**2):
        return "The density is missing: an error in the share is divided by ϕ at the edge."
    if not close(answer, n):
        return "The standard error is edge_stderr(4, 1)[2] / √n; set it to 0.01 and solve for n."
    return None


@exercise("discretization/3")
def _ten_features(answer: Any) -> str | None:
    share = misplaced_share(4, 500)
    if close(answer, share):
        return "That is the chance for a single feature."
    if close(answer, 10 * share):
        return "Adding counts an instance twice when two of its features move; multiply instead."
    if close(answer, (1 - share) ** 10):
        return "That is the chance that all ten features stay where they are."
    if not close(answer, 1 - (1 - share) ** 10):
        return "All ten stay put with probability (1 - s)¹⁰, where s = misplaced_share(4, 500)."
    return None


# --- sampling --------------------------------------------------------------------------------


@exercise("sampling/1")
def _mean_of_a_box(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    mean = float(normal_box(0.0, q).mean_inside)
    if close(answer, q / 2):
        return "That is the middle of the box; the density is higher towards 0, so the mean is not."
    if close(answer, mean / 4):
        return "Divide by the probability of the box, which is 1/4."
    if close(answer, -mean):
        return "The sign is wrong: it is ϕ at the lower edge minus ϕ at the upper edge."
    if not close(answer, mean, rtol=2e-3):
        return "Put the two edges, 0 and 0.674, into (ϕ(lo) - ϕ(hi)) / (Φ(hi) - Φ(lo))."
    return None


@exercise("sampling/2")
def _how_often_a_box(answer: Any) -> str | None:
    inner = float(np.exp(normal_box(-1.0, 2.0).log_inside))
    first = float(np.exp(normal_box(-np.inf, -1.0).log_inside))
    right = [first, inner, 1 - first - inner]
    if close(answer, [1 / 3, 1 / 3, 1 / 3]):
        return (
            "Equal chances are right for quantile boxes only; these boxes are not equally likely."
        )
    if close(answer, np.cumsum(right)) or close(answer, np.cumsum(right)[:2]):
        return "Those are the distribution function at the edges: take differences."
    if not close(answer, right):
        return "Each box must be drawn with its probability under N(0, 1); give three numbers."
    return None


@exercise("sampling/3")
def _all_ten_boxes(answer: Any) -> str | None:
    if close(answer, 0.25**10):
        return "That is the probability for one example; there are 5000 of them."
    if close(answer, 5000 * 10 / 4) or close(answer, 5000 / 4):
        return "All ten features must agree at once: the probabilities multiply."
    if not close(answer, 5000 * 0.25**10):
        return "One feature agrees with probability 1/4, independently of the others."
    return None


# --- weights ---------------------------------------------------------------------------------


@exercise("weights/1")
def _place_the_mean(answer: Any) -> str | None:
    square = 1 / 0.8 - 1
    if close(answer, square):
        return "That is ν²: take the root."
    if close(answer, 0.8 / (1 - 0.8)) or close(answer, np.sqrt(0.8 / (1 - 0.8))):
        return "A small bandwidth pulls the mean towards ξ: the weight of ξ is σ², not ν²."
    if not close(answer, np.sqrt(square)):
        return "Solve ξ / (1 + ν²) = 0.8 for ν."
    return None


@exercise("weights/2")
def _buy_a_hundred(answer: Any) -> str | None:
    xi = np.zeros(20)
    right = 100 / effective_sample_size(xi, Gaussian(), 1.0, 1)
    if close(answer, 100 * np.exp(-tilt(Gaussian(), xi, 1.0).log_mass.sum())):
        return "You divided by the mean weight C(ν). The share is C(ν)² / C(ν/√2)."
    if close(answer, 100 / effective_sample_size([0.0], Gaussian(), 1.0, 1)):
        return "That is for one feature; the share is a product over all twenty."
    if not close(answer, right):
        return "Divide 100 by the share C(ν)² / C(ν/√2) of one sample, with d = 20."
    return None


@exercise("weights/3")
def _a_tilted_box(answer: Any) -> str | None:
    nu = 0.75 * np.sqrt(10)
    alpha = lambda away: 0.25 / (0.25 + 0.75 * away)  # noqa: E731
    right = tilt(Gaussian(), np.zeros(10), nu, "mismatch").alpha[0]
    if close(answer, 0.25, rtol=1e-3):
        return "That is the mass before weighting; the other three boxes now count less."
    if close(answer, alpha(np.exp(-1 / nu**2)), rtol=1e-3):
        return "lime takes the square root of exp(-D²/ν²): the exponent is -1 / 2ν²."
    if close(answer, alpha(np.exp(-1 / (2 * 7.5**2))), rtol=1e-3):
        return "The bandwidth is 0.75 √d, not the 0.75 d that the paper prints."
    if not close(answer, right, rtol=1e-3):
        return "Weigh the four boxes: mass 1/4 with weight 1, mass 3/4 with weight exp(-1/2ν²)."
    return None


# --- surrogate -------------------------------------------------------------------------------


@exercise("surrogate/1")
def _a_fit_by_hand(answer: Any) -> str | None:
    z, w, y = np.array([[1], [1], [0], [0]], bool), [1, 0.5, 0.25, 0.25], np.array([3.0, 0, 1, 2])
    sums = Sums(1)
    sums.add(z, y, np.log(w))
    right = fit(sums).beta
    if close(answer, right[::-1]):
        return "The intercept comes first."
    if close(answer, [1.5, 0.0], atol=1e-9):
        return "You left the weights out: the two examples in the box do not count alike."
    if close(answer, [right[0], right.sum()]):
        return "The second number is the value in the box; the coefficient is the difference."
    if not close(answer, right):
        return "Take the weighted mean of the responses where z = 0, and where z = 1."
    return None


@exercise("surrogate/2")
def _the_third_class(answer: Any) -> str | None:
    right = np.array([1.0, 0, 0]) - [0.2, 0.30, -0.10] - [0.5, -0.25, 0.04]
    if close(answer, [-0.7, -0.05, 0.06]):
        return "The coefficients are right, but the intercepts add up to 1, not to 0."
    if close(answer, [0.7, 0.05, -0.06]):
        return "That is the sum of A and B; C is what is missing to 1."
    if not close(answer, right):
        return "For every example the three probabilities add up to 1. What follows for the fits?"
    return None


@exercise("surrogate/3")
def _half_of_it(answer: Any) -> str | None:
    at, n = limit(*running_example(), nu=1.0), 10_000
    s = at.alpha[0] * (1 - at.alpha[0])
    if close(answer, n * s):
        return "The n samples weigh n C together, not n."
    if close(answer, n * at.C):
        return "That is the total weight; multiply by the variance α(1-α) of the indicator."
    if close(answer, at.C * s):
        return "That is the penalty per sample; multiply by n."
    if not close(answer, n * at.C * s):
        return "Set s / (s + λ/(nC)) = 1/2 and solve for λ."
    return None


# --- welcome ---------------------------------------------------------------------------------


@exercise("welcome/1")
def _warm_up(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    if not close(answer, np.sqrt((2 * 0.432 - q) / q), rtol=0, atol=0.015):
        return "Move the slider until the second bar is gone and read the value beside it."
    return None


@exercise("welcome/2")
def _very_wide(answer: Any) -> str | None:
    gap = gaussian_tilt(0.961, 5.0, 0, 1, *_BOXES_OF_THE_EXAMPLE[0]).gap
    if close(answer, 10 * gap):
        return "That is the coefficient; divide it by the slope."
    if not close(answer, gap):
        return "Compute the limit at nu=5 and divide its first coefficient by 10."
    return None
