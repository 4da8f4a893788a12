"""Weights: how much a new example counts, given where it lies.

Weights are kept as logarithms: in thirty dimensions with a narrow bandwidth every one of them
underflows, and only their ratios matter. Chapter: weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg
from .worlds import Boxes

LogWeights = Callable[[np.ndarray, np.ndarray], np.ndarray]

KERNELS = ("gaussian", "mismatch", "cosine")
PRODUCT_KERNELS = ("gaussian", "mismatch")  # weights that factor over the coordinates


def gaussian(x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes) -> np.ndarray:
    """Log pi = -||x - xi||^2 / 2nu^2 (paper, Eq. def-weights).

    A categorical coordinate counts 1 where it differs and 0 where it agrees: its values are
    labels, and a difference of labels means nothing.
    """
    square = (x - xi) ** 2
    if np.any(boxes.categorical):
        square[:, boxes.categorical] = ~z[:, boxes.categorical]
    return -square.sum(axis=1) / (2 * nu**2)


def mismatch(x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes) -> np.ndarray:
    """Log pi = -(number of coordinates in another box) / 2nu^2: the default of `lime`.

    `lime` writes sqrt(exp(-D^2 / nu^2)) with D the Euclidean distance between z and (1, ..., 1).
    """
    return -(~z).sum(axis=1) / (2 * nu**2)


def cosine(x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes) -> np.ndarray:
    """Log pi = -D^2 / 2nu^2, D = 1 - sqrt(sum z / d) the cosine distance from z to (1, ..., 1).

    What `lime` uses for text and images. It does not factor over the coordinates.
    """
    return -((1 - np.sqrt(z.mean(axis=1))) ** 2) / (2 * nu**2)


_NAMED = {"gaussian": gaussian, "mismatch": mismatch, "cosine": cosine}


def log_weights(kernel: Any, xi: np.ndarray, nu: float, boxes: Boxes) -> LogWeights:
    """The kernel as a function of (x, z) alone; a callable gets (x, z, xi, nu), returns weights."""
    if not callable(kernel):
        named = _NAMED[arg.one_of("kernel", kernel, KERNELS)]
        return lambda x, z: named(x, z, xi, nu, boxes)

    def own(x: np.ndarray, z: np.ndarray) -> np.ndarray:
        weights = arg.numbers("kernel's weights", kernel(x, z, xi, nu))
        if weights.shape != (len(x),) or np.any(weights < 0):
            raise ValueError(
                f"kernel must return {len(x)} weights of 0 or above, one per row, got shape "
                f"{weights.shape} with least value {weights.min(initial=0):g}."
            )
        with np.errstate(divide="ignore"):
            return np.log(weights)

    return own
