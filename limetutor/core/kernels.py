"""Kernels: how much a sample counts, given where it lies.

A kernel knows its log weight (in thirty dimensions every weight underflows, and only ratios matter).
One whose weight is a product over the coordinates, pi(x) = prod_j w_j(x_j), is a :class:`ProductKernel`
and also knows what it makes of the law of a coordinate: its *tilt*, on which the theory stands. A
kernel without a tilt is refused where one is needed. Chapter: weights.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..inputs import arguments as arg
from .boxes import Boxes
from .inverse_transform import chunks
from .tilted_law import ConditionalLaws, Tilt, gaussian_tilt, parts_tilt
from .truncated import BoxLaw

MAX_DISTANCE = 1e10  # in standard deviations; beyond, a double holds it to less than six digits


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
        self, law: BoxLaw, box_of_xi: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """The parts that weighted numbers follow, and log E[w_j; part] beside each one's log_prob.

        xi, box_of_xi and nu have shape (d,) or (rows, d); the parts (d, K) or (rows, d, K).
        """
        raise NotImplementedError

    def unweighted(self, law: BoxLaw) -> BoxLaw:
        """A law in the parts that :meth:`tilt_numbers` gives, without any weight."""
        return law

    def square(self, nu: Any) -> Any:
        """The bandwidth at which the kernel is the square of itself at nu."""
        raise NotImplementedError

    def tilt_normal(
        self, xi: np.ndarray, nu: np.ndarray, boxes: Boxes, box_of_xi: np.ndarray
    ) -> Tilt | None:
        """The tilt of whole normals in closed form, for worlds that have ``boxes.standard``."""
        return None

    def log_weights(self, x, z, xi, nu, boxes):
        """Numbers by their distance, labels by whether they agree."""
        self._refuse_far(boxes, xi)
        numbers, width = boxes.ordered, nu * np.asarray(boxes.unit)
        all_numbers, total = bool(np.all(numbers)), np.empty(len(x))
        if not all_numbers:
            xi, width = xi[numbers], width[numbers] if width.ndim else width
        with np.errstate(over="ignore"):
            for rows in chunks(*x.shape):
                values = x[rows] if all_numbers else x[rows][:, numbers]
                np.sum(self.log_factors(values, xi, width), axis=1, out=total[rows])
        if all_numbers:
            return total
        differ = (~z[:, ~numbers]).sum(axis=1)
        with np.errstate(invalid="ignore"):  # a weight may be 0, and none of them differ
            return total + np.where(differ > 0, differ * self.mismatch(nu), 0.0)

    def tilt(self, boxes: Boxes, xi: np.ndarray, nu: ArrayLike) -> Tilt:
        """The tilted law of a world seen from xi, (d,) or (rows, d); nu broadcasts against xi."""
        self._refuse_far(boxes, xi)
        box_of_xi = boxes.discretize(xi)
        nu = np.broadcast_to(np.asarray(nu, float), np.shape(xi))
        tilt = None if boxes.standard is None else self.tilt_normal(xi, nu, boxes, box_of_xi)
        if tilt is None:
            tilt = parts_tilt(*self.tilt_parts(boxes, box_of_xi, xi, nu), box_of_xi, xi)
        else:
            parts = (boxes, box_of_xi, xi, nu)
            views = lambda: ConditionalLaws.of(*self.tilt_parts(*parts), box_of_xi)  # noqa: E731
            tilt = replace(tilt, make_views=views)
        for *row, j in np.argwhere(np.isneginf(tilt.log_alpha + tilt.log_mass)):
            raise ValueError(
                f"xi must lie in a box that holds training values with a weight above 0 at this nu, but "
                f"none has {boxes.describe(j, box_of_xi[*row, j])}."
            )
        return tilt

    def _refuse_far(self, boxes: Boxes, xi: np.ndarray) -> None:
        """Refuse an instance so far away that a double cannot tell two distances to it apart."""
        if not self.measures_x:
            return
        away = np.abs(xi - boxes.mu) > MAX_DISTANCE * boxes.sigma
        for *row, j in np.argwhere(away & boxes.ordered & (boxes.sigma > 0)):
            raise ValueError(
                f"xi must lie within {MAX_DISTANCE:g} standard deviations of the mean of "
                f"{boxes.names[j]!r} for kernel={self.name!r}, which measures distances, got "
                f"{xi[*row, j]:g} beside a mean of {boxes.mu[j]:g}."
            )

    def tilt_parts(
        self, boxes: Boxes, box_of_xi: np.ndarray, xi: np.ndarray, nu: np.ndarray
    ) -> tuple[BoxLaw, np.ndarray]:
        """:meth:`tilt_numbers` for worlds that also hold labels."""
        law, log_weight = self.tilt_numbers(boxes.law, box_of_xi, xi, nu)
        if np.all(boxes.ordered):
            return law, log_weight
        unweighted = self.unweighted(boxes.law)
        labels = ~boxes.ordered[:, None]
        log_w = np.where(unweighted.within(box_of_xi), 0.0, np.expand_dims(self.mismatch(nu), -1))
        mixed = {
            part: np.where(labels, getattr(unweighted, part), getattr(law, part))
            for part in ("log_prob", "mean", "sd", "lo", "hi")
        }
        box = None if law.box is None else np.where(labels, unweighted.boxes, law.box)
        return BoxLaw(**mixed, box=box), np.where(labels, log_w, log_weight)


class SquareKernel(ProductKernel):
    """A product kernel exp(-D^2 / 2nu^2), in which whatever differs as a label is at distance 1."""

    def mismatch(self, nu: Any) -> Any:
        """-1 / 2nu^2."""
        return -0.5 / nu**2

    def square(self, nu: Any) -> Any:
        """nu / sqrt 2."""
        return nu / np.sqrt(2)


class GaussianKernel(SquareKernel):
    """pi = exp(-||x - xi||^2 / 2nu^2), the paper's weight (Eq. 2.1, Eq. 7.1)."""

    name = "gaussian"
    measures_x = True

    def log_factors(self, x: np.ndarray, xi: np.ndarray, nu: ArrayLike) -> np.ndarray:
        """-(x_j - xi_j)^2 / 2nu^2."""
        return -0.5 * ((x - xi) / nu) ** 2

    def tilt_numbers(self, law, box_of_xi, xi, nu):
        """Each truncated normal becomes another one in the same box."""
        mean, sd, log_weight = law.weighted_by_gaussian(xi[..., None], nu[..., None])
        return replace(law, mean=mean, sd=sd), log_weight

    def tilt_normal(self, xi, nu, boxes, box_of_xi):
        """A whole normal becomes a whole normal: the paper's closed forms."""
        return gaussian_tilt(xi, nu, boxes.mu, boxes.sigma, *boxes.standard_ends(box_of_xi))


class MismatchKernel(SquareKernel):
    """pi = exp(-(number of coordinates in another box) / 2nu^2): the default of `lime`.

    `lime` writes sqrt(exp(-D^2 / nu^2)) with D the Euclidean distance between z and (1, ..., 1).
    """

    name = "mismatch"
    moves_gaps = False

    def log_weights(self, x, z, xi, nu, boxes):
        """Numbers count like labels: by their box."""
        ones = np.ones(z.shape[1], np.float32)  # counts exactly, and faster than a sum of bools
        return (z.shape[1] - z.astype(np.float32) @ ones).astype(float) * self.mismatch(nu)

    def tilt_numbers(self, law, box_of_xi, xi, nu):
        """xi's own box is drawn more often, and that is all."""
        return law, np.where(law.within(box_of_xi), 0.0, self.mismatch(nu)[..., None])


@dataclass(frozen=True, eq=False)
class CallableKernel(Kernel):
    """A caller's function of (x, z, xi, nu) that returns weights."""

    function: Callable[..., Any]

    @property
    def name(self) -> str:  # type: ignore[override]
        """What the function is called."""
        return str(getattr(self.function, "__name__", getattr(self.function, "what", "own")))

    def log_weights(self, x, z, xi, nu, boxes):
        """Logs of what the function returns; it gets copies, so that it cannot move the samples."""
        values = (x.copy(), z.copy(), xi.copy(), nu)
        returned = arg.called("kernel", self.function, "four arguments, (x, z, xi, nu)", *values)
        weights = arg.numbers("kernel's weights", returned)
        if weights.shape != (len(x),) or np.any(weights < 0):
            raise ValueError(
                f"kernel must return {len(x)} weights of 0 or above, one per row, got shape "
                f"{weights.shape} with least value {weights.min(initial=0):g}."
            )
        with np.errstate(divide="ignore"):
            return np.log(weights)


# every kernel that callers can ask for by name; other folders add theirs
KERNELS: dict[str, Kernel] = {}


def register(kernel: Kernel, before: str | None = None) -> None:
    """Make a kernel known by its name, listed before another one in messages."""
    names = list(KERNELS)
    later = names[names.index(before) :] if before else []
    KERNELS.update({kernel.name: kernel} | {name: KERNELS.pop(name) for name in later})


for _kernel in (GaussianKernel(), MismatchKernel()):
    register(_kernel)


def product_kernels() -> tuple[str, ...]:
    """The names of the kernels that factor over the coordinates."""
    return tuple(name for name, kernel in KERNELS.items() if isinstance(kernel, ProductKernel))


def kernel_of(kernel: Any) -> Kernel:
    """The kernel that was asked for: by name, as an object, or as a function."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel) and not isinstance(kernel, type):
        return CallableKernel(kernel)
    return KERNELS[arg.one_of("kernel", kernel, tuple(KERNELS))]


def product_kernel(kernel: Any, purpose: str) -> ProductKernel:
    """The kernel that was asked for, refused where it has no tilt."""
    if not isinstance(kernel, Kernel) and not callable(kernel):
        arg.one_of("kernel", kernel, tuple(KERNELS))
    chosen = kernel_of(kernel)
    if not isinstance(chosen, ProductKernel):
        names = ", ".join(repr(name) for name in product_kernels())
        raise ValueError(
            f"kernel must be one of {names}, which factor over the coordinates, for {purpose}, "
            f"got {chosen.name!r}."
        )
    return chosen


def tilt(world: Any, xi: ArrayLike, nu: ArrayLike, kernel: Any = "gaussian") -> Tilt:
    """The tilted law of a world seen from xi, (d,) or (rows, d), for a product kernel."""
    xi = np.asarray(xi, float)
    return product_kernel(kernel, "its tilted law").tilt(world.boxes(xi.shape[-1]), xi, nu)
