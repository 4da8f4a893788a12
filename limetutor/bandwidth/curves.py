"""The explanation as a function of the bandwidth, or of the number of boxes.

A curve gives, for many bandwidths at once, what :func:`limetutor.limit` gives for one: the
coefficients, the local error, and their standard errors where the model has to be sampled. Closed
forms are evaluated for all bandwidths together. A model without one is called once: its samples come
from the tilted laws of a few bandwidths, and every other bandwidth weighs the same samples anew
(importance sampling from a mixture), so that the curve is smooth and its error is known.
:mod:`limetutor.bandwidth.path_events` finds zeros and changes of order. Chapter: trust.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core import surrogate
from ..core.boxes import Gaussian
from ..core.kernels import ProductKernel
from ..core.problem import Problem
from ..core.sampler import sampler_of
from ..core.theory import PopulationFit, limit_of
from ..inputs.lime_defaults import NUM_SAMPLES
from ..lime.empirical import Empirical
from ..many.problems import SurrogateBlock
from ..precision.diagnostics import MIN_EFFECTIVE, scarcer_side
from ..results.limit import Limit

BANDWIDTHS_PER_BLOCK = 64  # whose laws are held in memory at the same time
MIXTURE_NODES = 16  # bandwidths from whose tilted laws a model without a form is sampled


class Points(NamedTuple):
    """What an explanation is at m bandwidths (or numbers of boxes)."""

    coef: np.ndarray  # (m, d)
    error: np.ndarray  # f^(xi) - f(xi), (m,)
    stderr: np.ndarray  # (m, d), 0 where nothing was sampled
    weight: np.ndarray  # expected weight of all rows but xi's own, infinite without such a row
    share: np.ndarray  # effective samples that one sample is worth, (m,)
    kept: np.ndarray  # what a penalty leaves of each coefficient, (m, d)

    @classmethod
    def of(cls, limits: list[Limit], share: np.ndarray) -> Points:
        """The points of single limits."""
        rows = [
            (lim.coef, lim.local_error, lim.stderr, lim.other_weight, lim.shrinkage)
            for lim in limits
        ]
        coef, error, stderr, weight, kept = (np.array(c, float) for c in zip(*rows, strict=True))
        return cls(coef, error, stderr, weight, share, kept)


def shares(problem: Problem, nus: np.ndarray) -> np.ndarray:
    """C(nu)^2 / E[pi^2] at every bandwidth, (m,); see :mod:`limetutor.precision.effective_samples`."""
    kernel = problem.kernel
    assert isinstance(kernel, ProductKernel)
    log_C, log_square = (
        np.concatenate([_laws(problem, block).log_mass.sum(axis=-1) for block in _blocks(at)])
        for at in (nus, kernel.square(nus))
    )
    return np.exp(np.minimum(2 * log_C - log_square, 0.0))


def _laws(problem: Problem, nus: np.ndarray) -> Any:
    """The tilted laws of one instance at many bandwidths, as those of many instances."""
    assert isinstance(problem.kernel, ProductKernel)
    xi = np.broadcast_to(problem.xi, (len(nus), problem.d))
    return problem.kernel.tilt(problem.boxes, xi, nus[:, None] * problem.boxes.unit)


def _blocks(nus: np.ndarray) -> list[np.ndarray]:
    return np.split(nus, range(BANDWIDTHS_PER_BLOCK, len(nus), BANDWIDTHS_PER_BLOCK))


@dataclass(frozen=True, eq=False)
class Curve:
    """A limit at each bandwidth: series and quadratures, and worlds without boxes.

    What has to be sampled is sampled with one seed, so that the same uniform numbers move smoothly
    with the bandwidth. ``grid_size`` is at how many bandwidths changes are searched for, ``bisections``
    how often an interval with a change of order in it is then halved.
    """

    problem: Problem
    ridge: float
    n: int | None
    samples: int
    seed: Any

    grid_size, bisections = 61, 20

    @property
    def sample_size(self) -> int:
        """Of how many samples effective ones are counted: n, or as many as `lime` draws."""
        return NUM_SAMPLES if self.n is None else self.n

    @cached_property
    def method(self) -> str:
        """Where the numbers come from: "exact", "quadrature" or "monte carlo"."""
        return self._limit(self.problem).method

    def _limit(self, problem: Problem) -> Limit:
        return limit_of(problem, self.ridge, self.n, self.samples, self.seed)

    def at(self, places: np.ndarray) -> Points:
        """The points at these bandwidths (m,)."""
        limits = [self._limit(self.problem.at(float(nu))) for nu in places]
        return Points.of(limits, shares(self.problem, places))


@dataclass(frozen=True, eq=False)
class ClosedFormCurve(Curve):
    """A closed form under all bandwidths together."""

    method = "exact"
    grid_size, bisections = 121, 30

    def at(self, places: np.ndarray) -> Points:
        """Block by block, as :func:`limetutor.limits` computes rows."""
        problem, parts = self.problem, []
        form, own_row = problem.form, problem.world.own_row
        assert form is not None
        for nus in _blocks(places):
            block = SurrogateBlock.of(form, _laws(problem, nus), problem.prediction)
            assert block is not None
            fit, correction = block.fitted(self.ridge, self.n, own_row)
            weight = np.broadcast_to(correction.weight, fit.local_error.shape)
            parts.append((fit.coef, fit.local_error, weight, correction.shrinkage))
        coef, error, weight, kept = (np.concatenate(part) for part in zip(*parts, strict=True))
        return Points(coef, error, np.zeros_like(coef), weight, shares(problem, places), kept)


@dataclass(frozen=True, eq=False)
class BoxCountCurve(Curve):
    """One bandwidth, and a world cut into other numbers of boxes."""

    def at(self, places: np.ndarray) -> Points:
        """The limits in worlds of so many boxes a feature."""
        world = self.problem.world
        assert isinstance(world, Gaussian | Empirical)
        problems = [self.problem.at(world=replace(world, p=int(count))) for count in places]
        limits = [self._limit(problem) for problem in problems]
        share = [shares(problem, np.array([problem.nu]))[0] for problem in problems]
        return Points.of(limits, np.array(share))


@dataclass(frozen=True, eq=False)
class SampledCurve(Curve):
    """A model without a form, called once for all bandwidths.

    Samples come from the mixture of the tilted laws at the ``nodes``, each with the density
    pi_k / C_k beside the world's own; at nu they count by pi_nu / C_nu over that mixture (the balance
    heuristic, Veach & Guibas 1995). Kernels without a tilt are sampled from the world itself.
    """

    nodes: np.ndarray

    method = "monte carlo"
    bisections = 12

    @cached_property
    def _samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, indicators, log density of the mixture beside the world's own, responses."""
        problem, rng = self.problem, np.random.default_rng(self.seed)
        if problem.product is None:
            x, z = sampler_of("bins").draw(problem, rng, self.samples)
            return x, z, np.zeros(self.samples), problem.predict(x)
        per_node = -(-self.samples // len(self.nodes))
        problems = [problem.at(float(nu)) for nu in self.nodes]
        draws = [sampler_of("tilted").draw(node, rng, per_node) for node in problems]
        x, z = (np.concatenate(part) for part in zip(*draws, strict=True))
        logs = [self._log_weights(x, z, node.nu) - node.tilt.log_C for node in problems]
        mixture = scipy.special.logsumexp(logs, axis=0) - np.log(len(problems))
        return x, z, mixture, problem.predict(x)

    def _log_weights(self, x: np.ndarray, z: np.ndarray, nu: float) -> np.ndarray:
        problem = self.problem
        return problem.kernel.log_weights(x, z, problem.xi, nu, problem.boxes)

    def _fit(self, nu: float) -> tuple[surrogate.Fit, surrogate.Sums]:
        x, z, mixture, y = self._samples
        sums = surrogate.Sums(self.problem.d)
        sums.add(z, y, self._log_weights(x, z, nu) - mixture)
        surrogate.refuse_weightless(sums, f" at nu = {nu:.3g}")
        if self.problem.product is None and self.ridge:
            assert self.n is not None
            return surrogate.fit(sums, self.ridge * len(y) / self.n), sums
        return surrogate.fit(sums), sums

    def at(self, places: np.ndarray) -> Points:
        """The same samples, weighted for each bandwidth."""
        fits, has_stderr = [self._fit(float(nu)) for nu in places], []
        for fit, sums in fits:  # ... where coefficients rest on enough samples for one
            enough = scarcer_side(sums) >= MIN_EFFECTIVE
            enough &= sums.ess >= MIN_EFFECTIVE * (sums.d + 1)
            has_stderr.append(fit.used & ~fit.collinear & enough)
        if self.problem.product is None:
            return self._without_tilt(fits, np.stack(has_stderr))
        limits, prediction = [], self.problem.prediction  # which the problems below take over
        for nu, (fit, _) in zip(places, fits, strict=True):
            problem = self.problem.at(float(nu))
            law, beta = problem.tilt, fit.beta[1:]
            centre = float(fit.beta[0] + law.alpha @ beta)
            error = centre + float(law.rest @ beta) - prediction
            sampled = PopulationFit(centre, beta, error, self.method, fit.covariance)
            limits.append(limit_of(problem, self.ridge, self.n, fit=sampled))
        points = Points.of(limits, shares(self.problem, places))
        never = _laws(self.problem, places[:1]).constant[0]
        points.stderr[~np.stack(has_stderr) & ~never] = np.inf
        return points

    def _without_tilt(
        self, fits: list[tuple[surrogate.Fit, surrogate.Sums]], has_stderr: np.ndarray
    ) -> Points:
        beta = np.stack([fit.beta for fit, _ in fits])
        spread = [np.sqrt(np.clip(np.diag(fit.covariance)[1:], 0, None)) for fit, _ in fits]
        stderr = np.where(has_stderr, spread, np.inf)
        error = beta.sum(axis=1) - self.problem.prediction
        share = np.array([sums.ess for _, sums in fits]) / self.samples
        coef, weight = beta[:, 1:], np.full(len(fits), np.inf)
        return Points(coef, error, stderr, weight, share, np.ones_like(coef))


def curve_of(
    problem: Problem, options: tuple[float, int | None, int, Any], ends: tuple[float, float]
) -> Curve:
    """The curve between two bandwidths, exact if possible; options are ridge, n, samples and seed."""
    nodes = np.geomspace(*ends, MIXTURE_NODES) if ends[0] < ends[1] else np.array(ends[:1])
    sampled = SampledCurve(problem, *options, nodes)
    if problem.product is None:
        return sampled
    by_limits = Curve(problem, *options)
    if problem.world.regression is not None:
        return by_limits
    form = problem.form
    if form is None:
        return sampled
    if form.closed and SurrogateBlock.of(form, _laws(problem, nodes[:1]), problem.prediction):
        return ClosedFormCurve(problem, *options)
    curves = [replace(by_limits, problem=problem.at(nu)) for nu in (*ends, problem.nu)]
    return sampled if "monte carlo" in [curve.method for curve in curves] else by_limits
