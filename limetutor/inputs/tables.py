"""Tables as callers have them: arrays, DataFrames, rows, mappings.

:func:`read_table` reads a training set, :func:`rows_of` the instances to explain. Columns with names
are matched by name: those in another order are put in order, unknown or missing names are refused.
Chapter: discretization.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .columns import MISSING, NUMBER, TRUTH, Category, ColumnKind, OrMissing, is_missing
from .names import default_names, is_frame, labels_of, order_of, refuse_names, refuse_repeated


class TrainingTable(NamedTuple):
    """A training set: numbers (n, d), the name and the kind of each column, and its own labels."""

    values: np.ndarray
    names: tuple[str, ...]
    kinds: tuple[ColumnKind, ...]
    labels: Sequence[Any]


def read_table(
    X: Any,
    categorical: Any = (),
    kinds: Mapping[Any, ColumnKind] | None = None,
    mixed: bool = False,
) -> TrainingTable:
    """Read a training table; ``categorical`` columns hold labels, ``kinds`` names other kinds.

    With ``mixed``, columns of pandas' dtype "category" hold labels without being named, and values may
    be missing (:class:`limetutor.inputs.columns.OrMissing`).
    """
    columns, names = _columns_of(X)
    labels = list(X.columns) if is_frame(X) else names
    dtypes = _categories_of(X) if mixed else {}
    if not isinstance(kinds, Mapping | None):
        raise ValueError(f"kinds must be a dict from column to its kind, got {arg.shorten(kinds)}.")
    chosen: dict[int, ColumnKind] = dict.fromkeys(
        [*dtypes, *positions("categorical", categorical, labels)], Category()
    )
    for kind in (kinds or {}).values():
        if not isinstance(kind, ColumnKind):
            raise ValueError(f"kinds must map columns to kinds, got {arg.shorten(kind)}.")
    chosen |= by_position("kinds", kinds or {}, labels)
    read = _read_with_missing if mixed else _read
    values, types = [], []
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        numbers, kind = read(name, column, chosen.get(j))
        values.append(numbers)
        types.append(_with_categories(kind, dtypes.get(j)))
    return TrainingTable(np.stack(values, axis=1), names, tuple(types), labels)


def _categories_of(X: Any) -> dict[int, Any]:
    """The categories of each column of pandas' dtype "category"."""
    if not hasattr(X, "iloc") or not is_frame(X):
        return {}
    return {j: dtype.categories for j, dtype in enumerate(X.dtypes) if hasattr(dtype, "categories")}


def _with_categories(kind: ColumnKind, categories: Any) -> ColumnKind:
    if categories is None:
        return kind
    if isinstance(kind, OrMissing):
        return OrMissing(_with_categories(kind.kind, categories))
    return kind.knowing(categories=categories) if isinstance(kind, Category) else kind


def _columns_of(X: Any) -> tuple[list[np.ndarray], tuple[str, ...]]:
    if isinstance(X, str | bytes) or X is None:
        raise ValueError(f"X must be a table with rows and columns, got {arg.shorten(X)}.")
    _refuse_lazy("X", X)
    named = is_frame(X)
    columns = [_column(X, name, j) for j, name in enumerate(X.columns)] if named else _split(X)
    if not columns or len(columns[0]) == 0:
        raise ValueError("X must have at least one row and one column, got an empty table.")
    names = tuple(str(c) for c in X.columns) if named else default_names(len(columns))
    refuse_repeated("X", names)
    return columns, names


def _refuse_lazy(name: str, table: Any) -> None:
    if type(table).__name__ == "LazyFrame":
        raise ValueError(f"{name} must be a table in memory, got a LazyFrame; pass its .collect().")


def _column(X: Any, name: Any, j: int) -> np.ndarray:
    """Column j of a pandas or polars frame, as an array."""
    column = (X.iloc[:, j] if hasattr(X, "iloc") else X[name]).to_numpy()
    if column.ndim != 1:  # a Struct of polars
        raise ValueError(
            f"X must hold one value in a cell, but column {str(name)!r} holds several."
        )
    return column  # type: ignore[no-any-return]


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


def _read_with_missing(
    name: str, column: np.ndarray, kind: ColumnKind | None
) -> tuple[np.ndarray, ColumnKind]:
    """Read a column with missing values, which have a code."""
    if isinstance(column, np.ma.MaskedArray) or column.dtype.kind not in "fO":
        return _read(name, column, kind)
    gaps = np.array([is_missing(value) for value in column])
    if not np.any(gaps):
        return _read(name, column, kind)
    if np.all(gaps):
        raise ValueError(f"X must hold some value in every column, but {name!r} is all missing.")
    present, kind_of_present = _read(name, column[~gaps], kind)
    values = np.full(len(column), MISSING)
    values[~gaps] = present
    return values, OrMissing(kind_of_present)


def _read(name: str, column: np.ndarray, kind: ColumnKind | None) -> tuple[np.ndarray, ColumnKind]:
    """Read a column as finite numbers of a kind; text is allowed where labels are declared."""
    problem = ""
    try:
        values = arg.floats(column)
    except (TypeError, ValueError) as error:
        problem = str(error)
    is_text = problem and problem not in ("masked values", "dates", "times")
    if is_text and isinstance(kind, Category):
        return _labels_and_codes(name, column, kind)  # outside ``except``: errors have no context
    if problem:
        raise ValueError(
            f"X must be numeric outside categorical columns, but column {name!r} holds "
            f"{_REMEDIES.get(problem, problem)}."
        )
    if not np.all(np.isfinite(values)):
        raise ValueError(f"X must be finite, but column {name!r} holds nan or infinite values.")
    _refuse_scale(name, values)
    if isinstance(kind, Category):
        if np.max(np.abs(values)) >= 2**53:  # from where on a double merges whole numbers
            raise ValueError(
                f"X must hold labels below 2**53 in size, but column {name!r} holds "
                f"{arg.shorten(column[np.argmax(np.abs(values))])}; pass them as text."
            )
        if kind.labels is not None:
            raise ValueError(
                f"X must hold labels of its kind, {arg.shorten(list(kind.labels))}, "
                f"but column {name!r} holds numbers."
            )
    is_truth = column.dtype == bool or all(isinstance(v, bool | np.bool_) for v in column)
    return values, kind or (TRUTH if is_truth else NUMBER)


def _refuse_scale(name: str, values: np.ndarray) -> None:
    """Refuse a column whose values, or whose range, have squares that overflow or underflow."""
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


def _labels_and_codes(name: str, column: np.ndarray, kind: Category) -> tuple[np.ndarray, Category]:
    """For each row the position of its label among those of its kind, or else among all in order."""
    column = np.asarray(column, dtype=object)
    if not all(isinstance(value, str) for value in column):
        other = next(value for value in column if not isinstance(value, str))
        raise ValueError(
            f"X must hold text in every row of a text column, but column {name!r} also holds "
            f"{arg.shorten(other)}."
        )
    labels, codes = np.unique(column, return_inverse=True)
    if kind.labels is None:
        return codes.astype(float), kind.knowing(labels=labels)
    known = [str(label) for label in kind.labels]
    refuse_repeated("kinds", known, "have different labels")
    unknown = [label for label in labels if label not in known]
    if unknown:
        raise ValueError(
            f"X must hold labels of its kind, {arg.shorten(known)}, but column {name!r} holds "
            f"{arg.shorten(unknown[0])}."
        )
    place = np.array([known.index(label) for label in labels])
    return place[codes].astype(float), kind.knowing(labels=np.array(known, dtype=object))


def by_position(name: str, by_column: Mapping[Any, Any], labels: Sequence[Any]) -> dict[int, Any]:
    """What a caller gives for some columns, by their positions; none twice."""
    places = positions(name, by_column, labels)
    refuse_repeated(name, [str(labels[j]) for j in places], "name a column once")
    return dict(zip(places, by_column.values(), strict=True))


def positions(name: str, columns: Any, labels: Sequence[Any]) -> list[int]:
    """Columns given by name or position, as positions; a number is a name where labels are numbers."""
    columns = () if columns is None else columns
    if isinstance(columns, str) or arg.is_integer(columns):
        columns = [columns]
    try:
        columns = list(columns)
    except TypeError:
        raise ValueError(
            f"{name} must be names or positions, got {arg.shorten(columns)}."
        ) from None
    names, numbered = [str(label) for label in labels], any(map(arg.is_integer, labels))
    result: list[int] = []
    for column in columns:
        if arg.is_integer(column) and not numbered and 0 <= column < len(names):
            result.append(int(column))
        elif (isinstance(column, str) or numbered) and str(column) in names:
            result.append(names.index(str(column)))
        else:
            upto = "" if numbered else f" or give positions 0 to {len(names) - 1}"
            raise ValueError(f"{name} must name columns of X{upto}, got {arg.shorten(column)}.")
    return result


def rows_of(name: str, X: Any, names: Sequence[str], *, one: bool) -> np.ndarray:
    """The rows of ``X`` as objects (n, d), in the order of ``names``.

    ``one`` means a single instance: a row, a Series, a mapping, or a table of one row. Columns are
    matched as :mod:`limetutor.inputs.names` says.
    """
    _refuse_lazy(name, X)
    if hasattr(X, "toarray"):
        X = X.toarray()
    labels = labels_of(X)
    table = _object_rows(name, X, one)
    if one and len(table) != 1:
        raise ValueError(f"{name} must be one row of numbers, got shape {table.shape}.")
    if len(table) == 0:
        raise ValueError(f"{name} must be a table with at least one row, got none.")
    if not labels:
        return table
    refuse_repeated(name, labels)
    order = order_of(names, labels)
    return refuse_names(name, labels, names) if order is None else table[:, order]


def _object_rows(name: str, X: Any, one: bool) -> np.ndarray:
    """A table or an instance as an array (n, d), of numbers or of objects."""
    if isinstance(X, Mapping):
        X = list(X.values())
    if arg.holds_masked(X):
        raise ValueError(f"{name} must hold numbers only, got masked values.")
    try:
        if is_frame(X):
            columns = [_column(X, label, j) for j, label in enumerate(X.columns)]
            array = np.column_stack([_numbers_or_objects(column) for column in columns])
        else:
            array = _numbers_or_objects(X)
    except ValueError:
        raise ValueError(
            f"{name} must hold numbers only, got rows of different lengths: {arg.shorten(X)}."
        ) from None
    if array.ndim < 2 and not one:
        raise ValueError(f"{name} must be a table with rows and columns, got shape {array.shape}.")
    array = array.reshape(1, -1) if array.ndim < 2 else array
    if array.ndim != 2:
        raise ValueError(f"{name} must be one row of numbers or a table, got shape {array.shape}.")
    return array


def _numbers_or_objects(values: Any) -> np.ndarray:
    """Numbers as they are, which saves memory in a large table; everything else as objects."""
    array = np.asarray(values)
    if array.dtype.kind in "mM":  # numpy would make whole numbers of dates in nanoseconds
        values = array.astype(f"{array.dtype.kind}8[us]")
    return array if array.dtype.kind in "fiub" else np.asarray(values, dtype=object)
