"""Which features a bandwidth hides, of one instance or of a whole data set.

For a linear f the coefficient of feature j is a_j times a **gap**: the mean of x_j inside xi's box
less its mean outside, both under the tilted law. The gap belongs to the world, the instance and
the bandwidth, not to the model; where it is 0 the feature is switched off, and beyond that point
its coefficient has the other sign. Chapter: switch-off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from . import arguments as arg
from .kernels import PRODUCT_KERNELS
from .laws import BoxLaw, normal_box
from .theory import gaussian_tilt, standard_boxes, tilt_boxes
from .worlds import Boxes, Gaussian, World, check_world


def gaps(world: World, X: np.ndarray, nu: ArrayLike, kernel: str = "gaussian") -> np.ndarray:
    """E~[x_j | z_j=1] - E~[x_j | z_j=0] for every row of X as the instance, (n, d).

    The same as ``limit(...).tilt.gap`` row by row; ``nu`` may also be one bandwidth per entry.
    """
    boxes = world.boxes(X.shape[1])
    if kernel == "gaussian" and isinstance(world, Gaussian):
        lo, hi = standard_boxes(world, boxes, X)
        return gaussian_tilt(X, nu, boxes.mu, boxes.sigma, lo, hi).gap
    return _gaps_of_boxes(boxes, X, np.broadcast_to(nu, X.shape), kernel)


def _gaps_of_boxes(boxes: Boxes, X: np.ndarray, nu: np.ndarray, kernel: str) -> np.ndarray:
    law = boxes.law
    other = np.arange(law.mean.shape[1]) != boxes.discretize(X)[..., None]
    log_joint, means = np.broadcast_to(law.log_prob, other.shape), law.box_means()
    if kernel == "gaussian":  # the mismatch weight is the same for all other boxes: it cancels
        mean, sd, log_weight = tilt_boxes(law, X[..., None], nu[..., None])
        labels = boxes.categorical[:, None]
        tilted = BoxLaw(law.log_prob, mean, sd, law.lo, law.hi)
        inside = mean + sd * normal_box(*tilted.standard_ends()).mean_inside
        log_joint = log_joint + np.where(labels, 0.0, log_weight)
        means = np.where(labels, means, inside)
    outside = np.where(other, log_joint, -np.inf)
    with np.errstate(invalid="ignore"):  # a feature with a single box has no outside
        share = np.exp(outside - scipy.special.logsumexp(outside, axis=-1, keepdims=True))
    return np.sum(np.where(other, 0.0, means), -1) - np.sum(share * means, -1)


def crossings(
    world: World, xi: np.ndarray, nu: float, kernel: str = "gaussian", reach: float = 0.25
) -> np.ndarray:
    """For each feature the bandwidth nearest to nu at which its gap changes sign, nan without one.

    Looked for between nu / (1 + reach) and nu (1 + reach). In a Gaussian world it is the critical
    bandwidth of the paper; elsewhere there is no formula and the sign is followed on a grid.
    """
    if kernel == "mismatch":  # the gap does not depend on nu
        return np.full(len(xi), np.nan)
    grid = nu * (1 + reach) ** np.linspace(-1, 1, 21)
    signs = np.array([_signs(world, xi[None], at, kernel)[0] for at in grid])
    found = np.full(len(xi), np.nan)
    for j in range(len(xi)):
        clear = np.flatnonzero(np.abs(signs[:, j]) == 1)
        roots = [
            _root(world, xi, j, grid[i], grid[k], kernel)
            for i, k in pairwise(clear)
            if signs[i, j] != signs[k, j]
        ]
        found[j] = min(roots, key=lambda root: abs(root - nu), default=np.nan)
    return found


def _signs(world: World, X: np.ndarray, nu: float, kernel: str) -> np.ndarray:
    """Signs of the gaps; 0 where a gap is nothing but rounding."""
    gap = gaps(world, X, nu, kernel)
    sigma = world.boxes(X.shape[1]).sigma
    return np.where(np.abs(gap) > 1e-9 * np.where(sigma > 0, sigma, 1.0), np.sign(gap), 0.0)


def _root(world: World, xi: np.ndarray, j: int, lo: float, hi: float, kernel: str) -> float:
    from scipy import optimize

    def gap(nu: float) -> float:
        return float(gaps(world, xi[None], nu, kernel)[0, j])

    return float(optimize.brentq(gap, lo, hi, rtol=1e-12))


@dataclass(frozen=True)
class Risk:
    """Shares of (instance, feature) pairs at risk, for each bandwidth.

    ``near``: within the tolerance of a bandwidth that switches the feature off. ``flipped``: the
    coefficient has the opposite sign of the one it has at large bandwidths. ``at_risk``: one or
    the other. ``by_feature`` (bandwidths, d) is the share of instances at risk, feature by feature.
    """

    nus: np.ndarray
    near: np.ndarray
    flipped: np.ndarray
    at_risk: np.ndarray
    by_feature: np.ndarray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    tolerance: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types."""
        arrays = ("nus", "near", "flipped", "at_risk", "by_feature")
        plain = {name: getattr(self, name).tolist() for name in arrays}
        return plain | {"names": list(self.names), "tolerance": self.tolerance, "n": self.n}

    def plot(self) -> Any:
        """The shares against the bandwidth, as a matplotlib figure."""
        from .plotting.results import risk

        return risk(self)

    def __str__(self) -> str:
        lines = [
            f"{self.n} instances, {len(self.names)} features: pairs whose coefficient is not to be "
            "trusted",
            f"  {'nu':>8}  at risk  within {self.tolerance:.0%} of a switch-off  sign flipped",
        ]
        rows = zip(self.nus, self.at_risk, self.near, self.flipped, strict=True)
        lines += [f"  {nu:8.3g}  {a:7.1%}  {b:26.1%}  {c:12.1%}" for nu, a, b, c in rows]
        return "\n".join(lines)


def risk(
    X: Any,
    world: World,
    nus: ArrayLike,
    kernel: str = "gaussian",
    *,
    tolerance: float = 0.05,
) -> Risk:
    """For each bandwidth, the share of (instance, feature) pairs of X at risk.

    A pair is at risk where its gap changes sign between nu / (1 + tolerance) and
    nu (1 + tolerance), or has another sign at nu than at large bandwidths. Nothing is asked of the
    model: a feature it ignores has coefficient 0 anyway. Chapter: switch-off.
    """
    check_world(world)
    arg.one_of("kernel", kernel, PRODUCT_KERNELS)
    tolerance = arg.positive("tolerance", tolerance)
    nus = np.array([arg.bandwidth("nus", nu) for nu in arg.vector("nus", nus)])
    table = _table(X, world)
    far = _signs(world, table, 1.0, "mismatch")  # what the gaussian kernel tends to as nu grows
    near, flipped = [], []
    for nu in nus:
        low, here, high = (
            _signs(world, table, nu * factor, kernel)
            for factor in (1 / (1 + tolerance), 1.0, 1 + tolerance)
        )
        near.append(low * high < 0)
        flipped.append(here * far < 0)
    either = np.array(near) | np.array(flipped)
    return Risk(
        nus,
        np.mean(near, axis=(1, 2)),
        np.mean(flipped, axis=(1, 2)),
        either.mean(axis=(1, 2)),
        either.mean(axis=1),
        world.boxes(table.shape[1]).names,
        tolerance,
        len(table),
    )


def _table(X: Any, world: World) -> np.ndarray:
    """The rows of X as a world encodes them."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    if rows.ndim != 2 or len(rows) == 0:
        raise ValueError(f"X must be a table with at least one row, got shape {rows.shape}.")
    boxes = world.boxes(rows.shape[1])
    return np.stack([boxes.encode(row) for row in rows])
