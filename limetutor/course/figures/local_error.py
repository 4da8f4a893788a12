"""Chapter *local error*: the surrogate misses the model at the point it explains."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.style import color, new_figure, styled
from ...theory import Tilt, gaussian_tilt
from ..experiments import Runs
from .parts import (
    against_bandwidth,
    bell,
    box_of,
    draw_edges,
    inner_edges,
    inside_boxes,
    standard_boxes,
)


def landing(fig: Figure, nu: float, xi: float) -> str:
    """Left: where the surrogate of f(x) = x takes ξ to be. Right: its error against ν."""
    box = box_of(xi)
    law = gaussian_tilt(xi, nu, 0, 1, *box)
    left, right = fig.subplots(1, 2, width_ratios=(1.15, 1), gridspec_kw={"wspace": 0.42})
    _draw_landing(left, xi, box, law)
    against_bandwidth(right, lambda at: gaussian_tilt(xi, at, 0, 1, *box).inside, nu)
    right.set(ylim=(-1.2, 0.8), ylabel="error at ξ")
    return (
        f"At ν = {nu:.2f} the surrogate answers as if ξ were at {xi + law.inside:.2f} "
        f"instead of {xi:.2f}: an error of {law.inside:+.2f}."
    )


def _draw_landing(ax: Axes, xi: float, box: tuple[float, float], law: Tilt) -> None:
    mean, sd, landed = (float(v) for v in (law.mu_tilde, law.sigma_tilde, xi + law.inside))
    x, inside = np.linspace(-3, 3, 97), np.linspace(max(box[0], -3), min(box[1], 3), 60)
    draw_edges(ax)
    ax.plot(x, bell(x, mean, sd), color=color.sample, lw=1.4)
    ax.fill_between(inside, 0, bell(inside, mean, sd), color=color.sample, alpha=0.3, lw=0)
    ax.plot([landed, landed], [0, 1.0], color=color.truth, lw=2)
    ax.plot([xi, xi], [0, 1.0], color=color.xi, lw=2, ls=":")
    ax.plot(xi, 0.03, "o", color=color.xi, ms=8)
    ax.plot(landed, 0.03, "X", color=color.truth, ms=9)
    ax.set(xlim=(-3, 3), ylim=(0, 1.12), yticks=[], xlabel="x")


def across_the_boxes(fig: Figure, nu: float) -> str:
    """The error of f(x) = x for every position of ξ, at one bandwidth."""
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    zeros = 0
    for xi, lo, hi in inside_boxes(4, reach=2.5, count=40):
        error = gaussian_tilt(xi, nu, 0, 1, lo, hi).inside
        zeros += int(error[0] * error[-1] < 0)
        ax.plot(xi, error, color=color.truth)
    draw_edges(ax)
    ax.set(xlim=(-2.5, 2.5), ylim=(-1.4, 1.4), xlabel="position of ξ", ylabel="error at ξ")
    below, above = (error_at_edge(nu, box) for box in (2, 3))
    return (
        f"At ν = {nu:.2f} the error passes through zero in {zeros} of the 4 boxes "
        f"and jumps by {above - below:.2f} where ξ crosses the edge at 0.67."
    )


def error_at_edge(nu: float, box: int) -> float:
    """The error at the third edge, 0.67, as the end of one of the two boxes it parts."""
    return float(gaussian_tilt(inner_edges()[2], nu, 0, 1, *standard_boxes().ends(0, box)).inside)


@styled
def histogram(runs: Runs, predicted: float) -> Figure:
    """Errors of repeated explanations and the value the theory gives (paper, Figure 8)."""
    fig = new_figure()
    ax = fig.subplots()
    errors = runs.local_prediction - runs.prediction
    ax.hist(errors, bins=20, color=color.surrogate, alpha=0.55, ec=color.paper)
    top = ax.get_ylim()[1] * 1.12
    ax.axvline(0, color=color.xi, lw=2, ls=":")
    ax.axvline(predicted, color=color.truth, lw=2.4)
    arrow = {"arrowstyle": "<->", "color": color.truth, "lw": 2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (0, top * 0.93), (predicted, top * 0.93), arrowprops=arrow)
    ax.set(xlim=(min(errors.min(), 0) - 0.3, errors.max() + 0.3), ylim=(0, top))
    ax.set(xlabel="error of the surrogate at ξ", ylabel="explanations")
    return fig
