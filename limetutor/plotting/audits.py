"""Audits as pictures: one explanation with what to doubt in it, and a whole table of them."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .results import axes_for, bars, by_sign, figure_of, labelled, most_of, room, shortened
from .style import color, new_figure, plain, styled

BARS = 12  # few, since each can carry a doubt
ROWS = 30  # of a table that can be told apart in one picture
# how findings of each severity are painted and, for whoever does not see the colour, marked
PAINT = {"note": (color.muted, "·"), "warning": (color.alarm, "w"), "serious": (color.alarm, "S")}
STRENGTH = {"note": 0.25, "warning": 0.12, "serious": 0.4}


@styled
def findings(
    audit: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The largest coefficients with intervals that hold together; the doubted are hollow, and say why."""
    subject, doubts = audit.case.subject, _doubts(audit)
    order = subject.order().tolist()
    doubted = [j for j in order if subject.names[j] in doubts]
    shown = [*dict.fromkeys([*order[:3], *doubted, *order])][: most_of(top, BARS)]
    rows = sorted(shown, key=order.index)[::-1]
    names, below = labelled((subject.names[j] for j in rows), len(order), 18)
    height = 1.4 + 0.42 * max(len(names), 2)
    ax = axes_for(ax, title, height, left=max(room(names), 0.24), right=0.72)
    reach = audit.case.reach
    drawn, reasons = bars(subject, rows, reach), [doubts.get(subject.names[j], "") for j in rows]
    hues = by_sign(drawn.coef)
    hollow = [
        bool(reason) or (reach is not None and abs(subject.coef[j]) <= reach[j])
        for j, reason in zip(rows, reasons, strict=True)
    ]
    faces = ["none" if empty else hue for empty, hue in zip(hollow, hues, strict=True)]
    drawn.draw(ax, color=faces, edgecolor=hues, lw=1.6)
    for place, reason in enumerate(reasons):
        _note(ax, place, reason)
    _note(ax, len(rows), _of_all(audit))
    ax.set_yticks(np.arange(len(names)) - below, names)
    ax.set_ylim(-0.6 - below, len(rows) + 0.4)
    return figure_of(ax)


@styled
def heatmap(
    table: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """The worst rows of an audited table, from the top down, and what was found of each."""
    codes, order = list(table.codes), table.order[: most_of(top, ROWS)]
    more = len(table) - len(order)
    names = [plain(n) for n in shortened((table.frame.index[i] for i in order), 18)]
    names += [f"and {more:,} more"] if more else []
    if ax is None:
        head = 1.15 + (0.45 if title else 0.0)
        fig = new_figure((6.4, head + 0.7 + 0.27 * max(len(names), 2)))
        tall = fig.get_figheight()
        fig.subplots_adjust(
            left=max(room(names), 0.14), right=0.88, top=1 - head / tall, bottom=0.6 / tall
        )
        ax = fig.subplots()
    for place, i in enumerate(order):
        for finding in table.rows[i].findings:
            _square(ax, codes.index(finding.code), place, finding.severity)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    _columns(ax, codes)
    if title:
        ax.set_title(plain(" ".join(str(title).split())), pad=14)
    return figure_of(ax)


def _columns(ax: Axes, codes: list[str]) -> None:
    """The findings along the top, and below what the marks mean."""
    ax.set_xlim(-0.5, max(len(codes), 1) - 0.5)
    ax.xaxis.tick_top()
    words = [code.replace("-", " ") for code in codes]
    ax.set_xticks(range(len(codes)), words, rotation=35, ha="left", fontsize=11)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    marks = "     ".join(f"{mark}  {severity}" for severity, (_, mark) in PAINT.items())
    ax.annotate(
        marks, (0, 0), (0, -8), xycoords="axes fraction", textcoords="offset points",
        va="top", fontsize=11, color=color.muted,
    )  # fmt: skip


def _square(ax: Axes, x: float, y: float, severity: str) -> None:
    """A finding, in the colour and with the mark of its severity."""
    hue, mark = PAINT[severity]
    # light, so that the mark can be read on it in every theme and on paper
    ax.add_patch(
        Rectangle(
            (x - 0.46, y - 0.42),
            0.92,
            0.84,
            facecolor=hue,
            edgecolor="none",
            alpha=STRENGTH[severity],
        )
    )
    ax.text(x, y, mark, ha="center", va="center", fontsize=12, weight="bold", color=hue)


def _doubts(audit: Any) -> dict[str, str]:
    """Codes by feature, for findings beyond a note."""
    doubts: dict[str, list[str]] = {}
    for finding in audit.findings:
        for name in finding.features if finding.severity != "note" else ():
            doubts.setdefault(name, []).append(_in_words(finding))
    return {name: ", ".join(codes) for name, codes in doubts.items()}


def _of_all(audit: Any) -> str:
    """What was found of the explanation as a whole."""
    return ", ".join(
        _in_words(f) for f in audit.findings if not f.features and f.severity != "note"
    )


def _in_words(finding: Any) -> str:
    return finding.code.replace("-", " ")


def _note(ax: Axes, place: float, text: str) -> None:
    """A few words to the right of the axes, on two lines at most."""
    lines = wrap(text, 20)
    if len(lines) > 2:
        lines = [lines[0], f"{lines[1].rstrip(',')}, …"]
    ax.annotate(
        "\n".join(lines),
        (1.02, place),
        xycoords=("axes fraction", "data"),
        va="center",
        color=color.alarm,
        annotation_clip=False,
        fontsize=12,
    )
