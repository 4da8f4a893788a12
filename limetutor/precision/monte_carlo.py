"""Limits of models without a form, from samples of the tilted law. Chapter: beyond linear."""

from typing import Any

import numpy as np

from ..core.explainer import run
from ..core.problem import Problem
from ..core.theory import EXTENSIONS, PopulationFit
from ..inputs import arguments as arg

MIN_ON_A_SIDE = 30  # samples that either side of an indicator should have


def sampled_fit(problem: Problem, samples: int, seed: Any) -> PopulationFit:
    """The population fit from samples of the tilted law.

    A feature whose box holds nearly all of that law, or nearly none, gets samples of its own: pairs
    that differ in this feature alone, drawn inside and outside.
    """
    samples = arg.whole("samples", samples, problem.d + 2)
    if problem.world.regression is not None:
        regression = problem.world.regression
        centre, beta, covariance = regression.sampled(problem, samples, seed)
        offset = regression.regressors(problem).offset_at_xi
        error = centre + float(offset @ beta) - problem.prediction
        return PopulationFit(centre, beta, error, "monte carlo", covariance)
    tilted = run(problem, samples, seed, "tilted", own_row=False)
    law = problem.tilt
    beta, covariance = tilted.coef.copy(), tilted.covariance.copy()
    share = samples * np.minimum(law.alpha, law.rest)
    scarce = np.flatnonzero((share < MIN_ON_A_SIDE) & ~law.constant)
    pairs = max(samples // (2 * max(len(scarce), 1)), MIN_ON_A_SIDE)
    rng = np.random.default_rng(seed)
    for j in scarce:
        beta[j], square = _paired_difference(problem, int(j), min(pairs, samples), rng)
        covariance[j + 1] = covariance[:, j + 1] = 0.0
        covariance[j + 1, j + 1] = square
    centre = tilted.intercept + float(law.alpha @ tilted.coef)
    error = centre + float(law.rest @ beta) - problem.prediction
    notes = () if scarce.size or np.any(law.constant) else tilted.warnings
    return PopulationFit(centre, beta, error, "monte carlo", covariance, notes)


def _paired_difference(
    problem: Problem, j: int, n: int, rng: np.random.Generator
) -> tuple[float, float]:
    """E~[f | z_j = 1] - E~[f | z_j = 0] from n pairs, and the square of its standard error."""
    views = problem.tilt.views
    x, _ = views.law.sample(rng, n)
    y = []
    for side in (1, 2):
        x[:, j] = views.given(side).taken(np.array([j])).sample(rng, n)[0][:, 0]
        y.append(problem.predict(x))
    with np.errstate(over="ignore", invalid="ignore"):
        difference = y[0] - y[1]
        square = float(difference.var() / n)
    return float(difference.mean()), square if np.isfinite(square) else float("inf")


def box_average(problem: Problem, n: int = 20_000) -> float:
    """E~[f | z = (1, ..., 1)], the model averaged over xi's boxes, from n samples."""
    x, _ = problem.tilt.views.given(1).sample(np.random.default_rng(0), n)
    return float(np.mean(problem.predict(x)))


EXTENSIONS["no form"] = sampled_fit
