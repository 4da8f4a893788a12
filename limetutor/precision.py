"""How far the sampled explanation is from its limit: the normal limit, and the paper's bounds.

sqrt(n) (beta^ - beta) tends to a normal law with covariance V = Sigma^-1 M Sigma^-1, where
M = E[pi^2 r^2 z z'] and r is the residual of the surrogate. For a linear f it is a closed form
(:func:`asymptotic_covariance`), and :func:`samples_needed` turns it into a number of samples, beside
the one that the paper's theorem asks for. Chapter: how many samples.

Every bound of the paper has ``corrected``: False gives the form printed in the paper, True one that
holds. Appendix: reading the paper.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import arguments as arg
from .boxes import Gaussian, World, check_world
from .covariance import alpha_constant, inverse_covariance
from .explain import explain
from .kernels import PRODUCT_KERNELS
from .limits import Limit, form_in, limit
from .models import Linear
from .theory import tilt, tilted_law


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

    eta = _probability("eta", eta)
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


def _probability(name: str, value: Any) -> float:
    if not 0 < arg.scalar(name, value) < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value:g}.")
    return float(value)


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
    eps, eta = arg.positive("eps", eps), _probability("eta", eta)
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


def covariance_tail(t: float, n: int, d: int, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^ - Sigma|| >= t) (paper: Lemma concentration-empirical-covariance-matrix).

    Printed: 4 d^2 exp(-2 n t^2). Entries within t of their means do not keep the norm within t,
    and (d+1)^2 <= 2 d^2 fails for d = 1, 2. Corrected: 2 (d+1)^2 exp(-2 n t^2 / (d+1)^2).
    """
    t, n, d = arg.positive("t", t), arg.whole("n", n, 1), arg.whole("d", d, 1)
    if corrected:
        return float(2 * (d + 1) ** 2 * np.exp(-2 * n * t**2 / (d + 1) ** 2))
    return float(4 * d**2 * np.exp(-2 * n * t**2))


def inverse_tail(t: float, n: int, d: int, C: float, A: float, *, corrected: bool = True) -> float:
    """Bound on P(||Sigma^^-1 - Sigma^-1|| >= t) for t <= 3 d A / C (Proposition control-operator-...).

    Printed: 8 d^2 exp(-C^4 n t^2 / (162 d^4 A^4)). Corrected: with t' = C^2 t / (18 d^2 A^2) both
    events of the proof are ||Sigma^ - Sigma|| <= t', so :func:`covariance_tail` at t' is enough.
    """
    t = arg.positive("t", t)
    if t > 3 * d * A / C:
        raise ValueError(f"t must be at most 3 d A / C = {3 * d * A / C:g}, got {t:g}.")
    inner = C**2 * t / (18 * d**2 * A**2)
    return covariance_tail(inner, n, d, corrected=corrected) * (1 if corrected else 2)


def response_bound(f: Linear, xi: np.ndarray, nu: float) -> float:
    """``B = |f(xi)| + nu ||a|| / sqrt(e)``, which pi f(x) never exceeds in size (Gaussian kernel).

    f(x) = f(xi) + a.(x - xi), pi <= 1, and r exp(-r^2/2nu^2) is at most nu / sqrt(e).
    """
    nu = arg.positive("nu", nu)
    xi = arg.vector("xi", xi, f.a.size)
    return float(abs(f(xi[None])[0]) + nu * np.linalg.norm(f.a) / np.sqrt(np.e))


def response_tail(
    t: float, n: int, f: Linear, xi: np.ndarray, nu: float, sigma: float, *, corrected: bool = True
) -> float:
    """Bound on P(||Gamma^ - Gamma|| > t) (paper: Lemma concentration-response).

    Printed: 4 d exp(-n t^2 / (2 ||a||^2 sigma^2)), which is 0 when a = 0 although b pi still
    fluctuates. Corrected: 2 (d+1) exp(-n t^2 / (2 B^2 (d+1))) with B from :func:`response_bound`,
    since every entry lies in [-B, B].
    """
    t, n, d = arg.positive("t", t), arg.whole("n", n, 1), f.a.size
    if corrected:
        B = response_bound(f, xi, nu)
        return float(2 * (d + 1) * np.exp(-n * t**2 / (2 * B**2 * (d + 1)))) if B > 0 else 0.0
    spread = np.sum((f.a * sigma) ** 2)
    return float(4 * d * np.exp(-n * t**2 / (2 * spread))) if spread > 0 else 0.0


def theorem_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, *, corrected: bool = True
) -> float:
    """Samples that make ||beta^ - beta|| <= eps with probability 1 - eta (Theorem main-result).

    Printed: the largest of ::

        288 S^2 d^2 A^2 / (eps C)^2 log(12 d / eta),    18 d^2 A^2 / C^2 log(24 d^2 / eta),
        648 d^5 A^4 (3 f(mu~)^2 + sigma~^2 ||a||^2) / (eps C)^2 log(24 d^2 / eta)

    with S = sigma ||a||. Corrected: the same proof with the corrected lemmas above and the exact
    norm of Gamma. Both are for the Gaussian kernel on numeric features, where pi f(x) is bounded.
    """
    eps, eta = arg.positive("eps", eps), _probability("eta", eta)
    if limit.kernel != "gaussian":
        raise ValueError(f"limit must be of the gaussian kernel, got {limit.kernel!r}.")
    C, A = np.exp(limit.log_C), np.float64(alpha_constant(limit.alpha, limit.tilt.rest))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        size = _corrected_sample_size if corrected else _printed_sample_size
        n = size(limit, sigma, eps, eta, limit.f.a.size, C, A)
    if not np.isfinite(n):
        warnings.warn(
            f"the number of samples at nu={limit.nu:g} is beyond 1e308, given as infinite.",
            arg.PrecisionWarning,
            stacklevel=2,
        )
        return float("inf")
    return float(n)


def _printed_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, d: int, C: float, A: float
) -> float:
    f = limit.f
    spread = np.sum((f.a * sigma) ** 2)
    centre = float(f(limit.mu_tilde[None])[0]) ** 2
    tilted = float(np.sum((f.a * limit.sigma_tilde) ** 2))
    return np.max(
        [
            288 * spread * d**2 * A**2 / (eps * C) ** 2 * np.log(12 * d / eta),
            18 * d**2 * A**2 / C**2 * np.log(24 * d**2 / eta),
            648 * d**5 * A**4 * (3 * centre + tilted) / (eps * C) ** 2 * np.log(24 * d**2 / eta),
        ]
    )


def _corrected_sample_size(
    limit: Limit, sigma: float | np.ndarray, eps: float, eta: float, d: int, C: float, A: float
) -> float:
    """N at which each of the three events of the proof fails with probability eta / 3 at most."""
    for_matrix = np.log(6 * (d + 1) ** 2 / eta) * (d + 1) ** 2 / 2
    B = response_bound(limit.f, limit.xi, limit.nu)
    centre = float(limit.f(limit.mu_tilde[None])[0])
    norm = C * np.hypot(centre, np.linalg.norm(limit.alpha * centre - limit.f.a * limit.theta))
    t1, t2 = C / (6 * d * A), eps * C / (12 * d * A)
    t3 = min(eps / (2 * norm) if norm > 0 else np.inf, 3 * d * A / C)
    return np.max(
        [
            for_matrix / t1**2,
            2 * B**2 * (d + 1) / t2**2 * np.log(6 * (d + 1) / eta),
            for_matrix / (C**2 * t3 / (18 * d**2 * A**2)) ** 2,
        ]
    )
