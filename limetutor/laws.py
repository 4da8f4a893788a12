"""One-dimensional laws: the normal on an interval, and mixtures of truncated normals.

Everything the theory needs of a coordinate is here: masses of boxes, means inside and outside a
box, variances, and samples. LIME's sampler draws a box first and then a normal truncated to it,
so the law of a coordinate is a :class:`BoxLaw`; weighting by a product kernel turns it into
another one (the *tilted* law, see :mod:`limetutor.theory`). The functions keep full relative
precision in both tails, where masses are 1e-300 or 1 - 1e-16 and both 1/alpha and 1/(1 - alpha)
are asked for. Chapters: discretization, sampling; appendix: Gaussian integrals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from .quantiles import Quantiles
from .quantiles import truncated_quantile as truncated_quantile  # known by this room

LOG_SQRT_2PI = 0.5 * np.log(2 * np.pi)


@cache
def _legendre(points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


def _mills(x: np.ndarray) -> np.ndarray:
    """Mills ratio (1 - Phi(x)) / phi(x) for x >= 0; it neither underflows nor overflows."""
    return np.sqrt(np.pi / 2) * scipy.special.erfcx(x / np.sqrt(2))


class Box(NamedTuple):
    """A standard normal seen through an interval: masses (as logarithms) and means.

    ``log_ratio`` is the log of the mass inside divided by the density at the end nearer to 0; it
    keeps its digits where the mass itself is exp(-1e10).
    """

    log_inside: np.ndarray
    log_outside: np.ndarray
    mean_inside: np.ndarray
    mean_outside: np.ndarray
    log_ratio: np.ndarray


def normal_box(lo: ArrayLike, hi: ArrayLike, total: ArrayLike | None = None) -> Box:
    """Mass and mean of a standard normal inside and outside the interval [lo, hi].

    inside: Phi(hi) - Phi(lo), mean (phi(lo) - phi(hi)) / inside; outside: the rest. ``total`` is
    lo + hi, for callers who know it better than the sum of two rounded numbers: near a switch-off
    it is the difference that decides everything.

    The interval is mirrored so that ``lo`` is its end nearer to 0, where the density is phi(lo).
    Whatever is small is then written as phi(lo) times a number of order one, and ratios of small
    numbers never see the factor.
    """
    lo, hi = np.broadcast_arrays(np.asarray(lo, float), np.asarray(hi, float))
    whole_line = (lo == -np.inf) & (hi == np.inf)
    lo, hi = np.where(whole_line, -1.0, lo), np.where(whole_line, 1.0, hi)  # answered at the end
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
        narrow = straddles & (far - near < 0.3)
        log_inside = np.where(straddles, log_rest, log_small)
        if np.any(narrow):
            log_inside = np.where(
                narrow, log_phi + np.log(_narrow_mass(near, far, 1.0)), log_inside
            )
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
    return Box(log_inside, log_outside, sign * inside, -sign * outside, log_ratio)


def _narrow_mass(near: np.ndarray, far: np.ndarray, otherwise: ArrayLike) -> np.ndarray:
    """Mass / phi(near) by quadrature where a difference of two tails would cancel."""
    width = far - near
    with np.errstate(invalid="ignore", over="ignore"):
        narrow = (width < 0.3) & ((np.abs(near) + np.abs(far)) * width < 2)
    result = np.array(np.broadcast_to(otherwise, narrow.shape), dtype=float)
    if np.any(narrow):  # mostly few are, or none
        nodes, weights = _legendre(16)
        a, w = near[narrow][:, None], width[narrow][:, None]
        step = w * nodes
        result[narrow] = np.sum(w * weights * np.exp(-a * step - step**2 / 2), -1)
    return result


def truncated_variance(lo: ArrayLike, hi: ArrayLike) -> np.ndarray:
    """Variance of a standard normal truncated to [lo, hi].

    By Gauss-Legendre quadrature around the truncated mean: the textbook form
    1 + (lo phi(lo) - hi phi(hi))/mass - mean^2 cancels in narrow boxes and in the tails.
    """
    lo, hi = np.broadcast_arrays(np.asarray(lo, float), np.asarray(hi, float))
    mode, reach = mode_and_reach(lo, hi)
    left, right = np.maximum(lo - mode, -reach), np.minimum(hi - mode, reach)  # seen from the mode
    nodes, weights = _legendre(96)
    step = left[..., None] + (right - left)[..., None] * nodes
    density = weights * np.exp(-mode[..., None] * step - step**2 / 2)
    density /= density.sum(-1, keepdims=True)
    mean = np.sum(density * step, -1, keepdims=True)
    return np.sum(density * (step - mean) ** 2, -1)


def mode_and_reach(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Peak of a standard normal on [lo, hi], and how far from it the density falls by exp(-42)."""
    mode = np.clip(0.0, lo, hi)
    return mode, 84 / (np.abs(mode) + np.sqrt(mode**2 + 84))


def truncated_cdf(u: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """P(x <= u) for a standard normal truncated to [lo, hi]: a ratio of two masses."""
    u, lo, hi = np.broadcast_arrays(u, lo, hi)
    within = (u > lo) & (u < hi)
    below = normal_box(lo, np.where(within, u, hi)).log_inside
    with np.errstate(under="ignore", invalid="ignore"):  # an interval without width has no mass
        ratio = np.exp(below - normal_box(lo, hi).log_inside)
    return np.where(within, ratio, u >= hi)


def truncated_characteristic(k: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """E[exp(i k x)] for a standard normal truncated to [lo, hi]; appendix: Gaussian integrals.

    The part beyond a >= 0 is exp(-a^2/2 + i a k) w((k + i a) / sqrt 2) / 2 with w the Faddeeva
    function, bounded there; the part below -a is its conjugate; both are divided by the mass of
    the interval before anything can underflow.
    """
    log_mass = normal_box(lo, hi).log_inside

    def beyond(a: np.ndarray) -> np.ndarray:
        end = np.where(np.isinf(a), 0.0, a)
        with np.errstate(under="ignore"):
            height = np.exp(np.where(np.isinf(a), -np.inf, -0.5 * end**2 - log_mass))
        return 0.5 * height * np.exp(1j * end * k) * scipy.special.wofz((k + 1j * end) / np.sqrt(2))

    at_lo, at_hi = beyond(np.abs(lo)), beyond(np.abs(hi))
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        around = np.exp(-0.5 * k**2 - log_mass) - np.conj(at_lo) - at_hi
    right, left = at_lo - at_hi, np.conj(at_hi - at_lo)
    return np.where(lo >= 0, right, np.where(hi <= 0, left, around))


def truncated_envelope(k: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """A bound on :func:`truncated_characteristic` that falls as k >= 0 grows.

    Each of its parts beyond an end is at most half of exp(-a^2/2) / mass times |w|, and
    |w(z)| <= min(1, 1.3 / (sqrt(pi) |z|)) in the upper half plane.
    """
    log_mass = normal_box(lo, hi).log_inside
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        ends = np.exp(-0.5 * lo**2 - log_mass) + np.exp(-0.5 * hi**2 - log_mass)
        middle = np.where((lo < 0) & (hi > 0), np.exp(-0.5 * k**2 - log_mass), 0.0)
        return np.minimum(middle + 0.5 * ends * np.minimum(1.0, 1.3 * np.sqrt(2 / np.pi) / k), 1.0)


def gaussian_integral(
    order: int,
    xi: ArrayLike,
    mu: ArrayLike,
    nu: ArrayLike,
    sigma: ArrayLike,
    lo: ArrayLike = -np.inf,
    hi: ArrayLike = np.inf,
) -> np.ndarray:
    """Integral over [lo, hi] of x^order exp(-(x-xi)^2/2nu^2) times the N(mu, sigma^2) density.

    c mass E[x^order | lo <= x <= hi] under N(mu~, sigma~^2), where
    c = nu / sqrt(nu^2+sigma^2) exp(-(xi-mu)^2 / 2(nu^2+sigma^2)),
    mu~ = (nu^2 mu + sigma^2 xi)/(nu^2+sigma^2), sigma~^2 = nu^2 sigma^2/(nu^2+sigma^2).
    Paper: Lemma 11.1, Lemma 11.2 and Lemma 11.3, of order 0, 1 and 2 (the last there only over
    the line). Appendix: Gaussian integrals.
    """
    if order not in (0, 1, 2):
        raise ValueError(f"order must be 0, 1 or 2, got {order!r}.")
    xi, mu, nu, sigma = (np.asarray(v, float) for v in (xi, mu, nu, sigma))
    mean, sd, log_c = tilted_normal(xi, mu, nu, sigma)
    lo, hi = (np.asarray(lo, float) - mean) / sd, (np.asarray(hi, float) - mean) / sd
    box = normal_box(lo, hi)
    first = mean + sd * box.mean_inside
    second = first**2 + sd**2 * truncated_variance(lo, hi)
    return np.exp(log_c + box.log_inside) * (1.0, first, second)[order]


def tilted_normal(
    xi: np.ndarray, mu: np.ndarray, nu: ArrayLike, sigma: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, deviation and log mass of N(mu, sigma^2) weighted by exp(-(x-xi)^2 / 2nu^2).

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
    says which box a part lies in; None stands for one part a box, in their order.
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

    def within(self, own: np.ndarray) -> np.ndarray:
        """Which parts lie in the boxes ``own`` (d,) or (rows, d), an array of bool (…, d, K)."""
        return self.boxes == np.asarray(own)[..., None]

    @property
    def prob(self) -> np.ndarray:
        """Probability of each part, (d, K)."""
        return np.exp(self.log_prob)

    def standard_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Ends of the boxes in units of their own normal (a point becomes [-1, 1])."""
        point = self.sd == 0
        sd = np.where(point, 1.0, self.sd)
        lo = np.where(point, -1.0, (self.lo - self.mean) / sd)
        return lo, np.where(point, 1.0, (self.hi - self.mean) / sd)

    def box_means(self) -> np.ndarray:
        """E[x | box], (d, K)."""
        return self.mean + self.sd * normal_box(*self.standard_ends()).mean_inside

    def box_variances(self) -> np.ndarray:
        """Var[x | box], (d, K)."""
        return self.sd**2 * truncated_variance(*self.standard_ends())

    def mean_and_deviation(self) -> tuple[np.ndarray, np.ndarray]:
        """E[x] and the standard deviation of x, each (d,)."""
        prob, means = self.prob, self.box_means()
        mean = np.sum(prob * means, axis=-1)
        within = np.sum(prob * self.box_variances(), axis=-1)
        between = np.sum(prob * (means - mean[..., None]) ** 2, axis=-1)
        return mean, np.sqrt(within + between)

    def moved(self, scale: np.ndarray, shift: np.ndarray) -> BoxLaw:
        """The law of scale * x + shift, for positive scales, one per coordinate."""
        scale, shift = scale[:, None], shift[:, None]
        mean, lo, hi = (scale * v + shift for v in (self.mean, self.lo, self.hi))
        return replace(self, mean=mean, sd=scale * self.sd, lo=lo, hi=hi)

    def taken(self, columns: np.ndarray) -> BoxLaw:
        """The law of x[columns]."""
        box = None if self.box is None else self.box[columns]
        parts = (self.log_prob, self.mean, self.sd, self.lo, self.hi)
        return replace(BoxLaw(*(part[columns] for part in parts)), box=box)

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

    def weighted_by_exponential(
        self, xi: np.ndarray, nu: ArrayLike, side: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Each part, cut off at xi, under exp(-side (x - xi) / nu): mean, log E[weight; that side].

        ``side`` is +1 where the part to the right of xi is meant and -1 for the left. A normal
        keeps its deviation s and moves by -side s^2 / nu. With a the end nearer to xi, in units of
        s seen from the mean, and r = s / nu, the mean weight is exp(-|a - xi| / nu) times

            integral of phi(u) exp(-r (u - a)) = phi(a) M, M = mass beyond a + r over phi(a + r),

        divided by the mass of the whole part: nothing overflows, however small nu is. A single
        point has its weight on either side.
        """
        near = side * np.where(side > 0, np.maximum(self.lo, xi), np.minimum(self.hi, xi))
        far = side * np.where(side > 0, np.maximum(self.hi, xi), np.minimum(self.lo, xi))
        point = self.sd == 0
        sd = np.where(point, 1.0, self.sd)
        a, b, rate = (near - side * self.mean) / sd, (far - side * self.mean) / sd, sd / nu
        there = b > a
        box = normal_box(a + rate, np.where(there, b, a + 1) + rate)
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = -0.5 * a**2 - LOG_SQRT_2PI + box.log_ratio
            around = rate * a + rate**2 / 2 + box.log_inside
            inner = np.where(a + rate > 0, beyond, around) - self.log_interval_mass()
        log_weight = np.where(there, inner - (near - side * xi) / nu, -np.inf)
        log_weight = np.where(point, -np.abs(self.mean - xi) / nu, log_weight)
        return self.mean - np.where(point, 0.0, side * self.sd**2 / nu), log_weight

    def log_interval_mass(self) -> np.ndarray:
        """Log of the mass that each part's whole normal has between its ends."""
        return normal_box(*self.standard_ends()).log_inside

    def box_cdf(self, j: int, t: np.ndarray) -> np.ndarray:
        """P(x_j <= t | box) for each box of coordinate j and each of the values t, (K, len(t))."""
        mean, sd = self.mean[j, :, None], self.sd[j, :, None]
        lo, hi = (ends[j, :, None] for ends in self.standard_ends())
        u = (t - mean) / np.where(sd == 0, 1.0, sd)
        return np.where(sd == 0, t >= mean, truncated_cdf(u, lo, hi))

    def box_characteristic(self, t: np.ndarray) -> np.ndarray:
        """E[exp(i t x_j) | box] for M frequencies t (d, M) of each coordinate, (d, K, M)."""
        t, mean, sd = t[:, None, :], self.mean[:, :, None], self.sd[:, :, None]
        lo, hi = (ends[:, :, None] for ends in self.standard_ends())
        spread = np.where(sd == 0, 1.0, truncated_characteristic(sd * t, lo, hi))
        return np.exp(1j * t * mean) * spread

    def box_envelope(self, t: np.ndarray) -> np.ndarray:
        """A bound on abs E[exp(i t x_j) | box] that never rises again as t (d,) grows, (d, K)."""
        k = np.abs(t)[:, None] * self.sd
        return np.where(self.sd == 0, 1.0, truncated_envelope(k, *self.standard_ends()))

    def essential_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each box ends, the tails beyond a density of exp(-42) of its peak left out."""
        lo, hi = self.standard_ends()
        mode, reach = mode_and_reach(lo, hi)
        left, right = np.maximum(lo, mode - reach), np.minimum(hi, mode + reach)
        return self.mean + self.sd * left, self.mean + self.sd * right

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """n draws: values (n, d) and the boxes they came from (n, d)."""
        marks = np.broadcast_to(self.boxes, self.mean.shape).copy()
        return self.quantiles.draw(rng, n, marks)

    @cached_property
    def quantiles(self) -> Quantiles:
        """Tables that turn uniform numbers into values."""
        return Quantiles(self)
