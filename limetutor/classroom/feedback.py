"""`limetutor class feedback`: a page for each graded notebook, by nbgrader's feedback template.

The page shows the notebook as it was handed in, the points of each question and one sentence about it.
The sentence names no hidden input, and what the notebook did while it was graded is not shown at all.
An open page runs nothing and requests nothing: scripts are removed, texts of students are text, and a
policy on the page forbids the rest.
"""

import argparse
import contextlib
import io
import json
import math
import os
import re
import warnings
import zipfile
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from .command import action
from .notebooks import UnreadableNotebookError, cells, opened
from .texts import cleaned, in_html, shown_cell

#: What a browser may load for the page: its own styles, and pictures that are in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SCRIPT = re.compile(r"(?is)<script\b.*?</script\s*>")
NO_MARK = {"points": 0, "words": ""}
WRITE_PAGE = f"{__name__}:write_page"
PAGE_SECONDS, PAGE_PROCESSOR_SECONDS = 60, 20  # one needs less than a second


@cache
def _exporter() -> Any:
    """nbgrader's exporter, with :mod:`.texts` for Markdown and HTML."""
    try:
        from jinja2 import pass_context
        from nbconvert.exporters import HTMLExporter
        from nbgrader.server_extensions import formgrader
        from traitlets.config import Config
    except ImportError:
        raise ImportError(
            "feedback pages need nbgrader; install it with pip install 'limetutor[class]'."
        ) from None
    folder = Path(formgrader.__file__).parent
    settings = {
        "template_name": "feedback",
        "extra_template_basedirs": [str(folder / "templates")],
        "extra_template_paths": [str(folder / "static/node_modules/bootstrap/dist/css")],
        "sanitize_html": True,
        "preprocessors": ["nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"],
    }
    exporter = HTMLExporter(config=Config(HTMLExporter=settings))

    @pass_context
    def markdown(context: Any, text: str) -> str:
        return SafeHtml(in_html(text, context.get("cell", {}).get("attachments")))

    def clean(html: str) -> str:  # cleaning would remove our formulas
        return html if isinstance(html, SafeHtml) else cleaned(html)

    exporter.register_filter("markdown2html", markdown)
    exporter.register_filter("clean_html", clean)
    return exporter


class SafeHtml(str):
    """HTML in which no tag is a student's."""


def page(notebook: dict[str, Any], marks: dict[str, Any], exporter: Any) -> str:
    """What was handed in, with points and words, as HTML; ``marks`` is an entry of marks.json."""
    import nbformat

    from .assignments import assignments

    assignment = assignments()[marks["assignment"]]
    shown = _shown(assignment, marks)
    page_cells = []
    for cell, graded_cell in zip(notebook["cells"], cells(notebook), strict=True):
        metadata = {}
        if graded_cell.name in shown:  # the first cell of that name
            metadata["nbgrader"] = shown.pop(graded_cell.name)
        page_cells.append(shown_cell(cell, graded_cell.text, metadata))
    opening = nbformat.v4.new_markdown_cell(_opening(marks, assignment, shown))
    shown_notebook = nbformat.v4.new_notebook(cells=[opening, *page_cells])
    for number, cell in enumerate(shown_notebook.cells):
        cell["id"] = f"cell-{number}"  # none drawn at random: the same page each time
    facts = {"score": marks["points"], "max_score": marks["max_points"], "late_penalty": 0}
    facts["notebook"] = escape(f"{assignment.title}: {marks['student']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # outputs that cannot be shown
        text = exporter.from_notebook_node(shown_notebook, resources={"nbgrader": facts})[0]
    policy = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    return SCRIPT.sub("", text).replace("<head>", policy, 1)


def _shown(assignment: Any, marks: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the template shows, by cell: words under an answer, points with its question."""
    shown: dict[str, dict[str, Any]] = {}
    for question in assignment.questions:
        name, mark = question.answer, _mark(marks, question.name)
        words = {"solution": True, "grade": False, "comment": _escaped(mark["words"])}
        if question.machine:
            points = {"points": question.points, "score": mark["points"], "grade": True}
            shown[f"{name}-answer"] = words | {"grade_id": f"{name}-answer"}
            shown[name] = points | {"solution": False, "grade_id": name}
        else:
            still = f"{question.points} points, still to be given."
            told = still if mark.get("open") else _points(mark, question)
            shown[name] = words | {"grade_id": name, "comment": f"{told} {words['comment']}"}
    return shown


def _mark(marks: dict[str, Any], name: str) -> dict[str, Any]:
    """The mark of a question: a person's, if there is one."""
    return marks.get("by_person", {}).get(name) or marks["questions"].get(name, NO_MARK)  # type: ignore[no-any-return]


def _points(mark: dict[str, Any], question: Any) -> str:
    return f"{mark['points']:g} of {question.points} points."


def _opening(marks: dict[str, Any], assignment: Any, absent: dict[str, Any]) -> str:
    """Status, notes, and the points of questions whose cells are not in the notebook any more."""
    left = f", {marks['open']} still to be given by a person" if marks.get("open") else ""
    points = f"{marks['points']:g} of {marks['max_points']} points"
    head = f"**{points}**{left}, status: {marks['status']}."
    notes = list(marks["notes"])
    for question in assignment.questions:
        if question.answer in absent:
            mark = _mark(marks, question.name)
            notes.append(f"{question.answer}: {_points(mark, question)} {mark['words']}")
    return "\n".join([head, "", *(f"- {_escaped(note)}" for note in notes)])


def _escaped(text: str) -> str:
    """A text in which Markdown and HTML find no markup."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-!|<>&$~" else c for c in text)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("submissions", help="the folder that was graded")
    parser.add_argument(
        "--out", required=True, metavar="FOLDER",
        help="the folder with marks.json of `limetutor class grade`; pages go to FOLDER/feedback",
    )  # fmt: skip


def write_page(submissions: str, out: str, marks: dict[str, Any], whole: bool) -> None:
    """Write the page of a graded notebook, with what was handed in or, if not ``whole``, without."""
    name, student = marks["assignment"], marks["student"]
    folder = Path(submissions) / student
    notebook: dict[str, Any] = {"cells": []}
    if not whole:
        marks = marks | {"notes": [*marks["notes"], "What was handed in cannot be shown."]}
    with contextlib.suppress(UnreadableNotebookError, OSError):
        if whole and not folder.is_symlink():
            notebook = opened(folder / f"{name}.ipynb")
    text = page(notebook, marks, _exporter())
    os.makedirs(Path(out, "feedback", student), exist_ok=True)
    Path(out, "feedback", student, f"{name}.html").write_bytes(text.encode(errors="replace"))


def graded(path: Path) -> list[dict[str, Any]]:
    """What `limetutor class grade` wrote; a student is the name of a folder, so pages stay where they belong."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        for marks in found:
            every = [*marks["questions"].values(), *marks.get("by_person", {}).values()]
            questions = [(mark["points"], mark["words"]) for mark in every]
            numbers = [marks["points"], marks["max_points"], *(points for points, _ in questions)]
            texts = [marks["assignment"], marks["status"], *marks["notes"]]
            texts += [words for _, words in questions]
            student = marks["student"]
            right = all(isinstance(t, str) for t in texts) and all(map(math.isfinite, numbers))
            if not right or Path(student).name != student or student == ".." or "\0" in student:
                raise ValueError
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(
            "--out must be a folder that `limetutor class grade` has filled, but its marks.json is not as that "
            "wrote it."
        ) from None
    return found  # type: ignore[no-any-return]


def moodle_archive(pages: Mapping[str, Path], name: str) -> bytes:
    """Pages of an assignment by Moodle's numbers of students, for *Upload multiple feedback files in a zip*.

    It finds students by the second part of a name, whatever the first is (mod/assign/feedback/file/importziplib.php).
    """
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, page in sorted(pages.items()):
            inside = f"Participant_{number}_assignsubmission_file_{name}.html"
            entry = zipfile.ZipInfo(inside)  # of no date: the same pages give the same archive
            archive.writestr(entry, page.read_bytes(), zipfile.ZIP_DEFLATED)
    return held.getvalue()


@action("feedback", "Write a page for each graded notebook.", _options)
def feedback(options: argparse.Namespace) -> int:
    """`limetutor class feedback`."""
    from ..plotting.files import write_atomically
    from . import collect
    from .assignments import assignments
    from .bounded import BoundedProcess, CallError, ExceededError
    from .grade import students

    out = Path(options.out)
    path = out / "marks.json"
    if not path.is_file():
        words = "a folder that `limetutor class grade` has filled"
        raise ValueError(f"--out must be {words}, but {str(path)!r} is not there.")
    students(options.submissions, options.out)
    entries = graded(path)
    process, count = BoundedProcess(PAGE_PROCESSOR_SECONDS), 0
    numbers = collect.numbers(Path(options.submissions), "moodle")
    archives: dict[str, dict[str, Path]] = defaultdict(dict)
    try:
        for marks in entries:
            if marks["assignment"] not in assignments():
                continue
            how = WRITE_PAGE, options.submissions, options.out, marks
            try:
                process.call(*how, True, seconds=PAGE_SECONDS)
            except (CallError, ExceededError):  # whatever was handed in, the points are shown
                process.call(*how, False, seconds=PAGE_SECONDS)
            count += 1
            student, name = marks["student"], marks["assignment"]
            if number := numbers.get((student, name)):
                archives[name][number] = out / "feedback" / student / f"{name}.html"
    finally:
        process.stop()
    print(f"{count} pages in {out / 'feedback'}")
    for name, pages in archives.items():
        place = out / f"moodle-feedback-{name}.zip"
        write_atomically(place, moodle_archive(pages, name))
        print(f"{place}: {len(pages)} of them, for Moodle.")
    return 0
