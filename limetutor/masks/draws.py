"""Masks of the weighted law, spread evenly: by number, by switch, and each with its opposite.

Every number of switches that are on gets its exact share of the masks. Where about half of them are
on, as in `lime`'s images, masks come in pairs that are as opposite as their numbers allow, few with
many and on where the other is off, so that what f does alike at opposite masks, its interactions of
two switches above all, leaves hardly any noise in the coefficients. And which are on follows the rows
of a Hadamard matrix, in which any two switches agree as often as they differ. Chapters: images, text.
"""

from __future__ import annotations

import numpy as np
import scipy

from .switches import Switches

MANY = 600  # switches, beyond which pairs and twins take longer than they save
HALF = 0.1  # how far from one half of the switches on a law may be, to be drawn in pairs
PAIRED = 4  # masks a switch, from which on they are drawn in pairs: fewer opposites tell too little


def in_pairs(n: int, d: int) -> bool:
    """Whether n masks of d switches may come in pairs, rows 2i and 2i + 1."""
    return d <= MANY and n >= PAIRED * (d + 2)


def draw(world: Switches, n: int, rng: np.random.Generator) -> np.ndarray:
    """n masks of the weighted law, (n, d) of bool; every number on has its share, rounded.

    Each mask by itself follows the law; together they are more even than chance would make them.
    With an odd n the last one has no opposite.
    """
    k = _numbers(world, n, rng)
    if not (in_pairs(n, world.d) and has_opposites(world)):
        return _largest(rng.random((n, world.d)), rng.permutation(k))
    alone = rng.permutation(n)[: n % 2]
    many = np.delete(k, alone)
    pairs = len(many) // 2
    ends = np.column_stack([many[:pairs], many[::-1][:pairs]])
    first, second = rng.permuted(ends[rng.permutation(pairs)], axis=1).T
    order = _order(world.d, first, rng)
    z = np.empty((n, world.d), bool)
    z[0 : 2 * pairs : 2], z[1 : 2 * pairs : 2] = _largest(order, first), _largest(-order, second)
    z[2 * pairs :] = _largest(rng.random((n % 2, world.d)), k[alone])
    return z


def has_opposites(world: Switches) -> bool:
    """Whether about half of the switches are on: of a mask with most of them on hardly any is off."""
    share = np.exp(world.log_measure - world.log_C)
    return bool(abs(share @ world.levels - 0.5) < HALF)


def _numbers(world: Switches, n: int, rng: np.random.Generator) -> np.ndarray:
    """How many switches are on in each of n masks, (n,), ascending: one from each n-th of the law."""
    share = np.exp(world.log_measure - world.log_C)
    places = (np.arange(n) + rng.random()) / n
    most = int(np.flatnonzero(share)[-1])
    return np.minimum(np.searchsorted(np.cumsum(share), places, side="right"), most)


def _largest(order: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Masks in which the k largest of a row are on, (n, d) of bool; none where k is 0."""
    ascending, d = np.sort(order, axis=1), order.shape[1]
    least = np.take_along_axis(ascending, np.minimum(d - k, d - 1)[:, None], axis=1)
    return (order >= least) & (k > 0)[:, None]


def _order(d: int, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """In which order switches are put on, (m, d): those of a row of signs first, then the others.

    Rows with many signs go where many are to be on, so that few switches depart from their signs.
    Columns are permuted at random, which makes any k of a row equally likely to be its largest.
    """
    signs = _signs(d, len(k), rng)
    place = np.empty(len(k), int)
    place[np.argsort(k, kind="stable")] = np.argsort(signs.sum(axis=1), kind="stable")
    return signs[place] + rng.random((len(k), d))


def _signs(d: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of Hadamard matrices, (rows, d) of -1 and 1: columns drawn and turned over at random."""
    matrix = scipy.linalg.hadamard(2 ** int(d).bit_length(), np.int8)
    size = len(matrix)
    blocks = []
    for _ in range(-(-rows // size)):
        columns = 1 + rng.permutation(size - 1)[:d]  # the first is constant
        turned = rng.choice(np.array([-1, 1], np.int8), d)
        blocks.append((matrix[:, columns] * turned)[rng.permutation(size)])
    return np.vstack(blocks)[:rows]
