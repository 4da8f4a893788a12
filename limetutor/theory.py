"""What LIME converges to, through one idea: the tilted law.

The coordinates of a new example are independent and the weight is a product over coordinates, so
weighting is the same as sampling from another product law, the **tilted law** P~. Under it the
indicators z_j are independent Bernoulli(alpha_j), least squares separates, and for any f

    beta_j  = E~[f | z_j = 1] - E~[f | z_j = 0],
    beta_0  = E~[f] - sum_j alpha_j beta_j,
    f^(xi)  = sum_{j >= 0} beta_j.

A :class:`Tilt` is that law seen from xi; :mod:`limetutor.kernels` makes one of every product kernel,
:mod:`limetutor.closed_forms` says what an explanation becomes as n grows.
Chapters: weights, theorem, switch-off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from . import arguments as arg
from .laws import BoxLaw, normal_box, tilted_normal
from .worlds import Gaussian

BLOCK = 2**14  # coordinates whose tilt is computed together


@dataclass(frozen=True)
class Views:
    """The tilted law seen three ways: as it is, given z_j = 1, and given z_j = 0.

    All three are mixtures of the same parts; ``weights`` (3, …, d, K) holds the probabilities. The
    last two are computed from the parts on their own side alone, so nothing is lost where alpha_j
    is 1 to the last digit. A coordinate that never leaves xi's box has its two sides made equal:
    there is nothing to compare.
    """

    law: BoxLaw
    weights: np.ndarray

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return self.law.mean.shape[-2]

    @classmethod
    def of(cls, law: BoxLaw, own: np.ndarray) -> Views:
        """The views of a law whose coordinate j has z_j = 1 in its box ``own[j]``."""
        return weighted_parts(law, np.zeros_like(law.log_prob), law.within(own)).views

    def given(self, view: int) -> BoxLaw:
        """The law itself (0), given z_j = 1 for all j (1), or given z_j = 0 for all (2)."""
        with np.errstate(divide="ignore"):
            return replace(self.law, log_prob=np.log(self.weights[view]))

    def mix(self, values: np.ndarray) -> np.ndarray:
        """Expectations from values per part: (d, K, ...) becomes (3, d, ...)."""
        return np.einsum("vdk,dk...->vd...", self.weights, values)

    def moved(self, columns: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> Views:
        """The views of scale * x[columns] + shift, of one instance or of many."""
        law = self.law
        log_prob, mean, sd, lo, hi = (
            np.take(part, columns, axis=-2)
            for part in (law.log_prob, law.mean, law.sd, law.lo, law.hi)
        )
        box = None if law.box is None else np.take(law.box, columns, axis=-2)
        taken = BoxLaw(log_prob, mean, sd, lo, hi, box)
        return Views(taken.moved(scale, shift), np.take(self.weights, columns, axis=-2))


@dataclass(frozen=True)
class Tilt:
    """The tilted law seen from xi, one entry per coordinate (and row, where xi has rows).

    ``inside`` is E~[x_j | z_j=1] - xi_j and ``gap``, the contrast of x_j, is
    E~[x_j | z_j=1] - E~[x_j | z_j=0]; they keep their digits where alpha_j or 1 - alpha_j does not.
    """

    log_alpha: np.ndarray
    log_rest: np.ndarray  # log(1 - alpha)
    mu_tilde: np.ndarray
    sigma_tilde: np.ndarray
    theta: np.ndarray
    inside: np.ndarray
    gap: np.ndarray
    log_mass: np.ndarray  # log E[w_j]; C is the exponential of their sum
    make_views: Callable[[], Views] | None = field(repr=False, compare=False, default=None)
    normal: bool = False  # every coordinate is N(mu_tilde, sigma_tilde^2), whole

    @property
    def alpha(self) -> np.ndarray:
        """P~(z_j = 1), from whichever of alpha and 1 - alpha is the smaller."""
        return np.where(
            self.log_alpha < np.log(0.5), np.exp(self.log_alpha), -np.expm1(self.log_rest)
        )

    @property
    def rest(self) -> np.ndarray:
        """1 - alpha_j, precise when it is tiny."""
        return np.where(
            self.log_rest < np.log(0.5), np.exp(self.log_rest), -np.expm1(self.log_alpha)
        )

    @property
    def log_C(self) -> float:
        """Log C, the mean weight: the sum of the log masses."""
        return float(self.log_mass.sum())

    @property
    def constant(self) -> np.ndarray:
        """Coordinates that never leave xi's box: there is nothing to compare it with."""
        return np.isneginf(self.log_rest)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the function that makes the views, in whose place they stand."""
        views = {} if self.make_views is None else {"views": self.views}
        return self.__dict__ | views | {"make_views": None}

    @cached_property
    def views(self) -> Views:
        """The law itself, for expectations of models that are not linear."""
        assert self.make_views is not None
        return self.make_views()


def gaussian_tilt(
    xi: ArrayLike, nu: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> Tilt:
    """The paper's case: a normal coordinate, a Gaussian weight; arguments broadcast.

    ``lo`` and ``hi`` are the edges of xi's box in standard units, (q - mu) / sigma. With mu~,
    sigma~ from :func:`limetutor.laws.tilted_normal` and u = (q - mu~)/sigma~:

        alpha = Phi(u+) - Phi(u-),    theta = sigma~ (phi(u+) - phi(u-)),
        gap = -theta / (alpha (1 - alpha)),    inside = mu~ - xi - theta / alpha.

    Paper: Theorem 3.1, Eq. 7.3, Eq. 7.4. Chapters: theorem, switch-off.
    """
    xi, nu, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, nu, mu, sigma, lo, hi))
    if xi.size > BLOCK:
        return _in_blocks(xi, nu, mu, sigma, lo, hi)
    t, r = (xi - mu) / sigma, nu / sigma  # everything below is in units of sigma, seen from mu
    m, s, log_mass = tilted_normal(t, np.zeros_like(t), r, np.ones_like(t))
    u_lo, u_hi = (lo - m) / s, (hi - m) / s
    with np.errstate(invalid="ignore"):
        box = normal_box(u_lo, u_hi, total=(lo + hi - 2 * m) / s)
    with np.errstate(under="ignore"):
        theta = -s * np.exp(box.log_inside) * box.mean_inside
    to_mean = -t * (r / np.hypot(1.0, r)) ** 2  # m - t without the cancellation at small nu
    return Tilt(
        log_alpha=box.log_inside,
        log_rest=box.log_outside,
        mu_tilde=mu + sigma * m,
        sigma_tilde=sigma * s,
        theta=sigma * theta,
        inside=sigma * (to_mean + s * box.mean_inside),
        gap=sigma * s * (box.mean_inside - box.mean_outside),
        log_mass=log_mass,
        normal=True,
    )


def _in_blocks(*given: np.ndarray) -> Tilt:
    """:func:`gaussian_tilt` of many coordinates, block by block: what stays in cache is quick."""
    arrays = np.broadcast_arrays(*given)
    flat = [array.reshape(-1) for array in arrays]
    blocks = [
        gaussian_tilt(*(array[start : start + BLOCK] for array in flat))
        for start in range(0, flat[0].size, BLOCK)
    ]
    names = [part.name for part in fields(Tilt) if part.name not in ("make_views", "normal")]
    parts = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in names}
    found: dict[str, Any] = {n: part.reshape(arrays[0].shape) for n, part in parts.items()}
    return Tilt(**found, normal=all(block.normal for block in blocks))


@dataclass(frozen=True)
class WeightedParts:
    """Parts of a law under a weight: the views, and the masses on both sides of z."""

    views: Views
    log_alpha: np.ndarray
    log_rest: np.ndarray
    log_mass: np.ndarray


def weighted_parts(law: BoxLaw, log_weight: np.ndarray, mine: np.ndarray) -> WeightedParts:
    """Split a weighted mixture into xi's box (``mine``) and the rest.

    Within each side only differences of log weights count, and they are taken before anything is
    added to them: with nu = 1e-10 the weights differ by exp(1e20), and the frequencies of the
    boxes outside must not drown in that number.
    """
    there = law.log_prob > -np.inf
    (log_in, top_in, given_in), (log_out, top_out, given_out) = (
        _one_side(law.log_prob, log_weight, there & side) for side in (mine, ~mine)
    )
    with np.errstate(invalid="ignore"):
        odds = (top_in - top_out) + (log_in - log_out)
    odds = np.where(np.isneginf(log_out), np.inf, np.where(np.isneginf(log_in), -np.inf, odds))
    log_alpha, log_rest = scipy.special.log_expit(odds), scipy.special.log_expit(-odds)
    log_mass = np.logaddexp(top_in + log_in, top_out + log_out)
    given_out = np.where(np.isneginf(log_rest)[..., None], given_in, given_out)
    whole = np.exp(log_alpha)[..., None] * given_in + np.exp(log_rest)[..., None] * given_out
    with np.errstate(divide="ignore"):
        log_prob = np.where(
            mine,
            log_alpha[..., None] + np.log(given_in),
            log_rest[..., None] + np.log(given_out),
        )
    parts = BoxLaw(log_prob, law.mean, law.sd, law.lo, law.hi, law.box)
    views = Views(parts, np.stack([whole, given_in, given_out]))
    return WeightedParts(views, log_alpha, log_rest, log_mass)


def _one_side(
    log_prob: np.ndarray, log_weight: np.ndarray, side: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Log of the sum of prob * weight over a side, relative to its top weight; its shares."""
    top = np.max(np.where(side, log_weight, -np.inf), axis=-1, initial=-np.inf)
    top = np.where(np.isneginf(top), 0.0, top)
    with np.errstate(invalid="ignore"):
        joint = np.where(side, log_prob + (log_weight - top[..., None]), -np.inf)
    total = scipy.special.logsumexp(joint, axis=-1)
    with np.errstate(invalid="ignore"):
        share = np.where(np.isneginf(joint), 0.0, np.exp(joint - total[..., None]))
    return total, top, share


def parts_tilt(law: BoxLaw, log_weight: np.ndarray, own: np.ndarray, xi: np.ndarray) -> Tilt:
    """The tilt of any law, by sums over its parts.

    For the mismatch kernel alpha = p / (p + (1-p) exp(-1/2nu^2)) with p the frequency of xi's box,
    and the gap does not depend on nu at all. A constant coordinate has gap 0. Chapter: weights.
    """
    split, means, (whole, inside, outside) = _parts_means(law, log_weight, own)
    views = split.views
    variances = views.law.box_variances() + (means - whole[..., None]) ** 2
    gap = inside - outside
    return Tilt(
        log_alpha=split.log_alpha,
        log_rest=split.log_rest,
        mu_tilde=whole,
        sigma_tilde=np.sqrt(np.sum(views.weights[0] * variances, axis=-1)),
        theta=-np.exp(split.log_alpha + split.log_rest) * gap,
        inside=inside - xi,
        gap=gap,
        log_mass=split.log_mass,
        make_views=lambda: views,
    )


def _parts_means(
    law: BoxLaw, log_weight: np.ndarray, own: np.ndarray
) -> tuple[WeightedParts, np.ndarray, tuple[np.ndarray, ...]]:
    """The split of a law, the means of its parts, and E~[x_j] under each of the three views."""
    split = weighted_parts(law, log_weight, law.within(own))
    means = split.views.law.box_means()
    return split, means, tuple(np.sum(weights * means, axis=-1) for weights in split.views.weights)


def parts_sides(
    law: BoxLaw, log_weight: np.ndarray, own: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """E~[x_j | z_j = 1] and E~[x_j | z_j = 0] of any law, and no more than that."""
    _, _, (_, inside, outside) = _parts_means(law, log_weight, own)
    return inside, outside


def critical_bandwidth(
    xi: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> np.ndarray:
    """The bandwidth at which a feature is switched off, nan where there is none.

    nu_crit^2 = sigma^2 (2 xi - q- - q+) / (q- + q+ - 2 mu) when that is above 0 and the box is
    bounded; there the mean of the tilted law is the middle of xi's box and theta = 0. ``lo`` and
    ``hi`` are in standard units. Paper: Eq. 4.1. Chapter: switch-off.
    """
    xi, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, mu, sigma, lo, hi))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = lo + hi
        square = (2 * (xi - mu) / sigma - total) / total
        exists = np.isfinite(square) & (square > 0)
        return np.where(exists, sigma * np.sqrt(np.where(exists, square, 0.0)), np.nan)


def critical_bandwidths(world: Gaussian, X: ArrayLike) -> np.ndarray:
    """:func:`critical_bandwidth` of every entry of a table X (n, d), nan where there is none."""
    X = np.atleast_2d(arg.numbers("X", X))
    boxes = world.boxes(X.shape[1])
    return critical_bandwidth(X, boxes.mu, boxes.sigma, *boxes.standard_ends(boxes.discretize(X)))


def total_switch_off(world: Gaussian, nu: float, d: int | None = None) -> np.ndarray:
    """An instance (d,) at which every linear model gets coefficients of 0, nan where the box has none.

    With the Gaussian kernel and m_j the middle of a bounded box in standard units,

        xi_j = mu_j + m_j (sigma_j + nu^2 / sigma_j)

    puts the mean of the tilted law on the middle of that box. xi_j itself lies in the box where
    ``nu^2 < sigma_j^2 (q+ - q-) / |q+ + q-|``. The box taken is the one that allows the largest nu: the
    first above the mean for even p (then nu < sigma_j), the middle one for odd p (xi_j = mu_j, for
    every nu). Two boxes have no bounded one among them. Chapter: interactions.
    """
    if not isinstance(world, Gaussian):
        raise TypeError(f"world must be an lt.Gaussian(...), got {arg.shorten(world)}.")
    nu, boxes = arg.bandwidth("nu", nu), world.boxes(d)
    own = boxes.count // 2
    lo, hi = boxes.standard_ends(own)
    middle = (lo + hi) / 2
    bounded = np.isfinite(middle)
    m = np.where(bounded, middle, 0.0)
    xi = boxes.mu + m * (boxes.sigma + nu * (nu / boxes.sigma))
    return np.where(bounded & (boxes.discretize(xi) == own), xi, np.nan)


def mean_weighted_square_distance(
    xi: ArrayLike, mu: ArrayLike, sigma: ArrayLike, nu: float
) -> float:
    """E[pi ||x - xi||^2] = C sum_j [ (nu^2 (xi_j - mu_j)/(nu^2+sigma_j^2))^2 + sigma~_j^2 ].

    Paper: Remark 11.2. Appendix: Gaussian integrals.
    """
    xi, mu, sigma = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(v, float)) for v in (xi, mu, sigma))
    )
    mean, sd, log_mass = tilted_normal(xi, mu, nu, sigma)
    return float(np.exp(log_mass.sum()) * np.sum((mean - xi) ** 2 + sd**2))
