"""Step 5 of Algorithm 1, fit: weighted least squares on indicators, and its standard errors.

:class:`Sums` keeps about (d+1)^2 numbers, whatever the number of samples. Weights are kept relative
to the largest one seen, responses relative to their weighted mean and to the largest weighted one,
so that a sample of no weight cannot cost digits. :func:`fit` solves the normal equations.
Chapter: surrogate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy

MIN_DEVIATION = 1e-7  # smaller ones are rounding of the sums (1e-16 under a root, and some)
MIN_STDERR = 1e-153  # smaller ones, whose squares are lost, are given as infinite
FEW_COLUMNS = 24  # below it, arrays are stored by column
LARGE_SAMPLE = 2**15  # numbers from which on single precision is worth its while ...
NEARLY_CONSTANT = 0.05  # ... unless an indicator has a variance below this, which costs digits
BLIND = 1e-5  # where less than this of an error is left in its residual, the residual says nothing


@cache
def _blas() -> Any:
    """What controls the threads of numpy's linear algebra, where threadpoolctl is installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # it comes with scikit-learn; without it sums may differ in the last bit
        return None
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """A context, and a decorator: sums are added up in one order, the same bits for a seed."""
    blas = _blas()
    single = blas is None or {1} >= set(map(attrgetter("num_threads"), blas.lib_controllers))
    with nullcontext() if single else blas.limit(limits=1):
        yield


class Sums:
    """Running sums of a weighted regression of y on (1, z).

    ``z`` may have ``extra`` columns behind its d regressors that are no part of the surrogate
    (control variates). ``are_indicators`` is False where the d columns are numbers.
    """

    # by which power of a change in the unit of weight, and of response, each sum changes
    POWERS: ClassVar[dict[str, tuple[int, int]]] = {
        "gram": (1, 0), "response": (1, 1), "squares": (1, 2), "gram2": (2, 0), "squared": (2, 0),
        "meat": (2, 2), "noise": (2, 2), "noise_share": (2, 0),
    }  # fmt: skip

    def __init__(self, d: int, extra: int = 0, are_indicators: bool = True) -> None:
        self.n, self.d, self.are_indicators = 0, d, are_indicators
        self.log_scale = -np.inf  # every weight is in units of exp(log_scale)
        self.shift = 0.0  # y is taken from here, so that a large mean costs no digits
        self.unit = 0.0  # ... and measured in these units: the largest weight times |y|
        size = 1 + d + extra
        self.gram = np.zeros((size, size))  # sum w z z'
        self.gram2 = np.zeros((size, size))  # sum w^2 z z'
        self.squared = np.zeros(size)  # sum w^2 z
        self.response = np.zeros(size)  # sum w z y
        self.squares = 0.0  # sum w y^2
        self.meat = np.zeros((size, size))  # sum w^2 s^2 z z', s the corrected residual
        self.noise = self.noise_share = 0.0  # sums of w^2 r^2 and of w^2 phi: the pooled noise
        # sums of squares and fourth powers of influences, over z_j = 0 and z_j = 1, for the
        # intercept, the coefficients and the surrogate at xi
        self.second, self.fourth = np.zeros((2, d + 2)), np.zeros((2, d + 2))
        self.equal = True  # all weights are the same
        self.always = np.ones(d, bool)  # indicators that were 1 in all samples so far
        self.solver = Solver(self.gram)  # of the sums so far, without a penalty

    def add(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray) -> None:
        """Take in a batch; residuals and leverages are those of the fit to all batches so far.

        With a single batch they are exact; with more, early ones come from fits to fewer samples,
        which differ from the final one by less than a standard error.
        """
        with one_thread(), np.errstate(over="ignore", under="ignore", invalid="ignore"):
            self._add_uncertainty(z, *self._add_products(z, y, log_w))

    def _add_products(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray) -> Any:
        """Add what the coefficients need; responses and weights in common units, their sums."""
        largest = float(np.max(log_w))
        if largest > self.log_scale:
            if self.n:
                self.equal = False
                self._rescale(np.exp(self.log_scale - largest), 1.0)
            self.log_scale = largest
        weighs = np.isfinite(self.log_scale)
        w = np.exp(log_w - self.log_scale) if weighs else np.zeros(len(y))
        if self.gram[0, 0] == 0:
            self.shift = _weighted_mean(y, w)
        y = np.where(w > 0, y - self.shift, 0.0)
        largest = float(np.max(w * np.abs(y)))
        if largest > self.unit:
            if self.n:
                self._rescale(1.0, self.unit / largest)
            self.unit = largest
        y = y / self.unit if self.unit else y
        y = np.where(np.isfinite(y), y, 0.0)  # beyond 1e308 only where the weight is below 1e-308
        equal = bool(np.all(w == 1.0))
        batch = _products(z, y, w, equal)
        self.n += len(y)
        self.equal = self.equal and equal
        for name, part in batch.items():
            setattr(self, name, getattr(self, name) + part)
        self._merge_constants(z, w)
        self.solver = Solver(self.gram)
        return y, w, batch

    def _rescale(self, weight: float, response: float) -> None:
        """Change the units of weights and responses by these factors."""
        for name, (a, b) in self.POWERS.items():
            setattr(self, name, getattr(self, name) * (weight**a * response**b))

    def _merge_constants(self, z: np.ndarray, w: np.ndarray) -> None:
        """Make an indicator that was always 1 equal to the intercept's column, to the last bit."""
        if not self.are_indicators:
            return
        self.always &= self.gram[0, 1 : self.d + 1] >= (1 - 1e-9) * self.gram[0, 0]
        for j in np.flatnonzero(self.always):
            self.always[j] = np.all(z[w > 0, j])
        ones = 1 + np.flatnonzero(self.always)
        if len(ones):
            self.gram[ones] = self.gram[0]
            self.gram[:, ones] = self.gram[:, :1]
            self.response[ones], self.squared[ones] = self.response[0], self.squared[0]

    def _add_uncertainty(self, z: np.ndarray, y: np.ndarray, w: np.ndarray, batch: Any) -> None:
        """Add what standard errors and their degrees of freedom need.

        A residual r is smaller than the error it comes from. Its variance is phi = ||row of 1 - H||^2
        that of the errors, 1 - h with equal weights and nearly (1 - h)^2 for a sample that outweighs
        the others (h is the leverage). s^2 = r^2 / ((1 - h) sqrt(phi)) lies between the corrections
        known as HC2, which is r^2 / phi, and HC3, which is r^2 / (1 - h)^2. Where the fit passes
        through a sample (h near 1) r says nothing, and a share h^2 of the pooled noise is put in.
        """
        # In large samples with small leverages six digits are enough, unless an indicator is nearly
        # constant; and for weights that are nearly equal, sum w^2 z z' is nearly a multiple of
        # sum w z z'. Standard errors move by less than 0.1 %.
        size = len(self.gram)
        small_leverages = self.ess >= max(4 * size, min(self.n / 2, 100 * size))
        fast = small_leverages and self.n * size >= LARGE_SAMPLE
        if fast and self.are_indicators:
            variances = self.variances()
            fast = bool(np.all((variances < MIN_DEVIATION**2) | (variances > NEARLY_CONSTANT)))
        digits = np.float32 if fast else np.float64
        proportional = self.equal or (fast and self.ess >= self.n / 2)
        multiple = batch["squared"][0] / (batch["gram"][0, 0] or 1.0)
        self.gram2 += batch["gram"] * multiple if proportional else _scaled_squares(z, w, digits)
        r, h, phi = self._leverages(z, y, w, digits, proportional)
        square = (w * r) ** 2  # times the weight, which may be what keeps it finite
        self.noise += np.sum(square)
        self.noise_share += np.sum(w**2 * phi)
        pooled = self.noise / self.noise_share if self.noise_share > 0 else 0.0
        blind = (phi < BLIND) | (1 - h < BLIND)
        s2 = np.where(blind, 0.0, square / np.where(blind, 1.0, (1 - h) * np.sqrt(phi)))
        s2 += h**2 * np.maximum(pooled * w**2 - s2, 0.0)
        self.meat += _scaled_squares(z, np.sqrt(s2), digits)

    def _leverages(self, z: Any, y: Any, w: Any, digits: Any, proportional: bool) -> Any:
        """Residual r, leverage h and phi of each sample of a batch; adds up the influences."""
        beta = self.solver.beta(self.response)
        bread, gram2 = self.solver.bread.astype(digits), self.gram2.astype(digits)
        order: Any = "F" if len(beta) < FEW_COLUMNS else "C"
        r, form, form2 = np.empty((3, len(y)))
        for rows in _chunks(z):
            columns = z[rows].astype(float)
            r[rows] = y[rows] - columns @ beta[1:] - beta[0]
            design = np.empty((len(columns), len(beta)), digits, order)
            design[:, 0], design[:, 1:] = 1.0, columns
            influence = np.matmul(design, bread, out=np.empty_like(design))
            form[rows] = np.einsum("ij,ij->i", influence, design)
            if not proportional:
                form2[rows] = np.einsum("ij,ij->i", influence @ gram2, influence)
            self._add_influences(design, influence[:, : self.d + 1], w[rows].astype(digits))
        if proportional:  # gram2 is a multiple of gram, and bread gram bread = bread
            form2 = form * (self.squared[0] / (self.gram[0, 0] or 1.0))
        h = np.clip(w * form, 0.0, 1.0)
        return r, h, np.clip(1 - 2 * h + form2, 0.0, None)

    def _add_influences(self, design: np.ndarray, influence: np.ndarray, w: np.ndarray) -> None:
        square = np.empty_like(design, shape=(len(w), self.d + 2))
        square[:, :-1], square[:, -1] = influence, influence.sum(axis=1)
        square *= (float(self.gram[0, 0]) * w)[:, None]
        np.square(square, out=square)
        ones = np.ones(len(w), square.dtype)
        for sums in (self.second, self.fourth):
            total = ones @ square
            inside = total.copy()  # the intercept and the surrogate at xi have one side only
            if self.are_indicators:
                inside[1:-1] = np.einsum("ij,ij->j", design[:, 1 : self.d + 1], square[:, 1:-1])
            sums += [total - inside, inside]
            np.square(square, out=square)

    def sampling_covariance(self, solver: Solver, used: np.ndarray, kept: int) -> Any:
        """The sandwich of the columns ``used``, ``kept`` of them regressors; degrees of freedom."""
        bread = solver.bread
        return bread @ self.meat[np.ix_(used, used)] @ bread, *degrees_of_freedom(self)

    def variances(self) -> np.ndarray:
        """The weighted variance of each regressor, (d,)."""
        block, total = self.block, self.gram[0, 0]
        return np.diag(block)[1:] / total - (block[0, 1:] / total) ** 2

    @property
    def block(self) -> np.ndarray:
        """The part of ``gram`` that is the surrogate's, (d + 1, d + 1)."""
        return self.gram[: self.d + 1, : self.d + 1]

    @property
    def ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2."""
        squares = self.squared[0]
        return float(self.gram[0, 0] ** 2 / squares) if squares else 0.0


def _products(z: np.ndarray, y: np.ndarray, w: np.ndarray, equal: bool) -> dict[str, Any]:
    """What a batch adds to the sums; counts of indicators are exact in single precision below 2^24."""
    d = z.shape[1]
    inner, edges = np.zeros((d, d)), np.zeros((3, d))  # the columns beside: w z, w z y, w^2 z
    root = np.sqrt(w)
    factors = root * np.array([np.ones(len(w)), y, w])
    counts = equal and z.dtype == bool
    for rows in _chunks(z):
        columns = z[rows].astype(float)
        if counts:
            single = z[rows].astype(np.float32)
            inner += single.T @ single
        else:
            columns *= root[rows, None]
            inner += columns.T @ columns
        edges += factors[:, rows] @ columns
    if counts:
        edges[0] = edges[2] = np.diag(inner)  # an indicator is its own square
    return {"gram": _bordered(inner, edges[0], float(np.sum(w))), "response": np.append(w @ y, edges[1]),
            "squared": np.append(w @ w, edges[2]), "squares": float(factors[1] @ factors[1])}  # fmt: skip


def _bordered(inner: np.ndarray, edge: np.ndarray, corner: float) -> np.ndarray:
    """The sums of (1, z)(1, z)' from those of z z', of z and of 1."""
    result = np.empty((len(edge) + 1,) * 2)
    result[0, 0], result[0, 1:], result[1:, 0] = corner, edge, edge
    result[1:, 1:] = inner
    return result


def _scaled_squares(z: np.ndarray, scale: np.ndarray, digits: Any) -> np.ndarray:
    """Sum scale^2 (1, z)(1, z)' over a batch."""
    inner, edge = np.zeros((z.shape[1],) * 2), np.zeros(z.shape[1])
    top = float(np.max(scale, initial=0.0))
    if not 0 < top < np.inf:
        return np.full((z.shape[1] + 1,) * 2, top)
    share = (scale / top).astype(digits)
    for rows in _chunks(z):
        columns = z[rows].astype(digits)
        columns *= share[rows, None]
        inner += columns.T @ columns
        edge += share[rows] @ columns
    return _bordered(inner, edge, float(np.sum((scale / top) ** 2))) * top**2


def _chunks(z: np.ndarray) -> list[slice]:
    """Rows in chunks that stay in cache, long enough for a product of matrices."""
    width = z.shape[1] + 1
    rows = max(2**15 // width, min(2 * width, 2048), 256)
    starts = range(0, len(z), rows)
    return list(map(slice, starts, [*starts[1:], len(z)]))


def _weighted_mean(y: np.ndarray, w: np.ndarray) -> float:
    """The mean of y by weight, without overflow."""
    weighted = np.where(w > 0, y, 0.0)
    size, total = float(np.max(np.abs(weighted), initial=0.0)), float(w.sum())
    return float(size * (w @ (weighted / size)) / total) if size and total else 0.0


class Solver:
    """The normal equations of some sums: an inverse, and the coefficients it gives.

    ``penalty`` is on the squares of the coefficients, of the first ``penalised`` where not all are
    the surrogate's. Indicators that never vary, and directions in which they are collinear, are left
    out: coefficient 0, the solution of least norm. Paper: Eq. 2.4, Eq. 5.1.
    """

    def __init__(self, gram: np.ndarray, penalty: float = 0.0, penalised: Any = None) -> None:
        size = len(gram) - 1
        self.total = float(gram[0, 0])
        if self.total == 0:
            self.mean, self.inverse = np.zeros(size), np.zeros((size, size))
            self.collinear = np.ones(size, bool)
            return
        self.mean = gram[0, 1:] / self.total
        cov = gram[1:, 1:] / self.total - np.outer(self.mean, self.mean)
        if penalty:
            diagonal = np.arange(size)[:penalised]
            cov[diagonal, diagonal] += penalty / self.total
        self.inverse, self.collinear = pseudo_inverse(cov)

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
        beside = -self.inverse @ self.mean
        return _bordered(self.inverse, beside, float(1 - self.mean @ beside)) / self.total


def pseudo_inverse(cov: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inverse of a covariance without its empty directions, and the features they involve.

    By Cholesky where the correlations are well conditioned, else by their eigenvalues above rounding.
    """
    if not len(cov):  # LAPACK would complain on standard error
        return cov, np.zeros(0, bool)
    scale = np.sqrt(np.maximum(np.diag(cov), 0.0))
    constant = scale <= MIN_DEVIATION
    scale[constant] = 1.0
    units = np.outer(scale, scale)
    correlation = cov / units
    correlation[constant] = correlation[:, constant] = 0.0
    correlation[constant, constant] = 1.0
    rounding = max(1e-10, 1e-15 / float(np.min(scale, initial=1.0)) ** 2)  # covariances hold 1e-16
    conditioned, collinear = False, constant.copy()
    root, failed = scipy.linalg.lapack.dpotrf(correlation, lower=1)  # zeros above the diagonal
    if not failed:
        inverse, failed = scipy.linalg.lapack.dpotri(root, lower=1, overwrite_c=1)
        diagonal = np.diag(inverse).copy()
        inverse = inverse + inverse.T
        np.fill_diagonal(inverse, diagonal)
        condition = np.abs(correlation).sum(axis=1).max() * np.abs(inverse).sum(axis=1).max()
        conditioned = condition < 1e-3 / rounding  # in the 1-norm
    if not conditioned:
        values, vectors = np.linalg.eigh(correlation)
        kept = values > rounding
        collinear |= np.any(np.abs(vectors[:, ~kept]) > 1e-3, axis=1)
        inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    inverse[constant] = inverse[:, constant] = 0.0
    return inverse / units, collinear


class Fit(NamedTuple):
    """Coefficients (intercept first), their covariance, and how far both can be trusted."""

    beta: np.ndarray
    covariance: np.ndarray
    score: float  # R^2
    used: np.ndarray  # (d,) False for features that were left out or never vary
    collinear: np.ndarray  # (d,) True where an indicator is not told from a constant or from others
    freedom: np.ndarray  # (d + 1,) degrees of freedom of each standard error
    local_freedom: float  # ... and of that of the surrogate at xi
    solver: Solver | None = None  # of the normal equations, penalty included


def fit(
    sums: Sums, ridge: float = 0.0, keep: np.ndarray | None = None, beta: np.ndarray | None = None
) -> Fit:
    """The surrogate from the sums, on the features ``keep`` (all if None) (paper, Eq. 2.2, Eq. 2.3).

    Minimises ``sum w (y - b0 - b.z)^2 + ridge |b|^2``, as scikit-learn's Ridge does. ``beta`` are
    coefficients that were found in another way, in the units of the sums.
    """
    refuse_weightless(sums)
    d, columns = sums.d, len(sums.response)
    keep = np.ones(d, bool) if keep is None else keep
    penalty = relative_penalty(ridge, sums) if ridge else 0.0
    used = np.concatenate([[0], 1 + np.flatnonzero(keep), np.arange(d + 1, columns)])
    solver, kept = sums.solver, int(keep.sum())
    covariance = np.zeros_like(sums.gram)
    with one_thread(), np.errstate(over="ignore"):
        if penalty or kept < d:
            solver = Solver(sums.gram[np.ix_(used, used)], penalty, kept)
        if beta is None:
            beta = np.zeros(columns)
            beta[used] = solver.beta(sums.response[used])
        inner, freedom, local_freedom = sums.sampling_covariance(solver, used, kept)
        scaled = inner * sums.unit * sums.unit
        lost = (np.diag(inner) * sums.unit > 0) & (np.diag(scaled) < MIN_STDERR**2)
        covariance[np.ix_(used, used)] = np.inf if lost.any() else scaled
    beta, covariance = beta[: d + 1], covariance[: d + 1, : d + 1]
    score = weighted_r2(sums, beta)
    beta = beta * (sums.unit or 1.0)
    beta[0] += sums.shift
    estimated = keep & (sums.variances() > MIN_DEVIATION**2)
    left_out = np.flatnonzero(~estimated) + 1
    covariance[left_out] = covariance[:, left_out] = 0.0
    collinear = sums.solver.collinear[:d]
    return Fit(beta, covariance, score, estimated, collinear, freedom, local_freedom, solver)


def refuse_weightless(sums: Sums, at: str = "") -> None:
    """Refuse samples of which none counts."""
    if sums.ess == 0:
        raise ValueError(
            f"kernel must give some sample a weight above 0, got 0 for all {sums.n}{at}."
        )


def relative_penalty(ridge: float, sums: Sums) -> float:
    """A penalty in the unit of weight; beyond 1e250 times it nothing is left of coefficients."""
    return float(np.exp(np.clip(np.log(ridge) - sums.log_scale, None, np.log(1e250))))


def degrees_of_freedom(sums: Sums) -> tuple[np.ndarray, float]:
    """Of the standard errors of intercept and coefficients (d+1,), and of the surrogate at xi.

    Satterthwaite's (A1 + A0)^2 / (Q1 / (1 - A1) + Q0 / (1 - A0)), where A and Q are the sums of
    squares and fourth powers of the influences a_i on either side of z_j: a side of m equal samples
    has A = 1/m and m - 1 degrees of freedom, as in Welch's test. Numbers have one side, in units of
    their own deviation.
    """
    total = sums.gram[0, 0]
    second, fourth = sums.second / total**2, sums.fourth / total**4
    part = second.copy()
    if not sums.are_indicators:
        part[:, 1:-1] *= sums.variances()
    left = np.clip(1 - part, 0.1, 1.0)
    ends = [0, -1]
    left[:, ends] = 1 - np.minimum(second[:, ends], 0.5) / max(second.shape[1] - 2, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = second.sum(axis=0) ** 2 / np.sum(fourth / left, axis=0)
    freedom = np.where(np.isfinite(freedom), np.maximum(freedom, 2.0), 2.0)
    return freedom[:-1], float(freedom[-1])


def weighted_r2(sums: Sums, beta: np.ndarray) -> float:
    """Weighted R^2 of the coefficients; 1 for a constant f, which any surrogate fits."""
    if not np.isfinite(sums.squares):  # one response outweighs all others
        return 0.0
    k, total = len(beta), sums.squares - sums.response[0] ** 2 / sums.gram[0, 0]
    left = sums.squares - 2 * beta @ sums.response[:k] + beta @ sums.gram[:k, :k] @ beta
    if total <= 1e-14 * max(sums.squares, 1e-300):
        return 1.0
    return float(1 - left / total)
