"""The result of :func:`limetutor.explain`: coefficients with their uncertainty. Chapter: surrogate."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np
import scipy

from ..inputs import arguments as arg
from .result import Fact, Result, fitted_with, largest_first, wing

ROUNDING = 16 * np.finfo(float).eps  # of the size of a surrogate


@dataclass(frozen=True)
class Samples:
    """The samples behind an explanation, kept on request.

    Weights are kept as logarithms too, for the cases where they underflow.
    """

    x: np.ndarray
    z: np.ndarray
    log_weights: np.ndarray
    y: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """exp(log_weights)."""
        return np.exp(self.log_weights)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """A local linear model on "same box as xi?" indicators, with its uncertainty.

    ``coef`` (d,), ``intercept``, and ``covariance`` ((d+1, d+1), intercept first) of the sampling
    error. A feature that was left out has coefficient 0 and standard error 0: it was not estimated.
    ``n`` is the number of samples drawn, ``setting`` the problem (:class:`limetutor.core.problem.Problem`).

    Examples
    --------
    >>> import limetutor as lt
    >>> f = lt.Linear([10, -10])
    >>> ex = lt.explain(f, [0.961, 0.432], lt.Gaussian(), nu=1.0, seed=0)
    >>> ex.as_list()[0][0], ex.interval().shape
    ('x1 >= 0.674', (2, 2))
    """

    coef: np.ndarray
    intercept: float
    covariance: np.ndarray
    prediction: float
    score: float
    ess: float
    n: int
    nu: float
    kernel: str
    sampler: str
    names: tuple[str, ...]
    output: Any
    xi: np.ndarray
    warnings: tuple[str, ...]
    used: np.ndarray  # which features have an estimate, (d,) of bool
    freedom: np.ndarray  # degrees of freedom of intercept and coef, (d+1,)
    local_freedom: float
    setting: Any
    draws: Any  # the sampler
    ridge: float = field(default=0.0)
    lasso: float = field(default=0.0)
    scrambles: int | None = None  # groups of draws that depend on each other, of sampler="sobol"
    adjusted: bool = False
    precision: Any = None  # what tol or rtol asked for, and what was reached
    samples: Samples | None = field(default=None)
    textbook_stderr: np.ndarray | None = field(default=None)  # lime_stability's

    f = property(attrgetter("setting.f"), doc="The model that was explained.")

    @cached_property
    def stderr(self) -> np.ndarray:  # type: ignore[override]
        """Standard errors of ``coef``: the sandwich with residuals corrected for leverage.

        Of two and more scrambles: from their spread. Of one it is the sandwich, which takes the
        draws for independent and is an upper bound, several times too large.
        """
        return np.sqrt(np.clip(np.diag(self.covariance)[1:], 0.0, None))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Intervals that hold the limit of each coefficient with probability ``level``, (d, 2).

        coef ± t stderr, where t is Student's quantile with the degrees of freedom that the weights
        leave each coefficient: few samples with most of the weight make wide intervals.
        """
        reach = student_reach(self.stderr, self.freedom[1:], level)
        if self.adjusted:  # control variates may explain f to the last digit, and leave rounding
            rounding = ROUNDING * (abs(self.intercept) + np.sum(np.abs(self.coef)))
            reach = np.where(self.used, np.maximum(reach, rounding), reach)
        return self.coef[:, None] + np.outer(reach, [-1.0, 1.0]).reshape(-1, 2)

    def bounds(self) -> np.ndarray:
        """95% intervals, (d, 2)."""
        return self.interval()

    @property
    def local_prediction(self) -> float:  # type: ignore[override]
        """The surrogate at xi: intercept plus all coefficients (times scaled numbers without boxes)."""
        return self.intercept + float(np.sum(self.coef * self.setting.value_at_xi))

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``."""
        if not np.all(np.isfinite(self.covariance)):
            return float("inf")
        at_xi = np.concatenate([[1.0], self.setting.value_at_xi])
        return float(np.sqrt(max(np.sum(self.covariance * np.outer(at_xi, at_xi)), 0.0)))

    x = property(attrgetter("_kept.x"), doc="Samples (n, d).")
    z = property(attrgetter("_kept.z"), doc="Their indicators (n, d).")
    weights = property(attrgetter("_kept.weights"), doc="Their weights (n,).")
    y = property(attrgetter("_kept.y"), doc="The responses f(x) (n,).")

    @property
    def _kept(self) -> Samples:
        if self.samples is None:
            raise ValueError("keep must be True in lt.explain for the samples to be kept.")
        return self.samples

    def order(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest, those left out not among them."""
        return largest_first(self.coef, self.used)

    def to_frame(self) -> Any:
        """As that of every result; nan for features that were left out."""
        frame = super().to_frame()
        frame.loc[~self.used, ["coef", "stderr", "lower", "upper"]] = np.nan
        return frame

    def facts(self) -> list[Fact]:
        """The numbers beside the coefficients, for pages and dictionaries."""
        return [
            Fact("prediction", "the model's prediction", "f(ξ)", self.prediction),
            Fact("local_prediction", "what the explanation adds up to", "f^(ξ)", self.local_prediction),
            Fact("score", "share of the variation nearby that it explains", "R²", self.score),
            Fact("ess", "samples that count", "effective samples", self.ess),
            Fact("n", "samples drawn", "n", self.n),
            Fact("nu", "bandwidth", "ν", self.nu),
            Fact("kernel", "kernel", "kernel", self.kernel),
            Fact("sampler", "sampler", "sampler", self.sampler),
        ]  # fmt: skip

    def stability(self, features: int = 10, runs: int = 10, select: str = "auto") -> Any:
        """How alike repeated explanations would be (VSI and CSI), without repeating any.

        See :func:`limetutor.precision.stability.stability`.
        """
        return wing("precision.stability").stability(self, features, runs, select)

    def ranking(self) -> Any:
        """How surely the limit has this order of sizes: :class:`limetutor.precision.rankings.Ranking`."""
        return wing("precision.rankings").of_explanation(self)

    def _headline(self) -> str:
        scrambles = ""
        if self.scrambles is not None:
            scrambles = f" ({self.scrambles} scramble{'s' if self.scrambles > 1 else ''})"
        return (
            f"Explanation of f(xi) = {self.prediction:.4g} with {self.n} samples, nu = {self.nu:g}, "
            f"{self.kernel} kernel, {self.sampler} sampler{scrambles}{fitted_with(self.ridge)}"
            f"{', adjusted' if self.adjusted else ''}"
        )

    def _closing(self, xi: str) -> list[str]:
        join, of = (", ", "") if xi == "xi" else ("; ", f" of {self.n}")
        first = f"surrogate at {xi} {self.local_prediction:.4g}{join}R² {self.score:.3f}{join}"
        lines = [f"{first}effective samples {self.ess:.0f}{of}"]
        reached = self.precision is not None and self.precision.reached
        return [*lines, str(self.precision)] if reached else lines


def student_reach(stderr: np.ndarray, freedom: np.ndarray, level: float) -> np.ndarray:
    """Half of the width of intervals that hold with probability ``level``: t stderr.

    t is Student's (1 + level) / 2 quantile with these degrees of freedom.
    """
    level = arg.probability("level", level)
    if level > 1 - 1e-12:
        raise ValueError(f"level must be at most 1 - 1e-12, got {level!r}.")
    return scipy.special.stdtrit(freedom, 0.5 + level / 2) * stderr
