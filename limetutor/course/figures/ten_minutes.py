"""Chapter *LIME in ten minutes*: runs that differ, and a box compared with the rest."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...interactive.controls import Slider
from ...interactive.layers import in_layers
from ...plotting.style import color, plain
from . import parts
from .parts import beside_slope, signed

REACH = 2.5  # half the width of the picture of a contrast
XI = Slider(-2, 2, 1.2, stops=41, fmt="{:.1f}", label="position of ξ")
WIDE = 1e9  # a bandwidth at which all samples count alike


def run_again(
    fig: Figure,
    run: int,
    n: int,
    runs: Mapping[int, np.ndarray],
    names: Sequence[str],
    limit: float,
) -> str:
    """Left: one run among all of them. Right: how often a feature was among the three largest.

    ``runs`` maps each number of samples to the coefficients of all runs, (runs, d).
    """
    chosen = runs[n]
    order = np.argsort(np.abs(runs[max(runs)].mean(axis=0)))
    rows, coef, everyone = np.arange(len(order)), chosen[run - 1, order], chosen[:, order]
    fig.subplots_adjust(left=0.1, bottom=0.15)
    grid = {"wspace": 0.1, "width_ratios": (1.9, 1)}
    left, right = fig.subplots(1, 2, sharey=True, gridspec_kw=grid)
    left.axvline(0, color=color.muted, lw=1)
    low, high = (np.tile(rows + side, len(everyone)) for side in (-0.3, 0.3))
    left.plot(*parts.lines(everyone.ravel(), low, high), color=color.surrogate, lw=1, alpha=0.45)
    left.plot(coef, rows, "o", color=color.surrogate, ms=8, mec=color.paper)
    left.set_yticks(rows, [plain(names[j]) for j in order])
    left.set(xlim=(-limit, limit), ylim=(-0.6, len(order) - 0.4), xlabel="coefficient")
    first = top_three(chosen)
    times, total = (tally(first[:k], len(order))[order] for k in (run, len(first)))
    right.barh(rows, total, color="none", edgecolor=color.muted, lw=1, height=0.62)
    right.barh(rows, times, color=color.surrogate, height=0.62)
    right.set(xlim=(0, len(first) * 1.03), xlabel="runs in the top three")
    right.tick_params(axis="y", length=0)
    top = [names[j] for j in first[run - 1]]
    sentence = f"Run {run} with n = {n}: the three largest are {top[0]}, {top[1]} and {top[2]}."
    if run == 1:
        return sentence
    kinds = len({tuple(three) for three in first[:run]})
    threes = "the same top three" if kinds == 1 else f"{kinds} different top threes"
    return f"{sentence} The first {run} runs had {threes}."


def top_three(coef: np.ndarray) -> np.ndarray:
    """The positions of the three largest coefficients of each run, the largest first, (runs, 3)."""
    return np.argsort(-np.abs(coef), axis=1)[:, :3]


def tally(first: np.ndarray, d: int) -> np.ndarray:
    """How many runs have each feature among their first, (d,)."""
    return np.bincount(first.ravel(), minlength=d)


def _line(fig: Figure) -> Axes:
    ax = fig.subplots()
    parts.draw_edges(ax)
    ax.plot([-REACH, REACH], [-REACH, REACH], color=color.ink, lw=1.6)
    ax.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), xlabel="x", ylabel="f(x)")
    parts.named(ax, 1.95, 2.25, "f(x) = x", color.ink, ha="right")
    parts.named(ax, 1.3, -1.8, "samples", color.sample)
    return ax


def _means(ax: Axes, xi: float) -> None:
    """The law of the samples, and the mean of f in the box of ξ and outside."""
    tilt = parts.tilt_at(xi, WIDE)
    x = np.linspace(-REACH, REACH, 81)
    law = 0.9 * parts.bell(x, float(tilt.mu_tilde), float(tilt.sigma_tilde)) - REACH
    ax.fill_between(x, -REACH, law, color=color.sample, alpha=0.35, lw=0)
    inside = float(xi + tilt.inside)
    means = parts.plateau(parts.box_of(xi), inside, inside - float(tilt.gap), REACH)
    ax.plot(*means, color=color.surrogate, lw=2.6)
    side = "left" if xi > parts.inner_edges()[0] else "right"  # where the box is not
    at, outside = -0.97 * REACH if side == "left" else 0.97 * REACH, inside - float(tilt.gap)
    parts.named(ax, at, outside + 0.22, "mean of f", color.surrogate, ha=side)


@in_layers(
    _line,
    lambda ax, xi: parts.shade(ax, parts.box_of(xi), REACH),
    _means,
    lambda ax, xi: parts.instance(ax, xi, xi),
)
def box_against_rest(xi: float) -> str:
    """f(x) = x, the law of the samples, and the mean of f inside and outside the box of ξ.

    With the weights of `lime` the two means are those of the samples as they were drawn, at any width.
    """
    tilt = parts.tilt_at(xi, WIDE)
    inside, step = float(xi + tilt.inside), float(tilt.gap)
    return (
        f"The mean of f is {signed(inside, plus=True)} in the box of ξ = {signed(xi, 1)} and "
        f"{signed(inside - step, plus=True)} elsewhere: a difference of {signed(step, plus=True)}, "
        f"which {beside_slope(step)}."
    )
