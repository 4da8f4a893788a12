"""What counts as an answer: the one grammar, for Python, for the page and for texts of students.

A **number** is digits with a point or a comma (``0.88``, ``0,88``, ``.5``, ``−2``, ``1e-3``), a
fraction of two of them (``3/4``) or one with a per cent sign (``88%``, which is 0.88).

**Several numbers** are separated by a comma with a space, by spaces or by semicolons (``1, 2``), with
or without brackets, the last also by *and* (``3 and 5``); **rows** of a matrix are brackets in
brackets or end with a semicolon (``1, 2; 3, 4``).

A comma between two digits may mean three things, and then the text has several *readings*, in this
order: a decimal comma (``0,88``), a mark of thousands, which a space or a point can be too (``20,000``,
``20.000``), and a separator (``1,2``). The judge takes a reading that is right, or else the first that it
knows something about, and says which if that is not plain (:data:`AMBIGUOUS`).

Python's own numbers are taken as they are: int, float, Fraction, Decimal, numpy scalars and arrays,
lists and tuples of them, sets where order does not matter. Not an answer: True and False, nan and
infinity, complex numbers, rows of different lengths, what has more than two dimensions, anything
beyond 1e100, and more than a thousand numbers or letters. :class:`UnreadableError` says which, by a key of :data:`FORM`.

Every pattern here is used by book/_assets/answers.js as well, so it keeps to what Python and
JavaScript have in common.
"""

import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from ...inputs.arguments import holds_masked

LARGEST = 1e100
MAX_NUMBERS = 1000  # in an answer
MAX_LETTERS = 1000  # in one that is typed
EXACT = 99  # the digits that a fraction shows
COMPUTED = "{:.12g}"  # a number of Python without what the computer did to its last digits

#: What is done to a text first, in this order: one kind of space and of minus, none around / and %.
TIDY = [
    ("[\\u0009-\\u000d\\u0085\\u00a0\\u2007-\\u200b\\u2028\\u2029\\u202f\\ufeff]", " "),
    (" +", " "),
    ("[\\u2212\\u2013]", "-"),
    (" */ *", "/"),
    (" +%", "%"),
    ("([-+]) +(?=[0-9.,])", "$1"),
    (",? +and +", ", "),
    ("^ +| +$", ""),
]
NUMBER = "[-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?"
CELL = f"^({NUMBER})(?:/({NUMBER}))?(%)?$"
#: What a comma between digits may mean: how the text is rewritten, for each meaning in turn.
COMMAS: list[tuple[str, str] | None] = [
    None,  # a decimal comma: as it stands
    ("([0-9])[ ,_](?=[0-9]{3}(?![0-9]))", "$1"),  # thousands
    ("((?:^|[^0-9.,])[1-9][0-9]{0,2})[.](?=[0-9]{3}(?![0-9.,]))", "$1"),  # ... with a point
    (",", ", "),  # a separator
]
#: 45.000 and 45,000 are 45 to some readers and 45 thousand to others.
AMBIGUOUS = "(?:^|[^0-9.,])[1-9][0-9]{0,2}[.,][0-9]{3}(?![0-9.,])"
SEPARATOR = " *, +| +, *| +"
ROW_END = " *; *"
BRACKETS = "^[\\[(] *(.*?) *[\\])]$"
BETWEEN_ROWS = " *[\\])] *[,;]? *[\\[(] *"

#: One sentence for each thing that is not an answer.
FORM = {
    "dots": "Replace the three dots with your answer, then run the cell again.",
    "empty": "There is no answer yet: write a number such as 0.25, 0,25, 3/4 or 1e-3.",
    "text": "That cannot be read as numbers: write 0.25, 0,25, 3/4 or 1e-3, and several as 1, 2.",
    "truth": "True and False are not numbers: give the number itself.",
    "none": "The answer is None: does the last line give a value?",
    "finite": "Give finite numbers only, neither nan nor infinity.",
    "huge": "That is larger than any answer in this book: check the exponent.",
    "ragged": "The rows have different lengths.",
    "deep": "That has more than two dimensions: give a number, a list or rows of numbers.",
    "many": "That is more numbers than any answer in this book has.",
    "long": "That is longer than any answer in this book.",
    "type": "That is not a number: give a number, a list of numbers or a text such as 3/4.",
}


class UnreadableError(ValueError):
    """What came is no answer; ``key`` is its sentence in FORM."""

    def __init__(self, key: str) -> None:
        super().__init__(FORM[key])
        self.key = key


class Reading(NamedTuple):
    """Numbers in the order of reading, and how they were arranged: (), (n,) or (rows, columns).

    ``shown`` is how many significant digits each of them was given with: 0.90 shows two, 0.9 one.
    """

    values: tuple[float, ...]
    shape: tuple[int, ...]
    shown: tuple[int, ...]


class AnswerNumber(NamedTuple):
    """One number of an answer and the digits that it shows."""

    value: float
    shown: int


def _reading(numbers: list[AnswerNumber], shape: tuple[int, ...]) -> Reading:
    return Reading(tuple(n.value for n in numbers), shape, tuple(n.shown for n in numbers))


def readings(answer: Any) -> list[Reading]:
    """The ways to read an answer, the likeliest first; UnreadableError if there is none."""
    return _readings_of_text(answer) if isinstance(answer, str) else [_reading_of_value(answer)]


# --- texts -----------------------------------------------------------------------------------


def _replace(pattern: str, by: str, text: str) -> str:
    return re.sub(pattern, by.replace("$1", r"\1"), text)


def _tidied(text: str) -> str:
    if len(text) > MAX_LETTERS:
        raise UnreadableError("long")
    for pattern, by in TIDY:
        text = _replace(pattern, by, text)
    return text


def is_ambiguous(answer: Any) -> bool:
    """Whether an answer is a text with a number that readers of other countries read otherwise."""
    return isinstance(answer, str) and re.search(AMBIGUOUS, _tidied(answer)) is not None


def _readings_of_text(text: str) -> list[Reading]:
    text = _tidied(text)
    if not text:
        raise UnreadableError("empty")
    rewritten = [_replace(*meaning, text) if meaning else text for meaning in COMMAS]
    distinct: list[Reading] = []
    problem = UnreadableError("text")
    for version in dict.fromkeys(rewritten):
        try:
            reading = _reading_of_rows(version)
        except UnreadableError as error:
            problem = error if error.key != "text" else problem
            continue
        if reading not in distinct:
            distinct.append(reading)
    if not distinct:
        raise problem
    return distinct


def _reading_of_rows(text: str) -> Reading:
    """One way to read a text: brackets, rows, numbers."""
    listed = re.search(BRACKETS, text)
    inner = listed[1] if listed else text
    if listed and (nested := re.search(BRACKETS, inner)):
        return _arranged([_numbers(row) for row in re.split(BETWEEN_ROWS, nested[1])])
    rows = [_numbers(row) for row in re.split(ROW_END, inner)]
    if len(rows) > 1 and any(len(row) > 1 for row in rows):
        return _arranged(rows)
    numbers = [number for row in rows for number in row]
    if len(numbers) == 1 and not listed:
        return _reading(numbers, ())
    return _checked(_reading(numbers, (len(numbers),)))


def _numbers(row: str) -> list[AnswerNumber]:
    """The numbers of a row; an empty row is a text that cannot be read."""
    return [_number(cell) for cell in re.split(SEPARATOR, row)]


def _number(cell: str) -> AnswerNumber:
    match = re.search(CELL, cell)
    if match is None:
        raise UnreadableError("text")
    value, shown = float(match[1].replace(",", ".")), _digits(match[1])
    if match[2] is not None:
        shown = EXACT
        below = float(match[2].replace(",", "."))
        if below == 0:
            raise UnreadableError("finite")
        value = value / below
    if match[3] is not None:
        value = value / 100
    return AnswerNumber(_allowed(value), shown)


def _digits(text: str) -> int:
    """The significant digits of a number; zeros that may only hold a place, as in 20, are none."""
    mantissa = re.split("[eE]", text)[0]
    if not re.search("[.,]", mantissa):
        mantissa = re.sub("0+$", "", mantissa)
    return len(re.sub("^0+", "", re.sub("[^0-9]", "", mantissa)))


def _allowed(value: float) -> float:
    if not isfinite(value):
        raise UnreadableError("finite")
    if abs(value) > LARGEST:
        raise UnreadableError("huge")
    return value


def _arranged(rows: list[list[AnswerNumber]]) -> Reading:
    """Rows of equal length as a matrix."""
    if any(len(row) != len(rows[0]) for row in rows):
        raise UnreadableError("ragged")
    numbers = [number for row in rows for number in row]
    return _checked(_reading(numbers, (len(rows), len(rows[0]))))


def _checked(reading: Reading) -> Reading:
    if not reading.values:
        raise UnreadableError("empty")
    if len(reading.values) > MAX_NUMBERS:
        raise UnreadableError("many")
    return reading


# --- values of Python ------------------------------------------------------------------------


def _reading_of_value(answer: Any) -> Reading:
    if answer is Ellipsis:
        raise UnreadableError("dots")
    if answer is None:
        raise UnreadableError("none")
    _not_too_many(answer)
    if isinstance(answer, set | frozenset):
        answer = sorted(_scalar(entry) for entry in answer)
    if hasattr(answer, "to_numpy"):  # a column or a table of pandas
        answer = answer.to_numpy()
    if isinstance(answer, np.ndarray):
        if holds_masked(answer):
            raise UnreadableError("finite")
        answer = answer.tolist()
    if not isinstance(answer, list | tuple | range):
        return _reading([_computed(answer)], ())
    rows = [_plain(entry) for entry in answer]
    if any(isinstance(row, list) for row in rows):
        if not all(isinstance(row, list) for row in rows):
            raise UnreadableError("ragged")
        return _arranged([[_computed(value) for value in row] for row in rows])
    return _checked(_reading([_computed(value) for value in rows], (len(rows),)))


def _not_too_many(answer: Any) -> None:
    """Look at the size before the values: an array may claim any number of rows."""
    shape = getattr(answer, "shape", ())
    if isinstance(answer, list | tuple | range | set | frozenset):
        shape = (len(answer),)
    if isinstance(shape, tuple) and any(length > MAX_NUMBERS for length in shape):
        raise UnreadableError("many")
    if isinstance(answer, np.ndarray) and answer.size > MAX_NUMBERS:
        raise UnreadableError("many")


def _plain(entry: Any) -> Any:
    """A row as a list, anything else as it is."""
    _not_too_many(entry)
    if isinstance(entry, np.ndarray) and entry.ndim > 0:
        entry = entry.tolist()
    return list(entry) if isinstance(entry, list | tuple | range) else entry


def _computed(value: Any) -> AnswerNumber:
    """A number of Python: it has no zeros at its end, and digits enough for what was computed."""
    number = _scalar(value)
    return AnswerNumber(number, len(Decimal(COMPUTED.format(number)).normalize().as_tuple().digits))


def _scalar(value: Any) -> float:
    """One number; a text is allowed if it has one reading as one number."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool | np.bool_):
        raise UnreadableError("truth")
    if isinstance(value, str):
        first = readings(value)[0]
        if first.shape != ():
            raise UnreadableError("text")
        return first.values[0]
    if isinstance(value, list | tuple | np.ndarray):
        raise UnreadableError("deep")
    if not isinstance(value, int | float | np.integer | np.floating | Fraction | Decimal):
        raise UnreadableError("none" if value is None else "type")
    try:
        number = float(value)
    except OverflowError:
        raise UnreadableError("huge") from None
    except ValueError:  # of a signalling nan
        raise UnreadableError("finite") from None
    return _allowed(number)


def for_page() -> dict[str, Any]:
    """What book/_assets/answers.js reads texts by."""
    return {
        "tidy": TIDY,
        "cell": CELL,
        "commas": COMMAS,
        "separator": SEPARATOR,
        "rowEnd": ROW_END,
        "brackets": BRACKETS,
        "betweenRows": BETWEEN_ROWS,
        "largest": LARGEST,
        "most": MAX_NUMBERS,
        "longest": MAX_LETTERS,
        "ambiguous": AMBIGUOUS,
        "exact": EXACT,
        "form": FORM,
    }
