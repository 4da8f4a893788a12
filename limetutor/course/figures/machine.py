"""The LIME machine: one picture that grows from chapter to chapter, one part at a time.

One feature from N(0, 1) in four boxes and f(x) = x, so that every number is one formula.  The rows
share their horizontal axis, the position of ξ: f with the samples and the step that LIME fits, and
their weights.  These are the paper's, which fall with the distance from ξ, or lime's, which depend
only on the box.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...core.kernels import KERNELS, product_kernel
from ...interactive.controls import Choice, Control, Slider
from ...interactive.layers import Layered
from ...plotting.results import by_sign
from ...plotting.style import color
from ...precision.gaussian_and_tilted_samplers import sampler
from . import parts
from .parts import signed
from .switch_off import TOP

#: The parts of the machine in the order of the book; a chapter shows those up to its own.
PARTS = ("weigh", "fit")

REACH = 2.0  # the positions that are shown
XI = Slider(-REACH, REACH, 0.432, stops=41, fmt="{:.3g}", label="position of ξ", also=[0.961])
HIGH = Slider(0.7, REACH, 0.961, stops=27, fmt="{:.3g}", label=XI.label)  # in the top box
NU = Slider(0.1, TOP, 1.0, stops=31, label="bandwidth ν", also=[0.53])
WHOSE = {"gaussian": "the paper's", "mismatch": "lime's"}
KERNEL = Choice({whose: name for name, whose in WHOSE.items()}, "gaussian", label="weights")

HEIGHTS = {"model": 2.1, "weights": 0.9}  # of the rows that share the position of ξ
Panels = dict[str, Axes]  # the rows that a machine has, and the "bars" beside them


def up_to(last: str = PARTS[-1]) -> Layered:
    """The machine with all parts up to this one, to be explored with :func:`controls`."""
    layers: list[Callable[..., None]] = [position, drawn, weighed, instance]
    if last == "fit":
        layers.insert(3, fitted)  # painted below ξ
    return Layered(partial(_panels, last), tuple(layers), WORDS[last])


def controls(last: str = PARTS[-1]) -> dict[str, Control]:
    """The controls of the machine; where β is shown, ξ has a box in which no bandwidth changes its sign."""
    return {"nu": NU, "xi": HIGH if last == "fit" else XI, "kernel": KERNEL}


def size(last: str = PARTS[-1]) -> tuple[float, float]:
    """Width and height in inches."""
    return 6.4, {"weigh": 3.1, "fit": 3.4}[last]


# --- what does not move --------------------------------------------------------------------------


def _panels(last: str, fig: Figure) -> Panels:
    """The axes, with the model and the edges."""
    widths = [3, 1] if last == "fit" else [3]
    tall = size(last)[1]
    fig.subplots_adjust(left=0.11, right=0.985, bottom=0.6 / tall, top=1 - 0.12 / tall)
    fig.subplots_adjust(hspace=0.14, wspace=0.3)
    heights = list(HEIGHTS.values())
    grid = fig.add_gridspec(len(heights), len(widths), height_ratios=heights, width_ratios=widths)
    panels = {name: fig.add_subplot(grid[k, 0]) for k, name in enumerate(HEIGHTS)}
    bars = fig.add_subplot(grid[:, 1]) if last == "fit" else None
    _draw_model(panels["model"])
    parts.edge_lines(panels["weights"], 0, 1.1)
    panels["weights"].set(ylim=(0, 1.1), yticks=[0, 1], ylabel="weight")
    if bars:
        bars.axhline(0, color=color.muted, lw=1)
        bars.set_xticks([1], ["β"])
        bars.set(ylim=(-1.8, 1.8), yticks=[-1, 0, 1], xlim=(0.4, 1.6))
    for name, ax in panels.items():
        ax.set(xlim=(-REACH, REACH), xticks=[-2, -1, 0, 1, 2])
        ax.tick_params(labelbottom=name == "weights")
    panels["weights"].set_xlabel("position x")
    return panels | ({"bars": bars} if bars else {})


def _draw_model(ax: Axes) -> None:
    parts.edge_lines(ax, -REACH, REACH)
    ax.plot([-REACH, REACH], [-REACH, REACH], color=color.ink, lw=1.6)
    ax.set(ylim=(-REACH, REACH), yticks=[-2, 0, 2], ylabel="f(x) = x")


# --- what moves ----------------------------------------------------------------------------------


@cache
def samples() -> np.ndarray:
    """Samples of the one feature, drawn once; the positions that are shown."""
    x, _ = sampler("bins", parts.standard_boxes(), np.zeros(1))(np.random.default_rng(3), 40)
    return x[np.abs(x[:, 0]) < REACH - 0.02, 0]


@cache
def levels(nu: float, xi: float, kernel: str) -> tuple[float, float]:
    """The two values of the surrogate in the limit: in the box of ξ, and elsewhere."""
    at = product_kernel(kernel, "a fit").tilt(parts.standard_boxes(), np.array([xi]), nu)
    inside = xi + float(at.inside[0])
    return inside, inside - float(at.gap[0])


@cache
def weights(nu: float, xi: float, kernel: str) -> np.ndarray:
    """How much each sample counts."""
    x = samples()[:, None]
    row, boxes = np.array([xi]), parts.standard_boxes()
    same = boxes.discretize(x) == boxes.discretize(row[None])
    return np.exp(KERNELS[kernel].log_weights(x, same, row, nu, boxes))


def position(panels: Panels, xi: float) -> None:
    """The box of ξ and its position, in every row."""
    for name in HEIGHTS:
        low, high = panels[name].get_ylim()
        parts.shade(panels[name], parts.box_of(xi), REACH, alpha=0.16)
        panels[name].plot([xi, xi], [low, high], color=color.xi, lw=1.4, ls=":")


def drawn(panels: Panels, xi: float) -> None:
    """The samples on f, filled in the box of ξ."""
    x, style = samples(), {"ms": 4.5, "color": color.sample, "mew": 1.1}
    parts.filled_in_box(panels["model"], x, x, xi, **style)


def weighed(panels: Panels, nu: float, xi: float, kernel: str) -> None:
    """A line for each sample, as high as its weight."""
    lines = parts.lines(samples(), 0, weights(nu, xi, kernel).round(2))
    panels["weights"].plot(*lines, color=color.sample, lw=2)


def instance(panels: Panels, xi: float) -> None:
    """ξ on f."""
    parts.instance(panels["model"], xi, xi, ms=9)


def fitted(panels: Panels, nu: float, xi: float, kernel: str) -> None:
    """The surrogate, a step, and its coefficient as a bar."""
    inside, outside = levels(nu, xi, kernel)
    step = parts.plateau(parts.box_of(xi), inside, outside, REACH)
    panels["model"].plot(*step, color=color.surrogate, lw=2.6)
    bars, gap = panels["bars"], inside - outside
    hue = by_sign(np.array([gap]))[0]
    # drawn very often, so without the care for limits that makes matplotlib's own bars slow
    bars.add_artist(Rectangle((0.7, 0), 0.6, gap, color=hue, lw=0, transform=bars.transData))


# --- in words ------------------------------------------------------------------------------------


def _with(nu: float, xi: float, kernel: str) -> str:
    return f"With {WHOSE[kernel]} weights, ν = {nu:.2f} and ξ = {signed(xi)}"


def _weigh_in_words(nu: float, xi: float, kernel: str = "gaussian") -> str:
    w, inside = weights(nu, xi, kernel), parts.boxes_of(samples()) == parts.box_index(xi)
    return (
        f"{_with(nu, xi, kernel)}, the {inside.sum()} samples in the box of ξ carry "
        f"{w[inside].sum() / w.sum():.0%} of the weight of all {len(w)}."
    )


def _fit_in_words(nu: float, xi: float, kernel: str = "gaussian") -> str:
    inside, outside = levels(nu, xi, kernel)
    return (
        f"{_with(nu, xi, kernel)}, the surrogate is {signed(inside, 3)} in the box and "
        f"{signed(outside, 3)} elsewhere: β = {signed(inside - outside, plus=True)}."
    )


#: What the machine with all parts up to this one says.
WORDS: dict[str, Callable[..., str]] = {"weigh": _weigh_in_words, "fit": _fit_in_words}
