"""Chapter *theorem*: what LIME's coefficients are, for any model and for a linear one."""

from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.tilted_law import gaussian_tilt
from ...interactive.layers import in_layers
from ...plotting.results import boxplots
from ...plotting.style import color, new_figure, styled
from ..experiments import Runs
from . import parts
from .parts import minus, signed


def wave(x: np.ndarray) -> np.ndarray:
    """The model of one feature that the chapter explains, sin(2x)."""
    return np.sin(2 * x)


def wave_slope(x: float) -> float:
    """Its derivative."""
    return float(2 * np.cos(2 * x))


X = np.linspace(-3, 3, 81)


@cache
def means_inside_and_outside(
    f: Callable[[np.ndarray], np.ndarray], xi: float, nu: float
) -> tuple[float, float]:
    """Ẽ[f | z=1] and Ẽ[f | z=0] for one N(0, 1) feature in four boxes, by quadrature."""
    lo, hi = parts.box_of(xi)
    law = gaussian_tilt(xi, nu, 0, 1, lo, hi)
    mean, sd = float(law.mu_tilde), float(law.sigma_tilde)
    ends = np.clip((np.array([-np.inf, lo, hi, np.inf]) - mean) / sd, -12, 12)
    nodes, weights = np.polynomial.legendre.leggauss(80)
    moments = []
    for a, b in pairwise(ends):
        t = (a + b) / 2 + (b - a) / 2 * nodes
        density = (b - a) / 2 * weights * np.exp(-(t**2) / 2)
        moments.append([density @ f(mean + sd * t), density.sum()])
    below, inside, above = np.array(moments)
    outside = below + above
    return float(inside[0] / inside[1]), float(outside[0] / outside[1])


LINES: dict[str, dict[str, Any]] = {
    "f": {"color": color.ink},
    "tangent at ξ": {"color": color.ink, "ls": "--"},
    "LIME's surrogate": {"color": color.surrogate, "lw": 2.6},
}


def _panels(fig: Figure) -> tuple[Axes, Axes]:
    fig.subplots_adjust(bottom=0.13, top=0.98, hspace=0.1)
    top, bottom = fig.subplots(2, 1, height_ratios=(3.4, 1), sharex=True)
    top.plot(X, wave(X), **LINES["f"])
    top.set(xlim=(-3, 3), ylim=(-1.5, 2.1), ylabel="f and its surrogate")
    parts.key(top, LINES, loc="upper left", ncols=3, columnspacing=1.2, handlelength=1.5)
    bottom.text(-2.9, 0.75, "tilted law", color=color.sample)
    bottom.set(ylim=(0, 1.15), yticks=[], xlabel="x")
    return top, bottom


def _box_and_tangent(axes: tuple[Axes, Axes], xi: float) -> None:
    for ax in axes:  # the ends of an outer box fall off the picture
        parts.shade(ax, parts.box_of(xi), 3.2, alpha=0.16)
    value, slope, reach = float(wave(np.asarray(xi))), wave_slope(xi), np.array([-0.5, 0.5])
    axes[0].plot(xi + reach, value + slope * reach, **LINES["tangent at ξ"])


def _step(axes: tuple[Axes, Axes], nu: float, xi: float) -> None:
    top, bottom = axes
    surrogate = parts.plateau(parts.box_of(xi), *means_inside_and_outside(wave, xi, nu), 3.2)
    top.plot(*surrogate, **LINES["LIME's surrogate"])
    law = parts.tilt_at(xi, nu)
    height = parts.bell(X, float(law.mu_tilde), float(law.sigma_tilde))
    bottom.fill_between(X, 0, height, color=color.sample, alpha=0.45, lw=0)


@in_layers(
    _panels,
    _box_and_tangent,
    _step,
    lambda axes, xi: parts.instance(axes[0], xi, float(wave(np.asarray(xi)))),
)
def step_and_tangent(nu: float, xi: float) -> str:
    """A curved f, its tangent at ξ, and LIME's surrogate, which is a step (β₀, β₀ + β₁)."""
    inside, outside = means_inside_and_outside(wave, xi, nu)
    beta, slope = inside - outside, wave_slope(xi)
    agree = "the two agree in sign" if beta * slope > 0 else "the two disagree in sign"
    return (
        f"At ν = {nu:.2f} the surrogate is {_signed(inside, 3)} inside the box and "
        f"{_signed(outside, 3)} outside, so β₁ = {_signed(beta)}; the slope of f at ξ = {minus(f'{xi:g}')} is "
        f"{_signed(slope)}: {agree}."
    )


_signed = partial(signed, plus=True)


def factor(xi: np.ndarray, nu: float, p: int) -> np.ndarray:
    """−θ/(α(1−α)) for N(0, 1) cut into p boxes, at each ξ."""
    ends = np.array([parts.box_of(x, p) for x in np.atleast_1d(xi)])
    return gaussian_tilt(xi, nu, 0, 1, ends[:, 0], ends[:, 1]).gap


def factor_curve(fig: Figure, nu: float, p: int) -> str:
    """The factor between slope and coefficient, at every position of ξ."""
    ax = fig.subplots()
    ax.axhline(0, color=color.muted, lw=1)
    for xi, lo, hi in parts.inside_boxes(p, reach=2.5, count=1 + 160 // p):
        ax.plot(xi, gaussian_tilt(xi, nu, 0, 1, lo, hi).gap, color=color.truth)
    parts.draw_edges(ax, p)
    ours = np.array([0.961, 0.432])
    values = factor(ours, nu, p)
    ax.plot(ours, values, "o", color=color.xi, ms=8)
    ax.set(xlim=(-2.5, 2.5), ylim=(-2.4, 2.4), xlabel="position of ξ", ylabel="factor β / a")
    ratio = np.abs(values).max() / np.abs(values).min()
    apart = f"{ratio:.1f} times" if ratio < 100 else "more than 100 times"
    signs = "the same sign" if values.prod() > 0 else "opposite signs"
    return (
        f"At ν = {nu:.2f} with p = {p} boxes the factor is {_signed(values[0])} at ξ = 0.961 and "
        f"{_signed(values[1])} at ξ = 0.432: equal slopes get coefficients of {signs}, one "
        f"{apart} the other."
    )


@styled
def simple_f(runs: Runs, theory: np.ndarray) -> Figure:
    """Boxplots of repeated coefficients with the theory as crosses (paper: Figure 4)."""
    fig, ax = parts.panel()
    boxplots(ax, runs.coef, theory)
    return fig


@styled
def two_tables(*tables: tuple[str, Runs, np.ndarray]) -> Figure:
    """The same for models of real tables (paper: figure theoretical_explanation_vs_empirical)."""
    fig = new_figure((6.4, 3.5 * len(tables)))
    fig.subplots_adjust(top=0.95, bottom=0.12, hspace=0.62)
    for ax, (title, runs, theory) in zip(fig.subplots(len(tables), 1), tables, strict=True):
        boxplots(ax, runs.coef, theory, runs.names)
        parts.slanted(ax)
        ax.set_title(title)
    return fig
