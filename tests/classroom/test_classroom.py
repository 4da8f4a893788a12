"""Notebooks that were handed in, pages of feedback, and the table of grades."""

from __future__ import annotations

import copy
import json

import nbformat
import pytest
from submissions import NAME, cell, solution

from limetutor.classroom.assignments import assignments
from limetutor.classroom.feedback import _exporter, page
from limetutor.classroom.grade import COLUMNS, table
from limetutor.classroom.marking import STATUSES, Mark, Result, self_reported
from limetutor.classroom.notebooks import UnreadableError, opened, source, submission
from limetutor.classroom.release import released
from limetutor.cli import main
from limetutor.course.exercises import exercises

# --- notebooks -------------------------------------------------------------------------------


def handed(notebook):
    return submission(notebook, opened(source(NAME)))


def test_neither_version_counts_as_altered():
    for notebook in (solution(), released(opened(source(NAME)))):
        assert handed(notebook).altered == ()


def test_what_was_altered_is_named_and_mended():
    notebook = solution()
    cell(notebook, "setup").source = "import os"
    notebook.cells.remove(cell(notebook, "fit"))
    notebook.cells.append(copy.deepcopy(cell(notebook, "edges-answer")))
    found = handed(notebook)
    assert sorted(found.altered) == [
        "cell edges-answer is there 2 times",
        "cell fit is missing",
        "cell setup was changed",
    ]
    assert "import numpy as np" in found.code[0], "a locked cell runs as it was"
    assert not any("hint(" in code for code in found.code[1:])


def test_spaces_at_the_ends_of_lines_alter_nothing():
    notebook = solution()
    cell(notebook, "setup").source = cell(notebook, "setup").source.replace("\n", "  \n") + "\n"
    assert handed(notebook).altered == ()


def test_texts_for_a_person_are_kept():
    assert "comparison of two averages" in handed(solution()).texts["in_words"]


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"null", b"[1]", b'{"cells": 5}', b'{"cells": []}', b"\xff", b"[" * 10**5],
    ids=["empty", "object", "null", "list", "number", "none", "bytes", "deep"],
)
def test_what_is_no_notebook_is_unreadable(tmp_path, data):
    (tmp_path / "a.ipynb").write_bytes(data)
    with pytest.raises(UnreadableError):
        opened(tmp_path / "a.ipynb")


def test_a_folder_and_a_link_are_unreadable(tmp_path):
    (tmp_path / "a.ipynb").mkdir()
    (tmp_path / "b.ipynb").symlink_to(source(NAME))
    for name in ("a.ipynb", "b.ipynb"):
        with pytest.raises(UnreadableError):
            opened(tmp_path / name)


def test_cells_of_any_kind_do_no_harm():
    strange = [
        {"cell_type": "code", "metadata": {"nbgrader": 5}, "source": ["a = 1\n", "b = 2"]},
        {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": ["x"]}}, "source": 7},
        {"cell_type": "widget"},
        {},
        3,
    ]
    assert handed({"cells": strange}).code[-2:] == ("a = 1\nb = 2", "7")


# --- the table -------------------------------------------------------------------------------


def test_the_table_has_the_columns_that_it_promises():
    result = Result("ada, the first", NAME, "graded", 16, {f"{NAME}/edges": Mark(1, "")})
    head, line = table([result]).splitlines()
    names = [q.name for a in assignments().values() for q in a.judged]
    assert head == ",".join([*COLUMNS, *names])
    assert line == f'"ada, the first",{NAME},1,16,graded,1' + "," * (len(names) - 1)


@pytest.mark.parametrize("text", ["", "LT1~x", "hello", "LT1~switch-off.3.~00000000"])
def test_a_code_that_cannot_be_read_is_unreadable(tmp_path, text):
    (tmp_path / "progress.txt").write_text(text)
    found = self_reported(tmp_path)
    assert (found.status, found.points, found.most) == ("unreadable", 0, len(exercises()))


def test_there_are_seven_statuses():
    assert len(set(STATUSES)) == 7


# --- feedback --------------------------------------------------------------------------------


def told(**marks) -> dict:
    """Marks of one student, as grade writes them."""
    questions = {
        q.name: {"points": 0, "words": marks.get(q.answer, "")} for q in assignments()[NAME].judged
    }
    return {
        "student": "<b>Ada</b>", "assignment": NAME, "status": "altered", "points": 0,
        "max_points": 16, "notes": ["cell fit is missing"], "questions": questions,
    }  # fmt: skip


def test_a_page_shows_points_words_and_no_script():
    notebook = solution()
    notebook.cells.insert(0, nbformat.v4.new_markdown_cell("<script>alert(1)</script>"))
    shown = ({"text/html": "<script>alert(2)</script><b>mine</b>"}, {"text/javascript": "alert(3)"})
    outputs = [nbformat.v4.new_output("display_data", data=data) for data in shown]
    notebook.cells.insert(0, nbformat.v4.new_code_cell("1", outputs=outputs))
    notebook.cells.remove(cell(notebook, "fit"))
    text = page(notebook, told(edges="Count *again* <i>now</i>."), _exporter())
    assert "<script>alert" not in text and "alert(3)" not in text
    assert "<b>mine</b>" in text
    assert "<b>Ada</b>" not in text and "&lt;b&gt;Ada" in text
    assert "Count *again* &lt;i&gt;now" in text
    assert "0 of 16 points" in text and "cell fit is missing" in text and "fit: 0 of 3" in text


def test_feedback_needs_a_graded_folder(tmp_path, capsys):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    asked = ["class", "feedback", str(tmp_path / "in"), "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    assert "limetutor class grade" in capsys.readouterr().err


def test_there_is_a_page_for_whatever_was_handed_in(tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    marks = [told() | {"student": "ada", "status": "missing"}]
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    assert main(["class", "feedback", str(tmp_path / "in"), "--out", str(tmp_path)]) == 0
    text = (tmp_path / "feedback" / "ada" / f"{NAME}.html").read_text()
    assert "status: missing" in text
