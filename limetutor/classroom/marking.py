"""Judge a notebook: run its cells in a sandbox, ask for values, compare them outside of it.

Cells run in their order, then each question is asked in turn, with inputs drawn for this very file: the
seed is a digest of it, so that no answers can be prepared for inputs that depend on these answers, and
grading it again asks the same. A cell or a question that loops, uses too much memory or ends Python loses
only its own points: the process is ended, and a new one runs the other cells again, and of that cell what it
defines.

Each slip costs its own points. A wrong answer that calls an earlier answer which is wrong is judged once more, in a
new sandbox in which the earlier one is answered from outside; the points of the earlier one stay as they are.
"""

import builtins
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..course import progress
from ..course.exercises import exercises
from ..course.judging.kinds import Function
from .assignments import assignments
from .names import reached
from .notebooks import UnreadableNotebookError, opened, source, submission
from .questions import Assignment, AssignmentQuestion, generator, identity
from .sandbox import SandboxLimits
from .session import AnswerError, Session, StoppedError, decoded, encoded, start_session

MAX_STOPPED = 30  # cells that end Python
MAX_PROGRESS_BYTES = 100_000
PROBLEMS = {
    "no such name": "There is no {answer} in the notebook: was it renamed, or did its cell fail?",
    "not plain": "It gives something that is neither numbers nor text.",
    "timed out": "It took too long.",
    "out of memory": "It used too much memory.",
    "MemoryError": "It used too much memory.",
    "died": "It ended Python.",
    "changed": "It changes what it was given: work on a copy.",
    "AbsentError": "It calls limetutor, which is not there while functions are graded: use numpy and your own.",
}


@dataclass(frozen=True)
class Mark:
    """The points of a question, and words for the student that name no hidden input."""

    points: int
    words: str


@dataclass(frozen=True)
class GradedSubmission:
    """The marks of one assignment of one student.

    ``status`` is "graded", "altered", "timed out", "out of memory", "unreadable", "missing" or, of the
    progress in the book, "self-reported".
    """

    student: str
    assignment: str
    status: str
    max_points: int
    marks: dict[str, Mark] = field(default_factory=dict)
    reported: int | None = None  # points that the student reports
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> int:
        """The sum of all points."""
        if self.reported is not None:
            return self.reported
        return sum(mark.points for mark in self.marks.values())


class NotebookRun:
    """A notebook whose cells have run; ``trouble`` lists why parts of it were stopped.

    It may ask for the functions in ``outside``, and those in ``replaced`` are called in the places of its own.
    """

    def __init__(
        self,
        code: Sequence[str],
        limits: SandboxLimits,
        outside: Mapping[str, Callable[..., Any]],
        replaced: Sequence[str] = (),
    ) -> None:
        self.code, self._limits, self._outside = code, limits, outside
        self._replaced = replaced
        self._deadline = time.monotonic() + limits.total
        self._stopped: dict[int, int] = {}  # cells, and how often they had to be
        self._session: Session | None = None
        self.trouble: set[str] = set()

    def with_answers(self, answers: Mapping[str, Callable[..., Any]]) -> "NotebookRun":
        """The same notebook in another process, with functions from outside in the places of its own."""
        run = NotebookRun(self.code, self._limits, {**self._outside, **answers}, [*answers])
        run._deadline, run._stopped = self._deadline, dict(self._stopped)
        return run

    @property
    def answered(self) -> set[str]:
        """The functions from outside that it has called."""
        return set() if self._session is None else self._session.answered

    @property
    def session(self) -> Session:
        """A process in which the cells have run; of those that ended an earlier one, what they define, at most."""
        while self._session is None:
            if time.monotonic() > self._deadline or len(self._stopped) > MAX_STOPPED:
                raise StoppedError("timed out")
            number = 0
            session = start_session(self._limits, self._outside, self._replaced)
            try:
                for number, code in enumerate(self.code):
                    if time.monotonic() > self._deadline:
                        self.trouble.add("timed out")
                        break  # what is defined by now is still asked for
                    if (times := self._stopped.get(number, 0)) < 2:
                        how = {"do": "cell", "code": code, "definitions": times > 0}
                        self._request(session, self._limits.seconds, **how)
            except StoppedError:
                self._stopped[number] = self._stopped.get(number, 0) + 1
            except BaseException:
                session.close()
                raise
            else:
                self._session = session
        return self._session

    def ask(self, seconds: float, **request: Any) -> dict[str, Any]:
        """The reply of the notebook; AnswerError if it is not a value, StoppedError if none comes."""
        session = self.session
        try:
            reply = self._request(session, seconds, **request)
        except StoppedError:
            self._session = None
            raise
        if "error" in reply:
            raise AnswerError(_known_problem(reply["error"]))
        return reply

    def _request(self, session: Session, seconds: float, **request: Any) -> dict[str, Any]:
        try:
            reply = session.ask(seconds, **request)
            session.settle(seconds)  # what still works would slow down the next question
        except StoppedError as stopped:
            self.trouble.add(str(stopped))
            raise
        if reply.get("error") == "MemoryError":
            self.trouble.add("out of memory")
        return reply

    def close(self) -> None:
        """End the process."""
        if self._session is not None:
            self._session.close()


def _known_problem(error: Any) -> str:
    """What went wrong, if it is known: a notebook could write hidden inputs in its place."""
    if isinstance(error, str):
        kind = getattr(builtins, error, None)
        if error in PROBLEMS or (isinstance(kind, type) and issubclass(kind, BaseException)):
            return error
    return "Exception"


class RemoteFunction:
    """A function of the notebook, called from outside; ``problem`` is why a call gave no value."""

    def __init__(self, run: NotebookRun, name: str, seconds: float) -> None:
        self._run, self._name, self._seconds = run, name, seconds
        self._cpu_deadline = run.session.cpu_seconds + seconds
        self.problem = ""

    def __call__(self, *arguments: Any) -> Any:
        """Its value."""
        try:
            request = {"name": self._name, "arguments": [encoded(a) for a in arguments]}
            left = min(self._seconds, self._cpu_deadline - self._run.session.cpu_seconds)
            reply = self._run.ask(left, do="call", **request)
            if reply.get("changed"):
                raise AnswerError("changed")
            return decoded(reply.get("value"))
        except (AnswerError, StoppedError) as error:
            self.problem = error.args[0]
            raise


def mark(
    question: AssignmentQuestion, student: str, run: NotebookRun, seed: bytes, seconds: float
) -> Mark:
    """Ask one question."""
    exercise = question.of(student)
    try:
        if isinstance(exercise, Function):
            function = RemoteFunction(run, question.answer, seconds)
            outcome = exercise.tried(function, generator(question.name, seed))
            words = _in_words(function.problem, question) if function.problem else outcome.hint
            return Mark(question.points if outcome.kind == "right" else 0, words)
        reply = run.ask(seconds, do="value", name=question.answer)
        verdict = exercise.judge(decoded(reply.get("value")))
    except (AnswerError, StoppedError) as error:
        return Mark(0, _in_words(error.args[0], question))
    good = verdict.kind in ("right", "close")
    return Mark(question.points if good else 0, "" if verdict.kind == "right" else verdict.words)


def _in_words(problem: str, question: AssignmentQuestion) -> str:
    words = PROBLEMS.get(problem, f"It raises an error, {problem}.")
    return words.replace("{answer}", question.answer)


def graded_record(folder: str, name: str, limits: dict[str, Any]) -> dict[str, Any]:
    """:func:`graded` for a process of its own: plain values in and out."""
    return asdict(graded(Path(folder), assignments()[name], SandboxLimits(**limits)))


def submission_of(record: dict[str, Any]) -> GradedSubmission:
    """A submission whose fields are a record."""
    marks = {name: Mark(**fields) for name, fields in record["marks"].items()}
    return GradedSubmission(**record | {"marks": marks, "notes": tuple(record["notes"])})


def graded(folder: Path, assignment: Assignment, limits: SandboxLimits) -> GradedSubmission:
    """One assignment of one student, whatever is in the folder."""
    student, path = folder.name, folder / f"{assignment.name}.ipynb"

    def result(status: str, marks: dict[str, Mark], *notes: str) -> GradedSubmission:
        name, most = assignment.name, assignment.max_points
        return GradedSubmission(student, name, status, most, marks, notes=notes)

    zero = {q.name: Mark(0, "") for q in assignment.judged}
    if folder.is_symlink():
        return result("unreadable", zero, "The folder is a link to another one.")
    if not path.exists() and not path.is_symlink():
        # browsers call a second download "the_audit (1).ipynb"
        others = sorted(p.name for p in folder.glob("*.ipynb"))
        present = f"; there are {', '.join(others[:5])}" if others else ""
        return result("missing", zero, f"There is no {path.name} in the folder{present}.")
    original = opened(source(assignment.name))
    try:
        content = submission(opened(path), original)
        seed = path.read_bytes()
    except UnreadableNotebookError as why:
        return result("unreadable", zero, f"The file cannot be read: {why}.")
    except OSError as error:
        return result("unreadable", zero, f"The file cannot be read: {error.strerror}.")
    numbers = {"numbers": lambda name, typed: assignment.numbers(typed)[name]}
    run = NotebookRun(content.code, limits, numbers)
    try:
        # before any question: a notebook could write a hidden input into this name
        notes = (*content.altered, *_other_student(run, assignment, student))
        marks = _marks(assignment, student, run, seed, limits.seconds)
    finally:
        run.close()
    stopped = [why for why in ("timed out", "out of memory") if why in run.trouble]
    status = [*stopped, "altered" if content.altered else "graded"][0]
    return result(status, marks, *notes)


def _marks(
    assignment: Assignment, student: str, run: NotebookRun, seed: bytes, seconds: float
) -> dict[str, Mark]:
    """The marks of all questions; wrong ones that call earlier wrong ones are judged again, given right ones."""
    marks: dict[str, Mark] = {}
    wrong: dict[str, Callable[..., Any]] = {}  # earlier answers, by name: what is right
    for question in assignment.judged:
        found = mark(question, student, run, seed, seconds)
        needed = reached(run.code, question.answer) & set(wrong) if not found.points else set()
        if needed:
            again = run.with_answers({name: wrong[name] for name in wrong if name in needed})
            try:
                given = mark(question, student, again, seed, seconds)
                if given.points or not again.trouble:
                    found = replace(given, words=_given_words(given, again.answered))
            finally:
                again.close()
        if not found.points and isinstance(question.exercise, Function):
            wrong[question.answer] = question.exercise.reference
        marks[question.name] = found
    return marks


def _given_words(mark: Mark, answered: set[str]) -> str:
    """What is said of an answer that was judged with right answers to earlier questions."""
    names = " and ".join(f"`{name}`" for name in sorted(answered))
    if not names:
        return mark.words
    return f"Judged with a right {names}: {mark.words or 'right.'}"


def _other_student(run: NotebookRun, assignment: Assignment, student: str) -> Sequence[str]:
    """A sentence if the notebook was filled in under another id than that of its folder."""
    if not assignment.numbers(student):
        return ()
    try:
        name = decoded(run.ask(1.0, do="value", name="student").get("value"))
    except (AnswerError, StoppedError):
        return ()
    if not isinstance(name, str) or identity(name) == identity(student):
        return ()
    return (f"The notebook was filled in for {name[:80]!r}, the folder is that of {student!r}.",)


def self_reported(folder: Path) -> GradedSubmission | None:
    """What a student's progress code from the book's pages says, where there is one."""
    path = folder / "progress.txt"
    if not path.exists() and not path.is_symlink():
        return None
    max_points = len(exercises())
    try:
        linked = folder.is_symlink() or path.is_symlink()
        if linked or not path.is_file() or path.stat().st_size > MAX_PROGRESS_BYTES:
            raise ValueError
        items = progress.read(path.read_bytes().decode("utf-8-sig").strip())
    except (ValueError, OSError):
        return GradedSubmission(folder.name, "progress", "unreadable", max_points, reported=0)
    done = sum(item.done for name, item in items.items() if name in exercises())
    return GradedSubmission(folder.name, "progress", "self-reported", max_points, reported=done)
