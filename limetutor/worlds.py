"""Worlds: where new examples come from, and the quantile boxes that cut each feature.

A world says, feature by feature, which boxes there are, how often each is drawn and which normal
is truncated to it. :class:`Gaussian` is the paper's world, :class:`Empirical` reads the boxes off
a training set as `lime` does. Both resolve to :class:`Boxes`, which the rest of the package uses.
Chapter: discretization.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from . import arguments as arg
from .laws import BoxLaw


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes of d features, ready to use.

    ``edges[j]`` are the inner edges of feature j (K_j - 1 of them). ``left_closed`` says which box
    a value on an edge belongs to: the upper one in the paper, the lower one in `lime`.
    """

    law: BoxLaw
    edges: tuple[np.ndarray, ...]
    left_closed: bool
    names: tuple[str, ...]
    mu: np.ndarray
    sigma: np.ndarray
    categorical: np.ndarray
    labels: dict[int, np.ndarray]  # the values behind the codes of text columns

    @property
    def d(self) -> int:
        """Number of features."""
        return len(self.edges)

    def discretize(self, x: np.ndarray) -> np.ndarray:
        """Index (from 0) of the box of each entry of x (n, d)."""
        side = "right" if self.left_closed else "left"
        columns = [np.searchsorted(e, x[:, j], side=side) for j, e in enumerate(self.edges)]
        return np.stack(columns, axis=1)

    def ends(self, j: int, box: int) -> tuple[float, float]:
        """The two edges of a box of feature j; the outer boxes reach to infinity."""
        padded = np.concatenate([[-np.inf], self.edges[j], [np.inf]])
        return float(padded[box]), float(padded[box + 1])

    def describe(self, j: int, box: int) -> str:
        """A box in words, for explanations: ``bmi <= 0.03``."""
        name = self.names[j]
        if self.categorical[j]:
            value = self.law.mean[j, box]
            value = self.labels[j][int(value)] if j in self.labels else f"{value:g}"
            return f"{name} = {value}"
        lo, hi = self.ends(j, box)
        under, over = ("<=", "<") if self.left_closed else ("<", "<=")
        if lo == -np.inf:
            return f"{name} {over} {hi:.3g}" if hi < np.inf else f"{name} anything"
        if hi == np.inf:
            return f"{name} {'>=' if self.left_closed else '>'} {lo:.3g}"
        return f"{lo:.3g} {under} {name} {over} {hi:.3g}"

    def encode(self, xi: Any) -> np.ndarray:
        """One instance as numbers: text values of categorical columns become their codes."""
        if hasattr(xi, "reindex") and set(xi.index) == set(self.names):  # a Series: go by name
            xi = xi[list(self.names)]
        row = np.asarray(xi, dtype=object)
        row = row[0] if row.ndim == 2 and len(row) == 1 else row  # X[:1], a frame of one row
        if self.labels and row.shape == (self.d,):
            row = row.copy()
            for j, values in self.labels.items():
                hits = np.flatnonzero(values == row[j])
                if hits.size == 0:
                    self._unknown_category(j, row[j])
                row[j] = float(hits[0])
        elif self.labels and row.ndim == 1:  # its text would hide what is wrong, the length
            row = np.zeros(len(row))
        xi = arg.vector("xi", row.tolist(), self.d, because=", one per feature of the world")
        for j in np.flatnonzero(self.categorical):
            if xi[j] not in self.law.mean[j, : len(self.edges[j]) + 1]:
                self._unknown_category(j, xi[j])
        return xi

    def _unknown_category(self, j: int, value: Any) -> None:
        known = self.labels.get(j, self.law.mean[j, : len(self.edges[j]) + 1])
        raise ValueError(
            f"xi must hold a known category of {self.names[j]!r}, got {arg.shorten(value)}; "
            f"the training set has {arg.shorten(list(known))}."
        )


def standard_quantiles(p: int) -> np.ndarray:
    """The p + 1 edges that cut N(0, 1) into p boxes of equal mass; exactly symmetric about 0."""
    upper = -scipy.special.ndtri(np.arange(p // 2 + 1) / p)  # from +inf down to the middle
    edges = np.empty(p + 1)
    edges[: p // 2 + 1] = -upper
    edges[p - p // 2 :] = upper[::-1]
    return edges + 0.0  # no minus zero


def edge_stderr(p: int, n: int) -> np.ndarray:
    """Standard errors of the p - 1 inner edges when they are read off n values of N(0, 1).

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
    """The paper's world: x_j ~ N(mu_j, sigma_j^2), cut at its p_j-quantiles.

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

    def __post_init__(self) -> None:
        mu, sigma = arg.numbers("mu", self.mu), arg.numbers("sigma", self.sigma)
        p = np.asarray(self.p, dtype=object)
        for name, value in (("mu", mu), ("sigma", sigma), ("p", p)):
            if value.ndim > 1 or value.size == 0:
                raise ValueError(
                    f"{name} must be one number or one per feature, got shape {value.shape}."
                )
        if np.any(sigma <= 0):
            raise ValueError(f"sigma must be above 0, got {float(np.min(sigma)):g}.")
        p = np.vectorize(lambda v: arg.whole("p", v, least=2), otypes=[int])(p)
        lengths = {v.size for v in (mu, sigma, p) if v.ndim == 1}
        if self.names is not None:
            object.__setattr__(self, "names", tuple(str(name) for name in self.names))
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
        table, names, _ = read_table(X, categorical=())
        mu, sigma = _mean_and_deviation(table)
        if np.any(sigma == 0):
            constant = names[int(np.flatnonzero(sigma == 0)[0])]
            raise ValueError(
                f"X must vary in every column for a Gaussian world, but {constant!r} is constant; "
                "lt.Empirical takes constant columns."
            )
        return cls(mu=mu, sigma=sigma, p=p, names=tuple(names))

    @property
    def d(self) -> int | None:
        """Number of features, or None while it is left to the instance."""
        return self._length

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of d features."""
        d = _agreed_dimension(d, self.d)
        mu, sigma, p = (np.broadcast_to(v, (d,)) for v in (self.mu, self.sigma, self.p))
        shape = (d, int(p.max()))
        log_prob = np.full(shape, -np.inf)
        lo, hi = np.full(shape, -1.0), np.full(shape, 1.0)
        edges = []
        for j in range(d):
            q = mu[j] + sigma[j] * standard_quantiles(p[j])
            edges.append(q[1:-1])
            log_prob[j, : p[j]] = -np.log(p[j])
            lo[j, : p[j]], hi[j, : p[j]] = q[:-1], q[1:]
        law = BoxLaw(log_prob, _stretch(mu, shape), _stretch(sigma, shape), lo, hi)
        names = self.names or default_names(d)
        return Boxes(law, tuple(edges), True, names, mu, sigma, np.zeros(d, bool), {})

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
    have one box per value; text is allowed there.
    """

    X: Any = field(repr=False)
    p: Any = 4
    edges: dict[Any, ArrayLike] | None = None
    categorical: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        table, names, labels = read_table(self.X, self.categorical)
        rows, d = table.shape
        p = np.asarray(self.p, dtype=object)
        if p.ndim > 1 or (p.ndim == 1 and p.size != d):
            raise ValueError(f"p must be one number or one per column ({d}), got shape {p.shape}.")
        p = np.broadcast_to(p, (d,))
        p = np.array([arg.whole("p", v, least=2) for v in p])
        if rows < p.max():
            raise ValueError(
                f"X must have at least as many rows as boxes ({p.max()}), got {rows} row(s)."
            )
        keep = {"table": table, "names": tuple(names), "labels": labels, "p": p}
        keep["_given"] = _given_edges(self.edges, names)
        keep["_categorical"] = _positions("categorical", self.categorical, names)
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Number of features."""
        return self.table.shape[1]

    def boxes(self, d: int | None = None) -> Boxes:
        """The boxes of the training set's features."""
        _agreed_dimension(d, self.d)
        return self._boxes

    @cached_property
    def _boxes(self) -> Boxes:
        categorical = np.isin(np.arange(self.d), self._categorical)
        columns = [self._column(j, categorical[j]) for j in range(self.d)]
        width = max(len(prob) for _, prob, *_ in columns)
        filled = [np.array([_pad(c[i], width, v) for c in columns]) for i, v in _PADDING]
        with np.errstate(divide="ignore"):
            law = BoxLaw(np.log(filled[0]), *filled[1:])
        edges = tuple(column[0] for column in columns)
        mu, sigma = _mean_and_deviation(self.table)
        return Boxes(law, edges, False, self.names, mu, sigma, categorical, self.labels)

    def _column(self, j: int, categorical: bool) -> tuple[np.ndarray, ...]:
        """Edges of column j, then frequency, mean, deviation and ends of each box."""
        values = self.table[:, j]
        if categorical:
            edges = (np.unique(values)[:-1] + np.unique(values)[1:]) / 2
        elif j in self._given:
            edges = self._given[j]
        else:
            inner = np.arange(1, self.p[j]) / self.p[j]
            edges = np.unique(np.quantile(values, inner))
        box = np.searchsorted(edges, values, side="left")
        ends = np.concatenate([[np.min([values.min(), *edges[:1]])], edges])
        tops = np.concatenate([edges, [np.max([values.max(), *edges[-1:]])]])
        count = np.bincount(box, minlength=len(edges) + 1)
        share = np.maximum(count, 1)
        mean = np.bincount(box, values, len(edges) + 1) / share
        sd = np.sqrt(np.bincount(box, (values - mean[box]) ** 2, len(edges) + 1) / share)
        first = np.array(
            [
                values[box == k][0] if count[k] else edges[max(k - 1, 0)]
                for k in range(len(edges) + 1)
            ]
        )
        point = np.array([np.all(values[box == k] == first[k]) for k in range(len(edges) + 1)])
        mean, sd = np.where(point, first, mean), np.where(point, 0.0, sd)
        return edges, count / len(values), mean, sd, ends, tops

    def __repr__(self) -> str:
        return f"Empirical({len(self.table)} rows, {self.d} features, p={_short(self.p)})"


@dataclass(frozen=True, eq=False)
class BoxWorld:
    """A world given by its boxes, whoever made them; see :func:`limetutor.from_lime`."""

    _boxes: Boxes = field(repr=False)

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


World = Gaussian | Empirical | BoxWorld


def check_world(world: Any) -> None:
    """Refuse what is not a world, such as the class itself or the training table."""
    if not isinstance(world, World):
        raise TypeError(
            f"world must be an lt.Gaussian(...) or an lt.Empirical(...), got {arg.shorten(world)}."
        )


# what stands in for the boxes a coordinate does not have: (column of _column, value)
_PADDING = ((1, 0.0), (2, 0.0), (3, 1.0), (4, -1.0), (5, 1.0))


def default_names(d: int) -> tuple[str, ...]:
    """x1, x2, ... for features without names."""
    return tuple(f"x{j + 1}" for j in range(d))


def read_table(X: Any, categorical: Any) -> tuple[np.ndarray, list[str], dict[int, np.ndarray]]:
    """A training table as floats, its column names, and the labels of its text columns."""
    named = hasattr(X, "columns")
    columns = [X.iloc[:, j].to_numpy() for j in range(X.shape[1])] if named else _columns(X)
    if not columns or len(columns[0]) == 0:
        raise ValueError("X must have at least one row and one column, got an empty table.")
    names = [str(c) for c in X.columns] if named else list(default_names(len(columns)))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X must have different column names, got {twice!r} more than once.")
    positions = _positions("categorical", categorical, names)
    labels: dict[int, np.ndarray] = {}
    numeric = []
    for j, column in enumerate(columns):
        values = _as_numbers(column)
        if values is None and j not in positions:
            raise ValueError(
                f"X must be numeric outside categorical columns, but column {names[j]!r} "
                f"holds {_remedy(column)}."
            )
        if values is None:
            labels[j], values = _labels_and_codes(names[j], column)
        if not np.all(np.isfinite(values)):
            raise ValueError(
                f"X must be finite, but column {names[j]!r} holds nan or infinite values."
            )
        numeric.append(values)
    return np.stack(numeric, axis=1), names, labels


def _as_numbers(column: np.ndarray) -> np.ndarray | None:
    try:
        return arg.floats(column)
    except (TypeError, ValueError):
        return None


def _remedy(column: np.ndarray) -> str:
    if column.dtype.kind in "Mm":
        return "dates; turn them into numbers"
    return "text; declare it in categorical="


def _labels_and_codes(name: str, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The values of a text column in order, and for each row the position of its own."""
    column = np.asarray(column, dtype=object)
    if not all(isinstance(value, str) for value in column):
        other = next(value for value in column if not isinstance(value, str))
        raise ValueError(
            f"X must hold text in every row of a text column, but column {name!r} also holds "
            f"{arg.shorten(other)}."
        )
    labels, codes = np.unique(column, return_inverse=True)
    return labels, codes.astype(float)


def _columns(X: Any) -> list[np.ndarray]:
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"X must be a table with rows and columns, got shape {array.shape}.")
    return list(array.T)


def _positions(name: str, columns: Any, names: list[str] | tuple[str, ...]) -> list[int]:
    """Columns given by name or position, as positions."""
    columns = () if columns is None else columns
    if isinstance(columns, str | int):
        columns = [columns]
    found = []
    for column in columns:
        if isinstance(column, int | np.integer) and 0 <= column < len(names):
            found.append(int(column))
        elif column in names:
            found.append(list(names).index(column))
        else:
            raise ValueError(
                f"{name} must name columns of X or give positions 0 to {len(names) - 1}, "
                f"got {arg.shorten(column)}."
            )
    return found


def _given_edges(edges: dict[Any, ArrayLike] | None, names: list[str]) -> dict[int, np.ndarray]:
    given = {}
    if not isinstance(edges, dict | None):
        raise ValueError(
            f"edges must be a dict from column to its inner edges, got {arg.shorten(edges)}."
        )
    for column, values in (edges or {}).items():
        position = _positions("edges", [column], names)[0]
        inner = arg.vector(f"edges[{column!r}]", values)
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
    return own if asked is None else asked


def _mean_and_deviation(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each column; exact for a constant one, whose mean and deviation numpy rounds."""
    constant = np.all(table == table[0], axis=0)
    mean = np.where(constant, table[0], table.mean(axis=0))
    return mean, np.where(constant, 0.0, table.std(axis=0))


def _stretch(values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    return np.broadcast_to(values[:, None], shape).copy()


def _pad(values: np.ndarray, width: int, filler: float) -> np.ndarray:
    return np.concatenate([values, np.full(width - len(values), filler)])


def _short(value: np.ndarray) -> str:
    flat = np.ravel(value)
    if np.all(flat == flat[0]):
        return f"{flat[0]:g}"
    return np.array2string(flat, precision=3, threshold=6, separator=", ")
