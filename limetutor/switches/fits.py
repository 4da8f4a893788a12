"""LIME's fit in a world of switches: from known means, or from sampled masks.

A function f of the switches enters through two things only: its mean F_k given that k switches are
on, and, for each switch, its covariance with f at that k,

    H_jk = E[f z_j | k] - F_k k / d.

The coefficients are the slope of F on k plus how each switch departs from the others,

    beta_j = slope(F on k) + sum_k m_k H_jk / (alpha_1 - alpha_2),

m the measure of share times weight. With n rows and ridge, n - 1 times the measure counts, ridge
is added to both denominators (d times for the slope: all d coefficients move together), and xi's
own row is one more point (d, f(xi)) of weight 1 on the line.

A function that can only be called is sampled. Masks are drawn from the weighted law itself
(:mod:`limetutor.switches.sampler`), so that no value of f is lost to a small weight, and values are
fitted beside control variates (:mod:`limetutor.switches.control_variates`), which reduce the noise
and do not change the limit. Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy

from ..core.surrogate import Solver, Sums, fit, one_thread
from ..inputs import arguments as arg
from ..results.result import BaseResult
from .control_variates import control_variates
from .sampler import draw, in_pairs
from .switches import Function, Line, Switches, evaluate

PAIRS_PER_CHUNK = 1024  # whose leverages are computed at a time
MIN_RESIDUAL_SHARE = 0.05  # floor for the eigenvalues of 1 - H of a pair
WIDENING = 3.0  # of variances of which few scores have most


class SwitchForm(Protocol):
    """A function of d switches whose means are known."""

    @property
    def d(self) -> int:
        """Number of switches."""

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d)."""

    def by_level(self) -> np.ndarray:
        """F_k, the mean of f over the masks with k switches on, (d + 1,)."""

    def within(self, weights: np.ndarray) -> np.ndarray:
        """sum_k weights_k H_jk, (d,)."""


@dataclass(frozen=True)
class SwitchFit(BaseResult):
    """Coefficients (d,) and intercept of the surrogate, with their standard errors if sampled.

    Examples
    --------
    >>> import limetutor as lt
    >>> from limetutor.switches import rule
    >>> fit = lt.switch_limit(rule(3, on=[0, 1]), lt.image_switches(3))
    >>> fit.method, round(fit.local_prediction, 3)
    ('exact', 0.919)
    """

    coef: np.ndarray
    intercept: float
    prediction: float  # f(xi)
    stderr: np.ndarray
    intercept_stderr: float
    method: str
    calls: int = 0  # of f

    @property
    def local_prediction(self) -> float:
        """The surrogate at xi, where every switch is on."""
        return float(self.intercept + self.coef.sum())

    @property
    def local_error(self) -> float:
        """f^(xi) - f(xi)."""
        return self.local_prediction - self.prediction

    @property
    def names(self) -> tuple[int, ...]:  # type: ignore[override]
        """The switches by their numbers."""
        return tuple(range(len(self.coef)))

    def summary(self) -> str:
        """What was fitted, in one line."""
        return f"Fit of {len(self.coef)} switches at f(xi) = {self.prediction:.4g} ({self.method})"


@dataclass(frozen=True)
class SwitchRows:
    """The fit to n rows, one of them xi itself if ``own_row``, penalised by ``ridge``.

    Without n it is the limit, in which neither counts.
    """

    n: int | None = None
    ridge: float = 0.0
    own_row: bool = False

    def __post_init__(self) -> None:
        if self.n is not None:
            arg.whole("n", self.n, 2)
        arg.not_negative("ridge", self.ridge)

    @property
    def has_own_row(self) -> bool:
        """Whether xi is one of the rows."""
        return self.own_row and self.n is not None

    @property
    def log_others(self) -> float:
        """Log of how often the measure counts."""
        return 0.0 if self.n is None else float(np.log(self.n - self.own_row))

    @property
    def log_ridge(self) -> float:
        """Log of the penalty; -inf in the limit."""
        return float(np.log(self.ridge)) if self.n is not None and self.ridge else -np.inf


LIMIT = SwitchRows()


def fit_form(form: SwitchForm, world: Switches, rows: SwitchRows = LIMIT) -> SwitchFit:
    """The fit of a function whose means are known, without sampling."""
    if form.d != world.d:
        raise ValueError(f"form must have the {world.d} switches of its world, got {form.d}.")
    line, weights = _line_and_weights(world, rows)
    f_xi = float(form(np.ones((1, world.d), bool))[0])
    departures = form.within(weights)
    coef, intercept = _assemble(line, world.d, rows, form.by_level(), departures, f_xi)
    return SwitchFit(coef, intercept, f_xi, np.zeros(world.d), 0.0, "exact")


def _line_and_weights(world: Switches, rows: SwitchRows) -> tuple[Line, np.ndarray]:
    """The line through the levels, and the weights (d + 1,) that turn H into departures.

    With n rows: N m_k / (N (alpha_1 - alpha_2) + ridge), N = n - 1 beside xi's own row.
    """
    k, log_weight = np.arange(world.d + 1.0), world.log_measure + rows.log_others
    if rows.has_own_row:
        k, log_weight = np.append(k, world.d), np.append(log_weight, 0.0)
    elif rows.log_ridge == -np.inf:
        world.refuse_unidentified()
    between = world.log_between + rows.log_others
    total = np.logaddexp(scipy.special.logsumexp(between), rows.log_ridge)
    log_measure = np.where(np.isfinite(between), world.log_measure + rows.log_others, -np.inf)
    with np.errstate(over="ignore"):
        weights = np.exp(log_measure - total) if np.isfinite(total) else np.zeros(world.d + 1)
    return Line.through(k, log_weight), weights


def _assemble(
    line: Line, d: int, rows: SwitchRows, F: np.ndarray, departures: np.ndarray, f_xi: float
) -> tuple[np.ndarray, float]:
    """Coefficients and intercept from the means by level and the departures of the switches."""
    values = np.append(F, f_xi) if rows.has_own_row else F
    slope = line.slope(values, rows.log_ridge + np.log(d))
    return slope + departures, line.average(values) - slope * line.mean


class Estimate(NamedTuple):
    """Intercept and coefficients of the limit (d + 1,), with their covariance."""

    beta: np.ndarray
    covariance: np.ndarray


def fit_sampled(
    f: Function, world: Switches, n: int, seed: Any = None, rows: SwitchRows = LIMIT
) -> SwitchFit:
    """The fit of any f, from its values at n masks, with standard errors.

    f takes masks (m, d) of bool and returns m numbers. ``rows`` says which fit is estimated (the
    limit, or `lime`'s own n, ridge and first row); ``n`` is how many masks f is called with.
    """
    n = arg.whole("n", n, 2 * (world.d + 2), f" for {world.d} switches")
    rng = np.random.default_rng(arg.seed("seed", seed))
    z = draw(world, n, rng)
    estimate = estimate_limit(world, z, evaluate(f, z), rng)
    f_xi = float(evaluate(f, np.ones((1, world.d), bool))[0])
    return _with_rows(estimate, world, rows, f_xi, n + 1)


@one_thread()
def estimate_limit(
    world: Switches, z: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> Estimate:
    """The limit from values y (n,) at masks z (n, d) of :func:`limetutor.switches.sampler.draw`."""
    world.refuse_unidentified()
    d, level = world.d, float(y[0] + np.mean(y - y[0]))  # to the last digit where all are the same
    size = float(np.max(np.abs(y - level))) or 1.0
    variates, y = control_variates(world, z, y, rng), (y - level) / size
    columns = np.column_stack([z, variates.columns])
    if in_pairs(len(y), d):
        beta, covariance = _paired_least_squares(np.column_stack([np.ones(len(y)), columns]), y)
    else:
        sums = Sums(d, variates.columns.shape[1])
        sums.add(columns, y, np.zeros(len(y)))
        beta, covariance, *_ = fit(sums)
    coefficients = beta[d + 1 :]
    beta, covariance = size * beta[: d + 1], covariance[: d + 1, : d + 1]
    for column, limit_covariance in variates.limit_covariances.items():
        covariance = covariance + coefficients[column] ** 2 * limit_covariance
    beta[0] += level
    return Estimate(beta, size**2 * covariance)


def _paired_least_squares(design: np.ndarray, y: np.ndarray) -> Estimate:
    """Least squares of values at pairs of masks, whose noise is dependent.

    Sandwich with the sum of x r over each pair, r corrected by (1 - H)^-1/2 with H the pair's block
    of the hat matrix (CR2 of Bell and McCaffrey, 2002). With s the scores of a coefficient, its
    variance v = sum s^2 has the relative variance sum s^4 / v^2, and ``WIDENING`` times that is added:
    a control variate leaves next to nothing at most masks and much at a few.
    """
    solver = Solver(design.T @ design)
    beta, bread = solver.beta(design.T @ y), solver.bread
    r = y - design @ beta
    if len(y) % 2:  # a row that adds nothing
        design, r = np.vstack([design, np.zeros(len(beta))]), np.append(r, 0.0)
    r, second, fourth = r.reshape(-1, 2), np.zeros(bread.shape), np.zeros(len(beta))
    for start in range(0, len(r), PAIRS_PER_CHUNK):
        stop = start + PAIRS_PER_CHUNK
        rows = design[2 * start : 2 * stop].reshape(-1, 2, len(beta))
        left = np.eye(2) - (rows @ bread) @ rows.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh(left)
        rotated = np.einsum("pji,pj->pi", vectors, r[start:stop])
        rotated /= np.sqrt(np.clip(values, MIN_RESIDUAL_SHARE, 1))
        corrected = np.einsum("pij,pj->pi", vectors, rotated)
        scores = np.einsum("pj,pjc->pc", corrected, rows) @ bread
        second += scores.T @ scores
        fourth += np.sum(scores**4, axis=0)
    total = np.diag(second)
    uneven = np.divide(fourth, total**2, out=np.zeros(len(total)), where=total > 1e-150)
    factor = np.sqrt(1 + WIDENING * uneven)
    return Estimate(beta, second * np.outer(factor, factor))


def _with_rows(
    estimate: Estimate, world: Switches, rows: SwitchRows, f_xi: float, calls: int
) -> SwitchFit:
    """The limit, or what ridge and xi's own row make of it.

    The fit depends on f through E[pi z f] alone, which is that of the surrogate: ridge and the row
    act on a linear function of the switches, and what they do is a linear map that treats all
    switches alike. Its entries are read off the images of an intercept, of all switches and of one.
    """
    d, C = world.d, estimate.covariance
    line, weights = _line_and_weights(world, rows)
    k = np.arange(d + 1)
    between = weights @ (k * (d - k)) / (d * (d - 1)) if d > 1 else 0.0

    def mapped(beta: np.ndarray, at_xi: float) -> np.ndarray:
        mean = beta[1:].mean()
        departures = (beta[1:] - mean) * between
        coef, intercept = _assemble(line, d, rows, beta[0] + mean * k, departures, at_xi)
        return np.append(intercept, coef)

    beta = mapped(estimate.beta, f_xi)
    from_intercept = mapped(np.append(1.0, np.zeros(d)), 0.0)
    from_all = mapped(np.append(0.0, np.ones(d)), 0.0)
    alone = 0.0
    if d > 1:
        from_first = mapped(np.append(0.0, np.arange(d) == 0), 0.0)
        alone = from_first[1] - from_first[2]
    # coef_j = alone beta_j + together sum beta + from_intercept beta_0
    together = (from_all[1] - alone) / d
    common = np.append(from_intercept[1], np.full(d, together))
    variance = alone**2 * np.diag(C)[1:] + 2 * alone * (C @ common)[1:] + common @ C @ common
    base = np.append(from_intercept[0], np.full(d, from_all[0] / d))
    return SwitchFit(
        coef=beta[1:], intercept=float(beta[0]), prediction=f_xi,
        stderr=np.sqrt(np.maximum(variance, 0)),
        intercept_stderr=float(np.sqrt(max(base @ C @ base, 0))), method="monte carlo", calls=calls,
    )  # fmt: skip
