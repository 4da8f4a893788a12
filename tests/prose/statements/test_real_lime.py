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


@statement("thm-real-lime", formulas=("beta",), assumptions=("linear f", "no row 0"))
def test_limit_of_the_real_lime(case, rng):
    nu, n = rng.uniform(0.5, 2), 500
    a, drawn = rng.normal(0, 3, 2), [boxes(rng), boxes(rng)]
    features = []
    for frequency, values, own in drawn:
        k = np.repeat(np.arange(4), 2)
        weight = np.where(k == own, 1.0, np.exp(-1 / (2 * nu**2)))
        features.append(feature(values.ravel(), frequency[k] / 2, weight, k == own))

    def f(x, y):
        return a[0] * x + a[1] * y + (0 if case.keeps("linear f") else x * y)

    found = lime(f, features)
    if not case.keeps("no row 0"):
        ones, at_xi = np.ones(3), f(*(values[own, 0] for _, values, own in drawn))
        rows = found.Sigma * (n - 1) + np.outer(ones, ones)
        found.beta = np.linalg.solve(rows, found.Gamma * (n - 1) + at_xi * ones)
    mean = [values.mean(axis=1) for _, values, _ in drawn]
    rest = [
        sum(frequency[k] / (1 - frequency[own]) * m[k] for k in range(4) if k != own)
        for (frequency, _, own), m in zip(drawn, mean, strict=True)
    ]
    own_mean = np.array([m[own] for (_, _, own), m in zip(drawn, mean, strict=True)])
    close(case.formula(a * (own_mean - rest)), found.beta[1:])
