"""The effect of chance on an explanation: checks of its noise, and of what the fit leaves out.

Those that also serve texts and images take either case. Chapters: how many samples, the real lime.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...inputs.lime_defaults import FORWARD_SELECTION_MAX
from ...precision.effective_samples import log_share
from ...precision.sparse import largest
from ...precision.stability import repeats
from ..case import CONFIDENCE, Case
from ..findings import Finding, check, few, mask_check

MAX_NOISE = 0.1  # standard errors up to a tenth of the largest coefficient hardly show
DROWNED = 0.5  # beyond half of it even the largest coefficient is not clear of 0
RANKED = 3  # features whose order readers look at
SAMPLES_PER_COEFFICIENT = 20  # effective ones
MANY_FEATURES = 20  # of whose 95% intervals one is expected to miss
RUNS = 400  # draws from the normal law of the coefficients, as other runs would give them
MIN_SAME = 0.8  # another run should choose the same features with this probability ...
MIN_KEPT = 0.8  # ... and to replace more than one in five is to show another explanation
LARGE = 0.25  # of the largest coefficient: what readers remember
SETTLED = 0.05  # a feature chosen less often than this, or missed less often


def sampling_advice(case: Any) -> str:
    """A hint at the sampler that needs fewer samples, where it would help."""
    drawn = case.sampled
    if case.is_lime or not case.has_box_limit or drawn is None or not drawn.draws.weighted:
        return ""
    return "; sampler='tilted' needs fewer"


@mask_check
@check
def noise(case: Any) -> Iterator[Finding]:
    """Is the sampling noise small against the coefficients?"""
    if case.stderr is None or case.n is None or case.top == 0:
        return
    largest = float(case.stderr.max())
    ratio = largest / case.top
    if ratio <= MAX_NOISE:
        return
    unclear = (np.abs(case.coef) < case.half_width) & case.used
    numbers = {
        "stderr": largest, "largest_coef": case.top, "ratio": ratio, "unclear": int(unclear.sum()),
        "n": case.n, "n_needed": int(np.ceil(case.n * (ratio / MAX_NOISE) ** 2)),
    }  # fmt: skip
    off = ""
    if case.form is not None:  # the exact answer is known, and how far this run is from it
        distance = np.abs(case.coef - case.limit.exact().coef)
        numbers["off"] = float(np.where(case.used, distance, 0.0).max())
        off = f" This run is off by up to {numbers['off']:.3g}."
    yield Finding(
        "noise", "serious" if ratio > DROWNED else "warning", case.name(unclear), numbers,
        f"Another run would give clearly different numbers: with {case.terms.samples(case.n)} standard "
        f"errors reach {largest:.3g}, {ratio:.0%} of the largest coefficient ({case.top:.3g}), and "
        f"{numbers['unclear']} of {len(case.coef)} coefficients are indistinguishable from 0.{off}",
        f"About {case.terms.samples(numbers['n_needed'])} bring that to {MAX_NOISE:.0%}"
        f"{sampling_advice(case)}.",
    )  # fmt: skip


@check
def many_features(case: Case) -> Iterator[Finding]:
    """Are there so many features that some of their intervals miss, and which ones?"""
    count = int(case.used.sum())
    if case.noise is None or case.half_width is None or count < MANY_FEATURES:
        return
    size, single, joint = np.abs(case.coef), case.noise.single(), case.half_width
    doubtful = case.used & (size >= single) & (size < joint)
    wrong = np.zeros(len(size), bool)
    if case.form is not None:  # the exact answer tells which of the bars on display are chance
        off = np.abs(case.coef - case.limit.exact().coef)
        wrong = case.used & (off > joint) & (size >= joint)
    shown = case.ranking[: case.shown]
    alarming = bool(np.any(((doubtful | wrong) & (size >= LARGE * case.top))[shown]))
    sentence = (
        f"There are {count} coefficients, and of {count} intervals that hold in 95% of runs each, "
        f"about {count * 0.05:.2g} would miss in every run: an audit widens them until all hold "
        "together."
    )
    if np.any(doubtful):
        verb = "is" if doubtful.sum() == 1 else "are"
        sentence += f" {few(case.name(doubtful))} {verb} then no longer clear of 0."
    if np.any(wrong):
        names = few(case.name(wrong))
        sentence += f" By the exact answer {names} differ from what is shown by more than that."
    yield Finding(
        "many-features", "warning" if alarming else "note", case.name(doubtful | wrong),
        {
            "features": count, "expected_misses": float((1 - CONFIDENCE) * count),
            "level": CONFIDENCE ** (1 / count),
        },
        sentence,
        "Do not read coefficients whose widened interval holds 0: the picture of the audit draws "
        "them hollow.",
    )  # fmt: skip


@check
def unstable_set(case: Case) -> Iterator[Finding]:
    """Would another run put other features on display?"""
    drawn, k = case.sampled, case.shown
    if drawn is None or case.used.sum() <= k or case.top == 0:
        return
    used = np.flatnonzero(case.used)
    coef, covariance = case.coef[used], drawn.covariance[1:, 1:][np.ix_(used, used)]
    if not np.all(np.isfinite(covariance)):
        return
    # `lime` chooses by what each feature explains, or by its coefficient times its value at xi
    if k > FORWARD_SELECTION_MAX:
        weight = np.abs(case.problem.value_at_xi)[used]
    elif case.has_limit:
        weight = np.exp(case.limit.regressors.log_variance / 2)[used]
    else:
        weight = np.ones(len(used))
    if case.form is not None:
        truth, uncertainty = case.limit.exact().coef[used], 0.0
    else:
        truth, uncertainty = shrunken(coef, covariance)
    runs = repeats(truth, (1 + uncertainty) * covariance, RUNS)
    chosen, sets = (largest(np.abs(c) * weight, k) for c in (coef, runs))
    same = float(np.mean(np.all(sets == chosen, axis=1)))
    if same < MIN_SAME:
        yield unstable(case, used, chosen, sets.mean(axis=0), same, k)


def unstable(
    case: Any, features: np.ndarray, chosen: np.ndarray, share: np.ndarray, same: float, k: int
) -> Finding:
    """The finding for k ``chosen`` of the features, each of which is in this share of the runs."""
    kept = float(share[chosen].mean())
    loose = features[(share > SETTLED) & (share < 1 - SETTLED)]
    loose = loose[np.argsort(-np.abs(case.coef[loose]), kind="stable")]
    names = tuple(case.names[j] for j in loose)
    large = np.max(np.abs(case.coef[loose]), initial=0.0) >= LARGE * case.top
    return Finding(
        "unstable-set", "warning" if large and kept < MIN_KEPT else "note", names,
        {"same": same, "kept": kept, "num_features": k},
        f"The {k} features on display are partly chance: another run would choose the same ones with "
        f"a probability of {same:.0%}, and keep {kept:.0%} of them on average; {few(names)} "
        f"{'is' if len(names) == 1 else 'are'} at the edge of being chosen.",
        f"Show other than {k} features (num_features), or raise {case.n_name}.",
    )  # fmt: skip


def shrunken(coef: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, float]:
    """Shrinkage estimates of the limits, and their uncertainty as a share of the covariance V.

    Coefficients that differ by little more than their noise differ less in truth: sizes are shrunk
    towards their mean by b = 1 - noise / spread (Lindley 1962; Efron and Morris 1975), which leaves b V
    of the uncertainty. Another run adds V to that.
    """
    size, noise = np.abs(coef), float(np.mean(np.diag(covariance)))
    spread = float(np.var(size, ddof=1)) if len(size) > 1 else 0.0
    b = max(1 - noise / spread, 0.0) if spread > 0 else 0.0
    return np.sign(coef) * (size.mean() + b * (size - size.mean())), b


@check
def order(case: Case) -> Iterator[Finding]:
    """Would another run put the first features in another order?"""
    if case.noise is None or case.half_width is None or case.top == 0:
        return
    pairs = []
    for i, j in pairwise(case.ranking[: RANKED + 1]):
        if abs(case.coef[i]) < case.half_width[i]:
            break  # from here on all of them could be 0
        ahead, stderr, quantile = case.noise.lead(i, j)
        if ahead < quantile * stderr:
            pairs.append((case.names[i], case.names[j], ahead, stderr))
    if not pairs:
        return
    first, second, ahead, stderr = pairs[0]
    others = "another pair" if len(pairs) == 2 else f"{len(pairs) - 1} other pairs"
    more = f"; the same holds for {others}" if len(pairs) > 1 else ""
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair[:2]))
    yield Finding(  # a note: the coefficients stand, whichever comes first
        "order", "note", names, {"pairs": [list(pair) for pair in pairs]},
        f"The order of the largest coefficients is not settled: {first} is ahead of {second} "
        f"by {ahead:.3g}, with a standard error of {stderr:.3g}{more}.",
        f"Do not read the ranking of these, or raise {case.n_name}{sampling_advice(case)}.",
    )  # fmt: skip


@check
def few_samples(case: Case) -> Iterator[Finding]:
    """Are there enough effective samples for the number of coefficients?"""
    drawn = case.sampled
    if drawn is None or drawn.ess >= min_ess(case):
        return
    expected = None
    if case.has_limit and drawn.draws.weighted:
        expected = drawn.n * float(np.exp(log_share(case.problem)))
    yield too_few(case, drawn.ess, expected)


def min_ess(case: Any) -> int:
    """The least effective sample size for the number of coefficients."""
    return SAMPLES_PER_COEFFICIENT * (len(case.coef) + 1)


def too_few(case: Any, ess: float, expected: float | None = None) -> Finding:
    """The finding for an effective sample size that is too small, other than was ``expected`` or not."""
    least = min_ess(case)
    needed = int(np.ceil(case.n * least / ess))
    numbers = {"ess": ess, "n": case.n, "least": least, "n_needed": needed}
    if expected is not None:
        numbers["ess_expected"] = expected
    return Finding(
        "few-samples", "serious" if ess < least / 4 else "warning", (), numbers,
        f"Most samples hardly count: the {case.terms.samples(case.n)} are worth {ess:.0f} equal ones"
        f"{'' if expected is None else f' ({expected:.0f} expected)'}, for {len(case.coef) + 1} "
        "coefficients.",
        f"About {case.terms.samples(needed)} would make {least}; a larger bandwidth also raises it"
        f"{sampling_advice(case)}.",
    )  # fmt: skip
