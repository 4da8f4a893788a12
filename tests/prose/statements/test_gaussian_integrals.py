"""Statements of the appendix *Gaussian integrals*, against quadrature."""

import numpy as np
from grids import integral, normal_density
from scipy.stats import norm
from statements import close, statement

phi, Phi = norm.pdf, norm.cdf


def setting(rng):
    """xi, mu, nu, sigma, and the quantities of the lemma as printed."""
    xi, mu = rng.normal(0, 2, 2)
    nu, sigma = rng.uniform(0.5, 2, 2)
    total = nu**2 + sigma**2
    c = nu / np.sqrt(total) * np.exp(-((xi - mu) ** 2) / (2 * total))
    mean, square = (nu**2 * mu + sigma**2 * xi) / total, nu**2 * sigma**2 / total
    return (xi, mu, nu, sigma), (c, mean, square)


def weighted(x, xi, mu, nu, sigma):
    return np.exp(-((x - xi) ** 2) / (2 * nu**2)) * normal_density(x, mu, sigma)


@statement("lem-two-bells", formulas=("c", "μ̃", "σ̃²"))
def test_two_bells(case, rng):
    given, printed = setting(rng)
    c, mean, square = (case.formula(v, k) for v, k in zip(printed, ("c", "μ̃", "σ̃²"), strict=True))
    assert square > 0
    x = mean + np.linspace(-3, 3, 13)
    close(c * normal_density(x, mean, np.sqrt(np.abs(square))), weighted(x, *given))


@statement("lem-gaussian-integrals", formulas=("order 0", "order 1", "order 2"))
def test_gaussian_integrals(case, rng):
    given, (c, mean, square) = setting(rng)
    sd = np.sqrt(square)
    lo = mean + sd * rng.normal()
    hi = lo + rng.uniform(0.3, 3)
    u, v = (lo - mean) / sd, (hi - mean) / sd
    P, d, ud = Phi(v) - Phi(u), phi(v) - phi(u), v * phi(v) - u * phi(u)
    printed = [
        c * P,
        c * (mean * P - sd * d),
        c * ((mean**2 + sd**2) * P - 2 * mean * sd * d - sd**2 * ud),
    ]
    for order, value in enumerate(printed):
        found = integral(lambda x, order=order: x**order * weighted(x, *given), [lo, hi], 0.5)
        close(case.formula(value, f"order {order}"), found)
