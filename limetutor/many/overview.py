"""Many rows at once: how important features are, and which rows to look at.

Importance is the mean size of a feature's coefficients over the rows. Rows are picked as `lime`'s
``SubmodularPick`` does (Ribeiro et al. 2016, Algorithm 2): one after the other, each time the row that adds most to the
importance, sum_j sqrt(sum_i |w_ij|), of the boxes and categories that picked rows display. Runs differ, and
so do their picks: both are repeated with coefficients drawn anew from their standard errors.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

REPEATS = 200  # draws of all coefficients


class Pick(NamedTuple):
    """Rows to look at, by position, in the order of the pick.

    ``again`` has for each the share of repeats that pick it as well, and ``covered`` the share of all
    importance that the rows up to it display.
    """

    rows: tuple[int, ...]
    again: np.ndarray
    covered: np.ndarray


def importance(coef: np.ndarray, stderr: np.ndarray, names: tuple[str, ...]) -> Any:
    """A DataFrame, the most important feature first.

    ``importance`` is the mean of |coef|; ``stderr`` its error for the choice of rows, with the noise of the
    runs; ``noise`` the mean that noise alone would give, sqrt(2/pi) of the standard errors; ``positive`` the
    share of rows whose coefficient is above 0.
    """
    import pandas as pd

    size = np.abs(coef)
    error = size.std(axis=0, ddof=1) / np.sqrt(len(coef)) if len(coef) > 1 else stderr[0]
    frame = pd.DataFrame(
        {
            "importance": size.mean(axis=0),
            "stderr": error,
            "noise": np.sqrt(2 / np.pi) * stderr.mean(axis=0),
            "positive": (coef > 0).mean(axis=0),
        },
        index=list(names),
    )
    return frame.sort_values("importance", ascending=False, kind="stable")


def pick(
    coef: np.ndarray, stderr: np.ndarray, boxes: np.ndarray, k: int, features: int, seed: Any
) -> Pick:
    """The rows that `lime`'s submodular pick takes, and how often repeats take them.

    ``boxes`` (rows, d) number what each row displays of each feature: its box or category.
    """
    k = min(k, len(coef))
    chosen, covered = _greedy(coef, boxes, k, features)
    rng, counts = np.random.default_rng(seed), Counter[int]()
    for _ in range(REPEATS if np.any(stderr) else 0):
        drawn = coef + stderr * rng.standard_normal(coef.shape)
        counts.update(_greedy(drawn, boxes, k, features)[0])
    again = np.array([counts[i] / REPEATS if counts else 1.0 for i in chosen])
    return Pick(tuple(chosen), again, np.array(covered))


def _greedy(
    coef: np.ndarray, boxes: np.ndarray, k: int, features: int
) -> tuple[list[int], list[float]]:
    rows, d = coef.shape
    size = np.abs(coef)
    if features < d:  # what each row displays
        least = -np.partition(-size, features - 1, axis=1)[:, [features - 1]]
        size = np.where(size >= least, size, 0.0)
    width = int(boxes.max()) + 1
    column = boxes + width * np.arange(d)
    total = np.sqrt(np.bincount(column.ravel(), size.ravel(), width * d))
    gain = np.where(size > 0, total[column], 0.0)
    left, chosen, covered = total.sum() or 1.0, [], []
    seen, free, reached = np.zeros(width * d, bool), np.ones(rows, bool), 0.0
    for _ in range(k):
        new = np.sum(np.where(seen[column], 0.0, gain), axis=1)
        best = int(np.flatnonzero(free & (new == new[free].max()))[-1])  # the last of equal ones
        chosen.append(best)
        free[best] = False
        reached += float(new[best])
        covered.append(reached / left)
        seen[column[best][size[best] > 0]] = True
    return chosen, covered
