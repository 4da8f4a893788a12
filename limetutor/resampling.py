"""Runs of `lime` without its model calls: resampled from a pool of rows whose values are known.

A run of `lime` is n rows from the law p of its world, weighted by a kernel. What such runs print,
how they spread and which features they choose follows from the law of weighted sums of n rows. Where
few rows have most of the weight that law is far from normal, and so it is not approximated: the rows
of a **pool** are drawn again, each a Poisson number of times with mean n p / (m q), where m rows of
the pool follow q.

The pool follows the tilted law, and where weights differ much a mixture of p pi^s / E[pi^s] with
s = 0, 1/2, 1 and 2: what a run mostly has, what decides runs that have no row near xi, the mean of a
fit, and its variance. Its points are Sobol points. Where f has a form, responses of the pool are the surrogate in
closed form plus residuals, so that the mean of the fits does not depend on the pool.
Chapter: the real lime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy

from .closed_forms import Surrogate, exact_surrogate, regressors_of
from .lime_fits import Moments, ridge
from .normal_limit import log_share
from .sampling import SAMPLERS
from .setting import Setting
from .sums import on_one_thread

EVEN = 0.1  # effective share of a weighted sample above which one tilt serves all purposes
ALIKE = {1.0: 1.0}  # the strengths s of the tilts of a pool, and their shares of its rows
UNLIKE = {0.0: 0.25, 0.5: 0.25, 1.0: 0.25, 2.0: 0.25}
UNKNOWN = {0.0: 0.5, 0.5: 0.25, 1.0: 0.25}  # for a kernel that has no tilt
FLAT = 1e8  # a bandwidth that tilts nothing

Weigh = Callable[[np.ndarray], np.ndarray]  # from rows of regressors, xi's first, to weights


@dataclass(frozen=True)
class Pool:
    """Rows with known values, seen from xi's own row.

    ``design`` (m, d) are the regressors less those of xi, ``own``; ``y`` (m,) the responses less
    f(xi); ``weights`` (m,) those of the kernel, xi's being ``own_weight``; ``ratio`` (m,) how often
    one draw from the world is expected to fall on each row. ``stderr`` (d,) is the error of the
    coefficients that runs tend to, 0 where they are known. ``products`` (d + 2, d + 2) are the mean
    weighted products of 1, design and response of one draw, where they are known without the rows.
    """

    design: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    ratio: np.ndarray
    own: np.ndarray
    own_weight: float
    method: str
    stderr: np.ndarray
    products: np.ndarray | None = None

    @cached_property
    def columns(self) -> np.ndarray:
        """1, the regressors and the response of each row."""
        return np.hstack([np.ones((len(self.y), 1)), self.design, self.y[:, None]])

    def draws(self, n: int, runs: int, rng: np.random.Generator) -> list[np.ndarray]:
        """Which rows each of some runs has beside xi's own; n is the number of all of them."""
        ends = np.cumsum(self.ratio)
        sizes = rng.poisson((n - 1) * ends[-1], runs)
        return [np.searchsorted(ends, ends[-1] * rng.random(size), "right") for size in sizes]

    @on_one_thread
    def moments(self, draws: list[np.ndarray]) -> Moments:
        """The weighted sums of runs."""
        products = np.empty((len(draws), *[self.columns.shape[1]] * 2))
        for r, rows in enumerate(draws):
            mine = self.columns[rows]
            np.matmul((mine * self.weights[rows, None]).T, mine, out=products[r])
        return self._with_own(products)

    @on_one_thread
    def expected(self, n: int) -> Moments:
        """The mean of such sums over all runs, as one run."""
        weights = (n - 1) * self.ratio * self.weights
        return self._with_own(((self.columns * weights[:, None]).T @ self.columns)[None])

    def known(self, n: int) -> Moments | None:
        """The same without the chance that is in the rows of the pool; None where it is not known."""
        return None if self.products is None else self._with_own((n - 1) * self.products[None])

    def _with_own(self, products: np.ndarray) -> Moments:
        products[:, 0, 0] += self.own_weight  # all other columns of xi's own row are 0
        return Moments.of(products)


def pool_of(
    setting: Setting,
    calls: int,
    seed: Any,
    known: Surrogate | None = None,
    weigh: Weigh | None = None,
) -> Pool:
    """The pool of a setting, from that many calls of the model; ``known`` is its surrogate.

    ``weigh`` is a kernel other than that of the setting, which then only says where to look.
    """
    rng = np.random.default_rng(seed)
    strengths: Mapping[float, float] = UNKNOWN
    if weigh is None:
        strengths = ALIKE if log_share(setting) > np.log(EVEN) else UNLIKE
    tilts = {s: _tilted(setting, s) for s in strengths}
    sizes = {s: max(round(calls * share), 1) for s, share in strengths.items()}
    drawn = [SAMPLERS["sobol"].draw(tilt, rng, sizes[s]) for s, tilt in tilts.items()]
    x, z = (np.concatenate(part) for part in zip(*drawn, strict=True))
    own = setting.lead[None]
    design = setting.seen(x, z) - own
    far = np.sum(design**2, axis=1) / (2 * setting.nu**2)  # -log of the kernel of the setting
    own_weight, weights = 1.0, np.exp(-far)
    if weigh is not None:
        own_weight, *weights = weigh(np.vstack([own, design + own]))
    density = [np.log(sizes[s]) - s * far - tilt.tilt.log_C for s, tilt in tilts.items()]
    ratio = np.exp(-scipy.special.logsumexp(density, axis=0))
    y = setting.predict(x) - setting.prediction
    pool = Pool(
        design, y, np.asarray(weights), ratio, own[0], float(own_weight), "monte carlo",
        np.zeros(setting.d),
    )  # fmt: skip
    return _centred(setting, pool, known)


def _tilted(setting: Setting, strength: float) -> Setting:
    """The setting whose kernel is a power of its own: exp(-D^2 / 2nu^2) at another nu."""
    return setting.at(nu=setting.nu / np.sqrt(strength) if strength else FLAT * setting.nu)


def _centred(setting: Setting, pool: Pool, known: Surrogate | None) -> Pool:
    """The pool whose fits tend to the closed form; where there is none, with their error."""
    sums, left = leftover(pool)
    if known is None:
        return replace(pool, stderr=_sandwich(pool, sums, left))
    lead = regressors_of(setting).lead
    exact = known.centre - setting.prediction + (pool.design + lead) @ known.beta
    return replace(pool, y=exact + left, method=known.method)


def leftover(pool: Pool) -> tuple[Moments, np.ndarray]:
    """The mean sums of one row that is not xi's, and what their fit leaves of the responses, (m,)."""
    sums = replace(pool, own_weight=0.0).expected(2)
    fit = ridge(sums, 0.0)
    return sums, pool.y - sums.level[0] - (pool.design - sums.mean[0]) @ fit.coef[0]


def known_surrogate(setting: Setting) -> Surrogate | None:
    """The surrogate in closed form, or None where f has to be sampled."""
    try:
        return exact_surrogate(setting)
    except ValueError:  # a family of which this member has no form: it is sampled
        return None


def _sandwich(pool: Pool, sums: Moments, left: np.ndarray) -> np.ndarray:
    """Standard errors of the coefficients of the whole pool, as if its points were independent.

    Sobol points have less noise than that: an upper bound.
    """
    return _spread(pool, sums, pool.ratio * pool.weights * left)


def noise_of_runs(pool: Pool, n: int) -> np.ndarray:
    """How the coefficients of runs with n rows spread, to first order and without a penalty, (d,)."""
    sums, left = leftover(pool)
    return _spread(pool, sums, np.sqrt(pool.ratio / n) * pool.weights * left)


def _spread(pool: Pool, sums: Moments, size: np.ndarray) -> np.ndarray:
    """Roots of the diagonal of G^-1 S'S G^-1, S the centred regressors times ``size`` (m,)."""
    scores = (pool.design - sums.mean[0]) * size[:, None]
    bread = np.linalg.pinv(sums.gram[0], hermitian=True)
    return np.sqrt(np.clip(np.diag(bread @ (scores.T @ scores) @ bread), 0, None))
