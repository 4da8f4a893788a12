"""The diagonal from the world to xi's boxes as a picture: slopes, Shapley values, LIME, a rule as a corner."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .results import MAX_LINES, axes_for, count_shown, figure_of, labelled, stroke
from .style import color, new_figure, plain, styled

MAX_LETTERS = 18  # of a feature


@styled
def cube(
    cube: Any, ax: Axes | None = None, top: int | None = None, title: str | None = None
) -> Figure:
    """What each feature adds on the diagonal from p to 1: the mean along it is the Shapley value.

    Points are LIME at three widths, (1 - p) times the coefficient: on the curves where all masses are
    equal. Where there is a class, a second panel goes from corner to corner of a rule: its precision as
    features are held in their boxes.
    """
    corner = None
    if ax is None and cube.corner is not None:
        fig = new_figure((6.4, 6.4))
        fig.subplots_adjust(
            left=0.125, right=0.7, bottom=0.1, top=0.93 if title else 0.97, hspace=0.42
        )
        ax, corner = fig.subplots(2, 1, height_ratios=(3, 2))
        if title:
            ax.set_title(plain(title))
    else:
        ax = axes_for(ax, title, 3.8, left=0.125, right=0.7)
    _draw_diagonal(ax, cube, cube.order()[: count_shown(top, MAX_LINES)])
    if corner is not None:
        _draw_corner(corner, cube)
    return figure_of(ax)


def _draw_diagonal(ax: Axes, cube: Any, shown: np.ndarray) -> None:
    q, steps, at, points, nu = cube.diagonal
    ax.axhline(0, color=color.muted, lw=1)
    for k, j in enumerate(shown):
        hue, dash = stroke(k)
        (label,) = labelled([cube.names[j]], 1, MAX_LETTERS)[0]
        ax.plot(q, steps[:, j], color=hue, ls=dash, label=label)
        ax.plot(at, points[:, j], "o", color=color.lime, mec=hue, ms=7)
        ax.plot([1.04], [cube.coef[j]], "D", color=hue, ms=6, clip_on=False)
    ax.plot([], [], "o", color=color.lime, mec=color.ink, ms=7, label="(1 − p) LIME")
    ax.plot([], [], "D", color=color.ink, ms=6, label="mean: Shapley")
    ax.set_xticks([0.0, *at, 1.0], ["∞", *(f"{v:.3g}" for v in nu), "0"])
    ax.set_xlim(0, 1.06)
    ax.set(xlabel="place on the diagonal; ticks: LIME's widths ν", ylabel="adds to the mean of f")
    ax.legend(loc="upper left", bbox_to_anchor=(1.03, 1.02), handlelength=1.6)


def _draw_corner(ax: Axes, cube: Any) -> None:
    """Precision as the features of a rule are held one by one, the most precise one first."""
    rule, order, precisions = cube.corner
    labels = ["no rule", *(cube.names[j] for j in order)]
    ax.bar(range(len(labels)), precisions, width=0.6, color=color.box)
    ax.axhline(rule.target, color=color.truth, ls="--", lw=2)
    ax.set_xticks(range(len(labels)), labelled(labels, len(labels), 12)[0])
    ax.set_ylim(0, 1.02)
    ax.set(ylabel="same prediction", xlabel="features held: the corner of the rule")
