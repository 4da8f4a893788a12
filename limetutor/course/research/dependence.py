"""What would change if LIME drew its samples with the dependence of the data.

LIME draws every feature by itself. Then least squares on the indicators separates, and a feature
that the model ignores gets a coefficient of 0. Drawn together, correlated features share the
credit; drawn apart, many samples lie where no data are. Both are measured here.
Chapter: interactions.
"""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from ...core.truncated import normal_box
from ...inputs import arguments as arg

MAX_DEVIATIONS = 9.0  # beyond them the normal law has a mass of 1e-19


def pair_probability(rho: float, first: ArrayLike, second: ArrayLike) -> float:
    """P(x_1 in its box, x_2 in its box) for a standard normal pair of correlation rho.

    The integral over the first box of phi(x) times the mass that N(rho x, 1 - rho^2) has in the
    second.
    """
    rho = arg.scalar("rho", rho)
    if not -1 < rho < 1:
        raise ValueError(f"rho must lie between -1 and 1, got {rho:g}.")
    (lo, hi), ends = _box("first", first), _box("second", second)
    sd = np.sqrt(1 - rho**2)

    def density(x: float) -> float:
        below, above = scipy.special.ndtr((ends - rho * x) / sd)
        return float(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) * (above - below))

    lo, hi = np.clip([lo, hi], -MAX_DEVIATIONS, MAX_DEVIATIONS)
    steps = ends[np.isfinite(ends)] / rho if rho else np.empty(0)  # where it is steep for large rho
    cuts = np.unique(np.concatenate([[lo, hi], steps[(steps > lo) & (steps < hi)]]))
    quad = partial(scipy.integrate.quad, density, epsabs=1e-13, limit=200)
    return float(sum(quad(*piece)[0] for piece in pairwise(cuts)))


def correlated_coefficients(rho: float, first: ArrayLike, second: ArrayLike) -> np.ndarray:
    """LIME's two coefficients of f(x) = x_1 had the samples the correlation rho, at nu = infinity.

    Boxes of xi in standard units. With alpha_j the masses, m_j the means inside and
    kappa = P(z_1 = z_2 = 1) - alpha_1 alpha_2, they solve

        [s_1  kappa] [beta_1]   [alpha_1 m_1    ]
        [kappa  s_2] [beta_2] = [rho alpha_2 m_2],    s_j = alpha_j (1 - alpha_j).

    For rho = 0 they are m_1 / (1 - alpha_1) and 0. Chapter: interactions.
    """
    boxes = [normal_box(*_box(n, b)) for n, b in (("first", first), ("second", second))]
    alpha, m = (
        np.array([float(v) for v in part])
        for part in zip(*((np.exp(box.log_inside), box.mean_inside) for box in boxes), strict=True)
    )
    kappa = pair_probability(rho, first, second) - alpha.prod()
    between = np.diag(alpha * (1 - alpha)) + kappa * (1 - np.eye(2))
    return np.linalg.solve(between, alpha * m * [1.0, rho])


def distance_to_data(x: ArrayLike, X: ArrayLike) -> np.ndarray:
    """From each row of x to the nearest row of X, in standard deviations of X's columns, (n,)."""
    x, X = _tables(x, X)
    return _tree(X).query(x / X.std(axis=0))[0]


def distance_within_data(X: ArrayLike) -> np.ndarray:
    """From each row of X to the nearest *other* row, in standard deviations of its columns, (n,)."""
    X, _ = _tables(X, X)
    return _tree(X).query(X / X.std(axis=0), k=2)[0][:, 1]


def mahalanobis(x: ArrayLike, X: ArrayLike) -> np.ndarray:
    """Distance of each row of x from the mean of X that knows the correlations of X, (n,).

    The root of (x - m) S^-1 (x - m), m and S the mean and the covariance matrix of X's rows.
    """
    x, X = _tables(x, X)
    away = x - X.mean(axis=0)
    inverse = np.linalg.inv(np.atleast_2d(np.cov(X.T, bias=True)))
    return np.sqrt(np.einsum("ij,jk,ik->i", away, inverse, away))


def _tree(X: np.ndarray) -> Any:
    return scipy.spatial.cKDTree(X / X.std(axis=0))


def _tables(x: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    x, X = arg.numbers("x", x), arg.numbers("X", X)
    if X.ndim != 2 or len(X) < 2 or np.any(X.std(axis=0) == 0):
        raise ValueError("X must be a table of two rows or more whose columns all vary.")
    if x.ndim != 2 or x.shape[1] != X.shape[1]:
        raise ValueError(f"x must have the {X.shape[1]} columns of X, got shape {x.shape}.")
    return x, X


def _box(name: str, ends: Any) -> np.ndarray:
    ends = arg.floats(ends)
    if ends.shape != (2,) or not ends[0] < ends[1] or not np.any(np.isfinite(ends)):
        raise ValueError(
            f"{name} must be the two ends of a box, lower first, of which one may be infinite, "
            f"got {arg.shorten(ends)}."
        )
    return ends
