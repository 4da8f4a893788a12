"""Chapter *how many samples*: the noise of an explanation, its normal limit, and what to do."""

from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.theory import limit
from ...inputs.lime_defaults import KERNEL_WIDTH_FACTOR
from ...many.explain_many import explain_quietly
from ...plotting.style import color, new_figure, styled
from ...precision.normal_limit import asymptotic_covariance
from ...precision.samples_needed import SampleSize, samples_needed
from ..experiments import Runs, boosting_example, repeat, repeat_fits, running_example
from . import parts
from .parts import bell, log_axes, named_at_ends, panel, powers, scientific

RUNS = 300
SCORES = np.linspace(-4, 4, 28)  # edges of the bars, in standard deviations
GRID = np.linspace(-4, 4, 61)
BANDWIDTHS = np.geomspace(0.3, 5, 30)


@cache
def one_coefficient(n: int, nu: float) -> tuple[float, float, np.ndarray]:
    """Limit, predicted deviation and 300 values of the first coefficient (d = 4)."""
    f, xi, world = running_example(4)
    beta = float(limit(f, xi, world, nu).coef[0])
    deviation = float(np.sqrt(asymptotic_covariance(f, xi, world, nu)[1, 1] / n))
    return beta, deviation, repeat_fits(f, xi, world, nu, n=n, runs=RUNS)[:, 0]


def normal_limit(fig: Figure, n: int, nu: float) -> str:
    """Above: 300 first coefficients. Below: the same in units of the predicted deviation."""
    beta, deviation, values = one_coefficient(n, nu)
    score = (values - beta) / deviation
    share = np.histogram(np.clip(score, -3.999, 3.999), SCORES)[0] / len(score)
    height = share / np.diff(SCORES) * np.sqrt(2 * np.pi)  # the normal density peaks at 1
    top, below = parts.stacked(fig, left=0.04)
    for ax, start, unit in ((top, beta, deviation), (below, 0.0, 1.0)):
        ax.stairs(height, start + unit * SCORES, fill=True, color=color.surrogate, alpha=0.45)
        ax.plot(start + unit * GRID, bell(GRID), color=color.truth)
        ax.axvline(start, color=color.truth, lw=1, ls=":")
        ax.set(ylim=(0, 1.6), yticks=[])
    top.set(xlim=(-6, 24), xticks=[-5, 0, 5, 10, 15, 20], xlabel="coefficient β̂₁")
    below.set(xlim=(-4.2, 4.2), xticks=range(-4, 5), xlabel="(β̂₁ − β₁) / predicted deviation")
    beyond = np.mean(np.abs(score) > 2)
    return (
        f"With n = {n} at ν = {nu:g}, the predicted standard deviation is {deviation:.2f}, and that of "
        f"the {len(values)} runs is {values.std(ddof=1):.2f}; {beyond:.1%} of the runs are more than two "
        "of the predicted ones from the limit (4.6% for a normal distribution)."
    )


def covered(runs: Runs, beta: np.ndarray) -> np.ndarray:
    """Which 95% intervals hold the limit, (runs, d) of bool."""
    low, high = np.moveaxis(runs.interval, -1, 0)
    return (low <= beta) & (beta <= high)


def plainly_covered(nu: float, n: int, runs: int) -> np.ndarray:
    """Which intervals of 1.96 plain sandwich errors would hold the limit, (runs, d) of bool.

    Plain: residuals as they are, times n / (n - d - 1), no degrees of freedom; for comparison.
    """
    f, xi, world = running_example()
    beta, covered = limit(f, xi, world, nu).coef, []
    for stream in np.random.default_rng(0).spawn(runs):
        ex = explain_quietly(f, xi, world, nu, n=n, seed=stream, keep=True)
        Z = np.column_stack([np.ones(n), ex.z])
        w = ex.weights / ex.weights.max()
        bread = np.linalg.pinv((Z * w[:, None]).T @ Z, hermitian=True)
        scores = Z * (w * (ex.y - Z @ [ex.intercept, *ex.coef]))[:, None]
        errors = np.sqrt(np.diag(bread @ scores.T @ scores @ bread)[1:] * n / (n - Z.shape[1]))
        covered.append(np.abs(ex.coef - beta) <= 1.96 * errors)
    return np.array(covered)


@styled
def intervals(runs: Runs, beta: np.ndarray, j: int, shown: int = 60) -> Figure:
    """The 95% intervals of one coefficient in the first runs; those that miss the limit stand out."""
    fig, ax = panel((6.4, 3.3), right=0.92)
    ax.axhline(0, color=color.muted, lw=1, ls=":")
    ax.axhline(beta[j], color=color.truth, lw=2)
    hit, places = covered(runs, beta)[:shown, j], np.arange(1, shown + 1)
    for which, hue, width in ((hit, color.surrogate, 1.8), (~hit, color.alarm, 3.0)):
        ax.vlines(places[which], *runs.interval[:shown, j][which].T, color=hue, lw=width)
        ax.plot(places[which], runs.coef[:shown, j][which], ".", color=hue, ms=7)
    ax.set(xlim=(0, shown + 1), xlabel="run")
    ax.set_ylabel(f"coefficient {j + 1}")
    named_at_ends(ax, shown + 1, {"limit": (float(beta[j]), color.truth)})
    return fig


@cache
def sizes(nu: float, eps: float) -> SampleSize:
    """What the running example asks for, from all five sources."""
    f, xi, world = running_example()
    need = samples_needed(f, xi, world, nu, eps)
    assert isinstance(need, SampleSize)
    return need


# Label, colour and stroke of the rows of a SampleSize.
SOURCES = (
    ("theorem, as printed", color.alarm, "-"),
    ("theorem, corrected", color.muted, "--"),
    ("this book's theorem", color.truth, "-"),
    ("weighted samples", color.surrogate, "-"),
    ("tilted samples", color.sample, "--"),
)


def four_answers(fig: Figure, nu: float, eps: float) -> str:
    """How many samples the paper, the book and the normal limit ask for, against the bandwidth."""
    fig.subplots_adjust(left=0.14, bottom=0.15, right=0.71)
    ax = fig.subplots()
    curves = np.array([[n for _, n in sizes(at, eps).rows()] for at in BANDWIDTHS.tolist()])
    now, ends = sizes(nu, eps), {}
    for (label, hue, dash), curve, (_, n) in zip(SOURCES, curves.T, now.rows(), strict=True):
        ax.plot(BANDWIDTHS, curve, color=hue, ls=dash)
        ax.plot(nu, n, "o", color=hue, ms=8)
        ends[label] = float(curve[-1]), hue
    _bandwidths(ax, powers(range(0, 31, 6)))
    ax.set(ylim=(1, 1e33), ylabel="samples n")
    named_at_ends(ax, BANDWIDTHS[-1], ends)
    factor = int(np.floor(np.log10(now.printed / now.weighted)))
    return (
        f"For a distance of {eps:g} at ν = {nu:.2f}, the paper's theorem asks for "
        f"{_count(now.printed)} samples, this book's for {_count(now.finite)}, and the normal limit for "
        f"{_count(now.weighted)} weighted or {_count(now.tilted)} tilted ones: {factor} orders of "
        "magnitude lie between the paper's theorem and the weighted samples."
    )


def _bandwidths(ax: Axes, y: dict[float, str]) -> None:
    log_axes(ax, x=[0.3, 0.5, 1, 2, 5], y=y)
    ax.set(xlim=(0.28, 5.4), xlabel="bandwidth ν")


def _count(n: float) -> str:
    """A count in words: 25,846 or 8.4·10¹⁶."""
    return f"{n:,.0f}" if n < 1e6 else scientific(n)


def noise_ratio(d: int, nu: float) -> float:
    """Mean squared error of weighted samples over that of tilted ones, as n grows."""
    f, xi, world = running_example(d)
    weighted, tilted = (
        np.trace(asymptotic_covariance(f, xi, world, nu, sampler=sampler)[1:, 1:])
        for sampler in ("bins", "tilted")
    )
    return float(weighted / tilted)


def measured_ratio(d: int, nu: float, n: int = 5000, runs: int = 200) -> float:
    """The same from repeated runs of both samplers."""
    f, xi, world = running_example(d)
    beta, options = limit(f, xi, world, nu).coef, {"n": n, "runs": runs, "seed": 1}
    weighted, tilted = (
        np.mean((repeat_fits(f, xi, world, nu, sampler=sampler, **options) - beta) ** 2)
        for sampler in ("gaussian", "tilted")
    )
    return float(weighted / tilted)


@styled
def remedy(measured: dict[tuple[int, float], float]) -> Figure:
    """How many times the squared error of weighted samples is that of tilted ones."""
    fig, ax = panel(left=0.16)
    ax.axhline(1, color=color.muted, lw=1)
    for d, hue in ((2, color.muted), (4, color.ink), (10, color.sample)):
        curve = [noise_ratio(d, nu) for nu in BANDWIDTHS]
        ax.plot(BANDWIDTHS, curve, color=hue)
        start = (BANDWIDTHS[0], curve[0])
        ax.annotate(f"d = {d}", start, (7, 7), textcoords="offset points", color=hue)
        points = [(nu, ratio) for (dim, nu), ratio in measured.items() if dim == d]
        if points:
            ax.plot(*zip(*points, strict=True), "o", color=hue, ms=8, mec=color.paper)
    _bandwidths(ax, {1: "1", 10: "10", 100: "100", 1000: "1000", 10_000: "10 000"})
    ax.set(ylim=(0.5, 3e4), ylabel="squared error, ratio")
    return fig


@styled
def even_points(n: int = 64) -> Figure:
    """n random points of a square and as many of a scrambled Sobol sequence, over 8 × 8 cells."""
    fig = new_figure((6.4, 3.5))
    fig.subplots_adjust(left=0.03, right=0.97, bottom=0.03, top=0.9, wspace=0.1)
    for ax, (name, points) in zip(fig.subplots(1, 2), pairs_of_points(n).items(), strict=True):
        for edge in np.linspace(0, 1, 9):
            ax.axhline(edge, color=color.grid, lw=1)
            ax.axvline(edge, color=color.grid, lw=1)
        ax.plot(*points.T, "o", color=color.sample, ms=5, clip_on=False)
        ax.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[], title=name, aspect="equal")
    return fig


@cache
def pairs_of_points(n: int) -> dict[str, np.ndarray]:
    """n points (n, 2) of the unit square: by chance, and of a scrambled Sobol sequence."""
    from scipy.stats import qmc

    chance = np.random.default_rng(0).random((n, 2))
    return {"chance": chance, "scrambled Sobol": qmc.Sobol(2, rng=0).random(n)}


def empty_cells(points: np.ndarray, across: int = 8) -> int:
    """How many of across × across cells of the unit square hold no point."""
    cells = np.floor(across * points).astype(int)
    return across**2 - len(np.unique(cells, axis=0))


# What each way of sampling is called, how lt.explain is asked for it, and its colour and stroke.
WAYS: dict[str, tuple[dict[str, Any], str, str]] = {
    "weighted": ({"sampler": "bins"}, color.muted, "-"),
    "tilted": ({"sampler": "tilted"}, color.sample, "-"),
    "tilted, adjusted": ({"sampler": "tilted", "adjust": True}, color.sample, "--"),
    "Sobol": ({"sampler": "sobol"}, color.ink, "-"),
    "Sobol, adjusted": ({"sampler": "sobol", "adjust": True}, color.ink, "--"),
}
# The kernel and the bandwidth of each setting that a reader can choose.
WIDTHS = {
    "the paper's, ν = 1": ("gaussian", 1.0),
    "lime's": ("mismatch", KERNEL_WIDTH_FACTOR * np.sqrt(10)),
}
CALLS = 2 ** np.arange(7, 13)


@cache
def distances(width: str, way: str, runs: int = 10) -> np.ndarray:
    """Root mean squared distance from the limit with each number of calls, (len(CALLS),)."""
    f, xi, world = boosting_example()
    kernel, nu = WIDTHS[width]
    beta, options = limit(f, xi, world, nu, kernel).coef, WAYS[way][0]
    options = options | {"kernel": kernel, "runs": runs}
    coefs = (repeat(f.predict, xi, world, nu, n=int(n), **options).coef for n in CALLS)
    return np.array([np.sqrt(np.mean(np.sum((coef - beta) ** 2, axis=1))) for coef in coefs])


def crossing(width: str, way: str, eps: float) -> tuple[float, float]:
    """Where a curve comes below eps, as calls and distance; nan where it ends before.

    Between two sizes it is read off the line; Sobol points come by powers of two.
    """
    distance = distances(width, way)
    close = np.flatnonzero(distance <= eps)
    if not close.size:
        return np.nan, np.nan
    first = int(close[0])
    if first == 0 or WAYS[way][0]["sampler"] == "sobol":
        return float(CALLS[first]), float(distance[first])
    x, y = np.log(CALLS[first - 1 : first + 1]), np.log(distance[first - 1 : first + 1])
    return float(np.exp(np.interp(-np.log(eps), -y, x))), eps


def fewer_calls(fig: Figure, eps: float, width: str) -> str:
    """Distance from the limit against calls of the model, and where each curve comes below eps."""
    fig.subplots_adjust(left=0.13, bottom=0.15, right=0.75)
    ax = fig.subplots()
    points = {way: crossing(width, way, eps) for way in WAYS}
    for way, (_, hue, stroke) in WAYS.items():
        ax.plot(CALLS, distances(width, way), color=hue, ls=stroke)
        ax.plot(*points[way], "o", color=hue, ms=8)
    ax.axhline(eps, color=color.muted, lw=1, ls=":")
    log_axes(ax, x=CALLS.tolist(), y=[0.03, 0.1, 0.3, 1, 3])
    ax.set(xlim=(115, 4600), ylim=(0.015, 8), xlabel="calls of the model", ylabel="distance")
    ends = {way: (float(distances(width, way)[-1]), hue) for way, (_, hue, _) in WAYS.items()}
    named_at_ends(ax, CALLS[-1], ends)
    calls = {
        way: f"more than {CALLS[-1]:,}" if np.isnan(n) else f"{n:,.0f}"
        for way, (n, _) in points.items()
    }
    words = "; ".join(f"{way} {count}" for way, count in calls.items())
    return f"Calls for a distance of {eps:.2f} from the limit: {words}."
