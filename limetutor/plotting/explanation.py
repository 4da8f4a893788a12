"""Coefficients as pictures: one explanation with its error bars, or many runs with the theory."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .style import color, new_figure, styled


@styled
def coefficients(explanation: Any) -> Figure:
    """The coefficients of an explanation, largest on top, with 95% intervals."""
    order = explanation.order()[::-1]
    fig = new_figure((6.4, 1.2 + 0.34 * max(len(order), 2)))
    longest = max((len(explanation.box_names[j]) for j in order), default=0)
    left = np.clip(0.03 + 0.0165 * longest, 0.12, 0.55)  # a letter is about 1/60 of the width
    fig.subplots_adjust(left=left, bottom=0.6 / fig.get_figheight())
    ax = fig.subplots()
    values, errors = explanation.coef[order], 1.96 * explanation.stderr[order]
    colors = [color.positive if v >= 0 else color.negative for v in values]
    ax.barh(np.arange(len(order)), values, color=colors, height=0.6)
    ax.errorbar(values, np.arange(len(order)), xerr=errors, fmt="none", ecolor=color.ink, lw=1.2)
    ax.axvline(0, color=color.muted, lw=1)
    ax.set_yticks(np.arange(len(order)), [explanation.box_names[j] for j in order])
    ax.set_xlabel("coefficient, with its 95% interval")
    return fig


def boxplots(ax: Axes, runs: np.ndarray, theory: np.ndarray | None, names: Any) -> None:
    """Boxplots of repeated coefficients (runs, d), as in the paper, with crosses for the theory."""
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
    ax.set_xticks(places, names)
    ax.set(xlabel="feature", ylabel="coefficient")
