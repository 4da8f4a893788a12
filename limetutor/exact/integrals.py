"""Integrals of truncated normals beyond mass, mean and variance: distribution and characteristic
functions, and the paper's Gaussian integrals. Appendix: Gaussian integrals.
"""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ..core import truncated
from ..core.truncated import BoxLaw, normal_box, tilted_normal


def gaussian_integral(
    order: int, xi: ArrayLike, mu: ArrayLike, nu: ArrayLike, sigma: ArrayLike,
    lo: ArrayLike = -np.inf, hi: ArrayLike = np.inf,
) -> np.ndarray:  # fmt: skip
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
    second = first**2 + sd**2 * truncated.truncated_variance(lo, hi)
    return np.exp(log_c + box.log_inside) * (1.0, first, second)[order]


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


def box_cdf(law: BoxLaw, j: int, t: np.ndarray) -> np.ndarray:
    """P(x_j <= t | box) for each box of coordinate j and each of the values t, (K, len(t))."""
    mean, sd = law.mean[j, :, None], law.sd[j, :, None]
    lo, hi = (ends[j, :, None] for ends in law.standard_ends())
    u = (t - mean) / np.where(sd == 0, 1.0, sd)
    return np.where(sd == 0, t >= mean, truncated_cdf(u, lo, hi))


def box_characteristic(law: BoxLaw, t: np.ndarray) -> np.ndarray:
    """E[exp(i t x_j) | box] for M frequencies t (d, M) of each coordinate, (d, K, M)."""
    t, mean, sd = t[:, None, :], law.mean[:, :, None], law.sd[:, :, None]
    lo, hi = (ends[:, :, None] for ends in law.standard_ends())
    spread = np.where(sd == 0, 1.0, truncated_characteristic(sd * t, lo, hi))
    return np.exp(1j * t * mean) * spread


def box_envelope(law: BoxLaw, t: np.ndarray) -> np.ndarray:
    """A bound on abs E[exp(i t x_j) | box] that never rises again as t (d,) grows, (d, K)."""
    k = np.abs(t)[:, None] * law.sd
    return np.where(law.sd == 0, 1.0, truncated_envelope(k, *law.standard_ends()))


def essential_ends(law: BoxLaw) -> tuple[np.ndarray, np.ndarray]:
    """Where each box ends, the tails beyond a density of exp(-42) of its peak left out."""
    lo, hi = law.standard_ends()
    mode, reach = truncated.mode_and_reach(lo, hi)
    left, right = np.maximum(lo, mode - reach), np.minimum(hi, mode + reach)
    return law.mean + law.sd * left, law.mean + law.sd * right
