"""Chapter *local error*: the surrogate differs from the model at the point it explains."""

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.tilted_law import gaussian_tilt
from ...interactive.layers import in_layers
from ...plotting.handles import handle
from ...plotting.style import color, styled
from ..experiments import Runs
from . import parts
from .parts import signed
from .theorem import limit_at, patient

# --- patient 13 ------------------------------------------------------------------------------

COUNTS = tuple(range(2, 13))  # boxes for each feature
NU = np.geomspace(0.1, 3, 80)
INSIDE = 0.03  # times the root of d: so narrow a kernel that only samples in all boxes of ξ count


@cache
def answers(p: int) -> tuple[float, float]:
    """What the surrogate says about patient 13, and the forest's mean over their ten boxes."""
    xi = patient().xi
    return float(limit_at(xi, p).local_prediction), float(limit_at(xi, p, INSIDE).local_prediction)


@styled
def patient_by_boxes() -> Figure:
    """The forest's prediction for patient 13, the surrogate's, and the mean over their boxes."""
    fig, ax = parts.panel()
    surrogate, together = np.array([answers(p) for p in COUNTS]).T
    f = limit_at(patient().xi, 4).prediction
    ax.vlines(COUNTS, f, surrogate, color=color.alarm, lw=2.6)
    ax.axhline(f, color=color.ink, lw=1.6)
    ax.plot(COUNTS, surrogate, "o", color=color.surrogate, ms=8)
    style = {"mfc": color.paper, "mew": 2, "ms": 8}
    ax.plot(COUNTS, together, "s", color=color.sample, **style)
    # beside the first error, which is the largest
    parts.named(ax, 2.25, together[0], "mean in all ten boxes", color.sample)
    parts.named(ax, 2.25, surrogate[0], "surrogate", color.surrogate)
    parts.named(ax, 2.25, (f + surrogate[0]) / 2, "local error", color.alarm)
    parts.named(ax, 12.4, f + 4, "forest", color.ink, ha="right")
    ax.set(xlim=(1.5, 12.5), ylim=(145, 225), xticks=COUNTS)
    ax.set(xlabel="number of boxes", ylabel="prediction")
    return fig


# --- one feature -----------------------------------------------------------------------------


def _law_and_error(fig: Figure) -> tuple[Axes, Axes]:
    """Above, laws over the boxes of N(0, 1); below, the error against the bandwidth."""
    top, below = parts.stacked(fig)
    parts.draw_edges(top)
    top.set(xlim=(-3, 3), ylim=(0, 1.12), yticks=[], xlabel="x")
    below.axhline(0, color=color.muted, lw=1)
    parts.bandwidth_axis(below)
    below.set(ylim=(-1.2, 0.8), yticks=[-1, -0.5, 0, 0.5], ylabel="error at ξ")
    return top, below


def _landed(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    """The tilted law, its part in the box of ξ, and the mean of that part; the error there."""
    top, below = axes
    box = parts.box_of(xi)
    law = gaussian_tilt(xi, nu, 0, 1, *box)
    mean, sd, landed = (float(v) for v in (law.mu_tilde, law.sigma_tilde, xi + law.inside))
    curve = parts.bell_around(mean, sd, 3.1)
    top.plot(*curve, color=color.sample, lw=1.4)
    (area,) = top.fill(*curve, color=color.sample, alpha=0.3, lw=0)
    parts.cut(top, area, max(box[0], -3), min(box[1], 3))
    top.plot([landed, landed], [0, 1.0], color=color.truth, lw=2)
    top.plot(landed, 0.03, "X", color=color.truth, ms=9)
    (dot,) = below.plot(nu, law.inside, "o", color=color.truth, ms=9)
    handle(dot, "nu")


def _instance(axes: tuple[Axes, Axes], xi: float) -> None:
    axes[0].plot([xi, xi], [0, 1.0], color=color.xi, lw=2, ls=":")
    parts.instance(axes[0], xi)


@in_layers(
    _law_and_error,
    lambda axes, xi: axes[1].plot(NU, parts.tilt_at(xi, NU).inside, color=color.truth),
    _landed,
    _instance,
)
def landing(nu: float, xi: float) -> str:
    """Above: where the surrogate of f(x) = x takes ξ to be. Below: its error against ν."""
    error = float(parts.tilt_at(xi, nu).inside)
    return (
        f"At ν = {nu:.2f}, the surrogate answers as if ξ were at {signed(xi + error, 3)} "
        f"instead of {signed(xi, 3)}: an error of {signed(error, plus=True)}."
    )


def _teeth_axes(fig: Figure) -> Axes:
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    parts.draw_edges(ax)
    ax.set(xlim=(-2.5, 2.5), ylim=(-1.4, 1.4), xlabel="position of ξ", ylabel="error at ξ")
    # short enough to stand clear of the edges
    ax.text(2.45, 1.3, "answer too high", ha="right", va="top", color=color.muted)
    ax.text(-2.45, -1.3, "answer too low", va="bottom", color=color.muted)
    return ax


def _teeth(ax: Axes, nu: float) -> None:
    """The error in every box, filled; the jump at each edge."""
    ends = []
    for xi, lo, hi in parts.inside_boxes(4, reach=2.5, count=40):
        error = gaussian_tilt(xi, nu, 0, 1, lo, hi).inside
        ax.fill_between(xi, 0, error, color=color.truth, alpha=0.22, lw=0)
        ax.plot(xi, error, color=color.truth)
        ends.append(error[[0, -1]])
    jumps = [[before[1], after[0]] for before, after in pairwise(ends)]
    for edge, jump in zip(parts.inner_edges(), jumps, strict=True):
        ax.plot([edge, edge], jump, color=color.box, lw=4, solid_capstyle="butt")


def _on_the_teeth(ax: Axes, nu: float, xi: float) -> None:
    error = float(parts.tilt_at(xi, nu).inside)
    ax.plot([xi, xi], [0, error], color=color.alarm, lw=4, solid_capstyle="butt")
    parts.instance(ax, xi, 0, ms=9)


@in_layers(_teeth_axes, _teeth, _on_the_teeth)
def across_the_boxes(nu: float, xi: float) -> str:
    """The error of f(x) = x for every position of ξ, and at one of them, at one bandwidth."""
    edge = int(np.argmin(np.abs(parts.inner_edges() - xi)))
    below, above = (error_at_edge(nu, edge, box) for box in (edge, edge + 1))
    error = float(parts.tilt_at(xi, nu).inside)
    return (
        f"At ν = {nu:.2f}, the error at ξ = {signed(xi)} is {signed(error)}. It jumps by "
        f"{above - below:.2f} where ξ crosses the nearest edge, at {signed(parts.inner_edges()[edge])}."
    )


def error_at_edge(nu: float, edge: int, box: int) -> float:
    """The error at an edge, as the end of one of the two boxes it separates."""
    ends = parts.standard_boxes().ends(0, box)
    return float(gaussian_tilt(parts.inner_edges()[edge], nu, 0, 1, *ends).inside)


@styled
def histogram(runs: Runs, predicted: float) -> Figure:
    """Errors of repeated explanations and the value the theory gives (paper, Figure 8)."""
    fig, ax = parts.panel()
    errors = runs.local_prediction - runs.prediction
    ax.hist(errors, bins=20, color=color.surrogate, alpha=0.55, ec=color.paper)
    top = ax.get_ylim()[1] * 1.12
    ax.axvline(0, color=color.ink, lw=2, ls=":")
    ax.axvline(predicted, color=color.truth, lw=2.4)
    arrow = {"arrowstyle": "<->", "color": color.truth, "lw": 2, "shrinkA": 0, "shrinkB": 0}
    parts.named(ax, predicted / 2, top * 0.86, "predicted", color.truth, ha="center")
    ax.annotate("", (0, top * 0.93), (predicted, top * 0.93), arrowprops=arrow)
    ax.set(xlim=(min(errors.min(), 0) - 0.3, errors.max() + 0.3), ylim=(0, top))
    ax.set(xlabel="error of the surrogate at ξ", ylabel="explanations")
    return fig
