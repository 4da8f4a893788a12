"""Tables as callers have them (arrays, DataFrames, rows, mappings), read by name where they have names.

:func:`read_table` reads a training set, :func:`rows_of` the instances to explain. Whoever passes
names is taken at their word: columns in another order are put in order, unknown or missing names
are refused. Chapter: discretization.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .columns import NUMBER, Category, Kind, OrMissing, is_missing


class Table(NamedTuple):
    """A training set: numbers (n, d), the name and the kind of each column."""

    values: np.ndarray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]


def default_names(d: int) -> tuple[str, ...]:
    """x1, x2, ... for features without names."""
    return tuple(map("x%d".__mod__, range(1, d + 1)))


def nameless(names: Sequence[str]) -> bool:
    """Whether names say nothing: x1, x2, ... or 0, 1, ..., as pandas and `lime` have them."""
    return _counted(names) or tuple(names) == default_names(len(names))


def _counted(names: Sequence[str]) -> bool:
    return list(names) == [str(j) for j in range(len(names))]


def read_table(
    X: Any,
    categorical: Any = (),
    kinds: Mapping[Any, Kind] | None = None,
    mixed: bool = False,
) -> Table:
    """A training table; ``categorical`` columns hold labels, ``kinds`` names other kinds.

    With ``mixed`` columns of pandas' dtype "category" hold labels without being named, and values may
    be missing: the kind of their column says so.
    """
    columns, names = _columns_of(X)
    dtypes = _categories_of(X) if mixed else {}
    if not isinstance(kinds, Mapping | None):
        raise ValueError(f"kinds must be a dict from column to its kind, got {arg.shorten(kinds)}.")
    chosen: dict[int, Kind] = dict.fromkeys(
        [*dtypes, *positions("categorical", categorical, names)], Category()
    )
    for column, kind in (kinds or {}).items():
        if not isinstance(kind, Kind):
            raise ValueError(f"kinds must map columns to kinds, got {arg.shorten(kind)}.")
        chosen[positions("kinds", [column], names)[0]] = kind
    read = _read_with_gaps if mixed else _read
    made = [read(n, c, chosen.get(j)) for j, (n, c) in enumerate(zip(names, columns, strict=True))]
    values, found = zip(*made, strict=True)
    typed = [_with_categories(kind, dtypes.get(j)) for j, kind in enumerate(found)]
    return Table(np.stack(values, axis=1), names, tuple(typed))


def _categories_of(X: Any) -> dict[int, Any]:
    """The categories of each column that has pandas' dtype for them."""
    if not hasattr(X, "iloc") or not _is_frame(X):
        return {}
    return {j: dtype.categories for j, dtype in enumerate(X.dtypes) if hasattr(dtype, "categories")}


def _with_categories(kind: Kind, categories: Any) -> Kind:
    if categories is None:
        return kind
    if isinstance(kind, OrMissing):
        return replace(kind, kind=_with_categories(kind.kind, categories))
    return replace(kind, categories=categories) if isinstance(kind, Category) else kind


def _columns_of(X: Any) -> tuple[list[np.ndarray], tuple[str, ...]]:
    if isinstance(X, str | bytes) or X is None:
        raise ValueError(f"X must be a table with rows and columns, got {arg.shorten(X)}.")
    _refuse_lazy("X", X)
    named = _is_frame(X)
    columns = [_column(X, name, j) for j, name in enumerate(X.columns)] if named else _split(X)
    if not columns or len(columns[0]) == 0:
        raise ValueError("X must have at least one row and one column, got an empty table.")
    names = tuple(str(c) for c in X.columns) if named else default_names(len(columns))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X must have different column names, got {twice!r} more than once.")
    return columns, names


def _is_frame(given: Any) -> bool:
    """A table with named columns, of pandas or polars."""
    return hasattr(given, "columns") and hasattr(given, "shape")


def _refuse_lazy(name: str, given: Any) -> None:
    if type(given).__name__ == "LazyFrame":
        raise ValueError(f"{name} must be a table in memory, got a LazyFrame; pass its .collect().")


def _column(X: Any, name: Any, j: int) -> np.ndarray:
    """Column j of a pandas or polars frame, as an array."""
    return (X.iloc[:, j] if hasattr(X, "iloc") else X[name]).to_numpy()


def _split(X: Any) -> list[np.ndarray]:
    if hasattr(X, "toarray"):
        raise ValueError("X must be a dense table, got a sparse matrix; pass its .toarray().")
    try:
        array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    except ValueError:
        raise ValueError("X must have rows of one length, got rows of different lengths.") from None
    if array.ndim != 2:
        what = f"shape {array.shape}" if array.ndim else arg.shorten(X)
        raise ValueError(f"X must be a table with rows and columns, got {what}.")
    return list(array.T)


def _read_with_gaps(name: str, column: np.ndarray, kind: Kind | None) -> tuple[np.ndarray, Kind]:
    """A column with a number above all others where values are missing."""
    if isinstance(column, np.ma.MaskedArray) or column.dtype.kind not in "fO":
        return _read(name, column, kind)
    gaps = np.array([is_missing(value) for value in column])
    if not np.any(gaps):
        return _read(name, column, kind)
    if np.all(gaps):
        raise ValueError(f"X must hold some value in every column, but {name!r} is all missing.")
    there, found = _read(name, column[~gaps], kind)
    code = float(there.max() + max(np.ptp(there), abs(there.max()), 1.0))
    values = np.full(len(column), code)
    values[~gaps] = there
    return values, OrMissing(found, code)


def _read(name: str, column: np.ndarray, kind: Kind | None) -> tuple[np.ndarray, Kind]:
    """A column as finite numbers, and its kind; text is allowed where labels are declared."""
    wrong = ""
    try:
        values = arg.floats(column)
    except (TypeError, ValueError) as error:
        wrong = str(error)
    if wrong and isinstance(kind, Category) and wrong not in ("masked values", "dates", "times"):
        return _labels_and_codes(name, column)
    if wrong:
        raise ValueError(
            f"X must be numeric outside categorical columns, but column {name!r} holds "
            f"{_REMEDIES.get(wrong, wrong)}."
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(f"X must be finite, but column {name!r} holds nan or infinite values.")
    _refuse_scale(name, values)
    return values, kind or NUMBER


def _refuse_scale(name: str, values: np.ndarray) -> None:
    """Squares of what a column holds, and of how far it varies, must be numbers above 0."""
    largest = np.max(np.abs(values))
    if largest > arg.LARGEST:
        raise ValueError(
            f"X must lie within ±{arg.LARGEST:g}, but column {name!r} holds values of size "
            f"{largest:g}; rescale it."
        )
    spread = np.ptp(values)
    if 0 < spread < 1 / arg.LARGEST:
        raise ValueError(
            f"X must vary by {1 / arg.LARGEST:g} or more in a column that is not constant, but "
            f"{name!r} varies by {spread:g}; rescale it."
        )


_REMEDIES = {
    "text": "text; declare it in categorical=",
    "dates": "dates; turn them into numbers",
    "times": "times; turn them into numbers",
    "missing values": "missing values; fill them or leave the rows out",
    "masked values": "masked values; fill them or leave the rows out",
}


def _labels_and_codes(name: str, column: np.ndarray) -> tuple[np.ndarray, Category]:
    """For each row the position of its label, and the labels in order."""
    column = np.asarray(column, dtype=object)
    if not all(isinstance(value, str) for value in column):
        other = next(value for value in column if not isinstance(value, str))
        raise ValueError(
            f"X must hold text in every row of a text column, but column {name!r} also holds "
            f"{arg.shorten(other)}."
        )
    labels, codes = np.unique(column, return_inverse=True)
    return codes.astype(float), Category(labels)


def positions(name: str, columns: Any, names: Sequence[str]) -> list[int]:
    """Columns given by name or position, as positions; none twice."""
    columns = () if columns is None else columns
    if isinstance(columns, str) or arg.is_integer(columns):
        columns = [columns]
    try:
        columns = list(columns)
    except TypeError:
        raise ValueError(
            f"{name} must be names or positions, got {arg.shorten(columns)}."
        ) from None
    found: list[int] = []
    for column in columns:
        if arg.is_integer(column) and 0 <= column < len(names):
            found.append(int(column))
        elif isinstance(column, str) and column in names:
            found.append(list(names).index(column))
        else:
            raise ValueError(
                f"{name} must name columns of X or give positions 0 to {len(names) - 1}, "
                f"got {arg.shorten(column)}."
            )
    return found


def rows_of(name: str, given: Any, names: Sequence[str], *, one: bool) -> np.ndarray:
    """The rows of ``given`` as objects (n, d), in the order of ``names``.

    ``one`` asks for a single instance: a row, a Series, a mapping, or a table of one row. A world
    whose features are called x1, x2, ... has no names of its own and takes those of the caller in
    their order.
    """
    _refuse_lazy(name, given)
    if hasattr(given, "toarray"):
        given = given.toarray()
    own = [str(key) for key in _labels_of(given)]
    if own and _means_positions(own, names):
        own = []
    table = _object_rows(name, given, one)
    if one and len(table) != 1:
        raise ValueError(f"{name} must be one row of numbers, got shape {table.shape}.")
    if len(table) == 0:
        raise ValueError(f"{name} must be a table with at least one row, got none.")
    if not own:
        return table
    order = _order(name, own, names)
    return table[:, order]


def _labels_of(given: Any) -> Sequence[Any]:
    """The names that come with an instance or a table; none with plain arrays."""
    if isinstance(given, Mapping):
        return list(given)
    if _is_frame(given):
        return list(given.columns)
    if hasattr(given, "index") and hasattr(given, "to_numpy"):
        return list(given.index)
    return []


def _means_positions(own: list[str], names: Sequence[str]) -> bool:
    """Names that say nothing: those of pandas' default index, or any where the world has none."""
    return (_counted(own) or nameless(names)) and set(own) != set(names)


def _order(name: str, own: list[str], names: Sequence[str]) -> list[int]:
    """Where each feature of the world stands among the caller's columns."""
    missing = [feature for feature in names if feature not in own]
    extra = [feature for feature in own if feature not in names]
    if missing or extra or len(own) != len(names):
        wrong = f"without {missing[0]!r}" if missing else f"with {(extra or own)[0]!r}"
        raise ValueError(
            f"{name} must have the features of the world, {arg.shorten(list(names))}, "
            f"got one {wrong}."
        )
    return [own.index(feature) for feature in names]


def _object_rows(name: str, given: Any, one: bool) -> np.ndarray:
    """What came as an array of objects (n, d)."""
    if isinstance(given, Mapping):
        given = list(given.values())
    if arg.holds_masked(given):
        raise ValueError(f"{name} must hold numbers only, got masked values.")
    try:
        if _is_frame(given):
            columns = [_column(given, c, j) for j, c in enumerate(given.columns)]
            array = np.column_stack([_plain_column(column) for column in columns])
        else:
            array = np.asarray(given)
            array = array if array.dtype.kind in "fiub" else np.asarray(given, dtype=object)
    except ValueError:
        raise ValueError(
            f"{name} must hold numbers only, got rows of different lengths: {arg.shorten(given)}."
        ) from None
    if array.ndim < 2 and not one:
        raise ValueError(f"{name} must be a table with rows and columns, got shape {array.shape}.")
    array = array.reshape(1, -1) if array.ndim < 2 else array
    if array.ndim != 2:
        raise ValueError(f"{name} must be one row of numbers or a table, got shape {array.shape}.")
    return array


def _plain_column(column: np.ndarray) -> np.ndarray:
    """Numbers as they are, so that a large table stays one; everything else as objects."""
    return column if column.dtype.kind in "fiub" else np.asarray(column, dtype=object)
