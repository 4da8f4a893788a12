"""Statements of the chapter *Weights*, against sums on a grid."""

import numpy as np
from grids import lime
from statements import close, statement
from worlds_drawn import draw, skewed, tilted, with_laplace


def h(x, y):
    return np.cos(x) * y**2 + x * y + 2 * x


@statement(
    "prop-tilted-law",
    formulas=("C_d", "mean", "variance"),
    assumptions=("product weight", "normal features", "Gaussian weight"),
)
def test_weighting_is_tilting(case, rng):
    w = draw(rng, d=2)
    features = w.features() if case.keeps("normal features") else skewed(w)
    features = features if case.keeps("Gaussian weight") else with_laplace(features, w)
    product = case.keeps("product weight")
    found = lime(h, features, None if product else lambda x, y: np.exp(0.2 * np.sin(x * y)))
    weighted_mean = np.sum(found.prob * found.weight * found.y)  # E[pi h]
    total = w.nu**2 + w.sigma**2
    C = np.prod(w.nu / np.sqrt(total) * np.exp(-((w.xi - w.mu) ** 2) / (2 * total)))
    mean, sd = tilted(w)
    mean, square = case.formula(mean, "mean"), case.formula(sd**2, "variance")
    assert np.all(square > 0)
    # E~[h] with h written out under two independent normal laws
    cosine = np.exp(-square[0] / 2) * np.cos(mean[0])
    under_tilt = cosine * (mean[1] ** 2 + square[1]) + mean[0] * mean[1] + 2 * mean[0]
    close(case.formula(C, "C_d") * under_tilt, weighted_mean, rel=1e-7)
