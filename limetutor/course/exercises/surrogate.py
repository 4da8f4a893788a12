"""Exercises of the chapter *The surrogate*."""

from typing import Any, Literal

import numpy as np

from ...core.models import Linear
from ...exact.quadratic import Quadratic
from ..judging.kinds import Function, Given, Value, with_hints

_EDGE = 0.6744897501960817  # the third quartile of N(0, 1)
_FRACTIONS = {0.5: "\\tfrac12", 0.25: "\\tfrac14"}


def _row(values: Any) -> str:
    """Numbers in a row, as they appear between brackets in a formula."""
    return ", ".join(_FRACTIONS.get(value, f"{value:g}") for value in values)


def _responses(rng: np.random.Generator) -> np.ndarray:
    return rng.integers([0, 12, 0, 9], [9, 21, 9, 18])


def _two_levels(weights: np.ndarray, values: np.ndarray) -> list[float]:
    """Intercept and coefficient for the indicators 1, 1, 0, 0."""
    w, y = np.asarray(weights, float), np.asarray(values, float)
    outside = float(np.average(y[2:], weights=w[2:]))
    return [outside, float(np.average(y[:2], weights=w[:2])) - outside]


def _lime(
    f: Any, xi: np.ndarray, nu: float, n: int, seed: int, *, edge: float = _EDGE,
    side: Literal["left", "right"] = "right", power: float = 2.0, double: float = 2.0,
    intercept: bool = True, mismatches: bool = False,
) -> np.ndarray:  # fmt: skip
    """Algorithm 1 for standard normal features and four boxes, as in the chapter."""
    x = np.random.default_rng(seed).standard_normal((n, len(xi)))
    edges = np.array([-edge, 0, edge])
    z = np.searchsorted(edges, x, side) == np.searchsorted(edges, xi, side)
    apart = ~z if mismatches else (x - xi) ** 2
    weight = np.exp(-apart.sum(axis=1) / (double * nu**power))
    design = np.column_stack([np.ones(n), z] if intercept else [z])
    A = design.T @ (weight[:, None] * design)
    return np.linalg.solve(A, design.T @ (weight * f(x)))


def _call(rng: np.random.Generator) -> tuple[Any, np.ndarray, float, int, int]:
    """A model with at most four features, one of two kinds, and an instance that has neighbours.

    In every second call the instance lies on an edge, where the rule for ties decides.
    """
    d = int(rng.integers(1, 5))
    slopes, more_slopes = rng.normal(size=(2, d)).round(2)
    model = (Linear(slopes), Quadratic(np.eye(d), more_slopes))[int(rng.integers(2))]
    xi = rng.uniform(-1.2, 1.2, d).round(2)
    if rng.integers(2):
        xi[int(rng.integers(d))] = 0.0
    nu, n = round(float(rng.uniform(0.8, 2)), 2), int(rng.integers(800, 2000))
    return model, xi, nu, n, int(rng.integers(1000))


EXERCISES = (
    Value(
        given={
            "weights": Given([1, 0.5, 0.25, 0.25], "the weights", None, _row),
            "values": Given([3, 0, 1, 2], "the responses", _responses, _row),
        },
        asks="an intercept and a coefficient",
        right=_two_levels,
        mistakes=with_hints(
            lambda weights, values: _two_levels(np.ones(4), values),
            "The samples do not count alike: use the weights.",
            lambda weights, values: [
                _two_levels(weights, values)[0],
                sum(_two_levels(weights, values)),
            ],
            "Your second number is the value of the surrogate in the box. The coefficient is its difference from the first.",
            lambda weights, values: [
                float(np.dot(weights[2:], values[2:])),
                float(np.dot(weights[:2], values[:2]) - np.dot(weights[2:], values[2:])),
            ],
            "Those are weighted sums. A weighted mean is divided by the sum of its weights.",
        ),
        nudge="The surrogate has two values here. Which of them is the intercept?",
        formula="Where z = 0 the surrogate is the intercept, and the best constant for weighted points is their "
        "weighted mean.",
        step="Outside, multiply each response by its weight, add up, and divide by the sum of these weights. Do the "
        "same inside. The coefficient is the second mean minus the first.",
    ),
    Function(
        reference=_lime,
        inputs=_call,
        mistakes=with_hints(
            lambda *call: _lime(*call, double=np.inf),
            "All samples count alike in your version: the weights are missing.",
            lambda *call: _lime(*call, double=1.0),
            "The denominator in the exponent is 2ν².",
            lambda *call: _lime(*call, power=1.0),
            "The bandwidth in the exponent is squared.",
            lambda *call: _lime(*call, mismatches=True),
            "Those are lime's weights. The paper's have the squared distance from ξ in the exponent.",
            lambda f, xi, nu, n, seed: _lime(f, xi, nu, 10_000, 2),
            "Your version draws what the chapter draws: use the n and the seed that are passed.",
            lambda *call: np.append(0.0, _lime(*call, intercept=False)),
            "The column of ones in Z is missing, so there is no intercept.",
            lambda *call: _lime(*call, edge=0.674),
            "Nearly: 0.674 has too few digits for an edge, so some samples are in the wrong box.",
            lambda *call: _lime(*call, side="left"),
            "Only an instance on an edge is wrong: it belongs to the upper box. Look up what "
            "np.searchsorted does with equal values.",
            lambda *call: np.roll(_lime(*call), -1),
            "The intercept comes first.",
        ),
        nudge="The lines of the chapter do the rest; len(xi) is the number of features.",
        formula="Compute the weights, put a column of ones before the indicators, and solve the key equation.",
        step="The matrix is Z.T @ (weight[:, None] * Z), the right-hand side is Z.T @ (weight * f(x)).",
    ),
)
