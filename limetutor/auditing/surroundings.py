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
FEW_VALUES = 10  # a column of more whole numbers than these measures something


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
        """Neighbouring columns of 0 and 1 of which exactly one is 1 in every row of the data."""
        binary = np.all((self.table == 0) | (self.table == 1), axis=0)
        binary &= (self.table.min(axis=0) < self.table.max(axis=0)) & self.boxes.ordered
        groups, j = [], 0
        while j < len(binary):
            end = self._group_end(binary, j)
            if end:
                groups.append(np.arange(j, end))
            j = end or j + 1
        return groups

    def _group_end(self, binary: np.ndarray, start: int) -> int:
        """Where the group that begins at ``start`` ends, 0 without one."""
        total = np.zeros(len(self.table))
        for j in range(start, len(binary)):
            total = total + self.table[:, j]
            if not binary[j] or np.any(total > 1):
                return 0
            if np.all(total == 1):
                return j + 1
        return 0

    def impossible(self, x: np.ndarray) -> np.ndarray:
        """Whether each row of x has none or several of a one-hot group, (n,) of bool."""
        found = np.zeros(len(x), bool)
        for group in self.one_hot:
            found |= np.sum(x[:, group] > 0.5, axis=1) != 1
        return found


def whole_columns(boxes: Boxes, data: Surroundings | None) -> dict[int, np.ndarray]:
    """Columns taken for numbers that hold at most ten whole numbers, and these numbers.

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
        if whole and 1 < len(values) <= FEW_VALUES and not _holds_them(boxes, int(j), values):
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
    if least != np.rint(least) or most != np.rint(most) or most - least >= FEW_VALUES:
        return np.array([])
    return np.arange(least, most + 1)


def _holds_them(boxes: Boxes, j: int, values: np.ndarray) -> bool:
    """Whether new examples have these values and no others."""
    law = boxes.law
    there = law.prob[j] > 0
    return bool(np.all((law.sd[j][there] == 0) & np.isin(law.mean[j][there], values)))
