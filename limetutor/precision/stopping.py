"""Sampling until a standard error is reached: ``tol=`` and ``rtol=``. Chapter: how many samples."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.explainer import EXTENSIONS
from ..core.sampler import Sampler
from ..core.surrogate import Fit
from ..inputs import arguments as arg
from .progress import progress_bar

FIRST_STAGE_SAMPLES = 250  # at least; more where there are many columns
MAX_FORECAST = 10**12  # samples


@dataclass(frozen=True)
class Precision:
    """The standard error that was asked for, and how far sampling came.

    ``goal`` is in the units of f; ``error`` is the largest standard error at the end; ``forecast``
    the number of samples predicted from the first stage (from the last one, where the goal was
    missed); ``bound`` the most that were allowed.
    """

    option: str  # tol or rtol, as it was passed
    goal: float
    error: float
    forecast: int
    bound: int

    @property
    def reached(self) -> bool:
        """Whether the largest standard error is at most the goal."""
        return bool(self.error <= self.goal)

    def __str__(self) -> str:
        if self.reached:
            return (
                f"largest standard error {self.error:.2g}, {self.option} allows {self.goal:.2g}; "
                f"forecast n = {self.forecast:,}"
            )
        advice = f"about n = {self.forecast:,} would do"
        if self.forecast >= MAX_FORECAST:
            advice = f"even n = {MAX_FORECAST:,} would not do"
        return (
            f"{self.option} was not reached with n = {self.bound:,}: the largest standard error is "
            f"{self.error:.2g}, not {self.goal:.2g}; {advice}"
        )


class Target:
    """When to stop: an error in the units of f, or as a share of the largest coefficient."""

    def __init__(self, tol: Any, rtol: Any, draws: Sampler) -> None:
        if tol is not None and rtol is not None:
            raise ValueError("tol and rtol must not both be given; choose one.")
        self.relative = tol is None
        self.name = "rtol" if self.relative else "tol"
        self.value = arg.positive(self.name, rtol if self.relative else tol)
        self.independent = draws.independent
        self.history: list[tuple[int, float]] = []
        self.first_forecast: int | None = None

    def judge(self, n: int, beta: np.ndarray, stderr: np.ndarray, bound: int) -> Precision:
        """The precision of n samples; beta has the intercept first."""
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
        return Precision(f"{self.name} = {self.value:g}", goal, error, shown, bound)

    def _forecast(self, n: int, error: float, goal: float) -> int:
        """n (error / goal)^(1 / rate), the rate of independent draws being 1/2.

        For others it is estimated from the stages so far, between 1/2 and 1.
        """
        rate = 0.5
        if not self.independent and len(self.history) > 1:
            first_n, first_error = self.history[0]
            if error > 0 and first_error > 0:
                slope = np.log(first_error / error) / np.log(n / first_n)
                rate = float(np.clip(slope, 0.5, 1.0))
        if error <= goal:
            return n
        if goal == 0 or not np.isfinite(error) or error / goal > MAX_FORECAST:
            return MAX_FORECAST  # a square of the ratio may overflow
        return int(min(np.ceil(n * (error / goal) ** (1 / rate)), MAX_FORECAST))

    def next(self, n: int, reached: Precision) -> int:
        """How many samples to have after another stage: at most four times n, on a rough forecast."""
        if not self.independent:
            return 2 * n
        return int(np.clip(1.1 * reached.forecast, 1.25 * n, 4 * n))

    def reach(self, steps: Any, n: int) -> tuple[Fit, Precision]:
        """Draw in stages until the target is met or n samples are drawn; the fit and its precision."""
        columns, options = len(steps.sums.response), steps.options
        first_stage = max(FIRST_STAGE_SAMPLES, 10 * columns)
        size = min(n, options.draws.size(first_stage, options.scrambles))
        with forecast_bar() as show:
            while True:
                steps.draw(size - steps.drawn)
                fit = steps.fit()
                stderr = np.sqrt(np.clip(np.diag(fit.covariance)[1:], 0.0, None))
                precision = self.judge(size, fit.beta, stderr, n)
                if precision.reached or size >= n:
                    return fit, precision
                show(size, precision)
                size = min(n, self.next(size, precision))


@contextmanager
def forecast_bar(delay: float = 2.0) -> Iterator[Callable[[int, Precision], None]]:
    """A bar of samples drawn, of those that are forecast, for work of more than two seconds."""
    samples_bar = progress_bar(delay=delay, mininterval=0, unit="sample", unit_scale=True)
    if samples_bar is None:
        yield lambda drawn, precision: None
        return
    with samples_bar as bar:

        def show(drawn: int, precision: Precision) -> None:
            bar.total = min(precision.forecast, precision.bound)
            words = f"error {precision.error:.2g}, {precision.goal:.2g} asked for"
            bar.set_description(words, False)
            bar.update(drawn - bar.n)

        yield show


EXTENSIONS["tol"] = Target
