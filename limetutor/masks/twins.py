"""Twins: functions that resemble f and that can be explained without asking f.

A *logistic* twin is a logistic function of a weighted sum of the switches, near to what regressions
and nets do. What LIME makes of it is found with as many masks as one likes. A *smooth* twin is a sum
of products over the switches, one for each answer of f that it was fitted to, and finds the rules of
trees as well. What LIME makes of it is known: the mean of a product over independent coins is a
product, and laws of how many switches are on are mixtures of coins. Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy

from ..sums import Solver
from .switches import Function, Switches, log_choose

STEPS = 12  # of Gauss and Newton; a twin need not be the best of its kind
REACH = 3.0  # two opposite masks have the product exp(-REACH)
ALIKE = 0.1  # of the reach, which switches share whatever they seem to do
CENTRES = 2000  # answers that a smooth twin is fitted to: the time grows with their cube
TRIED = 400  # answers by which its penalty is chosen
PENALTIES = 10.0 ** np.arange(-2, 2.1, 0.5)
CHUNK = 2**21  # products at a time
COINS, SPREAD = 48, 5.0  # coins of a mixture, and how many deviations of the number they span
EXACT = 1e-6  # the part of the variance of a switch that a mixture may miss


# --- logistic ----------------------------------------------------------------------------------


def has_logistic(y: np.ndarray) -> bool:
    """Whether the answers look like probabilities that vary."""
    return bool(np.min(y) >= 0 and np.max(y) <= 1 and np.ptp(y) > 1e-9)


def logistic_twin(z: np.ndarray, y: np.ndarray) -> Function:
    """The logistic function of a weighted sum of the switches that is nearest to the answers."""
    design = np.column_stack([np.ones(len(z)), z])
    score = np.zeros(design.shape[1])
    share = np.clip(y.mean(), 0.01, 0.99)
    score[0] = np.log(share / (1 - share))
    damping = 1e-6 * len(z) * np.eye(len(score))  # where all answers are 0 or 1
    for _ in range(STEPS):
        p = scipy.special.expit(design @ score)
        slope = design * (p * (1 - p))[:, None]
        step = np.linalg.solve(slope.T @ slope + damping, slope.T @ (y - p))
        score = score + step / max(1.0, np.max(np.abs(step)))
    return lambda masks: scipy.special.expit(score[0] + masks @ score[1:])


# --- smooth ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Smooth:
    """f(z) = sum_i heights_i prod_j exp(-reach_j 1{z_j is not centres_ij}).

    ``centres`` (m, d) are masks, ``heights`` (m,) numbers, ``reach`` (d,) how far apart a switch puts
    two masks.
    """

    centres: np.ndarray
    heights: np.ndarray
    reach: np.ndarray

    def __call__(self, z: np.ndarray) -> np.ndarray:
        """Values at masks (n, d)."""
        rows = max(CHUNK // len(self.centres), 1)
        parts = [
            products(z[start : start + rows], self.centres, self.reach) @ self.heights
            for start in range(0, len(z), rows)
        ]
        return np.concatenate(parts)

    def limit(self, world: Switches, coins: Coins) -> np.ndarray:
        """Intercept and coefficients that LIME gives to the function, (d + 1,).

        A coin with chance p has the mean p + (1 - p) e where its switch is on in a centre, e =
        exp(-reach_j), and p e + 1 - p where it is off; with z_j, the first term of either alone.
        """
        p, e = coins.chance[:, None], np.exp(-self.reach)
        on, off = p + (1 - p) * e, p * e + 1 - p
        centres = self.centres.astype(float)
        log_product = centres @ np.log(on / off).T + np.log(off).sum(axis=1)
        each = np.exp(log_product) * np.outer(self.heights, coins.share)  # (m, coins)
        total, where_on = each.sum(axis=0)[:, None], each.T @ centres
        moments = where_on * (p / on) + (total - where_on) * (p * e / off)
        unit = replace(world, log_weight=world.log_weight - world.log_C)
        return unit.inverse_covariance() @ np.append(total.sum(), moments.sum(axis=0))


def products(z: np.ndarray, centres: np.ndarray, reach: np.ndarray) -> np.ndarray:
    """prod_j exp(-reach_j 1{z_j is not centre_j}) for masks (n, d) and centres (m, d), (n, m).

    With signs s = 2 z - 1 and t the exponent is -(sum_j reach_j - sum_j reach_j s_j t_j) / 2.
    """
    alike = ((2.0 * z - 1) * (reach / 2)) @ (2.0 * centres - 1).T
    alike -= reach.sum() / 2
    return np.exp(alike, out=alike)


def smooth_twin(z: np.ndarray, y: np.ndarray) -> Smooth:
    """Kernel ridge regression of the answers, about their mean, on at most ``CENTRES`` masks.

    A switch reaches the further the larger its coefficient is in a straight fit: most of what f does
    beyond a line is done by the switches that do most.
    """
    z, y = z[:CENTRES], y[:CENTRES] - np.mean(y[:CENTRES])
    design = np.column_stack([np.ones(len(z)), z])
    size = np.abs(Solver(design.T @ design).beta(design.T @ y)[1:])
    size = size / size.sum() if size.sum() > 0 else size
    reach = REACH * ((1 - ALIKE) * size + ALIKE / z.shape[1])
    equations = products(z, z, reach)
    equations.flat[:: len(z) + 1] += _penalty(equations[:TRIED, :TRIED], y[:TRIED])
    return Smooth(z, scipy.linalg.solve(equations, y, assume_a="pos"), reach)


def _penalty(kernel: np.ndarray, y: np.ndarray) -> float:
    """The penalty whose errors are smallest where each answer is left out in turn.

    With H = kernel (kernel + penalty)^-1 the error at an answer is its residual over 1 - H_ii.
    """
    values, vectors = np.linalg.eigh(kernel)
    along = vectors.T @ y
    kept = values[:, None] / (values[:, None] + PENALTIES)
    residuals = y[:, None] - vectors @ (kept * along[:, None])
    errors = np.mean((residuals / (1 - vectors**2 @ kept)) ** 2, axis=0)
    return float(PENALTIES[np.argmin(errors)])


# --- mixtures of coins -------------------------------------------------------------------------


class Coins(NamedTuple):
    """A law of switches as a mixture: each is on with the same ``chance``, by shares that sum to 1.

    Shares may be below zero: means are linear in the law, and nothing is drawn.
    """

    chance: np.ndarray
    share: np.ndarray


def coins_of(world: Switches) -> Coins | None:
    """The weighted law of a world as a mixture of coins, None where there is no exact one.

    Shares g with sum_q g_q Binomial(d, p_q)_k = m_k / C for k = 0..d, by least squares, at Chebyshev
    points p around the mean of k / d; beside them all off and all on, which `lime` never draws for a
    text although it draws one off.
    """
    d, level = world.d, world.levels
    law = np.exp(world.log_measure - world.log_C)
    mean = law @ level
    away = SPREAD * np.sqrt(law @ (level - mean) ** 2)
    low, high = max(mean - away, 0.0), min(mean + away, 1.0)
    points = COINS + d // 6
    p = low + (high - low) * (1 - np.cos(np.pi * (np.arange(points) + 0.5) / points)) / 2
    p = np.concatenate([p, [0.0, 1.0]])
    k = np.arange(d + 1)[:, None]
    xlogy = scipy.special.xlogy
    binomial = np.exp(log_choose(d)[:, None] + xlogy(k, p) + xlogy(d - k, 1 - p))
    share = np.linalg.lstsq(binomial, law, rcond=1e-12)[0]
    missed = np.abs(binomial @ share - law).sum() + 1e-15 * np.abs(share).sum()
    between = float(np.exp(scipy.special.logsumexp(world.log_between) - world.log_C))
    return Coins(p, share) if d > 1 and missed < EXACT * between else None
