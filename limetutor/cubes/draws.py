"""F of a function that is only called, with standard errors: most readings from one set of draws.

Half of the draws follow the world, the others t at nodes on the diagonal from p to 1. A draw with
indicators z counts for any other t by P_t(z) / m(z), m the mixture of all these laws (the balance
heuristic, Veach & Guibas 1995), and for a slope by

    g_j(z) = (2 z_j - 1) P_t(z without z_j) / m(z),    d_j F(t) = E_m[f g_j].

What is linear in z is known exactly: a line is fitted to f first, and only the rest is averaged.
Where few draws count for a t, others are drawn there; ``means``, F alone, draws at each t.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core.problem import Problem
from .extension import Estimate, Extension, Masses, gauss_legendre

NODES = 16  # on the diagonal from p to 1
ROWS_PER_CALL = 2**14  # of the model
NUMBERS_PER_BLOCK = 2**20
TINY = 1e-9  # of 1, what a draw that a line must go through may be off it
MIN_PER_COEFFICIENT = 10  # effective draws, for a line of their own, and on either side of a box
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
    """Draws at several places; the first ``world`` rows at the first, for a whole cube the world itself."""

    rows: Rows
    masses: Masses
    world: int
    inside: np.ndarray  # how often each feature is in its box in the mean over draws, (d,)
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
        """Half of n rows at the first place, the others shared by the rest; all where there is no rest."""
        nodes = len(places) - 1
        others = np.diff(np.arange(nodes + 1) * (n // 2) // max(nodes, 1))
        count = np.insert(others, 0, n - np.sum(others))
        rows = draw(np.repeat(places, count, axis=0), key)
        logs = [_log_probability(rows.z, t).sum(axis=1) for t in places]
        with np.errstate(divide="ignore"):
            shares = np.log(count / n)
        mixture = scipy.special.logsumexp(np.array(logs) + shares[:, None], axis=0)
        return cls(rows, masses, int(count[0]), count @ places / n, mixture, draw)

    def at(self, t: np.ndarray, n: int) -> Pool:
        """n draws at t alone."""
        return self._mixed(self.draw, self.masses, t[None], n, 2)

    def around(self, t: np.ndarray) -> Pool:
        """As many draws for slopes at t: half there, the others where one feature is left to a coin."""
        flips = np.where(np.eye(len(t), dtype=bool), 0.5, t)[~self.masses.constant]
        return self._mixed(self.draw, self.masses, np.vstack([t, flips]), self.n, 3)


def _log_probability(z: np.ndarray, t: np.ndarray) -> np.ndarray:
    """log P_t(z_j), entry by entry, (n, d)."""
    with np.errstate(divide="ignore"):
        return np.where(z, np.log(t), np.log1p(-t))


class Line(NamedTuple):
    """A line in z: which of 1 and the features it has (d + 1,), as ``columns`` (n, k), and their ``coef``.

    ``coef`` is answers @ ``pull`` (n, k), and ``rest`` the answers minus the line.
    """

    used: np.ndarray
    columns: np.ndarray
    coef: np.ndarray
    pull: np.ndarray
    rest: np.ndarray

    @property
    def left_out(self) -> np.ndarray:
        """What the line that is fitted without a draw leaves of it."""
        return self.rest / np.maximum(1 - np.sum(self.columns * self.pull, axis=1), TINY)


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
        n = max(self.n // len(t), min(DRAWS_PER_PLACE, self.n))
        found = [
            Draws.of(self.pool.at(place, n), self.answer)._mean(place) for place in self._held(t)
        ]
        return Estimate(*np.array(found).T), n

    def _held(self, t: np.ndarray) -> np.ndarray:
        """t, but 1 for features that never leave their box."""
        return np.where(self.masses.constant, 1.0, t)

    def weighted_slopes(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """One functional of f, so that its standard error knows how places share draws."""
        t = self._held(t)
        g = sum(w * self._slope_weights(place)[1] for place, w in zip(t, weights, strict=True))
        return self._functional(g, np.diag(weights.sum(axis=0)))

    def weighted_interactions(self, t: np.ndarray, weights: np.ndarray) -> Estimate:
        """g_ij = (2 z_i - 1) (2 z_j - 1) P_t(z without both) / m(z); a line has none."""
        t = self._held(t)
        d, rest = t.shape[1], self._line(None).left_out
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

    def _place(self, t: np.ndarray) -> tuple[tuple[Any, Any], Estimate]:
        weight, _ = self._slope_weights(t)
        if np.sum(weight) ** 2 < FEWEST * self.n * np.sum(weight**2) or not np.any(weight):
            return Draws.of(self.pool.around(t), self.answer)._at(t)
        return self._at(t)

    def _at(self, t: np.ndarray) -> tuple[tuple[Any, Any], Estimate]:
        return self._mean(t), self._functional(self._slope_weights(t)[1], np.eye(len(t)))

    def _mean(self, t: np.ndarray) -> tuple[Any, Any]:
        found = self._functional(self._slope_weights(t)[0][:, None], t[None], constant=1.0)
        return found.value[0], found.stderr[0]

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
        """E_m[f g], (k,), of weights g (n, k) that make ``of_line`` (k, d) of z, and of 1 ``constant``.

        The standard error is that of what each draw adds by its distance from a line through the others.
        """
        line = self._line(np.sum(g**2, axis=1))
        known = np.insert(of_line, 0, constant, axis=1)[:, line.used]
        mean = line.rest @ g / self.n
        through_line = line.pull @ (self.n * known - g.T @ line.columns).T
        terms = (g + through_line) * line.left_out[:, None] - mean
        stderr = np.sqrt(np.sum(terms**2, axis=0) / self.n / (self.n - 1))
        return self._in_units(known @ line.coef + mean, stderr)

    def _in_units(self, value: np.ndarray, stderr: np.ndarray) -> Estimate:
        return Estimate(self.unit * value, self.unit * stderr)

    def _line(self, weight: np.ndarray | None) -> Line:
        """By weighted least squares where enough draws count, else by that of all draws.

        Its features are those for which enough draws are expected on either side of the box: to count the
        draws themselves would let chance choose.
        """
        sides = np.minimum(self.pool.inside, 1 - self.pool.inside)
        used = ~self.masses.constant & (self.n * sides >= MIN_PER_COEFFICIENT)
        if self.n < MIN_PER_COEFFICIENT * (1 + np.sum(used)):
            used[:] = False
        columns = np.hstack([np.ones((self.n, 1)), self.pool.rows.z[:, used]])
        if weight is None:
            weight = np.ones(self.n)
        elif np.sum(weight) ** 2 < MIN_PER_COEFFICIENT * columns.shape[1] * np.sum(weight**2):
            return self._line(None)
        weighted = columns * (weight / weight.max(initial=np.finfo(float).tiny))[:, None]
        pull = weighted @ np.linalg.pinv(columns.T @ weighted, rcond=1e-12, hermitian=True)
        coef = self.y @ pull
        return Line(np.insert(used, 0, True), columns, coef, pull, self.y - columns @ coef)


def _blocks(n: int, width: int) -> Iterator[slice]:
    step = max(NUMBERS_PER_BLOCK // width, 1)
    return (slice(start, start + step) for start in range(0, n, step))
