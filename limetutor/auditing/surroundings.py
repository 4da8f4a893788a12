"""The data that new examples stand in for: how near they are, and what cannot occur in them.

LIME draws every feature by itself, so that many of its examples lie where no data are. How far is
too far is measured by the data themselves: by the distance that a row of the data keeps from the
nearest other row. Chapter: interactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..worlds import Boxes

ROWS = 2000  # of the data that are looked at: distances and fits change little with more
LONELY = 0.95  # share of the data that is nearer to its nearest other row than "far away" says
MEETINGS = 10  # rows: two columns that would be 1 together there by chance, and never are, exclude each other
FEW_VALUES = 10  # a column of more whole numbers than these may well measure something ...
MOST_VALUES = 100  # ... and one of more than these surely does


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Rows of data, as numbers (n, d), in the boxes of a world."""

    table: np.ndarray
    boxes: Boxes

    @classmethod
    def of(cls, data: Any, boxes: Boxes) -> Surroundings:
        """Read a caller's table; of a long one, rows at even distances."""
        try:
            table = boxes.encode_rows(data)
        except ValueError as error:
            raise ValueError(str(error).replace("X must", "data must", 1)) from None
        if len(table) < 2:
            raise ValueError("data must be a table with at least two rows, got one.")
        step = -(-len(table) // ROWS)
        return cls(table[::step], boxes)

    def embedded(self, x: np.ndarray) -> np.ndarray:
        """Rows x (n, d) as points: numbers in deviations, labels that differ at distance 1.

        Numbers that may be missing count by their boxes, as labels do.
        """
        numbers = self.boxes.ordered & (self.table.std(axis=0) > 0)
        parts = [x[:, numbers] / self.table[:, numbers].std(axis=0)]
        box, count = self.boxes.discretize(x), self.boxes.count
        labels = np.flatnonzero(~self.boxes.ordered)
        parts += [(box[:, [j]] == np.arange(count[j])) / np.sqrt(2) for j in labels]
        return np.concatenate(parts, axis=1)

    @cached_property
    def points(self) -> np.ndarray:
        """The data as points."""
        return self.embedded(self.table)

    @cached_property
    def near(self) -> float:
        """The distance within which 95% of the data have another row of the data."""
        found = []
        for start in range(0, len(self.points), 256):
            between = scipy.spatial.distance.cdist(self.points[start : start + 256], self.points)
            rows = np.arange(len(between))
            between[rows, start + rows] = np.inf
            found.append(between.min(axis=1))
        return float(np.quantile(np.concatenate(found), LONELY))

    def far(self, x: np.ndarray) -> np.ndarray:
        """Whether each row of x is farther from the data than 95% of the data from each other."""
        found = []
        points = self.embedded(x)
        for start in range(0, len(points), 256):
            between = scipy.spatial.distance.cdist(points[start : start + 256], self.points)
            found.append(between.min(axis=1))
        return np.concatenate(found) > self.near

    @cached_property
    def one_hot(self) -> list[np.ndarray]:
        """Columns of 0 and 1 of which exactly one is 1 in every row of the data, by groups."""
        return self._dummies[0]

    @cached_property
    def exclusive(self) -> list[np.ndarray]:
        """Columns of 0 and 1 of which at most one is 1, as where one category has no column.

        By chance each two of them would be 1 together in at least :data:`MEETINGS` rows.
        """
        return self._dummies[1]

    @cached_property
    def _dummies(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Both, wherever the columns stand; neighbours first."""
        binary = np.all((self.table == 0) | (self.table == 1), axis=0)
        binary &= self.table.min(axis=0) < self.table.max(axis=0)
        binary &= ~np.isin(
            np.arange(self.boxes.d), [*self.boxes.decoded(self.table[:1]), *self._named]
        )
        ones = self.table * binary
        apart, left = ones.T @ ones == 0, binary.copy()
        often = np.outer(ones.sum(axis=0), ones.mean(axis=0)) >= MEETINGS
        whole, some = [], []
        for start in map(int, np.flatnonzero(binary)):
            if left[start]:
                group = self._whole_group(start, apart, left)
                left[group] = False
                whole += [group] if len(group) else []
        for start in map(int, np.flatnonzero(left)):
            both = [start] if left[start] else []
            for j in map(int, np.flatnonzero(left[start + 1 :]) + start + 1):
                if both and np.all(apart[j, both] & often[j, both]):
                    both.append(j)
            if len(both) > 1:
                left[both] = False
                some.append(np.array(both))
        return whole, some

    @property
    def _named(self) -> list[int]:
        """Columns of codes that have names of their own: a sex is no yes and no."""
        return [
            j for j, kind in self.boxes.kinds.items() if getattr(kind, "labels", None) is not None
        ]

    def _whole_group(self, start: int, apart: np.ndarray, left: np.ndarray) -> np.ndarray:
        """The columns from ``start`` on that have exactly one 1 in every row; empty without any."""
        group, covered = [start], self.table[:, start].copy()
        while not np.all(covered == 1):
            fits = np.flatnonzero(left & np.all(apart[group], axis=0))
            if not fits.size:
                return np.array([], int)
            neighbours = fits[fits == group[-1] + 1]
            count = self.table[:, fits].sum(axis=0)
            j = int(neighbours[0]) if neighbours.size else int(fits[np.argmax(count)])
            group.append(j)
            covered += self.table[:, j]
        return np.sort(group)

    def impossible(self, x: np.ndarray) -> np.ndarray:
        """Whether each row of x has none or several of a one-hot group, (n,) of bool."""
        found = np.zeros(len(x), bool)
        for group in self.one_hot:
            found |= np.sum(x[:, group] > 0.5, axis=1) != 1
        for group in self.exclusive:
            found |= np.sum(x[:, group] > 0.5, axis=1) > 1
        return found


def whole_columns(boxes: Boxes, data: Surroundings | None) -> dict[int, np.ndarray]:
    """Columns taken for numbers that hold at most a hundred whole numbers, and these numbers.

    From the data where they are known. A world alone tells its edges: smallest and largest value and
    all quantiles between are then whole (or halfway), which those of a measured quantity are not.
    """
    found = {}
    for j in np.flatnonzero(boxes.ordered):
        if data is None:
            values = _whole_range(boxes, int(j))
        else:
            values = np.unique(data.table[:, j])
        whole = values.size and np.all(values == np.rint(values))
        if whole and 1 < len(values) <= MOST_VALUES and not _holds_them(boxes, int(j), values):
            found[int(j)] = values
    return found


def _whole_range(boxes: Boxes, j: int) -> np.ndarray:
    """All whole numbers from the smallest to the largest value, none where an edge is not whole."""
    law = boxes.law
    there = law.prob[j] > 0
    point = law.sd[j] == 0
    low = np.where(point, law.mean[j], law.lo[j])[there]
    high = np.where(point, law.mean[j], law.hi[j])[there]
    ends = np.concatenate([low, high, boxes.edges[j]])
    if not np.all(np.isfinite(ends)) or np.any(4 * ends != np.rint(4 * ends)):
        return np.array([])
    least, most = low.min(), high.max()
    if least != np.rint(least) or most != np.rint(most) or most - least >= MOST_VALUES:
        return np.array([])
    return np.arange(least, most + 1)


def _holds_them(boxes: Boxes, j: int, values: np.ndarray) -> bool:
    """Whether new examples have these values and no others."""
    law = boxes.law
    there = law.prob[j] > 0
    return bool(np.all((law.sd[j][there] == 0) & np.isin(law.mean[j][there], values)))
