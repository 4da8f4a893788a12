"""LIME in a world of switches for a function that can only be asked, with few questions.

Two things make a question worth more than one of `lime`'s. Masks are drawn from the weighted law
itself, spread evenly and in opposite pairs (:mod:`limetutor.masks.draws`), so that no answer is thrown
away by a small weight. And the answers are fitted beside covariates that do not change the limit and
take noise with them: what *twins* of f (:mod:`limetutor.masks.twins`) do beyond their own limits, and
how f bends with the number of switches. Each twin is fitted to the other answers than those beside
which it stands, and how much of it is taken is left to the fit. Chapters: images, text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import arguments as arg
from ..sums import Solver, Sums, on_one_thread
from ..surrogate import fit
from .draws import draw, in_pairs
from .fits import LIMIT, SwitchFit, SwitchRows, assemble, parts
from .switches import Function, Switches, asked
from .twins import coins_of, has_logistic, logistic_twin, smooth_twin

ROWS_A_COLUMN = 5  # answers that a switch of a logistic twin must have, or there is none
PAIRS = 1024  # whose leverages are found at a time
CLOSE = 0.05  # what is left of an answer that a fit passes through, at least
WIDER = 3.0  # see _Spread
FEW = 40  # answers, below which there are no covariates
FOLDS = 2, 8  # of the answers to twins, at least and at most ...
FOLDED = 10_000  # ... and folds times answers: where these are few, twins need most of them
TWIN_ROWS = 32  # masks that a logistic twin is asked about for each that f is, ...
TWIN_LEAST = 4  # ... and at least, or its own noise would count
TWIN_MOST = 2**22  # switches in all those masks, at most


class Estimate(NamedTuple):
    """Intercept and coefficients of the limit (d + 1,), with their covariance."""

    beta: np.ndarray
    covariance: np.ndarray


def fit_sampled(
    f: Function,
    world: Switches,
    n: int,
    seed: int | np.random.Generator | None = None,
    rows: SwitchRows = LIMIT,
) -> SwitchFit:
    """The fit of any f, from n questions, with standard errors.

    f takes masks (m, d) of bool and returns m numbers. ``rows`` is what the answer is about (the
    limit, or `lime`'s own n, ridge and first row); ``n`` is how often f is asked.
    """
    n = arg.whole("n", n, 2 * (world.d + 2), f" for {world.d} switches")
    rng = np.random.default_rng(arg.seed("seed", seed))
    z = draw(world, n, rng)
    found = estimated(world, z, asked(f, z), rng)
    f_xi = float(asked(f, np.ones((1, world.d), bool))[0])
    return with_rows(found, world, rows, f_xi, n + 1)


@on_one_thread
def estimated(world: Switches, z: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Estimate:
    """The limit from answers y (n,) at masks z (n, d) that :func:`limetutor.masks.draws.draw` made, pairs side by side."""
    world.refuse_unidentified()
    d, level = world.d, float(y[0] + np.mean(y - y[0]))  # to the last digit where all are the same
    size = float(np.max(np.abs(y - level))) or 1.0
    added = _covariates(world, z, y, rng)
    found = regressed(z, added.columns, (y - level) / size)
    beta, covariance = found.beta[: d + 1], found.covariance[: d + 1, : d + 1]
    for column, blur in added.blurs.items():
        covariance = covariance + found.beta[d + 1 + column] ** 2 * blur
    beta = size * beta
    beta[0] += level
    return Estimate(beta, size**2 * covariance)


# --- least squares -----------------------------------------------------------------------------


def regressed(z: np.ndarray, extra: np.ndarray, y: np.ndarray) -> Estimate:
    """Least squares of answers on 1, the switches and other columns (n, c)."""
    if in_pairs(len(y), z.shape[1]):
        return _in_pairs(np.column_stack([np.ones(len(y)), z, extra]), y)
    sums = Sums(z.shape[1], extra.shape[1])
    sums.add(np.column_stack([z, extra]), y, np.zeros(len(y)))
    found = fit(sums)
    return Estimate(found.beta, found.covariance)


def _in_pairs(design: np.ndarray, y: np.ndarray) -> Estimate:
    """The same from answers to pairs of masks, whose noise depends on each other.

    Sandwich with the sum of x r over each pair, r corrected by (1 - H)^-1/2 with H the part of the
    hat matrix that is the pair's (CR2 of Bell and McCaffrey, 2002): a fit draws near to its answers.
    """
    solver = Solver(design.T @ design)
    beta, bread = solver.beta(design.T @ y), solver.bread
    r = y - design @ beta
    if len(y) % 2:  # a row that adds nothing
        design, r = np.vstack([design, np.zeros(len(beta))]), np.append(r, 0.0)
    r, wide = r.reshape(-1, 2), _Spread(len(beta))
    for start in range(0, len(r), PAIRS):
        rows = design[2 * start : 2 * (start + PAIRS)].reshape(-1, 2, len(beta))
        left = np.eye(2) - (rows @ bread) @ rows.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(left)
        along = np.einsum("pji,pj->pi", vectors, r[start : start + PAIRS])
        true = np.einsum("pij,pj->pi", vectors, along / np.sqrt(np.clip(values, CLOSE, 1)))
        wide.add(np.einsum("pj,pjc->pc", true, rows) @ bread)
    return Estimate(beta, wide.covariance())


class _Spread:
    """The covariance that scores add up to, wider where few of them have most of the noise.

    With s the scores of a coefficient, v = sum s^2 is estimated with the relative variance sum s^4 /
    v^2, and ``WIDER`` times that is added: a twin leaves next to nothing at most masks and much at a few.
    """

    def __init__(self, columns: int) -> None:
        self.second, self.fourth = np.zeros((columns, columns)), np.zeros(columns)

    def add(self, scores: np.ndarray) -> None:
        """Take in scores (m, columns)."""
        self.second += scores.T @ scores
        self.fourth += np.sum(scores**4, axis=0)

    def covariance(self) -> np.ndarray:
        """Of the sum of all scores, (columns, columns)."""
        total = np.diag(self.second)
        uneven = np.divide(self.fourth, total**2, out=np.zeros(len(total)), where=total > 1e-150)
        factor = np.sqrt(1 + WIDER * uneven)
        return self.second * np.outer(factor, factor)


# --- covariates --------------------------------------------------------------------------------


class Covariates(NamedTuple):
    """Columns (n, c) orthogonal to the switches under the weighted law: no limit moves by them.

    ``blurs`` has the covariance (d + 1, d + 1) of the limit that was taken off a column, where that is
    known with an error only.
    """

    columns: np.ndarray
    blurs: dict[int, np.ndarray]


def _covariates(
    world: Switches, z: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> Covariates:
    """Bends and twins, as far as there are answers enough."""
    n, d = z.shape
    columns, blurs = list(_bends(world)[:, z.sum(axis=1)]), {}
    if n < FEW or not in_pairs(n, d + len(columns) + 2):
        return Covariates(np.empty((n, 0)), {})
    if np.ptp(y) > 0 and _distinct(z) > n / 2:  # else no fold is new to a twin
        fold = _folds(n)
        columns += _smooth_column(world, z, y, fold)
        many = min(TWIN_ROWS * n, TWIN_MOST // (2 * d) * 2)
        enough = many >= TWIN_LEAST * n and np.sum(fold > 0) >= ROWS_A_COLUMN * (d + 1)
        if enough and has_logistic(y):
            column, blur = _logistic_column(world, z, y, fold, draw(world, many, rng))
            blurs[len(columns)] = blur
            columns.append(column)
    return Covariates(np.array(columns).reshape(-1, n).T, blurs)


def _distinct(z: np.ndarray) -> int:
    """How many of the masks differ."""
    return len(np.unique(np.packbits(z, axis=1), axis=0))


def _folds(n: int) -> np.ndarray:
    """Which fold an answer is in, (n,); pairs stay together."""
    return (np.arange(n) // 2) % int(np.clip(FOLDED // n, *FOLDS))


def _smooth_column(
    world: Switches, z: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> list[np.ndarray]:
    """What smooth twins do beyond their limits, each at the answers it has not seen: one column.

    None where the law of the world is no mixture of coins.
    """
    coins = coins_of(world)
    if coins is None:
        return []
    column = np.empty(len(y))
    for own in range(int(fold.max()) + 1):
        mine = fold == own
        twin = smooth_twin(z[~mine], y[~mine])
        limit = twin.limit(world, coins)
        column[mine] = twin(z[mine]) - limit[0] - z[mine] @ limit[1:]
    return [column]


def _logistic_column(
    world: Switches, z: np.ndarray, y: np.ndarray, fold: np.ndarray, many: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of logistic twins, and the covariance of their mean limit: it is found with many masks."""
    d, most = world.d, len(many)
    bends = _bends(world)[:, many.sum(axis=1)].T
    design = np.column_stack([np.ones(most), many, bends, _changes(world, many)])
    solver = Solver(design.T @ design)
    column, mean = np.empty(len(y)), np.zeros(most)
    for own in range(int(fold.max()) + 1):
        mine = fold == own
        twin = logistic_twin(z[~mine], y[~mine])
        answers = twin(many)
        limit = solver.beta(design.T @ answers)
        column[mine] = twin(z[mine]) - limit[0] - z[mine] @ limit[1 : d + 1]
        mean += answers * np.mean(mine)
    design *= (mean - design @ solver.beta(design.T @ mean))[:, None]
    scores = (design[::2] + design[1::2]) @ solver.bread[:, : d + 1]  # leverages are small
    return column, scores.T @ scores


def _changes(world: Switches, z: np.ndarray) -> np.ndarray:
    """How the part of each switch but the last changes with the number, (n, d - 1).

    (z_j - k/d) h(k) with h linear and sum_k m_k k (d - k) h(k) = 0, orthogonal to the switches.
    """
    k, level = z.sum(axis=1), world.levels
    between = np.exp(world.log_between - np.max(world.log_between))
    h = level - between @ level / between.sum()
    return ((z - level[k][:, None]) * h[k][:, None])[:, :-1]


def _bends(world: Switches) -> np.ndarray:
    """Orthogonal polynomials of degree 2 and 3 in k under the measure, as far as there are levels."""
    share = np.exp(world.log_measure - world.log_C)
    level = world.levels
    basis: list[np.ndarray] = []
    for degree in range(min(4, int(np.sum(share > 1e-12)))):
        column = level**degree
        for _ in range(2):  # twice, for its digits
            for earlier in basis:
                column = column - earlier * (share @ (earlier * column))
        size = np.sqrt(share @ column**2)
        if size < 1e-9:
            break
        basis.append(column / size)
    return np.array(basis[2:]).reshape(-1, world.d + 1)


def with_rows(
    found: Estimate, world: Switches, rows: SwitchRows, f_xi: float, calls: int
) -> SwitchFit:
    """The limit, or what ridge and xi's own row make of it.

    The fit sees f through E[pi z f] alone, which is that of the surrogate: ridge and the row act on
    a linear function of the switches, and what they do is linear too.
    """
    d = world.d

    def fitted(beta: np.ndarray, at_xi: float) -> np.ndarray:
        _, weights = parts(world, rows)
        k = np.arange(d + 1)
        F = beta[0] + beta[1:].mean() * k
        between = weights @ (k * (d - k)) / (d * (d - 1)) if d > 1 else 0.0
        coef, intercept = assemble(world, rows, F, (beta[1:] - beta[1:].mean()) * between, at_xi)
        return np.append(intercept, coef)

    beta = fitted(found.beta, f_xi)
    from_intercept = fitted(np.append(1.0, np.zeros(d)), 0.0)
    from_all = fitted(np.append(0.0, np.ones(d)), 0.0)
    apart = fitted(np.append(0.0, np.arange(d) == 0), 0.0) if d > 1 else None
    return _fit_of(found, beta, from_intercept, from_all, apart, f_xi, calls)


def _fit_of(
    found: Estimate,
    beta: np.ndarray,
    from_intercept: np.ndarray,
    from_all: np.ndarray,
    apart: np.ndarray | None,
    f_xi: float,
    calls: int,
) -> SwitchFit:
    """Standard errors of a linear map that treats all switches alike."""
    d = len(beta) - 1
    alone = 0.0 if apart is None else apart[1] - apart[2]
    together = (from_all[1] - alone) / d
    C = found.covariance
    # coef_j = alone beta_j + together sum beta + from_intercept beta_0
    common = np.append(from_intercept[1], np.full(d, together))
    variance = alone**2 * np.diag(C)[1:] + 2 * alone * (C @ common)[1:] + common @ C @ common
    base = np.append(from_intercept[0], np.full(d, from_all[0] / d))
    return SwitchFit(
        coef=beta[1:],
        intercept=float(beta[0]),
        prediction=f_xi,
        stderr=np.sqrt(np.maximum(variance, 0)),
        intercept_stderr=float(np.sqrt(max(base @ C @ base, 0))),
        method="monte carlo",
        calls=calls,
    )
