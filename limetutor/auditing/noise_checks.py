"""What chance has done to an explanation: checks of its noise, and of what the fit leaves out.

Registered like those of :mod:`limetutor.auditing.checks`. Chapters: how many samples, the real lime.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..normal_limit import log_share
from . import wording
from .case import CONFIDENCE, Case
from .findings import Finding
from .registry import check

NOISE = 0.1  # standard errors up to a tenth of the largest coefficient leave the picture as it is
DROWNED = 0.5  # beyond half of it even the largest coefficient is not clear of 0
TOP = 3  # readers look at the first three features
PER_COEFFICIENT = 20  # effective samples for each coefficient
MANY = 20  # features, of whose 95% intervals one is expected to miss
RUNS = 400  # draws from the normal law of the coefficients, as other runs would give them
SAME = 0.8  # another run should choose the same features with this probability ...
KEPT = 0.8  # ... and to replace more than one in five is to show another explanation
LARGE = 0.25  # of the largest coefficient: what readers take home, should it be there or not
EXPLAINED = 0.05  # of the model's variation: a surrogate below it says little
NOTHING = 0.02  # ... and below this, nothing
EDGE = 0.05  # a feature chosen less often than this, or missed less often, is settled
FORWARD = 6  # up to so many features `lime` chooses one at a time, by what each explains


@check
def noise(case: Case) -> Iterator[Finding]:
    """Is the sampling noise small against the coefficients?"""
    if case.stderr is None or case.reach is None or case.n is None or case.top == 0:
        return
    largest = float(case.stderr.max())
    ratio = largest / case.top
    if ratio <= NOISE:
        return
    unclear = (np.abs(case.coef) < case.reach) & case.used
    numbers = {
        "stderr": largest,
        "largest_coef": case.top,
        "ratio": ratio,
        "unclear": int(unclear.sum()),
        "n": case.n,
        "n_needed": int(np.ceil(case.n * (ratio / NOISE) ** 2)),
    }
    if case.form is not None:  # what noise did to this run is known
        off = np.where(case.used, np.abs(case.coef - case.exact().coef), 0.0)
        numbers["off"] = float(off.max())
    severity = "serious" if ratio > DROWNED else "warning"
    words = wording.noise(case, numbers, NOISE)
    yield Finding("noise", severity, case.name(unclear), numbers, *words)


@check
def no_fit(case: Case) -> Iterator[Finding]:
    """Does the surrogate explain what the model does?"""
    drawn = case.sampled
    if drawn is None or case.top == 0:
        return
    # chance alone explains a share of d / ess
    left = max(drawn.ess - 1 - int(case.used.sum()), 1.0)
    score = 1 - (1 - drawn.score) * (drawn.ess - 1) / left
    if score >= EXPLAINED:
        return
    severity = "serious" if score < NOTHING else "warning"
    yield Finding(
        "no-fit",
        severity if case.acts_together else "note",  # else the row's boxes are average ones
        (),
        {"r2": drawn.score, "r2_adjusted": score, "additive": case.additive},
        *wording.no_fit(case, score),
    )


@check
def many_features(case: Case) -> Iterator[Finding]:
    """Are there so many features that some of their intervals miss, and which ones?"""
    alone, joint = case.reach_of_one(), case.reach
    if alone is None or joint is None or case.used.sum() < MANY:
        return
    size = np.abs(case.coef)
    doubtful = case.used & (size >= alone) & (size < joint)
    wrong = np.zeros(len(size), bool)
    if case.form is not None:  # the truth is known: which of the bars on display are chance?
        off = np.abs(case.coef - case.exact().coef)
        wrong = case.used & (off > joint) & (size >= joint)
    shown = case.leads[: case.shown]
    alarming = bool(np.any(((doubtful | wrong) & (size >= LARGE * case.top))[shown]))
    yield Finding(
        "many-features",
        "warning" if alarming else "note",
        case.name(doubtful | wrong),
        {
            "features": int(case.used.sum()),
            "expected_misses": float((1 - CONFIDENCE) * case.used.sum()),
            "level": CONFIDENCE ** (1 / int(case.used.sum())),
        },
        *wording.many_features(case, case.name(doubtful), case.name(wrong)),
    )


@check
def unstable_set(case: Case) -> Iterator[Finding]:
    """Would another run put other features on display?"""
    drawn, k = case.sampled, case.shown
    if drawn is None or case.used.sum() <= k or case.top == 0:
        return
    used = np.flatnonzero(case.used)
    weight = _weight_of_choice(case, k)[used]
    centre, spread = case.coef[used], drawn.covariance[1:, 1:][np.ix_(used, used)]
    if not np.all(np.isfinite(spread)):
        return
    chosen = _first(np.abs(centre) * weight, k)
    truth, known = (
        (case.exact().coef[used], 0.0) if case.form is not None else _likely(centre, spread)
    )
    coef = _normal(np.random.default_rng(0), truth, (1 + known) * spread, RUNS)
    sets = _first(np.abs(coef) * weight, k)
    same, often = float(np.mean(np.all(sets == chosen, axis=1))), sets.mean(axis=0)
    kept = float(often[chosen].mean())
    if same >= SAME:
        return
    edge = (often > EDGE) & (often < 1 - EDGE)
    loose = used[edge][np.argsort(-np.abs(centre[edge]), kind="stable")]
    yield unsettled(case, loose, same, kept, k)


def unsettled(case: Any, loose: Any, same: float, kept: float, k: int) -> Finding:
    """What to say of k shown features if those in ``loose`` come and go from run to run."""
    names = tuple(case.names[j] for j in loose)
    large = np.max(np.abs(case.coef[loose]), initial=0.0) >= LARGE * case.top
    return Finding(
        "unstable-set",
        "warning" if large and kept < KEPT else "note",
        names,
        {"same": same, "kept": kept, "num_features": k},
        *wording.unstable_set(case, same, kept, names, k),
    )


def _likely(coef: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Where the limits of coefficients are likely to be, and their uncertainty as a share of V.

    Coefficients that differ by little more than their noise differ less in truth: sizes are drawn
    towards their mean by b = 1 - noise / spread (Lindley 1962; Efron and Morris 1975), which leaves b V
    of the uncertainty. Another run adds V to that.
    """
    size, noise = np.abs(coef), float(np.mean(np.diag(covariance)))
    spread = float(np.var(size, ddof=1)) if len(size) > 1 else 0.0
    b = max(1 - noise / spread, 0.0) if spread > 0 else 0.0
    return np.sign(coef) * (size.mean() + b * (size - size.mean())), b


def _weight_of_choice(case: Case, k: int) -> np.ndarray:
    """What a coefficient counts when k features are chosen, by what each explains or by its size.

    A deviation of its column, or the value of the column at xi: 1 with boxes.
    """
    if k > FORWARD:
        return np.abs(case.setting.lead)
    return np.exp(case.regressors.log_variance / 2) if case.tilts else np.ones(len(case.coef))


def _first(size: np.ndarray, k: int) -> np.ndarray:
    """Which are among the k largest of each row, a mask."""
    order = np.argsort(-size, axis=-1, kind="stable")[..., :k]
    mask = np.zeros(size.shape, bool)
    np.put_along_axis(mask, order, True, axis=-1)
    return mask


def _normal(
    rng: np.random.Generator, mean: np.ndarray, covariance: np.ndarray, n: int
) -> np.ndarray:
    """Draws from a normal law whose covariance may be singular, (n, d)."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(np.clip(values, 0, None))
    return mean + rng.standard_normal((n, len(mean))) @ root.T


@check
def order(case: Case) -> Iterator[Finding]:
    """Would another run put the first features in another order?"""
    if case.reach is None or case.top == 0:
        return
    first = case.leads[: TOP + 1]
    pairs = []
    for i, j in pairwise(first):
        if abs(case.coef[i]) < case.reach[i]:
            break  # from here on all of them could be 0
        ahead, stderr, t = case.apart(i, j)
        if ahead < t * stderr:
            pairs.append((case.names[i], case.names[j], ahead, stderr))
    if pairs:
        yield Finding(
            "order",
            "note",  # the coefficients stand, whichever comes first
            tuple(dict.fromkeys(name for pair in pairs for name in pair[:2])),
            {"pairs": [list(pair) for pair in pairs]},
            *wording.order(case, pairs),
        )


@check
def few_samples(case: Case) -> Iterator[Finding]:
    """Are there enough effective samples for the number of coefficients?"""
    drawn = case.sampled
    if drawn is None:
        return
    least = PER_COEFFICIENT * (len(case.coef) + 1)
    if drawn.ess >= least:
        return
    numbers = {
        "ess": drawn.ess,
        "n": drawn.n,
        "least": least,
        "n_needed": int(np.ceil(drawn.n * least / drawn.ess)),
    }
    if case.tilts and drawn.draws.weighted:
        numbers["ess_expected"] = drawn.n * float(np.exp(log_share(case.setting)))
    severity = "serious" if drawn.ess < least / 4 else "warning"
    yield Finding("few-samples", severity, (), numbers, *wording.few_samples(case, numbers))
