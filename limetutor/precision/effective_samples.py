"""The effective sample size as n grows; that of a run is ``Sums.ess``. Chapter: weights."""

from typing import Any

import numpy as np

from ..core.boxes import World
from ..core.kernels import ProductKernel
from ..core.problem import Problem
from ..core.tilted_law import Tilt
from ..inputs import arguments as arg


def effective_sample_size(xi: Any, world: World, nu: float, n: int, kernel: Any = None) -> float:
    """n C(nu)^2 / E[pi^2], the number of unweighted samples with the precision of n weighted ones.

    The limit of (sum pi)^2 / sum pi^2. pi^2 is the same kernel at another bandwidth, nu / sqrt 2
    for the Gaussian one. Chapters: weights, how many samples.
    """
    problem = Problem.of(None, xi, world, nu, kernel, purpose="its effective sample size")
    return arg.whole("n", n, 1) * float(np.exp(log_share(problem)))


def log_share(problem: Problem) -> float:
    """Log of the effective sample size of one weighted sample; at most 0, also with rounding errors."""
    return min(2 * problem.tilt.log_C - squared_kernel_tilt(problem).log_C, 0.0)


def squared_kernel_tilt(problem: Problem) -> Tilt:
    """The tilted law of the squared kernel."""
    assert isinstance(problem.kernel, ProductKernel)
    return problem.at(nu=problem.kernel.square(problem.nu)).tilt
