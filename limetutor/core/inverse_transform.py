"""Inverse transform sampling, fast: uniform numbers to values of a mixture of truncated normals.

Most of the time of an explanation goes into drawing, so what depends on the law alone is tabulated
and rows are filled in chunks that stay in the processor's cache. Chapter: sampling.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy

NUMBERS_PER_CHUNK = 2**14  # some ten such arrays fit into a second-level cache
COMPARISON_WIDTH = 256  # numbers from which on one vectorised comparison is worth its overhead
MAX_COUNTED_EDGES = 24  # with more edges, bisection beats counting the edges below a number
MIN_UNIFORM = 2.0**-53  # distance kept from 0 and 1, where quantiles are infinite
LOG_DOMAIN = 1e-290  # tail mass below which quantiles are computed from logarithms


class InverseTransform:
    """The parts of a :class:`limetutor.core.truncated.BoxLaw` as tables, ready to turn uniform numbers into values.

    The v-quantile of a part is mean + sd Phi^-1(Phi(a) + v (Phi(b) - Phi(a))) with a and b its ends
    in units of its normal. Parts to the right of their mean are mirrored into the left tail, where
    Phi keeps its digits; those beyond the reach of Phi go to :func:`truncated_quantile`.
    """

    def __init__(self, law: Any) -> None:
        self.d, self.parts = law.mean.shape
        self.boxes = np.broadcast_to(law.boxes, law.mean.shape)  # the box of each part
        edges = np.cumsum(law.prob, axis=1)
        edges /= edges[:, -1:]
        self.edges = edges[:, :-1]
        self.start = np.concatenate([np.zeros((self.d, 1)), self.edges], axis=1)
        self.width = edges - self.start
        self.ends = lo, hi = law.standard_ends()
        self.mirrored = lo > 0
        self.low = scipy.special.ndtr(np.where(self.mirrored, -hi, lo))
        high = scipy.special.ndtr(np.where(self.mirrored, -lo, hi))
        self.span, self.deep = high - self.low, high < LOG_DOMAIN
        self.any_mirrored, self.any_deep = bool(self.mirrored.any()), bool(self.deep.any())
        self.mean, self.sd = law.mean, np.where(self.mirrored, -law.sd, law.sd)
        point = law.sd == 0
        self.lo, self.hi = np.where(point, law.mean, law.lo), np.where(point, law.mean, law.hi)
        self.clips = _may_leave_interval(self.lo, self.hi, law.prob)
        self.first = self.parts * np.arange(self.d)  # position of each coordinate's first part
        # short rows are compared several at a time, against as many copies of the edges
        self.rows_at_once = max(COMPARISON_WIDTH // self.d, 1)
        self.repeated_edges = np.tile(self.edges.T, self.rows_at_once)
        self.repeated_first = np.tile(self.first, self.rows_at_once)

    def draw(
        self, rng: np.random.Generator, n: int, labels: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """n draws: values (n, d), and the entry of ``labels`` (d, K) of each one's part.

        One uniform number picks the part and is overwritten, another picks the place in it.
        """
        x, labelled = rng.random((n, self.d)), np.empty((n, self.d), labels.dtype)
        for rows, part, place, entry in self._chunks(x):
            labels.take(part, out=labelled[rows], mode="clip")
            self._quantiles(part, rng.random(out=place), x[rows], entry)
        return x, labelled

    def at(self, u: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for given uniform numbers u (n, d), one for both part and place."""
        x, labelled = np.empty_like(u), np.empty(u.shape, labels.dtype)
        for rows, part, place, entry in self._chunks(u):
            labels.take(part, out=labelled[rows], mode="clip")
            np.divide(u[rows] - self.start.take(part), self.width.take(part), out=place)
            np.clip(place, MIN_UNIFORM, 1 - MIN_UNIFORM, out=place)
            self._quantiles(part, place, x[rows], entry)
        return x, labelled

    def _chunks(self, u: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray]]:
        """Chunks of rows: the part that each uniform number falls into, counted over (d, K), and
        two arrays to work in, the same for all chunks.
        """
        chunked = chunks(len(u), self.d, self.rows_at_once)
        shape = (chunked[0].stop if chunked else 0, self.d)
        parts, places, entries = np.empty(shape, np.intp), np.empty(shape), np.empty(shape)
        for rows in chunked:
            size = rows.stop - rows.start
            part = parts[:size]
            if self.parts > MAX_COUNTED_EDGES:
                for j, (edges, column) in enumerate(zip(self.edges, u[rows].T, strict=True)):
                    part[:, j] = np.searchsorted(edges, column, side="right")
                part += self.first
            else:
                full = size - size % self.rows_at_once
                _count_edges(u[rows][:full], self.repeated_edges, self.repeated_first, part[:full])
                if full < size:
                    _count_edges(u[rows][full:], self.edges.T, self.first, part[full:])
            yield rows, part, places[:size], entries[:size]

    def _quantiles(self, part: np.ndarray, v: np.ndarray, x: np.ndarray, entry: np.ndarray) -> None:
        """The v-quantile of the given part, entry by entry, into x; v and entry are overwritten."""
        if self.any_mirrored:
            np.subtract(1.0, v, out=v, where=self.mirrored.take(part))
        self.span.take(part, out=x, mode="clip")  # "clip" skips the check of bounds
        x *= v
        x += self.low.take(part, out=entry, mode="clip")
        scipy.special.ndtri(x, out=x)
        if self.any_deep:
            deep = self.deep.take(part)
            positions = part[deep]
            flip = self.mirrored.take(positions)
            lo, hi = (end.take(positions) for end in self.ends)
            values = truncated_quantile(np.where(flip, 1 - v[deep], v[deep]), lo, hi)
            x[deep] = np.where(flip, -values, values)
        x *= self.sd.take(part, out=entry, mode="clip")
        x += self.mean.take(part, out=entry, mode="clip")
        if self.clips:
            np.maximum(x, self.lo.take(part, out=entry, mode="clip"), out=x)
            np.minimum(x, self.hi.take(part, out=entry, mode="clip"), out=x)


def _count_edges(u: np.ndarray, edges: np.ndarray, first: np.ndarray, part: np.ndarray) -> None:
    """``first`` plus the number of edges that are at most u, row by row of ``edges``."""
    u, part = u.reshape(-1, len(first)), part.reshape(-1, len(first))
    count, at_most = np.zeros(u.shape, np.uint8), np.empty(u.shape, np.uint8)
    for edge in edges:
        np.greater_equal(u, edge, out=at_most.view(bool))
        np.add(count, at_most, out=count)
    np.add(count, first, out=part)


def _may_leave_interval(lo: np.ndarray, hi: np.ndarray, prob: np.ndarray) -> bool:
    """Whether some part is so narrow beside its ends that rounding could lead out of it.

    Elsewhere a value lies outside by the last digit once in 10^9 draws at most: no check is needed.
    """
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(lo), np.abs(hi))
        return bool(np.any((prob > 0) & (hi > lo) & np.isfinite(size) & (hi - lo < 1e-6 * size)))


def chunks(n: int, width: int, multiple: int = 1) -> list[slice]:
    """Rows 0 to n in even chunks of about ``NUMBERS_PER_CHUNK`` numbers, of a multiple of rows."""
    count = max(round(n * width / NUMBERS_PER_CHUNK), 1)
    rows = multiple * max(-(-n // (count * multiple)), 1)
    starts = range(0, n, rows)
    return list(map(slice, starts, [*starts[1:], n]))


def truncated_quantile(v: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The v-quantile of a standard normal truncated to [lo, hi].

    The interval is mirrored into the left tail, where Phi keeps its digits; below a mass of 1e-290
    logarithms take over.
    """
    mirrored = lo > 0
    a, b = np.where(mirrored, -hi, lo), np.where(mirrored, -lo, hi)
    v = np.where(mirrored, 1 - v, v)
    low, high = scipy.special.ndtr(a), scipy.special.ndtr(b)
    x = scipy.special.ndtri(low + v * (high - low))
    deep = high < LOG_DOMAIN
    if np.any(deep):
        log_low, log_high = scipy.special.log_ndtr(a[deep]), scipy.special.log_ndtr(b[deep])
        ratio = np.exp(log_low - log_high)
        x[deep] = scipy.special.ndtri_exp(log_high + np.log(ratio + v[deep] * (1 - ratio)))
    x = np.clip(x, a, b)
    return np.where(mirrored, -x, x)
