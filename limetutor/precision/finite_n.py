"""Finite-sample corrections: n samples, a penalty and the row of xi itself.

Under the tilted law the regressors of the surrogate are independent, so that ridge shrinks each
coefficient on its own. `lime` also puts xi itself among its samples, with weight 1 against a total
of n C; where that total is small, this row dominates the fit. Both follow from the expected normal
equations of a fit to n rows,

    [N E~[r r'] + v v' + diag(0, ridge, ..., ridge)] b = N E~[r f] + f(xi) v,

with r = (1, r_1, ..., r_d) the regressors, v their values at xi and N = (n - 1) C the expected
weight of the other rows. Their solution is the mean of many fits to first order, and tends to the
limit as n grows. Chapter: the real lime.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core.models import Linear
from ..core.problem import Problem
from ..core.theory import EXTENSIONS
from ..core.tilted_law import Tilt


@dataclass(frozen=True)
class Regressors:
    """Moments under the tilted law of what the surrogate is fitted on, one entry a feature.

    Indicators z_j have mean alpha_j, variance alpha_j (1 - alpha_j) and the value 1 at xi.
    """

    mean: np.ndarray
    log_variance: np.ndarray
    offset_at_xi: np.ndarray  # the value at xi less the mean

    @classmethod
    def indicators(cls, law: Tilt) -> Regressors:
        """The indicators of xi's boxes."""
        return cls(law.alpha, law.log_alpha + law.log_rest, law.rest)


@dataclass(frozen=True)
class FiniteSampleCorrection:
    """How a fit to finitely many rows differs from the limit.

    ``shrinkage`` (d,) is the share of each coefficient that ridge leaves. With xi's own row the
    surrogate moves towards f(xi): of the error e = f^(xi) - f(xi) that it would have without the row,
    ``pull`` (d,) is subtracted from the coefficients, ``centre`` from the mean of the surrogate, and
    the share ``left`` remains. ``weight`` is N, the expected weight of all other rows. For many
    instances the first two are (instances, d), the others (instances,).
    """

    shrinkage: np.ndarray
    pull: np.ndarray
    centre: Any = 0.0
    left: Any = 1.0
    weight: Any = np.inf

    @property
    def own_row(self) -> bool:
        """Whether xi itself is among the rows."""
        return bool(np.any(self.left < 1))

    def applied(self, r: Regressors, centre: Any, beta: np.ndarray, error: Any) -> CorrectedFit:
        """Correct E~[f], beta and f^(xi) - f(xi) of the limit.

        With k_j the ``shrinkage`` and e = error - sum_j beta_j offset_j (1 - k_j), the error without
        xi's own row: coef_j = beta_j k_j - e pull_j, and the surrogate is off by e left. For one
        instance or, with a leading axis, for many. Chapter: the real lime.
        """
        e = np.asarray(error - np.sum(beta * r.offset_at_xi * (1 - self.shrinkage), axis=-1))
        coef = beta * self.shrinkage - e[..., None] * self.pull
        intercept = centre - e * self.centre - np.sum(r.mean * coef, axis=-1)
        return CorrectedFit(coef, intercept, e * self.left)


class CorrectedFit(NamedTuple):
    """Coefficients, intercept and f^(xi) - f(xi) after the correction."""

    coef: np.ndarray
    intercept: Any
    local_error: Any


def shrinkage(r: Regressors, ridge: float, log_weight: Any) -> np.ndarray:
    """The share of each coefficient that ridge leaves: s_j / (s_j + ridge / N), s_j = Var~ r_j.

    Chapters: the surrogate, the real lime.
    """
    if ridge == 0:
        return np.ones(np.shape(r.mean))
    return scipy.special.expit(r.log_variance - np.log(ridge) + np.asarray(log_weight)[..., None])


def finite_sample_correction(
    r: Regressors, log_C: Any, ridge: float = 0.0, n: float | None = None, own_row: bool = False,
    used: np.ndarray | None = None,
) -> FiniteSampleCorrection:  # fmt: skip
    """The correction for a fit to n samples, one of them xi itself if ``own_row``.

    One row of weight 1 moves a least-squares fit by A^-1 v (f(xi) - f^(xi)) / (1 + v' A^-1 v). In
    centred regressors A is diagonal, with N for the intercept and N s_j + ridge for r_j, and v is
    (1, offset_at_xi). ``used`` are the features in the fit, all if None; n is None for the limit itself. For
    many instances the regressors are (instances, d) and log_C is (instances,). Chapter: the real lime.
    """
    shape = np.shape(r.mean)
    used = np.ones(shape, bool) if used is None else used
    if n is None or (n < 2 and own_row):
        return FiniteSampleCorrection(used.astype(float), np.zeros(shape))
    log_weight = np.asarray(np.log(n - own_row) + log_C)
    share = shrinkage(r, ridge, log_weight) * used
    if not own_row:
        return FiniteSampleCorrection(share, np.zeros(shape))
    varies = used & np.isfinite(r.log_variance)
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(log_weight)[()]
        added = ridge * np.exp(-log_weight)[..., None] if ridge else 0.0
        spread = np.exp(r.log_variance) + added
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(varies & (spread > 0), r.offset_at_xi / spread, 0.0)  # N A^-1 v
    total = weight + 1 + np.sum(r.offset_at_xi * reach, axis=-1)
    pull = reach / np.asarray(total)[..., None]
    return FiniteSampleCorrection(share, pull, 1 / total, weight / total, weight)


def regressors_of(problem: Problem) -> Regressors:
    """What the surrogate is fitted on: indicators, or what a world without boxes has instead."""
    if problem.world.regression is None:
        return Regressors.indicators(problem.tilt)
    return problem.world.regression.regressors(problem)


def correction_of(
    problem: Problem, ridge: float, n: float | None
) -> tuple[Regressors, FiniteSampleCorrection]:
    """What the surrogate of a problem is fitted on, and the correction for n rows."""
    r, own_row = regressors_of(problem), problem.world.own_row
    return r, finite_sample_correction(r, problem.tilt.log_C, ridge, n, own_row)


def local_error_parts(f: Linear, law: Tilt, kept: np.ndarray) -> np.ndarray:
    """What each feature adds to f^(xi) - f(xi) for a linear f.

    a_j (E~[x_j | z_j=1] - xi_j), less what a penalty or a selection takes off: ``kept`` (d,) is the
    share of each coefficient that is left. Paper: Corollary 3.1. Chapter: local error.
    """
    return f.a * law.inside - f.a * law.gap * law.rest * (1 - kept)


EXTENSIONS["finite n"] = correction_of
