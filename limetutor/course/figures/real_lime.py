"""Chapter *the real lime*: what the package returns, predicted."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...auditing.findings import few
from ...bandwidth.roots import gaps
from ...core.boxes import Gaussian
from ...core.models import Linear
from ...core.problem import Problem
from ...core.theory import limit_of
from ...inputs.lime_defaults import NUM_SAMPLES, RIDGE
from ...lime.read_explainer import LimeWorld
from ...plotting.results import boxplots, by_sign
from ...plotting.style import color, new_figure, plain, styled
from ...results.limit import Limit
from .parts import box_index, box_of, inner_edges, log_axes, named, shade, signed, stacked

XI = 0.1  # the instance among the boxes
WIDTHS = np.geomspace(0.3, 10, 60)


@styled
def predicted(runs: Mapping[str, np.ndarray], limits: Mapping[str, Limit]) -> Figure:
    """Boxplots of real `lime` runs, one panel per model, with the predicted crosses."""
    fig = new_figure((6.4, 5.4))
    fig.subplots_adjust(hspace=0.3, bottom=0.11, top=0.94)
    axes = fig.subplots(len(runs), 1, sharex=True)
    for ax, (name, coefs) in zip(axes, runs.items(), strict=True):
        boxplots(ax, coefs, limits[name].coef, limits[name].names, color.lime)
        ax.set_title(name, loc="left")
        ax.set_xlabel("")
    axes[-1].set_xlabel("feature")
    return fig


def at_width(model: Any, xi: np.ndarray, world: Any, width: float) -> Limit:
    """What `lime` tends to with that kernel width, ridge and the row of ξ included.

    Without the warning of :func:`limit` that the row of ξ decides: the figures show it.
    """
    kernel = "mismatch"  # lime's own: without boxes, the distance in scaled units
    problem = Problem.of(model, xi, world, width, kernel, purpose="its limit", boxes_needed=False)
    return limit_of(problem, ridge=RIDGE, n=NUM_SAMPLES)


def width_slider(
    fig: Figure,
    width: float,
    model: str,
    models: Mapping[str, Any],
    xi: np.ndarray,
    world: LimeWorld,
) -> str:
    """Above: coefficients at one kernel width. Below: what ridge leaves, and ξ's own row's share."""
    at = at_width(models[model], xi, world, width)
    top, below = stacked(fig, (1.6, 1), left=0.1)
    order = np.argsort(np.abs(at_width(models[model], xi, world, world.nu).coef))
    rows, coef = np.arange(len(order)), at.coef[order]
    top.axvline(0, color=color.muted, lw=1)
    top.barh(rows, coef, color=by_sign(coef), height=0.62)
    top.plot(at.surrogate.beta[order], rows, "|", color=color.ink, ms=13, mew=2.2)
    top.set_yticks(rows, [plain(at.names[j]) for j in order])
    top.set(xlim=(-60, 80), xticks=[-50, 0, 50], ylim=(-0.7, 9.7), xlabel="coefficient")
    left_by_ridge, xi_share = _shares(world, tuple(xi.tolist()))
    below.plot(WIDTHS, left_by_ridge, color=color.surrogate)
    below.plot(WIDTHS, xi_share, color=color.xi, ls="--")
    weight = 1 / (1 + at.rows.weight)
    for share, hue in ((np.median(at.shrinkage), color.surrogate), (weight, color.xi)):
        below.plot(width, share, "o", color=hue, ms=9, clip_on=False)
    below.axvline(world.nu, color=color.muted, lw=1, ls=":")
    named(below, 2.6, 0.84, "left by ridge", color.surrogate)
    named(below, 2.6, 0.16, "ξ’s own row", color.xi)
    log_axes(below, x=[0.3, 1, 3, 10])
    below.set(xlim=(0.28, 10.6), ylim=(0, 1.05), yticks=[0, 0.5, 1])
    below.set(xlabel="kernel width ν", ylabel="share")
    changed = [at.names[j] for j in range(len(xi)) if at.coef[j] * at.surrogate.beta[j] < 0]
    signs = f"the sign has changed for {few(changed)}" if changed else "no sign has changed"
    largest = int(np.argmax(np.abs(at.coef)))
    return (
        f"At width {width:.2f}, the total weight of the samples is {short(at.rows.weight)}, that of ξ's "
        f"own row 1. Ridge leaves {np.median(at.shrinkage):.0%} of a coefficient. Compared with the "
        f"limit, {signs}; the {model}'s largest coefficient is that of "
        f"{at.names[largest]}, {signed(at.coef[largest], 1)}."
    )


def short(weight: float) -> str:
    """A weight in few digits."""
    return f"{weight:,.0f}" if weight >= 10 else f"{weight:.2g}"


@cache
def _shares(world: LimeWorld, xi: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """At every width: the median of what ridge leaves, and the share of ξ's own row in the weight."""
    any_model = Linear(np.ones(len(xi)))
    corrections = [at_width(any_model, np.array(xi), world, nu).rows for nu in WIDTHS]
    left = [np.median(rows.shrinkage) for rows in corrections]
    return np.array(left), np.array([1 / (1 + rows.weight) for rows in corrections])


def coefficient_by_position(p: int, xi: np.ndarray) -> np.ndarray:
    """The coefficient of f(x) = x for each ξ under lime's kernel, N(0, 1) cut into p boxes."""
    return gaps(Gaussian(p=p), np.asarray(xi, float)[:, None], 1.0, "mismatch")[:, 0]


def boxes_decide(fig: Figure, p: int, xi: float = XI) -> str:
    """The coefficient of f(x) = x against the position of ξ: one step for each box."""
    ax = fig.subplots()
    ends = np.concatenate([[-2.6], inner_edges(p), [2.6]])
    heights = coefficient_by_position(p, (ends[1:] + ends[:-1]) / 2)
    xi_box = box_index(xi, p)
    now = float(coefficient_by_position(p, np.array([xi]))[0])
    shade(ax, box_of(xi, p), 2.6)
    ax.axhline(0, color=color.muted, lw=1)
    ax.plot([-2.6, 2.6], [-2.6, 2.6], color=color.muted, lw=1, ls=":")
    named(ax, 2.05, 2.35, "β = ξ", color.muted, ha="right")
    ax.plot(np.repeat(ends, 2)[1:-1], np.repeat(heights, 2), color=color.truth)
    ax.plot(xi, now, "o", color=color.xi, ms=9)
    ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), yticks=[-2, 0, 2])
    ax.set(xlabel="position of ξ", ylabel="coefficient β")
    middle = p % 2 == 1 and xi_box == p // 2
    says = "0 at every kernel width: the middle box hides the feature" if middle else f"{now:.2f}"
    return (
        f"With p = {p} boxes, ξ = {xi:g} lies in box {xi_box + 1}, and its coefficient is {says}."
    )


def hidden_share(world: Any, X: np.ndarray, below: float = 0.1) -> float:
    """Share of (instance, feature) pairs whose gap is under a tenth of a standard deviation."""
    sigma = world.boxes(X.shape[1]).sigma
    return float(np.mean(np.abs(gaps(world, X, 1.0, "mismatch")) < below * sigma))
