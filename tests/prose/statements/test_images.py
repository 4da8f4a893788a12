"""Statements of the chapter *Images*, against least squares over rows of switches."""

import numpy as np
from grids import all_masks, weighted_fit
from statements import close, statement


@statement(
    "prop-image-linear",
    formulas=("beta_j", "beta_0"),
    assumptions=("a sum over pixels", "the samples determine a fit", "no ridge"),
)
def test_a_sum_over_pixels(case, rng):
    d, pixels = 5, 30
    labels = np.append(np.arange(d), rng.integers(0, d, pixels - d))
    xi, r, a, c = rng.normal(size=(4, pixels))
    b = rng.normal()

    def g(x):
        return a * x + c * np.cos(x)  # any function of each pixel, linear or not

    n = 40 if case.keeps("the samples determine a fit") else d
    z = rng.integers(0, 2, (n, d))
    x = np.where(z[:, labels] == 1, xi, r)
    y = b + g(x).sum(axis=1) + (0 if case.keeps("a sum over pixels") else x[:, 0] * x[:, 1])
    weight = rng.uniform(0.1, 1, n)  # whatever the kernel
    found = weighted_fit(z, y, weight, 0.0 if case.keeps("no ridge") else 1.0)
    beta = [np.sum((g(xi) - g(r))[labels == j]) for j in range(d)]
    close(case.formula(beta, "beta_j"), found[1:], rel=1e-7, abs=1e-9)
    close(case.formula(b + g(r).sum(), "beta_0"), found[0], rel=1e-7, abs=1e-9)


@statement("prop-image-any", formulas=("alpha", "beta_j"), assumptions=("mismatch kernel",))
def test_any_model_on_switches(case, rng):
    d, nu = 5, rng.uniform(0.4, 2)
    z = all_masks(d)
    y = rng.normal(size=2**d)  # any model: a number of its own for each image
    hidden = d - z.sum(axis=1)
    square = hidden if case.keeps("mismatch kernel") else d * (1 - np.sqrt(1 - hidden / d))
    found = weighted_fit(z, y, np.exp(-square / (2 * nu**2)))
    alpha = case.formula(1 / (1 + np.exp(-1 / (2 * nu**2))), "alpha")
    tilted = np.prod(np.where(z == 1, alpha, 1 - alpha), axis=1)
    beta = [
        np.average(y[z[:, j] == 1], weights=tilted[z[:, j] == 1])
        - np.average(y[z[:, j] == 0], weights=tilted[z[:, j] == 0])
        for j in range(d)
    ]
    close(case.formula(beta, "beta_j"), found[1:])
