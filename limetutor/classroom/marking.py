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
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..course import progress
from ..course.exercises import exercises
from ..course.judging.kinds import Function
from .assignments import assignments, edition
from .names import reached, statements
from .notebooks import UnreadableNotebookError, is_blank, submission
from .questions import Assignment, AssignmentQuestion, generator, identity
from .sandbox import CLOCK_FACTOR, SandboxLimits
from .session import (
    TOO_OFTEN,
    AnswerError,
    Answers,
    Session,
    StoppedError,
    decoded,
    encoded,
    start_session,
)

MAX_STOPPED = 30  # cells that end Python
MAX_PROGRESS_BYTES = 100_000
PROBLEMS = {
    "no such name": "There is no {answer} in the notebook: was it renamed, or did its cell fail?",
    "no syntax": "The cell that defines {answer} has a syntax error, so Python runs none of it.",
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
    """The points of a question, and words for the student that name no hidden input.

    ``open`` are points that a person has still to give, and ``text`` is a digest of what is to be read. ``fits`` are
    other students whose numbers the answer fits.
    """

    points: float
    words: str
    open: int = 0
    fits: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class GradedSubmission:
    """The marks of one assignment of one student.

    ``status`` is "graded", "altered", "timed out", "out of memory", "unreadable", "missing" or, of the
    progress in the book, "self-reported". ``typed`` is the id in the notebook, if it is another one.
    """

    student: str
    assignment: str
    status: str
    max_points: int
    marks: dict[str, Mark] = field(default_factory=dict)
    reported: int | None = None  # points that the student reports
    notes: tuple[str, ...] = ()
    typed: str = ""

    @property
    def points(self) -> float:
        """The sum of all points."""
        if self.reported is not None:
            return self.reported
        return sum(mark.points for mark in self.marks.values())

    @property
    def open(self) -> int:
        """The points that a person has still to give."""
        return sum(mark.open for mark in self.marks.values())


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
        self._left = [limits.total]  # seconds for cells, shared by all runs of a notebook
        self._stopped: dict[int, int] = {}  # cells, and how often they had to be
        self._session: Session | None = None
        self.trouble: set[str] = set()

    def with_answers(self, answers: Mapping[str, Callable[..., Any]]) -> "NotebookRun":
        """The same notebook in another process, with functions from outside in the places of its own."""
        run = NotebookRun(self.code, self._limits, {**self._outside, **answers}, [*answers])
        run._left, run._stopped = self._left, dict(self._stopped)
        return run

    @property
    def answers(self) -> Answers:
        """What it was answered from outside."""
        return Answers({}) if self._session is None else self._session.answers

    @property
    def session(self) -> Session:
        """A process in which the cells have run; of those that ended an earlier one, what they define, at most."""
        while self._session is None:
            if self._left[0] <= 0 or len(self._stopped) > MAX_STOPPED:
                raise StoppedError("timed out")
            number, began = 0, time.monotonic()
            session = start_session(self._limits, self._outside, self._replaced)
            try:
                for number, code in enumerate(self.code):
                    if time.monotonic() - began > self._left[0]:
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
            finally:
                self._left[0] -= time.monotonic() - began
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
        self._run, self._name = run, name
        run.session.answers.begin_question()
        self._most = run.session.used_seconds + seconds
        self._deadline = time.monotonic() + CLOCK_FACTOR * seconds
        self.problem = ""

    def __call__(self, *arguments: Any) -> Any:
        """Its value."""
        try:
            request = {"name": self._name, "arguments": [encoded(a) for a in arguments]}
            clock = (self._deadline - time.monotonic()) / CLOCK_FACTOR
            left = min(clock, self._most - self._run.session.used_seconds)
            reply = self._run.ask(left, do="call", **request)
            if reply.get("changed"):
                raise AnswerError("changed")
            return decoded(reply.get("value"))
        except (AnswerError, StoppedError) as error:
            self.problem = error.args[0]
            raise


@dataclass(frozen=True)
class Asked:
    """Whose answers are asked for: the student, the others of the class, the seed of the inputs, seconds."""

    student: str
    others: Sequence[str]
    seed: bytes
    seconds: float


def mark(question: AssignmentQuestion, asked: Asked, run: NotebookRun) -> Mark:
    """Ask one question."""
    exercise, seconds = question.of(asked.student), asked.seconds
    try:
        if isinstance(exercise, Function):
            function = RemoteFunction(run, question.answer, seconds)
            outcome = exercise.tried(function, generator(question.name, asked.seed))
            problem = function.problem
            words = _in_words(problem, question, run.code) if problem else outcome.hint
            return Mark(question.points if outcome.kind == "right" else 0, words)
        answer = decoded(run.ask(seconds, do="value", name=question.answer).get("value"))
        verdict = exercise.judge(answer)
    except (AnswerError, StoppedError) as error:
        return Mark(0, _in_words(error.args[0], question, run.code))
    if verdict.kind in ("right", "close"):
        return Mark(question.points, "" if verdict.kind == "right" else verdict.words)
    others = (other for other in asked.others if identity(other) != identity(asked.student))
    fits = (o for o in others if question.of(o).judge(answer).kind in ("right", "close"))
    return Mark(0, verdict.words, fits=tuple(fits) if question.personal else ())


def _in_words(problem: str, question: AssignmentQuestion, code: Sequence[str]) -> str:
    makes = re.compile(rf"(?m)^[ \t]*((def|class)\s+{question.answer}\b|{question.answer}\s*=)")
    if problem == "no such name" and any(makes.search(c) and not statements(c) for c in code):
        problem = "no syntax"
    words = PROBLEMS.get(problem, f"It raises an error, {problem}.")
    return words.replace("{answer}", question.answer)


def graded_record(
    folder: str, name: str, limits: dict[str, Any], others: Sequence[str]
) -> dict[str, Any]:
    """:func:`graded` for a process of its own: plain values in and out."""
    return asdict(graded(Path(folder), assignments()[name], SandboxLimits(**limits), others))


def mark_of(fields: dict[str, Any]) -> Mark:
    """A mark whose fields are a record."""
    return Mark(**fields | {"fits": tuple(fields.get("fits", ()))})


def submission_of(record: dict[str, Any]) -> GradedSubmission:
    """A submission whose fields are a record."""
    marks = {name: mark_of(fields) for name, fields in record["marks"].items()}
    return GradedSubmission(**record | {"marks": marks, "notes": tuple(record["notes"])})


def graded(
    folder: Path, assignment: Assignment, limits: SandboxLimits, others: Sequence[str] = ()
) -> GradedSubmission:
    """One assignment of one student, whatever is in the folder; ``others`` are the ids of the class."""
    student, path = folder.name, folder / f"{assignment.name}.ipynb"

    def result(
        status: str, marks: dict[str, Mark], *notes: str, typed: str = ""
    ) -> GradedSubmission:
        name, most = assignment.name, assignment.most_points
        return GradedSubmission(student, name, status, most, marks, notes=notes, typed=typed)

    zero = {q.name: Mark(0, "") for q in assignment.questions}
    if folder.is_symlink():
        return result("unreadable", zero, "The folder is a link to another one.")
    if not path.exists() and not path.is_symlink():
        # browsers call a second download "the_audit (1).ipynb"
        present = sorted(p.name for p in folder.glob("*.ipynb"))
        there = f"; there are {', '.join(present[:5])}" if present else ""
        return result("missing", zero, f"There is no {path.name} in the folder{there}.")
    try:
        content = submission(path)
        seed = path.read_bytes()
    except UnreadableNotebookError as why:
        return result("unreadable", zero, f"The file cannot be read: {why}.")
    except OSError as error:
        return result("unreadable", zero, f"The file cannot be read: {error.strerror}.")
    numbers = {"numbers": lambda name, typed: assignment.numbers(typed)[name]}
    run = NotebookRun(content.code, limits, numbers)
    try:
        # before any question: a notebook could write a hidden input into this name
        typed = _other_student(run, assignment, student)
        marks = _marks(assignment, Asked(student, others, seed, limits.seconds), run)
    finally:
        run.close()
    notes = [*content.altered, *_differences(assignment.name, content.version, typed, student)]
    stopped = [why for why in ("timed out", "out of memory") if why in run.trouble]
    status = [*stopped, "altered" if content.altered else "graded"][0]
    read = {q.name: _to_read(q, content.texts) for q in assignment.questions if not q.machine}
    return result(status, marks | read, *notes, typed=typed)


def _to_read(question: AssignmentQuestion, texts: Mapping[str, str]) -> Mark:
    """The mark of a paragraph before a person has read it."""
    text = texts.get(question.answer, "")
    if is_blank(text):
        return Mark(0, "There is no text here.")
    words = "A person gives these points."
    return Mark(0, words, open=question.points, text=digest_of(text))


def digest_of(text: str) -> str:
    """What tells a paragraph from another one; spaces do not count, and no spreadsheet takes it for a number."""
    plain = " ".join(text.split())
    return f"t-{sha256(plain.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _differences(name: str, version: str, typed: str, student: str) -> Sequence[str]:
    """Sentences about another version and another id than those that count."""
    notes = []
    if version not in ("", edition(name)):
        notes.append(f"The notebook is of version {version!r} and graded as {edition(name)!r}.")
    if typed:
        words = "questions with numbers of your own are judged for yours"
        notes.append(f"The id in the notebook is {typed!r}, and yours is {student!r}: {words}.")
    return notes


def _marks(assignment: Assignment, asked: Asked, run: NotebookRun) -> dict[str, Mark]:
    """The marks of all questions; wrong ones that call earlier wrong ones are judged again, given right ones."""
    marks: dict[str, Mark] = {}
    # what is right, of earlier answers that are wrong; those of them that were right when given others
    right: dict[str, Callable[..., Any]] = {}
    mended: set[str] = set()
    given: dict[frozenset[str], NotebookRun] = {}  # the notebook with right ones, by their names
    try:
        for question in assignment.judged:
            found = first = mark(question, asked, run)
            uses = set() if first.points else reached(run.code, question.answer)
            sets = (frozenset(uses & names) for names in (set(right) - mended, set(right)))
            for needed in filter(None, dict.fromkeys(sets)):
                if needed not in given:
                    given[needed] = run.with_answers({n: right[n] for n in right if n in needed})
                before = set(given[needed].trouble)
                again = mark(question, asked, given[needed])
                answers = given[needed].answers
                if again.points or given[needed].trouble == before:
                    words = _given_words(again, answers.given & needed, answers.too_often)
                    found = replace(again, words=words)
                if again.points or not answers.too_often:
                    break
            own = question.of(asked.student)
            if not first.points and isinstance(own, Function):
                right[question.answer] = partial(own.reference, **own.params)
                mended |= {question.answer} if found.points else set()
            marks[question.name] = found
    finally:
        for one in given.values():
            one.close()
    return marks


def _given_words(mark: Mark, answered: set[str], too_often: bool) -> str:
    """What is said of an answer that was judged with right answers to earlier questions."""
    names = " and ".join(f"`{name}`" for name in sorted(answered))
    if not names:
        return mark.words
    words = mark.words or "right."
    if too_often and not mark.points:
        words = TOO_OFTEN
    return f"Judged with a right {names}: {words}"


def _other_student(run: NotebookRun, assignment: Assignment, student: str) -> str:
    """The id that the notebook was filled in for, if it is another than that of its folder."""
    if not any(question.personal for question in assignment.questions):
        return ""
    try:
        name = decoded(run.ask(1.0, do="value", name="student").get("value"))
    except (AnswerError, StoppedError):
        return ""
    if not isinstance(name, str) or identity(name) == identity(student):
        return ""
    return name[:80]


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
