"""How far the sampled explanation is from its limit: the normal limit, and the paper's bounds.

sqrt(n) (beta^ - beta) tends to a normal law with covariance V = Sigma^-1 M Sigma^-1, where
M = E[pi^2 r^2 z z'] and r is the residual of the surrogate. For a linear f it is a closed form
(:func:`asymptotic_covariance`), and :func:`samples_needed` turns it into a number of samples, beside
the one that the paper's theorem asks for. Chapter: how many samples.

Every bound of the paper has ``corrected``: False gives the form printed in the paper, True one that
holds. Appendix: reading the paper.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import arguments as arg
from .algorithm import explain
from .bounds import theorem_sample_size
from .closed_forms import form_in, limit
from .covariance import inverse_covariance
from .kernels import PRODUCT_KERNELS
from .models import Linear
from .theory import tilt, tilted_law
from .worlds import Gaussian, World, check_world


def effective_sample_size(
    xi: Any, world: World, nu: float, n: int, kernel: str = "gaussian"
) -> float:
    """N C(nu)^2 / C(nu / sqrt 2): how many unweighted samples n weighted ones are worth.

    The limit of (sum pi)^2 / sum pi^2, because pi^2 is the same kernel at nu / sqrt 2.
    Chapters: weights, how many samples.
    """
    return arg.whole("n", n, 1) * float(np.exp(_log_share(xi, world, nu, kernel)))


def _log_share(xi: Any, world: World, nu: float, kernel: str) -> float:
    check_world(world)
    nu = arg.bandwidth("nu", nu)
    arg.one_of("kernel", kernel, PRODUCT_KERNELS)
    xi = world.boxes(np.size(xi) if world.d is None else None).encode(xi)
    once, twice = (tilt(world, xi, at, kernel).log_mass.sum() for at in (nu, nu / np.sqrt(2)))
    return float(2 * once - twice)


class _Terms(NamedTuple):
    """What each feature adds to the residual: u_j = a_j x_j - beta_j z_j under a tilted law."""

    alpha: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    shift: np.ndarray  # E~[u_j | z_j = 1] - E~[u_j]
    growth: np.ndarray  # Var~[u_j | z_j = 1] - Var~[u_j]


def _terms(
    a: np.ndarray, beta: np.ndarray, xi: np.ndarray, world: World, nu: float, kernel: str
) -> _Terms:
    boxes = world.boxes(len(xi))
    law, _ = tilted_law(boxes, xi, nu, kernel)
    own = np.arange(len(xi)), boxes.discretize(xi[None])[0]
    alpha, inside = law.prob[own], law.box_means()[own]
    centre, spread = law.mean_and_deviation()
    mean = a * centre - beta * alpha
    with_z = alpha * (inside - centre)  # Cov~(x_j, z_j)
    variance = (a * spread) ** 2 - 2 * a * beta * with_z + beta**2 * alpha * (1 - alpha)
    shift = a * inside - beta - mean
    growth = a**2 * law.box_variances()[own] - variance
    return _Terms(alpha, mean, variance, shift, growth)


def _second_moment(terms: _Terms, start: float) -> np.ndarray:
    """E~[r^2 z z'] for r = start + sum_j u_j, in O(d^2) (theory: the matrix M / C').

    With T = start + sum m_j and W = sum v_j, features k and l in xi's box move the mean of r by
    their shifts and its variance by their growths; everything else stays independent.
    """
    alpha, shift, growth = (
        np.concatenate([[first], part])
        for first, part in ((1.0, terms.alpha), (0.0, terms.shift), (0.0, terms.growth))
    )
    T, W = start + terms.mean.sum(), terms.variance.sum()
    moved = (T + shift[:, None] + shift) ** 2 + W + growth[:, None] + growth
    result = np.outer(alpha, alpha) * moved
    np.fill_diagonal(result, alpha * ((T + shift) ** 2 + W + growth))
    return result


def asymptotic_covariance(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    kernel: str = "gaussian",
    *,
    sampler: str = "bins",
) -> np.ndarray:
    """V of the normal limit sqrt(n) (beta^ - beta) -> N(0, V) for a linear f, in closed form.

    V = Sigma^-1 M Sigma^-1 with M = E[pi^2 r^2 z z']; (d+1, d+1), the intercept first. Weighted
    samples ("bins", "gaussian") have pi^2 = the kernel at nu / sqrt 2; samples of the tilted law
    ("tilted") have unit weights, and M / C^2 is taken at nu itself. Chapter: how many samples.
    """
    arg.one_of("sampler", sampler, ("bins", "gaussian", "tilted"))
    at = limit(_linear(f, xi, world), xi, world, nu, kernel)
    f, tilted = at.f, sampler == "tilted"
    log_scale = 0.0 if tilted else -_log_share(xi, world, nu, kernel)
    bandwidth = nu if tilted else nu / np.sqrt(2)
    terms = _terms(f.a, at.coef, at.xi, world, bandwidth, kernel)
    bread = inverse_covariance(at.tilt.alpha, at.tilt.rest)
    V = bread @ _second_moment(terms, f.b - at.intercept) @ bread
    return np.exp(log_scale) * (V + V.T) / 2


def _linear(f: Any, xi: Any, world: World, output: Any = None) -> Linear:
    """A linear model as an lt.Linear, others refused."""
    check_world(world)
    boxes = world.boxes(np.size(xi) if world.d is None else None)
    form = form_in(boxes, f, output)
    if not isinstance(form, Linear):
        raise TypeError(
            f"f must be linear for a closed form of the covariance, got {arg.shorten(f)}; "
            "lt.explain(...).covariance estimates it for any f."
        )
    return form


def norm_distribution(t: ArrayLike, V: np.ndarray, *, points: int = 24) -> np.ndarray:
    """P(||y|| <= t) for y ~ N(0, V).

    ||y||^2 is a sum of chi-squares weighted by the eigenvalues of V; its Laplace transform is
    prod (1 + 2 lambda_i s)^(-1/2), with all singularities on the negative axis, so the integral
    that inverts it converges geometrically along Talbot's contour (Abate and Valko 2004).
    """
    eigenvalues = np.clip(np.linalg.eigvalsh(V), 0, None)
    t = np.asarray(t, float)
    square = np.maximum(t, 0)[..., None] ** 2
    angle = np.arange(1, points) * np.pi / points
    cot = 1 / np.tan(angle)
    contour = 0.4 * points * np.concatenate([[1.0], angle * (cot + 1j)])
    slope = np.concatenate([[0.5], 1 + 1j * (angle + (angle * cot - 1) * cot)])
    with np.errstate(divide="ignore", invalid="ignore"):
        s = contour / square
        transform = np.prod((1 + 2 * eigenvalues * s[..., None]) ** -0.5, axis=-1) / contour
        total = 0.4 * np.sum((np.exp(contour) * transform * slope).real, axis=-1)
    return np.where(t > 0, np.clip(total, 0, 1), 0.0)


def norm_quantile(V: np.ndarray, eta: float) -> float:
    """The t with P(||y|| <= t) = 1 - eta for y ~ N(0, V)."""
    from scipy import optimize

    eta = arg.probability("eta", eta)
    if eta < 1e-10:  # the distribution is good to about 1e-12
        raise ValueError(f"eta must be 1e-10 or above, got {eta:g}.")
    trace = float(np.trace(V))
    if not trace > 0:
        return trace  # 0, or nan for nan
    unit = V / trace  # ||y||^2 then has mean 1, and exceeds 1 / eta with probability eta at most

    def missing(t: float) -> float:
        return float(norm_distribution(t, unit)) - (1 - eta)

    return float(optimize.brentq(missing, 0.0, 1 / np.sqrt(eta), xtol=1e-13) * np.sqrt(trace))


@dataclass(frozen=True)
class SampleSize:
    """Samples for ||beta^ - beta|| <= eps with probability 1 - eta, from four sources.

    ``weighted`` and ``tilted`` come from the normal limit (Algorithm 1, and sampling from the
    tilted law), ``printed`` and ``corrected`` from the paper's theorem (nan where it does not
    apply). ``share`` is the effective sample size of one weighted sample.
    """

    eps: float
    eta: float
    weighted: int
    tilted: float
    printed: float
    corrected: float
    share: float
    method: str

    def rows(self) -> list[tuple[str, float]]:
        """What asks for how many samples, as pairs."""
        return [
            ("theorem, as printed", self.printed),
            ("theorem, corrected", self.corrected),
            ("normal limit, weighted samples", self.weighted),
            ("normal limit, tilted samples", self.tilted),
        ]

    def __str__(self) -> str:
        lines = [f"Samples for ‖β̂ − β‖ ≤ {self.eps:g} with probability {1 - self.eta:g}:"]
        lines += [f"  {name:<32}{_count(n):>12}" for name, n in self.rows()]
        return "\n".join([*lines, f"  a weighted sample is worth {self.share:.3g}; {self.method}"])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(name)}</td><td>{_count(n)}</td></tr>"
            for name, n in self.rows()
        )
        return (
            "<table><thead><tr><th style='text-align:left'>source</th><th>samples</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><p>‖β̂ − β‖ ≤ {self.eps:g} with probability "
            f"{1 - self.eta:g}; a weighted sample is worth {self.share:.3g}; "
            f"{escape(self.method)}.</p>"
        )


def _count(n: float) -> str:
    if not np.isfinite(n):
        return "—"
    return f"{n:,.0f}" if n < 1e7 else f"{n:.2g}"


def samples_needed(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    eps: float,
    eta: float = 0.05,
    kernel: Any = "gaussian",
    *,
    output: Any = None,
    pilot: int = 20_000,
    seed: int | None = 0,
) -> SampleSize:
    """How many samples bring the coefficients within eps of their limit, with probability 1 - eta.

    By the normal limit n = (t / eps)^2 with t from :func:`norm_quantile` of V, which is a closed
    form for a linear f and is estimated from ``pilot`` samples for any other. Beside it what the
    paper's theorem asks for, where it applies: linear f, Gaussian world, Gaussian kernel.
    Chapter: how many samples.

    Examples
    --------
    >>> need = samples_needed(Linear([10, -10, 0, 0]), [0.5] * 4, Gaussian(), nu=1.0, eps=1)
    >>> need.weighted, f"{need.printed:.2g}"
    (6715, '5.5e+12')
    """
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    with suppress(TypeError, ValueError):  # a function is sampled, a bad argument is refused below
        f, output = _linear(f, xi, world, output), None
    covariances, method = _covariances(f, xi, world, nu, kernel, output, pilot, seed)
    weighted, tilted = ((norm_quantile(V, eta) / eps) ** 2 for V in covariances)
    printed = corrected = np.nan
    if isinstance(f, Linear) and isinstance(world, Gaussian) and kernel == "gaussian":
        at = limit(f, xi, world, nu)
        printed, corrected = (
            theorem_sample_size(at, world.boxes(f.a.size).sigma, eps, eta, corrected=which)
            for which in (False, True)
        )
    product = kernel in PRODUCT_KERNELS
    share = float(np.exp(_log_share(xi, world, nu, kernel))) if product else np.nan
    return SampleSize(
        eps, eta, int(np.ceil(weighted)), np.ceil(tilted), printed, corrected, share, method
    )


def _covariances(
    f: Any, xi: Any, world: World, nu: float, kernel: Any, output: Any, pilot: int, seed: Any
) -> tuple[list[np.ndarray], str]:
    """V for weighted and for tilted samples, and how it was found."""
    product = kernel in PRODUCT_KERNELS
    if isinstance(f, Linear) and product:
        both = [
            asymptotic_covariance(f, xi, world, nu, kernel, sampler=sampler)
            for sampler in ("bins", "tilted")
        ]
        return both, "covariance in closed form"
    names = ("bins", "tilted") if product else ("bins",)
    how = {"n": pilot, "seed": seed, "kernel": kernel, "output": output}
    runs = [explain(f, xi, world, nu, sampler=sampler, **how) for sampler in names]
    both = [run.covariance * run.n for run in runs]
    if not product:
        both.append(np.full_like(both[0], np.nan))
    return both, f"covariance estimated from {pilot} samples"
