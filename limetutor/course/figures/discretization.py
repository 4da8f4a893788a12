"""Chapter *discretization*: quantile boxes, read off data or computed, and what an edge does."""

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Boxes, Gaussian
from ...core.tilted_law import gaussian_tilt
from ...inputs.columns import Number
from ...interactive.layers import in_layers
from ...lime.empirical import Empirical
from ...plotting.style import color, new_figure, styled
from ...precision.edge_errors import edge_stderr
from ..datasets import diabetes
from . import parts
from .parts import signed

BOX_NAMES = ("lowest", "second", "third", "highest")
NEAR_EDGE = 0.7  # the instance of the figure of convergence, a little above the third quartile


# --- boxes of a column -----------------------------------------------------------------------


@cache
def _bmi() -> np.ndarray:
    return diabetes().X["bmi"].to_numpy()


def _histogram(fig: Figure) -> Axes:
    ax = fig.subplots()
    counts, cuts = np.histogram(_bmi(), bins=np.arange(17, 44))
    ax.fill_between(*parts.steps(cuts, counts), color=color.muted, alpha=0.45, lw=0)
    ax.set(xlim=(17, 43), ylim=(0, 60), xlabel="body mass index", ylabel="patients")
    return ax


@cache
def _bmi_boxes(p: int) -> Boxes:
    return Empirical(_bmi()[:, None], p=p).boxes()


def _own_box(p: int, patient: float) -> int:
    return int(_bmi_boxes(p).discretize(np.array([[patient]]))[0, 0])


def _box_of_patient(ax: Axes, p: int, patient: float) -> None:
    lo, hi = np.clip(_bmi_boxes(p).ends(0, _own_box(p, patient)), 17, 43)
    ax.axvspan(lo, hi, color=color.box, alpha=0.2, lw=0)


@in_layers(
    _histogram,
    lambda ax, p: ax.plot(*parts.lines(_bmi_boxes(p).edges[0], 0, 60), color=color.box, lw=1.4),
    _box_of_patient,
    lambda ax, patient: parts.instance(ax, patient, 0, ms=10, control="patient"),
)
def body_mass(p: int, patient: float) -> str:
    """A histogram of the body mass index, its p quantile boxes, and the box of one patient."""
    values, boxes, k = _bmi(), _bmi_boxes(p), _own_box(p, patient)
    inside = int(np.sum(boxes.discretize(values[:, None]) == k))
    share = inside / len(values)
    return (
        f"With p = {p} boxes the patient with a body mass index of {patient:g} becomes box "
        f"{k + 1} of {len(boxes.edges[0]) + 1}, “{boxes.describe(0, k).replace('x1', 'bmi')}”, "
        f"together with {inside} of the {len(values)} patients ({share:.0%})."
    )


# --- quantiles_investigation -----------------------------------------------------------------


class QuantileSetting(NamedTuple):
    """The paper's figure quantiles_investigation: a training set and its edges in two ways."""

    X: np.ndarray  # (n_train, 2)
    empirical: np.ndarray  # (2, p - 1)
    theoretical: np.ndarray  # (p - 1,)
    stderr: np.ndarray  # (p - 1,)


def quantile_setting(n_train: int = 500, p: int = 4, seed: int = 5) -> QuantileSetting:
    """A training set from N(0, I) in two dimensions (mu, sigma and n_train as in the paper)."""
    X = np.random.default_rng(seed).standard_normal((n_train, 2))
    empirical = np.array(Empirical(X, p=p).boxes().edges)
    return QuantileSetting(X, empirical, parts.inner_edges(p), edge_stderr(p, n_train))


@styled
def quantiles_investigation(setting: QuantileSetting, xi: np.ndarray) -> Figure:
    """Training set, empirical (dashed) and theoretical quantiles (paper's figure); ξ magnified."""
    fig = new_figure((6.4, 3.5))
    fig.subplots_adjust(left=0.085, bottom=0.165, right=0.985)
    left, right = fig.subplots(1, 2, width_ratios=(1.12, 1), gridspec_kw={"wspace": 0.24})
    for ax in (left, right):
        ax.plot(*setting.X.T, "o", color=color.muted, ms=3.2, mew=0, alpha=0.55)
        for edges, dash in (([setting.theoretical] * 2, "-"), (setting.empirical, "--")):
            ax.plot(*parts.lines(edges[0], -3.2, 3.2), color=color.box, lw=1.6, ls=dash)
            ax.plot(*parts.lines(edges[1], -3.2, 3.2)[::-1], color=color.box, lw=1.6, ls=dash)
    left.plot(*xi, "o", color=color.xi, ms=5)
    left.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xlabel="x₁")
    left.set_ylabel("x₂", labelpad=-4)
    _magnify(right, setting, xi)
    corners = xi[:, None] + NEARBY * np.array([[-1, 1, 1, -1, -1], [-1, -1, 1, 1, -1]])
    left.plot(*corners, color=color.ink, lw=1.2)
    return fig


NEARBY = 0.15  # half the side of the square that is magnified


def _magnify(ax: Axes, setting: QuantileSetting, xi: np.ndarray) -> None:
    """The square around ξ, with the strip between the two kinds of edges."""
    edges = {"theoretical": setting.theoretical[2], "empirical": setting.empirical[0, 2]}
    low, high = sorted(edges.values())
    ax.axvspan(low, high, color=color.box, alpha=0.18, lw=0)
    ax.plot(*xi, "o", color=color.xi, ms=10)
    (x, y), gap = xi, 0.006
    for (name, edge), side in zip(
        sorted(edges.items(), key=lambda e: e[1]), ("right", "left"), strict=True
    ):
        at = edge + (gap if side == "left" else -gap)
        ax.text(
            at, y + 0.115, f"{name}\n{edge:.3f}", color=color.box, ha=side, va="center", size=11.5
        )
    ax.text(x, y - 0.02, "ξ", color=color.xi, ha="center", va="top", size=14)
    ax.set(xlim=(x - NEARBY, x + NEARBY), ylim=(y - NEARBY, y + NEARBY), xlabel="x₁, magnified")
    ax.set(xticks=[0.6, 0.7, 0.8], yticks=[])
    ax.spines[:].set(visible=True, color=color.ink, linewidth=1.2)


# --- convergence of an edge ------------------------------------------------------------------

TRAIN_SIZES = np.unique(np.geomspace(10, 10_000, 60).astype(int))
TRAINING_SETS = 40


@cache
def _training_values() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((10_000, TRAINING_SETS))


@cache
def third_edges(n: int) -> np.ndarray:
    """The third edge read off the first n values of each training set, (40,)."""
    return np.array([Number().cut(values, 4)[2] for values in _training_values()[:n].T])


def another_box(n: int) -> int:
    """How many of the training sets put ξ = 0.7, which is above the edge, below it."""
    return int(np.sum(third_edges(n) >= NEAR_EDGE))


def convergence(fig: Figure, n: int) -> str:
    """Left: errors of the third edge, read off n values of 40 sets. Right: how many misplace ξ."""
    true = float(parts.inner_edges()[2])
    error, ahead = third_edges(n) - true, NEAR_EDGE - true
    left, right = fig.subplots(1, 2, width_ratios=(1.25, 1), gridspec_kw={"wspace": 0.3})
    fig.subplots_adjust(left=0.03)
    reach = 2 * float(edge_stderr(4, n)[2])
    left.axvspan(-reach, reach, color=color.truth, alpha=0.16, lw=0)
    left.axvline(0, color=color.box, lw=2)
    rows, beyond = np.arange(TRAINING_SETS), third_edges(n) >= NEAR_EDGE
    for which, hue, mark in ((~beyond, color.box, "o"), (beyond, color.alarm, "X")):
        left.plot(error[which], rows[which], mark, color=hue, ms=5, mew=0)
    left.plot([ahead, ahead], [-4, TRAINING_SETS], color=color.xi, lw=1.4, ls=":")
    left.plot(ahead, -3, "o", color=color.xi, ms=8)
    left.set_xscale("symlog", linthresh=0.05)  # to show errors of all sizes, and ξ beside the edge
    left.set_xticks([-1, -0.1, 0, 0.1, 1], ["−1", "−0.1", "0", "0.1", "1"])
    left.minorticks_off()
    left.set(xlim=(-1.3, 1.3), ylim=(-5, TRAINING_SETS + 1), yticks=[])
    left.set(xlabel="error of the edge, 40 sets")
    left.spines["left"].set_visible(False)
    so_far = np.append(TRAIN_SIZES[n > TRAIN_SIZES], n)
    right.plot(so_far, [another_box(int(m)) for m in so_far], color=color.alarm, lw=1.8)
    right.plot(n, another_box(n), "X", color=color.alarm, ms=10)
    parts.log_axes(right, x={10: "10", 100: "100", 1000: "1000", 10_000: "10⁴"})
    right.set(xlim=(8, 13_000), ylim=(0, TRAINING_SETS), xlabel="training values n")
    right.set_ylabel("sets that misplace ξ", labelpad=2)
    near = int(np.sum(np.abs(error) < 0.1))
    return (
        f"Read off {n} values, the third edge is within 0.1 of the true one in {near} of the "
        f"{TRAINING_SETS} training sets (standard error {reach / 2:.3f}), and in {another_box(n)} "
        f"of them it lies beyond ξ = {NEAR_EDGE:g}, which then falls into another box."
    )


# --- an instance that crosses an edge --------------------------------------------------------


@cache
def _cloud() -> np.ndarray:
    return np.random.default_rng(7).standard_normal((160, 2))


def crossing(fig: Figure, xi: float, nu: float) -> str:
    """Left: which new examples share the box of ξ. Right: the coefficient of f(x) = x₁."""
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.38})
    _draw_cloud(left, xi)
    ones = int(np.sum(parts.boxes_of(_cloud()[:, 0]) == parts.box_index(xi)))
    places, gaps = coefficient_curve(nu)
    coef = float(parts.tilt_at(xi, nu).gap)
    parts.edge_lines(right, -1.8, 1.8)
    right.axhline(0, color=color.muted, lw=1)
    right.plot(places, gaps, color=color.truth)
    parts.instance(right, xi, coef, ms=9)
    right.set(xlim=(-2, 2), ylim=(-1.8, 1.8), xticks=[-2, -1, 0, 1, 2], xlabel="position ξ₁")
    right.set_ylabel("coefficient β₁", labelpad=0)
    return (
        f"ξ₁ = {signed(xi)} lies in the {BOX_NAMES[parts.box_index(xi)]} box: {ones} of the {len(_cloud())} new "
        f"examples have z₁ = 1, and at ν = {nu:g} the coefficient of f(x) = x₁ (slope 1) is {signed(coef)}."
    )


def coefficient_curve(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """The coefficient of f(x) = x against the position of ξ, with a gap at each edge."""
    pieces = parts.inside_boxes(4, reach=2, count=20)
    return parts.joined(
        [np.column_stack([x, gaussian_tilt(x, nu, 0, 1, *ends).gap]) for x, *ends in pieces]
    )


def _draw_cloud(ax: Axes, xi: float) -> None:
    """New examples, filled in the box of ξ."""
    parts.shade(ax, parts.box_of(xi), 3, alpha=0.16)
    parts.edge_lines(ax, -3, 3)
    x, y = _cloud().T
    parts.filled_in_box(ax, x, y, xi, others=color.muted, ms=4.5, mew=1)
    parts.instance(ax, xi, 0.3, ms=11)
    ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁")
    ax.set_ylabel("x₂", labelpad=-4)


# --- two worlds, one encoding ----------------------------------------------------------------


def agreement(xi: float, setting: QuantileSetting, n: int = 100_000, seed: int = 0) -> float:
    """Share of new examples whose z₁ is the same with both kinds of edges."""
    x = np.random.default_rng(seed).standard_normal((n, 2))
    row = np.array([[xi, 0.0]])
    worlds = (Gaussian(0, 1, p=4).boxes(2), Empirical(setting.X, p=4).boxes())
    z = [boxes.discretize(x)[:, 0] == boxes.discretize(row)[0, 0] for boxes in worlds]
    return float(np.mean(z[0] == z[1]))
