"""Results as pictures: coefficients, repeated runs, and a data set at risk.

Names and numbers come from the user, so names are shortened and printed letter for letter, long
lists are cut to what can be read, and numbers no axis can hold are scaled.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..inputs import arguments as arg
from .style import color, new_figure, plain, styled

MAX_BARS = 20  # more bars than this are not read
MAX_LINES = 6  # more lines than this are not told apart
MAX_LETTERS = 32  # of a label
MAX_ON_AXIS = 1e100  # beyond it, and below its inverse, axes lose their ticks
MARGIN = 4  # pixels between what is drawn and the edge of the figure


@styled
def coefficients(
    explanation: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The largest coefficients of an explanation, largest on top, with 95% intervals."""
    order = explanation.order()
    shown = order[: count_shown(top, MAX_BARS)][::-1]
    labels, below = labelled((explanation.box_names[j] for j in shown), len(order), MAX_LETTERS)
    ax = axes_for(ax, title, 1.2 + 0.34 * max(len(labels), 2), left=label_margin(labels))
    bars(explanation, shown).draw(ax)
    ax.set_yticks(np.arange(len(labels)) - below, labels)
    return figure_of(ax)


@styled
def path(
    path: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The largest coefficients over the bandwidth, their zeros, and the range of a stable order."""
    order = path.order()[: count_shown(top, MAX_LINES)]
    has_axes, ax = ax is not None, axes_for(ax, title, 4.2, left=0.125, right=0.7)
    ax.axvspan(*path.stable, color=color.muted, alpha=0.15, lw=0, label="order stays")
    ax.axhline(0, color=color.muted, lw=1)
    places = path.places
    mark = "o" if len(places) == 1 or path.boxes is not None else ""
    for k, j in enumerate(order):
        coef, half_width = path.coef[:, j], 1.96 * path.stderr[:, j]
        hue, dash = stroke(k)
        (label,) = labelled([path.names[j]], 1, 18)[0]
        ax.plot(places, coef, color=hue, ls=dash, marker=mark, ms=4, label=label)
        if np.any(half_width > 0):
            finite = np.isfinite(half_width)
            low, high = (coef - half_width)[finite], (coef + half_width)[finite]
            ax.fill_between(places[finite], low, high, color=hue, alpha=0.15, lw=0)
        if path.boxes is None:
            ax.plot(path.critical[j], 0 * path.critical[j], "o", color=hue, ms=6, mec=color.paper)
    advice = path.recommend()
    best = advice.nu if path.boxes is None else advice.boxes
    if best is not None:
        ax.axvline(best, color=color.truth, lw=2, ls="--", label="recommended")
    low, high = np.min(path.coef[:, order]), np.max(path.coef[:, order])
    margin = 0.08 * (high - low) or 1.0
    ax.set_ylim(low - margin, high + margin)  # bands may reach beyond the axes
    ax.set(xlabel="bandwidth" if path.boxes is None else "number of boxes", ylabel="coefficient")
    if path.boxes is None:
        ax.set_xscale("log")
    if has_axes:  # what is around the axes belongs to the caller
        ax.legend(handlelength=1.6, frameon=True, facecolor=color.paper, edgecolor="none")
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.02), handlelength=1.6)
        _fit_into_figure(ax)
    return figure_of(ax)


def _fit_into_figure(ax: Axes) -> None:
    """Shrink axes until names, numbers and legend are on the figure."""
    fig = figure_of(ax)
    for _ in range(2):  # ticks may change with the size of the axes
        drawn = ax.get_tightbbox()
        assert drawn is not None
        box, width = ax.get_position(), fig.bbox.width
        left, right = max(MARGIN - drawn.x0, 0) / width, max(drawn.x1 + MARGIN - width, 0) / width
        fig.subplots_adjust(left=box.x0 + left, right=max(box.x1 - right, box.x0 + left + 0.2))


def stroke(k: int) -> tuple[str, str]:
    """Colour and dashes of the k-th of several lines, by colours without a meaning of their own."""
    hues, dashes = (color.surrogate, color.ink, color.muted), ("-", "--", ":", "-.")
    return hues[k % len(hues)], dashes[k // len(hues) % len(dashes)]


def count_shown(top: int | None, default: int) -> int:
    """The number of features to draw: ``top`` where it is given."""
    return default if top is None else arg.whole("top", top, 1)


def axes_for(
    ax: Axes | None, title: str | None, height: float, left: float, right: float = 0.975
) -> Axes:
    """The caller's axes, or those of a new figure with margins for labels and title."""
    if ax is None:
        fig = new_figure((6.4, height + (0.4 if title else 0.0)))
        top = 1 - (0.5 if title else 0.045 * height) / fig.get_figheight()
        fig.subplots_adjust(left=left, right=right, bottom=0.6 / fig.get_figheight(), top=top)
        ax = fig.subplots()
    if title:
        ax.set_title(plain(" ".join(str(title).split())))
    return ax


def figure_of(ax: Axes) -> Figure:
    """The figure that axes are on."""
    return ax.get_figure(root=True)  # type: ignore[return-value]


@styled
def risk(shares: Any) -> Figure:
    """Shares of (instance, feature) pairs whose sign is in doubt, against the bandwidth."""
    fig = new_figure((6.4, 3.6))
    ax = fig.subplots()
    ax.fill_between(shares.nus, 0, 100 * shares.at_risk, color=color.alarm, alpha=0.12, lw=0)
    near = f"within {shares.tolerance:.0%} of a switch-off"
    for share, hue, line, label in (
        (shares.at_risk, color.alarm, "-", "sign depends on ν"),
        (shares.turned, color.ink, "--", "turned from the sign at wide ν"),
        (shares.near, color.muted, ":", near),
        (shares.opposed, color.negative, "-.", "opposes the slope"),
    ):
        mark = "o" if len(shares.nus) == 1 else ""  # a line of one point would not be seen
        ax.plot(shares.nus, 100 * share, color=hue, ls=line, marker=mark, label=label)
    ax.set(xscale="log", xlabel="bandwidth ν", ylabel="pairs, %")
    highest = max(float(shares.at_risk.max()), float(shares.opposed.max()))
    ax.set_ylim(0, max(1.0, 160 * highest))
    ax.legend(loc="upper right")
    return fig


def boxplots(
    ax: Axes, runs: np.ndarray, theory: np.ndarray | None, names: Iterable[object] | None = None,
    hue: str = color.surrogate,
) -> None:  # fmt: skip
    """Boxplots of repeated coefficients (runs, d), as in the paper, with the theory as crosses beside them.

    Without names the features are numbered.
    """
    places = np.arange(1, runs.shape[1] + 1)
    ax.axhline(0, color=color.grid, lw=1)
    ax.boxplot(
        runs, positions=places - (0 if theory is None else 0.13), widths=0.45, boxprops={"color": hue},
        medianprops={"color": hue, "lw": 2}, whiskerprops={"color": hue}, capprops={"color": hue},
        flierprops={"marker": ".", "markeredgecolor": color.muted, "markersize": 5},
    )  # fmt: skip
    if theory is not None:
        ax.plot(places + 0.29, theory, "x", color=color.truth, ms=7, mew=2.2, label="theory")
    labels, _ = labelled(places if names is None else names, len(places), MAX_LETTERS)
    ax.set_xticks(places, labels)
    ax.set_xlim(0.5, len(places) + 0.6)
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    ax.set(xlabel="feature", ylabel="coefficient")


def by_sign(values: np.ndarray) -> list[str]:
    """A colour for each value, by its sign."""
    return [color.negative if value < 0 else color.positive for value in values]


def ten_to_the(power: int) -> str:
    """A power of ten as it is written: 10⁻³."""
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def shortened(names: Iterable[object], most: int) -> list[str]:
    """Names of at most that many letters on one line; what is too long loses its middle."""
    lines = [" ".join(str(name).split()) for name in names]
    tail = most // 2
    return [
        line if len(line) <= most else f"{line[: most - tail - 1]}…{line[-tail:]}" for line in lines
    ]


def labelled(names: Iterable[object], count: int, most: int) -> tuple[list[str], int]:
    """Labels from the bottom row up, and how many of them are below the first bar.

    There is one, which counts the rest, where not all of them are shown.
    """
    labels = [plain(name) for name in shortened(names, most)]
    more = count - len(labels)
    return ([f"and {more} more", *labels], 1) if more else (labels, 0)


def label_margin(labels: list[str]) -> float:
    """The share of the width that labels need; a letter is about 1/60 of it."""
    longest = max(map(len, labels), default=0)
    return float(np.clip(0.03 + 0.0165 * longest, 0.12, 0.56))


class _Bars(NamedTuple):
    """Coefficients and their intervals (len(rows), 2) as axes can hold them."""

    coef: np.ndarray
    ends: np.ndarray | None
    limits: tuple[float, float] | None  # of the axis, where something has no end
    label: str

    def draw(self, ax: Axes, **options: Any) -> None:
        """Draw bars from the bottom up, in the colours of their signs unless told otherwise."""
        places = np.arange(len(self.coef))
        ax.barh(places, self.coef, height=0.6, **{"color": by_sign(self.coef), **options})
        if self.ends is not None:
            ax.hlines(places, *self.ends.T, color=color.ink, lw=1.2)
        if self.limits is not None:
            ax.set_xlim(self.limits)
        ax.axvline(0, color=color.muted, lw=1)
        ax.set_xlabel(self.label)


def bars(
    result: Any, rows: Sequence[int] | np.ndarray, half_width: np.ndarray | None = None
) -> _Bars:
    """Those of some features, over a power of ten where the axes need one.

    ``half_width`` (d,) is that of simultaneous intervals.
    """
    rows = np.asarray(rows, dtype=int)
    coef, ends = np.asarray(result.coef, float)[rows], _ends(result, rows)
    together = ""
    if half_width is not None:
        ends, together = coef[:, None] + half_width[rows, None] * [-1, 1], " (all hold together)"
    numbers = np.column_stack([coef, *(() if ends is None else ends.T)])
    top, power = np.max(np.abs(numbers[np.isfinite(numbers)]), initial=0.0), 0
    if top > 0 and not 1 / MAX_ON_AXIS < top < MAX_ON_AXIS:
        power = int(np.floor(np.log10(top)))
    numbers = numbers / 10.0 ** (power // 2) / 10.0 ** (power - power // 2)
    limits = None
    if np.any(np.isinf(numbers)):
        finite = numbers[np.isfinite(numbers)]
        low, high = np.min(finite, initial=0.0), np.max(finite, initial=0.0)
        span = float(high - low) or 1.0
        limits = (low - 0.1 * span, high + 0.1 * span)
        numbers = np.clip(numbers, low - span, high + span)
    unit = f" in {ten_to_the(power)}" if power else ""
    label = f"coefficient{unit}" + ("" if ends is None else f", with its 95% interval{together}")
    return _Bars(numbers[:, 0], None if ends is None else numbers[:, 1:], limits, label)


def _ends(result: Any, rows: np.ndarray) -> np.ndarray | None:
    """The 95% intervals of these coefficients; None where they have no noise."""
    if hasattr(result, "interval"):
        ends = np.asarray(result.interval(0.95), float)[rows]
    elif result.stderr is None:
        return None
    else:
        coef, stderr = (np.asarray(v, float)[rows] for v in (result.coef, result.stderr))
        with np.errstate(over="ignore", invalid="ignore"):
            ends = coef[:, None] + 1.96 * stderr[:, None] * [-1, 1]
    return ends if np.any(ends[:, 0] != ends[:, 1]) else None
