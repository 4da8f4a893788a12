"""Running sums of samples: all that a fit needs of them, whatever their count.

:class:`Sums` takes samples in a batch at a time and keeps about (d+1)^2 numbers. Weights arrive as
logarithms and are kept relative to the largest one seen; responses are kept relative to their
weighted mean and to the largest weighted one, so that a sample that does not count cannot cost
digits, however large f is there. A batch goes through in pieces that stay in the processor's cache.
Chapter: surrogate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy

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
        if threads is None or all(lib.num_threads == 1 for lib in threads.lib_controllers):
            return function(*args, **kwargs)
        with threads.limit(limits=1):
            return function(*args, **kwargs)

    return alone  # type: ignore[return-value]


DEAD = 1e-7  # deviations below the rounding of the sums (1e-16 under a root, and some)
NARROW = 24  # columns from which on symmetry pays
LARGE = 2**15  # numbers from which less exact leverages are worth their while
PLENTY = 50  # effective samples a column, from which on leverages are around 2%: a guess will do
SOME = 4  # ... from which on they are well below 1, and single precision will do


class Sums:
    """Running sums of a weighted regression of y on (1, z).

    ``z`` may have columns behind its d indicators that are no part of the surrogate (see
    :mod:`limetutor.adjustment`); ``extra`` is their number. Samples that depend on each other come
    in ``groups``, whose sums are kept apart as well: only their spread tells the noise. ``marks`` is
    False where the d columns are numbers, which have no two sides.
    """

    def __init__(self, d: int, extra: int = 0, groups: int = 1, marks: bool = True) -> None:
        self.n, self.d, self.marks = 0, d, marks
        self.log_scale = -np.inf  # every weight is in units of exp(log_scale)
        self.shift = 0.0  # y is taken from here, so that a large mean costs no digits
        self.unit = 0.0  # ... and measured in these units: the largest weight times |y|
        size = 1 + d + extra
        self.gram = np.zeros((size, size))  # sum w z z'
        self.squared = np.zeros(size)  # sum w^2 z
        self.gram2 = np.zeros((size, size))  # sum w^2 z z'; see _add_gram2
        self.equal = True  # all weights are the same
        self.always = np.ones(d, bool)  # indicators that were 1 in all samples so far
        self.response = np.zeros(size)  # sum w z y
        self.squares = 0.0  # sum w y^2
        self.meat = np.zeros((size, size))  # sum w^2 s^2 z z', s the corrected residual
        self.noise = np.zeros(2)  # sums of w^2 r^2 and of w^2 phi, for the pooled noise
        # sums of the squares and fourth powers of influences, over z_j = 0 and z_j = 1, for the
        # intercept, the coefficients and the surrogate at xi
        self.second = np.zeros((2, d + 2))
        self.fourth = np.zeros((2, d + 2))
        self.solver = Solver(self.gram)  # of the sums so far, without a penalty
        self.group_gram = np.zeros((groups if groups > 1 else 0, size, size))
        self.group_response = np.zeros((groups if groups > 1 else 0, size))

    @on_one_thread
    def add(self, z: np.ndarray, y: np.ndarray, log_w: np.ndarray, group: int | None = 0) -> None:
        """Take in a batch; residuals and leverages are those of the fit to all batches so far.

        With a single batch they are exact; with more, the early ones come from fits to fewer
        samples, which differ from the final one by less than a standard error, and leverages are
        rather too large. A batch whose ``group`` is None is the same in every run.
        """
        self._rescale_weights(float(np.max(log_w)))
        with np.errstate(under="ignore"):
            some = np.isfinite(self.log_scale)
            w = np.exp(log_w - self.log_scale) if some else np.zeros(len(y))
        if self.gram[0, 0] == 0:
            self.shift = _weighted_mean(y, w)
        y = self._in_units(y, w)
        alike = bool(np.all(w == 1.0))
        batch = _products(z, y, w, alike)
        self.n += len(y)
        self.equal = self.equal and alike
        self.gram += batch.gram
        self.response += batch.response
        self.squared += batch.squared
        self.squares += batch.squares
        self._hold_constants(z, w)
        self.solver = Solver(self.gram)
        if group is not None and len(self.group_gram):
            self.group_gram[group] += batch.gram
            self.group_response[group] += batch.response
        elif not len(self.group_gram):
            with np.errstate(over="ignore", under="ignore"):
                self._add_uncertainty(z, y, w, batch)

    def _hold_constants(self, z: np.ndarray, w: np.ndarray) -> None:
        """An indicator that was 1 in all samples so far is the intercept's column, to the last bit.

        Sums of weights in another order would tell the two apart by a few units in the last place.
        """
        if not self.marks:
            return
        self.always &= self.gram[0, 1 : self.d + 1] >= (1 - 1e-9) * self.gram[0, 0]
        for j in np.flatnonzero(self.always):
            self.always[j] = np.all(z[w > 0, j])
        ones = 1 + np.flatnonzero(self.always)
        if len(ones):
            self.gram[ones] = self.gram[0]
            self.gram[:, ones] = self.gram[:, :1]
            self.response[ones], self.squared[ones] = self.response[0], self.squared[0]

    def _in_units(self, y: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Responses from ``shift`` in units of ``unit``, both of which they may move."""
        y = np.where(w > 0, y - self.shift, 0.0)
        self._rescale_responses(float(np.max(w * np.abs(y))))
        with np.errstate(over="ignore"):
            y = y / self.unit if self.unit else y
        # beyond 1e308 units only where the weight is below 1e-308
        return np.where(np.isfinite(y), y, 0.0)

    def _add_uncertainty(
        self, z: np.ndarray, y: np.ndarray, w: np.ndarray, batch: _Products
    ) -> None:
        """The sums behind standard errors and their degrees of freedom.

        A residual r is smaller than the error it comes from. Its variance is phi = ||row of 1 - H||^2
        that of the errors, 1 - h with equal weights and nearly (1 - h)^2 for a sample that outweighs
        the others (h is the leverage). s^2 = r^2 / ((1 - h) sqrt(phi)) lies between the corrections
        known as HC2, which is r^2 / phi, and HC3, which is r^2 / (1 - h)^2. Where the fit passes
        through a sample (h near 1) r says nothing, and a share h^2 of the pooled noise is put in.
        """
        leverages, precision = self._how_exactly(z)
        self._add_gram2(z, w, batch.squared, precision)
        r, h, phi = leverages(z, y, w, batch.squared)
        square = (w * r) ** 2  # times the weight, which may be what keeps it finite
        self.noise += [np.sum(square), np.sum(w**2 * phi)]
        pooled = self.noise[0] / self.noise[1] if self.noise[1] > 0 else 0.0
        blind = (phi < 1e-5) | (1 - h < 1e-5)
        s2 = np.where(blind, 0.0, square / np.where(blind, 1.0, (1 - h) * np.sqrt(phi)))
        s2 += h**2 * np.maximum(pooled * w**2 - s2, 0.0)
        self.meat += _scaled_squares(z, np.sqrt(s2), precision)

    def _how_exactly(self, z: np.ndarray) -> tuple[Callable[..., Any], Any]:
        """How leverages are found, and the precision of the noise: six digits are plenty.

        Short work is done exactly. Nothing of this touches the coefficients.
        """
        size, ess = len(self.gram), self.ess
        if self.n * size >= LARGE:
            if z.dtype == bool and ess >= PLENTY * size and self.solver.independent:
                return self._as_if_independent, np.float32
            if ess >= SOME * size and ess >= self.n / 2:
                return self._briskly, np.float32
        return self._exactly, np.float64

    def _add_gram2(self, z: np.ndarray, w: np.ndarray, squared: np.ndarray, precision: Any) -> None:
        """Sum w^2 z z'; where six digits are plenty, as if indicators were independent."""
        if self.equal:
            self.gram2 = self.gram.copy()
        elif precision == np.float32:
            mean = squared / squared[0] if squared[0] > 0 else squared
            self.gram2 += squared[0] * np.outer(mean, mean)
            np.fill_diagonal(self.gram2, np.diag(self.gram2) + squared - squared[0] * mean**2)
        else:
            self.gram2 += _scaled_squares(z, w, np.float64)

    def _exactly(
        self, z: np.ndarray, y: np.ndarray, w: np.ndarray, squared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Residual r, leverage h and phi of each sample of a batch; adds up the influences."""
        bread, beta = self.solver.bread, self.solver.beta(self.response)
        r, h, phi = (np.empty(len(y)) for _ in range(3))
        for rows in _passes(z):
            design = _design(z[rows])
            influence = design @ bread
            r[rows] = y[rows] - design @ beta
            h[rows] = np.clip(w[rows] * np.einsum("ij,ij->i", influence, design), 0.0, 1.0)
            both = influence if self.equal else influence @ self.gram2
            other = design if self.equal else influence  # bread gram bread = bread
            phi[rows] = 1 - 2 * h[rows] + np.einsum("ij,ij->i", both, other)
            self._add_influences(design, influence[:, : self.d + 1], w[rows])
        return r, h, np.clip(phi, 0.0, None)

    def _briskly(
        self, z: np.ndarray, y: np.ndarray, w: np.ndarray, squared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same in single precision, for weights that differ little.

        Then sum w^2 z z' is nearly a multiple of sum w z z', and phi = 1 - 2 h + (W2 / W) h / w with
        W = sum w and W2 = sum w^2.
        """
        bread, beta = self.solver.bread.astype(np.float32), self.solver.beta(self.response)
        r, form = np.empty(len(y)), np.empty(len(y))
        for rows in _passes(z):
            design = _design(z[rows])
            r[rows] = y[rows] - design @ beta
            single = design.astype(np.float32)
            influence = single @ bread
            form[rows] = np.einsum("ij,ij->i", influence, single)
            self._add_influences(single, influence[:, : self.d + 1], w[rows].astype(np.float32))
        h = np.clip(w * form, 0.0, 1.0)
        return r, h, np.clip(1 - 2 * h + self.squared[0] / self.gram[0, 0] * form, 0.0, None)

    def _add_influences(self, design: np.ndarray, influence: np.ndarray, w: np.ndarray) -> None:
        local = influence.sum(axis=1, keepdims=True)
        square = np.hstack([influence, local])
        square *= (self.gram[0, 0] * w)[:, None].astype(square.dtype)
        np.square(square, out=square)
        for sums in (self.second, self.fourth):
            every = square.sum(axis=0)
            own = every.copy()  # the intercept and the surrogate at xi have one side only
            if self.marks:
                own[1:-1] = np.einsum("ij,ij->j", design[:, 1 : self.d + 1], square[:, 1:-1])
            sums += [every - own, own]
            np.square(square, out=square)

    def _as_if_independent(
        self, z: np.ndarray, y: np.ndarray, w: np.ndarray, squared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same with the leverages of independent indicators, as they are in the limit.

        With m the mean and v = m (1 - m) the variance of an indicator, and m' its mean by w^2,

            h = w / W (1 + sum_j (z_j - m_j)^2 / v_j),
            phi = 1 - 2 h + W2 / W^2 ((1 + sum_j (m'_j - m_j)(z_j - m_j) / v_j)^2
                                      + sum_j m'_j (1 - m'_j) (z_j - m_j)^2 / v_j^2),

        W = sum w, W2 = sum w^2; both are linear in z or squares of it. h is off by h / sqrt(ess) or
        so, which does not show in a standard error.
        """
        total, total2 = self.gram[0, 0], self.squared[0]
        m, m2 = self.gram[0, 1:] / total, self.squared[1:] / total2
        v = m * (1 - m)
        inv = np.divide(1.0, v, out=np.zeros(len(v)), where=v > DEAD**2)
        level, slopes, beta = np.empty(6), np.empty((6, len(m))), self.solver.beta(self.response)
        level[0], slopes[0] = beta[0], beta[1:]
        slopes[1:4] = (m2 - m) * inv, -m * inv, (1 - m) * inv  # of z - m
        level[1:4] = 1 - slopes[1:4] @ m
        slopes[4:] = inv, m2 * (1 - m2) * inv**2  # of (z - m)^2
        level[4:] = slopes[4:] @ m**2
        slopes[4:] *= 1 - 2 * m
        found, own4 = np.empty((6, len(y))), np.zeros(len(beta))
        w4 = np.square(w * w)
        for rows in _passes(z):
            columns = z[rows].astype(float)
            np.matmul(slopes, columns.T, out=found[:, rows])
            if not self.equal:
                own4[1:] += w4[rows] @ columns
        found += level[:, None]
        own4[0] = np.sum(w4)
        own4 = squared if self.equal else own4
        r, h = y - found[0], w / total * (1 + found[4])
        phi = (total2 / total**2) * (found[1] ** 2 + found[5])
        at_ends = (w * found[2:4]) ** 2
        ends2, ends4 = at_ends.sum(axis=1), (at_ends * at_ends).sum(axis=1)
        np.minimum(h, 1.0, out=h)
        for sums, sides, ends, power in (
            (self.second, squared, ends2, 2),
            (self.fourth, own4, ends4, 4),
        ):
            rest = sides[0] - sides[1:]
            sums[:, 1:-1] += [rest * (m * inv) ** power, sides[1:] * ((1 - m) * inv) ** power]
            sums[1, [0, -1]] += ends
        return r, h, np.maximum(1 - 2 * h + phi, 0.0)

    def _rescale_weights(self, log_w: float) -> None:
        if log_w <= self.log_scale:
            return
        if self.n:
            factor = np.exp(self.log_scale - log_w)
            self.equal = False
            for name, power in _POWERS_OF_W:
                setattr(self, name, getattr(self, name) * factor**power)
        self.log_scale = log_w

    def _rescale_responses(self, largest: float) -> None:
        if largest <= self.unit:
            return
        factor = self.unit / largest
        self.response *= factor
        self.group_response *= factor
        self.squares *= factor**2
        self.meat *= factor**2
        self.noise[0] *= factor**2
        self.unit = largest

    @property
    def block(self) -> np.ndarray:
        """The part of ``gram`` that is the surrogate's, (d + 1, d + 1)."""
        return self.gram[: self.d + 1, : self.d + 1]

    @property
    def ess(self) -> float:
        """Effective sample size (sum w)^2 / sum w^2."""
        squares = self.squared[0]
        return float(self.gram[0, 0] ** 2 / squares) if squares else 0.0


# by which power of a change in the unit of weight each sum moves
_POWERS_OF_W = (
    ("gram", 1),
    ("response", 1),
    ("squares", 1),
    ("gram2", 2),
    ("squared", 2),
    ("group_gram", 1),
    ("group_response", 1),
    ("meat", 2),
    ("noise", 2),
)


class _Products(NamedTuple):
    """What a batch adds: sum w z z', sum w z y, sum w^2 z, sum w y^2."""

    gram: np.ndarray
    response: np.ndarray
    squared: np.ndarray
    squares: float


def _products(z: np.ndarray, y: np.ndarray, w: np.ndarray, alike: bool) -> _Products:
    """The sums of a batch; counts of indicators are exact in single precision below 2^24."""
    gram, response, squared = (_Bordered(z.shape[1]), *np.zeros((2, z.shape[1] + 1)))
    counts = alike and z.dtype == bool
    factors, beside = np.empty((3, len(y))), np.zeros((3, z.shape[1] + 1))
    root = np.sqrt(w, out=factors[0])
    np.multiply(root, [y, w], out=factors[1:])
    for rows in _passes(z):
        columns = z[rows].astype(float)
        if counts:
            single = z[rows].astype(np.float32)
            gram.inner += _squares(single)
            response[1:] += y[rows] @ columns
        else:
            columns *= root[rows, None]
            gram.inner += _squares(columns)
            beside[:, 1:] += factors[:, rows] @ columns
    if counts:
        gram.edge = np.diag(gram.inner).copy()  # an indicator is its own square
        squared[1:] = gram.edge
    else:
        gram.edge, response, squared = beside[0, 1:], beside[1], beside[2]
    response[0], squared[0] = w @ y, w @ w
    squares = float(factors[1] @ factors[1])
    return _Products(gram.whole(float(np.sum(w))), response, squared, squares)


class _Bordered:
    """Sum of z z' and sum of z, put together with a column of ones when all is added up."""

    def __init__(self, columns: int) -> None:
        self.inner, self.edge = np.zeros((columns, columns)), np.zeros(columns)

    def whole(self, corner: float) -> np.ndarray:
        """The sums of (1, z)(1, z)'."""
        result = np.empty((len(self.edge) + 1,) * 2)
        result[0, 0], result[0, 1:], result[1:, 0] = corner, self.edge, self.edge
        result[1:, 1:] = self.inner
        return result


def _scaled_squares(z: np.ndarray, scale: np.ndarray, precision: Any) -> np.ndarray:
    """Sum scale^2 (1, z)(1, z)' over a batch."""
    result, top = _Bordered(z.shape[1]), float(np.max(scale, initial=0.0))
    if not 0 < top < np.inf:
        return np.full((z.shape[1] + 1,) * 2, top)
    ratio = scale / top
    share = ratio.astype(precision)
    for rows in _passes(z):
        columns = z[rows].astype(precision)
        columns *= share[rows, None]
        result.inner += _squares(columns)
        result.edge += share[rows] @ columns
    return result.whole(float(ratio @ ratio)) * top**2


def _squares(columns: np.ndarray) -> np.ndarray:
    """Sum z z' over the rows z.

    BLAS sees that both factors are the same array and takes half of the steps, in a way that costs
    few columns more than it saves them.
    """
    other = columns.copy() if columns.shape[1] < NARROW else columns
    return columns.T @ other  # type: ignore[no-any-return]


def _design(z: np.ndarray, precision: Any = np.float64) -> np.ndarray:
    """(1, z), the intercept's column first."""
    result = np.empty((len(z), z.shape[1] + 1), precision)
    result[:, 0], result[:, 1:] = 1.0, z
    return result


def _passes(z: np.ndarray) -> list[slice]:
    """Rows in pieces that stay in cache, long enough for a product of matrices."""
    width = z.shape[1] + 1
    rows = max(2**15 // width, min(2 * width, 2048), 256)
    return [slice(start, start + rows) for start in range(0, len(z), rows)]


def _weighted_mean(y: np.ndarray, w: np.ndarray) -> float:
    """The mean of y by weight, without overflow."""
    counts = np.where(w > 0, y, 0.0)
    size, total = float(np.max(np.abs(counts), initial=0.0)), float(w.sum())
    return float(size * (w @ (counts / size)) / total) if size and total else 0.0


class Solver:
    """The normal equations of some sums: an inverse, and the coefficients it gives.

    Paper: Eq. 2.4 and its normal equations, Eq. 5.1.

    The intercept is free, ``penalty`` is on the squares of the coefficients, of the first
    ``penalised`` where not all of them are the surrogate's. Indicators that never vary, and
    directions in which they cannot be told apart, are left out: coefficient 0, the solution of
    least norm.
    """

    def __init__(
        self, gram: np.ndarray, penalty: float = 0.0, penalised: int | None = None
    ) -> None:
        self.total = float(gram[0, 0])
        if self.total == 0:
            self.mean, self.inverse = np.zeros(len(gram) - 1), np.zeros((len(gram) - 1,) * 2)
            self.tangled = np.ones(len(gram) - 1, bool)
            return
        self.mean = gram[0, 1:] / self.total
        cov = gram[1:, 1:] / self.total - np.outer(self.mean, self.mean)
        if penalty:
            own = np.arange(len(self.mean))[:penalised]
            cov[own, own] += penalty / self.total
        self.inverse, self.tangled = pseudo_inverse(cov)

    @property
    def independent(self) -> bool:
        """Whether the columns are uncorrelated, as far as their number of samples can show.

        That is, no variance inflation factor, variance times entry of the inverse, is above 1.1.
        A kernel that does not factor over the coordinates makes indicators depend on each other.
        """
        variance = self.mean * (1 - self.mean)
        varies = variance > DEAD**2
        return not np.any(varies & (self.tangled | (variance * np.diag(self.inverse) > 1.1)))

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
    if not len(cov):  # LAPACK would complain, past Python and onto the page
        return cov, np.zeros(0, bool)
    scale = np.sqrt(np.maximum(np.diag(cov), 0.0))
    dead = scale <= DEAD
    some = bool(dead.any())
    if some:
        scale[dead] = 1.0
    units = np.outer(scale, scale)
    correlation = cov / units
    if some:
        correlation[dead] = correlation[:, dead] = 0.0
        correlation[dead, dead] = 1.0
    inverse, tangled = _inverse(correlation, _noise(scale))
    if some:
        inverse[dead] = inverse[:, dead] = 0.0
    return inverse / units, tangled | dead


def _inverse(correlation: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Straight where the matrix is well conditioned, else by its eigenvectors above the noise."""
    root, failed = scipy.linalg.lapack.dpotrf(correlation, lower=1)  # zeros above the diagonal
    if not failed:
        inverse, failed = scipy.linalg.lapack.dpotri(root, lower=1, overwrite_c=1)
        diagonal = np.diag(inverse).copy()
        inverse = inverse + inverse.T
        np.fill_diagonal(inverse, diagonal)
        if _largest_column(correlation) * _largest_column(inverse) < 1e-3 / noise:
            return inverse, np.zeros(len(correlation), bool)
    values, vectors = np.linalg.eigh(correlation)
    kept = values > noise
    tangled = np.any(np.abs(vectors[:, ~kept]) > 1e-3, axis=1)
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, tangled


def _largest_column(matrix: np.ndarray) -> float:
    """The 1-norm of a symmetric matrix."""
    return float(np.max(np.abs(matrix).sum(axis=1), initial=0.0))


def _noise(scale: np.ndarray) -> float:
    """Eigenvalues of a correlation matrix below this are rounding: covariances hold 1e-16."""
    return max(1e-10, 1e-15 / float(np.min(scale, initial=1.0)) ** 2)
