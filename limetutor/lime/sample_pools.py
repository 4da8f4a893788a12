"""Runs of `lime` without its model calls: resampled from a pool of rows whose values are known.

A run of `lime` is n rows from the law p of its world, weighted by a kernel pi. What such runs print,
how they spread and which features they choose follows from the law of weighted sums of n rows. Where
few rows have most of the weight that law is far from normal, and so it is not approximated: the rows
of a **pool** are drawn again, each with a mean of n p / (m q), where m rows of the pool follow q. All
runs together have every row as often as is expected, but for rounding. Where weights are even a run is
made of blocks of rows that other runs have too, each in another company: the variance over runs of a sum
over rows is what it was, at a tenth of the work.

The pool follows the tilted law, and where weights differ much a mixture of p pi^s / E[pi^s] with
s = 0, 1/2, 1 and 2: what a run mostly has, what decides runs that have no row near xi, the mean of a
fit, and its variance. Where f has a form, responses of the pool are the surrogate in closed form plus
residuals, so that the mean of the fits does not depend on the pool.
:mod:`limetutor.lime.tabular` has pools of rows, :mod:`limetutor.lime.masks` pools of masks.
Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy

from ..core.surrogate import Solver, one_thread
from .selection_and_ridge import Moments, ridge

MIN_EVEN_SHARE = 0.1  # effective share of a weighted sample above which one tilt is enough
# the powers s of the weight in the laws of a pool, and their shares of its rows
ONE_TILT = {1.0: 1.0}
MIXED_TILTS = {0.0: 0.25, 0.5: 0.25, 1.0: 0.25, 2.0: 0.25}
ROWS_PER_BLOCK = 500  # of which runs are made where the share above is reached
MAX_RESPONSE = 1e140  # and the least is 1 over it


class Draws(NamedTuple):
    """The rows of runs: blocks of them, and of which blocks each run is made (runs, parts)."""

    blocks: list[np.ndarray]
    parts: np.ndarray

    def rows(self) -> Iterator[np.ndarray]:
        """The rows of each run."""
        return (np.concatenate([self.blocks[k] for k in parts]) for parts in self.parts)


@dataclass(frozen=True)
class Pool:
    """Rows with known values, relative to xi's own row.

    ``design`` (m, d) are the regressors less those of xi, ``at_xi``; ``y`` (m,) the responses less
    f(xi); ``log_weights`` (m,) the logs of those of the kernel, xi's being ``own_weight``; ``ratio``
    (m,) how often one draw from the world is expected to fall on each row. ``stderr`` (d,) is the
    error of the coefficients that runs tend to, 0 where they are known. ``products`` (d + 2, d + 2)
    are the mean weighted products of 1, design and response of one draw, where they are known without
    the rows.
    """

    design: np.ndarray
    y: np.ndarray
    log_weights: np.ndarray
    ratio: np.ndarray
    at_xi: np.ndarray
    own_weight: float
    method: str
    stderr: np.ndarray
    products: np.ndarray | None = None

    def __post_init__(self) -> None:
        largest = float(np.max(np.abs(self.y), initial=0.0))
        if largest and not 1 / MAX_RESPONSE <= largest <= MAX_RESPONSE:
            raise ValueError(
                f"f must have values that differ by {1 / MAX_RESPONSE:g} to {MAX_RESPONSE:g} from f(xi), "
                f"whose squares a double can hold, got {largest:g}; rescale it."
            )

    @cached_property
    def even_share(self) -> float:
        """The effective share of the rows of a run: how many of equal weight would be as good."""
        weights = np.exp(self.log_weights - np.max(self.log_weights))
        moments = [float(self.ratio @ weights**power) for power in (0, 1, 2)]
        return moments[1] ** 2 / (moments[0] * moments[2])

    @cached_property
    def weights(self) -> np.ndarray:
        """The weights of the rows, (m,)."""
        return np.exp(self.log_weights)

    @cached_property
    def columns(self) -> np.ndarray:
        """1, the regressors and the response of each row."""
        return np.hstack([np.ones((len(self.y), 1)), self.design, self.y[:, None]])

    def draws(self, n: int, runs: int, rng: np.random.Generator) -> Draws:
        """The rows of each run beside xi's own; n is the number of all of them."""
        ends = np.cumsum(self.ratio)
        size = (n - 1) * float(ends[-1])
        parts = max(int(size / ROWS_PER_BLOCK), 1) if self.even_share > MIN_EVEN_SHARE else 1
        total = max(round(runs * size / parts), runs)
        marks = np.floor(ends * (total / ends[-1]) + rng.random()).astype(int)
        marks[-1] = total
        rows = np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(marks, prepend=0))
        rng.shuffle(rows)
        order = [rng.permutation(runs) if parts > 1 else np.arange(runs) for _ in range(parts)]
        return Draws(np.array_split(rows, runs), np.stack(order, axis=1))

    @one_thread()
    def moments(self, draws: Draws) -> Moments:
        """The weighted sums of runs."""
        columns = self.columns * np.sqrt(self.weights)[:, None]
        products = np.empty((len(draws.blocks), *[columns.shape[1]] * 2))
        for block, rows in zip(products, draws.blocks, strict=True):
            part = columns[rows]
            np.matmul(part.T, part, out=block)
        runs, parts = draws.parts.shape
        if parts > 1:
            times = np.zeros((runs, len(products)))
            np.add.at(times, (np.arange(runs)[:, None], draws.parts), 1.0)
            products = (times @ products.reshape(runs, -1)).reshape(products.shape)
        return self._with_own_row(products)

    @one_thread()
    def expected(self, n: int) -> Moments:
        """The mean of such sums over all runs, as one run."""
        weights = (n - 1) * self.ratio * self.weights
        return self._with_own_row(((self.columns * weights[:, None]).T @ self.columns)[None])

    def known(self, n: int) -> Moments | None:
        """The same without the noise of the rows in the pool; None where it is not known."""
        return None if self.products is None else self._with_own_row((n - 1) * self.products[None])

    def _with_own_row(self, products: np.ndarray) -> Moments:
        products[:, 0, 0] += self.own_weight  # all other columns of xi's own row are 0
        return Moments.of(products)


def tilt_shares(log_even_share: float) -> Mapping[float, float]:
    """Powers of the weight and their shares of a pool, by the log of the effective share of rows."""
    return ONE_TILT if log_even_share > np.log(MIN_EVEN_SHARE) else MIXED_TILTS


def mixture_log_ratio(sizes: Sequence[int], log_tilts: Sequence[np.ndarray]) -> np.ndarray:
    """Log of how often one draw from p is expected to fall on each row of a pool, (m,).

    The pool has ``sizes`` rows of laws q_s, whose log q_s / p at all m rows are ``log_tilts``.
    """
    density = [np.log(size) + log_tilt for size, log_tilt in zip(sizes, log_tilts, strict=True)]
    return -scipy.special.logsumexp(density, axis=0)


def recentred(pool: Pool, intercept: float, coef: np.ndarray, inflation: float = 1.0) -> Pool:
    """The pool whose fits tend to a known line: the line plus the residuals of the pool's own fit.

    ``intercept`` is the line at xi less f(xi), ``inflation`` a factor of the residuals.
    """
    residuals = residuals_of(pool)[1]
    return replace(pool, y=intercept + pool.design @ coef + inflation * residuals)


def residuals_of(pool: Pool) -> tuple[Moments, np.ndarray, np.ndarray]:
    """The mean sums of one row that is not xi's, the residuals (m,) of their fit, and the weights.

    Weights are in units of the largest: all of them may be too small for a double.
    """
    log_weights = pool.log_weights - np.max(pool.log_weights)
    in_units = replace(pool, log_weights=log_weights, own_weight=0.0)
    sums = in_units.expected(2)
    coef = ridge(sums, 0.0).coef[0]
    residuals = pool.y - sums.level[0] - (pool.design - sums.mean[0]) @ coef
    return sums, residuals, in_units.weights


def noise_of_runs(pool: Pool, n: int) -> np.ndarray:
    """How the coefficients of runs with n rows spread, to first order and without a penalty, (d,)."""
    return spread_of_fits(pool, np.sqrt(pool.ratio / n))


def spread_of_fits(pool: Pool, size: np.ndarray) -> np.ndarray:
    """Roots of the diagonal of G^-1 S'S G^-1, S the centred weighted residuals times ``size`` (m,)."""
    sums, residuals, weights = residuals_of(pool)
    scores = (pool.design - sums.mean[0]) * (size * weights * residuals)[:, None]
    bread = np.linalg.pinv(sums.gram[0], hermitian=True)
    return np.sqrt(np.clip(np.diag(bread @ (scores.T @ scores) @ bread), 0, None))


def covariance_of_runs(pool: Pool, n: int, penalty: float) -> np.ndarray:
    """The covariance of the coefficients of runs with n rows, xi's among them, to first order, (d, d).

    A^-1 Cov(sum_i s_i) A^-1 with A the expected normal equations, the penalty included, and s_i the
    scores w_i (y_i - b.x_i) x_i of the n - 1 other rows at their solution b.
    """
    products = pool.expected(n).products[0]
    solver = Solver(products[:-1, :-1], penalty)
    columns = pool.columns
    residuals = columns[:, -1] - columns[:, :-1] @ solver.beta(products[:-1, -1])
    scores = columns[:, :-1] * (pool.weights * residuals)[:, None]
    mean = pool.ratio @ scores
    each = (scores * pool.ratio[:, None]).T @ scores - np.outer(mean, mean)
    return (n - 1) * solver.bread[1:] @ each @ solver.bread[:, 1:]
