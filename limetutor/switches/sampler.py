"""Draw masks of the weighted law: stratified by number, balanced by switch, in opposite pairs.

Every number of switches that are on gets its exact share of the masks. Where about half of them are
on, as in `lime`'s images, masks come in antithetic pairs that are as opposite as their numbers allow,
so that what f does alike at opposite masks, its interactions of two switches above all, leaves hardly
any noise in the coefficients. Which switches are on follows the rows of a Hadamard matrix, in which
any two switches agree as often as they differ. Chapters: images, text.
"""

import numpy as np
import scipy

from .switches import Switches

MAX_PAIRED_SWITCHES = 600  # beyond which pairs and control variates take longer than they save
MAX_IMBALANCE = 0.1  # distance of the mean share of switches on from 1/2, to be drawn in pairs
MIN_MASKS_PER_SWITCH = 4  # to be drawn in pairs: fewer opposites tell too little


def in_pairs(n: int, d: int) -> bool:
    """Whether n masks of d switches may come in pairs, rows 2i and 2i + 1."""
    return d <= MAX_PAIRED_SWITCHES and n >= MIN_MASKS_PER_SWITCH * (d + 2)


def draw(world: Switches, n: int, rng: np.random.Generator) -> np.ndarray:
    """n masks of the weighted law, (n, d) of bool; every number on has its share, rounded.

    Each mask by itself follows the law; together they are more even than independent ones. With an
    odd n the last one has no opposite.
    """
    k = _numbers(world, n, rng)
    if not (in_pairs(n, world.d) and has_opposites(world)):
        return _largest(rng.random((n, world.d)), rng.permutation(k))
    alone = rng.permutation(n)[: n % 2]
    paired = np.delete(k, alone)
    pairs = len(paired) // 2
    ends = np.column_stack([paired[:pairs], paired[::-1][:pairs]])
    first, second = rng.permuted(ends[rng.permutation(pairs)], axis=1).T
    order = _order(world.d, first, rng)
    z = np.empty((n, world.d), bool)
    z[0 : 2 * pairs : 2], z[1 : 2 * pairs : 2] = _largest(order, first), _largest(-order, second)
    z[2 * pairs :] = _largest(rng.random((n % 2, world.d)), k[alone])
    return z


def has_opposites(world: Switches) -> bool:
    """Whether about half of the switches are on: a mask with most of them on has no opposite."""
    share = np.exp(world.log_measure - world.log_C)
    return bool(abs(share @ world.levels - 0.5) < MAX_IMBALANCE)


def _numbers(world: Switches, n: int, rng: np.random.Generator) -> np.ndarray:
    """How many switches are on in each of n masks, (n,), ascending: one from each n-th of the law."""
    share = np.exp(world.log_measure - world.log_C)
    places = (np.arange(n) + rng.random()) / n
    last = int(np.flatnonzero(share)[-1])
    return np.minimum(np.searchsorted(np.cumsum(share), places, side="right"), last)


def _largest(order: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Masks in which the k largest of a row are on, (n, d) of bool; none where k is 0."""
    ascending, d = np.sort(order, axis=1), order.shape[1]
    least = np.take_along_axis(ascending, np.minimum(d - k, d - 1)[:, None], axis=1)
    return (order >= least) & (k > 0)[:, None]


def _order(d: int, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ranks by which switches are flipped on, (m, d): the positive signs of a row first.

    Signs are rows of Hadamard matrices, whose columns and their signs are drawn at random, so that any
    k of a row are equally likely its largest. Rows with many positive signs are used where many
    switches are on, so that few depart from their signs.
    """
    matrix = scipy.linalg.hadamard(2 ** int(d).bit_length(), np.int8)
    size, blocks = len(matrix), []
    for _ in range(-(-len(k) // size)):
        columns = 1 + rng.permutation(size - 1)[:d]  # the first is constant
        flipped = rng.choice(np.array([-1, 1], np.int8), d)
        blocks.append((matrix[:, columns] * flipped)[rng.permutation(size)])
    signs, place = np.vstack(blocks)[: len(k)], np.empty(len(k), int)
    place[np.argsort(k, kind="stable")] = np.argsort(signs.sum(axis=1), kind="stable")
    return signs[place] + rng.random((len(k), d))
