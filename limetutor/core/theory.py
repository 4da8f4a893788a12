"""What an explanation becomes as n grows, without sampling.

beta = Sigma^-1 Gamma for the law and the kernel of the explanation: in closed form where f has a
form (:mod:`limetutor.core.models`), from samples of the tilted law where it has none.
Chapters: covariance, theorem, local error, beyond linear.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..inputs import arguments as arg
from ..inputs.warning_classes import FitWarning, PrecisionWarning
from ..inputs.worlds import penalty_and_rows
from ..results.limit import TINY, Limit
from .boxes import World
from .kernels import GaussianKernel
from .models import Linear, SlowSeriesError
from .problem import Problem

DEFAULT_SAMPLES = 100_000  # of f where it has no form

PRECISION_NOTE = (
    "theta is too small for a double for some features whose coefficients are not 0; "
    "coef, intercept and local_error stay exact."
)

# what serves limits that need n, samples or a warning, filled by limetutor.precision
EXTENSIONS: dict[str, Callable[..., Any]] = {}


class PopulationFit(NamedTuple):
    """What least squares finds under the tilted law, before ridge and xi's own row."""

    centre: float  # E~[f]
    beta: np.ndarray  # E~[f | z_j = 1] - E~[f | z_j = 0]
    error: float  # f^(xi) - f(xi)
    method: str
    covariance: np.ndarray | None = None  # of the intercept and beta, where they were sampled
    notes: tuple[str, ...] = ()


def limit(
    f: Any, xi: Any, world: World, nu: float | None = None, kernel: Any = None, *,
    ridge: float | None = None, n: float | None = None, output: Any = None, samples: int = DEFAULT_SAMPLES, seed: int | None = 0,
) -> Limit:  # fmt: skip
    """The explanation of f as n grows: without sampling where f has a form.

    Parameters
    ----------
    f
        An lt.Linear, an lt.Quadratic, or a fitted model of scikit-learn (linear, kernel machines with
        an RBF kernel, trees, forests, boosting, logistic regression of two classes, nets with one
        hidden layer; in a pipeline with a scaler), XGBoost, LightGBM or CatBoost; the margin of a
        classifier (:func:`limetutor.margin`). Anything else is sampled from the tilted law.
    xi, world, nu
        As in :func:`limetutor.explain`.
    kernel
        One of the product kernels, "gaussian", "laplace" or "mismatch"; by default that of the world.
    ridge, n
        The penalty competes with the total weight of n samples, so n is needed with it:
        beta_j becomes beta_j s_j / (s_j + ridge / (n C)), s_j = alpha_j (1 - alpha_j). In a world
        read from `lime`, which has its own two, n also brings in the row of xi itself, which decides
        where n C is small; ``n=np.inf`` asks for the limit without it.
    output
        Which output to explain, a class or a column, where f has several.
    samples, seed
        How f is sampled where it has to be.

    Returns
    -------
    Limit
        ``coef``, ``intercept``, ``local_error``, ``alpha``, ``theta``, ``critical_nu`` and more.

    Examples
    --------
    >>> from limetutor import Gaussian, Linear
    >>> limit(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=1.0).coef.round(2)
    array([11.4 , -1.76])
    """
    problem = Problem.of(f, xi, world, nu, kernel, output, purpose="its limit", boxes_needed=False)
    result = limit_of(problem, *penalty_and_rows(ridge, n, problem.world), samples, seed)
    for text in result.warnings:
        kind = PrecisionWarning if text == PRECISION_NOTE else FitWarning
        warnings.warn(text, kind, stacklevel=2)
    return result


def limit_of(
    problem: Problem, ridge: float = 0.0, n: int | None = None, samples: int = DEFAULT_SAMPLES,
    seed: Any = 0, fit: PopulationFit | None = None,
) -> Limit:  # fmt: skip
    """:func:`limit` of a checked problem, or the finite-sample correction of its ``fit``."""
    ridge, n = penalty_and_rows(ridge, n)
    samples = arg.whole("samples", samples, min(problem.d + 2, DEFAULT_SAMPLES))
    seed = arg.seed("seed", seed)
    law, form = problem.tilt, problem.form
    regressors, correction, notes = None, None, ()
    if n is not None or problem.world.regression is not None:
        regressors, correction = EXTENSIONS["finite n"](problem, ridge, n)
    if fit is None:
        fit = exact_fit(problem) or EXTENSIONS["no form"](problem, samples, seed)
    unusual = n is not None or fit.covariance is not None or law.constant.any()
    if unusual or np.any(np.abs(law.theta) < TINY):
        notes = EXTENSIONS["notes"](problem, correction, n, fit)
    linear, critical = isinstance(form, Linear), np.full(problem.d, np.nan)
    boxes = problem.boxes
    if linear and isinstance(problem.kernel, GaussianKernel) and boxes.standard is not None:
        ends = boxes.standard_ends(problem.box_of_xi)
        critical = critical_bandwidth(problem.xi, boxes.mu, boxes.sigma, *ends)
    return Limit(
        f=form if linear else problem.f, xi=problem.xi, nu=problem.nu, kernel=problem.kernel.name,
        names=problem.boxes.names, tilt=law, critical_nu=critical,
        rows=correction, regressors=regressors, surrogate=fit, prediction=problem.prediction,
        setting=problem, output=problem.output, ridge=ridge, n=n,
        warnings=tuple(notes),
    )  # fmt: skip


def exact_fit(problem: Problem) -> PopulationFit | None:
    """The population fit of a form, or None where f has to be sampled.

    Linear forms go by the tilt itself, whose gap and inside keep all digits in the tails and near
    a switch-off (paper, Theorem 3.1 and Corollary 3.1).
    """
    form, law, regression = problem.form, problem.tilt, problem.world.regression
    if form is None:
        return None
    if isinstance(form, Linear) and regression is None:
        centre, beta = float(form(law.mu_tilde[None])[0]), form.a * law.gap
        return PopulationFit(centre, beta, float(form.a @ law.inside), "exact")
    try:
        if regression is None:
            (centre, beta), offset = form.contrast(law.views), law.rest
        else:
            offset = regression.regressors(problem).offset_at_xi
            centre, beta = regression.coefficients(form, problem)
    except SlowSeriesError:
        return None
    error = centre + float(offset @ beta) - problem.prediction
    exact = isinstance(form, Linear) or (form.closed and regression is None)
    return PopulationFit(centre, beta, error, "exact" if exact else "quadrature")


def critical_bandwidth(
    xi: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> np.ndarray:
    """The bandwidth at which a feature is switched off, nan where there is none.

    nu_crit^2 = sigma^2 (2 xi - q- - q+) / (q- + q+ - 2 mu) when that is above 0 and the box is
    bounded; there the mean of the tilted law is the middle of xi's box and theta = 0. ``lo`` and
    ``hi`` are in standard units. Paper: Eq. 4.1. Chapter: switch-off.
    """
    xi, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, mu, sigma, lo, hi))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = lo + hi
        square = (2 * (xi - mu) / sigma - total) / total
        exists = np.isfinite(square) & (square > 0)
        return np.where(exists, sigma * np.sqrt(np.where(exists, square, 0.0)), np.nan)
