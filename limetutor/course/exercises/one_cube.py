"""Exercises of the chapter *One cube*."""

import numpy as np

from ..judging.kinds import Function, Given, Value, between, one_of, with_hints
from ..research.multilinear import BoxGame


def _inside(mean: float, held: float, p: float) -> float:
    """The contrast inside minus outside of a box, from the means with the feature redrawn and held."""
    return (held - mean) / (1 - p)


def _precision(intercept: float, first: float, p: float) -> float:
    """That of the first condition, if the second has the coefficient -0.1 and a box of 0.6."""
    sums = BoxGame(intercept + np.array([[0.0, -0.1], [first, first - 0.1]]), [p, 0.6])
    return sums.extension([1.0, 0.6])


def _along(v: np.ndarray, *at: float) -> np.ndarray:
    """The mean of the slopes at some places of the diagonal."""
    game = BoxGame(v, np.full(v.ndim, 0.5))
    return np.mean([game.gradient(np.full(v.ndim, q)) for q in at], axis=0)


def _shapley(v: np.ndarray) -> np.ndarray:
    nodes, weights = np.polynomial.legendre.leggauss(v.ndim)
    return np.asarray(weights / 2 @ [_along(v, (q + 1) / 2) for q in nodes])


def _game(rng: np.random.Generator) -> tuple[np.ndarray]:
    return (rng.normal(size=(2,) * int(rng.integers(2, 6))).round(4),)


EXERCISES = (
    Value(
        given={
            "mean": Given(40.0, "the mean prediction", one_of(40.0, 45.0, 50.0)),
            "held": Given(54.0, "the mean with feature 1 held", one_of(54.0, 57.0, 59.0)),
            "p": Given(0.3, "the frequency", one_of(0.15, 0.2, 0.35)),
        },
        asks="a coefficient",
        right=_inside,
        mistakes=with_hints(
            lambda mean, held, p: held - mean,
            "That is held minus redrawn. A redrawn feature is sometimes in the box too.",
            lambda mean, held, p: (held - mean) / p,
            "You divided by the frequency of the box. How often is a redrawn feature outside of it?",
            lambda mean, held, p: (held - mean) * (1 - p),
            "Is inside minus outside larger or smaller than held minus redrawn?",
        ),
        nudge="How is the mean with the feature redrawn made up of the means inside and outside of its box?",
        formula="Held minus redrawn is 1 − p times inside minus outside.",
        step="({held} − {mean}) divided by one minus {p}.",
    ),
    Value(
        given={
            "intercept": Given(0.3, "the intercept", one_of(0.2, 0.25, 0.35)),
            "first": Given(0.5, "the first coefficient", between(41, 60, per=100)),
            "p": Given(0.25, "the first frequency", one_of(0.15, 0.3, 0.4)),
        },
        asks="a precision",
        right=_precision,
        mistakes=with_hints(
            lambda intercept, first, p: intercept + first,
            "That is the surrogate for samples in the first box and outside of the second.",
            lambda intercept, first, p: intercept + first - 0.1,
            "That is the surrogate where both conditions hold.",
            lambda intercept, first, p: intercept + p * first - 0.06,
            "That is the precision without any condition. What does this one add?",
            lambda intercept, first, p: intercept + p * first - 0.06 + first,
            "A part of the samples meets the condition anyway. What does it add for the others?",
        ),
        nudge="Among the samples that meet the first condition, how often do they meet the second?",
        formula="Intercept, plus each coefficient times the frequency of its box, plus 1 − p times the first coefficient.",
        step="{intercept} + {p} · {first} − 0.6 · 0.1 is the precision without a condition. Add one minus {p}, times "
        "{first}.",
    ),
    Function(
        reference=_shapley,
        inputs=_game,
        mistakes=with_hints(
            lambda v: _along(v, 0.5),
            "That is the middle of the diagonal alone, where you find the Banzhaf value.",
            lambda v: _along(v, 0.0),
            "That is what a feature adds when nothing else is held.",
            lambda v: _along(v, 1.0),
            "That is what a feature adds when all else is held.",
            lambda v: _along(v, 0.0, 1.0),
            "The mean of the two ends is the mean along the diagonal for two features, not for more.",
            lambda v: 2 * _shapley(v),
            "The nodes of numpy are on an interval of length 2, and their weights add up to 2.",
            lambda v: -_shapley(v),
            "Held minus redrawn.",
        ),
        nudge="At a place on the diagonal, what is the slope along one axis, and how do you average over the others?",
        formula="The Shapley value is the integral over q from 0 to 1 of the difference along axis j, averaged over "
        "each other axis with weights 1 − q and q.",
        step="np.polynomial.legendre.leggauss(v.ndim) gives nodes and weights on −1 to 1; use (nodes + 1) / 2 and "
        "weights / 2. g = (1 - q) * g[0] + q * g[1] removes one axis.",
    ),
)
