"""Chapter *sampling*: boxes first, values inside; and the general setting of tabular LIME."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.kernels import KERNELS
from ...core.truncated import BoxLaw
from ...exact.integrals import box_cdf
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.style import color
from ...precision.gaussian_and_tilted_samplers import sampler
from ..datasets import diabetes
from . import parts
from .parts import signed

BAND = 1.36  # 95% of samples of the right law stay within ±1.36 in sqrt(n) (F_n - F)

# --- law of a coordinate ---------------------------------------------------------------------


def law_cdf(law: BoxLaw, j: int, t: np.ndarray) -> np.ndarray:
    """P(x_j <= t) when a box is drawn first and then a value in it."""
    return law.prob[j] @ box_cdf(law, j, t)


def largest_gap(first: np.ndarray, second: np.ndarray) -> float:
    """The Kolmogorov-Smirnov distance of two distribution functions on the same grid."""
    return float(np.max(np.abs(first - second)))


# --- three ways to draw ----------------------------------------------------------------------

HOW = {
    "boxes first": "boxes",
    "the Gaussian directly": "gaussian",
    "boxes first, each with its own mean and standard deviation": "own",
}
GRID = np.linspace(-3, 3, 97)


@cache
def _drawn(how: str) -> np.ndarray:
    """10 000 new examples of one feature; the first n of them are what the figure shows."""
    boxes = parts.standard_boxes()
    if how == "own":  # what lime does, on a training set that is itself Gaussian
        boxes = Empirical(standard_values(10_000)[:, None], p=4).boxes()
    name = "gaussian" if how == "gaussian" else "bins"
    x, _ = sampler(name, boxes, np.zeros(1))(np.random.default_rng(6), 10_000)
    return x[:, 0]


def standard_values(n: int) -> np.ndarray:
    """A training set that is as Gaussian as n values can be: its own quantiles."""
    from scipy.special import ndtri

    return ndtri((np.arange(n) + 0.5) / n)


def bridge(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Distribution function of the values less that of N(0, 1), times the root of their number."""
    from scipy.special import ndtr

    return np.sqrt(len(values)) * (share_below(values, t) - ndtr(t))


def share_below(values: np.ndarray, t: np.ndarray) -> np.ndarray:
    """The empirical distribution function: the share of the values that are at most t."""
    return np.searchsorted(np.sort(values), t, side="right") / len(values)


def three_ways(fig: Figure, n: int, how: str) -> str:
    """Left: a histogram of n new examples and the normal density. Right: their distance."""
    values = _drawn(how)[:n]
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.36})
    counts, cuts = np.histogram(values, bins=np.linspace(-3, 3, 49))
    heights = np.minimum(counts / n / 0.125, 0.8)
    left.fill_between(*parts.steps(cuts, heights), color=color.sample, alpha=0.4, lw=0)
    parts.edge_lines(left, 0, 0.8, lw=1.2)
    left.plot(GRID, parts.bell(GRID) / np.sqrt(2 * np.pi), color=color.truth)
    left.set(xlim=(-3, 3), ylim=(0, 0.8), yticks=[], xlabel="x", ylabel="density")
    gap = bridge(values, GRID)
    right.axhspan(-BAND, BAND, color=color.truth, alpha=0.16, lw=0)
    parts.edge_lines(right, -5, 5, lw=1.2)
    right.plot(GRID, gap, color=color.sample)
    right.set(xlim=(-3, 3), ylim=(-5, 5), yticks=[-4, -2, 0, 2, 4], xlabel="x")
    right.set_ylabel("√n (F̂ − Φ)", labelpad=0)
    worst = float(np.max(np.abs(gap)))
    verdict = "inside" if worst <= BAND else "outside"
    return (
        f"{n} new examples have mean {signed(values.mean())} and standard deviation "
        f"{values.std(ddof=1):.2f}; the largest gap is {worst:.2f}/√n, {verdict} the 95% band."
    )


# --- new examples of a real column -----------------------------------------------------------


@cache
def _table() -> tuple[tuple[str, ...], np.ndarray]:
    X = diabetes().X
    return tuple(X.columns), X.to_numpy()


class ColumnLaws(NamedTuple):
    """Distribution functions of a column on a grid: the data, boxes first, one normal."""

    grid: np.ndarray
    data: np.ndarray
    boxes: np.ndarray
    normal: np.ndarray
    edges: np.ndarray


def column_laws(name: str, p: int, points: int = 81) -> ColumnLaws:
    """The three laws of a column of the diabetes table with p boxes."""
    from scipy.special import ndtr

    names, table = _table()
    values = table[:, names.index(name)]
    boxes = Empirical(values[:, None], p=p).boxes()
    mu, sd = values.mean(), values.std()
    grid = np.linspace(mu - 3 * sd, mu + 3.5 * sd, points)
    data, boxed = share_below(values, grid), law_cdf(boxes.law, 0, grid)
    return ColumnLaws(grid, data, boxed, ndtr((grid - mu) / sd), boxes.edges[0])


LABELS = {"bmi": "body mass index", "bp": "blood pressure", "s6": "blood sugar"}


def column(fig: Figure, p: int, name: str) -> str:
    """The training values of a column, and the density of new examples with p boxes."""
    laws = column_laws(name, p)
    width = np.diff(laws.grid)[0]
    ax = fig.subplots()
    boxes, normal = np.diff(laws.boxes) / width, np.diff(laws.normal) / width
    coarse = np.diff(laws.data[::4]) / (4 * width)
    top = 1.9 * normal.max()
    outline = parts.steps(laws.grid[::4], coarse)
    ax.fill_between(*outline, color=color.muted, alpha=0.35, lw=0, label="training values")
    ax.plot(*parts.lines(laws.edges, 0, top), color=color.box, lw=1, alpha=0.6)
    middles = (laws.grid[1:] + laws.grid[:-1]) / 2
    ax.plot(middles, normal, color=color.truth, ls="--", label="one normal")
    ax.plot(middles, np.minimum(boxes, top), color=color.sample, label="boxes first")
    ax.set(xlim=(laws.grid[0], laws.grid[-1]), ylim=(0, top), yticks=[])
    ax.set(xlabel=LABELS[name], ylabel="density")
    ax.legend(loc="upper right")
    fine = column_laws(name, p, points=1601)
    return (
        f"With p = {p} boxes the law of new examples differs from the training values by at most "
        f"{100 * largest_gap(fine.boxes, fine.data):.1f} percentage points, a single normal by "
        f"{100 * largest_gap(fine.normal, fine.data):.1f}."
    )


# --- the general setting ---------------------------------------------------------------------

N_POINTS = 36
ALONG = np.linspace(-2.6, 2.6, 67)
EXAMPLES: dict[str, Any] = {"ms": 5.5, "mew": 1.2, "clip_on": False}


def wavy(x: np.ndarray) -> np.ndarray:
    """The model of the general setting, with a hill and a valley (the paper does not name its own)."""
    return np.sin(1.7 * x) + 0.4 * x


def wavy_slope(x: float) -> float:
    """Its derivative."""
    return float(1.7 * np.cos(1.7 * x) + 0.4)


class WeightedSample(NamedTuple):
    """What tabular LIME sees along one coordinate."""

    x: np.ndarray
    z: np.ndarray
    weights: np.ndarray
    alpha: float  # the share of the weight in the box of ξ as n grows


@cache
def general(xi: float, nu: float, n: int = N_POINTS, seed: int = 3) -> WeightedSample:
    """New examples x_i, their indicators z_i and weights along one coordinate of N(0, 1)."""
    boxes, row = parts.standard_boxes(), np.array([xi])
    x, z = sampler("bins", boxes, row)(np.random.default_rng(seed), n)
    weights = np.exp(KERNELS["gaussian"].log_weights(x, z, row, nu, boxes))
    alpha = float(parts.tilt_at(xi, nu).alpha)
    return WeightedSample(x[:, 0], z[:, 0], weights, alpha)


def _two_rows(fig: Figure) -> tuple[Axes, Axes]:
    top, bottom = fig.subplots(2, 1, sharex=True, height_ratios=(1.9, 1))
    fig.subplots_adjust(hspace=0.12, bottom=0.14, top=0.97)
    for ax, low, high in ((top, -2.6, 2.6), (bottom, 0, 1.12)):
        parts.edge_lines(ax, low, high, lw=1.2)
    top.plot(ALONG, wavy(ALONG), color=color.ink, label="model f")
    top.set(ylim=(-2.6, 2.6), yticks=[-2, 0, 2], ylabel="f(x)")
    top.tick_params(bottom=False)
    bottom.set(xlim=(-2.6, 2.6), ylim=(0, 1.12), yticks=[0, 1], xlabel="xⱼ", ylabel="weight")
    return top, bottom


def _box_tangent_examples(axes: tuple[Axes, Axes], xi: float) -> None:
    for ax in axes:
        parts.shade(ax, parts.box_of(xi), 2.6, alpha=0.16)
    slope, value = wavy_slope(xi), float(wavy(np.array(xi)))
    ends = np.array([-1.2, 1.2])
    axes[0].plot(xi + ends, value + slope * ends, color=color.ink, lw=2, ls="--")
    now = general(xi, 1.0)
    parts.filled_in_box(axes[0], now.x, wavy(now.x), xi, **EXAMPLES)


def _weights_around(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    bottom, now = axes[1], general(xi, nu)
    bottom.plot(ALONG, parts.bell(ALONG, xi, nu), color=color.muted, lw=1.4, ls="--")
    bottom.plot(*parts.lines(now.x, 0, now.weights), color=color.sample, lw=1, alpha=0.7)
    parts.filled_in_box(bottom, now.x, now.weights, xi, **EXAMPLES)


@in_layers(
    _two_rows,
    _box_tangent_examples,
    _weights_around,
    lambda axes, xi: parts.instance(axes[0], xi, float(wavy(np.array(xi))), ms=9),
)
def general_setting(nu: float, xi: float) -> str:
    """The model, ξ and its tangent, the boxes, new examples with z and weights (paper, Figure 2)."""
    now = general(xi, nu)
    ones, share = int(now.z.sum()), float(now.weights @ now.z / now.weights.sum())
    return (
        f"Around ξ = {signed(xi)} with ν = {nu:.2f}, {ones} of the {N_POINTS} new examples have z = 1; "
        f"they carry {share:.0%} of the weight ({now.alpha:.0%} if there were endlessly many)."
    )
