"""F of a function that is only called: every reading from one set of draws, with standard errors.

Half of the draws follow the world, the others t at nodes on the way from p to 1. A draw with
indicators z counts for any other t by P_t(z) / m(z), m the mixture of all these laws (the balance
heuristic, Veach & Guibas 1995), and for a slope by

    g_j(z) = (2 z_j - 1) P_t(z without z_j) / m(z),    d_j F(t) = E_m[f g_j].

What is linear in z is known exactly: a line is fitted to f first, and only the rest is averaged.
Where few draws count for a t, others are drawn there; F itself is always drawn for at its t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from ..core.problem import Problem
from .extension import Estimate, Extension, Masses, gauss_legendre

NODES = 16  # on the way from p to 1
ROWS_PER_CALL = 2**14  # of the model
NUMBERS_PER_BLOCK = 2**20
MIN_PER_COEFFICIENT = 10  # effective draws, for a line of their own
FEWEST = 0.05  # of the draws count at a t; else it gets its own
DRAWS_PER_PLACE = 2048  # at least, where F is asked for at many t


@dataclass(frozen=True, eq=False)
class Rows:
    """Indicators z (n, d), and what a function made of the rows: ``answers`` (n, k)."""

    z: np.ndarray
    answers: np.ndarray


def draw(
    problem: Problem, respond: Callable[[np.ndarray], np.ndarray], t: np.ndarray, seed: Any
) -> Rows:
    """Draw rows whose feature j lies in xi's box with probability t[i, j], and call the model."""
    rng = np.random.default_rng(seed)
    views = problem.tilt.views
    laws = [views.given(side).inverse_transform for side in (1, 2)]
    zs, answers = [], []
    for start in range(0, len(t), ROWS_PER_CALL):
        part = t[start : start + ROWS_PER_CALL]
        z = rng.random(part.shape) < part
        inside, outside = (law.draw(rng, len(part), law.boxes)[0] for law in laws)
        zs.append(z)
        answers.append(respond(np.where(z, inside, outside)))
    return Rows(np.concatenate(zs), np.concatenate(answers))


@dataclass(frozen=True, eq=False)
class Pool:
    """One set of draws for all readings; the first ``world`` rows follow the world itself."""

    rows: Rows
    masses: Masses
    world: int
    log_mixture: np.ndarray  # of each row's z
    draw: Callable[[np.ndarray, Any], Rows]  # rows at given t, from a seed

    @property
    def n(self) -> int:
        """How many draws there are."""
        return len(self.rows.z)

    @classmethod
    def of(
        cls, problem: Problem, respond: Callable[..., Any], masses: Masses, n: int, seed: Any
    ) -> Pool:
        """Draw n rows and call the model once for each."""
        q = np.concatenate([[0.0], gauss_legendre(NODES)[0]])

        def rows(t: np.ndarray, key: Any) -> Rows:
            return draw(problem, respond, t, [seed, key])

        return cls._mixed(rows, masses, masses.along(q), n, 0)

    @classmethod
    def _mixed(cls, draw: Any, masses: Masses, places: np.ndarray, n: int, key: int) -> Pool:
        """Half of n rows at the first place, the others shared by the rest."""
        nodes = len(places) - 1
        count = np.append(n - n // 2, np.diff(np.arange(nodes + 1) * (n // 2) // nodes))
        rows = draw(np.repeat(places, count, axis=0), key)
        logs = [_log_probability(rows.z, t).sum(axis=1) for t in places]
        with np.errstate(divide="ignore"):
            shares = np.log(count / n)
        mixture = scipy.special.logsumexp(np.array(logs) + shares[:, None], axis=0)
        return cls(rows, masses, int(count[0]), mixture, draw)

    def around(self, t: np.ndarray) -> Pool:
        """As many draws for slopes at t: half there, the others where one feature is left to a coin."""
        flips = np.where(np.eye(len(t), dtype=bool), 0.5, t)[~self.masses.constant]
        return self._mixed(self.draw, self.masses, np.vstack([t, flips]), self.n, 3)


def _log_probability(z: np.ndarray, t: np.ndarray) -> np.ndarray:
    """log P_t(z_j), entry by entry, (n, d)."""
    with np.errstate(divide="ignore"):
        return np.where(z, np.log(t), np.log1p(-t))


@dataclass(frozen=True, eq=False)
class Draws(Extension):
    """F of one of the answers in a pool, ``y`` in a ``unit`` in which none is above 1."""

    pool: Pool
    y: np.ndarray
    unit: float
    answer: int  # of the pool's

    method = "sampled"

    @classmethod
    def of(cls, pool: Pool, answer: int) -> Draws:
        """Those of the value (0) or of the class indicator (1)."""
        y = pool.rows.answers[:, answer]
        unit = float(np.max(np.abs(y))) or 1.0
        return cls(pool, y / unit, unit, answer)

    @property
    def masses(self) -> Masses:  # type: ignore[override]
        """Those of the pool."""
        return self.pool.masses

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of draws."""
        return len(self.y)

    @property
    def degree(self) -> int:  # type: ignore[override]
        """All features that leave their box may act together."""
        return max(int(np.sum(~self.masses.constant)), 1)

    def at(self, t: np.ndarray) -> tuple[Estimate, Estimate]:
        """Place by place; those for which few draws count get others."""
        means, slopes = zip(*map(self._place, self._held(t)), strict=True)
        return Estimate(*np.array(means).T), Estimate(*np.swapaxes(np.array(slopes), 0, 1))

    def means(self, t: np.ndarray) -> tuple[Estimate, int]:
        """F(t) (m,), the mean of f over draws at each t alone, and how many each has."""
        n = max(self.n // max(len(t), 1), min(DRAWS_PER_PLACE, self.n))
        found = [self._mean(place, n) for place in self._held(t)]
        return self._in_units(*np.reshape(found, (-1, 2)).T), n

    def _mean(self, t: np.ndarray, n: int) -> tuple[float, float]:
        rows = self.pool.draw(np.tile(t, (n, 1)), 2)
        y, parameters = rows.answers[:, self.answer] / self.unit, 1
        if n >= MIN_PER_COEFFICIENT * (len(t) + 1):  # a line, of which the mean is known
            off = rows.z - t
            columns = np.hstack([np.ones((n, 1)), off])
            line, _, parameters, _ = np.linalg.lstsq(columns, y, rcond=1e-12)
            y = y - off @ line[1:]
        return float(y.mean()), float(np.std(y) / np.sqrt(n - parameters))

    def _held(self, t: np.ndarray) -> np.ndarray:
        """t, but 1 for features that never leave their box."""
        return np.where(self.masses.constant, 1.0, t)

    def averaged(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """One functional of f, so that its standard error knows how places share draws."""
        t = self._held(t)
        g = sum(w * self._slope_weights(place)[1] for place, w in zip(t, weights, strict=True))
        return self._functional(g, np.diag(weights.sum(axis=0)))

    def bends(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """g_ij = (2 z_i - 1) (2 z_j - 1) P_t(z without both) / m(z); a line has none."""
        t = self._held(t)
        d, rest = t.shape[1], self.y - self._line(None)[1]
        total, square = np.zeros((d, d)), np.zeros((d, d))
        for rows in _blocks(self.n, d * d):
            g = np.zeros((len(rest[rows]), d, d))
            for place, weight in zip(t, weights, strict=True):
                log_p = _log_probability(self.pool.rows.z[rows], place)
                at = np.exp(log_p.sum(axis=1) - self.pool.log_mixture[rows])
                side = (2 * self.pool.rows.z[rows] - 1) * np.exp(-log_p)
                g += weight * np.einsum("n,ni,nj->nij", at, side, side)
            g *= rest[rows, None, None]
            total += g.sum(axis=0)
            square += np.sum(g**2, axis=0)
        stuck = self.masses.constant[:, None] | self.masses.constant | np.eye(d, dtype=bool)
        mean = np.where(stuck, 0.0, total / self.n)
        spread = np.where(stuck, 0.0, square / self.n - mean**2)
        return self._in_units(mean, np.sqrt(np.maximum(spread, 0.0) / self.n))

    def _place(self, t: np.ndarray) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        weight, _ = self._slope_weights(t)
        if np.sum(weight) ** 2 < FEWEST * self.n * np.sum(weight**2) or not np.any(weight):
            return Draws.of(self.pool.around(t), self.answer)._at(t)
        return self._at(t)

    def _at(self, t: np.ndarray) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        weight, g = self._slope_weights(t)
        value = self._functional(weight[:, None], t[None], constant=1.0)
        return (value.value[0], value.stderr[0]), self._functional(g, np.eye(len(t)))

    def _slope_weights(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P_t(z) / m(z), (n,), and g, (n, d): 0 for a feature that never leaves its box."""
        z = self.pool.rows.z
        log_p = _log_probability(z, t)
        none = np.zeros((len(z), 1))
        before = np.cumsum(np.hstack([none, log_p[:, :-1]]), axis=1)
        after = np.cumsum(np.hstack([none, log_p[:, :0:-1]]), axis=1)[:, ::-1]
        with np.errstate(under="ignore"):
            others = np.exp(before + after - self.pool.log_mixture[:, None])
            whole = np.exp(log_p.sum(axis=1) - self.pool.log_mixture)
        return whole, np.where(self.masses.constant, 0.0, (2 * z - 1) * others)

    def _functional(self, g: np.ndarray, of_line: np.ndarray, constant: float = 0.0) -> Estimate:
        """E_m[f g], (k,), of weights g (n, k) that make ``of_line`` (k, d) of z, and of 1 ``constant``."""
        line, fitted = self._line(np.sum(g**2, axis=1))
        terms = g * (self.y - fitted)[:, None]
        value = constant * line[0] + of_line @ line[1:] + terms.mean(axis=0)
        return self._in_units(value, terms.std(axis=0, ddof=1) / np.sqrt(self.n))

    def _in_units(self, value: np.ndarray, stderr: np.ndarray) -> Estimate:
        return Estimate(self.unit * value, self.unit * stderr)

    def _line(self, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Intercept and slopes of a line in z, (d + 1,), and its values: the one that leaves least.

        By weighted least squares where enough draws count, else by that of all draws.
        """
        columns = self._columns
        if weight is None:
            weight = np.ones(self.n)
        elif np.sum(weight) ** 2 < MIN_PER_COEFFICIENT * columns.shape[1] * np.sum(weight**2):
            return self._line(None)
        weight = weight / weight.max(initial=np.finfo(float).tiny)
        weighted = columns * weight[:, None]
        line = np.linalg.lstsq(columns.T @ weighted, weighted.T @ self.y, rcond=1e-12)[0]
        line[1:][self.masses.constant] = 0.0
        return line, columns @ line

    @cached_property
    def _columns(self) -> np.ndarray:
        z = self.pool.rows.z & ~self.masses.constant
        return np.hstack([np.ones((self.n, 1)), z])


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(NUMBERS_PER_BLOCK // width, 1)
    return (slice(start, start + step) for start in range(0, n, step))
