"""Statements of the chapter *The theorem*, against the regression itself on a grid."""

import numpy as np
from grids import lime
from statements import close, statement
from worlds_drawn import draw, linear, skewed, theta_and_alpha, tilted


def a_wave(x, y):
    return np.sin(x + 0.3) * y + 0.5 * x * y**2


@statement(
    "thm-any-model",
    formulas=("beta_j", "beta_0"),
    assumptions=("independent features", "product weight", "no α_j is 0 or 1"),
)
def test_coefficients_of_any_model(case, rng):
    w = draw(rng, d=2)
    if not case.keeps("no α_j is 0 or 1"):
        w.lo[0], w.hi[0] = -np.inf, np.inf
    weight, density = case.keeps("product weight"), case.keeps("independent features")

    def together(x, y):
        """What spoils the product: a factor of the weight, or of the joint density."""
        coupled = 1.0 if weight else np.exp(0.2 * np.sin(x * y))
        return coupled * (1.0 if density else 1 + 0.5 * np.tanh(x - w.mu[0]) * np.tanh(y - w.mu[1]))

    found = lime(a_wave, w.features(), together)
    mass = found.prob * found.weight

    def mean(values, where=1.0):
        return np.sum(mass * where * values) / np.sum(mass * where)

    with np.errstate(invalid="ignore"):
        beta = np.array([mean(found.y, z) - mean(found.y, 1 - z) for z in found.z[1:]])
    beta = case.formula(beta, "beta_j")
    alpha = np.array([mean(z) for z in found.z[1:]])
    close(beta, found.beta[1:], rel=1e-7, abs=1e-9)
    close(case.formula(mean(found.y) - alpha @ beta, "beta_0"), found.beta[0], rel=1e-7, abs=1e-9)


@statement(
    "thm-coefficients", formulas=("beta_j", "beta_0"), assumptions=("linear f", "normal features")
)
def test_coefficients_of_a_linear_model(case, rng):
    w = draw(rng, d=2)
    f = linear(rng, bent=not case.keeps("linear f"))
    theta, alpha = theta_and_alpha(w)
    beta = case.formula(f.a * -theta / (alpha * (1 - alpha)), "beta_j")
    intercept = f.line(tilted(w)[0]) + np.sum(f.a * theta / (1 - alpha))
    found = lime(f, w.features() if case.keeps("normal features") else skewed(w)).beta
    close(beta, found[1:], rel=1e-7, abs=1e-9)
    close(case.formula(intercept, "beta_0"), found[0], rel=1e-7, abs=1e-9)
