"""What is measured: models of Friedman's function, the worlds they are explained in, and how."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.neural_network import MLPRegressor

import limetutor as lt
from limetutor.many.explain_many import explain_quietly

MODELS: dict[str, Callable[[], Any]] = {
    "boosting": lambda: GradientBoostingRegressor(random_state=0),
    "forest": lambda: RandomForestRegressor(random_state=0),
    "two-layer net": lambda: MLPRegressor(
        hidden_layer_sizes=(32, 32), max_iter=2000, random_state=0
    ),
}


#: Of a picture: the panels, and in each the names of the curves, with x and y.
Curves = dict[str, dict[str, list[list[float]]]]


class Row(NamedTuple):
    """A line of the table: what, what was found, the goal, and whether it is met."""

    what: str
    found: str
    goal: str
    met: bool | None


@cache
def data(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Friedman's first function of five of d features, which are standardised; 2000 rows."""
    X, y = make_friedman1(2000, d, noise=1.0, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@cache
def model(name: str, d: int) -> Any:
    return MODELS[name]().fit(*data(d))


@dataclass(frozen=True)
class Question:
    """A model at one instance of a world, and the limit of its explanation."""

    predict: Callable[[np.ndarray], np.ndarray]
    xi: np.ndarray
    world: Any
    nu: float
    kernel: str
    truth: np.ndarray

    def ask(self, n: int, seed: int, **how: Any) -> lt.Explanation:
        return explain_quietly(
            self.predict, self.xi, self.world, self.nu, n, seed, self.kernel, **how
        )


def questions(name: str, d: int, kernel: str, many: int) -> list[Question]:
    """``many`` instances drawn from the world: Gaussian with nu = 1, or lime's kernel and width."""
    f, (X, _), rng = model(name, d), data(d), np.random.default_rng(1)
    if kernel == "gaussian":
        world, nu = lt.Gaussian.from_data(X), 1.0
        rows = world.mu + world.sigma * rng.standard_normal((many, d))
    else:
        world, nu = lt.Empirical(X), 0.75 * np.sqrt(d)
        rows = X[rng.choice(len(X), many, replace=False)]
    return [
        Question(f.predict, xi, world, nu, kernel, _truth(f, xi, world, nu, kernel)) for xi in rows
    ]


def _truth(f: Any, xi: np.ndarray, world: Any, nu: float, kernel: str) -> np.ndarray:
    """The exact limit; for the net, which has none, that of 2^17 Sobol points."""
    if isinstance(f, MLPRegressor):
        how = {"sampler": "sobol", "scrambles": 2}
        return explain_quietly(f.predict, xi, world, nu, 2**17, 99, kernel, **how).coef
    limit = lt.limit(f, xi, world, nu, kernel)
    assert limit.method == "exact"
    return limit.coef


class Measured(NamedTuple):
    """Mean squared error, coverage of 95% intervals, their half-width in root mean squared errors."""

    mse: np.ndarray  # one an instance
    coverage: float
    half_width: float

    def gain(self, over: Measured) -> float:
        return float(np.median(over.mse / self.mse))


def measure(asked: list[Question], n: int, runs: int, **how: Any) -> Measured:
    mse, hits, halves = [], [], []
    for question in asked:
        found = [question.ask(n, seed, **how) for seed in range(runs)]
        error = np.array([ex.coef for ex in found]) - question.truth
        ends = np.array([ex.interval() for ex in found])
        half = (ends[..., 1] - ends[..., 0]) / 2
        mse.append(np.mean(np.sum(error**2, axis=1)))
        hits.append(np.mean(np.abs(error) <= half))
        rms = np.sqrt(np.mean(error**2, axis=0))
        halves.append(np.median(half, axis=0) / np.where(rms > 0, rms, np.inf))
    return Measured(np.array(mse), float(np.mean(hits)), float(np.median(halves)))


def times(repeats: int, *calls: Callable[[], Any]) -> list[float]:
    """The least processor time of each call, taken in turns so that a busy machine hits all alike.

    Processor time, on one thread: what others do on the machine counts as little as can be.
    """
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - start)
    return best
