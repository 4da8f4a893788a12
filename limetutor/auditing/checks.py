"""What an audit looks for: one small function a check, each yields what it finds.

A check gets a :class:`Case`, all there is to know about an explanation, and yields findings; its
words are in :mod:`limetutor.auditing.wording`. To add one, write it under ``@check``. Here are those
that stand on the theory of boxes and bandwidths; noise has its own room, and so have the data that an
explanation should speak of. How severe a finding is, :data:`limetutor.auditing.findings.MEANING` says.
Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..algorithm import run
from ..closed_forms import OWN_ROW, box_average, local_error_parts
from ..hiding import crossings, gaps, plain_gaps, sign_changes
from ..worlds import World
from . import wording
from .case import Case
from .data_checks import severity_of_change, wrongly_fed
from .findings import Finding
from .noise_checks import EXPLAINED
from .registry import CHECKS, check

__all__ = ["CHECKS", "check"]

# When to speak. Each is a judgement, stated once and quoted in the chapter.
CRITICAL = 0.05  # relative distance in nu within which a feature counts as switched off
REACH = 0.25  # ... and within which a change of sign is worth a word
LEADING = 0.5  # of the largest effect: without such a feature the explanation is another one
HIDDEN = 0.1  # a gap below a tenth of a standard deviation shows nothing ...
HIDDEN_NEARBY = 0.25  # ... nor one that stays below this from nu/2 to 2 nu
OFF = 0.5  # the surrogate may miss f(xi) by half the largest coefficient
FAR_OFF = 2.0  # ... and by more than this it is no longer about the same size of numbers
HALF_WAY = 0.5  # of what sets f(xi) apart from the mean: less is not an account of it
NO_WAY = 0.1  # ... and this little is none at all
SCARCE = 0.01  # an indicator that is nearly always 0, or nearly always 1
VISIBLE = 0.02  # a coefficient that stays below this share of the largest is not worth a word
SHRUNK = 0.9  # what a penalty should leave of a coefficient
PULLED = 0.05  # what xi's own row may take off a coefficient, of the largest one
TWO_RUNS = 4.2  # standard errors: three of a difference of two runs
IN_BOX = 2000  # draws from xi's boxes, to tell why the surrogate is off


@check
def collapsed(case: Case) -> Iterator[Finding]:
    """Does `lime` feed the model a value that no row of the data has?"""
    wrong, law = wrongly_fed(case), case.boxes.law
    if not wrong:
        return
    share = [float(law.prob[bin_.feature, bin_.box]) for bin_ in wrong]
    at = [bin_.feature for bin_ in wrong]
    every, mended = (_coef_in(case, other) for other in (None, case.shared.mended))
    # a tree that splits between the two values cannot tell them apart
    felt = mended if case.form is not None else _beyond_noise(case, every, mended)
    severity = severity_of_change(every, felt, case.top)
    own = severity_of_change(every[at], felt[at], case.top) == severity
    worst = at[0] if own else int(np.argmax(np.abs(felt - every)))  # others may feel it too
    coef, right = every[at], mended[at]
    names = tuple(case.names[j] for j in at)
    yield Finding(
        "collapsed-bin",
        severity,
        names,
        {
            "fed": [bin_.fed for bin_ in wrong],
            "value": [bin_.value for bin_ in wrong],
            "share": share,
            "coef": coef.tolist(),
            "coef_repaired": right.tolist(),
        },
        *wording.collapsed_bin(
            names,
            wrong[0],
            share[0],
            "its coefficient" if own else f"that of {case.names[worst]}",
            every[worst],
            mended[worst],
            severity != "note",
        ),
    )


def _beyond_noise(case: Case, coef: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The coefficients of another run, where they differ by more than two runs do."""
    noise = 0.0 if case.stderr is None else TWO_RUNS * case.stderr
    return np.where(np.abs(other - coef) > noise, other, coef)


def _coef_in(case: Case, world: World | None) -> np.ndarray:
    """The coefficients that another world would give: the limit, or a long run."""
    if case.form is not None:
        return np.where(case.used, case.exact(world=world).coef, 0.0)
    if world is None and case.sampled is not None:
        return case.coef
    return run(case.setting.at(world=world), case.n or 5000, 0, ridge=case.ridge).coef


@check
def constant(case: Case) -> Iterator[Finding]:
    """Is there a feature with nothing to compare xi's box with?"""
    if np.any(case.constant):
        names = case.name(case.constant)
        yield Finding("constant", "note", names, {}, *wording.constant(case))


@check
def near_singular(case: Case) -> Iterator[Finding]:
    """Does every indicator vary among the weighted samples?"""
    if not case.product:
        return
    least = np.where(case.constant, 1.0, np.minimum(case.tilt.alpha, case.tilt.rest))
    scarce = least < SCARCE
    if not np.any(scarce):
        return
    worst = int(np.argmin(least))
    share = case.tilt.alpha
    lost = case.sampled is not None and not np.all(case.sampled.used[scarce])
    yield Finding(
        "near-singular",
        "serious" if lost else "warning",
        case.name(scarce),
        {"alpha": share[scarce].tolist(), "worst_alpha": float(share[worst])},
        *wording.near_singular(case, scarce, worst),
    )


@check
def bandwidth(case: Case) -> Iterator[Finding]:
    """Is a feature switched off, or about to change its sign, near this bandwidth?"""
    if not case.product:
        return
    critical = turning_points(case)
    matters = case.mattering(np.isfinite(critical))
    distance = critical / case.nu - 1
    with np.errstate(invalid="ignore"):
        close = matters & (np.abs(distance) <= CRITICAL)
    flips = matters & ~close
    if np.any(close):
        yield _switched_off(case, close, critical, distance)
    if np.any(flips):
        yield _sign_flips(case, flips, critical, distance)


def turning_points(case: Case) -> np.ndarray:
    """The bandwidth nearest to nu where each coefficient changes its sign, nan without one.

    Of the coefficient itself where f has a form; otherwise of the boxes alone. With xi's own row
    among the samples even a linear model's coefficients may turn with lime's kernel.
    """
    if case.form is None or (case.linear is not None and not case.own_row):
        return crossings(case.setting.world, case.xi, case.nu, case.setting.kernel, REACH)
    grid = case.nu * np.array([1 / (1 + REACH), 1.0, 1 + REACH])
    found = np.array([case.exact(float(nu)).coef for nu in grid])
    visible = np.max(np.abs(found), axis=0) >= VISIBLE * np.max(np.abs(found))
    least = np.where(visible, 0.0, np.inf)

    def curve(nus: np.ndarray) -> np.ndarray:
        return np.array([case.shared.exact_alone(case.position, float(nu)).coef for nu in nus])

    return sign_changes(curve, grid, case.nu, least)


def _numbers_at(
    case: Case, mask: np.ndarray, critical: np.ndarray, distance: np.ndarray
) -> dict[str, Any]:
    return {
        "nu": case.nu,
        "critical_nu": critical[mask].tolist(),
        "distance": distance[mask].tolist(),
        "coef": case.coef[mask].tolist(),
    }


def _nearest(mask: np.ndarray, distance: np.ndarray) -> int:
    return int(np.argmin(np.where(mask, np.abs(distance), np.inf)))


def _switched_off(
    case: Case, close: np.ndarray, critical: np.ndarray, distance: np.ndarray
) -> Finding:
    j = _nearest(close, distance)
    now, then = (
        gaps(case.setting.world, case.xi[None], nu, case.setting.kernel)[0]
        for nu in (case.nu, 2 * case.nu)
    )
    numbers = _numbers_at(case, close, critical, distance)
    numbers |= {"gap": now[close].tolist(), "gap_at_2nu": then[close].tolist()}
    wider: Any = (now[j], then[j])
    if case.form is not None:
        coef = case.shared.exact_alone(case.position, 2 * case.nu).coef
        numbers["coef_at_2nu"] = coef[close].tolist()
        wider = coef[j]
    words = wording.critical_bandwidth(case, close, j, critical[j], distance[j], wider)
    leading = case.form is not None and np.any(case.mattering(close, LEADING))
    severity = "serious" if leading else "warning"
    return Finding("critical-bandwidth", severity, case.name(close), numbers, *words)


def _sign_flips(
    case: Case, flips: np.ndarray, critical: np.ndarray, distance: np.ndarray
) -> Finding:
    j = _nearest(flips, distance)
    numbers = _numbers_at(case, flips, critical, distance)
    if case.linear is not None:
        numbers["slope"] = case.linear.a[flips].tolist()
    return Finding(
        "sign-flips",
        "warning" if case.form is not None else "note",
        case.name(flips),
        numbers,
        *wording.sign_turns(case, flips, j, critical[j], distance[j]),
    )


@check
def hidden(case: Case) -> Iterator[Finding]:
    """Does a box average the same as everything outside it, whatever the bandwidth?"""
    if not case.product:
        return
    sigma = np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0)
    nus = case.nu * 2 ** np.linspace(-1, 1, 9)
    rows = np.tile(case.xi, (len(nus), 1))
    across = gaps(case.setting.world, rows, nus[:, None], case.setting.kernel) / sigma
    far = plain_gaps(case.boxes, case.xi[None])[0] / sigma  # as nu grows
    largest = np.max(np.abs(across), axis=0)
    mask = case.boxes.ordered & (np.abs(far) < HIDDEN) & (largest < HIDDEN_NEARBY)
    mask = case.mattering(mask)
    if not np.any(mask):
        return
    j = int(np.argmin(np.where(mask, largest, np.inf)))
    own = case.setting.own + 1
    count = np.sum(case.boxes.law.prob > 0, axis=1)
    yield Finding(
        "hidden",
        "warning" if case.linear is not None else "note",
        case.name(mask),
        {
            "gap": across[4][mask].tolist(),
            "largest_gap": largest[mask].tolist(),
            "box": own[mask].tolist(),
            "boxes": count[mask].tolist(),
            "coef": case.coef[mask].tolist(),
        },
        *wording.hidden(case, mask, j, own[j], count[j], largest[j]),
    )


@check
def local_error(case: Case) -> Iterator[Finding]:
    """How wrong is the surrogate at xi, and why?"""
    lasting = _lasting_error(case)
    if case.top == 0 or abs(lasting) <= OFF * case.top:
        return
    ratio = abs(lasting) / case.top
    features, numbers, why = _reasons(case, lasting)
    numbers |= {
        "error": case.error,
        "lasting_error": lasting,
        "prediction": case.prediction,
        "local_prediction": case.local_prediction,
        "ratio": ratio,
    }
    accounted = _accounted(case, lasting)
    numbers["accounted"] = accounted
    severity = _severity_of_error(ratio, accounted)
    together = case.sampled is not None and case.sampled.score < EXPLAINED and case.acts_together
    words = wording.local_error(case, lasting, ratio, accounted, why, together)
    yield Finding("local-error", severity, features, numbers, *words)


def _accounted(case: Case, lasting: float) -> float | None:
    """Which share of f(xi) less the mean of the surrogate its coefficients add up to.

    None where f(xi) hardly differs from the mean, or where the mean is not known; and without boxes,
    where coefficients are slopes and promise no account.
    """
    if not case.product:
        return None
    centre = case.subject.intercept + float(case.tilt.alpha @ case.coef)
    apart = case.prediction - centre
    return None if abs(apart) < OFF * case.top else 1 + lasting / apart


def _severity_of_error(ratio: float, accounted: float | None) -> str:
    """The coefficients compare boxes and stand; do they also add up to this prediction?"""
    if accounted is None:
        return "warning" if ratio > FAR_OFF else "note"
    if ratio > FAR_OFF and accounted < NO_WAY:
        return "serious"
    return "warning" if ratio > FAR_OFF or accounted < HALF_WAY else "note"


def _lasting_error(case: Case) -> float:
    """The part of f^(xi) - f(xi) that more samples would not remove."""
    if case.form is not None:
        return _error_without_row(case) * case.rows.left
    drawn = case.sampled
    if drawn is None:
        return case.error
    noise = drawn.local_stderr * case.t(drawn.local_freedom)
    return case.error if abs(case.error) > 1.5 * noise else 0.0


def _error_without_row(case: Case) -> float:
    """f^(xi) - f(xi) in the limit, after penalties and selection, before xi's own row."""
    at = case.exact()
    lost = at.beta * case.regressors.lead * (1 - case.kept)
    return float(at.error - np.sum(lost))


def _reasons(case: Case, lasting: float) -> tuple[tuple[str, ...], dict[str, Any], str]:
    """Where the lasting error comes from: which features, or which part of the approximation."""
    if not case.product:
        return (), {}, ""
    if case.linear is not None:
        parts = local_error_parts(case.linear, case.tilt, case.kept) * case.rows.left
        largest = [int(j) for j in np.argsort(-np.abs(parts), kind="stable") if parts[j] != 0][:3]
        names = tuple(case.names[j] for j in largest)
        words = wording.error_by_feature(case, parts, largest)
        return names, {"parts": parts.tolist()}, words
    mean = box_average(case.setting, IN_BOX)
    inside = mean - case.prediction
    beyond = lasting - inside
    numbers = {"box_average": mean, "inside_box": inside, "interaction": beyond}
    return (), numbers, wording.error_by_cause(case, inside, beyond)


@check
def penalty(case: Case) -> Iterator[Finding]:
    """How much does a penalty take off the coefficients?"""
    lasso = getattr(case.subject, "lasso", 0.0)
    known = case.ridge or (lasso and case.form is not None)
    if not known or not case.tilts or case.n is None or not np.any(case.used):
        return
    kept = np.where(case.used, case.kept, 1.0)
    if kept.min() >= SHRUNK:
        return
    lost, worst = 1 - kept, int(np.argmin(kept))
    name, size = ("ridge", case.ridge) if case.ridge else ("lasso", lasso)
    yield Finding(
        name,
        "serious" if kept.min() < 0.5 else "warning",
        case.name(kept < SHRUNK),
        {"shrinkage": kept.tolist(), "most_lost": float(lost.max())},
        *wording.penalty(case, name, size, lost[case.used], worst),
    )


@check
def own_row(case: Case) -> Iterator[Finding]:
    """Does xi's own row, which `lime` puts among its samples, decide the answer?"""
    if not case.tilts or not case.own_row:
        return
    pulled = _pulled(case)
    decides = case.rows.weight < OWN_ROW
    if not decides and (case.top == 0 or pulled <= PULLED * case.top):
        return
    numbers = {"weight": case.rows.weight, "pulled": pulled, "n": case.n}
    severity = "serious" if decides else "warning"
    yield Finding("own-row", severity, (), numbers, *wording.own_row(case, pulled, decides))


def _pulled(case: Case) -> float:
    """The most that xi's own row takes off a coefficient; by the run's own error without a form."""
    error = case.error if case.form is None else _error_without_row(case)
    return float(np.max(np.abs(case.rows.pull), initial=0.0)) * abs(error)


@check
def irrelevant_bandwidth(case: Case) -> Iterator[Finding]:
    """With lime's kernel a linear model has the same limit at every bandwidth."""
    kernel = case.setting.product
    if kernel is None or kernel.moves_gaps or case.linear is None or not case.boxed:
        return
    kept = case.rows.shrinkage[case.used]
    if kept.min(initial=1.0) < SHRUNK or (case.own_row and _pulled(case) > VISIBLE * case.top):
        return  # other findings say what the bandwidth does here
    words = wording.bandwidth_irrelevant(case)
    yield Finding("bandwidth-irrelevant", "note", (), {"nu": case.nu}, *words)
