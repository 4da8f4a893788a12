"""What `lime` fits to a neighbourhood, for many runs: which features it chooses, how often, and its ridge.

`lime` chooses features by one of four rules and fits Ridge(alpha=1) to the chosen ones. All of it
depends on a neighbourhood through weighted sums only. Regressors and responses are taken relative to
xi's own row: the row then adds to the total weight and to nothing else, and where it has nearly all
of the weight no digit is lost. Chapter: the real lime.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core.surrogate import MIN_DEVIATION, Solver, pseudo_inverse
from ..inputs import arguments as arg
from ..inputs.lime_defaults import RIDGE
from ..inputs.predictors import class_of
from ..precision import sparse
from ..precision.sparse import Moments

NUMBERS_AT_ONCE = 2**20  # in the equations that are taken out of the sums together


class Fits(NamedTuple):
    """The surrogates of runs: coefficients (runs, d), 0 where a feature was not chosen."""

    coef: np.ndarray
    local: np.ndarray  # f^(xi) - f(xi), (runs,)
    score: np.ndarray  # weighted R^2, (runs,)


def ridge(sums: Moments, penalty: float, chosen: np.ndarray | None = None) -> Fits:
    """Ridge on the chosen features of each run, a mask (runs, d); the intercept is not penalised."""
    chosen = np.ones(sums.mean.shape, bool) if chosen is None else chosen
    size = int(chosen.sum(axis=1).max(initial=0))
    used = np.argsort(~chosen, axis=1, kind="stable")[:, :size]  # those chosen, and others
    kept, coef = np.take_along_axis(chosen, used, axis=1), np.zeros(sums.mean.shape)
    step = max(NUMBERS_AT_ONCE // max(size, 1) ** 2, 1)
    for start in range(0, len(coef), step):
        runs = np.arange(start, min(start + step, len(coef)))[:, None]
        features, present = used[runs[:, 0]], kept[runs[:, 0]]
        gram = sums.gram[runs[:, :, None], features[:, :, None], features[:, None, :]]
        gram *= present[:, :, None] & present[:, None, :]
        gram[:, np.arange(size), np.arange(size)] += present * penalty
        response = present * sums.response[runs, features]
        coef[runs, features] = _solved(gram, response, sums.total[runs[:, 0]])
    local = sums.level - np.sum(sums.mean * coef, axis=1)
    left = sums.square - 2 * np.sum(coef * sums.response, axis=1)
    left += np.sum(coef * np.matmul(sums.gram, coef[:, :, None])[:, :, 0], axis=1)
    constant = sums.square <= 0
    score = 1 - np.where(constant, 0.0, left / np.where(constant, 1.0, sums.square))
    return Fits(coef, local, score)


def _solved(gram: np.ndarray, response: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The solutions (runs, d) of equations of least squares, as :class:`Solver` finds each."""
    gram, response = gram / total[:, None, None], response / total[:, None]
    diagonal = np.arange(gram.shape[1])
    scale = np.sqrt(np.maximum(gram[:, diagonal, diagonal], 0.0))
    constant = scale <= MIN_DEVIATION
    scale[constant] = 1.0
    unit = gram / (scale[:, :, None] * scale[:, None, :])
    unit[constant[:, :, None] | constant[:, None, :]] = 0.0
    unit[:, diagonal, diagonal] = 1.0
    norm, sides = np.abs(unit).sum(axis=2).max(axis=1, initial=0.0), response * ~constant / scale
    rounding = np.maximum(1e-10, 1e-15 / np.min(scale, axis=1, initial=1.0) ** 2)
    coef, conditioned = np.zeros(scale.shape), np.zeros(len(scale), bool)
    for r, matrix in enumerate(unit if len(diagonal) else ()):
        root, coef[r], failed = scipy.linalg.lapack.dposv(matrix, sides[r], lower=1)
        if not failed:
            conditioned[r] = (
                scipy.linalg.lapack.dpocon(root, norm[r], uplo="L")[0] > 1e3 * rounding[r]
            )
    coef /= scale
    for k in np.flatnonzero(~conditioned):  # by eigenvalues
        coef[k] = pseudo_inverse(gram[k])[0] @ response[k]
    return coef


def linearised(mean: Moments, sums: Moments, penalty: float) -> np.ndarray:
    """How far coefficients of runs are from those of the mean sums, to first order, (runs, d).

    A^-1 (h - A_r b) with A b = h the normal equations of the mean sums, those of a run with r: its
    mean over all runs is 0.
    """
    solver = Solver(mean.products[0, :-1, :-1], penalty)
    beta = solver.beta(mean.products[0, :-1, -1])
    residuals = sums.products[:, :-1, -1] - sums.products[:, :-1, :-1] @ beta
    residuals[:, 1:] -= penalty * beta[1:]
    return residuals @ solver.bread[:, 1:]


# from sums, the number of features and the regressors at xi to what each run keeps, a mask (runs, d)
Selection = Callable[[Moments, int, np.ndarray], np.ndarray]


def everything(sums: Moments, k: int, at_xi: np.ndarray) -> np.ndarray:
    """All features, however many were requested."""
    return np.ones(sums.mean.shape, bool)


def highest_weights(sums: Moments, k: int, at_xi: np.ndarray) -> np.ndarray:
    """The largest products of coefficient and value at xi, by Ridge(alpha=0.01) on all features.

    The first of equal ones, as in a stable sort.
    """
    return sparse.largest(np.abs(ridge(sums, sparse.SELECTION_RIDGE).coef * at_xi), k)


def forward_selection(sums: Moments, k: int, at_xi: np.ndarray) -> np.ndarray:
    """One feature at a time, the one that raises the weighted R^2 most."""
    return sparse.forward_selection(sums, k)


def lasso_path(sums: Moments, k: int, at_xi: np.ndarray) -> np.ndarray:
    """The last point of the lasso path with at most k features, by scikit-learn's path."""
    from sklearn import config_context
    from sklearn.linear_model import lars_path_gram

    chosen = np.zeros(sums.mean.shape, bool)
    for r, (gram, response) in enumerate(zip(sums.gram, sums.response, strict=True)):
        # how many rows there were scales the penalties of the path, and not its features
        with config_context(skip_parameter_validation=True):  # half of the time
            _, _, path = lars_path_gram(response.copy(), gram.copy(), n_samples=1, method="lasso")
        active = path.T[1:] != 0
        small = np.flatnonzero(active.sum(axis=1) <= k)
        chosen[r] = active[small[-1] if small.size else 0] if len(active) else False
    return chosen


def auto(sums: Moments, k: int, at_xi: np.ndarray) -> np.ndarray:
    """Forward selection of up to six features, the highest weights beyond."""
    rule = forward_selection if sparse.selects_forward("auto", k) else highest_weights
    return rule(sums, k, at_xi)


# by the names of `lime`
SELECTIONS: dict[str, Selection] = {
    "auto": auto,
    "forward_selection": forward_selection,
    "highest_weights": highest_weights,
    "lasso_path": lasso_path,
    "none": everything,
}
MAY_CHOOSE_FEWER = {"lasso_path"}  # than were requested


def penalty_of(model: Any) -> float | None:
    """The penalty of a ``model_regressor`` that is a ridge; None for one fitted by itself."""
    if model is None:
        return RIDGE
    if not (hasattr(model, "fit") and hasattr(model, "get_params")) or isinstance(model, type):
        raise TypeError(
            "model_regressor must be a scikit-learn regressor with coef_, such as Ridge(alpha=1), "
            f"got {arg.shorten(model)}."
        )
    params = model.get_params()
    name = class_of(model)
    plain = params.get("fit_intercept", False) and not params.get("positive", False)
    if name == "LinearRegression" and plain:
        return 0.0
    if name == "Ridge" and plain and np.ndim(params["alpha"]) == 0:
        return float(params["alpha"])
    return None


def estimator_fits(model: Any, runs: Iterable[Any], chosen: np.ndarray) -> Fits:
    """The fits of another ``model_regressor`` to the rows of runs, as `lime` gives them.

    A run is its regressors, responses and weights, xi's own row first.
    """
    from sklearn.base import clone

    coef, local, score = np.zeros(chosen.shape), np.empty(len(chosen)), np.empty(len(chosen))
    for r, (rows, y, weights) in enumerate(runs):
        columns = rows[:, chosen[r]]
        try:
            fitted = clone(model).fit(columns, y, sample_weight=weights)
            coef[r, chosen[r]] = np.ravel(fitted.coef_)
        except (TypeError, AttributeError) as error:
            raise TypeError(
                "model_regressor must take sample_weight and have coef_, as lime demands, got "
                f"{type(model).__name__}: {' '.join(str(error).split())[:150].rstrip('.')}."
            ) from None
        local[r] = np.ravel(fitted.predict(columns[:1]))[0] - y[0]
        score[r] = fitted.score(columns, y, sample_weight=weights)
    return Fits(coef, local, score)


def probabilities(chosen: np.ndarray, fills: bool) -> np.ndarray:
    """How often features are chosen; one more run that chooses at random keeps them off 0 and 1.

    Where all are requested they are certain, unless the rule may choose fewer: then by half a run.
    """
    if np.all(chosen):
        return np.full(chosen.shape[1], 1.0 if fills else 1 - 0.5 / (len(chosen) + 1))
    return (chosen.sum(axis=0) + chosen.mean()) / (len(chosen) + 1)


def chosen_sets(chosen: np.ndarray) -> list[tuple[tuple[int, ...], float]]:
    """The sets that runs chose, with their shares, the likeliest first."""
    counted = Counter(tuple(map(int, np.flatnonzero(run))) for run in chosen)
    ordered = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(features, count / len(chosen)) for features, count in ordered]
