"""Statements of the chapter *Beyond linear*, against integrals over the two sides of a box."""

import numpy as np
from grids import given, lime, normal_density, panels, refined
from statements import close, statement
from worlds_drawn import draw, tilted


@statement("prop-quadratic", assumptions=("Q symmetric", "quadratic f"))
def test_quadratic(case, rng):
    w = draw(rng, d=2)
    Q, a, b = rng.normal(size=(2, 2)), rng.normal(size=2), rng.normal()
    if case.keeps("Q symmetric"):
        Q = (Q + Q.T) / 2

    def f(x, y):
        cubic = 0 if case.keeps("quadratic f") else 0.3 * x**2 * y
        square = Q[0, 0] * x**2 + (Q[0, 1] + Q[1, 0]) * x * y + Q[1, 1] * y**2
        return square + a[0] * x + a[1] * y + b + cubic

    features, (mean, _) = w.features(), tilted(w)
    g = a + 2 * Q @ mean

    def gap(j, order):
        u = (features[j].x - mean[j]) ** order
        return given(features[j], u, 1) - given(features[j], u, 0)

    beta = [g[j] * gap(j, 1) + Q[j, j] * gap(j, 2) for j in range(2)]
    close(case.formula(beta), lime(f, features).beta[1:], rel=1e-7, abs=1e-9)


@statement("prop-secant", assumptions=("one nearest edge", "continuous f"))
def test_smallest_bandwidth(case, rng):
    sigma, lo, width = rng.uniform(0.5, 2), rng.normal(), rng.uniform(0.5, 1.5)
    share = rng.choice([0.2, 0.8]) + rng.uniform(-0.1, 0.1)
    hi = lo + width
    xi = lo + width * share if case.keeps("one nearest edge") else lo + width / 2
    gap, edge = min((xi - lo, lo), (hi - xi, hi))
    nu = gap / 30  # the limit is left behind by about (nu / gap)^2, a thousandth
    other = rng.normal()  # the other feature, on which the tilted law is a point

    def f(x):
        jump = 0 if case.keeps("continuous f") else 1.0 * (x > xi)
        return np.exp(0.5 * x) + 2 * x * np.cos(other) + jump

    def mean(breaks):
        x, dx = panels(refined(np.array(breaks), nu / 2))
        exponent = -(((x - xi) / nu) ** 2) / 2
        mass = dx * np.exp(exponent - exponent.max()) * normal_density(x, 0, sigma)
        return np.array([np.sum(mass * f(x)), np.sum(mass)]), exponent.max()

    (inside, weight), _ = mean([lo, hi])
    sides = [mean([lo - 8 * nu, lo]), mean([hi, hi + 8 * nu])]
    top = max(shift for _, shift in sides)
    outside, rest = sum(part * np.exp(shift - top) for part, shift in sides)
    printed = f(xi) - f(edge)
    close(case.formula(printed), inside / weight - outside / rest, rel=4e-3)
