"""`limetutor class read`: what a person reads, all answers to a question on one page, and the points that come back.

``OUT/read/<assignment>-<question>.html`` has the rubric, the model answer and every paragraph; ``OUT/marks.csv`` has a
line for each, to be filled in, and `limetutor class grade` adds them. Lines that are filled in stay as they are, as
long as the text is the one that was read: the column ``text`` has a digest of it.
"""

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from .command import action
from .sheets import csv_line, read_table

MARKS = "marks.csv"
COLUMNS = ("student", "assignment", "question", "points", "max_points", "comment", "text")
CHANGED = "the text is another one than when it got points, so they are open again"
UNCHECKED = (
    "its judging was given up, so its points count once the column text is empty in its line"
)
READ = f"{__name__}:paragraphs"
SECONDS = 60, 20  # on the clock, of the processor
STYLE = (
    "body{font:1.05rem/1.5 Georgia,serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "section{border-top:1px solid #999;margin-top:2rem}h2{font:600 1rem sans-serif}img{max-width:100%}"
    "aside{background:#f2f2f2;padding:.5rem 1rem}"
)


def code_of(student: str) -> str:
    """What stands for a student where the reader should not know who it is."""
    return f"r-{sha256(student.encode(errors='surrogatepass')).hexdigest()[:10]}"


def paragraphs(folder: str, name: str) -> dict[str, list[Any]]:
    """What a student wrote for a person, as safe HTML, its number of words and its digest; nothing of what is blank.

    For a process of its own: it reads what was handed in.
    """
    from .marking import digest_of
    from .notebooks import UnreadableNotebookError, is_blank, submission
    from .texts import in_html

    try:
        texts = submission(Path(folder, f"{name}.ipynb")).texts
    except (UnreadableNotebookError, OSError):
        return {}
    shown = {key: text for key, text in texts.items() if not is_blank(text)}
    return {k: [in_html(t[:30_000]), len(t.split()), digest_of(t)] for k, t in shown.items()}


def page(
    question: Any, model: str, answers: Mapping[str, Sequence[Any]], blank: Sequence[str]
) -> str:
    """All answers to a question, by the names that the reader sees."""
    from .feedback import POLICY

    rubric = "".join(f"<li>{escape(point)}</li>" for point in question.exercise.rubric)
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        f"<title>{escape(question.name)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(question.name)}</h1><p>{question.points} points, {len(answers)} answers.</p>",
        f"<aside><ul>{rubric}</ul><details><summary>Model answer</summary>{model}</details></aside>",
    ]
    for name, (html, words, _) in sorted(answers.items()):
        parts.append(f"<section><h2>{escape(name)}, {words} words</h2>{html}</section>")
    if blank:
        names = escape(", ".join(sorted(blank)))
        parts.append(f"<section><h2>No text</h2><p>{names}</p></section>")
    return "\n".join([*parts, "</body></html>"])


def marks_in(path: str | Path, required: bool) -> list[dict[str, Any]]:
    """The lines of a table of marks, points as numbers; None for those that are still open."""
    if not required and not Path(path).is_file():
        return []
    header, rows = read_table(path, "--marks")
    if absent := [name for name in COLUMNS[:4] if name not in header]:
        words = f"the columns {', '.join(COLUMNS[:4])}, but {absent[0]!r} is not there"
        raise ValueError(f"--marks must have {words}.")
    found: list[dict[str, Any]] = []
    for line, row in enumerate(rows, 2):
        entry: dict[str, Any] = dict.fromkeys(COLUMNS, "") | dict(zip(header, row, strict=False))
        if not entry["student"]:
            continue
        text = entry["points"].replace(",", ".")
        try:
            entry["points"] = float(text) if text else None
        except ValueError:
            words = f"points must be a number, got {text[:40]!r} in line {line}"
            raise ValueError(f"--marks: {words}.") from None
        found.append(entry | {"line": line})
    return found


def merged(results: Sequence[Any], given: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Results with the points that a person gave for the text as it is now; of another, it is said whose."""
    from .assignments import assignments
    from .marking import Mark

    read = (q for a in assignments().values() for q in a.questions if not q.machine)
    points = {question.name: question.points for question in read}
    students = {name: s for s in {r.student for r in results} for name in (s, code_of(s))}
    marks: dict[tuple[str, str], Mark] = {}
    machine = {(r.student, n): mark for r in results for n, mark in r.marks.items()}
    seen: set[tuple[str, str]] = set()
    for entry in given:
        name, line = f"{entry['assignment']}/{entry['question']}", entry["line"]
        if name not in points:
            words = f"must name a question that a person reads, got {name[:80]!r}"
            raise ValueError(f"--marks: line {line} {words}.")
        if entry["points"] is None:
            continue
        if entry["student"] not in students:
            print(f"--marks: line {line} is for {entry['student']!r}, who has no folder here.")
            continue
        if not 0 <= entry["points"] <= points[name]:
            words = f"must be from 0 to {points[name]}, got {entry['points']:g} in line {line}"
            raise ValueError(f"--marks: the points of {name} {words}.")
        key = students[entry["student"]], name
        if key in seen:
            words = f"gives the points of {key[0]!r} for {name} once more"
            raise ValueError(f"--marks: line {line} {words}.")
        seen.add(key)
        now = machine.get(key)
        if now is None:
            continue
        if not now.open:  # blank, unreadable or not there
            if entry["points"]:
                words = "there is no text that can be read, so its points do not count"
                print(f"{entry['student']}, {name}: {words}.")
        elif entry["text"] and entry["text"] != now.text:
            print(f"{entry['student']}, {name}: {CHANGED if now.text else UNCHECKED}.")
        else:
            marks[key] = Mark(entry["points"], entry["comment"])
    final = []
    for result in results:
        own = {n: marks[result.student, n] for n in result.marks if (result.student, n) in marks}
        final.append(replace(result, marks=result.marks | own))
    return final


def _options(parser: argparse.ArgumentParser) -> None:
    from .grade import add_only

    parser.add_argument("submissions", help="a folder with a folder for each student")
    parser.add_argument("--out", required=True, metavar="FOLDER", help="the folder of the grades")
    add_only(parser)
    words = "show no student's name: a code stands for each"
    parser.add_argument("--anonymous", action="store_true", help=words)


@action(
    "read", "Write what a person reads: a page for each question, and a table to fill in.", _options
)
def read(options: argparse.Namespace) -> int:
    """`limetutor class read`."""
    from ..plotting.files import write_atomically
    from .assignments import assignments
    from .grade import chosen_names, students
    from .notebooks import cells, original
    from .texts import in_html

    out = Path(options.out)
    given = marks_in(out / MARKS, False)
    there = {(e["student"], f"{e['assignment']}/{e['question']}"): e for e in given}
    os.makedirs(out / "read", exist_ok=True)
    lines, written = [csv_line(COLUMNS)], 0
    folders = students(options.submissions, options.out)
    for name in chosen_names(options.only):
        texts = dict(_texts(folders, name))
        models = {c.name: c.text for c in cells(original(name))}
        for question in (q for q in assignments()[name].questions if not q.machine):
            key = question.answer
            called = {s: code_of(s) if options.anonymous else s for s in texts}
            answers = {called[s]: found[key] for s, found in texts.items() if key in found}
            blank = [called[s] for s in texts if called[s] not in answers]
            html = page(question, in_html(models[key]), answers, blank)
            target = out / "read" / f"{name}-{key}.html"
            write_atomically(target, html.encode(errors="replace"))
            written += 1
            for who in sorted(answers):
                kept = there.pop((who, question.name), {})
                points, digest = kept.get("points"), answers[who][2]
                if points is not None and kept["text"] not in ("", digest):
                    print(f"{who}, {question.name}: {CHANGED}.")
                    points = None
                told = _shown(points), question.points, kept.get("comment", ""), digest
                lines.append(csv_line([who, name, key, *told]))
    for kept in there.values():  # of other assignments, or of who is not there any more
        if kept["points"] is not None or kept["comment"]:
            kept["points"] = _shown(kept["points"])
            lines.append(csv_line(kept[c] for c in COLUMNS))
    write_atomically(out / MARKS, "".join(lines).encode(errors="backslashreplace"))
    words = f"fill in the points in {out / MARKS}, then grade again"
    print(f"{written} pages in {out / 'read'}; {words}.")
    return 0


def _shown(points: float | None) -> str:
    return "" if points is None else f"{points:g}"


def _texts(folders: Sequence[Path], name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each student who handed in a notebook wrote for a person."""
    from .bounded import called_for_each

    there = [folder for folder in folders if (folder / f"{name}.ipynb").is_file()]
    calls = ((str(folder), name) for folder in there)
    for folder, found in zip(there, called_for_each(READ, calls, *SECONDS), strict=True):
        if isinstance(found, Exception):
            print(f"{folder.name}: {name} cannot be shown ({found}).")
            found = {}
        yield folder.name, found
