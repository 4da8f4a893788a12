"""Exercises of the chapter *How many samples*."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from ...bounds import chernoff_exponent, leverage_bound
from ..judging.kinds import Function, Given, Ladder, Mistake, Value


def _wider(n: float, error: float, half: float, factor: float = 1.96) -> float:
    """Samples that bring ``factor`` standard errors down to ``half``, after a run with n."""
    return n * (factor * error / half) ** 2


def _turned(beta: float, error: float, n: int, fewer: int, power: float = 0.5) -> float:
    """How often a normal estimate with mean beta is above 0, its error being that of n samples."""
    return float(scipy.special.ndtr(beta / (error * (n / fewer) ** power)))


def _first_condition(alpha: Any, C: float, eta: float, L: float | None = None) -> float:
    """The samples that keep the matrix in place, with δ = 1/2."""
    size = leverage_bound(alpha) if L is None else L
    return size / (C * chernoff_exponent(0.5)) * np.log(2 * (len(alpha) + 1) / eta)


def _influences(Z: np.ndarray, weight: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How much each sample moves each coefficient: least squares by the pseudo-inverse, (d+1, n)."""
    root = np.sqrt(weight)
    inverse = np.linalg.pinv(root[:, None] * Z)
    return inverse * root * (y - Z @ (inverse @ (root * y)))


def _error_bars(Z: np.ndarray, weight: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sqrt(np.sum(_influences(Z, weight, y) ** 2, axis=1))


def _textbook(Z: np.ndarray, weight: np.ndarray, y: np.ndarray, power: float) -> np.ndarray:
    """What one gets from one variance for all residuals (power 0), or weights that are not squared."""
    A = np.linalg.inv(Z.T @ (weight[:, None] * Z))
    r = y - Z @ (A @ (Z.T @ (weight * y)))
    if power == 0:
        return np.sqrt(np.diag(A) * np.average(r**2, weights=weight))
    return np.sqrt(np.diag(A @ (Z.T @ ((weight**power * r**2)[:, None] * Z)) @ A))


def _run(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, d = int(rng.integers(30, 80)), int(rng.integers(1, 4))
    z = rng.random((n, d)) < rng.uniform(0.3, 0.6, d)
    return (
        np.column_stack([np.ones(n), z]),
        rng.uniform(0.05, 1, n),
        rng.normal(size=n) + 2 * z[:, 0],
    )


EXERCISES = (
    Value(
        name="samples/1",
        given={
            "n": Given(1000, "the size of the first run", lambda rng: int(rng.choice([500, 2000]))),
            "error": Given(
                0.4, "the first standard error", lambda rng: float(rng.integers(5, 10)) / 10
            ),
            "half": Given(0.1, "half the width of the interval", lambda rng: 0.2),
        },
        asks="a number of samples",
        right=_wider,
        mistakes=[
            Mistake(
                lambda n, error, half: _wider(n, error, half, 1.0),
                "That brings the standard error down to {half}; the 95% interval is wider.",
            ),
            Mistake(
                lambda n, error, half: _wider(n, error, half, 2.0),
                "You took two standard errors for the interval; it is a little narrower.",
            ),
            Mistake(
                lambda n, error, half: n * 1.96 * error / half,
                "Noise does not fall in proportion to the number of samples.",
            ),
            Mistake(
                lambda n, error, half: (1.96 * error / half) ** 2,
                "That is how many times more. More than what?",
            ),
            Mistake(
                lambda n, error, half: _wider(n, error, half, 0.98),
                "{half} is the distance on either side, not the whole width.",
            ),
        ],
        ladder=Ladder(
            "How wide is the interval now, and how does its width change with n?",
            "The interval is ±1.96 standard errors, and these go like 1/√n.",
            "It has to become 1.96 · {error}/{half} times narrower. Square that, for the factor on n.",
        ),
    ),
    Value(
        name="samples/2",
        given={
            "beta": Given(
                -1.76,
                "the limit of the coefficient",
                lambda rng: -float(rng.integers(120, 240)) / 100,
            ),
            "error": Given(
                0.662, "the standard error", lambda rng: float(rng.integers(500, 900)) / 1000
            ),
            "n": Given(2000, "the number of samples behind the standard error"),
            "fewer": Given(500, "the number of samples"),
        },
        asks="a probability",
        right=_turned,
        mistakes=[
            Mistake(
                lambda beta, error, n, fewer: 1 - _turned(beta, error, n, fewer),
                "That is how often a run shows the sign of the limit.",
            ),
            Mistake(
                lambda beta, error, n, fewer: _turned(beta, error, n, n),
                "The standard error is that of a larger run. What is it here?",
            ),
            Mistake(
                lambda beta, error, n, fewer: _turned(beta, error, n, fewer, 1.0),
                "With a quarter of the samples the standard error is not four times as large.",
            ),
            Mistake(
                lambda beta, error, n, fewer: _turned(beta, error, fewer, n),
                "Fewer samples have more noise, and in your version less.",
            ),
            Mistake(
                lambda beta, error, n, fewer: _turned(beta, error**2, n, fewer, 1.0),
                "You divided by a variance: the scale of a normal law is its root.",
            ),
        ],
        ladder=Ladder(
            "What law has the coefficient of such a run, and which part of it lies above 0?",
            "It is about normal around {beta}. With n samples its standard error is {error} times "
            "√({n}/n).",
            "Divide {beta} by the standard error at {fewer} samples, {error} · √({n}/{fewer}), and look "
            "the quotient up in a table of Φ.",
        ),
    ),
    Value(
        name="samples/3",
        given={
            "alpha": Given(
                [0.25, 0.5],
                "the α",
                lambda rng: rng.permutation([0.2, 0.25, 0.5, 0.6])[:2].tolist(),
            ),
            "C": Given(0.1, "the mean weight", lambda rng: float(rng.choice([0.05, 0.2, 0.04]))),
            "eta": Given(0.05, "η", lambda rng: float(rng.choice([0.01, 0.02, 0.1]))),
        },
        asks="a number of samples",
        right=_first_condition,
        mistakes=[
            Mistake(
                lambda alpha, C, eta: _first_condition(alpha, C, eta, leverage_bound(alpha) - 1),
                "The sum for L starts with a 1, for the intercept.",
            ),
            Mistake(
                lambda alpha, C, eta: _first_condition(
                    alpha, C, eta, 1 + np.sum(np.divide(alpha, np.subtract(1, alpha)))
                ),
                "Of the two ratios for each feature the larger counts.",
            ),
            Mistake(
                lambda alpha, C, eta: _first_condition(alpha, C, eta) / np.log(10),
                "That is with the logarithm of base 10; here it is the natural one.",
            ),
            Mistake(
                lambda alpha, C, eta: _first_condition(alpha, 1, eta),
                "The weights are missing: the samples do not count fully.",
            ),
            Mistake(
                lambda alpha, C, eta: (
                    _first_condition(alpha, C, eta)
                    * np.log(2 * len(alpha) / eta)
                    / np.log(2 * (len(alpha) + 1) / eta)
                ),
                "The intercept has a dimension too, under the logarithm.",
            ),
        ],
        ladder=Ladder(
            "Which three numbers does the first condition need beside C and η?",
            "Work out h, then L as 1 plus the larger of α/(1−α) and (1−α)/α for each feature.",
            "h = ½ + ½ ln ½ and d + 1 = 3. With your L, n is L/({C} · h) · ln(6/{eta}).",
        ),
    ),
    Function(
        name="samples/4",
        reference=_error_bars,
        inputs=_run,
        mistakes=[
            (
                lambda Z, weight, y: _textbook(Z, weight, y, 0),
                "You took one variance for all residuals. M has the residual of each sample.",
            ),
            (
                lambda Z, weight, y: _textbook(Z, weight, y, 1),
                "In M the weight is squared.",
            ),
            (
                lambda Z, weight, y: _error_bars(Z, weight, y) ** 2,
                "Those are variances.",
            ),
            (
                lambda Z, weight, y: _error_bars(Z, weight, y) / np.sqrt(len(y)),
                "You divided by n once too often: the sums hold it already, if they are not means.",
            ),
            (
                lambda Z, weight, y: _error_bars(Z, weight, y) * np.sqrt(len(y)),
                "That is the root of Ω's diagonal. The normal limit is about √n times the difference.",
            ),
        ],
        ladder=Ladder(
            "Ω is a product of three matrices. What is each of them, with means over samples in the "
            "place of expectations?",
            "Fit the surrogate first. Then Σ is the mean of π z zᵀ and M that of π² r² z zᵀ; divide Ω by "
            "n.",
            "With A = Z.T @ (weight[:, None] * Z) and B the same with (weight * r) ** 2, the n cancel: "
            "the covariance is A⁻¹ B A⁻¹.",
        ),
    ),
)
