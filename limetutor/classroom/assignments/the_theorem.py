"""Assignment 2: what LIME becomes with many samples: the tilted law, contrasts, local error, signs."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from ...bandwidth.risk import critical_bandwidths
from ...core.boxes import Gaussian, standard_quantiles
from ...core.covariance import covariance
from ...core.models import Linear
from ...core.theory import limit
from ...core.tilted_law import Tilt, gaussian_tilt
from ...course.exercises import named
from ...course.judging.kinds import Function, Paragraph, with_hints
from ...exact.quadratic import Quadratic
from ...results.limit import Limit
from ..questions import assignment

_FOUR = Gaussian(p=4)
_EDGES = standard_quantiles(4)


def _limit(a: Any, xi: Any, nu: float) -> Limit:
    return limit(Linear(a), xi, _FOUR, nu=nu)


def _mean(xi: np.ndarray, nu: float) -> np.ndarray:
    return _limit(np.ones(len(xi)), xi, nu).mu_tilde


def _mass_of(xi: np.ndarray, mean: np.ndarray, sd: float) -> np.ndarray:
    """The mass of the boxes of ξ under normal laws."""
    box = np.searchsorted(_EDGES, xi, side="right")
    ends = scipy.special.ndtr((np.stack([_EDGES[box - 1], _EDGES[box]]) - mean) / sd)
    return ends[1] - ends[0]


def _turning(x: np.ndarray) -> np.ndarray:
    return np.nan_to_num(critical_bandwidths(_FOUR, x[None])[0])


def _seen(xi: float, nu: float, first: int, last: int) -> Tilt:
    """The tilted law, with the boxes from the first to the last (1 is that of ξ) as one."""
    box = np.searchsorted(_EDGES, xi, side="right") - 1
    return gaussian_tilt(xi, nu, 0.0, 1.0, _EDGES[box + first - 1], _EDGES[box + last])


def _with_neighbour(xi: float, nu: float) -> float:
    """The mean in the box of ξ, less that in all boxes but this and the next."""
    two = _seen(xi, nu, 1, 2)
    return float(_seen(xi, nu, 1, 1).inside - (two.inside - two.gap))


def _square(xi: float, nu: float) -> float:
    """The contrast of x²."""
    return float(limit(Quadratic([[1.0]]), [xi], _FOUR, nu=nu).coef[0])


def _bend(xi: float, nu: float) -> float:
    return float(-_seen(xi, nu, 1, 1).gap) / _square(xi, nu)


def _bend_of_means(xi: float, nu: float) -> float:
    """For somebody who squares means."""
    seen = _seen(xi, nu, 1, 1)
    inside = xi + seen.inside
    return float(-seen.gap / (inside**2 - (inside - seen.gap) ** 2))


def _safe(p: int, boxes: slice = slice(None), power: float = 0.5) -> float:
    """The largest critical bandwidth: that at the outer edge of a box on one side of the mean."""
    edges = standard_quantiles(p)[1:-1]
    edges = edges[edges > -1e-9]  # the mean of the data itself may be rounded
    low, high = edges[:-1], edges[1:]
    return float(max(((high - low) / (high + low))[boxes] ** power, default=0.0))


def _opposed(a: np.ndarray, xi: np.ndarray, nu: float) -> np.ndarray:
    return np.sign(_limit(a, xi, nu).coef) == -np.sign(a)


# --- hidden inputs -----------------------------------------------------------------------------


def _instance(rng: np.random.Generator, d: int | None = None) -> tuple[np.ndarray, float]:
    """A position in an inner or outer box, away from the edges, and a bandwidth."""
    d = int(rng.integers(1, 6)) if d is None else d
    xi = rng.uniform(-1.4, 1.4, d).round(2) + 0.003
    return xi, round(float(rng.uniform(0.3, 2)), 2)


def _shares(rng: np.random.Generator) -> tuple[np.ndarray, float]:
    return rng.uniform(0.05, 0.95, int(rng.integers(1, 6))), round(float(rng.uniform(0.05, 1)), 2)


def _below_the_top(rng: np.random.Generator) -> tuple[float, float]:
    """A position in one of the three lower boxes, and a bandwidth."""
    return round(float(rng.uniform(-1.4, 0.66)), 2) + 0.003, round(float(rng.uniform(0.3, 2)), 2)


def _to_bend(rng: np.random.Generator) -> tuple[float, float]:
    """A position and a bandwidth at which x² has a contrast."""
    while True:
        (xi,), nu = _instance(rng, 1)
        if abs(_square(float(xi), nu)) > 0.1:
            return float(xi), nu


def _linear(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    xi, nu = _instance(rng)
    return (rng.choice([-1, 1], len(xi)) * rng.uniform(0.5, 9, len(xi))).round(1), xi, nu


def _signs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Positions near enough to the outer edge of an inner box that signs turn, and some that do not."""
    d = int(rng.integers(3, 7))
    xi = rng.choice([-1, 1], d) * rng.choice([rng.uniform(0.36, 0.66), rng.uniform(0.02, 1.3)], d)
    xi = xi.round(3) + 0.0003
    nu = float(rng.uniform(0.15, 0.95))
    while np.any(np.abs(_turning(xi) - nu) < 0.02):
        nu = float(rng.uniform(0.15, 0.95))
    return rng.choice([-1, 1], d) * rng.uniform(1, 9, d).round(1), xi, round(nu, 4)


EXERCISES = (
    Function(
        name="tilted_mean",
        reference=_mean,
        inputs=_instance,
        mistakes=with_hints(
            lambda xi, nu: xi / (1 + nu),
            "The formula has the square of the bandwidth.",
            lambda xi, nu: xi * nu**2 / (1 + nu**2),
            "Which of the two has more weight when ν is small, ξ or the mean of the data?",
        ),
        nudge="Where does the mean go as ν becomes very small, and as it becomes very large?",
        formula="(ν²μ + σ²ξ) / (ν² + σ²), here with μ = 0 and σ = 1.",
    ),
    Function(
        name="mass",
        reference=lambda xi, nu: _limit(np.ones(len(xi)), xi, nu).alpha,
        inputs=_instance,
        mistakes=with_hints(
            lambda xi, nu: np.full(len(xi), 0.25),
            "That is the mass under the law of the data. The weights have changed the law.",
            lambda xi, nu: _mass_of(xi, _mean(xi, nu), 1.0),
            "The tilted law is narrower than that of the data.",
            lambda xi, nu: _mass_of(xi, xi, nu / np.sqrt(1 + nu**2)),
            "The tilted law does not have its mean at ξ.",
            lambda xi, nu: _mass_of(xi, _mean(xi, nu), nu**2 / (1 + nu**2)),
            "That is a variance where a standard deviation belongs.",
        ),
        nudge="Which law do weighted samples follow, and which interval is the box of ξ?",
        formula="Φ((q₊ − μ̃)/σ̃) − Φ((q₋ − μ̃)/σ̃), with the edges of the box of ξ and σ̃² = ν²/(1 + ν²).",
    ),
    Function(
        name="Sigma",
        reference=lambda alpha, C: C * covariance(alpha),
        inputs=_shares,
        mistakes=with_hints(
            lambda alpha, C: covariance(alpha),
            "The mean weight is missing.",
            lambda alpha, C: C * np.outer(np.append(1.0, alpha), np.append(1.0, alpha)),
            "On the diagonal an indicator meets itself. What is the square of an indicator?",
        ),
        nudge="Which expectation is each entry, and which of the indicators are independent?",
        formula="The corner is C, the first row and the diagonal C α, and between features C α_j α_k.",
    ),
    Function(
        name="coefficients",
        reference=lambda a, xi, nu: _limit(a, xi, nu).coef,
        inputs=_linear,
        mistakes=with_hints(
            lambda a, xi, nu: a,
            "Those are the slopes. LIME does not show them.",
            lambda a, xi, nu: -_limit(a, xi, nu).coef,
            "The sign is the other way round: inside minus outside.",
            lambda a, xi, nu: (1 - _limit(a, xi, nu).alpha) * _limit(a, xi, nu).coef,
            "That is the mean inside the box against the mean of all; the question is about outside.",
        ),
        nudge="A coefficient is a contrast: the mean of what, where, minus the mean of what, where?",
        formula="β_j = a_j (E[x_j | in the box] − E[x_j | not in it]) under the tilted law; the first mean "
        "is μ̃ − σ̃ (φ(r) − φ(l)) / (Φ(r) − Φ(l)) with the standardised edges l and r.",
    ),
    Function(
        name="local_error",
        reference=lambda a, xi, nu: _limit(a, xi, nu).local_error,
        inputs=_linear,
        mistakes=with_hints(
            lambda a, xi, nu: -_limit(a, xi, nu).local_error,
            "The sign is the other way round: the surrogate minus the model.",
            lambda a, xi, nu: a @ (_mean(xi, nu) - xi),
            "The surrogate takes the mean of the box, not the mean of the whole tilted law.",
        ),
        nudge="Where does the surrogate take ξ to be, in each feature?",
        formula="The sum over features of a_j (E[x_j | in the box] − ξ_j), under the tilted law.",
    ),
    Function(
        name="with_neighbour",
        reference=_with_neighbour,
        inputs=_below_the_top,
        mistakes=with_hints(
            lambda xi, nu: float(_seen(xi, nu, 1, 1).gap),
            "That compares with all other boxes. The next one has an indicator of its own now: which samples "
            "does the intercept still describe?",
            lambda xi, nu: float(_seen(xi, nu, 1, 1).inside - _seen(xi, nu, 2, 2).inside),
            "That compares the two boxes with each other. What does the surrogate say of a sample in neither?",
            lambda xi, nu: -_with_neighbour(xi, nu),
            "The sign is the other way round.",
        ),
        nudge="The surrogate has three values now: which samples get which of them?",
        formula="Least squares gives each of the three groups its mean: the intercept is that of the samples in "
        "neither box.",
    ),
    Function(
        name="bend",
        reference=_bend,
        inputs=_to_bend,
        mistakes=with_hints(
            _bend_of_means,
            "The mean of a square is not the square of the mean.",
            lambda xi, nu: -_bend(xi, nu),
            "The sign is the other way round: the two contrasts have to cancel.",
            lambda xi, nu: 1 / _bend(xi, nu),
            "A fraction is upside down.",
        ),
        nudge="The contrast of a sum is the sum of the contrasts. What is the contrast of x alone, and of x² alone?",
        formula="c is minus the contrast of x over that of x², and a contrast is the mean inside minus the mean of "
        "all, divided by 1 − α.",
    ),
    Function(
        name="turning",
        reference=_turning,
        inputs=lambda rng: (rng.normal(size=int(rng.integers(5, 30))),),
        mistakes=with_hints(
            lambda x: _turning(x) ** 2,
            "That is V, the square of the bandwidth.",
            lambda x: np.where(x > 0, _turning(x), 0.0),
            "Below the mean of the data nothing turns in your version: is that so?",
            lambda x: np.sqrt(np.maximum(2 * np.abs(x) / _EDGES[3] - 1, 0)),
            "The two outer boxes have no such bandwidth.",
        ),
        nudge="Which of the four boxes have such a bandwidth, and for which half of them?",
        formula="In an inner box with the edges q₋ and q₊, ν² = V = (2ξ − q₋ − q₊)/(q₋ + q₊), where that is "
        "positive.",
    ),
    Function(
        name="safe",
        reference=_safe,
        inputs=lambda rng: (int(rng.integers(2, 16)),),
        mistakes=with_hints(
            lambda p: 1.0 if p > 3 else 0.0,
            "With an odd number of boxes none of them begins at the mean of the data.",
            lambda p: 1.0,
            "With two or three boxes, and with odd numbers of them, it is something else.",
            lambda p: _safe(p, power=1.0),
            "That is V, the square of the bandwidth.",
            lambda p: _safe(p, slice(-1, None)),
            "That is so in the outermost of the boxes that end. What about the others?",
        ),
        nudge="In which of the boxes can a sign turn, and at which position in it is the bandwidth largest?",
        formula="In a box from q₋ to q₊ above the mean, V = (2ξ − q₋ − q₊)/(q₋ + q₊) grows with ξ, up to ξ = q₊.",
    ),
    Function(
        name="opposed",
        reference=_opposed,
        inputs=_signs,
        mistakes=with_hints(
            lambda a, xi, nu: ~_opposed(a, xi, nu),
            "The other way round: True where the two signs differ.",
            lambda a, xi, nu: _limit(a, xi, nu).coef < 0,
            "Those are the negative coefficients. Which of them should be negative?",
            lambda a, xi, nu: (_turning(xi) > nu) & (xi > 0),
            "It happens below the mean of the data as well.",
            lambda a, xi, nu: _turning(xi) > nu,
            "Those are the signs that a bandwidth has changed. But below the mean of the data a "
            "contrast can oppose the slope from the beginning.",
        ),
        nudge="You can compute the coefficient and you know the slope: what is left to compare?",
        formula="True for a feature where the sign of its coefficient differs from that of a_j.",
    ),
    replace(named("switch-off/1"), name="my_bandwidth"),
    replace(named("switch-off/2"), name="my_position"),
    Paragraph(
        name="the_sign",
        rubric=[
            "A coefficient compares the mean inside the box with the mean outside it; it is no "
            "slope (1 point).",
            "In an inner box data lie on both sides outside, and which side weighs more depends on "
            "ν: so the contrast can vanish and turn (1 point).",
            "More samples do not help: it is a limit, not noise (1 point).",
            "A way out that works: several bandwidths, what-if questions to the model, or an audit "
            "(1 point).",
        ],
    ),
)

POINTS = {
    "tilted_mean": 1, "mass": 3, "Sigma": 2, "coefficients": 3, "local_error": 2,
    "with_neighbour": 4, "bend": 4, "turning": 2, "safe": 3, "opposed": 2, "my_bandwidth": 1,
    "my_position": 1, "the_sign": 4,
}  # fmt: skip

ASSIGNMENT = assignment(2, "the_theorem", "The theorem", EXERCISES, POINTS)
