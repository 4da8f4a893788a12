"""The result of :func:`limetutor.limit`: what an explanation becomes as n grows. Chapter: theorem."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from ..inputs.warning_classes import PrecisionWarning
from .result import Fact, Result, fitted_with

TINY = np.finfo(float).tiny  # below it a double loses digits, and soon is 0


@dataclass(frozen=True, eq=False, repr=False)
class Limit(Result):
    """What an explanation becomes as n grows: the same quantities, no noise.

    ``method`` says where they come from: "exact" (a closed form), "quadrature" (a series summed
    to about 1e-10) or "monte carlo" (samples of the tilted law, with the standard errors
    ``stderr``; they are 0 for the other two). ``critical_nu`` is known for linear f, Gaussian
    worlds and the Gaussian kernel, and nan elsewhere. A linear estimator appears in ``f`` as an
    lt.Linear. In a world read from `lime`, with n given, the numbers are what a fit to n rows
    tends to whose first row is xi itself; see :mod:`limetutor.precision.finite_n`.

    Examples
    --------
    >>> import limetutor as lt
    >>> li = lt.limit(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), nu=1.0)
    >>> li.method, round(li.local_error, 2), li.critical_nu.round(2)
    ('exact', 3.16, array([ nan, 0.53]))
    """

    f: Any
    xi: np.ndarray
    nu: float
    kernel: str
    names: tuple[str, ...]
    tilt: Any
    critical_nu: np.ndarray
    rows: Any  # the finite-sample correction: n, ridge and xi's own row
    regressors: Any
    surrogate: Any  # the population fit that it corrects
    prediction: float
    setting: Any
    output: Any = None
    ridge: float = 0.0
    n: int | None = None
    warnings: tuple[str, ...] = field(default=())

    coefficient_heading = "coefficient as n grows"
    notes_in_repr = False

    alpha = property(attrgetter("tilt.alpha"), doc="alpha_j: the tilted probability of xi's box.")
    theta = property(
        attrgetter("tilt.theta"),
        doc="theta_j = -alpha_j (E~[x_j | z_j=1] - mu~_j); zero where the feature is switched off.",
    )
    mu_tilde = property(attrgetter("tilt.mu_tilde"), doc="Mean of the tilted law.")
    sigma_tilde = property(
        attrgetter("tilt.sigma_tilde"),
        doc="Standard deviation of the tilted law (the paper prints its square).",
    )
    log_C = property(attrgetter("tilt.log_C"), doc="Log C_d, which never underflows.")

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
        return np.ones(len(self.xi)) if self.rows is None else self.rows.shrinkage

    @property
    def other_weight(self) -> float:
        """The expected weight of all rows but xi's own, infinite without that row."""
        return np.inf if self.rows is None else float(self.rows.weight)

    @cached_property
    def _corrected(self) -> tuple[np.ndarray, Any, Any]:
        """Coefficients, intercept and local error after ridge and xi's own row."""
        fit = self.surrogate
        if self.rows is None:
            return fit.beta, fit.centre - np.sum(self.alpha * fit.beta), fit.error
        return self.rows.applied(self.regressors, fit.centre, fit.beta, fit.error)

    @cached_property
    def coef(self) -> np.ndarray:  # type: ignore[override]
        """beta_j = E~[f | z_j = 1] - E~[f | z_j = 0], after ridge and xi's own row.

        For linear f it is -a_j theta_j / (alpha_j (1 - alpha_j)) (paper, Theorem 3.1, Eq. 3.1).
        """
        return self._corrected[0]

    @property
    def intercept(self) -> float:  # type: ignore[override]
        """beta_0 = E~[f] - sum_j alpha_j beta_j."""
        return float(self._corrected[1])

    @cached_property
    def local_error(self) -> float:
        """f^(xi) - f(xi); for linear f sum_j a_j (E~[x_j | z_j=1] - xi_j), without ridge.

        Paper: Corollary 3.1. Chapter: local error.
        """
        return float(self._corrected[2])

    @property
    def local_prediction(self) -> float:  # type: ignore[override]
        """f^(xi), the surrogate at xi: the sum of all coefficients."""
        return self.prediction + self.local_error

    @property
    def method(self) -> str:
        """Where the numbers come from: "exact", "quadrature" or "monte carlo"."""
        return self.surrogate.method

    @property
    def _is_noisy(self) -> bool:  # type: ignore[override]
        return self.method == "monte carlo"

    @property
    def stderr(self) -> np.ndarray:  # type: ignore[override]
        """Standard errors of ``coef``; 0 unless the method is "monte carlo"."""
        d, covariance = len(self.xi), self.surrogate.covariance
        if covariance is None or not np.all(np.isfinite(covariance)):
            return np.full(d, 0.0 if covariance is None else np.inf)
        return np.sqrt(np.clip(np.diag(self.moved(covariance)), 0, None))

    def moved(self, covariance: np.ndarray) -> np.ndarray:
        """The covariance of ``coef`` (d, d), from that of an intercept and beta without ridge and xi's row."""
        moves = np.hstack([np.zeros((len(self.xi), 1)), np.diag(self.shrinkage)])
        if self.rows is not None:
            moves = moves - np.outer(self.rows.pull, self._local_part)
        return moves @ covariance @ moves.T

    @property
    def local_stderr(self) -> float:
        """Standard error of ``local_prediction``; 0 unless the method is "monte carlo"."""
        covariance = self.surrogate.covariance
        if covariance is None or not np.all(np.isfinite(covariance)):
            return 0.0 if covariance is None else float("inf")
        part = self._local_part * (1.0 if self.rows is None else self.rows.left)
        return float(np.sqrt(max(part @ covariance @ part, 0.0)))

    @property
    def _local_part(self) -> np.ndarray:
        """How intercept and coefficients of the surrogate enter f^(xi) without xi's own row."""
        mean, offset = self.alpha, self.tilt.rest
        if self.regressors is not None:
            mean, offset = self.regressors.mean, self.regressors.offset_at_xi
        return np.concatenate([[1.0], mean + offset * self.shrinkage])

    @property
    def Sigma(self) -> np.ndarray:
        """Population covariance of the weighted indicators (paper, Lemma 8.1)."""
        self._refuse_numbers("Sigma")
        return self.C * self.tilt.covariance()

    @property
    def Sigma_inv(self) -> np.ndarray:
        """Its inverse (paper, Lemma 8.2)."""
        self._refuse_numbers("Sigma_inv")
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scaled = self.tilt.inverse_covariance()
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
        if self.world.regression is not None:
            raise AttributeError(f"{name} is made of indicators, and this world has no boxes.")

    def bounds(self) -> np.ndarray:
        """95% intervals, (d, 2); of no width unless the method is "monte carlo"."""
        return self.coef[:, None] + 1.96 * np.outer(self.stderr, [-1.0, 1.0])

    def facts(self) -> list[Fact]:
        """The numbers beside the coefficients, for pages and dictionaries."""
        return [
            Fact("prediction", "the model's prediction", "f(ξ)", self.prediction),
            Fact("local_prediction", "what the explanation adds up to", "f^(ξ)", self.local_prediction),
            Fact("local_error", "by how much that is off", "f^(ξ) − f(ξ)", self.local_error),
            Fact("nu", "bandwidth", "ν", self.nu),
            Fact("kernel", "kernel", "kernel", self.kernel),
            Fact("method", "where the numbers come from", "method", self.method),
        ]  # fmt: skip

    def _headline(self) -> str:
        return (
            f"Limit of the explanation of f(xi) = {self.prediction:.4g}, nu = {self.nu:g}, "
            f"{self.kernel} kernel{fitted_with(self.ridge, self.n)} ({self.method})"
        )

    def _closing(self, xi: str) -> list[str]:
        join, method = (", ", "") if xi == "xi" else ("; ", f"; method: {self.method}")
        local = (
            f"surrogate at {xi} {self.local_prediction:.4g}{join}local error {self.local_error:.4g}"
        )
        return [local + method]


def _warn_precision(message: str) -> None:
    warnings.warn(message, PrecisionWarning, stacklevel=3)
