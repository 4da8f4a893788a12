"""Zeros and changes of curves over the bandwidth, many intervals at once, in log nu.

The curves without a model are the gaps of a world, see :mod:`limetutor.bandwidth.risk`.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.boxes import Boxes, World
from ..core.kernels import ProductKernel, product_kernel

ENTRIES_PER_CHUNK = 2**16  # of instance, feature and box: they stay in cache
ROUNDING = 1e-9  # gaps below this share of a standard deviation are nothing but rounding
Function = Callable[[np.ndarray], np.ndarray]  # from places (m,) to values (m, d)


def find_roots(
    values: Callable[[np.ndarray, np.ndarray], np.ndarray], lo: np.ndarray, hi: np.ndarray
) -> np.ndarray:
    """A zero in each of many intervals (lo, hi) at whose ends a function has different signs.

    By Chandrupatla's method in the logarithm: ``values(places, which)`` are the functions of the
    intervals ``which`` at one place each.
    """
    from scipy.optimize import elementwise  # half the import time of the package

    if not len(lo):
        return np.array([])
    ends, which = (np.log(lo), np.log(hi)), (np.arange(len(lo)),)
    found = elementwise.find_root(lambda x, k: values(np.exp(x), k), ends, args=which)
    return np.exp(found.x)


def bisect(unchanged: Function, lo: np.ndarray, hi: np.ndarray, steps: int) -> np.ndarray:
    """Where, between lo and hi, ``unchanged(places)`` stops being true, which it is at lo."""
    lo, hi = np.log(lo), np.log(hi)
    for _ in range(steps):
        middle = (lo + hi) / 2
        same = unchanged(np.exp(middle))
        lo, hi = np.where(same, middle, lo), np.where(same, hi, middle)
    return np.exp((lo + hi) / 2)


def sign_changes(signs: np.ndarray) -> np.ndarray:
    """Column, row before and row after each change of sign in (m, d) signs, as three rows; 0 is none."""
    changes = [
        (j, i, k)
        for j, column in enumerate(signs.T)
        for i, k in pairwise(np.flatnonzero(column))
        if column[i] != column[k]
    ]
    return np.array(changes, int).reshape(-1, 3).T


def zeros_of(
    curve: Function, grid: np.ndarray, values: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where the columns of a curve change their signs, in which column, and after and before which place.

    ``values`` (m, d) are those at the places of the grid, ``signs`` their signs, 0 for a value that is
    not told from zero; the last two results are positions in the grid.
    """
    j, i, k = sign_changes(signs)

    def at(places: np.ndarray, which: np.ndarray) -> np.ndarray:
        return curve(places)[np.arange(len(which)), j[which]]

    return find_roots(at, grid[i], grid[k]), j, i, k


def nearest_zeros(curve: Function, grid: np.ndarray, near: float, least: np.ndarray) -> np.ndarray:
    """The zero nearest to ``near`` of each column of a curve, nan without one, (d,).

    Values within ``least`` of 0 are rounding and have no sign.
    """
    values = curve(grid)
    signs = np.where(np.abs(values) > least, np.sign(values), 0.0)
    zeros, column, *_ = zeros_of(curve, grid, values, signs)
    nearest = np.full(values.shape[1], np.nan)
    for j in np.unique(column):
        places = zeros[column == j]
        nearest[j] = places[np.argmin(np.abs(places - near))]
    return nearest


# --- gaps


def gaps(world: World, X: np.ndarray, nu: ArrayLike, kernel: Any = "gaussian") -> np.ndarray:
    """E~[x_j | z_j=1] - E~[x_j | z_j=0] for every row of X as the instance, (n, d).

    The same as ``limit(...).tilt.gap`` row by row; ``nu`` may also be one bandwidth per entry.
    """
    return _gaps(world.boxes(X.shape[1]), X, nu, product_kernel(kernel, "its gaps"))


def _gaps(boxes: Boxes, X: np.ndarray, nu: ArrayLike, kernel: ProductKernel) -> np.ndarray:
    nu = np.broadcast_to(np.asarray(nu, float), X.shape)
    step = max(ENTRIES_PER_CHUNK // boxes.law.mean.size, 1)
    rows = [slice(start, start + step) for start in range(0, len(X), step)]
    return np.concatenate([kernel.tilt(boxes, X[k], nu[k]).gap for k in rows])


def plain_gaps(boxes: Boxes, X: np.ndarray) -> np.ndarray:
    """The gaps without any weight, to which those of every kernel tend as nu grows, (n, d).

    Counting mismatches leaves the law inside and outside a box alone, so its gaps are these.
    """
    return _gaps(boxes, X, 1.0, product_kernel("mismatch", "its gaps"))


def crossings(
    world: World, xi: np.ndarray, nu: float, kernel: Any = "gaussian", reach: float = 0.25
) -> np.ndarray:
    """For each feature the bandwidth nearest to nu at which its gap changes sign, nan without one.

    Looked for between nu / (1 + reach) and nu (1 + reach). In a Gaussian world it is the critical
    bandwidth of the paper; elsewhere there is no formula and the sign is followed on a grid.
    """
    weight, boxes = product_kernel(kernel, "its gaps"), world.boxes(len(xi))
    if not weight.moves_gaps:
        return np.full(len(xi), np.nan)

    def curve(at: np.ndarray) -> np.ndarray:
        return _gaps(boxes, np.tile(xi, (len(at), 1)), at[:, None], weight)

    return nearest_zeros(
        curve, nu * (1 + reach) ** np.linspace(-1, 1, 21), nu, rounding_of_gaps(boxes)
    )


def rounding_of_gaps(boxes: Boxes) -> np.ndarray:
    """Below which size gaps are nothing but rounding, (d,)."""
    return ROUNDING * np.where(boxes.sigma > 0, boxes.sigma, 1.0)
