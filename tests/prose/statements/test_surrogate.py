"""Statements of the chapter *The surrogate*, against the loss itself."""

import numpy as np
from statements import close, statement


@statement("prop-key-equation", formulas=("right side",))
def test_key_equation(case, rng):
    n, d = 40, 4
    Z = np.column_stack([np.ones(n), rng.integers(0, 2, (n, d))])
    weight, y = rng.uniform(0.01, 1, n), rng.normal(0, 3, n)
    right = case.formula(Z.T @ (weight * y), "right side")
    gram = Z.T @ (weight[:, None] * Z)

    def loss(b):
        return np.sum(weight * (y - Z @ b) ** 2)

    # a minimiser solves the equation, also one of many (the last column copied)
    root = np.sqrt(weight)[:, None]
    best = np.linalg.lstsq(root * Z, root[:, 0] * y, rcond=None)[0]
    close(gram @ best, right, rel=1e-8, abs=1e-9)
    twice = np.column_stack([Z, Z[:, -1]])
    many = np.append(best, 0) + 3.0 * np.array([0] * d + [1, -1])
    close(twice.T @ (weight * (twice @ many)), np.append(right, right[-1]), rel=1e-8, abs=1e-9)
    # a solution minimises the loss
    solution = np.linalg.solve(gram, right)
    for _ in range(20):
        assert loss(solution) <= loss(solution + rng.normal(0, 10 ** rng.uniform(-4, 0), d + 1))
