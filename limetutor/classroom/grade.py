"""`limetutor class grade`: a folder of submissions to a table of grades.

``submissions/<student>/<assignment>.ipynb`` go in; ``grades.csv`` comes out, with a line for every student
and assignment, and ``marks.json``, which has the words for the feedback as well.
"""

import argparse
import csv
import io
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..plotting.files import without_formulas, write_atomically
from ..precision.progress import progress_bar
from .command import action

COLUMNS = ("student", "assignment", "points", "max_points", "status")
A_DAY = 86_400  # seconds
NOT_STUDENTS = ("__MACOSX", "__pycache__")
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


def _csv_line(row: Iterable[Any]) -> str:
    """A line of a table; with this line end, a name that contains any other one is quoted as well."""
    text = io.StringIO(newline="")
    cells = [without_formulas(cell) if isinstance(cell, str) else cell for cell in row]
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"


def table(results: Iterable[Any]) -> str:
    """The results as CSV."""
    from .assignments import assignments

    questions = [q.name for a in assignments().values() for q in a.judged]
    lines = [_csv_line([*COLUMNS, *questions])]
    for result in results:
        points = {name: mark.points for name, mark in result.marks.items()}
        row = [result.student, result.assignment, result.points, result.max_points, result.status]
        lines.append(_csv_line([*row, *(points.get(name, "") for name in questions)]))
    return "".join(lines)


def _gathered(futures: list[Future[Any]]) -> list[Any]:
    """The results of futures, in their order; the first of them to fail raises."""
    left = set(futures)
    # with a timeout: a key that stops the grader may interrupt another thread than this one
    while left:
        done, left = wait(left, timeout=0.2, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]


def grade_all(folders: list[Path], limits: Any, jobs: int) -> list[Any]:
    """The graded submissions of all students, in their order."""
    from .assignments import assignments
    from .bounded import STOPPED, BoundedProcess, CallError, ExceededError
    from .marking import GradedSubmission, Mark, self_reported, submission_of
    from .sandbox import CLOCK_FACTOR, SandboxError, prepared

    tasks = [(folder, a) for folder in folders for a in assignments().values()]
    processes = [BoundedProcess() for _ in range(jobs)]
    idle: SimpleQueue[BoundedProcess] = SimpleQueue()
    for process in processes:
        idle.put(process)
    bar = progress_bar(total=len(tasks), unit="notebook", file=sys.stderr, disable=None)
    with (
        prepared(limits) as limits,
        bar or nullcontext(),
        ThreadPoolExecutor(jobs) as pool,
    ):

        def grade_one(folder: Path, assignment: Any) -> Any:
            process = idle.get()
            name = assignment.name
            try:
                how = str(folder), name, asdict(limits)
                seconds = CLOCK_FACTOR * limits.total
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
            zero = {question.name: Mark(0, "") for question in assignment.judged}
            return GradedSubmission(
                folder.name, name, status, assignment.max_points, zero, notes=(why,)
            )

        try:
            results = iter(_gathered([pool.submit(grade_one, *task) for task in tasks]))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.stop()
    submissions = []
    for folder in folders:
        submissions += [next(results) for _ in assignments()]
        if reported := self_reported(folder):
            submissions.append(reported)
    return submissions


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("submissions", help="a folder with a folder for each student")
    add("--out", required=True, metavar="FOLDER", help="where grades.csv goes")
    add("--jobs", type=int, default=2, help="notebooks at a time (default: 2)")
    words = "of the processor, for a cell and for a question (default: 20)"
    add("--seconds", type=float, default=20.0, help=words)
    add("--memory", type=int, default=2048, help="megabytes for a notebook (default: 2048)")
    add("--unsafe-no-sandbox", action="store_true", help=HELP_UNSAFE)


@action(
    "grade", "Grade a folder of submissions: submissions/<student>/<assignment>.ipynb.", _options
)
def grade(options: argparse.Namespace) -> int:
    """`limetutor class grade`."""
    from .assignments import assignments
    from .notebooks import source
    from .sandbox import CLOCK_FACTOR, SandboxLimits, weaknesses

    for name in assignments():
        source(name)  # without them no notebook could be compared
    for name, least in {"jobs": 1, "seconds": 1, "memory": 256}.items():
        if not getattr(options, name) >= least:
            raise ValueError(f"--{name} must be at least {least}, got {getattr(options, name)}.")
    if options.seconds > A_DAY:
        raise ValueError(f"--seconds must be at most {A_DAY}, got {options.seconds:g}.")
    folders = students(options.submissions, options.out)
    out = Path(options.out)
    files = [path for path in Path(options.submissions).iterdir() if not path.is_dir()]
    if loose := sorted(path.name for path in files if path.suffix == ".ipynb"):
        words = ", ".join(map(repr, loose[:5])) + (", …" if loose[5:] else "")
        print(f"Not graded, because not in the folder of a student: {words}.", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise ValueError(f"--out must be a folder that can be written to, got {options.out!r}.")
    limits = SandboxLimits(
        seconds=options.seconds,
        total=5 * CLOCK_FACTOR * options.seconds,
        memory=options.memory,
        sandboxed=not options.unsafe_no_sandbox,
    )
    for sentence in weaknesses() if limits.sandboxed else ():
        print(sentence, file=sys.stderr)
    results = grade_all(folders, limits, options.jobs)
    marks = json.dumps([_as_json(result) for result in results], indent=1)
    for name, text in (("grades.csv", table(results)), ("marks.json", marks)):
        # a folder may have a name that is no text, and the table is one all the same
        write_atomically(out / name, text.encode(errors="backslashreplace"))
    counts = Counter(result.status for result in results)
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    print(f"{out / 'grades.csv'}: {len(results)} lines ({words}).")
    return 0


def _as_json(result: Any) -> dict[str, Any]:
    names = ("student", "assignment", "status", "points", "max_points")
    facts = {name: getattr(result, name) for name in names} | {"notes": list(result.notes)}
    return facts | {"questions": {name: asdict(mark) for name, mark in result.marks.items()}}
