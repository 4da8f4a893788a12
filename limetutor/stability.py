"""How alike would repeated explanations be? VSI and CSI without repeating any.

Two indices of Visani et al. (2022) compare all pairs of many runs, each of which keeps k features: the
**VSI** is the share of features that two runs have in common, the **CSI** the share of pairs of 95%
intervals of one coefficient that overlap. An explanation knows the covariance V of its coefficients,
and so what repeats would show. With p_j the probability that a run keeps feature j,

    VSI = sum_j p_j^2 / k,    CSI_j = 2 Phi(1.96 sqrt 2 s_j / sd_j) - 1,

the probability that two runs b, b' ~ N(coef_j, V_jj) differ by less than 1.96 (s + s'), with sd_j^2 = V_jj
and s_j the standard error that intervals are made of. With the right one CSI_j is 0.994 whatever the model; it says how good the standard errors are, not how
stable the explanation is. Chapter: trust.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy

from . import arguments as arg

DRAWS = 4000  # of the coefficients, to see which are kept
FEW = 6  # features up to which `lime` selects forward


class Stability(NamedTuple):
    """Indices from 0 to 100, as `lime_stability` has them.

    ``vsi`` and ``csi`` are what repeats of this explanation would show, with its own standard errors;
    ``reported_csi`` is what `lime_stability` would report, whose standard errors are the textbook's.
    ``selection`` (d,) is the probability that a run keeps each feature, of which it keeps
    ``features``.
    """

    vsi: float
    csi: float
    reported_csi: float
    selection: np.ndarray
    features: int

    def __str__(self) -> str:
        return (
            f"Two runs share {self.vsi:.0f}% of the features they keep (VSI), {self.features} each. Their intervals of a "
            f"coefficient overlap in {self.csi:.0f}% of the pairs (CSI); lime_stability, whose "
            f"intervals are of another width, would report {self.reported_csi:.0f}%."
        )


def stability(ex: Any, features: Any = 10, runs: Any = 10, select: str = "auto") -> Stability:
    """The indices that ``runs`` repeats of an explanation, each keeping ``features``, would show.

    Parameters
    ----------
    ex
        An :class:`limetutor.Explanation` on all features.
    features, select
        How many features a run keeps, and how: as in :func:`limetutor.explain`. For indicators that
        are nearly independent, forward selection takes the largest ``|coef| sqrt(Var z)``.
    runs
        `lime_stability`'s ``n_calls``: its CSI is a mean over the features that some of them keep.
    """
    features, runs = arg.whole("features", features, 1), arg.whole("runs", runs, 2)
    arg.one_of("select", select, ("auto", "highest", "forward"))
    used = ex.used
    share = ex.setting.boxes.law.prob[np.arange(len(used)), ex.setting.own]
    if np.any(~used & (share > 0) & (share < 1)) or ex.lasso:
        raise ValueError(
            "the explanation must have an estimate for every feature: leave out features= and lasso=, "
            "and raise nu or n."
        )
    count = int(used.sum())
    features = min(features, max(count, 1))
    chosen = _selection(ex, features, select)
    vsi = float(np.sum(chosen**2) / features) if count else 1.0
    # among the features that lime_stability averages over are those that two runs or more keep
    often = 1 - (1 - chosen) ** runs - runs * chosen * (1 - chosen) ** (runs - 1)
    spread = ex.stderr
    reported = spread if ex.textbook_stderr is None else ex.textbook_stderr
    csi, as_reported = (_overlap(s, spread, often) for s in (spread, reported))
    return Stability(100 * vsi, 100 * csi, 100 * as_reported, chosen, features)


def _selection(ex: Any, features: int, select: str) -> np.ndarray:
    """The probability that each feature is among the kept ones, (d,)."""
    used = np.flatnonzero(ex.used)
    found = np.zeros(len(ex.coef))
    if features >= len(used):
        found[used] = 1.0
        return found
    V = ex.covariance[1:, 1:][np.ix_(used, used)]
    values, axes = np.linalg.eigh((V + V.T) / 2)
    root = axes * np.sqrt(np.clip(values, 0.0, None))
    noise = np.random.default_rng(0).standard_normal((DRAWS, len(used)))
    drawn = np.abs(ex.coef[used] + noise @ root.T) * _scale(ex, features, select)[used]
    first = np.argsort(-drawn, axis=1, kind="stable")[:, :features]
    found[used] = np.bincount(first.ravel(), minlength=len(used)) / DRAWS
    return found


def _scale(ex: Any, features: int, select: str) -> np.ndarray:
    """What a selection multiplies ``|coef|`` by: the deviation of each indicator, or nothing."""
    forward = select == "forward" or (select == "auto" and features <= FEW)
    if not forward or ex.setting.product is None:
        return np.ones(len(ex.coef))
    law = ex.setting.tilt
    return np.sqrt(law.alpha * law.rest)


def _overlap(s: np.ndarray, spread: np.ndarray, weight: np.ndarray) -> float:
    """The mean over features of P(two 95% intervals overlap); 1 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(spread > 0, 1.96 * np.sqrt(2) * s / spread, np.inf)
    share = 2 * scipy.special.ndtr(reach) - 1
    total = float(weight.sum())
    return float(weight @ share / total) if total > 0 else 1.0
