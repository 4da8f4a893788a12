"""Chapter *beyond linear*: exact coefficients of curved models, and other explanations of them."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...core.boxes import Gaussian
from ...core.kernels import tilt
from ...core.models import Linear
from ...core.theory import limit
from ...exact.integrals import truncated_characteristic
from ...exact.quadratic import Quadratic
from ...plotting.results import boxplots
from ...plotting.style import color, styled
from ..datasets import diabetes
from ..experiments import Runs, linear_example
from ..research.curvature import own_curvature_bound
from ..research.shapley import gradient, shapley_values
from .parts import agreement, by_box, draw_edges, inside_boxes, minus, named_at_ends, panel, slanted

CURVES = {"x²": (1.0, 0.0), "x + x²": (1.0, 1.0)}  # curvature and slope at 0
REACH = 2.0


def positions(p: int) -> np.ndarray:
    """Positions of ξ inside each box, (p, k), 1e-9 away from the edges."""
    return np.array([xi for xi, _, _ in inside_boxes(p, REACH, max(112 // p, 7), inset=1e-9)])


def exact_and_guess(
    xi: np.ndarray, nu: float, model: str, p: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """β of c x² + a x at every ξ, and the guess that puts the slope 2cξ + a into the linear form.

    Every ξ is a feature of its own: in a sum the features do not see each other.
    """
    c, a = CURVES[model]
    world = Gaussian(p=p)
    exact = limit(Quadratic(c * np.eye(len(xi)), np.full(len(xi), a)), xi, world, nu).coef
    return exact, limit(Linear(2 * c * xi + a), xi, world, nu).coef


def curved(fig: Figure, nu: float, model: str, p: int) -> str:
    """LIME's coefficient of a parabola at every ξ, and what its slope alone would give."""
    ax = fig.subplots()
    fig.subplots_adjust(right=0.83)
    ax.axhline(0, color=color.muted, lw=1)
    xi = positions(p)
    exact, guess = exact_and_guess(xi.ravel(), nu, model, p)
    draw_edges(ax, p, lw=0.8, alpha=0.6)
    # beyond its canvas matplotlib drops points, and the line would jump
    within = np.clip(guess, -2.9, 6.9)
    ax.plot(*by_box(xi, within), color=color.muted, ls="--", lw=1.5)
    ax.plot(*by_box(xi, exact), color=color.truth)
    ax.set(xlim=(-REACH, REACH), ylim=(-2.5, 6.5), xlabel="position of ξ", ylabel="coefficient β")
    ax.set(xticks=[-2, -1, 0, 1, 2], yticks=[-2, 0, 2, 4, 6])
    ends = {"exact β": (exact[-1], color.truth), "slope ×\nfactor": (guess[-1], color.muted)}
    named_at_ends(ax, REACH, ends)
    at, first = (v[0] for v in exact_and_guess(np.array([0.5]), nu, model, p))
    return minus(
        f"At ν = {nu:.3g} with p = {p} boxes, LIME's coefficient of {model} at ξ = 0.5 is "
        f"{at:+.3f}, and the slope there would give {first:+.3f}."
    )


# --- bounded curvature -----------------------------------------------------------------------

BENT = {"sin 2x": 4.0, "x²": 2.0}  # the largest |f''|


class Band(NamedTuple):
    """At every ξ the coefficient, the slope at the tilted mean times the contrast of x, the bound."""

    beta: np.ndarray
    first: np.ndarray
    bound: np.ndarray


def curvature_band(xi: np.ndarray, nu: float, model: str, p: int = 4) -> Band:
    """The three curves; every ξ is a feature of its own, so that its bound is the one for d = 1."""
    world = Gaussian(p=p)
    law = tilt(world, xi, nu)
    bound = own_curvature_bound(BENT[model], xi, world, nu)
    if model == "x²":
        beta = limit(Quadratic(np.eye(len(xi))), xi, world, nu).coef
        return Band(beta, 2 * law.mu_tilde * law.gap, bound)
    boxes = law.views.law
    inner = truncated_characteristic(2 * boxes.sd, *boxes.standard_ends())
    _, inside, outside = law.views.mix((np.exp(2j * boxes.mean) * inner).imag)
    return Band(inside - outside, 2 * np.cos(2 * law.mu_tilde) * law.gap, bound)


def bounded(fig: Figure, nu: float, model: str, p: int) -> str:
    """The coefficient at every ξ within the band that a bound on the curvature allows."""
    ax = fig.subplots()
    xi = positions(p)
    curves = curvature_band(xi.ravel(), nu, model, p)
    beta, first, bound = (values.reshape(xi.shape) for values in curves)
    ax.axhline(0, color=color.muted, lw=1)
    draw_edges(ax, p, lw=0.8, alpha=0.6)
    areas = [
        np.column_stack([np.append(at, at[::-1]), np.append(mid - b, (mid + b)[::-1])])
        for at, mid, b in zip(xi, first, bound, strict=True)
    ]
    path = Path.make_compound_path(*(Path(area) for area in areas))
    ax.add_patch(PathPatch(path, color=color.muted, alpha=0.2, lw=0))
    ax.plot(*by_box(xi, first), color=color.muted, ls="--", lw=1.5)
    ax.plot(*by_box(xi, beta), color=color.truth)
    ax.set(xlim=(-REACH, REACH), ylim=(-5, 5), xlabel="position of ξ", ylabel="coefficient β")
    ax.set(xticks=[-2, -1, 0, 1, 2], yticks=[-4, -2, 0, 2, 4])
    used = np.max(np.abs(beta - first) / bound)
    return minus(
        f"At ν = {nu:.3g} with p = {p} boxes, the coefficient of {model} is within the band at "
        f"every ξ; at its closest to the border, it uses {used:.0%} of the band."
    )


@styled
def second_order(runs: Runs, guess: np.ndarray, exact: np.ndarray) -> Figure:
    """Runs on a kernel machine, the first-order guess and the exact limit (paper: Figure 6)."""
    fig, ax = panel((6.4, 4.2), bottom=0.2)
    boxplots(ax, runs.coef, None, runs.names)
    places = np.arange(1, len(exact) + 1)
    ax.plot(places - 0.14, guess, "o", color=color.alarm, mfc=color.paper, ms=6, mew=1.8)
    ax.plot(places + 0.14, exact, "x", color=color.truth, ms=9, mew=2.4)
    ax.plot([], [], "o", color=color.alarm, mfc=color.paper, mew=1.8, label="first-order guess")
    ax.plot([], [], "x", color=color.truth, ms=9, mew=2.4, label="exact limit")
    ax.legend(loc="upper left")
    slanted(ax)
    return fig


def whiskers(runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the whiskers of boxplots of runs (runs, d): within 1.5 boxes of the box."""
    low, high = np.quantile(runs, [0.25, 0.75], axis=0)
    reach = 1.5 * (high - low)
    kept = np.where((runs >= low - reach) & (runs <= high + reach), runs, np.nan)
    return np.nanmin(kept, axis=0), np.nanmax(kept, axis=0)


@cache
def patient() -> tuple[dict[str, Any], np.ndarray, Gaussian]:
    """Three models of the diabetes data, patient 13, and the Gaussian world of the columns.

    The forest has the settings of :func:`..experiments.patient_13`. All columns are standardised, so
    that the mean of every feature is 0.
    """
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.kernel_ridge import KernelRidge

    table = diabetes(standardize=True)
    linear, _, world = linear_example(table)
    X, y = table.X.to_numpy(), table.y
    models = {
        "linear": linear,
        "kernel ridge": KernelRidge(kernel="rbf", gamma=0.02, alpha=1.0).fit(X, y - y.mean()),
        "forest": RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y),
    }
    return models, X[13], world


@cache
def _without_bandwidth(model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    models, xi, world = patient()
    slope = gradient(models[model], xi, world)
    return shapley_values(models[model], xi, world), slope, xi * slope


def four_explanations(model: str, nu: float) -> dict[str, np.ndarray]:
    """LIME's coefficients, Shapley values, gradient and input × gradient of one model, (d,) each."""
    models, xi, world = patient()
    shapley, slope, times = _without_bandwidth(model)
    return {
        "LIME": limit(models[model], xi, world, nu).coef,
        "Shapley": shapley,
        "gradient": slope,
        "input × gradient": times,
    }


@cache
def agreements(model: str, nu: float, every: int) -> np.ndarray:
    """Cosines of LIME with the Shapley values and with the gradient, (patients, 2).

    One row for every ``every``-th patient of the diabetes data. 0 where a gradient is 0.
    """
    models, _, world = patient()
    f, cosines = models[model], []
    for xi in diabetes(standardize=True).X.to_numpy()[::every]:
        lime = limit(f, xi, world, nu).coef
        others = shapley_values(f, xi, world), gradient(f, xi, world)
        cosines.append([agreement(lime, other) for other in others])
    return np.array(cosines)


def side_by_side(fig: Figure, nu: float, model: str) -> str:
    """Four explanations of one prediction, each scaled so that its largest bar is 1."""
    explanations = four_explanations(model, nu)
    names = patient()[2].boxes().names
    fig.subplots_adjust(left=0.1, right=0.98, bottom=0.1, top=0.9)
    axes = fig.subplots(1, 4, sharey=True, gridspec_kw={"wspace": 0.12})
    rows = np.arange(len(names))[::-1]
    for k, (ax, (title, values)) in enumerate(zip(axes, explanations.items(), strict=True)):
        scaled = values / np.abs(values).max() if np.any(values) else values
        shade = color.surrogate if k == 0 else color.muted
        ax.barh(rows, scaled, color=shade, height=0.62)
        ax.axvline(0, color=color.muted, lw=1)
        ax.set(xlim=(-1.1, 1.1), xticks=[0, 1], yticks=rows, yticklabels=names)
        ax.tick_params(axis="y", length=0)
        ax.set_title(title, fontsize=11.5)
    lime, *others = explanations.values()
    shapley, slope, times = (f"{agreement(lime, other):.2f}" for other in others)
    to_slope = f"with the gradient {slope}, with input × gradient {times}"
    if not np.any(explanations["gradient"]):
        to_slope = "the gradient is zero"
    return minus(
        f"At ν = {nu:.2f}, on the {model} model: the cosine of LIME with the Shapley values is "
        f"{shapley}; {to_slope}."
    )
