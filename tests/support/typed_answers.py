"""One table of answers as a reader would type them, made from the declared exercises.

tests/course/test_exercises.py asks Python about each, tests/site/test_answers.py types each into the
page; what Python says is what the page must say.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from limetutor.course.exercises import exercises
from limetutor.course.judging.kinds import Members, Tabulated, Value, rounded


class Typed(NamedTuple):
    """A text typed at an attempt, the kind of verdict that must come, and a part of its words."""

    name: str
    text: str
    attempt: int
    kind: str
    said: str


def write(values: Sequence[float], shape: tuple[int, ...], form: str = "{:.12g}") -> str:
    """Numbers as a reader would write them: 1, 2; 3, 4."""
    numbers = [form.format(v) for v in values]
    if len(shape) < 2:
        return ", ".join(numbers)
    rows = [numbers[k : k + shape[1]] for k in range(0, len(numbers), shape[1])]
    return "; ".join(", ".join(row) for row in rows)


def of_value(exercise: Value) -> Iterator[Typed]:
    """A value in many forms, each mistake, and what is far off."""
    name, table = exercise.name, exercise.table
    values, shape = exercise.value.ravel().tolist(), exercise.value.shape
    short = [rounded(v, exercise.digits) for v in values]
    plain = write(short, shape)
    for text in (write(values, shape), plain, " " + plain.replace("-", "−") + " "):
        yield Typed(name, text, 1, "right", "✓ Right.")
    if len(shape) < 2:
        comma = "; ".join(f"{v:.12g}".replace(".", ",") for v in short)
        yield Typed(name, comma, 1, "right", "✓ Right.")
    fractions = [Fraction(str(v)) for v in short]
    text = write(fractions, shape, "{0.numerator}/{0.denominator}")
    yield Typed(name, text, 1, "right", "✓ Right.")
    exponents = write(short, shape, "{:.6e}")
    yield Typed(name, exponents, 1, "right", "✓ Right.")
    if shape == ():
        yield Typed(name, f"[{plain}]", 1, "close", "Give one number.".lower())
    elif len(shape) == 1:
        yield Typed(name, f"[{plain}]", 1, "right", "")
        yield Typed(name, plain.partition(",")[0], 1, "wrong", f"Give {shape[0]} numbers")
    else:
        yield Typed(name, plain.replace(";", ","), 1, "close", "rows")
    digits = f"give {'two' if exercise.digits == 2 else 'three'} digits"
    mistaken = [np.ravel(m.value(**exercise.params)) for m in exercise.mistakes]
    for row in exercise._rounded("close", "", np.asarray(values)):
        coarse = [np.mean(interval) for interval in row.box]
        alike = any(
            [rounded(float(v), k) for v in wrong] == pytest.approx(coarse)
            for wrong in mistaken
            for k in range(1, exercise.digits)
        )
        yield Typed(name, write(coarse, shape), 1, "wrong" if alike else "close", digits)
        if abs(coarse[0] - values[0]) > 0.006 * abs(values[0]):
            yield Typed(name, write(coarse, shape, "{:.9e}"), 1, "wrong", "")
    for mistake in exercise.mistakes:
        wrong = np.ravel(mistake.value(**exercise.params)).tolist()
        hint = exercise._filled(mistake.hint)
        text = write(wrong, shape if len(wrong) == len(values) else (len(wrong),))
        yield Typed(name, text, 1, "wrong", hint)
        yield Typed(name, text, 2, "wrong", f"{hint} {table.ladder[1]}")
    for row in exercise._slips(np.asarray(values)):
        if not _known_before(exercise, row):
            text = write([np.mean(interval) for interval in row.box], shape)
            yield Typed(name, text, 1, row.kind, row.words)
    for row in exercise._echoes():
        if not _known_before(exercise, row):
            yield Typed(name, write([np.mean(row.box[0])], ()), 1, "wrong", row.words)


def _known_before(exercise: Value, row: object) -> bool:
    """Whether an earlier row of the table takes the middle of this one."""
    values = [float(np.mean(interval)) for interval in row.box]  # type: ignore[attr-defined]
    return next(r for r in exercise.table.rows if r.fits(values)) != row


def of_members(exercise: Members) -> Iterator[Typed]:
    """The right set in any order, one too many, one too few."""
    name, right = exercise.name, [int(v) for v in exercise.right(**exercise.params)]
    yield Typed(name, ", ".join(map(str, right)), 1, "right", "✓ Right.")
    yield Typed(name, " ".join(map(str, right[::-1])), 1, "right", "✓ Right.")
    for mistake in exercise.mistakes:
        for extra in list(mistake.value(**exercise.params))[:3]:
            text = ", ".join(map(str, [*right, extra]))
            yield Typed(name, text, 1, "wrong", exercise._filled(mistake.hint))
    yield Typed(name, f"[{right[0]}]", 1, "wrong", exercise.table.ladder[0])


def far_off(exercise: Tabulated) -> Iterator[Typed]:
    """Nothing near, three times: the ladder, step by step."""
    for attempt, hint in enumerate(exercise.table.ladder, 1):
        count = max(1, int(np.prod(exercise.table.shape)))
        wild = write([7654.5 + attempt + k for k in range(count)], exercise.table.shape)
        yield Typed(exercise.name, wild, attempt, "wrong", hint)


NO_ANSWER = ["", "hello", "nan", "True", "1/0", "1e999", "1e200", "1,2,,3", "[[1, 2], [3]]", "1..2"]


def typed() -> list[Typed]:
    """The whole table."""
    rows: list[Typed] = []
    for exercise in exercises().values():
        if isinstance(exercise, Value):
            rows += of_value(exercise)
        elif isinstance(exercise, Members):
            rows += of_members(exercise)
        if isinstance(exercise, Tabulated):
            rows += far_off(exercise)
            rows += [Typed(exercise.name, text, 1, "unread", "") for text in NO_ANSWER]
    return rows
