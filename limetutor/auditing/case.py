"""What the checks of an audit look at: an explanation or a limit, and all that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy

from ..algorithm import Explanation
from ..closed_forms import Limit, limit_of, regressors_of
from ..models import Form, Linear, model_behind
from ..rows import Regressors, Rows, rows
from ..setting import Setting
from ..theory import Tilt
from ..worlds import Boxes, World
from .shared import Exact, Shared
from .speech import PLAIN, Speech

MATTERS = 0.05  # features whose effect on f is below this share of the largest are left alone
CONFIDENCE = 0.95  # of the intervals that tell numbers from 0, all of them together
SHOWN = 10  # features that `lime` puts on display unless told otherwise
COMPARED = 3  # of the largest coefficients, whose effects others are compared with
ADDITIVE = 0.5  # of the variance: a model of which more is a sum over features is one
DRAWS = 64  # of each feature alone, to see how much f moves with it
CHUNK = 2**20  # numbers in one batch of rows


@dataclass(frozen=True, eq=False)
class Case:
    """What the checks look at: the subject of the audit, sampled or not, and what is known of it.

    ``given`` is what it shares with other rows, of which it is the one at ``position``; ``shown`` is
    how many features are on display.
    """

    subject: Explanation | Limit
    is_lime: bool = False
    given: Shared | None = field(default=None, repr=False)
    position: int = 0
    shown: int = SHOWN
    say: Speech = PLAIN

    def __post_init__(self) -> None:
        if self.sampled is not None and not np.all(np.isfinite(self.sampled.covariance)):
            raise ValueError(
                "f must be of a size whose noise is a number for an audit, got standard errors beyond "
                "1e154; rescale f."
            )

    @cached_property
    def shared(self) -> Shared:
        """What it shares with other rows, or would."""
        return self.given or Shared.of(self.setting, self.n, self.ridge)

    @cached_property
    def setting(self) -> Setting:
        """What was asked, of the model itself where a method of it was passed."""
        asked = self.subject.setting
        model = model_behind(asked.f)
        return asked if model is asked.f else replace(asked, f=model)

    @property
    def boxes(self) -> Boxes:
        """The boxes of the world."""
        return self.setting.boxes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.boxes.names

    @property
    def xi(self) -> np.ndarray:
        """The instance, as numbers."""
        return self.setting.xi

    @property
    def nu(self) -> float:
        """The bandwidth."""
        return self.setting.nu

    @property
    def kernel(self) -> str:
        """What the kernel is called."""
        return self.setting.kernel.name

    @property
    def coef(self) -> np.ndarray:
        """The coefficients, (d,)."""
        return self.subject.coef

    @property
    def n(self) -> int | None:
        """Number of samples, None for a limit without ridge."""
        return self.subject.n

    @property
    def ridge(self) -> float:
        """The penalty."""
        return self.subject.ridge

    @property
    def prediction(self) -> float:
        """f(xi)."""
        return self.subject.prediction

    @property
    def local_prediction(self) -> float:
        """The surrogate at xi."""
        return self.subject.local_prediction

    @property
    def sampled(self) -> Explanation | None:
        """The subject, if it rests on samples."""
        return self.subject if isinstance(self.subject, Explanation) else None

    @property
    def stderr(self) -> np.ndarray | None:
        """Standard errors of the coefficients; None without samples."""
        return None if self.sampled is None else self.sampled.stderr

    @cached_property
    def reach(self) -> np.ndarray | None:
        """How far from its coefficient the limit may lie, (d,): 95% that all of them hold.

        Half the intervals of level 0.95^(1/m) for the m features in the fit. For normal errors of any
        correlation they hold together with at least the product of their levels (Sidak 1967).
        """
        many = max(int(self.used.sum()), 1)
        return self.reach_of_one(CONFIDENCE ** (1 / many))

    def reach_of_one(self, level: float = CONFIDENCE) -> np.ndarray | None:
        """The same for each feature on its own: of many some will miss."""
        if self.sampled is None:
            return None
        lo, hi = self.sampled.interval(level).T
        return (hi - lo) / 2

    def apart(self, i: int, j: int) -> tuple[float, float, float]:
        """By how much |coef i| is ahead of |coef j|, its standard error, and Student's quantile."""
        assert self.sampled is not None
        V, sign = self.sampled.covariance[1:, 1:], np.sign(self.coef)
        ahead = abs(self.coef[i]) - abs(self.coef[j])
        square = max(V[i, i] + V[j, j] - 2 * sign[i] * sign[j] * V[i, j], 0.0)
        freedom = self.sampled.freedom[1:][[i, j]].min()
        return float(ahead), float(np.sqrt(square)), self.t(freedom)

    @staticmethod
    def t(freedom: float) -> float:
        """Student's quantile for the intervals of an audit."""
        return float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2))

    @cached_property
    def used(self) -> np.ndarray:
        """Features that have a coefficient: chosen, and not constant, (d,) of bool."""
        chosen = np.ones(len(self.xi), bool) if self.sampled is None else self.sampled.used
        return chosen & ~self.constant

    @cached_property
    def constant(self) -> np.ndarray:
        """Features whose values all lie in xi's box, (d,) of bool."""
        share = self.boxes.law.prob[np.arange(len(self.xi)), self.setting.own]
        return (share == 1.0) & (self.boxed | ~self.boxes.ordered)

    @property
    def boxed(self) -> bool:
        """Whether the surrogate is fitted on boxes, or on numbers."""
        return self.setting.world.indicators

    @property
    def tilts(self) -> bool:
        """Whether limits are known: a kernel with a tilt, samples from the world's own law."""
        follows = self.sampled is None or self.sampled.draws.follows(self.boxes)
        return self.setting.product is not None and follows

    @property
    def product(self) -> bool:
        """Whether the theory of boxes applies to them."""
        return self.tilts and self.boxed

    @property
    def tilt(self) -> Tilt:
        """The tilted law seen from xi (product kernels only)."""
        return self.setting.tilt

    @cached_property
    def form(self) -> Form | None:
        """The form of f whose limits are exact and quick, or None."""
        return self.shared.form if self.tilts else None

    @property
    def linear(self) -> Linear | None:
        """f as a linear model, if that is what it is."""
        return self.form if isinstance(self.form, Linear) else None

    def exact(self, nu: float | None = None, world: World | None = None) -> Exact:
        """The exact answers of an f that has a form, at any bandwidth and in any world."""
        return self.shared.exact(self.position, self.nu if nu is None else nu, world)

    def fitted(self, nu: float | None = None, world: World | None = None) -> Limit:
        """The same with ridge and xi's own row, as a fit to n rows has them."""
        ridge = self.ridge if self.n else 0.0
        return limit_of(
            self.setting.at(nu, world), ridge, self.n if self.own_row or ridge else None
        )

    @property
    def top(self) -> float:
        """The largest coefficient, without its sign."""
        return float(np.max(np.abs(self.coef)))

    @property
    def error(self) -> float:
        """How far the surrogate is off at xi."""
        return self.local_prediction - self.prediction

    @property
    def own_row(self) -> bool:
        """Whether xi itself is one of the rows of the fit."""
        return self.setting.world.own_row and self.n is not None

    @cached_property
    def regressors(self) -> Regressors:
        """What the surrogate is fitted on, under the tilted law (product kernels only)."""
        return regressors_of(self.setting)

    @cached_property
    def rows(self) -> Rows:
        """What n, ridge, a selection and xi's own row make of the limit (product kernels only)."""
        n, penalty = self.n, self.ridge if self.n else 0.0
        return rows(self.regressors, self.tilt.log_C, penalty, n, self.own_row, self.used)

    @cached_property
    def kept(self) -> np.ndarray:
        """What penalties and selection leave of each coefficient, (d,): 1 for all of it."""
        share = self.rows.shrinkage.copy() if self.tilts else self.used.astype(float)
        lasso = getattr(self.subject, "lasso", 0.0)
        if lasso and self.form is not None:
            pull = np.exp(self.regressors.log_variance) * np.abs(self.exact().beta)
            with np.errstate(divide="ignore", invalid="ignore"):
                share *= np.where(pull > lasso, 1 - lasso / pull, 0.0)
        return share

    @cached_property
    def matters(self) -> np.ndarray:
        """Features with a coefficient whose effect on f is not negligible, (d,) of bool."""
        return self.mattering(np.ones(len(self.xi), bool))

    def mattering(self, mask: np.ndarray, share: float = MATTERS) -> np.ndarray:
        """Those of some features whose effect is at least this share of the largest.

        Effects are compared with each other and with those of the largest coefficients.
        """
        mask = mask & self.used
        if not np.any(mask):
            return mask
        leading = np.argsort(-np.abs(self.coef), kind="stable")[:COMPARED]
        asked = np.union1d(np.flatnonzero(mask), leading)
        self._ask_effects(asked)
        effect = np.zeros(len(self.xi))
        effect[asked] = [self._effects[int(j)] for j in asked]
        return mask & (effect > 0) & (effect >= share * effect.max())

    @cached_property
    def _effects(self) -> dict[int, float]:
        """What has been asked so far."""
        return {}

    def _ask_effects(self, asked: np.ndarray) -> None:
        """How much f moves with each feature alone: |a_j| sigma_j, or the deviation of f over x_j.

        For other than linear models x_j runs over draws of its law, the others stay at xi.
        """
        if self.linear is not None:
            size = np.abs(self.linear.a) * self.boxes.sigma
            self._effects.update({int(j): float(size[j]) for j in asked})
        new = np.array([j for j in asked if int(j) not in self._effects], int)
        d = len(self.xi)
        step = max(CHUNK // (DRAWS * d), 1)
        for start in range(0, len(new), step):
            some = new[start : start + step]
            rows = np.tile(self.xi, (len(some), DRAWS, 1))
            rows[np.arange(len(some)), :, some] = self._draws[:, some].T
            y = self.setting.predict(rows.reshape(-1, d)).reshape(len(some), DRAWS)
            self._effects.update(zip(some.tolist(), _deviation(y).tolist(), strict=True))

    @cached_property
    def _draws(self) -> np.ndarray:
        return self.boxes.law.sample(np.random.default_rng(0), DRAWS)[0]

    @cached_property
    def additive(self) -> float | None:
        """Which share of the model's variance over the samples is a sum over features, box by box.

        sum_j Var(E[f | box of x_j]) / Var(f), the first-order indices of Sobol with boxes for values,
        under the weights, less what chance adds. None where weights tie features to each other, without
        boxes, and where the model cannot be asked.
        """
        if not self.product:
            return None
        try:
            pool, y = self.shared.pool, self.shared.pool.y
        except ValueError:  # it stayed at home
            return None
        s = self.setting
        log_w = s.kernel.log_weights(pool.x, pool.box == s.own, s.xi, s.nu, s.boxes)
        w = np.exp(log_w - log_w.max())
        w /= w.sum()
        y = y - w @ y
        variance, chance = float(w @ y**2), float(w @ w)
        if variance == 0:
            return None
        total = 0.0
        for box in pool.box.T:
            weight = np.bincount(box, w)
            there = weight > 0
            mean = np.bincount(box, w * y)[there] / weight[there]
            total += weight[there] @ mean**2 - (there.sum() - 1) * chance * variance
        return float(np.clip(total / variance, 0.0, 1.0))

    @property
    def acts_together(self) -> bool:
        """Whether most of what the model does is not a sum over features; so too if nobody knows."""
        return self.additive is None or self.additive < ADDITIVE

    @property
    def leads(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest, those without one not among them."""
        order = np.argsort(-np.abs(self.coef), kind="stable")
        return order[self.used[order]]

    def light(self) -> Case:
        """The same without model and data, but with what pictures need."""
        light = Case(self.subject, self.is_lime, None, 0, self.shown, self.say)
        for known in ("reach", "constant", "used"):
            light.__dict__[known] = getattr(self, known)
        return light

    def name(self, mask: np.ndarray) -> tuple[str, ...]:
        """Names of the features where mask is True."""
        return tuple(self.names[j] for j in np.flatnonzero(mask))


def _deviation(y: np.ndarray) -> np.ndarray:
    """Standard deviation of each row, whatever its size."""
    size = np.max(np.abs(y), axis=1, keepdims=True)
    unit = np.where(size > 0, size, 1.0)
    return (y / unit).std(axis=1) * unit[:, 0]
