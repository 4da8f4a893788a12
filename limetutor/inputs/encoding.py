"""Callers' rows to numbers, and numbers back to the rows that a model gets."""

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from . import arguments as arg
from .columns import NUMBER, ColumnKind
from .tables import rows_of


class Encoding:
    """What columns of several kinds have in common; :class:`limetutor.core.boxes.Boxes` is one.

    ``names`` are those of the columns, ``kinds`` holds the kind of every column that is not a plain
    number, ``codes(j)`` are the numbers that stand for the labels of column j.
    """

    names: tuple[str, ...]
    kinds: Mapping[int, ColumnKind]

    def codes(self, j: int) -> np.ndarray:
        """The numbers that stand for the labels of column j."""
        raise NotImplementedError

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.names)

    @cached_property
    def ordered(self) -> np.ndarray:
        """Whether differences of a column's values mean something, (d,) of bool."""
        result = np.ones(self.d, bool)
        for j, kind in self.kinds.items():
            result[j] = kind.ordered
        return result

    def kind(self, j: int) -> ColumnKind:
        """What the values of column j are."""
        return self.kinds.get(j, NUMBER)

    def encode(self, xi: Any) -> np.ndarray:
        """One instance as numbers (d,): by name where it has names, labels as their codes."""
        return self._numbers("xi", rows_of("xi", xi, self.names, one=True))[0]

    def encode_rows(self, X: Any) -> np.ndarray:
        """A table of instances as numbers (n, d), read like :meth:`encode`."""
        return self._numbers("X", rows_of("X", X, self.names, one=False))

    def _numbers(self, name: str, rows: np.ndarray) -> np.ndarray:
        if rows.shape[1] == 0:
            raise ValueError(f"{name} must have at least one entry, got none.")
        if rows.shape[1] != self.d:
            raise ValueError(
                f"{name} must have {self.d} entries, one per feature of the world, "
                f"got {rows.shape[1]}."
            )
        plain = np.ones(self.d, bool)
        plain[list(self.kinds)] = False
        result = np.empty(rows.shape)
        result[:, plain] = arg.within(name, arg.numbers(name, rows[:, plain]))
        for j, kind in self.kinds.items():
            encoded: dict[Any, float] = {}
            for i, value in enumerate(rows[:, j]):
                key = _hashable(value, i)
                if key not in encoded:
                    encoded[key] = kind.encode(self.names[j], value, self.codes(j))
                result[i, j] = encoded[key]
        return result

    def fed(self, x: np.ndarray) -> np.ndarray:
        """Rows (n, d) as models get them: a copy, with nan where a value is missing."""
        rows = x.copy()
        for j, kind in self.kinds.items():
            if kind.holds_codes and not np.all(np.isin(x[:, j], self.codes(j))):
                other = x[~np.isin(x[:, j], self.codes(j)), j][0]
                raise ValueError(
                    f"sampler must draw the codes of labels, {arg.shorten(self.codes(j))} for "
                    f"{self.names[j]!r}, got {other:g}; take them from problem.boxes.law."
                )
            rows[:, j] = kind.fed(x[:, j])
        return rows

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value may be missing."""
        return any(kind.has_gaps for kind in self.kinds.values())

    def decoded(self, x: np.ndarray) -> dict[int, np.ndarray]:
        """The columns of x (n, d) whose numbers stand for something else, such as text."""
        columns = {j: kind.decode(x[:, j]) for j, kind in self.kinds.items()}
        return {j: column for j, column in columns.items() if column is not None}

    @cached_property
    def has_text(self) -> bool:
        """Whether models get something other than numbers."""
        return bool(self.decoded(np.zeros((1, self.d))))


def _hashable(value: Any, row: int) -> Hashable:
    """A value as a key of a dict; lists and sets have none but their row."""
    try:
        hash(value)
    except TypeError:
        return (row,)
    return value  # type: ignore[no-any-return]
