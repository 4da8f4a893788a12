"""Orders of coefficients by size, and how surely they hold: exact for pairs, simulated for sets.

For coefficients N(b, V) let D and S be the difference and the sum of two of them, delta and s their means
over their deviations, and rho = (V_ii - V_jj) / sqrt(Var D Var S) their correlation. Then ::

    P(|b_i| > |b_j|) = P(D S > 0) = Phi2(delta, s; rho) + Phi2(-delta, -s; rho)

with the bivariate normal distribution Phi2, which is a sum of two of Owen's functions T. Chapter: how many samples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from ..inputs import arguments as arg
from ..results.limit import TINY
from ..results.result import BaseResult
from .diagnostics import MIN_EFFECTIVE
from .stability import repeats

DRAWS, MAX_NUMBERS = 2**16, 2**24  # simulated vectors of coefficients, and numbers in all of them
FAR = 40.0  # deviations: what lies beyond has a probability of 0 to the last digit
LIKELY = 0.001  # probability from which a set is listed
MAX_LISTED = 20  # features


def ahead(coef: np.ndarray, V: np.ndarray, i: Any, j: Any) -> np.ndarray:
    """``P(|b_i| > |b_j|)`` for b ~ N(coef, V), pair by pair; 1/2 for two that are one number.

    1{delta s > 0} - 2 T(delta, (s/delta - rho) / r) - 2 T(s, (delta/s - rho) / r) with r^2 = 1 - rho^2 and
    T Owen's function (Owen 1956). Chapter: how many samples.
    """
    square, mixed = np.diag(V), 2 * V[i, j]
    deviation = np.sqrt(np.maximum(square[i] + square[j] + np.array([-mixed, mixed]), 0.0))
    mean = np.array([coef[i] - coef[j], coef[i] + coef[j]])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = np.where(deviation > 0, mean / deviation, np.sign(mean) * FAR)
        rho = (square[i] - square[j]) / np.prod(deviation, axis=0)
        rho = np.clip(np.where(np.isfinite(rho), rho, 0.0), -1.0, 1.0)
        delta, s = np.clip(np.where(scores == 0, 1e-290, scores), -FAR, FAR)
        root = np.sqrt((1 - rho) * (1 + rho))
        slopes = np.array([s / delta - rho, delta / s - rho]) / root
        slopes = np.where(np.isnan(slopes), 0.0, slopes)
        parts = np.sum(scipy.special.owens_t([delta, s], slopes), axis=0)
    return np.clip(((delta > 0) == (s > 0)) - 2 * parts, 0.0, 1.0)


def failure(coef: np.ndarray, V: np.ndarray, top: np.ndarray) -> float:
    """A bound on the probability that the largest are others than ``top``, a mask (d,).

    Some pair is then the wrong way round: ``sum_{i in top, j not} P(|b_i| < |b_j|)``. Chapter: how many samples.
    """
    i, j = np.ix_(np.flatnonzero(top), np.flatnonzero(~top))
    return float(np.sum(ahead(coef, V, j, i)))


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(BaseResult):
    """How surely coefficients come in this order of size, whatever their signs.

    They are taken for normal with mean ``coef`` (d,) and the ``covariance`` (d, d), ``source`` says of
    what. Probabilities of pairs, ``ahead``, are exact; those of sets are shares of ``draws`` simulated
    vectors, with a standard error of sqrt(p (1 - p) / draws).

    Examples
    --------
    >>> import limetutor as lt
    >>> ex = lt.explain(lt.Linear([5, -4, 0.1]), [0.3, 0.3, 0.3], lt.Gaussian(), nu=1.0, seed=0)
    >>> ranking = ex.ranking()
    >>> ranking.settled(), [features for features, share in ranking.top(2)]
    (2, [(0, 1)])
    """

    coef: np.ndarray
    covariance: np.ndarray
    names: tuple[Any, ...]
    source: str
    warnings: tuple[str, ...] = field(default=())
    draws: int = DRAWS

    page_title = "The order of the coefficients"
    frame_columns = ("coef", "sd")

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.covariance)):
            raise ValueError(
                "the coefficients must have finite standard errors for a ranking, got infinite ones; "
                "rescale f."
            )

    @property
    def ahead(self) -> np.ndarray:
        """``P(|b_i| > |b_j|)`` of each two features, (d, d)."""
        return ahead(self.coef, self.covariance, *np.indices(self.covariance.shape))

    def top(self, k: int) -> list[tuple[tuple[int, ...], float]]:
        """The sets that may be the k largest, as positions, with their probabilities, likeliest first.

        Those with a probability of 0.001 and more.
        """
        k = arg.whole("k", k, 1, most=len(self.coef))
        sets = np.sort(np.argpartition(-self._simulated(), k - 1, axis=1)[:, :k], axis=1)
        counted = Counter(map(tuple, sets.tolist()))
        shares = [(features, count / self.draws) for features, count in counted.items()]
        likely = [pair for pair in shares if pair[1] >= LIKELY]
        return sorted(likely, key=lambda pair: (-pair[1], pair[0]))

    def same(self) -> np.ndarray:
        """The probability that the k largest are those that ``order`` has first, for k = 1, ..., d."""
        sizes = self._simulated()[:, np.argsort(-np.abs(self.coef), kind="stable")]
        least = np.minimum.accumulate(sizes, axis=1)[:, :-1]
        most = np.maximum.accumulate(sizes[:, :0:-1], axis=1)[:, ::-1]
        return np.append(np.mean(least > most, axis=0), 1.0)

    def settled(self, probability: float = 0.95, most: int | None = None) -> int:
        """The largest k below d, at most ``most``, whose first k are the same so surely; 0 for none."""
        probability = arg.probability("probability", probability)
        enough = np.flatnonzero(self.same()[:-1][:most] >= probability)
        return int(enough[-1]) + 1 if len(enough) else 0

    def sentence(self, samples: str, most: int | None = None) -> str:
        """Of a ranking of runs: for how many features ``samples`` settle which ones are the largest."""
        shares, k = self.same()[:-1][:most], self.settled(most=most)
        if not len(shares):
            return ""
        if not k:
            first = f"{shares[0]:.0%} of the runs"
            return f"{samples} do not settle which feature is the largest (the same in {first})."
        which = f"which {k} features are" if k > 1 else "which feature is"
        beyond = f", not which {k + 1} are ({shares[k]:.0%})" if k < len(shares) else ""
        return f"{samples} settle {which} the largest (the same in {shares[k - 1]:.0%} of the runs){beyond}."

    def to_frame(self) -> Any:
        """A DataFrame with a row for each feature, the largest first.

        Columns: ``coef``, ``sd``, ``before_next`` (the probability that it is larger than the next one, nan
        for the last one) and ``same`` (the probability that those down to it are the largest).
        """
        order = self.order()
        before = ahead(self.coef, self.covariance, order[:-1], order[1:])
        frame = super().to_frame().iloc[order]
        return frame.assign(before_next=np.append(before, np.nan), same=self.same())

    @property
    def sd(self) -> np.ndarray:
        """The standard deviations, (d,)."""
        return np.sqrt(np.diag(self.covariance))

    def _simulated(self) -> np.ndarray:
        return np.abs(repeats(self.coef, self.covariance, self.draws))

    def __repr__(self) -> str:
        lines = [
            f"Order by size of {self.source}: the probability that each is larger than the next, exact for normal "
            f"coefficients, and that those down to it are the largest, from {self.draws:,} draws "
            f"(± {0.5 / np.sqrt(self.draws):.1%} or less)"
        ]
        lines += [
            f"  {coef:+10.4g} {before:>7.1%} {same:>7.1%}  {name}"
            if not np.isnan(before)
            else f"  {coef:+10.4g} {'—':>7} {'—':>7}  {name}"
            for name, coef, _, before, same in self.to_frame()[:MAX_LISTED].itertuples()
        ]
        return "\n".join([*lines, *(f"  warning: {text}" for text in self.warnings)])


def of_explanation(ex: Any) -> Ranking:
    """The ranking of an explanation: given this run alone, its limit is normal around its coefficients."""
    least = MIN_EFFECTIVE * (len(ex.coef) + 1)
    if ex.ess < least:
        raise ValueError(
            f"n must give at least {least} effective samples for a ranking of {len(ex.coef)} coefficients, "
            f"got {ex.ess:.1f}; raise n or nu."
        )
    source = f"the limit, as far as {ex.n:,} samples tell"
    return _ranking(ex.coef, ex.covariance[1:, 1:], ex.names, source, ex.warnings)


def of_prediction(printed: Any) -> Ranking:
    """The ranking of a prediction of `lime`: of what its runs print with all features on display."""
    if printed.law is None:
        raise ValueError(
            "model_regressor must be a ridge in lt.predict_lime for a ranking, got one whose noise is not known."
        )
    coef, covariance = printed.law
    source = f"runs of lime with {printed.num_samples:,} samples and all features on display"
    warnings = printed.warnings
    if printed.method == "monte carlo":
        error = np.median(printed.stderr) / max(np.median(np.sqrt(np.diag(covariance))), TINY)
        note = f"The means are known to within {error:.0%} of what runs differ by; raise calls."
        warnings = (*warnings, note)
    return _ranking(coef, covariance, printed.names, source, warnings)


def _ranking(coef: Any, V: Any, names: Any, source: str, warnings: Any) -> Ranking:
    draws = min(DRAWS, MAX_NUMBERS // len(coef))
    return Ranking(coef, V, tuple(names), source, tuple(warnings), draws)
