"""The audit of a whole table: which rows can be shown, which not, and why.

What rows share is done once (:mod:`limetutor.auditing.shared`); a row that cannot be audited says why
and does not stop the others. Chapter: the real lime.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .. import arguments as arg
from ..algorithm import run
from ..hiding import boxes_for_table
from ..kernels import kernel_of, product_kernel
from ..many import Question, with_progress
from ..setting import boxes_for
from ..tables import rows_of
from ..travel import Copies
from ..worlds import Boxes, World
from .case import Case
from .data_checks import off_shares
from .findings import LEVELS, MEANING, SEVERITIES, Finding, level
from .shared import Replay, Shared
from .speech import Speech
from .verdicts import Audit
from .wording import few

CHUNK = 64  # rows whose exact answers are found together
WORST = 200  # rows that a report lists
NUMBERS = ("noise", "local_error", "ess", "r2", "off_data")
COLUMNS = ("severity", "code", "words", *NUMBERS)


class Row(NamedTuple):
    """What was found of a row, and the numbers that the table shows."""

    findings: tuple[Finding, ...]
    noise: float = np.nan
    local_error: float = np.nan
    ess: float = np.nan
    r2: float = np.nan
    off_data: float = np.nan


@dataclass(frozen=True, eq=False)
class Plan:
    """What is asked of every row."""

    f: Any
    world: World
    nu: Any
    kernel: Any
    ridge: float
    output: Any
    n: Any
    seed: int | None
    data: Any
    surroundings: Callable[..., Any]
    shown: int
    say: Speech
    is_lime: bool

    def case(self, xi: Any) -> Case:
        """The case of a single instance."""
        boxes = boxes_for(self.world, xi, self.f)
        shared = self.shared(boxes, boxes.encode(xi)[None], None)
        return self.case_of(shared, 0)

    def shared(self, boxes: Boxes, table: np.ndarray, index: Any) -> Shared:
        """What rows that have become numbers share."""
        n = arg.whole("n", self.n, boxes.d + 2, because=f" to fit {boxes.d + 1} coefficients")
        nu, kernel = arg.bandwidth("nu", self.nu), kernel_of(self.kernel)
        if not self.world.indicators:
            kernel = product_kernel(kernel, "a world without boxes").without_boxes()
        data = self.surroundings(self.data, self.world, boxes)
        question = Question(self.f, table, self.world, boxes, nu, kernel, self.output, index)
        return Shared(question, n, self.ridge, self.seed, data)

    def case_of(self, shared: Shared, i: int) -> Case:
        """An explanation of row i from the shared samples."""
        assert shared.n is not None
        sampler = Replay(shared.pool)
        ex = run(shared.setting(i), shared.n, sampler=sampler, ridge=self.ridge)
        return Case(ex, self.is_lime, shared, i, self.shown, self.say)

    def table(self, X: Any, n_jobs: int | None) -> AuditTable:
        """All rows of a table."""
        import pandas as pd

        boxes = boxes_for_table(self.world, X)
        numbers, failed = _encoded(X, boxes)
        index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(numbers))
        good = np.flatnonzero([i not in failed for i in range(len(numbers))])
        shared = self.shared(boxes, numbers[good], None)
        good, shared = _predicted(shared, good, failed)
        rows = {i: _failed(words) for i, words in failed.items()}
        if len(good):
            done = _all_rows(self, shared, n_jobs)
            rows |= {int(good[i]): row for i, row in with_progress(done, len(good))}
        found = tuple(rows[i] for i in range(len(numbers)))
        return AuditTable(_frame(found, index), found, boxes.names, self, (shared, good))


def _encoded(X: Any, boxes: Boxes) -> tuple[np.ndarray, dict[int, str]]:
    """The rows as numbers, and what is wrong with those that have none."""
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
            listed = few(missing)
            failed[i] = f"{listed} must have a finite value, got none." if missing else str(error)
    return table, failed


def _missing(value: Any) -> bool:
    """Nothing, or no number: None, NaN, pandas' NA, an infinite value."""
    try:
        return value is None or not np.isfinite(float(value))
    except (TypeError, ValueError):
        return type(value).__name__ in ("NAType", "NaTType")


def _predicted(
    shared: Shared, good: np.ndarray, failed: dict[int, str]
) -> tuple[np.ndarray, Shared]:
    """The rows that the model has an answer for; what it says of the others goes to ``failed``."""
    question = shared.question
    if not len(good):
        return good, shared
    try:
        question.predictions  # noqa: B018  (asked once, for all)
        return good, shared
    except ValueError as error:
        first = error
    values = np.full(len(good), np.nan)
    for k in range(len(good)):
        try:
            values[k] = question.rows(slice(k, k + 1)).predictions[0]
        except ValueError as error:
            failed[int(good[k])] = str(error)
    there = np.isfinite(values)
    if not np.any(there):
        raise first
    kept = replace(question, table=question.table[there])
    kept.__dict__["predictions"] = values[there]
    return good[there], replace(shared, question=kept)


def _all_rows(plan: Plan, shared: Shared, n_jobs: int | None) -> Iterator[tuple[int, Row]]:
    """The rows as they are done, in any order."""
    count = len(shared.question.table)
    shared.prepare()
    step = 1 if shared.moves else CHUNK
    pieces = [(start, shared.rows(slice(start, start + step))) for start in range(0, count, step)]
    if n_jobs in (None, 1):
        for start, piece in pieces:
            yield from _audited(plan, piece, start)
        return
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise ImportError("n_jobs needs joblib; install it, or leave n_jobs out.") from None
    # what the plan was given as data has been read: the table itself need not travel
    light = replace(plan, data=None, f=None)
    calls = (delayed(_listed)(light, piece, start) for start, piece in pieces)
    for found in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls):
        yield from found


def _listed(plan: Plan, shared: Shared, start: int) -> list[tuple[int, Row]]:
    return list(_audited(plan, shared, start))


def _audited(plan: Plan, shared: Shared, start: int) -> Iterator[tuple[int, Row]]:
    """Some rows; one that spoils what it shares with others is looked at alone."""
    for i in range(len(shared.question.table)):
        try:
            row = _row(plan, shared, i)
        except ValueError:
            try:
                row = _row(plan, shared.rows(slice(i, i + 1)), 0)
            except ValueError as error:
                row = _failed(str(error))
        yield start + i, row


def _row(plan: Plan, shared: Shared, i: int) -> Row:
    case = plan.case_of(shared, i)
    found = Audit.of(case)
    ex = case.sampled
    assert ex is not None
    data = shared.data
    return Row(
        found.findings,
        float(ex.stderr.max() / case.top) if case.top else 0.0,
        case.error,
        ex.ess,
        ex.score,
        np.nan if data is None else off_shares(case, data)[0],
    )


def _failed(words: str) -> Row:
    remedy = "Mend the row, or leave it out."
    return Row((Finding("not-audited", "serious", (), {}, f"Not audited: {words}", remedy),))


def _frame(rows: tuple[Row, ...], index: Any) -> Any:
    import pandas as pd

    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in rows:
        worst = row.findings[0] if row.findings else None
        columns["severity"].append(level(row.findings))
        columns["code"].append("" if worst is None else worst.code)
        columns["words"].append("" if worst is None else worst.words)
        for name in NUMBERS:
            columns[name].append(getattr(row, name))
    return pd.DataFrame(columns, index=index)


@dataclass(frozen=True, eq=False)
class AuditTable(Copies):
    """The audits of many rows.

    ``frame`` has the index of X and for each row its ``severity`` (ok, note, warning or serious), the
    ``code`` and the ``words`` of its worst finding, and the numbers ``noise`` (the largest standard
    error over the largest coefficient), ``local_error`` (the surrogate at the row less the model),
    ``ess`` (effective samples), ``r2`` (of the surrogate) and ``off_data`` (the share of the samples
    far from the data; nan without data). ``rows`` holds all findings. ``table[i]`` is the
    :class:`Audit` of the row at position i, made again. What the levels mean:
    :data:`limetutor.auditing.findings.MEANING`.
    """

    asked: ClassVar[tuple[str, ...]] = ("plan", "work")

    frame: Any
    rows: tuple[Row, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    plan: Plan | None = field(repr=False, default=None)
    work: tuple[Shared, np.ndarray] | None = field(repr=False, default=None)

    def __len__(self) -> int:
        return len(self.rows)

    def __getstate__(self) -> dict[str, Any]:
        """What was found, without the model: what travels holds no more than a reader needs."""
        return {"frame": self.frame, "rows": self.rows, "names": self.names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in {**state, "plan": None, "work": None}.items():
            object.__setattr__(self, name, value)

    def __getitem__(self, i: Any) -> Audit:
        if not arg.is_integer(i):
            raise TypeError(f"a row must be given by its position, got {arg.shorten(i)}.")
        if not -len(self) <= i < len(self):
            raise IndexError(f"a row must lie between 0 and {len(self) - 1}, got {int(i)}.")
        i = int(i) % len(self)
        if self.plan is None or self.work is None:
            raise ValueError("the model must be at hand to audit a row again: it was not saved.")
        shared, good = self.work
        at = np.flatnonzero(good == i)
        if not at.size or (
            self.rows[i].findings[:1] and self.rows[i].findings[0].code == "not-audited"
        ):
            raise ValueError(self.rows[i].findings[0].sentence)
        k = int(at[0])
        return Audit.of(self.plan.case_of(shared.rows(slice(k, k + 1)), 0))

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many rows there are of each severity."""
        found = Counter(self.frame["severity"])
        return {word: found.get(word, 0) for word in LEVELS}

    @cached_property
    def codes(self) -> dict[str, int]:
        """How many rows have each finding, whatever else they have; the commonest first."""
        found = Counter(code for row in self.rows for code in {f.code for f in row.findings})
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))

    @cached_property
    def order(self) -> np.ndarray:
        """Positions of the rows, the worst first."""

        def badness(row: Row) -> tuple[int, ...]:
            return tuple(
                -sum(f.severity == word for f in row.findings) for word in SEVERITIES[::-1]
            )

        return np.array(sorted(range(len(self)), key=lambda i: badness(self.rows[i])), int)

    def worst(self, k: int = 10) -> Any:
        """The k worst rows of the frame, the worst first."""
        return self.frame.iloc[self.order[: arg.whole("k", k, 1)]]

    def to_frame(self) -> Any:
        """The frame."""
        return self.frame

    def to_csv(self, path: Any = None) -> str | None:
        """The frame as CSV, into a file or as text."""
        return self.frame.to_csv(path)  # type: ignore[no-any-return]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types, ready for JSON."""
        from dataclasses import asdict

        rows = [
            {
                "index": _plain(name),
                "severity": level(row.findings),
                "findings": [asdict(finding) for finding in row.findings],
                **{n: _number(getattr(row, n)) for n in NUMBERS},
            }
            for name, row in zip(self.frame.index, self.rows, strict=True)
        ]
        return {"names": list(self.names), "counts": self.counts, "rows": rows}

    def headline(self) -> str:
        """One line: how many rows of which severity."""
        parts = [f"{count:,} {word}" for word, count in self.counts.items() if count]
        return f"Audit of {len(self):,} row{'s' * (len(self) != 1)}: {', '.join(parts)}."

    def __str__(self) -> str:
        lines = [self.headline()]
        lines += [f"  {count:6,}  {code}" for code, count in self.codes.items()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ..report import paragraph

        return f"{paragraph(self.headline())}{self.worst(10).to_html(escape=True)}"

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """The worst rows and what was found of each, as a matplotlib figure.

        On ``ax`` where one is given; ``top`` is how many rows are drawn, 30 if left out.
        """
        from ..plotting.audits import heatmap

        return heatmap(self, ax=ax, top=top, title=title)

    def to_html(self, path: Any = None, *, title: str | None = None) -> str | None:
        """A page that stands alone: how many rows of which severity, a picture, the worst rows."""
        from .. import report

        words = arg.text("title", title, "Which explanations can be shown?")
        return report.written(report.page(words, *self.blocks(), lead=self.headline()), path)

    def blocks(self) -> list[Any]:
        """The parts of that page."""
        from .. import report

        share = len(self) or 1
        levels = [
            (report.severity(word), count, f"{count / share:.0%}", MEANING[word])
            for word, count in self.counts.items()
        ]
        found = [
            report.heading("How the rows went"),
            report.table("What each level means", ["severity", "rows", "share", "meaning"], levels),
        ]
        if self.codes:
            kinds = ["finding", "rows"]
            found.append(report.table("What was found", kinds, list(self.codes.items())))
        if self.codes and report.can_draw():
            words = f"A grid of the worst rows against what was found of them. {self.headline()}"
            found += [report.heading("The worst rows"), report.picture(self.plot(), words)]
        worst = self.worst(WORST)
        rows = [
            (str(name), report.severity(row.severity), row.code, row.words)
            for name, row in zip(worst.index, worst.itertuples(), strict=True)
        ]
        more = f", the worst {WORST} of {len(self):,}" if len(self) > WORST else ""
        columns = ["row", "severity", "finding", "what it means and what to do"]
        found.append(report.table(f"Rows{more}", columns, rows))
        return found


def _plain(value: Any) -> Any:
    return (
        value.item() if isinstance(value, np.generic) else value if _simple(value) else str(value)
    )


def _simple(value: Any) -> bool:
    return isinstance(value, str | int | float | bool | None)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
