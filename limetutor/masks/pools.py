"""Runs of `lime` on switches, from a pool of masks whose values are known.

Few switches have all their masks in the pool. Otherwise it follows the weighted law, and where weights
differ much a mixture with others (:mod:`limetutor.resampling` says why), each number of switches that
are on with its exact share. Its responses are the surrogate, known or estimated, plus residuals.
Chapters: images, text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from .. import arguments as arg
from ..resampling import ALIKE, EVEN, UNLIKE, Pool, leftover, noise_of_runs
from .draws import draw
from .fits import fit_form
from .sampling import estimated
from .settings import MaskSetting
from .switches import all_masks, log_choose, pattern_share

POOL = 2**13  # masks of an f that has a form
ROWS_A_SWITCH = 10  # masks, at least
CLEAR = 0.2  # of what runs differ by: the error that is aimed at, ...
MORE, MOST_CALLS = (
    16,
    40_000,
)  # ... with at most so many times the samples of `lime`, and so many calls
RULES = 64  # a form with more of them is slower than its classifier


@dataclass(frozen=True)
class Masks:
    """Masks z (m, d), what f says of them, and how often one draw of `lime` falls on each.

    ``log_ratio`` (m,) is the log of that expectation, ``weighted`` (m,) says which masks follow the
    weighted law.
    """

    z: np.ndarray
    y: np.ndarray
    log_ratio: np.ndarray
    weighted: np.ndarray
    calls: int

    @property
    def level(self) -> np.ndarray:
        """How many switches are on, (m,)."""
        return self.z.sum(axis=1)

    def joined(self, other: Masks) -> Masks:
        """Both, of the same laws in the same shares."""
        sizes = np.array([len(self.y), len(other.y)])
        parts = [
            part.log_ratio + np.log(size / sizes.sum())
            for part, size in zip((self, other), sizes, strict=True)
        ]
        return Masks(
            np.vstack([self.z, other.z]),
            np.append(self.y, other.y),
            np.concatenate(parts),
            np.append(self.weighted, other.weighted),
            self.calls + other.calls,
        )


def pool_of_masks(
    setting: MaskSetting, samples: int, calls: int | None, seed: Any
) -> tuple[Pool, int]:
    """The pool of a setting, and how often f was called for it.

    Without ``calls`` an f that has no form is asked as often as `lime` asks it, and more often where
    that leaves errors that count beside the noise of its runs.
    """
    rng = np.random.default_rng(seed)
    least = ROWS_A_SWITCH * (setting.d + 2)
    usual = max(samples if setting.form is None else POOL, least)
    size = usual if calls is None else calls
    if setting.d <= np.log2(size):
        return _whole(setting, 0)
    if calls is not None and setting.form is None:
        arg.whole("calls", calls, 2 * (setting.d + 2), f" for {setting.d} {setting.board.word}s")
    masks = _some(setting, size, rng)
    if setting.form is not None:
        exact = fit_form(setting.form, setting.world)
        beta = np.append(exact.intercept, exact.coef)
        return _centred(setting, masks, beta, np.zeros(setting.d), "exact"), masks.calls
    pool = _sampled(setting, masks, rng)
    noise = noise_of_runs(_even(setting, masks, pool), samples)
    wanted = size * (_share(pool.stderr, noise) / CLEAR) ** 2
    rest = int(min(wanted, MORE * samples, max(MOST_CALLS, size))) - size
    if calls is None and setting.d <= np.log2(size + max(rest, 0)):
        return _whole(setting, masks.calls)
    if calls is None and rest > 0:
        masks = masks.joined(_some(setting, rest, rng))
        pool = _sampled(setting, masks, rng)
    return pool, masks.calls


def _share(error: np.ndarray, noise: np.ndarray) -> float:
    """The typical error beside the typical noise; 0 where there is none."""
    return float(np.median(error) / np.median(noise)) if np.median(noise) > 0 else 0.0


def _values(setting: MaskSetting, z: np.ndarray) -> tuple[np.ndarray, int]:
    """f at masks, by its form where that is quicker, and how often it was called."""
    form = setting.form
    if form is not None and len(form.rules) <= RULES:
        return form(z), 0
    return setting.predict(z), len(z)


def _whole(setting: MaskSetting, calls: int) -> tuple[Pool, int]:
    """The pool of all masks, after so many calls."""
    masks = _all(setting)
    return _pool(setting, masks, masks.y, "exact", np.zeros(setting.d)), calls + masks.calls


def _all(setting: MaskSetting) -> Masks:
    """All 2^d masks."""
    z = all_masks(setting.d)
    log_ratio = (setting.world.log_share - log_choose(setting.d))[z.sum(axis=1)]
    possible = np.isfinite(log_ratio)
    y, calls = _values(setting, z[possible])
    return Masks(z[possible], y, log_ratio[possible], np.zeros(len(y), bool), calls)


def _some(setting: MaskSetting, size: int, rng: np.random.Generator) -> Masks:
    """Masks of the weighted law, and of others where weights differ much."""
    world = setting.world
    ess = 2 * world.log_C - world.powered(2.0).log_C
    shares = ALIKE if ess > np.log(EVEN) else UNLIKE
    sizes = {s: 2 * max(int(size * share / 2), 1) for s, share in shares.items()}  # pairs
    laws = {s: world.powered(s) for s in sizes}
    z = np.vstack([draw(laws[s], sizes[s], rng) for s in sizes])
    k, weighted = z.sum(axis=1), np.repeat([s == 1 for s in sizes], list(sizes.values()))
    density = [np.log(sizes[s]) + law.log_weight[k] - law.log_C for s, law in laws.items()]
    y, calls = _values(setting, z)
    return Masks(z, y, -scipy.special.logsumexp(density, axis=0), weighted, calls)


def _pool(
    setting: MaskSetting, masks: Masks, y: np.ndarray, method: str, stderr: np.ndarray
) -> Pool:
    weights = np.exp(setting.world.log_weight[masks.level])
    return Pool(
        design=masks.z - 1.0,
        y=y - setting.prediction,
        weights=setting.own_weight * weights,
        ratio=np.exp(masks.log_ratio),
        own=np.ones(setting.d),
        own_weight=setting.own_weight,
        method=method,
        stderr=stderr,
    )


def _sampled(setting: MaskSetting, masks: Masks, rng: np.random.Generator) -> Pool:
    """The pool whose fits tend to the limit as it is estimated from the masks of the weighted law."""
    mine = masks.weighted
    found = estimated(setting.world, masks.z[mine], masks.y[mine], rng)
    error = np.sqrt(np.clip(np.diag(found.covariance)[1:], 0, None))
    return _centred(setting, masks, found.beta, error, "monte carlo")


def _centred(
    setting: MaskSetting, masks: Masks, beta: np.ndarray, error: np.ndarray, method: str
) -> Pool:
    """The pool whose fits tend to a limit: its line plus what a fit to the pool leaves.

    A fit of d + 1 numbers to m rows takes some of the residuals with it, which is given back.
    """
    m, d = len(masks.y), setting.d
    pool = _pool(setting, masks, masks.y, method, error)
    left = leftover(_even(setting, masks, pool))[1] * np.sqrt(m / max(m - d - 1, 1))
    y = beta[0] + masks.z @ beta[1:] + left - setting.prediction
    square = np.sum(pool.ratio * pool.weights * y**2)
    return replace(pool, y=y, products=_products(setting, beta, float(square)))


def _products(setting: MaskSetting, beta: np.ndarray, square: float) -> np.ndarray:
    """Mean weighted products of 1, z - 1 and f - f(xi) of one draw, f being known by its surrogate.

    From E[pi (1 - z_1)] and E[pi (1 - z_1)(1 - z_2)], which need no difference.
    """
    world, d = setting.world, setting.d
    measure = np.exp(world.log_measure)
    off = [float(measure @ pattern_share(d, 0, p)) for p in range(3)]
    result = np.empty((d + 2, d + 2))
    result[:-1, :-1] = off[2]
    np.fill_diagonal(result, off[1])
    result[0, 1:-1] = result[1:-1, 0] = -off[1]
    result[0, 0] = off[0]
    line = np.append(beta.sum() - setting.prediction, beta[1:])
    result[:-1, -1] = result[-1, :-1] = result[:-1, :-1] @ line
    result[-1, -1] = 0.0
    result *= setting.own_weight
    result[-1, -1] = square
    return result


def _even(setting: MaskSetting, masks: Masks, pool: Pool) -> Pool:
    """The same, weights in units of the largest: all of them may be too small for a double."""
    log_weight = setting.world.log_weight[masks.level]
    return replace(pool, weights=np.exp(log_weight - np.max(log_weight)))
