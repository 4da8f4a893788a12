"""Weights: how much a new example counts, given where it lies.

A kernel is an object that knows its log weight (in thirty dimensions with a narrow bandwidth every
weight underflows, and only ratios matter). One whose weight is a product over the coordinates,
pi(x) = prod_j w_j(x_j), is a :class:`ProductKernel` and knows two things more: what it makes of the
law of a coordinate (its *tilt*, on which the theory stands) and at which bandwidth it is its own
square. A kernel without a tilt is refused where one is needed. To add a kernel: write a class, list
it in ``KERNELS``. Chapter: weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import arguments as arg
from .laws import BoxLaw
from .quantiles import chunks
from .theory import (
    Tilt,
    Views,
    critical_bandwidth,
    gaussian_tilt,
    parts_sides,
    parts_tilt,
    weighted_parts,
)
from .worlds import Boxes, World

FARTHEST = 1e10  # standard deviations: beyond, a double holds distances to less than six digits


class Kernel:
    """A weight; ``name`` is what callers pass and what explanations print."""

    name: str
    measures_x = False  # distances are in the units of x, so that features should be on one scale

    def log_weights(
        self, x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes
    ) -> np.ndarray:
        """Log weights (n,) of samples x (n, d) with indicators z (n, d)."""
        raise NotImplementedError


class ProductKernel(Kernel):
    """A weight that factors over the coordinates: it has a tilt."""

    moves_gaps = True  # whether the contrast of a linear model depends on the bandwidth

    def mismatch(self, nu: Any) -> Any:
        """Log weight of a label that differs from xi's (labels agree or differ, no more)."""
        raise NotImplementedError

    def log_factors(self, x: np.ndarray, xi: np.ndarray, nu: ArrayLike) -> np.ndarray:
        """Log w_j(x_j) of numbers, entry by entry."""
        raise NotImplementedError

    def tilt_numbers(
        self, law: BoxLaw, own: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """The parts that weighted numbers follow, and log E[w_j; part] beside each one's log_prob.

        xi, own and nu have shape (d,) or (rows, d); the parts (d, K) or (rows, d, K).
        """
        raise NotImplementedError

    def square(self, nu: Any) -> Any:
        """The bandwidth at which the kernel is the square of itself at nu."""
        raise NotImplementedError

    def without_boxes(self) -> ProductKernel:
        """The same rule where the surrogate sees numbers instead of boxes."""
        raise ValueError(
            f"kernel must be 'gaussian' in a world without boxes, got {self.name!r}: `lime` weighs "
            "by the distance in scaled units there."
        )

    def tilt_normal(
        self, xi: np.ndarray, nu: np.ndarray, boxes: Boxes, own: np.ndarray
    ) -> Tilt | None:
        """The tilt of whole normals in closed form, for worlds that have ``boxes.standard``."""
        return None

    def critical_nu(self, xi: np.ndarray, boxes: Boxes) -> np.ndarray:
        """The bandwidth that switches each feature of a linear model off, nan where unknown."""
        return np.full(np.shape(xi), np.nan)

    def log_weights(
        self, x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes
    ) -> np.ndarray:
        """Numbers by their distance, labels by whether they agree."""
        self._refuse_far(boxes, xi)
        numbers, width = boxes.ordered, nu * np.asarray(boxes.unit)
        every, total = bool(np.all(numbers)), np.empty(len(x))
        if not every and width.ndim:
            width = width[numbers]
        with np.errstate(over="ignore"):
            for rows in chunks(*x.shape):
                here, at = (x[rows], xi) if every else (x[rows][:, numbers], xi[numbers])
                np.sum(self.log_factors(here, at, width), axis=1, out=total[rows])
        if every:
            return total
        differ = (~z[:, ~numbers]).sum(axis=1)
        with np.errstate(invalid="ignore"):  # a weight may be 0, and none of them differ
            return total + np.where(differ > 0, differ * self.mismatch(nu), 0.0)

    def tilt(self, boxes: Boxes, xi: np.ndarray, nu: ArrayLike) -> Tilt:
        """The tilted law of a world seen from xi, (d,) or (rows, d); nu broadcasts against xi."""
        self._refuse_far(boxes, xi)
        own = boxes.discretize(xi)
        nu = np.broadcast_to(np.asarray(nu, float), np.shape(xi))
        closed = None if boxes.standard is None else self.tilt_normal(xi, nu, boxes, own)
        if closed is None:
            law, log_weight = self.tilt_parts(boxes, own, xi, nu)
            found = parts_tilt(law, log_weight, own, xi)
        else:
            found = replace(closed, make_views=lambda: self._views(boxes, own, xi, nu))
        _refuse_empty(boxes, own, found.log_alpha)
        return found

    def sides(self, boxes: Boxes, xi: np.ndarray, nu: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """E~[x_j | z_j = 1] and E~[x_j | z_j = 0], less a constant: their difference is the gap.

        The weights of numbers are log-concave in x - xi, so that both means rise with xi_j as long
        as it stays in its box.
        """
        own = boxes.discretize(xi)
        nu = np.broadcast_to(np.asarray(nu, float), np.shape(xi))
        closed = None if boxes.standard is None else self.tilt_normal(xi, nu, boxes, own)
        if closed is not None:
            inside = (xi - boxes.mu) + closed.inside
            return inside, inside - closed.gap
        law, log_weight = self.tilt_parts(boxes, own, xi, nu)
        return parts_sides(law, log_weight, own)

    def _refuse_far(self, boxes: Boxes, xi: np.ndarray) -> None:
        """From too far away a double cannot tell by how much two values differ in their distance."""
        if not self.measures_x:
            return
        away = np.abs(xi - boxes.mu) > FARTHEST * boxes.sigma
        for *row, j in np.argwhere(away & boxes.ordered & (boxes.sigma > 0)):
            raise ValueError(
                f"xi must lie within {FARTHEST:g} standard deviations of the mean of "
                f"{boxes.names[j]!r} for kernel={self.name!r}, which measures distances, got "
                f"{xi[*row, j]:g} beside a mean of {boxes.mu[j]:g}."
            )

    def _views(self, boxes: Boxes, own: np.ndarray, xi: np.ndarray, nu: np.ndarray) -> Views:
        law, log_weight = self.tilt_parts(boxes, own, xi, nu)
        return weighted_parts(law, log_weight, law.within(own)).views

    def tilt_parts(
        self, boxes: Boxes, own: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """:meth:`tilt_numbers` for worlds that also hold labels."""
        law, log_weight = self.tilt_numbers(boxes.law, own, xi, nu)
        if np.all(boxes.ordered):
            return law, log_weight
        extra = law.mean.shape[-1] - boxes.law.mean.shape[-1]
        plain = _with_empty_parts(boxes.law, extra)
        labels = ~boxes.ordered[:, None]
        by_label = np.where(plain.within(own), 0.0, self.mismatch(nu)[..., None])
        mixed = {
            part: np.where(labels, getattr(plain, part), getattr(law, part))
            for part in ("log_prob", "mean", "sd", "lo", "hi")
        }
        box = None if law.box is None else np.where(labels, plain.boxes, law.box)
        return BoxLaw(**mixed, box=box), np.where(labels, by_label, log_weight)


def _with_empty_parts(law: BoxLaw, extra: int) -> BoxLaw:
    """The same law with parts that never occur behind the others."""
    if extra == 0:
        return law
    fillers = {"log_prob": -np.inf, "mean": 0.0, "sd": 1.0, "lo": -1.0, "hi": 1.0}
    space = (*law.mean.shape[:-1], extra)
    parts = {
        name: np.concatenate([getattr(law, name), np.full(space, filler)], axis=-1)
        for name, filler in fillers.items()
    }
    return BoxLaw(**parts)


class SquareKernel(ProductKernel):
    """A product kernel exp(-D^2 / 2nu^2), in which whatever differs as a label is at distance 1."""

    def mismatch(self, nu: Any) -> Any:
        """A label that differs is at distance 1."""
        return -0.5 / nu**2

    def square(self, nu: Any) -> Any:
        """nu / sqrt 2."""
        return nu / np.sqrt(2)


class GaussianKernel(SquareKernel):
    """pi = exp(-||x - xi||^2 / 2nu^2), the paper's weight (Eq. 2.1, Eq. 7.1)."""

    name = "gaussian"
    measures_x = True

    def without_boxes(self) -> ProductKernel:
        """Itself."""
        return self

    def log_factors(self, x: np.ndarray, xi: np.ndarray, nu: ArrayLike) -> np.ndarray:
        """-(x_j - xi_j)^2 / 2nu^2."""
        return -0.5 * ((x - xi) / nu) ** 2

    def tilt_numbers(
        self, law: BoxLaw, own: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """Each truncated normal becomes another one in the same box."""
        mean, sd, log_weight = law.weighted_by_gaussian(xi[..., None], nu[..., None])
        return replace(law, mean=mean, sd=sd), log_weight

    def tilt_normal(
        self, xi: np.ndarray, nu: np.ndarray, boxes: Boxes, own: np.ndarray
    ) -> Tilt | None:
        """A whole normal becomes a whole normal: the paper's closed forms."""
        return gaussian_tilt(xi, nu, boxes.mu, boxes.sigma, *boxes.standard_ends(own))

    def critical_nu(self, xi: np.ndarray, boxes: Boxes) -> np.ndarray:
        """The paper's formula, in a world of normals."""
        if boxes.standard is None:
            return super().critical_nu(xi, boxes)
        ends = boxes.standard_ends(boxes.discretize(xi))
        return critical_bandwidth(xi, boxes.mu, boxes.sigma, *ends)


class LaplaceKernel(ProductKernel):
    """``pi = exp(-sum_j |x_j - xi_j| / nu)``: sharper at xi, with heavier tails."""

    name = "laplace"
    measures_x = True
    NARROWEST = 1e-5  # in deviations of a box; below it a double loses the shifted normal

    def log_factors(self, x: np.ndarray, xi: np.ndarray, nu: ArrayLike) -> np.ndarray:
        """``-|x_j - xi_j| / nu``."""
        return -np.abs(x - xi) / nu

    def mismatch(self, nu: Any) -> Any:
        """A label that differs is at distance 1."""
        return -1.0 / nu

    def square(self, nu: Any) -> Any:
        """nu / 2."""
        return nu / 2

    def tilt_numbers(
        self, law: BoxLaw, own: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """On either side of xi a truncated normal becomes one moved towards xi.

        The boxes below and above xi's own lie on one side; its own is cut at xi into two parts,
        the right one behind all others.
        """
        xi, nu, own = xi[..., None], nu[..., None], own[..., None]
        if np.any(nu < self.NARROWEST * law.sd):
            raise ValueError(
                f"nu must be at least {self.NARROWEST:g} standard deviations of every box for the "
                f"laplace kernel, got {float(np.min(nu)):g}."
            )
        K = law.mean.shape[-1]
        parts = np.arange(K)
        here = np.broadcast_to(own, np.broadcast_shapes(own.shape, (*law.mean.shape[:-1], 1)))
        cut = _taken(law, here)
        side = np.where(parts > own, 1.0, -1.0)
        mean, log_weight = law.weighted_by_exponential(xi, nu, side)
        right_mean, right_weight = cut.weighted_by_exponential(xi, nu, np.ones(here.shape))
        right_weight = np.where(cut.sd == 0, -np.inf, right_weight)  # a point is counted once
        lo, hi = _cut_at(xi, law, parts == own)
        pieces = {
            "log_prob": (law.log_prob, cut.log_prob),
            "mean": (mean, right_mean),
            "sd": (law.sd, cut.sd),
            "lo": (lo, np.where(cut.sd == 0, cut.lo, np.clip(xi, cut.lo, cut.hi))),
            "hi": (hi, cut.hi),
        }
        shape = np.broadcast_shapes(mean.shape, lo.shape)
        joined = {
            name: np.concatenate([np.broadcast_to(a, shape), np.broadcast_to(b, here.shape)], -1)
            for name, (a, b) in pieces.items()
        }
        # at an end of its box xi leaves one of its two sides no width: a point that is never drawn
        flat = (joined["lo"] == joined["hi"]) & (joined["sd"] > 0)
        joined["mean"] = np.where(flat, joined["lo"], joined["mean"])
        joined["sd"] = np.where(flat, 0.0, joined["sd"])
        box = np.concatenate([np.broadcast_to(parts, shape), here], -1)
        return BoxLaw(**joined, box=box), np.concatenate([log_weight, right_weight], -1)


def _taken(law: BoxLaw, where: np.ndarray) -> BoxLaw:
    """The parts at positions ``where`` (…, d, 1), as a law of one part."""
    names = ("log_prob", "mean", "sd", "lo", "hi")
    shape = (*where.shape[:-1], law.mean.shape[-1])
    return BoxLaw(
        *(np.take_along_axis(np.broadcast_to(getattr(law, n), shape), where, -1) for n in names)
    )


def _cut_at(xi: np.ndarray, law: BoxLaw, mine: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of all parts, xi's own cut off at xi from above."""
    whole = ~mine | (law.sd == 0)
    return np.broadcast_to(law.lo, whole.shape), np.where(
        whole, law.hi, np.clip(xi, law.lo, law.hi)
    )


class MismatchKernel(SquareKernel):
    """pi = exp(-(number of coordinates in another box) / 2nu^2): the default of `lime`.

    `lime` writes sqrt(exp(-D^2 / nu^2)) with D the Euclidean distance between z and (1, ..., 1).
    """

    name = "mismatch"
    moves_gaps = False

    def without_boxes(self) -> ProductKernel:
        """`lime` takes the distance of what the surrogate sees: without boxes, of scaled numbers."""
        return GaussianKernel()

    def log_weights(
        self, x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes
    ) -> np.ndarray:
        """Numbers count like labels: by their box."""
        ones = np.ones(
            z.shape[1], np.float32
        )  # a product counts short rows faster than a sum, exactly
        return (z.shape[1] - z.astype(np.float32) @ ones).astype(float) * self.mismatch(nu)

    def tilt_numbers(
        self, law: BoxLaw, own: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """xi's own box is drawn more often, and that is all."""
        return law, np.where(law.within(own), 0.0, self.mismatch(nu)[..., None])


class CosineKernel(Kernel):
    """pi = exp(-D^2 / 2nu^2), D = 1 - sqrt(sum z / d) the cosine distance from z to (1, ..., 1).

    What `lime` uses for text and images. It does not factor over the coordinates.
    """

    name = "cosine"

    def log_weights(
        self, x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes
    ) -> np.ndarray:
        """-D^2 / 2nu^2."""
        return -0.5 * ((1 - np.sqrt(z.mean(axis=1))) / nu) ** 2


@dataclass(frozen=True, eq=False)
class OwnKernel(Kernel):
    """A caller's function of (x, z, xi, nu) that returns weights."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:  # type: ignore[override]
        """What the function is called."""
        return str(getattr(self.function, "__name__", getattr(self.function, "what", "own")))

    def log_weights(
        self, x: np.ndarray, z: np.ndarray, xi: np.ndarray, nu: float, boxes: Boxes
    ) -> np.ndarray:
        """Logs of what the function returns; it gets copies, so that it cannot move the samples."""
        given = (x.copy(), z.copy(), xi.copy(), nu)
        found = arg.called("kernel", self.function, "four arguments, (x, z, xi, nu)", *given)
        weights = arg.numbers("kernel's weights", found)
        if weights.shape != (len(x),) or np.any(weights < 0):
            raise ValueError(
                f"kernel must return {len(x)} weights of 0 or above, one per row, got shape "
                f"{weights.shape} with least value {weights.min(initial=0):g}."
            )
        with np.errstate(divide="ignore"):
            return np.log(weights)


# every kernel that callers can ask for by name
KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (GaussianKernel(), LaplaceKernel(), MismatchKernel(), CosineKernel())
}
PRODUCT_KERNELS = tuple(name for name, k in KERNELS.items() if isinstance(k, ProductKernel))


def kernel_of(kernel: Any) -> Kernel:
    """The kernel that was asked for: by name, as an object, or as a function."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return OwnKernel(kernel)
    return KERNELS[arg.one_of("kernel", kernel, tuple(KERNELS))]


def product_kernel(kernel: Any, purpose: str) -> ProductKernel:
    """The kernel that was asked for, refused where it has no tilt."""
    if not isinstance(kernel, Kernel) and not callable(kernel):
        arg.one_of("kernel", kernel, tuple(KERNELS))
    found = kernel_of(kernel)
    if not isinstance(found, ProductKernel):
        names = ", ".join(repr(name) for name in PRODUCT_KERNELS)
        raise ValueError(
            f"kernel must be one of {names}, which factor over the coordinates, for {purpose}, "
            f"got {found.name!r}."
        )
    return found


def tilt(world: World, xi: ArrayLike, nu: ArrayLike, kernel: Any = "gaussian") -> Tilt:
    """The tilted law of a world seen from xi, (d,) or (rows, d), for a product kernel."""
    xi = np.asarray(xi, float)
    return product_kernel(kernel, "its tilted law").tilt(world.boxes(xi.shape[-1]), xi, nu)


def _refuse_empty(boxes: Boxes, own: np.ndarray, log_alpha: np.ndarray) -> None:
    for *row, j in np.argwhere(np.isneginf(log_alpha)):
        raise ValueError(
            f"xi must lie in a box that holds training values, but no row has "
            f"{boxes.describe(j, own[*row, j])}."
        )
