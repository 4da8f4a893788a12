"""How much a model depends on each feature by itself, and whether it is a sum over features."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..core.explainer import NUMBERS_PER_BATCH

MIN_EFFECT = 0.05  # features whose effect on f is below this share of the largest are left alone
COMPARED = 3  # of the largest coefficients, whose effects others are compared with
EFFECT_DRAWS = 64  # of each feature alone, to see how much f depends on it


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
