"""VSI and CSI, the similarity of repeated explanations, computed without repeating any.

Two indices of Visani et al. (2022) compare all pairs of many runs, each of which keeps k features: the
**VSI** is the share of features that two runs have in common, the **CSI** the share of pairs of 95%
intervals of one coefficient that overlap. An explanation knows the covariance V of its coefficients,
and so what repeats would show. With p_j the probability that a run keeps feature j,

    VSI = sum_j p_j^2 / k,    CSI_j = 2 Phi(1.96 sqrt 2 s_j / sd_j) - 1,

the probability that two runs b, b' ~ N(coef_j, V_jj) differ by less than 1.96 (s + s'), with sd_j^2 = V_jj
and s_j the standard error that intervals are made of. With the right one CSI_j is 0.994 whatever the
model; it says how good the standard errors are, not how stable the explanation is. Chapter: how many samples.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy

from ..inputs import arguments as arg
from .sparse import largest, selects_forward

COEFFICIENT_DRAWS = 4000  # from which the probability of selection is estimated


class Stability(NamedTuple):
    """Indices from 0 to 100, as `lime_stability` has them.

    ``vsi`` and ``csi`` are those of repeats of this explanation, with its own standard errors;
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
            f"Two runs share {self.vsi:.0f}% of the features they keep (VSI), {self.features} each. "
            f"Their intervals of a coefficient overlap in {self.csi:.0f}% of the pairs (CSI); lime_stability, whose "
            f"intervals are of another width, would report {self.reported_csi:.0f}%."
        )


def stability(ex: Any, features: Any = 10, runs: Any = 10, select: str = "auto") -> Stability:
    """The indices that ``runs`` repeats of an explanation ``ex`` on all features would show.

    Each keeps ``features`` by the rule ``select``, as in :func:`limetutor.explain`; for indicators that
    are nearly independent, forward selection takes the largest ``|coef| sqrt(Var z)``. ``runs`` is
    `lime_stability`'s ``n_calls``: its CSI is a mean over the features that some of them keep.
    """
    features, runs = arg.whole("features", features, 1), arg.whole("runs", runs, 2)
    arg.one_of("select", select, ("auto", "highest", "forward"))
    used = ex.used
    share = ex.setting.boxes.law.prob[np.arange(len(used)), ex.setting.box_of_xi]
    if np.any(~used & (share > 0) & (share < 1)) or ex.lasso:
        raise ValueError(
            "the explanation must have an estimate for every feature: leave out features= and lasso=, "
            "and raise nu or n."
        )
    count = int(used.sum())
    features = min(features, max(count, 1))
    selection = _selection(ex, features, select)
    vsi = float(np.sum(selection**2) / features) if count else 1.0
    # lime_stability averages over the features that two runs or more keep
    weight = 1 - (1 - selection) ** runs - runs * selection * (1 - selection) ** (runs - 1)
    textbook = ex.stderr if ex.textbook_stderr is None else ex.textbook_stderr
    csi, reported_csi = (_overlap(s, ex.stderr, weight) for s in (ex.stderr, textbook))
    return Stability(100 * vsi, 100 * csi, 100 * reported_csi, selection, features)


def _selection(ex: Any, features: int, select: str) -> np.ndarray:
    """The probability that each feature is among the kept ones, (d,)."""
    used = np.flatnonzero(ex.used)
    probability = np.zeros(len(ex.coef))
    if features >= len(used):
        probability[used] = 1.0
        return probability
    scale = np.ones(len(ex.coef))
    if selects_forward(select, features) and ex.setting.product is not None:
        scale = np.sqrt(ex.setting.tilt.alpha * ex.setting.tilt.rest)
    V = ex.covariance[1:, 1:][np.ix_(used, used)]
    drawn = np.abs(repeats(ex.coef[used], V, COEFFICIENT_DRAWS)) * scale[used]
    probability[used] = largest(drawn, features).mean(axis=0)
    return probability


def repeats(coef: np.ndarray, V: np.ndarray, runs: int) -> np.ndarray:
    """Coefficients of other runs (runs, d): draws from N(coef, V), where V may be singular."""
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    return coef + np.random.default_rng(0).standard_normal((runs, len(coef))) @ root.T


def _overlap(s: np.ndarray, sd: np.ndarray, weight: np.ndarray) -> float:
    """The weighted mean over features of P(two 95% intervals overlap); 1 where nothing varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(sd > 0, 1.96 * np.sqrt(2) * s / sd, np.inf)
    share = 2 * scipy.special.ndtr(reach) - 1
    total = float(weight.sum())
    return float(weight @ share / total) if total > 0 else 1.0
