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
from ..results.result import largest_first
from . import bounds
from .diagnostics import MIN_EFFECTIVE
from .effective_samples import log_share
from .finite_n import correction_of
from .normal_length import norm_quantile
from .normal_limit import noise_of, whitened_variance
from .rankings import failure

SAME = 1e-9  # of the largest coefficient: what differs by less is of one size
SURE, NEGLIGIBLE = 8.0, 1e-9  # deviations, and a probability, from which a swap is not expected
STEP = np.log(10) / 40  # of log n


@dataclass(frozen=True)
class SampleSize:
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

    def rows(self) -> list[tuple[str, float]]:
        """Pairs of source and number of samples."""
        return [
            ("theorem, as printed", self.printed), ("theorem, corrected", self.corrected),
            ("this book's theorem", self.finite), ("normal limit, weighted samples", self.weighted),
            ("normal limit, tilted samples", self.tilted),
        ]  # fmt: skip

    def __str__(self) -> str:
        lines = [f"Samples for ‖β̂ − β‖ ≤ {self.eps:g} with probability {1 - self.eta:g}:"]
        lines += [f"  {name:<32}{_count(n):>12}" for name, n in self.rows()]
        return "\n".join([*lines, f"  a weighted sample is worth {self.share:.3g}; {self.method}"])

    def _repr_html_(self) -> str:
        sentence = (
            f"‖β̂ − β‖ ≤ {self.eps:g} with probability {1 - self.eta:g}; a weighted sample is worth "
            f"{self.share:.3g}; {self.method}."
        )
        rows = [(name, _count(n)) for name, n in self.rows()]
        return notebook_table(("source", "samples"), rows, [sentence])


@dataclass(frozen=True)
class TopSize:
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

    def rows(self) -> list[tuple[str, float]]:
        """Pairs of source and number of samples."""
        return [("weighted samples", self.weighted), ("tilted samples", self.tilted)]

    def _sentence(self) -> str:
        return (
            f"from so many on, the largest {'is' if self.top == 1 else f'{self.top} are'} "
            f"{', '.join(self.names)} with probability "
            f"{self.probability:g} or more; {self.rival} is behind by {self.gap:.3g}; {self.method}"
        )

    def __str__(self) -> str:
        lines = [f"Samples for the largest {self.top} to be those of the limit:"]
        lines += [f"  {name:<32}{_count(n):>12}" for name, n in self.rows()]
        return "\n".join([*lines, f"  {self._sentence()}"])

    def _repr_html_(self) -> str:
        rows = [(name, _count(n)) for name, n in self.rows()]
        sentence = f"{self._sentence()}."
        return notebook_table(("source", "samples"), rows, [sentence[0].upper() + sentence[1:]])


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
    >>> samples_needed(Linear([10, -10, 2, 0]), [0.5] * 4, Gaussian(), nu=1.0, top=3).weighted
    2126
    """
    if (eps is None) == (top is None):
        raise ValueError(f"eps or top must be given, and not both, got eps={eps} and top={top}.")
    pilot = arg.whole("pilot", pilot, 2)
    seed = arg.seed("seed", seed)
    problem = Problem.of(f, xi, world, nu, kernel, output)
    if top is not None:
        top = arg.whole("top", top, 1, most=problem.d - 1, because=" (d - 1)")
        return _top_size(problem, top, arg.probability("probability", probability), pilot, seed)
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    closed = problem.product is not None and _is_linear(problem)
    noises: list[tuple[Any, float]]
    if closed:
        problem, eps_in_unit = _in_unit(problem, eps)
        noises = [noise_of(problem, sampler) for sampler in ("bins", "tilted")]
        method = "covariance in closed form"
    else:
        eps_in_unit = eps
        noises = [(V, 0.0) for V in _estimated_covariances(problem, pilot, seed)]
        method = f"covariance estimated from {pilot} samples"
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
    weighted = weighted if np.isinf(weighted) else int(np.ceil(weighted))
    sizes = weighted, np.ceil(tilted), printed, corrected
    return SampleSize(eps, eta, *sizes, share, method, finite)


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
    if not np.all(np.diag(estimates[0]) >= 0):  # rounding has left nothing of it, or nan
        raise ValueError(
            f"pilot must be enough samples to estimate the noise of each coefficient, got {pilot:,}, "
            "in which some features hardly vary."
        )
    return estimates if problem.product else [*estimates, np.full_like(estimates[0], np.nan)]


def _top_size(problem: Problem, k: int, probability: float, pilot: int, seed: Any) -> TopSize:
    """The number of samples from which on the k largest are those of the limit.

    The failure of normal coefficients is bounded by :func:`.rankings.failure`. It may rise with n
    before it falls, and so is followed from where it is negligible down to where it is too large.
    """
    per_unit = 1.0
    if _is_linear(problem):
        problem, per_unit = _in_unit(problem, 1.0)
    limit = limit_of(problem)
    order = largest_first(limit.coef)
    inside, outside = order[k - 1], order[k]
    gap = abs(limit.coef[inside]) - abs(limit.coef[outside])
    doubt = 3 * float(np.hypot(*limit.stderr[[inside, outside]]))
    if gap <= max(doubt, SAME * abs(limit.coef[order[0]])):
        known = f", known to within {doubt:.2g}," if doubt else ""
        first, second = problem.boxes.names[inside], problem.boxes.names[outside]
        raise ValueError(
            f"top must be a number of features that the limit tells from the others, got {k}: {first} and "
            f"{second} are of one size there{known} so that no number of samples settles which comes first."
        )
    top = np.zeros(problem.d, bool)
    top[order[:k]] = True
    if _is_linear(problem):
        noises = [noise_of(problem, sampler) for sampler in ("bins", "tilted")]
        found = [(noise.covariance.matrix(), noise.log_unit) for noise in noises]
        method = "covariance in closed form"
    else:
        found = [(V, 0.0) for V in _estimated_covariances(problem, pilot, seed)]
        method = f"covariance estimated from {pilot} samples"
    weighted = _stays(limit, *found[0], log_share(problem), top, 1 - probability)
    tilted = math.nan
    if not problem.world.ridge and not problem.world.own_row:
        tilted = _stays(limit, *found[1], 0.0, top, 1 - probability)
    if np.isinf(weighted):
        warnings.warn(bounds.infinite_size_message(problem.nu), PrecisionWarning, stacklevel=3)
    names = tuple(problem.boxes.names[j] for j in order)
    whole = weighted if np.isinf(weighted) else int(weighted)
    return TopSize(
        k, probability, names[:k], names[k], float(gap / per_unit), whole, tilted, method
    )


def _stays(
    limit: Any, V: np.ndarray, log_unit: float, log_share: float, top: np.ndarray, eta: float
) -> float:
    """The n from which on the bound on the failure stays at eta or below.

    ``V`` is in units of exp(log_unit). With m = n exp(log_share) effective samples the covariance is V / n
    times m / (m - d - 2), as for normal regressors. There are five for each coefficient and each
    side of a box at least: below that coefficients are not normal.
    """
    problem, ridge, law = limit.setting, limit.setting.world.ridge, limit.tilt
    side = np.minimum(law.log_alpha, law.log_rest)[~law.constant]
    log_least = np.log(MIN_EFFECTIVE) + max(np.log(problem.d + 1), -np.min(side, initial=0.0))
    log_least -= log_share
    if not np.all(np.isfinite(V)):
        raise ValueError(
            "f must be of a size whose noise is a number for top, got infinite standard errors."
        )

    def failure_at(log_n: float) -> float:
        at = limit
        if ridge or problem.world.own_row:
            r, rows = correction_of(problem, ridge, float(np.exp(min(log_n, 700.0))))
            at = replace(limit, regressors=r, rows=rows)
        with np.errstate(over="ignore"):
            fitted = 1 - (problem.d + 2) * np.exp(-log_n - log_share)
            return failure(at.coef, at.moved(V) * (np.exp(log_unit - log_n) / fitted), top)

    U, size = limit.moved(V), np.abs(limit.coef)
    signed, variance = U * np.sign(np.outer(limit.coef, limit.coef)), np.diag(U)
    apart = (variance[top][:, None] + variance[~top] - 2 * signed[np.ix_(top, ~top)]) / (
        size[top][:, None] - size[~top]
    ) ** 2
    with np.errstate(divide="ignore"):
        log_n = max(log_least, float(np.log(np.max(apart) * SURE**2)) + log_unit)
    while max(failure_at(log_n), failure_at(log_n + 1)) > NEGLIGIBLE:
        log_n += 1.0
    while failure_at(log_n) <= eta:
        if log_n <= log_least:
            return float(np.ceil(np.exp(log_least)))
        log_n = max(log_n - STEP, log_least)
    root = scipy.optimize.brentq(lambda t: failure_at(t) - eta, log_n, log_n + STEP, xtol=1e-12)
    with np.errstate(over="ignore"):
        return float(np.ceil(np.exp(root)))
