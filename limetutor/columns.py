"""What the values of a column are: numbers to measure with, or labels to compare.

A kind of column knows how training values are cut into boxes, how a box is put in words, how a
value that a caller passes becomes a number and which values the model gets back. Kernels, samplers
and checks ask it one question only, whether its values are ``ordered``. To add a kind: write a
class, list it in ``KINDS``. Chapter: discretization.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from . import arguments as arg


class Kind:
    """A kind of column; see :class:`Number` and :class:`Category`."""

    ordered: ClassVar[bool]  # a difference of two values means something, and so does their mean

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """The inner edges of the boxes that training values (n,) are cut into, ascending."""
        raise NotImplementedError

    def describe(self, name: str, box: BoxInWords) -> str:
        """A box in words, for explanations."""
        raise NotImplementedError

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """A caller's value as a number; ``known`` are the values that stand for the boxes."""
        raise NotImplementedError

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The values that a model gets for such numbers; None where they are the numbers."""
        return None

    def fed(self, codes: np.ndarray) -> np.ndarray:
        """The numbers that a model gets for such numbers: the same, unless one stands for a gap."""
        return codes

    @property
    def categories(self) -> Any:
        """The categories of pandas' dtype, for columns that came with one."""
        return None


@dataclass(frozen=True)
class BoxInWords:
    """One box of a column, for :meth:`Kind.describe`: its ends, its value, the signs between."""

    lo: float
    hi: float
    value: float  # the mean of its values
    left_closed: bool
    edges: np.ndarray  # all inner edges of the column


class Number(Kind):
    """A measured quantity, cut at its quantiles."""

    ordered = True

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """The p - 1 inner quantiles, equal ones merged, as `lime` takes them."""
        return np.unique(np.quantile(values, np.arange(1, p) / p))

    def describe(self, name: str, box: BoxInWords) -> str:
        """``0.1 < bmi <= 0.3``, with as many digits as tell the edges apart."""
        write = distinct(box.edges)
        under, over = ("<=", "<") if box.left_closed else ("<", "<=")
        if box.lo == -np.inf:
            return f"{name} {over} {write(box.hi)}" if box.hi < np.inf else f"{name} anything"
        if box.hi == np.inf:
            return f"{name} {'>=' if box.left_closed else '>'} {write(box.lo)}"
        return f"{write(box.lo)} {under} {name} {over} {write(box.hi)}"

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """The number itself."""
        return arg.scalar(f"xi's {name!r}", value)


@dataclass(frozen=True, eq=False)
class Category(Kind):
    """One of several labels, each a box of its own; a difference of labels means nothing.

    ``labels`` are the texts behind the codes 0, 1, ...; without them the labels are numbers.
    ``categories`` are those of pandas' dtype, which some models ask for.
    """

    labels: np.ndarray | None = None
    categories: Any = None
    ordered = False

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
class Coded(Category):
    """Labels that the model gets as their codes: ``labels`` are for the reader, as `lime` has them.

    ``labels[code]`` is the name of a code, whatever `lime`'s ``categorical_names`` hold for it.
    """

    labels: Any = None

    def describe(self, name: str, box: BoxInWords) -> str:
        """``housing=own``, as `lime` prints it."""
        return f"{name}={self.name_of(box.value)}"

    def name_of(self, code: float) -> Any:
        """The name of a code; the code itself where it has none, as a whole number."""
        try:
            return self.labels[int(code)] if self.labels is not None else int(code)
        except (KeyError, IndexError, TypeError):
            return int(code)

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """A code, or the name of one."""
        named = {str(self.name_of(code)): float(code) for code in known}
        if isinstance(value, str) and value in named:
            return named[value]
        return Category().encode(name, value, known)

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """The model gets the codes."""
        return None


@dataclass(frozen=True, eq=False)
class OrMissing(Kind):
    """Another kind some of whose values are missing: *is missing* is a box of its own.

    ``code`` is the number that stands for a missing value, above all others; models get nan. How far
    a value is from a missing one nobody can say: such a column counts by boxes, as labels do.
    """

    kind: Kind
    code: float
    ordered = False

    @property
    def categories(self) -> Any:
        """As its kind."""
        return self.kind.categories

    def cut(self, values: np.ndarray, p: int) -> np.ndarray:
        """As its kind cuts what is there, then between that and what is missing."""
        there = values[values < self.code]
        return np.union1d(self.kind.cut(there, p), there.max())

    def describe(self, name: str, box: BoxInWords) -> str:
        """``age is missing``, or as its kind puts it."""
        if box.value == self.code:
            return f"{name} is missing"
        hi = np.inf if box.hi == box.edges[-1] else box.hi
        return self.kind.describe(name, replace(box, hi=hi, edges=box.edges[:-1]))

    def encode(self, name: str, value: Any, known: np.ndarray) -> float:
        """The code of what is missing, or the number of its kind."""
        if is_missing(value):
            return self.code
        return self.kind.encode(name, value, known[known < self.code])

    def decode(self, codes: np.ndarray) -> np.ndarray | None:
        """As its kind, with gaps."""
        there = codes < self.code
        values = self.kind.decode(np.where(there, codes, 0.0))
        if values is None:
            return None
        values = values.astype(object)
        values[~there] = np.nan
        return values

    def fed(self, codes: np.ndarray) -> np.ndarray:
        """Nan where a value is missing."""
        return np.where(codes < self.code, codes, np.nan)


def is_missing(value: Any) -> bool:
    """None, nan, and pandas' own words for them."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


NUMBER = Number()

# every kind of column, by the name that tests and contributors call it
KINDS: dict[str, type[Kind]] = {"number": Number, "category": Category}


def exact(value: float) -> str:
    """A label in as many digits as it has: what stands behind = is the number itself."""
    return repr(float(value) + 0.0).removesuffix(".0")  # no minus zero


def distinct(values: np.ndarray) -> Any:
    """How to write numbers so that these differ: three significant digits, more where needed.

    Thousands are written out with one decimal at least: a year is 2015, not 2.02e+03.
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
