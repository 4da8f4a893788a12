"""The surrogate: weighted least squares on indicators, one batch of samples at a time.

:class:`Sums` holds all that the fit needs of the samples, (d+1)^2 numbers whatever their count.
Weights arrive as logarithms and are kept relative to the largest one seen. Chapter: surrogate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Sums:
    """Running sums of a weighted regression of y on (1, z)."""

    def __init__(self, d: int) -> None:
        self.log_scale = -np.inf  # every sum is in units of exp(log_scale)
        self.gram = np.zeros((d + 1, d + 1))  # sum w z z'
        self.response = np.zeros(d + 1)  # sum w z y
        self.squares = 0.0  # sum w y^2
        self.weight_squares = 0.0  # sum w^2
        self.meat = np.zeros((d + 1, d + 1))  # sum w^2 r^2 z z'
        self.shift = 0.0  # y is taken from here, so that a large mean costs no digits
        self.n = 0

    def add(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray) -> None:
        """Take in a batch; residuals are those of the fit to all batches so far.

        With a single batch the sandwich is exact; with more, the early residuals come from fits
        to fewer samples, which differ from the final one by less than a standard error.
        """
        if self.n == 0:
            self.shift = float(np.mean(y))
        self._rescale(float(np.max(log_w)))
        w = np.exp(log_w - self.log_scale) if np.isfinite(self.log_scale) else np.zeros(len(y))
        design = np.concatenate([np.ones((len(y), 1)), z], axis=1)
        y = y - self.shift
        weighted = design * w[:, None]
        self.gram += weighted.T @ design
        self.response += weighted.T @ y
        self.squares += float(w @ y**2)
        self.weight_squares += float(w @ w)
        self.n += len(y)
        residual = y - design @ solve(self.gram, self.response)
        scores = weighted * residual[:, None]
        self.meat += scores.T @ scores

    def _rescale(self, log_w: float) -> None:
        if log_w <= self.log_scale:
            return
        factor = np.exp(self.log_scale - log_w)
        for name in ("gram", "response", "squares"):
            setattr(self, name, getattr(self, name) * factor)
        self.weight_squares *= factor**2
        self.meat *= factor**2
        self.log_scale = log_w

    @property
    def ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2."""
        return float(self.gram[0, 0] ** 2 / self.weight_squares) if self.weight_squares else 0.0


class Fit(NamedTuple):
    """Coefficients (intercept first), their covariance, the weighted R^2, and what was estimated.

    ``used`` (d,) is False for features that were left out and for indicators that never vary.
    """

    beta: np.ndarray
    covariance: np.ndarray
    score: float
    used: np.ndarray


def centred(gram: np.ndarray, response: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, covariance and covariance with y of the indicators, for weights that sum to one."""
    mean = gram[0, 1:] / gram[0, 0]
    cov = gram[1:, 1:] / gram[0, 0] - np.outer(mean, mean)
    return mean, cov, response[1:] / gram[0, 0] - mean * (response[0] / gram[0, 0])


def solve(gram: np.ndarray, response: np.ndarray, penalty: float = 0.0) -> np.ndarray:
    """Least squares from the sums, the intercept free, ``penalty`` on the square of the rest.

    Indicators that never vary get coefficient 0 (the solution of least norm).
    """
    if gram[0, 0] == 0:
        return np.zeros(len(response))
    mean, cov, with_y = centred(gram, response)
    inverse = pseudo_inverse(cov + penalty / gram[0, 0] * np.eye(len(mean)))
    coef = inverse @ with_y
    return np.concatenate([[response[0] / gram[0, 0] - mean @ coef], coef])


def pseudo_inverse(cov: np.ndarray) -> np.ndarray:
    """Inverse of a covariance; directions without variance are left out."""
    scale = np.sqrt(np.clip(np.diag(cov), 0, None))
    dead = scale <= 1e-7  # below the rounding of the sums (1e-16 under a root, and some)
    scale = np.where(dead, 1.0, scale)
    correlation = cov / np.outer(scale, scale)
    correlation[dead] = correlation[:, dead] = 0
    values, vectors = np.linalg.eigh(correlation)
    kept = values > _noise(scale)
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    return inverse / np.outer(scale, scale)


def _noise(scale: np.ndarray) -> float:
    """Eigenvalues of a correlation matrix below this are rounding: covariances hold 1e-16."""
    return max(1e-10, 1e-15 / float(np.min(scale, initial=1.0)) ** 2)


def singular_features(gram: np.ndarray) -> np.ndarray:
    """Which indicators the fit cannot tell from a constant or from each other, (d,) of bool."""
    _, cov, _ = centred(gram, gram[0])
    scale = np.sqrt(np.clip(np.diag(cov), 0, None))
    dead = scale <= 1e-7
    safe = np.where(dead, 1.0, scale)
    correlation = np.where(np.outer(dead, dead), 0.0, cov / np.outer(safe, safe))
    correlation[dead, dead] = 1.0
    values, vectors = np.linalg.eigh(correlation)
    tangled = np.any(np.abs(vectors[:, values <= _noise(safe)]) > 1e-3, axis=1)
    return dead | tangled


def fit(sums: Sums, ridge: float = 0.0, lasso: float = 0.0, keep: np.ndarray | None = None) -> Fit:
    """The surrogate from the sums, on the features ``keep`` (all if None).

    ridge minimises sum w (y - b0 - b.z)^2 + ridge |b|^2 (scikit-learn's Ridge); lasso minimises
    sum w (...)^2 / (2 sum w) + lasso |b|_1 (scikit-learn's Lasso).
    """
    d = len(sums.response) - 1
    keep = np.ones(d, bool) if keep is None else keep
    penalty = ridge * np.exp(-sums.log_scale) if ridge else 0.0
    if lasso:
        mean, cov, with_y = centred(sums.gram, sums.response)
        coef = lasso_path_point(cov, with_y, lasso, keep)
        keep = keep & (coef != 0)
        beta = np.concatenate([[sums.response[0] / sums.gram[0, 0] - mean @ coef], coef])
    else:
        beta = np.zeros(d + 1)
        used = np.flatnonzero(np.concatenate([[True], keep]))
        beta[used] = solve(sums.gram[np.ix_(used, used)], sums.response[used], penalty)
    covariance = sandwich(sums, keep, penalty)
    score = weighted_r2(sums, beta)
    beta[0] += sums.shift
    varies = np.diag(centred(sums.gram, sums.response)[1]) > 1e-14  # as in pseudo_inverse
    return Fit(beta, covariance, score, keep & varies)


def sandwich(sums: Sums, keep: np.ndarray, penalty: float) -> np.ndarray:
    """Covariance of the coefficients: bread x meat x bread on the features kept, 0 elsewhere."""
    used = np.flatnonzero(np.concatenate([[True], keep]))
    gram = sums.gram[np.ix_(used, used)]
    total, mean = gram[0, 0], gram[0, 1:] / gram[0, 0]
    cov = gram[1:, 1:] / total - np.outer(mean, mean)
    inverse = pseudo_inverse(cov + penalty / total * np.eye(len(mean)))
    bread = np.zeros_like(gram)
    bread[1:, 1:] = inverse
    bread[0, 1:] = bread[1:, 0] = -mean @ inverse
    bread[0, 0] = 1 + mean @ inverse @ mean
    bread /= total
    result = np.zeros_like(sums.gram)
    freedom = max(sums.n - len(used), 1) / sums.n  # residuals are smaller than errors
    result[np.ix_(used, used)] = bread @ sums.meat[np.ix_(used, used)] @ bread / freedom
    return result


def weighted_r2(sums: Sums, beta: np.ndarray) -> float:
    """Weighted R^2 of the coefficients; 1 for a constant f, which any surrogate fits."""
    total = sums.squares - sums.response[0] ** 2 / sums.gram[0, 0]
    left = sums.squares - 2 * beta @ sums.response + beta @ sums.gram @ beta
    if total <= 1e-14 * max(sums.squares, 1e-300):
        return 1.0
    return float(1 - left / total)


def lasso_path_point(
    cov: np.ndarray, with_y: np.ndarray, lasso: float, keep: np.ndarray
) -> np.ndarray:
    """Lasso coefficients by coordinate descent on the covariance; a zero pivot stays at zero."""
    coef = np.zeros(len(with_y))
    active = np.flatnonzero(keep & (np.diag(cov) > 1e-14))
    scale = np.max(np.abs(with_y), initial=0.0)
    for _ in range(10_000):
        largest = 0.0
        for j in active:
            before = coef[j]
            gradient = with_y[j] - cov[j] @ coef + cov[j, j] * before
            coef[j] = np.sign(gradient) * max(abs(gradient) - lasso, 0.0) / cov[j, j]
            largest = max(largest, abs(coef[j] - before) * cov[j, j])
        if largest <= 1e-13 * scale:
            break
    return coef


def strongest(sums: Sums, k: int, select: str) -> np.ndarray:
    """The k features that `lime` would keep, as a mask.

    "highest": the largest coefficients of a nearly unpenalised ridge fit (0.01, as in `lime`) on
    all features. "forward": one at a time, the one that raises the weighted R^2 most.
    """
    d = len(sums.response) - 1
    keep = np.zeros(d, bool)
    if k >= d:
        return ~keep
    if select == "highest":
        beta = fit(sums, ridge=0.01).beta[1:]
        keep[np.argsort(-np.abs(beta), kind="stable")[:k]] = True
        return keep
    for _ in range(k):
        scores = np.full(d, -np.inf)
        for j in np.flatnonzero(~keep):
            trial = keep.copy()
            trial[j] = True
            scores[j] = _r2_on(sums, trial)
        keep[int(np.argmax(scores))] = True
    return keep


def _r2_on(sums: Sums, keep: np.ndarray) -> float:
    used = np.flatnonzero(np.concatenate([[True], keep]))
    beta = np.zeros(len(sums.response))
    beta[used] = solve(sums.gram[np.ix_(used, used)], sums.response[used])
    return weighted_r2(sums, beta)
