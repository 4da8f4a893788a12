"""What is known about the answers to an exercise, as rows of intervals, and how a row is found.

A :class:`AnswerTable` is plain data: the page gets it as JSON and needs no mathematics, only to compare
doubles. Its rows stand in order of precedence, and the first that fits decides.
"""

import base64
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from .grammar import FORM, Reading, UnreadableError, is_ambiguous, readings

Interval = tuple[float, float]

#: How the words of a verdict begin. *Close* is right but for the form; what is unread counts for nothing.
BEGINS = {"right": "✓ Right.", "close": "≈ Right, but", "wrong": "✗ Not yet.", "unread": "?"}


@dataclass(frozen=True)
class Verdict:
    """What came of an answer: ``kind`` is right, close, wrong or unread, ``words`` are for the reader."""

    kind: str
    words: str

    def __str__(self) -> str:
        return self.words


def verdict(kind: str, *sentences: str) -> Verdict:
    """A verdict in words: how its kind begins, then the sentences."""
    return Verdict(kind, " ".join([BEGINS[kind], *filter(None, sentences)]))


def _read_as(answer: Any, reading: Reading) -> str:
    """How an answer was read, where another reader might read it otherwise."""
    shown = [abs(value) for value in reading.values if value]
    if not is_ambiguous(answer) or not all(1e-4 <= value < 1e12 for value in shown):
        return ""
    return f"(Your answer was read as {', '.join(f'{v:.12g}' for v in reading.values)}.)"


class AnswerRow(NamedTuple):
    """Answers that are known: one interval for each number, both ends included.

    With ``anywhere`` one number in any of the intervals is enough. With ``whole`` the words say all that
    is wrong, and no step of the ladder is added: it would send the reader looking elsewhere. With
    ``digits`` no number may be given with more than so many.
    """

    kind: str
    words: str
    box: tuple[Interval, ...]
    anywhere: bool = False
    whole: bool = False
    digits: tuple[int, ...] = ()

    def fits(self, values: Sequence[float], shown: Sequence[int] = ()) -> bool:
        """Whether an answer with these numbers is of this row."""
        if self.anywhere:
            return any(lo <= value <= hi for value in values for lo, hi in self.box)
        inside = len(values) == len(self.box) and all(
            lo <= value <= hi for value, (lo, hi) in zip(values, self.box, strict=True)
        )
        return inside and all(n <= most for n, most in zip(shown, self.digits, strict=False))


@dataclass(frozen=True)
class AnswerTable:
    """All that is known about the answers to an exercise.

    ``shape`` is how the answer is arranged, with -1 for a list of any length; ``arrange`` says so to
    a reader. The numbers of an answer are sorted first unless they are ``ordered``.
    """

    shape: tuple[int, ...]
    ordered: bool
    rows: tuple[AnswerRow, ...]
    ladder: tuple[str, ...]
    arrange: str

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """The verdict on an answer, at the first, second, … attempt."""
        try:
            possible = readings(answer)
        except UnreadableError as problem:
            words = FORM[problem.key]
            return Verdict("unread", words) if problem.key == "dots" else verdict("unread", words)
        step = self.ladder[min(attempt, len(self.ladder)) - 1]
        known = [(reading, row) for reading in possible if (row := self._row(reading))]
        if known:
            right = [pair for pair in known if pair[1].kind == "right"]
            reading, row = (right or known)[0]
            if row.kind == "right":
                plain = reading == possible[0]
                return self._right(reading, row, "" if plain else _read_as(answer, reading))
            more = row.kind == "wrong" and attempt > 1 and not row.whole
            said = _read_as(answer, reading)
            return verdict(row.kind, row.words, step if more else "", said)
        said = _read_as(answer, possible[0])
        expected = math.prod(self.shape)  # below 0 for a list of any length
        if expected < 0 or any(len(reading.values) == expected for reading in possible):
            return verdict("wrong", step, said)
        return verdict("wrong", self.arrange, step if attempt > 1 else "", said)

    def _row(self, reading: Reading) -> AnswerRow | None:
        pairs = list(zip(reading.values, reading.shown, strict=True))
        values, shown = zip(*pairs if self.ordered else sorted(pairs), strict=True)
        return next((row for row in self.rows if row.fits(values, shown)), None)

    def _right(self, reading: Reading, row: AnswerRow, said: str) -> Verdict:
        """Right, unless it is arranged otherwise: a list of one number, a matrix in one line."""
        any_list = self.shape == (-1,) and len(reading.shape) == 1
        if reading.shape == self.shape or any_list:
            return verdict("right", row.words, said)
        other = f"in another form: {self.arrange[0].lower()}{self.arrange[1:]}"
        return verdict("close", other, said)

    def for_page(self) -> str:
        """As base64 of JSON: not to be read by accident, and no secret."""
        text = json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))
        return base64.b64encode(text.encode()).decode()
