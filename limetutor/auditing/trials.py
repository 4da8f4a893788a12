"""Remedies are tried before they are offered: the same checks, with the settings that would be advised.

A remedy works where its finding is gone and no other one comes that is as severe. Otherwise the finding
keeps the words that it came with, which say how to read what is on display. A trial is one run and others
follow: what a check finds by chance has to be clear of its threshold there (``is_trial``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.explainer import run
from ..core.problem import Problem
from ..core.theory import limit_of
from ..lime.other_boxes import declared
from ..lime.read_explainer import LimeNumbers, LimeWorld
from .case import Case
from .findings import LEVELS, SEVERITIES, Finding, Try, level
from .shared_work import Replay, SharedWork

TIMES = (4, 16)  # as many samples, which are tried
WIDER = (2.0, 4.0)  # times the bandwidth, which are tried
MOST_SAMPLES = 200_000  # that a trial draws
Run = Callable[[Any], tuple[Finding, ...]]


def settled(
    finding: Finding, tries: Sequence[Try], before: Sequence[Finding], again: Run
) -> Finding:
    """The finding with the first remedy that works; as it is where none does."""
    for attempt in tries:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case = attempt.case()
                after = None if case is None else again(case)
            except ValueError:  # the model has no answer there, or the settings are none
                after = None
        if after is not None and works(finding, before, after):
            numbers = finding.numbers | {"advised": attempt.advised}
            return replace(finding, remedy=attempt.words, numbers=numbers)
    return finding


def works(finding: Finding, before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether a finding is gone, and none came or grew that is as severe, nor a warning for a note."""
    known = {f.code: _rank(f) for f in reversed(before)}
    least = max(_rank(finding), SEVERITIES.index("warning"))
    return finding.code not in {f.code for f in after} and not any(
        _rank(f) >= least and _rank(f) > known.get(f.code, -1) for f in after
    )


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def changed(
    case: Case, problem: Problem, n: int | None = None, ridge: float | None = None
) -> Case | None:
    """The case with another problem, number of samples or penalty; None where it was not run plainly."""
    sampled, n = case.sampled, n or case.n
    ridge = case.ridge if ridge is None else ridge
    selects = sampled is not None and not case.lasso and (~case.used & ~case.constant).any()
    if selects or (n or 0) > max(MOST_SAMPLES, case.n or 0):
        return None
    work, data = SharedWork.of(problem, n, ridge), case.shared.data
    if data is not None:
        work = replace(work, data=replace(data, boxes=problem.boxes))
    subject: Any = limit_of(problem, ridge, n)
    if sampled is not None:
        draws = "bins" if isinstance(sampled.draws, Replay) else sampled.draws
        subject = run(problem, n or sampled.n, 0, draws, ridge=ridge)
    return Case(subject, work, case.is_lime, 0, case.shown, case.terms, case.row_name, True)


def at_width(case: Case, nu: float) -> Case | None:
    """The case at another bandwidth; an explainer of `lime` has that one then."""
    world = case.problem.world
    own = replace(world, nu=nu) if isinstance(world, LimeWorld | LimeNumbers) else None
    return changed(case, case.problem.at(nu, own))


def more_samples(case: Case) -> Iterator[Try]:
    """Four and sixteen times as many."""
    for n in (times * case.n for times in TIMES if case.n and case.sampled is not None):
        words = f"{case.terms.samples(n).capitalize()} mend it."
        yield Try(words, {case.n_name: n}, lambda n=n: changed(case, case.problem, n))  # type: ignore[misc]


def wider(case: Case) -> Iterator[Try]:
    """Twice and four times the bandwidth."""
    for nu in (times * case.nu for times in WIDER):
        words = (
            f"{case.terms.at_width(nu).capitalize()} mends it, and asks about more of the samples."
        )
        yield Try(words, {case.nu_name: nu}, lambda nu=nu: at_width(case, nu))  # type: ignore[misc]


def levels_at(case: Case, widths: np.ndarray, again: Run) -> list[int]:
    """The level of the worst finding at each bandwidth, beyond all where it cannot be audited there."""
    levels = []
    for nu in widths:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                other = at_width(case, float(nu))
            except ValueError:
                other = None
            found = () if other is None else again(replace(other, is_trial=False))
            levels.append(len(LEVELS) if other is None else LEVELS.index(level(found)))
    return levels


def as_categories(case: Case, columns: Sequence[int]) -> Try:
    """The columns declared, with the values that the data have."""
    names = [case.names[j] for j in columns]
    where = "categorical_features" if case.is_lime else "categorical="
    words = f"Declare {'it' if len(names) == 1 else 'these columns'} as categorical ({where})."

    def made() -> Case | None:
        data = case.shared.data
        world = None if data is None else declared(case.problem.world, data.all_rows, columns)
        return None if world is None else changed(case, case.problem.at(world=world))

    return Try(words, {"categorical": names}, made)
