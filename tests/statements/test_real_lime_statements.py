"""Statements of the chapter *The real lime*, against its regression over boxes drawn by frequency."""

import numpy as np
from grids import feature, lime
from statements import close, statement


def boxes(rng):
    """A feature of four boxes: their frequencies, two values drawn in each, and the box of ξ."""
    return (
        rng.dirichlet(np.full(4, 3.0)),
        np.sort(rng.normal(0, 2, 8)).reshape(4, 2),
        rng.integers(4),
    )


@statement(
    "thm-real-lime",
    formulas=("alpha", "C_d", "beta", "ridge"),
    assumptions=("linear f", "no row 0"),
)
def test_limit_of_the_real_lime(case, rng):
    nu, n, penalty = rng.uniform(0.5, 2), 500, 1.0
    a, drawn = rng.normal(0, 3, 2), [boxes(rng), boxes(rng)]
    features = []
    for frequency, values, own in drawn:
        k = np.repeat(np.arange(4), 2)
        weight = np.where(k == own, 1.0, np.exp(-1 / (2 * nu**2)))
        features.append(feature(values.ravel(), frequency[k] / 2, weight, k == own))

    def f(x, y):
        return a[0] * x + a[1] * y + (0 if case.keeps("linear f") else x * y)

    xi = [values[own].mean() for _, values, own in drawn]
    plain = fitted(f, features, xi, n, 0.0, case.keeps("no row 0"))
    p = np.array([frequency[own] for frequency, _, own in drawn])
    mean = [values.mean(axis=1) for _, values, _ in drawn]
    parts = p + (1 - p) * np.exp(-1 / (2 * nu**2))
    alpha, C = case.formula(p / parts, "alpha"), case.formula(np.prod(parts), "C_d")
    close(alpha, plain.Sigma[0, 1:] / plain.Sigma[0, 0])
    close(C, plain.Sigma[0, 0])
    rest = [
        sum(frequency[k] / (1 - frequency[own]) * m[k] for k in range(4) if k != own)
        for (frequency, _, own), m in zip(drawn, mean, strict=True)
    ]
    own_mean = np.array([m[own] for (_, _, own), m in zip(drawn, mean, strict=True)])
    beta = case.formula(a * (own_mean - rest), "beta")
    close(beta, plain.beta[1:])
    s = alpha * (1 - alpha)
    shrunk = case.formula(beta * s / (s + penalty / (n * C)), "ridge")
    close(shrunk, fitted(f, features, xi, n, penalty, case.keeps("no row 0")).beta[1:])


def fitted(f, features, xi, n, penalty, without_row_0):
    """The expected normal equations of n samples, with or without the instance as row 0."""
    found = lime(f, features, penalty=penalty / n)
    if not without_row_0:
        ones = np.ones(3)
        found.Sigma = (found.Sigma * (n - 1) + np.outer(ones, ones)) / n
        found.Gamma = (found.Gamma * (n - 1) + f(*xi) * ones) / n
        ridge = np.diag([0.0, penalty, penalty]) / n
        found.beta = np.linalg.solve(found.Sigma + ridge, found.Gamma)
    return found
