"""The limits of many rows at once: :func:`limetutor.limits`.

What the rows of a table share is computed once: their encoding, the call of the model, its form, and
for trees the thresholds and leaves (:mod:`limetutor.exact.trees`). Where nothing can be shared, rows
are computed one by one, each with a seed of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.boxes import World
from ..core.theory import DEFAULT_SAMPLES, limit_of
from ..inputs import arguments as arg
from ..inputs.warning_classes import FitWarning
from ..inputs.worlds import penalty_and_rows
from ..precision.diagnostics import MIN_OTHER_WEIGHT, constant_note
from ..results.limit import Limit
from ..results.result import fitted_with
from .pools import with_progress
from .problems import Problems, surrogate_blocks
from .row_results import RowResults, row_position, row_seed, stacked

ARRAYS = ("coef", "intercept", "prediction", "local_prediction", "stderr")


@dataclass(frozen=True, eq=False, repr=False)
class Limits(RowResults):
    """The limits of many rows: ``limits[i]`` is the :class:`Limit` of row i (by label, if X has some).

    ``coef`` and ``stderr`` (rows, d); ``intercept``, ``prediction``, ``local_prediction`` and
    ``method`` (rows,), the last one "exact", "quadrature" or "monte carlo".

    Examples
    --------
    >>> import limetutor as lt
    >>> many = lt.limits(lt.Linear([1, 2]), [[0, 1], [1, 0]], lt.Gaussian(), nu=1.0)
    >>> many.method.tolist(), many[1].method
    (['exact', 'exact'], 'exact')
    """

    ridge: float
    n: int | None
    samples: int
    seed: int | None

    @property
    def _fit(self) -> str:
        return fitted_with(self.ridge, self.n)

    def __getitem__(self, i: Any) -> Limit:
        return self._row(row_position(i, len(self), self.question.index))

    def _row(self, i: int) -> Limit:
        return _limit(self.question, i, self.ridge, self.n, self.samples, self.seed)

    def __iter__(self) -> Iterator[Limit]:
        return (self._row(i) for i in range(len(self)))


def limits(
    f: Any, X: Any, world: World, nu: float | None = None, kernel: Any = None, *,
    ridge: float | None = None, n: float | None = None, output: Any = None,
    samples: int = DEFAULT_SAMPLES, seed: int | None = 0,
) -> Limits:  # fmt: skip
    """:func:`limit` of every row of a table, the work that rows share done once.

    Linear and quadratic models, kernel machines and trees are computed for all rows together; other
    forms, and models that have to be sampled, row by row.

    Parameters
    ----------
    X
        A table of instances: an array or a DataFrame.
    f, world, nu, kernel, ridge, n, output, samples
        As in :func:`limit`.
    seed
        Row i is sampled with the seed ``np.random.SeedSequence([seed, i])``.

    Returns
    -------
    Limits
        Arrays of coefficients and the like; ``limits[i]`` is the :class:`Limit` of row i.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> limits(Linear([10, -10]), [[0.961, 0.432], [0, 1]], Gaussian(), nu=1.0).coef.round(2)
    array([[ 11.4 ,  -1.76],
           [  4.66, -11.38]])
    """
    question = Problems.of(f, X, world, nu, kernel, output, "its limit")
    ridge, n = penalty_and_rows(ridge, n, world)
    samples = arg.whole("samples", samples, min(question.boxes.d + 2, DEFAULT_SAMPLES))
    seed = None if seed is None else arg.whole("seed", seed, 0)
    results = _together(question, ridge, n)
    if results is None:
        results = _one_by_one(question, ridge, n, samples, seed)
    for text in results["warnings"]:
        warnings.warn(text, FitWarning, stacklevel=2)
    return Limits(**results, question=question, ridge=ridge, n=n, samples=samples, seed=seed)


def _limit(
    question: Problems, i: int, ridge: float, n: int | None, samples: int, seed: int | None
) -> Limit:
    prediction = float(question.predictions[i])
    problem = question.problem(i, prediction=prediction, form=question.form)
    return limit_of(problem, ridge, n, samples, row_seed(seed, i))


def _together(question: Problems, ridge: float, n: int | None) -> dict[str, Any] | None:
    """All rows at once, or None where f has no form whose rows share work."""
    parts, light, constant = [], 0, np.zeros(question.boxes.d, bool)
    for block in surrogate_blocks(question):
        if block is None:
            return None
        fit, correction = block.fitted(ridge, n, question.world.own_row)
        parts.append((fit.coef, fit.intercept, block.prediction + fit.local_error))
        light += int(np.sum(correction.weight < MIN_OTHER_WEIGHT)) if correction.own_row else 0
        constant |= np.any(block.law.constant, axis=0)
    coef, intercept, local = (np.concatenate(part) for part in zip(*parts, strict=True))
    notes = constant_note(constant, question.boxes)
    if light:
        notes.insert(
            0,
            f"xi's own row decides in {light} of {len(coef)} rows of X: it has weight 1, and all others "
            f"of the n rows together are expected to have less than {MIN_OTHER_WEIGHT:g}; runs with another seed "
            "differ widely, and these numbers are not a limit. Raise nu.",
        )
    return {
        "coef": coef,
        "intercept": intercept,
        "prediction": question.predictions,
        "local_prediction": local,
        "stderr": np.zeros_like(coef),
        "method": np.full(len(coef), "exact", dtype=object),
        "warnings": tuple(notes),
    }


def _one_by_one(question: Problems, *options: Any) -> dict[str, Any]:
    """Row by row, by a closed form, a series or samples."""
    count = len(question.table)
    single = (_limit(question, i, *options) for i in with_progress(range(count), count))
    results = stacked(single, [*ARRAYS, "method"])
    return results | {"method": results["method"].astype(object)}
