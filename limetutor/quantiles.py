"""Values of a law from uniform numbers: which part, then where in it.

Drawing is where the time of an explanation goes, so what depends on the law alone stands in tables,
and rows are filled a chunk at a time that stays in the processor's cache. Chapter: sampling.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

if TYPE_CHECKING:
    from .laws import BoxLaw

CHUNK = 2**14  # numbers worked on at a time: a dozen such arrays fit into a second-level cache
WIDE = 256  # numbers from which on a loop over them is worth setting up
BISECTION = 24  # from this many parts a bisection beats counting the edges below a number
NEAREST = 2.0**-53  # a uniform number is kept this far from 0 and 1, where quantiles are infinite


class Quantiles:
    """The parts of a law as tables, ready to turn uniform numbers into values.

    The v-quantile of a part is mean + sd Phi^-1(Phi(a) + v (Phi(b) - Phi(a))) with a and b its ends
    in units of its normal. Parts to the right of their mean are mirrored into the left tail, where
    Phi keeps its digits; those beyond the reach of Phi go to :func:`truncated_quantile`.
    """

    def __init__(self, law: BoxLaw) -> None:
        self.d, self.parts = law.mean.shape
        edges = np.cumsum(law.prob, axis=1)
        edges /= edges[:, -1:]
        self.edges = edges[:, :-1]
        self.start = np.concatenate([np.zeros((self.d, 1)), self.edges], axis=1)
        self.width = edges - self.start
        self.ends = law.standard_ends()
        lo, hi = self.ends
        self.mirrored = lo > 0
        self.low = scipy.special.ndtr(np.where(self.mirrored, -hi, lo))
        high = scipy.special.ndtr(np.where(self.mirrored, -lo, hi))
        self.span, self.deep = high - self.low, high < 1e-290
        self.some_mirrored, self.some_deep = bool(self.mirrored.any()), bool(self.deep.any())
        self.mean, self.sd = law.mean, np.where(self.mirrored, -law.sd, law.sd)
        point = law.sd == 0
        self.lo, self.hi = np.where(point, law.mean, law.lo), np.where(point, law.mean, law.hi)
        self.narrow = _narrow(self.lo, self.hi, law.prob)
        self.first = self.parts * np.arange(self.d)  # where the parts of a coordinate begin
        # rows that are compared in one go: short ones are slow
        self.abreast = max(WIDE // self.d, 1)
        self.abreast_edges = np.tile(self.edges.T, self.abreast)
        self.abreast_first = np.tile(self.first, self.abreast)

    def part(self, u: np.ndarray, part: np.ndarray) -> None:
        """Which part each of the uniform numbers u (n, d) falls into, counted over all (n, d)."""
        if self.parts > BISECTION:
            for j, (edges, column) in enumerate(zip(self.edges, u.T, strict=True)):
                part[:, j] = np.searchsorted(edges, column, side="right")
            part += self.first
            return
        whole = len(u) - len(u) % self.abreast
        if whole:
            _count(u[:whole], self.abreast_edges, self.abreast_first, part[:whole])
        if whole < len(u):
            _count(u[whole:], self.edges.T, self.first, part[whole:])

    def within(self, part: np.ndarray, v: np.ndarray, x: np.ndarray, room: np.ndarray) -> None:
        """The v-quantile of the given part, entry by entry, into x; v and room are overwritten."""
        entry = room[0]
        if self.some_mirrored:
            np.subtract(1.0, v, out=v, where=self.mirrored.take(part))
        self.span.take(part, out=x, mode="clip")  # tables are read without a check of bounds
        x *= v
        x += self.low.take(part, out=entry, mode="clip")
        normal_quantiles(x, room)
        if self.some_deep:
            self._beyond_reach(part, v, x)
        x *= self.sd.take(part, out=entry, mode="clip")
        x += self.mean.take(part, out=entry, mode="clip")
        if not self.narrow:
            return
        np.maximum(x, self.lo.take(part, out=entry, mode="clip"), out=x)
        np.minimum(x, self.hi.take(part, out=entry, mode="clip"), out=x)

    def _beyond_reach(self, part: np.ndarray, v: np.ndarray, x: np.ndarray) -> None:
        """Quantiles of parts whose mass a double cannot hold, through logarithms."""
        deep = self.deep.take(part)
        mine = part[deep]
        flip = self.mirrored.take(mine)
        found = truncated_quantile(
            np.where(flip, 1 - v[deep], v[deep]), *(end.take(mine) for end in self.ends)
        )
        x[deep] = np.where(flip, -found, found)

    def place(self, part: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Where in its part each u lies, from 0 to 1: one number says part and place."""
        v = (u - self.start.take(part)) / self.width.take(part)
        return np.clip(v, NEAREST, 1 - NEAREST)

    def draw(
        self, rng: np.random.Generator, n: int, marks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """n draws: values (n, d), and the entry of ``marks`` (d, K) that belongs to each one's part."""
        which, where = _twice(rng, n * self.d)
        x, marked = np.empty((n, self.d)), np.empty((n, self.d), marks.dtype)
        for rows, part, u, room in self._pieces(n):
            self.part(which.random(out=u), part)
            marks.take(part, out=marked[rows], mode="clip")
            self.within(part, where.random(out=u), x[rows], room)
        rng.bit_generator.state = where.bit_generator.state
        return x, marked

    def at(self, u: np.ndarray, marks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for given uniform numbers u (n, d), one for part and place."""
        x, marked = np.empty_like(u), np.empty(u.shape, marks.dtype)
        for rows, part, _, room in self._pieces(len(u)):
            self.part(u[rows], part)
            marks.take(part, out=marked[rows], mode="clip")
            self.within(part, self.place(part, u[rows]), x[rows], room)
        return x, marked

    def _pieces(self, n: int) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Rows a chunk at a time, with room for their parts, their uniform numbers and for work.

        The room is the same for all chunks, and so in the cache from the second one on.
        """
        pieces = chunks(n, self.d, self.abreast)
        shape = (max((rows.stop - rows.start for rows in pieces), default=0), self.d)
        part, u, room = np.empty(shape, np.intp), np.empty(shape), np.empty((ROOM, *shape))
        for rows in pieces:
            many = rows.stop - rows.start
            yield rows, part[:many], u[:many], room[:, :many]


class _Cells(NamedTuple):
    """Cells of (2^-20, 1/2) that a table of Phi^-1 has, 2^9 to a power of two.

    ``middle`` is the middle of a cell and ``x`` its quantile; ``slope`` is the derivative there,
    sqrt(2 pi) exp(x^2 / 2); ``third`` is (1 + 2 x^2) / 6 and ``fourth`` is x (7 + 6 x^2) / 24.
    """

    middle: np.ndarray
    x: np.ndarray
    slope: np.ndarray
    third: np.ndarray
    fourth: np.ndarray


TAIL = 2.0**-20  # probabilities below are left to scipy
BITS = 9  # of a probability, behind its exponent, which say its cell: few cells stay in cache
ROOM = 5  # arrays that :func:`normal_quantiles` works in


@cache
def _cells() -> tuple[_Cells, int]:
    """The table, and the number that the bits of its first cell make."""
    first, behind = (int(np.float64(end).view(np.int64)) >> (52 - BITS) for end in (TAIL, 0.5))
    ends = (np.arange(first, behind + 1) << (52 - BITS)).view(np.float64)
    middle = (ends[1:] + ends[:-1]) / 2
    x = scipy.special.ndtri(middle)
    slope = np.sqrt(2 * np.pi) * np.exp(x * x / 2)
    return _Cells(middle, x, slope, (1 + 2 * x * x) / 6, x * (7 + 6 * x * x) / 24), first


def normal_quantiles(p: np.ndarray, room: np.ndarray) -> None:
    """Phi^-1(p) in place of p, to 2e-15 of it; ``room`` is for ``ROOM`` arrays like p.

    With q = min(p, 1 - p) in a cell with middle m and quantile x, and t = (q - m) times the slope
    there, Taylor's series is

        Phi^-1(q) = x + t (1 + t (x / 2 + t ((1 + 2 x^2) / 6 + t x (7 + 6 x^2) / 24))) + O(t^5),

    and |t| is below 1e-3 all the way, since cells are as wide as q is large. Passes over arrays
    take less time than scipy's logarithms and branches, number by number.
    """
    cells, first = _cells()
    q, t, sum_, x = room[:4]
    cell = room[4].view(np.int64)
    np.minimum(np.subtract(1.0, p, out=q), p, out=q)
    beyond = np.flatnonzero(q < TAIL)
    far = scipy.special.ndtri(p.take(beyond))
    np.right_shift(q.view(np.int64), 52 - BITS, out=cell)
    cell -= first
    cells.middle.take(cell, out=t, mode="clip")
    np.subtract(q, t, out=t)
    t *= cells.slope.take(cell, out=q, mode="clip")
    cells.fourth.take(cell, out=sum_, mode="clip")
    sum_ *= t
    sum_ += cells.third.take(cell, out=q, mode="clip")
    cells.x.take(cell, out=x, mode="clip")
    sum_ *= t
    sum_ += np.multiply(x, 0.5, out=q)
    sum_ *= t
    sum_ += 1.0
    sum_ *= t
    sum_ += x
    p -= 0.5
    np.copysign(sum_, p, out=p)
    p.put(beyond, far)


def _count(u: np.ndarray, edges: np.ndarray, first: np.ndarray, part: np.ndarray) -> None:
    """``first`` and how many edges are at most u, for as many u at a time as there are of these."""
    u, part = u.reshape(-1, len(first)), part.reshape(-1, len(first))
    below, above = np.zeros(u.shape, np.uint8), np.empty(u.shape, np.uint8)
    answer = above.view(bool)
    for edge in edges:
        np.greater_equal(u, edge, out=answer)
        np.add(below, above, out=below)
    np.add(below, first, out=part)


def _narrow(lo: np.ndarray, hi: np.ndarray, prob: np.ndarray) -> bool:
    """Whether some part is so narrow beside its ends that rounding could lead out of it.

    Elsewhere a value lies outside by the last digit once in 10^9 draws at most: no check is needed.
    """
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(lo), np.abs(hi))
        return bool(np.any((prob > 0) & (hi > lo) & np.isfinite(size) & (hi - lo < 1e-6 * size)))


def chunks(n: int, width: int, multiple: int = 1) -> list[slice]:
    """Rows 0 to n in even pieces of about ``CHUNK`` numbers, each of a multiple of so many rows."""
    many = max(round(n * width / CHUNK), 1)
    rows = multiple * max(-(-n // (many * multiple)), 1)
    return [slice(start, min(start + rows, n)) for start in range(0, n, rows)]


def ascending(law: BoxLaw) -> BoxLaw:
    """The same law with its parts in the order of their values, empty ones behind."""
    key = np.where(np.isneginf(law.log_prob), np.inf, np.where(law.sd == 0, law.mean, law.lo))
    order = np.argsort(key, axis=1, kind="stable")
    names = ("log_prob", "mean", "sd", "lo", "hi")
    parts = {name: np.take_along_axis(getattr(law, name), order, 1) for name in names}
    boxes = np.broadcast_to(law.boxes, law.mean.shape)
    return replace(law, **parts, box=np.take_along_axis(boxes, order, 1))


def _twice(rng: np.random.Generator, count: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Two generators for the next ``count`` numbers of rng and the ``count`` behind these.

    Both can then be read side by side, a chunk at a time. A generator that cannot jump ahead is
    asked for the first numbers at once.
    """
    bits = rng.bit_generator
    if isinstance(bits, np.random.PCG64) and not bits.state["has_uint32"]:
        ahead = np.random.PCG64(0)
        ahead.state = bits.state
        ahead.advance(count)
        return rng, np.random.Generator(ahead)
    return _Kept(rng.random(count)), rng  # type: ignore[return-value]


class _Kept:
    """Numbers that were drawn before, handed out in order."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers, self.used = numbers, 0

    def random(self, out: np.ndarray) -> np.ndarray:
        """The next ones, into ``out``."""
        start, self.used = self.used, self.used + out.size
        out[...] = self.numbers[start : self.used].reshape(out.shape)
        return out


def truncated_quantile(v: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The v-quantile of a standard normal truncated to [lo, hi].

    The interval is mirrored into the left tail, where Phi keeps its digits; beyond the reach of
    Phi itself (below 1e-290) logarithms take over.
    """
    mirrored = lo > 0
    a, b = np.where(mirrored, -hi, lo), np.where(mirrored, -lo, hi)
    v = np.where(mirrored, 1 - v, v)
    low, high = scipy.special.ndtr(a), scipy.special.ndtr(b)
    x = scipy.special.ndtri(low + v * (high - low))
    deep = high < 1e-290
    if np.any(deep):
        log_low, log_high = scipy.special.log_ndtr(a[deep]), scipy.special.log_ndtr(b[deep])
        ratio = np.exp(log_low - log_high)
        x[deep] = scipy.special.ndtri_exp(log_high + np.log(ratio + v[deep] * (1 - ratio)))
    x = np.clip(x, a, b)
    return np.where(mirrored, -x, x)
