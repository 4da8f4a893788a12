"""Does the explanation speak of the data, and of this row? Checks of what LIME feeds the model.

Chapters: the real lime, interactions.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...core.explainer import run
from ...core.kernels import KERNELS
from ...core.problem import Problem
from ...core.surrogate import Sums, fit
from ...core.theory import limit_of
from ...inputs.columns import MISSING
from ...inputs.lime_defaults import NUM_SAMPLES
from ...lime.read_explainer import Collapsed, LimeNumbers, LimeWorld
from ..case import Case
from ..findings import DATA, Checked, Finding, Try, check, few, not_checked, numbers_at, passed
from ..reasons import DUST, REASONS, listed, severity_for
from ..shared_work import FEW_VALUES
from ..training_data import TrainingData
from ..trials import as_categories, changed

WRONG_AMOUNT = 0.25  # a coefficient that is off by a quarter of itself is not the amount it says
VISIBLE_CHANGE = 0.1  # ... if that is at least a tenth of the largest coefficient
MAX_IMPOSSIBLE = 0.05  # of the samples that cannot exist, of which the data have none
AMOUNT = 3.0  # times as large, or as small, as it should be: harm
GONE = 10.0  # times as large as anything that the data near the row allow
QUANTILE = 2.0  # standard errors: of three reasons one is beyond once in 15 times
DRAWN = 20  # values of each side that someone else might draw from the data
# shares of the values inside and outside of the row's box, in order, of each of which one is tried
STRATA = (np.array([0.1, 0.4, 0.4, 0.1]), np.array([3, 12, 20, 15, 15, 20, 12, 3]) / 100)
NEARLY_INSIDE = 0.1  # of the range of the data: new rows of the same kind go that far
FAR_OUTSIDE = 0.5  # of the range of the data: another kind of row


@check
def wrong_kernel(case: Case) -> Iterator[Finding | Checked | Try]:
    """Are the weights those of lime, where the samples are?"""
    world, terms = case.problem.world, case.terms
    if not isinstance(world, LimeWorld | LimeNumbers):
        return
    other = case.kernel != world.kernel
    if not other and np.isclose(case.nu, world.nu, rtol=1e-9, atol=0):
        return
    instead = _coef_of(case, replace(case.problem, nu=world.nu, kernel=KERNELS[world.kernel]))
    j, severity = int(np.argmax(np.abs(instead))), "serious" if other else "warning"
    if severity_of_change(case, instead)[0] is None:
        severity = "note"
    yield Finding(
        "wrong-kernel", severity, (),
        {
            "nu": case.nu, "nu_of_lime": world.nu, "coef": instead.tolist(),
            "kernel": case.kernel, "kernel_of_lime": world.kernel,
        },
        f"This is not what lime prints: its samples are weighed by kernel {case.kernel!r} at "
        f"{terms.at_width(case.nu)}, and this explainer uses {world.kernel!r} at "
        f"{terms.at_width(world.nu)}. Its largest coefficient, of {case.names[j]}, is "
        f"{instead[j]:.3g} there and {case.coef[j]:.3g} here.",
        "Do not show it as what lime prints.",
    )  # fmt: skip
    yield Try(
        f"Pass nu=world.nu and kernel={world.kernel!r}, or audit the explainer itself.",
        {"nu": world.nu, "kernel": world.kernel},
        lambda: changed(case, replace(case.problem, nu=world.nu, kernel=KERNELS[world.kernel])),
    )


def _coef_of(case: Case, problem: Problem) -> np.ndarray:
    """The coefficients of another problem: the limit, or a run of as many samples."""
    if case.shared.form is not None:
        return limit_of(problem, case.ridge if case.n else 0.0, case.n).coef
    return run(problem, case.n or NUM_SAMPLES, 0, ridge=case.ridge).coef


@check
def training_data(case: Case) -> Iterator[Finding | Checked]:
    """Are the data that were passed those that the samples are drawn from?"""
    work = case.shared
    if work.unlike:
        yield not_checked(work.unlike, DATA)
    law = case.boxes.law
    if work.data is None or not isinstance(case.problem.world, LimeWorld):
        return
    lo, hi = (np.where(law.prob > 0, end, np.nan) for end in (law.lo, law.hi))
    lo, hi = np.nanmin(lo, axis=1), np.nanmax(hi, axis=1)
    ends = [end(work.data.all_rows, axis=0) for end in (np.min, np.max)]
    apart = np.max(np.abs(np.array(ends) - [lo, hi]), axis=0) > 1e-9 * case.boxes.sigma
    apart &= case.boxes.ordered
    apart[[bin_.feature for bin_ in case.problem.world.collapsed]] = False
    elsewhere = np.where(case.boxes.ordered, work.data.elsewhere, 0.0)
    other = apart | (elsewhere > 1e-9)
    if not np.any(other):
        return
    j = int(np.argmax(apart if np.any(apart) else elsewhere))
    sentence = f"{elsewhere[j]:.2g} of its values are in other boxes"
    if apart[j]:
        sentence = (
            f"it goes from {lo[j]:.4g} to {hi[j]:.4g} there, and from {ends[0][j]:.4g} to "
            f"{ends[1][j]:.4g} in what was passed"
        )
    yield Finding(
        "other-data", "note", case.name(other),
        numbers_at(other, lo=lo, hi=hi, elsewhere=elsewhere),
        f"The data passed are not the explainer's training data, row by row: of {case.names[j]}, {sentence}.",
        "Pass the training data, with their columns in the order of the explainer.",
    )  # fmt: skip


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
def undeclared_category(case: Case) -> Iterator[Finding | Checked | Try]:
    """Is a column of whole numbers, labels or counts, sampled between them?"""
    work = case.shared
    if work.data is None:
        yield not_checked(
            "Which columns hold whole numbers only is not known without the data.", DATA
        )
        return
    collapsed = {bin_.feature for bin_ in wrongly_fed(case)}  # which another finding reports
    columns = np.array([j for j in work.whole if case.used[j] and j not in collapsed], int)
    if not columns.size:
        return
    pool = work.pool
    z = pool.box == case.problem.box_of_xi
    change = fit(weighted_sums(case, pool.x, z, work.rounded_responses - pool.y), case.ridge)
    moved, noise = change.beta[1:][columns], np.sqrt(np.diag(change.covariance)[1:][columns])
    moved = np.where(np.abs(moved) > QUANTILE * noise, moved, 0.0)
    # many whole numbers are codes or ages: only the model can tell, and does so where it matters
    labels = np.array([len(work.whole[int(j)]) <= FEW_VALUES for j in columns])
    reported = (labels | np.isin(columns, list(work.sensitive))) & (moved != 0)
    if not np.any(reported):
        return
    columns, moved, labels = columns[reported], moved[reported], labels[reported]
    coef, right = case.coef[columns], case.coef.copy()
    right[columns] += moved
    severity, touched = severity_of_change(case, right)
    if severity is None:
        yield passed("Values between whole numbers change none of the reasons.")
        return
    order = np.argsort(-np.abs(moved), kind="stable")
    names = tuple(case.names[j] for j in columns[order])
    worst = int(order[0])
    repaired = coef[worst] + moved[worst]
    yield Finding(
        "undeclared-category", severity, names,
        {
            "coef": coef[order].tolist(), "coef_repaired": (coef + moved)[order].tolist(),
            "values": [work.whole[int(j)].tolist() for j in columns[order]],
        },
        f"{names[0]} holds {'a few ' if labels[worst] else ''}whole numbers only, and samples hold "
        "values between them that no row of the data has: its coefficient is "
        f"{coef[worst]:.3g}, and {repaired:.3g} if the model gets values that exist."
        + (f" {few(names[1:])} too." if len(names) > 1 else ""),
        how_to_read(severity, touched),
    )  # fmt: skip
    yield as_categories(case, columns)


def severity_of_change(case: Case, right: np.ndarray) -> tuple[str | None, list[str]]:
    """Of coefficients that are not what they would be if the model were fed what exists; None if it does
    not show among the reasons, a note where signs and sizes stand, these to a factor of three. And which
    reasons are touched.
    """
    shown = np.argsort(-np.maximum(np.abs(case.coef), np.abs(right)), kind="stable")[:REASONS]
    coef, right = case.coef[shown], right[shown]
    largest = max(case.top, float(np.abs(right[0])))
    small, large = np.sort(np.abs([coef, right]), axis=0)
    visible = np.abs(right - coef) > VISIBLE_CHANGE * largest
    harmed = visible & ((coef * right < 0) | (large > AMOUNT * small))
    touched = harmed | visible & (large - small > WRONG_AMOUNT * large)
    severity = severity_for(shown, harmed) if np.any(touched) else None
    return severity, [case.names[j] for j in shown[touched]]


def how_to_read(severity: str, touched: list[str]) -> str:
    """What is left of coefficients that such a change touches."""
    if severity != "note":
        return f"Do not read {listed(touched)}."
    return f"Read {listed(touched)} as right to a factor of {AMOUNT:g} only."


@check
def off_data(case: Case) -> Iterator[Finding | Checked]:
    """Does the model, asked about the data near the row, confirm the reasons?"""
    data = case.shared.data
    if data is None:
        yield not_checked(
            "The training data are not known, so nothing was compared with them: whether the samples "
            "look like them, and whether the model confirms the reasons on them.", DATA,
        )  # fmt: skip
        return
    if case.top == 0:
        return
    share, impossible = off_shares(case, data)
    groups = {"one_hot": data.one_hot, "exclusive": data.exclusive}
    numbers: dict[str, Any] = {"share": share, "impossible": impossible} | {
        name: [case.names[j] for group in columns for j in group]
        for name, columns in groups.items()
    }
    far = (
        f"{share:.0%} of the samples, by weight, lie farther from any row of the data than 95% of these rows "
        "from the nearest other one."
    )
    try:
        asked = near_contrasts(case, data)
    except ValueError as error:
        yield not_checked(f"The model has no answer near this row: {error}", "its answers there")
        return
    known = [seen for seen in asked if np.isfinite(seen.stderr)]
    wrong = []
    for seen in known:  # in a trial also with what other runs may say
        maybe = [
            seen._replace(coef=seen.coef + by * case.margin[seen.feature]) for by in (0, -1, 1)
        ]
        doubtful = (s for s in maybe if s.doubt and case.visible(s.apart))
        wrong += list(doubtful)[:1]
    for doubt in ("opposes", "gone", "size"):
        some = [seen for seen in wrong if seen.doubt == doubt]
        if some:
            yield _refuted(case, some, doubt, numbers)
    if impossible >= MAX_IMPOSSIBLE:
        parts = [
            f"{count} of {few(numbers[group])}"
            for count, group in (("none or several", "one_hot"), ("several", "exclusive"))
            if numbers[group]
        ]
        yield Finding(
            "impossible-samples", "note", (), numbers,
            f"{impossible:.0%} of the samples cannot exist, with {', or '.join(parts)}.",
            "Explain the columns before they are encoded, as one categorical feature.",
        )  # fmt: skip
    if len(known) < len(asked):
        names = [case.names[seen.feature] for seen in asked if seen not in known]
        yield not_checked(f"{listed(names)} cannot be moved out of the row's box on the data.")
    else:
        seen_words = ", ".join(
            f"{case.names[s.feature]} {s.coef:+.3g} and {s.value:+.3g} ± {s.stderr:.2g}"
            for s in known
        )
        yield passed(
            f"{far} On the {len(data.nearest(case.xi))} rows of the data nearest to this one the model "
            f"agrees with the signs, and with the sizes to a factor of {AMOUNT:g}, two standard errors "
            f"allowed, or to {case.too_small} (the coefficient, and what these "
            f"rows say): {seen_words}."
        )


class Seen(NamedTuple):
    """What moving a feature over the data near the row does to the model, beside its coefficient.

    ``stderr`` is the chance of which rows are near, ``choice`` that of which values stand for the box and
    for the others, were they :data:`DRAWN` of each.
    """

    feature: int
    coef: float
    value: float
    stderr: float
    choice: float

    @property
    def apart(self) -> float:
        """How far the coefficient may be from what other values would say."""
        return abs(self.coef - self.value) + QUANTILE * self.choice

    @property
    def doubt(self) -> str:
        """What of the coefficient the data do not confirm: its sign, any effect, its size; or nothing."""
        size, along = abs(self.coef), np.sign(self.coef) * self.value
        rows, choice = QUANTILE * self.stderr, QUANTILE * self.choice
        if along < -self.stderr:
            return "opposes"
        if size > GONE * (abs(along) + rows):
            return "gone"
        least, most = along - choice + rows, along + choice - rows
        return "size" if size > AMOUNT * least or AMOUNT * size < most else ""


def near_contrasts(case: Case, data: TrainingData) -> list[Seen]:
    """For each reason: the mean of the model near the row with values of its box, less with others.

    The rows are those of the data nearest to it; the values are spread over those that the data have
    inside and outside of the box. Without boxes it is the difference over one unit of the coefficient.
    """
    near, seen = data.nearest(case.xi), []
    in_box = data.boxes.discretize(data.table) == case.problem.box_of_xi
    predict = case.shared.question_predict
    for j in map(int, case.reasons):
        if case.boxed or not case.boxes.ordered[j]:
            sides: Any = [np.sort(data.table[side, j]) for side in (in_box[:, j], ~in_box[:, j])]
            if min(map(len, sides)) == 0:
                seen.append(Seen(j, float(case.expected[j]), 0.0, np.inf, 0.0))
                continue
            sides, shares = zip(*map(_few_values, sides, STRATA), strict=True)
            rows = [np.repeat(near, len(side), axis=0) for side in sides]
            for table, side in zip(rows, sides, strict=True):
                table[:, j] = np.tile(side, len(near))
        else:
            half = float(np.broadcast_to(case.boxes.unit, case.xi.shape)[j]) / 2
            shares, rows = (np.ones(1), np.ones(1)), [near.copy(), near.copy()]
            rows[0][:, j] += half
            rows[1][:, j] -= half
        y = predict(np.concatenate(rows))
        parts = [part.reshape(len(near), -1) for part in np.split(y, [len(rows[0])])]
        inside, outside = (part @ share for part, share in zip(parts, shares, strict=True))
        change = inside - outside
        stderr = change.std(ddof=1) / np.sqrt(len(near))
        squares = 0.0
        for part, share in zip(parts, shares, strict=True):
            of_value = part.mean(axis=0)
            squares += share @ (of_value - share @ of_value) ** 2
        choice = np.sqrt(squares / DRAWN)
        dust = DUST * np.max(np.abs(y))
        numbers = (float(v) if abs(v) > dust else 0.0 for v in (change.mean(), stderr, choice))
        seen.append(Seen(j, float(case.expected[j]), *numbers))
    return seen


def _few_values(values: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All values with their shares; where there are more, the middle ones of these shares of them."""
    distinct, count = np.unique(values, return_counts=True)
    if len(distinct) <= len(shares):
        return distinct, count / len(values)
    return values[((np.cumsum(shares) - shares / 2) * len(values)).astype(int)], shares


def _refuted(case: Case, some: list[Seen], doubt: str, shared: dict[str, Any]) -> Finding:
    """The finding for reasons that the data near the row do not confirm, all in one way."""
    names, first = tuple(case.names[s.feature] for s in some), some[0]
    harmed = np.isin(case.reasons, [s.feature for s in some])
    severity = "warning" if doubt == "size" else severity_for(case.reasons, harmed)
    rows = f"on the {len(case.shared.data.nearest(case.xi))} rows of the data nearest to this one"  # type: ignore[union-attr]
    numbers = shared | {
        "doubt": doubt, "coef": [s.coef for s in some], "near": [s.value for s in some],
        "stderr": [s.stderr for s in some], "choice": [s.choice for s in some],
    }  # fmt: skip
    others = f" The same holds for {few(names[1:])}." if len(names) > 1 else ""
    remedy = (
        f"Do not read the size of {listed(names)}."
        if doubt == "size"
        else f"Do not show {listed(names)} as a reason; say what the model predicts when it changes."
    )
    change = (
        f"{rows} being in its box changes the prediction by {first.value:+.3g}, give or take "
        f"{first.stderr:.2g} for the choice of rows and about {first.choice:.2g} for that of {DRAWN} values"
    )
    sentence = {
        "opposes": f"The data near this row contradict {names[0]}",
        "gone": f"Near this row the model hardly depends on {names[0]}",
        "size": f"The size of {names[0]} is not settled near this row",
    }[doubt]
    return Finding(
        "size" if doubt == "size" else "off-data", severity, names, numbers,
        f"{sentence}: its coefficient is {first.coef:+.3g}, and {change}.{others}",
        remedy,
    )  # fmt: skip


def off_shares(case: Case, data: TrainingData) -> tuple[float, float]:
    """Shares of the samples' weight that lie far from the data, and that cannot exist."""
    far, impossible = case.shared.unlike_data
    x, box = (part[: len(far)] for part in (case.shared.pool.x, case.shared.pool.box))
    w = case.weights(x, box == case.problem.box_of_xi)
    return float(w @ far), float(w @ impossible)


def weighted_sums(case: Case, x: np.ndarray, z: np.ndarray, y: np.ndarray) -> Sums:
    """Those of other rows or responses, weighted as the samples are."""
    problem = case.problem
    sums = Sums(problem.d, are_indicators=case.boxed)
    log_w = problem.kernel.log_weights(x, z, problem.xi, problem.nu, problem.boxes)
    sums.add(problem.columns(x, z), y, log_w)
    return sums


@check
def outside_range(case: Case) -> Iterator[Finding | Checked]:
    """Does the row lie where there are no data?"""
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
    inside = np.tile(case.xi, (len(beyond), 1))
    np.fill_diagonal(inside, np.clip(case.xi, lo, hi))
    moved = case.prediction - case.problem.predict(inside[outside])
    outside[outside] = case.visible(moved) | case.visible(case.coef[outside])
    if not np.any(outside):
        yield passed(
            "What lies outside of the data has no effect on the prediction, nor on display."
        )
        return
    beyond = np.where(outside, beyond, -np.inf)
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
        table, known = data.all_rows, data.all_rows < MISSING
        return np.min(table, axis=0), np.max(table, axis=0, where=known, initial=-np.inf)
    law = case.boxes.law
    present, point = (law.prob > 0) & (law.mean < MISSING), law.sd == 0
    lo = np.where(present, np.where(point, np.minimum(law.mean, law.lo), law.lo), np.inf)
    hi = np.where(present, np.where(point, np.maximum(law.mean, law.hi), law.hi), -np.inf)
    return lo.min(axis=1), hi.max(axis=1)
