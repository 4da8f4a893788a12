"""Gaussian integrals and characteristic functions, against quadrature."""

import numpy as np
import pytest
import reference as ref
from reference import mp
from scipy import integrate

import limetutor as lt
from limetutor.exact.integrals import (
    box_characteristic,
    box_envelope,
    gaussian_integral,
    truncated_characteristic,
)

INF = np.inf


@pytest.mark.parametrize("order", [0, 1, 2])
def test_gaussian_integrals_over_an_interval_match_quadrature_at_50_digits(order):
    rng = np.random.default_rng(3)
    for _ in range(8):
        xi, mu = rng.normal(0, 2, 2)
        nu, sigma = 10 ** rng.uniform(-0.7, 0.7, 2)
        lo = rng.normal(0, 2)
        hi = lo + 10 ** rng.uniform(-1, 1)
        x = [mp.mpf(float(v)) for v in (xi, mu, nu, sigma, lo, hi)]

        tilted = ref.coordinate(xi, mu, sigma, nu, 2)
        near = min(max(tilted.mu_tilde, x[4]), x[5])
        # pieces that double in length away from the peak, so that quadrature sees it wherever it is
        steps = [0, *(side * tilted.sigma_tilde * 2**k for k in range(-6, 6) for side in (-1, 1))]
        cuts = sorted({x[4], x[5], *(near + s for s in steps if x[4] < near + s < x[5])})

        def integrand(u, x=x):
            weight = mp.exp(-((u - x[0]) ** 2) / (2 * x[2] ** 2))
            return weight * ref.density((u - x[1]) / x[3]) / x[3]

        peak = integrand(near)  # divided out: mp.quad stops at an absolute error
        with mp.workdps(25):
            exact = peak * mp.quad(lambda u: u**order * integrand(u) / peak, cuts)  # noqa: B023
            size = peak * mp.quad(lambda u: abs(u**order) * integrand(u) / peak, cuts)  # noqa: B023
        value = gaussian_integral(order, xi, mu, nu, sigma, lo, hi)
        # relative to the integral of |x|: the first order may cancel around 0
        assert abs(float(value - exact)) < 1e-12 * float(size)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_gaussian_integrals_over_the_line_match_quadrature(order):
    rng = np.random.default_rng(4)
    for _ in range(20):
        xi, mu = rng.normal(0, 2, 2)
        nu, sigma = 10 ** rng.uniform(-1, 1, 2)
        centre, reach = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2), 12 * min(nu, sigma)

        def integrand(x, xi=xi, mu=mu, nu=nu, sigma=sigma):
            return x**order * np.exp(-((x - xi) ** 2) / 2 / nu**2) * ref.bell(x, mu, sigma)

        ends = centre - reach, centre + reach
        exact, error = integrate.quad(integrand, *ends, epsabs=0, epsrel=1e-12, limit=200)
        # 12 tilted deviations hold all but 1e-32 of the mass
        assert gaussian_integral(order, xi, mu, nu, sigma) == pytest.approx(
            exact, rel=1e-10, abs=10 * error
        )


def test_gaussian_integrals_over_the_line_are_the_sum_over_its_pieces():
    cuts = [-INF, -2.0, 0.1, 0.5, 3.0, INF]
    for order in (0, 1, 2):
        pieces = gaussian_integral(order, 0.3, -0.4, 0.8, 1.7, cuts[:-1], cuts[1:])
        whole = gaussian_integral(order, 0.3, -0.4, 0.8, 1.7)
        assert pieces.sum() == pytest.approx(whole, rel=1e-13, abs=0)  # five roundings


def test_gaussian_integrals_know_orders_0_to_2_only():
    with pytest.raises(ValueError, match=r"order must be 0, 1 or 2, got 3\."):
        gaussian_integral(3, 0, 0, 1, 1)


def test_the_bound_on_what_is_left_of_a_series_holds_and_falls():
    table = np.random.default_rng(20).normal(size=(60, 2)) * [1.0, 2.0] + [0.5, -1.0]
    table[:20, 1] = 0.25  # a third of the rows in one point: a box without width
    law = lt.Empirical(table, p=3, edges={1: [-1.5, 0.24, 0.26]}).boxes(2).law
    t = np.linspace(0.01, 60, 800)
    for scale in (0.3, 1.0, 20.0):
        value = np.abs(box_characteristic(law, np.full((2, 1), scale) * t))
        bound = np.stack([box_envelope(law, np.full(2, scale * u)) for u in t], axis=-1)
        assert np.all(value <= bound + 1e-13)
        assert np.all(np.diff(bound, axis=-1) <= 1e-15)


def test_characteristic_functions_match_quadrature_in_the_tails():
    nodes, weights = np.polynomial.legendre.leggauss(300)
    inf = np.inf
    intervals = [(-1, 0.5), (-inf, inf), (-inf, -3), (2, inf), (30, 40), (-1e-3, 1e-3), (0, 1)]
    intervals += [(5, 5.001), (-0.3, inf), (-1, 0), (-inf, 1), (-200, -100)]
    for lo, hi in intervals:
        near = np.clip(0.0, lo, hi)
        a, b = max(lo, near - 9), min(hi, near + 9)
        if abs(near) > 20:  # the density falls within 1/|near|
            a, b = max(lo, near - 2), min(hi, near + 2)
        u = a + (b - a) / 2 * (nodes + 1)
        density = weights * np.exp(-(u - near) * (u + near) / 2)
        for k in (0.0, 1e-3, 0.7, -12.0, 30.0):
            truth = density @ np.exp(1j * k * u) / density.sum()
            found = truncated_characteristic(np.array(k), np.array(float(lo)), np.array(float(hi)))
            assert abs(found - truth) < 2e-12
