"""Appendix *Gaussian integrals*: a bell, a weight, and what is left of their product in a box."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...core.kernels import GaussianKernel
from ...core.tilted_law import parts_tilt
from ...core.truncated import BoxLaw, tilted_normal
from ...exact.integrals import gaussian_integral
from ...interactive.layers import in_layers
from ...plotting.handles import handle
from ...plotting.style import color
from .parts import bell, cut, named

XI, MU, SIGMA = 1.2, 0.0, 1.0


def density(x: np.ndarray) -> np.ndarray:
    """The density of x ~ N(MU, SIGMA²)."""
    return bell(x, MU, SIGMA) / (SIGMA * np.sqrt(2 * np.pi))


X = np.linspace(-3, 4, 99)


def _bells(fig: Figure) -> Axes:
    ax = fig.subplots()
    ax.plot(X, density(X), color=color.muted, ls="--")
    ax.set(xlim=(-3, 4), ylim=(0, 1.14), xlabel="x", yticks=[0, 0.5, 1])
    named(ax, -1.05, 0.27, "density of x", color.muted, ha="right")
    named(ax, XI + 0.1, 1.07, "weight", color.sample)
    return ax


def _weight_and_product(ax: Axes, nu: float) -> None:
    product = density(X) * bell(X, XI, nu)
    ax.plot(X, bell(X, XI, nu), color=color.sample, lw=1.4)
    ax.plot(X, product, color=color.truth)
    peak = float(tilted_normal(np.asarray(XI), np.asarray(MU), nu, np.asarray(SIGMA))[0])
    paper = {"facecolor": color.paper, "lw": 0, "pad": 1}
    named(ax, peak, product.max() + 0.08, "product", color.truth, ha="center", bbox=paper)


def _piece(ax: Axes, nu: float, lo: float) -> None:
    under = ax.fill_between(X, 0, density(X) * bell(X, XI, nu), color=color.box, alpha=0.4, lw=0)
    cut(ax, under, lo, lo + 1)


def _start(ax: Axes, lo: float) -> None:
    (mark,) = ax.plot(lo, 0, "^", color=color.box, ms=9, clip_on=False)
    handle(mark, "lo")


@in_layers(
    _bells,
    _weight_and_product,
    lambda ax: ax.axvline(XI, color=color.xi, lw=1.4, ls=":"),
    _piece,
    _start,
)
def product(nu: float, lo: float) -> str:
    """The density, the weight around ξ and their product, shaded on [lo, lo + 1]."""
    hi = lo + 1
    area = float(gaussian_integral(0, XI, MU, nu, SIGMA, lo, hi))
    mean = tilted_normal(np.asarray(XI), np.asarray(MU), nu, np.asarray(SIGMA))[0]
    return (
        f"At ν = {nu:.2f}, the product is a bell around {mean:.2f}, and the shaded area "
        f"from {lo:.1f} to {hi:.1f} is {area:.3f}."
    )


UNEVEN = np.array([-np.inf, -1.1, -0.2, 0.3, 1.6, np.inf])  # edges that are no quantiles
FREQUENCIES = np.array([0.1, 0.35, 0.2, 0.05, 0.3])


def uneven_law() -> BoxLaw:
    """One feature: a box by its frequency, then N(0, 1) restricted to it."""
    parts = np.zeros((1, 5)), np.ones((1, 5)), UNEVEN[None, :-1], UNEVEN[None, 1:]
    return BoxLaw(np.log(FREQUENCIES)[None], *parts)


def uneven_boxes(xi: float, nu: float, n: int) -> tuple[float, float, float]:
    """The coefficient of f = x with prescribed boxes: closed, from n samples, standard error."""
    law, at = uneven_law(), np.array([xi])
    xi_box = np.searchsorted(UNEVEN[1:-1], at, side="right")
    tilted, log_weight = GaussianKernel().tilt_numbers(law, xi_box, at, np.array([nu]))
    closed = float(parts_tilt(tilted, log_weight, xi_box, at).gap[0])
    x, box = (part[:, 0] for part in law.sample(np.random.default_rng(0), n))
    means, variance = [], 0.0
    for side in (box == xi_box[0], box != xi_box[0]):
        values, weights = x[side], bell(x[side], xi, nu)
        means.append(np.average(values, weights=weights))
        variance += np.sum((weights * (values - means[-1])) ** 2) / np.sum(weights) ** 2
    return closed, float(means[0] - means[1]), float(np.sqrt(variance))
