"""Chapter *can it be shown?*: what another run, other boxes and another bandwidth would say."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...bandwidth.path import Path
from ...plotting.results import by_sign, shortened, stroke
from ...plotting.style import color, new_figure, plain, styled
from .parts import log_axes, named_at_ends, signed

LINES = 5  # features of a path over the bandwidth that are followed
FEW = 3  # ... and of one over the number of boxes
TICKS = (0.5, 1, 2, 5, 10)


@styled
def chosen(prediction: Any, most: int = 10) -> Figure:
    """How often `lime` chooses each feature, and what it then prints, the likeliest first."""
    order = np.argsort(-prediction.selection, kind="stable")[:most][::-1]
    fig = new_figure((6.4, 1.0 + 0.34 * len(order)))
    fig.subplots_adjust(left=0.45, right=0.975, wspace=0.2, bottom=0.6 / fig.get_figheight())
    left, right = fig.subplots(1, 2, sharey=True)
    rows = np.arange(len(order))
    left.barh(rows, 100 * prediction.selection[order], color=color.lime, height=0.6)
    names = shortened((prediction.names[j].replace("<=", "≤") for j in order), 28)
    left.set_yticks(rows, [plain(name) for name in names])
    left.set(xlim=(0, 105), xticks=[0, 50, 100], xlabel="% of runs")
    coef, reach = prediction.coef[order], 1.96 * prediction.sd[order]
    right.axvline(0, color=color.muted, lw=1)
    right.barh(rows, coef, color=by_sign(coef), height=0.6)
    right.hlines(rows, coef - reach, coef + reach, color=color.ink, lw=1.2)
    right.set_xlabel("coefficient")
    right.tick_params(axis="y", length=0)
    return fig


def number_of_boxes(fig: Figure, p: int, path: Path) -> str:
    """The largest coefficients, from the fewest boxes up to p."""
    counts = np.asarray(path.boxes)
    i = int(np.flatnonzero(counts == p)[0])
    order = np.argsort(-np.median(np.abs(path.coef), axis=0))[:FEW]
    # repeat the last point, so that every frame has the same number of points
    upto = np.minimum(np.arange(len(counts)), i)
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    ax.axvline(p, color=color.ink, lw=1.2, ls="--")
    for k, j in enumerate(order):
        hue, dash = stroke(k)
        ax.plot(counts[upto], path.coef[upto, j], color=hue, ls=dash, marker="o", ms=4, lw=1.6)
        ax.plot(p, path.coef[i, j], "o", color=hue, ms=9)
        ax.text(p + 0.3, path.coef[i, j], plain(path.names[j]), va="center")
    ax.set(xlim=(counts[0] - 0.5, counts[-1] + 2.2), xlabel="number of boxes")
    ax.set(ylim=(-25, 58), ylabel="coefficient", xticks=counts[::2])
    said = [f"{path.names[j]} {signed(path.coef[i, j], 1, plus=True)}" for j in order]
    return f"With {p} boxes for each feature: {', '.join(said[:-1])} and {said[-1]}."


def bandwidth(fig: Figure, nu: float, row: str, paths: Mapping[str, Path]) -> str:
    """The path of the strongest effects over the bandwidth, each by name, and where nu lies."""
    path = paths[row]
    i = int(np.argmin(np.abs(np.log(path.nu / nu))))
    order = path.order()[:LINES]
    ax = fig.subplots()
    fig.subplots_adjust(left=0.11, right=0.9)
    ax.axvspan(*path.stable, color=color.muted, alpha=0.15, lw=0)
    ax.axhline(0, color=color.muted, lw=1)
    names, ends = shortened((path.names[j] for j in order), 14), {}
    for j, name, (hue, dash) in zip(order, names, map(stroke, range(LINES)), strict=False):
        ax.plot(path.nu, path.coef[:, j], color=hue, ls=dash)
        ax.plot(nu, np.interp(np.log(nu), np.log(path.nu), path.coef[:, j]), "o", color=hue, ms=7)
        ax.plot(path.critical[j], 0 * path.critical[j], "x", color=hue, ms=8, mew=2)
        ends[plain(name)] = float(path.coef[-1, j]), hue
    ax.axvline(nu, color=color.ink, lw=1.2, ls="--")
    log_axes(ax, x=list(TICKS))
    low, high = path.coef[:, order].min(), path.coef[:, order].max()
    ax.set(xlabel="bandwidth ν", ylabel="coefficient")
    ax.set(xlim=(path.nu[0] / 1.03, path.nu[-1] * 1.03))
    ax.set(ylim=(low - 0.06 * (high - low), high + 0.06 * (high - low)))
    named_at_ends(ax, path.nu[-1] * 1.03, ends)
    return _sentence(path, i)


def _sentence(path: Path, i: int) -> str:
    """What the picture shows at its i-th bandwidth, in words."""
    nu, lo, hi = path.nu[i], *path.stable
    first = np.argsort(-np.abs(path.coef[i]))[:3]
    three = ", ".join(f"{path.names[j]} {signed(path.coef[i, j])}" for j in first)
    where = "inside" if lo <= nu <= hi else "outside"
    zeros = [(z, path.names[j]) for j in path.order()[:LINES] for z in path.critical[j]]
    near = ""
    if zeros:
        zero, name = min(zeros, key=lambda pair: abs(np.log(pair[0] / nu)))
        near = f" The nearest zero of these five is that of {name}, at {zero:.2f}."
    return (
        f"At ν = {nu:.2f}, the three largest are {three}. This ν is {where} the shaded range from {lo:.2f} "
        f"to {hi:.2f}, and the {path.n:,} samples are worth {path.ess[i]:,.0f}.{near}"
    )
