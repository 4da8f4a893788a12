"""Judges of the chapters whose exercises are not yet declared in ``exercises``; it goes with the last.

A judge is a function of the answer that returns a hint, or None when the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from ..closed_forms import limit
from ..dependence import correlated_coefficients
from ..kernels import tilt
from ..models import Quadratic
from ..multilinear import BoxGame
from ..normal_limit import asymptotic_covariance, samples_needed
from ..theory import total_switch_off
from ..worlds import Gaussian, standard_quantiles
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


# --- Gaussian integrals ----------------------------------------------------------------------


@exercise("integrals/1")
def _mean_of_a_quarter(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    right = 4 * np.exp(-(q**2) / 2) / np.sqrt(2 * np.pi)
    if close(answer, right / 4):
        return "That is the integral of x ϕ(x); divide it by the mass of the quarter."
    if not close(answer, right):
        return "The mean is (integral of order 1) / (integral of order 0), without a weight."
    return None


@exercise("integrals/2")
def _lost_weight(answer: Any) -> str | None:
    if close(answer, 2**-0.5):
        return "That is one coordinate; there are ten."
    if close(answer, 2.0**-10):
        return "Each coordinate contributes ν/√(ν²+σ²): the root of one half, not one half."
    if not close(answer, 2.0**-5):
        return "With ξ = μ the exponential is 1; what is left of c when ν = σ?"
    return None


# --- how many samples ------------------------------------------------------------------------


@exercise("samples/1")
def _plan_a_run(answer: Any) -> str | None:
    if close(answer, 1000 * (0.4 / 0.1) ** 2):
        return "That brings the standard error to 0.1; the interval is 1.96 times as wide."
    if close(answer, 1000 * 1.96 * 0.4 / 0.1):
        return "Noise falls with the square root of n: the factor has to be squared."
    if close(answer, (1.96 * 0.4 / 0.1) ** 2):
        return "That is the factor; multiply it by the 1000 samples of the first run."
    if not close(answer, 1000 * (1.96 * 0.4 / 0.1) ** 2, rtol=0.05):
        return "The interval is ±1.96 times 0.4 at n = 1000, and goes like 1/√n."
    return None


@exercise("samples/2")
def _other_sign(answer: Any) -> str | None:
    f, xi, world = running_example()
    beta = limit(f, xi, world, 1.0).coef[1]
    V = asymptotic_covariance(f, xi, world, 1.0)

    def above(variance: float) -> float:
        return float(scipy.special.ndtr(beta / np.sqrt(variance)))

    right = above(V[2, 2] / 500)
    if close(answer, 1 - right):
        return "That is the probability that the estimate has the sign of its limit."
    if close(answer, above(V[1, 1] / 500)):
        return "V starts with the intercept: the second coefficient has index 2."
    if close(answer, above(V[2, 2])):
        return "V is the covariance of √n (β̂ - β): divide it by n."
    if close(answer, above((V[2, 2] / 500) ** 2)):
        return "V holds variances: the scale of the normal law is the root."
    if not close(answer, right):
        return "The coefficient is about normal with mean β₂ and variance V₂₂/500; how much is above 0?"
    return None


@exercise("samples/3")
def _price_of_locality(answer: Any) -> str | None:
    f, xi, world = running_example()
    wide, narrow = (samples_needed(f, xi, world, nu, 1.0) for nu in (1.0, 0.53))
    if close(answer, wide.weighted / narrow.weighted):
        return "The other way round: the small bandwidth needs more."
    if close(answer, narrow.weighted / narrow.tilted):
        return "That compares weighted with tilted samples; compare the two bandwidths."
    if close(answer, wide.share / narrow.share):
        return "That is the ratio of effective sample sizes; the residuals change with ν as well."
    if not close(answer, narrow.weighted / wide.weighted, rtol=0.02):
        return "Divide .weighted of lt.samples_needed at ν = 0.53 by the one at ν = 1."
    return None


# --- the real lime ---------------------------------------------------------------------------


@exercise("real-lime/1")
def _by_hand(answer: Any) -> str | None:
    means = np.array([20.0, 24.0, 28.0, 36.0])
    right = 3 * (means[2] - means[[0, 1, 3]].mean())
    if close(answer, right / 3):
        return "That is the gap between the boxes; multiply it by the slope."
    if close(answer, 3 * (means[2] - means.mean())):
        return "Compare with the mean of the *other* boxes, without the patient's own."
    if close(answer, -right):
        return "Own box minus the others, not the other way round."
    if not close(answer, right):
        return "Three times (28 minus the mean of 20, 24 and 36)."
    return None


@exercise("real-lime/2")
def _enough_against_ridge(answer: Any) -> str | None:
    at = tilt(Gaussian(), np.zeros(10), 0.75, "mismatch")
    s, mass = float(at.alpha[0] * at.rest[0]), float(np.exp(at.log_mass.sum()))
    right = 99 / (s * mass)
    if close(answer, 99 / s):
        return "The n samples weigh n C together, not n."
    if close(answer, 99 / mass):
        return "The weight is compared with 1/s, s = α(1-α) being the variance of the indicator."
    if close(answer, 1 / (s * mass)):
        return "That many samples leave one half; ask for 99%."
    if not close(answer, right, rtol=0.02):
        return "Set s / (s + 1/(nC)) = 0.99 and solve for n; alpha and C are those of lt.limit."
    return None


@exercise("real-lime/3")
def _where_it_hides(answer: Any) -> str | None:
    right = {p for p in range(3, 13, 2) if standard_quantiles(p)[p // 2 + 1] > 0.2}
    try:
        given = {int(p) for p in answer}
    except (TypeError, ValueError):
        return "Give a list of numbers of boxes, such as [2, 4]."
    if any(p % 2 == 0 for p in given):
        return "An even number of boxes has an edge at 0: no box is symmetric."
    if given - right:
        return f"With {max(given - right)} boxes the middle one is too narrow to hold 0.2."
    if right - given:
        return "There is at least one more: how wide is the middle box of an odd number?"
    return None


# --- beyond linear ---------------------------------------------------------------------------


@exercise("beyond-linear/1")
def _bottom_of_the_parabola(answer: Any) -> str | None:
    right = float(limit(Quadratic([[1.0]]), [0.0], Gaussian(), nu=1e6).coef[0])
    if close(answer, 0, atol=1e-6):
        return (
            "That is the gradient; LIME compares the mean of x² in the box with the mean outside."
        )
    if close(answer, 0.75 * right):
        return "That compares the box with all of the data; compare it with what is outside."
    if close(answer, -right):
        return "The sign is wrong: inside the box x² is smaller."
    if not close(answer, right):
        return "With m the mean of x² in the box, the mean outside is (1 - m/4) / (3/4)."
    return None


@exercise("beyond-linear/2")
def _a_cubic(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    right = 0.5**3 - q**3
    if close(answer, 0.5**3):
        return "That is the secant to the edge 0; the other edge of the box is nearer."
    if close(answer, 3 * 0.5**2 * (0.5 - q)):
        return "That is the tangent at ξ; take the difference of f at ξ and at the edge."
    if close(answer, -right):
        return "The sign is wrong: it is f at ξ minus f at the edge."
    if not close(answer, right):
        return "Which edge of the box of 0.5 is nearest? The limit is f(ξ) minus f there."
    return None


@exercise("beyond-linear/3")
def _sharing_a_product(answer: Any) -> str | None:
    if close(answer, [2, 2]):
        return "That is input × gradient; Shapley values add up to f(ξ) - E[f] = 2."
    if close(answer, [2, 1]):
        return "That is the gradient at ξ; take means over the two orders."
    if not close(answer, [1, 1]):
        return "Work out v of the four coalitions; then the two orders, 1 before 2 and 2 before 1."
    return None


# --- interactions and dependence -------------------------------------------------------------


@exercise("interactions/1")
def _nothing_to_see(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    right = total_switch_off(Gaussian(mu=5, sigma=2, p=4), nu=1.0, d=1)[0]
    if close(answer, right - 5):
        return "That is the distance from the mean: add μ."
    if close(answer, 5 + q, rtol=1e-3):
        return "That is the middle of the box, where the tilted mean must be; ξ lies farther out."
    if close(answer, 5 + 2 * q, rtol=1e-3):
        return "That is right for σ = 1 = ν, or the edge of the box; here ν²/σ² is 1/4."
    if not close(answer, right, rtol=1e-3):
        return "The box goes from 5 to 5 + 2q; with m its middle, ξ = m + (ν²/σ²)(m - μ)."
    return None


@exercise("interactions/2")
def _turn_it_off(answer: Any) -> str | None:
    product = Quadratic([[0, 0.5], [0.5, 0]])
    game = BoxGame.of(product, [1.2, 1.2], Gaussian(mu=[0, -0.5]))
    nu = float(game.critical_widths(0)[0])
    if close(answer, nu**2):
        return "That is ν²: take the root."
    if close(answer, nu * np.sqrt(2)):
        return "The weight of a mismatch is exp(-1/2ν²): a factor of 2 is missing."
    if close(answer, game.alpha(nu)[1]):
        return "That is the frequency α at which the mean of x₂ is 0; now find the width."
    if not close(answer, nu):
        return (
            "Find the α at which x₂ has mean 0: α x̄₊ + (1-α) x̄₋ = 0. Then α/(1-α) = exp(1/2ν²)/3."
        )
    return None


@exercise("interactions/3")
def _credit_for_nothing(answer: Any) -> str | None:
    used, ignored = correlated_coefficients(0.5, (0.0, np.inf), (0.0, np.inf))
    if close(answer, 0, atol=1e-6):
        return "That is what LIME gives, which draws the features apart."
    if close(answer, used):
        return "That is the coefficient of x₁; solve for the other one."
    if close(answer, 2 / np.sqrt(2 * np.pi)):
        return "That is the difference of means; with correlated indicators least squares shares."
    if not close(answer, ignored):
        return "Solve β₁/4 + β₂/12 = φ(0) and β₁/12 + β₂/4 = φ(0)/2."
    return None
