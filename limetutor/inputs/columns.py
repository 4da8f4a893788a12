"""Kinds of column: numbers, whose differences have a meaning, and labels.

A kind of column decides how training values are cut into boxes, how a box is described, how a value
that a caller passes becomes a number and which values the model gets. Kernels, samplers and checks
use nothing of it but whether its values are ``ordered``. To add a kind: write a class, list it in
``KINDS``. Chapter: discretization.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from . import arguments as arg

MISSING = 2 * arg.LARGEST  # the code of a missing value
ROUNDING = 1e-12  # of the width of a box


class ColumnKind:
    """A kind of column; see :class:`Number` and :class:`Category`."""

    hides_labels: ClassVar[bool] = False  # models get codes, whose labels are for the reader
    has_gaps: ClassVar[bool] = False  # values may be missing
    holds_codes: bool = False  # values are the codes of labels, and nothing between them
    ordered: ClassVar[bool]  # whether differences and means of values have a meaning

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """The inner edges of the boxes that training values (n,) are cut into, ascending."""
        raise NotImplementedError

    def describe(self, name: str, box: BoxInWords) -> str:
        """The description of a box, for explanations."""
        raise NotImplementedError

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """A caller's value as a number; ``known`` are the representatives of the boxes."""
        raise NotImplementedError

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The values that these codes stand for; None where they are the codes themselves."""
        return None

    def fed(self, codes: np.ndarray) -> np.ndarray:
        """The codes as a model gets them, nan for a missing value."""
        return codes

    @property
    def categories(self) -> Any:
        """The categories of pandas' dtype, for columns that came with one."""
        return None


@dataclass(frozen=True)
class BoxInWords:
    """One box of a column, for :meth:`ColumnKind.describe`."""

    number: int  # from 0
    edges: np.ndarray  # all inner edges of the column
    value: float  # the mean of its values
    left_closed: bool


class Number(ColumnKind):
    """A measured quantity, cut at its quantiles."""

    ordered = True

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """The p - 1 inner quantiles, equal ones merged, as `lime` takes them."""
        return np.unique(np.quantile(values, np.arange(1, p) / p))

    def describe(self, name: str, box: BoxInWords) -> str:
        """``0.1 < bmi <= 0.3``, with as many digits as tell the edges apart."""
        write = distinct(box.edges)
        under, over = ("<=", "<") if box.left_closed else ("<", "<=")
        lo, hi = np.array([-np.inf, *box.edges, np.inf])[box.number : box.number + 2]
        if lo == -np.inf:
            return f"{name} {over} {write(hi)}" if hi < np.inf else f"{name} anything"
        if hi == np.inf:
            return f"{name} {'>=' if box.left_closed else '>'} {write(lo)}"
        return f"{write(lo)} {under} {name} {over} {write(hi)}"

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """The number itself."""
        return float(arg.within(f"xi's {name!r}", np.array(arg.scalar(f"xi's {name!r}", value))))


class Truth(Number):
    """True or false, 1 or 0 for models."""

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """Between the two, where both occur."""
        return np.array([0.5] if np.ptp(values) else [])

    def describe(self, name: str, box: BoxInWords) -> str:
        """``tagged = True``."""
        return f"{name} = {box.value > 0.5}"


@dataclass(frozen=True, eq=False)
class Category(ColumnKind):
    """One of several labels, each a box of its own; differences of labels have no meaning.

    ``labels`` are the texts behind the codes 0, 1, ...; without them the labels are numbers.
    ``categories`` are those of pandas' dtype, which some models need.
    """

    labels: np.ndarray | None = None
    categories: Any = None
    ordered = False
    holds_codes = True

    def knowing(self, **facts: Any) -> Category:
        """The same kind, subclass or not, with other labels or categories."""
        kind = copy(self)
        kind.__dict__.update(facts)
        return kind

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """Halfway between each two labels."""
        labels = np.unique(values)
        return (labels[:-1] + labels[1:]) / 2

    def describe(self, name: str, box: BoxInWords) -> str:
        """``colour = red``."""
        if self.labels is None:
            return f"{name} = {exact(box.value)}"
        return f"{name} = {self.labels[int(box.value)]}"

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """The code of a label that the training set has."""
        if self.labels is not None:
            hits = np.flatnonzero(self.labels == value) if isinstance(value, str) else np.array([])
            code = float(hits[0]) if hits.size else np.nan
        else:
            code = arg.scalar(f"xi's {name!r}", value)
        if code not in known:
            listed = known if self.labels is None else self.labels
            raise ValueError(
                f"xi must hold a known category of {name!r}, "
                f"got {arg.shorten(code if self.labels is None else value)}; "
                f"the training set has {arg.shorten(list(listed))}."
            )
        return code

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The labels behind the codes."""
        return None if self.labels is None else self.labels[codes.astype(int)]


@dataclass(frozen=True, eq=False)
class OrMissing(ColumnKind):
    """Another kind some of whose values are missing: *is missing* is a box of its own.

    ``MISSING`` stands for a missing value, beyond every number that is allowed; models get nan. The
    distance to a missing value is undefined, so kernels compare boxes, as for labels.
    """

    kind: ColumnKind
    ordered = False
    has_gaps = True

    @property
    def holds_codes(self) -> bool:  # type: ignore[override]
        """As its kind."""
        return self.kind.holds_codes

    @property
    def categories(self) -> Any:
        """As its kind."""
        return self.kind.categories

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """The cuts of its kind between the values that are present."""
        return self.kind.cut(values[values < MISSING], p)

    def describe(self, name: str, box: BoxInWords) -> str:
        """``age is missing``, or the description of its kind."""
        if box.value == MISSING:
            return f"{name} is missing"
        return self.kind.describe(name, replace(box, edges=box.edges[:-1]))

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """The code of a missing value, or the number of its kind."""
        if is_missing(value):
            return MISSING
        return self.kind.encode(name, value, known[known < MISSING])

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The values of its kind, nan where one is missing."""
        present = codes < MISSING
        values = self.kind.decode(np.where(present, codes, 0.0))
        if values is None:
            return None
        values = values.astype(object)
        values[~present] = np.nan
        return values

    def fed(self, codes: np.ndarray) -> np.ndarray:
        """Nan where a value is missing."""
        return np.where(codes < MISSING, codes, np.nan)


def is_missing(value: Any) -> bool:
    """Whether a value is None, nan, or pandas' NA or NaT."""
    if value is None or type(value).__name__ in arg.PANDAS_MISSING:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


NUMBER, TRUTH = Number(), Truth()

KINDS: dict[str, type[ColumnKind]] = {"number": Number, "category": Category}


def exact(value: float) -> str:
    """A number in all its digits, without a trailing .0."""
    return repr(float(value) + 0.0).removesuffix(".0")  # + 0.0: no minus zero


def without_rounding(edges: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """The edges for labels: 0 for one that is rounding beside the widths of the boxes on its two sides.

    ``outer`` are the standard deviations in the first and the last box, which have no width.
    """
    widths = np.array([outer[0], *np.diff(edges), outer[1]])
    return np.where(np.abs(edges) <= ROUNDING * np.minimum(widths[:-1], widths[1:]), 0.0, edges)


def distinct(values: np.ndarray) -> Any:
    """A function that writes numbers so that these differ: three significant digits, or more.

    Numbers from 1000 are written out, with one decimal at least: a year is 2015, not 2.02e+03.
    """
    values = np.unique(values)
    for digits in range(3, 18):
        if len({_write(v, digits) for v in values}) == len(values):
            break
    return lambda value: _write(value, digits)


def _write(value: float, digits: int) -> str:
    if 1000 <= abs(value) < 1e15:
        decimals = max(digits - len(f"{int(abs(value))}"), 1)
        text = f"{value:.{decimals}f}"
        return text.rstrip("0").rstrip(".")
    return f"{value:.{digits}g}"
