"""Exercises of the chapter *The covariance and its inverse*."""

from typing import Any

import numpy as np

from ...core.boxes import standard_quantiles
from ...precision.arrowhead import arrowhead_eigenvalues, inverse_norm_bound
from ..judging.kinds import Function, Given, Value, between, one_of, some_of, with_hints

_EDGE = float(standard_quantiles(4)[3])  # the third quartile, 0.6745


def _sigma(corner: float, first: float, second: float, coupling: float) -> np.ndarray:
    """Σ of two features from its corner, its first row and the entry that couples them."""
    return np.array([[corner, first, second], [first, first, coupling], [second, coupling, second]])


def _with_squares(C: float, first: float, second: float) -> np.ndarray:
    """The diagonal of somebody who squares probabilities there."""
    matrix = _sigma(C, first, second, first * second / C)
    matrix[1, 1], matrix[2, 2] = first**2 / C, second**2 / C
    return matrix


def _first_row(alpha: Any, C: float, corner: float = 1.0, sign: float = -1.0) -> np.ndarray:
    """The first row of Σ⁻¹ after elimination."""
    a = np.asarray(alpha, float)
    return np.array([corner + np.sum(a / (1 - a)), *(sign / (1 - a))]) / C


def _bandwidth(deviation: float) -> float:
    """Of the tilted law with this standard deviation: ν/√(1 + ν²) solved for ν (σ = 1)."""
    return float(deviation / np.sqrt(1 - deviation**2))


def _two_blocks(alpha: Any) -> tuple[float, np.ndarray]:
    """The corner of the arrowhead and its diagonal."""
    a = np.asarray(alpha, float)
    return float(1 + np.sum(a / (1 - a))), 1 / (a * (1 - a))


def _solve(alpha: np.ndarray, C: float, gamma: np.ndarray) -> np.ndarray:
    """The coefficients by elimination: intercept, then one for each feature."""
    coef = (gamma[1:] - alpha * gamma[0]) / (C * alpha * (1 - alpha))
    return np.array([gamma[0] / C - alpha @ coef, *coef])


def _system(rng: np.random.Generator, d: int | None = None) -> tuple[np.ndarray, float, np.ndarray]:
    d = int(rng.integers(1, 7)) if d is None else d
    alpha, C = rng.uniform(0.05, 0.95, d), round(float(rng.uniform(0.05, 1)), 2)
    return alpha, C, rng.normal(size=d + 1).round(2)


EXERCISES = (
    Value(
        given={
            "C": Given(0.3, "the mean weight"),
            "first": Given(0.06, "the mean of πz₁", one_of(0.06, 0.09, 0.12)),
            "second": Given(0.15, "the mean of πz₂", one_of(0.15, 0.18, 0.21)),
        },
        asks="the matrix",
        right=lambda C, first, second: _sigma(C, first, second, first * second / C),
        mistakes=with_hints(
            lambda C, first, second: _sigma(C, first, second, first * second),
            "Look at the entry between the two features again: the mean weight is a factor of both "
            "means that you multiplied.",
            _with_squares,
            "On the diagonal, an indicator meets itself. What is the square of an indicator?",
            lambda C, first, second: _sigma(C, first, second, first * second / C) / C,
            "That is the matrix without its scale, with a 1 at the top left.",
            lambda C, first, second: _sigma(C, first, second, 0.0),
            "Zeros between features are in the inverse. Here both indicators can be 1 at once.",
        ),
        nudge="Three different numbers fill eight of the nine places. Only the last one needs thought.",
        formula="An entry is the mean weight times 1, a probability, or a product of two. Which "
        "probabilities correspond to the two means in the question?",
        step="α₁ is {first} divided by {C}, and α₂ is {second} divided by {C}. The entry between the "
        "two features is {C} times their product.",
    ),
    Value(
        given={
            "alpha": Given([0.5, 0.25], "the probabilities", some_of(2, 0.2, 0.25, 0.5, 0.75, 0.8)),
            "C": Given(0.4, "the mean weight", one_of(0.2, 0.25, 0.4)),
        },
        asks="a row of the inverse",
        right=_first_row,
        mistakes=with_hints(
            lambda alpha, C: _first_row(alpha, 1.0),
            "The mean weight is missing: what happens to the inverse when a matrix is multiplied "
            "by a number?",
            lambda alpha, C: _first_row(alpha, 1 / C),
            "A matrix that is smaller by a factor has an inverse that is larger by the same factor.",
            lambda alpha, C: _first_row(alpha, C, sign=1.0),
            "Check the signs: elimination subtracts.",
            lambda alpha, C: _first_row(alpha, C, corner=0.0),
            "Something is missing at the top left: without features it would be the inverse of a "
            "single number.",
            lambda alpha, C: np.array([1, *np.asarray(alpha)]) * C,
            "That is the first row of the matrix itself.",
        ),
        nudge="Solve the system for a right-hand side with letters, and read off what multiplies them.",
        formula="The first row corresponds to the intercept: 1 + Σ α/(1 − α), then "
        "−1/(1 − α) for each feature, all of it divided by the mean weight.",
        step="With α = {alpha}: the ratios α/(1 − α) are added to 1, and each −1/(1 − α) is an entry by itself. "
        "Divide the three numbers by {C}.",
    ),
    Value(
        given={
            "times": Given(1.645, "the number of standard deviations", between(130, 260, per=100))
        },
        asks="a bandwidth",
        right=lambda times: _bandwidth(_EDGE / 2 / times),
        mistakes=with_hints(
            lambda times: _EDGE / 2 / times,
            "That is the standard deviation of the tilted law. Which bandwidth gives it?",
            lambda times: _bandwidth(_EDGE / times),
            "Seen from the middle of the box, how far away is its edge?",
            lambda times: _bandwidth(_EDGE / 2 * times),
            "Several standard deviations fill half of the box: is one of them larger or smaller than "
            "that half?",
        ),
        nudge="How wide is half of the box, and how many standard deviations of the tilted law fill it?",
        formula="The half-width of the box is 0.337. The standard deviation of the tilted law is ν/√(1 + ν²).",
        step="ν/√(1 + ν²) = 0.337/{times}. Square both sides and solve for ν².",
    ),
    Value(
        given={
            "alpha": Given(
                [0.2, 0.35, 0.9],
                "the probabilities",
                lambda rng: [0.25, float(rng.choice([0.35, 0.4, 0.45])), 0.8],
            )
        },
        asks="a bound",
        right=lambda alpha: _two_blocks(alpha)[0] + _two_blocks(alpha)[1].max(),
        mistakes=with_hints(
            lambda alpha: _two_blocks(alpha)[0] + _two_blocks(alpha)[1].sum(),
            "That is the trace. Of the second block only its largest eigenvalue counts.",
            lambda alpha: inverse_norm_bound(np.asarray(alpha)),
            "That is the paper's bound. The two blocks give a much smaller one.",
            lambda alpha: arrowhead_eigenvalues(np.asarray(alpha))[-1],
            "That is the largest eigenvalue itself, which is to be bounded.",
            lambda alpha: _two_blocks(alpha)[0] - 1 + _two_blocks(alpha)[1].max(),
            "The top-left entry has one term that does not come from any feature.",
        ),
        nudge="What are the two diagonal blocks of an arrowhead, and which eigenvalues do they have?",
        formula="The top-left entry is 1 + Σ α/(1 − α); the other block is diagonal with entries "
        "1/(α(1 − α)), so that its largest entry is its largest eigenvalue.",
        step="Write down α/(1 − α) and 1/(α(1 − α)) for α = {alpha}. Add 1, all of the first kind "
        "and the largest of the second.",
    ),
    Function(
        reference=_solve,
        inputs=_system,
        long=lambda rng: _system(rng, 600),
        mistakes=with_hints(
            lambda alpha, C, gamma: _solve(alpha, 1.0, gamma),
            "The mean weight is missing.",
            lambda alpha, C, gamma: _solve(alpha, C, gamma)[[*range(1, len(gamma)), 0]],
            "The intercept comes first.",
            lambda alpha, C, gamma: np.array([gamma[0] / C, *_solve(alpha, C, gamma)[1:]]),
            "The intercept is that of a fit without features: subtract what the features explain.",
            lambda alpha, C, gamma: np.array(
                [_solve(alpha, C, gamma)[0], *(gamma[1:] / (C * alpha * (1 - alpha)))]
            ),
            "A subtraction is missing from the coefficients: what does elimination subtract from each equation?",
        ),
        nudge="Eliminate the intercept first. What is left of the equation of a feature?",
        formula="The coefficient of feature j is (Γⱼ − αⱼΓ₀) divided by C αⱼ(1 − αⱼ); the intercept follows "
        "from the first equation.",
        step="coef = (gamma[1:] - alpha * gamma[0]) / (C * alpha * (1 - alpha)), and the intercept is "
        "gamma[0] / C minus the sum of alpha * coef.",
    ),
)
