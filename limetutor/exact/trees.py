"""Sums of trees, and their expectations at one instance or at many.

A leaf is a product of sides, one for each feature on its path, and under the tilted law its
expectation is the product of their masses W. What an explanation needs of it is

    E~[leaf] = prod_i W_i,    E~[leaf | z_j = 1] - E~[leaf | z_j = 0] = D_j prod_{i != j} W_i,

with D_j the mass of side j inside xi's box less its mass outside. The sides are those of the trees
and the same for all instances; W and D are lookups in tables over the thresholds of a feature, and
rows with the same law of a feature (for `lime`'s kernel: in the same box) share a column of them.
The sum over the leaves is then two products with a sparse matrix that says which leaf has which
sides. Chapter: beyond linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from ..core.models import Expectation, Form
from ..core.tilted_law import ConditionalLaws
from ..core.truncated import BoxLaw, normal_box
from .forms import chunks, one_row

NUMBERS_IN_CACHE = 2**18  # of leaves or sides times rows that are worked on together
# In prod_{i != j} W_i, written as prod_i W_i / W_j, a mass below this counts as this much: where
# one is 0 the quotient is right, where two are it is off by this times a leaf, which is nothing.
MIN_MASS = 1e-200
# Masses are differences of two that may be near 1, and off by 1e-16 then. Where the largest leaf is
# this many times one of the smallest, they are taken from the side on which they are small.
UNEVEN = 1e6

# differences of masses (of the law, given z_j = 1, given z_j = 0), one a row
INSIDE_LESS_OUTSIDE = np.array([[0.0, 1.0, -1.0]])
SIDES_LESS_WHOLE = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])


class Tree(NamedTuple):
    """The nodes of one tree: ``left`` is -1 at a leaf; ``value`` is (nodes, outputs)."""

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray

    @classmethod
    def leaf(cls, value: Any) -> Tree:
        """A tree without splits."""
        none = np.array([-1])
        return cls(np.zeros(1, np.intp), np.zeros(1), none, none, np.reshape(value, (1, -1)))


def rounded_threshold(threshold: np.ndarray) -> np.ndarray:
    """The largest double that goes left in a tree that rounds x to single precision first.

    That is the middle between the last single-precision number up to the threshold and the next
    (or just below it, where the middle itself is rounded up).
    """
    last = threshold.astype(np.float32)
    last = np.where(last > threshold, np.nextafter(last, np.float32(-np.inf)), last)
    middle = (last.astype(float) + np.nextafter(last, np.float32(np.inf))) / 2
    goes_left = middle.astype(np.float32) <= threshold
    return np.where(goes_left, middle, np.nextafter(middle, -np.inf))


@dataclass(frozen=True, eq=False)
class Trees(Form):
    """b + the sum over trees of the value of the leaf that x falls into.

    All trees in one table of nodes: an inner node sends x left where x[feature] <= threshold;
    ``left`` is -1 at a leaf.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    b: float = 0.0

    @classmethod
    def stack(cls, trees: Sequence[Tree], b: float = 0.0, output: int = 0) -> Trees:
        """One output of some trees; the constant b where there are none."""
        trees = trees or [Tree.leaf(0.0)]
        *roots, _ = np.cumsum([0, *(len(tree.left) for tree in trees)])
        pairs = list(zip(trees, roots, strict=True))
        left, right = (
            np.concatenate([np.where(t.left < 0, -1, t[k] + root) for t, root in pairs])
            for k in (2, 3)
        )
        feature, threshold = (np.concatenate([tree[k] for tree in trees]) for k in (0, 1))
        value = np.concatenate([np.where(t.left < 0, t.value[:, output], 0.0) for t in trees])
        return cls(
            feature.astype(np.intp), threshold, left, right, value, np.array(roots), float(b)
        )

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The value at each row of x."""
        return self.b + self._values_at(x).sum(axis=1)

    def rounding(self, x: np.ndarray) -> np.ndarray:
        """That of all summands to single precision, as in XGBoost."""
        return 1e-6 * (abs(self.b) + np.abs(self._values_at(x)).sum(axis=1))

    def _values_at(self, x: np.ndarray) -> np.ndarray:
        """The value of the leaf of each tree that each row of x falls into, (rows, trees)."""
        node, values = np.tile(self.roots, len(x)), np.ravel(x)
        first = np.repeat(np.arange(len(x)) * x.shape[1], len(self.roots))  # of its row
        inside = np.flatnonzero(self.left[node] >= 0)  # of a tree, not yet at a leaf
        while inside.size:
            at = node[inside]
            goes_left = values[first[inside] + self.feature[at]] <= self.threshold[at]
            node[inside] = at = np.where(goes_left, self.left[at], self.right[at])
            inside = inside[self.left[at] >= 0]
        return self.value[node].reshape(len(x), -1)

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """E~[f], E~[f | z_j = 1] and E~[f | z_j = 0] at one instance."""
        mean, sides = self._sums_over_leaves(one_row(views), SIDES_LESS_WHOLE)
        return Expectation(mean[0], *(mean[0] + sides[:, :, 0]))

    def contrasts(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray]:
        """E~[f] (rows,) and E~[f | z_j = 1] - E~[f | z_j = 0] (rows, d) at many instances."""
        mean, contrast = self._sums_over_leaves(views, INSIDE_LESS_OUTSIDE)
        return mean, contrast[0].T

    def _sums_over_leaves(
        self, views: ConditionalLaws, differences: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """E~[f] (rows,), and sums over leaves of D_j prod_{i != j} W_i, (differences, d, rows)."""
        rows, d = views.weights.shape[1:3]
        cuts, groups = self._leaves
        tables = {
            j: mass_table(views, j, c, differences, self.is_uneven)
            for j, c in enumerate(cuts)
            if len(c)
        }
        mean, moves = np.full(rows, float(self.b)), np.zeros((len(differences), d, rows))
        for group in groups:
            for part in chunks(rows, max(group.has.shape), NUMBERS_IN_CACHE):
                group.add(tables, part, mean, moves)
        return mean, moves

    @cached_property
    def degree(self) -> int:  # type: ignore[override]
        """The most features on the way to a leaf."""
        return max(int(group.has.sum(axis=1).max(initial=0)) for group in self._leaves[1])

    @cached_property
    def is_uneven(self) -> bool:
        """Whether leaves differ so much in size that the masses of the largest need all their digits."""
        sizes = np.abs(self.value[self.value != 0])
        few = len(sizes) // 100
        return bool(len(sizes) and np.max(sizes) > UNEVEN * np.partition(sizes, few)[few])

    @cached_property
    def _leaves(self) -> tuple[list[np.ndarray], list[LeafGroup]]:
        """The thresholds of each feature in order, and the leaves in groups."""
        d = int(self.feature.max(initial=0)) + 1
        cuts, rank = self.cuts(d)
        tops = np.array([len(values) + 1 for values in cuts])
        nodes_per_tree = len(self.left) // len(self.roots) + 1
        groups = []
        for part in chunks(len(self.roots), nodes_per_tree * max(d, 64)):
            leaves, lo, hi = self.leaf_boxes(self.roots[part], rank, tops)
            groups.append(LeafGroup.of(self.value[leaves], lo, hi, tops))
        return cuts, groups

    def cuts(self, d: int) -> tuple[list[np.ndarray], np.ndarray]:
        """The thresholds of each feature in order, and the rank (from 1) of each node's own."""
        rank = np.zeros(len(self.feature), dtype=np.intp)
        inner = self.left >= 0
        cuts = []
        for j in range(d):
            nodes = inner & (self.feature == j)
            values, ranks = np.unique(self.threshold[nodes], return_inverse=True)
            rank[nodes] = ranks + 1
            cuts.append(values)
        return cuts, rank

    def leaf_boxes(
        self, roots: np.ndarray, rank: np.ndarray, tops: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Leaves under some roots, and the box of each as ranks of its two cuts, (leaves, d).

        Level by level, all trees at once. Rank 0 stands for -inf and ``tops`` for +inf.
        """
        node, lo = roots, np.zeros((len(roots), len(tops)), dtype=np.intp)
        hi = np.broadcast_to(tops, lo.shape)
        levels: list[tuple[np.ndarray, ...]] = []
        while len(node):
            leaf = self.left[node] < 0
            reachable = leaf & np.all(lo < hi, axis=1)  # no value is above 5 and at most 3
            levels.append((node[reachable], lo[reachable], hi[reachable]))
            node, lo, hi = node[~leaf], lo[~leaf], hi[~leaf]
            split = np.arange(len(node)), self.feature[node]
            lo_right, hi_left = lo.copy(), hi.copy()
            lo_right[split] = np.maximum(lo[split], rank[node])
            hi_left[split] = np.minimum(hi[split], rank[node])
            node = np.concatenate([self.left[node], self.right[node]])
            lo, hi = np.concatenate([lo, lo_right]), np.concatenate([hi_left, hi])
        return tuple(np.concatenate(part) for part in zip(*levels, strict=True))


class MassTable(NamedTuple):
    """P~(x_j <= cut) and differences of it, (cuts + 2, S), for the S distinct laws of the rows."""

    whole: np.ndarray
    differences: np.ndarray  # (differences, cuts + 2, S)
    state: np.ndarray  # which of the S columns each row reads, (rows,)
    sides: Any = None  # masses below and above each cut under three laws, (2, 3, cuts + 2, S)
    weights: Any = None  # of the differences

    def between(self, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The masses between two cuts (U,), and differences of them, (U, S) and (differences, U, S)."""
        if self.sides is None:
            return (
                self.whole[last] - self.whole[first],
                self.differences[:, last] - self.differences[:, first],
            )
        below, above = self.sides
        masses = np.where(
            below[:, first] > 0.5,
            above[:, first] - above[:, last],
            below[:, last] - below[:, first],
        )
        return masses[0], np.einsum("mv,vus->mus", self.weights, masses)


def mass_table(
    views: ConditionalLaws,
    j: int,
    cuts: np.ndarray,
    differences: np.ndarray = INSIDE_LESS_OUTSIDE,
    uneven: bool = False,
) -> MassTable:
    """The masses below each cut of feature j, with 0 and 1 (difference 0) at the two ends.

    A cut is inside one part of the law; all other parts are below it or above it as a whole.
    """
    law, weights = views.law, views.weights[:, :, j].transpose(1, 0, 2)  # (rows, 3, K)
    state = np.arange(len(weights))
    if law.mean.ndim == 2:  # rows differ in how often parts are drawn, not in the parts
        weights, state = np.unique(weights, axis=0, return_inverse=True)
    masses = weights @ _parts_below(law, j, cuts)  # (S, 3, cuts)
    ends = np.zeros((*masses.shape[:2], 1))
    masses = np.moveaxis(np.concatenate([ends, masses, ends + 1], axis=-1), 0, -1)
    table = MassTable(masses[0], np.einsum("mv,vcs->mcs", differences, masses), state.ravel())
    if not uneven:
        return table
    above = weights @ _parts_below(law, j, cuts, above=True)
    above = np.moveaxis(np.concatenate([ends + 1, above, ends], axis=-1), 0, -1)
    return table._replace(sides=(masses, above), weights=differences)


def _parts_below(law: BoxLaw, j: int, cuts: np.ndarray, above: bool = False) -> np.ndarray:
    """P(x_j <= cut | part), (rows, K, cuts), or (1, K, cuts) where all rows share the parts.

    Or P(x_j > cut | part) with all its digits, where that is small.
    """
    parts = np.broadcast_arrays(law.mean, law.sd, law.lo, law.hi)
    mean, sd, lo, hi = (np.atleast_2d(part[..., j, :]) for part in parts)
    point = sd == 0
    below = np.where(point, mean, hi)[..., None] <= cuts
    row, part, cut = np.nonzero(
        (~point & (lo < hi))[..., None] & (lo[..., None] < cuts) & (cuts < hi[..., None])
    )
    scale = np.where(point, 1.0, sd)
    a, b = (np.where(point, end, (at - mean) / scale) for end, at in ((-1.0, lo), (1.0, hi)))
    log_mass = normal_box(a, b).log_inside
    u = (cuts[cut] - mean[row, part]) / scale[row, part]
    result = (~below if above else below).astype(float)
    ends = (-b, -a) if above else (a, b)
    lower, upper = (end[row, part] for end in ends)
    result[row, part, cut] = _share_below(-u if above else u, lower, upper, log_mass[row, part])
    return result


def _share_below(u: np.ndarray, a: np.ndarray, b: np.ndarray, log_mass: np.ndarray) -> np.ndarray:
    """P(x <= u) for standard normals truncated to [a, b], of whose mass the logarithm is given.

    A difference of two tails on the side where they are small, good to 1e-14 where the interval is
    neither narrow nor beyond the reach of a double; elsewhere as in :mod:`limetutor.core.truncated`.
    """
    ndtr, side = scipy.special.ndtr, np.where(a > -b, -1.0, 1.0)
    with np.errstate(under="ignore", over="ignore"):
        share = side * (ndtr(side * u) - ndtr(side * a)) * np.exp(-np.maximum(log_mass, -500))
        hard = (b - a < 0.1) | (log_mass < -500)
        if np.any(hard):
            share[hard] = np.exp(normal_box(a[hard], u[hard]).log_inside - log_mass[hard])
    return share


class LeafGroup(NamedTuple):
    """The leaves of some trees: their values, and which of their distinct sides each one has."""

    value: np.ndarray  # (L,)
    has: Any  # sparse (L, U)
    sides: list[tuple[int, np.ndarray, np.ndarray]]  # a feature, and the ranks of two cuts, (U_j,)

    @classmethod
    def of(cls, value: np.ndarray, lo: np.ndarray, hi: np.ndarray, tops: np.ndarray) -> LeafGroup:
        """Leaves with boxes given as ranks of two cuts (L, d); rank 0 and ``tops`` are no cut."""
        from scipy import sparse

        leaf, feature = np.nonzero((lo > 0) | (hi < tops))
        base = int(tops.max(initial=0)) + 1
        key = (feature * base + lo[leaf, feature]) * base + hi[leaf, feature]
        distinct, side = np.unique(key, return_inverse=True)
        shape = (len(value), len(distinct))
        has = sparse.csr_array((np.ones(len(leaf)), (leaf, side)), shape=shape)
        owner, ranks = np.divmod(distinct, base * base)
        sides = [(int(j), *np.divmod(ranks[owner == j], base)) for j in np.unique(owner)]
        return cls(value, has, sides)

    def add(
        self, tables: dict[int, MassTable], rows: slice, mean: np.ndarray, moves: np.ndarray
    ) -> None:
        """Add the sums over these leaves to ``mean`` and ``moves``, for some rows."""
        if not self.sides:
            mean[rows] += self.value.sum()
            return
        logs, ratios = [], []
        for j, first, last in self.sides:
            table = tables[j]
            whole, difference = table.between(first, last)
            state = table.state[rows]
            if whole.shape[1] > len(state):
                whole, difference = whole[:, state], difference[..., state]
                state = np.arange(len(state))
            whole = np.maximum(whole, MIN_MASS)
            logs.append(np.take(np.log(whole), state, axis=1))
            ratios.append(np.take(difference / whole, state, axis=2))
        with np.errstate(under="ignore"):
            weighted = self.value[:, None] * np.exp(self.has @ np.concatenate(logs))
            mean[rows] += weighted.sum(axis=0)
            per_side = self.has.T @ weighted
            start = 0
            for (j, first, _), ratio in zip(self.sides, ratios, strict=True):
                end = start + len(first)
                moves[:, j, rows] += np.einsum("ur,mur->mr", per_side[start:end], ratio)
                start = end
