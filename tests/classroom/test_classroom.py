"""Notebooks that were handed in, and the table of grades."""

from __future__ import annotations

import copy
import csv
import io
import os

import nbformat
import pytest
from submissions import NAME, cell, progress_code, solution

from limetutor.classroom.assignments import assignments
from limetutor.classroom.grade import COLUMNS, table
from limetutor.classroom.marking import STATUSES, Mark, Result, graded, self_reported
from limetutor.classroom.notebooks import UnreadableError, opened, source, submission
from limetutor.classroom.release import released
from limetutor.classroom.sandbox import Limits
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


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.mkdir(), "not a file of its own"),
        (os.mkfifo, "not a file of its own"),
        (lambda path: path.symlink_to("/dev/zero"), "not a file of its own"),
        (lambda path: path.touch() or os.truncate(path, 10**12), "larger than 20 MB"),
        (lambda path: path.write_text('{"cells": [' + "{}," * 300_000 + "{}]}"), "parts"),
    ],
    ids=["folder", "pipe", "device", "a terabyte", "many parts"],
)
def test_a_file_that_is_none_costs_the_grader_nothing(tmp_path, make, why):
    make(tmp_path / f"{NAME}.ipynb")
    found = graded(tmp_path, assignments()[NAME], Limits())
    assert (found.status, found.points) == ("unreadable", 0) and why in found.notes[0]


def test_a_folder_that_is_a_link_is_nobody_s_own(tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{NAME}.ipynb").write_bytes(source(NAME).read_bytes())
    (tmp_path / "ada" / "progress.txt").write_text(progress_code())
    (tmp_path / "eve").symlink_to("ada")
    found = graded(tmp_path / "eve", assignments()[NAME], Limits())
    assert (found.status, found.points) == ("unreadable", 0)
    assert self_reported(tmp_path / "eve").status == "unreadable"
    assert self_reported(tmp_path / "ada").points == 2


@pytest.mark.parametrize("mark", ["\ufeff", ""], ids=["with a mark", "without"])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_ends_of_lines_and_marks_alter_nothing(tmp_path, mark, end):
    text = nbformat.writes(solution())
    (tmp_path / "a.ipynb").write_bytes((mark + text.replace("\n", end)).encode())
    found = handed(opened(tmp_path / "a.ipynb"))
    assert found.altered == () and found.code == handed(solution()).code


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


@pytest.mark.parametrize("name", ["=1+1", "+49", "-x", "@a", "\n=1"])
def test_no_name_is_a_formula(name):
    line = list(csv.reader(io.StringIO(table([Result(name, NAME, "graded", 16)]))))[1]
    assert line[0] == f"'{name}"


@pytest.mark.parametrize("name", ["a, b", 'say "x"', "two\nlines", "Zoë 😀", "x\r"])
def test_any_other_name_comes_back_as_it_is(name):
    file = io.StringIO(table([Result(name, NAME, "graded", 16)]), newline="")
    assert list(csv.reader(file))[1][0] == name


@pytest.mark.parametrize("text", ["", "LT1~x", "hello", "LT1~switch-off.3.~00000000"])
def test_a_code_that_cannot_be_read_is_unreadable(tmp_path, text):
    (tmp_path / "progress.txt").write_text(text)
    found = self_reported(tmp_path)
    assert (found.status, found.points, found.most) == ("unreadable", 0, len(exercises()))


def test_there_are_seven_statuses():
    assert len(set(STATUSES)) == 7
