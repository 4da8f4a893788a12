"""The LIME machine: one picture that grows from chapter to chapter, a part a step.

One feature from N(0, 1) in four boxes and f(x) = x, so that every number is one formula.  The rows
share their horizontal axis, the position of ξ: f with the new examples and the step that LIME fits,
their weights, and a map of all positions and bandwidths, on which the reader drags a point.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...core.kernels import KERNELS
from ...interactive.controls import Slider
from ...interactive.layers import Layered
from ...plotting.results import by_sign
from ...plotting.style import color
from ...precision.gaussian_and_tilted_samplers import sampler
from . import parts
from .discretization import BOX_NAMES
from .parts import beside_slope, signed
from .switch_off import TOP, filled, name_sides, regions

#: The parts of the machine in the order of the book; a chapter shows those up to its own.
PARTS = ("cut", "draw", "weigh", "fit", "share", "compare", "map", "miss")

REACH = 2.0  # the positions that are shown
XI = Slider(-REACH, REACH, 0.432, stops=41, fmt="{:.3g}", label="position of ξ", also=[0.961])
NU = Slider(0.1, TOP, 1.0, stops=31, label="bandwidth ν", also=[0.53])

HEIGHTS = {"model": 2.1, "weights": 0.9, "map": 1.9}  # of the rows that share the position of ξ
Panels = dict[str, Axes]  # the rows that a machine has, and the "bars" beside them


def up_to(last: str = PARTS[-1]) -> Layered:
    """The machine with all parts up to this one, to be explored with :func:`controls`."""
    shown = PARTS[: PARTS.index(last) + 1]
    layers = [layer for part, layer in LAYERS if part in shown]
    return Layered(partial(_panels, shown), tuple(layers), WORDS[last])


def controls(last: str = PARTS[-1]) -> dict[str, Slider]:
    """The sliders of the machine: there is no bandwidth before examples are weighed."""
    return {"xi": XI} if last in ("cut", "draw") else {"nu": NU, "xi": XI}


def size(last: str = PARTS[-1]) -> tuple[float, float]:
    """Width and height in inches, higher the more rows there are."""
    heights = {"cut": 2.4, "draw": 2.4, "weigh": 3.1, "fit": 3.4, "share": 3.4, "compare": 3.4}
    return 6.4, heights.get(last, 4.7)


# --- what stands still ---------------------------------------------------------------------------


def _panels(shown: Sequence[str], fig: Figure) -> Panels:
    """The axes, with the model, the edges and the map."""
    rows = list(HEIGHTS)[: 1 + ("weigh" in shown) + ("map" in shown)]
    heights, widths = [HEIGHTS[name] for name in rows], [3, 1] if "fit" in shown else [3]
    tall = size(shown[-1])[1]
    fig.subplots_adjust(left=0.11, right=0.985, bottom=0.6 / tall, top=1 - 0.12 / tall)
    fig.subplots_adjust(hspace=0.14, wspace=0.3)
    grid = fig.add_gridspec(len(rows), len(widths), height_ratios=heights, width_ratios=widths)
    panels = {name: fig.add_subplot(grid[k, 0]) for k, name in enumerate(rows)}
    bars = fig.add_subplot(grid[:, 1]) if "fit" in shown else None
    _draw_model(panels["model"])
    if "weights" in panels:
        parts.edge_lines(panels["weights"], 0, 1.1)
        panels["weights"].set(ylim=(0, 1.1), yticks=[0, 1], ylabel="weight")
    if "map" in panels:
        _draw_map(panels["map"])
    if bars:
        _draw_scale(bars, shown)
    for name, ax in panels.items():
        ax.set(xlim=(-REACH, REACH), xticks=[-2, -1, 0, 1, 2])
        ax.tick_params(labelbottom=name == rows[-1])
    panels[rows[-1]].set_xlabel("position x")
    return panels | ({"bars": bars} if bars else {})


def _draw_model(ax: Axes) -> None:
    parts.edge_lines(ax, -REACH, REACH)
    ax.plot([-REACH, REACH], [-REACH, REACH], color=color.ink, lw=1.6)
    ax.set(ylim=(-REACH, REACH), yticks=[-2, 0, 2], ylabel="f(x) = x")


def _draw_map(ax: Axes) -> None:
    agrees, opposes, curves = regions(parts.inner_edges())
    filled(ax, agrees, "positive")
    filled(ax, opposes, "negative")
    parts.edge_lines(ax, 0, TOP)
    for curve in curves:
        ax.plot(*curve.T, color=color.ink, lw=2.2)
    name_sides(ax)
    ax.set(ylim=(0, TOP), yticks=[0, 0.5, 1, 1.5], ylabel="bandwidth ν")


def _draw_scale(ax: Axes, shown: Sequence[str]) -> None:
    """The axes of the bars, and the slope, which is always 1."""
    names = {0: "slope"} if "compare" in shown else {}
    names |= {1: "β"} | ({2: "error"} if "miss" in shown else {})
    ax.axhline(0, color=color.muted, lw=1)
    if "compare" in shown:
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
    x, _ = sampler("bins", parts.standard_boxes(), np.zeros(1))(np.random.default_rng(3), 40)
    return x[np.abs(x[:, 0]) < REACH - 0.02, 0]


tilt_at = cache(parts.tilt_at)  # asked for by several layers


@cache
def weights(nu: float, xi: float) -> np.ndarray:
    """How much each new example counts."""
    x = examples()[:, None]
    row, boxes = np.array([xi]), parts.standard_boxes()
    same = boxes.discretize(x) == boxes.discretize(row[None])
    return np.exp(KERNELS["gaussian"].log_weights(x, same, row, nu, boxes))


def position(panels: Panels, xi: float) -> None:
    """The box of ξ and its position, in every row."""
    for name in (row for row in HEIGHTS if row in panels):
        low, high = panels[name].get_ylim()
        if name != "map":
            parts.shade(panels[name], parts.box_of(xi), REACH, alpha=0.16)
        panels[name].plot([xi, xi], [low, high], color=color.xi, lw=1.4, ls=":")


def drawn(panels: Panels, xi: float) -> None:
    """The new examples on f, filled in the box of ξ."""
    x, style = examples(), {"ms": 4.5, "color": color.sample, "mew": 1.1}
    parts.filled_in_box(panels["model"], x, x, xi, **style)


def weighed(panels: Panels, nu: float, xi: float) -> None:
    """A line for each new example, as high as its weight."""
    lines = parts.lines(examples(), 0, weights(nu, xi).round(2))
    panels["weights"].plot(*lines, color=color.sample, lw=2)


def fitted(panels: Panels, nu: float, xi: float) -> None:
    """The surrogate, a step, and its coefficient as a bar."""
    now = tilt_at(xi, nu)
    inside, gap = float(xi + now.inside), float(now.gap)
    step = parts.plateau(parts.box_of(xi), inside, inside - gap, REACH)
    panels["model"].plot(*step, color=color.surrogate, lw=2.6)
    _bar(panels["bars"], 1, gap, by_sign(np.array([gap]))[0])


def missed(panels: Panels, nu: float, xi: float) -> None:
    """The distance from f(ξ) to the surrogate there, in the picture and as a bar."""
    error = float(tilt_at(xi, nu).inside)
    panels["model"].plot([xi, xi], [xi, xi + error], color=color.alarm, lw=4)
    _bar(panels["bars"], 2, error, color.alarm)


#: In the order in which they are painted, each with the part to which it belongs.
LAYERS: tuple[tuple[str, Callable[..., None]], ...] = (
    ("cut", position),
    ("draw", drawn),
    ("weigh", weighed),
    ("fit", fitted),
    ("miss", missed),
    ("map", lambda panels, nu, xi: parts.on_map(panels["map"], xi, nu)),
    ("cut", lambda panels, xi: parts.instance(panels["model"], xi, xi, ms=9)),
)


# --- in words ------------------------------------------------------------------------------------


def _in_its_box(xi: float) -> str:
    return f"ξ = {signed(xi)} lies in the {BOX_NAMES[parts.box_index(xi)]} box"


def _around(nu: float, xi: float) -> str:
    return f"At ν = {nu:.2f} around ξ = {signed(xi)}"


def _in_box(xi: float) -> np.ndarray:
    return parts.boxes_of(examples()) == parts.box_index(xi)


def _cut_in_words(xi: float) -> str:
    lo, hi = parts.box_of(xi)
    if not np.isfinite(lo):
        return f"{_in_its_box(xi)}, below {signed(hi)}."
    if not np.isfinite(hi):
        return f"{_in_its_box(xi)}, above {signed(lo)}."
    return f"{_in_its_box(xi)}, from {signed(lo)} to {signed(hi)}."


def _draw_in_words(xi: float) -> str:
    inside = _in_box(xi)
    return f"{_in_its_box(xi)}, and {inside.sum()} of the {len(inside)} new examples lie there too."


def _weigh_in_words(nu: float, xi: float) -> str:
    w, inside = weights(nu, xi), _in_box(xi)
    return (
        f"{_around(nu, xi)}, the {inside.sum()} new examples in the box of ξ "
        f"carry {w[inside].sum() / w.sum():.0%} of the weight of all {len(w)}."
    )


def _fit_in_words(nu: float, xi: float) -> str:
    now = tilt_at(xi, nu)
    inside, gap = float(xi + now.inside), float(now.gap)
    return (
        f"{_around(nu, xi)}, the surrogate is {signed(inside, 3)} in the box and "
        f"{signed(inside - gap, 3)} elsewhere: β = {signed(gap, plus=True)}."
    )


def _share_in_words(nu: float, xi: float) -> str:
    now = tilt_at(xi, nu)
    alpha = float(now.alpha)
    return (
        f"{_around(nu, xi)}, a share of α = {alpha:.2f} of the tilted law is in "
        f"the box, α(1−α) = {alpha * (1 - alpha):.3f}, and β = {signed(float(now.gap), plus=True)}."
    )


def _compare_in_words(nu: float, xi: float) -> str:
    gap = float(tilt_at(xi, nu).gap)
    return (
        f"At ν = {nu:.2f} and ξ = {signed(xi)} the coefficient is β = {signed(gap, plus=True)}, "
        f"which {beside_slope(gap)}."
    )


def _miss_in_words(nu: float, xi: float) -> str:
    error = float(tilt_at(xi, nu).inside)
    return (
        f"{_compare_in_words(nu, xi)} At ξ the surrogate says {signed(xi + error, 3)} where f is "
        f"{signed(xi, 3)}: an error of {signed(error, plus=True)}."
    )


#: What the machine with all parts up to this one says.
WORDS: dict[str, Callable[..., str]] = {
    "cut": _cut_in_words,
    "draw": _draw_in_words,
    "weigh": _weigh_in_words,
    "fit": _fit_in_words,
    "share": _share_in_words,
    "compare": _compare_in_words,
    "map": _compare_in_words,
    "miss": _miss_in_words,
}
