"""The paper's quantities at 50 digits, written from the paper and not from the package.

Every argument is a double taken exactly; quantiles are exact to 50 digits. Small numbers are always
sums or differences of complementary error functions on their own side, never 1 minus something.
"""

import math
from functools import cache
from types import SimpleNamespace

import mpmath

mp = mpmath.MPContext()
mp.dps = 50

TINY = 2.2250738585072014e-308  # the smallest double with all its digits


@cache
def quantile(k, p):
    """The k/p-quantile of N(0, 1)."""
    if k == 0:
        return -mp.inf
    if k == p:
        return mp.inf
    return mp.sqrt(2) * mp.erfinv(2 * mp.mpf(k) / p - 1)


def box_of(t, p):
    """The two quantiles around t, in standard units."""
    k = max(k for k in range(p) if quantile(k, p) <= t)
    return quantile(k, p), quantile(k + 1, p)


def density(u):
    """phi(u)."""
    return mp.mpf(0) if mp.isinf(u) else mp.exp(-(u**2) / 2) / mp.sqrt(2 * mp.pi)


def upper(u):
    """1 - Phi(u)."""
    if mp.isinf(u):
        return mp.mpf(0 if u > 0 else 1)
    return mp.erfc(u / mp.sqrt(2)) / 2


def masses(lo, hi):
    """Mass of N(0, 1) inside and outside [lo, hi], each with all its digits."""
    outside = upper(-lo) + upper(hi)
    if lo > 0:
        return upper(lo) - upper(hi), outside
    if hi < 0:
        return upper(-hi) - upper(-lo), outside
    return 1 - outside, outside


def normal_box(lo, hi):
    """Masses and means of N(0, 1) inside and outside [lo, hi]."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    inside, outside = masses(lo, hi)
    slope = density(lo) - density(hi)
    return inside, outside, slope / inside, -slope / outside


def coordinate(xi, mu, sigma, nu, p):
    """Everything the paper's theorem needs of one coordinate."""
    xi, mu, sigma, nu = (mp.mpf(float(v)) for v in (xi, mu, sigma, nu))
    lo, hi = (mu + sigma * q for q in box_of((xi - mu) / sigma, p))
    mean = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2)
    sd = nu * sigma / mp.sqrt(nu**2 + sigma**2)
    u_lo, u_hi = (lo - mean) / sd, (hi - mean) / sd
    alpha, rest = masses(u_lo, u_hi)
    theta = sd * (density(u_hi) - density(u_lo))
    square = mp.nan
    if not mp.isinf(lo) and not mp.isinf(hi) and abs(lo + hi - 2 * mu) > mp.mpf(10) ** -45 * sigma:
        square = sigma**2 * (2 * xi - lo - hi) / (lo + hi - 2 * mu)
    return SimpleNamespace(
        lo=lo,
        hi=hi,
        alpha=alpha,
        rest=rest,
        theta=theta,
        mu_tilde=mean,
        sigma_tilde=sd,
        slope=-theta / (alpha * rest),
        inside=mean - theta / alpha - xi,
        critical=mp.sqrt(square) if square > 0 else mp.nan,
        mass=nu / mp.sqrt(nu**2 + sigma**2) * mp.exp(-((xi - mu) ** 2) / (2 * (nu**2 + sigma**2))),
    )


def relative_error(value, exact):
    """|value - exact| / |exact| as a float; 0 when both are 0 (or both nan)."""
    value = mp.mpf(float(value))
    if mp.isnan(exact) or mp.isnan(value):
        return 0.0 if mp.isnan(exact) and mp.isnan(value) else float("inf")
    if exact == 0:
        return 0.0 if value == 0 else float("inf")
    return float(abs(value - exact) / abs(exact))


def bell(x, mu=0.0, sigma=1.0):
    """The N(mu, sigma^2) density in doubles, twenty times as fast as scipy's: quadrature asks often."""
    return math.exp(-(((x - mu) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
