"""What LIME converges to: the paper's closed forms, through one idea.

The coordinates of a new example are independent and the weight is a product over coordinates, so
weighting is the same as sampling from another product law, the **tilted law** P~. Under it the
indicators z_j are independent Bernoulli(alpha_j), least squares separates, and for any f

    beta_j  = E~[f | z_j = 1] - E~[f | z_j = 0],
    beta_0  = E~[f] - sum_j alpha_j beta_j,
    f^(xi)  = sum_{j >= 0} beta_j.

:func:`tilt` computes the law; :mod:`limetutor.closed_forms` what an explanation becomes as n grows.
Chapters: weights, theorem, switch-off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from . import arguments as arg
from .laws import BoxLaw, normal_box, tilted_normal
from .worlds import Boxes, Gaussian, World, standard_quantiles


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
        mean, sd, log_weight = tilt_boxes(law, xi[:, None], nu)
        labels = boxes.categorical[:, None]
        log_weight = np.where(labels, -1.0 * other / (2 * nu**2), log_weight)
        mean, sd = np.where(labels, law.mean, mean), np.where(labels, law.sd, sd)
    log_joint = law.log_prob + log_weight
    log_mass = scipy.special.logsumexp(log_joint, axis=1)
    return BoxLaw(log_joint - log_mass[:, None], mean, sd, law.lo, law.hi), log_mass


def tilt_boxes(law: BoxLaw, xi: np.ndarray, nu: ArrayLike) -> tuple[np.ndarray, ...]:
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
    log_rest = scipy.special.logsumexp(others, axis=1)
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
    lo, hi = standard_boxes(world, boxes, xi[None])
    return lo[0], hi[0]


def standard_boxes(world: Gaussian, boxes: Boxes, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The edges q-, q+ around every entry of a table X (n, d), in standard units."""
    own = boxes.discretize(X)
    ends = [standard_quantiles(p) for p in np.broadcast_to(world.p, (boxes.d,))]
    lo = np.stack([q[own[:, j]] for j, q in enumerate(ends)], axis=1)
    hi = np.stack([q[own[:, j] + 1] for j, q in enumerate(ends)], axis=1)
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
    return critical_bandwidth(X, boxes.mu, boxes.sigma, *standard_boxes(world, boxes, X))


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
