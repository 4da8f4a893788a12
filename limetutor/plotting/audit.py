"""Audits as pictures: doubtful coefficients marked, and the share of a data set at risk."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import color, new_figure, styled

MOST = 12  # more bars than this are not read


@styled
def findings(audit: Any) -> Figure:
    """The largest coefficients with 95% intervals; those an audit doubts are hollow and say why."""
    case = audit.case
    doubts = _doubts(audit)
    order = np.argsort(-np.abs(case.coef), kind="stable")
    doubted = [j for j in order if case.names[j] in doubts]
    shown = sorted({*order[: max(MOST - len(doubted), 3)], *doubted}, key=list(order).index)
    shown = shown[:MOST][::-1]
    fig = new_figure((6.4, 1.3 + 0.42 * max(len(shown), 2)))
    fig.subplots_adjust(left=0.24, right=0.72, bottom=0.62 / fig.get_figheight())
    ax = fig.subplots()
    _bars(ax, case, shown, doubts)
    ax.axvline(0, color=color.muted, lw=1)
    ax.set_yticks(np.arange(len(shown)), [_short(case.names[j]) for j in shown])
    _note(ax, len(shown) - 0.25, _of_all(audit))
    ax.set_ylim(-0.6, len(shown))
    ax.set_xlabel("coefficient" if case.stderr is None else "coefficient, with its 95% interval")
    return fig


def _doubts(audit: Any) -> dict[str, str]:
    """Codes by feature, for findings beyond a note."""
    doubts: dict[str, list[str]] = {}
    for finding in audit.findings:
        for name in finding.features if finding.severity != "note" else ():
            doubts.setdefault(name, []).append(finding.code.replace("-", " "))
    return {name: ", ".join(codes) for name, codes in doubts.items()}


def _bars(ax: Axes, case: Any, shown: list[int], doubts: dict[str, str]) -> None:
    for place, j in enumerate(shown):
        value, doubt = case.coef[j], doubts.get(case.names[j])
        hue = color.positive if value >= 0 else color.negative
        ax.barh(place, value, height=0.6, edgecolor=hue, facecolor="none" if doubt else hue, lw=1.6)
        if case.stderr is not None:
            ax.errorbar(
                value, place, xerr=1.96 * case.stderr[j], fmt="none", ecolor=color.ink, lw=1.2
            )
        _note(ax, place, doubt or "")


def _note(ax: Axes, place: float, text: str) -> None:
    """A few words to the right of the axes."""
    ax.annotate(
        text,
        (1.02, place),
        xycoords=("axes fraction", "data"),
        va="center",
        color=color.xi,
        annotation_clip=False,
        fontsize=12,
    )


def _of_all(audit: Any) -> str:
    """What was found of the explanation as a whole."""
    codes = [f.code for f in audit.findings if not f.features and f.severity != "note"]
    return ", ".join(code.replace("-", " ") for code in codes)


def _short(name: str, most: int = 18) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


@styled
def risk(shares: Any) -> Figure:
    """Share of (instance, feature) pairs at risk against the bandwidth."""
    fig = new_figure((6.4, 3.6))
    ax = fig.subplots()
    ax.fill_between(shares.nus, 0, 100 * shares.at_risk, color=color.xi, alpha=0.12, lw=0)
    ax.plot(shares.nus, 100 * shares.at_risk, color=color.xi, label="at risk")
    ax.plot(shares.nus, 100 * shares.flipped, color=color.negative, ls="--", label="sign flipped")
    near = f"within {shares.tolerance:.0%} of a switch-off"
    ax.plot(shares.nus, 100 * shares.near, color=color.surrogate, ls=":", label=near)
    ax.set(xscale="log", xlabel="bandwidth ν", ylabel="pairs at risk, %")
    ax.set_ylim(0, max(1.0, 140 * float(shares.at_risk.max())))
    ax.legend(loc="upper right")
    return fig
