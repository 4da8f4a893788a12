"""Exercises answered by numbers: :class:`Value` and :class:`Members`, judged by a table of intervals."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import cached_property
from itertools import product
from typing import Any, Self

import numpy as np

from .exercise import Hinted
from .grammar import EXACT, UnreadableError, readings
from .tables import AnswerRow, AnswerTable, Interval, Verdict

#: A three-digit constant taken from the page (0.674 for 0.6745) moves no answer of this book by more.
RTOL = 0.005
ROUNDED = 0.05  # what rounding to two digits can change
SAME = 1e-9  # between a number and itself, computed in another way
PERCENT_UP_TO = 2.0  # larger values are counts, not shares
DIGITS = {1: "one digit", 2: "two digits", 3: "three digits", 4: "four digits", 5: "five digits"}


@dataclass(frozen=True, kw_only=True)
class Tabulated(Hinted):
    """An exercise whose answers are judged by a table, so on the page too."""

    @cached_property
    def table(self) -> AnswerTable:
        """All that is known about the answers."""
        raise NotImplementedError

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """By the table."""
        return self.table.judge(answer, attempt)

    def essence(self, answer: Any) -> Any:
        """Its numbers; what cannot be read is no attempt."""
        try:
            return [reading[:2] for reading in readings(answer)]
        except UnreadableError:
            return None


@dataclass(frozen=True, kw_only=True)
class Value(Tabulated):
    """A number, a list or a matrix of numbers, whichever ``right`` gives.

    It is right within ``rtol``, or within half a unit of the last of ``digits`` where that is more (in a
    list, of the largest number); ``reason`` says why, if either is not the default. Given with fewer digits and so rounded it is
    close, unless a mistake would be the same number then.

    Recognised without being declared: a number of the question given back, the wrong sign, the
    inverse, the square, the root, per cent (not of a ``count``), the other order.
    """

    right: Callable[..., Any]
    asks: str
    digits: int = 3
    rtol: float = RTOL
    reason: str = ""
    ordered: bool = True
    count: bool = False  # a number of things, however small: no share

    @cached_property
    def value(self) -> np.ndarray:
        """What is right."""
        return np.asarray(self.right(**self.params), float)

    @cached_property
    def table(self) -> AnswerTable:
        """Right, known mistakes, right but for the form, slips, mistakes rounded."""
        right = self._sorted(self.value.ravel())
        values = [np.ravel(mistake.value(**self.params)).astype(float) for mistake in self.mistakes]
        wrong = [self._sorted(value) for value in values]
        hints = [self._filled(mistake.hint) for mistake in self.mistakes]
        rows = [*self._too_short(right, wrong), AnswerRow("right", "", self.around(right))]
        rows += [
            AnswerRow("wrong", *row) for row in zip(hints, map(self.around, wrong), strict=True)
        ]
        rows += [*self._echoes(), *self._slips(right)]
        for value, hint in zip(wrong, hints, strict=True):
            rows += self._rounded("wrong", hint, value)
        return AnswerTable(self.value.shape, self.ordered, tuple(rows), self.ladder, self.arrange)

    @property
    def arrange(self) -> str:
        """How to write the answer."""
        shape = self.value.shape
        if shape == ():
            return "Give one number."
        counted = np.arange(1, self.value.size + 1).reshape(-1, shape[-1])
        example = "; ".join(", ".join(map(str, row)) for row in counted.tolist())
        rows = f"{shape[0]} rows of " if len(shape) == 2 else ""
        return f"Give {rows}{shape[-1]} numbers, such as {example}."

    def around(self, values: np.ndarray) -> tuple[Interval, ...]:
        """The interval about each number in which an answer counts as that number."""
        largest = float(np.max(np.abs(values)))
        # In a list, the decimals that the largest number needs are enough for all of them.
        least = _unit(largest, self.digits) * (0.5 + SAME) if largest and values.size > 1 else SAME
        halves = [
            max(self.rtol * abs(v), _unit(v, self.digits) * (0.5 + SAME), least)
            if v
            else max(self.rtol * largest, least)
            for v in values.tolist()
        ]
        return tuple((v - h, v + h) for v, h in zip(values.tolist(), halves, strict=True))

    def variant(self, rng: np.random.Generator) -> Self:
        """Other numbers, drawn again where they would make a mistake or a given number right."""
        for _ in range(100):
            drawn = super().variant(rng)
            wrong = [mistake.value(**drawn.params) for mistake in drawn.mistakes]
            wrong += [value for value in drawn.params.values() if np.ndim(value) == 0]
            if all(drawn.judge(value).kind != "right" for value in wrong):
                return drawn
        raise ValueError(f"{self.name}: no numbers were drawn at which every mistake is wrong.")

    def _sorted(self, values: np.ndarray) -> np.ndarray:
        return values if self.ordered else np.sort(values)

    def _too_short(self, right: np.ndarray, wrong: Sequence[np.ndarray]) -> Iterator[AnswerRow]:
        """Right but for its digits; where a mistake rounds to it, the answer is unclear."""
        request = f"give {DIGITS[self.digits]}."
        unclear = f"Please {request}"
        alike = {
            tuple(_point(rounded(v, digits)) for v in value.tolist())
            for value in wrong
            for digits in range(1, self.digits)
        }
        for row in self._rounded("close", f"rounded too far: {request}", right):
            clear = row.box not in alike
            yield row if clear else row._replace(kind="wrong", words=unclear, whole=True)

    def _rounded(self, kind: str, words: str, values: np.ndarray) -> Iterator[AnswerRow]:
        """Rows for the values rounded to fewer digits than asked, where that changes little."""
        fine = [rounded(v, self.digits) for v in values.tolist()]
        # one number is often cut off instead: 0.66 for 2/3
        ways = (ROUND_HALF_UP, ROUND_DOWN)[: 2 if values.size == 1 else 1]
        before: list[float] = []
        for digits, way in product(range(self.digits - 1, 0, -1), ways):
            coarse = [rounded(v, digits, way) for v in values.tolist()]
            near = np.abs(coarse - values) <= ROUNDED * np.abs(values)
            if coarse not in (fine, before) and np.all(near):
                most = [EXACT if c == f else digits for c, f in zip(coarse, fine, strict=True)]
                yield AnswerRow(kind, words, tuple(map(_point, coarse)), digits=tuple(most))
            before = coarse

    def _echoes(self) -> Iterator[AnswerRow]:
        """A number of the question given back: the bandwidth for the position, say."""
        for given in self.given.values():
            if self.value.shape == () and np.ndim(given.value) == 0:
                words = f"That is {given.label}, which the question gives. You are asked for {self.asks}."
                for value in {float(given.value), abs(float(given.value))}:
                    yield AnswerRow("wrong", words, (_point(value),))

    def _slips(self, right: np.ndarray) -> Iterator[AnswerRow]:
        """Right but for a slip that anyone may make."""
        if not np.any(right):
            return
        if np.max(np.abs(right)) <= PERCENT_UP_TO and not self.count:
            words = "in per cent: write it as a plain number, or with a % sign."
            yield AnswerRow("close", words, self.around(100 * right))
        yield AnswerRow("wrong", "Check the sign.", self.around(self._sorted(-right)), whole=True)
        for one in np.flatnonzero(right) if right.size > 1 else ():
            slipped = self._sorted(np.where(np.arange(right.size) == one, -right, right))
            yield AnswerRow("wrong", "Check the signs.", self.around(slipped), whole=True)
        if self.ordered and right.size > 1:
            words = "These are the right numbers in the other order."
            yield AnswerRow("wrong", words, self.around(right[::-1]), whole=True)
        if np.all(right):
            words = "That is the inverse of the answer: a fraction is upside down."
            yield AnswerRow("wrong", words, self.around(self._sorted(1 / right)))
        words = "That is the square of the answer."
        yield AnswerRow("wrong", words, self.around(self._sorted(right**2)))
        words = "That is the square root of the answer, as a standard deviation is of a variance."
        yield AnswerRow("wrong", words, self.around(self._sorted(np.sqrt(np.abs(right)))))


def _unit(value: float, digits: int) -> float:
    """The place value of the last of so many digits: 0.001 for 0.882 and three."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)


def rounded(value: float, digits: int, way: str = ROUND_HALF_UP) -> float:
    """To so many digits, halves upwards as at school unless another ``way`` is named."""
    exact = Decimal(repr(value))
    if not exact:
        return 0.0
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), way))


def _point(value: float) -> Interval:
    """A number and what a computer may make of it."""
    return value - SAME * abs(value), value + SAME * abs(value)


@dataclass(frozen=True, kw_only=True)
class Members(Tabulated):
    """Which of some whole numbers? A list of any length, in any order.

    A mistake gives numbers that do not belong; one of them in an answer brings its hint.
    """

    right: Callable[..., Sequence[int]]

    @cached_property
    def table(self) -> AnswerTable:
        """Exactly the right numbers, or some that do not belong."""
        right = sorted(float(v) for v in self.right(**self.params))
        rows = [AnswerRow("right", "", tuple(map(_point, right)))]
        for mistake in self.mistakes:
            box = tuple(_point(float(v)) for v in mistake.value(**self.params))
            rows.append(AnswerRow("wrong", self._filled(mistake.hint), box, anywhere=True))
        arrange = "Give a list of whole numbers, such as 2, 4."
        return AnswerTable((-1,), False, tuple(rows), self.ladder, arrange)
