"""How the surrogate fits: what it explains, its error at xi, penalties, xi's own row.

Chapters: local error, the real lime.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...precision.diagnostics import MIN_OTHER_WEIGHT
from ...precision.finite_n import local_error_parts
from ...precision.monte_carlo import box_average
from ..case import LEADING, MIN_SHRINKAGE, Case
from ..findings import Checked, Finding, Try, check, few, not_checked, passed
from ..trials import changed, more_samples, wider

# When to report. Each is a judgement, stated once and quoted in the chapter.
SCARCE = 0.01  # an indicator that is nearly always 0, or nearly always 1
MIN_SCORE = 0.05  # of the model's variation: a surrogate that explains less says little
MIN_ADDITIVE = 0.5  # of the variance: a model of which more is a sum over features is additive
NO_SCORE = 0.02  # ... and below this, nothing
MAX_ERROR = 0.5  # the surrogate may miss f(xi) by half the largest coefficient
FAR_OFF = 2.0  # ... and by more than this it is no longer about the same size of numbers
HALF_ACCOUNTED = 0.5  # of what sets f(xi) apart from the mean: less is not an account of it
NOT_ACCOUNTED = 0.1  # ... and this little is none at all
MAX_OWN_ROW = 0.05  # what xi's own row may take off a coefficient, of the largest one
MAX_NOISE = 1.5  # intervals: an error within them may be chance
BOX_DRAWS = 2000  # draws from xi's boxes, to tell why the surrogate is off


@check
def no_fit(case: Case) -> Iterator[Finding | Checked]:
    """Does the surrogate explain what the model does?"""
    drawn, terms = case.sampled, case.terms
    if drawn is None:
        yield not_checked("A limit has no samples whose variation it could explain.")
        return
    # chance alone explains a share of d / ess
    left = max(drawn.ess - 1 - int(case.used.sum()), 1.0)
    score = 1 - (1 - drawn.score) * (drawn.ess - 1) / left
    if score >= MIN_SCORE:
        return
    additive = case.effects.additive
    sentence = (
        f"The surrogate explains {max(score, 0.0):.1%} of how the model varies over its samples"
    )
    average = f"{terms.rows} boxes are average ones."
    if case.linear is not None:
        yield passed(f"{sentence}, and the model is a sum over features: {average}")
        return
    if additive is not None and additive >= MIN_ADDITIVE:
        other = f"sums over features, with all boxes in place of {terms.rows} own, explain"
        yield passed(f"{sentence}, and {other} {additive:.0%}: {average}")
        return
    severity = "serious" if score < NO_SCORE else "warning"
    seen = f"effects of single features seen from {terms.rows} boxes"
    if not case.boxed:
        seen = "straight lines in single features"
    sentence += f": what the model does here is not a sum of {seen}."
    remedy = (
        "Do not read the coefficients as the reasons of the prediction; look for features that act "
        "together."
    )
    numbers = {"r2": drawn.score, "r2_adjusted": score, "additive": additive}
    yield Finding("no-fit", severity, (), numbers, sentence, remedy)


@check
def near_singular(case: Case) -> Iterator[Finding | Checked]:
    """Does every indicator vary among the weighted samples?"""
    if not case.has_box_limit:
        yield not_checked(
            "There is no theory of the weights for this kernel, or there are no boxes."
        )
        return
    least = np.where(case.constant, 1.0, np.minimum(case.tilt.alpha, case.tilt.rest))
    scarce = least < SCARCE
    if not np.any(scarce):
        return
    worst = int(np.argmin(least))
    alpha = case.tilt.alpha
    lost = scarce & ~case.used  # without one that matters the explanation is another one
    serious = bool(np.any(case.effects.matter(lost, LEADING)))
    yield Finding(
        "near-singular", "serious" if serious else "note", case.name(scarce),
        {"alpha": alpha[scarce].tolist(), "worst_alpha": float(alpha[worst])},
        f"{few(case.name(scarce))} hardly var{'y' if scarce.sum() > 1 else 'ies'} among the weighted "
        f"samples: {alpha[worst]:.3%} of the weight lies in {case.terms.rows} box of "
        f"{case.names[worst]}.",
        "That it has no coefficient does not say that it has no effect."
        if np.any(lost)
        else f"Read {few(case.name(scarce))} with the standard error.",
    )  # fmt: skip


@check
def local_error(case: Case) -> Iterator[Finding | Checked]:
    """Does the explanation add up to the prediction?"""
    lasting, terms = _lasting_error(case), case.terms
    if case.top == 0 or abs(lasting) <= MAX_ERROR * case.top:
        return
    ratio, accounted = abs(lasting) / case.top, _accounted(case, lasting)
    severity = severity_of_error(ratio, accounted)
    if severity is None:
        yield passed(
            f"The surrogate at {terms.row} is {case.local_prediction:.4g} where the model says "
            f"{case.prediction:.4g}, {ratio:.2f} times the largest coefficient apart."
        )
        return
    features, numbers, why = _reasons(case, lasting)
    numbers |= {
        "error": case.error, "lasting_error": lasting, "prediction": case.prediction,
        "local_prediction": case.local_prediction, "ratio": ratio, "accounted": accounted,
    }  # fmt: skip
    noisy = abs(lasting - case.error) > 0.05 * abs(lasting)
    account = ""
    if accounted is not None and accounted <= 0:
        account = " The coefficients add up to the other side of the average."
    elif accounted is not None and accounted < HALF_ACCOUNTED:
        account = (
            f" The coefficients account for {accounted:.0%} of what sets this prediction apart."
        )
    reading = f"comparisons of boxes, not as a model of what happens around {terms.row}"
    if not case.boxed:
        reading = f"average slopes, not as the slopes at {terms.row}"
    yield Finding(
        "local-error", severity, features, numbers,
        f"The surrogate at {terms.row} is {case.local_prediction:.4g} where the model says "
        f"{case.prediction:.4g}: it is off by {case.error:+.3g}"
        f"{f' ({lasting:+.3g} without the noise of this run)' if noisy else ''}, {ratio:.2f} times "
        f"the largest coefficient.{account}{why}",
        f"Read the coefficients as {reading}.",
    )  # fmt: skip


def _accounted(case: Case, lasting: float) -> float | None:
    """Which share of f(xi) less the mean of the surrogate its coefficients add up to.

    None where f(xi) hardly differs from the mean, or where the mean is not known; and without boxes,
    where coefficients are slopes and promise no account.
    """
    if not case.has_box_limit:
        return None
    mean = case.subject.intercept + float(case.tilt.alpha @ case.coef)
    apart = case.prediction - mean
    return None if abs(apart) < MAX_ERROR * case.top else 1 + lasting / apart


def severity_of_error(ratio: float, accounted: float | None) -> str | None:
    """The coefficients compare boxes and stand; do they also add up to this prediction?"""
    if ratio > FAR_OFF and accounted is not None and accounted < NOT_ACCOUNTED:
        return "warning"
    half = accounted is not None and accounted < HALF_ACCOUNTED
    return "note" if ratio > FAR_OFF or half else None


def _lasting_error(case: Case) -> float:
    """The part of f^(xi) - f(xi) that more samples would not remove."""
    if case.form is not None:
        return case.limit.error_without_own_row() * case.limit.correction.left
    if case.noise is None or abs(case.error) > MAX_NOISE * case.noise.local_error():
        return case.error
    return 0.0


def _reasons(case: Case, lasting: float) -> tuple[tuple[str, ...], dict[str, Any], str]:
    """Where the lasting error comes from: features, numbers and words."""
    if not case.has_box_limit:
        return (), {}, ""
    rows, symbols = case.terms.rows, case.terms.symbols
    if case.linear is not None:
        parts = local_error_parts(case.linear, case.tilt, case.limit.kept)
        parts = parts * case.limit.correction.left
        largest = [int(j) for j in np.argsort(-np.abs(parts), kind="stable") if parts[j] != 0][:3]
        listed = ", ".join(f"{case.names[j]} ({parts[j]:+.3g})" for j in largest)
        return (
            tuple(case.names[j] for j in largest), {"parts": parts.tolist()},
            f" The largest parts are {listed}: samples in {rows} box do not centre on "
            f"{'ξ' if symbols else 'it'}.",
        )  # fmt: skip
    mean = box_average(case.problem, BOX_DRAWS)
    inside = mean - case.prediction
    interaction = lasting - inside
    return (
        (), {"box_average": mean, "inside_box": inside, "interaction": interaction},
        f" Of this, {inside:+.3g} arises because the model is averaged over {rows} boxes and not "
        f"taken at {'ξ' if symbols else 'the row'}, and {interaction:+.3g} because the model is not "
        "a sum over features.",
    )  # fmt: skip


@check
def penalty(case: Case) -> Iterator[Finding | Checked | Try]:
    """How much does a penalty take off the coefficients?"""
    computable = case.ridge or (case.lasso and case.form is not None)
    if not computable or not case.has_limit or case.n is None:
        penalised = bool(case.ridge or case.lasso) and case.n is not None
        if penalised:
            yield not_checked("What a penalty takes is not known for this kernel or this model.")
        return
    kept = np.where(case.used, case.limit.kept, 1.0)
    plain = case.coef / kept if case.form is None else case.limit.exact().beta
    lost = 1 - kept
    shrunk = (kept < MIN_SHRINKAGE) & case.visible(lost * plain)
    if not np.any(shrunk):
        return
    worst = int(np.argmin(np.where(shrunk, kept, 1.0)))
    name, size, weight = "lasso", case.lasso, ""
    if case.ridge:
        name, size = "ridge", case.ridge
        total = case.n * np.exp(case.tilt.log_C)
        weight = f": the total weight of the samples is {total:.3g}"
    yield Finding(
        name, "serious" if kept[worst] < 0.5 else "warning", case.name(shrunk),
        {"shrinkage": kept.tolist(), "most_lost": float(lost[worst])},
        f"{name.capitalize()} (penalty {size:g}) takes {lost[case.used].min():.1%} to "
        f"{lost[case.used].max():.1%} off the coefficients, {lost[worst]:.1%} off that of "
        f"{case.names[worst]}{weight}.",
        "Do not read the sizes of the coefficients.",
    )  # fmt: skip
    if case.ridge:
        yield from more_samples(case)
    how = "model_regressor=LinearRegression()" if case.is_lime else f"{name}=0"
    yield Try(
        f"Fit without the penalty ({how}).",
        {name: 0.0},
        lambda: changed(case, case.problem, ridge=0.0),
    )


@check
def own_row(case: Case) -> Iterator[Finding | Checked | Try]:
    """Does the row's own copy, which lime puts among its samples, decide the answer?"""
    if not case.has_limit or not case.own_row:
        return
    weight, change = case.limit.correction.weight, case.limit.own_row_change()
    decides = weight < MIN_OTHER_WEIGHT
    if decides or (case.top > 0 and change > MAX_OWN_ROW * case.top):
        effect = "decides" if decides else f"moves coefficients by up to {change:.3g}"
        numbers = {"weight": weight, "pulled": change, "n": case.n}
        yield own_copy(case, "serious" if decides else "warning", effect, numbers)
        yield from more_samples(case)
        yield from wider(case)


def own_copy(
    case: Any, severity: str, effect: str, numbers: dict[str, Any], kind: str = "row"
) -> Finding:
    """The finding for the copy of an instance of this kind that `lime` puts among its samples."""
    terms = case.terms
    whose = terms.rows if terms.symbols else f"This {kind}'s"
    return Finding(
        "own-row", severity, (), numbers,
        f"{whose} own copy {effect}: lime puts it among its {terms.samples(case.n)} with weight 1, "
        f"and all others together have {numbers['weight']:.3g}.",
        "Do not show it: at this width there is hardly anything to compare with.",
    )  # fmt: skip
