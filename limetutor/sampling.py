"""New examples: boxes first as in Algorithm 1, from the Gaussian directly, or from the tilted law.

A sampler is a function of (rng, n) that returns the values x (n, d), the indicators z (n, d) and,
if the weights are already in the law, their constant logarithm. Chapter: sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg
from .kernels import PRODUCT_KERNELS
from .theory import tilted_law
from .worlds import Boxes

SAMPLERS = ("bins", "gaussian", "tilted")

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def sampler(name: str, boxes: Boxes, xi: np.ndarray) -> Draw:
    """The sampler of that name for samples that are weighted afterwards."""
    own = boxes.discretize(xi[None])[0]

    def bins(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x, drawn = boxes.law.sample(rng, n)
        return x, drawn == own

    def gaussian(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = boxes.mu + boxes.sigma * rng.standard_normal((n, boxes.d))
        if np.any(boxes.categorical):  # labels have no normal law: draw them by frequency
            x[:, boxes.categorical] = boxes.law.sample(rng, n)[0][:, boxes.categorical]
        return x, boxes.discretize(x) == own

    return {"bins": bins, "gaussian": gaussian}[name]


def tilted_sampler(boxes: Boxes, xi: np.ndarray, nu: float, kernel: Any) -> tuple[Draw, float]:
    """Samples from the tilted law, and log C, the weight each of them stands for.

    The same limit as weighting, with every sample counting in full (the idea of GLIME, Tan et al.
    2023). Only product kernels have a tilted law that can be drawn coordinate by coordinate.
    """
    if callable(kernel) or kernel not in PRODUCT_KERNELS:
        raise ValueError(
            "sampler='tilted' needs a kernel that factors over the coordinates, "
            f"'gaussian' or 'mismatch', got {arg.shorten(kernel)}."
        )
    law, log_mass = tilted_law(boxes, xi, nu, kernel)
    own = boxes.discretize(xi[None])[0]

    def tilted(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        x, drawn = law.sample(rng, n)
        return x, drawn == own

    return tilted, float(log_mass.sum())
