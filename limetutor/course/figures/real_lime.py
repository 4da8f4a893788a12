"""Chapter *the real lime*: what the package returns, predicted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...closed_forms import Limit, limit
from ...hiding import gaps
from ...lime_bridge import LimeWorld
from ...models import Linear
from ...plotting.results import boxplots, by_sign
from ...plotting.style import color, new_figure, plain, styled
from ...worlds import Gaussian
from .parts import box_of, boxes_of, inner_edges, log_axes, shade

WIDTHS = np.geomspace(0.3, 10, 60)


@styled
def predicted(runs: Mapping[str, np.ndarray], limits: Mapping[str, Limit]) -> Figure:
    """Boxplots of real `lime` runs, one panel a model, with the predicted crosses."""
    fig = new_figure((6.4, 5.4))
    fig.subplots_adjust(hspace=0.3, bottom=0.11, top=0.94)
    axes = fig.subplots(len(runs), 1, sharex=True)
    for ax, (name, found) in zip(axes, runs.items(), strict=True):
        boxplots(ax, found, limits[name].coef, limits[name].names, color.lime)
        ax.set_title(name, loc="left")
        ax.set_xlabel("")
    axes[-1].set_xlabel("feature")
    return fig


def at_width(model: Any, xi: np.ndarray, world: LimeWorld, width: float, n: int = 5000) -> Limit:
    """What `lime` tends to with that kernel width, ridge included."""
    return limit(model, xi, world, width, "mismatch", ridge=1.0, n=n)


def width_slider(
    fig: Figure,
    width: float,
    model: str,
    models: Mapping[str, Any],
    xi: np.ndarray,
    world: LimeWorld,
) -> str:
    """Left: coefficients at one kernel width. Right: what ridge leaves of them at every width."""
    at = at_width(models[model], xi, world, width)
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.3})
    fig.subplots_adjust(left=0.09)
    order = np.argsort(np.abs(at_width(models[model], xi, world, world.nu).coef))
    rows, coef = np.arange(len(order)), at.coef[order]
    left.axvline(0, color=color.muted, lw=1)
    left.barh(rows, coef, color=by_sign(coef), height=0.62)
    left.plot(at.surrogate.beta[order], rows, "|", color=color.ink, ms=13, mew=2.2)
    left.set_yticks(rows, [plain(at.names[j]) for j in order])
    left.set(xlim=(-60, 80), xticks=[-50, 0, 50], ylim=(-0.7, 9.7), xlabel="coefficient")
    shares = _shares(world, tuple(xi.tolist()))
    right.fill_between(
        WIDTHS, shares.min(1), shares.max(1), color=color.surrogate, alpha=0.35, lw=0
    )
    right.plot(WIDTHS, np.median(shares, axis=1), color=color.surrogate)
    right.plot(width, np.median(at.shrinkage), "o", color=color.surrogate, ms=9, clip_on=False)
    right.axvline(world.nu, color=color.muted, lw=1, ls=":")
    log_axes(right, x=[0.3, 1, 3, 10])
    right.set(xlim=(0.28, 10.6), ylim=(0, 1.05), yticks=[0, 0.5, 1])
    right.set(xlabel="kernel width ν", ylabel="left by ridge")
    low, high = at.shrinkage.min(), at.shrinkage.max()
    top = at.order()[0]
    return (
        f"At width {width:.2f} ridge leaves {low:.1%} to {high:.1%} of each coefficient; the "
        f"largest is {at.names[top]} with {at.coef[top]:.1f}, where a fit without ridge "
        f"has {at.surrogate.beta[top]:.1f}."
    )


@cache
def _shares(world: LimeWorld, xi: tuple[float, ...]) -> np.ndarray:
    """What ridge leaves of each coefficient at every width, (widths, d), whatever the model."""
    any_model = Linear(np.ones(len(xi)))
    return np.array([at_width(any_model, np.array(xi), world, nu).shrinkage for nu in WIDTHS])


def coefficient_by_position(p: int, xi: np.ndarray) -> np.ndarray:
    """The coefficient of f(x) = x for each ξ under lime's kernel, N(0, 1) cut into p boxes."""
    return gaps(Gaussian(p=p), np.asarray(xi, float)[:, None], 1.0, "mismatch")[:, 0]


def boxes_decide(fig: Figure, p: int, xi: float) -> str:
    """The coefficient of f(x) = x against the position of ξ: one step for each box."""
    ax = fig.subplots()
    ends = np.concatenate([[-2.6], inner_edges(p), [2.6]])
    heights = coefficient_by_position(p, (ends[1:] + ends[:-1]) / 2)
    own = int(boxes_of(np.array([xi]), p)[0])
    now = float(coefficient_by_position(p, np.array([xi]))[0])
    shade(ax, box_of(xi, p), 2.6)
    ax.axhline(0, color=color.muted, lw=1)
    ax.plot([-2.6, 2.6], [-2.6, 2.6], color=color.muted, lw=1, ls=":")
    ax.plot(np.repeat(ends, 2)[1:-1], np.repeat(heights, 2), color=color.truth)
    ax.plot(xi, now, "o", color=color.xi, ms=9)
    ax.set(xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), yticks=[-2, 0, 2])
    ax.set(xlabel="position of ξ", ylabel="coefficient β")
    middle = p % 2 == 1 and own == p // 2
    says = "0, for every bandwidth: the middle box is hidden" if middle else f"{now:.2f}"
    return f"With p = {p} boxes ξ = {xi:g} lies in box {own + 1}, and its coefficient is {says}."


def hidden_share(world: Any, X: np.ndarray, below: float = 0.1) -> float:
    """Share of (instance, feature) pairs whose gap is under a tenth of a standard deviation."""
    sigma = world.boxes(X.shape[1]).sigma
    return float(np.mean(np.abs(gaps(world, X, 1.0, "mismatch")) < below * sigma))
