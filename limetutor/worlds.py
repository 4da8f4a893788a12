"""Worlds: where new examples come from, and the quantile boxes that cut each feature.

A world says, feature by feature, which boxes there are, how often each is drawn and which normal
is truncated to it. :class:`Gaussian` is the paper's world, :class:`Empirical` reads the boxes off
a training set as `lime` does. Both resolve to :class:`Boxes`, which the rest of the package uses.
Chapter: discretization.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from . import arguments as arg
from .columns import NUMBER, BoxInWords, Kind
from .laws import BoxLaw
from .tables import default_names, positions, read_table, rows_of

MOST_BOXES = 10_000  # of one feature; more of them than training sets have rows


class Column(NamedTuple):
    """One feature: its inner edges, then frequency, normal and ends of each of its boxes."""

    edges: np.ndarray
    prob: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    lo: np.ndarray
    hi: np.ndarray


# what stands in for the boxes that a feature does not have
PADDING = Column(np.inf, 0.0, 0.0, 1.0, -1.0, 1.0)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of d features, ready to use.

    ``inner`` (d, K - 1) are the inner edges of each feature, infinite where it has fewer.
    ``left_closed`` says which box a value on an edge belongs to: the upper one in the paper, the
    lower one in `lime`. ``kinds`` holds the kind of every feature that is not a plain number.
    ``standard`` (d, K + 1) are all edges in units of a whole normal law N(mu, sigma^2), where the
    features have one, and None elsewhere. ``unit`` is what a bandwidth of 1 means for each feature.
    """

    law: BoxLaw
    inner: np.ndarray
    left_closed: bool
    names: tuple[str, ...]
    mu: np.ndarray
    sigma: np.ndarray
    kinds: Mapping[int, Kind] = field(default_factory=dict)
    standard: np.ndarray | None = None
    unit: np.ndarray | float = 1.0

    @classmethod
    def stack(
        cls,
        columns: Sequence[Column],
        names: tuple[str, ...],
        *,
        left_closed: bool = False,
        moments: tuple[np.ndarray, np.ndarray] | None = None,
        kinds: Mapping[int, Kind] | None = None,
    ) -> Boxes:
        """The boxes of some columns, each padded to the number of boxes of the longest.

        ``moments`` are mean and deviation of each feature, those of the law where none are given.
        """
        width = max(len(column.prob) for column in columns)
        inner, prob, *rest = (
            np.array([_padded(part, width - (k == 0), filler) for part in parts])
            for k, (parts, filler) in enumerate(
                zip(zip(*columns, strict=True), PADDING, strict=True)
            )
        )
        with np.errstate(divide="ignore"):
            law = BoxLaw(np.log(prob), *rest)
        mu, sigma = law.mean_and_deviation() if moments is None else moments
        return cls(law, inner, left_closed, names, mu, sigma, kinds or {})

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.mu)

    @cached_property
    def edges(self) -> tuple[np.ndarray, ...]:
        """The inner edges of each feature."""
        return tuple(row[row < np.inf] for row in self.inner)

    @cached_property
    def count(self) -> np.ndarray:
        """How many boxes each feature has, (d,)."""
        return 1 + np.sum(self.inner < np.inf, axis=1)

    @cached_property
    def ordered(self) -> np.ndarray:
        """Whether differences of a feature's values mean something, (d,) of bool."""
        result = np.ones(self.d, bool)
        for j, kind in self.kinds.items():
            result[j] = kind.ordered
        return result

    def kind(self, j: int) -> Kind:
        """What the values of feature j are."""
        return self.kinds.get(j, NUMBER)

    def discretize(self, x: np.ndarray) -> np.ndarray:
        """Index (from 0) of the box of each entry of x, (d,) or (n, d): the one rule for ties."""
        x = np.asarray(x, dtype=float)
        if self.inner.shape[1] > 32:  # bisection pays
            side = "right" if self.left_closed else "left"
            columns = [
                np.searchsorted(edges, x[..., j], side=side)  # type: ignore[call-overload]
                for j, edges in enumerate(self.edges)
            ]
            return np.stack(columns, axis=-1)
        beyond = np.greater_equal if self.left_closed else np.greater
        result = np.zeros(x.shape, dtype=np.intp)
        for edge in self.inner.T:
            result += beyond(x, edge)
        return result

    def inside(self, x: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Whether each entry of x (n, d) lies in the box ``own`` (d,): the same rule for ties."""
        (lo, hi), (above, below) = self.ends_of(own), self.comparisons
        return above(x, lo) & below(x, hi)

    @property
    def comparisons(self) -> tuple[np.ufunc, np.ufunc]:
        """How a value inside compares with the lower and with the upper edge of its box."""
        if self.left_closed:
            return np.greater_equal, np.less
        return np.greater, np.less_equal

    def ends_of(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges around the boxes ``own`` (d,), infinite for the outer ones."""
        outer = np.full((self.d, 1), np.inf)
        edges = np.concatenate([-outer, self.inner, outer], axis=1)
        rows = np.arange(self.d)
        return edges[rows, own], edges[rows, own + 1]

    def ends(self, j: int, box: int) -> tuple[float, float]:
        """The two edges of a box of feature j; the outer boxes reach to infinity."""
        padded = np.concatenate([[-np.inf], self.edges[j], [np.inf]])
        return float(padded[box]), float(padded[box + 1])

    def describe(self, j: int, box: int) -> str:
        """A box in words, for explanations: ``bmi <= 0.03``."""
        lo, hi = self.ends(j, box)
        words = BoxInWords(lo, hi, float(self.law.mean[j, box]), self.left_closed, self.edges[j])
        return self.kind(j).describe(self.names[j], words)

    def encode(self, xi: Any) -> np.ndarray:
        """One instance as numbers (d,): by name where it has names, labels as their codes."""
        return self._numbers("xi", rows_of("xi", xi, self.names, one=True))[0]

    def encode_rows(self, X: Any) -> np.ndarray:
        """A table of instances as numbers (n, d), read like :meth:`encode`."""
        return self._numbers("X", rows_of("X", X, self.names, one=False))

    def _numbers(self, name: str, rows: np.ndarray) -> np.ndarray:
        if rows.shape[1] == 0:
            raise ValueError(f"{name} must have at least one entry, got none.")
        if rows.shape[1] != self.d:
            raise ValueError(
                f"{name} must have {self.d} entries, one per feature of the world, "
                f"got {rows.shape[1]}."
            )
        plain = np.ones(self.d, bool)
        plain[list(self.kinds)] = False
        result = np.empty(rows.shape)
        result[:, plain] = arg.within(name, arg.numbers(name, rows[:, plain]))
        for j, kind in self.kinds.items():
            known = self.law.mean[j, : self.count[j]]
            codes: dict[Any, float] = {}
            for i, value in enumerate(rows[:, j]):
                key = _key(value, i)
                if key not in codes:
                    codes[key] = kind.encode(self.names[j], value, known)
                result[i, j] = codes[key]
        return result

    def fed(self, x: np.ndarray) -> np.ndarray:
        """Rows (n, d) as models get them: a copy, with nan where a value is missing."""
        rows = x.copy()
        for j, kind in self.kinds.items():
            rows[:, j] = kind.fed(x[:, j])
        return rows

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a value may be missing."""
        return bool(np.any(np.isnan(self.fed(np.full((1, self.d), np.inf)))))

    def decoded(self, x: np.ndarray) -> dict[int, np.ndarray]:
        """The columns of x (n, d) whose numbers stand for something else, such as text."""
        columns = {j: kind.decode(x[:, j]) for j, kind in self.kinds.items()}
        return {j: column for j, column in columns.items() if column is not None}

    @cached_property
    def has_text(self) -> bool:
        """Whether models get something other than numbers."""
        return bool(self.decoded(np.zeros((1, self.d))))

    def standard_ends(self, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The edges around the boxes ``own`` (d,) or (rows, d), in units of the normal law."""
        assert self.standard is not None
        rows = np.arange(self.d)
        return self.standard[rows, own], self.standard[rows, own + 1]


def standard_quantiles(p: int) -> np.ndarray:
    """The p + 1 edges that cut N(0, 1) into p boxes of equal mass; exactly symmetric about 0."""
    upper = -scipy.special.ndtri(np.arange(p // 2 + 1) / p)  # from +inf down to the middle
    edges = np.empty(p + 1)
    edges[: p // 2 + 1] = -upper
    edges[p - p // 2 :] = upper[::-1]
    return edges + 0.0  # no minus zero


def edge_stderr(p: int, n: int) -> np.ndarray:
    """Standard errors of the p - 1 inner edges when they are read off n values of N(0, 1).

    What the paper shows in Figure 3.

    sqrt(q (1 - q) / n) / phi(edge) with q = k/p, for large n; times sigma for N(mu, sigma^2).
    (van der Vaart 2000, Corollary 21.5.) Chapter: discretization.
    """
    q = np.arange(1, p) / p
    phi = np.exp(-(standard_quantiles(p)[1:-1] ** 2) / 2) / np.sqrt(2 * np.pi)
    return np.sqrt(q * (1 - q) / n) / phi


def misplaced_share(p: int, n: int) -> float:
    """Chance that a new value falls into another box when the edges are read off n values.

    It does where it lies between an edge and its estimate, which has probability phi(edge) times
    their distance; with E|error| = sqrt(2/pi) stderr the density cancels:
    sqrt(2 / (pi n)) sum_k sqrt(q_k (1 - q_k)), whatever the (continuous) law. For large n.
    Chapter: discretization.
    """
    q = np.arange(1, p) / p
    return float(np.sqrt(2 / (np.pi * n)) * np.sum(np.sqrt(q * (1 - q))))


@dataclass(frozen=True, eq=False)
class Gaussian:
    """The paper's world (H2, with a sigma each): x_j ~ N(mu_j, sigma_j^2), cut at its p_j-quantiles.

    Each of ``mu``, ``sigma``, ``p`` is one number for all features or one per feature; scalars
    stretch to the length of the instance being explained.

    Examples
    --------
    >>> world = Gaussian(mu=0, sigma=1, p=4)
    >>> world.boxes(2).describe(0, 2)
    '0 <= x1 < 0.674'
    """

    mu: Any = 0.0
    sigma: Any = 1.0
    p: Any = 4
    names: tuple[str, ...] | None = None

    own_row = False
    indicators = True

    def __post_init__(self) -> None:
        mu, sigma = arg.numbers("mu", self.mu), arg.numbers("sigma", self.sigma)
        p = _box_counts(self.p)
        for name, value in (("mu", mu), ("sigma", sigma), ("p", p)):
            if value.ndim > 1 or value.size == 0:
                raise ValueError(
                    f"{name} must be one number or one per feature, got shape {value.shape}."
                )
        if np.any(sigma <= 0):
            raise ValueError(f"sigma must be above 0, got {float(np.min(sigma)):g}.")
        arg.within("mu", mu)
        for deviation in np.ravel(sigma)[[np.argmin(sigma), np.argmax(sigma)]]:
            arg.bandwidth("sigma", deviation)
        lengths = {v.size for v in (mu, sigma, p) if v.ndim == 1}
        if self.names is not None:
            object.__setattr__(self, "names", _feature_names(self.names))
            lengths.add(len(self.names))
        if len(lengths) > 1:
            raise ValueError(
                "mu, sigma, p and names must have the same length where they are given per "
                f"feature, got lengths {sorted(lengths)}."
            )
        for name, value in (("mu", mu), ("sigma", sigma), ("p", p)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_length", lengths.pop() if lengths else None)

    @classmethod
    def from_data(cls, X: Any, p: Any = 4) -> Gaussian:
        """Means and standard deviations estimated from a table, one per column."""
        table = read_table(X)
        mu, sigma = _mean_and_deviation(table.values)
        if np.any(sigma == 0):
            constant = table.names[int(np.flatnonzero(sigma == 0)[0])]
            raise ValueError(
                f"X must vary in every column for a Gaussian world, but {constant!r} is constant; "
                "lt.Empirical takes constant columns."
            )
        return cls(mu=mu, sigma=sigma, p=p, names=table.names)

    @property
    def d(self) -> int | None:
        """Number of features, or None while it is left to the instance."""
        return self._length  # type: ignore[attr-defined]

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of d features."""
        d = _agreed_dimension(d, self.d)
        alike = self.mu.ndim == self.sigma.ndim == self.p.ndim == 0  # then one row stands for all
        mu, sigma, p = (
            np.broadcast_to(v, (1 if alike else d,)) for v in (self.mu, self.sigma, self.p)
        )
        standard = np.full((len(p), int(p.max()) + 1), np.inf)
        for count in np.unique(p):
            standard[p == count, : count + 1] = standard_quantiles(int(count))
        edges = mu[:, None] + sigma[:, None] * standard
        there = np.arange(standard.shape[1] - 1) < p[:, None]
        inner = np.where(np.arange(1, standard.shape[1] - 1) < p[:, None], edges[:, 1:-1], np.inf)
        _refuse_merged(mu, sigma, inner)
        lo, hi = (
            np.where(there, edges[:, :-1], PADDING.lo),
            np.where(there, edges[:, 1:], PADDING.hi),
        )
        log_prob = np.where(there, -np.log(p)[:, None], -np.inf)
        law = BoxLaw(*(
            np.broadcast_to(part, (d, lo.shape[1]))
            for part in (log_prob, mu[:, None], sigma[:, None], lo, hi)
        ))  # fmt: skip
        inner, standard = (np.broadcast_to(v, (d, v.shape[1])) for v in (inner, standard))
        mu, sigma = (np.broadcast_to(v, (d,)) for v in (mu, sigma))
        names = self.names or default_names(d)
        return Boxes(law, inner, True, names, mu, sigma, standard=standard)

    def __repr__(self) -> str:
        parts = (f"{name}={_short(getattr(self, name))}" for name in ("mu", "sigma", "p"))
        return f"Gaussian({', '.join(parts)})"


@dataclass(frozen=True, eq=False)
class Empirical:
    """Boxes read off a training set, as `lime` does it.

    Edges are the empirical quantiles of each column (``p`` of them, equal ones merged) unless
    ``edges`` gives the inner edges of some columns, by name or position. A box is drawn with its
    training frequency; inside it values follow a normal with the box's own mean and deviation,
    truncated to the box, the outer ones ending at the training minimum and maximum. A box whose
    training values are all the same holds that point. ``categorical`` columns (names or positions)
    have one box per value; text is allowed there. ``kinds`` says of other columns what they are
    (:mod:`limetutor.columns`); pandas' dtype "category" says it by itself. A constant column has one
    box, and LIME nothing to compare it with. Where values are missing (nan, None), *is missing* is a
    box of its own and models get nan.
    """

    X: Any = field(repr=False)
    p: Any = 4
    edges: dict[Any, ArrayLike] | None = None
    categorical: Any = ()
    kinds: Mapping[Any, Kind] | None = None

    own_row = False
    indicators = True

    def __post_init__(self) -> None:
        table = read_table(self.X, self.categorical, self.kinds, mixed=True)
        rows, d = table.values.shape
        p = _box_counts(self.p)
        if p.ndim > 1 or (p.ndim == 1 and p.size != d):
            raise ValueError(f"p must be one number or one per column ({d}), got shape {p.shape}.")
        p = np.broadcast_to(p, (d,)).copy()
        if rows < p.max():
            raise ValueError(
                f"X must have at least as many rows as boxes ({p.max()}), got {rows} row(s)."
            )
        keep = {"table": table.values, "names": table.names, "p": p, "_kinds": table.kinds}
        keep["_given"] = _given_edges(self.edges, table.names)
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.table.shape[1]  # type: ignore[attr-defined]

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of the training set's features."""
        _agreed_dimension(d, self.d)
        return self._boxes

    @cached_property
    def _boxes(self) -> Boxes:
        table, kinds = self.table, self._kinds  # type: ignore[attr-defined]
        columns = [self._column(values, kinds[j], j) for j, values in enumerate(table.T)]
        special = {j: kind for j, kind in enumerate(kinds) if kind is not NUMBER}
        moments = _mean_and_deviation(table)
        return Boxes.stack(columns, self.names, moments=moments, kinds=special)  # type: ignore[attr-defined]

    def _column(self, values: np.ndarray, kind: Kind, j: int) -> Column:
        """Edges of a column, then frequency, mean, deviation and ends of each box."""
        edges = self._given.get(j)  # type: ignore[attr-defined]
        edges = kind.cut(values, self.p[j]) if edges is None else edges
        box = np.searchsorted(edges, values, side="left")  # as Boxes.discretize, left open
        ends = np.concatenate([[np.min([values.min(), *edges[:1]])], edges])
        tops = np.concatenate([edges, [np.max([values.max(), *edges[-1:]])]])
        size = len(edges) + 1
        count = np.bincount(box, minlength=size)
        share = np.maximum(count, 1)
        mean = np.bincount(box, values, size) / share
        sd = np.sqrt(np.bincount(box, (values - mean[box]) ** 2, size) / share)
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, box, values)
        np.maximum.at(high, box, values)
        empty = count == 0
        low[empty] = high[empty] = edges[np.maximum(np.flatnonzero(empty) - 1, 0)]
        point = low == high
        mean, sd = np.where(point, low, mean), np.where(point, 0.0, sd)
        return Column(edges, count / len(values), mean, sd, ends, tops)

    def __repr__(self) -> str:
        return f"Empirical({len(self.table)} rows, {self.d} features, p={_short(self.p)})"  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class BoxWorld:
    """A world given by its boxes, whoever made them; see :func:`limetutor.from_lime`."""

    _boxes: Boxes = field(repr=False)

    own_row = False  # whether xi itself is one of the n rows of a fit
    indicators = True  # whether the surrogate is fitted on boxes, or on the scaled numbers
    moves = False  # whether the law of the samples moves with xi

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self._boxes.names

    @property
    def d(self) -> int:
        """Number of features."""
        return self._boxes.d

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes it was given."""
        _agreed_dimension(d, self.d)
        return self._boxes

    def seen_from(self, xi: np.ndarray) -> Boxes:
        """The boxes for one instance, where its position moves the law."""
        return self._boxes


World = Gaussian | Empirical | BoxWorld


def check_world(world: Any, boxes: bool = True) -> None:
    """Refuse what is not a world, such as the class itself or the training table.

    With ``boxes`` refuse as well a world whose surrogate sees numbers instead of boxes.
    """
    if not isinstance(world, World):
        raise TypeError(
            f"world must be an lt.Gaussian(...) or an lt.Empirical(...), got {arg.shorten(world)}."
        )
    if boxes and not world.indicators:
        raise ValueError(
            "world must have boxes here, got one read from a lime explainer with "
            "discretize_continuous=False; lt.limit and lt.predict_lime say what that explainer returns, "
            "lt.audit whether to trust it."
        )


def _key(value: Any, row: int) -> Hashable:
    """A value under which its code can be kept; lists and sets have none but their row."""
    try:
        hash(value)
    except TypeError:
        return (row,)
    return value  # type: ignore[no-any-return]


def _padded(values: np.ndarray, width: int, filler: Any) -> np.ndarray:
    return np.concatenate([values, np.full(width - len(values), filler)])


def _box_counts(p: Any) -> np.ndarray:
    """One number of boxes, or one per feature."""
    try:
        array = np.asarray(p, dtype=object)
    except ValueError:
        raise ValueError(
            f"p must be one number or one per feature, got {arg.shorten(p)}."
        ) from None
    whole = np.vectorize(lambda v: arg.whole("p", v, least=2, most=MOST_BOXES), otypes=[int])
    return whole(array) if array.size else np.zeros(array.shape, int)


def _feature_names(names: Any) -> tuple[str, ...]:
    try:
        found = () if isinstance(names, str | bytes) else tuple(str(name) for name in names)
    except TypeError:
        found = ()
    if not found:
        raise ValueError(f"names must be one text per feature, got {arg.shorten(names)}.")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise ValueError(f"names must differ, got {twice!r} more than once.")
    return found


def _refuse_merged(mu: np.ndarray, sigma: np.ndarray, inner: np.ndarray) -> None:
    """Beside a large mean a double cannot tell the edges of a narrow law apart."""
    with np.errstate(invalid="ignore"):
        merged = np.any(np.diff(inner, axis=1) <= 0, axis=1) | (mu + sigma == mu)
    if np.any(merged):
        j = int(np.flatnonzero(merged)[0])
        raise ValueError(
            f"sigma must be large enough beside mu for a double to tell the edges of the boxes "
            f"apart, got sigma={sigma[j]:g} at mu={mu[j]:g}."
        )


def _given_edges(edges: dict[Any, ArrayLike] | None, names: Sequence[str]) -> dict[int, np.ndarray]:
    given = {}
    if not isinstance(edges, dict | None):
        raise ValueError(
            f"edges must be a dict from column to its inner edges, got {arg.shorten(edges)}."
        )
    for column, values in (edges or {}).items():
        position = positions("edges", [column], names)[0]
        inner = arg.within(f"edges[{column!r}]", arg.vector(f"edges[{column!r}]", values))
        if np.any(np.diff(inner) <= 0):
            raise ValueError(f"edges[{column!r}] must increase, got {arg.shorten(inner)}.")
        given[position] = inner
    return given


def _agreed_dimension(asked: int | None, own: int | None) -> int:
    if asked is None and own is None:
        raise ValueError("d must be given: this world holds scalars and fits any dimension.")
    if asked is not None and own is not None and asked != own:
        raise ValueError(f"xi must have {own} entries, one per feature of the world, got {asked}.")
    if asked == 0:
        raise ValueError("xi must have at least one entry, got none.")
    return asked or own or 0


def _mean_and_deviation(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each column; exact for a constant one, whose mean and deviation numpy rounds."""
    constant = np.all(table == table[0], axis=0)
    mean = np.where(constant, table[0], table.mean(axis=0))
    return mean, np.where(constant, 0.0, table.std(axis=0))


def _short(value: np.ndarray) -> str:
    flat = np.ravel(value)
    if np.all(flat == flat[0]):
        return f"{flat[0]:g}"
    return np.array2string(flat, precision=3, threshold=6, separator=", ")
