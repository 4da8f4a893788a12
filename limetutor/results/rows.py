"""Which row of a table of results is meant: ``results[...]`` by label, where the table has labels."""

from typing import Any

import numpy as np

from ..inputs import arguments as arg


def row_position(i: Any, rows: int, index: Any = None) -> int:
    """The position of the row that ``results[i]`` means, of so many.

    ``index`` is that of the DataFrame which the rows came from, None without one. Where its labels
    are not just 0, 1, 2, ..., i is one of them; otherwise, and where i is a whole number and no label
    is one, i counts rows from the front or from the back.
    """
    labelled = index is not None and list(index) != list(range(rows))
    if labelled and not (arg.is_integer(i) and not any(map(arg.is_integer, index))):
        found = [k for k, label in enumerate(index) if _equal(label, i)]
        if len(found) != 1:
            many = f"which {len(found)} rows have" if found else "which no row has"
            raise IndexError(
                f"a row must be given by its label in the index of X, got {arg.shorten(i)}, {many}; "
                "list(results) has the rows in order."
            )
        return found[0]
    if not arg.is_integer(i):
        raise TypeError(f"a row must be given by its position, got {arg.shorten(i)}.")
    if not -rows <= i < rows:
        raise IndexError(f"a row must lie between 0 and {rows - 1}, got {int(i)}.")
    return int(i) % rows


def _equal(label: Any, i: Any) -> bool:
    """Whether two labels are the same; True is not 1, and an array is no label."""
    same = isinstance(label, bool) == isinstance(i, bool) and label == i
    return isinstance(same, bool | np.bool_) and bool(same)
