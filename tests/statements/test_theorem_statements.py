"""Statements of the chapter *The theorem*, against the regression itself on a grid."""

import numpy as np
from grids import lime
from scipy.stats import norm
from statements import close, statement
from worlds_drawn import draw, tilted

phi, Phi = norm.pdf, norm.cdf


def theta_and_alpha(w):
    mean, sd = tilted(w)
    u, v = (w.lo - mean) / sd, (w.hi - mean) / sd
    return sd * (phi(v) - phi(u)), Phi(v) - Phi(u)


@statement(
    "thm-coefficients",
    formulas=("beta_j", "beta_0"),
    assumptions=("linear f", "normal features"),
)
def test_coefficients_of_a_linear_model(case, rng):
    w = draw(rng, d=2)
    a, b = rng.normal(0, 3, 2), rng.normal(0, 3)
    theta, alpha = theta_and_alpha(w)
    mean, _ = tilted(w)
    beta = case.formula(a * -theta / (alpha * (1 - alpha)), "beta_j")
    intercept = case.formula(a @ mean + b + np.sum(a * theta / (1 - alpha)), "beta_0")

    def f(x, y):
        return a[0] * x + a[1] * y + b + (0 if case.keeps("linear f") else x**2 * y)

    features = w.features()
    if not case.keeps("normal features"):  # the same mean and deviation, and skewed
        for g, mu, sigma in zip(features, w.mu, w.sigma, strict=True):
            g.prob = g.prob * (1 + 0.1 * ((t := (g.x - mu) / sigma) ** 3 - 3 * t))
    found = lime(f, features).beta
    close(beta, found[1:], abs=1e-9)
    close(intercept, found[0], abs=1e-9)
