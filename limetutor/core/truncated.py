"""The normal on an interval, and the law of one coordinate: a mixture of truncated normals.

LIME's sampler draws a box and then a normal truncated to it: a :class:`BoxLaw`; weighting turns it
into another one, the *tilted* law. Functions keep full relative precision in both tails, where both
1/alpha and 1/(1 - alpha) are needed. Chapters: discretization, sampling; appendix: Gaussian integrals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .inverse_transform import InverseTransform

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


@cache
def _legendre(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


def _mills(x: np.ndarray) -> np.ndarray:
    """Mills ratio (1 - Phi(x)) / phi(x) for x >= 0; it neither underflows nor overflows."""
    return np.sqrt(np.pi / 2) * scipy.special.erfcx(x / np.sqrt(2))


class NormalBox(NamedTuple):
    """A standard normal inside and outside an interval: log masses and means.

    ``log_ratio`` is the log of the mass inside divided by the density at the end nearer to 0; it
    keeps its digits where the mass itself is exp(-1e10).
    """

    log_inside: np.ndarray
    log_outside: np.ndarray
    mean_inside: np.ndarray
    mean_outside: np.ndarray
    log_ratio: np.ndarray


def normal_box(lo: ArrayLike, hi: ArrayLike, total: ArrayLike | None = None) -> NormalBox:
    """Mass and mean of a standard normal inside and outside the interval [lo, hi].

    inside: Phi(hi) - Phi(lo), mean (phi(lo) - phi(hi)) / inside; outside: the rest. ``total`` is
    lo + hi, for callers who know it better than the sum of two rounded numbers.

    The interval is mirrored so that ``near`` is its end nearer to 0. Whatever is small is then
    phi(near) times a number of order one, and in ratios of small numbers that factor cancels.
    """
    lo, hi = np.broadcast_arrays(np.asarray(lo, float), np.asarray(hi, float))
    whole_line = (lo == -np.inf) & (hi == np.inf)
    lo, hi = np.where(whole_line, -1.0, lo), np.where(whole_line, 1.0, hi)  # replaced at the end
    total = lo + hi if total is None else np.broadcast_to(np.asarray(total, float), lo.shape)
    mirrored = total < 0
    near, far = np.where(mirrored, -hi, lo), np.where(mirrored, -lo, hi)
    with np.errstate(over="ignore", invalid="ignore"):
        drop = (far - near) * np.abs(total) / 2  # log phi(near) - log phi(far)
        fall = np.where(drop > 0, -np.expm1(-drop), 0.0)  # 1 - phi(far) / phi(near)
        log_phi = -0.5 * near**2 - LOG_SQRT_2PI
    straddles = near <= 0
    tail_far = np.exp(-np.where(drop > 0, drop, 0.0)) * _mills(np.where(far == np.inf, 1e300, far))
    small = _mills(np.abs(near)) + np.where(straddles, tail_far, -tail_far)
    small = np.where(~straddles, _narrow_mass(near, far, small), small)
    with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
        log_small = log_phi + np.log(small)
        log_rest = np.log1p(-np.exp(np.minimum(log_small, 0.0)))
        log_inside = np.where(straddles, log_rest, log_small)
        narrow = straddles & (far - near < 0.3)
        if np.any(narrow):
            by_quadrature = log_phi + np.log(_narrow_mass(near, far, 1.0))
            log_inside = np.where(narrow, by_quadrature, log_inside)
        log_outside = np.where(straddles, log_small, log_rest)
        log_ratio = np.where(straddles, log_inside - log_phi, np.log(small))
        # phi(near) / mass, with phi(near) cancelled where the mass is small
        over_small = fall / small
        inside = np.where(straddles, fall * np.exp(log_phi - log_inside), over_small)
        inside = np.where(near == far, near, inside)  # a point, without mass
        outside = np.where(straddles, over_small, fall * np.exp(log_phi - log_outside))
    sign = np.where(mirrored, -1.0, 1.0)
    log_inside = np.where(whole_line, 0.0, log_inside)
    log_outside = np.where(whole_line, -np.inf, log_outside)
    inside, outside = (np.where(whole_line, 0.0, mean) for mean in (inside, outside))
    return NormalBox(log_inside, log_outside, sign * inside, -sign * outside, log_ratio)


def _narrow_mass(near: np.ndarray, far: np.ndarray, otherwise: ArrayLike) -> np.ndarray:
    """Mass / phi(near) by quadrature where a difference of two tails would cancel."""
    width = far - near
    with np.errstate(invalid="ignore", over="ignore"):
        narrow = (width < 0.3) & ((np.abs(near) + np.abs(far)) * width < 2)
    result = np.array(np.broadcast_to(otherwise, narrow.shape), dtype=float)
    if np.any(narrow):
        nodes, weights = _legendre(16)
        a, w = near[narrow][:, None], width[narrow][:, None]
        step = w * nodes
        result[narrow] = np.sum(w * weights * np.exp(-a * step - step**2 / 2), -1)
    return result


def truncated_variance(lo: ArrayLike, hi: ArrayLike) -> np.ndarray:
    """Variance of a standard normal truncated to [lo, hi], by Gauss-Legendre quadrature.

    The textbook form 1 + (lo phi(lo) - hi phi(hi))/mass - mean^2 cancels in narrow boxes and tails.
    """
    lo, hi = np.broadcast_arrays(np.asarray(lo, float), np.asarray(hi, float))
    mode, reach = mode_and_reach(lo, hi)
    left, right = np.maximum(lo - mode, -reach), np.minimum(hi - mode, reach)
    nodes, weights = _legendre(96)
    step = left[..., None] + (right - left)[..., None] * nodes  # from the mode
    density = weights * np.exp(-mode[..., None] * step - step**2 / 2)
    density /= density.sum(-1, keepdims=True)
    mean = np.sum(density * step, -1, keepdims=True)
    return np.sum(density * (step - mean) ** 2, -1)


def mode_and_reach(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mode of a standard normal on [lo, hi], and how far from it the density falls by exp(-42)."""
    mode = np.clip(0.0, lo, hi)
    return mode, 84 / (np.abs(mode) + np.hypot(mode, np.sqrt(84)))


def tilted_normal(
    xi: np.ndarray, mu: np.ndarray, nu: ArrayLike, sigma: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard deviation and log mass of N(mu, sigma^2) times exp(-(x-xi)^2 / 2nu^2).

    mu~ = (nu^2 mu + sigma^2 xi)/(nu^2+sigma^2); sigma~ = nu sigma / sqrt(nu^2+sigma^2);
    mass nu/sqrt(nu^2+sigma^2) exp(-(xi-mu)^2/2(nu^2+sigma^2)). Paper: Section 3 (where sigma~
    is printed without its square root), Eq. 7.2, Remark 11.1. Chapter: weights.
    """
    both = np.hypot(nu, sigma)
    mean = mu + (xi - mu) * (sigma / both) ** 2
    log_mass = np.log(nu / both) - 0.5 * ((xi - mu) / both) ** 2
    return mean, sigma * (nu / both), log_mass


@dataclass(frozen=True)
class BoxLaw:
    """For each of d coordinates, a mixture of K truncated normals, each within one of its boxes.

    All arrays are (d, K), or (rows, d, K) for many laws at once. ``log_prob`` is -inf where a
    coordinate has fewer parts; ``sd`` 0 marks a part that is the single point ``mean``. ``box``
    is the box that a part lies in; None stands for one part a box, in order.
    """

    log_prob: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    box: np.ndarray | None = None

    @property
    def boxes(self) -> np.ndarray:
        """The box of each part, an array that broadcasts against the others."""
        return np.arange(self.mean.shape[-1]) if self.box is None else self.box

    def within(self, box_of_xi: np.ndarray) -> np.ndarray:
        """Which parts lie in the boxes (d,) or (rows, d) of xi, an array of bool (…, d, K)."""
        return self.boxes == np.asarray(box_of_xi)[..., None]

    @property
    def prob(self) -> np.ndarray:
        """Probability of each part, (d, K)."""
        return np.exp(self.log_prob)

    def standard_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the parts in units of their own normal (a point becomes [-1, 1])."""
        point = self.sd == 0
        sd = np.where(point, 1.0, self.sd)
        lo = np.where(point, -1.0, (self.lo - self.mean) / sd)
        return lo, np.where(point, 1.0, (self.hi - self.mean) / sd)

    def box_means(self) -> np.ndarray:
        """E[x | part], (d, K)."""
        return self.mean + self.sd * normal_box(*self.standard_ends()).mean_inside

    def box_variances(self) -> np.ndarray:
        """Var[x | part], (d, K)."""
        return self.sd**2 * truncated_variance(*self.standard_ends())

    def log_interval_mass(self) -> np.ndarray:
        """Log of the mass that each part's whole normal has between its ends."""
        return normal_box(*self.standard_ends()).log_inside

    def mean_and_deviation(self) -> tuple[np.ndarray, np.ndarray]:
        """E[x] and the standard deviation of x, each (d,)."""
        prob, means = self.prob, self.box_means()
        mean = np.sum(prob * means, axis=-1)
        within = np.sum(prob * self.box_variances(), axis=-1)
        between = np.sum(prob * (means - mean[..., None]) ** 2, axis=-1)
        return mean, np.sqrt(within + between)

    def taken(self, columns: np.ndarray) -> BoxLaw:
        """The law of x[columns], of one instance or of many."""
        log_prob, mean, sd, lo, hi = (
            np.take(part, columns, axis=-2)
            for part in (self.log_prob, self.mean, self.sd, self.lo, self.hi)
        )
        box = None if self.box is None else np.take(self.box, columns, axis=-2)
        return BoxLaw(log_prob, mean, sd, lo, hi, box)

    def weighted_by_gaussian(
        self, xi: np.ndarray, nu: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each part under the weight exp(-(x - xi)^2 / 2nu^2): mean, deviation, log E[weight].

        A truncated normal becomes another one (:func:`tilted_normal`) in the same interval.
        """
        mean, sd, log_mass = tilted_normal(xi, self.mean, nu, self.sd)
        after = replace(self, mean=mean, sd=sd)
        before = self.log_interval_mass()
        point = (self.sd == 0) | np.isneginf(before)  # or an interval of no width, never drawn
        ratio = after.log_interval_mass() - np.where(point, 0.0, before)
        return mean, sd, log_mass + np.where(point, 0.0, ratio)

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """n draws: values (n, d) and the boxes they came from (n, d)."""
        boxes = np.broadcast_to(self.boxes, self.mean.shape).copy()
        return self.inverse_transform.draw(rng, n, boxes)

    @cached_property
    def inverse_transform(self) -> InverseTransform:
        """Tables that turn uniform numbers into values."""
        return InverseTransform(self)
