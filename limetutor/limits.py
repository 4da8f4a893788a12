"""What an explanation becomes as n grows, without sampling.

beta = Sigma^-1 Gamma for the law and the kernel of the explanation, in closed form where f allows
it. Chapters: covariance, theorem, local error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import _special as special
from . import arguments as arg
from . import covariance
from .boxes import Gaussian, World, check_world
from .kernels import PRODUCT_KERNELS
from .models import Linear
from .theory import Tilt, critical_bandwidth, standard_box, tilt

TINY = np.finfo(float).tiny  # below it a double loses digits, and soon is 0


@dataclass(frozen=True)
class Limit:
    """What an explanation of a linear f becomes as n grows: the same quantities, no sampling."""

    f: Linear
    xi: np.ndarray
    nu: float
    kernel: str
    names: tuple[str, ...]
    tilt: Tilt
    critical_nu: np.ndarray
    shrinkage: np.ndarray  # what ridge leaves of each coefficient; ones without it
    world: World = field(repr=False)

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
        """beta_j = -a_j theta_j / (alpha_j (1 - alpha_j)), times the shrinkage of ridge."""
        return self.f.a * self.tilt.gap * self.shrinkage

    @cached_property
    def local_error(self) -> float:
        """f^(xi) - f(xi) = sum_j a_j (E~[x_j | z_j=1] - xi_j) without ridge.

        Paper: Corollary local-model-error-light. Chapter: local error.
        """
        lost = self.f.a * self.tilt.gap * self.tilt.rest * (1 - self.shrinkage)
        return float(np.sum(self.f.a * self.tilt.inside - lost))

    @cached_property
    def prediction(self) -> float:
        """f(xi)."""
        return float(self.f(self.xi[None])[0])

    @property
    def local_prediction(self) -> float:
        """f^(xi), the surrogate at xi: the sum of all coefficients."""
        return self.prediction + self.local_error

    @property
    def intercept(self) -> float:
        """beta_0 = f(mu~) - sum_j alpha_j beta_j."""
        return float(self.f(self.mu_tilde[None])[0] - self.alpha @ self.coef)

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
        """Gamma = C (f(mu~), alpha_j f(mu~) - a_j theta_j) (Lemma computation-expected-...)."""
        centre = float(self.f(self.mu_tilde[None])[0])
        return self.C * np.concatenate([[centre], self.alpha * centre - self.f.a * self.theta])

    def __repr__(self) -> str:
        coef = np.array2string(self.coef, precision=4, threshold=8)
        return (
            f"Limit(nu={self.nu:g}, coef={coef}, intercept={self.intercept:.4g}, "
            f"local_error={self.local_error:.4g})"
        )


def limit(
    f: Linear,
    xi: Any,
    world: World,
    nu: float,
    kernel: str = "gaussian",
    *,
    ridge: float = 0.0,
    n: int | None = None,
) -> Limit:
    """The explanation of a linear f as n grows, without sampling.

    ``kernel`` is one of the product kernels, "gaussian" or "mismatch". With ``ridge`` the
    penalty competes with the total weight of n samples, so n is needed:
    beta_j becomes beta_j s_j / (s_j + ridge / (n C)), s_j = alpha_j (1 - alpha_j).

    Example:
    -------
    >>> limit(Linear([10, -10]), [0.961, 0.432], Gaussian(), nu=1.0).coef.round(2)
    array([11.4 , -1.76])
    """
    check_world(world)
    nu = arg.bandwidth("nu", nu)
    ridge = arg.not_negative("ridge", ridge)
    if not isinstance(f, Linear):
        raise TypeError(
            f"f must be an lt.Linear for a closed form, got {arg.shorten(f)}; "
            "for other models use lt.explain(..., sampler='tilted')."
        )
    arg.one_of("kernel", kernel, PRODUCT_KERNELS)
    boxes = world.boxes(f.a.size if world.d is None else None)
    xi = boxes.encode(xi)
    arg.vector("a", f.a, boxes.d, because=", one per feature of the world")
    law = tilt(world, xi, nu, kernel)
    if np.any((np.abs(law.theta) < TINY) & (law.gap != 0)):
        _warn_precision(
            "theta is too small for a double for some features whose coefficients are not 0; "
            "coef, intercept and local_error stay exact."
        )
    critical = np.full(boxes.d, np.nan)
    if isinstance(world, Gaussian) and kernel == "gaussian":
        critical = critical_bandwidth(xi, boxes.mu, boxes.sigma, *standard_box(world, boxes, xi))
    shrinkage = np.ones(boxes.d)
    if ridge > 0:
        n = arg.whole(
            "n", 0 if n is None else n, 1, because=" with ridge (the penalty weighs against n)"
        )
        log_s = law.log_alpha + law.log_rest
        shrinkage = special.expit(log_s - np.log(ridge / n) + law.log_mass.sum())
    return Limit(f, xi, nu, kernel, boxes.names, law, critical, shrinkage, world)


def _warn_precision(message: str) -> None:
    warnings.warn(message, arg.PrecisionWarning, stacklevel=3)
