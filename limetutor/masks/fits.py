"""What LIME's fit becomes in a world of switches: coefficients, intercept, and xi's own row.

A function f of the switches enters through two things only: its mean F_k given that k switches are
on, and, for each switch, how f goes with it at that k,

    H_jk = E[f z_j | k] - F_k k / d.

The coefficients are the slope of F on k plus how each switch departs from the others,

    beta_j = slope(F on k) + sum_k m_k H_jk / (alpha_1 - alpha_2),

m the measure of share times weight. With n rows and ridge, n - 1 times the measure counts, ridge
is added to both denominators (d times for the slope: all d coefficients move together), and xi's
own row is one more point (d, f(xi)) of weight 1 on the line. Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from .. import arguments as arg
from .switches import Line, Switches


class SwitchForm(Protocol):
    """A function of d switches whose means are known."""

    @property
    def d(self) -> int:
        """How many switches there are."""

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d)."""

    def by_level(self) -> np.ndarray:
        """F_k, the mean of f over the masks with k switches on, (d + 1,)."""

    def within(self, weights: np.ndarray) -> np.ndarray:
        """sum_k weights_k H_jk, (d,)."""


@dataclass(frozen=True)
class SwitchFit:
    """Coefficients (d,) and intercept of the surrogate, with their standard errors if sampled."""

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
    def log_others(self) -> float:
        """Log of how often the measure counts."""
        return 0.0 if self.n is None else float(np.log(self.n - self.own_row))

    @property
    def log_ridge(self) -> float:
        """Log of the penalty; -inf in the limit."""
        return float(np.log(self.ridge)) if self.n is not None and self.ridge else -np.inf


LIMIT = SwitchRows()


def parts(world: Switches, rows: SwitchRows) -> tuple[Line, np.ndarray]:
    """The line through the levels, and the weights (d + 1,) that turn H into departures.

    With n rows: N m_k / (N (alpha_1 - alpha_2) + ridge), N = n - 1 beside xi's own row.
    """
    k, log_weight = np.arange(world.d + 1.0), world.log_measure + rows.log_others
    if rows.own_row and rows.n is not None:
        k, log_weight = np.append(k, world.d), np.append(log_weight, 0.0)
    elif rows.log_ridge == -np.inf:
        world.refuse_unidentified()
    between = world.log_between + rows.log_others
    total = np.logaddexp(scipy.special.logsumexp(between), rows.log_ridge)
    departing = np.where(np.isfinite(between), world.log_measure + rows.log_others, -np.inf)
    with np.errstate(over="ignore"):
        weights = np.exp(departing - total) if np.isfinite(total) else np.zeros(world.d + 1)
    return Line.through(k, log_weight), weights


def assemble(
    world: Switches, rows: SwitchRows, F: np.ndarray, departures: np.ndarray, f_xi: float
) -> tuple[np.ndarray, float]:
    """Coefficients and intercept from the means by level and the departures of the switches."""
    line, _ = parts(world, rows)
    values = np.append(F, f_xi) if rows.own_row and rows.n is not None else F
    slope = line.slope(values, rows.log_ridge + np.log(world.d))
    return slope + departures, line.average(values) - slope * line.mean


def fit_form(form: SwitchForm, world: Switches, rows: SwitchRows = LIMIT) -> SwitchFit:
    """The fit of a function whose means are known, without sampling."""
    if form.d != world.d:
        raise ValueError(f"form must have the {world.d} switches of its world, got {form.d}.")
    _, weights = parts(world, rows)
    f_xi = float(form(np.ones((1, world.d), bool))[0])
    departures = form.within(weights)
    coef, intercept = assemble(world, rows, form.by_level(), departures, f_xi)
    return SwitchFit(coef, intercept, f_xi, np.zeros(world.d), 0.0, "exact")
