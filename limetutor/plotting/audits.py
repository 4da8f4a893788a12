"""Audits as pictures: one explanation with its doubtful features, and a whole table of them."""

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from . import results
from .style import color, new_figure, plain, styled

MAX_BARS = 12  # few, since each can carry a doubt
MAX_ROWS = 30  # of a table that can be told apart in one picture
# colour, opacity and, for whoever does not see the colour, mark of findings of each severity
STYLES = {
    "note": (color.muted, 0.25, "·"),
    "warning": (color.alarm, 0.12, "w"),
    "serious": (color.alarm, 0.4, "S"),
}


@styled
def findings(
    audit: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The largest coefficients with intervals that hold together; the doubted are hollow, and say why."""
    subject, doubts = audit.case.subject, _doubts(audit)
    order = subject.order().tolist()
    doubted = [j for j in order if subject.names[j] in doubts]
    shown = [*dict.fromkeys([*order[:3], *doubted, *order])][: results.count_shown(top, MAX_BARS)]
    rows = sorted(shown, key=order.index)[::-1]
    names, below = results.labelled((subject.names[j] for j in rows), len(order), 18)
    height, left = 1.4 + 0.42 * max(len(names), 2), max(results.label_margin(names), 0.24)
    ax = results.axes_for(ax, title, height, left=left, right=0.72)
    half_width = audit.case.half_width
    drawn = results.bars(subject, rows, half_width)
    reasons = [doubts.get(subject.names[j], "") for j in rows]
    hues = results.by_sign(drawn.coef)
    hollow = [
        bool(reason) or (half_width is not None and abs(subject.coef[j]) <= half_width[j])
        for j, reason in zip(rows, reasons, strict=True)
    ]
    faces = ["none" if empty else hue for empty, hue in zip(hollow, hues, strict=True)]
    drawn.draw(ax, color=faces, edgecolor=hues, lw=1.6)
    for place, reason in enumerate(reasons):
        _note(ax, place, reason)
    whole = [f for f in audit.findings if not f.features and f.severity != "note"]
    _note(ax, len(rows), ", ".join(map(_in_words, whole)))
    ax.set_yticks(np.arange(len(names)) - below, names)
    ax.set_ylim(-0.6 - below, len(rows) + 0.4)
    return results.figure_of(ax)


@styled
def other_boxes(finding: Any, ax: Axes | None = None, title: str | None = None) -> Figure:
    """The coefficients of the reasons with these boxes (large) and with others, by their sign."""
    numbers = finding.numbers
    rows = list(
        zip(
            numbers["reasons"],
            numbers["coef"],
            zip(*numbers["other_coef"], strict=True),
            strict=True,
        )
    )
    names, _ = results.labelled((name for name, *_ in rows), len(rows), 18)
    ax = results.axes_for(
        ax, title, 1.6 + 0.5 * len(rows), left=max(results.label_margin(names), 0.24)
    )
    ax.axvline(0, color=color.muted, lw=1)
    for place, (_, own, others) in enumerate(rows[::-1]):
        ax.plot([own, *others], [place] * (1 + len(others)), color=color.muted, lw=1, zorder=1)
        ax.scatter(others, [place] * len(others), c=list(results.by_sign(np.array(others))), s=40)
        ax.scatter([own], [place], c=list(results.by_sign(np.array([own]))), s=130, marker="D")
    ax.set_yticks(range(len(rows)), names[::-1])
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlabel("as explained (diamond), with other boxes (dots)")
    return results.figure_of(ax)


@styled
def superpixels(image: Any, segments: Any, coef: np.ndarray, title: str | None = None) -> Figure:
    """An image with the superpixels of these coefficients outlined: solid for above 0, dotted for below."""
    tall, wide = segments.shape
    fig = new_figure((5.0, 5.0 * tall / wide))
    ax = fig.subplots()
    fig.subplots_adjust(0.01, 0.01, 0.99, 0.99 if title is None else 0.9)
    pixels = np.asarray(image, float)
    pixels = (pixels - pixels.min()) / (float(np.ptp(pixels)) or 1.0)
    ax.imshow(pixels, interpolation="nearest", rasterized=True)
    for j in np.flatnonzero(coef):
        hue = results.by_sign(coef[[j]])[0]
        inside = np.pad(segments == j, 1).astype(float)
        rows, columns = np.arange(-1, tall + 1), np.arange(-1, wide + 1)
        lines = "solid" if coef[j] > 0 else "dotted"
        for shade, width, style in (("white", 5, "solid"), (hue, 2.5, lines)):
            ax.contour(
                columns, rows, inside, [0.5], colors=[shade], linewidths=width, linestyles=style
            )
    ax.set_xlim(-0.5, wide - 0.5)
    ax.set_ylim(tall - 0.5, -0.5)
    ax.set_axis_off()
    if title:
        ax.set_title(plain(title))
    return fig


@styled
def heatmap(
    table: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The worst rows of an audited table, from the top down, and what was found of each."""
    codes, order = list(table.codes), table.order[: results.count_shown(top, MAX_ROWS)]
    more = len(table) - len(order)
    names = [plain(n) for n in results.shortened((table.frame.index[i] for i in order), 18)]
    names += [f"and {more:,} more"] if more else []
    if ax is None:
        head = 1.15 + (0.45 if title else 0.0)
        fig = new_figure((6.4, head + 0.7 + 0.27 * max(len(names), 2)))
        tall, left = fig.get_figheight(), max(results.label_margin(names), 0.14)
        fig.subplots_adjust(left=left, right=0.88, top=1 - head / tall, bottom=0.6 / tall)
        ax = fig.subplots()
    for place, i in enumerate(order):
        for finding in table.rows[i].findings:
            x, (hue, alpha, mark) = codes.index(finding.code), STYLES[finding.severity]
            corner = (x - 0.46, place - 0.42)
            # light, so that the mark can be read on it in every theme and on paper
            box = Rectangle(corner, 0.92, 0.84, facecolor=hue, edgecolor="none", alpha=alpha)
            ax.add_patch(box)
            ax.text(x, place, mark, ha="center", va="center", fontsize=12, weight="bold", color=hue)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    _columns(ax, codes)
    if title:
        ax.set_title(plain(" ".join(str(title).split())), pad=14)
    return results.figure_of(ax)


def _columns(ax: Axes, codes: list[str]) -> None:
    """The findings along the top, and below what the marks mean."""
    ax.set_xlim(-0.5, max(len(codes), 1) - 0.5)
    ax.xaxis.tick_top()
    words = [code.replace("-", " ") for code in codes]
    ax.set_xticks(range(len(codes)), words, rotation=35, ha="left", fontsize=11)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    marks = "     ".join(f"{mark}  {severity}" for severity, (*_, mark) in STYLES.items())
    ax.annotate(
        marks, (0, 0), (0, -8), xycoords="axes fraction", textcoords="offset points",
        va="top", fontsize=11, color=color.muted,
    )  # fmt: skip


def _doubts(audit: Any) -> dict[str, str]:
    """Codes by feature, for findings beyond a note."""
    doubts: dict[str, list[str]] = {}
    for finding in audit.findings:
        for name in finding.features if finding.severity != "note" else ():
            doubts.setdefault(name, []).append(_in_words(finding))
    return {name: ", ".join(codes) for name, codes in doubts.items()}


def _in_words(finding: Any) -> str:
    return finding.code.replace("-", " ")


def _note(ax: Axes, place: float, text: str) -> None:
    """A few words to the right of the axes, on two lines at most."""
    lines = wrap(text, 20)
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1].rstrip(',')}, …"]
    ax.annotate(
        "\n".join(lines), (1.02, place), xycoords=("axes fraction", "data"), va="center",
        color=color.alarm, annotation_clip=False, fontsize=12,
    )  # fmt: skip
