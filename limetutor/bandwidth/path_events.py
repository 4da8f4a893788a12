"""What happens along a curve: where coefficients are zero, and where signs or order change.

A :class:`Section` is a curve between two bandwidths; :mod:`limetutor.bandwidth.recommend` chooses a
bandwidth in it. Chapter: trust.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .curves import Curve, Points
from .roots import Function, bisect, zeros_of

ROUNDING = 1e-13  # coefficients below this share of f are rounding and have no sign
CLEAR = 3.0  # standard errors from which on a sampled coefficient has a sign
TOP = 3  # features whose signs and order a reader goes by
OUTSIDE = 1.5  # factor by which a section is extended beyond its ends ...
OUTSIDE_PLACES = 11  # ... and at how many bandwidths it is evaluated there
MIN_RATIO = 1 + 1e-9  # of neighbouring bandwidths of a grid


def signs(points: Points, prediction: float) -> np.ndarray:
    """Signs of coefficients; 0 where one is rounding, or within its own noise."""
    scale = np.maximum(np.abs(points.error + prediction), abs(prediction))
    scale = np.maximum(scale, np.max(np.abs(points.coef), axis=1))
    least = np.maximum(ROUNDING * scale[:, None], CLEAR * points.stderr)
    return np.where(np.abs(points.coef) > least, np.sign(points.coef), 0.0)


def leaders(points: Points, prediction: float) -> np.ndarray:
    """The features of the three largest coefficients in order, with their signs, (m, 3).

    A feature j is j + 1 with its sign; 0 stands where there is none. Ties are in the order of features.
    """
    exact = points._replace(stderr=np.zeros_like(points.stderr))
    coef = points.coef * (signs(exact, prediction) != 0)
    largest = np.max(np.abs(coef), axis=1, keepdims=True)
    size = np.round(np.abs(coef) / np.where(largest > 0, largest, 1.0), 9)
    first = np.argsort(-size, axis=1, kind="stable")[:, :TOP]
    return (first + 1) * np.take_along_axis(np.sign(coef), first, axis=1)


def changes(rows: np.ndarray) -> np.ndarray:
    """Positions of the rows after which another one follows."""
    return np.flatnonzero(np.any(rows[1:] != rows[:-1], axis=1))


class Dips(NamedTuple):
    """Where a coefficient, or the difference of two, has a minimum above zero among the places of a grid.

    Values are ``sign[0] coef[first] - sign[1] coef[second]``; without a second one its sign is 0.
    """

    place: np.ndarray  # position in the grid
    first: np.ndarray
    second: np.ndarray
    sign: np.ndarray  # (2, dips)

    @classmethod
    def of(cls, coef: np.ndarray) -> Dips:
        """The minima of coefficients and of neighbours in the order of sizes that may hide a zero.

        There the slopes on both sides would lead beyond it.
        """
        sign, rows = np.where(coef < 0, -1.0, 1.0), np.arange(len(coef))[:, None]
        order = np.argsort(-np.abs(coef), axis=1, kind="stable")[:, : TOP + 1]
        every = np.broadcast_to(np.arange(coef.shape[1]), coef.shape)
        first = np.hstack([every, order[:, :-1]])
        second = np.hstack([every, order[:, 1:]])
        signs = np.stack([sign[rows, first], np.where(first == second, 0.0, sign[rows, second])])
        before, middle, after = (
            signs[0] * coef[near, first] - signs[1] * coef[near, second]
            for near in (np.maximum(rows - 1, 0), rows, np.minimum(rows + 1, len(coef) - 1))
        )
        low = (middle > 0) & (middle < before) & (middle < after)
        i, k = np.nonzero(low & (middle < 2 * (before + after - 2 * middle)))
        return cls(i, first[i, k], second[i, k], signs[:, i, k])

    def beyond(self, curve: Function, grid: np.ndarray) -> np.ndarray:
        """Places at which the values are below zero: the minima, in log nu."""
        from scipy.optimize import elementwise  # half the import time of the package

        if not len(self.place):
            return np.array([])

        def values(x: np.ndarray, which: np.ndarray) -> np.ndarray:
            coef, row, sign = curve(np.exp(x)), np.arange(len(x)), self.sign[:, which]
            first, second = coef[row, self.first[which]], coef[row, self.second[which]]
            return sign[0] * first - sign[1] * second

        around = tuple(np.log(grid[self.place + step]) for step in (-1, 0, 1))
        which = (np.arange(len(self.place)),)
        lowest = elementwise.find_minimum(values, around, args=which)
        return np.exp(lowest.x[lowest.f_x < 0])


@dataclass(frozen=True, eq=False)
class Section:
    """A curve between two bandwidths: its points on a grid, and what happens between them."""

    curve: Curve
    grid: np.ndarray
    points: Points

    @classmethod
    def of(cls, curve: Curve, nus: np.ndarray) -> Section:
        """A grid of these bandwidths and many between them, more where a zero may hide."""
        grid = nus
        if nus[0] < nus[-1]:
            between = np.geomspace(nus[0], nus[-1], curve.grid_size)[1:-1]
            near = np.searchsorted(grid, between).clip(1, len(grid) - 1)
            apart = np.minimum(between / grid[near - 1], grid[near] / between) > MIN_RATIO
            grid = np.union1d(grid, between[apart])
        points = curve.at(grid)
        hidden = np.array([])
        if curve.method in ("exact", "quadrature"):
            hidden = Dips.of(points.coef).beyond(lambda at: curve.at(at).coef, grid)
        new = np.setdiff1d(hidden, grid)
        if not len(new):
            return cls(curve, grid, points)
        both = np.concatenate([grid, new])
        order = np.argsort(both)
        pairs = zip(points, curve.at(new), strict=True)
        points = Points(*(np.concatenate(pair)[order] for pair in pairs))
        return cls(curve, both[order], points)

    @cached_property
    def leaders(self) -> np.ndarray:
        """:func:`leaders` on the grid, (m, 3)."""
        return leaders(self.points, self.curve.problem.prediction)

    @cached_property
    def zeros(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Where each coefficient changes its sign, and the standard errors of these bandwidths."""
        coef, sign = self.points.coef, signs(self.points, self.curve.problem.prediction)
        places, j, i, k = zeros_of(lambda at: self.curve.at(at).coef, self.grid, coef, sign)
        stderr = np.array([])
        if len(places):
            slope = np.abs(coef[k, j] - coef[i, j]) / (self.grid[k] - self.grid[i])
            noise = self.curve.at(places).stderr[np.arange(len(j)), j]
            stderr = noise / np.where(slope > 0, slope, 1.0)
        features = range(coef.shape[1])
        return [places[j == f] for f in features], [stderr[j == f] for f in features]

    @cached_property
    def ranges(self) -> list[tuple[float, float]]:
        """The intervals in which signs and order of the three largest coefficients stay."""
        curve, grid, last = self.curve, self.grid, changes(self.leaders)
        if not len(last):
            return [(float(grid[0]), float(grid[-1]))]

        def unchanged(at: np.ndarray) -> np.ndarray:
            new = leaders(curve.at(at), curve.problem.prediction)
            return np.all(new == self.leaders[last], axis=1)

        ends = bisect(unchanged, grid[last], grid[last + 1], curve.bisections)
        return list(pairwise([float(grid[0]), *ends.tolist(), float(grid[-1])]))

    def extended(self) -> tuple[list[np.ndarray], list[tuple[float, float]]]:
        """The zeros and the ranges with those just outside: a section may end beside a zero."""
        zeros, _ = self.zeros
        if len(self.grid) < 2:
            return zeros, self.ranges
        first, last = self.grid[0], self.grid[-1]
        below, above = self._between(first / OUTSIDE, first), self._between(last, last * OUTSIDE)
        parts = zip(below.zeros[0], zeros, above.zeros[0], strict=True)
        ends = [list(pair) for pair in self.ranges]
        ends[0][0], ends[-1][-1] = below.ranges[-1][0], above.ranges[0][-1]
        return [np.sort(np.concatenate(part)) for part in parts], [(a, b) for a, b in ends]

    def _between(self, lo: float, hi: float) -> Section:
        places = np.geomspace(lo, hi, OUTSIDE_PLACES)
        return Section(self.curve, places, self.curve.at(places))
