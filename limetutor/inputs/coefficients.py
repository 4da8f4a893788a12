"""What callers pass to make and to call a form: slopes, an intercept, rows of numbers."""

from typing import Any

import numpy as np

from . import arguments as arg

MAX_COEFFICIENT = 1e190  # of a form: at values up to 1e100 it stays a number


def slopes(a: Any, length: int | None = None, because: str = "") -> np.ndarray:
    """The coefficients of a form, checked."""
    return arg.within("a", arg.vector("a", a, length, because), MAX_COEFFICIENT)


def constant(b: Any) -> float:
    """The intercept of a form, checked."""
    return float(arg.within("b", np.array(arg.scalar("b", b)), MAX_COEFFICIENT))


def rows_of_numbers(x: Any, d: int) -> np.ndarray:
    """The argument of a form: rows of d numbers."""
    if type(x) is not np.ndarray or x.dtype != float:
        try:
            x = arg.floats(x)
        except (TypeError, ValueError):
            raise ValueError(f"x must hold numbers only, got {arg.shorten(x)}.") from None
    if x.shape[-1:] != (d,):
        raise ValueError(f"x must have {d} columns, one per entry of a, got shape {x.shape}.")
    return x


def finite(y: np.ndarray) -> np.ndarray:
    """The values of a form, refused where one is not finite."""
    if not np.all(np.isfinite(y)):
        bad = int(np.size(y) - np.sum(np.isfinite(y)))
        raise ValueError(
            f"x must be finite, got nan, infinite or too large values in {bad} row(s)."
        )
    return y
