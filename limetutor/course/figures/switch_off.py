"""Chapter *switch-off*: a bandwidth that makes an important feature vanish."""

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ...core.boxes import Gaussian
from ...core.kernels import tilt
from ...core.theory import critical_bandwidth
from ...core.tilted_law import Tilt
from ...interactive.layers import in_layers
from ...plotting.style import color
from . import parts
from .parts import beside_slope, signed

Regions = tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]
X = np.linspace(-3, 3, 81)
TOP, REACH = 1.6, 2.02  # the bandwidth and the position at which the map ends


def draw_signs(ax: Axes, kernel: str = "gaussian") -> None:
    """Where over (ξ, ν) the coefficient of f(x) = x agrees with the slope, and where it is zero."""
    agrees, opposes, curves = regions() if kernel == "gaussian" else lime_regions()
    filled(ax, agrees, "positive")
    filled(ax, opposes, "negative")
    ax.plot(*parts.lines(parts.inner_edges(), 0, TOP), color=color.box, lw=1)
    ax.plot(*parts.joined(curves), color=color.ink, lw=2.6)
    if curves:
        parts.named(ax, 0.46, 0.85, "β = 0", color.ink, ha="right")


def _law_and_map(fig: Figure) -> tuple[Axes, Axes]:
    """The map above and what lies behind its point below it; they share the position."""
    top, bottom = parts.stacked(fig, (2.4, 1), shared=True)
    top.set(xlim=(-2, 2), ylim=(0, TOP), yticks=[0, 0.5, 1, 1.5], ylabel="bandwidth ν")
    name_sides(top)
    bottom.plot(X, parts.bell(X), color=color.muted, lw=1.4, ls="--")
    bottom.set(xticks=[-2, -1, 0, 1, 2], ylim=(0, 1.12), yticks=[])
    bottom.set(xlabel="position of ξ", ylabel="tilted law")
    return bottom, top


@cache
def lime_tilt(xi: float, nu: float) -> Tilt:
    """The tilted law of one feature from N(0, 1) in four boxes, with the weights of `lime`."""
    return tilt(Gaussian(), [xi], nu, "mismatch")


def lime_regions() -> Regions:
    """As :func:`regions`, with the weights of `lime`: no sign depends on ν, so there is no curve."""
    boxes = list(pairwise([-2.0, *parts.inner_edges(), 2.0]))
    signs = [lime_tilt((lo + hi) / 2, 1.0).gap[0] for lo, hi in boxes]
    areas = [(_rectangle(*box), sign) for box, sign in zip(boxes, signs, strict=True)]
    return [area for area, sign in areas if sign > 0], [a for a, sign in areas if sign < 0], []


def _box_below(axes: tuple[Axes, Axes], xi: float) -> None:
    lo, hi = parts.box_of(xi)
    parts.shade(axes[0], (lo, hi), 3)
    middle = np.clip((lo + hi) / 2, -9, 9)  # an outer box has none: off the picture
    axes[0].plot([middle, middle], [0, 1.0], color=color.box, ls=":", lw=2)


def _paper_law(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The tilted law with the paper's weights, and its mean."""
    now = parts.tilt_at(xi, nu)
    mean, sd = float(now.mu_tilde), float(now.sigma_tilde)
    count = int(np.sum(np.abs(X) <= REACH)) + 4  # as many points as the law of lime has
    axes[0].plot(*parts.bell_around(mean, sd, REACH, count), color=color.sample)
    axes[0].plot(mean, 1.0, "v", color=color.sample, ms=9)


def _lime_law(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The tilted law with the weights of `lime`: all outside the box is lowered by the same factor."""
    lo, hi = np.clip(parts.box_of(xi), -REACH, REACH)
    x = X[np.abs(X) <= REACH]
    inside = np.concatenate([[lo], x[(x > lo) & (x <= hi)], [hi]])
    left, right = np.append(x[x <= lo], lo), np.append(hi, x[x > hi])
    mismatch = np.exp(-1 / (2 * nu**2))
    weights = np.repeat([mismatch, 1, mismatch], [len(left), len(inside), len(right)])
    x = np.concatenate([left, inside, right])
    axes[0].plot(x, weights * parts.bell(x), color=color.sample)
    axes[0].plot(float(lime_tilt(xi, nu).mu_tilde[0]), 1.0, "v", color=color.sample, ms=9)


def _law_for(axes: tuple[Axes, Axes], nu: float, xi: float, kernel: str) -> None:
    (_paper_law if kernel == "gaussian" else _lime_law)(axes, nu, xi)


@in_layers(
    _law_and_map,
    lambda axes, kernel: draw_signs(axes[1], kernel),
    _box_below,
    _law_for,
    lambda axes, xi: parts.instance(axes[0], xi),
    lambda axes, nu, xi: parts.on_map(axes[1], xi, nu, "xi", "nu"),
)
def touched_map(xi: float, nu: float, kernel: str) -> str:
    """The map with a point to drag, and below it the tilted law there over the box of ξ."""
    paper = kernel == "gaussian"
    gap = float(parts.tilt_at(xi, nu).gap if paper else lime_tilt(xi, nu).gap[0])
    whose = "the paper's" if paper else "lime's"
    return (
        f"With {whose} weights, at ξ = {signed(xi)} and ν = {nu:.2f}, β = {signed(gap, plus=True)}, "
        f"which {beside_slope(gap)}."
    )


def name_sides(ax: Axes) -> None:
    """What the outermost boxes do at every bandwidth, written into a map."""
    ax.text(-1.9, 0.12, "opposes", fontsize=11.5)
    ax.text(1.9, 0.12, "agrees", fontsize=11.5, ha="right")


def regions() -> Regions:
    """Areas where the contrast agrees with the slope, where it opposes it, and what divides them.

    At large bandwidths it agrees above the mean. Below a curve of zeros it is the other way round.
    """
    found: Regions = ([], [], [])
    agrees, opposes, curves = found
    for lo, hi in pairwise([-2.0, *parts.inner_edges(), 2.0]):
        wide, narrow = (agrees, opposes) if hi > 0 else (opposes, agrees)
        if lo == -2.0 or hi == 2.0:
            wide.append(_rectangle(lo, hi))
            continue
        curve = _zero_curve(lo, hi)
        near, far = sorted((lo, hi), key=abs)  # seen from the mean
        wide.append(np.vstack([[near, 0], curve, [far, TOP], [near, TOP]]))
        narrow.append(np.vstack([curve, [far, 0]]))
        curves.append(curve)
    return found


def _rectangle(lo: float, hi: float) -> np.ndarray:
    return np.array([[lo, 0], [hi, 0], [hi, TOP], [lo, TOP]])


def _zero_curve(lo: float, hi: float) -> np.ndarray:
    """Points (ξ, critical ν) of one box, from its midpoint to its outer edge."""
    middle, outer = (lo + hi) / 2, hi if hi > 0 else lo
    xi = middle + (outer - middle) * np.linspace(0, 1, 20) ** 2  # the curve starts steeply
    return np.column_stack([xi, np.nan_to_num(critical_bandwidth(xi, 0, 1, lo, hi))])


def filled(ax: Axes, areas: list[np.ndarray], role: str) -> None:
    """Several areas as one patch."""
    path = Path.make_compound_path(*(Path(area, closed=False) for area in areas))
    ax.add_patch(PathPatch(path, color=getattr(color, role), alpha=0.35, lw=0))
