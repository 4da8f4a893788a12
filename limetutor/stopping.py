"""As many samples as an error asks for: ``tol=`` and ``rtol=``. Chapter: how many samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import arguments as arg

FIRST = 250  # samples, or more where there are many columns, before an error is believed
MOST = 10**12  # samples that a forecast speaks of


@dataclass(frozen=True)
class Precision:
    """The standard error that was asked for, and how far sampling came.

    ``goal`` is in the units of f; ``error`` is the largest standard error at the end; ``forecast``
    the number of samples that the first ones foretold (where the goal was missed: that the last
    ones foretell); ``bound`` the most that were allowed.
    """

    asked: str
    goal: float
    error: float
    forecast: int
    bound: int

    @property
    def reached(self) -> bool:
        """Whether the largest standard error is at most the goal."""
        return bool(self.error <= self.goal)

    @property
    def _advice(self) -> str:
        if self.forecast >= MOST:
            return f"even n = {MOST:,} would not do"
        return f"about n = {self.forecast:,} would do"

    def __str__(self) -> str:
        if self.reached:
            return (
                f"largest standard error {self.error:.2g}, {self.asked} allows {self.goal:.2g}; "
                f"forecast n = {self.forecast:,}"
            )
        return (
            f"{self.asked} was not reached with n = {self.bound:,}: the largest standard error is "
            f"{self.error:.2g}, not {self.goal:.2g}; {self._advice}"
        )


class Target:
    """When to stop: an error in the units of f, or as a share of the largest coefficient."""

    def __init__(self, tol: Any, rtol: Any, independent: bool) -> None:
        if tol is not None and rtol is not None:
            raise ValueError("tol and rtol must not both be given; choose one.")
        self.relative = tol is None
        value = rtol if self.relative else tol
        self.value = arg.positive("rtol" if self.relative else "tol", value)
        self.independent = independent
        self.history: list[tuple[int, float]] = []
        self.first_forecast: int | None = None

    def first(self, columns: int) -> int:
        """Samples of the first stage."""
        return max(FIRST, 10 * columns)

    def judge(self, n: int, beta: np.ndarray, stderr: np.ndarray, bound: int) -> Precision:
        """What n samples have come to; beta has the intercept first."""
        error = float(np.max(stderr, initial=0.0))
        goal = self.value
        if self.relative:  # beside a large intercept, coefficients of a constant f are rounding
            size = float(np.max(np.abs(beta[1:]), initial=0.0))
            goal *= max(size, 1e-12 * abs(float(beta[0])))
        self.history.append((n, error))
        forecast = self._forecast(n, error, goal)
        if self.first_forecast is None:
            self.first_forecast = forecast
        shown = self.first_forecast if error <= goal else forecast
        name = "rtol" if self.relative else "tol"
        return Precision(f"{name} = {self.value:g}", goal, error, shown, bound)

    def _forecast(self, n: int, error: float, goal: float) -> int:
        """n (error / goal)^(1 / rate), the rate of independent draws being 1/2.

        For others it is what the stages so far have shown, between 1/2 and 1.
        """
        rate = 0.5
        if not self.independent and len(self.history) > 1:
            before, was = self.history[0]
            if error > 0 and was > 0:
                rate = float(np.clip(np.log(was / error) / np.log(n / before), 0.5, 1.0))
        if error <= goal:
            return n
        if goal == 0 or not np.isfinite(error) or error / goal > MOST:  # whose square may overflow
            return MOST
        return int(min(np.ceil(n * (error / goal) ** (1 / rate)), MOST))

    def next(self, n: int, found: Precision) -> int:
        """How many samples there should be after another stage: no leap on a rough forecast."""
        if not self.independent:
            return 2 * n
        return int(np.clip(1.1 * found.forecast, 1.25 * n, 4 * n))
