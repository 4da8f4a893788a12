"""Chapter *LIME in ten minutes*: `lime` and ours side by side, runs that differ, a contrast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...algorithm import Explanation
from ...interactive.layers import in_layers
from ...plotting.results import by_sign
from ...plotting.style import color, new_figure, plain, styled
from ...theory import gaussian_tilt
from ..experiments import Runs
from .parts import bell, beside_slope, box_of, draw_edges, instance, key, plateau, shade

REACH = 2.5  # half the width of the picture of a contrast


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


MODEL: dict[str, Any] = {"color": color.ink, "lw": 1.6}
MEANS: dict[str, Any] = {"color": color.surrogate, "lw": 2.6}


def _line(fig: Figure) -> Axes:
    ax = fig.subplots()
    draw_edges(ax)
    ax.plot([-REACH, REACH], [-REACH, REACH], **MODEL)
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xlabel="x", ylabel="f(x)")
    lines = {"model f(x) = x": MODEL, "mean inside, mean outside": MEANS}
    key(ax, lines, loc="upper left", fontsize=11.5)
    return ax


def _its_box(ax: Axes, xi: float) -> None:
    shade(ax, box_of(xi), REACH)


def _means(ax: Axes, nu: float, xi: float) -> None:
    """What counts, and the mean of f in the box of ξ and outside."""
    tilt = gaussian_tilt(xi, nu, 0, 1, *box_of(xi))
    x = np.linspace(-REACH, REACH, 81)
    law = 0.9 * bell(x, float(tilt.mu_tilde), float(tilt.sigma_tilde)) - REACH
    ax.fill_between(x, -REACH, law, color=color.sample, alpha=0.35, lw=0)
    inside = float(xi + tilt.inside)
    means = plateau(box_of(xi), inside, inside - float(tilt.gap), REACH)
    ax.plot(*means, **MEANS)


def _instance(ax: Axes, xi: float) -> None:
    instance(ax, xi, xi)


@in_layers(_line, _its_box, _means, _instance)
def contrast(nu: float, xi: float) -> str:
    """f(x) = x, the tilted law, and the mean of f inside and outside the box of ξ."""
    tilt = gaussian_tilt(xi, nu, 0, 1, *box_of(xi))
    inside, step = float(xi + tilt.inside), float(tilt.gap)
    return (
        f"At ν = {nu:.2f} the mean of f is {inside:+.2f} in the box of ξ = {xi:g} and "
        f"{inside - step:+.2f} elsewhere: a contrast of {step:+.2f}, which {beside_slope(step)}."
    )
