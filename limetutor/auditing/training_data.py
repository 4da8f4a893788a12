"""The training data beside the samples: how far these are from them, and which cannot exist.

LIME draws every feature by itself, so that many of its examples lie where no data are. How far is
too far is measured by the data themselves: by the distance of a row of the data from the nearest
other row. Chapter: interactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..core.boxes import Boxes

MAX_ROWS = 2000  # of the data: distances and fits change little with more
NEAR_ROWS = 30  # that count as near a row
NEAR_QUANTILE = 0.95  # of the distances from a row of the data to the nearest other one
MIN_EXPECTED = 10  # rows in which two columns would be 1 together by chance; if in none, they exclude each other
OTHER_DATA = 0.15  # of the rows in other boxes: other units, another order of columns
ROWS_PER_BATCH = 256  # whose distances are in memory together


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows of data, as numbers (n, d), with the boxes of a world.

    ``table`` has at most :data:`MAX_ROWS` of ``all_rows``: distances of samples are from these, everything
    else is about all.
    """

    table: np.ndarray
    boxes: Boxes
    all_rows: np.ndarray

    @classmethod
    def of(cls, data: Any, boxes: Boxes) -> TrainingData:
        """Read a caller's table."""
        try:
            table = boxes.encode_rows(data)
        except ValueError as error:
            raise ValueError(str(error).replace("X must", "data must", 1)) from None
        if len(table) < 2:
            raise ValueError("data must be a table with at least two rows, got one.")
        return cls.thinned(table, boxes)

    @classmethod
    def thinned(cls, table: np.ndarray, boxes: Boxes) -> TrainingData:
        """Take every k-th row of a long table."""
        return cls(table[:: -(-len(table) // MAX_ROWS)], boxes, table)

    def unlike(self, centre: np.ndarray | None) -> str:
        """Why these cannot be the data that the boxes, or the scales, were made from; empty if they may.

        The share of a column's rows that lie in other boxes, or how far its mean is from theirs in
        deviations, beyond what chance does to so many rows. ``centre`` has their means, None with boxes.
        """
        table, law, rows = self.all_rows, self.boxes.law, len(self.all_rows)
        if centre is None:
            apart = self.elsewhere
            slack = np.sqrt(np.sum(law.prob > 0, axis=1) / rows)
            words = "{:.0%} of its values are in other boxes than those of the training data"
        else:
            numbers = np.where(self.boxes.ordered, table, centre)
            apart = np.abs(numbers.mean(axis=0) - centre) / self.boxes.unit
            slack = 3 / np.sqrt(np.full(len(apart), rows))
            words = "its mean is {:.2g} deviations from that of the training data"
        j = int(np.argmax(apart - slack))
        if apart[j] <= OTHER_DATA + slack[j]:
            return ""
        return (
            f"The data passed are not those that the explanation was made from: of {self.boxes.names[j]}, "
            f"{words.format(apart[j])}. Are the columns in the same order and units?"
        )

    @cached_property
    def elsewhere(self) -> np.ndarray:
        """The share of each column that lies in other boxes than the law of the boxes says, (d,)."""
        box, prob = self.boxes.discretize(self.all_rows), self.boxes.law.prob
        share = np.array([np.bincount(b, minlength=prob.shape[1]) for b in box.T]) / len(box)
        return np.asarray(np.abs(share - prob).sum(axis=1) / 2)

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
        return float(np.quantile(self._nearest(self.points, itself=True), NEAR_QUANTILE))

    def far(self, x: np.ndarray) -> np.ndarray:
        """Whether each row of x is farther from the data than 95% of the data from each other."""
        return self._nearest(self.embedded(x)) > self.near

    def nearest(self, xi: np.ndarray) -> np.ndarray:
        """The rows of the data nearest to xi, (:data:`NEAR_ROWS`, d)."""
        distance = np.linalg.norm(self._all_points - self.embedded(xi[None]), axis=1)
        return self.all_rows[np.argsort(distance, kind="stable")[:NEAR_ROWS]]

    @cached_property
    def _all_points(self) -> np.ndarray:
        return self.points if self.all_rows is self.table else self.embedded(self.all_rows)

    def _nearest(self, points: np.ndarray, itself: bool = False) -> np.ndarray:
        """Distances from points to the nearest row of the data, but for the point ``itself``."""
        nearest = []
        for start in range(0, len(points), ROWS_PER_BATCH):
            batch = points[start : start + ROWS_PER_BATCH]
            distance = scipy.spatial.distance.cdist(batch, self.points)
            if itself:
                rows = np.arange(len(batch))
                distance[rows, start + rows] = np.inf
            nearest.append(distance.min(axis=1))
        return np.concatenate(nearest)

    @cached_property
    def one_hot(self) -> list[np.ndarray]:
        """Columns of 0 and 1 of which exactly one is 1 in every row of the data, by groups."""
        return self._dummies[0]

    @cached_property
    def exclusive(self) -> list[np.ndarray]:
        """Columns of 0 and 1 of which at most one is 1, as where one category has no column.

        By chance each two of them would be 1 together in at least :data:`MIN_EXPECTED` rows.
        """
        return self._dummies[1]

    @cached_property
    def _dummies(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Both kinds of group, in any order of the columns; neighbouring columns first."""
        # codes with names of their own are no dummies: a sex is no yes and no
        kinds = self.boxes.kinds.items()
        named = [j for j, kind in kinds if getattr(kind, "labels", None) is not None]
        table = self.all_rows
        binary = np.all((table == 0) | (table == 1), axis=0)
        binary &= table.min(axis=0) < table.max(axis=0)
        binary &= ~np.isin(np.arange(self.boxes.d), [*self.boxes.decoded(self.table[:1]), *named])
        ones = table * binary
        apart, left = ones.T @ ones == 0, binary.copy()
        often = np.outer(ones.sum(axis=0), ones.mean(axis=0)) >= MIN_EXPECTED
        one_hot, exclusive = [], []
        for start in map(int, np.flatnonzero(binary)):
            if left[start]:
                group = self._one_hot_group(start, apart, left)
                left[group] = False
                one_hot += [group] if len(group) else []
        for start in map(int, np.flatnonzero(left)):
            columns = [start] if left[start] else []
            for j in map(int, np.flatnonzero(left[start + 1 :]) + start + 1):
                if columns and np.all(apart[j, columns] & often[j, columns]):
                    columns.append(j)
            if len(columns) > 1:
                left[columns] = False
                exclusive.append(np.array(columns))
        return one_hot, exclusive

    def _one_hot_group(self, start: int, apart: np.ndarray, left: np.ndarray) -> np.ndarray:
        """The columns from ``start`` on that have exactly one 1 in every row; empty without any."""
        group, covered = [start], self.all_rows[:, start].copy()
        while not np.all(covered == 1):
            fits = np.flatnonzero(left & np.all(apart[group], axis=0))
            if not fits.size:
                return np.array([], int)
            neighbours = fits[fits == group[-1] + 1]
            count = self.all_rows[:, fits].sum(axis=0)
            j = int(neighbours[0]) if neighbours.size else int(fits[np.argmax(count)])
            group.append(j)
            covered += self.all_rows[:, j]
        return np.sort(group)

    def impossible(self, x: np.ndarray) -> np.ndarray:
        """Whether each row of x has none or several of a one-hot group, (n,) of bool."""
        impossible = np.zeros(len(x), bool)
        for group in self.one_hot:
            impossible |= np.sum(x[:, group] > 0.5, axis=1) != 1
        for group in self.exclusive:
            impossible |= np.sum(x[:, group] > 0.5, axis=1) > 1
        return impossible
