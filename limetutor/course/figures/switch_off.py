"""Chapter *switch-off*: a bandwidth that makes an important feature vanish."""

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...bandwidth.risk import Risk
from ...core.theory import critical_bandwidth
from ...core.tilted_law import gaussian_tilt
from ...interactive.layers import in_layers
from ...plotting.results import boxplots
from ...plotting.style import color, new_figure, styled
from ..experiments import Runs
from . import parts
from .parts import beside_slope, signed


def two_panels(fig: Figure, ylim: tuple[float, float], ylabel: str) -> tuple[Axes, Axes]:
    """Left, laws over the boxes of N(0, 1); right, something against the bandwidth."""
    left, right = fig.subplots(1, 2, width_ratios=(1.15, 1), gridspec_kw={"wspace": 0.42})
    parts.draw_edges(left)
    left.set(xlim=(-3, 3), ylim=(0, 1.12), yticks=[], xlabel="x")
    right.axhline(0, color=color.muted, lw=1)
    parts.bandwidth_axis(right)
    right.set(ylim=ylim, ylabel=ylabel)
    return left, right


def _law_and_coefficient(fig: Figure) -> tuple[Axes, Axes]:
    axes = two_panels(fig, (-0.75, 1.75), "coefficient β")
    axes[0].plot(X, parts.bell(X), color=color.muted, lw=1.4, ls="--")
    return axes


def _box(axes: tuple[Axes, Axes], xi: float) -> None:
    """The box of ξ with its middle, and the coefficient at every bandwidth."""
    left, right = axes
    lo, hi = parts.box_of(xi)
    parts.shade(left, (lo, hi), 3)
    draw_middle(left, lo, hi)
    parts.bandwidth_curve(right, lambda at: gaussian_tilt(xi, at, 0, 1, lo, hi).gap)


def draw_middle(ax: Axes, lo: float, hi: float) -> None:
    """The middle of a box as a dotted line; an outer box has none, and it falls off the picture."""
    middle = np.clip((lo + hi) / 2, -9, 9)
    ax.plot([middle, middle], [0, 1.0], color=color.box, ls=":", lw=2)


def tilted_law(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The law of the samples after weighting, and its mean."""
    now = parts.tilt_at(xi, nu)
    mean, sd = float(now.mu_tilde), float(now.sigma_tilde)
    axes[0].plot(X, parts.bell(X, mean, sd), color=color.sample)
    axes[0].plot(mean, 1.0, "v", color=color.sample, ms=9)


@in_layers(
    _law_and_coefficient,
    _box,
    tilted_law,
    lambda axes, nu, xi: parts.bandwidth_dot(axes[1], lambda at: parts.tilt_at(xi, at).gap, nu),
    lambda axes, xi: parts.instance(axes[0], xi),
)
def tug_of_war(nu: float, xi: float) -> str:
    """Left: the tilted law over the boxes. Right: the coefficient of f(x) = x against ν."""
    lo, hi = parts.box_of(xi)
    now = gaussian_tilt(xi, nu, 0, 1, lo, hi)
    sign = "pulls neither way" if abs(now.gap) < 5e-3 else f"is {now.gap:.2f}"
    if not np.isfinite(hi) or not np.isfinite(lo):
        middle = "the box has no middle"
    else:
        middle = f"the middle of the box is {(lo + hi) / 2:.2f}"
    return (
        f"At ν = {nu:.2f} the tilted law has its mean at {now.mu_tilde:.2f}, {middle}, "
        f"and the coefficient {sign}."
    )


X = np.linspace(-3, 3, 81)
TOP = 1.6  # bandwidth at which the map ends


def sign_map(fig: Figure, p: int) -> str:
    """Where in (ξ, ν) the coefficient of f(x) = x agrees with the slope, and where it turns."""
    ax = fig.subplots()
    ax.set(xlim=(-2, 2), ylim=(0, TOP), xlabel="position of ξ", ylabel="bandwidth ν")
    _draw_signs(ax, p)
    but = "" if p % 2 == 0 else ", and in the middle box it is the other way round"
    return (
        f"With p = {p} boxes the sign turns {_where_it_turns(p)}. At wide bandwidths the coefficient "
        f"agrees with the slope above the mean and opposes it below{but}."
    )


def _draw_signs(ax: Axes, p: int) -> None:
    edges = parts.inner_edges(p)
    agrees, opposes, curves = regions(edges)
    # one artist for all boxes, so that every p has the same elements and the page stays small
    filled(ax, agrees, "positive")
    filled(ax, opposes, "negative")
    ax.plot(*parts.lines(edges, 0, TOP), color=color.box, lw=1)
    ax.plot(*parts.joined(curves), color=color.ink, lw=2.6)


@cache
def _where_it_turns(p: int) -> str:
    # the middle box of an odd number has its zeros at one position, and there no bandwidth turns it
    turning = [curve for curve in regions(parts.inner_edges(p))[2] if np.ptp(curve[:, 0]) > 0]
    if not turning:
        return "nowhere"
    highest = max(curve[:, 1].max() for curve in turning)
    return f"in {len(turning)} of the {p} boxes, at bandwidths up to {highest:.2f}"


def _law_and_map(fig: Figure) -> tuple[Axes, Axes]:
    """The map above and what lies behind its point below it; they share the position."""
    fig.subplots_adjust(left=0.11, right=0.985, bottom=0.12, top=0.98, hspace=0.12)
    top, bottom = fig.subplots(2, 1, sharex=True, height_ratios=(2.4, 1))
    top.set(xlim=(-2, 2), ylim=(0, TOP), yticks=[0, 0.5, 1, 1.5], ylabel="bandwidth ν")
    name_sides(top)
    bottom.plot(X, parts.bell(X), color=color.muted, lw=1.4, ls="--")
    bottom.set(xticks=[-2, -1, 0, 1, 2], ylim=(0, 1.12), yticks=[])
    bottom.set(xlabel="position of ξ", ylabel="tilted law")
    return bottom, top


def _box_below(axes: tuple[Axes, Axes], xi: float, p: int) -> None:
    lo, hi = parts.box_of(xi, p)
    parts.shade(axes[0], (lo, hi), 3)
    draw_middle(axes[0], lo, hi)


@in_layers(
    _law_and_map,
    lambda axes, p: _draw_signs(axes[1], p),
    _box_below,
    tilted_law,
    lambda axes, xi: parts.instance(axes[0], xi),
    lambda axes, nu, xi: parts.on_map(axes[1], xi, nu),
)
def touched_map(xi: float, nu: float, p: int) -> str:
    """The map with a point to drag, and below it the tilted law there over the box of ξ."""
    gap = float(parts.tilt_at(xi, nu, p).gap)
    return (
        f"At ξ = {signed(xi)}, ν = {nu:.2f} and with p = {p} boxes β = {signed(gap, plus=True)}, which "
        f"{beside_slope(gap)}. The sign turns {_where_it_turns(p)}."
    )


def name_sides(ax: Axes) -> None:
    """What the outermost boxes do at every bandwidth, written into a map."""
    ax.text(-1.9, 0.12, "opposes", fontsize=11.5)
    ax.text(1.9, 0.12, "agrees", fontsize=11.5, ha="right")


def regions(edges: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Areas where the contrast agrees with the slope, where it opposes it, and what divides them.

    At wide bandwidths it agrees above the mean. Below a curve of zeros it is the other way round,
    and in the middle box of an odd number of boxes it is so at every bandwidth.
    """
    agrees, opposes, curves = [], [], []
    for lo, hi in pairwise([-2.0, *edges, 2.0]):
        inner = lo in edges and hi in edges
        if inner and lo == -hi:
            agrees.append(_rectangle(lo, 0))
            opposes.append(_rectangle(0, hi))
            curves.append(np.array([[0.0, 0.0], [0.0, TOP]]))
            continue
        wide, narrow = (agrees, opposes) if hi > 0 else (opposes, agrees)
        if not inner:
            wide.append(_rectangle(lo, hi))
            continue
        curve = _zero_curve(lo, hi)
        near, far = sorted((lo, hi), key=abs)  # seen from the mean
        wide.append(np.vstack([[near, 0], curve, [far, TOP], [near, TOP]]))
        narrow.append(np.vstack([curve, [far, 0]]))
        curves.append(curve)
    return agrees, opposes, curves


def _rectangle(lo: float, hi: float) -> np.ndarray:
    return np.array([[lo, 0], [hi, 0], [hi, TOP], [lo, TOP]])


def _zero_curve(lo: float, hi: float) -> np.ndarray:
    """Points (ξ, critical ν) of one box, from its middle to its outer edge."""
    middle, outer = (lo + hi) / 2, hi if hi > 0 else lo
    xi = middle + (outer - middle) * np.linspace(0, 1, 20) ** 2  # the curve starts steeply
    return np.column_stack([xi, np.nan_to_num(critical_bandwidth(xi, 0, 1, lo, hi))])


def filled(ax: Axes, areas: list[np.ndarray], role: str) -> None:
    """Several areas as one patch; where there is none, one off the picture keeps its place."""
    areas = areas or [np.array([[8, 8], [9, 8], [9, 9]])]
    path = Path.make_compound_path(*(Path(area, closed=False) for area in areas))
    ax.add_patch(PathPatch(path, color=getattr(color, role), alpha=0.35, lw=0))


@styled
def before_and_after(wide: Runs, narrow: Runs, theory: tuple[np.ndarray, np.ndarray]) -> Figure:
    """Boxplots of repeated coefficients at two bandwidths (paper: Figure 7)."""
    fig = new_figure((6.4, 3.8))
    fig.subplots_adjust(top=0.9, wspace=0.12)
    axes = fig.subplots(1, 2, sharey=True)
    for ax, runs, beta in zip(axes, (wide, narrow), theory, strict=True):
        boxplots(ax, runs.coef, beta)
    axes[0].set_title("ν = 1")
    axes[1].set(title="ν = 0.53", ylabel="")
    return fig


@styled
def risk_curve(shares: Risk) -> Figure:
    """Which shares of a table's entries have turned, are near a switch-off, oppose the slope."""
    fig, ax = parts.panel()
    for share, hue, dashes, label in (
        (shares.opposed, color.negative, "-", "opposes the slope"),
        (shares.turned, color.ink, "-", "turned from the sign at wide ν"),
        (shares.turned_back, color.positive, "--", "… and agrees with the slope now"),
        (shares.near, color.muted, ":", f"within {shares.tolerance:.0%} of a switch-off"),
    ):
        ax.plot(shares.nus, share, color=hue, ls=dashes, label=label)
    parts.bandwidth_axis(ax)
    ax.set(xlim=(0.1, 3), ylim=(0, 1), ylabel="share of entries")
    ax.legend()
    return fig
