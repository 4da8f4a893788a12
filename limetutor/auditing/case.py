"""What the checks of an audit look at: an explanation or a limit, and what follows from it.

:class:`Case` is what was asked and answered. What takes work is in its parts, each computed when it is
first used: :class:`PopulationLimit` (exact coefficients), :class:`SamplingNoise` (intervals) and
:class:`Effects` (how much f depends on each feature).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import scipy

from ..bandwidth.roots import crossings, nearest_zeros
from ..core.boxes import World
from ..core.explainer import NUMBERS_PER_BATCH, run
from ..core.models import Form, Linear
from ..core.problem import Problem
from ..core.surrogate import MIN_STDERR
from ..inputs.predictors import model_behind
from ..precision.finite_n import (
    FiniteSampleCorrection,
    Regressors,
    finite_sample_correction,
    regressors_of,
)
from ..results.explanation import Explanation
from ..results.limit import Limit
from .coefficient_signs import Signs
from .findings import MIN_VISIBLE, PLAIN, AuditCase, Terms
from .shared_work import AuditPlan, ExactFits, Replay, SharedWork

CONFIDENCE = 0.95  # of the intervals that tell numbers from 0, all of them together
NUM_FEATURES = 10  # that `lime` displays unless told otherwise
LEADING = 0.5  # of the largest effect: without such a feature the explanation is another one
TRIAL = 3.0  # standard errors that the outcome of a trial must be clear of a threshold
TURN_RANGE = 0.25  # relative distance in nu within which a change of sign is reported
MIN_SHRINKAGE = 0.9  # what a penalty should leave of a coefficient
MIN_EFFECT = 0.05  # features whose effect on f is below this share of the largest are left alone
COMPARED = 3  # of the largest coefficients, whose effects others are compared with
EFFECT_DRAWS = 64  # of each feature alone, to see how much f depends on it


def problem_of(subject: Explanation | Limit) -> Problem:
    """The problem that was explained, with the model itself where one of its methods was passed."""
    problem = subject.setting
    model = model_behind(problem.f)
    return problem if model is problem.f else replace(problem, f=model)


@dataclass(frozen=True, eq=False)
class Case(AuditCase):
    """An explanation or a limit under audit.

    ``shared`` is the work it shares with other rows of a table, of which it is the one at
    ``position``; ``shown`` is how many features are on display.
    """

    subject: Explanation | Limit
    shared: SharedWork = field(repr=False)
    is_lime: bool = False
    position: int = 0
    shown: int = NUM_FEATURES
    terms: Terms = PLAIN
    row_name: str = ""
    is_trial: bool = False

    def __post_init__(self) -> None:
        if self.sampled is not None and not np.all(np.isfinite(self.sampled.covariance)):
            raise ValueError(
                "f must be of a size whose noise is a number for an audit, got standard errors beyond "
                f"1e154 or below {MIN_STDERR:g}; rescale f."
            )

    # --- what was asked and answered

    boxes = property(attrgetter("problem.boxes"))
    names = property(attrgetter("problem.boxes.names"))
    xi = property(attrgetter("problem.xi"))
    nu = property(attrgetter("problem.nu"))
    kernel = property(attrgetter("problem.kernel.name"))
    n = property(attrgetter("subject.n"))
    ridge = property(attrgetter("subject.ridge"))
    local_prediction = property(attrgetter("subject.local_prediction"))
    tilt = property(attrgetter("problem.tilt"))

    @cached_property
    def problem(self) -> Problem:
        """The problem that was explained."""
        return problem_of(self.subject)

    @property
    def lasso(self) -> float:
        """The lasso penalty; limits have none."""
        return getattr(self.subject, "lasso", 0.0)

    @property
    def error(self) -> float:
        """The local error: the surrogate at xi less f(xi)."""
        return self.local_prediction - self.prediction

    @property
    def sampled(self) -> Explanation | None:
        """The subject, if it rests on samples."""
        return self.subject if isinstance(self.subject, Explanation) else None

    @property
    def stderr(self) -> np.ndarray | None:
        """Standard errors of the coefficients; None without samples."""
        return None if self.covariance is None else np.sqrt(np.diag(self.covariance))

    @cached_property
    def expected(self) -> np.ndarray:
        """The coefficients that runs scatter around: exact where f has a form, else those seen."""
        if (
            self.sampled is None
            or self.form is None
            or self.lasso
            or np.any(~self.used & ~self.constant)
        ):
            return self.coef
        return np.where(self.used, self.limit.exact().coef, 0.0)

    @cached_property
    def covariance(self) -> np.ndarray | None:
        """The covariance of the coefficients over runs, (d, d); None without samples."""
        if self.sampled is None:
            return None
        covariance = self.sampled.covariance[1:, 1:]
        if not self.ridge or not self.has_limit:
            return covariance
        return covariance + np.diag(self.limit.penalty_noise())

    @property
    def margin(self) -> np.ndarray:
        """What another run may add to the coefficients, (d,): considered where a remedy is tried."""
        if self.is_trial and self.stderr is not None and self.expected is self.coef:
            return TRIAL * np.sqrt(2) * self.stderr
        return np.zeros(len(self.coef))

    @property
    def ranking(self) -> np.ndarray:
        """Features with a coefficient, from the largest to the smallest."""
        order = np.argsort(-np.abs(self.coef), kind="stable")
        return order[self.used[order]]

    @cached_property
    def used(self) -> np.ndarray:
        """Features that have a coefficient: selected, and not constant, (d,) of bool."""
        selected = np.ones(len(self.xi), bool) if self.sampled is None else self.sampled.used
        return selected & ~self.constant

    @cached_property
    def constant(self) -> np.ndarray:
        """Features whose values all lie in xi's box, (d,) of bool."""
        share = self.boxes.law.prob[np.arange(len(self.xi)), self.problem.box_of_xi]
        return (share == 1.0) & (self.boxed | ~self.boxes.ordered)

    def weights(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Weights of rows x (n, d) with indicators z (n, d), of sum 1."""
        problem = self.problem
        log_w = problem.kernel.log_weights(x, z, problem.xi, problem.nu, problem.boxes)
        w = np.exp(log_w - log_w.max())
        return w / w.sum()

    # --- what is known of the limit

    @property
    def boxed(self) -> bool:
        """Whether the surrogate is fitted on indicators of boxes, or on numbers."""
        return self.problem.world.regression is None

    @property
    def own_row(self) -> bool:
        """Whether xi itself is one of the rows of the fit."""
        return self.problem.world.own_row and self.n is not None

    @property
    def has_limit(self) -> bool:
        """Whether limits are known: a product kernel, and samples from the law of the world."""
        follows = self.sampled is None or self.sampled.draws.follows(self.boxes)
        return self.problem.product is not None and follows

    @property
    def has_box_limit(self) -> bool:
        """Whether the theory of indicators applies to them."""
        return self.has_limit and self.boxed

    @cached_property
    def form(self) -> Form | None:
        """The form of f whose limits are exact and quick, or None."""
        return self.shared.form if self.has_limit else None

    @property
    def linear(self) -> Linear | None:
        """f as a linear model, if it is one."""
        return self.form if isinstance(self.form, Linear) else None

    @cached_property
    def limit(self) -> PopulationLimit:
        """The exact answers for infinitely many samples."""
        return PopulationLimit(self)

    @cached_property
    def noise(self) -> SamplingNoise | None:
        """The sampling noise; None without samples."""
        return None if self.sampled is None else SamplingNoise(self.sampled, self.used)

    @cached_property
    def half_width(self) -> np.ndarray | None:
        """Half the simultaneous 95% intervals of the coefficients, (d,); None without samples."""
        return None if self.noise is None else self.noise.simultaneous()

    @cached_property
    def effects(self) -> Effects:
        """How much f depends on each feature."""
        return Effects(self)

    def signs(self) -> Signs:
        """The signs of slopes and coefficients."""
        return Signs.of(self)

    def without_model(self) -> Case:
        """The same without model and data, but with what pictures need."""
        light = replace(self, shared=None, position=0)  # type: ignore[arg-type]
        for name in ("half_width", "constant", "used", "covariance"):
            light.__dict__[name] = getattr(self, name)
        return light


def case_of_row(plan: AuditPlan, work: SharedWork, i: int) -> Case:
    """The case of row i of a table that shares its work."""
    assert work.n is not None
    ex = run(work.problem(i), work.n, sampler=Replay(work.pool), ridge=work.ridge)
    return Case(ex, work, plan.is_lime, i, plan.shown, plan.terms, work.row_name(i))


@dataclass(frozen=True, eq=False)
class SamplingNoise:
    """Intervals for the coefficients of an explanation, of which ``used`` (d,) are in the fit."""

    sampled: Explanation
    used: np.ndarray

    def simultaneous(self) -> np.ndarray:
        """Half-widths (d,) of intervals that all hold together in 95% of runs.

        Intervals of level 0.95^(1/m) for the m features in the fit. For normal errors of any
        correlation they hold together with at least the product of their levels (Sidak 1967).
        """
        lo, hi = self.sampled.interval(CONFIDENCE ** (1 / max(int(self.used.sum()), 1))).T
        return (hi - lo) / 2

    def lead(self, i: int, j: int) -> tuple[float, float, float]:
        """|coef i| - |coef j|, its standard error, and the quantile of Student's t for it."""
        coef, V = self.sampled.coef, self.sampled.covariance[1:, 1:]
        both = np.sign(coef[i]) * np.sign(coef[j])
        square = max(V[i, i] + V[j, j] - 2 * both * V[i, j], 0.0)
        freedom = self.sampled.freedom[1:][[i, j]].min()
        return float(abs(coef[i]) - abs(coef[j])), float(np.sqrt(square)), student(freedom)

    def local_error(self) -> float:
        """Half the 95% interval of the surrogate at xi."""
        return self.sampled.local_stderr * student(self.sampled.local_freedom)


def student(freedom: float) -> float:
    """The quantile of Student's t for 95% intervals."""
    return float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2))


@dataclass(frozen=True, eq=False)
class PopulationLimit:
    """What infinitely many samples would give, and what n, penalties and xi's own row make of it."""

    case: Case

    def exact(self, nu: float | None = None, world: World | None = None) -> ExactFits:
        """The exact answers of an f that has a form, at any bandwidth and in any world."""
        nu = self.case.nu if nu is None else nu
        return self.case.shared.exact(self.case.position, nu, world)

    @cached_property
    def regressors(self) -> Regressors:
        """The columns of the surrogate under the tilted law (product kernels only)."""
        return regressors_of(self.case.problem)

    @cached_property
    def correction(self) -> FiniteSampleCorrection:
        """The effect of n, ridge, selection and xi's own row on the limit (product kernels only)."""
        case = self.case
        penalty = case.ridge if case.n else 0.0
        return finite_sample_correction(
            self.regressors, case.tilt.log_C, penalty, case.n, case.own_row, case.used
        )

    @cached_property
    def kept(self) -> np.ndarray:
        """The share of each coefficient that penalties and selection leave, (d,)."""
        case = self.case
        share = self.correction.shrinkage.copy() if case.has_limit else case.used.astype(float)
        if case.lasso and case.form is not None:
            pull = np.exp(self.regressors.log_variance) * np.abs(self.exact().beta)
            with np.errstate(divide="ignore", invalid="ignore"):
                share *= np.where(pull > case.lasso, 1 - case.lasso / pull, 0.0)
        return share

    def penalty_noise(self) -> np.ndarray:
        """The variance over runs that a ridge causes by itself, (d,), which residuals do not show.

        It takes off delta_k = (1 - kept) beta_k. As much of it as z_j and z_k agree by chance in a run
        lands on j: to first order sum_{k != j} s_k delta_k^2 / (ess s_j), s the variances of the z.
        """
        case, s = self.case, np.exp(self.regressors.log_variance)
        used = case.used & (s > 0) & (self.kept > 0)
        s, kept = np.where(used, s, 1.0), np.where(used, self.kept, 1.0)
        part = s * (case.coef * (1 / kept - 1)) ** 2
        return np.where(used, (part.sum() - part) / (s * case.sampled.ess), 0.0)  # type: ignore[union-attr]

    def error_without_own_row(self) -> float:
        """f^(xi) - f(xi) after penalties and selection, before xi's own row."""
        exact = self.exact()
        return float(
            exact.error - np.sum(exact.beta * self.regressors.offset_at_xi * (1 - self.kept))
        )

    def own_row_change(self) -> float:
        """The most that xi's own row takes off a coefficient; by the run's error without a form."""
        error = self.case.error if self.case.form is None else self.error_without_own_row()
        return float(np.max(np.abs(self.correction.pull), initial=0.0)) * abs(error)

    @cached_property
    def turning_points(self) -> np.ndarray:
        """The bandwidth nearest to nu where each coefficient changes its sign, nan without one.

        Of the coefficient itself where f has a form; otherwise of the boxes alone. With xi's own row
        among the samples even a linear model's coefficients may turn with lime's kernel.
        """
        case, problem = self.case, self.case.problem
        if case.form is None or (case.linear is not None and not case.own_row):
            return crossings(problem.world, case.xi, case.nu, problem.kernel, TURN_RANGE)
        grid = case.nu * np.array([1 / (1 + TURN_RANGE), 1.0, 1 + TURN_RANGE])
        size = np.abs([self.exact(float(nu)).coef for nu in grid])
        least = np.where(np.max(size, axis=0) >= MIN_VISIBLE * np.max(size), 0.0, np.inf)

        def curve(nus: np.ndarray) -> np.ndarray:
            return np.array([case.shared.exact_alone(case.position, float(nu)).coef for nu in nus])

        return nearest_zeros(curve, grid, case.nu, least)


@dataclass(frozen=True, eq=False)
class Effects:
    """How much f depends on each feature alone, and whether it is a sum over features."""

    case: Any  # a Case
    known: dict[int, float] = field(default_factory=dict)  # the effects computed so far

    def matter(self, mask: np.ndarray | None = None, share: float = MIN_EFFECT) -> np.ndarray:
        """Features of ``mask`` (those with a coefficient) that have this share of the largest effect.

        Effects are compared with each other and with those of the largest coefficients.
        """
        case = self.case
        mask = case.used if mask is None else mask
        if not np.any(mask):
            return mask
        largest = np.argsort(-np.abs(case.expected), kind="stable")[:COMPARED]
        features = np.union1d(np.flatnonzero(mask), largest)
        self._compute(features)
        effect = np.zeros(len(case.xi))
        effect[features] = [self.known[int(j)] for j in features]
        return mask & (effect > 0) & (effect >= share * effect.max())

    def _compute(self, features: np.ndarray) -> None:
        """|a_j| sigma_j of a linear f; else the deviation of f over draws of x_j, the others at xi."""
        case, d = self.case, len(self.case.xi)
        if case.linear is not None:
            size = np.abs(case.linear.a) * case.boxes.sigma
            self.known.update({int(j): float(size[j]) for j in features})
        new = np.array([j for j in features if int(j) not in self.known], int)
        step = max(NUMBERS_PER_BATCH // (EFFECT_DRAWS * d), 1)
        for start in range(0, len(new), step):
            batch = new[start : start + step]
            x = np.tile(case.xi, (len(batch), EFFECT_DRAWS, 1))
            x[np.arange(len(batch)), :, batch] = self._draws[:, batch].T
            y = case.problem.predict(x.reshape(-1, d)).reshape(len(batch), EFFECT_DRAWS)
            unit = np.max(np.abs(y), axis=1)  # no square of y overflows
            unit = np.where(unit > 0, unit, 1.0)
            deviation = (y / unit[:, None]).std(axis=1) * unit
            self.known.update(zip(batch.tolist(), deviation.tolist(), strict=True))

    @cached_property
    def _draws(self) -> np.ndarray:
        return self.case.boxes.law.sample(np.random.default_rng(0), EFFECT_DRAWS)[0]

    @cached_property
    def additive(self) -> float | None:
        """The share of the model's variance over the samples that is a sum over features, box by box.

        sum_j Var(E[f | box of x_j]) / Var(f), the first-order indices of Sobol with boxes for values,
        under the weights, less what chance adds. None where weights tie features to each other, without
        boxes, and where the model cannot be called.
        """
        if not self.case.has_box_limit:
            return None
        try:
            pool, y = self.case.shared.pool, self.case.shared.pool.y
        except ValueError:  # the model was not pickled
            return None
        w = self.case.weights(pool.x, pool.box == self.case.problem.box_of_xi)
        y = y - w @ y
        variance, chance = float(w @ y**2), float(w @ w)
        if variance == 0:
            return None
        total = 0.0
        for box in pool.box.T:
            weight = np.bincount(box, w)
            present = weight > 0
            mean = np.bincount(box, w * y)[present] / weight[present]
            total += weight[present] @ mean**2 - (present.sum() - 1) * chance * variance
        return float(np.clip(total / variance, 0.0, 1.0))
