"""Exercises of the chapter *How many samples*."""

from typing import Any

import numpy as np
import scipy

from ...precision.bounds import chernoff_exponent, leverage_bound
from ..judging.kinds import Function, Given, Value, between, one_of, some_of, with_hints


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


def _error_bars(Z: np.ndarray, weight: np.ndarray, y: np.ndarray) -> np.ndarray:
    """From how much each sample moves each coefficient: least squares by the pseudo-inverse."""
    root = np.sqrt(weight)
    inverse = np.linalg.pinv(root[:, None] * Z)
    influences = inverse * root * (y - Z @ (inverse @ (root * y)))  # (d + 1, n)
    return np.sqrt(np.sum(influences**2, axis=1))


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
    weight = rng.uniform(0.05, 1, n)
    return np.column_stack([np.ones(n), z]), weight, rng.normal(size=n) + 2 * z[:, 0]


EXERCISES = (
    Value(
        given={
            "n": Given(1000, "the size of the first run", one_of(500, 2000)),
            "error": Given(0.4, "the first standard error", between(5, 10, per=10)),
            "half": Given(0.1, "half the width of the interval", lambda rng: 0.2),
        },
        asks="a number of samples",
        right=_wider,
        mistakes=with_hints(
            lambda n, error, half: _wider(n, error, half, 1.0),
            "That brings the standard error down to {half}; the 95% interval is wider.",
            lambda n, error, half: _wider(n, error, half, 2.0),
            "You took two standard errors for the interval; it is a little narrower.",
            lambda n, error, half: n * 1.96 * error / half,
            "Noise falls with the square root of the number of samples, not in proportion to it.",
            lambda n, error, half: (1.96 * error / half) ** 2,
            "That is the factor by which n grows. How large was the first run?",
            lambda n, error, half: _wider(n, error, half, 0.98),
            "{half} is the distance on either side, not the whole width.",
        ),
        nudge="How wide is the interval now, and how does its width change with n?",
        formula="The interval is ±1.96 standard errors, and these go like 1/√n.",
        step="It has to become 1.96 · {error}/{half} times narrower. Square that to get the factor for n.",
    ),
    Value(
        given={
            "beta": Given(-1.76, "the limit of the coefficient", between(120, 240, per=-100)),
            "error": Given(0.662, "the standard error", between(500, 900, per=1000)),
            "n": Given(2000, "the number of samples behind the standard error"),
            "fewer": Given(500, "the number of samples"),
        },
        asks="a probability",
        right=_turned,
        mistakes=with_hints(
            lambda beta, error, n, fewer: 1 - _turned(beta, error, n, fewer),
            "That is how often a run shows the sign of the limit.",
            lambda beta, error, n, fewer: _turned(beta, error, n, n),
            "The standard error is that of a larger run. What is it here?",
            lambda beta, error, n, fewer: _turned(beta, error, n, fewer, 1.0),
            "With a quarter of the samples, the standard error is not four times as large.",
            lambda beta, error, n, fewer: _turned(beta, error, fewer, n),
            "Fewer samples mean more noise. In your version they mean less.",
            lambda beta, error, n, fewer: _turned(beta, error**2, n, fewer, 1.0),
            "You divided by a variance: the scale of a normal distribution is its square root.",
        ),
        nudge="Which distribution does the coefficient of such a run follow, and which part of it lies above 0?",
        formula="It is approximately normal with mean {beta}. With n samples, its standard error is {error} times "
        "√({n}/n).",
        step="Divide {beta} by the standard error at {fewer} samples, {error} · √({n}/{fewer}), and look "
        "the quotient up in a table of Φ.",
    ),
    Value(
        given={
            "alpha": Given([0.25, 0.5], "the α", some_of(2, 0.2, 0.25, 0.5, 0.6)),
            "C": Given(0.1, "the mean weight", one_of(0.05, 0.2, 0.04)),
            "eta": Given(0.05, "η", one_of(0.01, 0.02, 0.1)),
        },
        asks="a number of samples",
        right=_first_condition,
        mistakes=with_hints(
            lambda alpha, C, eta: _first_condition(alpha, C, eta, leverage_bound(alpha) - 1),
            "The sum for L starts with a 1, for the intercept.",
            lambda alpha, C, eta: _first_condition(
                alpha, C, eta, 1 + np.sum(np.divide(alpha, np.subtract(1, alpha)))
            ),
            "Take the larger of the two ratios for each feature.",
            lambda alpha, C, eta: _first_condition(alpha, C, eta) / np.log(10),
            "That is with the logarithm to base 10; here it is the natural one.",
            lambda alpha, C, eta: _first_condition(alpha, 1, eta),
            "The mean weight is missing: weighted samples do not count fully.",
            lambda alpha, C, eta: (
                _first_condition(alpha, C, eta)
                * np.log(2 * len(alpha) / eta)
                / np.log(2 * (len(alpha) + 1) / eta)
            ),
            "Under the logarithm, the intercept counts as a dimension too.",
        ),
        nudge="Which three numbers does the first condition need besides C and η?",
        formula="Work out h, then L as 1 plus the larger of α/(1−α) and (1−α)/α for each feature.",
        step="h = ½ + ½ ln ½ and d + 1 = 3. With your L, n is L/({C} · h) · ln(6/{eta}).",
    ),
    Function(
        reference=_error_bars,
        inputs=_run,
        mistakes=with_hints(
            lambda Z, weight, y: _textbook(Z, weight, y, 0),
            "You took one variance for all residuals. M uses the residual of each sample.",
            lambda Z, weight, y: _textbook(Z, weight, y, 1),
            "In M, the weight is squared.",
            lambda Z, weight, y: _error_bars(Z, weight, y) ** 2,
            "Those are variances.",
            lambda Z, weight, y: _error_bars(Z, weight, y) / np.sqrt(len(y)),
            "You divided by n once too often: if you took sums instead of means, n has cancelled already.",
            lambda Z, weight, y: _error_bars(Z, weight, y) * np.sqrt(len(y)),
            "That is the square root of the diagonal of Ω, which is the covariance of √n times the difference.",
        ),
        nudge="Ω is a product of three matrices. What is each of them, with means over samples in "
        "place of expectations?",
        formula="Fit the surrogate first. Then Σ is the mean of π z zᵀ and M that of π² r² z zᵀ; divide Ω by "
        "n.",
        step="With A = Z.T @ (weight[:, None] * Z) and B the same with (weight * r) ** 2, the factors n cancel: "
        "the covariance is A⁻¹ B A⁻¹.",
    ),
)
