"""What the figures of several chapters share: boxes, curves, axes, and numbers in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ...core.boxes import Boxes, Gaussian
from ...core.tilted_law import Tilt, gaussian_tilt
from ...plotting.handles import handle
from ...plotting.results import ten_to_the
from ...plotting.style import color, new_figure

BOX_NAMES = ("lowest", "second", "third", "highest")
Curve = tuple[np.ndarray, np.ndarray]  # x and y

# --- the boxes of N(0, 1) --------------------------------------------------------------------


@cache
def standard_boxes(p: int = 4) -> Boxes:
    """N(0, 1) cut into p boxes, as a world of one feature."""
    return Gaussian(p=p).boxes(1)


def inner_edges(p: int = 4) -> np.ndarray:
    """The p - 1 edges between them."""
    return standard_boxes(p).edges[0]


def boxes_of(xi: np.ndarray, p: int = 4) -> np.ndarray:
    """Index of the box of each value; the world decides which box an edge belongs to."""
    return standard_boxes(p).discretize(np.asarray(xi, float)[:, None])[:, 0]


def box_index(xi: float, p: int = 4) -> int:
    """Index of the box of ξ."""
    return int(boxes_of(np.array([xi]), p)[0])


def box_of(xi: float, p: int = 4) -> tuple[float, float]:
    """Ends of the box of ξ."""
    return standard_boxes(p).ends(0, box_index(xi, p))


def tilt_at(xi: float, nu: float | np.ndarray, p: int = 4) -> Tilt:
    """The tilted law of one such feature, seen from ξ and its box."""
    return gaussian_tilt(xi, nu, 0, 1, *box_of(xi, p))


def inside_boxes(
    p: int, reach: float, count: int, inset: float = 0.0
) -> Iterator[tuple[np.ndarray, float, float]]:
    """Positions of ξ in every box within ±reach, from end to end, and the ends of the box."""
    for box in range(p):
        lo, hi = standard_boxes(p).ends(0, box)
        first, last = np.clip([lo, hi], -reach, reach)
        yield np.linspace(first + inset, last - inset, count), lo, hi


def draw_edges(ax: Axes, p: int = 4, lw: float = 1, alpha: float | None = None) -> None:
    """A line at every edge."""
    for edge in inner_edges(p):
        ax.axvline(edge, color=color.box, lw=lw, alpha=alpha)


def edge_lines(ax: Axes, low: float, high: float, lw: float = 1) -> None:
    """The three edges of four boxes as one path, from low to high."""
    ax.plot(*lines(inner_edges(), low, high), color=color.box, lw=lw)


def filled_in_box(
    ax: Axes, x: np.ndarray, y: np.ndarray, xi: float, *, others: str = color.sample, **style: Any
) -> None:
    """Points, filled in the box of ξ, their rim in the colour ``others`` elsewhere.

    One path per box, so that a change of box only recolours it.
    """
    box, xi_box = boxes_of(x), box_index(xi)
    for k in range(4):
        face, rim = (color.sample, color.sample) if k == xi_box else (color.paper, others)
        ax.plot(x[box == k], y[box == k], "o", mec=rim, mfc=face, **style)


def shade(ax: Axes, ends: tuple[float, float], reach: float, alpha: float = 0.18) -> None:
    """A box as a band, which may be unbounded."""
    ax.axvspan(*np.clip(ends, -reach, reach), color=color.box, alpha=alpha, lw=0)


# --- curves ----------------------------------------------------------------------------------


def instance(ax: Axes, xi: float, at: float = 0.03, ms: float = 8, control: str = "xi") -> None:
    """The example explained, ξ, which can be dragged."""
    (dot,) = ax.plot(xi, at, "o", color=color.xi, ms=ms, clip_on=False)
    handle(dot, control)


def on_map(ax: Axes, x: float, y: float, *controls: str) -> None:
    """A place of a map over two controls, which can be dragged."""
    (dot,) = ax.plot(x, y, "o", color=color.xi, ms=11, mec=color.paper, mew=1.6, clip_on=False)
    handle(dot, *controls)


def bell(x: np.ndarray, mean: float = 0.0, sd: float = 1.0) -> np.ndarray:
    """A normal density scaled to peak at 1; also the Gaussian weight around ``mean``."""
    return np.exp(-((x - mean) ** 2) / (2 * sd**2))


def bell_around(mean: float, sd: float, reach: float, count: int = 25) -> Curve:
    """A bell within ±reach on a grid that moves with it: half way between two of them is the one half way.

    Of a line that leaves the picture matplotlib would drop points, and frames could not be compared;
    so on either side the grid ends there, or where the bell does, in a smooth change from one to the other.
    """
    below, above = (((3.5 * sd) ** -8 + (reach + m) ** -8) ** (-1 / 8) for m in (mean, -mean))
    t = np.linspace(-1, 1, count)
    x = mean + np.where(t < 0, below, above) * t
    return x, bell(x, mean, sd)


def cut(ax: Axes, artist: Artist, low: float, high: float) -> None:
    """Show of an artist only what is between two positions."""
    bottom, top = ax.get_ylim()
    window = Rectangle((low, bottom), high - low, top - bottom, transform=ax.transData)
    artist.set_clip_path(window)


def lines(at: np.ndarray, bottom: float | np.ndarray, top: float | np.ndarray) -> Curve:
    """Vertical lines as one path with gaps, so that their number may change between frames."""
    at = np.asarray(at, float)
    y = np.stack([np.broadcast_to(v, at.shape) for v in (bottom, top, np.nan)], axis=1)
    return np.repeat(at, 3), y.ravel()


def joined(curves: Sequence[np.ndarray]) -> Curve:
    """Curves of points (k, 2), or none, as one path with a gap behind each."""
    gap = np.full((1, 2), np.nan)
    x, y = np.vstack([part for curve in curves for part in (curve, gap)] or [gap]).T
    return x, y


def by_box(x: np.ndarray, y: np.ndarray) -> Curve:
    """Values at positions (boxes, points) as one path with a gap behind each box."""
    return joined(list(np.stack([x, y.reshape(x.shape)], axis=2)))


def steps(edges: np.ndarray, heights: np.ndarray) -> Curve:
    """The outline of a histogram as one path."""
    return np.repeat(edges, 2), np.concatenate([[0], np.repeat(heights, 2), [0]])


def plateau(
    ends: tuple[float, float], inside: float, outside: float, reach: float
) -> tuple[list[float], list[float]]:
    """A surrogate of one feature as a path: one value in the box of ξ, another around it.

    An outer box ends beyond the picture, which is ``reach`` wide on either side.
    """
    out = 1.2 * reach
    lo, hi = (float(end) for end in np.clip(ends, -out, out))
    return [-out, lo, lo, hi, hi, out], [outside, outside, inside, inside, outside, outside]


# --- axes ------------------------------------------------------------------------------------


def panel(size: tuple[float, float] = (6.4, 3.6), **margins: float) -> tuple[Figure, Axes]:
    """A figure without controls that has one panel."""
    fig = new_figure(size)
    fig.subplots_adjust(**margins)
    return fig, fig.subplots()


def stacked(
    fig: Figure, heights: tuple[float, float] = (1, 1), shared: bool = False, **margins: float
) -> tuple[Axes, Axes]:
    """Two panels, one above the other, as on a phone there is no room side by side.

    If they share the horizontal axis, its ticks and its name are below both.
    """
    tall, room, gap = fig.get_figheight(), 0.6, 0.12 if shared else 0.68  # in inches
    fig.subplots_adjust(left=0.13, right=0.98, bottom=room / tall, top=1 - 0.1 / tall)
    fig.subplots_adjust(**margins)
    space = {"hspace": 2 * gap / (tall - 0.1 - room - gap)}
    return tuple(fig.subplots(2, 1, sharex=shared, height_ratios=heights, gridspec_kw=space))


Ticks = Sequence[float] | Mapping[float, str]


def log_axes(ax: Axes, x: Ticks | None = None, y: Ticks | None = None) -> None:
    """Logarithmic scales with ticks at these values, or under these names, and none between."""
    for axis, ticks in (("x", x), ("y", y)):
        if ticks is not None:
            named = ticks if isinstance(ticks, Mapping) else {at: f"{at:g}" for at in ticks}
            ax.set(**{f"{axis}scale": "log"})
            ax.set(**{f"{axis}ticks": list(named), f"{axis}ticklabels": list(named.values())})
    ax.minorticks_off()


def powers(exponents: Sequence[int]) -> dict[float, str]:
    """Ticks at powers of ten."""
    return {10.0**k: ten_to_the(k) if k else "1" for k in exponents}


def bandwidth_axis(ax: Axes, y: Ticks | None = None) -> None:
    """The bandwidths from 0.1 to 3."""
    log_axes(ax, x=[0.1, 0.3, 1, 3], y=y)
    ax.set(xlim=(0.09, 3.3), xlabel="bandwidth ν")


def named(ax: Axes, x: float, y: float, name: str, hue: str, **options: Any) -> None:
    """The name of something beside it, in its colour."""
    ax.text(x, y, name, color=hue, **{"size": 12, "va": "center", **options})


def named_at_ends(ax: Axes, x: float, ends: Mapping[str, tuple[float, str]]) -> None:
    """Names of lines to the right of where they end: a height and a colour each, none over another.

    The limits of the axes have to be set. Ends near each other get their names one below the other.
    """
    from scipy.optimize import isotonic_regression

    at = ax.transData.transform([(x, height) for height, _ in ends.values()])[:, 1]
    (left, bottom), (_, top) = ax.transAxes.transform([(0, 0), (1, 1)])
    order = np.argsort(at, kind="stable")
    apart = 18.0 * ax.figure.dpi / 72 * np.arange(len(at))  # points, for the letters of a phone
    # without the distances between them the heights only have to rise: the nearest that do
    free = np.clip(isotonic_regression(at[order] - apart).x, bottom, max(bottom, top - apart[-1]))
    for k, height in zip(order, free + apart, strict=True):
        y, name = ax.transData.inverted().transform((left, height))[1], list(ends)[k]
        label = ax.annotate(name, (x, y), (7, 0), textcoords="offset points", va="center", size=12)
        label.set(color=ends[name][1], annotation_clip=False)


def slanted(ax: Axes) -> None:
    """Long names below an axis at a slant, with their ends at the ticks."""
    for label in ax.get_xticklabels():
        label.set(rotation=40, ha="right", rotation_mode="anchor")
    ax.set_xlabel("")


# --- numbers ---------------------------------------------------------------------------------


def agreement(a: np.ndarray, b: np.ndarray) -> float:
    """The cosine of the angle between two explanations: 1 if they are the same up to scale."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b))) if np.any(a) and np.any(b) else 0.0


def signed(value: float, digits: int = 2, plus: bool = False) -> str:
    """A number with a typographic minus, and no sign before a rounded zero.

    In a sentence that gives two numbers and their difference, the two have a digit more than the
    difference: a reader who subtracts finds it.
    """
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return minus(text) if float(text) else text.lstrip("+-")


def minus(text: str) -> str:
    """Text with a typographic minus for each hyphen."""
    return text.replace("-", "−")


def scientific(value: float) -> str:
    """A number of two digits and a power of ten: 8.4·10¹⁶."""
    mantissa, power = f"{value:.1e}".split("e")
    return f"{mantissa}·{ten_to_the(int(power))}"


def beside_slope(step: float) -> str:
    """How a contrast compares with the slope of +1."""
    if abs(step) < 0.005:
        return "is practically zero, although the slope is +1"
    return "agrees with the slope of +1" if step > 0 else "opposes the slope of +1"
