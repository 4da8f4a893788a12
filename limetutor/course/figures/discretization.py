"""Chapter *discretization*: quantile boxes, read off data or computed, and what an edge does."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...interactive.layers import in_layers
from ...plotting.handles import handle
from ...plotting.style import color, new_figure, styled
from ...theory import gaussian_tilt
from ...worlds import Boxes, Empirical, Gaussian, edge_stderr
from ..datasets import diabetes
from .parts import (
    box_of,
    boxes_of,
    inner_edges,
    inside_boxes,
    instance,
    joined,
    lines,
    log_axes,
    shade,
    signed,
    steps,
)

BOX_NAMES = ("lowest", "second", "third", "highest")
NEAR_EDGE = 0.7  # the instance of the convergence figure, a little above the third quartile


# --- boxes of a column -----------------------------------------------------------------------


@cache
def _bmi() -> np.ndarray:
    return diabetes().X["bmi"].to_numpy()


def _histogram(fig: Figure) -> Axes:
    ax = fig.subplots()
    counts, cuts = np.histogram(_bmi(), bins=np.arange(17, 44))
    ax.fill_between(*steps(cuts, counts), color=color.muted, alpha=0.45, lw=0)
    ax.set(xlim=(17, 43), ylim=(0, 60), xlabel="body mass index", ylabel="patients")
    return ax


@cache
def _bmi_boxes(p: int) -> Boxes:
    return Empirical(_bmi()[:, None], p=p).boxes()


def _bmi_edges(ax: Axes, p: int) -> None:
    ax.plot(*lines(_bmi_boxes(p).edges[0], 0, 60), color=color.box, lw=1.4)


def _own_box(p: int, patient: float) -> int:
    return int(_bmi_boxes(p).discretize(np.array([[patient]]))[0, 0])


def _box_of_patient(ax: Axes, p: int, patient: float) -> None:
    lo, hi = np.clip(_bmi_boxes(p).ends(0, _own_box(p, patient)), 17, 43)
    ax.axvspan(lo, hi, color=color.box, alpha=0.2, lw=0)


def _patient(ax: Axes, patient: float) -> None:
    instance(ax, patient, 0, ms=10, control="patient")


@in_layers(_histogram, _bmi_edges, _box_of_patient, _patient)
def body_mass(p: int, patient: float) -> str:
    """A histogram of the body mass index, its p quantile boxes, and the box of one patient."""
    values, boxes, own = _bmi(), _bmi_boxes(p), _own_box(p, patient)
    inside = int(np.sum(boxes.discretize(values[:, None]) == own))
    share = inside / len(values)
    return (
        f"With p = {p} boxes the patient with a body mass index of {patient:g} becomes box "
        f"{own + 1} of {len(boxes.edges[0]) + 1}, “{boxes.describe(0, own).replace('x1', 'bmi')}”, "
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
    return QuantileSetting(X, empirical, inner_edges(p), edge_stderr(p, n_train))


@styled
def quantiles_investigation(setting: QuantileSetting, xi: np.ndarray) -> Figure:
    """The training set with empirical (dashed) and theoretical quantiles (paper's figure)."""
    fig = new_figure((5.2, 4.9))
    fig.subplots_adjust(bottom=0.13, left=0.14)
    ax = fig.subplots()
    ax.plot(*setting.X.T, "o", color=color.muted, ms=3.2, mew=0, alpha=0.55)
    for edge in setting.theoretical:
        ax.axvline(edge, color=color.box, lw=1.6)
        ax.axhline(edge, color=color.box, lw=1.6)
    for x, y in setting.empirical.T:
        ax.axvline(x, color=color.box, lw=1.6, ls="--")
        ax.axhline(y, color=color.box, lw=1.6, ls="--")
    ax.plot(*xi, "x", color=color.xi, ms=13, mew=3.5)
    ax.set(xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), xlabel="x₁", ylabel="x₂", aspect="equal")
    return fig


# --- convergence of an edge ------------------------------------------------------------------

TRAIN_SIZES = np.unique(np.geomspace(10, 10_000, 60).astype(int))


@cache
def _training_values(which: int) -> np.ndarray:
    return np.random.default_rng(which).standard_normal(10_000)


def _boxes_read_off(which: int, n: int) -> Boxes:
    return Empirical(_training_values(which)[:n, None], p=4).boxes()


@cache
def _third_edges(which: int) -> np.ndarray:
    return np.array([_boxes_read_off(which, n).edges[0][2] for n in TRAIN_SIZES])


def convergence(fig: Figure, n: int, which: int) -> str:
    """Left: n training values and both kinds of edges. Right: the third edge as n grows."""
    values = _training_values(which)[:n]
    true, boxes = inner_edges(), _boxes_read_off(which, n)
    read, row = boxes.edges[0], np.array([NEAR_EDGE])
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.42})
    counts, cuts = np.histogram(values, bins=np.linspace(-3, 3, 25))
    left.fill_between(
        *steps(cuts, counts / n / 0.25), color=color.muted, alpha=0.4, lw=0, clip_on=True
    )
    left.plot(*lines(true, 0, 0.72), color=color.box, lw=1.6)
    left.plot(*lines(read, 0, 0.72), color=color.box, lw=1.6, ls="--")
    left.plot(NEAR_EDGE, 0.02, "x", color=color.xi, ms=10, mew=3)
    left.set(xlim=(-3, 3), ylim=(0, 0.72), yticks=[], xlabel="x")

    funnel = 2 * np.array([edge_stderr(4, m)[2] for m in TRAIN_SIZES])
    right.fill_between(TRAIN_SIZES, -funnel, funnel, color=color.truth, alpha=0.18, lw=0)
    right.axhline(0, color=color.muted, lw=1)
    right.plot(TRAIN_SIZES, _third_edges(which) - true[2], color=color.surrogate, lw=1.6)
    right.plot(n, read[2] - true[2], "o", color=color.surrogate, ms=9)
    log_axes(right, x={10: "10", 100: "100", 1000: "1000", 10_000: "10⁴"})
    right.set(xlim=(8, 13_000), ylim=(-0.9, 0.9), xlabel="training values n")
    right.set_ylabel("error of the third edge", labelpad=0)
    same = boxes.discretize(row[:, None])[0, 0] == boxes_of(row)[0]
    return (
        f"Read off {n} values, the third edge is {read[2]:.3f} instead of {true[2]:.3f} (standard "
        f"error {edge_stderr(4, n)[2]:.3f}); ξ = {NEAR_EDGE:g} falls into "
        f"{'the same box' if same else 'another box'}."
    )


# --- an instance that crosses an edge --------------------------------------------------------


@cache
def _cloud() -> np.ndarray:
    return np.random.default_rng(7).standard_normal((160, 2))


def crossing(fig: Figure, xi: float, nu: float) -> str:
    """Left: which new examples share the box of ξ. Right: the coefficient of f(x) = x₁."""
    own = int(boxes_of(np.array([xi]))[0])
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.38})
    ones = _draw_cloud(left, xi, own)
    places, gaps = coefficient_curve(nu)
    now = float(gaussian_tilt(xi, nu, 0, 1, *box_of(xi)).gap)
    right.plot(*lines(inner_edges(), -1.8, 1.8), color=color.box, lw=1)
    right.axhline(0, color=color.muted, lw=1)
    right.plot(places, gaps, color=color.truth)
    instance(right, xi, now, ms=9)
    right.set(xlim=(-2, 2), ylim=(-1.8, 1.8), xticks=[-2, -1, 0, 1, 2], xlabel="position ξ₁")
    right.set_ylabel("coefficient β₁", labelpad=0)
    return (
        f"ξ₁ = {signed(xi)} lies in the {BOX_NAMES[own]} box: {ones} of the {len(_cloud())} new "
        f"examples have z₁ = 1, and at ν = {nu:g} the coefficient of f(x) = x₁ (slope 1) is {signed(now)}."
    )


def coefficient_curve(nu: float) -> tuple[np.ndarray, np.ndarray]:
    """The coefficient of f(x) = x against the position of ξ, with a gap at each edge."""
    pieces = inside_boxes(4, reach=2, count=20)
    return joined(
        [np.column_stack([x, gaussian_tilt(x, nu, 0, 1, *ends).gap]) for x, *ends in pieces]
    )


def _draw_cloud(ax: Axes, xi: float, own: int) -> int:
    """New examples, filled in the box of ξ; returns how many are there."""
    cloud = _cloud()
    box = boxes_of(cloud[:, 0])
    shade(ax, box_of(xi), 3, alpha=0.16)
    ax.plot(*lines(inner_edges(), -3, 3), color=color.box, lw=1)
    for k in range(4):
        filled = k == own
        ax.plot(
            *cloud[box == k].T,
            "o",
            ms=4.5,
            mec=color.sample if filled else color.muted,
            mfc=color.sample if filled else color.paper,
            mew=1,
        )
    (cross,) = ax.plot(xi, 0.3, "x", color=color.xi, ms=12, mew=3.5)
    handle(cross, "xi")
    ax.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x₁")
    ax.set_ylabel("x₂", labelpad=-4)
    return int(np.sum(box == own))


# --- two worlds, one encoding ----------------------------------------------------------------


def agreement(xi: float, setting: QuantileSetting, n: int = 100_000, seed: int = 0) -> float:
    """Share of new examples whose z₁ is the same with both kinds of edges."""
    x = np.random.default_rng(seed).standard_normal((n, 2))
    row = np.array([[xi, 0.0]])
    worlds = (Gaussian(0, 1, p=4).boxes(2), Empirical(setting.X, p=4).boxes())
    z = [boxes.discretize(x)[:, 0] == boxes.discretize(row)[0, 0] for boxes in worlds]
    return float(np.mean(z[0] == z[1]))
