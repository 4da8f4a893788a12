"""Which widths of LIME average to Shapley values: Gauss-Legendre nodes on the way from p to 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .extension import Masses, gauss_legendre

SAME = 1e-9  # masses that differ less count as equal
MANY = 64  # nodes that average over all widths


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
