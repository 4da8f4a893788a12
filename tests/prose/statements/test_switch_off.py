"""Statements of the chapter *Switch-off*: zeros of the coefficient, searched for by brute force."""

import numpy as np
from grids import feature, lime, normal_feature
from scipy.optimize import brentq
from statements import statement
from worlds_drawn import draw


def zeros(coefficient, scale):
    """All bandwidths between 0.2 and 20 scales where the coefficient is or passes through zero."""
    grid = scale * np.geomspace(0.2, 20, 60)
    values = np.array([coefficient(nu) for nu in grid])
    passes = np.flatnonzero(values[:-1] * values[1:] < 0)
    rounding = np.abs(values) < 1e-10
    roots = [brentq(coefficient, grid[k], grid[k + 1], xtol=1e-12) for k in passes]
    return grid[rounding] if rounding.any() else np.array(roots)


@statement(
    "thm-critical-bandwidth",
    formulas=("V",),
    assumptions=(
        "linear f", "a ≠ 0", "box not symmetric about μ", "normal features", "Gaussian kernel",
    ),
    settings=8,
)  # fmt: skip
def test_critical_bandwidth(case, rng):
    p = 5 if not case.keeps("box not symmetric about μ") else 2 * int(rng.integers(2, 4))
    w = draw(rng, d=1, p=p)  # outer boxes too: there the theorem says "never"
    xi, mu, sigma, lo, hi = (v[0] for v in (w.xi, w.mu, w.sigma, w.lo, w.hi))
    if not case.keeps("box not symmetric about μ"):
        lo, hi, xi = mu - 0.25 * sigma, mu + 0.25 * sigma, mu
    a = rng.choice([-1, 1]) * rng.uniform(1, 5) if case.keeps("a ≠ 0") else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        V = sigma**2 * (2 * xi - lo - hi) / (lo + hi - 2 * mu)
    V = case.formula(V, "V")

    def coefficient(nu):
        g = normal_feature(xi, mu, sigma, nu, lo, hi)
        t = (g.x - mu) / sigma
        if not case.keeps("normal features"):
            g.prob = g.prob * (1 + 0.1 * (t**3 - 3 * t))
        if not case.keeps("Gaussian kernel"):
            distance = np.abs(g.x - xi)
            g = feature(g.x, g.prob, np.exp(-distance / nu), g.z == 1)
        y = a * g.x + (0 if case.keeps("linear f") else t**3)
        return lime(lambda _: y, [g]).beta[1]

    found = zeros(coefficient, sigma)
    predicted = [np.sqrt(V)] if V > 0 else []
    seen = [nu for nu in predicted if 0.2 < nu / sigma < 20]
    assert len(found) == len(seen)  # zero at no other bandwidth, and zero there
    np.testing.assert_allclose(found, seen, rtol=1e-6)


@statement("thm-critical-bandwidth", formulas=("place",))
def test_box_symmetric_about_the_mean(case, rng):
    mu, sigma, half = rng.uniform(1, 2), rng.uniform(0.5, 2), rng.uniform(0.1, 0.8)
    place = case.formula(mu, "place")

    def coefficients(xi):
        ends = (mu - half, mu + half)
        features = [
            normal_feature(xi, mu, sigma, nu, *ends) for nu in sigma * np.array([0.3, 1, 5])
        ]
        return np.array([lime(lambda x: 2 * x, [g]).beta[1] for g in features])

    assert np.all(np.abs(coefficients(place)) < 1e-10)  # at every bandwidth
    assert np.all(np.abs(coefficients(mu + half * rng.uniform(0.1, 0.9))) > 1e-5)  # nowhere else
