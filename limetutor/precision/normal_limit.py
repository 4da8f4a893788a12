"""The normal limit of a sampled explanation, and how many samples a given precision needs.

sqrt(n) (beta^ - beta) tends to a normal law with covariance V = Sigma^-1 M Sigma^-1, where
M = E[pi^2 r^2 z z'] and r is the residual of the surrogate. For a linear f it is a closed form
(:func:`asymptotic_covariance`), and :func:`limetutor.samples_needed` turns it into a number of samples, beside
the one of the paper's theorem (:mod:`limetutor.precision.bounds`). Chapter: how many samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.boxes import World
from ..core.models import Linear
from ..core.problem import Problem
from ..core.sampler import sampler_of
from ..core.tilted_law import Tilt
from ..inputs import arguments as arg
from .effective_samples import log_share, squared_kernel_tilt


class _Residual(NamedTuple):
    """The contribution of each feature to the residual, given z_j = 1 and given z_j = 0; (2, d).

    For a linear f the surrogate is E~[f | z], so r = sum_j a_j (x_j - E~[x_j | z_j]). Under another
    tilted law (that of pi^2) its parts are still independent, with these means and variances.
    """

    log_prob: np.ndarray  # of z_j = 1 and of z_j = 0 under the other law
    mean: np.ndarray
    variance: np.ndarray


def _residual(a: np.ndarray, at: Tilt, other: Tilt) -> _Residual:
    """The residual of the surrogate of the law ``at``, under the law ``other``."""
    mean, other_mean = (
        np.sum(tilt.views.weights[1:] * tilt.views.law.box_means(), axis=-1) for tilt in (at, other)
    )
    law = other.views.law
    squares = law.box_variances() + (law.box_means() - other_mean[..., None]) ** 2
    variance = np.sum(other.views.weights[1:] * squares, axis=-1)
    log_prob = np.stack([other.log_alpha, other.log_rest])
    return _Residual(log_prob, a * (other_mean - mean), a**2 * variance)


def _influence_moments(
    residual: _Residual, log_alpha: np.ndarray, log_rest: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """E'[r^2], E'[r^2 h_j] and E'[r^2 h_j h_k], h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)).

    h_j is 1/alpha_j where z_j = 1 and -1/(1 - alpha_j) where z_j = 0: row j of C Sigma^-1 applied to
    z. Given z_j and z_k the residual has a mean and a variance that are sums over features, so
    each moment is a sum of two or four terms without cancellation, in O(d^2).
    """
    fixed = np.isneginf(log_rest)  # a feature that is always in xi's box has no estimate
    log_h = -np.stack([log_alpha, np.where(fixed, 0.0, log_rest)])
    sign = np.where(fixed, 0.0, np.array([[1.0], [-1.0]]))
    with np.errstate(over="ignore", under="ignore"):
        first = sign * np.exp(residual.log_prob + log_h)
        second = sign**2 * np.exp(residual.log_prob + 2 * log_h)
    prob = np.exp(residual.log_prob)
    mean = np.sum(prob * residual.mean, axis=0)
    variance = np.sum(prob * (residual.variance + (residual.mean - mean) ** 2), axis=0)
    T, W = _sums_of_others(mean), _sums_of_others(variance)
    conditional = (T + residual.mean) ** 2 + W + residual.variance  # E'[r^2 | z_j], (2, d)
    cross = np.zeros((len(mean), len(mean)))
    for v in range(2):
        for u in range(2):
            shift = T[:, None] - mean + residual.mean[v][:, None] + residual.mean[u]
            spread = W[:, None] - variance + residual.variance[v][:, None] + residual.variance[u]
            with np.errstate(over="ignore", invalid="ignore"):
                square = shift**2 + np.maximum(spread, 0.0)
                cross += _product(np.outer(first[v], first[u]), square)
    np.fill_diagonal(cross, np.sum(_product(second, conditional), axis=0))
    whole = float(mean.sum() ** 2 + variance.sum())
    return whole, np.sum(_product(first, conditional), axis=0), cross


def _product(h: np.ndarray, square: np.ndarray) -> np.ndarray:
    """Influences times squared residuals; 0 where the residual is 0, even if the influence is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(square == 0, 0.0, h * square)


def _sums_of_others(values: np.ndarray) -> np.ndarray:
    """The sum of all values but one, for each of them, without a subtraction that could cancel."""
    before = np.concatenate([[0.0], np.cumsum(values[:-1])])
    after = np.concatenate([np.cumsum(values[:0:-1])[::-1], [0.0]])
    return before + after


def asymptotic_covariance(
    f: Any, xi: Any, world: World, nu: float, kernel: Any = "gaussian", *, sampler: Any = "bins",
) -> np.ndarray:  # fmt: skip
    """V of the normal limit sqrt(n) (beta^ - beta) -> N(0, V) for a linear f, in closed form.

    V = E[pi^2 r^2 h h'] / C^2 with the influences h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)) and
    h_0 = 1 - sum_j alpha_j h_j; (d+1, d+1), the intercept first. Weighted samples ("bins",
    "gaussian") take the expectation under the law of pi^2; samples of the tilted law ("tilted")
    have unit weights, and it is taken under that law itself. Entries beyond 1e308 are infinite.
    Chapter: how many samples.
    """
    problem = Problem.of(f, xi, world, nu, kernel, purpose="the covariance of its noise")
    return covariance_of(problem, sampler)


def covariance_of(problem: Problem, sampler: Any = "bins") -> np.ndarray:
    """:func:`asymptotic_covariance` of a problem that has been checked."""
    form = problem.form
    if not isinstance(form, Linear):
        raise TypeError(
            f"f must be linear for a closed form of the covariance, got {arg.shorten(problem.f)}; "
            "lt.explain(...).covariance estimates it for any f."
        )
    draws, at = sampler_of(sampler), problem.tilt
    if not draws.independent:
        raise ValueError(
            f"sampler must draw independent samples for a normal limit, got {draws.name!r}; "
            "lt.explain(...).covariance estimates the noise of others."
        )
    residual = _residual(form.a, at, squared_kernel_tilt(problem) if draws.weighted else at)
    whole, with_h, V = _influence_moments(residual, at.log_alpha, at.log_rest)
    alpha = np.where(at.constant, 0.0, at.alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        beside = with_h - V @ alpha
        corner = max(whole - 2 * alpha @ with_h + alpha @ V @ alpha, 0.0)  # 0 where all is rounding
        result = np.block([[np.full((1, 1), corner), beside[None]], [beside[:, None], V]])
        scale = np.exp(-log_share(problem) if draws.weighted else 0.0)
        result = np.where(result == 0, 0.0, scale * result)
    return np.where(np.isnan(result), np.inf, result)  # a difference of two that are infinite


def whitened_variance(problem: Problem) -> float:
    """``v = E[pi^2 r^2 z' Sigma^-1 z]`` for a linear f: the trace of Sigma^-1 M.

    That is E[pi^2] / C times E'[r^2] + sum_j alpha_j (1 - alpha_j) E'[r^2 h_j^2], with the influences
    of :func:`asymptotic_covariance`: a sum of positive terms. Chapter: how many samples.
    """
    form, at = problem.form, problem.tilt
    assert isinstance(form, Linear)
    residual = _residual(form.a, at, squared_kernel_tilt(problem))
    whole, _, moments = _influence_moments(residual, at.log_alpha, at.log_rest)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parts = _product(at.alpha * at.rest, np.diag(moments))
        scale = np.exp(squared_kernel_tilt(problem).log_C - at.log_C)
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
