"""The audit of a whole table: which rows can be shown, which not, and why.

What rows share is computed once (:mod:`limetutor.auditing.shared_work`); a row that cannot be audited
says why and does not stop the others. Chapter: the real lime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..core.boxes import Boxes
from ..core.problem import knowing
from ..core.sampler import sampler_of
from ..inputs import arguments as arg
from ..inputs.tables import rows_of
from ..many.fingerprint import evidence_of, settings_of
from ..many.pools import unordered, with_progress
from ..many.problems import boxes_for_table
from ..many.row_results import row_position
from ..many.store import Store
from ..plotting import page as report
from ..plotting.files import without_formulas
from ..plotting.result_page import frame_in_notebook
from ..results.result import BaseResult, plain
from .case import case_of_row
from .checks import CHECKS
from .checks.data import off_shares
from .findings import LEVELS, MEANING, SEVERITIES, Checked, Finding, few, level
from .shared_work import AuditPlan, SharedWork
from .verdicts import Audit, run_checks, verdict_in_words, verdict_of

ROWS_PER_PIECE = 64  # whose exact answers are computed together
LISTED_ROWS = 200  # in a report
NUMBERS = ("noise", "local_error", "ess", "r2", "off_data")
COLUMNS = ("verdict", "severity", "code", "words", *NUMBERS)


class AuditedRow(NamedTuple):
    """The findings about a row, and the numbers that the table shows."""

    findings: tuple[Finding, ...]
    checked: tuple[Checked, ...] = ()
    noise: float = np.nan
    local_error: float = np.nan
    ess: float = np.nan
    r2: float = np.nan
    off_data: float = np.nan


def audit_table(plan: AuditPlan, X: Any, n_jobs: int | None, store: Any = None) -> AuditTable:
    """Audit all rows of a table; those in the folder ``store`` are read from it, the others added."""
    import pandas as pd

    boxes = boxes_for_table(plan.world, X)
    table, failed = _encoded(X, boxes)
    index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(table))
    good = np.flatnonzero([i not in failed for i in range(len(table))])
    work = plan.work(boxes, table[good], [index[i] for i in good])
    work, good = _predicted(work, good, failed)
    rows = {i: _failed(reason) for i, reason in failed.items()}
    folder = None if store is None or not len(good) else _opened(store, plan, work)
    done = {} if folder is None else {i: _read(p) for i, p in folder.rows(len(good)).items()}
    todo = len(good) - len(done)
    for i, row in with_progress(_all_rows(plan, work, n_jobs, done) if todo else iter(()), todo):
        if folder is not None:
            folder.write(i, {name: _plain(getattr(row, name)) for name in AuditedRow._fields})
        done[i] = row
    rows |= {int(good[i]): row for i, row in done.items()}
    ordered = tuple(rows[i] for i in range(len(table)))
    return AuditTable(_frame(ordered, index), ordered, boxes.names, plan, (work, good))


def _opened(store: Any, plan: AuditPlan, work: SharedWork) -> Store:
    """The store of these audits."""
    assert work.n is not None
    bins, seed = sampler_of("bins"), plan.seed or 0
    options = {"audit": True, "n": work.n, "ridge": work.ridge, "shown": plan.shown}
    options |= {"symbols": plan.terms.symbols, "lime": plan.is_lime}

    def evidence(first: int | None) -> dict[str, np.ndarray]:
        data = np.zeros((0, 0)) if work.data is None else work.data.all_rows
        return evidence_of(work.question.rows(slice(first)), bins, seed) | {"data": data}

    return Store.opened(store, settings_of(work.question, options, seed), evidence)


def _plain(value: Any) -> Any:
    """Findings and checks as dictionaries, numbers as they are."""
    return [asdict(part) for part in value] if isinstance(value, tuple) else float(value)


def _read(parts: dict[str, Any]) -> AuditedRow:
    """A row as it was stored."""
    found = (Finding(**{**f, "features": tuple(f["features"])}) for f in parts["findings"])
    checked = tuple(Checked(**c) for c in parts["checked"])
    return AuditedRow(tuple(found), checked, *(parts[name] for name in NUMBERS))


def _encoded(X: Any, boxes: Boxes) -> tuple[np.ndarray, dict[int, str]]:
    """The rows as numbers, and what is wrong with those that cannot be encoded."""
    try:
        return boxes.encode_rows(X), {}
    except ValueError:
        rows = rows_of("X", X, boxes.names, one=False)
        if rows.shape[1] != boxes.d:
            raise
    table, failed = np.full(rows.shape, np.nan), {}
    for i in range(len(rows)):
        try:
            table[i] = boxes.encode_rows(rows[i : i + 1])[0]
        except ValueError as error:
            missing = [n for n, value in zip(boxes.names, rows[i], strict=True) if _missing(value)]
            failed[i] = str(error)
            if missing:
                failed[i] = f"{few(missing)} must have a finite value, got none."
    return table, failed


def _missing(value: Any) -> bool:
    """Whether a value is None, NaN, pandas' NA or infinite."""
    try:
        return value is None or not np.isfinite(float(value))
    except (TypeError, ValueError):
        return type(value).__name__ in ("NAType", "NaTType")


def _predicted(
    work: SharedWork, good: np.ndarray, failed: dict[int, str]
) -> tuple[SharedWork, np.ndarray]:
    """The rows that the model has an answer for; its errors at the others go to ``failed``."""
    question = work.question
    if not len(good):
        return work, good
    try:
        question.predictions  # noqa: B018  (one call for all)
        return work, good
    except ValueError as error:
        first = error
    values = np.full(len(good), np.nan)
    for k in range(len(good)):
        try:
            values[k] = question.rows(slice(k, k + 1)).predictions[0]
        except ValueError as error:
            failed[int(good[k])] = str(error)
    present = np.isfinite(values)
    if not np.any(present):
        raise first
    index = [name for name, here in zip(question.index, present, strict=True) if here]
    question = replace(question, table=question.table[present], index=index)
    knowing(question, predictions=values[present])
    return replace(work, question=question), good[present]


def _all_rows(
    plan: AuditPlan, work: SharedWork, n_jobs: int | None, known: Container[int]
) -> Iterator[tuple[int, AuditedRow]]:
    """The rows that are not known as they are done, in any order."""
    work.prepare()
    step = 1 if work.moves else ROWS_PER_PIECE
    runs: list[slice] = []
    for i in (i for i in range(len(work.question.table)) if i not in known):
        if runs and runs[-1].stop == i and i - runs[-1].start < step:
            runs[-1] = slice(runs[-1].start, i + 1)
        else:
            runs.append(slice(i, i + 1))
    pieces = ((run.start, work.rows(run)) for run in runs)
    if n_jobs in (None, 1):
        for start, piece in pieces:
            yield from _audited(plan, piece, start)
        return
    # the data have been read and the pool has its responses: neither is sent to other processes
    light = replace(plan, data=None, f=None)
    calls = ((light, piece, start) for start, piece in pieces)
    for rows in unordered(_audited, calls, n_jobs):
        yield from rows


def _audited(plan: AuditPlan, work: SharedWork, start: int) -> list[tuple[int, AuditedRow]]:
    """Some rows; one that spoils what it shares with others is audited alone."""
    rows = []
    for i in range(len(work.question.table)):
        try:
            row = _row(plan, work, i)
        except ValueError:
            try:
                row = _row(plan, work.rows(slice(i, i + 1)), 0)
            except ValueError as error:
                row = _failed(str(error))
        rows.append((start + i, row))
    return rows


def _row(plan: AuditPlan, work: SharedWork, i: int) -> AuditedRow:
    case = case_of_row(plan, work, i)
    ex = case.sampled
    assert ex is not None
    return AuditedRow(
        *run_checks(case, CHECKS),
        float(ex.stderr.max() / case.top) if case.top else 0.0,
        case.error,
        ex.ess,
        ex.score,
        np.nan if work.data is None else off_shares(case, work.data)[0],
    )


def _failed(reason: str) -> AuditedRow:
    sentence, remedy = f"Not audited: {reason}", "Mend the row, or leave it out."
    return AuditedRow((Finding("not-audited", "serious", (), {}, sentence, remedy),))


def _verdict(row: AuditedRow) -> str:
    return verdict_in_words(verdict_of(row.findings, row.checked)[0], row.checked)


def _frame(rows: tuple[AuditedRow, ...], index: Any) -> Any:
    import pandas as pd

    lines = []
    for row in rows:
        code, words = (row.findings[0].code, row.findings[0].words) if row.findings else ("", "")
        numbers = [getattr(row, name) for name in NUMBERS]
        lines.append([_verdict(row), level(row.findings), code, words, *numbers])
    return pd.DataFrame(lines, index=index, columns=list(COLUMNS))


@dataclass(frozen=True, eq=False)
class AuditTable(BaseResult):
    """The audits of many rows, made by :func:`limetutor.audit` of a table.

    ``frame`` has the index of X and for each row the ``verdict`` in words, its ``severity`` (ok, note, warning or serious), the
    ``code`` and the ``words`` of its worst finding, and the numbers ``noise`` (the largest standard
    error over the largest coefficient), ``local_error`` (the surrogate at the row less the model),
    ``ess`` (effective samples), ``r2`` (of the surrogate) and ``off_data`` (the share of the samples
    far from the data; nan without data). ``rows`` holds all findings. ``table[i]`` is the
    :class:`Audit` of the row with the label i (or at that position), made again. What the levels mean:
    :data:`limetutor.auditing.findings.MEANING`.

    Examples
    --------
    >>> import limetutor as lt
    >>> rows = [[0.961, 0.432], [1.2, 1.1]]
    >>> lt.audit(lt.Gaussian(), lt.Linear([10, -5]), rows, nu=0.53).codes
    {'critical-bandwidth': 1, 'noise': 1, 'other-boxes': 1}
    """

    problem_fields: ClassVar[tuple[str, ...]] = ("plan", "work")
    page_title = "Which explanations can be shown?"

    frame: Any
    rows: tuple[AuditedRow, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    plan: AuditPlan | None = field(repr=False, default=None)
    work: tuple[SharedWork, np.ndarray] | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """The findings, without the model."""
        return {"frame": self.frame, "rows": self.rows, "names": self.names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "plan": None, "work": None}.items():
            object.__setattr__(self, name, value)

    def __getitem__(self, i: Any) -> Audit:
        return self._row(row_position(i, len(self), self.frame.index))

    def __iter__(self) -> Iterator[Audit]:
        return (self._row(i) for i in range(len(self)))

    def _row(self, i: int) -> Audit:
        if self.plan is None or self.work is None:
            raise ValueError("the model must be at hand to audit a row again: it was not saved.")
        work, good = self.work
        for finding in self.rows[i].findings[:1]:
            if finding.code == "not-audited":
                raise ValueError(finding.sentence)
        k = int(np.flatnonzero(good == i)[0])
        return Audit.of(case_of_row(self.plan, work.rows(slice(k, k + 1)), 0), CHECKS)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of rows of each severity."""
        counts = Counter(self.frame["severity"])
        return {word: counts.get(word, 0) for word in LEVELS}

    @cached_property
    def verdicts(self) -> dict[str, int]:
        """The number of rows of each verdict, the most common first."""
        return {str(words): int(k) for words, k in self.frame["verdict"].value_counts().items()}

    @cached_property
    def codes(self) -> dict[str, int]:
        """The number of rows with each finding, the most common first."""
        counts = Counter(code for row in self.rows for code in {f.code for f in row.findings})
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))

    @cached_property
    def order(self) -> np.ndarray:  # type: ignore[override]
        """Positions of the rows, the worst first."""

        def key(i: int) -> tuple[int, ...]:
            severities = [finding.severity for finding in self.rows[i].findings]
            return tuple(-severities.count(word) for word in SEVERITIES[::-1])

        return np.array(sorted(range(len(self)), key=key), int)

    def as_list(self) -> list[tuple[Any, str]]:
        """Pairs of a row's index and severity, the worst first."""
        return [(self.frame.index[i], level(self.rows[i].findings)) for i in self.order]

    def worst(self, k: int = 10) -> Any:
        """The k worst rows of the frame, the worst first."""
        return self.frame.iloc[self.order[: arg.whole("k", k, 1)]]

    def to_frame(self) -> Any:
        """The frame."""
        return self.frame

    def to_csv(self, path: Any = None) -> str | None:
        """The frame as CSV, into a file or as text; an apostrophe precedes what a spreadsheet would compute."""
        safe = lambda value: without_formulas(value) if isinstance(value, str) else value  # noqa: E731
        frame = self.frame.map(safe).rename(index=safe).rename_axis(index=safe)
        return frame.to_csv(path)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        rows = [
            {
                "index": str(name) if isinstance(name, tuple) else plain(name),
                "severity": level(row.findings),
                "findings": [asdict(finding) for finding in row.findings],
                **{n: plain(getattr(row, n)) for n in NUMBERS},
            }
            for name, row in zip(self.frame.index, self.rows, strict=True)
        ]
        return {"names": list(self.names), "counts": self.counts, "rows": rows}

    def headline(self) -> str:
        """One line: the number of rows of each verdict."""
        parts = [f"{count:,} {words.rstrip('.')}" for words, count in self.verdicts.items()]
        return f"Audit of {len(self):,} row{'s' * (len(self) != 1)}: {'; '.join(parts)}."

    def __str__(self) -> str:
        lines = [self.headline()]
        lines += [f"  {count:6,}  {code}" for code, count in self.codes.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return frame_in_notebook([self.headline()], self.worst(10))

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Draw the worst rows against their findings; a matplotlib figure.

        On ``ax`` where one is given; ``top`` is how many rows are drawn, 30 if left out.
        """
        from ..plotting.audits import heatmap

        return heatmap(self, ax=ax, top=top, title=title)

    def blocks(self) -> list[Any]:
        """The parts of its page: the verdicts, a picture, the worst rows."""
        share = len(self) or 1
        given = [(words, count, f"{count / share:.0%}") for words, count in self.verdicts.items()]
        blocks = [
            report.heading("How many can be shown"),
            report.table("Verdicts", ["verdict", "rows", "share"], given),
            report.table(
                "What severities mean", ["severity", "rows", "meaning"],
                [(report.severity(w), count, MEANING[w]) for w, count in self.counts.items()],
            ),
        ]  # fmt: skip
        if self.codes:
            kinds = ["finding", "rows"]
            blocks.append(report.table("What was found", kinds, list(self.codes.items())))
        if self.codes and report.can_draw():
            words = f"A grid of the worst rows against what was found of them. {self.headline()}"
            blocks += [report.heading("The worst rows"), report.picture(self.plot(), words)]
        worst = self.worst(LISTED_ROWS)
        rows = [
            (str(name), row.verdict, row.code, row.words)
            for name, row in zip(worst.index, worst.itertuples(), strict=True)
        ]
        more = f", the worst {LISTED_ROWS} of {len(self):,}" if len(self) > LISTED_ROWS else ""
        columns = ["row", "verdict", "finding", "what it means and what to do"]
        blocks.append(report.table(f"Rows{more}", columns, rows))
        return blocks
