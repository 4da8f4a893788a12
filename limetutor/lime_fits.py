"""What `lime` fits to a neighbourhood: its feature selection and its ridge, for many runs at once.

`lime` chooses features by one of four rules and fits Ridge(alpha=1) to the chosen ones. All of it
depends on a neighbourhood through weighted sums only, so that hundreds of runs are a few operations
on stacks of matrices. Regressors and responses are taken relative to xi's own row: the row then adds
to the total weight and to nothing else, and where it has nearly all of the weight no digit is lost.
Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import arguments as arg

FLAT = 1e-12  # share of a regressor's variance below which nothing new is left of it
SEEN = 1e-15  # share of the response's below which a gain is lost in the rounding of an R^2


class Moments(NamedTuple):
    """Weighted sums of runs, the sums of products about the weighted means."""

    total: np.ndarray  # (runs,)
    mean: np.ndarray  # (runs, d), of the regressors less those of xi
    level: np.ndarray  # (runs,), of the response less f(xi)
    gram: np.ndarray  # (runs, d, d)
    response: np.ndarray  # (runs, d)
    square: np.ndarray  # (runs,)

    @classmethod
    def of(cls, products: np.ndarray) -> Moments:
        """From sums of products (runs, d + 2, d + 2) of the columns (1, regressors, response)."""
        total = products[:, 0, 0]
        mean = products[:, 0, 1:] / total[:, None]
        centred = products[:, 1:, 1:] - products[:, 0, 1:, None] * mean[:, None]
        return cls(
            total, mean[:, :-1], mean[:, -1], centred[:, :-1, :-1], centred[:, :-1, -1],
            np.maximum(centred[:, -1, -1], 0.0),
        )  # fmt: skip


class Fits(NamedTuple):
    """The surrogates of runs: coefficients (runs, d), 0 where a feature was not chosen."""

    coef: np.ndarray
    local: np.ndarray  # f^(xi) - f(xi), (runs,)
    score: np.ndarray  # weighted R^2, (runs,)


def ridge(sums: Moments, penalty: float, chosen: np.ndarray | None = None) -> Fits:
    """Ridge on the chosen features of each run, a mask (runs, d): ``(G + penalty) b = c``.

    G and c are the weighted sums of products about the means, as in scikit-learn, which leaves the
    intercept out of the penalty.
    """
    chosen = np.ones(sums.mean.shape, bool) if chosen is None else chosen
    both = chosen[:, :, None] & chosen[:, None, :]
    matrix = np.where(both, sums.gram, 0.0)
    rows = np.arange(matrix.shape[1])
    flat = chosen & ~_varies(sums)
    matrix[:, rows, rows] += np.where(chosen, penalty, 1.0) + flat
    wanted = np.where(chosen & ~flat, sums.response, 0.0)
    coef = _solved(matrix, wanted)
    left = sums.square - 2 * _dot(coef, sums.response)
    left += np.einsum("rj,rjk,rk->r", coef, sums.gram, coef)
    constant = sums.square <= 0
    score = 1 - np.where(constant, 0.0, left / np.where(constant, 1.0, sums.square))
    return Fits(coef, sums.level - _dot(coef, sums.mean), score)


def _solved(matrix: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    try:
        return np.linalg.solve(matrix, wanted[..., None])[..., 0]
    except np.linalg.LinAlgError:  # without a penalty two regressors may be the same
        return (np.linalg.pinv(matrix, hermitian=True) @ wanted[..., None])[..., 0]


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("rj,rj->r", a, b)


def _varies(sums: Moments) -> np.ndarray:
    """Whether a regressor varies in a run, (runs, d)."""
    return np.diagonal(sums.gram, axis1=1, axis2=2) > 0


@dataclass(frozen=True)
class Selection:
    """A rule of `lime`; ``name`` is what its ``feature_selection`` calls it."""

    name: str
    fills: ClassVar[bool] = True  # whether as many are chosen as were asked for, and no fewer

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """Which features each run keeps, a mask (runs, d); ``lead`` are the regressors at xi."""
        raise NotImplementedError


class Everything(Selection):
    """All features, however many were asked for."""

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """All."""
        return np.ones(sums.mean.shape, bool)


class HighestWeights(Selection):
    """The largest products of coefficient and value at xi, by Ridge(alpha=0.01) on all features."""

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """The first of equal ones, as a stable sort has them."""
        products = np.abs(ridge(sums, 0.01).coef * lead)
        return _first(np.argsort(-products, axis=1, kind="stable")[:, :k], products.shape)


class ForwardSelection(Selection):
    """One feature at a time, the one that raises the weighted R^2 most.

    With what earlier ones explain swept out of the sums, feature j raises it by c_j^2 / G_jj.
    """

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """The first of equal ones."""
        gram, response = sums.gram.copy(), sums.response.copy()
        runs, d = response.shape
        diagonal = np.diagonal(gram, axis1=1, axis2=2)
        least = np.where(_varies(sums), FLAT * diagonal, np.inf)
        chosen, every = np.zeros((runs, d), bool), np.arange(runs)
        for _ in range(min(k, d)):
            left = np.diagonal(gram, axis1=1, axis2=2)
            new = left > least
            gain = np.where(new, response**2 / np.where(new, left, 1.0), 0.0)
            gain = np.where(gain > SEEN * sums.square[:, None], gain, 0.0)
            best = np.argmax(np.where(chosen, -1.0, gain), axis=1)
            chosen[every, best] = True
            pivot = np.where(new[every, best], left[every, best], np.inf)
            column = gram[every, :, best] / pivot[:, None]
            response = response - column * response[every, best][:, None]
            gram = gram - column[:, :, None] * gram[every, best][:, None, :]
        return chosen


class LassoPath(Selection):
    """The last point of the lasso path with at most k features."""

    fills = False

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """By scikit-learn's path, which needs the sums only."""
        from sklearn.linear_model import lars_path_gram

        chosen = np.zeros(sums.mean.shape, bool)
        for r, (gram, response) in enumerate(zip(sums.gram, sums.response, strict=True)):
            # how many rows there were scales the penalties of the path, and not its features
            _, _, path = lars_path_gram(response.copy(), gram.copy(), n_samples=1, method="lasso")
            active = path.T[1:] != 0
            small = np.flatnonzero(active.sum(axis=1) <= k)
            chosen[r] = active[small[-1] if small.size else 0] if len(active) else False
        return chosen


class Auto(Selection):
    """Forward up to six features, the highest weights beyond."""

    def choose(self, sums: Moments, k: int, lead: np.ndarray) -> np.ndarray:
        """By one of the two."""
        rule = "forward_selection" if k <= 6 else "highest_weights"
        return SELECTIONS[rule].choose(sums, k, lead)


def _first(order: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    chosen = np.zeros(shape, bool)
    np.put_along_axis(chosen, order, True, axis=1)
    return chosen


# lime's own rules, by their names
SELECTIONS: dict[str, Selection] = {
    rule.name: rule
    for rule in (
        Auto("auto"),
        ForwardSelection("forward_selection"),
        HighestWeights("highest_weights"),
        LassoPath("lasso_path"),
        Everything("none"),
    )
}


def linearised(mean: Moments, sums: Moments, penalty: float) -> np.ndarray:
    """How far coefficients of runs are from those of the mean sums, to first order, (runs, d).

    A^-1 (h - A_r b) with A b = h the normal equations of the mean sums, those of a run with r: its
    mean over all runs is 0.
    """
    b = ridge(mean, penalty)
    coef = b.coef[0]
    level = sums.total * (sums.level - b.local[0] - sums.mean @ coef)
    slopes = sums.response - sums.gram @ coef - penalty * coef + sums.mean * level[:, None]
    slopes -= mean.mean[0] * level[:, None]
    matrix = mean.gram[0] + np.diag(np.where(_varies(mean)[0], penalty, 1.0))
    return np.linalg.solve(matrix, slopes.T).T if penalty else slopes @ np.linalg.pinv(matrix)


def penalty_of(model: Any) -> float | None:
    """The penalty of a ``model_regressor`` that is a ridge; None for one fitted in its own way."""
    if model is None:
        return 1.0
    if not (hasattr(model, "fit") and hasattr(model, "get_params")) or isinstance(model, type):
        raise TypeError(
            "model_regressor must be a scikit-learn regressor with coef_, such as Ridge(alpha=1), "
            f"got {arg.shorten(model)}."
        )
    how = model.get_params()
    known = type(model).__module__.startswith("sklearn.") and type(model).__name__
    plain = how.get("fit_intercept", False) and not how.get("positive", False)
    if known == "LinearRegression" and plain:
        return 0.0
    if known == "Ridge" and plain and np.ndim(how["alpha"]) == 0:
        return float(how["alpha"])
    return None


def estimator_fits(model: Any, runs: Iterable[Any], chosen: np.ndarray) -> Fits:
    """The fits of another ``model_regressor`` to the rows of runs, as `lime` gives them.

    A run is its regressors, responses and weights, xi's own row first.
    """
    from sklearn.base import clone

    coef, local, score = np.zeros(chosen.shape), np.empty(len(chosen)), np.empty(len(chosen))
    for r, (rows, y, weights) in enumerate(runs):
        mine = rows[:, chosen[r]]
        try:
            fitted = clone(model).fit(mine, y, sample_weight=weights)
            coef[r, chosen[r]] = np.ravel(fitted.coef_)
        except (TypeError, AttributeError) as error:
            raise TypeError(
                "model_regressor must take sample_weight and have coef_, as lime demands, got "
                f"{type(model).__name__}: {' '.join(str(error).split())[:150].rstrip('.')}."
            ) from None
        local[r] = np.ravel(fitted.predict(mine[:1]))[0] - y[0]
        score[r] = fitted.score(mine, y, sample_weight=weights)
    return Fits(coef, local, score)
