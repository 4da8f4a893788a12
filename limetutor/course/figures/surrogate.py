"""Chapter *surrogate*: what weighted least squares on indicators keeps of a model."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from ...core import surrogate
from ...core.boxes import Gaussian
from ...core.explainer import explain
from ...inputs.lime_defaults import KERNEL_WIDTH_FACTOR
from ...lime.empirical import Empirical
from ...plotting.style import color, styled
from ...precision.sparse import fit_sparse
from ...results.explanation import Explanation
from ..datasets import diabetes
from ..experiments import running_example
from .parts import draw_intervals, log_axes, panel

CORNERS = ((False, False), (True, False), (False, True), (True, True))
XI = (0.9, 0.4)
MODELS = {
    "sum": lambda x: x[:, 0] + x[:, 1],
    "product": lambda x: x[:, 0] + x[:, 1] + 2 * x[:, 0] * x[:, 1],
    "corner": lambda x: 2.0 * ((x[:, 0] > 0.5) & (x[:, 1] > 0)),
}


@cache
def corner_fit(model: str, nu: float, n: int = 20_000) -> Explanation:
    """The explanation of one of the two-feature models, from the tilted law to have less noise."""
    f = MODELS[model]
    return explain(f, XI, Gaussian(), nu, n=n, seed=2, sampler="tilted", keep=True)


def corner_means(ex: Explanation) -> tuple[np.ndarray, np.ndarray]:
    """Mean response in each corner of z, and the share of the weight that lies there, (4,) each."""
    masks = [np.all(ex.z == corner, axis=1) for corner in CORNERS]
    means = [np.average(ex.y[m], weights=ex.weights[m]) for m in masks]
    return np.array(means), np.array([ex.weights[m].sum() for m in masks]) / ex.weights.sum()


def corners(fig: Figure, nu: float, model: str) -> str:
    """The four values a surrogate of two features can take, beside what f does there."""
    ex = corner_fit(model, nu)
    means, share = corner_means(ex)
    fitted = ex.intercept + np.array(CORNERS, float) @ ex.coef
    ax = fig.subplots()
    fig.subplots_adjust(bottom=0.27)
    for k, corner in enumerate(CORNERS):
        inside = np.all(ex.z == corner, axis=1)
        low, high = np.quantile(ex.y[inside], [0.1, 0.9])
        ax.plot([k, k], [low, high], color=color.sample, lw=7, alpha=0.35, solid_capstyle="butt")
        ax.plot([k - 0.3, k + 0.3], [fitted[k]] * 2, color=color.surrogate, lw=3)
    ax.plot(range(4), means, "o", color=color.ink, ms=7, mfc=color.paper, mew=1.8)
    ax.plot(3.2, ex.prediction, "o", color=color.xi, ms=8)
    names = ("neither", "box of x₁", "box of x₂", "both boxes")
    ax.set_xticks(range(4), [f"{name}\n{s:.0%}" for name, s in zip(names, share, strict=True)])
    ax.set(xlim=(-0.5, 3.5), ylim=(-3.2, 6.2), yticks=[-2, 0, 2, 4, 6], ylabel="f(x)")
    ax.set_xlabel("boxes of ξ that the example shares, and share of the weight")
    miss = np.max(np.abs(fitted - means))
    return (
        f"At ν = {nu:.2f} the surrogate is {ex.intercept:.2f} + {ex.coef[0]:.2f} z₁ + "
        f"{ex.coef[1]:.2f} z₂ with R² = {ex.score:.2f}; it misses the mean of f in a corner by up "
        f"to {miss:.2f}, and says {ex.local_prediction:.2f} at ξ where f is {ex.prediction:.2f}."
    ).replace("+ -", "− ")


@cache
def diabetes_fit() -> tuple[surrogate.Sums, tuple[str, ...]]:
    """The sums behind the explanation of a linear model of the diabetes data, as `lime` samples."""
    from sklearn.linear_model import LinearRegression

    X, y = diabetes()
    world, nu = Empirical(X), KERNEL_WIDTH_FACTOR * np.sqrt(X.shape[1])
    model = LinearRegression().fit(X, y)
    ex = explain(model, X.iloc[0], world, nu, seed=0, kernel="mismatch", keep=True)
    sums = surrogate.Sums(len(ex.coef))
    sums.add(ex.z, ex.y, np.log(ex.weights))
    return sums, ex.names


def penalised(kind: str, strength: float) -> np.ndarray:
    """Coefficients under a penalty per unit of total weight, (d,)."""
    sums, _ = diabetes_fit()
    total = float(sums.gram[0, 0]) * np.exp(sums.log_scale)
    ridge, lasso = (strength * total, 0.0) if kind == "ridge" else (0.0, strength)
    return fit_sparse(sums, ridge, lasso, None, "auto").beta[1:]


@cache
def _paths(kind: str) -> tuple[np.ndarray, np.ndarray]:
    strengths = np.geomspace(0.001, 30, 60)
    return strengths, np.array([penalised(kind, s) for s in strengths])


def penalty(fig: Figure, strength: float, kind: str) -> str:
    """Left: the coefficients against the penalty. Right: what is left of each at this penalty."""
    coef, (strengths, paths) = penalised(kind, strength), _paths(kind)
    _, names = diabetes_fit()
    order = np.argsort(np.abs(paths[0]))
    left, right = fig.subplots(1, 2, width_ratios=(1.3, 1), gridspec_kw={"wspace": 0.24})
    fig.subplots_adjust(left=0.11)
    left.axhline(0, color=color.muted, lw=1)
    left.axvline(strength, color=color.muted, lw=1, ls="--")
    for rank, j in enumerate(order):
        named = rank >= len(order) - NAMED
        hue, width = (color.surrogate, 2) if named else (color.muted, 1.1)
        left.plot(strengths, paths[:, j], color=hue, lw=width)
        left.plot(strength, coef[j], "o", color=hue, ms=7 if named else 4)
        if named:
            left.text(0.0011, paths[0, j] + 1.2, names[j], color=color.ink, size=11.5)
    log_axes(left, x={0.001: "0.001", 0.01: "0.01", 0.1: "0.1", 1: "1", 10: "10"})
    left.set(xlim=(0.0009, 33), ylim=(-42, 78), yticks=[-40, 0, 40])
    left.set(xlabel="penalty λ/Σπ", ylabel="coefficient")
    rows, share = np.arange(len(order)), 100 * (coef / penalised(kind, 0.0))[order]
    hues = [color.surrogate if rank >= len(order) - NAMED else color.muted for rank in rows]
    right.axvline(100, color=color.muted, lw=1)
    right.barh(rows, share, color=hues, height=0.62)
    right.set_yticks(rows, [names[j] for j in order])
    right.set(xlim=(0, 190), xticks=[0, 50, 100, 150], xlabel="% left")
    right.set_ylim(-0.6, len(order) - 0.4)
    kept = int(np.sum(coef != 0))
    left_over = np.abs(coef).sum() / np.abs(paths[0]).sum()
    return (
        f"With the {kind} penalty λ/Σπ = {strength:.3g}, {kept} of {len(names)} coefficients are not "
        f"zero, and {left_over:.0%} of their total size is left: {share[-1]:.0f}% of the largest "
        f"({names[order[-1]]}) and {share[-NAMED]:.0f}% of the fifth ({names[order[-NAMED]]})."
    )


NAMED = 5  # the coefficients that are followed by name; the others are noise


def interval_runs(runs: int = 40, n: int = 2000, nu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """First coefficient of the running example and its 95% interval in repeated runs."""
    f, xi, world = running_example()
    fits = [explain(f, xi, world, nu, n=n, seed=100 + k) for k in range(runs)]
    return np.array([ex.coef[0] for ex in fits]), np.array([ex.interval()[0] for ex in fits])


@styled
def intervals(coef: np.ndarray, ends: np.ndarray, theory: float) -> Figure:
    """One 95% interval a run; those that miss the theory stand out."""
    fig, ax = panel((6.4, 3.4))
    draw_intervals(ax, coef, ends, theory)
    ax.set_ylabel("first coefficient")
    return fig
