"""`limetutor class feedback`: a page for each graded notebook, by nbgrader's feedback template.

The page shows the notebook as it was handed in, the points of each question and one sentence about it.
The sentence names no hidden input, and what the notebook did while it was graded is not shown at all.
Whoever opens it runs nothing and asks nobody for anything: scripts are taken out, texts of students are
text, and a policy on the page forbids the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import warnings
from html import escape
from pathlib import Path
from typing import Any

from .command import action
from .texts import cleaned, in_html

#: What a browser may load for the page: its own styles, and pictures that are in it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
SCRIPT = re.compile(r"(?is)<script\b.*?</script\s*>")
NOTHING = {"points": 0, "words": ""}


def _exporter() -> Any:
    """nbgrader's, with our own way from Markdown to HTML."""
    try:
        from jinja2 import pass_context
        from nbconvert.exporters import HTMLExporter
        from nbgrader.server_extensions import formgrader
        from traitlets.config import Config
    except ImportError:
        raise ImportError(
            "feedback pages need nbgrader; install it with pip install 'limetutor[class]'."
        ) from None
    place = Path(formgrader.__file__).parent
    config = Config()
    config.HTMLExporter.template_name = "feedback"
    config.HTMLExporter.extra_template_basedirs = [str(place / "templates")]
    config.HTMLExporter.extra_template_paths = [
        str(place / "static" / "node_modules" / "bootstrap" / "dist" / "css")
    ]
    config.HTMLExporter.sanitize_html = True
    config.HTMLExporter.preprocessors = ["nbconvert.preprocessors.CSSHTMLHeaderPreprocessor"]
    exporter = HTMLExporter(config=config)

    @pass_context
    def markdown(context: Any, text: str) -> str:
        return Ours(in_html(text, context.get("cell", {}).get("attachments")))

    def clean(html: str) -> str:  # of what we have made ourselves, formulas too are to stay
        return html if isinstance(html, Ours) else cleaned(html)

    exporter.register_filter("markdown2html", markdown)
    exporter.register_filter("clean_html", clean)
    return exporter


class Ours(str):
    """HTML in which no tag is a student's."""


def page(notebook: Any, told: dict[str, Any], exporter: Any) -> str:
    """A notebook with its points and words, as HTML."""
    import nbformat

    from .assignments import assignments

    assignment = assignments()[told["assignment"]]
    shown = _shown(assignment, told)
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            output.get("metadata", {}).pop("filenames", None)  # pictures that are elsewhere
        grader = cell.metadata.pop("nbgrader", None)
        name = grader.get("grade_id") if isinstance(grader, dict) else None
        if isinstance(name, str) and name in shown:  # the first cell of that name
            cell.metadata["nbgrader"] = nbformat.from_dict(shown.pop(name))
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell(_opening(told, assignment, shown)))
    facts = {"score": told["points"], "max_score": told["max_points"], "late_penalty": 0}
    facts["notebook"] = escape(f"{assignment.title}: {told['student']}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # outputs that cannot be shown
        text = exporter.from_notebook_node(notebook, resources={"nbgrader": facts})[0]
    policy = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{POLICY}" />'
    return SCRIPT.sub("", text).replace("<head>", policy, 1)


def _shown(assignment: Any, told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the template shows, by cell: words under an answer, points with its question."""
    shown: dict[str, dict[str, Any]] = {}
    for question in assignment.questions:
        name = question.name.partition("/")[2]
        if question.machine:
            found = told["questions"].get(question.name, NOTHING)
            words = {"solution": True, "grade": False, "comment": _plain(found["words"])}
            points = {"points": question.points, "score": found["points"], "grade": True}
            shown[f"{name}-answer"] = words | {"grade_id": f"{name}-answer"}
            shown[name] = points | {"solution": False, "grade_id": name}
        else:
            words = {"solution": True, "grade": False, "grade_id": name}
            shown[name] = words | {"comment": f"{question.points} points, given by a person."}
    return shown


def _opening(told: dict[str, Any], assignment: Any, absent: dict[str, Any]) -> str:
    """Status, notes, and the points of questions whose cells are not in the notebook any more."""
    lines = [f"**{told['points']} of {told['max_points']} points**, status: {told['status']}."]
    lines += [f"- {_plain(note)}" for note in told["notes"]]
    for question in assignment.judged:
        if question.name.partition("/")[2] in absent:
            found = told["questions"].get(question.name, NOTHING)
            words = f"{question.answer}: {found['points']} of {question.points}. {found['words']}"
            lines.append(f"- {_plain(words)}")
    return "\n".join([lines[0], "", *lines[1:]])


def _plain(text: str) -> str:
    """A text without what Markdown or HTML would make something of."""
    return "".join(f"\\{c}" if c in "\\`*_{}[]()#+-!|<>&$~" else c for c in text)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("submissions", help="the folder that was graded")
    parser.add_argument(
        "--out", required=True, metavar="FOLDER",
        help="the folder with marks.json of `limetutor class grade`; pages go to FOLDER/feedback",
    )  # fmt: skip


@action("feedback", "Write a page for each graded notebook.", _options)
def feedback(asked: argparse.Namespace) -> int:
    """`limetutor class feedback`."""
    import nbformat

    from .assignments import assignments
    from .grade import students
    from .notebooks import UnreadableError, opened

    marks = Path(asked.out) / "marks.json"
    if not marks.is_file():
        raise ValueError(
            f"--out must be a folder that `limetutor class grade` has filled, but {str(marks)!r} is not there."
        )
    students(asked.submissions, asked.out)
    exporter, count = _exporter(), 0
    for told in json.loads(marks.read_text(encoding="utf-8")):
        if told["assignment"] not in assignments():
            continue
        name = f"{told['assignment']}.ipynb"
        home = Path(asked.submissions) / told["student"]
        try:
            if home.is_symlink():
                raise UnreadableError
            notebook = opened(home / name)
        except (UnreadableError, OSError):
            notebook = nbformat.v4.new_notebook()
        folder = Path(asked.out) / "feedback" / told["student"]
        os.makedirs(folder, exist_ok=True)
        try:
            text = page(notebook, told, exporter)
        except (
            Exception
        ):  # outputs and metadata may hold anything; the points are shown all the same
            text = page(nbformat.v4.new_notebook(), told, exporter)
        (folder / f"{told['assignment']}.html").write_text(text, encoding="utf-8", errors="replace")
        count += 1
    print(f"{count} pages in {Path(asked.out) / 'feedback'}")
    return 0
