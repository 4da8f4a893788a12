"""What the signs of the coefficients say: three things that are easily taken for one another.

The sign of the *slope* belongs to the model. The sign of the *contrast* is that of the coefficient,
a comparison of xi's box with the rest; it may oppose the slope's, and does wherever xi's box lies on
the low side under the tilted law. And a sign may *turn* as the bandwidth moves, which has nothing
to do with the model either. None of these is a mistake, so this is no finding; an audit reports
them beside its findings. Chapter: switch-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .case import Case
from .checks import turning_points
from .speech import PLAIN, Speech
from .wording import few

CLEAR = 0.01  # in deviations: a gap beyond it has a sign to speak of


@dataclass(frozen=True)
class Signs:
    """For each feature: slope, contrast, whether the one opposes the other, where it turns.

    ``slope`` is that of a linear model, nan for others. ``opposes`` is True where a slope and its
    contrast have opposite signs; for other than linear models, where those of a straight-line
    effect would have. ``turns_at`` is the nearest bandwidth at which the contrast changes its sign,
    within a quarter of the one in use, and nan without one.
    """

    names: tuple[str, ...]
    slope: np.ndarray
    contrast: np.ndarray
    opposes: np.ndarray
    turns_at: np.ndarray
    linear: bool
    say: Speech = PLAIN

    @classmethod
    def of(cls, case: Case) -> Signs:
        """The signs of an explanation or a limit."""
        d = len(case.coef)
        slope, nothing = np.full(d, np.nan), np.full(d, np.nan)
        if not case.product:
            return cls(case.names, slope, case.coef, np.zeros(d, bool), nothing, False, case.say)
        sigma = np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0)
        opposes = case.matters & case.boxes.ordered & (case.tilt.gap < -CLEAR * sigma)
        linear = case.linear
        if linear is not None:
            slope = linear.a
            opposes = case.matters & case.boxes.ordered & (slope * case.exact().coef < 0)
            opposes &= np.abs(case.tilt.gap) > CLEAR * sigma
        turns = np.where(case.matters, turning_points(case), np.nan)
        return cls(case.names, slope, case.coef, opposes, turns, linear is not None, case.say)

    def __str__(self) -> str:
        names = [name for name, opposed in zip(self.names, self.opposes, strict=True) if opposed]
        if not names:
            return ""
        it, its, verb = (
            ("it", "its slope", "s") if len(names) == 1 else ("them", "their slopes", "")
        )
        if self.linear:
            return (
                f"Signs: {few(names)} oppose{verb} {its}. A coefficient compares {self.say.rows} box "
                "with the rest, and that box lies on the low side."
            )
        box = "ξ's box" if self.say.symbols else "this row's box"
        return (
            f"Signs: {box} of {few(names)} lies on the low side, so that what rises with {it} "
            "shows as a negative coefficient."
        )
