"""`limetutor class grade`: a folder of submissions to a table of grades.

``submissions/<student>/<assignment>.ipynb`` go in; ``grades.csv`` comes out, with a line for every student
and assignment, ``marks.json``, which has the words for the feedback as well, ``copies.csv``, and what a gradebook
imports. A notebook that was graded before, as it is, is not graded again.
"""

import argparse
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..plotting.files import write_atomically
from ..precision.progress import progress_bar
from . import collect
from .command import action

A_DAY = 86_400  # seconds
NOT_STUDENTS = ("__MACOSX", "__pycache__", collect.UNPLACED)
JUDGE = f"{__package__}.marking:graded_record"
EXCEEDED = {
    "timed out": "To judge it took too long, so it was given up.",
    "out of memory": "To judge it took too much memory, so it was given up.",
}
HELP_UNSAFE = (
    "grade without a sandbox: students' code then RUNS WITH YOUR OWN RIGHTS and can read, change and send "
    "whatever you can; only for code that you trust like your own programs"
)


def students(folder: str, out: str = "") -> list[Path]:
    """The folders of the students, by name; ``out``, where the grades go, may be among them."""
    path = Path(folder)
    if not path.is_dir():
        raise ValueError(
            f"submissions must be a folder with a folder for each student, got {folder!r}, which "
            f"{'is a file' if path.exists() else 'is not there'}."
        )
    outputs = {Path(out).resolve(), Path(out, "feedback").resolve()} if out else set()
    folders = [p for p in path.iterdir() if p.is_dir() and not p.name.startswith(".")]
    folders = [p for p in folders if p.name not in NOT_STUDENTS and p.resolve() not in outputs]
    if not folders:
        raise ValueError(
            f"submissions must hold a folder for each student, as in {folder}/ada/the_audit.ipynb, but "
            f"{folder!r} holds none."
        )
    return sorted(folders, key=lambda p: p.name)


def _gathered(futures: list[Future[Any]]) -> list[Any]:
    """The results of futures, in their order; the first of them to fail raises."""
    left = set(futures)
    # with a timeout: a key that stops the grader may interrupt another thread than this one
    while left:
        done, left = wait(left, timeout=0.2, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]


def fingerprint(folder: Path, name: str) -> str:
    """What the grade of a notebook depends on; empty if it is no file."""
    from .assignments import edition
    from .notebooks import MAX_BYTES, source

    path = folder / f"{name}.ipynb"
    linked = folder.is_symlink() or path.is_symlink()
    if linked or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return ""
    parts = (
        folder.name.encode(errors="surrogatepass"),
        edition(name).encode(),
        source(name).read_bytes(),
        b"digests of texts",  # grades from before have none
    )
    digests = (sha256(part).digest() for part in (*parts, path.read_bytes()))
    return sha256(b"".join(digests)).hexdigest()


def graded_before(out: Path) -> dict[tuple[str, str], tuple[str, Any]]:
    """What an earlier run has found, with what it depended on: what went well, by student and assignment."""
    from .marking import GradedSubmission, mark_of

    found = {}
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        for entry in json.loads((out / "marks.json").read_text(encoding="utf-8")):
            if entry.get("key") and entry["status"] in ("graded", "altered"):
                marks = {name: mark_of(fields) for name, fields in entry["questions"].items()}
                names = ("student", "assignment", "status", "max_points", "typed")
                facts = {name: entry[name] for name in names}
                result = GradedSubmission(**facts, marks=marks, notes=tuple(entry["notes"]))
                found[result.student, result.assignment] = entry["key"], result
    return found


def grade_all(
    folders: list[Path], limits: Any, jobs: int, names: Sequence[str] = (), before: Any = None
) -> list[Any]:
    """The graded submissions of all students, in their order; of assignments that are named, if any are."""
    from .assignments import assignments
    from .bounded import STOPPED, BoundedProcess, CallError, ExceededError
    from .marking import GradedSubmission, Mark, self_reported, submission_of
    from .sandbox import SandboxError, prepared

    chosen = [a for a in assignments().values() if not names or a.name in names]
    tasks = [(folder, a) for folder in folders for a in chosen]
    others = [folder.name for folder in folders]
    processes = [BoundedProcess() for _ in range(jobs)]
    idle: SimpleQueue[BoundedProcess] = SimpleQueue()
    for process in processes:
        idle.put(process)
    bar = progress_bar(total=len(tasks), unit="notebook", file=sys.stderr, disable=None)
    with prepared(limits) as limits, bar or nullcontext(), ThreadPoolExecutor(jobs) as pool:

        def grade_one(folder: Path, assignment: Any) -> Any:
            process = idle.get()
            name = assignment.name
            try:
                key, result = (before or {}).get((folder.name, name), ("", None))
                if key and key == fingerprint(folder, name):
                    return result
                how = str(folder), name, asdict(limits), others
                seconds = limits.longest(len(assignment.judged))
                return submission_of(process.call(JUDGE, *how, seconds=seconds))
            except CallError as error:
                if error.kind == SandboxError.__name__:
                    raise SandboxError(str(error)) from None
                # of the grader: the others are graded all the same
                status, why = "unreadable", f"The grader failed with {error.kind}: {error}"
                if error.kind != STOPPED:
                    print(f"{folder / name}: {why}", file=sys.stderr)
            except ExceededError as error:
                status, why = str(error), EXCEEDED[str(error)]
            finally:
                idle.put(process)
                if bar is not None:
                    bar.update()
            zero = {  # of what was given up, a person can still read the text
                q.name: Mark(0, "", open=0 if q.machine or status == "unreadable" else q.points)
                for q in assignment.questions
            }
            most = assignment.most_points
            return GradedSubmission(folder.name, name, status, most, zero, notes=(why,))

        try:
            results = iter(_gathered([pool.submit(grade_one, *task) for task in tasks]))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.stop()
    submissions = []
    for folder in folders:
        submissions += [next(results) for _ in chosen]
        if not names and (reported := self_reported(folder)):
            submissions.append(reported)
    return submissions


def _options(parser: argparse.ArgumentParser) -> None:
    from .tables import FORMATS

    add = parser.add_argument
    add("submissions", help="a folder with a folder for each student")
    add("--out", required=True, metavar="FOLDER", help="where grades.csv goes")
    add_only(parser)
    words = "a table with one line for each student, as a gradebook imports it"
    add("--format", choices=[*FORMATS], help=words)
    words = "the class, or Moodle's grading worksheet or Canvas' gradebook; needed for --format"
    add("--roster", metavar="FILE", help=words)
    add("--maximum", type=float, help="points of the gradebook, if not those of the assignment")
    words = "points that a person has given (default: marks.csv in --out, where it is)"
    add("--marks", metavar="FILE", help=words)
    words = "grade also what was graded before and has not changed"
    add("--again", action="store_true", help=words)
    add("--jobs", type=int, default=2, help="notebooks at a time (default: 2)")
    words = "of the processor or of waiting, for a cell and for a question (default: 20)"
    add("--seconds", type=float, default=20.0, help=words)
    add("--memory", type=int, default=2048, help="megabytes for a notebook (default: 2048)")
    add("--unsafe-no-sandbox", action="store_true", help=HELP_UNSAFE)


def add_only(parser: argparse.ArgumentParser) -> None:
    """The option that names assignments."""
    words = "only these assignments, such as lime_from_scratch: those that were set so far"
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help=words)


def chosen_names(only: Sequence[str]) -> list[str]:
    """The assignments that were asked for, in the order of the course."""
    from .assignments import assignments

    names = [name.removesuffix(".ipynb") for name in only]
    for name in names:
        if name not in assignments():
            known = ", ".join(map(repr, assignments()))
            raise ValueError(f"--only must name assignments, of {known}, got {name!r}.")
    return [name for name in assignments() if not names or name in names]


@action(
    "grade", "Grade a folder of submissions: submissions/<student>/<assignment>.ipynb.", _options
)
def grade(options: argparse.Namespace) -> int:
    """`limetutor class grade`."""
    from . import reading, roster, tables
    from .assignments import assignments
    from .copies import report
    from .notebooks import source
    from .sandbox import CLOCK_FACTOR, SandboxLimits, weaknesses

    for name in assignments():
        source(name)  # without them no notebook could be compared
    least = {"jobs": 1, "seconds": 1, "memory": 256, "maximum": 0.01}
    for name, bound in least.items():
        if getattr(options, name) is not None and not getattr(options, name) >= bound:
            raise ValueError(f"--{name} must be at least {bound}, got {getattr(options, name)}.")
    if options.seconds > A_DAY:
        raise ValueError(f"--seconds must be at most {A_DAY}, got {options.seconds:g}.")
    names = chosen_names(options.only)
    if options.format and not options.roster:
        words = "needs --roster, the list of the class, but got none"
        raise ValueError(f"--format {options.format} {words}.")
    people = roster.read(options.roster) if options.roster else None
    folders = students(options.submissions, options.out)
    out = Path(options.out)
    files = [path for path in Path(options.submissions).iterdir() if not path.is_dir()]
    if loose := sorted(path.name for path in files if path.suffix == ".ipynb"):
        words = ", ".join(map(repr, loose[:5])) + (", …" if loose[5:] else "")
        print(f"Not graded, because not in the folder of a student: {words}.", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise ValueError(f"--out must be a folder that can be written to, got {options.out!r}.")
    given = reading.marks_in(options.marks or out / reading.MARKS, bool(options.marks))
    limits = SandboxLimits(
        seconds=options.seconds,
        total=5 * CLOCK_FACTOR * options.seconds,
        memory=options.memory,
        sandboxed=not options.unsafe_no_sandbox,
    )
    for sentence in weaknesses() if limits.sandboxed else ():
        print(sentence, file=sys.stderr)
    before = {} if options.again else graded_before(out)
    found = grade_all(folders, limits, options.jobs, names if options.only else (), before)
    results = reading.merged(found, given)
    keys = {(folder.name, name): fingerprint(folder, name) for folder in folders for name in names}
    pairs = zip(found, results, strict=True)
    marks = [_as_json(m, final, keys.get((m.student, m.assignment), "")) for m, final in pairs]
    written = {
        "grades.csv": tables.table(results, names),
        "marks.json": json.dumps(marks, indent=1),
    }
    written["copies.csv"] = report(folders, results, names)
    if options.format and people is not None:
        by_key = {(result.student, result.assignment): result for result in results}
        numbers = collect.numbers(Path(options.submissions), options.format)
        book = tables.Gradebook(by_key, names, people, numbers, options.maximum)
        written |= tables.FORMATS[options.format](book)
    for name, text in written.items():
        # a folder may have a name that is no text, and the table is one all the same
        write_atomically(out / name, text.encode(errors="backslashreplace"))
    counts = Counter(result.status for result in results)
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    print(f"{out / 'grades.csv'}: {len(results)} lines ({words}).")
    for sentence in _still_to_do(results, written, people, out):
        print(sentence)
    return 0


def _still_to_do(
    results: list[Any], written: dict[str, str], people: Any, out: Path
) -> Iterator[str]:
    """What a teacher should know of these grades, in sentences."""
    for name, text in written.items():
        if name.startswith(("moodle", "canvas", "class")):
            yield f"{out / name}: {text.count(chr(10)) - 1 - name.startswith('canvas')} students."
    if waiting := [result for result in results if result.open]:
        points = f"{sum(result.open for result in waiting)} points of {len(waiting)} notebooks"
        words = "which a person gives (class read); until then their cells in a gradebook are empty"
        yield f"Still open: {points}, {words}."
    if (pairs := written["copies.csv"].count("\n") - 1) > 0:
        yield f"{out / 'copies.csv'}: {pairs} lines to look at, for you alone."
    if people is not None:
        known = {student.id for student in people.students}
        if strangers := sorted({result.student for result in results} - known):
            yield f"Not in the list of the class: {', '.join(map(repr, strangers[:10]))}."


def _as_json(machine: Any, final: Any, key: str) -> dict[str, Any]:
    """A result as marks.json has it: the marks of the machine, and those of a person apart from them."""
    names = ("student", "assignment", "status", "points", "max_points", "open", "typed")
    facts = {name: getattr(final, name) for name in names}
    facts |= {"notes": list(final.notes), "key": key}
    person = {k: asdict(m) for k, m in final.marks.items() if m != machine.marks[k]}
    questions = {name: asdict(mark) for name, mark in machine.marks.items()}
    return facts | {"questions": questions, "by_person": person}
