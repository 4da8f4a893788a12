"""How far the sampled explanation is from its limit, and how many samples bring it near.

sqrt(n) (beta^ - beta) tends to a normal law with covariance V = Sigma^-1 M Sigma^-1, where
M = E[pi^2 r^2 z z'] and r is the residual of the surrogate. For a linear f it is a closed form
(:func:`asymptotic_covariance`), and :func:`samples_needed` turns it into a number of samples, beside
the one that the paper's theorem asks for (:mod:`limetutor.bounds`). Chapter: how many samples.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import arguments as arg
from .algorithm import run
from .bounds import (
    beyond,
    bounded_residual,
    finite_sample_size,
    quiet_sample_size,
    theorem_applies,
)
from .closed_forms import limit_of
from .kernels import ProductKernel
from .models import Linear
from .sampling import sampler_of
from .setting import Setting
from .theory import Tilt
from .worlds import World


def effective_sample_size(
    xi: Any, world: World, nu: float, n: int, kernel: Any = "gaussian"
) -> float:
    """n C(nu)^2 / E[pi^2]: how many unweighted samples n weighted ones are worth.

    The limit of (sum pi)^2 / sum pi^2. pi^2 is the same kernel at another bandwidth, nu / sqrt 2
    for the Gaussian one. Chapters: weights, how many samples.
    """
    setting = Setting.of(None, xi, world, nu, kernel, purpose="its effective sample size")
    return arg.whole("n", n, 1) * float(np.exp(log_share(setting)))


def log_share(setting: Setting) -> float:
    """Log of the effective sample size of one weighted sample; at most 0, also where it rounds."""
    return min(2 * setting.tilt.log_C - _squared(setting).log_C, 0.0)


def _squared(setting: Setting) -> Tilt:
    """The tilted law of the squared kernel."""
    assert isinstance(setting.kernel, ProductKernel)
    return setting.at(nu=setting.kernel.square(setting.nu)).tilt


class _Residual(NamedTuple):
    """What each feature adds to the residual, given z_j = 1 and given z_j = 0; arrays (2, d).

    For a linear f the surrogate is E~[f | z], so r = sum_j a_j (x_j - E~[x_j | z_j]). Under another
    tilted law (that of pi^2) its parts are still independent, with these means and variances.
    """

    log_prob: np.ndarray  # of z_j = 1 and of z_j = 0 under the other law
    mean: np.ndarray
    variance: np.ndarray


def _residual(a: np.ndarray, at: Tilt, other: Tilt) -> _Residual:
    means = [_given(tilt, tilt.views.law.box_means()) for tilt in (at, other)]
    centred = (other.views.law.box_means() - means[1][..., None]) ** 2
    spread = np.sum(other.views.weights[1:] * (other.views.law.box_variances() + centred), axis=-1)
    log_prob = np.stack([other.log_alpha, other.log_rest])
    return _Residual(log_prob, a * (means[1] - means[0]), a**2 * spread)


def _given(tilt: Tilt, values: np.ndarray) -> np.ndarray:
    """Expectations of values per part, given z_j = 1 and given z_j = 0, (2, d)."""
    return np.sum(tilt.views.weights[1:] * values, axis=-1)


def _influence_moments(
    residual: _Residual, log_alpha: np.ndarray, log_rest: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """E'[r^2], E'[r^2 h_j] and E'[r^2 h_j h_k], h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)).

    h_j is 1/alpha_j where z_j = 1 and -1/(1 - alpha_j) where z_j = 0: row j of C Sigma^-1 applied to
    z. Given z_j and z_k the residual has a mean and a variance that are sums over features, so
    each moment is a sum of two or four terms without cancellation, in O(d^2).
    """
    fixed = np.isneginf(log_rest)  # a feature without another side has no estimate
    log_h = -np.stack([log_alpha, np.where(fixed, 0.0, log_rest)])
    sign = np.where(fixed, 0.0, np.array([[1.0], [-1.0]]))
    with np.errstate(over="ignore", under="ignore"):
        first = sign * np.exp(residual.log_prob + log_h)
        second = sign**2 * np.exp(residual.log_prob + 2 * log_h)
    prob = np.exp(residual.log_prob)
    mean = np.sum(prob * residual.mean, axis=0)
    variance = np.sum(prob * (residual.variance + (residual.mean - mean) ** 2), axis=0)
    T, W = _without_each(mean), _without_each(variance)
    given = (T + residual.mean) ** 2 + W + residual.variance  # E'[r^2 | z_j], (2, d)
    cross = np.zeros((len(mean), len(mean)))
    for v in range(2):
        for u in range(2):
            shift = T[:, None] - mean + residual.mean[v][:, None] + residual.mean[u]
            spread = W[:, None] - variance + residual.variance[v][:, None] + residual.variance[u]
            with np.errstate(over="ignore", invalid="ignore"):
                square = shift**2 + np.maximum(spread, 0.0)
                cross += _product(np.outer(first[v], first[u]), square)
    np.fill_diagonal(cross, np.sum(_product(second, given), axis=0))
    whole = float(mean.sum() ** 2 + variance.sum())
    return whole, np.sum(_product(first, given), axis=0), cross


def _product(h: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Influences times squared residuals: no residual counts 0, however large the influence is."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(square == 0, 0.0, h * square)


def _without_each(values: np.ndarray) -> np.ndarray:
    """The sum of all values but one, for each of them, without a difference."""
    before = np.concatenate([[0.0], np.cumsum(values[:-1])])
    after = np.concatenate([np.cumsum(values[:0:-1])[::-1], [0.0]])
    return before + after


def asymptotic_covariance(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    kernel: Any = "gaussian",
    *,
    sampler: Any = "bins",
) -> np.ndarray:
    """V of the normal limit sqrt(n) (beta^ - beta) -> N(0, V) for a linear f, in closed form.

    V = E[pi^2 r^2 h h'] / C^2 with the influences h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)) and
    h_0 = 1 - sum_j alpha_j h_j; (d+1, d+1), the intercept first. Weighted samples ("bins",
    "gaussian") take the expectation under the law of pi^2; samples of the tilted law ("tilted")
    have unit weights, and it is taken under that law itself. Entries beyond 1e308 are infinite.
    Chapter: how many samples.
    """
    setting = Setting.of(f, xi, world, nu, kernel, purpose="the covariance of its noise")
    return covariance_of(setting, sampler)


def covariance_of(setting: Setting, sampler: Any = "bins") -> np.ndarray:
    """:func:`asymptotic_covariance` of a setting that has been checked."""
    form = setting.form
    if not isinstance(form, Linear):
        raise TypeError(
            f"f must be linear for a closed form of the covariance, got {arg.shorten(setting.f)}; "
            "lt.explain(...).covariance estimates it for any f."
        )
    draws = sampler_of(sampler)
    if not draws.independent:
        raise ValueError(
            f"sampler must draw independent samples for a normal limit, got {draws.name!r}; "
            "lt.explain(...).covariance estimates the noise of others."
        )
    weighted = draws.weighted
    at = setting.tilt
    residual = _residual(form.a, at, _squared(setting) if weighted else at)
    whole, with_h, V = _influence_moments(residual, at.log_alpha, at.log_rest)
    alpha = np.where(at.constant, 0.0, at.alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        beside = with_h - V @ alpha
        corner = max(whole - 2 * alpha @ with_h + alpha @ V @ alpha, 0.0)  # 0 where all is rounding
        result = np.block([[np.full((1, 1), corner), beside[None]], [beside[:, None], V]])
        scale = np.exp(-log_share(setting) if weighted else 0.0)
        result = np.where(result == 0, 0.0, scale * result)
    return np.where(np.isnan(result), np.inf, result)  # a difference of two that are infinite


def whitened_variance(setting: Setting) -> float:
    """``v = E[pi^2 r^2 z' Sigma^-1 z]`` for a linear f: the trace of Sigma^-1 M.

    That is E[pi^2] / C times E'[r^2] + sum_j alpha_j (1 - alpha_j) E'[r^2 h_j^2], with the influences
    of :func:`asymptotic_covariance`: a sum of positive terms. Chapter: how many samples.
    """
    form, at = setting.form, setting.tilt
    assert isinstance(form, Linear)
    residual = _residual(form.a, at, _squared(setting))
    whole, _, moments = _influence_moments(residual, at.log_alpha, at.log_rest)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parts = _product(at.alpha * at.rest, np.diag(moments))
        scale = np.exp(_squared(setting).log_C - at.log_C)
        return float(scale * (whole + np.sum(parts)))


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
    if not 0 < trace < np.inf:
        return trace  # 0, infinite, or nan for nan
    unit = V / trace  # ||y||^2 then has mean 1, and exceeds 1 / eta with probability eta at most

    def missing(t: float) -> float:
        return float(norm_distribution(t, unit)) - (1 - eta)

    return float(optimize.brentq(missing, 0.0, 1 / np.sqrt(eta), xtol=1e-13) * np.sqrt(trace))


@dataclass(frozen=True)
class SampleSize:
    """Samples for ||beta^ - beta|| <= eps with probability 1 - eta, from five sources.

    ``weighted`` and ``tilted`` come from the normal limit (Algorithm 1, and sampling from the
    tilted law), ``printed`` and ``corrected`` from the paper's theorem, ``finite`` from this
    book's theorem for every n (the last three are for weighted samples, and nan where they do not
    apply). ``share`` is the effective sample size of one weighted sample.
    """

    eps: float
    eta: float
    weighted: int | float
    tilted: float
    printed: float
    corrected: float
    share: float
    method: str
    finite: float = math.nan

    def rows(self) -> list[tuple[str, float]]:
        """What asks for how many samples, as pairs."""
        return [
            ("theorem, as printed", self.printed),
            ("theorem, corrected", self.corrected),
            ("this book's theorem", self.finite),
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
    if not math.isfinite(n):
        return "—" if math.isnan(n) else "∞"
    return f"{n:,.0f}" if n < 1e7 else f"{float(n):.2g}"


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
    seed: Any = 0,
) -> SampleSize:
    """How many samples bring the coefficients within eps of their limit, with probability 1 - eta.

    By the normal limit n = (t / eps)^2 with t from :func:`norm_quantile` of V, which is a closed
    form for a linear f and is estimated from ``pilot`` samples for any other. Beside it what the
    paper's Theorem 10.1 asks for, where it applies (linear f, Gaussian world, Gaussian kernel), and
    :func:`limetutor.bounds.finite_sample_size` (linear f, Gaussian kernel on numbers).
    Chapter: how many samples.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> need = samples_needed(Linear([10, -10, 0, 0]), [0.5] * 4, Gaussian(), nu=1.0, eps=1)
    >>> need.weighted, f"{need.printed:.2g}"
    (6715, '5.5e+12')
    """
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    pilot = arg.whole("pilot", pilot, 2)
    seed = arg.seed("seed", seed)
    setting = Setting.of(f, xi, world, nu, kernel, output)
    closed = setting.product is not None and _is_linear(setting)
    covariances = _closed_form(setting) if closed else _estimated(setting, pilot, seed)
    method = "covariance in closed form" if closed else f"covariance estimated from {pilot} samples"
    with np.errstate(over="ignore"):
        weighted, tilted = (np.square(norm_quantile(V, eta) / eps) for V in covariances)
    printed = corrected = finite = np.nan
    if closed and theorem_applies(setting):
        at, sigma = limit_of(setting), setting.boxes.sigma
        printed, corrected = (
            quiet_sample_size(at, sigma, eps, eta, corrected=which) for which in (False, True)
        )
    if closed and bounded_residual(setting):
        finite = finite_sample_size(limit_of(setting), whitened_variance(setting), eps, eta)
    share = float(np.exp(log_share(setting))) if setting.product else np.nan
    if np.any(np.isinf([weighted, tilted, printed, corrected, finite])):
        warnings.warn(beyond(setting.nu), arg.PrecisionWarning, stacklevel=2)
    return SampleSize(
        eps, eta, _whole(weighted), np.ceil(tilted), printed, corrected, share, method, finite
    )


def _whole(n: float) -> int | float:
    return n if np.isinf(n) else int(np.ceil(n))


def _is_linear(setting: Setting) -> bool:
    try:
        return isinstance(setting.form, Linear)
    except ValueError:  # a family of which this member has no form: it is sampled
        return False


def _closed_form(setting: Setting) -> list[np.ndarray]:
    """V for weighted and for tilted samples."""
    return [covariance_of(setting, sampler) for sampler in ("bins", "tilted")]


def _estimated(setting: Setting, pilot: int, seed: Any) -> list[np.ndarray]:
    """The same from runs; nan for tilted samples where the kernel has no tilt."""
    samplers = ("bins", "tilted") if setting.product else ("bins",)
    found = []
    for sampler in samplers:
        pilot_run = run(setting, pilot, seed, sampler)
        for text in pilot_run.warnings:
            warnings.warn(f"In the pilot run: {text}", arg.FitWarning, stacklevel=4)
        found.append(pilot_run.covariance * pilot)
    return found if setting.product else [*found, np.full_like(found[0], np.nan)]
