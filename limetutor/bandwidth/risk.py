"""Which features a bandwidth hides, of one instance or of a whole data set.

For a linear f the coefficient of feature j is a_j times a **gap**: the mean of x_j inside xi's box
less its mean outside, both under the tilted law. The gap belongs to the world, the instance and
the bandwidth, not to the model. Where it is 0 the feature is switched off, and at that bandwidth
the sign of the coefficient *turns*. Where it is negative the coefficient *opposes* the slope: it is
a contrast between boxes, and xi's box lies on the low side. The two are different things: on the
low side it is small bandwidths that bring the sign of the slope. Chapter: switch-off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core.boxes import Boxes, Gaussian, World, check_world
from ..core.kernels import ProductKernel, product_kernel
from ..core.theory import critical_bandwidth
from ..core.tilted_law import parts_means
from ..exact.forms import chunks
from ..inputs import arguments as arg
from ..many.problems import boxes_for_table
from ..results.result import plain
from .roots import ENTRIES_PER_CHUNK, plain_gaps, rounding_of_gaps

CELLS_PER_BOX = 64  # into which the values of a feature in one box are cut
MAX_TOLERANCE = 100  # a bandwidth farther off than that factor is near to nothing


def _signs(boxes: Boxes, gap: np.ndarray) -> np.ndarray:
    """Signs of the gaps; 0 where a gap is nothing but rounding."""
    return np.where(np.abs(gap) > rounding_of_gaps(boxes), np.sign(gap), 0.0)


@dataclass(frozen=True)
class Risk:
    """Shares of (instance, feature) pairs whose sign is not what one may take it for, by bandwidth.

    ``near``: within the tolerance of a bandwidth that switches the feature off. ``turned``: the
    sign of the contrast is not the one it has at large bandwidths. ``at_risk``: one or the other,
    so that the sign hangs on the choice of the bandwidth. ``opposed``: the contrast has the sign
    opposite to that of the slope of a linear f, at this bandwidth; ``turned_back`` is the part of
    the turned pairs that do *not* oppose it. ``by_feature`` (bandwidths, d) is the share of
    instances at risk, feature by feature.
    """

    nus: np.ndarray
    near: np.ndarray
    turned: np.ndarray
    opposed: np.ndarray
    turned_back: np.ndarray
    at_risk: np.ndarray
    by_feature: np.ndarray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    tolerance: float
    n: int
    moves_gaps: bool = True  # whether the kernel's bandwidth moves contrasts of linear models

    @property
    def flipped(self) -> np.ndarray:
        """An older name of ``turned``."""
        return self.turned

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python types."""
        return plain({n: value for n, value in self.__dict__.items() if n != "moves_gaps"})

    def plot(self) -> Any:
        """The shares against the bandwidth, as a matplotlib figure."""
        from ..plotting.results import risk

        return risk(self)

    def __str__(self) -> str:
        lines = [
            f"{self.n} instances, {len(self.names)} features: shares of all pairs whose sign",
            f"- depends on nu: within {self.tolerance:.0%} of a switch-off (near), or turned from",
            "  the one at wide bandwidths (turned);",
            "- opposes the slope of a linear f, at this nu.",
            f"  {'nu':>8} depends on nu   near  turned  opposes the slope",
        ]
        rows = zip(self.nus, self.at_risk, self.near, self.turned, self.opposed, strict=True)
        lines += [
            f"  {nu:8.3g}  {a:11.1%}  {b:5.1%}  {c:6.1%}  {e:17.1%}" for nu, a, b, c, e in rows
        ]
        if not self.moves_gaps:
            lines += [
                "With this kernel no bandwidth turns a sign of a linear model. Models with interactions",
                "do turn, and noise and local errors are not counted here: lt.audit looks at those.",
            ]
        return "\n".join(lines)


def risk(
    X: Any, world: World, nus: ArrayLike, kernel: Any = None, *, tolerance: float = 0.05
) -> Risk:
    """For each bandwidth, the share of (instance, feature) pairs of X whose sign is in doubt.

    A pair is at risk where its gap changes sign between nu / (1 + tolerance) and
    nu (1 + tolerance), or has another sign at nu than at large bandwidths: its sign hangs on the
    bandwidth. Apart from that, it opposes the slope where the gap is negative. Nothing is asked of
    the model: a feature it ignores has coefficient 0 anyway. Chapter: switch-off.

    With a kernel that counts mismatches, as `lime`'s does, no bandwidth turns a sign of a *linear*
    model, and both shares are 0: that is no clean bill. Models with interactions do turn, and noise,
    local errors and the rest are no matter of signs; :func:`limetutor.audit` looks at those.

    Parameters
    ----------
    X, world
        A table of instances, an array or a DataFrame, and a world with boxes.
    nus, kernel
        The bandwidths of a kernel: "gaussian", "laplace" or "mismatch"; by default the world's.
    tolerance
        Up to which distance, as a share of the bandwidth, a switch-off is near.

    Returns
    -------
    Risk
        Shares by bandwidth.

    Examples
    --------
    >>> from limetutor import Gaussian
    >>> risk([[0.961, 0.432], [0.1, 0.2]], Gaussian(), [0.53, 3.0]).at_risk.tolist()
    [0.25, 0.0]
    """
    check_world(world)
    weight = product_kernel(world.kernel if kernel is None else kernel, "risk")
    tolerance = arg.positive("tolerance", tolerance)
    if tolerance > MAX_TOLERANCE:
        raise ValueError(f"tolerance must be at most {MAX_TOLERANCE}, got {tolerance:g}.")
    nus = np.array([arg.bandwidth("nus", nu) for nu in arg.vector("nus", nus)])
    boxes = boxes_for_table(world, X)
    table = boxes.encode_rows(X)
    cells = Cells.of(boxes, table)
    factors = np.array([1 / (1 + tolerance), 1.0, 1 + tolerance])
    counts = np.array([_counts(cells, nu * factors, weight) for nu in nus])
    shares = np.moveaxis(counts, 1, 0) / len(table)  # near, turned, opposed, turned back, at risk
    near, turned, opposed, back, at_risk = shares.mean(axis=2)
    return Risk(
        nus, near, turned, opposed, back, at_risk, shares[-1],
        boxes.names, tolerance, len(table), weight.moves_gaps,
    )  # fmt: skip


@dataclass(frozen=True)
class Cells:
    """The values of a table, column by column, in cells of neighbours that share a box.

    Both sides of a gap rise with xi_j inside a box, so that over a cell from a to b the gap lies
    between inside(a) - outside(b) and inside(b) - outside(a). Where these have one sign, all
    values of the cell have it, and none of them is looked at. Tables of cells have a column for each
    feature, the shorter ones filled up with cells that hold no instance.
    """

    boxes: Boxes
    values: list[np.ndarray]  # the distinct values of each column in order ...
    count: list[np.ndarray]  # ... how often each occurs ...
    first: list[np.ndarray]  # ... and at which of them cells begin
    low: np.ndarray  # the smallest value of each cell (cells, d) ...
    high: np.ndarray  # ... and the largest
    instances: np.ndarray  # how many instances lie in each cell

    @classmethod
    def of(cls, boxes: Boxes, table: np.ndarray) -> Cells:
        """Sort a table and cut its columns into cells."""
        values, count, first = [], [], []
        for j, (column, box) in enumerate(zip(table.T, boxes.discretize(table).T, strict=True)):
            distinct, where, occurs = np.unique(column, return_index=True, return_counts=True)
            sizes = np.unique(box[where], return_counts=True)[1]  # boxes are in the order of values
            steps = -(-sizes // CELLS_PER_BOX) if boxes.ordered[j] else np.ones_like(sizes)
            ends = zip(np.cumsum(sizes), sizes, steps, strict=True)
            values.append(distinct)
            count.append(occurs)
            first.append(np.concatenate([np.arange(b - size, b, step) for b, size, step in ends]))
        spare = [column[0] for column in values]
        pairs = list(zip(values, first, strict=True))
        low = _padded([v[f] for v, f in pairs], spare)
        high = _padded([v[np.append(f[1:], len(v)) - 1] for v, f in pairs], spare)
        per_cell = [np.add.reduceat(c, f) for c, f in zip(count, first, strict=True)]
        return cls(boxes, values, count, first, low, high, _padded(per_cell, 0))

    def members(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The values in the chosen cells as a table, and how many instances have each."""
        values, count = [], []
        for v, c, f, cells in zip(self.values, self.count, self.first, chosen.T, strict=True):
            inside = np.repeat(cells[: len(f)], np.diff(f, append=len(v)))
            values.append(v[inside])
            count.append(c[inside])
        return _padded(values, [v[0] for v in self.values]), _padded(count, 0)


def _padded(columns: list[np.ndarray], fill: Any) -> np.ndarray:
    """Columns of different lengths as a table, the shorter ones filled up."""
    rows = max(len(column) for column in columns)
    pairs = zip(columns, np.broadcast_to(fill, len(columns)), strict=True)
    padded = [np.pad(c, (0, rows - len(c)), constant_values=value) for c, value in pairs]
    return np.stack(padded, axis=1)


def _counts(cells: Cells, nus: np.ndarray, kernel: ProductKernel) -> np.ndarray:
    """How many instances of each feature are near, turned, opposed, turned back, at risk, (5, d)."""
    boxes, least = cells.boxes, rounding_of_gaps(cells.boxes)
    signs, decided = [], np.ones(cells.low.shape, bool)
    for nu in nus:
        in_low, out_low = _sides(boxes, cells.low, nu, kernel)
        in_high, out_high = _sides(boxes, cells.high, nu, kernel)
        above, below = in_low - out_high > least, in_high - out_low < -least
        signs.append(above * 1.0 - below)
        decided &= above | below | (cells.low == cells.high)
    total = _tally(boxes, signs, cells.low, cells.instances * decided)
    if np.all(decided):
        return total
    values, instances = cells.members(~decided)
    gap = (np.subtract(*_sides(boxes, values, nu, kernel)) for nu in nus)
    return total + _tally(boxes, [_signs(boxes, g) for g in gap], values, instances)


def _tally(boxes: Boxes, signs: list[np.ndarray], X: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Count from signs (m, d) below, at and above a bandwidth what becomes of the entries of X, (5, d)."""
    low, at_nu, high = signs
    far = _signs(boxes, plain_gaps(boxes, X))
    near, turned, opposed = low * high < 0, at_nu * far < 0, at_nu < 0
    kinds = (near, turned, opposed, turned & ~opposed, near | turned)
    return np.array([np.sum(kind * count, axis=0) for kind in kinds])


def _sides(
    boxes: Boxes, X: np.ndarray, nu: float, kernel: ProductKernel
) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of the gaps, in chunks that stay in cache."""
    rows = chunks(len(X), boxes.law.mean.size, ENTRIES_PER_CHUNK)
    means = [conditional_means(kernel, boxes, X[k], nu) for k in rows]
    inside, outside = (np.concatenate(side) for side in zip(*means, strict=True))
    return inside, outside


def critical_bandwidths(world: Gaussian, X: ArrayLike) -> np.ndarray:
    """:func:`.critical_bandwidth` of every entry of a table X (n, d), nan where there is none."""
    X = np.atleast_2d(arg.numbers("X", X))
    boxes = world.boxes(X.shape[1])
    return critical_bandwidth(X, boxes.mu, boxes.sigma, *boxes.standard_ends(boxes.discretize(X)))


def total_switch_off(world: Gaussian, nu: float, d: int | None = None) -> np.ndarray:
    """An instance (d,) at which every linear model gets coefficients of 0, nan where the box has none.

    With the Gaussian kernel and m_j the middle of a bounded box in standard units,

        xi_j = mu_j + m_j (sigma_j + nu^2 / sigma_j)

    puts the mean of the tilted law on the middle of that box. xi_j itself lies in the box where
    ``nu^2 < sigma_j^2 (q+ - q-) / |q+ + q-|``. The box taken is the one that allows the largest nu: the
    first above the mean for even p (then nu < sigma_j), the middle one for odd p (xi_j = mu_j, for
    every nu). Two boxes have no bounded one among them. Chapter: interactions.
    """
    if not isinstance(world, Gaussian):
        raise TypeError(f"world must be an lt.Gaussian(...), got {arg.shorten(world)}.")
    nu, boxes = arg.bandwidth("nu", nu), world.boxes(d)
    box = boxes.count // 2
    lo, hi = boxes.standard_ends(box)
    middle = (lo + hi) / 2
    bounded = np.isfinite(middle)
    m = np.where(bounded, middle, 0.0)
    xi = boxes.mu + m * (boxes.sigma + nu * (nu / boxes.sigma))
    return np.where(bounded & (boxes.discretize(xi) == box), xi, np.nan)


def conditional_means(
    kernel: ProductKernel, boxes: Boxes, xi: np.ndarray, nu: ArrayLike
) -> tuple[np.ndarray, np.ndarray]:
    """E~[x_j | z_j = 1] and E~[x_j | z_j = 0], up to a common constant: their difference is the gap.

    The weights of numbers are log-concave in x - xi, so that both means rise with xi_j as long as
    it stays in its box.
    """
    box_of_xi = boxes.discretize(xi)
    nu = np.broadcast_to(np.asarray(nu, float), np.shape(xi))
    closed = None if boxes.standard is None else kernel.tilt_normal(xi, nu, boxes, box_of_xi)
    if closed is not None:
        inside = (xi - boxes.mu) + closed.inside
        return inside, inside - closed.gap
    law, log_weight = kernel.tilt_parts(boxes, box_of_xi, xi, nu)
    _, _, (_, inside, outside) = parts_means(law, log_weight, box_of_xi)
    return inside, outside
