"""The kinds of exercises: values, sets of whole numbers, functions, paragraphs.

An exercise is declared as data in ``limetutor/course/exercises/<chapter>.py``. What is right and each
known mistake are functions of the numbers in the question (:class:`Given`), so that a variant with
other numbers can be drawn and judged like the original.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ...arguments import shorten
from .grammar import EXACT, UnreadableError, readings
from .tables import Interval, Row, Table, Verdict, verdict

#: A three-digit constant taken from the page (0.674 for 0.6745) moves no answer of this book by more.
RTOL = 0.005
ROUNDED = 0.05  # what rounding to two digits can change
SAME = 1e-9  # between a number and itself, computed in another way
PERCENT_UP_TO = 2.0  # larger values are counts, not shares
DIGITS = {1: "one digit", 2: "two digits", 3: "three digits", 4: "four digits", 5: "five digits"}
WORDS = (
    "none one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()


@dataclass(frozen=True)
class Given:
    """A number (or a list) that the question gives: its value, what it is, how a variant draws it.

    ``text`` writes the value as it stands in the question, where that is not plainly in digits.
    """

    value: Any
    label: str
    draw: Callable[[np.random.Generator], Any] | None = None
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


class Mistake(NamedTuple):
    """A wrong answer that is known: what it gives, as a function of the givens, and its hint."""

    value: Callable[..., Any]
    hint: str


class Ladder(NamedTuple):
    """Hints by attempt. The first shows no formula, none shows the answer."""

    nudge: str
    formula: str
    step: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """What all kinds have: a name, ``chapter/number``, and the numbers of the question."""

    name: str
    given: Mapping[str, Given] = field(default_factory=dict)

    #: what the page offers: a box, a kernel, or points to compare with
    answered: ClassVar[str] = "box"

    @property
    def params(self) -> dict[str, Any]:
        """The numbers of the question, by name."""
        return {name: given.value for name, given in self.given.items()}

    def variant(self, rng: np.random.Generator) -> Self:
        """The same exercise with other numbers, where they can be drawn."""
        drawn = {
            name: replace(given, value=given.draw(rng)) if given.draw else given
            for name, given in self.given.items()
        }
        return replace(self, given=drawn)

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """The verdict on an answer at an attempt: 1, 2, …"""
        raise NotImplementedError

    def essence(self, answer: Any) -> Any:
        """What makes an answer a new attempt; None if it is none."""
        return None

    def _filled(self, words: str) -> str:
        """A hint with the numbers of the question in it: "{nu}" is one."""
        shown = {name: g.shown for name, g in self.given.items() if f"{{{name}}}" in words}
        for name, text in shown.items():
            words = words.replace(f"{{{name}}}", text)
        return words


class Attempts:
    """What each exercise was answered so far, so that a cell that is run again is no new attempt."""

    def __init__(self) -> None:
        self._tried: dict[str, list[Any]] = {}

    def at(self, exercise: Exercise, answer: Any) -> int:
        """The number of the attempt that an answer is: 1, 2, …"""
        tried = self._tried.setdefault(exercise.name, [])
        essence = exercise.essence(answer)
        if essence is not None and essence not in tried:
            tried.append(essence)
        return max(1, len(tried))


# --- values ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Tabulated(Exercise):
    """An exercise whose answers are judged by a table, so on the page too."""

    ladder: Ladder
    mistakes: Sequence[Mistake] = ()

    @cached_property
    def table(self) -> Table:
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

    def _steps(self) -> tuple[str, str, str]:
        nudge, formula, step = map(self._filled, self.ladder)
        return nudge, formula, step


@dataclass(frozen=True, kw_only=True)
class Value(Tabulated):
    """A number, a list or a matrix of numbers, whichever ``right`` gives.

    It is right within ``rtol``, or within half a unit of the last of ``digits`` where that is more
    (``reason`` says why, if either is not the default). Given with fewer digits and so rounded it is
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
    def table(self) -> Table:
        """Right, known mistakes, right but for the form, slips, mistakes rounded."""
        right = self._sorted(self.value.ravel())
        wrong = [
            (self._sorted(np.ravel(mistake.value(**self.params)).astype(float)), mistake.hint)
            for mistake in self.mistakes
        ]
        rows = [
            *self._too_short(right, [value for value, _ in wrong]),
            Row("right", "", self.around(right)),
            *(Row("wrong", self._filled(hint), self.around(value)) for value, hint in wrong),
            *self._echoes(),
            *self._slips(right),
        ]
        for value, hint in wrong:
            rows += self._rounded("wrong", self._filled(hint), value)
        return Table(self.value.shape, self.ordered, tuple(rows), self._steps(), self.arrange)

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
        halves = [
            max(self.rtol * abs(v), _unit(v, self.digits) * (0.5 + SAME))
            if v
            else max(self.rtol * largest, SAME)
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

    def _too_short(self, right: np.ndarray, wrong: Sequence[np.ndarray]) -> Iterator[Row]:
        """Right but for its digits; where a mistake looks like it, nobody can tell which was meant."""
        asked = f"give {DIGITS[self.digits]}."
        unclear = f"With so few digits, this may be right or a known mistake: {asked}"
        alike = {
            tuple(_point(rounded(v, digits)) for v in value.tolist())
            for value in wrong
            for digits in range(1, self.digits)
        }
        for row in self._rounded("close", f"rounded too far: {asked}", right):
            clear = row.box not in alike
            yield row if clear else row._replace(kind="wrong", words=unclear, whole=True)

    def _rounded(self, kind: str, words: str, values: np.ndarray) -> Iterator[Row]:
        """Rows for the values rounded to fewer digits than asked, where that changes little."""
        fine = [rounded(v, self.digits) for v in values.tolist()]
        for digits in range(self.digits - 1, 0, -1):
            coarse = [rounded(v, digits) for v in values.tolist()]
            near = all(
                abs(c - v) <= ROUNDED * abs(v) for c, v in zip(coarse, values.tolist(), strict=True)
            )
            if coarse != fine and near:
                most = [EXACT if c == f else digits for c, f in zip(coarse, fine, strict=True)]
                yield Row(kind, words, tuple(map(_point, coarse)), digits=tuple(most))

    def _echoes(self) -> Iterator[Row]:
        """A number of the question given back: the bandwidth for the position, say."""
        for given in self.given.values():
            if self.value.shape == () and np.ndim(given.value) == 0:
                words = f"That is {given.label}, which the question gives; {self.asks} is asked."
                for value in {float(given.value), abs(float(given.value))}:
                    yield Row("wrong", words, (_point(value),))

    def _slips(self, right: np.ndarray) -> Iterator[Row]:
        """Right but for a slip that anyone may make."""
        if not np.any(right):
            return
        if np.max(np.abs(right)) <= PERCENT_UP_TO and not self.count:
            words = "in per cent: write it as a plain number, or with a % sign."
            yield Row("close", words, self.around(100 * right))
        yield Row("wrong", "Check the sign.", self.around(self._sorted(-right)), whole=True)
        for one in np.flatnonzero(right) if right.size > 1 else ():
            slipped = np.where(np.arange(right.size) == one, -right, right)
            yield Row("wrong", "Check the signs.", self.around(self._sorted(slipped)), whole=True)
        if self.ordered and right.size > 1:
            words = "These are the right numbers in the other order."
            yield Row("wrong", words, self.around(right[::-1]), whole=True)
        if np.all(right):
            words = "That is the inverse of what is asked: something stands upside down."
            yield Row("wrong", words, self.around(self._sorted(1 / right)))
        words = "That is the square of what is asked."
        yield Row("wrong", words, self.around(self._sorted(right**2)))
        words = "That is the root of what is asked, as a standard deviation is of a variance."
        yield Row("wrong", words, self.around(self._sorted(np.sqrt(np.abs(right)))))


def _unit(value: float, digits: int) -> float:
    """The place value of the last of so many digits: 0.001 for 0.882 and three."""
    return 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)


def rounded(value: float, digits: int) -> float:
    """To so many digits, halves upwards as at school."""
    exact = Decimal(repr(value))
    if not exact:
        return 0.0
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), ROUND_HALF_UP))


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
    def table(self) -> Table:
        """Exactly the right numbers, or some that do not belong."""
        right = sorted(float(v) for v in self.right(**self.params))
        rows = [Row("right", "", tuple(map(_point, right)))]
        for mistake in self.mistakes:
            box = tuple(_point(float(v)) for v in mistake.value(**self.params))
            rows.append(Row("wrong", self._filled(mistake.hint), box, anywhere=True))
        arrange = "Give a list of whole numbers, such as 2, 4."
        return Table((-1,), False, tuple(rows), self._steps(), arrange)


# --- functions ---------------------------------------------------------------------------------


class Tried(NamedTuple):
    """What came of calling a function: ``hint`` names no input, ``where`` may."""

    kind: str
    hint: str = ""
    where: str = ""
    lost: bool = False  # wrong in a way that nobody has described


@dataclass(frozen=True, kw_only=True)
class Function(Exercise):
    """A function to write: called on inputs that it has not seen, beside the reference.

    ``inputs(rng)`` gives the arguments of one call; mistakes are functions too.
    """

    reference: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    ladder: Ladder
    mistakes: Sequence[tuple[Callable[..., Any], str]] = ()
    calls: int = 20
    rtol: float = 1e-6

    answered: ClassVar[str] = "kernel"

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """Call it; what it raises, returns or changes is told, and never stops the judge."""
        if answer is Ellipsis:
            return Verdict("wrong", "Replace the three dots with your function, then run it again.")
        if not callable(answer):
            words = "Give the function itself, by its name and without brackets."
            return verdict("wrong", words)
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), attempt])
        found = self.tried(answer, rng)
        step = self.ladder[min(attempt, 3) - 1] if found.lost else ""
        return verdict(found.kind, found.where or found.hint, step)

    def tried(self, answer: Callable[..., Any], rng: np.random.Generator) -> Tried:
        """What comes of calls on inputs drawn by ``rng``."""
        cases = [self.inputs(rng) for _ in range(self.calls)]
        expected = [np.asarray(self.reference(*_copies(case)), float) for case in cases]
        given: list[np.ndarray] = []
        for case, right in zip(cases, expected, strict=True):
            result, where, hint = _called(answer, case, right)
            if hint:
                return Tried("wrong", hint, where)
            given.append(result)
        if self._agree(given, expected):
            return Tried("right")
        for mistaken, hint in self.mistakes:
            if self._agree(given, [np.asarray(mistaken(*_copies(c)), float) for c in cases]):
                return Tried("wrong", hint)
        wrong = next(
            k for k in range(self.calls) if not self._agree(given[k : k + 1], expected[k : k + 1])
        )
        where = f"For {_listed(cases[wrong])} it gives {shorten(given[wrong])}, which is not right."
        return Tried("wrong", self.ladder.nudge, where, lost=True)

    def essence(self, answer: Any) -> Any:
        """What its code does: a cell run again makes a new object of the same code."""
        code = getattr(answer, "__code__", None)
        return (code.co_code, code.co_names, repr(code.co_consts)) if code else None

    def _agree(self, given: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> bool:
        return all(
            one.shape == other.shape and np.allclose(one, other, rtol=self.rtol, atol=1e-12)
            for one, other in zip(given, expected, strict=True)
        )


def _copies(case: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in case)


def _listed(case: tuple[Any, ...]) -> str:
    return ", ".join(shorten(value) for value in case)


def _called(
    function: Callable[..., Any], case: tuple[Any, ...], right: np.ndarray
) -> tuple[np.ndarray, str, str]:
    """What a function returned, or what is wrong with that: with the inputs, and without them."""
    passed, nothing = _copies(case), np.zeros(0)
    try:
        result = function(*passed)
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return nothing, f"For {_listed(case)} it raises {told[:150]}", "It raises an error."
    if any(not np.array_equal(a, b) for a, b in zip(passed, case, strict=True)):
        return nothing, "", "It changes what it was given: work on a copy."
    if result is None:
        return nothing, "", "It returns nothing: is there a return?"
    try:
        values = np.array(result, dtype=float)
    except (TypeError, ValueError, OverflowError):
        where = f"It returns {shorten(result)}, which is not a number or an array of them."
        return nothing, where, "It returns what is not a number or an array of them."
    if values.shape != right.shape:
        shapes = f"shape {values.shape}, for {_listed(case)} the shape is {right.shape}"
        return (
            nothing,
            f"It returns an array of {shapes}.",
            "It returns an array of another shape.",
        )
    if not np.all(np.isfinite(values)):
        where = f"For {_listed(case)} it returns nan or infinity."
        return nothing, where, "It returns nan or infinity."
    return values, "", ""


# --- paragraphs --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Paragraph(Exercise):
    """A text to write. Nobody judges it: the reader compares it with these points, then with the
    model answer, which is the solution in the chapter.
    """

    rubric: Sequence[str]
    fewest: int = 15  # words

    answered: ClassVar[str] = "points"

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """Never right or wrong, but for a text that is none."""
        if answer is Ellipsis:
            return Verdict("wrong", 'Replace the three dots with your text, in """ and """.')
        if not isinstance(answer, str) or len(answer.split()) < self.fewest:
            return verdict("wrong", f"Write a text of at least {self.fewest} words.")
        points = " ".join(f"({k}) {point}" for k, point in enumerate(self.rubric, 1))
        return Verdict("close", f"≈ Compare with these points, then with the solution: {points}")
