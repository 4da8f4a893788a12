"""LIME in a world of switches for a function that can only be asked, with few questions.

Three things make a question worth more than one of `lime`'s. Masks are drawn from the weighted law
itself, each number of switches that are on getting its exact share, so that no answer is thrown
away by a small weight and none is drawn to find out how many are on. A *twin* of f, a logistic
function of a weighted sum of the switches fitted to the other half of the answers, is explained
with as many masks as one likes, and only what f does beyond its twin must be found by asking. And
what is left is fitted beside covariates that do not change the limit (how f bends with the number
of switches, and how each switch's part changes with it), which take noise with them.
Chapters: images, text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .. import arguments as arg
from ..sums import Sums
from ..surrogate import fit
from .fits import LIMIT, SwitchFit, SwitchRows, assemble, parts
from .switches import Function, Switches, asked

ROWS_A_COLUMN = 5  # answers that a column of a fit must have, or it is left out
TWIN_ROWS = 32  # masks that a twin is asked about for each that f is: it costs next to nothing
TWIN_MOST = 2**22  # switches in all those masks
TWIN_SWITCHES = 600  # beyond which the equations of a twin take longer than it saves
STEPS = 12  # of Gauss and Newton; a twin need not be the best of its kind


def draw(world: Switches, n: int, rng: np.random.Generator) -> np.ndarray:
    """n masks of the weighted law, (n, d) of bool; every number on has its share, rounded."""
    share = np.exp(world.log_measure - world.log_C)
    places = (np.arange(n) + rng.random()) / n
    most = int(np.flatnonzero(share)[-1])
    k = np.minimum(np.searchsorted(np.cumsum(share), places, side="right"), most)
    k = rng.permutation(k)
    uniform = rng.random((n, world.d))
    # the k smallest are on: those up to the k-th, and none where k is 0
    last = np.take_along_axis(np.sort(uniform, axis=1), np.maximum(k, 1)[:, None] - 1, axis=1)
    return (uniform <= last) & (k > 0)[:, None]


class Estimate(NamedTuple):
    """Intercept and coefficients of the limit (d + 1,), with their covariance."""

    beta: np.ndarray
    covariance: np.ndarray

    def __add__(self, other: Estimate) -> Estimate:  # type: ignore[override]
        return Estimate(self.beta + other.beta, self.covariance + other.covariance)

    def half(self) -> Estimate:
        """Its half, for the mean of two."""
        return Estimate(self.beta / 2, self.covariance / 4)


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


def estimated(world: Switches, z: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Estimate:
    """The limit from answers y (n,) at masks z (n, d) that :func:`draw` made."""
    world.refuse_unidentified()
    plain, half = _regressed(world, z, y), len(y) // 2
    if has_twin(y) and ROWS_A_COLUMN * (world.d + 1) <= half and world.d <= TWIN_SWITCHES:
        beyond = (
            _beyond_twin(world, z[:half], y[:half], z[half:], y[half:], rng).half()
            + _beyond_twin(world, z[half:], y[half:], z[:half], y[:half], rng).half()
        )
        return beyond if np.trace(beyond.covariance) < np.trace(plain.covariance) else plain
    return plain


# --- a twin of f -----------------------------------------------------------------------------


def has_twin(y: np.ndarray) -> bool:
    """Whether the answers look like probabilities that vary."""
    return bool(np.min(y) >= 0 and np.max(y) <= 1 and np.ptp(y) > 1e-9)


def twin_of(z: np.ndarray, y: np.ndarray) -> Function:
    """The logistic function of a weighted sum of the switches that is nearest to the answers."""
    design = np.column_stack([np.ones(len(z)), z])
    score = np.zeros(design.shape[1])
    share = np.clip(y.mean(), 0.01, 0.99)
    score[0] = np.log(share / (1 - share))
    damping = 1e-6 * len(z) * np.eye(len(score))  # where all answers are 0 or 1
    for _ in range(STEPS):
        p = scipy.special.expit(design @ score)
        slope = design * (p * (1 - p))[:, None]
        step = np.linalg.solve(slope.T @ slope + damping, slope.T @ (y - p))
        score = score + step / max(1.0, np.max(np.abs(step)))
    return lambda masks: scipy.special.expit(score[0] + masks @ score[1:])


def _beyond_twin(
    world: Switches,
    z_twin: np.ndarray,
    y_twin: np.ndarray,
    z: np.ndarray,
    y: np.ndarray,
    rng: np.random.Generator,
) -> Estimate:
    """The twin of one half of the answers, explained, plus what the other half shows beyond it."""
    twin = twin_of(z_twin, y_twin)
    many = draw(world, min(TWIN_ROWS * len(y), max(TWIN_MOST // world.d, len(y))), rng)
    return _regressed(world, many, twin(many)) + _regressed(world, z, y - twin(z))


# --- least squares ---------------------------------------------------------------------------


def _regressed(world: Switches, z: np.ndarray, y: np.ndarray) -> Estimate:
    """Least squares of answers at masks of the weighted law on the switches and the covariates."""
    extra = covariates(world, z)
    sums = Sums(world.d, extra.shape[1])
    sums.add(np.column_stack([z, extra]), y, np.zeros(len(y)))
    found = fit(sums)
    return Estimate(found.beta[: world.d + 1], found.covariance[: world.d + 1, : world.d + 1])


def covariates(world: Switches, z: np.ndarray) -> np.ndarray:
    """Columns that are orthogonal to the switches under the weighted law: no limit moves by them.

    Bends: polynomials of degree 2 and 3 in k, less their line under the measure m. Changes: for
    each switch but the last, (z_j - k/d) h(k) with h linear and sum_k m_k k (d - k) h(k) = 0.
    """
    d, k = world.d, z.sum(axis=1)
    bends = _bends(world)[:, k].T
    if len(z) < ROWS_A_COLUMN * (2 * d + bends.shape[1]):
        return bends if len(z) >= ROWS_A_COLUMN * (d + 3) else bends[:, :0]
    level = world.levels
    between = np.exp(world.log_between - np.max(world.log_between))
    h = level - between @ level / between.sum()
    changes = (z - level[k][:, None]) * h[k][:, None]
    return np.column_stack([bends, changes[:, :-1]])


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
