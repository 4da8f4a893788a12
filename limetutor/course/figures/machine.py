"""The LIME machine: one picture that grows from chapter to chapter, a part a step.

One feature from N(0, 1) in four boxes and f(x) = x, so that every number is one formula.  The rows
share their horizontal axis, the position of ξ: f with the new examples and the step that LIME fits,
their weights, and a map of all positions and bandwidths, on which the reader drags a point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...interactive.controls import Slider
from ...interactive.layers import Layered
from ...kernels import KERNELS
from ...plotting.handles import handle
from ...plotting.results import by_sign
from ...plotting.style import color
from ...sampling import sampler
from ...theory import Tilt, gaussian_tilt
from .discretization import BOX_NAMES
from .parts import (
    beside_slope,
    box_of,
    boxes_of,
    inner_edges,
    lines,
    on_map,
    plateau,
    shade,
    signed,
    standard_boxes,
)
from .switch_off import TOP, filled, name_sides, regions

#: The parts of the machine in the order of the book; a chapter shows those up to its own.
PARTS = ("cut", "draw", "weigh", "fit", "share", "compare", "map", "miss")

REACH = 2.0  # the positions that are shown
XI = Slider(-REACH, REACH, 0.432, stops=41, fmt="{:.3g}", label="position of ξ", also=[0.961])
NU = Slider(0.1, TOP, 1.0, stops=31, label="bandwidth ν", also=[0.53])


class Panels(NamedTuple):
    """The rows that a machine has, and the bars beside them."""

    model: Axes
    weights: Axes | None = None
    map: Axes | None = None
    bars: Axes | None = None

    @property
    def rows(self) -> list[Axes]:
        """Those that share the position of ξ."""
        return [ax for ax in (self.model, self.weights, self.map) if ax is not None]


def up_to(last: str = PARTS[-1]) -> Layered:
    """The machine with all parts up to this one, to be explored with :func:`controls`."""
    parts = PARTS[: PARTS.index(last) + 1]
    layers = [layer for part, layer in LAYERS if part in parts]
    return Layered(partial(_panels, parts), tuple(layers), WORDS[last])


def controls(last: str = PARTS[-1]) -> dict[str, Slider]:
    """The sliders of the machine: there is no bandwidth before examples are weighed."""
    return {"xi": XI} if last in ("cut", "draw") else {"nu": NU, "xi": XI}


def size(last: str = PARTS[-1]) -> tuple[float, float]:
    """Inches: each row needs its room."""
    heights = {"cut": 2.4, "draw": 2.4, "weigh": 3.1, "fit": 3.4, "share": 3.4, "compare": 3.4}
    return 6.4, heights.get(last, 4.7)


# --- what stands still ---------------------------------------------------------------------------


def _panels(parts: Sequence[str], fig: Figure) -> Panels:
    """The axes, with the model, the edges and the map."""
    heights = [2.1, *[0.9] * ("weigh" in parts), *[1.9] * ("map" in parts)]
    wide = "fit" in parts
    tall = size(parts[-1])[1]
    fig.subplots_adjust(
        left=0.11, right=0.985, bottom=0.6 / tall, top=1 - 0.12 / tall, hspace=0.14, wspace=0.3
    )
    grid = fig.add_gridspec(
        len(heights), 1 + wide, height_ratios=heights, width_ratios=[3, 1][: 1 + wide]
    )
    rows = [fig.add_subplot(grid[k, 0]) for k in range(len(heights))]
    bars = fig.add_subplot(grid[:, 1]) if wide else None
    panels = Panels(
        rows[0], rows[1] if "weigh" in parts else None, rows[2] if "map" in parts else None, bars
    )
    _draw_model(panels.model)
    if panels.weights:
        panels.weights.plot(*lines(inner_edges(), 0, 1.1), color=color.box, lw=1)
        panels.weights.set(ylim=(0, 1.1), yticks=[0, 1], ylabel="weight")
    if panels.map:
        _draw_map(panels.map)
    if bars:
        _draw_scale(bars, parts)
    for ax in rows:
        ax.set(xlim=(-REACH, REACH), xticks=[-2, -1, 0, 1, 2])
        ax.tick_params(labelbottom=ax is rows[-1])
    rows[-1].set_xlabel("position x")
    return panels


def _draw_model(ax: Axes) -> None:
    ax.plot(*lines(inner_edges(), -REACH, REACH), color=color.box, lw=1)
    ax.plot([-REACH, REACH], [-REACH, REACH], color=color.ink, lw=1.6)
    ax.set(ylim=(-REACH, REACH), yticks=[-2, 0, 2], ylabel="f(x) = x")


def _draw_map(ax: Axes) -> None:
    agrees, opposes, curves = regions(inner_edges())
    filled(ax, agrees, "positive")
    filled(ax, opposes, "negative")
    ax.plot(*lines(inner_edges(), 0, TOP), color=color.box, lw=1)
    for curve in curves:
        ax.plot(*curve.T, color=color.ink, lw=2.2)
    name_sides(ax)
    ax.set(ylim=(0, TOP), yticks=[0, 0.5, 1, 1.5], ylabel="bandwidth ν")


def _draw_scale(ax: Axes, parts: Sequence[str]) -> None:
    """The axes of the bars, and the slope, which is always 1."""
    names = {0: "slope"} if "compare" in parts else {}
    names |= {1: "β"} | ({2: "error"} if "miss" in parts else {})
    ax.axhline(0, color=color.muted, lw=1)
    if "compare" in parts:
        _bar(ax, 0, 1, color.ink)
    ax.set_xticks(list(names), list(names.values()))
    ax.set(ylim=(-1.8, 1.8), yticks=[-1, 0, 1], xlim=(min(names) - 0.6, max(names) + 0.6))


def _bar(ax: Axes, place: float, height: float, hue: str) -> None:
    """A bar without the care for limits that makes matplotlib's own slow: it is drawn very often."""
    ax.add_artist(Rectangle((place - 0.3, 0), 0.6, height, color=hue, lw=0, transform=ax.transData))


# --- what moves ----------------------------------------------------------------------------------


@cache
def examples() -> np.ndarray:
    """New examples of the one feature, drawn once; the positions that are shown."""
    x, _ = sampler("bins", standard_boxes(), np.zeros(1))(np.random.default_rng(3), 40)
    return x[np.abs(x[:, 0]) < REACH - 0.02, 0]


@cache
def at(nu: float, xi: float) -> Tilt:
    """The tilted law seen from ξ."""
    return gaussian_tilt(xi, nu, 0, 1, *box_of(xi))


@cache
def weights(nu: float, xi: float) -> np.ndarray:
    """How much each new example counts."""
    x = examples()[:, None]
    row, boxes = np.array([xi]), standard_boxes()
    same = boxes.discretize(x) == boxes.discretize(row[None])
    return np.exp(KERNELS["gaussian"].log_weights(x, same, row, nu, boxes))


def here(panels: Panels, xi: float) -> None:
    """The box of ξ and its position, in every row."""
    for ax in panels.rows:
        low, high = ax.get_ylim()
        if ax is not panels.map:
            shade(ax, box_of(xi), REACH, alpha=0.16)
        ax.plot([xi, xi], [low, high], color=color.xi, lw=1.4, ls=":")


def instance(panels: Panels, xi: float) -> None:
    """ξ itself, which can be dragged."""
    (dot,) = panels.model.plot(xi, xi, "o", color=color.xi, ms=9, clip_on=False)
    handle(dot, "xi")


def drawn(panels: Panels, xi: float) -> None:
    """The new examples on f, filled in the box of ξ."""
    x = examples()
    box, own = boxes_of(x), int(boxes_of(np.array([xi]))[0])
    for k in range(4):
        panels.model.plot(
            x[box == k], x[box == k], "o", ms=4.5, color=color.sample, mec=color.sample, mew=1.1,
            mfc=color.sample if k == own else color.paper,
        )  # fmt: skip


def weighed(panels: Panels, nu: float, xi: float) -> None:
    """A line for each new example, as high as its weight."""
    assert panels.weights is not None
    panels.weights.plot(*lines(examples(), 0, weights(nu, xi).round(2)), color=color.sample, lw=2)


def fitted(panels: Panels, nu: float, xi: float) -> None:
    """The surrogate, a step, and its coefficient as a bar."""
    now = at(nu, xi)
    inside = float(xi + now.inside)
    outside = inside - float(now.gap)
    panels.model.plot(*plateau(box_of(xi), inside, outside, REACH), color=color.surrogate, lw=2.6)
    assert panels.bars is not None
    (hue,) = by_sign(np.array([now.gap]))
    _bar(panels.bars, 1, float(now.gap), hue)


def missed(panels: Panels, nu: float, xi: float) -> None:
    """The distance from f(ξ) to the surrogate there, in the picture and as a bar."""
    error = float(at(nu, xi).inside)
    panels.model.plot([xi, xi], [xi, xi + error], color=color.alarm, lw=4)
    assert panels.bars is not None
    _bar(panels.bars, 2, error, color.alarm)


def point(panels: Panels, nu: float, xi: float) -> None:
    """The point of the map that can be dragged."""
    assert panels.map is not None
    on_map(panels.map, xi, nu)


#: In the order in which they are painted, each with the part to which it belongs.
LAYERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("cut", here),
    ("draw", drawn),
    ("weigh", weighed),
    ("fit", fitted),
    ("miss", missed),
    ("map", point),
    ("cut", instance),
)


# --- in words ------------------------------------------------------------------------------------


def _in_its_box(xi: float) -> str:
    return f"ξ = {signed(xi)} lies in the {BOX_NAMES[int(boxes_of(np.array([xi]))[0])]} box"


def _shared(xi: float) -> int:
    return int(np.sum(boxes_of(examples()) == boxes_of(np.array([xi]))[0]))


def cut_in_words(xi: float) -> str:
    """The box of ξ."""
    lo, hi = box_of(xi)
    if not np.isfinite(lo):
        return f"{_in_its_box(xi)}, below {signed(hi)}."
    if not np.isfinite(hi):
        return f"{_in_its_box(xi)}, above {signed(lo)}."
    return f"{_in_its_box(xi)}, from {signed(lo)} to {signed(hi)}."


def draw_in_words(xi: float) -> str:
    """Who is in it."""
    return (
        f"{_in_its_box(xi)}, and {_shared(xi)} of the {len(examples())} new examples lie there too."
    )


def weigh_in_words(nu: float, xi: float) -> str:
    """What they weigh."""
    w = weights(nu, xi)
    share = w[boxes_of(examples()) == boxes_of(np.array([xi]))[0]].sum() / w.sum()
    return (
        f"At ν = {nu:.2f} around ξ = {signed(xi)}, the {_shared(xi)} new examples in the box of ξ "
        f"carry {share:.0%} of the weight of all {len(w)}."
    )


def fit_in_words(nu: float, xi: float) -> str:
    """The step."""
    now = at(nu, xi)
    inside = float(xi + now.inside)
    return (
        f"At ν = {nu:.2f} around ξ = {signed(xi)}, the surrogate is {signed(inside, 3)} in the box and "
        f"{signed(inside - float(now.gap), 3)} elsewhere: β = {signed(float(now.gap), plus=True)}."
    )


def share_in_words(nu: float, xi: float) -> str:
    """What the covariance is made of."""
    now = at(nu, xi)
    alpha = float(now.alpha)
    return (
        f"At ν = {nu:.2f} around ξ = {signed(xi)}, a share of α = {alpha:.2f} of the tilted law is in "
        f"the box, α(1−α) = {alpha * (1 - alpha):.3f}, and β = {signed(float(now.gap), plus=True)}."
    )


def compare_in_words(nu: float, xi: float) -> str:
    """The coefficient beside the slope."""
    gap = float(at(nu, xi).gap)
    return (
        f"At ν = {nu:.2f} and ξ = {signed(xi)} the coefficient is β = {signed(gap, plus=True)}, "
        f"which {beside_slope(gap)}."
    )


def miss_in_words(nu: float, xi: float) -> str:
    """All of it."""
    error = float(at(nu, xi).inside)
    return (
        f"{compare_in_words(nu, xi)} At ξ the surrogate says {signed(xi + error, 3)} where f is "
        f"{signed(xi, 3)}: an error of {signed(error, plus=True)}."
    )


WORDS: dict[str, Callable[..., str]] = {
    "cut": cut_in_words,
    "draw": draw_in_words,
    "weigh": weigh_in_words,
    "fit": fit_in_words,
    "share": share_in_words,
    "compare": compare_in_words,
    "map": compare_in_words,
    "miss": miss_in_words,
}
