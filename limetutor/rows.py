"""What n samples, a penalty and xi's own row make of a limit.

Under the tilted law the regressors of the surrogate are independent, so that ridge shrinks each
coefficient on its own. `lime` also puts xi itself among its samples, with weight 1 against a total
of n C, and where that total is small the row decides. Both follow from the expected normal
equations of a fit to n rows,

    [N E~[r r'] + v v' + diag(0, ridge, ..., ridge)] b = N E~[r f] + f(xi) v,

with r = (1, r_1, ..., r_d) the regressors, v their values at xi and N = (n - 1) C the expected
weight of the other rows. Their solution is what the fit tends to about, and the mean of many fits
to first order; it is the limit itself as n grows. Chapter: the real lime.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from .theory import Tilt


@dataclass(frozen=True)
class Regressors:
    """What the surrogate is fitted on, seen under the tilted law, one entry a feature.

    Indicators z_j have mean alpha_j, variance alpha_j (1 - alpha_j) and the value 1 at xi.
    """

    mean: np.ndarray
    log_variance: np.ndarray
    lead: np.ndarray  # the value at xi less the mean

    @classmethod
    def indicators(cls, law: Tilt) -> Regressors:
        """The indicators of xi's boxes."""
        return cls(law.alpha, law.log_alpha + law.log_rest, law.rest)


@dataclass(frozen=True)
class Rows:
    """How a fit to finitely many rows departs from the limit.

    ``shrinkage`` (d,) is what ridge leaves of each coefficient. With xi's own row the surrogate is
    pulled towards f(xi): of the error e = f^(xi) - f(xi) that it would have without the row,
    ``pull`` (d,) is taken off the coefficients, ``centre`` off the mean of the surrogate, and the
    share ``left`` stays. ``weight`` is N, the expected weight of all other rows.
    """

    shrinkage: np.ndarray
    pull: np.ndarray
    centre: float = 0.0
    left: float = 1.0
    weight: float = np.inf

    @property
    def own_row(self) -> bool:
        """Whether xi itself is among the rows."""
        return self.left < 1


def shrinkage(r: Regressors, ridge: float, log_weight: float) -> np.ndarray:
    """What ridge leaves of each coefficient: s_j / (s_j + ridge / N), s_j the variance of r_j.

    Chapters: the surrogate, the real lime.
    """
    if ridge == 0:
        return np.ones(len(r.mean))
    return scipy.special.expit(r.log_variance - np.log(ridge) + log_weight)


def rows(
    r: Regressors,
    log_C: float,
    ridge: float = 0.0,
    n: int | None = None,
    own_row: bool = False,
    used: np.ndarray | None = None,
) -> Rows:
    """The rows of a fit to n samples, one of them xi itself if ``own_row``.

    One row of weight 1 moves a least-squares fit by A^-1 v (f(xi) - f^(xi)) / (1 + v' A^-1 v). In
    centred regressors A is diagonal, with N for the intercept and N s_j + ridge for r_j, and v is
    (1, lead). ``used`` are the features in the fit, all if None. Chapter: the real lime.
    """
    used = np.ones(len(r.mean), bool) if used is None else used
    if n is None or (n < 2 and own_row):
        return Rows(used.astype(float), np.zeros(len(used)))
    log_weight = np.log(n - own_row) + log_C
    kept = shrinkage(r, ridge, log_weight) * used
    if not own_row:
        return Rows(kept, np.zeros(len(used)))
    varies = used & np.isfinite(r.log_variance)
    with np.errstate(over="ignore", under="ignore"):
        weight = float(np.exp(log_weight))
        spread = np.exp(r.log_variance) + (ridge * np.exp(-log_weight) if ridge else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(varies & (spread > 0), r.lead / spread, 0.0)  # N A^-1 v
    total = weight + 1 + float(r.lead @ reach)
    return Rows(kept, reach / total, 1 / total, weight / total, weight)
