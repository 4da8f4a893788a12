"""What an assignment asks: exercises as in the book, with points and the name of the answer."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..course.judging.kinds import Exercise, Function, Paragraph


@dataclass(frozen=True)
class Question:
    """An exercise of an assignment: its ``name`` is ``assignment/question``.

    ``answer`` is what the notebook calls it: a function, or a variable. A paragraph is read by a
    person, so that its points are not the machine's.
    """

    exercise: Exercise
    answer: str
    points: int

    @property
    def name(self) -> str:
        """As in the table of grades."""
        return self.exercise.name

    @property
    def machine(self) -> bool:
        """Whether a machine can judge it."""
        return not isinstance(self.exercise, Paragraph)

    @property
    def called(self) -> bool:
        """Whether the answer is a function."""
        return isinstance(self.exercise, Function)

    def of(self, student: str) -> Exercise:
        """The exercise with the numbers of a student."""
        if not any(given.draw for given in self.exercise.given.values()):
            return self.exercise
        return self.exercise.variant(stream(self.name, identity(student)))


@dataclass(frozen=True)
class Assignment:
    """The questions of a notebook, ``name`` with .ipynb; ``number`` is when it comes in a course."""

    number: int
    name: str
    title: str
    questions: tuple[Question, ...]

    @property
    def judged(self) -> tuple[Question, ...]:
        """Those that a machine judges."""
        return tuple(question for question in self.questions if question.machine)

    @property
    def most(self) -> int:
        """The points that a machine can give."""
        return sum(question.points for question in self.judged)

    def numbers(self, student: str) -> dict[str, dict[str, Any]]:
        """What each question gives this student, by its name."""
        return {q.name: q.of(student).params for q in self.questions if q.exercise.given}


def identity(student: str) -> str:
    """An id as it counts: spaces around it, capitals and the spelling of accents do not."""
    return unicodedata.normalize("NFC", student).strip().casefold()


def stream(*parts: str | bytes) -> np.random.Generator:
    """Random numbers that belong to these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8) + data)
    return np.random.default_rng(list(digest.digest()))


def named(assignment: str, questions: Iterable[Question]) -> tuple[Question, ...]:
    """Questions with the assignment before their names."""
    return tuple(
        replace(q, exercise=replace(q.exercise, name=f"{assignment}/{q.exercise.name}"))
        for q in questions
    )
