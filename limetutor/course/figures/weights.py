"""Chapter *weights*: what the bandwidth does to the samples, and the tilted law behind it."""

import warnings
from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Gaussian
from ...core.explainer import explain
from ...core.kernels import KERNELS, tilt
from ...core.truncated import tilted_normal
from ...inputs.warning_classes import FitWarning
from ...interactive.layers import in_layers
from ...plotting.handles import handle
from ...plotting.results import boxplots
from ...plotting.style import color, new_figure, styled
from ...precision.effective_samples import effective_sample_size
from ...results.explanation import Explanation
from ..experiments import Runs
from . import parts
from .parts import signed

XI = 0.4  # the instance of the one-dimensional picture
GRID = np.linspace(-2.6, 2.6, 97)
LAWS = np.linspace(-3, 3, 81)


def wave(x: np.ndarray) -> np.ndarray:
    """A model of one feature that falls around ξ and rises on the whole."""
    x = np.asarray(x, float).reshape(len(x), -1)[:, 0]
    return x - 1.5 * np.sin(2.5 * x)


def line_fit(nu: float, n: int = 60) -> Explanation:
    """The explanation of :func:`wave` at ξ from the same n samples for every bandwidth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # the picture shows what they warn of
        return explain(wave, [XI], Gaussian(), nu, n=n, seed=1, keep=True)


def constant_to_global(fig: Figure, nu: float) -> str:
    """Above: f, its samples and the surrogate. Below: the weights of the samples."""
    ex = line_fit(nu)
    fig.subplots_adjust(bottom=0.14, hspace=0.12)
    top, below = fig.subplots(2, 1, sharex=True, height_ratios=(2.2, 1))
    for ax in (top, below):
        parts.shade(ax, parts.box_of(XI), 2.6)
        parts.draw_edges(ax)
    top.plot(GRID, wave(GRID), color=color.ink, lw=1.6, label="model f")
    top.plot(ex.x[:, 0], ex.y, ".", color=color.sample, ms=6, label="new examples")
    surrogate = parts.plateau(parts.box_of(XI), ex.local_prediction, ex.intercept, 2.6)
    top.plot(*surrogate, color=color.surrogate, lw=2.6, label="surrogate")
    top.plot(XI, wave(np.array([XI]))[0], "o", color=color.xi, ms=8)
    top.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), yticks=[-2, 0, 2], ylabel="f(x)")
    top.tick_params(labelbottom=False)
    top.legend(loc="upper left", fontsize=11.5, borderaxespad=0.1)
    below.plot(GRID, parts.bell(GRID, XI, nu), color=color.muted, lw=1.2)
    below.vlines(ex.x[:, 0], 0, ex.weights, color=color.sample, lw=1.6)
    below.plot(XI, 0.03, "o", color=color.xi, ms=8, clip_on=False)
    below.set(ylim=(0, 1.08), yticks=[0, 1], xlabel="x", ylabel="weight π")
    share = ex.weights[~ex.z[:, 0]].sum() / ex.weights.sum()
    return (
        f"At ν = {nu:.3g} the {ex.n} samples are worth {ex.ess:.1f}, {share:.1%} of the weight "
        f"lies outside the box of ξ, and the coefficient is {signed(ex.coef[0])}."
    )


@cache
def _standard_cloud(n: int = 1000, d: int = 30) -> np.ndarray:
    return np.random.default_rng(4).standard_normal((n, d))


def cloud_weights(d: int, nu: float) -> np.ndarray:
    """Weights of 1000 standard normal samples in d dimensions, ξ = (0.5, …, 0.5), largest first."""
    boxes, x = Gaussian().boxes(d), _standard_cloud()[:, :d]
    log_w = KERNELS["gaussian"].log_weights(x, x < 0, np.full(d, 0.5), nu, boxes)
    return np.sort(np.exp(log_w - log_w.max()))[::-1]


def concentration(fig: Figure, d: int, nu: float) -> str:
    """Left: how much of the weight the heaviest samples hold. Right: what n samples are worth."""
    w = cloud_weights(d, nu)
    held = np.cumsum(w) / w.sum()
    worth = float(w.sum() ** 2 / (w**2).sum())
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.36})
    count = np.unique(np.geomspace(1, len(w), 45).astype(int))
    left.plot(count, count / len(w), color=color.muted, ls="--", lw=1.4)
    left.plot(count, held[count - 1], color=color.sample)
    left.plot(10, held[9], "o", color=color.sample, ms=8)
    parts.log_axes(left, x=[1, 10, 100, 1000])
    left.set(xlim=(0.9, 1100), ylim=(0, 1.03), yticks=[0, 0.5, 1])
    left.set(xlabel="heaviest samples", ylabel="share of the weight")
    dims = np.arange(1, 31)
    theory = [effective_sample_size(np.full(k, 0.5), Gaussian(), nu, len(w)) for k in dims]
    right.plot(dims, theory, color=color.truth)
    (dot,) = right.plot(d, theory[d - 1], "o", color=color.truth, ms=8)
    handle(dot, "d")
    right.axhline(1, color=color.muted, lw=1, ls="--")
    parts.log_axes(right, y=[0.01, 1, 100])
    right.set(xlim=(0, 31), ylim=(0.01, 1500), xticks=[1, 10, 20, 30])
    right.set(xlabel="dimension d", ylabel="effective samples")
    return (
        f"With d = {d} and ν = {nu:g}, the ten heaviest of 1000 samples hold {held[9]:.1%} of the "
        f"weight; they are worth {worth:.1f}, where the formula says {theory[d - 1]:.3g}."
    )


@cache
def _line_of_draws(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(n)


def weighted_histogram(nu: float, xi: float) -> tuple[np.ndarray, np.ndarray]:
    """Density of 20 000 draws from N(0, 1) weighted around ξ, and the edges of its bins."""
    x = _line_of_draws()
    return np.histogram(x, bins=40, range=(-3, 3), weights=parts.bell(x, xi, nu), density=True)


def _laws_and_masses(fig: Figure) -> tuple[Axes, Axes]:
    fig.subplots_adjust(left=0.04)
    left, right = fig.subplots(1, 2, width_ratios=(1.5, 1), gridspec_kw={"wspace": 0.28})
    parts.draw_edges(left)
    left.plot(LAWS, parts.bell(LAWS), color=color.muted, lw=1.4, ls="--")
    left.set(xlim=(-3, 3), ylim=(0, 1.2), yticks=[], xlabel="x")
    right.plot([0.5, 4.5], [0.25, 0.25], color=color.muted, ls="--", lw=1.4)
    right.set(xlim=(0.4, 4.6), ylim=(0, 1.03), xticks=np.arange(1, 5), yticks=[0, 0.5, 1])
    right.set(xlabel="box", ylabel="mass")
    return left, right


def _tilted(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The draws counted by weight, the tilted law and its masses."""
    left, right = axes
    mean, sd, _ = tilted_normal(np.asarray(xi), np.asarray(0.0), nu, np.asarray(1.0))
    density, edges = weighted_histogram(nu, xi)
    peak = float(sd) * np.sqrt(2 * np.pi)  # both laws are drawn with their highest point at 1
    left.fill_between(*parts.steps(edges, density * peak), color=color.sample, alpha=0.3, lw=0)
    left.plot(LAWS, parts.bell(LAWS, float(mean), float(sd)), color=color.sample)
    xi_box, places = parts.box_index(xi), np.arange(1, 5)
    bars = right.bar(places, _masses(nu, xi)[0], color=color.sample, alpha=0.55, width=0.7, lw=0)
    bars[xi_box].set_alpha(1.0)


def _instances(axes: tuple[Axes, Axes], xi: float) -> None:
    parts.instance(axes[0], xi)
    axes[1].plot(parts.box_index(xi) + 1, 0.03, "o", color=color.xi, ms=8)


@cache
def _masses(nu: float, xi: float) -> tuple[np.ndarray, float]:
    """The masses of the four boxes under the tilted law, and the mean weight."""
    at = tilt(Gaussian(), [xi], nu)
    return at.views.law.prob[0], float(np.exp(at.log_mass[0]))


@in_layers(
    _laws_and_masses,
    lambda axes, xi: parts.shade(axes[0], parts.box_of(xi), 3),
    _tilted,
    _instances,
)
def tilt_over_boxes(nu: float, xi: float) -> str:
    """Left: the law of the samples before and after weighting. Right: the masses of the boxes."""
    mean, sd, _ = tilted_normal(np.asarray(xi), np.asarray(0.0), nu, np.asarray(1.0))
    masses, weight = _masses(nu, xi)
    return (
        f"At ν = {nu:.2f} the tilted law has mean {signed(float(mean))} and standard deviation {sd:.2f}; the box of ξ "
        f"has mass {masses[parts.box_index(xi)]:.2f}, and the mean weight is {weight:.2f}."
    )


@styled
def two_samplers(weighted: Runs, tilted: Runs, theory: np.ndarray) -> Figure:
    """Boxplots of repeated coefficients: weighted samples, and samples from the tilted law."""
    fig = new_figure((6.4, 3.8))
    fig.subplots_adjust(top=0.9)
    axes = fig.subplots(1, 2, sharey=True)
    for ax, runs, name in zip(axes, (weighted, tilted), ("weighted", "tilted law"), strict=True):
        boxplots(ax, runs.coef, theory)
        ax.set_title(name)
    axes[1].set_ylabel("")
    return fig


@styled
def distances(d: int = 10) -> Figure:
    """The weight of an example that left some of ξ's boxes, for the distances measured on z."""
    boxes, xi, left = Gaussian().boxes(d), np.zeros(d), np.arange(d + 1)
    z = np.arange(d) >= left[:, None]  # row k has left k boxes
    fig, ax = parts.panel()
    for kernel, nu, label, hue, mark in (
        ("mismatch", 0.75 * d, "mismatch, ν = 0.75 d (as printed)", color.muted, "s--"),
        ("mismatch", 0.75 * np.sqrt(d), "mismatch, ν = 0.75 √d (lime)", color.lime, "o-"),
        ("mismatch", 1.0, "mismatch, ν = 1", color.sample, "v-"),
        ("cosine", 0.25, "cosine, ν = 0.25 (lime for text)", color.lime, "^--"),
    ):
        weight = np.exp(KERNELS[kernel].log_weights(z.astype(float), z, xi, nu, boxes))
        ax.plot(left, weight, mark, color=hue, ms=5, label=label)
    ax.set(xlim=(-0.2, d + 0.2), ylim=(0, 1.75), yticks=[0, 0.5, 1], xticks=left[::2])
    ax.set(xlabel=f"features (of {d}) that left the box of ξ", ylabel="weight π")
    ax.legend(loc="upper right", fontsize=11.5, ncols=1, borderaxespad=0.1)
    return fig
