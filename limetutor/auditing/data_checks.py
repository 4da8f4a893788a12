"""Does the explanation speak of the data, and of this row? Checks of what LIME feeds the model.

Registered like those of :mod:`limetutor.auditing.checks`. Chapters: the real lime, interactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..algorithm import columns_of, run
from ..closed_forms import limit_of
from ..kernels import KERNELS
from ..lime_bridge import Collapsed, LimeNumbers, LimeWorld
from ..surrogate import Fit, Sums, fit
from . import wording
from .case import Case
from .findings import Finding
from .registry import check
from .surroundings import FEW_VALUES, Surroundings

AMOUNT = 0.25  # a coefficient that is off by a quarter of itself is not the amount it says
VISIBLE_CHANGE = 0.1  # ... if that is at least a tenth of the largest coefficient
SHARE = 0.25  # samples far from the data: five times the 5% that the data have themselves
IMPOSSIBLE = 0.05  # samples that cannot exist, of which the data have none
HALVED = 0.5  # what the data must leave of a leading coefficient
GONE = 0.25  # ... and below which nothing is left of it to speak of
SURE = 1.96  # standard errors: 95% for a coefficient over the data
ENOUGH = 4  # effective rows of data for each coefficient, to fit one over the data
LEADING = 0.5  # a coefficient of at least half the largest is one that readers take home
NEARLY_INSIDE = 0.1  # of the range of the data: new rows of the same kind go that far
FAR_OUTSIDE = 0.5  # of the range of the data: another kind of row


@check
def wrong_kernel(case: Case) -> Iterator[Finding]:
    """Is a world read from `lime` seen through weights that `lime` does not use?"""
    world = case.setting.world
    if not isinstance(world, LimeWorld | LimeNumbers):
        return
    other = case.kernel != world.kernel
    if not other and np.isclose(case.nu, world.nu, rtol=1e-9, atol=0):
        return
    right = replace(case.setting, nu=world.nu, kernel=KERNELS[world.kernel])
    instead = _coef_of(case, right)
    numbers: dict[str, Any] = {"nu": case.nu, "nu_of_lime": world.nu, "coef": instead.tolist()}
    yield Finding(
        "wrong-kernel",
        "serious" if other else "warning",
        (),
        numbers | {"kernel": case.kernel, "kernel_of_lime": world.kernel},
        *wording.wrong_kernel(case, world.kernel, world.nu, instead),
    )


def _coef_of(case: Case, setting: Any) -> np.ndarray:
    """The coefficients of another setting: the limit, or a run of as many samples."""
    if case.shared.form is not None:
        return limit_of(setting, case.ridge if case.n else 0.0, case.n).coef
    return run(setting, case.n or 5000, 0, ridge=case.ridge).coef


def wrongly_fed(case: Case) -> list[Collapsed]:
    """The bins for which `lime` feeds the model a value that no row of the data has."""
    world, law = case.setting.world, case.boxes.law
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
    others = {bin_.feature for bin_ in wrongly_fed(case)}  # of which another finding tells
    columns = np.array([j for j in case.shared.whole if case.used[j] and j not in others], int)
    if not columns.size:
        return
    pool = case.shared.pool
    change = fit(
        _sums(case, pool.x, pool.box == case.setting.own, case.shared.legal - pool.y), case.ridge
    )
    moved, noise = change.beta[1:][columns], np.sqrt(np.diag(change.covariance)[1:][columns])
    moved = np.where(np.abs(moved) > SURE * noise, moved, 0.0)
    # many whole numbers are codes or ages: only the model can tell, and does so where it matters
    few = np.array([len(case.shared.whole[int(j)]) <= FEW_VALUES for j in columns])
    felt = np.isin(columns, list(case.shared.felt))
    told = few | felt | _is_visible(case.coef[columns], moved, case.top)
    if not np.any(told):
        return
    columns, moved = columns[told], moved[told]
    coef = case.coef[columns]
    severity = _severity_of_change(coef, moved, case.top)
    order = np.argsort(-np.abs(moved), kind="stable")
    names = tuple(case.names[j] for j in columns[order])
    worst = int(order[0])
    yield Finding(
        "undeclared-category",
        severity,
        names,
        {
            "coef": coef[order].tolist(),
            "coef_repaired": (coef + moved)[order].tolist(),
            "values": [case.shared.whole[int(j)].tolist() for j in columns[order]],
        },
        *wording.undeclared_category(
            case,
            names,
            coef[worst],
            coef[worst] + moved[worst],
            severity,
            few_values=bool(few[told][worst]),
            felt=bool(np.any(felt)),
        ),
    )


def _severity_of_change(coef: np.ndarray, moved: np.ndarray, top: float) -> str:
    """Of coefficients that are not what they would be if the model were fed what exists."""
    visible = _is_visible(coef, moved, top)
    wrong = np.abs(moved) > AMOUNT * np.maximum(np.abs(coef), np.abs(coef + moved))
    if np.any(visible & wrong):
        return "serious"
    return "warning" if np.any(visible) else "note"


def _is_visible(coef: np.ndarray, moved: np.ndarray, top: float) -> np.ndarray:
    """Whether a change of coefficients shows beside the largest of them."""
    largest = max(top, float(np.max(np.abs(coef + moved), initial=0.0)))
    return np.asarray(np.abs(moved) > VISIBLE_CHANGE * largest)


def severity_of_change(coef: np.ndarray, right: np.ndarray, top: float) -> str:
    """The same for coefficients that should be others."""
    return _severity_of_change(np.asarray(coef), np.asarray(right) - coef, top)


@check
def off_data(case: Case) -> Iterator[Finding]:
    """Are the samples like the data, and if not, does it matter?"""
    data = case.shared.data
    if data is None or case.top == 0:
        return
    share, impossible = off_shares(case, data)
    on_data = _on_data(case, data)
    numbers: dict[str, Any] = {
        "share": share,
        "impossible": impossible,
        "one_hot": [case.names[j] for group in data.one_hot for j in group],
        "exclusive": [case.names[j] for group in data.exclusive for j in group],
        "comparable": on_data is not None,
    }
    severity, j, torn = _unconfirmed(case, on_data, _alone(case, data))
    numbers["torn"] = list(case.name(torn))
    if j is None and share < SHARE and impossible < IMPOSSIBLE:
        return
    if j is None and impossible >= IMPOSSIBLE and _one_hot_leads(case, data):
        severity = "warning"
    if j is not None:
        assert on_data is not None
        numbers |= {
            "coef": float(case.coef[j]),
            "coef_on_data": float(on_data.beta[1 + j]),
            "stderr_on_data": float(np.sqrt(on_data.covariance[1 + j, 1 + j])),
        }
    name = None if j is None else case.names[j]
    features = () if j is None else (case.names[j],)
    yield Finding("off-data", severity, features, numbers, *wording.off_data(case, numbers, name))


def off_shares(case: Case, data: Surroundings) -> tuple[float, float]:
    """Shares of the samples' weight that lie far from the data, and that cannot exist."""
    pool, setting = case.shared.pool, case.setting
    far, impossible = case.shared.unlike
    x, z = pool.x[: len(far)], pool.box[: len(far)] == setting.own
    log_w = setting.kernel.log_weights(x, z, setting.xi, setting.nu, setting.boxes)
    w = np.exp(log_w - log_w.max())
    return float(w @ far / w.sum()), float(w @ impossible / w.sum())


def _on_data(case: Case, data: Surroundings) -> Fit | None:
    """The surrogate fitted to the data themselves; None where too few of them count."""
    if case.shared.of_data is None:
        return None
    z = data.boxes.discretize(data.table) == case.setting.own
    found = _sums(case, data.table, z, case.shared.of_data)
    return None if found.ess < ENOUGH * (len(case.coef) + 1) else fit(found, case.ridge)


def _sums(case: Case, x: np.ndarray, z: np.ndarray, y: np.ndarray) -> Sums:
    """Those of other rows or responses, weighed as the samples are."""
    setting = case.setting
    sums = Sums(setting.d, marks=case.boxed)
    log_w = setting.kernel.log_weights(x, z, setting.xi, setting.nu, setting.boxes)
    sums.add(columns_of(setting, x, z), y, log_w)
    return sums


def _unconfirmed(
    case: Case, on_data: Fit | None, alone: tuple[np.ndarray, np.ndarray] | None
) -> tuple[str, int | None, np.ndarray]:
    """A leading feature of which the data confirm less than half, how severe that is, and which are torn.

    The data speak twice: in the fit to them, with the other features beside it, and in what they say of
    the feature ``alone``, a slope and its standard error. A sign that differs between the two is what
    columns that go together do to a fit, and refutes nothing: such features are torn. A feature that
    one of the two confirms is not gone.
    """
    torn = np.zeros(len(case.coef), bool)
    if on_data is None or alone is None:
        return "note", None, torn
    leading = np.abs(case.coef) >= LEADING * case.top
    sign = np.sign(case.coef)
    beside = sign * on_data.beta[1:], np.sqrt(np.clip(np.diag(on_data.covariance)[1:], 0, None))
    alone = sign * alone[0], alone[1]
    least = np.abs(case.coef) - (0.0 if case.reach is None else case.reach)  # that the samples say
    judged = on_data.used & leading & (least > 0)
    torn = judged & (beside[0] + SURE * beside[1] < 0) & (alone[0] - SURE * alone[1] > 0)
    judged &= ~torn
    unit = np.where(judged, least, 1.0)
    with np.errstate(over="ignore"):
        shares = [
            np.where(judged, np.clip(size + SURE * error, 0, None) / unit, 1.0)
            for size, error in (beside, alone)  # the most that the data allow
        ]
    j = int(np.argmin(shares[0]))
    if shares[0][j] >= HALVED:
        return "note", None, torn
    gone = shares[0][j] < GONE and shares[1][j] < HALVED
    return ("serious" if gone else "warning"), j, torn


def _alone(case: Case, data: Surroundings) -> tuple[np.ndarray, np.ndarray] | None:
    """Slopes of the model over the data in each feature without the others, and standard errors."""
    s, y = case.setting, case.shared.of_data
    if y is None:
        return None
    z = data.boxes.discretize(data.table) == s.own
    log_w = s.kernel.log_weights(data.table, z, s.xi, s.nu, s.boxes)
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    columns = np.asarray(columns_of(s, data.table, z), float)
    columns, y = columns - w @ columns, y - w @ y
    square = w @ columns**2
    there = np.where(square > 0, square, 1.0)
    slope = (w * y) @ columns / there
    left = y[:, None] - slope * columns
    return slope, np.sqrt(np.sum((w[:, None] * columns * left) ** 2, axis=0)) / there


def _one_hot_leads(case: Case, data: Surroundings) -> bool:
    """Whether a column of a one-hot group is among those that readers look at."""
    return any(
        np.any(np.abs(case.coef[group]) >= VISIBLE_CHANGE * case.top)
        for group in (*data.one_hot, *data.exclusive)
    )


@check
def outside_range(case: Case) -> Iterator[Finding]:
    """Does xi lie where no data are?"""
    lo, hi = _range(case)
    width = np.where(hi > lo, hi - lo, np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0))
    with np.errstate(invalid="ignore"):
        beyond = np.maximum(lo - case.xi, case.xi - hi) / width
    beyond = np.where(case.boxes.ordered & np.isfinite(beyond), beyond, -np.inf)
    outside = beyond > 1e-9
    if not np.any(outside):
        return
    j = int(np.argmax(beyond))
    severity = "note" if beyond[j] <= NEARLY_INSIDE else "warning"
    severity = "serious" if beyond[j] > FAR_OUTSIDE else severity
    numbers = {"beyond": beyond[outside].tolist(), "lo": lo[outside].tolist()}
    yield Finding(
        "outside-range",
        severity,
        case.name(outside),
        numbers | {"hi": hi[outside].tolist(), "xi": case.xi[outside].tolist()},
        *wording.outside_range(case, j, beyond[j], (lo[j], hi[j]), wording.also(case, outside, j)),
    )


def _range(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest value of each feature: of the data, else of the world."""
    data = case.shared.data
    if data is not None:
        return data.table.min(axis=0), data.table.max(axis=0)
    law = case.boxes.law
    there, point = law.prob > 0, law.sd == 0
    lo = np.where(there, np.where(point, np.minimum(law.mean, law.lo), law.lo), np.inf)
    hi = np.where(there, np.where(point, np.maximum(law.mean, law.hi), law.hi), -np.inf)
    return lo.min(axis=1), hi.max(axis=1)
