"""How many samples a given precision needs: ``lt.samples_needed``. Chapter: how many samples."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.boxes import World
from ..core.explainer import run
from ..core.models import Linear
from ..core.problem import Problem, knowing
from ..core.theory import limit_of
from ..inputs import arguments as arg
from ..inputs.warning_classes import FitWarning, PrecisionWarning
from ..plotting.result_page import notebook_table
from . import bounds
from .effective_samples import log_share
from .normal_length import norm_quantile
from .normal_limit import noise_of, whitened_variance


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


def _count(n: float) -> str:
    if not math.isfinite(n):
        return "—" if math.isnan(n) else "∞"
    return f"{n:,.0f}" if n < 1e7 else f"{float(n):.2g}"


def samples_needed(
    f: Any, xi: Any, world: World, nu: float, eps: float, eta: float = 0.05,
    kernel: Any = None, *, output: Any = None, pilot: int = 20_000, seed: Any = 0,
) -> SampleSize:  # fmt: skip
    """How many samples bring the coefficients within eps of their limit, with probability 1 - eta.

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
    pilot, seed
        How many samples V is estimated from where f is not linear, and their seed.

    Returns
    -------
    SampleSize
        The number of samples by each of the five sources; it prints as a table.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> need = samples_needed(Linear([10, -10, 0, 0]), [0.5] * 4, Gaussian(), nu=1.0, eps=1)
    >>> need.weighted, f"{need.printed:.2g}"
    (6715, '5.5e+12')
    """
    eps, eta = arg.positive("eps", eps), arg.probability("eta", eta)
    pilot = arg.whole("pilot", pilot, 2)
    seed = arg.seed("seed", seed)
    problem = Problem.of(f, xi, world, nu, kernel, output)
    closed = problem.product is not None and _is_linear(problem)
    noises: list[tuple[Any, float]]
    if closed:
        problem, eps_in_unit = _in_unit(problem, eps)
        noises = [noise_of(problem, sampler) for sampler in ("bins", "tilted")]
        method = "covariance in closed form"
    else:
        eps_in_unit = eps
        noises = [(V, 0.0) for V in _estimated_covariances(problem, pilot, seed)]
        if not np.all(np.diag(noises[0][0]) >= 0):  # rounding has left nothing of it, or nan
            raise ValueError(
                f"pilot must be enough samples to estimate the noise of each coefficient, got {pilot:,}, "
                "in which some features hardly vary."
            )
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
    return estimates if problem.product else [*estimates, np.full_like(estimates[0], np.nan)]
