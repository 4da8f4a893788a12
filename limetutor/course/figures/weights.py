"""Chapter *weights*: how much each sample counts, and the tilted law that weighted samples follow."""

from functools import cache

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Gaussian
from ...core.explainer import explain
from ...core.kernels import KERNELS, tilt
from ...core.tilted_law import Tilt
from ...inputs.lime_defaults import KERNEL_WIDTH_FACTOR
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.style import color, new_figure, styled
from ...results.explanation import Explanation
from ..experiments import patient_13
from . import parts
from .machine import WHOSE
from .parts import signed

EDGES = parts.inner_edges()
BIN = EDGES[2] / 3  # so that edges of bins are at the edges of boxes
ENDS = BIN * np.arange(-13, 14)
LAWS = np.sort(np.concatenate([np.linspace(-3, 3, 80), EDGES, np.nextafter(EDGES, -9)]))


# --- patient 13 ------------------------------------------------------------------------------


@cache
def patient_samples() -> Explanation:
    """The explanation of patient 13 at lime's defaults, with its 5000 samples."""
    model, xi, X = patient_13()
    width = KERNEL_WIDTH_FACTOR * np.sqrt(len(xi))
    return explain(model, xi, Empirical(X), width, n=5000, seed=0, kernel="mismatch", keep=True)


@styled
def shared_boxes(ex: Explanation) -> Figure:
    """Above: the weight of a sample by the boxes it shares with ξ. Below: how many samples share them."""
    fig = new_figure((6.4, 3.6))
    top, below = parts.stacked(fig, shared=True)
    shared = np.arange(ex.z.shape[1] + 1)
    weight = np.exp((shared - shared[-1]) / (2 * ex.nu**2))
    top.plot(shared, weight, "o-", color=color.lime, ms=6)
    top.text(0, weight[0] - 0.1, f"{weight[0]:.2f}", ha="center", va="top")
    top.set(ylim=(0, 1.09), yticks=[0, 0.5, 1], ylabel="weight")
    counts = np.bincount(ex.z.sum(axis=1), minlength=len(shared))
    below.bar(shared, counts, color=color.sample, width=0.7, lw=0)
    for place, count in zip(shared, counts, strict=True):
        below.text(place, count + 40, str(count), ha="center", size=11)
    below.set(xticks=shared, ylim=(0, 1700), yticks=[0, 500, 1000, 1500], ylabel="samples")
    below.set_xlabel("boxes shared with patient 13, of ten")
    return fig


@cache
def _log_weights(kernel: str) -> np.ndarray:
    """Log weights of patient 13's samples at a bandwidth of 1; distances are in standard deviations."""
    ex, (_, xi, X) = patient_samples(), patient_13()
    mean, sd = X.mean().to_numpy(), X.std().to_numpy()
    boxes = Gaussian().boxes(len(xi))
    return KERNELS[kernel].log_weights((ex.x - mean) / sd, ex.z, (xi - mean) / sd, 1.0, boxes)


def sorted_weights(nu: float, kernel: str) -> np.ndarray:
    """Weights of patient 13's samples, largest first, as shares of the largest."""
    log_w = np.sort(_log_weights(kernel))[::-1] / nu**2  # both kernels are exp(-D² / 2ν²)
    return np.exp(log_w - log_w[0])


def effective(w: np.ndarray) -> float:
    """The effective sample size of weights."""
    return float(w.sum() ** 2 / (w**2).sum())


@cache
def _ranks() -> np.ndarray:
    """Which of the sorted weights are drawn: dense at the heavy end, and both sides of lime's steps."""
    falls = np.flatnonzero(np.diff(sorted_weights(1.0, "mismatch")))
    return np.unique([*np.geomspace(1, 5000, 60).astype(int) - 1, *falls, *falls + 1])


def worth(fig: Figure, nu: float, kernel: str) -> str:
    """Weights in a row, and the rectangle of the same area whose width is the effective sample size."""
    w = sorted_weights(nu, kernel)
    size = effective(w)
    ax = fig.subplots()
    fig.subplots_adjust(left=0.11, bottom=0.19)
    ax.fill_between([0, size], 0, w.sum() / size, color=color.truth, alpha=0.25, lw=0)
    ax.plot([size, size], [0, w.sum() / size], color=color.truth, lw=3)
    ax.plot(_ranks() + 1, w[_ranks()], color=color.sample)
    ax.set(xlim=(0, 5100), ylim=(0, 1.04), xticks=[0, 1000, 2000, 3000, 4000, 5000])
    ax.set(xlabel="samples, heaviest first", yticks=[0, 0.5, 1], ylabel="weight / largest")
    held = w[:50].sum() / w.sum()
    return (
        f"With {WHOSE[kernel]} weights and ν = {nu:.2f}, the {len(w)} samples are worth {size:.0f} of "
        f"equal weight; the heaviest 50 of them carry {held:.0%} of the weight."
    )


# --- the tilted law --------------------------------------------------------------------------


@cache
def _draws(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(n)


def _weight_at(x: np.ndarray, nu: float, xi: float, kernel: str) -> np.ndarray:
    """The weight of samples x of one standard normal feature."""
    same = (parts.boxes_of(x) == parts.box_index(xi))[:, None]
    boxes, row = parts.standard_boxes(), np.array([xi])
    return np.exp(KERNELS[kernel].log_weights(x[:, None], same, row, nu, boxes))


@cache
def _tilt(nu: float, xi: float, kernel: str) -> Tilt:
    return tilt(Gaussian(), [xi], nu, kernel)


def tilted_density(nu: float, xi: float, kernel: str = "gaussian") -> np.ndarray:
    """The density of the tilted law at the points LAWS: weight times density over mean weight."""
    density = parts.bell(LAWS) / np.sqrt(2 * np.pi)
    return density * _weight_at(LAWS, nu, xi, kernel) / np.exp(_tilt(nu, xi, kernel).log_mass[0])


def weighted_histogram(nu: float, xi: float, kernel: str = "gaussian") -> np.ndarray:
    """Density of 20 000 draws from N(0, 1), counted by weight, in bins between ENDS."""
    w = _weight_at(_draws(), nu, xi, kernel)
    return np.histogram(_draws(), bins=ENDS, weights=w)[0] / (w.sum() * BIN)


def _laws_and_masses(fig: Figure) -> tuple[Axes, Axes]:
    top, below = parts.stacked(fig, (1.7, 1))
    parts.draw_edges(top)
    top.plot(LAWS, parts.bell(LAWS), color=color.muted, lw=1.4, ls="--")
    top.set(xlim=(-3, 3), ylim=(0, 1.1), yticks=[], xlabel="x")
    below.plot([0.5, 4.5], [0.25, 0.25], color=color.muted, ls="--", lw=1.4)
    below.set(xlim=(0.5, 4.5), ylim=(0, 1.03), yticks=[0, 0.5, 1], ylabel="mass")
    below.set_xticks(np.arange(1, 5), [f"{name} box" for name in parts.BOX_NAMES])
    return top, below


def _tilted(axes: tuple[Axes, Axes], nu: float, xi: float, kernel: str) -> None:
    """The draws counted by weight, the tilted law and its masses."""
    top, below = axes
    line, bars = tilted_density(nu, xi, kernel), weighted_histogram(nu, xi, kernel)
    peak = line.max()  # each law is drawn with its highest point at 1
    top.fill_between(*parts.steps(ENDS, bars / peak), color=color.sample, alpha=0.3, lw=0)
    top.plot(LAWS, line / peak, color=color.sample)
    masses = _tilt(nu, xi, kernel).views.weights[0, 0]
    for box, mass in enumerate(masses):
        strong = 1.0 if box == parts.box_index(xi) else 0.55
        below.fill_between([box + 0.65, box + 1.35], mass, color=color.sample, alpha=strong, lw=0)


def _instances(axes: tuple[Axes, Axes], xi: float) -> None:
    parts.instance(axes[0], xi)
    axes[1].plot(parts.box_index(xi) + 1, 0.04, "^", color=color.xi, ms=8)  # a mark, not a handle


@in_layers(
    _laws_and_masses,
    lambda axes, xi: parts.shade(axes[0], parts.box_of(xi), 3),
    _tilted,
    _instances,
)
def tilt_over_boxes(nu: float, xi: float, kernel: str = "gaussian") -> str:
    """Above: the law of the samples before and after weighting. Below: the masses of the boxes."""
    at = _tilt(nu, xi, kernel)
    return (
        f"With {WHOSE[kernel]} weights and ν = {nu:.2f}, the tilted law has mean "
        f"{signed(float(at.mu_tilde[0]))} and standard deviation {at.sigma_tilde[0]:.2f}; the box of "
        f"ξ has mass {np.exp(at.log_alpha[0]):.2f}, and the mean weight is {np.exp(at.log_mass[0]):.2f}."
    )
