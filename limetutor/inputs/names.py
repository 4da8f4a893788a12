"""One way to match columns: those of rows, of worlds, of models and of explainers.

Names decide where both sides have them. A side without names takes the other's in their order.
Names that contradict each other, or that come twice, are refused. Chapter: discretization.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from . import arguments as arg


def default_names(d: int) -> tuple[str, ...]:
    """x1, x2, ... for features without names."""
    return tuple(map("x%d".__mod__, range(1, d + 1)))


def nameless(names: Sequence[str]) -> bool:
    """Whether names are default ones: x1, x2, ..., or 0, 1, ... as in pandas and `lime`."""
    return _counted(names) or tuple(names) == default_names(len(names))


def _counted(names: Sequence[str]) -> bool:
    return list(names) == [str(j) for j in range(len(names))]


def _places(names: Sequence[str]) -> list[int] | None:
    """The places that default names stand for, whatever their order; None for other names."""
    for default in (map(str, range(len(names))), default_names(len(names))):
        place = {name: j for j, name in enumerate(default)}
        if place.keys() == set(names):
            return [place[name] for name in names]
    return None


def are_default(names: Sequence[str]) -> bool:
    """Whether names are default ones, whatever their order."""
    return _places(names) is not None


def is_frame(table: Any) -> bool:
    """Whether a table has named columns, as those of pandas and polars have."""
    return hasattr(table, "shape") and hasattr(table, "columns")  # which a LazyFrame computes


def labels_of(X: Any) -> list[str]:
    """The names that come with an instance or a table; none with plain arrays."""
    labels: Sequence[Any] = ()
    if isinstance(X, Mapping):
        labels = list(X)
    elif is_frame(X):
        labels = list(X.columns)
    elif hasattr(X, "index") and hasattr(X, "to_numpy"):
        labels = list(X.index)
    elif isinstance(X, tuple):  # a named one; pandas calls a column _1 whose name is no identifier
        fields = getattr(X, "_fields", ())
        labels = () if any(field.startswith("_") for field in fields) else fields
    return [str(label) for label in labels]


def refuse_repeated(
    who: str, names: Sequence[str], must: str = "have different column names"
) -> None:
    """Refuse names of which two are the same."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{who} must {must}, got {twice!r} more than once.")


def order_of(names: Sequence[str], labels: Sequence[str]) -> list[int] | None:
    """Where each of the features ``names`` stands among ``labels``; None where the two contradict.

    By name where both have names, also where both have default ones in another order. By position
    where the labels are counted (0, 1, ...) or the names are default ones, unless a name, be it a
    default one, stands in another place.
    """
    place = {label: k for k, label in enumerate(labels)}
    if not names:
        return list(range(len(labels)))
    if len(names) == len(labels) and place.keys() == set(names):
        return [place[name] for name in names]
    meant, own = _places(labels), _places(names)
    if meant is not None and own is not None and len(meant) == len(own):
        return [meant.index(j) for j in own]
    by_position = _counted(labels) if not nameless(names) else not _misplaced(labels)
    return list(range(len(labels))) if by_position and in_place(names, labels) else None


def _misplaced(labels: Sequence[str]) -> bool:
    """Whether a default name is in another place than its own, unless all count on from some number."""
    if all(label.isdecimal() for label in labels):
        return labels != sorted(labels, key=int)
    counted = [str(j) for j in range(len(labels))]
    return not all(in_place(default, labels) for default in (counted, default_names(len(labels))))


def in_place(names: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether no name that both have stands in another place."""
    place = {label: k for k, label in enumerate(labels)}
    return all(place.get(name, j) == j for j, name in enumerate(names))


def refuse_names(
    who: str, labels: Sequence[str], names: Sequence[str], whose: str = "the features of the world"
) -> NoReturn:
    """Say which of the names is missing among the labels, which label is none of them, or which moved."""
    missing = [name for name in names if name not in labels]
    extra = [label for label in labels if label not in names]
    wrong = f"without {missing[0]!r}" if missing else f"with {(extra or labels)[0]!r}"
    raise ValueError(f"{who} must have {whose}, {arg.shorten(list(names))}, got one {wrong}.")
