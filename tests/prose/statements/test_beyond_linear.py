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


def together(case):
    """Nothing, or a factor that makes the features depend on each other."""
    return None if case.keeps("independent features") else lambda x, y: np.exp(0.3 * np.tanh(x * y))


@statement(
    "thm-bounded-hessian",
    formulas=("first order", "bound"),
    assumptions=("bounded Hessian", "independent features"),
)
def test_bounded_hessian(case, rng):
    w = draw(rng, d=2)
    a, wave, height = rng.normal(0, 2, 2), rng.normal(0, 1, 2), rng.uniform(0.5, 2)
    M = height * wave @ wave
    bend = height if case.keeps("bounded Hessian") else 30 * height

    def f(x, y, height=bend):
        return a[0] * x + a[1] * y + height * np.sin(wave[0] * x + wave[1] * y)

    features, (mean, _) = w.features(), tilted(w)
    gap = np.array([given(g, g.x, 1) - given(g, g.x, 0) for g in features])
    straight = lime(lambda x, y: f(x, y, 0.0), features, together(case)).beta[1:]
    close(case.formula(a * gap, "first order"), straight, rel=1e-6, abs=1e-8)
    slope = a + bend * wave * np.cos(wave @ mean)
    found = lime(f, features)
    law = found.prob * found.weight
    square = (found.x[0] - mean[0]) ** 2 + (found.x[1] - mean[1]) ** 2
    for j in (0, 1):
        own, other = features[j], features[1 - j]
        mass = other.prob * other.weight
        rest = np.sum(mass * (other.x - mean[1 - j]) ** 2) / np.sum(mass)
        sides = [given(own, (own.x - mean[j]) ** 2, k) + rest for k in (0, 1)]
        bound = case.formula(M / 2 * sum(sides), "bound")
        here = [law * (found.z[1 + j] == k) for k in (0, 1)]
        close(bound, M / 2 * sum(mass @ square / mass.sum() for mass in here), rel=1e-6)
        assert abs(found.beta[1 + j] - slope[j] * gap[j]) <= bound * (1 + 1e-9)


@statement(
    "prop-own-curvature",
    formulas=("averaged slope", "bound"),
    assumptions=("bounded own curvature", "independent features"),
)
def test_own_curvature(case, rng):
    w = draw(rng, d=2)
    a, b, rate, height = rng.normal(), rng.normal(), rng.uniform(0.5, 2), rng.uniform(0.5, 2)
    bend = height if case.keeps("bounded own curvature") else 100 * height

    def f(x, y, height=bend):
        return a * x + b * x * np.exp(0.5 * y) + 5 * y**2 + height * np.sin(rate * x)

    features, (mean, _) = w.features(), tilted(w)
    own, other = features
    gap = given(own, own.x, 1) - given(own, own.x, 0)
    mass = other.prob * other.weight
    averaged = a + b * np.sum(mass * np.exp(0.5 * other.x)) / np.sum(mass)
    straight = lime(lambda x, y: f(x, y, 0.0), features, together(case)).beta[1]
    close(case.formula(averaged * gap, "averaged slope"), straight, rel=1e-6, abs=1e-8)
    found = lime(f, features)
    spreads = [given(own, (own.x - mean[0]) ** 2, k) for k in (0, 1)]
    bound = case.formula(height * rate**2 / 2 * sum(spreads), "bound")
    law = found.prob * found.weight
    here = [law * (found.z[1] == k) for k in (0, 1)]
    square = (found.x[0] - mean[0]) ** 2
    close(bound, height * rate**2 / 2 * sum(m @ square / m.sum() for m in here), rel=1e-6)
    slope = averaged + bend * rate * np.cos(rate * mean[0])
    assert abs(found.beta[1] - slope * gap) <= bound * (1 + 1e-9)
