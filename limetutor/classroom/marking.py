"""Judge a notebook: run its cells in a sandbox, ask for values, compare them out here.

Cells run in their order, then each question is asked in turn, with inputs drawn for this very file: the
seed is a digest of it, so that nobody can prepare answers for inputs that depend on these answers, and
grading it again asks the same. A cell or a question that loops, eats memory or ends Python costs itself:
the process is ended, and a new one runs the other cells again. What it leaves behind ends with it.
"""

from __future__ import annotations

import builtins
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..course import progress
from ..course.exercises import exercises
from .notebooks import Submission, UnreadableError, opened, source, submission
from .questions import Assignment, Question, identity, stream
from .sandbox import AnswerError, Limits, Session, StoppedError, received, sent, started

STATUSES = (
    "graded", "timed out", "out of memory", "unreadable", "missing", "altered", "self-reported",
)  # fmt: skip
MOST_SKIPPED = 30  # cells that end Python, one after the other
SAID = {
    "no such name": "There is no {answer} in the notebook: was it renamed, or did its cell fail?",
    "not plain": "It gives something that is neither numbers nor text.",
    "timed out": "It took too long.",
    "out of memory": "It used too much memory.",
    "MemoryError": "It used too much memory.",
    "died": "It ended Python.",
    "changed": "It changes what it was given: work on a copy.",
}


@dataclass(frozen=True)
class Mark:
    """The points of a question, and words for the student that name no hidden input."""

    points: int
    words: str


@dataclass(frozen=True)
class Result:
    """What came of one assignment of one student."""

    student: str
    assignment: str
    status: str
    most: int
    marks: dict[str, Mark] = field(default_factory=dict)
    own: int | None = None  # points that the student reports
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """All points together."""
        return sum(mark.points for mark in self.marks.values()) if self.own is None else self.own


class Played:
    """A notebook whose cells have run; ``trouble`` is what had to be stopped on the way."""

    def __init__(self, code: Sequence[str], limits: Limits, given: dict[str, Any]) -> None:
        self._code, self._limits, self._given = code, limits, given
        self._until = time.monotonic() + limits.total
        self._skipped: set[int] = set()
        self._session: Session | None = None
        self.trouble: set[str] = set()

    @property
    def session(self) -> Session:
        """A process in which the cells have run, without those that ended an earlier one."""
        while self._session is None:
            if time.monotonic() > self._until or len(self._skipped) > MOST_SKIPPED:
                raise StoppedError("timed out")
            session, at = started(self._limits, self._given), 0
            try:
                for at, code in enumerate(self._code):
                    if time.monotonic() > self._until:  # what is there is asked for all the same
                        self.trouble.add("timed out")
                        break
                    if at not in self._skipped:
                        self._ask(session, self._limits.seconds, do="cell", code=code)
            except StoppedError:
                self._skipped.add(at)
            except BaseException:
                session.close()
                raise
            else:
                self._session = session
        return self._session

    def ask(self, seconds: float, **what: Any) -> dict[str, Any]:
        """The reply of the notebook; AnswerError if it is not a value, StoppedError if none comes."""
        session = self.session
        try:
            reply = self._ask(session, seconds, **what)
        except StoppedError:
            self._session = None
            raise
        if "error" in reply:
            raise AnswerError(_kind(reply["error"]))
        return reply

    def _ask(self, session: Session, seconds: float, **what: Any) -> dict[str, Any]:
        try:
            reply = session.ask(seconds, **what)
            session.settle(seconds)  # whatever is left at work would cost the next question
        except StoppedError as stopped:
            self.trouble.add(stopped.why)
            raise
        if reply.get("error") == "MemoryError":
            self.trouble.add("out of memory")
        return reply

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()


def _kind(error: Any) -> str:
    """What went wrong, if it is known: a notebook could write hidden inputs in its place."""
    if isinstance(error, str):
        kind = getattr(builtins, error, None)
        if error in SAID or (isinstance(kind, type) and issubclass(kind, BaseException)):
            return error
    return "Exception"


class Remote:
    """A function of the notebook, called from here; ``problem`` is why a call gave no value."""

    def __init__(self, played: Played, name: str, seconds: float) -> None:
        self._played, self._name = played, name
        self._until = played.session.busy + seconds
        self._seconds = seconds
        self.problem = ""

    def __call__(self, *arguments: Any) -> Any:
        """What it returns."""
        try:
            what = {"name": self._name, "arguments": [sent(a) for a in arguments]}
            left = min(self._seconds, self._until - self._played.session.busy)
            reply = self._played.ask(left, do="call", **what)
            if reply.get("changed"):
                raise AnswerError("changed")
            return received(reply.get("value"))
        except (AnswerError, StoppedError) as error:
            self.problem = error.args[0]
            raise


def mark(question: Question, student: str, played: Played, seed: bytes, seconds: float) -> Mark:
    """Ask one question."""
    exercise = question.of(student)
    try:
        if question.called:
            function = Remote(played, question.answer, seconds)
            tried = exercise.tried(function, stream(question.name, seed))  # type: ignore[attr-defined]
            words = _said(function.problem, question) if function.problem else tried.hint
            return Mark(question.points if tried.kind == "right" else 0, words)
        reply = played.ask(seconds, do="value", name=question.answer)
        found = exercise.judge(received(reply.get("value")))
    except (AnswerError, StoppedError) as error:
        return Mark(0, _said(error.args[0], question))
    good = found.kind in ("right", "close")
    return Mark(question.points if good else 0, "" if found.kind == "right" else found.words)


def _said(problem: str, question: Question) -> str:
    words = SAID.get(problem, f"It raises an error, {problem}.")
    return words.replace("{answer}", question.answer)


def graded(folder: Path, assignment: Assignment, limits: Limits) -> Result:
    """One assignment of one student, whatever is in the folder."""
    student, path = folder.name, folder / f"{assignment.name}.ipynb"
    zero = {q.name: Mark(0, "") for q in assignment.judged}

    def without(status: str, *notes: str) -> Result:
        return Result(student, assignment.name, status, assignment.most, zero, notes=notes)

    if folder.is_symlink():
        return without("unreadable", "The folder is a link to another one.")
    if not path.exists() and not path.is_symlink():
        return without("missing", _missing(folder, path.name))
    original = opened(source(assignment.name))
    try:
        handed = submission(opened(path), original)
        seed = path.read_bytes()
    except UnreadableError as why:
        return without("unreadable", f"The file cannot be read: {why}.")
    except OSError as error:
        return without("unreadable", f"The file cannot be read: {error.strerror}.")
    played = Played(handed.code, limits, assignment.numbers(student))
    try:
        # before any question: a notebook could write a hidden input into this name
        notes = (*handed.altered, *_of_another(played, assignment, student))
        marks = {
            question.name: mark(question, student, played, seed, limits.seconds)
            for question in assignment.judged
        }
    finally:
        played.close()
    status = _status(played, handed)
    return Result(student, assignment.name, status, assignment.most, marks, notes=notes)


def _missing(folder: Path, name: str) -> str:
    """What is there instead: browsers call a second download "the_audit (1).ipynb"."""
    others = sorted(p.name for p in folder.glob("*.ipynb"))
    there = f"; there are {', '.join(others[:5])}" if others else ""
    return f"There is no {name} in the folder{there}."


def _status(played: Played, handed: Submission) -> str:
    for trouble in ("timed out", "out of memory"):
        if trouble in played.trouble:
            return trouble
    return "altered" if handed.altered else "graded"


def _of_another(played: Played, assignment: Assignment, student: str) -> Sequence[str]:
    """A sentence if the notebook has been worked on under another id than its folder has."""
    if not assignment.numbers(student):
        return ()
    try:
        reply = played.ask(1.0, do="value", name="student")
        name = received(reply.get("value"))
    except (AnswerError, StoppedError):
        return ()
    if not isinstance(name, str) or identity(name) == identity(student):
        return ()
    return (f"The notebook was filled in for {name[:80]!r}, the folder is that of {student!r}.",)


def self_reported(folder: Path) -> Result | None:
    """What the page's progress says of a student, where there is a code of it."""
    path = folder / "progress.txt"
    if not path.exists() and not path.is_symlink():
        return None
    most = len(exercises())
    try:
        linked = folder.is_symlink() or path.is_symlink()
        if linked or not path.is_file() or path.stat().st_size > 100_000:
            raise ValueError
        items = progress.read(path.read_bytes().decode("utf-8-sig").strip())
    except (ValueError, OSError):
        return Result(folder.name, "progress", "unreadable", most, own=0)
    done = sum(item.done for name, item in items.items() if name in exercises())
    return Result(folder.name, "progress", "self-reported", most, own=done)
