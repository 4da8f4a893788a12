"""Results as pictures: coefficients, repeated runs, an audit, and a data set at risk.

Names and numbers are the user's own here, so names are shortened and printed letter for letter,
long lists are cut to what can be read, and numbers no axis can hold are scaled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import color, new_figure, plain, styled

BARS = 20  # more bars than this are not read
AUDITED = 12  # and fewer where each can carry a doubt
LONGEST = 32  # letters of a label
HUGE = 1e100  # beyond it, and below its inverse, axes lose their ticks


@styled
def coefficients(explanation: Any) -> Figure:
    """The largest coefficients of an explanation, largest on top, with 95% intervals."""
    order = explanation.order()
    shown = order[:BARS][::-1]
    labels = shortened((explanation.box_names[j] for j in shown), LONGEST)
    if more := len(order) - len(shown):
        labels = [f"and {more} more", *labels]
    fig = new_figure((6.4, 1.2 + 0.34 * max(len(labels), 2)))
    longest = max(map(len, labels), default=0)
    left = np.clip(0.03 + 0.0165 * longest, 0.12, 0.55)  # a letter is about 1/60 of the width
    fig.subplots_adjust(left=left, bottom=0.6 / fig.get_figheight())
    ax = fig.subplots()
    coef, ends, scale = _drawable(explanation, shown)
    places = np.arange(len(shown))
    ax.barh(places, coef, color=by_sign(coef), height=0.6)
    _intervals(ax, coef, ends)
    ax.axvline(0, color=color.muted, lw=1)
    ax.set_yticks(np.arange(len(labels)) - bool(more), [plain(label) for label in labels])
    ax.set_xlabel(_axis_label(ends, scale))
    return fig


@styled
def findings(audit: Any) -> Figure:
    """The largest coefficients with 95% intervals; those an audit doubts are hollow and say why."""
    case, doubts = audit.case, _doubts(audit)
    order = list(np.argsort(-np.abs(case.coef), kind="stable"))
    doubted = [j for j in order if case.names[j] in doubts]
    shown = {*order[: max(AUDITED - len(doubted), 3)], *doubted}
    rows = [j for j in order if j in shown][:AUDITED][::-1]
    fig = new_figure((6.4, 1.3 + 0.42 * max(len(rows), 2)))
    fig.subplots_adjust(left=0.24, right=0.72, bottom=0.62 / fig.get_figheight())
    ax = fig.subplots()
    coef, ends, scale = _drawable(case, rows)
    reasons = [doubts.get(case.names[j], "") for j in rows]
    hues = by_sign(coef)
    faces = ["none" if reason else hue for reason, hue in zip(reasons, hues, strict=True)]
    ax.barh(np.arange(len(rows)), coef, height=0.6, edgecolor=hues, facecolor=faces, lw=1.6)
    _intervals(ax, coef, ends)
    for place, reason in enumerate(reasons):
        _note(ax, place, reason)
    _note(ax, len(rows) - 0.25, _of_all(audit))
    ax.axvline(0, color=color.muted, lw=1)
    names = shortened((case.names[j] for j in rows), 18)
    ax.set_yticks(np.arange(len(rows)), [plain(name) for name in names])
    ax.set_ylim(-0.6, max(len(rows), 1))
    ax.set_xlabel(_axis_label(ends, scale))
    return fig


@styled
def risk(shares: Any) -> Figure:
    """Share of (instance, feature) pairs at risk against the bandwidth."""
    fig = new_figure((6.4, 3.6))
    ax = fig.subplots()
    ax.fill_between(shares.nus, 0, 100 * shares.at_risk, color=color.alarm, alpha=0.12, lw=0)
    near = f"within {shares.tolerance:.0%} of a switch-off"
    for share, hue, line, label in (
        (shares.at_risk, color.alarm, "-", "at risk"),
        (shares.flipped, color.negative, "--", "sign flipped"),
        (shares.near, color.surrogate, ":", near),
    ):
        mark = "o" if len(shares.nus) == 1 else ""  # a line of one point would not be seen
        ax.plot(shares.nus, 100 * share, color=hue, ls=line, marker=mark, label=label)
    ax.set(xscale="log", xlabel="bandwidth ν", ylabel="pairs at risk, %")
    ax.set_ylim(0, max(1.0, 140 * float(shares.at_risk.max())))
    ax.legend(loc="upper right")
    return fig


def boxplots(
    ax: Axes, runs: np.ndarray, theory: np.ndarray | None, names: Iterable[str] | None = None
) -> None:
    """Boxplots of repeated coefficients (runs, d), as in the paper, with crosses for the theory.

    Without names the features are numbered.
    """
    places = np.arange(1, runs.shape[1] + 1)
    ax.axhline(0, color=color.grid, lw=1)
    ax.boxplot(
        runs,
        positions=places,
        widths=0.55,
        boxprops={"color": color.surrogate},
        medianprops={"color": color.surrogate, "lw": 2},
        whiskerprops={"color": color.surrogate},
        capprops={"color": color.surrogate},
        flierprops={"marker": ".", "markeredgecolor": color.muted, "markersize": 5},
    )
    if theory is not None:
        ax.plot(places, theory, "x", color=color.truth, ms=9, mew=2.4, label="theory")
    labels = shortened(places if names is None else names, LONGEST)
    ax.set_xticks(places, [plain(label) for label in labels])
    ax.set(xlabel="feature", ylabel="coefficient")


def by_sign(values: np.ndarray) -> list[str]:
    """A colour for each value: that of what speaks for, or of what speaks against."""
    return [color.negative if value < 0 else color.positive for value in values]


def shortened(names: Iterable[object], most: int) -> list[str]:
    """Names of at most that many letters on one line; what is too long loses its middle."""
    lines = [" ".join(str(name).split()) for name in names]
    tail = most // 2
    return [
        line if len(line) <= most else f"{line[: most - tail - 1]}…{line[-tail:]}" for line in lines
    ]


def _drawable(
    result: Any, rows: Sequence[int] | np.ndarray
) -> tuple[np.ndarray, np.ndarray | None, int]:
    """Coefficients and 95% intervals of these features, over a power of ten where axes need one.

    Intervals (len(rows), 2) are None where there is no noise. The power is 0 for usual numbers.
    """
    rows = np.asarray(rows, dtype=int)
    coef, ends = np.asarray(result.coef, float)[rows], _ends(result, rows)
    sizes = np.abs(coef if ends is None else np.column_stack([coef, ends]))
    top = np.max(sizes, initial=0.0, where=np.isfinite(sizes))
    power = 0 if top == 0 or 1 / HUGE < top < HUGE else int(np.floor(np.log10(top)))
    # in two steps, since 10**-power itself may be no double
    first, second = 10.0 ** (power // 2), 10.0 ** (power - power // 2)
    return coef / first / second, None if ends is None else ends / first / second, power


def _ends(result: Any, rows: np.ndarray) -> np.ndarray | None:
    """The 95% intervals of these coefficients; None where they have no noise."""
    if hasattr(result, "interval"):
        ends = np.asarray(result.interval(0.95), float)[rows]
    elif result.stderr is None:
        return None
    else:
        coef, stderr = (np.asarray(v, float)[rows] for v in (result.coef, result.stderr))
        with np.errstate(over="ignore"):  # an interval without end is drawn to the frame
            ends = coef[:, None] + 1.96 * stderr[:, None] * [-1, 1]
    return ends if np.any(ends[:, 0] != ends[:, 1]) else None


def _intervals(ax: Axes, coef: np.ndarray, ends: np.ndarray | None) -> None:
    """Error bars from end to end, beyond the frame where an interval has no end."""
    if ends is None:
        return
    if np.any(np.isinf(ends)):
        held = np.concatenate([[0.0], coef, ends[np.isfinite(ends)]])
        low, high = np.nanmin(held), np.nanmax(held)
        reach = high - low or 1.0
        ends = np.clip(ends, low - reach, high + reach)
        ax.set_xlim(low - 0.1 * reach, high + 0.1 * reach)
    for place, (low, high) in enumerate(ends):
        ax.plot([low, high], [place, place], color=color.ink, lw=1.2, solid_capstyle="butt")


def _axis_label(ends: np.ndarray | None, power: int) -> str:
    unit = f" in 10{str(power).translate(_RAISED)}" if power else ""
    return f"coefficient{unit}" + ("" if ends is None else ", with its 95% interval")


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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
    """A few words to the right of the axes."""
    ax.annotate(
        text,
        (1.02, place),
        xycoords=("axes fraction", "data"),
        va="center",
        color=color.alarm,
        annotation_clip=False,
        fontsize=12,
    )
