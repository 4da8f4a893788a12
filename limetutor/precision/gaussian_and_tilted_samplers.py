"""Samplers beside Algorithm 1's: from the Gaussian directly, and from the tilted law.

Chapters: sampling, how many samples.
"""

from collections.abc import Callable

import numpy as np

from ..core.boxes import Boxes
from ..core.inverse_transform import chunks
from ..core.kernels import KERNELS, product_kernels
from ..core.problem import Problem
from ..core.sampler import SAMPLERS, Draws, Sampler, draw_by_inverse_transform, sampler_of


class Normals(Sampler):
    """Values straight from N(mu, sigma^2), which then fall into boxes."""

    name = "gaussian"

    def draw(self, problem: Problem, rng: np.random.Generator, n: int) -> Draws:
        """Draw values, then look up their boxes; labels have no normal law: by frequency."""
        boxes = problem.boxes
        x, z = _normals(problem, boxes.mu, boxes.sigma, rng, n)
        if not np.all(boxes.ordered):
            x[:, ~boxes.ordered] = boxes.law.sample(rng, n)[0][:, ~boxes.ordered]
            z = boxes.inside(x, *boxes.ends_of(problem.box_of_xi))
        return x, z

    def follows(self, boxes: Boxes) -> bool:
        """Only where the law of the world is normal."""
        return boxes.standard is not None


def _normals(
    problem: Problem, mean: np.ndarray, sd: np.ndarray, rng: np.random.Generator, n: int
) -> Draws:
    """n draws from independent normals, and whether they lie in the box of xi."""
    x, z = np.empty((n, problem.d)), np.empty((n, problem.d), bool)
    ends = problem.boxes.ends_of(problem.box_of_xi)
    for rows in chunks(n, problem.d):
        rng.standard_normal(out=x[rows])
        x[rows] *= sd
        x[rows] += mean
        z[rows] = problem.boxes.inside(x[rows], *ends)
    return x, z


class Tilted(Sampler):
    """From the tilted law, with equal weights.

    The same limit as weighting, with every sample counting in full (the idea of GLIME, Tan et al.
    2023). Only product kernels have a tilted law that can be drawn coordinate by coordinate.
    """

    name = "tilted"
    weighted = False

    def draw(self, problem: Problem, rng: np.random.Generator, n: int) -> Draws:
        """Draw from the law that contains the kernel already."""
        tilt = problem.tilt
        if tilt.normal:
            return _normals(problem, tilt.mu_tilde, tilt.sigma_tilde, rng, n)
        return draw_by_inverse_transform(tilt.views.law, problem, rng, n)

    def log_weights(self, problem: Problem, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Log C for all: the mean weight, so that sums are those of weighted samples."""
        return np.full(len(x), problem.tilt.log_C)

    def check(self, problem: Problem) -> None:
        """Refuse kernels without a tilt."""
        if problem.product is None:
            names = " or ".join(repr(name) for name in product_kernels())
            raise ValueError(
                f"sampler={self.name!r} needs a kernel that factors over the coordinates, {names}, "
                f"got {problem.kernel.name!r}."
            )


SAMPLERS.update({sampler.name: sampler for sampler in (Normals(), Tilted())})


def sampler(name: str, boxes: Boxes, xi: np.ndarray) -> Callable[..., Draws]:
    """The draws of a weighted sampler for one instance, as a function of (rng, n)."""
    chosen = sampler_of(name)
    problem = Problem(None, np.asarray(xi, float), None, boxes, 1.0, KERNELS["gaussian"])  # type: ignore[arg-type]
    return lambda rng, n: chosen.draw(problem, rng, n)
