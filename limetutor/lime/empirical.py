"""Worlds read off a training set, as `lime` does it. Chapter: discretization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.boxes import Boxes, BoxWorld, World
from ..core.truncated import BoxLaw
from ..inputs import arguments as arg
from ..inputs.columns import MISSING, NUMBER, ColumnKind
from ..inputs.tables import by_position, read_table
from ..inputs.worlds import agreed_dimension, box_counts, mean_and_deviation, short


class Column(NamedTuple):
    """One feature: its inner edges, then frequency, normal and ends of each of its boxes."""

    edges: np.ndarray
    prob: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    lo: np.ndarray
    hi: np.ndarray

    def or_missing(self, share: float) -> Column:
        """The same with a box for the missing values, beyond all numbers."""
        box = Column(arg.LARGEST, share, MISSING, 0.0, MISSING, MISSING)  # type: ignore[arg-type]
        column = self._replace(prob=self.prob * (1 - share))
        return Column(*(np.append(part, value) for part, value in zip(column, box, strict=True)))


# what stands in for the boxes that a feature does not have
PADDING = Column(np.inf, 0.0, 0.0, 1.0, -1.0, 1.0)  # type: ignore[arg-type]


def stack(
    columns: Sequence[Column], names: tuple[str, ...], *, left_closed: bool = False,
    moments: tuple[np.ndarray, np.ndarray] | None = None, kinds: Mapping[int, ColumnKind] | None = None,
) -> Boxes:  # fmt: skip
    """The boxes of some columns, each padded to the number of boxes of the longest.

    ``moments`` are mean and deviation of each feature, those of the law where none are given.
    """
    width = max(len(column.prob) for column in columns)
    padded = []
    for k, filler in enumerate(PADDING):
        size = width - (k == 0)  # there is one inner edge fewer than boxes
        parts = [column[k] for column in columns]
        padded.append([[*part, *[filler] * (size - len(part))] for part in parts])
    inner, prob, *rest = (np.array(part, float).reshape(len(columns), -1) for part in padded)
    with np.errstate(divide="ignore"):
        law = BoxLaw(np.log(prob), *rest)
    mu, sigma = law.mean_and_deviation() if moments is None else moments
    return Boxes(law, inner, left_closed, names, mu, sigma, kinds or {})


@dataclass(frozen=True, eq=False)
class Empirical(World):
    """Boxes read off a training set, as `lime` does it.

    A box is drawn with its training frequency; inside it values follow a normal with the box's own
    mean and deviation, truncated to the box, the outer ones ending at the training minimum and
    maximum. A box whose training values are all the same holds that point. A constant column has one
    box, and LIME nothing to compare it with. Where values are missing (nan, None), *is missing* is a
    box of its own and models get nan.

    Parameters
    ----------
    X
        The training table, an array or a DataFrame.
    p
        Number of boxes between empirical quantiles (equal quantiles are merged), or one per column.
    edges
        Inner edges of some columns instead, by name or position.
    categorical
        Columns, by name or position, with one box per value; text is allowed there.
    kinds
        What other columns are (:mod:`limetutor.inputs.columns`); pandas' dtype "category" says it.

    Examples
    --------
    >>> Empirical([[1, 0], [2, 1], [3, 0], [4, 1]], p=2, categorical=[1]).boxes().describe(0, 1)
    'x1 > 2.5'
    """

    X: Any = field(repr=False)
    p: Any = 4
    edges: dict[Any, ArrayLike] | None = None
    categorical: Any = ()
    kinds: Mapping[Any, ColumnKind] | None = None

    def __post_init__(self) -> None:
        table = read_table(self.X, self.categorical, self.kinds, mixed=True)
        rows, d = table.values.shape
        p = box_counts(self.p)
        if p.ndim > 1 or (p.ndim == 1 and p.size != d):
            raise ValueError(f"p must be one number or one per column ({d}), got shape {p.shape}.")
        p = np.broadcast_to(p, (d,)).copy()
        if rows < p.max():
            raise ValueError(
                f"X must have at least as many rows as boxes ({p.max()}), got {rows} row(s)."
            )
        keep = {"table": table.values, "names": table.names, "p": p, "_kinds": table.kinds}
        keep["_given_edges"] = inner_edges(self.edges, table.labels)
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.table.shape[1]  # type: ignore[attr-defined]

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of the training set's features."""
        agreed_dimension(d, self.d)
        return self._boxes

    @cached_property
    def _boxes(self) -> Boxes:
        table, kinds = self.table, self._kinds  # type: ignore[attr-defined]
        columns = [self._column(values, kinds[j], j) for j, values in enumerate(table.T)]
        special = {j: kind for j, kind in enumerate(kinds) if kind is not NUMBER}
        present = [mean_and_deviation(values[values < MISSING, None]) for values in table.T]
        mu, sigma = (np.concatenate(part) for part in zip(*present, strict=True))
        return stack(columns, self.names, moments=(mu, sigma), kinds=special)  # type: ignore[attr-defined]

    def _column(self, values: np.ndarray, kind: ColumnKind, j: int) -> Column:
        """Edges of a column, then frequency, mean, deviation and ends of each box."""
        edges = self._given_edges.get(j)  # type: ignore[attr-defined]
        edges = kind.cut(values, self.p[j]) if edges is None else edges
        missing = values == MISSING
        column = Column(edges, *box_statistics(values[~missing], edges))
        return column.or_missing(float(np.mean(missing))) if kind.has_gaps else column

    def without_table(self, boxes: Boxes) -> World:
        """Its boxes alone."""
        return BoxWorld(boxes)

    def __repr__(self) -> str:
        return f"Empirical({len(self.table)} rows, {self.d} features, p={short(self.p)})"  # type: ignore[attr-defined]


def inner_edges(edges: Any, labels: Sequence[Any]) -> dict[int, np.ndarray]:
    """A caller's inner edges of some columns, by position."""
    checked = {}
    if not isinstance(edges, dict | None):
        raise ValueError(
            f"edges must be a dict from column to its inner edges, got {arg.shorten(edges)}."
        )
    for column, values in (edges or {}).items():
        inner = arg.within(f"edges[{column!r}]", arg.vector(f"edges[{column!r}]", values))
        if np.any(np.diff(inner) <= 0):
            raise ValueError(f"edges[{column!r}] must increase, got {arg.shorten(inner)}.")
        checked[column] = inner
    return by_position("edges", checked, labels)


def box_statistics(values: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, ...]:
    """Frequency, mean, deviation, lower and upper end of the boxes that edges cut values into."""
    box = np.searchsorted(edges, values, side="left")  # a value on an edge is in the lower box
    ends = np.concatenate([[np.min([values.min(), *edges[:1]])], edges])
    tops = np.concatenate([edges, [np.max([values.max(), *edges[-1:]])]])
    size = len(edges) + 1
    count = np.bincount(box, minlength=size)
    share = np.maximum(count, 1)
    mean = np.bincount(box, values, size) / share
    sd = np.sqrt(np.bincount(box, (values - mean[box]) ** 2, size) / share)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, box, values)
    np.maximum.at(high, box, values)
    empty = count == 0
    low[empty] = high[empty] = edges[np.maximum(np.flatnonzero(empty) - 1, 0)]
    point = low == high
    mean, sd = np.where(point, low, mean), np.where(point, 0.0, sd)
    return count / len(values), mean, sd, ends, tops
