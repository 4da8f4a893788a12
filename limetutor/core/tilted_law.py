"""The tilted law: what weighting makes of the law of the samples.

The coordinates of a sample are independent and the weight is a product over coordinates, so
weighting is the same as sampling from another product law, the **tilted law** P~. Under it the
indicators z_j are independent Bernoulli(alpha_j), least squares separates, and for any f

    beta_j  = E~[f | z_j = 1] - E~[f | z_j = 0],
    beta_0  = E~[f] - sum_j alpha_j beta_j,
    f^(xi)  = sum_{j >= 0} beta_j.

A :class:`Tilt` is that law seen from xi, for a product kernel. Chapters: weights, theorem, switch-off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .covariance import covariance, inverse_covariance
from .truncated import BoxLaw, normal_box, tilted_normal

BLOCK = 2**14  # coordinates whose tilt is computed together


@dataclass(frozen=True)
class ConditionalLaws:
    """The tilted law three times: as it is, given z_j = 1, and given z_j = 0.

    All three are mixtures of the same parts; ``weights`` (3, …, d, K) holds the probabilities. The
    last two are computed from the parts on their own side alone, so nothing is lost where alpha_j
    is 1 to the last digit. A coordinate that never leaves xi's box has its two sides made equal.
    """

    law: BoxLaw
    weights: np.ndarray

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return self.law.mean.shape[-2]

    @classmethod
    def of(cls, law: BoxLaw, log_weight: Any, box_of_xi: np.ndarray) -> ConditionalLaws:
        """Those of a law with weighted parts, whose coordinate j has z_j = 1 in ``box_of_xi[j]``."""
        log_weight = np.zeros(law.log_prob.shape) + log_weight
        return weighted_parts(law, log_weight, law.within(box_of_xi)).views

    def given(self, view: int) -> BoxLaw:
        """The law itself (0), given z_j = 1 for all j (1), or given z_j = 0 for all (2)."""
        with np.errstate(divide="ignore"):
            return replace(self.law, log_prob=np.log(self.weights[view]))

    def mix(self, values: np.ndarray) -> np.ndarray:
        """Expectations from values per part: (d, K, ...) becomes (3, d, ...)."""
        return np.einsum("vdk,dk...->vd...", self.weights, values)


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
    make_views: Callable[[], ConditionalLaws] | None = field(
        repr=False, compare=False, default=None
    )
    normal: bool = False  # every coordinate is N(mu_tilde, sigma_tilde^2), whole

    @property
    def alpha(self) -> np.ndarray:
        """P~(z_j = 1), from whichever of alpha and 1 - alpha is the smaller."""
        return _probability(self.log_alpha, self.log_rest)

    @property
    def rest(self) -> np.ndarray:
        """1 - alpha_j, precise when it is tiny."""
        return _probability(self.log_rest, self.log_alpha)

    @property
    def log_C(self) -> float:
        """Log C, the mean weight: the sum of the log masses."""
        return float(self.log_mass.sum())

    def covariance(self) -> np.ndarray:
        """Sigma / C (paper, Lemma 8.1)."""
        return covariance(self.alpha)

    def inverse_covariance(self) -> np.ndarray:
        """C Sigma^-1 (paper, Lemma 8.2)."""
        return inverse_covariance(self.alpha, self.rest)

    @property
    def constant(self) -> np.ndarray:
        """Coordinates that never leave xi's box: there is nothing to compare it with."""
        return np.isneginf(self.log_rest)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the conditional laws instead of the function that makes them."""
        views = {} if self.make_views is None else {"views": self.views}
        return self.__dict__ | views | {"make_views": None}

    @cached_property
    def views(self) -> ConditionalLaws:
        """The conditional laws, for expectations of models that are not linear."""
        assert self.make_views is not None
        return self.make_views()


def _probability(log_p: np.ndarray, log_rest: np.ndarray) -> np.ndarray:
    return np.where(log_p < np.log(0.5), np.exp(log_p), -np.expm1(log_rest))


def gaussian_tilt(
    xi: ArrayLike, nu: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> Tilt:
    """The paper's case: a normal coordinate, a Gaussian weight; arguments broadcast.

    ``lo`` and ``hi`` are the edges of xi's box in standard units, (q - mu) / sigma. With mu~,
    sigma~ from :func:`limetutor.core.truncated.tilted_normal` and u = (q - mu~)/sigma~:

        alpha = Phi(u+) - Phi(u-),    theta = sigma~ (phi(u+) - phi(u-)),
        gap = -theta / (alpha (1 - alpha)),    inside = mu~ - xi - theta / alpha.

    Paper: Theorem 3.1, Eq. 7.3, Eq. 7.4. Chapters: theorem, switch-off.
    """
    xi, nu, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, nu, mu, sigma, lo, hi))
    if xi.size > BLOCK:
        return _in_blocks(xi, nu, mu, sigma, lo, hi)
    t, r = (xi - mu) / sigma, nu / sigma  # everything below is in units of sigma, seen from mu
    m, s, log_mass = tilted_normal(t, np.zeros_like(t), r, np.ones_like(t))
    with np.errstate(invalid="ignore"):
        box = normal_box((lo - m) / s, (hi - m) / s, total=(lo + hi - 2 * m) / s)
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


def _in_blocks(*arguments: np.ndarray) -> Tilt:
    """:func:`gaussian_tilt` of many coordinates in blocks that stay in the processor's cache."""
    arrays = np.broadcast_arrays(*arguments)
    flat = [array.reshape(-1) for array in arrays]
    starts = range(0, flat[0].size, BLOCK)
    tilts = [gaussian_tilt(*(array[k : k + BLOCK] for array in flat)) for k in starts]
    names = [entry.name for entry in fields(Tilt) if entry.name not in ("make_views", "normal")]
    parts: dict[str, Any] = {n: np.concatenate([getattr(t, n) for t in tilts]) for n in names}
    return Tilt(**{n: part.reshape(arrays[0].shape) for n, part in parts.items()}, normal=True)


class WeightedParts(NamedTuple):
    """Parts of a law under a weight: the conditional laws, and the masses on both sides of z."""

    views: ConditionalLaws
    log_alpha: np.ndarray
    log_rest: np.ndarray
    log_mass: np.ndarray


def weighted_parts(law: BoxLaw, log_weight: np.ndarray, in_box: np.ndarray) -> WeightedParts:
    """Split a weighted mixture into the parts in xi's box (``in_box``) and the rest.

    Within each side only differences of log weights count, and they are taken before anything is
    added: with nu = 1e-10 weights differ by exp(1e20), in which frequencies would drown.
    """
    occurs = law.log_prob > -np.inf
    (log_in, top_in, given_in), (log_out, top_out, given_out) = (
        _one_side(law.log_prob, log_weight, occurs & side) for side in (in_box, ~in_box)
    )
    with np.errstate(invalid="ignore"):
        odds = (top_in - top_out) + (log_in - log_out)
    odds = np.where(np.isneginf(log_out), np.inf, np.where(np.isneginf(log_in), -np.inf, odds))
    log_alpha, log_rest = scipy.special.log_expit(odds), scipy.special.log_expit(-odds)
    log_mass = np.logaddexp(top_in + log_in, top_out + log_out)
    given_out = np.where(np.isneginf(log_rest)[..., None], given_in, given_out)
    whole = np.exp(log_alpha)[..., None] * given_in + np.exp(log_rest)[..., None] * given_out
    with np.errstate(divide="ignore"):
        inner = log_alpha[..., None] + np.log(given_in)
        outer = log_rest[..., None] + np.log(given_out)
    parts = BoxLaw(np.where(in_box, inner, outer), law.mean, law.sd, law.lo, law.hi, law.box)
    views = ConditionalLaws(parts, np.stack([whole, given_in, given_out]))
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
        share = np.where(np.isneginf(joint), 0.0, np.exp(joint - total[..., None]))
    return total, top, share


def parts_tilt(law: BoxLaw, log_weight: np.ndarray, box_of_xi: np.ndarray, xi: np.ndarray) -> Tilt:
    """The tilt of any law, by sums over its parts.

    For the mismatch kernel alpha = p / (p + (1-p) exp(-1/2nu^2)) with p the frequency of xi's box,
    and the gap does not depend on nu at all. A constant coordinate has gap 0. Chapter: weights.
    """
    split, means, (whole, inside, outside) = parts_means(law, log_weight, box_of_xi)
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


def parts_means(
    law: BoxLaw, log_weight: np.ndarray, box_of_xi: np.ndarray
) -> tuple[WeightedParts, np.ndarray, tuple[np.ndarray, ...]]:
    """The split of a law, the means of its parts, and E~[x_j] under each conditional law."""
    split = weighted_parts(law, log_weight, law.within(box_of_xi))
    means = split.views.law.box_means()
    return split, means, tuple(np.sum(weights * means, axis=-1) for weights in split.views.weights)
