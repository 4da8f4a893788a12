"""Chapter *local error*: the surrogate is wrong at the point it explains."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plotting.style import color, new_figure, styled
from ...theory import gaussian_tilt
from ...worlds import standard_quantiles
from ..experiments import Runs
from .switch_off import NU, box_of


def landing(fig: Figure, nu: float, xi: float) -> str:
    """Left: where the surrogate of f(x) = x takes ξ to be. Right: its error against ν."""
    lo, hi = box_of(xi)
    now = gaussian_tilt(xi, nu, 0, 1, lo, hi)
    left, right = fig.subplots(1, 2, width_ratios=(1.15, 1), gridspec_kw={"wspace": 0.42})
    _draw_landing(left, xi, lo, hi, nu)
    right.axhline(0, color=color.muted, lw=1)
    right.plot(NU, gaussian_tilt(xi, NU, 0, 1, lo, hi).inside, color=color.truth)
    right.plot(nu, now.inside, "o", color=color.truth, ms=9)
    right.set_xscale("log")
    right.set_xticks([0.1, 0.3, 1, 3], ["0.1", "0.3", "1", "3"])
    right.minorticks_off()
    right.set(xlim=(0.09, 3.3), ylim=(-1.2, 0.8), xlabel="bandwidth ν", ylabel="error at ξ")
    return (
        f"At ν = {nu:.2f} the surrogate answers as if ξ were at {xi + now.inside:.2f} "
        f"instead of {xi:.2f}: an error of {now.inside:+.2f}."
    )


def _draw_landing(ax: Axes, xi: float, lo: float, hi: float, nu: float) -> None:
    now = gaussian_tilt(xi, nu, 0, 1, lo, hi)
    mean, sd = float(now.mu_tilde), float(now.sigma_tilde)
    x, box = np.linspace(-3, 3, 97), np.linspace(max(lo, -3), min(hi, 3), 60)
    for edge in standard_quantiles(4)[1:-1]:
        ax.axvline(edge, color=color.box, lw=1)
    ax.plot(x, np.exp(-((x - mean) ** 2) / (2 * sd**2)), color=color.sample, lw=1.4)
    height = np.exp(-((box - mean) ** 2) / (2 * sd**2))
    ax.fill_between(box, 0, height, color=color.sample, alpha=0.3, lw=0)
    landed = xi + float(now.inside)
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
    q = standard_quantiles(4)
    for k in range(4):
        ends = np.clip(q[k : k + 2], -2.5, 2.5)
        xi = np.linspace(ends[0], ends[1], 40)
        error = gaussian_tilt(xi, nu, 0, 1, q[k], q[k + 1]).inside
        zeros += int(np.any(np.diff(np.sign(error)) != 0))
        ax.plot(xi, error, color=color.truth)
    for edge in q[1:-1]:
        ax.axvline(edge, color=color.box, lw=1)
    ax.set(xlim=(-2.5, 2.5), ylim=(-1.4, 1.4), xlabel="position of ξ", ylabel="error at ξ")
    jump = _jump_at_edge(nu)
    return (
        f"At ν = {nu:.2f} the error passes through zero in {zeros} of the 4 boxes "
        f"and jumps by {jump:.2f} where ξ crosses the edge at 0.67."
    )


def _jump_at_edge(nu: float) -> float:
    q = standard_quantiles(4)
    below, above = (gaussian_tilt(q[3], nu, 0, 1, q[k], q[k + 1]).inside for k in (2, 3))
    return float(above - below)


@styled
def histogram(runs: Runs, predicted: float) -> Figure:
    """Errors of repeated explanations and the value the theory gives (paper: error_local_model)."""
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
