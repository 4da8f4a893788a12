"""What LIME converges to: the paper's closed forms, through one idea.

The coordinates of a new example are independent and the weight is a product over coordinates, so
weighting is the same as sampling from another product law, the **tilted law** P~. Under it the
indicators z_j are independent Bernoulli(alpha_j), least squares separates, and for any f

    beta_j  = E~[f | z_j = 1] - E~[f | z_j = 0],
    beta_0  = E~[f] - sum_j alpha_j beta_j,
    f^(xi)  = sum_{j >= 0} beta_j.

:func:`tilt` computes the law, :func:`limit` what the explanation of a linear f becomes as n grows.
Chapters: weights, covariance, theorem, switch-off, local error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _special as special
from . import arguments as arg
from . import covariance
from .boxes import Boxes, Gaussian, World, check_world, standard_quantiles
from .kernels import PRODUCT_KERNELS
from .laws import BoxLaw, normal_box, tilted_normal
from .models import Linear

TINY = np.finfo(float).tiny  # below it a double loses digits, and soon is 0


@dataclass(frozen=True)
class Tilt:
    """The tilted law seen from xi, one entry per coordinate.

    ``inside`` is E~[x_j | z_j=1] - xi_j and ``gap`` is E~[x_j | z_j=1] - E~[x_j | z_j=0]; they
    keep their digits where alpha_j or 1 - alpha_j does not.
    """

    log_alpha: np.ndarray
    log_rest: np.ndarray  # log(1 - alpha)
    mu_tilde: np.ndarray
    sigma_tilde: np.ndarray
    theta: np.ndarray
    inside: np.ndarray
    gap: np.ndarray
    log_mass: np.ndarray  # log E[w_j]; C is the exponential of their sum

    @property
    def alpha(self) -> np.ndarray:
        """P~(z_j = 1), from whichever of alpha and 1 - alpha is the smaller."""
        return np.where(
            self.log_alpha < np.log(0.5), np.exp(self.log_alpha), -np.expm1(self.log_rest)
        )

    @property
    def rest(self) -> np.ndarray:
        """1 - alpha_j, precise when it is tiny."""
        return np.where(
            self.log_rest < np.log(0.5), np.exp(self.log_rest), -np.expm1(self.log_alpha)
        )


def gaussian_tilt(
    xi: ArrayLike, nu: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> Tilt:
    """The paper's case: a normal coordinate, a Gaussian weight; arguments broadcast.

    ``lo`` and ``hi`` are the edges of xi's box in standard units, (q - mu) / sigma. With mu~,
    sigma~ from :func:`limetutor.laws.tilted_normal` and u = (q - mu~)/sigma~:

        alpha = Phi(u+) - Phi(u-),    theta = sigma~ (phi(u+) - phi(u-)),
        gap = -theta / (alpha (1 - alpha)),    inside = mu~ - xi - theta / alpha.

    Paper: Theorem main-result-light, Eq. def-alpha. Chapters: theorem, switch-off.
    """
    xi, nu, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, nu, mu, sigma, lo, hi))
    t, r = (xi - mu) / sigma, nu / sigma  # everything below is in units of sigma, seen from mu
    m, s, log_mass = tilted_normal(t, np.zeros_like(t), r, np.ones_like(t))
    u_lo, u_hi = (lo - m) / s, (hi - m) / s
    with np.errstate(invalid="ignore"):
        box = normal_box(u_lo, u_hi, total=(lo + hi - 2 * m) / s)
    with np.errstate(under="ignore"):
        theta = -s * np.exp(box.log_inside) * box.mean_inside
    to_mean = -t * (r / np.hypot(1.0, r)) ** 2  # m - t without the cancellation at small nu
    return Tilt(
        log_alpha=box.log_inside,
        log_rest=box.log_outside,
        mu_tilde=mu + sigma * m,
        sigma_tilde=sigma * s,
        theta=sigma * theta,
        inside=sigma * (to_mean + s * box.mean_inside),
        gap=sigma * s * (box.mean_inside - box.mean_outside),
        log_mass=log_mass,
    )


def tilted_law(boxes: Boxes, xi: np.ndarray, nu: float, kernel: str) -> tuple[BoxLaw, np.ndarray]:
    """The tilted law as boxes, and log E[w_j] for each coordinate.

    Gaussian weight: each truncated normal becomes another one and its box is drawn more or less
    often. Mismatch weight: xi's own box is drawn more often, and that is all.
    """
    law = boxes.law
    own = boxes.discretize(xi[None])[0]
    other = np.arange(law.mean.shape[1]) != own[:, None]
    if kernel == "mismatch":
        mean, sd, log_weight = law.mean, law.sd, -1.0 * other / (2 * nu**2)
    else:
        mean, sd, log_weight = _tilt_boxes(law, xi[:, None], nu)
        labels = boxes.categorical[:, None]
        log_weight = np.where(labels, -1.0 * other / (2 * nu**2), log_weight)
        mean, sd = np.where(labels, law.mean, mean), np.where(labels, law.sd, sd)
    log_joint = law.log_prob + log_weight
    log_mass = special.logsumexp(log_joint, axis=1)
    return BoxLaw(log_joint - log_mass[:, None], mean, sd, law.lo, law.hi), log_mass


def _tilt_boxes(law: BoxLaw, xi: np.ndarray, nu: float) -> tuple[np.ndarray, ...]:
    """Each truncated normal under a Gaussian weight: mean, deviation, log of the mean weight."""
    mean, sd, log_mass = tilted_normal(xi, law.mean, nu, law.sd)
    tilted = BoxLaw(law.log_prob, mean, sd, law.lo, law.hi)
    before = normal_box(*law.standard_ends()).log_inside
    after = normal_box(*tilted.standard_ends()).log_inside
    return mean, sd, log_mass + np.where(law.sd == 0, 0.0, after - before)


def box_tilt(boxes: Boxes, xi: np.ndarray, nu: float, kernel: str) -> Tilt:
    """The tilted law of any world, by sums over boxes.

    For the mismatch kernel alpha = p / (p + (1-p) exp(-1/2nu^2)) with p the frequency of xi's box,
    and the gap does not depend on nu at all. Chapter: weights.
    """
    law, log_mass = tilted_law(boxes, xi, nu, kernel)
    own = boxes.discretize(xi[None])[0]
    rows = np.arange(len(xi))
    means = law.box_means()
    log_alpha = law.log_prob[rows, own]
    others = law.log_prob.copy()
    others[rows, own] = -np.inf
    log_rest = special.logsumexp(others, axis=1)
    _refuse_empty(boxes, own, log_alpha, log_rest)
    inside = means[rows, own]
    outside = np.sum(np.exp(others - log_rest[:, None]) * means, axis=1)
    mu_tilde, sigma_tilde = law.mean_and_deviation()
    gap = inside - outside
    theta = -np.exp(log_alpha + log_rest) * gap
    return Tilt(log_alpha, log_rest, mu_tilde, sigma_tilde, theta, inside - xi, gap, log_mass)


def _refuse_empty(
    boxes: Boxes, own: np.ndarray, log_alpha: np.ndarray, log_rest: np.ndarray
) -> None:
    for j in np.flatnonzero(np.isneginf(log_alpha)):
        raise ValueError(
            f"xi must lie in a box that holds training values, but no row has "
            f"{boxes.describe(j, own[j])}."
        )
    for j in np.flatnonzero(np.isneginf(log_rest)):
        raise ValueError(
            f"world must have a second box for every feature, but {boxes.names[j]!r} has one: "
            "its coefficient is not defined; leave the column out."
        )


def tilt(world: World, xi: np.ndarray, nu: float, kernel: str = "gaussian") -> Tilt:
    """The tilted law of a world seen from xi, for a product kernel."""
    boxes = world.boxes(len(xi))
    if isinstance(world, Gaussian) and kernel == "gaussian":
        lo, hi = standard_box(world, boxes, xi)
        return gaussian_tilt(xi, nu, boxes.mu, boxes.sigma, lo, hi)
    return box_tilt(boxes, xi, nu, kernel)


def standard_box(world: Gaussian, boxes: Boxes, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges q-, q+ around each xi_j, in standard units."""
    own = boxes.discretize(xi[None])[0]
    p = np.broadcast_to(world.p, (len(xi),))
    edges = [standard_quantiles(p[j])[own[j] : own[j] + 2] for j in range(len(xi))]
    lo, hi = np.array(edges).T
    return lo, hi


def critical_bandwidth(
    xi: ArrayLike, mu: ArrayLike, sigma: ArrayLike, lo: ArrayLike, hi: ArrayLike
) -> np.ndarray:
    """The bandwidth at which a feature is switched off, nan where there is none.

    nu_crit^2 = sigma^2 (2 xi - q- - q+) / (q- + q+ - 2 mu) when that is above 0 and the box is
    bounded; there the mean of the tilted law is the middle of xi's box and theta = 0. ``lo`` and
    ``hi`` are in standard units. Paper: Eq. special-nu. Chapter: switch-off.
    """
    xi, mu, sigma, lo, hi = (np.asarray(v, float) for v in (xi, mu, sigma, lo, hi))
    with np.errstate(divide="ignore", invalid="ignore"):
        total = lo + hi
        square = (2 * (xi - mu) / sigma - total) / total
        exists = np.isfinite(square) & (square > 0)
        return np.where(exists, sigma * np.sqrt(np.where(exists, square, 0.0)), np.nan)


def critical_bandwidths(world: Gaussian, X: ArrayLike) -> np.ndarray:
    """:func:`critical_bandwidth` of every entry of a table X (n, d), nan where there is none."""
    X = np.atleast_2d(arg.numbers("X", X))
    boxes = world.boxes(X.shape[1])
    own = boxes.discretize(X)
    ends = [standard_quantiles(p) for p in np.broadcast_to(world.p, (boxes.d,))]
    lo = np.stack([q[own[:, j]] for j, q in enumerate(ends)], axis=1)
    hi = np.stack([q[own[:, j] + 1] for j, q in enumerate(ends)], axis=1)
    return critical_bandwidth(X, boxes.mu, boxes.sigma, lo, hi)


def mean_weighted_square_distance(
    xi: ArrayLike, mu: ArrayLike, sigma: ArrayLike, nu: float
) -> float:
    """E[pi ||x - xi||^2] = C sum_j [ (nu^2 (xi_j - mu_j)/(nu^2+sigma_j^2))^2 + sigma~_j^2 ].

    Paper: remark after Lemma gaussian-second-order. Appendix: Gaussian integrals.
    """
    xi, mu, sigma = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(v, float)) for v in (xi, mu, sigma))
    )
    mean, sd, log_mass = tilted_normal(xi, mu, nu, sigma)
    return float(np.exp(log_mass.sum()) * np.sum((mean - xi) ** 2 + sd**2))


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
    return Limit(f, xi, nu, kernel, boxes.names, law, critical, shrinkage)


def _warn_precision(message: str) -> None:
    warnings.warn(message, arg.PrecisionWarning, stacklevel=3)
