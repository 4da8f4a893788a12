"""The normal limit of a sampled explanation: the covariance of its noise.

sqrt(n) (beta^ - beta) tends to a normal law with covariance V = Sigma^-1 M Sigma^-1, where
M = E[pi^2 r^2 z z'] and r is the residual of the surrogate. For a linear f it is a closed form
(:func:`asymptotic_covariance`), a diagonal plus a matrix of rank five at most, and
:func:`limetutor.samples_needed` turns it into a number of samples, beside the one of the paper's theorem
(:mod:`limetutor.precision.bounds`). Chapter: how many samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.boxes import World
from ..core.models import Linear
from ..core.problem import Problem
from ..core.sampler import sampler_of
from ..core.tilted_law import Tilt
from ..inputs import arguments as arg
from .effective_samples import log_share, squared_kernel_tilt
from .normal_length import Covariance


class _Residual(NamedTuple):
    """The contribution of each feature to the residual, given z_j = 1 and given z_j = 0; (2, d).

    For a linear f the surrogate is E~[f | z], so r = sum_j a_j (x_j - E~[x_j | z_j]). Under another
    tilted law (that of pi^2) its parts are still independent, with these means and variances. They
    are in units of the largest of them.
    """

    log_prob: np.ndarray  # of z_j = 1 and of z_j = 0 under the other law
    mean: np.ndarray
    variance: np.ndarray
    unit: float


def _residual(a: np.ndarray, at: Tilt, other: Tilt) -> _Residual:
    """The residual of the surrogate of the law ``at``, under the law ``other``."""
    mean, other_mean = (
        np.sum(tilt.views.weights[1:] * tilt.views.law.box_means(), axis=-1) for tilt in (at, other)
    )
    law = other.views.law
    squares = law.box_variances() + (law.box_means() - other_mean[..., None]) ** 2
    deviation = np.sqrt(np.sum(other.views.weights[1:] * squares, axis=-1))
    log_prob = np.stack([other.log_alpha, other.log_rest])
    shift, spread = a * (other_mean - mean), np.abs(a) * deviation
    unit = float(np.max(np.maximum(np.abs(shift), spread))) or 1.0
    return _Residual(log_prob, shift / unit, (spread / unit) ** 2, unit)


class _Moments(NamedTuple):
    """Moments of the squared residual r^2 and the influences h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)).

    h_j is 1/alpha_j where z_j = 1 and -1/(1 - alpha_j) where z_j = 0: row j of C Sigma^-1 applied to z.
    The parts r_j of r are independent, with sum M of their means and sum W of their variances w_j. With
    a_j = E'[h_j], b_j = Cov'[h_j, r_j] and t_j = Cov'[h_j, (r_j - E'[r_j])^2] + 2 M b_j

        E'[r^2] = M^2 + W,    E'[r^2 h_j] = (M^2 + W) a_j + t_j,
        E'[r^2 h_j h_k] = (M^2 + W) a_j a_k + t_j a_k + a_j t_k + 2 b_j b_k    for j != k.
    """

    whole: float  # E'[r^2]
    a: np.ndarray
    b: np.ndarray
    t: np.ndarray
    diagonal: np.ndarray  # E'[r^2 h_j^2]: a sum of positive terms, without cancellation


def _moments(residual: _Residual, log_alpha: np.ndarray, log_rest: np.ndarray) -> _Moments:
    """These moments, from those on either side of each z_j, in O(d)."""
    fixed = np.isneginf(log_rest)  # a feature that is always in xi's box has no estimate
    log_h = -np.stack([log_alpha, np.where(fixed, 0.0, log_rest)])
    sign = np.where(fixed, 0.0, np.array([[1.0], [-1.0]]))
    with np.errstate(over="ignore", under="ignore"):
        first = sign * np.exp(residual.log_prob + log_h)
        second = sign**2 * np.exp(residual.log_prob + 2 * log_h)
    prob = np.exp(residual.log_prob)
    mean = np.sum(prob * residual.mean, axis=0)
    offset = residual.mean - mean
    squares = residual.variance + offset**2  # of r_j less its mean, given z_j
    variance = np.sum(prob * squares, axis=0)
    total = float(mean.sum())
    conditional = (
        (total - mean + residual.mean) ** 2 + _sums_of_others(variance) + residual.variance
    )
    a, b = np.sum(first, axis=0), np.sum(_product(first, offset), axis=0)
    t = np.sum(_product(first, squares - variance), axis=0) + 2 * total * b
    diagonal = np.sum(_product(second, conditional), axis=0)  # conditional is E'[r^2 | z_j]
    return _Moments(total**2 + float(variance.sum()), a, b, t, diagonal)


def _product(h: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """Influences times moments; 0 where the residual is 0, even if the influence is infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(moment == 0, 0.0, h * moment)


def _sums_of_others(values: np.ndarray) -> np.ndarray:
    """The sum of all values but one, for each of them, without a subtraction that could cancel."""
    before = np.concatenate([[0.0], np.cumsum(values[:-1])])
    after = np.concatenate([np.cumsum(values[:0:-1])[::-1], [0.0]])
    return before + after


def asymptotic_covariance(
    f: Any, xi: Any, world: World, nu: float, kernel: Any = None, *, sampler: Any = "bins",
) -> np.ndarray:  # fmt: skip
    """V of the normal limit sqrt(n) (beta^ - beta) -> N(0, V) for a linear f, in closed form.

    V = E[pi^2 r^2 h h'] / C^2 with the influences h_j = (z_j - alpha_j) / (alpha_j (1 - alpha_j)) and
    h_0 = 1 - sum_j alpha_j h_j; (d+1, d+1), the intercept first. Weighted samples ("bins",
    "gaussian") take the expectation under the law of pi^2; samples of the tilted law ("tilted")
    have unit weights, and it is taken under that law itself. Entries beyond 1e308 are infinite.
    Chapter: how many samples.
    """
    problem = Problem.of(f, xi, world, nu, kernel, purpose="the covariance of its noise")
    noise = noise_of(problem, sampler)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        V = noise.covariance.matrix()
        V = np.where(V == 0, 0.0, V * np.exp(noise.log_unit))
    return np.where(np.isnan(V), np.inf, V)  # a difference of two that are infinite


class Noise(NamedTuple):
    """The covariance of the normal limit, in a unit that may be beyond the range of a double."""

    covariance: Covariance
    log_unit: float


def noise_of(problem: Problem, sampler: Any = "bins") -> Noise:
    """The V of :func:`asymptotic_covariance` for a problem that has been checked.

    The influence h_0 = 1 - sum_j alpha_j h_j of the intercept is a combination of the others, which
    makes three factors a, b, t of rank one five.
    """
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
    moments = _moments(residual, at.log_alpha, at.log_rest)
    alpha = np.where(at.constant, 0.0, at.alpha)
    with np.errstate(over="ignore", invalid="ignore"):
        rest = (
            moments.diagonal
            - (moments.whole * moments.a + 2 * moments.t) * moments.a
            - 2 * moments.b**2
        )
        bordered = [
            np.concatenate([[one - alpha @ part], part])
            for one, part in ((1.0, moments.a), (0.0, moments.b), (0.0, moments.t))
        ]
        corner = np.zeros(problem.d + 1)
        corner[0] = 1.0
        beside = np.concatenate([[0.0], -alpha * rest])
        factors = np.stack([*bordered, corner, beside], axis=1)
        middle = np.zeros((5, 5))
        middle[0, 0], middle[1, 1], middle[0, 2], middle[2, 0] = moments.whole, 2.0, 1.0, 1.0
        middle[3, 3], middle[3, 4], middle[4, 3] = alpha**2 @ rest, 1.0, 1.0
    log_unit = 2 * np.log(residual.unit) - (log_share(problem) if draws.weighted else 0.0)
    return Noise(Covariance(np.concatenate([[0.0], rest]), factors, middle), float(log_unit))


def whitened_variance(problem: Problem) -> float:
    """``v = E[pi^2 r^2 z' Sigma^-1 z]`` for a linear f: the trace of Sigma^-1 M.

    That is E[pi^2] / C times E'[r^2] + sum_j alpha_j (1 - alpha_j) E'[r^2 h_j^2], with the influences
    of :func:`asymptotic_covariance`: a sum of positive terms. Chapter: how many samples.
    """
    form, at = problem.form, problem.tilt
    assert isinstance(form, Linear)
    residual = _residual(form.a, at, squared_kernel_tilt(problem))
    moments = _moments(residual, at.log_alpha, at.log_rest)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        parts = _product(at.alpha * at.rest, moments.diagonal)
        scale = np.exp(squared_kernel_tilt(problem).log_C - at.log_C)
        return float(scale * (moments.whole + np.sum(parts)) * residual.unit**2)
