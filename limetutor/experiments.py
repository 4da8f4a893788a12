"""Experiments of the book: the same explanation many times over, to see what chance does to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import arguments as arg
from .boxes import World
from .explain import explain


@dataclass(frozen=True)
class Runs:
    """Repeated explanations: coefficients (runs, d), intercepts and surrogates at xi (runs,)."""

    coef: np.ndarray
    intercept: np.ndarray
    local_prediction: np.ndarray
    prediction: float
    names: tuple[str, ...]

    @property
    def mean(self) -> np.ndarray:
        """Mean coefficient over the runs, (d,)."""
        return self.coef.mean(axis=0)

    @property
    def stderr(self) -> np.ndarray:
        """Standard error of that mean, (d,)."""
        return self.coef.std(axis=0, ddof=1) / np.sqrt(len(self.coef))


def repeat(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    *,
    n: int = 5000,
    runs: int = 20,
    seed: int = 0,
    **how: Any,
) -> Runs:
    """Explain f(xi) ``runs`` times with independent samples; ``how`` goes to :func:`explain`."""
    runs = arg.whole("runs", runs, 2)
    seeds = np.random.SeedSequence(seed).spawn(runs)
    all_runs = [explain(f, xi, world, nu, n=n, seed=s, **how) for s in seeds]
    return Runs(
        coef=np.array([ex.coef for ex in all_runs]),
        intercept=np.array([ex.intercept for ex in all_runs]),
        local_prediction=np.array([ex.local_prediction for ex in all_runs]),
        prediction=all_runs[0].prediction,
        names=all_runs[0].names,
    )
