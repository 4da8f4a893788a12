"""Surrogates on some of the features: lasso and feature selection, of one fit or of many runs.

Chapters: surrogate, the real lime.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.surrogate import MIN_DEVIATION, Fit, Sums, fit, refuse_weightless
from ..inputs.lime_defaults import FORWARD_SELECTION_MAX
from ..results.explanation import Samples

SELECTION_RIDGE = 0.01  # penalty of the fit by which `lime` finds the highest coefficients
MIN_NEW_VARIANCE = 1e-12  # share of a regressor's variance below which earlier ones explain it
MIN_GAIN = 1e-15  # share of the response's below which a gain is lost in the rounding of an R^2


class Moments(NamedTuple):
    """Weighted sums of runs: ``products`` (runs, d + 2, d + 2), and the same about the means."""

    products: np.ndarray  # of the columns (1, regressors, response)
    total: np.ndarray  # (runs,)
    mean: np.ndarray  # (runs, d), of the regressors
    level: np.ndarray  # (runs,), of the response
    gram: np.ndarray  # (runs, d, d)
    response: np.ndarray  # (runs, d)
    square: np.ndarray  # (runs,)

    @classmethod
    def of(cls, products: np.ndarray) -> Moments:
        """The sums about the means, from the sums of products."""
        total = products[:, 0, 0]
        mean = products[:, 0, 1:] / total[:, None]
        centred = products[:, 1:, 1:] - products[:, 0, 1:, None] * mean[:, None]
        return cls(
            products, total, mean[:, :-1], mean[:, -1], centred[:, :-1, :-1], centred[:, :-1, -1],
            np.maximum(centred[:, -1, -1], 0.0),
        )  # fmt: skip

    @classmethod
    def of_fit(cls, sums: Sums) -> Moments:
        """Those of one fit, as one run."""
        response = sums.response[: sums.d + 1]
        products = np.block([[sums.block, response[:, None]], [response, sums.squares]])
        return cls.of(products[None])


def fit_sparse(sums: Sums, ridge: float, lasso: float, features: int | None, select: str) -> Fit:
    """The surrogate on the features that a selection keeps, or that lasso leaves.

    lasso minimises ``sum w (...)^2 / (2 sum w) + lasso |b|_1`` (scikit-learn's Lasso). The noise is
    that of the fit to all features; ``noise_of`` has it for fewer.
    """
    refuse_weightless(sums)
    keep = np.ones(sums.d, bool) if features is None else strongest(sums, features, select)
    if not lasso:
        return fit(sums, ridge, keep)
    beta = _lasso(sums, lasso / sums.unit if sums.unit else lasso, keep)
    return fit(sums, ridge, keep & (beta[1:] != 0), beta)


def _lasso(sums: Sums, penalty: float, keep: np.ndarray) -> np.ndarray:
    """Lasso coefficients by coordinate descent on the covariance; a zero pivot stays at zero."""
    moments, total = Moments.of_fit(sums), sums.gram[0, 0]
    cov, with_y = moments.gram[0] / total, moments.response[0] / total
    coef = np.zeros(len(with_y))
    active = np.flatnonzero(keep & (np.diag(cov) > MIN_DEVIATION**2))
    scale = np.max(np.abs(with_y), initial=0.0)
    for _ in range(10_000):
        largest = 0.0
        for j in active:
            before = coef[j]
            gradient = with_y[j] - cov[j] @ coef + cov[j, j] * before
            coef[j] = np.sign(gradient) * max(abs(gradient) - penalty, 0.0) / cov[j, j]
            largest = max(largest, abs(coef[j] - before) * cov[j, j])
        if largest <= 1e-13 * scale:
            break
    return np.append(moments.level[0] - moments.mean[0] @ coef, coef)


def largest(size: np.ndarray, k: int) -> np.ndarray:
    """Which are among the k largest of each row (..., d), a mask; the first of equal ones."""
    mask = np.zeros(size.shape, bool)
    order = np.argsort(-size, axis=-1, kind="stable")
    np.put_along_axis(mask, order[..., :k], True, axis=-1)
    return mask


def forward_selection(sums: Moments, k: int) -> np.ndarray:
    """One feature at a time, the one that raises the weighted R^2 most, a mask (runs, d).

    With what earlier ones explain swept out of the sums, feature j raises it by c_j^2 / G_jj; of
    equal ones the first is taken.
    """
    gram, response = sums.gram.copy(), sums.response.copy()
    runs, d = response.shape
    variance = np.diagonal(sums.gram, axis1=1, axis2=2)
    least = np.where(variance > 0, MIN_NEW_VARIANCE * variance, np.inf)
    chosen, every = np.zeros((runs, d), bool), np.arange(runs)
    for _ in range(min(k, d)):
        left = np.diagonal(gram, axis1=1, axis2=2)
        new = left > least
        gain = np.where(new, response**2 / np.where(new, left, 1.0), 0.0)
        gain = np.where(gain > MIN_GAIN * sums.square[:, None], gain, 0.0)
        best = np.argmax(np.where(chosen, -1.0, gain), axis=1)
        chosen[every, best] = True
        pivot = np.where(new[every, best], left[every, best], np.inf)
        column = gram[every, :, best] / pivot[:, None]
        response = response - column * response[every, best][:, None]
        gram = gram - column[:, :, None] * gram[every, best][:, None, :]
    return chosen


def selects_forward(select: str, k: int) -> bool:
    """Whether k features are selected forward: with "auto", up to six, as `lime` does it."""
    return select == "forward" or (select == "auto" and k <= FORWARD_SELECTION_MAX)


def strongest(sums: Sums, k: int, select: str) -> np.ndarray:
    """The k features that `lime` would keep, as a mask; all where there are no more."""
    if k >= sums.d:
        return np.ones(sums.d, bool)
    if selects_forward(select, k):
        return forward_selection(Moments.of_fit(sums), k)[0]
    return largest(np.abs(fit(sums, ridge=SELECTION_RIDGE).beta[1:]), k)


def noise_of(result: Fit, z: np.ndarray, samples: Samples, ridge: float, extra: int) -> Fit:
    """The same fit with the noise of a surrogate on its features alone.

    What the features that were left out do to f is noise for the others; z are the columns (n, d)
    of the samples, with ``extra`` control variates behind them.
    """
    kept = np.concatenate([[True], result.used])
    sums = Sums(int(result.used.sum()), extra)
    columns = np.concatenate([result.used, np.ones(extra, bool)])
    sums.add(z[:, columns], samples.y, samples.log_weights)
    alone = fit(sums, ridge)
    covariance, freedom = np.zeros_like(result.covariance), np.full(len(kept), 2.0)
    covariance[np.ix_(kept, kept)], freedom[kept] = alone.covariance, alone.freedom
    local = alone.local_freedom
    return result._replace(covariance=covariance, freedom=freedom, local_freedom=local)
