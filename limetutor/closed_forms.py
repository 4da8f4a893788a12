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
import scipy

from . import arguments as arg
from . import covariance
from .algorithm import explain
from .exact import SlowSeriesError, Views, expectation, is_closed
from .families import form_of, moved
from .kernels import PRODUCT_KERNELS
from .models import Linear, Quadratic, fitted_columns, predictor
from .theory import Tilt, critical_bandwidth, standard_box, tilt, tilted_law
from .worlds import Boxes, Gaussian, World, check_world

TINY = np.finfo(float).tiny  # below it a double loses digits, and soon is 0


class Surrogate(NamedTuple):
    """What least squares finds under the tilted law, before ridge."""

    centre: float  # E~[f]
    beta: np.ndarray  # E~[f | z_j = 1] - E~[f | z_j = 0]
    error: float  # f^(xi) - f(xi)
    method: str
    covariance: np.ndarray  # of the intercept and beta: 0 unless they were sampled


@dataclass(frozen=True, eq=False)
class Limit:
    """What an explanation becomes as n grows: the same quantities, no noise.

    ``method`` says where they come from: "exact" (a closed form), "quadrature" (a series summed
    to about 1e-10) or "monte carlo" (samples of the tilted law, with the standard errors
    ``stderr``; they are 0 for the other two). ``critical_nu`` is known for linear f, Gaussian
    worlds and the Gaussian kernel, and nan elsewhere. A linear estimator appears in ``f`` as an
    lt.Linear.
    """

    f: Any
    xi: np.ndarray
    nu: float
    kernel: str
    names: tuple[str, ...]
    tilt: Tilt
    critical_nu: np.ndarray
    shrinkage: np.ndarray  # what ridge leaves of each coefficient; ones without it
    world: World = field(repr=False)
    surrogate: Surrogate = field(repr=False)
    prediction: float
    box_names: tuple[str, ...]
    output: Any = None
    ridge: float = 0.0
    n: int | None = None

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
        return float(self.tilt.log_mass.sum())

    @property
    def C(self) -> float:
        """C_d = E[pi], the mean weight (paper, Eq. def-cst)."""
        C = float(np.exp(self.log_C))
        if C < TINY:
            _warn_precision(f"C = exp({self.log_C:.1f}) is too small for a double; use log_C.")
        return C

    @cached_property
    def coef(self) -> np.ndarray:
        """beta_j = E~[f | z_j = 1] - E~[f | z_j = 0], times the shrinkage of ridge.

        For linear f it is -a_j theta_j / (alpha_j (1 - alpha_j)) (paper, Theorem main-result).
        """
        return self.surrogate.beta * self.shrinkage

    @property
    def method(self) -> str:
        """Where the numbers come from: "exact", "quadrature" or "monte carlo"."""
        return self.surrogate.method

    @property
    def stderr(self) -> np.ndarray:
        """Standard errors of ``coef``; 0 unless the method is "monte carlo"."""
        return np.sqrt(np.diag(self.surrogate.covariance)[1:]) * self.shrinkage

    @cached_property
    def local_error(self) -> float:
        """f^(xi) - f(xi); for linear f sum_j a_j (E~[x_j | z_j=1] - xi_j), without ridge.

        Paper: Corollary local-model-error-light. Chapter: local error.
        """
        lost = self.surrogate.beta * self.tilt.rest * (1 - self.shrinkage)
        return float(self.surrogate.error - np.sum(lost))

    @property
    def local_prediction(self) -> float:
        """f^(xi), the surrogate at xi: the sum of all coefficients."""
        return self.prediction + self.local_error

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``; 0 unless the method is "monte carlo"."""
        part = np.concatenate([[1.0], self.alpha + self.tilt.rest * self.shrinkage])
        return float(np.sqrt(part @ self.surrogate.covariance @ part))

    @property
    def intercept(self) -> float:
        """beta_0 = E~[f] - sum_j alpha_j beta_j."""
        return float(self.surrogate.centre - self.alpha @ self.coef)

    @property
    def Sigma(self) -> np.ndarray:
        """Population covariance of the weighted indicators (Lemma expected-covariance-matrix)."""
        return self.C * covariance.covariance(self.alpha)

    @property
    def Sigma_inv(self) -> np.ndarray:
        """Its inverse (Lemma inverse-covariance-matrix)."""
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

        For linear f, C (f(mu~), alpha_j f(mu~) - a_j theta_j) (Lemma computation-expected-...).
        """
        inside = self.surrogate.centre + self.tilt.rest * self.surrogate.beta
        return self.C * np.concatenate([[self.surrogate.centre], self.alpha * inside])

    def order(self) -> np.ndarray:
        """Features from the largest coefficient to the smallest."""
        return np.argsort(-np.abs(self.coef), kind="stable")

    def as_list(self) -> list[tuple[str, float]]:
        """Pairs of box description and coefficient, largest first, as in `lime`."""
        return [(self.box_names[j], float(self.coef[j])) for j in self.order()]

    def plot(self) -> Any:
        """Coefficients as a matplotlib figure."""
        from .plotting.results import coefficients

        return coefficients(self)

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
    kernel: str = "gaussian",
    *,
    ridge: float = 0.0,
    n: int | None = None,
    output: Any = None,
    samples: int = 100_000,
    seed: int | None = 0,
) -> Limit:
    """The explanation of f as n grows: without sampling where f has a form.

    Parameters
    ----------
    f
        An lt.Linear or lt.Quadratic, or a fitted scikit-learn model: linear, kernel ridge, support
        vector or Gaussian process with an RBF kernel, tree, forest, gradient boosting, logistic
        regression of two classes, a net with one hidden layer, or a scaler and one of these in a
        pipeline. Anything else, functions included, is sampled from the tilted law.
    xi, world, nu
        As in :func:`explain`.
    kernel
        One of the product kernels, "gaussian" or "mismatch".
    ridge, n
        The penalty competes with the total weight of n samples, so n is needed with it:
        beta_j becomes beta_j s_j / (s_j + ridge / (n C)), s_j = alpha_j (1 - alpha_j).
    output
        Which output to explain, a class or a column, where f has several.
    samples, seed
        How f is sampled where it has to be.

    Examples
    --------
    >>> limit(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=1.0).coef.round(2)
    array([11.4 , -1.76])
    """
    check_world(world)
    nu = arg.bandwidth("nu", nu)
    ridge = arg.not_negative("ridge", ridge)
    if ridge > 0:
        because = " with ridge (the penalty weighs against n)"
        n = arg.whole("n", 0 if n is None else n, 1, because=because)
    arg.one_of("kernel", kernel, PRODUCT_KERNELS)
    boxes = world.boxes(_dimension(f, xi) if world.d is None else None)
    as_given, xi = xi, boxes.encode(xi)
    form = form_in(boxes, f, output)
    law = tilt(world, xi, nu, kernel)
    if np.any((np.abs(law.theta) < TINY) & (law.gap != 0)):
        _warn_precision(
            "theta is too small for a double for some features whose coefficients are not 0; "
            "coef, intercept and local_error stay exact."
        )
    critical = np.full(boxes.d, np.nan)
    if isinstance(world, Gaussian) and kernel == "gaussian" and isinstance(form, Linear):
        critical = critical_bandwidth(xi, boxes.mu, boxes.sigma, *standard_box(world, boxes, xi))
    prediction = _prediction(f, form, xi, boxes, output)
    surrogate = _fitted(form, xi, boxes, nu, kernel, law, prediction)
    if surrogate is None:
        surrogate = _sampled(f, as_given, world, nu, kernel, law, output, samples, seed)
    own = boxes.discretize(xi[None])[0]
    return Limit(
        f=form if isinstance(form, Linear) else f,
        xi=xi,
        nu=nu,
        kernel=kernel,
        names=boxes.names,
        tilt=law,
        critical_nu=critical,
        shrinkage=shrinkage(law, ridge, n) if ridge > 0 else np.ones(boxes.d),
        world=world,
        surrogate=surrogate,
        prediction=prediction,
        box_names=tuple(boxes.describe(j, own[j]) for j in range(boxes.d)),
        output=output,
        ridge=ridge,
        n=n,
    )


def shrinkage(law: Tilt, ridge: float, n: int) -> np.ndarray:
    """What ridge leaves of each coefficient: s_j / (s_j + ridge / (n C)), s_j = alpha_j (1-alpha_j).

    Centred indicators are independent under the tilted law, so each is shrunk on its own.
    Chapter: the real lime.
    """
    log_s = law.log_alpha + law.log_rest
    return scipy.special.expit(log_s - np.log(ridge / n) + law.log_mass.sum())


def _dimension(f: Any, xi: Any) -> int:
    """Number of features where the world leaves it open: the model's, else the instance's."""
    if isinstance(f, Linear | Quadratic):
        return f.a.size
    return getattr(f, "n_features_in_", np.asarray(xi, dtype=object).size)


def form_in(boxes: Boxes, f: Any, output: Any) -> Any:
    """The form of f in the coordinates of the world, or None."""
    if isinstance(f, Linear | Quadratic):
        arg.vector("a", f.a, boxes.d, because=", one per feature of the world")
        if output is not None:
            raise ValueError(f"output must be left out when f has a single output, got {output!r}.")
        return f
    features = getattr(f, "n_features_in_", boxes.d)
    if features != boxes.d:
        raise ValueError(
            f"f must have been fitted on {boxes.d} features, as many as the world has, "
            f"got one fitted on {features}."
        )
    columns = fitted_columns(f, boxes)
    if boxes.labels:
        return None  # text columns: the model turns them into numbers in its own way
    form = form_of(f, output)
    if form is None or not columns or set(columns) != set(boxes.names):
        return form
    order = np.array([boxes.names.index(name) for name in columns])
    if np.all(order == np.arange(boxes.d)):
        return form
    return moved(form, order, np.ones(boxes.d), np.zeros(boxes.d))


def _prediction(f: Any, form: Any, xi: np.ndarray, boxes: Boxes, output: Any) -> float:
    """f(xi); a form that gives another number than f itself is refused."""
    if form is f:
        return float(f(xi[None])[0])
    value = float(predictor(f, boxes, output)(xi[None])[0])
    if form is not None:
        formula = float(form(xi[None])[0])
        if not abs(formula - value) <= 1e-6 * max(abs(value), 1.0):
            raise ValueError(
                f"f must be what its fitted attributes say, but it gives {value:g} at xi and they "
                f"give {formula:g}; pass a function such as f.predict to have it sampled."
            )
    return value


def _fitted(
    form: Any,
    xi: np.ndarray,
    boxes: Boxes,
    nu: float,
    kernel: str,
    law: Tilt,
    prediction: float,
) -> Surrogate | None:
    """The surrogate of a form, or None where it has to be sampled.

    Linear forms go by the tilt itself, whose gap and inside keep all digits in the tails and near
    a switch-off.
    """
    exact = np.zeros((boxes.d + 1, boxes.d + 1))
    if isinstance(form, Linear):
        centre, beta = float(form(law.mu_tilde[None])[0]), form.a * law.gap
        return Surrogate(centre, beta, float(form.a @ law.inside), "exact", exact)
    if form is None:
        return None
    views = Views.of(tilted_law(boxes, xi, nu, kernel)[0], boxes.discretize(xi[None])[0])
    try:
        found = expectation(form, views)
    except SlowSeriesError:
        return None
    beta, centre = found.inside - found.outside, float(found.mean)
    error = centre + float(law.rest @ beta) - prediction
    return Surrogate(centre, beta, error, "exact" if is_closed(form) else "quadrature", exact)


def _sampled(
    f: Any,
    xi: Any,
    world: World,
    nu: float,
    kernel: str,
    law: Tilt,
    output: Any,
    samples: int,
    seed: int | None,
) -> Surrogate:
    """The surrogate from samples of the tilted law."""
    samples = arg.whole("samples", samples, len(law.theta) + 2)
    run = explain(f, xi, world, nu, samples, seed, kernel, "tilted", output=output)
    centre = run.intercept + float(law.alpha @ run.coef)
    error = run.local_prediction - run.prediction
    return Surrogate(centre, run.coef, error, "monte carlo", run.covariance)


def _warn_precision(message: str) -> None:
    warnings.warn(message, arg.PrecisionWarning, stacklevel=3)
