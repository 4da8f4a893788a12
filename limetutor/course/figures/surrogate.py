"""Chapter *surrogate*: which coefficients are noise, and what a ridge penalty leaves of them."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from ...core import surrogate
from ...plotting.style import color, new_figure, styled
from ...results.explanation import Explanation
from ..experiments import Runs
from . import parts
from .weights import patient_samples

NAMED = 3  # the coefficients that are followed by name


@styled
def noise(ex: Explanation, runs: Runs) -> Figure:
    """One run with its 95% intervals, the largest coefficient on top, among other runs.

    The axis has a break: all coefficients but the largest are between -10 and 16.
    """
    fig = new_figure((6.4, 4.0))
    fig.subplots_adjust(left=0.1, bottom=0.15, wspace=0.06)
    axes = fig.subplots(1, 2, sharey=True, width_ratios=(26, 8))
    order, ends = ex.order()[::-1], ex.interval()
    axes[0].axvline(0, color=color.muted, lw=1)
    for row, j in enumerate(order):
        clear = ends[j, 0] > 0 or ends[j, 1] < 0
        ax, hue = axes[int(ends[j, 0] > 16)], color.surrogate if clear else color.muted
        ax.plot(*parts.lines(runs.coef[:, j], row - 0.38, row - 0.08), color=color.sample, lw=0.8)
        ax.plot(ends[j], [row + 0.2, row + 0.2], color=hue, lw=3)
        ax.plot(ex.coef[j], row + 0.2, "o", color=hue, ms=7)
    axes[0].set_yticks(range(len(order)), [ex.names[j] for j in order])
    axes[0].set(xlim=(-10, 16), ylim=(-0.6, len(order) - 0.4), xlabel="coefficient")
    axes[1].set(xlim=(38, 46), xticks=[40, 45])
    axes[1].spines.left.set(linestyle=":")
    axes[1].tick_params(left=False)
    return fig


@cache
def _sums() -> surrogate.Sums:
    """The sums behind the explanation of patient 13 that *weights* begins with."""
    ex = patient_samples()
    sums = surrogate.Sums(len(ex.coef))
    sums.add(ex.z, ex.y, np.log(ex.weights))
    return sums


@cache
def penalised(ridge: float) -> np.ndarray:
    """Coefficients of patient 13 under a ridge penalty, (d,)."""
    return surrogate.fit(_sums(), ridge).beta[1:]


@cache
def _paths() -> tuple[np.ndarray, np.ndarray]:
    penalties = np.geomspace(0.1, 1e5, 61)
    return penalties, np.array([penalised(float(ridge)) for ridge in penalties])


def shrinking(fig: Figure, ridge: float) -> str:
    """The coefficients of patient 13 against the ridge penalty, the largest by name."""
    coef, (penalties, paths), names = penalised(ridge), _paths(), patient_samples().names
    order = np.argsort(-np.abs(paths[0]))
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    ax.axvline(1, color=color.lime, lw=2)
    ax.text(1.15, 47, "lime", va="top")
    ax.plot([ridge, ridge], [-11, 48], color=color.muted, lw=1, ls="--")
    for rank, j in enumerate(order):
        hue, width = (color.surrogate, 2) if rank < NAMED else (color.muted, 1.1)
        ax.plot(penalties, paths[:, j], color=hue, lw=width)
        ax.plot(ridge, coef[j], "o", color=hue, ms=7 if rank < NAMED else 4)
        if rank < NAMED:
            below = paths[0, j] < 0
            ax.text(
                0.11, paths[0, j] + (-1 if below else 1), names[j], va="top" if below else "bottom"
            )
    parts.log_axes(ax, x=parts.powers(range(-1, 6)))
    ax.set(xlim=(0.09, 1.1e5), ylim=(-11, 48), yticks=[0, 20, 40])
    ax.set(xlabel="penalty λ", ylabel="coefficient")
    left = [coef[j] / penalised(0.0)[j] for j in order[:2]]
    return (
        f"With ridge penalty λ = {ridge:g}, the coefficient of {names[order[0]]} is "
        f"{coef[order[0]]:.1f}, {left[0]:.1%} of what it is without a penalty; for "
        f"{names[order[1]]}, {left[1]:.1%} is left."
    )
