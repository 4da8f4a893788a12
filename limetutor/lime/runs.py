"""Runs of `lime`: from a pool of rows to a :class:`limetutor.LimePrediction`.

Whatever `lime` explains, a run of it is n weighted rows, a rule that chooses features and a fit. Here
many runs are drawn from a pool (:mod:`limetutor.lime.sample_pools`), fitted as `lime` fits them
(:mod:`limetutor.lime.selection_and_ridge`) and summarised. Chapter: the real lime.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from ..inputs import arguments as arg
from ..inputs.lime_defaults import RIDGE
from ..results.limit import TINY
from . import selection_and_ridge
from .lime_prediction import LimePrediction
from .sample_pools import Draws, Pool, covariance_of_runs
from .selection_and_ridge import Fits, Moments, ridge

NUM_FEATURES = 10  # that `lime` prints for a table or a text, if left out
MAX_RUNS = 400  # that are made of the calls of a model, if their number is left out, ...
MAX_FITTED_FEATURES = 20_000  # ... fewer for many features, so many in all, down to an eighth,
MAX_PRODUCTS = 4e11  # ... and fewer still, so many products in the sums of all runs,
SLOW = ("lasso_path",)  # ... a quarter for rules that are followed run by run,
MIN_RUNS = 10  # ... but not fewer than these
RUNS_PER_GROUP = 20  # whose standard deviation is the one that is predicted
# ... over sigma, for normal values: the median of chi / sqrt(19) with 19 degrees of freedom
MEDIAN_DEVIATION = 0.9824


class RunNumbers(NamedTuple):
    """The numbers of a prediction, checked."""

    features: int
    samples: int
    calls: int | None
    runs: int
    seed: Any


def one_label(label: Any, labels: Any) -> Any:
    """The label, whichever of the two arguments holds it."""
    if labels is None:
        return label
    several = isinstance(labels, Iterable) and not isinstance(labels, str)
    labels_listed = list(labels) if several else [labels]
    if label is not None or len(labels_listed) != 1:
        raise ValueError(
            f"labels must hold one label, and label be left out, got labels={arg.shorten(labels)}; "
            "ask for others one at a time."
        )
    return labels_listed[0]


def renamed(
    options: Mapping[str, Any], theirs: Mapping[str, str], ours: Mapping[str, Any], who: str
) -> dict[str, Any]:
    """The arguments ``ours`` of a function, some of them given by the names that `lime` has for them.

    ``theirs`` maps these to ours. What is neither is refused, and the nearest name suggested.
    """
    result = dict(ours)
    for name, value in options.items():
        own = theirs.get(name)
        if own is None:
            near = get_close_matches(name, [*theirs, *ours], 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise TypeError(f"{name} is no argument of {who}{hint}.")
        if result[own] is not None:
            raise ValueError(f"{name} and {own} must not both be given: they are the same.")
        result[own] = value
    return result


@dataclass(frozen=True)
class Request:
    """The arguments beside explainer, model and instance, by `lime`'s names."""

    label: Any = None
    top_labels: Any = None
    num_features: Any = None
    num_samples: Any = None
    model_regressor: Any = None
    calls: Any = None
    runs: Any = None
    seed: Any = 0
    options: dict[str, Any] = field(default_factory=dict)

    def numbers(self, features: int, samples: int, d: int, rule: str = "auto") -> RunNumbers:
        """The numbers, with those of `lime` where there are none; runs by the features and the rule."""
        samples = samples if self.num_samples is None else self.num_samples
        samples = arg.whole("num_samples", samples, 2, most=10**8)
        most = MAX_RUNS / 4 if rule in SLOW else MAX_RUNS
        by_features = np.clip(MAX_FITTED_FEATURES / d, MAX_RUNS / 8, most)
        usual = int(min(by_features, max(MAX_PRODUCTS / (samples * d**2), MIN_RUNS)))
        features = features if self.num_features is None else self.num_features
        return RunNumbers(
            arg.whole("num_features", features, 1), samples,
            None if self.calls is None else arg.whole("calls", self.calls, 2, most=10**8),
            arg.whole("runs", usual if self.runs is None else self.runs, 2, most=10**6),
            arg.seed("seed", self.seed),
        )  # fmt: skip


class Surrogates:
    """How an explainer chooses features and fits: its rule, and a ridge or another regressor."""

    def __init__(self, explainer: Any, model_regressor: Any) -> None:
        rules = tuple(selection_and_ridge.SELECTIONS)
        self.rule = arg.one_of("explainer's feature_selection", explainer.feature_selection, rules)
        self.regressor = model_regressor
        self.penalty = selection_and_ridge.penalty_of(model_regressor)

    def predicted(
        self, pool: Pool, numbers: RunNumbers, prediction: float, **description: Any
    ) -> LimePrediction:
        """Draw runs from a pool, choose features, fit and summarise.

        ``prediction`` is f(xi), ``description`` the fields of the result that no run has a part in.
        """
        draws = pool.draws(numbers.samples, numbers.runs, np.random.default_rng(numbers.seed))
        sums, mean = pool.moments(draws), pool.expected(numbers.samples)
        k = min(numbers.features, len(pool.at_xi))
        chosen = selection_and_ridge.SELECTIONS[self.rule](sums, k, pool.at_xi)
        if self.penalty is None:
            rows = _rows_of(pool, draws, prediction)
            fits = selection_and_ridge.estimator_fits(self.regressor, rows, chosen)
            first_order = np.zeros(chosen.shape)
        else:
            fits = ridge(sums, self.penalty, chosen)
            fits = _without_pool_noise(fits, pool, mean, self.penalty, chosen, numbers.samples)
            first_order = selection_and_ridge.linearised(mean, sums, self.penalty)
        whole = fits  # beside them only where too few runs chose a feature
        if self.penalty is None or np.any(chosen.sum(axis=0) < 2):
            whole = ridge(sums, RIDGE if self.penalty is None else self.penalty)
        coef, error = _means(fits.coef, chosen, whole.coef, first_order)
        local = prediction + fits.local
        return LimePrediction(
            coef=coef, sd=_typical_deviation(fits.coef, chosen, whole.coef),
            stderr=np.hypot(error, pool.stderr),
            intercept=float(np.mean(local - fits.coef @ pool.at_xi)),
            local_pred=float(np.mean(local)), score=float(np.mean(fits.score)),
            selection=selection_and_ridge.probabilities(chosen, self.rule not in selection_and_ridge.MAY_CHOOSE_FEWER),
            sets=selection_and_ridge.chosen_sets(chosen), method=pool.method, prediction=prediction,
            num_features=numbers.features, num_samples=numbers.samples, runs=numbers.runs,
            law=self._law(pool, sums, mean, first_order, numbers.samples), **description,
        )  # fmt: skip

    def _law(
        self, pool: Pool, sums: Moments, mean: Moments, first_order: np.ndarray, samples: int
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and covariance of runs on all features: to first order, and corrected by what runs do."""
        if self.penalty is None:
            return None
        every = np.ones(first_order.shape, bool)
        fits = _without_pool_noise(
            ridge(sums, self.penalty), pool, mean, self.penalty, every, samples
        )
        coef, _ = _means(fits.coef, every, fits.coef, first_order)
        linear = first_order.std(axis=0)
        factor = np.where(
            linear > 0, fits.coef.std(axis=0) / np.where(linear > 0, linear, 1.0), 1.0
        )
        return coef, covariance_of_runs(pool, samples, self.penalty) * np.outer(factor, factor)


def _without_pool_noise(
    fits: Fits, pool: Pool, mean: Moments, penalty: float, chosen: np.ndarray, samples: int
) -> Fits:
    """Fits without the noise of the pool's own rows, which is common to all runs.

    To first order that is the fit to the mean sums of the pool less the fit to the known ones.
    """
    exact_sums = pool.known(samples)
    if exact_sums is None:
        return fits
    sets, index = np.unique(chosen, axis=0, return_inverse=True)
    coef, local = fits.coef.copy(), fits.local.copy()
    for s, features in enumerate(sets):
        runs = np.ravel(index) == s
        exact, sampled = (ridge(sums, penalty, features[None]) for sums in (exact_sums, mean))
        coef[runs] += exact.coef[0] - sampled.coef[0]
        local[runs] += exact.local[0] - sampled.local[0]
    return Fits(coef, local, fits.score)


def _rows_of(
    pool: Pool, draws: Draws, prediction: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Regressors, responses and weights of each run, xi's own row first."""
    for rows in draws.rows():
        design = np.vstack([pool.at_xi, pool.design[rows] + pool.at_xi])
        y = np.concatenate([[0.0], pool.y[rows]]) + prediction
        yield design, y, np.concatenate([[pool.own_weight], pool.weights[rows]])


def _means(
    coef: np.ndarray, chosen: np.ndarray, whole: np.ndarray, first_order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means over the runs that chose a feature, and their errors.

    A feature that all runs chose has a control variate: ``first_order``, the linearised fits, has
    mean 0, and what it explains of the runs is subtracted. One that no run chose has the mean of the
    fits to all features, ``whole``.
    """
    values = np.where(chosen.any(axis=0), coef, whole)
    present = np.where(chosen.any(axis=0), chosen, True)
    count = present.sum(axis=0)
    mean = np.sum(values, axis=0, where=present) / count
    left = np.where(present, values - mean, 0.0)
    squares = np.sum(first_order**2, axis=0)
    slope = np.sum(first_order * left, axis=0) / np.maximum(squares, TINY)
    slope = np.where(chosen.all(axis=0) & (squares > 0), slope, 0.0)
    left -= slope * (first_order - first_order.mean(axis=0))
    error = np.sqrt(np.sum(left**2, axis=0)) / count
    return mean - slope * first_order.mean(axis=0), error


def _typical_deviation(coef: np.ndarray, chosen: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The standard deviation that :data:`RUNS_PER_GROUP` runs show, of each coefficient."""
    result = np.empty(coef.shape[1])
    for j in range(coef.shape[1]):
        values = coef[chosen[:, j], j]
        values = values if len(values) > 1 else whole[:, j]
        groups = len(values) // RUNS_PER_GROUP
        if groups < 2:
            result[j] = values.std(ddof=1)
        else:
            parts = values[: groups * RUNS_PER_GROUP].reshape(groups, RUNS_PER_GROUP)
            result[j] = np.median(parts.std(axis=1, ddof=1)) / MEDIAN_DEVIATION
    return result
