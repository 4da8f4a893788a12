"""Control variates of sampled fits: columns that take noise with them and do not change the limit.

A control variate is a function fitted to some values of f, less what LIME makes of that function:
orthogonal to the switches under the weighted law. Each is fitted to other values than those beside
which it stands, and its coefficient is left to the regression. There are three kinds.

*Polynomials* in the number of switches that are on. A *logistic* function of a weighted sum of the
switches, near to what regressions and nets do; what LIME makes of it is estimated with many masks. A
*kernel ridge regression*, a sum of products over the switches, which also finds the rules of trees;
what LIME makes of it is known: the mean of a product over independent switches is a product, and laws
of how many switches are on are mixtures of independent ones. Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from ..core.surrogate import Solver
from .sampler import draw, in_pairs
from .switches import Function, Switches, log_choose

MIN_VALUES = 40  # of f, below which there are no control variates
MIN_FOLDS, MAX_FOLDS = 2, 8  # of the values to which the functions are fitted ...
MAX_FOLDED_VALUES = 10_000  # ... with at most so many folds times values
# logistic function
GAUSS_NEWTON_STEPS = 12  # a control variate need not be the best of its kind
VALUES_PER_SWITCH = 5  # that a logistic function is fitted to, at least
MASKS_PER_VALUE = 32  # at which a logistic function is evaluated for its limit, ...
MIN_MASKS_PER_VALUE = 4  # ... and at least, or its own noise would count
MAX_ENTRIES = 2**22  # of all those masks together
# kernel ridge regression
TOTAL_REACH = 3.0  # two opposite masks have the product exp(-TOTAL_REACH)
EQUAL_SHARE = 0.1  # of the reach, which all switches share whatever their coefficients
MAX_CENTRES = 2000  # values of f that are fitted: the time grows with their cube
MAX_VALIDATED = 400  # values by which the penalty is chosen
PENALTIES = 10.0 ** np.arange(-2, 2.1, 0.5)
PRODUCTS_PER_CHUNK = 2**21
# mixtures of independent switches
MIN_COMPONENTS, DEVIATIONS = 48, 5.0  # components, and how many deviations of the number they span
MAX_MISSED = 1e-6  # the part of the variance of a switch that a mixture may miss


class ControlVariates(NamedTuple):
    """Columns (n, c) orthogonal to the switches under the weighted law.

    ``limit_covariances`` has, by column, the covariance (d + 1, d + 1) of the limit that was
    subtracted, where that limit is itself estimated.
    """

    columns: np.ndarray
    limit_covariances: dict[int, np.ndarray]


def control_variates(
    world: Switches, z: np.ndarray, y: np.ndarray, rng: np.random.Generator
) -> ControlVariates:
    """The control variates of values y (n,) at masks z (n, d), as many as n allows."""
    n, d = z.shape
    columns, covariances = list(_polynomials(world)[:, z.sum(axis=1)]), {}
    if n < MIN_VALUES or not in_pairs(n, d + len(columns) + 2):
        return ControlVariates(np.empty((n, 0)), {})
    distinct = len(np.unique(np.packbits(z, axis=1), axis=0))
    if np.ptp(y) > 0 and distinct > n / 2:  # else the folds share their masks
        folds = int(np.clip(MAX_FOLDED_VALUES // n, MIN_FOLDS, MAX_FOLDS))
        fold = (np.arange(n) // 2) % folds  # pairs stay together
        mixture = independent_mixture(world)
        if mixture is not None:
            columns.append(_kernel_ridge_column(world, mixture, z, y, fold))
        masks = min(MASKS_PER_VALUE * n, MAX_ENTRIES // (2 * d) * 2)
        enough_masks = masks >= MIN_MASKS_PER_VALUE * n
        enough_values = np.sum(fold > 0) >= VALUES_PER_SWITCH * (d + 1)
        probabilities = np.min(y) >= 0 and np.max(y) <= 1 and np.ptp(y) > 1e-9
        if enough_masks and enough_values and probabilities:
            column, covariance = _logistic_column(world, z, y, fold, draw(world, masks, rng))
            covariances[len(columns)] = covariance
            columns.append(column)
    return ControlVariates(np.array(columns).reshape(-1, n).T, covariances)


def _polynomials(world: Switches) -> np.ndarray:
    """Orthogonal polynomials of degree 2 and 3 in k under the measure, as far as there are levels."""
    share = np.exp(world.log_measure - world.log_C)
    level = world.levels
    basis: list[np.ndarray] = []
    for degree in range(min(4, int(np.sum(share > 1e-12)))):
        column = level**degree
        for _ in range(2):  # twice, for its digits
            for earlier in basis:
                column = column - earlier * (share @ (earlier * column))
        size = np.sqrt(share @ column**2)
        if size < 1e-9:
            break
        basis.append(column / size)
    return np.array(basis[2:]).reshape(-1, world.d + 1)


def _switch_by_level(world: Switches, z: np.ndarray) -> np.ndarray:
    """Interactions of each switch but the last with the number that are on, (n, d - 1).

    (z_j - k/d) h(k) with h linear and sum_k m_k k (d - k) h(k) = 0, orthogonal to the switches.
    """
    k, level = z.sum(axis=1), world.levels
    between = np.exp(world.log_between - np.max(world.log_between))
    h = level - between @ level / between.sum()
    return ((z - level[k][:, None]) * h[k][:, None])[:, :-1]


def fit_logistic(z: np.ndarray, y: np.ndarray) -> Function:
    """The logistic function of a weighted sum of the switches that is nearest to the values."""
    design = np.column_stack([np.ones(len(z)), z])
    beta = np.zeros(design.shape[1])
    share = np.clip(y.mean(), 0.01, 0.99)
    beta[0] = np.log(share / (1 - share))
    damping = 1e-6 * len(z) * np.eye(len(beta))  # where all values are 0 or 1
    for _ in range(GAUSS_NEWTON_STEPS):
        p = scipy.special.expit(design @ beta)
        jacobian = design * (p * (1 - p))[:, None]
        step = np.linalg.solve(jacobian.T @ jacobian + damping, jacobian.T @ (y - p))
        beta = beta + step / max(1.0, np.max(np.abs(step)))
    return lambda masks: scipy.special.expit(beta[0] + masks @ beta[1:])


def _logistic_column(
    world: Switches, z: np.ndarray, y: np.ndarray, fold: np.ndarray, masks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Logistic functions less their limits, and the covariance of the mean of these limits.

    Limits are regressions at ``masks``, many more than those at which f was called.
    """
    d, m = world.d, len(masks)
    polynomials = _polynomials(world)[:, masks.sum(axis=1)].T
    design = np.column_stack([np.ones(m), masks, polynomials, _switch_by_level(world, masks)])
    solver = Solver(design.T @ design)
    column, mean = np.empty(len(y)), np.zeros(m)
    for held_out in fold == np.unique(fold)[:, None]:
        logistic = fit_logistic(z[~held_out], y[~held_out])
        values = logistic(masks)
        limit = solver.beta(design.T @ values)
        column[held_out] = logistic(z[held_out]) - limit[0] - z[held_out] @ limit[1 : d + 1]
        mean += values * np.mean(held_out)
    design *= (mean - design @ solver.beta(design.T @ mean))[:, None]
    scores = (design[::2] + design[1::2]) @ solver.bread[:, : d + 1]  # leverages are small
    return column, scores.T @ scores


@dataclass(frozen=True)
class KernelRidge:
    """f(z) = sum_i heights_i prod_j exp(-reach_j 1{z_j is not centres_ij}).

    ``centres`` (m, d) are masks, ``heights`` (m,) numbers, ``reach`` (d,) how far apart a switch puts
    two masks.
    """

    centres: np.ndarray
    heights: np.ndarray
    reach: np.ndarray

    @classmethod
    def fitted(cls, z: np.ndarray, y: np.ndarray) -> KernelRidge:
        """Fit the values, about their mean, at no more than ``MAX_CENTRES`` masks.

        A switch reaches the further the larger its coefficient is in a linear fit: most of what f
        does beyond a line is done by the switches that do most.
        """
        z, y = z[:MAX_CENTRES], y[:MAX_CENTRES] - np.mean(y[:MAX_CENTRES])
        design = np.column_stack([np.ones(len(z)), z])
        size = np.abs(Solver(design.T @ design).beta(design.T @ y)[1:])
        size = size / size.sum() if size.sum() > 0 else size
        reach = TOTAL_REACH * ((1 - EQUAL_SHARE) * size + EQUAL_SHARE / z.shape[1])
        gram = kernel_products(z, z, reach)
        penalty = _best_penalty(gram[:MAX_VALIDATED, :MAX_VALIDATED], y[:MAX_VALIDATED])
        gram.flat[:: len(z) + 1] += penalty
        return cls(z, scipy.linalg.solve(gram, y, assume_a="pos"), reach)

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d)."""
        rows = max(PRODUCTS_PER_CHUNK // len(self.centres), 1)
        parts = np.split(z, range(rows, len(z), rows))
        values = [kernel_products(part, self.centres, self.reach) @ self.heights for part in parts]
        return np.concatenate(values)

    def limit(self, world: Switches, mixture: IndependentMixture) -> np.ndarray:
        """Intercept and coefficients that LIME gives to the function, (d + 1,).

        A switch that is on with probability p has the mean p + (1 - p) e where it is on in a centre,
        e = exp(-reach_j), and p e + 1 - p where it is off; with z_j, the first term of either alone.
        """
        p, e = mixture.probability[:, None], np.exp(-self.reach)
        on, off = p + (1 - p) * e, p * e + 1 - p
        centres = self.centres.astype(float)
        log_product = centres @ np.log(on / off).T + np.log(off).sum(axis=1)
        each = np.exp(log_product) * np.outer(self.heights, mixture.share)  # (m, components)
        total, where_on = each.sum(axis=0)[:, None], each.T @ centres
        moments = where_on * (p / on) + (total - where_on) * (p * e / off)
        unit = replace(world, log_weight=world.log_weight - world.log_C)
        return unit.inverse_covariance() @ np.append(total.sum(), moments.sum(axis=0))


def kernel_products(z: np.ndarray, centres: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """prod_j exp(-reach_j 1{z_j is not centre_j}) for masks (n, d) and centres (m, d), (n, m).

    With signs s = 2 z - 1 and t the exponent is -(sum_j reach_j - sum_j reach_j s_j t_j) / 2.
    """
    exponent = ((2.0 * z - 1) * (reach / 2)) @ (2.0 * centres - 1).T
    exponent -= reach.sum() / 2
    return np.exp(exponent, out=exponent)


def _best_penalty(kernel: np.ndarray, y: np.ndarray) -> float:
    """The penalty with the smallest leave-one-out errors.

    With H = kernel (kernel + penalty)^-1 the error at a value is its residual over 1 - H_ii.
    """
    values, vectors = np.linalg.eigh(kernel)
    rotated = vectors.T @ y
    kept = values[:, None] / (values[:, None] + PENALTIES)
    residuals = y[:, None] - vectors @ (kept * rotated[:, None])
    errors = np.mean((residuals / (1 - vectors**2 @ kept)) ** 2, axis=0)
    return float(PENALTIES[np.argmin(errors)])


def _kernel_ridge_column(
    world: Switches, mixture: IndependentMixture, z: np.ndarray, y: np.ndarray, fold: np.ndarray
) -> np.ndarray:
    """Kernel ridge regressions less their limits, each at the values it was not fitted to."""
    column = np.empty(len(y))
    for held_out in fold == np.unique(fold)[:, None]:
        regression = KernelRidge.fitted(z[~held_out], y[~held_out])
        limit = regression.limit(world, mixture)
        column[held_out] = regression(z[held_out]) - limit[0] - z[held_out] @ limit[1:]
    return column


class IndependentMixture(NamedTuple):
    """A law of switches as a mixture of laws under which they are independent, (components,) each.

    In a component every switch is on with the same ``probability``; the ``share`` of components sums
    to 1 and may be negative: means are linear in the law, and nothing is drawn.
    """

    probability: np.ndarray
    share: np.ndarray


def independent_mixture(world: Switches) -> IndependentMixture | None:
    """The weighted law of a world as a mixture, None where no mixture is exact.

    Shares g with sum_q g_q Binomial(d, p_q)_k = m_k / C for k = 0..d, by least squares, at Chebyshev
    points p around the mean of k / d; beside them all off and all on, which `lime` never draws for a
    text although it draws one off.
    """
    d, level = world.d, world.levels
    law = np.exp(world.log_measure - world.log_C)
    mean = law @ level
    half = DEVIATIONS * np.sqrt(law @ (level - mean) ** 2)
    low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    points = MIN_COMPONENTS + d // 6
    p = low + (high - low) * (1 - np.cos(np.pi * (np.arange(points) + 0.5) / points)) / 2
    p = np.concatenate([p, [0.0, 1.0]])
    k = np.arange(d + 1)[:, None]
    xlogy = scipy.special.xlogy
    binomial = np.exp(log_choose(d)[:, None] + xlogy(k, p) + xlogy(d - k, 1 - p))
    share = np.linalg.lstsq(binomial, law, rcond=1e-12)[0]
    missed = np.abs(binomial @ share - law).sum() + 1e-15 * np.abs(share).sum()
    between = float(np.exp(scipy.special.logsumexp(world.log_between) - world.log_C))
    return IndependentMixture(p, share) if d > 1 and missed < MAX_MISSED * between else None
