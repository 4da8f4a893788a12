"""Exercises of the chapter *Beyond linear*."""

from typing import Any

import numpy as np

from ...core.boxes import Gaussian, standard_quantiles
from ...core.models import Linear
from ...core.theory import limit
from ...exact.quadratic import Quadratic
from ...exact.trees import Trees
from ..judging.kinds import Function, Given, Value, between, one_of, some_of, with_hints

_FOUR = Gaussian(p=4)
_EDGE = float(standard_quantiles(4)[3])  # the third quartile, 0.6745
_WIDE = 1e6  # a very large bandwidth


def _hiding_slope(Q: float, xi: float) -> float:
    """The c that gives Q x² + c x the coefficient 0 where all weights are equal."""
    models = (Quadratic([[1.0]]), Linear([1.0]))
    square, line = (float(limit(f, [xi], _FOUR, _WIDE).coef[0]) for f in models)
    return -Q * square / line


def _balanced_in_box(Q: float, xi: float) -> float:
    """The c that makes the mean of Q x² + c x in the box from 0 to the third quartile zero."""
    phi = np.exp(-(np.array([0.0, _EDGE]) ** 2) / 2) / np.sqrt(2 * np.pi)
    return -Q * (0.25 - _EDGE * phi[1]) / (phi[0] - phi[1])


def _shapley(v: Any, first: float = 0.5) -> list[float]:
    """Two Shapley values from v of ∅, {1}, {2}, {1, 2}; ``first`` is how often 1 comes first."""
    none, one, two, both = v
    return [
        first * (one - none) + (1 - first) * (both - two),
        first * (both - one) + (1 - first) * (two - none),
    ]


def _stump(t: float, xi: np.ndarray, nu: float) -> np.ndarray:
    """LIME's coefficient of a tree with the one question x > t, read off its leaves."""
    tree = Trees(
        feature=np.array([0, -2, -2]),
        threshold=np.array([t, 0.0, 0.0]),
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        value=np.array([0.0, 0.0, 1.0]),
        roots=np.array([0]),
    )
    return np.array([limit(tree, [place], _FOUR, nu).coef[0] for place in xi])


def _own_share(xi: np.ndarray, nu: float) -> np.ndarray:
    """The mass of each box of ξ under its tilted law."""
    return np.array([limit(Linear([1.0]), [place], _FOUR, nu).alpha[0] for place in xi])


EXERCISES = (
    Value(
        given={
            "Q": Given(2.0, "the curvature", one_of(3.0, 4.0, 5.0)),
            "xi": Given(0.3, "the position of ξ", one_of(0.1, 0.2, 0.25)),
        },
        asks="the number c",
        right=_hiding_slope,
        mistakes=with_hints(
            lambda Q, xi: -2 * Q * xi,
            "That makes the slope at ξ zero, which does not enter here.",
            _balanced_in_box,
            "That makes the mean of the model in the box zero. What is it compared with?",
            lambda Q, xi: -Q * xi,
            "That is for a very small bandwidth: the secant to the nearest edge is flat.",
            lambda Q, xi: _hiding_slope(1.0, xi),
            "You left out the factor before the square.",
        ),
        nudge="The coefficient of a sum is the sum of the coefficients: what does each part get by itself?",
        formula="Without weights, the mean of x² in [0, q) is 1 − 4qφ(q), and that of x is 4(φ(0) − φ(q)); over "
        "all data they are 1 and 0.",
        step="The contrast of x² is −(16/3) qφ(q), and that of x is (16/3)(φ(0) − φ(q)). Now {Q} times the "
        "first and c times the second cancel.",
    ),
    Value(
        given={"xi": Given(0.5, "the position of ξ", between(40, 60, per=100))},
        asks="a coefficient",
        right=lambda xi: xi**3 - _EDGE**3,
        mistakes=with_hints(
            lambda xi: xi**3,
            "That is the secant to the edge 0. Is it the nearest?",
            lambda xi: 3 * xi**2 * (xi - _EDGE),
            "That is along the tangent at ξ, and the model is curved.",
            lambda xi: 3 * xi**2,
            "That is the slope at ξ.",
            lambda xi: (xi**3 - _EDGE**3) / (xi - _EDGE),
            "That is the slope of the secant. The coefficient is a difference of two values.",
        ),
        nudge="Which two points does LIME compare when the bandwidth is very small?",
        formula="The limit is f(ξ) minus f at the nearest edge of the box.",
        step="The box is [0, 0.6745), and its upper edge is nearer to {xi}. Take the cubes of both.",
    ),
    Value(
        given={"v": Given([10, 16, 12, 30], "the four means", some_of(4, 10, 16, 12, 30, 21, 7))},
        asks="two Shapley values",
        right=_shapley,
        mistakes=with_hints(
            lambda v: _shapley(v, 1.0),
            "That is one order, feature 1 before feature 2. There is another.",
            lambda v: _shapley(v, 0.0),
            "That is one order, feature 2 before feature 1. There is another.",
            lambda v: [v[1] - v[0], v[2] - v[0]],
            "Each is what a feature adds when it comes first. It may come second as well.",
            lambda v: [v[3] - v[2], v[3] - v[1]],
            "Each is what a feature adds when it comes second. It may come first as well.",
            lambda v: [v[1], v[2]],
            "Those are values of v; a Shapley value is a mean of differences.",
        ),
        nudge="In how many orders can two features come, and what does each add in each of them?",
        formula="A Shapley value is the mean of v(S ∪ {j}) − v(S) over the orders, where S contains those before j.",
        step="Feature 1 adds v({1}) − v(∅) in one order and v({1, 2}) − v({2}) in the other: take the "
        "mean, and the same for feature 2. Together they add v({1, 2}) − v(∅).",
    ),
    Function(
        reference=_stump,
        inputs=lambda rng: (
            round(float(rng.normal()), 2),
            rng.uniform(-1.3, 1.3, size=int(rng.integers(3, 8))),
            round(float(rng.uniform(0.5, 2)), 2),
        ),
        mistakes=with_hints(
            lambda t, xi, nu: _stump(t, xi, _WIDE),
            "The bandwidth has no effect in your version: the means are those of the tilted law.",
            lambda t, xi, nu: _stump(t, xi, nu) * (1 - _own_share(xi, nu)),
            "You compared the box with all values. Compare it with the values outside.",
            lambda t, xi, nu: -_stump(t, xi, nu),
            "Inside minus outside, and x above t counts as 1.",
        ),
        calls=10,
        nudge="The mean prediction of a tree that answers 0 or 1 is a probability. Which two probabilities are compared?",
        formula="It is P(x > t) given z = 1 minus P(x > t) given z = 0, both under the tilted law, a normal one "
        "with mean ξ/(1 + ν²) and standard deviation ν/√(1 + ν²).",
        step="Within the box, the part above t begins at t, moved to the nearer end of the box if it lies "
        "outside (np.clip does that). What is above t outside the box is all above t minus that part.",
    ),
)
