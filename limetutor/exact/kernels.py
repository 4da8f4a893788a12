"""The Laplace kernel, outside the paper and `lime`, whose tilted law is exact too; the cosine kernel.

On either side of xi the Laplace kernel turns a truncated normal into one that is moved towards xi.
`lime` weighs texts and images by the cosine kernel, which has no tilted law. Chapters: weights, text.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.kernels import Kernel, ProductKernel, register
from ..core.truncated import LOG_SQRT_2PI, BoxLaw, normal_box

PARTS = ("log_prob", "mean", "sd", "lo", "hi")  # of a law, one entry per part


class CosineKernel(Kernel):
    """pi = exp(-D^2 / 2nu^2), D = 1 - sqrt(sum z / d) the cosine distance from z to (1, ..., 1).

    What `lime` uses for text and images. It does not factor over the coordinates.
    """

    name = "cosine"

    def log_weights(self, x, z, xi, nu, boxes):
        """-D^2 / 2nu^2."""
        return -0.5 * ((1 - np.sqrt(z.mean(axis=1))) / nu) ** 2


class LaplaceKernel(ProductKernel):
    """``pi = exp(-sum_j |x_j - xi_j| / nu)``: sharper at xi, with heavier tails."""

    name = "laplace"
    measures_x = True
    MIN_BANDWIDTH = 1e-5  # in deviations of a box; below it a double loses the shifted normal

    def log_factors(self, x: np.ndarray, xi: np.ndarray, nu: ArrayLike) -> np.ndarray:
        """``-|x_j - xi_j| / nu``."""
        return -np.abs(x - xi) / nu

    def mismatch(self, nu: Any) -> Any:
        """A label that differs is at distance 1."""
        return -1.0 / nu

    def square(self, nu: Any) -> Any:
        """nu / 2."""
        return nu / 2

    def unweighted(self, law: BoxLaw) -> BoxLaw:
        """The same law with an empty part behind the others."""
        space = (*law.mean.shape[:-1], 1)
        fillers = zip(PARTS, (-np.inf, 0.0, 1.0, -1.0, 1.0), strict=True)
        extended = [
            np.concatenate([getattr(law, name), np.full(space, filler)], axis=-1)
            for name, filler in fillers
        ]
        return BoxLaw(*extended)

    def tilt_numbers(
        self, law: BoxLaw, box_of_xi: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """On either side of xi a truncated normal becomes one moved towards xi.

        The boxes below and above xi's own lie on one side; its own is cut at xi into two parts,
        the right one behind all others.
        """
        xi, nu, own_box = xi[..., None], nu[..., None], box_of_xi[..., None]
        if np.any(nu < self.MIN_BANDWIDTH * law.sd):
            raise ValueError(
                f"nu must be at least {self.MIN_BANDWIDTH:g} standard deviations of every box for the "
                f"laplace kernel, got {float(np.min(nu)):g}."
            )
        parts = np.arange(law.mean.shape[-1])
        shape = np.broadcast_shapes(own_box.shape, (*law.mean.shape[:-1], 1))
        position, shape = np.broadcast_to(own_box, shape), (*shape[:-1], len(parts))
        broadcast = (np.broadcast_to(getattr(law, name), shape) for name in PARTS)
        cut = BoxLaw(*(np.take_along_axis(part, position, -1) for part in broadcast))
        side = np.where(parts > own_box, 1.0, -1.0)
        mean, log_weight = weighted_by_exponential(law, xi, nu, side)
        right_mean, right_weight = weighted_by_exponential(cut, xi, nu, np.ones(position.shape))
        right_weight = np.where(cut.sd == 0, -np.inf, right_weight)  # a point is counted once
        whole = (parts != own_box) | (law.sd == 0)
        hi = np.where(whole, law.hi, np.clip(xi, law.lo, law.hi))
        right_lo = np.where(cut.sd == 0, cut.lo, np.clip(xi, cut.lo, cut.hi))
        left = (law.log_prob, mean, law.sd, law.lo, hi)
        right = (cut.log_prob, right_mean, cut.sd, right_lo, cut.hi)
        shape = np.broadcast_shapes(mean.shape, whole.shape)
        joined = {
            name: np.concatenate(
                [np.broadcast_to(a, shape), np.broadcast_to(b, position.shape)], -1
            )
            for name, a, b in zip(PARTS, left, right, strict=True)
        }
        # at an end of its box xi leaves one of its two sides no width: a point that is never drawn
        flat = (joined["lo"] == joined["hi"]) & (joined["sd"] > 0)
        joined["mean"] = np.where(flat, joined["lo"], joined["mean"])
        joined["sd"] = np.where(flat, 0.0, joined["sd"])
        box = np.concatenate([np.broadcast_to(parts, shape), position], -1)
        return BoxLaw(**joined, box=box), np.concatenate([log_weight, right_weight], -1)


def weighted_by_exponential(
    law: BoxLaw, xi: np.ndarray, nu: ArrayLike, side: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each part, cut off at xi, under exp(-side (x - xi) / nu): mean, log E[weight; that side].

    ``side`` is +1 where the part to the right of xi is meant and -1 for the left. A normal
    keeps its deviation s and moves by -side s^2 / nu. With a the end nearer to xi, in units of
    s seen from the mean, and r = s / nu, the mean weight is exp(-|a - xi| / nu) times

        integral of phi(u) exp(-r (u - a)) = phi(a) M, M = mass beyond a + r over phi(a + r),

    divided by the mass of the whole part: nothing overflows, however small nu is. A single
    point has its weight on either side.
    """
    near = side * np.where(side > 0, np.maximum(law.lo, xi), np.minimum(law.hi, xi))
    far = side * np.where(side > 0, np.maximum(law.hi, xi), np.minimum(law.lo, xi))
    point = law.sd == 0
    sd = np.where(point, 1.0, law.sd)
    a, b, rate = (near - side * law.mean) / sd, (far - side * law.mean) / sd, sd / nu
    reached = b > a
    box = normal_box(a + rate, np.where(reached, b, a + 1) + rate)
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = -0.5 * a**2 - LOG_SQRT_2PI + box.log_ratio
        around = rate * a + rate**2 / 2 + box.log_inside
        inner = np.where(a + rate > 0, beyond, around) - law.log_interval_mass()
    log_weight = np.where(reached, inner - (near - side * xi) / nu, -np.inf)
    log_weight = np.where(point, -np.abs(law.mean - xi) / nu, log_weight)
    return law.mean - np.where(point, 0.0, side * law.sd**2 / nu), log_weight


register(CosineKernel())
register(LaplaceKernel(), before="mismatch")
