"""Chapter *covariance*: the matrix of the indicators, its inverse and its eigenvalues."""

from functools import cache
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.boxes import Gaussian
from ...core.covariance import covariance, inverse_covariance
from ...core.kernels import tilt
from ...core.truncated import tilted_normal
from ...plotting.handles import handle
from ...plotting.results import boxplots, by_sign
from ...plotting.style import color, new_figure, styled
from ...precision.arrowhead import arrowhead_eigenvalues, secular
from ..experiments import Runs, running_example
from .parts import bandwidth_axis, minus, panel, powers, scientific, slanted, stacked

NU = np.geomspace(0.1, 3, 50)


def alphas(nu: float, p: int = 4, d: int = 10) -> np.ndarray:
    """The box probabilities of the running example, with p boxes per feature."""
    _, xi, _ = running_example(d)
    return tilt(Gaussian(p=p), xi, nu).alpha


def matrix_and_inverse(fig: Figure, nu: float) -> str:
    """Σ/C and CΣ⁻¹ for the first three features of the running example, as tables."""
    alpha = alphas(nu, d=3)
    fig.subplots_adjust(left=0.055, right=0.99, bottom=0.03, top=0.8, wspace=0.16)
    left, right = fig.subplots(1, 2)
    _table(left, covariance(alpha), "Σ / C")
    _table(right, inverse_covariance(alpha), "C Σ⁻¹")
    return (
        f"At ν = {nu:.2f}, the tilted law puts {alpha[0]:.2f}, {alpha[1]:.2f} and {alpha[2]:.2f} "
        f"of its mass into the boxes of ξ; the largest entry of the inverse is "
        f"{_number(inverse_covariance(alpha).max())}, and six of its entries are zero."
    )


def _table(ax: Axes, matrix: np.ndarray, title: str) -> None:
    size = len(matrix)
    strength = np.abs(matrix) / np.abs(matrix).max()
    for i in range(size):
        for j, hue in enumerate(by_sign(matrix[i])):
            value = matrix[i, j]
            ax.fill([j, j + 1, j + 1, j], [i, i, i + 1, i + 1], color=hue, lw=0)
            ax.patches[-1].set_alpha(round(0.5 * strength[i, j], 3))
            text = "0" if value == 0 else f"{value:.{0 if abs(value) >= 100 else 2}f}"
            ax.text(j + 0.5, i + 0.52, minus(text), ha="center", va="center", size=11.5)
    names = ["1", *(f"z{'₀₁₂₃₄₅₆₇₈₉'[k]}" for k in range(1, size))]
    middles = np.arange(size) + 0.5
    ax.set_xticks(middles, names)
    ax.set_yticks(middles, names)
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    ax.set(xlim=(0, size), ylim=(size, 0))
    ax.set_title(title, pad=10)


@cache
def spectrum(p: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues of Σ/C at each of NU, ascending (50, 11), and C there (50,)."""
    values = np.array([1 / arrowhead_eigenvalues(alphas(nu, p))[::-1] for nu in NU])
    return values, np.array([mean_weight(nu) for nu in NU])


def mean_weight(nu: float) -> float:
    """C for the running example."""
    _, xi, _ = running_example()
    return float(np.exp(tilted_normal(xi, np.zeros(10), nu, np.ones(10))[2].sum()))


def eigenvalues(fig: Figure, nu: float, scaled: bool, p: int) -> str:
    """Above: the eigenvalues of Σ (or Σ/C) against ν. Below: the α behind them."""
    top, below = stacked(fig, (2, 1), left=0.14)
    curves, C = spectrum(p)
    alpha = alphas(nu, p)
    now = 1 / arrowhead_eigenvalues(alpha)[::-1]
    scale, scale_now = (1.0, 1.0) if scaled else (C[:, None], mean_weight(nu))
    values, low, high = curves * scale, now[0] * scale_now, now[-1] * scale_now
    text = f"ratio {_number(now[-1] / now[0])}"
    top.fill_between(NU, values[:, 0], values[:, -1], color=color.truth, alpha=0.12, lw=0)
    # lines with gaps, since a browser draws two lines sooner than eleven
    x, y = [*NU, np.nan], np.vstack([values, np.full(values.shape[1], np.nan)])
    top.plot(np.tile(x, 9), y[:, 1:-1].T.ravel(), color=color.muted, lw=0.9)
    top.plot(np.tile(x, 2), y[:, [0, -1]].T.ravel(), color=color.truth, lw=2.6)
    handle(top.plot([nu, nu], [low, high], "o-", color=color.truth, ms=7)[0], "nu")
    side = "left" if nu < 0.3 else "center" if nu < 1.2 else "right"
    top.annotate(text, (nu, high), (0, 9), textcoords="offset points", color=color.ink, ha=side)
    bandwidth_axis(top, y=powers(range(-4, 2) if scaled else range(-15, 2, 3)))
    top.set_ylim((1e-4, 100) if scaled else (1e-15, 1e3))
    name = "Σ/C" if scaled else "Σ"
    top.set_ylabel(f"eigenvalues of {name}", labelpad=2)
    below.hlines([0, 1], 0.3, 10.7, color=color.muted, lw=1)
    below.vlines(np.arange(1, 11), 0, alpha, color=color.sample, lw=2)
    below.plot(np.arange(1, 11), alpha, "o", color=color.sample, ms=7)
    below.set(xlim=(0.3, 10.7), ylim=(-0.06, 1.06), xlabel="feature j", ylabel="αⱼ")
    below.set_xticks(range(1, 11))
    return (
        f"At ν = {nu:.2f} with p = {p} boxes, the eigenvalues of {name} run from "
        f"{_number(low)} to {_number(high)}: a condition number of "
        f"{_number(now[-1] / now[0])}. The αⱼ lie between {alpha.min():.3f} and {alpha.max():.3f}."
    )


def _number(value: float) -> str:
    """Two digits, as a decimal where that is short and as a power of ten where it is not."""
    if 0.001 <= value < 99.5:  # from there on two digits are those of 100
        return f"{value:.2g}"
    if 99.5 <= value < 100_000:
        return f"{float(f'{value:.2g}'):.0f}"
    return scientific(value)


@styled
def secular_curve(alpha: np.ndarray) -> Figure:
    """The secular function, its poles (dashed) and its zeros, the eigenvalues of CΣ⁻¹."""
    fig, ax = panel((6.4, 3.4), bottom=0.19, top=0.9)
    poles, roots = np.sort(1 / (alpha * (1 - alpha))), arrowhead_eigenvalues(alpha)
    end, high = 1.25 * roots[-1], 40.0
    ax.axhline(0, color=color.muted, lw=1)
    for lo, hi in pairwise([0.0, *poles, end]):
        share = (1 - np.cos(np.linspace(0.01, np.pi - 0.01, 160))) / 2  # denser at the poles
        values = secular(lo + (hi - lo) * share, alpha)
        ax.plot(
            lo + (hi - lo) * share,
            np.where(np.abs(values) < 2 * high, values, np.nan),
            color=color.ink,
        )
    for pole in poles:
        ax.axvline(pole, color=color.muted, ls="--", lw=1.2)
        ax.text(pole, 1.03 * high, f"{pole:.1f}", color=color.muted, ha="center", va="bottom")
    ax.plot(roots, np.zeros(len(roots)), "o", color=color.truth, ms=9)
    for root in roots:
        ax.text(root + 0.35, 2.5, f"{root:.1f}", color=color.truth)
    ax.set(xlim=(0, end), ylim=(-high, high), xlabel="ℓ", ylabel="secular function")
    return fig


@styled
def two_tables(*tables: tuple[str, Runs, np.ndarray]) -> Figure:
    """Repeated coefficients of linear models of real tables, with the theory (paper: Figure 5)."""
    fig = new_figure((6.4, 3.5 * len(tables)))
    fig.subplots_adjust(top=0.95, bottom=0.12, hspace=0.62)
    for ax, (title, runs, theory) in zip(fig.subplots(len(tables), 1), tables, strict=True):
        boxplots(ax, runs.coef, theory, runs.names)
        slanted(ax)
        ax.set_title(title)
    return fig
