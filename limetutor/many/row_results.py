"""What the results of :func:`limetutor.limits` and :func:`limetutor.explain_many` have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..core.problem import without_model
from ..inputs import arguments as arg
from ..results.result import BaseResult, pairs
from .overview import Pick, importance, pick
from .problems import Problems


@dataclass(frozen=True, eq=False)
class RowResults(BaseResult):
    """Results of many rows: arrays with one entry, or one row of d entries, for each.

    Pickles leave the model and the training table out, as those of one row do.
    """

    problem_fields: ClassVar[tuple[str, ...]] = ("question", "rows")

    coef: np.ndarray
    intercept: np.ndarray
    prediction: np.ndarray
    local_prediction: np.ndarray
    stderr: np.ndarray
    method: np.ndarray
    warnings: tuple[str, ...]
    question: Problems = field(repr=False)
    _fit: ClassVar[Any]  # its penalty and rows, in words

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the model."""
        return self.__dict__ | {"question": without_model(self.question, "predictions")}

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the features."""
        return self.question.boxes.names

    def __len__(self) -> int:
        return len(self.coef)

    def as_list(self) -> list[list[tuple[str, float]]]:
        """A list for each row: pairs of box description and coefficient, largest first."""
        boxes = [self.question.problem(i).box_names for i in range(len(self))]
        return [pairs(*row) for row in zip(boxes, self.coef, self.order(), strict=True)]

    def to_frame(self) -> Any:
        """The coefficients as a DataFrame: X's index, a column a feature."""
        import pandas as pd

        return pd.DataFrame(self.coef, index=self.question.index, columns=list(self.names))

    def importance(self) -> Any:
        """How large the coefficients are on average, a row a feature: a DataFrame, the largest first.

        With the error for the choice of rows, the mean that noise alone would give, and the share of rows
        whose coefficient is above 0.
        """
        return importance(self.coef, self.stderr, self.names)

    def pick(self, k: int = 5, features: int = 10, seed: int = 0) -> Pick:
        """The k rows that `lime`'s ``SubmodularPick`` would show, and how often other runs pick them too.

        ``features`` of each are on display. ``pick.rows`` are positions.
        """
        k, features = arg.whole("k", k, 1), arg.whole("features", features, 1)
        boxes = self.question.boxes.discretize(self.question.table)
        return pick(self.coef, self.stderr, boxes, k, features, arg.seed("seed", seed))

    def __repr__(self) -> str:
        methods = ", ".join(str(method) for method in np.unique(self.method))
        return (
            f"{type(self).__name__} of {len(self)} rows, {len(self.names)} features, "
            f"nu = {self.question.nu:g}, {self.question.kernel.name} kernel{self._fit} ({methods})"
        )


def row_position(i: Any, rows: int, index: Any = None) -> int:
    """The position of the row that ``results[i]`` means, of so many.

    ``index`` is that of the DataFrame which the rows came from, None without one. Where its labels
    are not just 0, 1, 2, ..., i is one of them; otherwise, and where i is a whole number and no label
    is one, i counts rows from the front or from the back.
    """
    labelled = index is not None and list(index) != list(range(rows))
    if labelled and not (arg.is_integer(i) and not any(map(arg.is_integer, index))):
        found = [k for k, label in enumerate(index) if _equal(label, i)]
        if len(found) != 1:
            many = f"which {len(found)} rows have" if found else "which no row has"
            raise IndexError(
                f"a row must be given by its label in the index of X, got {arg.shorten(i)}, {many}; "
                "list(results) has the rows in order."
            )
        return found[0]
    if not arg.is_integer(i):
        raise TypeError(f"a row must be given by its position, got {arg.shorten(i)}.")
    if not -rows <= i < rows:
        raise IndexError(f"a row must lie between 0 and {rows - 1}, got {int(i)}.")
    return int(i) % rows


def _equal(label: Any, i: Any) -> bool:
    """Whether two labels are the same; True is not 1, and an array is no label."""
    same = isinstance(label, bool) == isinstance(i, bool) and label == i
    return isinstance(same, bool | np.bool_) and bool(same)


def stacked(results: Iterable[Any], names: Sequence[str]) -> dict[str, Any]:
    """These attributes of the results of single rows as arrays, and their warnings summed up."""
    values, notes = [], []
    for result in results:
        values.append([getattr(result, name) for name in names])
        notes.append(result.warnings)
    columns = zip(*values, strict=True)
    arrays = {name: np.array(column) for name, column in zip(names, columns, strict=True)}
    return arrays | {"warnings": _summed_up(notes)}


def _summed_up(notes: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Each note with the first row that has it, and how many rows do; some differ in numbers only."""
    rows: dict[str, list[tuple[int, str]]] = {}
    for i, texts in enumerate(notes):
        for text in texts:
            rows.setdefault(re.sub(r"\S*\d\S*", "", text), []).append((i, text))
    return tuple(
        f"Row {found[0][0]}: {found[0][1]} ({len(found)} of {len(notes)} rows have such a note.)"
        for found in rows.values()
    )


def row_seed(seed: int | None, i: int) -> np.random.SeedSequence | None:
    """The seed of row i, which does not depend on the order in which rows are computed."""
    return None if seed is None else np.random.SeedSequence([seed, i])
