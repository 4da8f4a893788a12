"""Explanations of many rows, on one process or many: :func:`explain_many`.

Each row has a seed of its own, so that its explanation does not depend on the order in which rows are
computed, nor on where.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..core.boxes import World
from ..core.explainer import run
from ..core.problem import Problem
from ..core.sampler import sampler_of
from ..inputs import arguments as arg
from ..inputs.warning_classes import FitWarning
from ..inputs.worlds import rows_and_penalty
from ..precision.stopping import Precision
from ..results.explanation import Explanation
from ..results.result import fitted_with
from .fingerprint import evidence_of, settings_of
from .limits import ARRAYS
from .pools import unordered, with_progress
from .problems import Problems
from .row_results import RowResults, row_position, row_seed, stacked
from .store import Store

TARGET_TASKS = 64  # about so many tasks for other processes, each with a copy of the model
MAX_ROWS_PER_TASK = 16  # so that little is lost where a task is interrupted
# fields of an explanation that repeat the question; the others are results, and are sent and stored
QUESTION_FIELDS = set("setting draws samples names output xi kernel sampler nu".split())


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(RowResults):
    """The explanations of many rows: ``explanations[i]`` is the :class:`Explanation` of row i.

    i is a label of X's index where it has labels of its own, otherwise a position. The arrays of :class:`Limits`, and ``score``, ``ess`` (rows,). ``method`` is "monte carlo".

    Examples
    --------
    >>> import limetutor as lt
    >>> many = lt.explain_many(lt.Linear([1, 2]), [[0, 1], [1, 0]], lt.Gaussian(), nu=1.0)
    >>> many.coef.shape, many[1].n
    ((2, 2), 5000)
    """

    score: np.ndarray
    ess: np.ndarray
    rows: tuple[Explanation, ...] = field(repr=False)

    @property
    def _fit(self) -> str:
        return fitted_with(self.rows[0].ridge, self.rows[0].n)

    def __getitem__(self, i: Any) -> Explanation:
        return self.rows[row_position(i, len(self), self.question.index)]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.rows)

    def to_frame(self) -> Any:
        """The coefficients as a DataFrame: X's index, a column a feature; nan where it was left out."""
        return super().to_frame().where(np.array([row.used for row in self.rows]))

    def as_list(self) -> list[list[tuple[str, float]]]:
        """A list for each row, without the features that were left out there."""
        return [row.as_list() for row in self.rows]


def explain_many(
    f: Any, X: Any, world: World, nu: float | None = None, n: int | None = None, seed: int = 0,
    kernel: Any = None, sampler: Any = "bins", ridge: float | None = None, *, lasso: float = 0.0,
    features: int | None = None, select: str = "auto", output: Any = None,
    scrambles: int | None = None, adjust: bool = False, tol: float | None = None,
    rtol: float | None = None, keep: bool = False, n_jobs: int | None = None, store: Any = None,
) -> Explanations:  # fmt: skip
    """:func:`explain` every row of a table, here or on other processes and machines.

    Parameters
    ----------
    f, world, nu, n, kernel, sampler, ridge, lasso, features, select, output, scrambles, adjust, tol, rtol
        As in :func:`explain`; samples are not kept.
    X
        A table of instances: an array or a DataFrame.
    seed
        Row i is explained with the seed ``np.random.SeedSequence([seed, i])``, and is bit-identical
        to ``explain`` with it, in whatever order and wherever the rows are done.
    n_jobs
        How many processes, by joblib: None for one (or what ``joblib.parallel_config`` says, as in
        ``parallel_config(backend="dask")`` for a cluster), -1 for one per core.
    store
        A folder in which each row is put as soon as it is done. The same call goes on where it was
        interrupted; one with other settings, another table, world, model, kernel or version of
        limetutor is refused. Rows may be added at the end of X. To tell models and kernels apart they are asked about some 500 more points.

    Returns
    -------
    Explanations
        Arrays of coefficients and the like; ``explanations[i]`` is the :class:`Explanation` of row i.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> found = explain_many(Linear([10, -10]), [[0.961, 0.432], [0, 1]], Gaussian(), nu=1.0)
    >>> found.coef.shape, found[1].n
    ((2, 2), 5000)
    """
    question = Problems.of(f, X, world, nu, kernel, output, None)
    if keep:
        raise ValueError("keep must be left out for many rows; explain a row of interest again.")
    seed = arg.whole("seed", seed, 0)
    n_jobs = arg.jobs(n_jobs)
    draws = sampler_of(sampler)
    n, ridge = rows_and_penalty(world, n, ridge, lasso)
    ridge, lasso = arg.not_negative("ridge", ridge), arg.not_negative("lasso", lasso)
    options = {
        "n": n, "sampler": draws, "ridge": ridge, "lasso": lasso, "features": features,
        "select": select, "scrambles": scrambles, "adjust": adjust, "tol": tol, "rtol": rtol,
    }  # fmt: skip
    folder = None
    if store is not None:
        settings = settings_of(question, options, seed)
        folder = Store.opened(
            store, settings, lambda first: evidence_of(question.rows(slice(first)), draws, seed)
        )
    done = {} if folder is None else folder.rows(len(question.table))
    todo = [i for i in range(len(question.table)) if i not in done]
    for i, parts in with_progress(_results(question, todo, options, seed, n_jobs), len(todo)):
        if folder is not None:
            folder.write(i, parts)
        done[i] = parts
    rows = tuple(_explanation(question, i, draws, done[i]) for i in range(len(question.table)))
    arrays = stacked(rows, [*ARRAYS, "score", "ess"])
    for text in arrays["warnings"]:
        warnings.warn(text, FitWarning, stacklevel=2)
    method = np.full(len(rows), "monte carlo", dtype=object)
    return Explanations(**arrays, method=method, question=question, rows=rows)


def _results(
    question: Problems, todo: list[int], options: dict[str, Any], seed: int, n_jobs: int | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The results of rows as they are computed, in any order."""
    size = min(max(len(todo) // TARGET_TASKS, 1), MAX_ROWS_PER_TASK)
    tasks = (todo[start : start + size] for start in range(0, len(todo), size))
    calls = (([question.problem(i) for i in task], task, options, seed) for task in tasks)
    for results in unordered(_run_task, calls, n_jobs):
        yield from results


def _run_task(
    problems: list[Problem], rows: list[int], options: dict[str, Any], seed: int
) -> list[tuple[int, dict[str, Any]]]:
    """The results of some rows, without the fields that repeat the question."""
    results = []
    for problem, i in zip(problems, rows, strict=True):
        try:
            ex = run(problem, seed=row_seed(seed, i), **options)
        except Exception as error:
            error.add_note(f"(This was row {i} of X, counted from 0.)")
            raise
        names = [part.name for part in fields(ex) if part.name not in QUESTION_FIELDS]
        results.append((i, {name: getattr(ex, name) for name in names}))
    return results


def _explanation(question: Problems, i: int, draws: Any, parts: dict[str, Any]) -> Explanation:
    """The explanation of row i from its results, computed now or read from a file."""
    problem, precision = question.problem(i), parts["precision"]
    if isinstance(precision, dict):  # from a file
        precision = Precision(**precision)
    return Explanation(
        **parts | {"precision": precision}, setting=problem, draws=draws, names=problem.boxes.names,
        output=problem.output, xi=problem.xi, kernel=problem.kernel.name, sampler=draws.name,
        nu=problem.nu,
    )  # fmt: skip


def explain_quietly(
    f: Any, xi: Any, world: World, nu: float | None = None, n: int | None = None, seed: Any = None,
    kernel: Any = None, sampler: Any = "bins", ridge: float | None = None, **options: Any,
) -> Explanation:  # fmt: skip
    """:func:`explain` for many runs: what it warns of stands in ``warnings`` only."""
    problem = Problem.of(f, xi, world, nu, kernel, options.pop("output", None))
    n, ridge = rows_and_penalty(world, n, ridge, options.get("lasso", 0.0))
    return run(problem, n, seed, sampler, ridge, **options)
