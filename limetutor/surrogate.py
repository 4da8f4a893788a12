"""The surrogate: weighted least squares on indicators, one batch of samples at a time.

:class:`Sums` holds all that the fit needs of the samples, about (d+1)^2 numbers whatever their count.
Weights arrive as logarithms and are kept relative to the largest one seen; responses are kept
relative to their weighted mean and to the largest weighted one, so that a sample that does not
count cannot cost digits, however large f is there. Chapter: surrogate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DEAD = 1e-7  # deviations below the rounding of the sums (1e-16 under a root, and some)


class Sums:
    """Running sums of a weighted regression of y on (1, z)."""

    def __init__(self, d: int) -> None:
        self.n = 0
        self.log_scale = -np.inf  # every weight is in units of exp(log_scale)
        self.shift = 0.0  # y is taken from here, so that a large mean costs no digits
        self.unit = 0.0  # ... and measured in these units: the largest weight times |y|
        self.gram = np.zeros((d + 1, d + 1))  # sum w z z'
        self.response = np.zeros(d + 1)  # sum w z y
        self.squares = 0.0  # sum w y^2
        self.meat = np.zeros((d + 1, d + 1))  # sum w^2 (r / (1 - h))^2 z z'
        self.weight_squares = 0.0  # sum w^2
        self.second = np.zeros(d)  # sum w^2 z
        self.fourth = np.zeros(d + 1)  # sum w^4, sum w^4 z

    def add(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray) -> None:
        """Take in a batch; residuals and leverages are those of the fit to all batches so far.

        With a single batch they are exact; with more, the early ones come from fits to fewer
        samples, which differ from the final one by less than a standard error, and leverages are
        rather too large.
        """
        self._rescale_weights(float(np.max(log_w)))
        with np.errstate(under="ignore"):
            some = np.isfinite(self.log_scale)
            w = np.exp(log_w - self.log_scale) if some else np.zeros(len(y))
        if self.gram[0, 0] == 0:
            self.shift = _weighted_mean(y, w)
        y = np.where(w > 0, y - self.shift, 0.0)
        self._rescale_responses(float(np.max(w * np.abs(y))))
        y = y / self.unit if self.unit else y
        design = np.concatenate([np.ones((len(y), 1)), z], axis=1)
        weighted = design * w[:, None]
        self.gram += weighted.T @ design
        self.response += weighted.T @ y
        with np.errstate(over="ignore", under="ignore"):
            self.squares += float(np.sum((np.sqrt(w) * y) ** 2))
        self.n += len(y)
        self._add_uncertainty(z, design, weighted, y, w)

    def _add_uncertainty(
        self, z: np.ndarray, design: np.ndarray, weighted: np.ndarray, y: np.ndarray, w: np.ndarray
    ) -> None:
        """The sums behind standard errors and their degrees of freedom."""
        solver = Solver(self.gram)
        residual = y - design @ solver.beta(self.response)
        leverage = np.einsum("ij,ij->i", weighted @ solver.bread, design)
        scores = weighted * (residual / np.maximum(1 - leverage, 1e-6))[:, None]
        self.meat += scores.T @ scores
        with np.errstate(under="ignore"):
            square = w * w
            self.weight_squares += float(square.sum())
            self.second += square @ z
            self.fourth += np.concatenate([[np.sum(square * square)], (square * square) @ z])

    def _rescale_weights(self, log_w: float) -> None:
        if log_w <= self.log_scale:
            return
        factor = np.exp(self.log_scale - log_w)
        for name, power in _POWERS_OF_W:
            setattr(self, name, getattr(self, name) * factor**power)
        self.log_scale = log_w

    def _rescale_responses(self, largest: float) -> None:
        if largest <= self.unit:
            return
        factor = self.unit / largest
        self.response *= factor
        self.squares *= factor**2
        self.meat *= factor**2
        self.unit = largest

    @property
    def ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2."""
        return float(self.gram[0, 0] ** 2 / self.weight_squares) if self.weight_squares else 0.0


# by which power of a change in the unit of weight each sum moves
_POWERS_OF_W = (
    ("gram", 1),
    ("response", 1),
    ("squares", 1),
    ("meat", 2),
    ("weight_squares", 2),
    ("second", 2),
    ("fourth", 4),
)


def _weighted_mean(y: np.ndarray, w: np.ndarray) -> float:
    """The mean of y by weight, without overflow."""
    counts = np.where(w > 0, y, 0.0)
    size = float(np.max(np.abs(counts), initial=0.0))
    return float(size * (w @ (counts / size)) / w.sum()) if size and w.sum() else 0.0


class Solver:
    """The normal equations of some sums: an inverse, and the coefficients it gives.

    The intercept is free, ``penalty`` is on the square of the rest. Indicators that never vary, and
    directions in which they cannot be told apart, are left out: coefficient 0, the solution of
    least norm.
    """

    def __init__(self, gram: np.ndarray, penalty: float = 0.0) -> None:
        self.total = float(gram[0, 0])
        if self.total == 0:
            self.mean, cov = np.zeros(len(gram) - 1), np.zeros((len(gram) - 1,) * 2)
        else:
            self.mean = gram[0, 1:] / self.total
            cov = gram[1:, 1:] / self.total - np.outer(self.mean, self.mean)
            cov = cov + penalty / self.total * np.eye(len(self.mean))
        self.inverse, self.tangled = pseudo_inverse(cov)

    def beta(self, response: np.ndarray) -> np.ndarray:
        """Intercept and coefficients (d + 1,)."""
        if self.total == 0:
            return np.zeros(len(response))
        level = response[0] / self.total
        coef = self.inverse @ (response[1:] / self.total - self.mean * level)
        return np.concatenate([[level - self.mean @ coef], coef])

    @property
    def bread(self) -> np.ndarray:
        """The inverse of the whole matrix, the row of the intercept first."""
        if self.total == 0:
            return np.zeros((len(self.mean) + 1,) * 2)
        result = np.empty((len(self.mean) + 1,) * 2)
        beside = -self.inverse @ self.mean
        result[0, 0], result[0, 1:], result[1:, 0] = 1 - self.mean @ beside, beside, beside
        result[1:, 1:] = self.inverse
        return result / self.total


def pseudo_inverse(cov: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse of a covariance without its empty directions, and the features they involve."""
    scale = np.sqrt(np.clip(np.diag(cov), 0, None))
    dead = scale <= DEAD
    scale = np.where(dead, 1.0, scale)
    correlation = cov / np.outer(scale, scale)
    correlation[dead] = correlation[:, dead] = 0.0
    correlation[dead, dead] = 1.0
    inverse, tangled = _inverse(correlation, _noise(scale))
    inverse[dead] = inverse[:, dead] = 0.0
    return inverse / np.outer(scale, scale), tangled | dead


def _inverse(correlation: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Straight where the matrix is well conditioned, else by its eigenvectors above the noise."""
    try:
        inverse = np.linalg.inv(correlation)
        well = np.linalg.norm(correlation, 1) * np.linalg.norm(inverse, 1) < 1e-3 / noise
    except np.linalg.LinAlgError:
        well = False
    if well:
        return (inverse + inverse.T) / 2, np.zeros(len(correlation), bool)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > noise
    tangled = np.any(np.abs(vectors[:, ~kept]) > 1e-3, axis=1)
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, tangled


def _noise(scale: np.ndarray) -> float:
    """Eigenvalues of a correlation matrix below this are rounding: covariances hold 1e-16."""
    return max(1e-10, 1e-15 / float(np.min(scale, initial=1.0)) ** 2)


class Fit(NamedTuple):
    """Coefficients (intercept first), their covariance, and how far both can be trusted.

    ``freedom`` (d + 1,) are the degrees of freedom of each standard error, ``local_freedom`` those
    of the surrogate at xi. ``used`` (d,) is False for features that were left out and for
    indicators that never vary; ``tangled`` (d,) is True where the fit cannot tell an indicator from
    a constant or from others.
    """

    beta: np.ndarray
    covariance: np.ndarray
    score: float
    used: np.ndarray
    tangled: np.ndarray
    freedom: np.ndarray
    local_freedom: float


def fit(sums: Sums, ridge: float = 0.0, lasso: float = 0.0, keep: np.ndarray | None = None) -> Fit:
    """The surrogate from the sums, on the features ``keep`` (all if None).

    ridge minimises sum w (y - b0 - b.z)^2 + ridge |b|^2 (scikit-learn's Ridge); lasso minimises
    sum w (...)^2 / (2 sum w) + lasso |b|_1 (scikit-learn's Lasso).
    """
    d = len(sums.response) - 1
    keep = np.ones(d, bool) if keep is None else keep
    penalty = ridge * np.exp(-sums.log_scale) if ridge else 0.0
    whole = Solver(sums.gram, penalty)
    if lasso:
        beta = _lasso(sums, lasso / sums.unit if sums.unit else lasso, keep)
        keep = keep & (beta[1:] != 0)
    used = np.flatnonzero(np.concatenate([[True], keep]))
    solver = whole if np.all(keep) else Solver(sums.gram[np.ix_(used, used)], penalty)
    if not lasso:
        beta = np.zeros(d + 1)
        beta[used] = solver.beta(sums.response[used])
    covariance = np.zeros_like(sums.gram)
    inside = solver.bread @ sums.meat[np.ix_(used, used)] @ solver.bread
    with np.errstate(over="ignore"):
        covariance[np.ix_(used, used)] = inside * sums.unit**2
    score = weighted_r2(sums, beta)
    beta = beta * (sums.unit or 1.0)
    beta[0] += sums.shift
    varies = indicator_variances(sums.gram) > DEAD**2
    tangled = (Solver(sums.gram) if penalty else whole).tangled
    freedom, local = degrees_of_freedom(sums)
    return Fit(beta, covariance, score, keep & varies, tangled, freedom, local)


def indicator_variances(gram: np.ndarray) -> np.ndarray:
    """The weighted variance of each indicator, (d,)."""
    mean = gram[0, 1:] / gram[0, 0]
    return np.diag(gram)[1:] / gram[0, 0] - mean**2


def degrees_of_freedom(sums: Sums) -> tuple[np.ndarray, float]:
    """placeholder"""
    return np.full(len(sums.response), sums.ess), sums.ess


def weighted_r2(sums: Sums, beta: np.ndarray) -> float:
    """Weighted R^2 of the coefficients; 1 for a constant f, which any surrogate fits.

    0 where a single response outweighs all others beyond what a double can hold.
    """
    if not np.isfinite(sums.squares):
        return 0.0
    total = sums.squares - sums.response[0] ** 2 / sums.gram[0, 0]
    left = sums.squares - 2 * beta @ sums.response + beta @ sums.gram @ beta
    if total <= 1e-14 * max(sums.squares, 1e-300):
        return 1.0
    return float(1 - left / total)


def _lasso(sums: Sums, penalty: float, keep: np.ndarray) -> np.ndarray:
    """Lasso coefficients by coordinate descent on the covariance; a zero pivot stays at zero."""
    total = sums.gram[0, 0]
    mean, level = sums.gram[0, 1:] / total, sums.response[0] / total
    cov = sums.gram[1:, 1:] / total - np.outer(mean, mean)
    with_y = sums.response[1:] / total - mean * level
    coef = np.zeros(len(with_y))
    active = np.flatnonzero(keep & (np.diag(cov) > DEAD**2))
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
    return np.concatenate([[level - mean @ coef], coef])


class Highest:
    """The features with the largest coefficients of a nearly unpenalised ridge (0.01, as `lime`)."""

    def choose(self, sums: Sums, k: int) -> np.ndarray:
        """Which k features to keep, a mask (d,)."""
        keep = np.zeros(len(sums.response) - 1, bool)
        beta = fit(sums, ridge=0.01).beta[1:]
        keep[np.argsort(-np.abs(beta), kind="stable")[:k]] = True
        return keep


class Forward:
    """One feature at a time, the one that raises the weighted R^2 most."""

    def choose(self, sums: Sums, k: int) -> np.ndarray:
        """Which k features to keep, a mask (d,)."""
        keep = np.zeros(len(sums.response) - 1, bool)
        for _ in range(k):
            scores = np.full(len(keep), -np.inf)
            for j in np.flatnonzero(~keep):
                trial = keep.copy()
                trial[j] = True
                scores[j] = _r2_on(sums, trial)
            keep[int(np.argmax(scores))] = True
        return keep


class Auto:
    """As `lime` does it: forward up to six features, the highest coefficients beyond."""

    def choose(self, sums: Sums, k: int) -> np.ndarray:
        """Which k features to keep, a mask (d,)."""
        return (Forward() if k <= 6 else Highest()).choose(sums, k)


# how features are chosen, by name
SELECTIONS: dict[str, Highest | Forward | Auto] = {
    "auto": Auto(),
    "highest": Highest(),
    "forward": Forward(),
}


def strongest(sums: Sums, k: int, select: str) -> np.ndarray:
    """The k features that `lime` would keep, as a mask; all where there are no more."""
    d = len(sums.response) - 1
    return np.ones(d, bool) if k >= d else SELECTIONS[select].choose(sums, k)


def _r2_on(sums: Sums, keep: np.ndarray) -> float:
    used = np.flatnonzero(np.concatenate([[True], keep]))
    beta = np.zeros(len(sums.response))
    beta[used] = Solver(sums.gram[np.ix_(used, used)]).beta(sums.response[used])
    return weighted_r2(sums, beta)
