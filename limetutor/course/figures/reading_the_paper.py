"""Appendix *reading the paper*: simulations behind its notes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy import special

from ...core.boxes import Gaussian
from ...core.covariance import covariance
from ...core.models import Linear
from ...core.theory import limit
from ...plotting.results import boxplots
from ...plotting.style import color, new_figure, styled
from ...precision.arrowhead import alpha_constant, lasso_limit
from ...precision.bounds import covariance_tail as tail_bound
from ...precision.bounds import empirical_inverse_bound, theorem_sample_size
from ...results.limit import Limit
from ..experiments import Runs, running_example
from .parts import named, stacked


class CovarianceErrors(NamedTuple):
    """Norms of the error of the sampled covariance (len(d), runs), and what the bounds say."""

    d: np.ndarray
    norms: np.ndarray
    printed: np.ndarray  # the t at which the printed bound is 1%
    corrected: np.ndarray  # the same for the corrected bound
    n: int  # samples in a simulation

    @property
    def exceeded(self) -> np.ndarray:
        """How often the norm exceeds the printed t."""
        return np.mean(self.norms >= self.printed[:, None], axis=1)


def covariance_errors(dimensions: Iterable[int], n: int, runs: int, seed: int) -> CovarianceErrors:
    """Errors of the covariance for fair coins: p = 2 boxes and a bandwidth that weighs all alike."""
    rng = np.random.default_rng(seed)
    d_all = np.array(list(dimensions))
    norms = np.array([[_one_norm(rng, d, n) for _ in range(runs)] for d in d_all])
    printed = np.sqrt(np.log(4 * d_all**2 / 0.01) / (2 * n))
    corrected = (d_all + 1) * np.sqrt(np.log(2 * (d_all + 1) ** 2 / 0.01) / (2 * n))
    return CovarianceErrors(d_all, norms, printed, corrected, n)


def _one_norm(rng: np.random.Generator, d: int, n: int) -> float:
    z = np.ones((n, d + 1), dtype=np.float32)
    z[:, 1:] = rng.integers(0, 2, (n, d))
    return float(np.linalg.norm(z.T @ z / n - covariance(np.full(d, 0.5)), 2))


def covariance_tail(fig: Figure, d: int, errors: CovarianceErrors) -> str:
    """The simulated norms in one dimension, and the two bounds."""
    k = int(np.flatnonzero(errors.d == d)[0])
    ax = fig.subplots()
    counts, edges = np.histogram(errors.norms[k], bins=np.linspace(0, 0.45, 46))
    ax.bar(edges[:-1], counts, np.diff(edges), align="edge", color=color.surrogate, alpha=0.6)
    ax.axvline(errors.printed[k], color=color.alarm, lw=2)
    ax.axvline(errors.corrected[k], color=color.truth, lw=2, ls="--")
    ax.set(xlim=(0, 0.45), ylim=(0, 80), xlabel="‖Σ̂ − Σ‖", ylabel="simulations")
    fig.subplots_adjust(top=0.88)
    # above the axes: within them a bar would go through the names in some dimension
    named(ax, errors.printed[k], 84, "printed", color.alarm, ha="right")
    beyond = "corrected →" if errors.corrected[k] > 0.45 else "corrected"
    side = "left" if errors.corrected[k] < 0.36 else "right"
    named(ax, min(errors.corrected[k], 0.45), 84, beyond, color.truth, ha=side)
    share = float(np.mean(errors.norms[k] >= errors.corrected[k]))
    promised = tail_bound(float(errors.printed[k]), errors.n, d, corrected=False)
    return (
        f"In dimension {d}, the printed bound promises {promised:.0%} beyond its line, but "
        f"{errors.exceeded[k]:.0%} of the simulations are there; {share:.0%} are beyond the "
        "corrected line."
    )


def antiderivative_error(a: float, b: float, factor: int) -> np.float64:
    """Largest error of d/dx of the second-order antiderivative, with (factor a x + b)/(4 a^2).

    factor 2 is right; the paper (proof of its Lemma "Gaussian integral, 2nd order") prints factor 1.
    """
    x, step = np.linspace(-2, 2, 41), 1e-5

    def antiderivative(x: np.ndarray) -> np.ndarray:
        front = np.sqrt(np.pi) * (2 * a + b**2) / (8 * a**2.5) * np.exp(b**2 / (4 * a))
        bell = np.exp(-a * x**2 + b * x)
        last = (factor * a * x + b) / (4 * a**2) * bell
        return front * special.erf((2 * a * x - b) / (2 * np.sqrt(a))) - last

    slope = (antiderivative(x + step) - antiderivative(x - step)) / (2 * step)
    return np.max(np.abs(slope - x**2 * np.exp(-a * x**2 + b * x)))


def corrected_over_printed(d: int, b: float) -> float:
    """The theorem's n as it follows from the corrected lemmas, over the printed one.

    For f = 10 x1 - 10 x2 + b, xi = (0.3, ..., 0.3), nu = sigma = eps = 1 and eta = 0.05.
    """
    f = Linear([10.0, -10.0] + [0.0] * (d - 2), b)
    at = limit(f, np.full(d, 0.3), Gaussian(), 1.0)
    printed, corrected = (
        theorem_sample_size(at, 1.0, eps=1.0, eta=0.05, corrected=which) for which in (False, True)
    )
    return corrected / printed


def first_sample_size(at: Limit, eta: float) -> tuple[float, float]:
    """4 d^2 exp(-2 n1 t1^2) at n1 as printed in the proof of the paper's Theorem 10.1, and with A^2."""
    d, A = at.alpha.size, alpha_constant(at.alpha)
    t1, _ = empirical_inverse_bound(d, at.C, A)
    n1 = 18 * d**2 / at.C**2 * np.log(12 * d**2 / eta)
    printed, with_A = (4 * d**2 * np.exp(-2 * n * t1**2) for n in (n1, n1 * A**2))
    return float(printed), float(with_A)


def at_small_bandwidth(nu: float, n: int, runs: int, seed: int = 0) -> np.ndarray:
    """The fitted coefficient of f(x) = x² at ξ = 0.5 in several runs, four boxes, no penalty, (runs,).

    With one feature least squares is a difference of two weighted means, and each mean depends on the
    ratios of its weights alone: here the largest of each group is 1, so that no group underflows.
    """
    x = np.random.default_rng(seed).standard_normal((runs, n))
    inside = (x >= 0) & (x < special.ndtri(0.75))
    log_weight = -((x - 0.5) ** 2) / (2 * nu**2)
    means = []
    for group in (inside, ~inside):
        masked = np.where(group, log_weight, -np.inf)
        weight = np.exp(masked - masked.max(axis=1, keepdims=True))
        means.append(np.sum(weight * x**2, axis=1) / np.sum(weight, axis=1))
    return means[0] - means[1]


@styled
def before_and_after(wide: Runs, narrow: Runs, theory: tuple[np.ndarray, np.ndarray]) -> Figure:
    """Boxplots of repeated coefficients at two bandwidths (paper: Figure 7)."""
    fig = new_figure((6.4, 4.8))
    axes = stacked(fig, shared=True)
    for ax, runs, beta, nu in zip(axes, (wide, narrow), theory, ("1", "0.53"), strict=True):
        boxplots(ax, runs.coef, beta)
        ax.text(10.4, 10, f"ν = {nu}", ha="right")
        ax.set_ylim(-6, 13)
    axes[0].set_xlabel("")
    return fig


def left_out(lasso: float, j: int) -> list[str]:
    """Where in 0.05 <= nu <= 20 the lasso's limit has no feature j, running example; in words."""
    f, xi, world = running_example()
    nus = np.geomspace(0.05, 20, 2001)
    limits = [limit(f, xi, world, float(nu)) for nu in nus]
    zero = np.array([lasso_limit(li.coef, li.alpha, lasso, li.tilt.rest)[j] == 0 for li in limits])
    ends = np.flatnonzero(np.diff(np.concatenate([[False], zero, [False]])))
    spans = [(nus[a], nus[b - 1]) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return [f"{a:.2f} to {b:.2f}" for a, b in spans]
