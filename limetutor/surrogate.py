"""The surrogate: weighted least squares on indicators, from the sums of its samples.

What is fitted, with which penalty, on which features, and how far to trust it. Chapter: surrogate.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .sums import DEAD, Solver, Sums, on_one_thread

Batch = tuple[np.ndarray, np.ndarray, np.ndarray]  # indicators, responses, log weights
POOL = 3  # degrees of freedom that the coefficients of a few groups lend each other


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
    solver: Solver | None = None  # of the normal equations, penalty included


@on_one_thread
def fit(sums: Sums, ridge: float = 0.0, lasso: float = 0.0, keep: np.ndarray | None = None) -> Fit:
    """The surrogate from the sums, on the features ``keep`` (all if None) (paper, Eq. 2.2, Eq. 2.3).

    ridge minimises ``sum w (y - b0 - b.z)^2 + ridge |b|^2`` (scikit-learn's Ridge); lasso minimises
    ``sum w (...)^2 / (2 sum w) + lasso |b|_1`` (scikit-learn's Lasso). The noise is that of the fit to
    all features; :func:`noise_of` has it for fewer.
    """
    d, columns = sums.d, len(sums.response)
    keep = np.ones(d, bool) if keep is None else keep
    penalty = _in_units(ridge, sums)
    if lasso:
        beta = _lasso(sums, lasso / sums.unit if sums.unit else lasso, keep)
        keep = keep & (beta[1:] != 0)
    used: Any = slice(None)
    if not np.all(keep):
        used = np.concatenate([[0], 1 + np.flatnonzero(keep), np.arange(d + 1, columns)])
    solver = sums.solver
    if penalty or not np.all(keep):
        solver = Solver(_part(sums.gram, used), penalty, int(keep.sum()))
    if not lasso:
        beta = np.zeros(columns)
        beta[used] = solver.beta(sums.response[used])
    covariance = np.zeros_like(sums.gram)
    bread = solver.bread
    inside = bread @ _meat(sums, used) @ bread
    freedom, local = degrees_of_freedom(sums)
    if len(sums.group_gram):
        equal = bread @ _part(sums.gram, used) @ bread
        inside, local = _moderated(inside, equal, int(keep.sum()), len(sums.group_gram) - 1)
        freedom = np.full(d + 1, local)
    with np.errstate(over="ignore"):
        inside = inside * sums.unit * sums.unit
    if isinstance(used, slice):
        covariance = inside
    else:
        covariance[np.ix_(used, used)] = inside
    beta, covariance = beta[: d + 1], covariance[: d + 1, : d + 1]
    score = weighted_r2(sums, beta)
    beta = beta * (sums.unit or 1.0)
    beta[0] += sums.shift
    estimated = keep & (indicator_variances(sums.block) > DEAD**2)
    left_out = np.flatnonzero(~estimated) + 1
    covariance[left_out] = covariance[:, left_out] = 0.0
    return Fit(beta, covariance, score, estimated, sums.solver.tangled[:d], freedom, local, solver)


def _in_units(ridge: float, sums: Sums) -> float:
    """A penalty beside the largest weight; beyond 1e250 times it nothing is left of coefficients."""
    if not ridge:
        return 0.0
    return float(np.exp(np.clip(np.log(ridge) - sums.log_scale, None, np.log(1e250))))


def _part(matrix: np.ndarray, used: Any) -> np.ndarray:
    """Some rows and columns, of each of many matrices where there are more; all of them as they are."""
    return matrix if isinstance(used, slice) else matrix[..., used[:, None], used]


def _meat(sums: Sums, used: Any) -> np.ndarray:
    """The middle of the sandwich: of single samples, or of groups of them.

    G groups that are independent of each other, with scores g_i = sum w z r over group i (r the
    residual of the fit to all) and their mean g, have sum (g_i - g)(g_i - g)' G / (G - 1), with
    G - 1 degrees of freedom. (g is 0 unless a row belongs to no group.)
    """
    groups = len(sums.group_gram)
    if not groups:
        return _part(sums.meat, used)
    beta = Solver(_part(sums.gram, used)).beta(sums.response[used])
    grams = _part(sums.group_gram, used)
    scores = sums.group_response[:, used] - grams @ beta
    scores = scores - scores.mean(axis=0)
    return scores.T @ scores * (groups / (groups - 1))


def _moderated(
    spread: np.ndarray, equal: np.ndarray, kept: int, own: int
) -> tuple[np.ndarray, float]:
    """The covariance of a few groups, drawn towards what coefficients have in common; its freedom.

    Two groups leave one degree of freedom (``own``), and intervals that are useless. But the noise of
    the ``kept`` coefficients is much alike, up to the shape ``equal`` that equal residuals would give
    it: with g the mean over coefficients of spread / equal, ``pool`` degrees of freedom at g join,

        (own spread + pool g equal) / (own + pool).

    A coefficient alone has none to borrow from. (The idea of moderated t-statistics, Smyth 2004,
    with a fixed pool; ``make bench`` measures how the intervals cover.) Chapter: how many samples.
    """
    pool = max(min(POOL, kept - 1), 0)
    variances = np.array([np.diag(matrix)[1 : kept + 1] for matrix in (spread, equal)])
    ratios = variances[0][variances[1] > 0] / variances[1][variances[1] > 0]
    common = float(np.mean(ratios)) if ratios.size else 0.0
    return (own * spread + pool * common * equal) / (own + pool), float(own + pool)


def noise_of(found: Fit, samples: Iterable[Batch], ridge: float = 0.0, extra: int = 0) -> Fit:
    """The same fit with the noise of a surrogate on its features alone.

    What the features that were left out do to f is noise for the others.
    """
    kept = np.concatenate([[True], found.used])
    sums = Sums(int(found.used.sum()), extra)
    columns = np.concatenate([found.used, np.ones(extra, bool)])
    for z, y, log_w in samples:
        sums.add(z[:, columns], y, log_w)
    alone = fit(sums, ridge)
    covariance = np.zeros_like(found.covariance)
    covariance[np.ix_(kept, kept)] = alone.covariance
    freedom = np.full(len(kept), 2.0)
    freedom[kept] = alone.freedom
    return found._replace(covariance=covariance, freedom=freedom, local_freedom=alone.local_freedom)


def textbook_stderr(sums: Sums, ridge: float, found: Fit) -> np.ndarray:
    """Standard errors of the coefficients as a textbook has them, and as `lime_stability` does, (d,).

    sigma^2 B G B with G = Z'WZ, B = (G + ridge)^-1 and sigma^2 = sum w r^2 / (n - k), r the residuals
    without ridge and Z the k indicators without a column for the intercept: weights are taken for
    inverse variances, and the intercept for known (Visani et al. 2022). The sandwich takes neither.
    B G B = B - ridge B^2, and B is one rank away from the inverse that the fit has found.
    """
    used, penalty = found.used, _in_units(ridge, sums)
    k, result, whole = int(used.sum()), np.zeros(sums.d), sums.block
    response, plain, solver = sums.response[: sums.d + 1], sums.solver, found.solver
    if k < len(sums.gram) - 1:
        columns = np.concatenate([[0], 1 + np.flatnonzero(used)])
        whole, response = _part(whole, columns), response[columns]
        plain, solver = Solver(whole), None
    if solver is None or len(solver.mean) != k:
        solver = Solver(whole, penalty)
    left = max(float(sums.squares - plain.beta(response) @ response), 0.0) / max(sums.n - k, 1)
    if not solver.total:
        return result
    ahead = solver.inverse @ solver.mean  # G / W is the covariance plus the square of the mean
    bread = solver.inverse - np.outer(ahead, ahead / (1 + solver.mean @ ahead))
    bread /= solver.total
    variance = np.diag(bread) - penalty * np.einsum("ij,ij->i", bread, bread)
    with np.errstate(over="ignore", invalid="ignore"):
        result[used] = np.sqrt(left * np.clip(variance, 0.0, None)) * sums.unit
    return result


def indicator_variances(gram: np.ndarray) -> np.ndarray:
    """The weighted variance of each indicator, (d,)."""
    mean = gram[0, 1:] / gram[0, 0]
    return np.diag(gram)[1:] / gram[0, 0] - mean**2


def scarcer_side(sums: Sums) -> np.ndarray:
    """Effective samples on that side of each indicator which has fewer of them, (d,)."""
    share = sums.block[0, 1:] / sums.gram[0, 0]
    return sums.ess * np.minimum(share, 1 - share)


def refuse_weightless(sums: Sums, at: str = "") -> None:
    """Refuse samples of which none counts."""
    if sums.ess == 0:
        raise ValueError(
            f"kernel must give some sample a weight above 0, got 0 for all {sums.n}{at}."
        )


def degrees_of_freedom(sums: Sums) -> tuple[np.ndarray, float]:
    """Of the standard errors of intercept and coefficients (d+1,), and of the surrogate at xi.

    Satterthwaite's (A1 + A0)^2 / (Q1 / (1 - A1) + Q0 / (1 - A0)), where A and Q are the sums of
    squares and fourth powers of the influences a_i on either side of z_j: a side of m equal samples
    has A = 1/m and m - 1 degrees of freedom, as in Welch's test. Numbers have one side, in units of
    their own deviation.
    """
    total = sums.gram[0, 0]
    second, fourth = sums.second / total**2, sums.fourth / total**4
    part = second
    if not sums.marks:
        part = second.copy()
        part[:, 1:-1] *= indicator_variances(sums.block)
    left = np.clip(1 - part, 0.1, 1.0)
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
    left = sums.squares - 2 * beta @ sums.response[: len(beta)] + beta @ sums.block @ beta
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
        keep = np.zeros(sums.d, bool)
        beta = fit(sums, ridge=0.01).beta[1:]
        keep[np.argsort(-np.abs(beta), kind="stable")[:k]] = True
        return keep


class Forward:
    """One feature at a time, the one that raises the weighted R^2 most."""

    def choose(self, sums: Sums, k: int) -> np.ndarray:
        """Which k features to keep, a mask (d,)."""
        keep = np.zeros(sums.d, bool)
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
    return np.ones(sums.d, bool) if k >= sums.d else SELECTIONS[select].choose(sums, k)


def _r2_on(sums: Sums, keep: np.ndarray) -> float:
    used = np.flatnonzero(np.concatenate([[True], keep]))
    beta = np.zeros(sums.d + 1)
    beta[used] = Solver(sums.gram[np.ix_(used, used)]).beta(sums.response[used])
    return weighted_r2(sums, beta)
