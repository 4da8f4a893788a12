"""The questions of an assignment: exercises as in the book, with points; models to ask about."""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..course.judging.exercise import Hinted
from ..course.judging.kinds import Exercise, Paragraph


@dataclass(frozen=True)
class AssignmentQuestion:
    """An exercise of an assignment, with its points; its ``name`` is ``assignment/answer``.

    A paragraph is read by a person, who gives its points. ``like`` is another question whose numbers
    this one has too.
    """

    exercise: Exercise
    points: int
    like: "AssignmentQuestion | None" = None

    @property
    def name(self) -> str:
        """As in the table of grades."""
        return self.exercise.name

    @property
    def answer(self) -> str:
        """The name of the answer in the notebook, a function or a variable; and that of its cell."""
        return self.name.partition("/")[2]

    @property
    def machine(self) -> bool:
        """Whether it is judged by machine."""
        return not isinstance(self.exercise, Paragraph)

    @property
    def personal(self) -> bool:
        """Whether it has other numbers for other students."""
        return self.like is not None or any(g.draw for g in self.exercise.given.values())

    def of(self, student: str) -> Exercise:
        """The exercise with the numbers of a student."""
        if self.like is not None:
            return replace(self.exercise, given=self.like.of(student).given)
        if not self.personal:
            return self.exercise
        return self.exercise.variant(generator(self.name, identity(student)))


@dataclass(frozen=True)
class Assignment:
    """The questions of a notebook, ``name`` with .ipynb; ``number`` is its place in a course."""

    number: int
    name: str
    title: str
    questions: tuple[AssignmentQuestion, ...]

    @property
    def judged(self) -> tuple[AssignmentQuestion, ...]:
        """Those that are judged by machine."""
        return tuple(question for question in self.questions if question.machine)

    @property
    def max_points(self) -> int:
        """The points of all questions that are judged by machine."""
        return sum(question.points for question in self.judged)

    @property
    def most_points(self) -> int:
        """The points of all questions."""
        return sum(question.points for question in self.questions)

    def numbers(self, student: str) -> dict[str, dict[str, Any]]:
        """What each question gives this student, by its name."""
        return {q.name: q.of(student).params for q in self.questions if q.exercise.given}


def assignment(
    number: int,
    name: str,
    title: str,
    exercises: Iterable[Exercise],
    points: Mapping[str, int],
    like: Mapping[str, str] | None = None,
) -> Assignment:
    """An assignment of these exercises, whose ``points`` are listed by the names of their answers.

    ``like`` lists questions that have the numbers of another one. The last hint of an exercise of the book, nearly its
    solution, is left out.
    """
    questions: dict[str, AssignmentQuestion] = {}
    for exercise in exercises:
        changed: dict[str, Any] = {"name": f"{name}/{exercise.name}"}
        changed |= {"step": ""} if isinstance(exercise, Hinted) else {}
        other = questions.get((like or {}).get(exercise.name, ""))
        named = replace(exercise, **changed)
        questions[exercise.name] = AssignmentQuestion(named, points[exercise.name], other)
    return Assignment(number, name, title, tuple(questions.values()))


def identity(student: str) -> str:
    """An id without what does not count: spaces around it, capitals, the encoding of accents."""
    return unicodedata.normalize("NFC", student).strip().casefold()


def generator(*seeds: str | bytes) -> np.random.Generator:
    """A random generator seeded by texts."""
    digest = hashlib.sha256()
    for seed in seeds:
        data = seed.encode(errors="surrogatepass") if isinstance(seed, str) else seed
        digest.update(len(data).to_bytes(8) + data)
    return np.random.default_rng(list(digest.digest()))


class Formula:
    """A model that can be sent into a sandbox: an expression of numpy in an (n, d) array x.

    >>> Formula("x @ c + 1", c=np.array([2.0, -1.0]))(np.eye(2))
    array([3., 0.])
    """

    def __init__(self, text: str, **given: Any) -> None:
        self.text, self.given = text, given

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at the rows of x."""
        return eval(self.text, {"np": np, "x": x, **self.given})

    def __repr__(self) -> str:
        given = "".join(f", {name} = {np.round(value, 3)}" for name, value in self.given.items())
        return f"x ↦ {self.text}{given}"
