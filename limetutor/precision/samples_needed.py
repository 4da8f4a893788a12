"""How many samples a given precision needs: ``lt.samples_needed``. Chapter: how many samples."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from ..core.boxes import World
from ..core.explainer import run
from ..core.models import Linear
from ..core.problem import Problem, knowing
from ..core.theory import limit_of
from ..inputs import arguments as arg
from ..inputs.warning_classes import FitWarning, PrecisionWarning
from ..plotting.result_page import notebook_table
from ..results.limit import TINY, Limit
from . import bounds
from .diagnostics import MIN_EFFECTIVE
from .effective_samples import log_share
from .finite_n import correction_of
from .normal_length import Covariance, norm_quantile
from .normal_limit import noise_of, whitened_variance
from .rankings import failure

SAME = 1e-9  # of the largest coefficient: what differs by less is of one size
SURE, NEGLIGIBLE = 8.0, 1e-9  # deviations, and a probability, from which a swap is not expected
STEP = np.log(10) / 40  # of log n


class _Sizes:
    """Numbers of samples by their source, as a table."""

    title: str
    closing: str

    def rows(self) -> list[tuple[str, float]]:
        """Pairs of source and number of samples."""
        raise NotImplementedError

    def __str__(self) -> str:
        lines = [f"  {name:<32}{_count(n):>12}" for name, n in self.rows()]
        return "\n".join([f"Samples for {self.title}:", *lines, f"  {self.closing}"])

    def _repr_html_(self) -> str:
        rows = [(name, _count(n)) for name, n in self.rows()]
        return notebook_table(("source", "samples"), rows, [f"{self.title}; {self.closing}."])


@dataclass(frozen=True)
class SampleSize(_Sizes):
    """Samples for ||beta^ - beta|| <= eps with probability 1 - eta, from five sources.

    ``weighted`` and ``tilted`` come from the normal limit (Algorithm 1, and sampling from the
    tilted law), ``printed`` and ``corrected`` from the paper's theorem, ``finite`` from this
    book's theorem for every n (the last three are for weighted samples, and nan where they do not
    apply). ``share`` is the effective sample size of one weighted sample.
    """

    eps: float
    eta: float
    weighted: int | float
    tilted: float
    printed: float
    corrected: float
    share: float
    method: str
    finite: float = math.nan

    title = property(lambda self: f"‖β̂ − β‖ ≤ {self.eps:g} with probability {1 - self.eta:g}")
    closing = property(lambda self: f"a weighted sample is worth {self.share:.3g}; {self.method}")

    def rows(self) -> list[tuple[str, float]]:
        """Pairs of source and number of samples."""
        return [
            ("theorem, as printed", self.printed), ("theorem, corrected", self.corrected),
            ("this book's theorem", self.finite), ("normal limit, weighted samples", self.weighted),
            ("normal limit, tilted samples", self.tilted),
        ]  # fmt: skip


@dataclass(frozen=True)
class TopSize(_Sizes):
    """Samples from which on the ``top`` largest coefficients are those of the limit, ``names``.

    With ``probability`` at least, in a run of so many samples or of any larger number, by the normal
    limit and the sum over pairs that may be swapped: ``weighted`` by Algorithm 1, ``tilted`` from the
    tilted law (nan with `lime`'s ridge and row of xi). The next largest, ``rival``, is behind by ``gap``.
    """

    top: int
    probability: float
    names: tuple[str, ...]
    rival: str
    gap: float
    weighted: int | float
    tilted: float
    method: str

    title = property(
        lambda self: (
            f"{', '.join(self.names)} as the largest with probability {self.probability:g} or more"
        )
    )
    closing = property(lambda self: f"{self.rival} is behind by {self.gap:.3g}; {self.method}")

    def rows(self) -> list[tuple[str, float]]:
        """Pairs of source and number of samples."""
        return [("weighted samples", self.weighted), ("tilted samples", self.tilted)]


def _count(n: float) -> str:
    if not math.isfinite(n):
        return "—" if math.isnan(n) else "∞"
    return f"{n:,.0f}" if n < 1e7 else f"{float(n):.2g}"


def samples_needed(
    f: Any, xi: Any, world: World, nu: float | None = None, eps: float | None = None, eta: float = 0.05,
    kernel: Any = None, *, top: int | None = None, probability: float = 0.95, output: Any = None,
    pilot: int = 20_000, seed: Any = 0,
) -> SampleSize | TopSize:  # fmt: skip
    """How many samples bring the coefficients within eps of their limit, with probability 1 - eta.

    Or, with ``top`` in place of eps, how many make the ``top`` largest coefficients those of the limit.

    By the normal limit n = (t / eps)^2 with t from :func:`.norm_quantile` of V, which is a closed
    form for a linear f and is estimated for any other. Beside it the number of the paper's Theorem
    10.1, where it applies (linear f, Gaussian world, Gaussian kernel), and of
    :func:`limetutor.precision.bounds.finite_sample_size` (linear f, Gaussian kernel on numbers).
    Chapter: how many samples.

    Parameters
    ----------
    f, xi, world, nu, kernel, output
        As in :func:`limetutor.explain`.
    eps, eta
        The distance, and the probability with which it may be exceeded.
    top, probability
        How many features, and how surely a run of that many samples, and of any larger number, has
        those of the limit as its largest. With `lime`'s ridge and row of xi where the world has them.
    pilot, seed
        How many samples V is estimated from where f is not linear, and their seed.

    Returns
    -------
    SampleSize or TopSize
        The number of samples by each of the five sources, or for the ``top``; it prints as a table.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> need = samples_needed(Linear([10, -10, 0, 0]), [0.5] * 4, Gaussian(), nu=1.0, eps=1)
    >>> need.weighted, f"{need.printed:.2g}"
    (6715, '5.5e+12')
    >>> samples_needed(Linear([10, -5, 2, 0]), [0.5] * 4, Gaussian(), nu=1.0, top=1).weighted
    4522
    """
    if (eps is None) == (top is None):
        raise ValueError(f"eps or top must be given, and not both, got eps={eps} and top={top}.")
    pilot = arg.whole("pilot", pilot, 2)
    seed = arg.seed("seed", seed)
    problem = Problem.of(f, xi, world, nu, kernel, output)
    if top is not None:
        if problem.d < 2:
            raise ValueError("f must have two features or more for top, got 1.")
        top = arg.whole("top", top, 1, most=problem.d - 1)
        probability = arg.probability("probability", probability)
    eps, eta = arg.positive("eps", 1.0 if eps is None else eps), arg.probability("eta", eta)
    closed = problem.product is not None and _is_linear(problem)
    noises: list[tuple[Any, float]]
    eps_in_unit = eps
    if closed:
        problem, eps_in_unit = _in_unit(problem, eps)
        noises = [noise_of(problem, sampler) for sampler in ("bins", "tilted")]
        method = "covariance in closed form"
    else:
        noises = [(V, 0.0) for V in _estimated_covariances(problem, pilot, seed)]
        if not np.all(np.diag(noises[0][0]) >= 0):  # rounding has left nothing of it, or nan
            raise ValueError(
                f"pilot must be enough samples to estimate the noise of each coefficient, got {pilot:,}, "
                "in which some features hardly vary."
            )
        method = f"covariance estimated from {pilot} samples"
    if top is not None:
        order, gap, weighted, tilted = _top_size(problem, noises, top, 1 - probability)
        if np.isinf(weighted):
            warnings.warn(bounds.infinite_size_message(problem.nu), PrecisionWarning, stacklevel=2)
        *names, rival = (problem.boxes.names[j] for j in order[: top + 1])
        gap *= eps / eps_in_unit
        return TopSize(top, probability, tuple(names), rival, gap, _whole(weighted), tilted, method)
    with np.errstate(over="ignore", divide="ignore"):
        weighted, tilted = (
            np.exp(2 * (np.log(norm_quantile(V, eta)) - np.log(eps_in_unit)) + log_unit)
            for V, log_unit in noises
        )
    printed = corrected = finite = np.nan
    if closed and bounds.theorem_applies(problem):
        settings = (limit_of(problem), problem.boxes.sigma, eps_in_unit, eta)
        printed = bounds.quiet_sample_size(*settings, corrected=False)
        corrected = bounds.quiet_sample_size(*settings)
    if closed and bounds.bounded_residual(problem):
        spread = whitened_variance(problem)
        finite = bounds.finite_sample_size(limit_of(problem), spread, eps_in_unit, eta)
    share = float(np.exp(log_share(problem))) if problem.product else np.nan
    if np.any(np.isinf([weighted, tilted, printed, corrected, finite])):
        warnings.warn(bounds.infinite_size_message(problem.nu), PrecisionWarning, stacklevel=2)
    sizes = _whole(weighted), np.ceil(tilted), printed, corrected
    return SampleSize(eps, eta, *sizes, share, method, finite)


def _whole(n: float) -> int | float:
    return n if np.isinf(n) else math.ceil(n)


def _in_unit(problem: Problem, eps: float) -> tuple[Problem, float]:
    """A linear f in units of its largest coefficient, and eps in them: no square then overflows.

    The unit is a power of two, so that nothing is rounded.
    """
    form = problem.form
    assert isinstance(form, Linear)
    largest = max(float(np.max(np.abs(form.a))), abs(form.b))
    unit = math.ldexp(1.0, math.frexp(largest)[1])
    scaled = replace(problem, f=Linear(form.a / unit, form.b / unit), output=None)
    return knowing(scaled, problem, "tilt", "box_of_xi"), eps / unit


def _is_linear(problem: Problem) -> bool:
    try:
        return isinstance(problem.form, Linear)
    except ValueError:  # a model of a known family without a form, which is sampled
        return False


def _estimated_covariances(problem: Problem, pilot: int, seed: Any) -> list[np.ndarray]:
    """V for weighted and for tilted samples, from runs; nan where the kernel has no tilted law."""
    estimates = []
    for sampler in ("bins", "tilted") if problem.product else ("bins",):
        pilot_run = run(problem, pilot, seed, sampler)
        for text in pilot_run.warnings:
            warnings.warn(f"In the pilot run: {text}", FitWarning, stacklevel=4)
        estimates.append(pilot_run.covariance * pilot)
    return estimates if problem.product else [*estimates, np.full_like(estimates[0], np.nan)]


def _top_size(
    problem: Problem, noises: list[tuple[Any, float]], k: int, eta: float
) -> tuple[np.ndarray, float, float, float]:
    """The order of the limit, the gap behind its first k, and the numbers of weighted and tilted samples."""
    limit, names = limit_of(problem), problem.boxes.names
    order, size = limit.order(), np.abs(limit.coef)
    pair = order[[k - 1, k]]
    gap, doubt = float(size[pair] @ [1, -1]), 3 * float(np.linalg.norm(limit.stderr[pair]))
    if gap <= max(doubt, SAME * np.max(size)):
        known = f", known to within {doubt:.2g}," if doubt else ""
        raise ValueError(
            f"top must be a number of features that the limit tells from the others, got {k}: {names[pair[0]]} and "
            f"{names[pair[1]]} are of one size there{known} so that no number of samples settles which comes first."
        )
    top = np.isin(np.arange(problem.d), order[:k])
    weighted = _stays(limit, *noises[0], log_share(problem), top, eta)
    of_lime = problem.world.ridge or problem.world.own_row
    return order, gap, weighted, math.nan if of_lime else _stays(limit, *noises[1], 0.0, top, eta)


def _stays(
    limit: Limit, V: Any, log_unit: float, share: float, top: np.ndarray, eta: float
) -> float:
    """The n from which on the bound on the failure of normal coefficients stays at eta or below.

    The bound may rise with n before it falls, and so is followed from where it is negligible down to where
    it is too large. ``V`` is in units of exp(log_unit). With m = n exp(share) effective samples the covariance
    is V / n times m / (m - d - 2), as for normal regressors. m is at least five for each coefficient and
    each side of a box: below that coefficients are not normal.
    """
    problem, law = limit.setting, limit.tilt
    V = V.matrix() if isinstance(V, Covariance) else V
    if not np.all(np.isfinite(V)):
        raise ValueError("f must have noise of finite size for top, got infinite standard errors.")
    side = np.minimum(law.log_alpha, law.log_rest)[~law.constant]
    least = np.log(MIN_EFFECTIVE) + max(np.log(problem.d + 1), -np.min(side, initial=0.0)) - share

    def failure_at(log_n: float) -> float:
        at = limit
        if problem.world.ridge or problem.world.own_row:
            n = float(np.exp(min(log_n, 700.0)))
            r, rows = correction_of(problem, problem.world.ridge, n)
            at = replace(limit, regressors=r, rows=rows)
        fitted = 1 - (problem.d + 2) * np.exp(-log_n - share)
        with np.errstate(over="ignore"):
            return failure(at.coef, at.moved(V) * (np.exp(log_unit - log_n) / fitted), top)

    U = limit.moved(V) * np.sign(np.outer(limit.coef, limit.coef))  # of the sizes
    i, j = np.ix_(np.flatnonzero(top), np.flatnonzero(~top))
    size, variance = np.abs(limit.coef), np.diag(U)
    apart = (variance[i] + variance[j] - 2 * U[i, j]) / (size[i] - size[j]) ** 2
    before = max(least, float(np.log(np.max(apart) * SURE**2 + TINY)) + log_unit)
    while max(failure_at(before), failure_at(before + 1)) > NEGLIGIBLE:
        before += 1.0
    while failure_at(log_n := max(before - STEP, least)) <= eta:
        if log_n == least:
            return float(np.ceil(np.exp(least)))
        before = log_n
    log_n = scipy.optimize.brentq(lambda t: failure_at(t) - eta, log_n, before, xtol=1e-12)
    with np.errstate(over="ignore"):
        return float(np.ceil(np.exp(log_n)))
