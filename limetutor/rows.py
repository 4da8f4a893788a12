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
from typing import Any, NamedTuple

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
    share ``left`` stays. ``weight`` is N, the expected weight of all other rows. For many instances
    the first two are (instances, d), the others (instances,).
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


class Fitted(NamedTuple):
    """Coefficients, intercept and f^(xi) - f(xi) of the fit to those rows."""

    coef: np.ndarray
    intercept: Any
    local_error: Any


def fitted(r: Regressors, found: Rows, centre: Any, beta: np.ndarray, error: Any) -> Fitted:
    """What n rows, a penalty and xi's own row make of E~[f], beta and f^(xi) - f(xi).

    With k_j the ``shrinkage`` and e = error - sum_j beta_j lead_j (1 - k_j), what is left of the
    error before xi's own row: coef_j = beta_j k_j - e pull_j, and the surrogate is off by e left.
    For one instance or, with a leading axis, for many. Chapter: the real lime.
    """
    e = np.asarray(error - np.sum(beta * r.lead * (1 - found.shrinkage), axis=-1))
    coef = beta * found.shrinkage - e[..., None] * found.pull
    intercept = centre - e * found.centre - np.sum(r.mean * coef, axis=-1)
    return Fitted(coef, intercept, e * found.left)


def shrinkage(r: Regressors, ridge: float, log_weight: Any) -> np.ndarray:
    """What ridge leaves of each coefficient: s_j / (s_j + ridge / N), s_j the variance of r_j.

    Chapters: the surrogate, the real lime.
    """
    if ridge == 0:
        return np.ones(np.shape(r.mean))
    return scipy.special.expit(r.log_variance - np.log(ridge) + np.asarray(log_weight)[..., None])


def rows(
    r: Regressors,
    log_C: Any,
    ridge: float = 0.0,
    n: int | None = None,
    own_row: bool = False,
    used: np.ndarray | None = None,
) -> Rows:
    """The rows of a fit to n samples, one of them xi itself if ``own_row``.

    One row of weight 1 moves a least-squares fit by A^-1 v (f(xi) - f^(xi)) / (1 + v' A^-1 v). In
    centred regressors A is diagonal, with N for the intercept and N s_j + ridge for r_j, and v is
    (1, lead). ``used`` are the features in the fit, all if None. For many instances the regressors
    are (instances, d) and log_C is (instances,). Chapter: the real lime.
    """
    shape = np.shape(r.mean)
    used = np.ones(shape, bool) if used is None else used
    if n is None or (n < 2 and own_row):
        return Rows(used.astype(float), np.zeros(shape))
    log_weight = np.asarray(np.log(n - own_row) + log_C)
    kept = shrinkage(r, ridge, log_weight) * used
    if not own_row:
        return Rows(kept, np.zeros(shape))
    varies = used & np.isfinite(r.log_variance)
    with np.errstate(over="ignore", under="ignore"):
        weight = np.exp(log_weight)[()]
        added = ridge * np.exp(-log_weight)[..., None] if ridge else 0.0
        spread = np.exp(r.log_variance) + added
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(varies & (spread > 0), r.lead / spread, 0.0)  # N A^-1 v
    total = weight + 1 + np.sum(r.lead * reach, axis=-1)
    pull = reach / np.asarray(total)[..., None]
    return Rows(kept, pull, 1 / total, weight / total, weight)
