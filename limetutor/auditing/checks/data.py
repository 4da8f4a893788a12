"""Does the explanation speak of the data, and of this row? Checks of what LIME feeds the model.

Chapters: the real lime, interactions.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.explainer import run
from ...core.kernels import KERNELS
from ...core.problem import Problem
from ...core.surrogate import Fit, Sums, fit
from ...core.theory import limit_of
from ...inputs.columns import MISSING
from ...inputs.lime_defaults import NUM_SAMPLES
from ...lime.read_explainer import Collapsed, LimeNumbers, LimeWorld
from ..case import Case
from ..findings import Finding, check, few, numbers_at
from ..shared_work import FEW_VALUES
from ..training_data import TrainingData

WRONG_AMOUNT = 0.25  # a coefficient that is off by a quarter of itself is not the amount it says
VISIBLE_CHANGE = 0.1  # ... if that is at least a tenth of the largest coefficient
MAX_FAR = 0.25  # of the samples far from the data: five times the 5% that the data have themselves
MAX_IMPOSSIBLE = 0.05  # of the samples that cannot exist, of which the data have none
HALVED = 0.5  # what the data must leave of a leading coefficient
GONE = 0.25  # ... and below which nothing is left of it to speak of
QUANTILE = 1.96  # standard errors: 95% for a coefficient over the data
MIN_ROWS = 4  # effective rows of data for each coefficient, to fit one over the data
LEADING = 0.5  # a coefficient of at least half the largest is one that readers remember
NEARLY_INSIDE = 0.1  # of the range of the data: new rows of the same kind go that far
FAR_OUTSIDE = 0.5  # of the range of the data: another kind of row


@check
def wrong_kernel(case: Case) -> Iterator[Finding]:
    """Is a world read from `lime` explained with weights that `lime` does not use?"""
    world, terms = case.problem.world, case.terms
    if not isinstance(world, LimeWorld | LimeNumbers):
        return
    other = case.kernel != world.kernel
    if not other and np.isclose(case.nu, world.nu, rtol=1e-9, atol=0):
        return
    instead = _coef_of(case, replace(case.problem, nu=world.nu, kernel=KERNELS[world.kernel]))
    j = int(np.argmax(np.abs(instead)))
    yield Finding(
        "wrong-kernel", "serious" if other else "warning", (),
        {
            "nu": case.nu, "nu_of_lime": world.nu, "coef": instead.tolist(),
            "kernel": case.kernel, "kernel_of_lime": world.kernel,
        },
        f"This is not what lime prints: its samples are weighed by kernel {case.kernel!r} at "
        f"{terms.at_width(case.nu)}, and this explainer uses {world.kernel!r} at "
        f"{terms.at_width(world.nu)}. Its largest coefficient, of {case.names[j]}, is "
        f"{instead[j]:.3g} there and {case.coef[j]:.3g} here.",
        f"Pass nu=world.nu and kernel={world.kernel!r}, or audit the explainer itself.",
    )  # fmt: skip


def _coef_of(case: Case, problem: Problem) -> np.ndarray:
    """The coefficients of another problem: the limit, or a run of as many samples."""
    if case.shared.form is not None:
        return limit_of(problem, case.ridge if case.n else 0.0, case.n).coef
    return run(problem, case.n or NUM_SAMPLES, 0, ridge=case.ridge).coef


def wrongly_fed(case: Case) -> list[Collapsed]:
    """The bins for which `lime` feeds the model a value that no row of the data has."""
    world, law = case.problem.world, case.boxes.law
    if not isinstance(world, LimeWorld):
        return []
    return [
        bin_
        for bin_ in world.collapsed
        if law.mean[bin_.feature, bin_.box] == bin_.fed
        and abs(bin_.fed - bin_.value) > 1e-3 * case.boxes.sigma[bin_.feature]
    ]


@check
def undeclared_category(case: Case) -> Iterator[Finding]:
    """Is a column of whole numbers, labels or counts, sampled between them?"""
    work = case.shared
    collapsed = {bin_.feature for bin_ in wrongly_fed(case)}  # which another finding reports
    columns = np.array([j for j in work.whole if case.used[j] and j not in collapsed], int)
    if not columns.size:
        return
    pool = work.pool
    z = pool.box == case.problem.box_of_xi
    change = fit(_sums(case, pool.x, z, work.rounded_responses - pool.y), case.ridge)
    moved, noise = change.beta[1:][columns], np.sqrt(np.diag(change.covariance)[1:][columns])
    moved = np.where(np.abs(moved) > QUANTILE * noise, moved, 0.0)
    # many whole numbers are codes or ages: only the model can tell, and does so where it matters
    labels = np.array([len(work.whole[int(j)]) <= FEW_VALUES for j in columns])
    sensitive = np.isin(columns, list(work.sensitive))
    reported = labels | sensitive | _is_visible(case.coef[columns], moved, case.top)
    if not np.any(reported):
        return
    columns, moved, labels = columns[reported], moved[reported], labels[reported]
    coef = case.coef[columns]
    severity = severity_of_change(coef, coef + moved, case.top)
    order = np.argsort(-np.abs(moved), kind="stable")
    names = tuple(case.names[j] for j in columns[order])
    worst = int(order[0])
    if severity != "note":
        repaired = coef[worst] + moved[worst]
        effect = (
            f": its coefficient is {coef[worst]:.3g}, and {repaired:.3g} if the model gets values "
            "that exist"
        )
    elif np.any(sensitive):
        effect = ", which leaves the coefficients here as they are"
    else:
        effect = ", which makes no difference to this model here"
    yield Finding(
        "undeclared-category", severity, names,
        {
            "coef": coef[order].tolist(), "coef_repaired": (coef + moved)[order].tolist(),
            "values": [work.whole[int(j)].tolist() for j in columns[order]],
        },
        f"{names[0]} holds {'a few ' if labels[worst] else ''}whole numbers only, and samples hold "
        f"values between them that no row of the data has{effect}."
        + (f" {few(names[1:])} too." if len(names) > 1 else ""),
        "Declare the column as categorical"
        + (" (categorical_features)." if case.is_lime else " (categorical=)."),
    )  # fmt: skip


def severity_of_change(coef: np.ndarray, right: np.ndarray, top: float) -> str:
    """Of coefficients that are not what they would be if the model were fed what exists."""
    moved = right - coef
    visible = _is_visible(coef, moved, top)
    wrong = np.abs(moved) > WRONG_AMOUNT * np.maximum(np.abs(coef), np.abs(right))
    if np.any(visible & wrong):
        return "serious"
    return "warning" if np.any(visible) else "note"


def _is_visible(coef: np.ndarray, moved: np.ndarray, top: float) -> np.ndarray:
    """Whether a change of coefficients shows beside the largest of them."""
    largest = max(top, float(np.max(np.abs(coef + moved), initial=0.0)))
    return np.asarray(np.abs(moved) > VISIBLE_CHANGE * largest)


@check
def off_data(case: Case) -> Iterator[Finding]:
    """Are the samples like the data, and if not, does it matter?"""
    data = case.shared.data
    if data is None or case.top == 0:
        return
    share, impossible = off_shares(case, data)
    on_data = fit_on_data(case, data)
    severity, j, torn = unconfirmed(case, on_data, slopes_alone(case, data))
    if j is None and share < MAX_FAR and impossible < MAX_IMPOSSIBLE:
        return
    groups = (*data.one_hot, *data.exclusive)
    visible = np.abs(case.coef) >= VISIBLE_CHANGE * case.top
    if j is None and impossible >= MAX_IMPOSSIBLE and any(np.any(visible[g]) for g in groups):
        severity = "warning"
    numbers: dict[str, Any] = {
        "share": share, "impossible": impossible,
        "one_hot": [case.names[j] for group in data.one_hot for j in group],
        "exclusive": [case.names[j] for group in data.exclusive for j in group],
        "comparable": on_data is not None, "torn": list(case.name(torn)),
    }  # fmt: skip
    if j is not None:
        assert on_data is not None
        numbers |= {
            "coef": float(case.coef[j]),
            "coef_on_data": float(on_data.beta[1 + j]),
            "stderr_on_data": float(np.sqrt(on_data.covariance[1 + j, 1 + j])),
        }
    features = () if j is None else (case.names[j],)
    yield Finding("off-data", severity, features, numbers, *_off_data_words(numbers, features))


def _off_data_words(numbers: dict[str, Any], features: tuple[str, ...]) -> tuple[str, str]:
    """Sentence and remedy; ``features`` has the one that the data do not confirm, if there is one."""
    parts = [
        f"{numbers['share']:.0%} of the samples, by weight, are farther from the data than 95% of "
        "the data are from each other."
    ]
    if numbers["impossible"] > 0:
        wrong = [
            f"{count} of {few(numbers[group])}"
            for count, group in (("none or several", "one_hot"), ("several", "exclusive"))
            if numbers[group]
        ]
        parts.append(f"{numbers['impossible']:.0%} cannot exist, with {', or '.join(wrong)}.")
    if features:
        parts.append(
            f"It matters: {features[0]} has the coefficient {numbers['coef']:.3g} over the samples, "
            f"and {numbers['coef_on_data']:.3g} with a standard error of "
            f"{numbers['stderr_on_data']:.2g} over the data themselves."
        )
        return " ".join(parts), (
            "Do not read this as how the model treats real cases; compare with an explanation that "
            "draws from the data, or leave out columns that go together."
        )
    if not numbers["comparable"]:
        parts.append("There are too few data near this row to tell whether that matters.")
    elif numbers["torn"]:
        parts.append(
            f"On the data themselves columns go together: a fit to them turns {few(numbers['torn'])}, "
            "and alone they point the way they do here."
        )
    else:
        parts.append("On the data themselves the coefficients are much the same.")
    remedy = "Nothing to mend, as long as the model is only asked about data like these."
    if numbers["impossible"] > 0:
        remedy = "Explain the columns before they are encoded, as one categorical feature."
    return " ".join(parts), remedy


def off_shares(case: Case, data: TrainingData) -> tuple[float, float]:
    """Shares of the samples' weight that lie far from the data, and that cannot exist."""
    far, impossible = case.shared.unlike_data
    x, box = (part[: len(far)] for part in (case.shared.pool.x, case.shared.pool.box))
    w = case.weights(x, box == case.problem.box_of_xi)
    return float(w @ far), float(w @ impossible)


def fit_on_data(case: Case, data: TrainingData) -> Fit | None:
    """The surrogate fitted to the data themselves; None where too few of them count."""
    y = case.shared.responses_on_data
    if y is None:
        return None
    sums = _sums(case, data.table, data.boxes.discretize(data.table) == case.problem.box_of_xi, y)
    return None if sums.ess < MIN_ROWS * (len(case.coef) + 1) else fit(sums, case.ridge)


def _sums(case: Case, x: np.ndarray, z: np.ndarray, y: np.ndarray) -> Sums:
    """Those of other rows or responses, weighted as the samples are."""
    problem = case.problem
    sums = Sums(problem.d, are_indicators=case.boxed)
    log_w = problem.kernel.log_weights(x, z, problem.xi, problem.nu, problem.boxes)
    sums.add(problem.columns(x, z), y, log_w)
    return sums


def slopes_alone(case: Case, data: TrainingData) -> tuple[np.ndarray, np.ndarray] | None:
    """Slopes of the model over the data in each feature without the others, and robust standard errors."""
    y = case.shared.responses_on_data
    if y is None:
        return None
    z = data.boxes.discretize(data.table) == case.problem.box_of_xi
    w = case.weights(data.table, z)
    columns = np.asarray(case.problem.columns(data.table, z), float)
    columns, y = columns - w @ columns, y - w @ y
    square = w @ columns**2
    square = np.where(square > 0, square, 1.0)
    slope = (w * y) @ columns / square
    residual = y[:, None] - slope * columns
    variance = np.sum((w[:, None] * columns * residual) ** 2, axis=0)
    return slope, np.sqrt(variance) / square


def unconfirmed(
    case: Case, on_data: Fit | None, alone: tuple[np.ndarray, np.ndarray] | None
) -> tuple[str, int | None, np.ndarray]:
    """A leading feature of which the data confirm less than half, how severe that is, and which are torn.

    The data speak twice: in the fit to them, with the other features beside it, and in what they say of
    the feature ``alone``. A sign that differs between the two is the effect of collinear columns on a
    fit, and refutes nothing: such features are torn. A feature that one of the two confirms is not gone.
    """
    torn = np.zeros(len(case.coef), bool)
    if on_data is None or alone is None:
        return "note", None, torn
    sign, noise = np.sign(case.coef), 0.0 if case.half_width is None else case.half_width
    joint = sign * on_data.beta[1:], np.sqrt(np.clip(np.diag(on_data.covariance)[1:], 0, None))
    single = sign * alone[0], alone[1]
    least = np.abs(case.coef) - noise  # that the samples say
    judged = on_data.used & (np.abs(case.coef) >= LEADING * case.top) & (least > 0)
    torn = judged & (joint[0] + QUANTILE * joint[1] < 0) & (single[0] - QUANTILE * single[1] > 0)
    judged &= ~torn
    unit = np.where(judged, least, 1.0)
    with np.errstate(over="ignore"):
        shares = [
            np.where(judged, np.clip(size + QUANTILE * error, 0, None) / unit, 1.0)
            for size, error in (joint, single)  # the most that the data allow
        ]
    j = int(np.argmin(shares[0]))
    if shares[0][j] >= HALVED:
        return "note", None, torn
    gone = shares[0][j] < GONE and shares[1][j] < HALVED
    return ("serious" if gone else "warning"), j, torn


@check
def outside_range(case: Case) -> Iterator[Finding]:
    """Does xi lie where no data are?"""
    lo, hi = _range(case)
    width = np.where(hi > lo, hi - lo, np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0))
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(lo - case.xi, case.xi - hi) / width
    numbers = case.xi != MISSING
    numbers[[j for j, kind in case.boxes.kinds.items() if kind.holds_codes]] = False
    beyond = np.where(numbers & np.isfinite(beyond), beyond, -np.inf)
    outside = beyond > 1e-9
    if not np.any(outside):
        return
    j = int(np.argmax(beyond))
    severity = "note" if beyond[j] <= NEARLY_INSIDE else "warning"
    outermost = (
        " The explanation compares data of the outermost box, and nothing in it comes from where "
        f"{case.terms.row} lies."
    )
    yield Finding(
        "outside-range", "serious" if beyond[j] > FAR_OUTSIDE else severity, case.name(outside),
        numbers_at(outside, beyond=beyond, lo=lo, hi=hi, xi=case.xi),
        f"{case.names[j]} is {case.xi[j]:.4g} here and between {lo[j]:.4g} and {hi[j]:.4g} in the "
        f"data: {beyond[j]:.0%} of that range beyond it.{outermost if case.boxed else ''}"
        f"{case.others_too(outside, j)}",
        "Check the value; if it is right, do not explain this row by this data.",
    )  # fmt: skip


def _range(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest value of each feature: of the data, else of the world."""
    data = case.shared.data
    if data is not None:
        table, known = data.table, data.table < MISSING
        return np.min(table, axis=0), np.max(table, axis=0, where=known, initial=-np.inf)
    law = case.boxes.law
    present, point = (law.prob > 0) & (law.mean < MISSING), law.sd == 0
    lo = np.where(present, np.where(point, np.minimum(law.mean, law.lo), law.lo), np.inf)
    hi = np.where(present, np.where(point, np.maximum(law.mean, law.hi), law.hi), -np.inf)
    return lo.min(axis=1), hi.max(axis=1)
