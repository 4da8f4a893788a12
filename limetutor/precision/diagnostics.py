"""What to know of an explanation or a limit, in words: their warnings."""

from contextlib import suppress
from typing import Any

import numpy as np

from ..core import theory
from ..core.boxes import Boxes
from ..core.explainer import EXTENSIONS
from ..core.surrogate import MIN_DEVIATION, MIN_STDERR, Fit, Solver, Sums, relative_penalty
from ..core.theory import PRECISION_NOTE
from ..inputs import arguments as arg
from ..results.limit import TINY
from .effective_samples import log_share

MORE = 100  # times as many samples: what "raise n" may mean
MIN_EFFECTIVE = 5  # samples that a coefficient, and each side of an indicator, should have
OVERFLOW = (
    f"Standard errors are beyond 1e154 or below {MIN_STDERR:g}, given as infinite; rescale f."
)
MIN_OTHER_WEIGHT = 1.0  # expected weight of all other rows below which xi's own row decides


def fit_warnings(
    problem: Any, draws: Any, sums: Any, fit: Any, ridge: float, precision: Any
) -> tuple[str, ...]:
    """What to know of a fit that rests on little: of a problem, its sampler, sums and surrogate."""
    few = sums.ess < MIN_EFFECTIVE * (problem.d + 1)
    thin, collinear = np.zeros(problem.d, bool), np.zeros(problem.d, bool)
    if problem.world.regression is None:
        thin = (scarcer_side(sums) < MIN_EFFECTIVE) & (sums.variances() > MIN_DEVIATION**2)
        collinear = fit.collinear
    notes: list[str] = []
    if few or np.any(thin | collinear):
        remedy = _remedy(problem, draws, sums.n, np.full(problem.d, few) | thin | collinear)
        notes = _few_samples(problem, sums, thin, remedy)
        notes += _singular(problem, collinear, sums, ridge, remedy)
    if precision is not None and not precision.reached:
        notes.append(f"{precision}.")
    if not np.all(np.isfinite(fit.covariance)):
        notes.append(OVERFLOW)
    return tuple(notes)


def _remedy(problem: Any, draws: Any, n: int, features: np.ndarray) -> str:
    """What gives these features (d,) samples enough on either side of their boxes, and enough in all."""
    remedy, law = "raise nu or n", None
    if problem.product is not None and draws.follows(problem.boxes):
        with suppress(ValueError):  # where nothing of weight is ever drawn in xi's box
            law = problem.tilt
    if law is not None:
        side = 1.0
        if problem.world.regression is None:
            side = np.min(np.minimum(law.alpha, law.rest)[features & ~law.constant], initial=1.0)
        least = MIN_EFFECTIVE * max(problem.d + 1, 1 / max(side, 1e-300))  # of equal weight
        share = float(np.exp(log_share(problem))) if draws.weighted else 1.0
        remedy = "raise nu or n" if MORE * n * share >= least else "raise nu"
        if draws.weighted and n >= least:
            remedy += ", or use sampler='tilted'"
        elif remedy == "raise nu":
            remedy += ", or ask lt.limit what the coefficients tend to"
    spread = problem.boxes.sigma[problem.boxes.sigma > 0]
    if problem.kernel.measures_x and spread.size and spread.max() > 10 * spread.min():
        remedy += " (features differ in scale: standardise them, since nu is one width for all)"
    return remedy


def _few_samples(problem: Any, sums: Sums, thin: np.ndarray, remedy: str) -> list[str]:
    """Too few effective samples, in all or on one side of an indicator, for intervals to hold."""
    notes, least = [], MIN_EFFECTIVE * (problem.d + 1)
    if sums.ess < least:
        notes.append(
            f"The effective sample size is {sums.ess:.1f} of n={sums.n}, and {problem.d + 1} "
            f"coefficients want at least {least}: {remedy}."
        )
    if np.any(thin):
        notes.append(
            f"Fewer than {MIN_EFFECTIVE} effective samples lie on one side of xi's box for "
            f"{int(thin.sum())} feature(s) {_listed(problem, thin)}: their intervals may be too "
            f"narrow (a standard error of 0 may rest on a single sample); {remedy}."
        )
    return notes


def scarcer_side(sums: Sums) -> np.ndarray:
    """Effective samples on that side of each indicator which has fewer of them, (d,)."""
    share = sums.block[0, 1:] / sums.gram[0, 0]
    return sums.ess * np.minimum(share, 1 - share)


def _singular(
    problem: Any, collinear: np.ndarray, sums: Sums, ridge: float, remedy: str
) -> list[str]:
    """Indicators without samples on both sides, or not told apart from others."""
    notes: list[str] = []
    # no sampling helps where the world never leaves, or never enters, xi's box
    share = problem.boxes.law.prob[np.arange(problem.d), problem.box_of_xi]
    stuck = collinear & ((share == 0.0) | (share == 1.0))
    if np.any(stuck):
        notes.append(
            f"The world has all or none of its values in xi's box for {int(stuck.sum())} "
            f"feature(s) {_listed(problem, stuck)}: their coefficients are left at 0; leave the "
            "columns out or give other edges."
        )
    one_sided = sums.variances() <= MIN_DEVIATION**2
    for mask, why in (
        (one_sided, "all samples that weigh more than rounding lie on one side of xi's box"),
        (~one_sided, "their indicators are not told apart from others"),
    ):
        singular = collinear & ~stuck & mask
        if np.any(singular) and not ridge:
            notes.append(
                f"The fit is singular in {int(singular.sum())} feature(s) {_listed(problem, singular)}: "
                f"{why}; their coefficients, and those that depend on them, are no estimates; {remedy}."
            )
    return notes


def _listed(problem: Any, mask: np.ndarray) -> str:
    return arg.shorten([problem.boxes.names[j] for j in np.flatnonzero(mask)])


def limit_warnings(problem: Any, correction: Any, n: int | None, fit: Any) -> list[str]:
    """What to know of a limit: of a problem, its finite-sample correction and population fit."""
    notes, law = list(problem.form_notes), problem.tilt
    if n is not None and correction.own_row and correction.weight < MIN_OTHER_WEIGHT:
        notes.append(own_row_note(n, correction.weight))
    if problem.world.regression is None:
        if np.any((np.abs(law.theta) < TINY) & (law.gap != 0)):
            notes.append(PRECISION_NOTE)
        notes += constant_note(law.constant, problem.boxes)
    notes += fit.notes
    if fit.covariance is not None and not np.all(np.isfinite(fit.covariance)):
        notes += [] if OVERFLOW in notes else [OVERFLOW]
    return notes


def own_row_note(n: int, weight: float) -> str:
    """What to know where the other n - 1 rows of a fit weigh less than xi's own."""
    return (
        f"xi's own row decides: it has weight 1, and the other {n - 1:,} rows together are "
        f"expected to have {weight:.2g}; runs with another seed differ widely, and these "
        "numbers are not a limit. Raise nu."
    )


def constant_note(constant: np.ndarray, boxes: Boxes) -> list[str]:
    """What to know of features whose values all lie in xi's box, a mask (d,)."""
    if not np.any(constant):
        return []
    names = arg.shorten([boxes.names[j] for j in np.flatnonzero(constant)])
    return [
        f"The world has all its values of {int(constant.sum())} feature(s) {names} in xi's "
        "box: there is nothing to compare with, and their coefficients are 0."
    ]


def textbook_stderr(sums: Sums, ridge: float, fit: Fit) -> np.ndarray | None:
    """Standard errors of the coefficients as a textbook has them, and as `lime_stability` does, (d,).

    sigma^2 B G B with G = Z'WZ, B = (G + ridge)^-1 and sigma^2 = sum w r^2 / (n - k), r the residuals
    without ridge and Z the k indicators without a column for the intercept: weights are taken for
    inverse variances, and the intercept for known (Visani et al. 2022). The sandwich takes neither.
    B G B = B - ridge B^2, and B is one rank away from the inverse that the fit has found. None where
    the surrogate is not on indicators.
    """
    if not sums.are_indicators:
        return None
    used, penalty = fit.used, relative_penalty(ridge, sums) if ridge else 0.0
    k, result, gram = int(used.sum()), np.zeros(sums.d), sums.block
    response, unpenalised, solver = sums.response[: sums.d + 1], sums.solver, fit.solver
    if k < len(sums.gram) - 1:
        columns = np.concatenate([[0], 1 + np.flatnonzero(used)])
        gram, response = gram[np.ix_(columns, columns)], response[columns]
        unpenalised, solver = Solver(gram), None
    if solver is None or len(solver.mean) != k:
        solver = Solver(gram, penalty)
    residual = sums.squares - unpenalised.beta(response) @ response
    variance = max(float(residual), 0.0) / max(sums.n - k, 1)
    if not solver.total:
        return result
    ahead = solver.inverse @ solver.mean  # G / W is the covariance plus the square of the mean
    bread = solver.inverse - np.outer(ahead, ahead / (1 + solver.mean @ ahead))
    bread /= solver.total
    diagonal = np.diag(bread) - penalty * np.einsum("ij,ij->i", bread, bread)
    with np.errstate(over="ignore", invalid="ignore"):
        result[used] = np.sqrt(variance * np.clip(diagonal, 0.0, None)) * sums.unit
    return result


EXTENSIONS["warnings"] = fit_warnings
EXTENSIONS["textbook_stderr"] = textbook_stderr
theory.EXTENSIONS["notes"] = limit_warnings
