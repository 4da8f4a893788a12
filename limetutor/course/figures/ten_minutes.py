"""Chapter *LIME in ten minutes*: the real `lime` and ours side by side, and runs that differ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from ...algorithm import Explanation
from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, plain, styled
from ..experiments import Runs


@styled
def side_by_side(ours: Explanation, lime: Mapping[int, float]) -> Figure:
    """Our coefficients with 95% intervals, and those of `lime` by feature position."""
    order = ours.order()[::-1]
    fig = new_figure((6.4, 4.2))
    fig.subplots_adjust(left=0.36, bottom=0.15)
    ax = fig.subplots()
    rows = np.arange(len(order))
    ax.axvline(0, color=color.muted, lw=1)
    coef, ends = ours.coef[order], ours.interval(0.95)[order].T
    reach = np.abs(ends - coef)
    ax.errorbar(coef, rows, xerr=reach, fmt="o", color=color.surrogate, label="limetutor")
    ax.plot([lime[j] for j in order], rows, "x", color=color.lime, ms=9, mew=2.2, label="lime")
    ax.set_yticks(rows, [plain(ours.box_names[j]) for j in order])
    ax.set_xlabel("coefficient")
    ax.legend(loc="lower right")
    return fig


def run_again(fig: Figure, run: int, n: int, runs: Mapping[int, Runs], limit: float) -> str:
    """The coefficients of one run out of many; pale marks show the other runs."""
    chosen = runs[n]
    coef = chosen.coef[run - 1]
    order = np.argsort(np.abs(runs[max(runs)].mean))
    fig.subplots_adjust(left=0.16, bottom=0.19)
    ax = fig.subplots()
    rows = np.arange(len(order))
    ax.axvline(0, color=color.muted, lw=1)
    ax.barh(rows, coef[order], color=by_sign(coef[order]), height=0.62)
    spread = chosen.coef[:, order]
    ax.hlines(rows, spread.min(axis=0), spread.max(axis=0), color=color.ink, lw=1.6)
    ax.set_yticks(rows, [plain(chosen.names[j]) for j in order])
    ax.set(xlim=(-limit, limit), xlabel="coefficient")
    top = [chosen.names[j] for j in np.argsort(-np.abs(coef))[:3]]
    return f"Run {run} with n = {n}: the three largest are {top[0]}, {top[1]} and {top[2]}."
