"""`limetutor class grade`: a folder of submissions to a table of grades.

``submissions/<student>/<assignment>.ipynb`` go in; ``grades.csv`` comes out, with a line for every student
and assignment, and ``marks.json``, which has the words for the feedback as well.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .command import action

COLUMNS = ("student", "assignment", "points", "max_points", "status")
NOBODY = ("__MACOSX", "__pycache__")
FORMULAS = tuple("=+-@\t\r\n")
UNSAFE = (
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
    found = [p for p in path.iterdir() if p.is_dir() and not p.name.startswith(".")]
    ours = {Path(out).resolve(), Path(out, "feedback").resolve()} if out else set()
    found = [p for p in found if p.name not in NOBODY and p.resolve() not in ours]
    found.sort(key=lambda p: p.name)
    if not found:
        raise ValueError(
            f"submissions must hold a folder for each student, as in {folder}/ada/the_audit.ipynb, but "
            f"{folder!r} holds none."
        )
    return found


def strays(folder: str) -> list[str]:
    """Notebooks that are in no student's folder."""
    return sorted(p.name for p in Path(folder).iterdir() if p.suffix == ".ipynb" and not p.is_dir())


def _harmless(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in FORMULAS else name


def _line(row: Iterable[Any]) -> str:
    """A line of a table; with this end of lines, a name that holds any other one is quoted as well."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(row)
    return text.getvalue().removesuffix("\r\n") + "\n"


def table(results: Iterable[Any]) -> str:
    """The results as CSV."""
    from .assignments import assignments

    questions = [q.name for a in assignments().values() for q in a.judged]
    lines = [_line([*COLUMNS, *questions])]
    for result in results:
        points = {name: mark.points for name, mark in result.marks.items()}
        facts = [_harmless(result.student), result.assignment]
        facts += [result.points, result.most, result.status]
        lines.append(_line([*facts, *(points.get(name, "") for name in questions)]))
    return "".join(lines)


def _write(path: Path, text: str) -> None:
    """All of a file or nothing."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    os.replace(new, path)


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    """A bar of progress on the error stream, where tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda: None
        return
    with tqdm(total=total, unit="notebook", file=sys.stderr, disable=None) as bar:
        yield bar.update


def _awaited(futures: list[Future[Any]]) -> list[Any]:
    """What they return, in their order; the first of them to fail ends it.

    In short waits: a key that stops the grader may reach a process in another thread, and this one would
    sleep on.
    """
    left = set(futures)
    while left:
        done, left = wait(left, timeout=0.2, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    return [future.result() for future in futures]


def grade_all(folders: list[Path], limits: Any, jobs: int) -> list[Any]:
    """The results of all students, in their order."""
    from .assignments import assignments
    from .marking import Result, graded, self_reported
    from .sandbox import SandboxError, ready

    asked = [(folder, a) for folder in folders for a in assignments().values()]
    with (
        warnings.catch_warnings(),  # here, because filters are shared by all threads
        ready(limits) as limits,
        _bar(len(asked)) as step,
        ThreadPoolExecutor(jobs) as pool,
    ):
        warnings.simplefilter("ignore")

        def one(what: tuple[Path, Any]) -> Any:
            try:
                return graded(*what, limits)
            except SandboxError:
                raise
            except Exception as error:  # ours: the others are to be graded all the same
                folder, assignment = what
                why = f"The grader failed with {type(error).__name__}: {error}"
                print(f"{folder / assignment.name}: {why}", file=sys.stderr)
                return Result(
                    folder.name, assignment.name, "unreadable", assignment.most, notes=(why,)
                )
            finally:
                step()

        try:
            results = iter(_awaited([pool.submit(one, what) for what in asked]))
        except BaseException:
            limits.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    found = []
    for folder in folders:
        found += [next(results) for _ in assignments()]
        found += [own for own in [self_reported(folder)] if own]
    return found


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("submissions", help="a folder with a folder for each student")
    add("--out", required=True, metavar="FOLDER", help="where grades.csv goes")
    add("--jobs", type=int, default=2, help="notebooks at a time (default: 2)")
    add(
        "--seconds",
        type=float,
        default=20.0,
        help="of the processor, for a cell and for a question (default: 20)",
    )
    add("--memory", type=int, default=2048, help="megabytes for a notebook (default: 2048)")
    add("--unsafe-no-sandbox", action="store_true", help=UNSAFE)


@action(
    "grade", "Grade a folder of submissions: submissions/<student>/<assignment>.ipynb.", _options
)
def grade(asked: argparse.Namespace) -> int:
    """`limetutor class grade`."""
    from .assignments import assignments
    from .notebooks import source
    from .sandbox import PATIENCE, Limits

    for name in assignments():
        source(name)  # without them nobody's notebook could be compared, and nobody is to blame
    for name, least in {"jobs": 1, "seconds": 1, "memory": 256}.items():
        if not getattr(asked, name) >= least:
            raise ValueError(f"--{name} must be at least {least}, got {getattr(asked, name)}.")
    folders = students(asked.submissions, asked.out)
    out = Path(asked.out)
    if lost := strays(asked.submissions):
        words = ", ".join(map(repr, lost[:5])) + (", …" if lost[5:] else "")
        print(f"Not graded, because not in the folder of a student: {words}.", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK):
        raise ValueError(f"--out must be a folder that can be written to, got {asked.out!r}.")
    limits = Limits(
        seconds=asked.seconds,
        total=5 * PATIENCE * asked.seconds,
        memory=asked.memory,
        sandboxed=not asked.unsafe_no_sandbox,
    )
    results = grade_all(folders, limits, asked.jobs)
    _write(out / "grades.csv", table(results))
    _write(out / "marks.json", json.dumps([_told(result) for result in results], indent=1))
    print(_summary(results, out / "grades.csv"))
    return 0


def _told(result: Any) -> dict[str, Any]:
    return {
        "student": result.student,
        "assignment": result.assignment,
        "status": result.status,
        "points": result.points,
        "max_points": result.most,
        "notes": list(result.notes),
        "questions": {
            name: {"points": mark.points, "words": mark.words}
            for name, mark in result.marks.items()
        },
    }


def _summary(results: list[Any], path: Path) -> str:
    counts: dict[str, int] = {}
    for result in results:
        counts[result.status] = counts.get(result.status, 0) + 1
    words = ", ".join(f"{count} {status}" for status, count in counts.items())
    return f"{path}: {len(results)} lines ({words})."
