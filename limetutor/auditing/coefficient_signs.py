"""The signs of the coefficients: three things that are easily taken for one another.

The sign of the *slope* belongs to the model. The sign of the *contrast* is that of the coefficient,
a comparison of xi's box with the rest; it may oppose the slope's, and does wherever xi's box lies on
the low side under the tilted law. And a sign may *turn* as the bandwidth changes, which has nothing
to do with the model either. None of these is a mistake, so this is no finding; an audit reports
them beside its findings. Chapter: switch-off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .findings import PLAIN, Terms, few

MIN_GAP = 0.01  # in deviations: the sign of a smaller gap is not reported


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
    terms: Terms = PLAIN

    @classmethod
    def of(cls, case: Any) -> Signs:
        """The signs of a :class:`~limetutor.auditing.case.Case`."""
        slope = turns_at = np.full(len(case.coef), np.nan)
        opposes, linear = np.zeros(len(case.coef), bool), None
        if case.has_box_limit:
            matters, linear = case.effects.matter(), case.linear
            gap = case.tilt.gap / np.where(case.boxes.sigma > 0, case.boxes.sigma, 1.0)
            opposes = gap < -MIN_GAP
            if linear is not None:
                slope = linear.a
                opposes = (slope * case.limit.exact().coef < 0) & (np.abs(gap) > MIN_GAP)
            opposes &= matters & case.boxes.ordered
            turns_at = np.where(matters, case.limit.turning_points, np.nan)
        return cls(case.names, slope, case.coef, opposes, turns_at, linear is not None, case.terms)

    def __str__(self) -> str:
        names = [name for name, opposed in zip(self.names, self.opposes, strict=True) if opposed]
        if not names:
            return ""
        one = len(names) == 1
        if self.linear:
            return (
                f"Signs: {few(names)} {'opposes its slope' if one else 'oppose their slopes'}. A "
                f"coefficient compares {self.terms.rows} box with the rest, and that box lies on the "
                "low side."
            )
        return (
            f"Signs: {self.terms.rows} box of {few(names)} lies on the low side, so that what rises "
            f"with {'it' if one else 'them'} shows as a negative coefficient."
        )
