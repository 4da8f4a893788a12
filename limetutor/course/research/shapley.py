"""Other explanations of the same models: Shapley values and gradients, beside LIME's coefficients.

The game of Shapley values: a coalition S of features keeps the values of xi, the others are drawn
from the world, independently, and the coalition is worth v(S), the mean of f. Chapter: beyond
linear.
"""

from typing import Any

import numpy as np

from ...core.boxes import World, check_world
from ...core.problem import Problem, boxes_for
from ...core.tilted_law import ConditionalLaws
from ...core.truncated import BoxLaw
from ...inputs import arguments as arg
from ...inputs.predictors import predictor


def shapley_values(f: Any, xi: Any, world: World, output: Any = None) -> np.ndarray:
    """Exact Shapley values of f at xi, (d,); they add up to f(xi) - E[f].

    Let every feature keep the value of xi with probability t, on its own. Then

        Sh_j = integral over t in [0, 1] of E_t[f | x_j = xi_j] - E_t[f | x_j drawn],

    the multilinear extension of Owen (1972): LIME's difference of means in a world with one more box,
    which holds xi_j alone; a drawn value counts as outside even if it equals xi_j. It is a polynomial
    of degree d - 1 in t, so Gauss-Legendre with d/2 nodes is exact. For linear f,
    Sh_j = a_j (xi_j - mu_j).
    """
    check_world(world)
    problem = Problem.of(f, xi, world, 1.0, "gaussian", output, purpose="exact Shapley values")
    boxes, xi, form = problem.boxes, problem.xi, problem.form
    if form is None:
        raise no_form(f, "exact Shapley values")
    nodes, weights = np.polynomial.legendre.leggauss((boxes.d + 1) // 2)
    values = np.zeros(boxes.d)
    for t, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        means = form.expectation(_kept_with(t, boxes.law, xi))
        values += weight * (means.inside - means.outside)
    return values


def no_form(f: Any, purpose: str) -> ValueError:
    """The error for a model whose means cannot be computed."""
    return ValueError(
        f"f must have a form for {purpose}, got {arg.shorten(f)}; give one of the models of which "
        "lt.limit says that its method is 'exact' or 'quadrature'."
    )


def _kept_with(t: float, law: BoxLaw, xi: np.ndarray) -> ConditionalLaws:
    """The law in which feature j is xi_j with probability t, seen given that it is, and is not."""
    log_prob = np.column_stack([law.log_prob + np.log1p(-t), np.full(len(xi), np.log(t))])
    points = [np.column_stack([side, xi]) for side in (law.mean, law.lo, law.hi)]
    sd = np.column_stack([law.sd, np.zeros(len(xi))])
    xi_box = np.full(len(xi), law.mean.shape[1])
    return ConditionalLaws.of(BoxLaw(log_prob, points[0], sd, points[1], points[2]), 0.0, xi_box)


def gradient(f: Any, xi: Any, world: World, output: Any = None, step: float = 1e-4) -> np.ndarray:
    """Partial derivatives of f at xi by central differences, ``step`` deviations wide, (d,).

    Zero for trees at almost every xi. Chapter: beyond linear.
    """
    check_world(world)
    boxes = boxes_for(world, xi, f)
    xi = boxes.encode(xi)
    moves = np.diag(step * boxes.sigma)
    y = predictor(f, boxes, output)(np.concatenate([xi + moves, xi - moves]))
    return (y[: boxes.d] - y[boxes.d :]) / (2 * step * boxes.sigma)
