"""How far boxes estimated from n values lie from the true ones. Chapter: sampling."""

import numpy as np

from ..core.boxes import standard_quantiles


def edge_stderr(p: int, n: int) -> np.ndarray:
    """Standard errors of the p - 1 inner edges when they are estimated from n values of N(0, 1).

    What the paper shows in Figure 3:
    sqrt(q (1 - q) / n) / phi(edge) with q = k/p, for large n; times sigma for N(mu, sigma^2).
    (van der Vaart 2000, Corollary 21.5.) Chapter: sampling.
    """
    q = np.arange(1, p) / p
    phi = np.exp(-(standard_quantiles(p)[1:-1] ** 2) / 2) / np.sqrt(2 * np.pi)
    return np.sqrt(q * (1 - q) / n) / phi


def misplaced_share(p: int, n: int) -> float:
    """Chance that a new value falls into another box when the edges are estimated from n values.

    It does where it lies between an edge and its estimate, which has probability phi(edge) times
    their distance; with E|error| = sqrt(2/pi) stderr the density cancels:
    sqrt(2 / (pi n)) sum_k sqrt(q_k (1 - q_k)), whatever the (continuous) distribution. For large n.
    Chapter: sampling.
    """
    q = np.arange(1, p) / p
    return float(np.sqrt(2 / (np.pi * n)) * np.sum(np.sqrt(q * (1 - q))))
