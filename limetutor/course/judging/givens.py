"""The numbers that a question gives: their value, how they are written, how a variant draws others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()

Draw = Callable[[np.random.Generator], Any]


@dataclass(frozen=True)
class Given:
    """A number (or a list) that the question gives: its value, what it is, how a variant draws it.

    ``text`` writes the value as it stands in the question, where that is not plainly in digits.
    """

    value: Any
    label: str
    draw: Draw | None = None
    text: Callable[[Any], str] | None = None

    @property
    def shown(self) -> str:
        """The number as the question has it."""
        if self.text is not None:
            return self.text(self.value)
        *most, last = [digits(value) for value in np.ravel(self.value).tolist()]
        return f"{', '.join(most)} and {last}" if most else last


def digits(value: float) -> str:
    """A number in digits, with the minus sign of a text."""
    return f"{value:g}".replace("-", "\N{MINUS SIGN}")


def pair(values: Sequence[float]) -> str:
    """Numbers as a point: (0.961, 0.432)."""
    return f"({', '.join(map(digits, values))})"


def in_words(number: int) -> str:
    """A small whole number as a word, a larger one in digits."""
    return WORDS[number] if number < len(WORDS) else str(number)


# --- draws ---------------------------------------------------------------------------------------


def one_of(*values: Any) -> Draw:
    """One of these values: a float, an int or a list, as they are."""
    return lambda rng: rng.choice(values).tolist()


def between(low: int, high: int, per: int = 1) -> Draw:
    """A whole number from low to high - 1, or that divided by ``per``: 100 for hundredths."""
    if per == 1:
        return lambda rng: int(rng.integers(low, high))
    return lambda rng: float(rng.integers(low, high)) / per


def some_of(count: int, *values: float) -> Draw:
    """A list of so many different ones of these values, in any order."""
    return lambda rng: rng.permutation(values)[:count].tolist()
