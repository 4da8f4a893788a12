"""The covariance of the weighted indicators: an explicit matrix with an explicit inverse.

Sigma / C has 1 in its corner, alpha_j beside and on the diagonal, alpha_j alpha_k elsewhere. Its
inverse is an arrowhead: one full row and column, and a diagonal. Chapter: covariance.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..inputs import arguments as arg


def covariance(alpha: ArrayLike) -> np.ndarray:
    """Sigma / C for box probabilities alpha (paper, Lemma 8.1; Section 5)."""
    alpha = probabilities(alpha)
    first = np.concatenate([[1.0], alpha])
    result = np.outer(first, first)
    np.fill_diagonal(result, first)
    return result


def inverse_covariance(alpha: ArrayLike, rest: ArrayLike | None = None) -> np.ndarray:
    """C Sigma^-1 (paper, Lemma 8.2); ``rest`` is 1 - alpha if known better.

    Corner 1 + sum alpha_j/(1-alpha_j), beside it -1/(1-alpha_j), diagonal 1/(alpha_j(1-alpha_j)).
    """
    alpha = invertible(alpha) if rest is None else probabilities(alpha)
    rest = 1 - alpha if rest is None else np.asarray(rest, float)
    result = np.diag(np.concatenate([[1 + np.sum(alpha / rest)], 1 / alpha / rest]))
    result[0, 1:] = result[1:, 0] = -1 / rest
    return result


def invertible(alpha: ArrayLike) -> np.ndarray:
    """Box probabilities, refused where the covariance has no inverse."""
    alpha = probabilities(alpha)
    if np.any((alpha == 0) | (alpha == 1)):
        raise ValueError(
            "alpha must lie strictly between 0 and 1 for the inverse to exist, "
            f"got {arg.shorten(alpha)}."
        )
    return alpha


def probabilities(alpha: ArrayLike) -> np.ndarray:
    """Box probabilities, checked."""
    alpha = arg.vector("alpha", alpha)
    if np.any((alpha < 0) | (alpha > 1)):
        raise ValueError(f"alpha must lie between 0 and 1, got {arg.shorten(alpha)}.")
    return alpha
