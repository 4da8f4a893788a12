"""Statements of the chapter *Local error*, against the regression itself on a grid."""

import numpy as np
from grids import given, lime
from statements import close, statement
from worlds_drawn import draw, linear, skewed, theta_and_alpha, tilted, with_laplace


@statement(
    "thm-local-error",
    formulas=("surrogate at ξ", "error"),
    assumptions=("linear f", "normal features", "Gaussian weight"),
)
def test_local_error(case, rng):
    w = draw(rng, d=2)
    f = linear(rng, bent=not case.keeps("linear f"))
    features = w.features() if case.keeps("normal features") else skewed(w)
    features = features if case.keeps("Gaussian weight") else with_laplace(features, w)
    found = np.sum(lime(f, features).beta)
    theta, alpha = theta_and_alpha(w)
    surrogate = case.formula(f.line(tilted(w)[0]) - np.sum(f.a * theta / alpha), "surrogate at ξ")
    close(surrogate, found, rel=1e-7, abs=1e-9)
    inside = np.array([given(g, g.x, 1) for g in features])
    error = case.formula(np.sum(f.a * (inside - w.xi)), "error")
    close(error, found - f(*w.xi), rel=1e-7, abs=1e-8)
