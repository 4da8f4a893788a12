"""Checks of the arguments of public functions.

Each check returns the value in the form the code works with, or raises an error of one sentence
that names the argument, what was passed and what is allowed.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

LARGEST = 1e100  # of values, means and bandwidths: squares and ratios of two must stay finite
PANDAS_MISSING = ("NAType", "NaTType")  # names of the classes of pandas' missing values


def shorten(value: Any) -> str:
    """A value in at most 60 characters, for an error message."""
    try:
        text = " ".join(repr(_as_python(value)).split())
    except Exception:  # a repr that fails, or an integer of more digits than Python prints
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _as_python(value: Any) -> Any:
    """Short numpy values as Python's own, with a shorter repr: 4.0, not np.float64(4.0)."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size <= 20):
        return value.tolist()
    if isinstance(value, list):
        return [_as_python(entry) for entry in value[:20]]
    return value


def floats(value: Any) -> np.ndarray:
    """``value`` as a new array of floats.

    numpy would also read text ("1.5"), bytes, dates, complex numbers and masked entries as floats;
    here they are a TypeError whose message names them, because they are passed by mistake.
    """
    if hasattr(value, "toarray"):
        raise TypeError("a sparse matrix; pass its .toarray()")
    if type(value) not in (int, float, np.ndarray) and holds_masked(value):
        raise TypeError("masked values")
    try:
        array = np.asarray(value)
    except ValueError:
        raise TypeError("rows of different lengths") from None
    if array.dtype.kind in _NOT_NUMBERS:
        raise TypeError(_NOT_NUMBERS[array.dtype.kind])
    if array.dtype == object:
        for entry in array.flat:
            _refuse_entry(entry)
    try:
        with np.errstate(over="ignore"):  # numbers of more bits than a double has
            return array.astype(float)
    except OverflowError:
        raise TypeError("a number beyond 1e308") from None
    except (TypeError, ValueError):  # Decimal("sNaN") for instance
        raise TypeError("entries that are no numbers") from None


_NOT_NUMBERS = {
    "U": "text",
    "S": "bytes",
    "T": "text",
    "M": "dates",
    "m": "times",
    "c": "complex numbers",
}


def holds_masked(value: Any, depth: int = 2) -> bool:
    """Whether an array, or a list (of lists), holds masked entries, whose mask numpy would drop."""
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.any(np.ma.getmaskarray(value)))
    return isinstance(value, list | tuple) and any(
        entry is np.ma.masked or (depth > 0 and holds_masked(entry, depth - 1)) for entry in value
    )


def _refuse_entry(entry: Any) -> None:
    """Refuse what an array of objects may not hold; float() would accept some of it."""
    for kind, word in ((str, "text"), (bytes, "bytes"), (complex, "complex numbers")):
        if isinstance(entry, kind):
            raise TypeError(word)
    if type(entry).__name__ in PANDAS_MISSING:
        raise TypeError("missing values")
    if isinstance(entry, list | tuple | np.ndarray):
        raise TypeError("rows of different lengths")
    if isinstance(entry, np.datetime64 | np.timedelta64) or (
        hasattr(entry, "year") or hasattr(entry, "total_seconds")
    ):
        raise TypeError("dates")


def numbers(name: str, value: Any) -> np.ndarray:
    """``value`` as a finite float array of any shape."""
    try:
        array = floats(value)
    except TypeError as error:
        text = shorten(value)
        got = f"{error}: {text}" if len(text) < 60 else str(error)
        raise ValueError(f"{name} must hold numbers only, got {got}.") from None
    if not np.all(np.isfinite(array)):
        bad = int(np.size(array) - np.sum(np.isfinite(array)))
        raise ValueError(f"{name} must be finite, got {bad} nan or infinite value(s).")
    return array


def within(name: str, array: np.ndarray, most: float = LARGEST) -> np.ndarray:
    """The same array, where no entry is beyond ``most``."""
    if array.size and np.max(np.abs(array)) > most:
        largest = float(np.ravel(array)[np.argmax(np.abs(array))])
        raise ValueError(f"{name} must lie within ±{most:g}, got {largest:g}; rescale it.")
    return array


def vector(name: str, value: Any, length: int | None = None, because: str = "") -> np.ndarray:
    """A finite one-dimensional array with at least one entry, of ``length`` if one is given."""
    array = np.atleast_1d(numbers(name, value))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be one row of numbers with at least one entry, got shape {array.shape}."
        )
    if length is not None and array.size != length:
        raise ValueError(f"{name} must have {length} entries{because}, got {array.size}.")
    return array


def scalar(name: str, value: Any) -> float:
    """A single finite number."""
    array = numbers(name, value)
    if array.ndim != 0:
        raise ValueError(f"{name} must be a single number, got an array of shape {array.shape}.")
    return float(array)


def positive(name: str, value: Any) -> float:
    """A single number above zero."""
    number = scalar(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be above 0, got {number:g}.")
    return number


def bandwidth(name: str, value: Any) -> float:
    """A number above zero whose square neither underflows nor overflows."""
    number = positive(name, value)
    if not 1 / LARGEST <= number <= LARGEST:
        raise ValueError(f"{name} must lie between 1e-100 and 1e100, got {number:g}.")
    return number


def not_negative(name: str, value: Any) -> float:
    """A single number, zero or above."""
    number = scalar(name, value)
    if number < 0:
        raise ValueError(f"{name} must be 0 or above, got {number:g}.")
    return number


def probability(name: str, value: Any) -> float:
    """A single number strictly between 0 and 1."""
    number = scalar(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {number:g}.")
    return number


def whole(name: str, value: Any, least: int, because: str = "", most: int = 10**12) -> int:
    """A whole number from ``least`` to ``most``."""
    whole_float = isinstance(value, float | np.floating) and float(value).is_integer()
    if not (is_integer(value) or whole_float):
        raise ValueError(f"{name} must be a whole number, got {shorten(value)}.")
    number = int(value)
    if number < least:
        raise ValueError(f"{name} must be {least} or more{because}, got {shorten(number)}.")
    if number > most:
        raise ValueError(f"{name} must be at most {most:,}, got {shorten(number)}.")
    return number


def is_integer(value: Any) -> bool:
    """Whether a value is an integer of Python or numpy; bool and numpy's timedelta64 do not count."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def seed(name: str, value: Any) -> int | np.random.Generator | np.random.SeedSequence | None:
    """A seed of a random generator: None, a whole number of 0 or above, a generator, a SeedSequence."""
    if isinstance(value, np.random.SeedSequence):  # a copy: spawning changes it
        return np.random.SeedSequence(**value.state)
    if value is None or isinstance(value, np.random.Generator):
        return value
    if not is_integer(value) or value < 0:
        raise ValueError(
            f"{name} must be None, a whole number of 0 or above, or a numpy Generator, "
            f"got {shorten(value)}."
        )
    return int(value)


def called(name: str, function: Callable[..., Any], wanted: str, *arguments: Any) -> Any:
    """Call a user's function; its own errors pass, a wrong signature is refused in one sentence."""
    try:
        return function(*arguments)
    except TypeError as error:
        trace = error.__traceback__
        if trace is not None and trace.tb_next is not None:  # raised inside
            raise
        words = " ".join(str(error).split())[:150].rstrip(".")
        raise TypeError(f"{name} must take {wanted}, but Python says: {words}.") from None


def jobs(value: Any) -> int | None:
    """A number of processes, as in joblib: None, or a whole number other than 0."""
    if value is not None and (not is_integer(value) or value == 0):
        raise ValueError(
            f"n_jobs must be None or a whole number other than 0, got {shorten(value)}."
        )
    return value


def text(name: str, value: Any, otherwise: str) -> str:
    """A text, or ``otherwise`` for None."""
    if not isinstance(value, str | None):
        raise ValueError(f"{name} must be a text or None, got {shorten(value)}.")
    return otherwise if value is None else value


def truth(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shorten(value)}.")
    return bool(value)


def one_of(name: str, value: Any, allowed: Sequence[str]) -> str:
    """One of the ``allowed`` words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise ValueError(f"{name} must be one of {words}, got {shorten(value)}.")
    return value
