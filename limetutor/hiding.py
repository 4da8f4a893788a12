"""Which features a bandwidth hides, of one instance or of a whole data set.

For a linear f the coefficient of feature j is a_j times a **gap**: the mean of x_j inside xi's box
less its mean outside, both under the tilted law. The gap belongs to the world, the instance and
the bandwidth, not to the model. Where it is 0 the feature is switched off, and at that bandwidth
the sign of the coefficient *turns*. Where it is negative the coefficient *opposes* the slope: it is
a contrast between boxes, and xi's box lies on the low side. The two are different things: on the
low side it is small bandwidths that bring the sign of the slope. Chapter: switch-off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import arguments as arg
from .kernels import KERNELS, ProductKernel, product_kernel
from .tables import rows_of
from .worlds import Boxes, World, check_world

CHUNK = 2**16  # entries (instance, feature, box) looked at together: they stay in cache
CELLS = 64  # pieces that the values of a feature in one box are cut into
WIDEST = 100  # of a tolerance: a bandwidth farther off than that factor is near to nothing
ROUNDING = 1e-9  # gaps below this share of a standard deviation are nothing but rounding


def gaps(world: World, X: np.ndarray, nu: ArrayLike, kernel: Any = "gaussian") -> np.ndarray:
    """E~[x_j | z_j=1] - E~[x_j | z_j=0] for every row of X as the instance, (n, d).

    The same as ``limit(...).tilt.gap`` row by row; ``nu`` may also be one bandwidth per entry.
    """
    boxes = world.boxes(X.shape[1])
    return _gaps(boxes, X, nu, product_kernel(kernel, "its gaps"))


def _gaps(boxes: Boxes, X: np.ndarray, nu: ArrayLike, kernel: ProductKernel) -> np.ndarray:
    nu = np.broadcast_to(np.asarray(nu, float), X.shape)
    rows = max(CHUNK // boxes.law.mean.size, 1)
    parts = [
        kernel.tilt(boxes, X[start : start + rows], nu[start : start + rows]).gap
        for start in range(0, len(X), rows)
    ]
    return np.concatenate(parts)


def plain_gaps(boxes: Boxes, X: np.ndarray) -> np.ndarray:
    """The gaps without any weight, to which those of every kernel tend as nu grows, (n, d).

    Counting mismatches leaves the law inside and outside a box alone, so its gaps are these.
    """
    flat = KERNELS["mismatch"]
    assert isinstance(flat, ProductKernel)
    return _gaps(boxes, X, 1.0, flat)


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

    return sign_changes(curve, nu * (1 + reach) ** np.linspace(-1, 1, 21), nu, _least(boxes))


def _least(boxes: Boxes) -> np.ndarray:
    return ROUNDING * np.where(boxes.sigma > 0, boxes.sigma, 1.0)


def sign_changes(
    curve: Callable[[np.ndarray], np.ndarray], grid: np.ndarray, near: float, least: np.ndarray
) -> np.ndarray:
    """For each column of a curve (m, d) over m bandwidths, the zero nearest to ``near``, or nan.

    Values within ``least`` of 0 are rounding and have no sign.
    """
    from scipy import optimize

    values = curve(grid)
    signs = np.where(np.abs(values) > least, np.sign(values), 0.0)
    found = np.full(values.shape[1], np.nan)
    for j in range(len(found)):
        clear = np.flatnonzero(signs[:, j])
        roots = [
            float(optimize.brentq(lambda nu, j=j: curve(np.array([nu]))[0, j], grid[i], grid[k]))
            for i, k in pairwise(clear)
            if signs[i, j] != signs[k, j]
        ]
        found[j] = min(roots, key=lambda root: abs(root - near), default=np.nan)
    return found


def _signs(boxes: Boxes, gap: np.ndarray) -> np.ndarray:
    """Signs of the gaps; 0 where a gap is nothing but rounding."""
    return np.where(np.abs(gap) > _least(boxes), np.sign(gap), 0.0)


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
        arrays = ("nus", "near", "turned", "opposed", "turned_back", "at_risk", "by_feature")
        plain = {name: getattr(self, name).tolist() for name in arrays}
        return plain | {"names": list(self.names), "tolerance": self.tolerance, "n": self.n}

    def plot(self) -> Any:
        """The shares against the bandwidth, as a matplotlib figure."""
        from .plotting.results import risk

        return risk(self)

    def __str__(self) -> str:
        lines = [
            f"{self.n} instances, {len(self.names)} features: shares of all pairs whose sign",
            f"- hangs on nu: within {self.tolerance:.0%} of a switch-off (near), or turned from",
            "  the one at wide bandwidths (turned);",
            "- opposes the slope of a linear f, at this nu.",
            f"  {'nu':>8}  hangs on nu   near  turned  opposes the slope",
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
    X: Any,
    world: World,
    nus: ArrayLike,
    kernel: Any = "gaussian",
    *,
    tolerance: float = 0.05,
) -> Risk:
    """For each bandwidth, the share of (instance, feature) pairs of X whose sign is in doubt.

    A pair is at risk where its gap changes sign between nu / (1 + tolerance) and
    nu (1 + tolerance), or has another sign at nu than at large bandwidths: its sign hangs on the
    bandwidth. Apart from that, it opposes the slope where the gap is negative. Nothing is asked of
    the model: a feature it ignores has coefficient 0 anyway. Chapter: switch-off.

    With a kernel that counts mismatches, as `lime`'s does, no bandwidth turns a sign of a *linear*
    model, and both shares are 0: that is no clean bill. Models with interactions do turn, and noise,
    local errors and the rest are no matter of signs; :func:`limetutor.audit` looks at those.
    """
    check_world(world)
    weight = product_kernel(kernel, "risk")
    tolerance = arg.positive("tolerance", tolerance)
    if tolerance > WIDEST:
        raise ValueError(f"tolerance must be at most {WIDEST}, got {tolerance:g}.")
    nus = np.array([arg.bandwidth("nus", nu) for nu in arg.vector("nus", nus)])
    boxes = boxes_for_table(world, X)
    table = boxes.encode_rows(X)
    cells = Cells.of(boxes, table)
    at = (1 / (1 + tolerance), 1.0, 1 + tolerance)
    found = np.array([_counts(cells, [nu * factor for factor in at], weight) for nu in nus])
    near, turned, opposed, back, either = np.moveaxis(found, 1, 0) / len(table)
    return Risk(
        nus,
        near.mean(axis=1),
        turned.mean(axis=1),
        opposed.mean(axis=1),
        back.mean(axis=1),
        either.mean(axis=1),
        either,
        boxes.names,
        tolerance,
        len(table),
        weight.moves_gaps,
    )


@dataclass(frozen=True)
class Cells:
    """The values of a table, column by column, in cells of neighbours that share a box.

    Both sides of a gap rise with xi_j inside a box, so that over a cell from a to b the gap lies
    between inside(a) - outside(b) and inside(b) - outside(a). Where these have one sign, all
    values of the cell have it, and none of them is looked at. ``count`` is how often each of the
    sorted distinct values occurs; a cell goes from value ``first`` to value ``last``.
    """

    boxes: Boxes
    values: list[np.ndarray]
    count: list[np.ndarray]
    first: list[np.ndarray]
    last: list[np.ndarray]

    @classmethod
    def of(cls, boxes: Boxes, table: np.ndarray) -> Cells:
        """Sort a table and cut its columns into cells."""
        parts: list[tuple[np.ndarray, ...]] = []
        for j, (column, own) in enumerate(zip(table.T, boxes.discretize(table).T, strict=True)):
            values, where, count = np.unique(column, return_index=True, return_counts=True)
            sizes = np.unique(own[where], return_counts=True)[
                1
            ]  # boxes are in order, as values are
            step = 1 if not boxes.ordered[j] else -(-sizes // CELLS)
            ends = np.cumsum(sizes)
            cuts = [
                np.arange(end - size, end, width)
                for end, size, width in zip(
                    ends, sizes, np.broadcast_to(step, ends.shape), strict=True
                )
            ]
            first = np.concatenate(cuts)
            parts.append((values, count, first, np.append(first[1:], len(values)) - 1))
        return cls(boxes, *(list(part) for part in zip(*parts, strict=True)))

    def members(self, chosen: list[np.ndarray]) -> list[np.ndarray]:
        """The positions of the values that lie in the chosen cells of each column."""
        return [
            np.flatnonzero(np.repeat(pick, last - first + 1))
            for pick, first, last in zip(chosen, self.first, self.last, strict=True)
        ]


def _stacked(columns: list[np.ndarray], spare: list[np.ndarray]) -> np.ndarray:
    """Columns of different lengths as a table, filled up with a value that is as good as any."""
    rows = max(len(column) for column in columns)
    return np.stack(
        [
            np.concatenate([column, np.full(rows - len(column), other[0])])
            for column, other in zip(columns, spare, strict=True)
        ],
        axis=1,
    )


def _counts(cells: Cells, nus: list[float], weight: ProductKernel) -> np.ndarray:
    """How many instances of each feature are near, turned, opposed, turned back, at risk, (5, d)."""
    boxes, least = cells.boxes, _least(cells.boxes)
    ends = [
        _stacked([v[at] for v, at in zip(cells.values, side, strict=True)], cells.values)
        for side in (cells.first, cells.last)
    ]
    signs, known = [], np.ones(ends[0].shape, bool)
    for nu in nus:
        (in_a, out_a), (in_b, out_b) = (_sides(boxes, end, nu, weight) for end in ends)
        single = ends[0] == ends[1]
        above, below = in_a - out_b > least, in_b - out_a < -least
        signs.append(above * 1.0 - below)
        known &= above | below | single
    size = [last - first + 1 for first, last in zip(cells.first, cells.last, strict=True)]
    per_cell = [np.add.reduceat(c, f) for c, f in zip(cells.count, cells.first, strict=True)]
    there = _stacked([np.ones(len(s)) for s in size], [np.zeros(1)] * len(size)) > 0
    many = _stacked(per_cell, [np.zeros(1, int)] * len(size))
    far = _signs(boxes, plain_gaps(boxes, ends[0]))
    total = _tally(signs, far, many * (known & there))
    open_cells = [(~known[: len(s), j]) for j, s in enumerate(size)]
    picked = cells.members(open_cells)
    if any(len(pick) for pick in picked):
        values = [v[pick] for v, pick in zip(cells.values, picked, strict=True)]
        table = _stacked(values, cells.values)
        often = _stacked(
            [c[pick] for c, pick in zip(cells.count, picked, strict=True)],
            [np.zeros(1, int)] * len(picked),
        )
        far = _signs(boxes, plain_gaps(boxes, table))
        gap = (np.subtract(*_sides(boxes, table, nu, weight)) for nu in nus)
        total = total + _tally([_signs(boxes, g) for g in gap], far, often)
    return total


def _tally(signs: list[np.ndarray], far: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Of signs (m, d) below, at and above a bandwidth, how many of ``count`` are what, (5, d)."""
    low, here, high = signs
    near, turned, opposed = low * high < 0, here * far < 0, here < 0
    kinds = (near, turned, opposed, turned & ~opposed, near | turned)
    return np.array([np.sum(kind * count, axis=0) for kind in kinds])


def _sides(
    boxes: Boxes, X: np.ndarray, nu: float, kernel: ProductKernel
) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of the gaps, in chunks that stay in cache."""
    rows = max(CHUNK // boxes.law.mean.size, 1)
    parts = [kernel.sides(boxes, X[s : s + rows], nu) for s in range(0, len(X), rows)]
    inside, outside = zip(*parts, strict=True)
    return np.concatenate(inside), np.concatenate(outside)


def boxes_for_table(world: World, X: Any) -> Boxes:
    """The boxes of a world for a table; one that fits any dimension takes the table's."""
    if world.d is not None:
        return world.boxes()
    return world.boxes(rows_of("X", X, (), one=False).shape[1])
