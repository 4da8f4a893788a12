"""The surrogate: weighted least squares on indicators, one batch of samples at a time.

:class:`Sums` holds all that the fit needs of the samples, about (d+1)^2 numbers whatever their count.
Weights arrive as logarithms and are kept relative to the largest one seen; responses are kept
relative to their weighted mean and to the largest weighted one, so that a sample that does not
count cannot cost digits, however large f is there. Chapter: surrogate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

Batch = tuple[np.ndarray, np.ndarray, np.ndarray]  # indicators, responses, log weights

Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _threads() -> Any:
    """What holds the threads of numpy's linear algebra, where threadpoolctl is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # it comes with scikit-learn; without it sums may differ in the last bit
        return None
    return ThreadpoolController().select(user_api="blas")


def on_one_thread(function: Function) -> Function:
    """Sums in one order, whatever the number of threads: the same bits for a seed."""

    @wraps(function)
    def alone(*args: Any, **kwargs: Any) -> Any:
        threads = _threads()
        if threads is None:
            return function(*args, **kwargs)
        with threads.limit(limits=1):
            return function(*args, **kwargs)

    return alone  # type: ignore[return-value]


DEAD = 1e-7  # deviations below the rounding of the sums (1e-16 under a root, and some)


class Sums:
    """Running sums of a weighted regression of y on (1, z)."""

    def __init__(self, d: int) -> None:
        self.n = 0
        self.log_scale = -np.inf  # every weight is in units of exp(log_scale)
        self.shift = 0.0  # y is taken from here, so that a large mean costs no digits
        self.unit = 0.0  # ... and measured in these units: the largest weight times |y|
        self.gram = np.zeros((d + 1, d + 1))  # sum w z z'
        self.gram2 = np.zeros((d + 1, d + 1))  # sum w^2 z z'
        self.response = np.zeros(d + 1)  # sum w z y
        self.squares = 0.0  # sum w y^2
        self.meat = np.zeros((d + 1, d + 1))  # sum w^2 s^2 z z', s the corrected residual
        self.noise = np.zeros(2)  # sums of w^2 r^2 and of w^2 phi, for the pooled noise
        # sums of the squares and fourth powers of influences, over z_j = 0 and z_j = 1, for the
        # intercept, the coefficients and the surrogate at xi
        self.second = np.zeros((2, d + 2))
        self.fourth = np.zeros((2, d + 2))
        self.solver = Solver(self.gram)  # of the sums so far, without a penalty

    @on_one_thread
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
        with np.errstate(over="ignore"):
            y = y / self.unit if self.unit else y
        y = np.where(
            np.isfinite(y), y, 0.0
        )  # beyond 1e308 units only where the weight is below 1e-308
        design = np.concatenate([np.ones((len(y), 1)), z], axis=1)
        weighted = design * w[:, None]
        self.n += len(y)
        self.gram += weighted.T @ design
        self.gram2 += weighted.T @ weighted
        self.response += weighted.T @ y
        with np.errstate(over="ignore", under="ignore"):
            self.squares += float(np.sum((np.sqrt(w) * y) ** 2))
            self._add_uncertainty(design, weighted, y, w)

    def _add_uncertainty(
        self, design: np.ndarray, weighted: np.ndarray, y: np.ndarray, w: np.ndarray
    ) -> None:
        """The sums behind standard errors and their degrees of freedom.

        A residual r is smaller than the error it comes from. Its variance is phi = ||row of 1 - H||^2
        that of the errors, 1 - h with equal weights and nearly (1 - h)^2 for a sample that outweighs
        the others (h is the leverage). s^2 = r^2 / ((1 - h) sqrt(phi)) lies between the corrections
        known as HC2, which is r^2 / phi, and HC3, which is r^2 / (1 - h)^2. Where the fit passes
        through a sample (h near 1) r says nothing, and a share h^2 of the pooled noise is put in.
        """
        solver = self.solver = Solver(self.gram)
        influence = design @ solver.bread
        r = y - design @ solver.beta(self.response)
        h = np.clip(w * np.einsum("ij,ij->i", influence, design), 0.0, 1.0)
        phi = 1 - 2 * h + np.einsum("ij,ij->i", influence @ self.gram2, influence)
        phi = np.clip(phi, 0.0, None)
        square = (w * r) ** 2  # times the weight, which may be what keeps it finite
        self.noise += [np.sum(square), np.sum(w**2 * phi)]
        pooled = self.noise[0] / self.noise[1] if self.noise[1] > 0 else 0.0
        blind = (phi < 1e-5) | (1 - h < 1e-5)
        s2 = np.where(blind, 0.0, square / np.where(blind, 1.0, (1 - h) * np.sqrt(phi)))
        s2 += h**2 * np.maximum(pooled * w**2 - s2, 0.0)
        scores = design * np.sqrt(s2)[:, None]
        self.meat += scores.T @ scores
        local = influence.sum(axis=1, keepdims=True)
        square = (self.gram[0, 0] * w[:, None] * np.hstack([influence, local])) ** 2
        for sums, power in ((self.second, square), (self.fourth, square**2)):
            every = power.sum(axis=0)
            own = every.copy()  # the intercept and the surrogate at xi have one side only
            own[1:-1] = np.einsum("ij,ij->j", design[:, 1:], power[:, 1:-1])
            sums += [every - own, own]

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
        self.noise[0] *= factor**2
        self.unit = largest

    @property
    def ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2."""
        squares = self.gram2[0, 0]
        return float(self.gram[0, 0] ** 2 / squares) if squares else 0.0


# by which power of a change in the unit of weight each sum moves
_POWERS_OF_W = (
    ("gram", 1),
    ("response", 1),
    ("squares", 1),
    ("gram2", 2),
    ("meat", 2),
    ("noise", 2),
)


def _weighted_mean(y: np.ndarray, w: np.ndarray) -> float:
    """The mean of y by weight, without overflow."""
    counts = np.where(w > 0, y, 0.0)
    size = float(np.max(np.abs(counts), initial=0.0))
    return float(size * (w @ (counts / size)) / w.sum()) if size and w.sum() else 0.0


class Solver:
    """The normal equations of some sums: an inverse, and the coefficients it gives.

    Paper: Eq. 2.4 and its normal equations, Eq. 5.1.

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
        if np.linalg.norm(correlation, 1) * np.linalg.norm(inverse, 1) < 1e-3 / noise:
            return (inverse + inverse.T) / 2, np.zeros(len(correlation), bool)
    except np.linalg.LinAlgError:
        pass
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


@on_one_thread
def fit(sums: Sums, ridge: float = 0.0, lasso: float = 0.0, keep: np.ndarray | None = None) -> Fit:
    """The surrogate from the sums, on the features ``keep`` (all if None) (paper, Eq. 2.2, Eq. 2.3).

    ridge minimises ``sum w (y - b0 - b.z)^2 + ridge |b|^2`` (scikit-learn's Ridge); lasso minimises
    ``sum w (...)^2 / (2 sum w) + lasso |b|_1`` (scikit-learn's Lasso). The noise is that of the fit to
    all features; :func:`noise_of` has it for fewer.
    """
    d = len(sums.response) - 1
    keep = np.ones(d, bool) if keep is None else keep
    penalty = 0.0
    if (
        ridge
    ):  # beside the largest weight; beyond 1e250 times it nothing is left of the coefficients
        penalty = float(np.exp(np.clip(np.log(ridge) - sums.log_scale, None, np.log(1e250))))
    whole = Solver(sums.gram, penalty) if penalty else sums.solver
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
        covariance[np.ix_(used, used)] = inside * sums.unit * sums.unit
    score = weighted_r2(sums, beta)
    beta = beta * (sums.unit or 1.0)
    beta[0] += sums.shift
    estimated = keep & (indicator_variances(sums.gram) > DEAD**2)
    left_out = np.flatnonzero(~estimated) + 1
    covariance[left_out] = covariance[:, left_out] = 0.0
    freedom, local = degrees_of_freedom(sums)
    return Fit(beta, covariance, score, estimated, sums.solver.tangled, freedom, local)


def noise_of(found: Fit, samples: Iterable[Batch], ridge: float = 0.0) -> Fit:
    """The same fit with the noise of a surrogate on its features alone.

    What the features that were left out do to f is noise for the others.
    """
    kept = np.concatenate([[True], found.used])
    sums = Sums(int(found.used.sum()))
    for z, y, log_w in samples:
        sums.add(z[:, found.used], y, log_w)
    alone = fit(sums, ridge)
    covariance = np.zeros_like(found.covariance)
    covariance[np.ix_(kept, kept)] = alone.covariance
    freedom = np.full(len(kept), 2.0)
    freedom[kept] = alone.freedom
    return found._replace(covariance=covariance, freedom=freedom, local_freedom=alone.local_freedom)


def indicator_variances(gram: np.ndarray) -> np.ndarray:
    """The weighted variance of each indicator, (d,)."""
    mean = gram[0, 1:] / gram[0, 0]
    return np.diag(gram)[1:] / gram[0, 0] - mean**2


def degrees_of_freedom(sums: Sums) -> tuple[np.ndarray, float]:
    """Of the standard errors of intercept and coefficients (d+1,), and of the surrogate at xi.

    Satterthwaite's (A1 + A0)^2 / (Q1 / (1 - A1) + Q0 / (1 - A0)), where A and Q are the sums of
    squares and fourth powers of the influences a_i on either side of z_j: a side of m equal samples
    has A = 1/m and m - 1 degrees of freedom, as in Welch's test.
    """
    total = sums.gram[0, 0]
    second, fourth = sums.second / total**2, sums.fourth / total**4
    left = np.clip(1 - second, 0.1, 1.0)
    ends = [0, -1]
    left[:, ends] = 1 - np.minimum(second[:, ends], 0.5) / max(second.shape[1] - 2, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = second.sum(axis=0) ** 2 / np.sum(fourth / left, axis=0)
    found = np.where(np.isfinite(found), np.maximum(found, 2.0), 2.0)
    return found[:-1], float(found[-1])


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
