"""The limit of LIME by brute force: the weighted regression itself, integrated on a fine grid.

Nothing here knows a theorem. A feature's law is cut into panels that end at every box edge, each with
Gauss-Legendre nodes; several features make a tensor grid; the normal equations are summed over it.
"""

from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)


def panels(breaks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral over [breaks[0], breaks[-1]], panel by panel."""
    half = np.diff(breaks)[:, None] / 2
    middle = (breaks[:-1] + breaks[1:])[:, None] / 2
    return (middle + half * NODES).ravel(), (half * WEIGHTS).ravel()


def integral(function: Callable, breaks, step: float = 1.0) -> float:
    """Integral of a vectorised function that is smooth between the breaks."""
    x, dx = panels(refined(np.asarray(breaks, float), step))
    return float(np.sum(function(x) * dx))


def refined(breaks: np.ndarray, step: float) -> np.ndarray:
    """The breaks with more between them, so that no panel is longer than ``step``."""
    pieces = [
        np.linspace(a, b, 1 + max(1, int(np.ceil((b - a) / step))))[:-1]
        for a, b in pairwise(breaks)
    ]
    return np.append(np.concatenate(pieces), breaks[-1])


def normal_density(x, mu=0.0, sigma=1.0):
    """The density of N(mu, sigma^2)."""
    return np.exp(-(((x - mu) / sigma) ** 2) / 2) / (sigma * np.sqrt(2 * np.pi))


def normal_feature(xi, mu, sigma, nu, lo, hi) -> SimpleNamespace:
    """A normal feature on a grid: nodes x, their probability, weight and indicator of [lo, hi)."""
    reach = 9 * sigma
    left, right = min(mu, xi) - reach, max(mu, xi) + reach
    edges = [e for e in (lo, hi) if left < e < right]
    x, dx = panels(refined(np.array([left, *edges, right]), 1.5 * min(sigma, nu)))
    prob = dx * normal_density(x, mu, sigma)
    return feature(x, prob, np.exp(-(((x - xi) / nu) ** 2) / 2), (x >= lo) & (x < hi))


def feature(x, prob, weight, inside) -> SimpleNamespace:
    """A feature on a grid, without the nodes that add nothing to any sum."""
    counts = prob * weight > 1e-18 * np.max(prob * weight)
    x, prob, weight, inside = (np.asarray(v)[counts] for v in (x, prob, weight, inside))
    return SimpleNamespace(x=x, prob=prob, weight=weight, z=inside.astype(float))


def lime(f: Callable, features: list, times: Callable | None = None, penalty: float = 0.0):
    """Weighted least squares on the tensor grid: Sigma, Gamma, C and beta = (beta_0, ..., beta_d).

    ``f`` takes the features as d arrays. ``times(*x)`` multiplies the weight, to make it no longer a
    product or the features no longer independent. ``penalty`` is ridge's, per unit of probability,
    on all but the intercept.
    """
    x, z = (_tensor(features, name) for name in ("x", "z"))
    prob, weight = (np.prod(_tensor(features, name), axis=0) for name in ("prob", "weight"))
    weight = weight if times is None else weight * times(*x)
    Z = np.stack([np.ones_like(prob), *z])
    y = f(*x)
    Sigma = (Z * prob * weight) @ Z.T
    Gamma = Z @ (prob * weight * y)
    ridge = penalty * np.diag([0.0] + [1.0] * len(features))
    beta = np.linalg.lstsq(Sigma + ridge, Gamma, rcond=None)[0]
    return SimpleNamespace(
        Sigma=Sigma, Gamma=Gamma, C=Sigma[0, 0], beta=beta, x=x, z=Z, prob=prob, weight=weight, y=y
    )


def _tensor(features: list, name: str) -> list[np.ndarray]:
    parts = [getattr(g, name) for g in features]
    return [v.ravel() for v in np.meshgrid(*parts, indexing="ij")]


def all_masks(d: int) -> np.ndarray:
    """Every setting of d switches, (2^d, d)."""
    return (np.arange(2**d)[:, None] >> np.arange(d)) % 2


def weighted_fit(
    z: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float = 0.0
) -> np.ndarray:
    """Weighted least squares on switches, with an intercept that ridge leaves alone."""
    Z = np.column_stack([np.ones(len(z)), z])
    gram = Z.T @ (weight[:, None] * Z) + ridge * np.diag([0.0] + [1.0] * z.shape[1])
    return np.linalg.lstsq(gram, Z.T @ (weight * y), rcond=1e-11)[0]


def given(g: SimpleNamespace, values: np.ndarray, z: int) -> float:
    """E~[values | z], one feature on its grid."""
    mass = g.prob * g.weight * (g.z == z)
    return float(np.sum(mass * values) / np.sum(mass))
