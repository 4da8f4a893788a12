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

from ..resampling import ALIKE, EVEN, UNLIKE, Pool, leftover
from .fits import fit_form
from .limits import CALLS_A_SWITCH
from .sampling import draw, estimated
from .settings import MaskSetting
from .switches import all_masks, log_choose

POOL = 2**13  # masks of an f that has a form
TIMES = 4  # as often as `lime` calls an f, one that has none is called
RULES = 64  # a form with more of them is slower than its classifier


@dataclass(frozen=True)
class Masks:
    """Masks z (m, d), what f says of them, and how often one draw of `lime` falls on each.

    ``level`` (m,) is how many switches are on, ``log_ratio`` (m,) the log of that expectation.
    """

    z: np.ndarray
    y: np.ndarray
    log_ratio: np.ndarray
    calls: int

    @property
    def level(self) -> np.ndarray:
        """How many switches are on, (m,)."""
        return self.z.sum(axis=1)


def pool_of_masks(
    setting: MaskSetting, samples: int, calls: int | None, seed: Any
) -> tuple[Pool, int]:
    """The pool of a setting, and how often f was called for it."""
    usual = POOL if setting.form is not None else TIMES * samples
    size = max(usual, CALLS_A_SWITCH * (setting.d + 2)) if calls is None else calls
    if setting.d <= np.log2(size):
        masks = _all(setting)
        return _pool(setting, masks, masks.y, "exact", np.zeros(setting.d)), masks.calls
    rng = np.random.default_rng(seed)
    masks, first = _some(setting, size, rng)
    return _centred(setting, masks, first, rng), masks.calls


def _values(setting: MaskSetting, z: np.ndarray) -> tuple[np.ndarray, int]:
    """f at masks, by its form where that is quicker, and how often it was called."""
    form = setting.form
    if form is not None and len(form.rules) <= RULES:
        return form(z), 0
    return setting.predict(z), len(z)


def _all(setting: MaskSetting) -> Masks:
    """All 2^d masks."""
    z = all_masks(setting.d)
    log_ratio = (setting.world.log_share - log_choose(setting.d))[z.sum(axis=1)]
    possible = np.isfinite(log_ratio)
    y, calls = _values(setting, z[possible])
    return Masks(z[possible], y, log_ratio[possible], calls)


def _some(setting: MaskSetting, size: int, rng: np.random.Generator) -> tuple[Masks, int]:
    """Masks of the weighted law first, which are so many, then of others where weights differ much."""
    world = setting.world
    ess = 2 * world.log_C - world.powered(2.0).log_C
    shares = ALIKE if ess > np.log(EVEN) else UNLIKE
    sizes = {s: max(round(size * shares[s]), 1) for s in sorted(shares, key=lambda s: s != 1)}
    laws = {s: world.powered(s) for s in sizes}
    z = np.vstack([draw(laws[s], sizes[s], rng) for s in sizes])
    k = z.sum(axis=1)
    density = [np.log(sizes[s]) + law.log_weight[k] - law.log_C for s, law in laws.items()]
    y, calls = _values(setting, z)
    return Masks(z, y, -scipy.special.logsumexp(density, axis=0), calls), sizes[1.0]


def _pool(
    setting: MaskSetting, masks: Masks, y: np.ndarray, method: str, stderr: np.ndarray
) -> Pool:
    with np.errstate(under="ignore"):
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


def _centred(setting: MaskSetting, masks: Masks, first: int, rng: np.random.Generator) -> Pool:
    """The pool whose fits tend to the limit, known or estimated from the first masks."""
    world, m, d = setting.world, len(masks.y), setting.d
    if setting.form is not None:
        exact = fit_form(setting.form, world)
        beta, error, method = np.append(exact.intercept, exact.coef), np.zeros(d), "exact"
    else:
        found = estimated(world, masks.z[:first], masks.y[:first], rng)
        beta, method = found.beta, "monte carlo"
        error = np.sqrt(np.clip(np.diag(found.covariance)[1:], 0, None))
    # together they are at most 1, where weights alone may all be too small for a double
    together = world.log_weight[masks.level] + masks.log_ratio
    weighed = _pool(setting, masks, masks.y, method, error)
    even = replace(weighed, weights=np.exp(together - together.max()), ratio=np.ones(m))
    left = leftover(even)[1] * np.sqrt(m / max(m - d - 1, 1))
    return replace(weighed, y=beta[0] + masks.z @ beta[1:] + left - setting.prediction)
