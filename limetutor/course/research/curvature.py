"""How far a bounded curvature keeps LIME's coefficients from a multiple of the gradient.

The paper remarks, where it discusses the linearity of f, that a bound on the Hessian could take its
place. Here is how: Taylor's formula at the mean of the tilted law, where the linear terms of all
other features vanish. Chapter: beyond linear.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...core.boxes import World, check_world
from ...core.kernels import tilt
from ...core.problem import Problem
from ...core.tilted_law import ConditionalLaws, Tilt
from ...inputs import arguments as arg
from .shapley import gradient, no_form


def spreads(law: Tilt) -> np.ndarray:
    """E~[(x_j - mu~_j)^2] as it is, given z_j = 1 and given z_j = 0, an array (3, d)."""
    views = law.views
    means = views.law.box_means()
    step = means - views.mix(means)[0][:, None]
    return views.mix(step**2 + views.law.box_variances())


def first_order(
    f: Any, xi: Any, world: World, nu: float, kernel: Any = "gaussian", output: Any = None
) -> np.ndarray:
    """d_j f(mu~) (E~[x_j | z_j=1] - E~[x_j | z_j=0]), the slope at mu~ times the contrast of x_j.

    It is beta_j itself for linear f. The derivative is taken by central differences.
    Chapter: beyond linear.
    """
    law = Problem.of(f, xi, world, nu, kernel, output, purpose="its tilted law").tilt
    return gradient(f, law.mu_tilde, world, output) * law.gap


def hessian_bound(
    H: float, xi: ArrayLike, world: World, nu: float, kernel: Any = "gaussian"
) -> np.ndarray:
    """How far beta_j can be from :func:`first_order` where the Hessian of f has norm at most H, (d,).

    (H/2) (E~[ ||x - mu~||^2 | z_j=1 ] + E~[ ||x - mu~||^2 | z_j=0 ]), the norm being the largest
    absolute eigenvalue, everywhere. Paper: the paragraph "Linearity of f" suggests it.
    Chapter: beyond linear.
    """
    H = arg.not_negative("H", H)
    whole, inside, outside = spreads(_law(arg.vector("xi", xi), world, nu, kernel))
    others = whole.sum() - whole  # of the other features, which z_j says nothing about
    return H / 2 * (inside + outside + 2 * others)


def averaged_first_order(
    f: Any, xi: Any, world: World, nu: float, kernel: Any = "gaussian", output: Any = None
) -> np.ndarray:
    """E~[d_j f | x_j = mu~_j] times the contrast of x_j: the slope averaged over the other features.

    For a model with a form; the derivative of E~[f | x_j = t] at t = mu~_j is taken by central
    differences. Chapter: beyond linear.
    """
    problem = Problem.of(f, xi, world, nu, kernel, output, purpose="its tilted law")
    form, law = problem.form, problem.tilt
    if form is None:
        raise no_form(f, "its slopes to be averaged")
    slopes = np.zeros(problem.d)
    for j, step in enumerate(1e-4 * law.sigma_tilde):
        above, below = (
            form.expectation(_pinned(law.views, j, law.mu_tilde[j] + side)).mean
            for side in (step, -step)
        )
        slopes[j] = (above - below) / (2 * step)
    return slopes * law.gap


def own_curvature_bound(
    H: ArrayLike, xi: ArrayLike, world: World, nu: float, kernel: Any = "gaussian"
) -> np.ndarray:
    """How far beta_j can be from :func:`averaged_first_order`, (d,); H holds bounds on ``|d_jj f|``.

    (M_j/2) (E~[(x_j - mu~_j)^2 | z_j=1] + E~[(x_j - mu~_j)^2 | z_j=0]): neither the number of
    features nor their interactions enter. Chapter: beyond linear.
    """
    xi = arg.vector("xi", xi)
    H = arg.numbers("H", H)
    if H.shape not in ((), xi.shape) or np.any(H < 0):
        raise ValueError(
            f"H must be one number of 0 or above, or one per feature, got {arg.shorten(H)}."
        )
    _, inside, outside = spreads(_law(xi, world, nu, kernel))
    return H / 2 * (inside + outside)


def _law(xi: np.ndarray, world: World, nu: Any, kernel: Any) -> Tilt:
    check_world(world)
    return tilt(world, xi, arg.bandwidth("nu", nu), kernel)


def _pinned(views: ConditionalLaws, j: int, value: float) -> ConditionalLaws:
    """The views with coordinate j held at a value."""
    parts = {}
    for name, at in (("mean", value), ("lo", value), ("hi", value), ("sd", 0.0)):
        parts[name] = getattr(views.law, name).copy()
        parts[name][j] = at
    return replace(views, law=replace(views.law, **parts))
