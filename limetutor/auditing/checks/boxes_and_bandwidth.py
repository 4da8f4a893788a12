"""What boxes and bandwidth do to an explanation: checks that rest on the theory of the limit.

Boxes first: values fed to the model, boxes with nothing to compare. Then the bandwidth: features
switched off, hidden, or of either sign. Chapters: discretization, switch-off, the real lime.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ...bandwidth.roots import gaps, plain_gaps
from ...core.boxes import World
from ...core.explainer import run
from ...inputs.lime_defaults import NUM_SAMPLES
from ...lime.other_boxes import LIMES_OWN, made_by_lime
from ...lime.read_explainer import LimeWorld
from ..case import LEADING, Case
from ..findings import Checked, Finding, Try, check, few, not_checked, numbers_at, passed
from ..reasons import listed
from ..trials import as_categories, changed, wider
from .data import how_to_read, severity_of_change, wrongly_fed

# When to report. Each is a judgement, stated once and quoted in the chapter.
TWO_RUNS = 4.2  # standard errors: three of a difference of two runs
SWITCHED_OFF = 0.05  # relative distance in nu within which a feature counts as switched off
HIDDEN = 0.1  # a gap below a tenth of a standard deviation shows nothing ...
HIDDEN_NEARBY = 0.25  # ... nor one that stays below this from nu/2 to 2 nu


@check
def collapsed(case: Case) -> Iterator[Finding | Checked | Try]:
    """Does lime feed the model a value that no row of the data has?"""
    bins = wrongly_fed(case)
    if not bins:
        return
    features, first = [bin_.feature for bin_ in bins], bins[0]
    coef, repaired = (_coef_in(case, world) for world in (None, case.shared.repaired_world))
    # a tree that splits between the two values cannot tell them apart
    changed = repaired
    if case.form is None:
        noise = 0.0 if case.stderr is None else TWO_RUNS * case.stderr
        changed = np.where(np.abs(repaired - coef) > noise, repaired, coef)
    severity, touched = severity_of_change(case, changed)
    if severity is None:
        yield passed("Values that lime feeds and the data do not have change none of the reasons.")
        return
    worst = int(np.argmax(np.abs(changed - coef)))
    if worst in features:
        bins.sort(key=lambda bin_: bin_.feature != worst)
        features, first = [bin_.feature for bin_ in bins], bins[0]
    share = [float(case.boxes.law.prob[bin_.feature, bin_.box]) for bin_ in bins]
    itself = worst == features[0]
    names = tuple(case.names[j] for j in features)
    yield Finding(
        "collapsed-bin", severity, names,
        {
            "fed": [bin_.fed for bin_ in bins], "value": [bin_.value for bin_ in bins], "share": share,
            "coef": coef[features].tolist(), "coef_repaired": repaired[features].tolist(),
        },
        f"lime 0.2.0.1 feeds the model {names[0]} = {first.fed:.3g} in "
        f"{share[0]:.0%} of the samples, "
        f"where the training data have {first.value:.3g}; with that value "
        f"{'its coefficient' if itself else f'that of {case.names[worst]}'} would be "
        f"{repaired[worst]:.3g} instead of {coef[worst]:.3g}."
        + (f" The same happens to {few(names[1:])}." if len(names) > 1 else ""),
        how_to_read(severity, touched),
    )  # fmt: skip
    yield as_categories(case, features)


def _in_boxes(case: Case, kind: str, world: World | None) -> Case | None:
    """The case with other boxes, as a new explainer would have them where it is one of `lime`."""
    own, data = case.problem.world, case.shared.data
    if isinstance(own, LimeWorld):
        world = None if data is None else made_by_lime(own, data.all_rows, kind)
    return None if world is None else changed(case, case.problem.at(world=world))


def _coef_in(case: Case, world: World | None) -> np.ndarray:
    """The coefficients that another world would give: the limit, or a long run."""
    if case.form is not None:
        return np.where(case.used, case.limit.exact(world=world).coef, 0.0)
    if world is None and case.sampled is not None:
        return case.coef
    return run(case.problem.at(world=world), case.n or NUM_SAMPLES, 0, ridge=case.ridge).coef


@check
def constant(case: Case) -> Iterator[Finding | Checked | Try]:
    """Is there a feature whose values all lie in one box?"""
    names = case.name(case.constant)
    if names:
        yield Finding(
            "constant", "note", names, {},
            f"All values of {few(names)} lie in {case.terms.rows} box: LIME has nothing to compare "
            "with, and the coefficient is 0 whatever the model does.",
            f"Leave {'it' if len(names) == 1 else 'them'} out of the explanation.",
        )  # fmt: skip


@check
def bandwidth(case: Case) -> Iterator[Finding | Checked | Try]:
    """Is a feature switched off, or about to change its sign, near this bandwidth?"""
    if not case.has_box_limit:
        yield not_checked(
            "There is no theory of the bandwidth for this kernel, or there are no boxes."
        )
        return
    critical = case.limit.turning_points
    matters = case.effects.matter(np.isfinite(critical) & case.used)
    with np.errstate(invalid="ignore"):
        close = matters & (np.abs(critical / case.nu - 1) <= SWITCHED_OFF)
    flips = matters & ~close
    if np.any(close):
        yield _switched_off(case, close)
        yield from wider(case)
    if np.any(flips):
        yield _sign_flips(case, flips)


def _at_critical(case: Case, mask: np.ndarray) -> tuple[int, str, dict[str, Any]]:
    """The feature of ``mask`` nearest to its critical bandwidth, where that is, and the numbers."""
    critical = case.limit.turning_points
    distance = critical / case.nu - 1
    j = int(np.argmin(np.where(mask, np.abs(distance), np.inf)))
    away = f"{abs(distance[j]):.1%} {'above' if distance[j] > 0 else 'below'}"
    if abs(distance[j]) < 5e-4:
        away = "practically"
    at_width = case.terms.at_width
    place = f"at {at_width(critical[j])}, {away} the {at_width(case.nu)} in use"
    numbers = numbers_at(mask, critical_nu=critical, distance=distance, coef=case.coef)
    return j, place, {"nu": case.nu} | numbers


def _switched_off(case: Case, close: np.ndarray) -> Finding:
    j, place, numbers = _at_critical(case, close)
    name, coef = case.names[j], case.coef[j]
    now, wide = (
        gaps(case.problem.world, case.xi[None], nu, case.problem.kernel)[0]
        for nu in (case.nu, 2 * case.nu)
    )
    numbers |= numbers_at(close, gap=now, gap_at_2nu=wide)
    severity = "warning"
    if case.form is not None:
        coef_at_2nu = case.shared.exact_alone(case.position, 2 * case.nu).coef
        numbers["coef_at_2nu"] = coef_at_2nu[close].tolist()
        severity = "serious" if np.any(case.effects.matter(close, LEADING)) else "warning"
        effect, meaning = name, "says nothing about the model"
    else:
        effect = f"A straight-line effect of {name}"
        meaning = "comes from whatever else the model does with it"
    return Finding(
        "critical-bandwidth", severity, case.name(close), numbers,
        f"{effect} is switched off {place}: its coefficient, {coef:.3g}, {meaning}."
        f"{case.others_too(close, j)}",
        f"Do not read {listed(case.name(close))}.",
    )  # fmt: skip


def _sign_flips(case: Case, flips: np.ndarray) -> Finding:
    j, place, numbers = _at_critical(case, flips)
    side = ""
    if case.linear is not None:
        slope = case.linear.a
        numbers["slope"] = slope[flips].tolist()
        sides = ["agrees with", "opposes"]
        near, far = sides if slope[j] * case.coef[j] > 0 else sides[::-1]
        width = "ν" if case.terms.symbols else "bandwidth"
        side = f" Here it {near} the slope ({slope[j]:+.3g}), beyond that {width} it {far} it."
    effect = "" if case.form is not None else "a straight-line effect of "
    return Finding(
        "sign-flips", "warning" if case.form is not None else "note", case.name(flips), numbers,
        f"The sign of {effect}{case.names[j]} ({case.coef[j]:+.3g}) depends on the bandwidth: it turns "
        f"{place}.{side}{case.others_too(flips, j)}",
        "Do not read the sign; see how it goes with the bandwidth.",
    )  # fmt: skip


@check
def hidden(case: Case) -> Iterator[Finding | Checked | Try]:
    """Does a box average the same as everything outside it, whatever the bandwidth?"""
    if not case.has_box_limit:
        yield not_checked(
            "There is no theory of the bandwidth for this kernel, or there are no boxes."
        )
        return
    sigma = np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0)
    nus = case.nu * 2 ** np.linspace(-1, 1, 9)
    rows = np.tile(case.xi, (len(nus), 1))
    nearby = gaps(case.problem.world, rows, nus[:, None], case.problem.kernel) / sigma
    wide = plain_gaps(case.boxes, case.xi[None])[0] / sigma  # as nu grows
    largest = np.max(np.abs(nearby), axis=0)
    mask = case.used & case.boxes.ordered & (np.abs(wide) < HIDDEN) & (largest < HIDDEN_NEARBY)
    mask = case.effects.matter(mask, LEADING)
    if not np.any(mask):
        return
    j = int(np.argmin(np.where(mask, largest, np.inf)))
    box, count = case.problem.box_of_xi + 1, np.sum(case.boxes.law.prob > 0, axis=1)
    terms = case.terms
    around = "from ν/2 to 2ν" if terms.symbols else "from half to twice the one in use"
    yield Finding(
        "hidden", "warning" if case.linear is not None else "note", case.name(mask),
        numbers_at(mask, gap=nearby[4], largest_gap=largest, box=box, boxes=count, coef=case.coef),
        f"{case.names[j]} is hidden: {terms.row} lies in box {box[j]} of {count[j]}, whose mean "
        f"differs from the mean outside by at most {largest[j]:.2g} standard deviations at any "
        f"bandwidth {around}, so an effect that goes one way along the feature cancels (coefficient "
        f"{case.coef[j]:.3g}).{case.others_too(mask, j)}",
        f"Ask what the model predicts when {case.names[j]} changes; its coefficient does not say it.",
    )  # fmt: skip
    for kind, world in (case.shared.other_worlds or {}).items():
        if kind in LIMES_OWN or not case.is_lime:
            words = f"With {kind} the explanation shows {case.names[j]}."
            yield Try(words, {"boxes": kind}, partial(_in_boxes, case, kind, world))
