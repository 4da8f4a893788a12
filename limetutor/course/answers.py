"""Judges of the chapters whose exercises are not yet declared in ``exercises``; it goes with the last.

A judge is a function of the answer that returns a hint, or None when the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from ..closed_forms import limit
from ..covariance import arrowhead_eigenvalues, covariance, inverse_norm_bound
from ..dependence import correlated_coefficients
from ..kernels import tilt
from ..laws import normal_box
from ..models import Quadratic
from ..multilinear import BoxGame
from ..normal_limit import asymptotic_covariance, effective_sample_size, samples_needed
from ..surrogate import Sums, fit
from ..theory import gaussian_tilt, total_switch_off
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


# --- local error -----------------------------------------------------------------------------


@exercise("local-error/1")
def _the_right_place(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    density = np.exp(-(np.array([0.0, q]) ** 2) / 2) / np.sqrt(2 * np.pi)
    if close(answer, q / 2):
        return "That is the middle of the box; the normal density is higher on its left side."
    if not close(answer, 4 * (density[0] - density[1])):
        return "The surrogate lands on the mean of N(0, 1) within the box: (ϕ(0) - ϕ(q)) / (1/4)."
    return None


@exercise("local-error/2")
def _two_errors(answer: Any) -> str | None:
    inside = gaussian_tilt(
        [0.961, 0.432], 1.0, 0, 1, *zip(*_BOXES_OF_THE_EXAMPLE, strict=True)
    ).inside
    right = -inside[0] / inside[1]
    if close(answer, -right):
        return "The two contributions must have opposite signs: check the sign of your answer."
    if close(answer, 1 / right):
        return "You divided the wrong way round: a₂ multiplies the second distance."
    if not close(answer, right):
        return "Write the error as inside₁ + a₂ inside₂ with the distances from limit(...).tilt."
    return None


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


# --- covariance ------------------------------------------------------------------------------


@exercise("covariance/1")
def _write_it_down(answer: Any) -> str | None:
    matrix = covariance([0.2, 0.5])
    if close(answer, matrix):
        return "The mean weight is missing: every entry is multiplied by 0.3."
    if close(answer, 0.3 * np.outer([1, 0.2, 0.5], [1, 0.2, 0.5])):
        return "On the diagonal an indicator meets itself: z² = z, so it is α, not α²."
    if not close(answer, 0.3 * matrix):
        return "Three rows of three: C(1, α₁, α₂), C(α₁, α₁, α₁α₂), C(α₂, α₁α₂, α₂)."
    return None


@exercise("covariance/2")
def _where_trouble_begins(answer: Any) -> str | None:
    try:
        nu = float(answer)
    except (TypeError, ValueError):
        return "The answer is one number, a bandwidth."
    q = standard_quantiles(4)[3]
    if not 1e-3 < nu < 1e3:
        return "Compare with the width of the box, 0.674: the bandwidth is a fraction of it."
    # the share outside is so steep in the bandwidth that 2% in one are some 25% in the other
    outside = [gaussian_tilt(q / 2, nu * by, 0, 1, 0.0, q).rest for by in (0.98, 1.02)]
    if outside[1] < 0.01:
        return f"At that bandwidth only {outside[0]:.1e} of the tilted law is outside: go up."
    if outside[0] > 0.01:
        return f"At that bandwidth {outside[1]:.1%} of the tilted law is outside already: go down."
    return None


@exercise("covariance/3")
def _a_sharper_bound(answer: Any) -> str | None:
    _, xi, world = running_example()
    alpha = tilt(world, xi, 1.0).alpha
    corner, diagonal = 1 + np.sum(alpha / (1 - alpha)), 1 / (alpha * (1 - alpha))
    if close(answer, corner + diagonal.sum()):
        return "That is the trace; of the second block only its largest eigenvalue counts."
    if close(answer, inverse_norm_bound(alpha)):
        return "That is the paper's bound, 3dA; the two blocks give a much smaller one."
    if close(answer, arrowhead_eigenvalues(alpha)[-1], rtol=1e-3):
        return "That is the largest eigenvalue itself. Bound it by the two blocks."
    if not close(answer, corner + diagonal.max()):
        return "Corner 1 + Σ α/(1-α), plus the largest entry 1/(α(1-α)) of the diagonal block."
    return None


# --- theorem ---------------------------------------------------------------------------------


@exercise("theorem/1")
def _a_step(answer: Any) -> str | None:
    if close(answer, 0.5):
        return "That compares the box with all of the data; compare it with what is outside."
    if close(answer, 0.75):
        return "Outside the box are three quarters of the data; what share of *them* is above 0?"
    if not close(answer, 2 / 3):
        return "P(x > 0 | in the box) minus P(x > 0 | not in the box), each a ratio of quarters."
    return None


@exercise("theorem/2")
def _read_the_gradient_back(answer: Any) -> str | None:
    gap = gaussian_tilt([0.961, 0.432], 1.0, 0, 1, *zip(*_BOXES_OF_THE_EXAMPLE, strict=True)).gap
    seen = np.array([5.7, 5.7])
    if close(answer, seen * gap):
        return "You multiplied by the factor; the coefficient is slope times factor, so divide."
    if close(answer, seen):
        return "Those are the coefficients. Each has its own factor to be divided out."
    if close(answer, (seen / gap)[::-1]):
        return "The two slopes are in the wrong order."
    if not close(answer, seen / gap):
        return "The factors are limit(lt.Linear([1, 1]), xi, world, 1.0).coef; give two slopes."
    return None


@exercise("theorem/3")
def _a_hidden_product(answer: Any) -> str | None:
    if close(answer, 0, atol=1e-9):
        return "There the *slope* of f in x₁ is zero; the tilted mean of x₂ is not, as μ₂ = 1."
    if close(answer, 0.25):
        return "Check the sign: ξ₂ has to pull the tilted mean back to 0 from above."
    if close(answer, -4):
        return "You have ν and σ the wrong way round in μ̃ = (ν²μ + σ²ξ)/(ν² + σ²)."
    if close(answer, -0.5):
        return "The bandwidth enters squared."
    if not close(answer, -0.25):
        return "β₁ is a factor times μ̃₂; set μ̃₂ = (ν²μ₂ + σ²ξ₂)/(ν² + σ²) to zero."
    return None


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
