"""What an explanation becomes as n grows, without sampling.

beta = Sigma^-1 Gamma for the law and the kernel of the explanation: in closed form where f has a
form (:mod:`limetutor.families`), from samples of the tilted law where it has none.
Chapters: covariance, theorem, local error, beyond linear.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from . import covariance, unboxed
from .algorithm import BEYOND, run
from .exact import SlowSeriesError
from .models import Linear
from .rows import Fitted, Regressors, Rows, fitted, rows
from .setting import Answer, Setting
from .theory import Tilt
from .travel import Fact, Travels, predictions
from .worlds import Boxes, World

TINY = np.finfo(float).tiny  # below it a double loses digits, and soon is 0
OWN_ROW = 1.0  # expected weight of all other rows below which xi's own row, of weight 1, decides
SAMPLES = 100_000  # of f where it has no form, unless told otherwise
SCARCE = 30  # samples that either side of an indicator should have where f is sampled


PRECISION_NOTES = [
    "theta is too small for a double for some features whose coefficients are not 0; "
    "coef, intercept and local_error stay exact."
]


class Surrogate(NamedTuple):
    """What least squares finds under the tilted law, before ridge and xi's own row."""

    centre: float  # E~[f]
    beta: np.ndarray  # E~[f | z_j = 1] - E~[f | z_j = 0]
    error: float  # f^(xi) - f(xi)
    method: str
    covariance: np.ndarray | None = None  # of the intercept and beta, where they were sampled
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Limit(Answer, Travels):
    """What an explanation becomes as n grows: the same quantities, no noise.

    ``method`` says where they come from: "exact" (a closed form), "quadrature" (a series summed
    to about 1e-10) or "monte carlo" (samples of the tilted law, with the standard errors
    ``stderr``; they are 0 for the other two). ``critical_nu`` is known for linear f, Gaussian
    worlds and the Gaussian kernel, and nan elsewhere. A linear estimator appears in ``f`` as an
    lt.Linear. In a world read from `lime`, with n given, the numbers are what a fit to n rows
    tends to whose first row is xi itself; see :mod:`limetutor.rows`.
    """

    f: Any
    xi: np.ndarray
    nu: float
    kernel: str
    names: tuple[str, ...]
    tilt: Tilt
    critical_nu: np.ndarray
    rows: Rows = field(repr=False)  # what n, ridge and xi's own row make of it
    regressors: Regressors = field(repr=False)
    surrogate: Surrogate = field(repr=False)
    prediction: float
    setting: Setting = field(repr=False)
    output: Any = None
    ridge: float = 0.0
    n: int | None = None
    warnings: tuple[str, ...] = ()

    @property
    def alpha(self) -> np.ndarray:
        """alpha_j: probability of xi's box under the tilted law."""
        return self.tilt.alpha

    @property
    def theta(self) -> np.ndarray:
        """theta_j = -alpha_j (E~[x_j | z_j=1] - mu~_j); zero where the feature is switched off."""
        return self.tilt.theta

    @property
    def mu_tilde(self) -> np.ndarray:
        """Mean of the tilted law."""
        return self.tilt.mu_tilde

    @property
    def sigma_tilde(self) -> np.ndarray:
        """Standard deviation of the tilted law (the paper prints its square)."""
        return self.tilt.sigma_tilde

    @property
    def log_C(self) -> float:
        """Log C_d, which never underflows."""
        return self.tilt.log_C

    @property
    def C(self) -> float:
        """C_d = E[pi], the mean weight (paper, supplement, "Setting")."""
        C = float(np.exp(self.log_C))
        if C < TINY:
            _warn_precision(f"C = exp({self.log_C:.1f}) is too small for a double; use log_C.")
        return C

    @property
    def shrinkage(self) -> np.ndarray:
        """What ridge leaves of each coefficient; ones without it."""
        return self.rows.shrinkage

    @cached_property
    def _fitted(self) -> Fitted:
        """The surrogate after ridge and xi's own row."""
        found = self.surrogate
        return fitted(self.regressors, self.rows, found.centre, found.beta, found.error)

    @cached_property
    def coef(self) -> np.ndarray:
        """beta_j = E~[f | z_j = 1] - E~[f | z_j = 0], after ridge and xi's own row.

        For linear f it is -a_j theta_j / (alpha_j (1 - alpha_j)) (paper, Theorem 3.1, Eq. 3.1).
        """
        return self._fitted.coef

    @property
    def method(self) -> str:
        """Where the numbers come from: "exact", "quadrature" or "monte carlo"."""
        return self.surrogate.method

    @property
    def stderr(self) -> np.ndarray:
        """Standard errors of ``coef``; 0 unless the method is "monte carlo"."""
        if self.surrogate.covariance is None:
            return np.zeros(len(self.xi))
        if not np.all(np.isfinite(self.surrogate.covariance)):
            return np.full(len(self.xi), np.inf)
        own = np.hstack([np.zeros((len(self.xi), 1)), np.diag(self.shrinkage)])
        moves = own - np.outer(self.rows.pull, self._local_part)
        variance = np.einsum("ij,jk,ik->i", moves, self.surrogate.covariance, moves)
        return np.sqrt(np.clip(variance, 0, None))

    @property
    def _local_part(self) -> np.ndarray:
        """How intercept and coefficients of the surrogate enter f^(xi) without xi's own row."""
        return np.concatenate([[1.0], self.regressors.mean + self.regressors.lead * self.shrinkage])

    @cached_property
    def local_error(self) -> float:
        """f^(xi) - f(xi); for linear f sum_j a_j (E~[x_j | z_j=1] - xi_j), without ridge.

        Paper: Corollary 3.1. Chapter: local error.
        """
        return float(self._fitted.local_error)

    @property
    def local_prediction(self) -> float:
        """f^(xi), the surrogate at xi: the sum of all coefficients."""
        return self.prediction + self.local_error

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``; 0 unless the method is "monte carlo"."""
        if self.surrogate.covariance is None:
            return 0.0
        if not np.all(np.isfinite(self.surrogate.covariance)):
            return float("inf")
        part = self.rows.left * self._local_part
        return float(np.sqrt(max(part @ self.surrogate.covariance @ part, 0.0)))

    @property
    def intercept(self) -> float:
        """beta_0 = E~[f] - sum_j alpha_j beta_j."""
        return float(self._fitted.intercept)

    @property
    def Sigma(self) -> np.ndarray:
        """Population covariance of the weighted indicators (paper, Lemma 8.1)."""
        self._refuse_numbers("Sigma")
        return self.C * covariance.covariance(self.alpha)

    @property
    def Sigma_inv(self) -> np.ndarray:
        """Its inverse (paper, Lemma 8.2)."""
        self._refuse_numbers("Sigma_inv")
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scaled = covariance.inverse_covariance(self.alpha, self.tilt.rest)
            result = np.where(scaled == 0, 0.0, scaled * np.exp(-self.log_C))
        if not np.all(np.isfinite(result)):
            _warn_precision(
                "Sigma_inv holds entries beyond 1e308, given as infinite: at this bandwidth some "
                "alpha_j is 0 or 1 to the last digit; use coef, which stays exact, or raise nu."
            )
        return result

    @property
    def Gamma(self) -> np.ndarray:
        """Gamma = C (E~[f], alpha_j E~[f | z_j = 1]).

        For linear f, C (f(mu~), alpha_j f(mu~) - a_j theta_j) (paper, Lemma 9.1,
        by Eq. 9.1 and Eq. 9.2).
        """
        self._refuse_numbers("Gamma")
        inside = self.surrogate.centre + self.tilt.rest * self.surrogate.beta
        return self.C * np.concatenate([[self.surrogate.centre], self.alpha * inside])

    def _refuse_numbers(self, name: str) -> None:
        if not self.world.indicators:
            raise AttributeError(f"{name} is made of indicators, and this world has no boxes.")

    def order(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest."""
        return np.argsort(-np.abs(self.coef), kind="stable")

    def as_list(self) -> list[tuple[str, float]]:
        """Pairs of box description and coefficient, largest first, as in `lime`."""
        return [(self.box_names[j], float(self.coef[j])) for j in self.order()]

    def facts(self) -> list[Fact]:
        """The numbers beside the coefficients, for pages and dictionaries."""
        return [
            *predictions(self),
            Fact("local_error", "by how much that is off", "f^(ξ) − f(ξ)", self.local_error),
            Fact("nu", "bandwidth", "ν", self.nu),
            Fact("kernel", "kernel", "kernel", self.kernel),
            Fact("method", "where the numbers come from", "method", self.method),
        ]

    def bounds(self) -> np.ndarray:
        """95% intervals, (d, 2); of no width unless the method is "monte carlo"."""
        return self.coef[:, None] + 1.96 * np.outer(self.stderr, [-1.0, 1.0])

    def plot(self, ax: Any = None, top: int | None = None, title: str | None = None) -> Any:
        """Coefficients as a matplotlib figure.

        On ``ax`` where one is given; ``top`` is how many features are drawn, 20 if left out.
        """
        from .plotting.results import coefficients

        return coefficients(self, ax=ax, top=top, title=title)

    def __repr__(self) -> str:
        lines = [
            f"Limit of the explanation of f(xi) = {self.prediction:.4g}, nu = {self.nu:g}, "
            f"{self.kernel} kernel ({self.method})"
        ]
        noise = self.method == "monte carlo"
        for j in self.order()[:10]:
            error = f" ± {self.stderr[j]:<8.2g}" if noise else ""
            lines.append(f"  {self.coef[j]:+10.4g}{error} {self.box_names[j]}")
        if len(self.coef) > 10:
            lines.append(f"  ... and {len(self.coef) - 10} more")
        lines.append(
            f"  surrogate at xi {self.local_prediction:.4g}, local error {self.local_error:.4g}"
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        noise = self.method == "monte carlo"
        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(self.box_names[j])}</td>"
            f"<td>{self.coef[j]:+.4g}</td>"
            f"{f'<td>± {self.stderr[j]:.2g}</td>' if noise else ''}</tr>"
            for j in self.order()
        )
        error = "<th>standard error</th>" if noise else ""
        return (
            "<table><thead><tr><th style='text-align:left'>box of ξ</th>"
            f"<th>coefficient as n grows</th>{error}</tr></thead><tbody>{rows}</tbody></table>"
            f"<p>f(ξ) = {self.prediction:.4g}; surrogate at ξ {self.local_prediction:.4g}; "
            f"local error {self.local_error:.4g}; method: {self.method}.</p>"
        )


def limit(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    kernel: Any = "gaussian",
    *,
    ridge: float = 0.0,
    n: int | None = None,
    output: Any = None,
    samples: int = SAMPLES,
    seed: int | None = 0,
) -> Limit:
    """The explanation of f as n grows: without sampling where f has a form.

    Parameters
    ----------
    f
        An lt.Linear or lt.Quadratic or another form, or a fitted scikit-learn model: linear, kernel
        ridge, support vector or Gaussian process with an RBF kernel, tree, forest, gradient
        boosting, logistic regression of two classes, a net with one hidden layer, or a scaler and
        one of these in a pipeline; a regressor of XGBoost, LightGBM or CatBoost; the margin of a
        classifier (:func:`limetutor.margin`). Anything else, functions included, is sampled from
        the tilted law. For many instances there is :func:`limetutor.limits`.
    xi, world, nu
        As in :func:`explain`.
    kernel
        One of the product kernels, "gaussian", "laplace" or "mismatch".
    ridge, n
        The penalty competes with the total weight of n samples, so n is needed with it:
        beta_j becomes beta_j s_j / (s_j + ridge / (n C)), s_j = alpha_j (1 - alpha_j). In a world
        read from `lime`, n also brings in the row of xi itself, which decides where n C is small.
    output
        Which output to explain, a class or a column, where f has several.
    samples, seed
        How f is sampled where it has to be.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> limit(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=1.0).coef.round(2)
    array([11.4 , -1.76])
    """
    setting = Setting.of(f, xi, world, nu, kernel, output, purpose="its limit", boxes_needed=False)
    found = limit_of(setting, ridge, n, samples, seed)
    for text in found.warnings:
        kind = arg.PrecisionWarning if text in PRECISION_NOTES else arg.FitWarning
        warnings.warn(text, kind, stacklevel=2)
    return found


def limit_of(
    setting: Setting,
    ridge: float = 0.0,
    n: int | None = None,
    samples: int = SAMPLES,
    seed: Any = 0,
    surrogate: Surrogate | None = None,
) -> Limit:
    """:func:`limit` of a setting that has been checked; its notes stand in ``warnings`` only.

    With a ``surrogate`` nothing is computed anew but what n, ridge and xi's own row make of it.
    """
    ridge, n = penalty_and_rows(ridge, n)
    samples = arg.whole("samples", samples, min(setting.d + 2, SAMPLES))  # unused by most forms
    seed = arg.seed("seed", seed)
    law, regressors = setting.tilt, regressors_of(setting)
    found = rows(regressors, law.log_C, ridge, n, setting.world.own_row)
    if surrogate is None:
        surrogate = exact_surrogate(setting)
    if surrogate is None:
        surrogate = _sampled(setting, regressors, samples, seed)
    form = setting.form
    linear = isinstance(form, Linear)
    critical = setting.product.critical_nu if linear and setting.product else None
    return Limit(
        f=form if linear else setting.f,
        xi=setting.xi,
        nu=setting.nu,
        kernel=setting.kernel.name,
        names=setting.boxes.names,
        tilt=law,
        critical_nu=critical(setting.xi, setting.boxes) if critical else np.full(setting.d, np.nan),
        rows=found,
        regressors=regressors,
        surrogate=surrogate,
        prediction=setting.prediction,
        setting=setting,
        output=setting.output,
        ridge=ridge,
        n=n,
        warnings=(*_notes(setting, law, found, n), *surrogate.notes, *_noise_note(surrogate)),
    )


def penalty_and_rows(ridge: Any, n: Any) -> tuple[float, int | None]:
    """The two checked: a penalty needs n, the rows that it competes with."""
    ridge = arg.not_negative("ridge", ridge)
    if ridge > 0:
        because = " with ridge (the penalty weighs against n)"
        return ridge, arg.whole("n", 0 if n is None else n, 1, because=because)
    return ridge, None if n is None else arg.whole("n", n, 1)


def _notes(setting: Setting, law: Tilt, found: Rows, n: int | None) -> list[str]:
    """What a reader of the limit should know."""
    notes = []
    if found.own_row and n is not None and found.weight < OWN_ROW:
        notes.append(own_row_note(n, found.weight))
    if not setting.world.indicators:
        return notes
    if np.any((np.abs(law.theta) < TINY) & (law.gap != 0)):
        notes += PRECISION_NOTES
    return [*notes, *constant_note(law.constant, setting.boxes)]


def _noise_note(surrogate: Surrogate) -> tuple[str, ...]:
    """What to know where the noise of samples is no number."""
    covariance = surrogate.covariance
    held = covariance is None or np.all(np.isfinite(covariance)) or BEYOND in surrogate.notes
    return () if held else (BEYOND,)


def constant_note(constant: np.ndarray, boxes: Boxes) -> list[str]:
    """What to know of features whose values all lie in xi's box, a mask (d,)."""
    if not np.any(constant):
        return []
    names = arg.shorten([boxes.names[j] for j in np.flatnonzero(constant)])
    return [
        f"The world has all its values of {int(constant.sum())} feature(s) {names} in xi's "
        "box: there is nothing to compare with, and their coefficients are 0."
    ]


def own_row_note(n: int, weight: float) -> str:
    """What to know where the other n - 1 rows of a fit weigh less than xi's own."""
    return (
        f"xi's own row decides: it has weight 1, and the other {n - 1:,} rows together are "
        f"expected to have {weight:.2g}; runs with another seed differ widely, and these "
        "numbers are no limit. Raise nu."
    )


def local_error_parts(f: Linear, law: Tilt, kept: np.ndarray) -> np.ndarray:
    """What each feature adds to f^(xi) - f(xi) for a linear f.

    a_j (E~[x_j | z_j=1] - xi_j), less what a penalty or a selection takes off: ``kept`` (d,) is the
    share of each coefficient that is left. Paper: Corollary 3.1. Chapter: local error.
    """
    return f.a * law.inside - f.a * law.gap * law.rest * (1 - kept)


def box_average(setting: Setting, n: int = 20_000) -> float:
    """E~[f | z = (1, ..., 1)], the model averaged over xi's boxes, from n samples."""
    x, _ = setting.tilt.views.given(1).sample(np.random.default_rng(0), n)
    return float(np.mean(setting.predict(x)))


def regressors_of(setting: Setting) -> Regressors:
    """What the surrogate is fitted on: indicators, or the scaled numbers of a world without boxes."""
    if setting.world.indicators:
        return Regressors.indicators(setting.tilt)
    return unboxed.regressors(setting)


def exact_surrogate(setting: Setting) -> Surrogate | None:
    """The surrogate of a form, or None where f has to be sampled.

    Linear forms go by the tilt itself, whose gap and inside keep all digits in the tails and near
    a switch-off.
    """
    form, law = setting.form, setting.tilt
    if form is None:
        return None
    if isinstance(form, Linear) and setting.world.indicators:
        centre, beta = float(form(law.mu_tilde[None])[0]), form.a * law.gap
        return Surrogate(centre, beta, float(form.a @ law.inside), "exact")
    try:
        if setting.world.indicators:
            found = form.expectation(law.views)
            centre, beta = float(found.mean), found.inside - found.outside
        else:
            centre, beta = unboxed.coefficients(form, setting)
    except SlowSeriesError:
        return None
    error = centre + float(regressors_of(setting).lead @ beta) - setting.prediction
    exact = isinstance(form, Linear) or (form.closed and setting.world.indicators)
    return Surrogate(centre, beta, error, "exact" if exact else "quadrature")


def _sampled(setting: Setting, regressors: Regressors, samples: int, seed: Any) -> Surrogate:
    """The surrogate from samples of the tilted law.

    A feature whose box holds nearly all of that law, or nearly none, gets samples of its own: pairs
    that differ in this feature alone, drawn inside and outside.
    """
    samples = arg.whole("samples", samples, setting.d + 2)
    if not setting.world.indicators:
        centre, beta, covariance = unboxed.sampled(setting, samples, seed)
        error = centre + float(regressors.lead @ beta) - setting.prediction
        return Surrogate(centre, beta, error, "monte carlo", covariance)
    run_ = run(setting, samples, seed, "tilted", own_row=False)
    law = setting.tilt
    beta, covariance = run_.coef.copy(), run_.covariance.copy()
    share = samples * np.minimum(law.alpha, law.rest)
    scarce = np.flatnonzero((share < SCARCE) & ~law.constant)
    pairs = max(samples // (2 * max(len(scarce), 1)), SCARCE)
    rng = np.random.default_rng(seed)
    for j in scarce:
        beta[j], square = _paired_difference(setting, int(j), min(pairs, samples), rng)
        covariance[j + 1] = covariance[:, j + 1] = 0.0
        covariance[j + 1, j + 1] = square
    centre = run_.intercept + float(law.alpha @ run_.coef)
    error = centre + float(law.rest @ beta) - setting.prediction
    notes = () if scarce.size or np.any(law.constant) else run_.warnings
    return Surrogate(centre, beta, error, "monte carlo", covariance, notes)


def _paired_difference(
    setting: Setting, j: int, n: int, rng: np.random.Generator
) -> tuple[float, float]:
    """E~[f | z_j = 1] - E~[f | z_j = 0] from n pairs, and the square of its standard error."""
    views = setting.tilt.views
    x, _ = views.law.sample(rng, n)
    column = np.array([j])
    y = []
    for side in (1, 2):
        x[:, j] = views.given(side).taken(column).sample(rng, n)[0][:, 0]
        y.append(setting.predict(x))
    with np.errstate(over="ignore", invalid="ignore"):
        difference = y[0] - y[1]
        square = float(difference.var() / n)
    return float(difference.mean()), square if np.isfinite(square) else float("inf")


def _warn_precision(message: str) -> None:
    warnings.warn(message, arg.PrecisionWarning, stacklevel=3)
