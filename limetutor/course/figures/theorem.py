"""Chapter *theorem*: what LIME's coefficients are, for any model and for a linear one."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Boxes
from ...core.theory import limit
from ...core.tilted_law import gaussian_tilt
from ...inputs.lime_defaults import KERNEL_WIDTH_FACTOR
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.results import boxplots, by_sign
from ...plotting.style import color, styled
from ...results.limit import Limit
from ..experiments import Runs, patient_13
from . import parts
from .parts import signed

# --- patient 13 ------------------------------------------------------------------------------

BMI = 2  # its column
RANGE = (18.0, 42.2)  # the least and the largest bmi of the table

patient: Any = cache(patient_13)  # fitted once


@cache
def cut(p: int) -> Empirical:
    """The world in which `lime` draws: quantile boxes of the diabetes table, p for each feature."""
    return Empirical(patient().X, p=p)


def limit_at(xi: np.ndarray, p: int, factor: float = KERNEL_WIDTH_FACTOR) -> Limit:
    """The forest explained as `lime` does it, without chance and without its ridge penalty."""
    return limit(patient().model, xi, cut(p), factor * np.sqrt(len(xi)), "mismatch")


def inside_and_outside(li: Limit, j: int) -> tuple[float, float]:
    """Ẽ[f | z_j=1] and Ẽ[f | z_j=0], from a limit: their weighted mean is Ẽ[f], their difference β_j."""
    mean, alpha, beta = li.intercept + li.alpha @ li.coef, li.alpha[j], li.coef[j]
    return float(mean + (1 - alpha) * beta), float(mean - alpha * beta)


class Contrast(NamedTuple):
    """What `lime` compares when it explains bmi: ends of the boxes, and the forest's mean in each."""

    edges: np.ndarray
    means: np.ndarray
    box: int
    inside: float
    outside: float


@cache
def contrast_of_bmi(p: int) -> Contrast:
    """The mean prediction in every box of bmi, in that of patient 13 and in all others together."""
    xi, boxes = patient().xi, cut(p).boxes()
    edges = np.array([RANGE[0], *_inner(boxes), RANGE[1]])
    means = []
    for middle in (edges[1:] + edges[:-1]) / 2:  # the other features keep their law
        elsewhere = xi.copy()
        elsewhere[BMI] = middle
        means.append(inside_and_outside(limit_at(elsewhere, p), BMI)[0])
    box = int(boxes.discretize(xi[None])[0, BMI])
    return Contrast(edges, np.array(means), box, *inside_and_outside(limit_at(xi, p), BMI))


def _inner(boxes: Boxes) -> np.ndarray:
    return boxes.edges[BMI][np.isfinite(boxes.edges[BMI])]


LINES: dict[str, dict[str, Any]] = {
    "forest, patient 13": {"color": color.ink, "lw": 1.6},
    "mean in each box": {"color": color.sample, "lw": 2.4},
    "mean inside, outside": {"color": color.surrogate, "lw": 3.4},
}
FOREST, EACH_BOX, LEVELS = LINES.values()


def _bmi_axes(fig: Figure) -> Axes:
    ax = fig.subplots()
    model, xi, _ = patient()
    bmi = np.linspace(*RANGE, 122)
    ax.plot(bmi, model.predict(np.where(np.arange(len(xi)) == BMI, bmi[:, None], xi)), **FOREST)
    ax.axvline(xi[BMI], color=color.xi, lw=1.6, ls=":")
    ax.set(xlim=RANGE, ylim=(60, 265), yticks=[100, 150, 200, 250])
    ax.set(xlabel="bmi", ylabel="prediction")
    parts.key(ax, LINES, loc="lower right", borderaxespad=1)
    return ax


def _box_means(ax: Axes, p: int) -> None:
    """Each box's mean, the box of patient 13, the two levels that are compared and their distance."""
    edges, means, box, inside, outside = contrast_of_bmi(p)
    lo, hi = edges[box : box + 2]
    ax.axvspan(lo, hi, color=color.box, alpha=0.16, lw=0)
    ax.plot(*_levels(edges, means), **EACH_BOX)
    ax.plot(*_levels(np.array([RANGE[0], lo, hi, RANGE[1]]), [outside, inside, outside]), **LEVELS)
    (hue,) = by_sign(np.array([inside - outside]))
    ax.plot(2 * [patient().xi[BMI]], [outside, inside], color=hue, lw=6, solid_capstyle="butt")


def _levels(edges: np.ndarray, heights: Sequence[float] | np.ndarray) -> parts.Curve:
    """A height over each interval, as one path with gaps."""
    ends = np.stack([edges[:-1], edges[1:]], axis=1)
    return parts.by_box(ends, np.repeat(heights, 2))


@in_layers(_bmi_axes, _box_means)
def another_box(p: int) -> str:
    """The forest's mean in each box of bmi: that of patient 13 against all others, for p boxes."""
    edges, _, box, inside, outside = contrast_of_bmi(p)
    lo, hi = edges[box : box + 2]
    where = f"{lo:.1f} < bmi ≤ {hi:.1f}" if box < p - 1 else f"bmi > {lo:.1f}"
    return (
        f"With {p} boxes, the mean prediction is {inside:.2f} where {where} and {outside:.2f} "
        f"elsewhere: a contrast of {signed(inside - outside, 1, plus=True)}."
    )


# --- a linear model --------------------------------------------------------------------------

EQUAL = np.inf  # the bandwidth at which all samples of a feature count alike
WIDE = 1e6  # where the closed form is as good as there


def factor(xi: np.ndarray, nu: float, p: int) -> np.ndarray:
    """−θ/(α(1−α)) for N(0, 1) cut into p boxes, at each ξ; nu=inf for the weights of `lime`.

    `lime` weights all samples in the box alike, and all outside it: the two means of x do not
    depend on the ratio of the two weights.
    """
    ends = np.array([parts.box_of(x, p) for x in np.atleast_1d(xi)])
    return gaussian_tilt(xi, min(nu, WIDE), 0, 1, ends[:, 0], ends[:, 1]).gap


def factor_curve(fig: Figure, nu: float, p: int) -> str:
    """The factor between slope and coefficient, at every position of ξ; nu=inf: lime's weights."""
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    for xi, lo, hi in parts.inside_boxes(p, reach=2.5, count=1 + 160 // p):
        ax.plot(xi, gaussian_tilt(xi, min(nu, WIDE), 0, 1, lo, hi).gap, color=color.truth)
    parts.draw_edges(ax, p)
    ours = np.array([0.961, 0.432])
    values = factor(ours, nu, p)
    ax.plot(ours, values, "D", color=color.xi, ms=8)
    ax.set(xlim=(-2.5, 2.5), ylim=(-2.4, 2.4), xlabel="position of ξ", ylabel="factor β / a")
    ratio = np.abs(values).max() / np.abs(values).min()
    apart = (
        f", one {ratio:.1f} times the other"
        if ratio < 100
        else ", one more than 100 times the other"
    )
    sizes = " and the same size" if ratio < 1.0005 else apart
    signs = "the same sign" if values.prod() > 0 else "opposite signs"
    weights = f"With ν = {nu:.2f}" if nu < EQUAL else "With lime's weights"
    first, second = (signed(value, 3, plus=True) for value in values)
    return (
        f"{weights} and p = {p} boxes, the factor is {first} at ξ = 0.961 and {second} at "
        f"ξ = 0.432: equal slopes get coefficients of {signs}{sizes}."
    )


@styled
def simple_f(runs: Runs, theory: np.ndarray) -> Figure:
    """Boxplots of repeated coefficients with the theory as crosses (paper: Figure 4)."""
    fig, ax = parts.panel()
    boxplots(ax, runs.coef, theory)
    return fig
