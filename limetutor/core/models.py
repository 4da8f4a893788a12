"""The models whose limits are exact: forms, of which the linear one is the paper's.

A :class:`Form` is a model whose expectations under the tilted law are known. Fitted models of other
packages become forms through ``READERS``, which other folders fill. Chapter: beyond linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..inputs import arguments as arg
from ..inputs.coefficients import constant, finite, rows_of_numbers, slopes
from .tilted_law import ConditionalLaws


class SlowSeriesError(Exception):
    """Raised by a form whose series would need too many terms: it is sampled instead."""


class Expectation(NamedTuple):
    """E~[f], and E~[f | z_j = 1] and E~[f | z_j = 0] for each j."""

    mean: Any
    inside: np.ndarray
    outside: np.ndarray

    def plus(self, other: Expectation, times: float = 1.0) -> Expectation:
        """The expectation of f + times * g."""
        return Expectation(*(a + times * b for a, b in zip(self, other, strict=True)))


class Form:
    """A function of d numbers whose expectations under any tilted law can be computed."""

    closed = True  # a closed form; otherwise a series or a quadrature, good to about 1e-10
    degree: int | None = None  # how many features act together at most, if less than all
    is_pickled = False  # whether it is so small that pickles of results keep it

    def rounding(self, x: np.ndarray) -> Any:
        """How far rounding may take it from the model it was read from, at rows x (n, d)."""
        return 0.0

    @property
    def d(self) -> int | None:
        """Number of arguments, or None where any number will do."""
        return None

    def __call__(self, x: Any) -> np.ndarray:
        """The value at each row of x (n, d)."""
        raise NotImplementedError

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """E~[f], E~[f | z_j = 1] and E~[f | z_j = 0]."""
        raise NotImplementedError

    def contrasts(self, views: ConditionalLaws) -> tuple[np.ndarray, np.ndarray] | None:
        """E~[f] (rows,) and E~[f | z_j = 1] - E~[f | z_j = 0] (rows, d) for laws of many rows.

        None where the rows of a form share no work, so that each goes by :meth:`expectation`.
        """
        return None

    def contrast(self, views: ConditionalLaws) -> tuple[float, np.ndarray]:
        """The same at one instance."""
        row = self.contrasts(ConditionalLaws(views.law, views.weights[:, None]))
        if row is not None:  # its differences keep digits that those of expectations lose
            return float(row[0][0]), row[1][0]
        mean, inside, outside = self.expectation(views)
        return float(mean), inside - outside


@dataclass(frozen=True, eq=False)
class Linear(Form):
    """The linear model f(x) = a.x + b of the paper (its assumption H1).

    Parameters
    ----------
    a
        Slopes, one per feature.
    b
        Intercept.

    Examples
    --------
    >>> f = Linear([10, -10])
    >>> f([[1.0, 2.0]])
    array([-10.])
    """

    a: Any
    b: float = 0.0

    is_pickled = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", slopes(self.a))
        object.__setattr__(self, "b", constant(self.b))

    @property
    def d(self) -> int:
        """Number of slopes."""
        return self.a.size

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        is_array = type(x) is np.ndarray and x.dtype == float and x.shape[-1:] == self.a.shape
        x = x if is_array else rows_of_numbers(x, self.a.size)
        with np.errstate(over="ignore", invalid="ignore"):
            y = x @ self.a + self.b
        return y if np.all(np.isfinite(y)) else finite(y)

    def rounding(self, x: np.ndarray) -> np.ndarray:
        """That of terms which may cancel."""
        return 1e-13 * (np.abs(x) @ np.abs(self.a) + abs(self.b))

    def expectation(self, views: ConditionalLaws) -> Expectation:
        """E~[f | z_j] = f(mu~) + a_j (E~[x_j | z_j] - mu~_j)."""
        whole, inside, outside = views.mix(views.law.box_means())
        mean = float(self(whole[None])[0])
        inside, outside = (mean + self.a * (given - whole) for given in (inside, outside))
        return Expectation(mean, inside, outside)

    def __repr__(self) -> str:
        return f"Linear(a={np.array2string(self.a, precision=4, threshold=6)}, b={self.b:g})"


# pairs of functions by which other folders read fitted models: a problem to the form of its f or
# None, and f to the number of features that it was fitted on, or None
READERS: list[tuple[Callable[..., Form | None], Callable[[Any], int | None]]] = []


def form_in(problem: Any) -> Form | None:
    """The form of f in the coordinates of its world, or None where it must be sampled."""
    f, boxes, output = problem.f, problem.boxes, problem.output
    if not isinstance(f, Form):
        forms = (read(problem) for read, _ in READERS)
        return next((form for form in forms if form is not None), None)
    if boxes.has_text or boxes.has_gaps:
        raise ValueError(
            "f must take text or missing values, which the world has, got a function of numbers, "
            f"{arg.shorten(f)}."
        )
    if f.d is not None and f.d != boxes.d:
        name = "a" if hasattr(f, "a") else "f"
        raise ValueError(
            f"{name} must have {boxes.d} entries, one per feature of the world, got {f.d}."
        )
    if output is not None:
        raise ValueError(
            f"output must be left out when f has a single output, got {arg.shorten(output)}."
        )
    return f


def features_of(f: Any) -> int | None:
    """The number of features that f was fitted on, where it says so."""
    if isinstance(f, Form):
        return f.d
    counts = (count(f) for _, count in READERS)
    return next((count for count in counts if count is not None), None)
