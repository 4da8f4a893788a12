"""Chapter *interactions and dependence*: all features off at once, lime's width, correlated samples."""

from functools import cache
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...bandwidth.risk import total_switch_off
from ...core.boxes import Gaussian
from ...core.models import Linear
from ...core.theory import limit
from ...exact.quadratic import Quadratic
from ...plotting.style import color, new_figure, styled
from ..research.dependence import correlated_coefficients, distance_to_data, distance_within_data
from ..research.multilinear import BoxGame, turning_model
from . import parts
from .parts import by_box, draw_edges, inner_edges, log_axes, minus, named_at_ends, shade, signed

REACH = 2.0
WIDTHS = np.geomspace(0.25, 10, 60)
OFF = 99.0  # off the picture, for what is not there in a frame

# --- everything off at once ------------------------------------------------------------------


def everything_off(fig: Figure, nu: float, p: int) -> str:
    """Left: the instance that a bandwidth switches off altogether. Right: why, for one feature."""
    world = Gaussian(p=p)
    xi = total_switch_off(world, nu, d=1)[0]
    left, right = fig.subplots(1, 2, gridspec_kw={"wspace": 0.42})
    _plane_of_boxes(left, xi, nu, p)
    at = np.array([inside for inside, _, _ in parts.inside_boxes(p, REACH, 24, inset=1e-9)])
    beta = limit(Linear(np.ones(at.size)), at.ravel(), world, nu).coef
    right.axhline(0, color=color.muted, lw=1)
    draw_edges(right, p, lw=0.8, alpha=0.6)
    right.plot(*by_box(at, beta), color=color.truth)
    right.plot(OFF if np.isnan(xi) else xi, 0, "o", color=color.xi, ms=8)
    right.set(xlim=(-REACH, REACH), ylim=(-2.5, 2.5), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    right.set(xlabel="position of ξ", ylabel="coefficient β")
    begin = f"At ν = {nu:.2f} with p = {p} boxes"
    if np.isnan(xi):
        return f"{begin} no instance above the mean switches both features off."
    point = f"({signed(xi)}, {signed(xi)})"
    return f"{begin}, ξ = {point} gives both features of every linear model coefficient 0."


def _plane_of_boxes(ax: Axes, xi: float, nu: float, p: int) -> None:
    """Two features, xi's box, and the tilted law as a circle of one deviation."""
    lo, hi = inner_edges(p)[[p // 2 - 1, p // 2]]
    shade(ax, (lo, hi), REACH, alpha=0.1)
    ax.axhspan(lo, hi, color=color.box, alpha=0.1, lw=0)
    draw_edges(ax, p, lw=0.8, alpha=0.6)
    for edge in inner_edges(p):
        ax.axhline(edge, color=color.box, lw=0.8, alpha=0.6)
    middle, at = (OFF, OFF) if np.isnan(xi) else ((lo + hi) / 2, xi)
    turn = np.linspace(0, 2 * np.pi, 73)
    sd = nu / np.hypot(1, nu)
    ax.plot(middle + sd * np.cos(turn), middle + sd * np.sin(turn), color=color.sample)
    ax.plot(middle, middle, "v", color=color.sample, ms=9)
    ax.plot(at, at, "o", color=color.xi, ms=8)
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), xlabel="x₁", ylabel="x₂", aspect="equal")
    ax.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])


# --- lime's width ----------------------------------------------------------------------------

TURNS, RARE_AND_COMMON = (0.4, 1.5), (0.05, 0.5)  # widths, and frequencies of boxes 2 and 3


class WidthPath(NamedTuple):
    """A game, the two features whose frequencies are drawn, and β₁ = a + b t + c u in them."""

    game: BoxGame
    plane: tuple[int, int]
    line: tuple[float, float, float]


@cache
def paths() -> dict[str, WidthPath]:
    """The games of the control: a sum, a product, and an order-two model with two critical widths.

    In the first two x₁ ~ N(0, 1), x₂ ~ N(-0.2, 1), quartiles, and ξ = (1.2, 1.2).
    """
    world, xi = Gaussian(mu=[0.0, -0.2]), [1.2, 1.2]
    models = {"x₁ + x₂": Linear([1, 1]), "x₁x₂": Quadratic([[0, 0.5], [0.5, 0]])}
    games = {}
    for name, f in models.items():
        game = BoxGame.of(f, xi, world)
        below, above = np.diff(game.values, axis=0)[0].round(12)  # a sum: not 1e-16 apart
        games[name] = WidthPath(game, (0, 1), (below, 0.0, above - below))
    z1, z2, z3 = np.indices((2, 2, 2))
    b, c = turning_model(TURNS, RARE_AND_COMMON)
    three = BoxGame(z1 * (1 + b * z2 + c * z3), [0.25, *RARE_AND_COMMON])
    return games | {"three features": WidthPath(three, (1, 2), (1.0, b, c))}


def width_path(fig: Figure, width: float, model: str) -> str:
    """Above: where the width leads the frequencies of two boxes. Below: the coefficients."""
    path = paths()[model]
    game, beta = path.game, path.game.path(width)[0]
    top, below = parts.stacked(fig, right=0.94)
    _frequencies(top, path, width)
    below.axhline(0, color=color.muted, lw=1)
    curves = game.path(WIDTHS)
    hues, ends = (color.truth, color.ink, color.muted), {}
    for j, (curve, hue) in enumerate(zip(curves.T, hues, strict=False)):
        below.plot(WIDTHS, curve, color=hue, ls=("-", "--", ":")[j])
        below.plot(width, beta[j], "o", color=hue, ms=8)
        ends[f"β{'₁₂₃'[j]}"] = float(curve[-1]), hue
    log_axes(below, x=[0.3, 1, 3, 10])
    below.set(xlim=(0.24, 11), ylim=(-2.2, 2.6), yticks=[-2, 0, 2], xlabel="width ν")
    below.set_ylabel("coefficient")
    named_at_ends(below, WIDTHS[-1], ends)
    where = " and ".join(f"{nu:.3g}" for nu in game.critical_widths(0))
    change = f"changes sign at {where}" if where else "does not change sign"
    return (
        f"At width {width:.2f}, the coefficients are {', '.join(signed(b) for b in beta)}; that of "
        f"x₁ {change}."
    )


def _frequencies(ax: Axes, path: WidthPath, width: float) -> None:
    """The frequencies α of two boxes over all widths, and where β₁ is negative."""
    a, b, c = path.line
    t = np.linspace(0, 1, 21)
    edge = np.clip(-(a + b * t) / c, 0, 1) if c else np.full(21, -0.1)
    side = 0.0 if c > 0 else 1.0 if c < 0 else -0.1
    outline = np.concatenate([t, t[::-1]]), np.concatenate([edge, np.full(21, side)])
    ax.fill(*outline, color=color.negative, alpha=0.35, lw=0)
    ax.plot(t, edge, color=color.ink, lw=2)
    alpha = path.game.alpha(np.concatenate([WIDTHS, [1e3]]))[:, path.plane]
    ax.plot(*alpha.T, color=color.box)
    ax.plot(*path.game.alpha(width)[list(path.plane), None], "o", color=color.box, ms=9)
    first, second = (f"frequency of box {j + 1}" for j in path.plane)
    ax.set(xlim=(0, 1.03), ylim=(0, 1.03), xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
    ax.set(xlabel=first, ylabel=second)


# --- dependence ------------------------------------------------------------------------------

PAIRS = {"both top": (3, 3), "third, top": (2, 3), "top, bottom": (3, 0), "second, bottom": (1, 0)}


@cache
def drawn_pairs(n: int = 120) -> np.ndarray:
    """Points of two independent standard normals, (n, 2), to be made correlated."""
    return np.random.default_rng(0).standard_normal((n, 2))


def quartile_box(k: int) -> tuple[float, float]:
    """The ends of a quartile box of N(0, 1)."""
    return parts.standard_boxes().ends(0, k)


def correlated(fig: Figure, rho: float, boxes: str) -> str:
    """Above: samples with a correlation. Below: the coefficients of f(x) = x₁ they would give."""
    first, second = (quartile_box(k) for k in PAIRS[boxes])
    beta, apart = (correlated_coefficients(r, first, second) for r in (rho, 0.0))
    top, below = parts.stacked(fig, (1.4, 1))
    shade(top, first, 3, alpha=0.14)
    top.axhspan(*np.clip(second, -3, 3), color=color.box, alpha=0.14, lw=0)
    u, v = drawn_pairs().T
    top.plot(u, rho * u + np.sqrt(1 - rho**2) * v, ".", color=color.sample, ms=5)
    top.set(xlim=(-3, 3), ylim=(-3, 3), xticks=[-2, 0, 2], yticks=[-2, 0, 2])
    top.set(xlabel="x₁, which f uses", ylabel="x₂, ignored by f")
    below.axhline(0, color=color.muted, lw=1)
    below.bar([0, 1], beta, width=0.5, color=color.surrogate)
    below.hlines(apart, [-0.4, 0.6], [0.4, 1.4], color=color.truth, lw=2.5)
    side = 1 if apart[0] > 0 else -1
    parts.named(below, 0, apart[0] + 0.35 * side, "independent", color.truth, ha="center")
    below.set(xlim=(-0.6, 1.6), xticks=[0, 1], xticklabels=["β₁", "β₂"])
    below.set(ylim=(-2.1, 2.1), yticks=[-2, -1, 0, 1, 2], ylabel="coefficient")
    return minus(
        f"With ρ = {rho:.2f}, the feature that f ignores gets coefficient {signed(beta[1])}, and the one that "
        f"it uses {signed(beta[0])}; with independent draws, they get 0.00 and {signed(apart[0])}."
    )


@styled
def far_from_data(
    X: np.ndarray, x: np.ndarray, columns: tuple[int, int], names: list[str]
) -> Figure:
    """Above: two columns of the data and of LIME's samples. Below: distances to the nearest row."""
    fig = new_figure((6.4, 5.2))
    top, below = parts.stacked(fig, (1.4, 1))
    top.plot(*x[: len(X), columns].T, ".", color=color.sample, ms=4)
    top.plot(*X[:, columns].T, ".", color=color.ink, ms=4)
    top.set(xlabel=names[columns[0]], ylabel=names[columns[1]])
    share = np.linspace(0, 1, 101)
    for name, distance, hue, dash, side in (
        ("patients", distance_within_data(X), color.ink, "-", "right"),
        ("samples", distance_to_data(x, X), color.sample, "--", "left"),
    ):
        below.plot(np.quantile(distance, share), share, color=hue, ls=dash)
        at = np.quantile(distance, 0.5) + (0.15 if side == "left" else -0.15)
        parts.named(below, at, 0.5, name, hue, ha=side)
    below.set(xlim=(0, 4.5), ylim=(0, 1.02), xlabel="distance to the nearest", ylabel="share below")
    return fig
