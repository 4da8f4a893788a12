"""The effect of chance on an explanation: checks of its noise, and of what the fit leaves out.

Those that also serve texts and images take either case. Chapters: how many samples, the real lime.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ...inputs.lime_defaults import FORWARD_SELECTION_MAX
from ...precision.effective_samples import log_share
from ...precision.rankings import Ranking
from ...precision.sparse import largest
from ...precision.stability import repeats
from ..case import CONFIDENCE, Case
from ..findings import Checked, Finding, Try, check, few, mask_check, passed
from ..reasons import HARMED, MIN_SAME, REASONS, TRIED, listed, same_reasons, severity_for
from ..reasons import RUNS as REASON_RUNS
from ..trials import changed, wider

MORE_SAMPLES = (4, 16)  # times as many, which are tried before they are advised
RANKED = 3  # features whose order readers look at
SAMPLES_PER_COEFFICIENT = 20  # effective ones
ENOUGH = 0.5  # of the samples: where more count, it is not the weights that make them few
MANY_FEATURES = 20  # of whose 95% intervals one is expected to miss
RUNS = 400  # draws from the normal law of the coefficients, as other runs would give them
SAME_SET = 0.8  # another run should choose the same features with this probability ...
SURE_SET = 0.9  # ... and with this one where other numbers of features are advised
LARGE = 0.25  # of the largest coefficient: what readers remember
SETTLED = 0.05  # a feature chosen less often than this, or missed less often


@mask_check
@check
def noise(case: Any) -> Iterator[Finding | Checked]:
    """Would other runs give the same reasons, with the same signs?"""
    if case.covariance is None or case.n is None:
        yield passed("A limit has no noise.")
        return
    if case.top == 0:
        return
    same = case.same_reasons
    names = [case.names[j] for j in same.features]
    ranking = Ranking(case.expected, case.uncertainty, tuple(case.names), "runs", draws=REASON_RUNS)
    most = min(case.shown, REASONS + 1)
    settled = f" {ranking.sentence(case.terms.samples(case.n), most)}".rstrip()
    if same.together >= (TRIED if case.is_trial else MIN_SAME):
        yield passed(
            f"Other runs give {listed(names)} with the same signs in about {same.together:.0%}.{settled}"
        )
        return
    shaky = same.each < MIN_SAME
    shaky[np.argmin(same.each)] = True
    doubtful = [names[i] for i in np.flatnonzero(shaky)]
    numbers: dict[str, Any] = {
        "together": same.together, "reasons": names, "each": same.each.tolist(), "n": case.n,
        "same": ranking.same()[:most].tolist(),
    }  # fmt: skip
    odds = ", ".join(f"{name} {share:.0%}" for name, share in zip(names, same.each, strict=True))
    numbers["advised"], remedy = _settled(case, doubtful)
    severity = severity_for(same.features, same.each < HARMED)
    if severity == "note" or numbers["advised"]:  # what others would give can be shown
        severity = "warning"
    yield Finding(
        "noise", severity, tuple(doubtful), numbers,
        f"Other runs may give other reasons: with {case.terms.samples(case.n)}, {listed(names)} are the "
        f"largest and have these signs together in about {same.together:.0%} of the runs ({odds}).{settled}",
        remedy,
    )  # fmt: skip


def _settled(case: Any, doubtful: list[Any]) -> tuple[dict[str, int], str]:
    """What would settle the reasons: tried, and offered only where it does."""
    known = (
        case.is_mean or case.expected is not case.coef
    )  # else the trial would be as noisy as this run
    for times in MORE_SAMPLES if known else ():
        k = len(case.same_reasons.features)
        if same_reasons(case.expected, case.covariance / times, k).together >= TRIED:
            n = times * case.n
            words = f"{case.terms.samples(n).capitalize()} settle them ({case.n_name}={n})."
            return {case.n_name: n}, words
    for k in range(len(case.same_reasons.features) - 1, 0, -1):
        if same_reasons(case.expected, case.uncertainty, k).together >= (TRIED if known else 1.0):
            first = "first" if k == 1 else f"first {k}"
            return {"num_features": k}, f"Show the {first} reason{'s' * (k > 1)} alone."
    return (
        {},
        f"Do not show {listed(doubtful)} as {'a reason' if len(doubtful) == 1 else 'reasons'}.",
    )


@check
def many_features(case: Case) -> Iterator[Finding | Checked]:
    """Where there are many features: are those on display clear of 0?"""
    count = int(case.used.sum())
    if case.noise is None or case.half_width is None or count < MANY_FEATURES:
        return
    shown = np.isin(np.arange(len(case.coef)), case.ranking[: case.shown])
    doubtful = shown & (np.abs(case.coef) < case.half_width)
    if not np.any(doubtful):
        return
    yield Finding(
        "many-features", "note", case.name(doubtful),
        {
            "features": count, "expected_misses": float((1 - CONFIDENCE) * count),
            "level": CONFIDENCE ** (1 / count),
        },
        f"{doubtful.sum()} of the {shown.sum()} features on display are not clear of 0: of {count} "
        f"intervals that hold in 95% of runs each, about {count * 0.05:.2g} would miss in every run, and "
        f"widened until all hold together those of {few(case.name(doubtful))} hold 0.",
        "Do not read these; the picture of the audit draws them hollow.",
    )  # fmt: skip


@check
def unstable_set(case: Case) -> Iterator[Finding | Checked | Try]:
    """Would another run put other features on display?"""
    drawn, k = case.sampled, case.shown
    if drawn is None or case.used.sum() <= k or case.top == 0:
        return
    used = np.flatnonzero(case.used)
    coef, covariance = case.coef[used], drawn.covariance[1:, 1:][np.ix_(used, used)]
    if not np.all(np.isfinite(covariance)):
        return
    if case.form is not None:
        truth, uncertainty = case.limit.exact().coef[used], 0.0
    else:
        truth, uncertainty = shrunken(coef, covariance)
    runs = repeats(truth, (1 + uncertainty) * covariance, RUNS)

    def choice(k: int) -> tuple[np.ndarray, np.ndarray, float]:
        """What is chosen, what runs choose, and how often this is the same."""
        # `lime` chooses by what each feature explains, or by its coefficient times its value at xi
        if k > FORWARD_SELECTION_MAX:
            weight = np.abs(case.problem.value_at_xi)[used]
        elif case.has_limit:
            weight = np.exp(case.limit.regressors.log_variance / 2)[used]
        else:
            weight = np.ones(len(used))
        chosen, sets = (largest(np.abs(c) * weight, k) for c in (coef, runs))
        return chosen, sets, float(np.mean(np.all(sets == chosen, axis=1)))

    chosen, sets, same = choice(k)
    if same < SAME_SET:
        yield unstable(case, used, chosen, sets.mean(axis=0), same, k)
        others = sorted(set(range(REASONS, min(2 * k, len(used)))) - {k}, key=lambda m: abs(m - k))
        for other in (m for m in others if case.form is not None and choice(m)[2] > SURE_SET):
            words = f"Show {other} features: another run would choose the same ones with a probability of {choice(other)[2]:.0%}."
            yield Try(
                words, {"num_features": other}, partial(replace, case, shown=other, is_trial=True)
            )


def unstable(
    case: Any, features: np.ndarray, chosen: np.ndarray, share: np.ndarray, same: float, k: int
) -> Finding:
    """The finding for k ``chosen`` of the features, each of which is in this share of the runs."""
    kept = float(share[chosen].mean())
    loose = features[(share > SETTLED) & (share < 1 - SETTLED)]
    loose = loose[np.argsort(-np.abs(case.coef[loose]), kind="stable")]
    names = tuple(case.names[j] for j in loose)
    return Finding(
        "unstable-set", "note", names,
        {"same": same, "kept": kept, "num_features": k},
        f"The {k} features on display are partly chance: another run would choose the same ones with "
        f"a probability of {same:.0%}, and keep {kept:.0%} of them on average; {few(names)} "
        f"{'is' if len(names) == 1 else 'are'} at the edge of being chosen.",
        "Do not take a feature that is not on display for one without effect.",
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
def order(case: Case) -> Iterator[Finding | Checked]:
    """Would another run put the first features in another order?"""
    if case.noise is None or case.half_width is None or case.top == 0:
        return
    pairs = []
    for i, j in pairwise(case.ranking[:RANKED]):
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
        "Do not read the ranking of these.",
    )  # fmt: skip


@check
def few_samples(case: Case) -> Iterator[Finding | Checked | Try]:
    """Are there enough effective samples for the number of coefficients?"""
    drawn = case.sampled
    if drawn is None or drawn.ess >= min(min_ess(case), ENOUGH * drawn.n):
        return
    expected = None
    if case.has_limit and drawn.draws.weighted:
        expected = drawn.n * float(np.exp(log_share(case.problem)))
    yield too_few(case, drawn.ess, expected)
    n = int(1.1 * drawn.n * min_ess(case) / min(drawn.ess, expected or np.inf))
    words = f"{case.terms.samples(n).capitalize()} are enough."
    yield Try(words, {case.n_name: n}, lambda: changed(case, case.problem, n))
    yield from wider(case)


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
        f"Do not read the coefficients; about {case.terms.samples(needed)} would make {least}.",
    )  # fmt: skip
