"""Other explanations of the same models: Shapley values and gradients, beside LIME's coefficients.

The game of Shapley values: a coalition S of features keeps the values of xi, the others are drawn
from the world, independently, and the coalition is worth v(S), the mean of f. Chapter: beyond
linear.
"""

from typing import Any

import numpy as np

from ...core.boxes import World, check_world
from ...core.models import Form
from ...core.problem import Problem, boxes_for
from ...core.truncated import BoxLaw
from ...cubes.extension import FormExtension, Masses, shapley_of
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
    if problem.form is None:
        raise no_form(f, "exact Shapley values")
    return np.asarray(shapley_of(_kept(problem.form, problem.boxes.law, problem.xi)).value)


def no_form(f: Any, purpose: str) -> ValueError:
    """The error for a model whose means cannot be computed."""
    return ValueError(
        f"f must have a form for {purpose}, got {arg.shorten(f)}; give one of the models of which "
        "lt.limit says that its method is 'exact' or 'quadrature'."
    )


def _kept(form: Form, law: BoxLaw, xi: np.ndarray) -> FormExtension:
    """F where a feature is xi_j with probability t_j, and is drawn otherwise: a box of mass 0."""
    d, parts = law.mean.shape
    mean, lo, hi = (np.column_stack([side, xi]) for side in (law.mean, law.lo, law.hi))
    sd, log_prob = (
        np.column_stack([law.sd, np.zeros(d)]),
        np.column_stack([law.log_prob, np.full(d, -np.inf)]),
    )
    kept = np.eye(parts + 1)[np.full(d, parts)]
    never = Masses(np.full(d, -np.inf), np.zeros(d))
    return FormExtension(form, BoxLaw(log_prob, mean, sd, lo, hi), kept, np.exp(log_prob), never)


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
