"""Widths of which, for equal masses, a weighted sum is the Shapley value: Gauss-Legendre nodes from p to 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .extension import Masses, gauss_legendre

SAME = 1e-9  # masses that differ less count as equal
MANY = 64  # widths at most
NODES = 16  # of a piece of the average over all widths


class Widths(NamedTuple):
    """Widths ``nu`` (m,), and the ``weights`` (m, d) with which LIME's coefficients there are added.

    The sum is the Shapley value wherever at most ``order`` features act together; 0 where the masses
    differ, for the sum is then another value, see ``mean_over_widths`` of a cube.
    """

    nu: np.ndarray
    weights: np.ndarray
    order: int


def are_equal(masses: Masses) -> bool:
    """Whether all features that leave their box have the same mass."""
    p = masses.p[~masses.constant]
    return bool(not len(p) or np.ptp(p) <= SAME * p.max())


def widths_of(masses: Masses, m: int) -> Widths:
    """m widths nu_i = 1 / sqrt(2 log(1 + q_i / ((1 - q_i) p))) at Gauss-Legendre nodes q_i, p in the middle.

    With tau = 1/2nu^2 the average over all widths is psi_j = integral of alpha_j (1 - alpha_j) beta_j
    dtau; where all masses are p, alpha (1 - alpha) dtau = (1 - p) dq, and psi is the Shapley value.
    """
    q, weights = gauss_legendre(m)
    free = ~masses.constant
    p = float(np.exp(np.mean(masses.log_inside[free]))) if np.any(free) else 0.5
    nu = 1 / np.sqrt(2 * np.log1p(q / ((1 - q) * p)))
    alpha = masses.alpha(nu)
    step = weights / ((1 - q) * (p + q * (1 - p)))  # dtau
    return Widths(nu, step[:, None] * alpha * (1 - alpha), 2 * m if are_equal(masses) else 0)


def over_all_widths(masses: Masses) -> tuple[np.ndarray, np.ndarray]:
    """Nodes alpha (k, d) and weights (k, d) of psi_j, the integral of alpha_j (1 - alpha_j) beta_j dtau.

    The odds of alpha_j are exp(tau) times those of p_j, so that all are smooth in tau, at the same pace
    for every p. Up to the tau where no odds are below e, Gauss-Legendre nodes in pieces of tau of at
    most 2; beyond, in exp(-tau), in which what is left is smooth to its end.
    """
    log_odds = masses.log_inside - masses.log_outside
    seen = log_odds[~masses.constant & np.isfinite(log_odds)]
    end = max(1.0, 1.0 - float(seen.min(initial=0.0)))
    q, weights = gauss_legendre(NODES)
    pieces = int(np.ceil(end / 2))
    width = end / pieces
    tau = np.append((width * (np.arange(pieces)[:, None] + q)).ravel(), end - np.log(q))
    step = np.append(np.tile(width * weights, pieces), weights / q)
    alpha, rest = (scipy.special.expit(sign * (log_odds + tau[:, None])) for sign in (1, -1))
    return alpha, step[:, None] * alpha * rest
