"""Trees explained at many instances at once: the work that rows share is done once.

A leaf is a product of sides, one for each feature on its path, and under the tilted law its
expectation is the product of their masses W. What an explanation needs of it is

    E~[leaf] = prod_i W_i,    E~[leaf | z_j = 1] - E~[leaf | z_j = 0] = D_j prod_{i != j} W_i,

with D_j the mass of side j inside xi's box less its mass outside. The sides are those of the trees
and the same for all instances; W and D are lookups in tables over the thresholds of a feature, and
rows that a kernel sees alike (by the box of a feature, for `lime`'s) share a column of them. The
sum over the leaves is then two products with a sparse matrix that says which leaf has which sides.
Chapter: beyond linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from .laws import normal_box
from .theory import Views

CHUNK = 2**18  # numbers looked at together: they stay in cache
# In prod_{i != j} W_i, written as prod_i W_i / W_j, a mass below this counts as this much: where
# one is 0 the quotient is right, where two are it is off by this times a leaf, which is nothing.
LEAST = 1e-30


class Bundle(NamedTuple):
    """The leaves of some trees: their values, and which of their distinct sides each one has."""

    value: np.ndarray  # (L,)
    has: object  # sparse (L, U)
    sides: list[tuple[int, np.ndarray, np.ndarray]]  # a feature, and the ranks of two cuts, (U_j,)


@dataclass(frozen=True, eq=False)
class Leaves:
    """All leaves of a forest in bundles, and the thresholds of each feature in order."""

    cuts: list[np.ndarray]
    bundles: list[Bundle]


def bundle(value: np.ndarray, lo: np.ndarray, hi: np.ndarray, tops: np.ndarray) -> Bundle:
    """Leaves with boxes given as ranks of two cuts (L, d), of which rank 0 and ``tops`` are no cut."""
    from scipy import sparse

    leaf, feature = np.nonzero((lo > 0) | (hi < tops))
    base = int(tops.max(initial=0)) + 1
    key = (feature * base + lo[leaf, feature]) * base + hi[leaf, feature]
    distinct, side = np.unique(key, return_inverse=True)
    shape = (len(value), len(distinct))
    has = sparse.csr_array((np.ones(len(leaf)), (leaf, side)), shape=shape)
    owner, ranks = np.divmod(distinct, base * base)
    sides = []
    for j in np.unique(owner):
        first, last = np.divmod(ranks[owner == j], base)
        sides.append((int(j), first, last))
    return Bundle(value, has, sides)


class Table(NamedTuple):
    """P~(x_j <= cut) and its contrast inside less outside, (cuts + 2, S), for S states of a row."""

    whole: np.ndarray
    contrast: np.ndarray
    state: np.ndarray  # which column each row reads, (rows,)


def table(views: Views, j: int, cuts: np.ndarray) -> Table:
    """The masses below each cut of feature j, with 0 and 1 (contrast 0) at the two ends.

    A cut is inside one part of the law; all other parts are below it or above it as a whole.
    """
    law, weights = views.law, views.weights[:, :, j]  # (3, rows, K)
    if law.mean.ndim == 2:  # rows differ in how often parts are drawn, not in the parts
        kinds, state = np.unique(weights.transpose(1, 0, 2), axis=0, return_inverse=True)
        below = law.box_cdf(j, cuts)[None]
    else:
        kinds, state = weights.transpose(1, 0, 2), np.arange(weights.shape[1])
        below = _parts_below(views, j, cuts)
    masses = np.moveaxis(kinds @ below, 0, -1)  # (3, cuts, S)
    ends = [np.full((1, kinds.shape[0]), end) for end in (0.0, 1.0)]
    whole = np.concatenate([ends[0], masses[0], ends[1]])
    contrast = np.concatenate([ends[0], masses[1] - masses[2], ends[0]])
    return Table(whole, contrast, state.ravel())


def _parts_below(views: Views, j: int, cuts: np.ndarray) -> np.ndarray:
    """P(x_j <= cut | part) where rows have parts of their own, (rows, K, cuts)."""
    law = views.law
    shape = views.weights.shape[1:]
    mean, sd, lo, hi = (
        np.broadcast_to(part, shape)[:, j] for part in (law.mean, law.sd, law.lo, law.hi)
    )
    point = sd == 0
    below = np.where(point, mean, hi)[..., None] <= cuts
    row, part, cut = np.nonzero(
        (~point & (lo < hi))[..., None] & (lo[..., None] < cuts) & (cuts < hi[..., None])
    )
    scale = np.where(point, 1.0, sd)
    a, b = (np.where(point, end, (at - mean) / scale) for end, at in ((-1.0, lo), (1.0, hi)))
    log_mass = normal_box(a, b).log_inside
    u = (cuts[cut] - mean[row, part]) / scale[row, part]
    result = below.astype(float)
    result[row, part, cut] = _share_below(u, a[row, part], b[row, part], log_mass[row, part])
    return result


def _share_below(u: np.ndarray, a: np.ndarray, b: np.ndarray, log_mass: np.ndarray) -> np.ndarray:
    """P(x <= u) for standard normals truncated to [a, b], of whose mass the logarithm is given.

    A difference of two tails on the side where they are small, good to 1e-14 where the interval is
    neither narrow nor beyond the reach of a double; elsewhere as in :mod:`limetutor.laws`.
    """
    ndtr, side = scipy.special.ndtr, np.where(a + b > 0, -1.0, 1.0)
    with np.errstate(under="ignore", over="ignore"):
        share = side * (ndtr(side * u) - ndtr(side * a)) * np.exp(-np.maximum(log_mass, -500))
        hard = (b - a < 0.1) | (log_mass < -500)
        if np.any(hard):
            share[hard] = np.exp(normal_box(a[hard], u[hard]).log_inside - log_mass[hard])
    return share


def contrasts(leaves: Leaves, views: Views) -> tuple[np.ndarray, np.ndarray]:
    """E~[f] (rows,) and E~[f | z_j = 1] - E~[f | z_j = 0] (rows, d) of the sum of the leaves."""
    rows, d = views.weights.shape[1:3]
    tables = [table(views, j, cuts) if len(cuts) else None for j, cuts in enumerate(leaves.cuts)]
    mean, beta = np.zeros(rows), np.zeros((d, rows))
    for part in leaves.bundles:
        step = max(CHUNK // max(part.has.shape), 1)  # type: ignore[attr-defined]
        for start in range(0, rows, step):
            here = slice(start, min(start + step, rows))
            _add(part, tables, here, mean, beta)
    return mean, beta.T


def _add(
    part: Bundle, tables: list[Table | None], here: slice, mean: np.ndarray, beta: np.ndarray
) -> None:
    """Add what a bundle of leaves has for some rows."""
    logs, ratios = [], []
    for j, first, last in part.sides:
        found = tables[j]
        assert found is not None
        whole, contrast = (t[last] - t[first] for t in (found.whole, found.contrast))
        state = found.state[here]
        if whole.shape[1] > len(state):
            whole, contrast, state = whole[:, state], contrast[:, state], np.arange(len(state))
        whole = np.maximum(whole, LEAST)
        logs.append(np.take(np.log(whole), state, axis=1))
        ratios.append(np.take(contrast / whole, state, axis=1))
    if not logs:
        mean[here] += part.value.sum()
        return
    with np.errstate(under="ignore"):
        weighted = part.value[:, None] * np.exp(part.has @ np.concatenate(logs))  # type: ignore[operator]
        mean[here] += weighted.sum(axis=0)
        moves = part.has.T @ weighted  # type: ignore[attr-defined]
        start = 0
        for (j, first, _), ratio in zip(part.sides, ratios, strict=True):
            beta[j, here] += np.einsum("ur,ur->r", moves[start : start + len(first)], ratio)
            start += len(first)
