"""Chapter *sampling*: boxes first, values inside; edges estimated from data; the general setting."""

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path

from ...core.boxes import Gaussian
from ...core.kernels import KERNELS
from ...core.tilted_law import gaussian_tilt
from ...core.truncated import BoxLaw
from ...exact.integrals import box_cdf
from ...inputs.columns import Number
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.style import color, new_figure, styled
from ...precision.edge_errors import edge_stderr
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
    """10 000 samples of one feature; the first n of them are what the figure shows."""
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
    """Above: a histogram of n samples and the normal density. Below: their distance."""
    values = _drawn(how)[:n]
    top, below = parts.stacked(fig, shared=True)
    counts, cuts = np.histogram(values, bins=np.linspace(-3, 3, 49))
    heights = np.minimum(counts / n / 0.125, 0.8)
    top.fill_between(*parts.steps(cuts, heights), color=color.sample, alpha=0.4, lw=0)
    parts.edge_lines(top, 0, 0.8, lw=1.2)
    top.plot(GRID, parts.bell(GRID) / np.sqrt(2 * np.pi), color=color.truth)
    top.set(ylim=(0, 0.8), yticks=[], ylabel="density")
    gap = bridge(values, GRID)
    below.axhspan(-BAND, BAND, color=color.truth, alpha=0.16, lw=0)
    parts.edge_lines(below, -5, 5, lw=1.2)
    below.plot(GRID, gap, color=color.sample)
    below.set(xlim=(-3, 3), ylim=(-5, 5), yticks=[-4, -2, 0, 2, 4], xlabel="x")
    below.set_ylabel("√n (F̂ − Φ)")
    worst = float(np.max(np.abs(gap)))
    verdict = "inside" if worst <= BAND else "outside"
    return (
        f"{n} samples have mean {signed(values.mean())} and standard deviation "
        f"{values.std(ddof=1):.2f}; the largest gap is {worst:.2f}/√n, {verdict} the 95% band."
    )


# --- samples of a real column ----------------------------------------------------------------


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
    """The training values of a column, and the density of samples with p boxes."""
    laws = column_laws(name, p)
    width = np.diff(laws.grid)[0]
    ax = fig.subplots()
    boxes, normal = np.diff(laws.boxes) / width, np.diff(laws.normal) / width
    coarse = np.diff(laws.data[::4]) / (4 * width)
    top = 1.9 * normal.max()
    outline = parts.steps(laws.grid[::4], coarse)
    ax.fill_between(*outline, color=color.muted, alpha=0.35, lw=0, label="patients")
    ax.plot(*parts.lines(laws.edges, 0, top), color=color.box, lw=1, alpha=0.6)
    middles = (laws.grid[1:] + laws.grid[:-1]) / 2
    ax.plot(middles, normal, color=color.truth, ls="--", label="one normal")
    ax.plot(middles, np.minimum(boxes, top), color=color.sample, label="lime’s samples")
    ax.set(xlim=(laws.grid[0], laws.grid[-1]), ylim=(0, top), yticks=[])
    ax.set(xlabel=LABELS[name], ylabel="density")
    ax.legend(loc="upper right", borderaxespad=1.5)
    fine = column_laws(name, p, points=1601)
    return (
        f"With p = {p} boxes, the distribution of the samples differs from that of the training values by at "
        f"most {100 * largest_gap(fine.boxes, fine.data):.1f} percentage points, and a single normal "
        f"distribution by {100 * largest_gap(fine.normal, fine.data):.1f}."
    )


# --- the paper's figure of edges -------------------------------------------------------------


class QuantileSetting(NamedTuple):
    """The paper's figure quantiles_investigation: a training set and its edges in two ways."""

    X: np.ndarray  # (n_train, 2)
    empirical: np.ndarray  # (2, p - 1)
    theoretical: np.ndarray  # (p - 1,)
    stderr: np.ndarray  # (p - 1,)


def quantile_setting(n_train: int = 500, p: int = 4, seed: int = 5) -> QuantileSetting:
    """A training set from N(0, I) in two dimensions (mu, sigma and n_train as in the paper)."""
    X = np.random.default_rng(seed).standard_normal((n_train, 2))
    empirical = np.array(Empirical(X, p=p).boxes().edges)
    return QuantileSetting(X, empirical, parts.inner_edges(p), edge_stderr(p, n_train))


@styled
def quantiles_investigation(setting: QuantileSetting, xi: np.ndarray) -> Figure:
    """Training set, empirical (dashed) and theoretical quantiles (paper's figure); ξ magnified."""
    fig = new_figure((6.4, 3.5))
    fig.subplots_adjust(left=0.085, bottom=0.165, right=0.985)
    left, right = fig.subplots(1, 2, width_ratios=(1.12, 1), gridspec_kw={"wspace": 0.24})
    for ax in (left, right):
        ax.plot(*setting.X.T, "o", color=color.muted, ms=3.2, mew=0, alpha=0.55)
        for edges, dash in (([setting.theoretical] * 2, "-"), (setting.empirical, "--")):
            ax.plot(*parts.lines(edges[0], -3.2, 3.2), color=color.box, lw=1.6, ls=dash)
            ax.plot(*parts.lines(edges[1], -3.2, 3.2)[::-1], color=color.box, lw=1.6, ls=dash)
    left.plot(*xi, "D", color=color.xi, ms=4)
    left.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xlabel="x₁")
    left.set_ylabel("x₂", labelpad=-4)
    _magnify(right, setting, xi)
    corners = xi[:, None] + NEARBY * np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]])
    left.plot(*corners, color=color.ink, lw=1.2)
    return fig


NEARBY = 0.15  # half the side of the square that is magnified


def _magnify(ax: Axes, setting: QuantileSetting, xi: np.ndarray) -> None:
    """The square around ξ, with the strip between the two kinds of edges."""
    edges = {"theoretical": setting.theoretical[2], "empirical": setting.empirical[0, 2]}
    low, high = sorted(edges.values())
    ax.axvspan(low, high, color=color.box, alpha=0.18, lw=0)
    ax.plot(*xi, "D", color=color.xi, ms=7)
    (x, y), gap = xi, 0.006
    for (name, edge), side in zip(
        sorted(edges.items(), key=lambda e: e[1]), ("right", "left"), strict=True
    ):
        at = edge + (gap if side == "left" else -gap)
        label = f"{name}\n{edge:.3f}"
        parts.named(ax, at, y + 0.115, label, color.box, ha=side, size=11.5, linespacing=1.5)
    ax.text(x, y - 0.02, "ξ", color=color.xi, ha="center", va="top", size=14)
    ax.set(xlim=(x - NEARBY, x + NEARBY), ylim=(y - NEARBY, y + NEARBY), xlabel="x₁, magnified")
    ax.set(xticks=[0.6, 0.7, 0.8], yticks=[])
    ax.spines[:].set(visible=True, color=color.ink, linewidth=1.2)


def agreement(xi: float, setting: QuantileSetting, n: int = 100_000, seed: int = 0) -> float:
    """The share of samples whose z₁ is the same with both kinds of edges."""
    x = np.random.default_rng(seed).standard_normal((n, 2))
    row = np.array([[xi, 0.0]])
    worlds = (Gaussian(0, 1, p=4).boxes(2), Empirical(setting.X, p=4).boxes())
    z = [boxes.discretize(x)[:, 0] == boxes.discretize(row)[0, 0] for boxes in worlds]
    return float(np.mean(z[0] == z[1]))


# --- edges of growing training sets ----------------------------------------------------------

TRAIN_SIZES = np.unique(np.geomspace(30, 10_000, 40).astype(int))
TRAINING_SETS = 40
ABOVE_EDGE = 0.8  # an instance above the third quartile of N(0, 1)


@cache
def _training_values() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((10_000, TRAINING_SETS))


@cache
def third_edges(n: int) -> np.ndarray:
    """The third edge estimated from the first n values of each training set, (40,)."""
    return np.array([Number().cut(values, 4)[2] for values in _training_values()[:n].T])


def _funnel(fig: Figure) -> Axes:
    """The edge of each training set as it grows, two standard errors around the true one, and ξ."""
    ax, true = fig.subplots(), float(parts.inner_edges()[2])
    reach = 2 * np.array([edge_stderr(4, int(n))[2] for n in TRAIN_SIZES])
    ax.fill_between(TRAIN_SIZES, true - reach, true + reach, color=color.truth, alpha=0.16, lw=0)
    paths = [np.column_stack([TRAIN_SIZES, path]) for path in _paths().T]
    ax.plot(*parts.joined(paths), color=color.muted, lw=0.8, alpha=0.45)
    ax.axhline(true, color=color.box, lw=2)
    ax.axhline(ABOVE_EDGE, color=color.xi, lw=1.6, ls=":")
    parts.named(ax, 10_000, ABOVE_EDGE + 0.07, "ξ", color.xi, ha="right", size=14)
    parts.named(ax, 10_000, true - 0.12, "true edge", color.box, ha="right")
    parts.log_axes(ax, x={30: "30", 100: "100", 1000: "1000", 10_000: "10⁴"})
    ax.set(xlim=(28, 10_800), ylim=(-0.1, 1.25), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2])
    ax.set(xlabel="training values n", ylabel="third edge")
    return ax


@cache
def _paths() -> np.ndarray:
    return np.array([third_edges(int(n)) for n in TRAIN_SIZES])


def _edges_at(ax: Axes, n: int) -> None:
    beyond = third_edges(n) >= ABOVE_EDGE
    for which, hue, mark in ((~beyond, color.box, "o"), (beyond, color.alarm, "X")):
        found = third_edges(n)[which]
        ax.plot(np.full(len(found), n), found, mark, color=hue, ms=6, mew=0)


@in_layers(_funnel, _edges_at)
def growing(n: int) -> str:
    """The third edge estimated from forty training sets as they grow, and how many misplace ξ."""
    wrong = int(np.sum(third_edges(n) >= ABOVE_EDGE))
    return (
        f"Estimated from {n} values, the edge has a standard error of {edge_stderr(4, n)[2]:.3f}. In {wrong} of "
        f"the {TRAINING_SETS} training sets it lies above ξ = {ABOVE_EDGE:g} and puts ξ into the wrong box."
    )


# --- an instance that crosses an edge --------------------------------------------------------

SEEN = 2.5  # the positions that are shown


@cache
def _cloud() -> np.ndarray:
    return np.random.default_rng(7).standard_normal((160, 2))


def crossing(fig: Figure, xi: float, nu: float) -> str:
    """Above: which samples share the box of ξ. Below: the coefficient of f(x) = x₁."""
    top, below = parts.stacked(fig, shared=True)
    x, y = _cloud().T
    parts.shade(top, parts.box_of(xi), 3, alpha=0.16)
    parts.edge_lines(top, -3, 3)
    parts.filled_in_box(top, x, y, xi, others=color.muted, ms=4.5, mew=1)
    parts.instance(top, xi, 0.3, ms=11)
    top.set(ylim=(-3, 3), yticks=[-2, 0, 2], ylabel="x₂")
    ones = int(np.sum(parts.boxes_of(x) == parts.box_index(xi)))
    places, gaps = coefficient_curve(nu)
    coef = float(parts.tilt_at(xi, nu).gap)
    parts.edge_lines(below, -1.8, 1.8)
    below.axhline(0, color=color.muted, lw=1)
    below.plot(places, gaps, color=color.truth)
    parts.instance(below, xi, coef, ms=9)
    below.set(xlim=(-SEEN, SEEN), ylim=(-1.8, 1.8), xlabel="x₁")
    below.set(xticks=[-2, -1, 0, 1, 2], yticks=[-1, 0, 1], ylabel="coefficient β₁")
    return (
        f"ξ₁ = {signed(xi)} lies in the {parts.BOX_NAMES[parts.box_index(xi)]} box: {ones} of the {len(x)} "
        f"samples have z₁ = 1, and at ν = {nu:g} the coefficient of f(x) = x₁ (slope 1) is {signed(coef)}."
    )


def coefficient_curve(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """The coefficient of f(x) = x against the position of ξ, with a gap at each edge."""
    pieces = parts.inside_boxes(4, reach=SEEN, count=20)
    return parts.joined(
        [np.column_stack([x, gaussian_tilt(x, nu, 0, 1, *ends).gap]) for x, *ends in pieces]
    )


# --- the general setting ---------------------------------------------------------------------

N_POINTS = 36
ALONG = np.linspace(-2.6, 2.6, 67)


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
    """Samples x_i, their indicators z_i and weights along one coordinate of N(0, 1)."""
    boxes, row = parts.standard_boxes(), np.array([xi])
    x, z = sampler("bins", boxes, row)(np.random.default_rng(seed), n)
    weights = np.exp(KERNELS["gaussian"].log_weights(x, z, row, nu, boxes))
    alpha = float(parts.tilt_at(xi, nu).alpha)
    return WeightedSample(x[:, 0], z[:, 0], weights, alpha)


def _two_rows(fig: Figure) -> tuple[Axes, Axes]:
    top, bottom = parts.stacked(fig, (1.9, 1), shared=True)
    for ax, low, high in ((top, -2.6, 2.6), (bottom, 0, 1.12)):
        parts.edge_lines(ax, low, high, lw=1.2)
    top.plot(ALONG, wavy(ALONG), color=color.ink, label="model f")
    top.set(ylim=(-2.6, 2.6), yticks=[-2, 0, 2], ylabel="f(x)")
    top.tick_params(bottom=False)
    bottom.set(xlim=(-2.6, 2.6), ylim=(0, 1.12), yticks=[0, 1], xlabel="xⱼ", ylabel="weight")
    return top, bottom


def _box_tangent_samples(axes: tuple[Axes, Axes], xi: float) -> None:
    for ax in axes:
        parts.shade(ax, parts.box_of(xi), 2.6, alpha=0.16)
    slope, value = wavy_slope(xi), float(wavy(np.array(xi)))
    ends = np.array([-0.6, 0.6])
    axes[0].plot(xi + ends, value + slope * ends, color=color.ink, lw=2, ls="--")
    now = general(xi, 1.0)
    parts.filled_in_box(axes[0], now.x, wavy(now.x), xi, ms=5.5, mew=1.2, clip_on=False)


def _weights_around(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The weight against the position, and below that curve a line for each sample, bold in the box."""
    bottom, x = axes[1], general(xi, 1.0).x
    curve = parts.bell_around(xi, nu, 2.7)
    bottom.plot(*curve, color=color.muted, lw=1.4, ls="--")
    below = Path(np.column_stack(curve))
    for k in range(4):
        up = parts.lines(x[parts.boxes_of(x) == k], 0, 1)
        width = 2.2 if k == parts.box_index(xi) else 1
        bottom.plot(*up, color=color.sample, lw=width)[0].set_clip_path(below, bottom.transData)


@in_layers(
    _two_rows,
    _box_tangent_samples,
    _weights_around,
    lambda axes, xi: parts.instance(axes[0], xi, float(wavy(np.array(xi))), ms=9),
)
def general_setting(nu: float, xi: float) -> str:
    """The model, ξ and its tangent, the boxes, samples with z and weights (paper, Figure 2)."""
    now = general(xi, nu)
    ones, share = int(now.z.sum()), float(now.weights @ now.z / now.weights.sum())
    return (
        f"Around ξ = {signed(xi)} with ν = {nu:.2f}, {ones} of the {N_POINTS} samples have z = 1; "
        f"they carry {share:.0%} of the weight ({now.alpha:.0%} in the limit of many samples)."
    )
