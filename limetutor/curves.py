"""The explanation as a function of the bandwidth, or of the number of boxes.

A curve gives, for many bandwidths at once, what :func:`limetutor.limit` gives for one: the
coefficients, the local error, and their standard errors where the model has to be sampled. Closed
forms are evaluated for all bandwidths together. A model without one is called once: its samples come
from the tilted laws of a few bandwidths, and every other bandwidth weighs the same samples anew
(importance sampling from a mixture), so that the curve is smooth and its error is known.
:mod:`limetutor.paths` looks for what the curves do. Chapter: trust.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy

from . import surrogate
from .algorithm import FEW
from .closed_forms import Surrogate, limit_of
from .kernels import ProductKernel
from .many import Block
from .sampling import sampler_of
from .setting import Setting
from .worlds import Empirical, Gaussian

BLOCK = 64  # bandwidths whose laws are held at the same time
NODES = 16  # bandwidths that a model without a form is sampled at


class Points(NamedTuple):
    """What an explanation is at m bandwidths (or numbers of boxes)."""

    coef: np.ndarray  # (m, d)
    error: np.ndarray  # f^(xi) - f(xi), (m,)
    stderr: np.ndarray  # (m, d), 0 where nothing was sampled
    weight: np.ndarray  # expected weight of all rows but xi's own, infinite without such a row
    share: np.ndarray  # effective samples that one sample is worth, (m,)
    kept: np.ndarray  # what a penalty leaves of each coefficient, (m, d)


class Curve(Protocol):
    """Something that can be asked at many places.

    ``looked`` is at how many bandwidths it pays to look for changes, ``halvings`` how often an
    interval with a change of order in it is then cut in two.
    """

    looked: int
    halvings: int

    @property
    def method(self) -> str:
        """Where the numbers come from: "exact", "quadrature" or "monte carlo"."""

    def at(self, places: np.ndarray) -> Points:
        """The points at these places (m,)."""


def shares(setting: Setting, nus: np.ndarray) -> np.ndarray:
    """C(nu)^2 / E[pi^2] at every bandwidth, (m,); see :mod:`limetutor.normal_limit`."""
    kernel = setting.kernel
    assert isinstance(kernel, ProductKernel)
    once, twice = (_log_C(setting, at) for at in (nus, kernel.square(nus)))
    return np.exp(np.minimum(2 * once - twice, 0.0))


def _laws(setting: Setting, nus: np.ndarray) -> Any:
    """The tilted laws of one instance at many bandwidths, as those of many instances."""
    assert isinstance(setting.kernel, ProductKernel)
    xi = np.broadcast_to(setting.xi, (len(nus), setting.d))
    return setting.kernel.tilt(setting.boxes, xi, nus[:, None] * setting.boxes.unit)


def _log_C(setting: Setting, nus: np.ndarray) -> np.ndarray:
    blocks = [nus[k : k + BLOCK] for k in range(0, len(nus), BLOCK)]
    return np.concatenate([_laws(setting, block).log_mass.sum(axis=-1) for block in blocks])


@dataclass(frozen=True, eq=False)
class Closed:
    """A closed form under all bandwidths together."""

    setting: Setting
    ridge: float
    n: int | None
    method: str = "exact"

    looked, halvings = 121, 30

    def at(self, places: np.ndarray) -> Points:
        """Block by block, as :func:`limetutor.limits` goes by rows."""
        setting, parts = self.setting, []
        for k in range(0, len(places), BLOCK):
            law = _laws(setting, places[k : k + BLOCK])
            form, own_row = setting.form, setting.world.own_row
            assert form is not None
            block = Block.of(form, law, setting.prediction)
            assert block is not None
            fit, found = block.fitted(self.ridge, self.n, own_row)
            weight = np.broadcast_to(found.weight, fit.local_error.shape)
            parts.append((fit.coef, fit.local_error, weight, found.shrinkage))
        coef, error, weight, kept = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Points(coef, error, np.zeros_like(coef), weight, shares(setting, places), kept)


@dataclass(frozen=True, eq=False)
class OneByOne:
    """A limit at each bandwidth: series and quadratures, and worlds without boxes.

    What has to be sampled is sampled with one seed, so that the same uniform numbers move smoothly
    with the bandwidth.
    """

    setting: Setting
    ridge: float
    n: int | None
    samples: int
    seed: Any

    looked, halvings = 61, 20

    @cached_property
    def method(self) -> str:
        """The one of the middle."""
        return self._limit(self.setting.nu).method

    def _limit(self, nu: float) -> Any:
        return limit_of(self.setting.at(float(nu)), self.ridge, self.n, self.samples, self.seed)

    def at(self, places: np.ndarray) -> Points:
        """The limits at these bandwidths."""
        return _stacked([self._limit(nu) for nu in places], shares(self.setting, places))


def _stacked(limits: list[Any], share: np.ndarray) -> Points:
    return Points(
        np.stack([limit.coef for limit in limits]),
        np.array([limit.local_error for limit in limits]),
        np.stack([limit.stderr for limit in limits]),
        np.array([float(limit.rows.weight) for limit in limits]),
        share,
        np.stack([limit.shrinkage for limit in limits]),
    )


@dataclass(frozen=True, eq=False)
class Sampled:
    """A model without a form, called once for all bandwidths.

    Samples come from the mixture of the tilted laws at the ``nodes``, each with the density
    pi_k / C_k beside the world's own; at nu they count by pi_nu / C_nu over that mixture (the balance
    heuristic, Veach & Guibas 1995). Kernels without a tilt are sampled from the world itself.
    """

    setting: Setting
    ridge: float
    n: int | None
    samples: int
    seed: Any
    nodes: np.ndarray
    method: str = "monte carlo"

    looked, halvings = 61, 12

    @cached_property
    def _pool(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, indicators, log density of the mixture beside the world's own, responses."""
        setting, rng = self.setting, np.random.default_rng(self.seed)
        if setting.product is None:
            x, z = sampler_of("bins").draw(setting, rng, self.samples)
            return x, z, np.zeros(self.samples), setting.predict(x)
        each = -(-self.samples // len(self.nodes))
        at = [setting.at(float(nu)) for nu in self.nodes]
        drawn = [sampler_of("tilted").draw(node, rng, each) for node in at]
        x, z = (np.concatenate(part) for part in zip(*drawn, strict=True))
        logs = [self._log_weights(x, z, node.nu) - node.tilt.log_C for node in at]
        mixture = scipy.special.logsumexp(logs, axis=0) - np.log(len(at))
        return x, z, mixture, setting.predict(x)

    def _log_weights(self, x: np.ndarray, z: np.ndarray, nu: float) -> np.ndarray:
        setting = self.setting
        return setting.kernel.log_weights(x, z, setting.xi, nu, setting.boxes)

    def _fit(self, nu: float) -> tuple[surrogate.Fit, surrogate.Sums]:
        x, z, mixture, y = self._pool
        sums = surrogate.Sums(self.setting.d)
        sums.add(z, y, self._log_weights(x, z, nu) - mixture)
        surrogate.refuse_weightless(sums, f" at nu = {nu:.3g}")
        if self.setting.product is None and self.ridge:
            assert self.n is not None
            return surrogate.fit(sums, self.ridge * len(y) / self.n), sums
        return surrogate.fit(sums), sums

    def _rests(self, fit: surrogate.Fit, sums: surrogate.Sums) -> np.ndarray:
        """Which coefficients rest on enough samples for a standard error, (d,) of bool."""
        enough = sums.ess >= FEW * (sums.d + 1)
        return fit.used & ~fit.tangled & (surrogate.scarcer_side(sums) >= FEW) & enough

    def at(self, places: np.ndarray) -> Points:
        """The same samples, weighed for each bandwidth."""
        if self.setting.product is None:
            return self._without_tilt(places)
        found = []
        for nu in places:
            fit, sums = self._fit(float(nu))
            here = self.setting.at(float(nu))
            law, beta = here.tilt, fit.beta[1:]
            centre = float(fit.beta[0] + law.alpha @ beta)
            error = centre + float(law.rest @ beta) - here.prediction
            made = Surrogate(centre, beta, error, self.method, fit.covariance)
            limit = limit_of(here, self.ridge, self.n, surrogate=made)
            found.append((limit, self._rests(fit, sums)))
        points = _stacked([limit for limit, _ in found], shares(self.setting, places))
        rests = np.stack([enough for _, enough in found])
        never = _laws(self.setting, places[:1]).constant[0]
        points.stderr[~rests & ~never] = np.inf
        return points

    def _without_tilt(self, places: np.ndarray) -> Points:
        found = [self._fit(float(nu)) for nu in places]
        beta = np.stack([fit.beta for fit, _ in found])
        spread = [np.sqrt(np.clip(np.diag(fit.covariance)[1:], 0, None)) for fit, _ in found]
        stderr = np.where([self._rests(fit, sums) for fit, sums in found], spread, np.inf)
        error = beta.sum(axis=1) - self.setting.prediction
        share = np.array([sums.ess for _, sums in found]) / self.samples
        coef, weight = beta[:, 1:], np.full(len(places), np.inf)
        return Points(coef, error, stderr, weight, share, np.ones_like(coef))


@dataclass(frozen=True, eq=False)
class Boxed:
    """One bandwidth, and a world cut into other numbers of boxes."""

    setting: Setting
    ridge: float
    n: int | None
    samples: int
    seed: Any

    looked, halvings = 0, 0

    @cached_property
    def method(self) -> str:
        """That of the world as it is."""
        return limit_of(self.setting, self.ridge, self.n, self.samples, self.seed).method

    def at(self, places: np.ndarray) -> Points:
        """The limit in a world of so many boxes a feature."""
        world, found, share = self.setting.world, [], []
        assert isinstance(world, Gaussian | Empirical)
        for count in places:
            here = self.setting.at(world=replace(world, p=int(count)))
            found.append(limit_of(here, self.ridge, self.n, self.samples, self.seed))
            share.append(shares(here, np.array([here.nu]))[0])
        return _stacked(found, np.array(share))


def curve_of(
    setting: Setting,
    ridge: float,
    n: int | None,
    samples: int,
    seed: Any,
    ends: tuple[float, float],
) -> Curve:
    """The curve over the bandwidths between two ends."""
    nodes = np.geomspace(*ends, NODES) if ends[0] < ends[1] else np.array(ends[:1])
    sampled = Sampled(setting, ridge, n, samples, seed, nodes)
    if setting.product is None:
        return sampled
    one_by_one = OneByOne(setting, ridge, n, samples, seed)
    if not setting.world.indicators:
        return one_by_one
    form = setting.form
    if form is None:
        return sampled
    if form.closed and Block.of(form, _laws(setting, nodes[:1]), setting.prediction):
        return Closed(setting, ridge, n)
    tried = [OneByOne(setting.at(nu), ridge, n, samples, seed).method for nu in (*ends, setting.nu)]
    return sampled if "monte carlo" in tried else one_by_one
