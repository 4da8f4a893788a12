"""Explanations with their samples, and the same fits and standard errors by textbook formulas."""

import numpy as np

import limetutor as lt


def bent(x):
    """Not linear, with interactions: residuals that depend on z."""
    return np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(0.5 * x[:, 3])


BENT_XI = np.array([0.4, -0.3, 1.2, 0.8])


def kept(**options):
    """An explanation of `bent` with its samples."""
    return lt.explain(bent, BENT_XI, lt.Gaussian(), 0.9, **{"seed": 0, "keep": True} | options)


def design(e, columns=slice(None)):
    return np.column_stack([np.ones(e.n), e.z[:, columns]])


def sandwich_by_hand(e, penalty=0.0):
    """inv(A) (sum w^2 s^2 z z') inv(A), A = sum w z z' + penalty, with the whole hat matrix H.

    s^2 = r^2 / ((1 - h) ||row of 1 - H||), raised by h^2 of what it lacks of the pooled noise.
    """
    Z, w, n = design(e), e.weights, e.n
    plain = np.linalg.inv((Z * w[:, None]).T @ Z)
    residual, kept_share, size = np.empty((3, n))
    for rows in np.array_split(np.arange(n), 1 + n // 500):
        rest = -Z[rows] @ plain @ (Z * w[:, None]).T
        rest[np.arange(len(rows)), rows] += 1
        residual[rows], size[rows] = rest @ e.y, np.sum(rest**2, axis=1)
        kept_share[rows] = rest[np.arange(len(rows)), rows]
    s2 = residual**2 / (kept_share * np.sqrt(size))
    pooled = np.sum((w * residual) ** 2) / np.sum(w**2 * size)
    s2 += (1 - kept_share) ** 2 * np.maximum(pooled - s2, 0)
    bread = np.linalg.inv((Z * w[:, None]).T @ Z + penalty * np.diag([0.0] + [1.0] * e.coef.size))
    return bread @ (Z.T * (w**2 * s2)) @ Z @ bread


def batch(n, d, spread=1.0, seed=0):
    """Indicators, a response with residuals that depend on them, weights that differ."""
    rng = np.random.default_rng(seed)
    z = rng.random((n, d)) < np.linspace(0.15, 0.6, d)
    y = z @ np.linspace(-1, 2, d) + (0.3 + z[:, 0]) * rng.normal(size=n)
    return z, y, -spread * rng.random(n) - spread * z[:, 1]
