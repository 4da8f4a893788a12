"""Notebooks that were handed in: read, compared with their sources, or refused."""

import copy
import json
import os

import nbformat
import pytest
from submissions import NAME, cell, solution

from limetutor.classroom import notebooks
from limetutor.classroom.notebooks import UnreadableNotebookError, opened, original, source
from limetutor.classroom.release import released


def handed(notebook):
    return notebooks.compared(notebook, original(NAME))


def test_neither_version_counts_as_altered():
    """Nor do spaces at the ends of lines."""
    spaced = solution()
    cell(spaced, "setup").source = cell(spaced, "setup").source.replace("\n", "  \n") + "\n"
    for notebook in (solution(), released(original(NAME), NAME), spaced):
        assert handed(notebook).altered == ()


def test_what_was_altered_is_named_and_mended():
    notebook = solution()
    cell(notebook, "setup").source = "import os"
    notebook.cells.remove(cell(notebook, "fit"))
    notebook.cells.append(copy.deepcopy(cell(notebook, "edges-answer")))
    found = handed(notebook)
    assert sorted(found.altered) == [
        "cell edges-answer is there 2 times", "cell fit is missing", "cell setup was changed",
    ]  # fmt: skip
    assert "import numpy as np" in found.code[0], "a locked cell runs as it was"
    assert not any("hint(" in code for code in found.code[1:])
    assert "comparison of two averages" in found.texts["in_words"], "for a person"


FILES = {
    "empty": b"", "object": b"{}", "null": b"null", "list": b"[1]", "number": b'{"cells": 5}',
    "no cells": b'{"cells": []}', "bytes": b"\xff", "deep": b"[" * 10**5,
    "many brackets": b'{"cells": [' + b"{}," * 300_000 + b"{}]}", "format 5": b'{"nbformat": 5, "cells": [{}]}',
    "format of text": b'{"nbformat": "4", "cells": [{}]}', "no format": b'{"cells": [{}]}',
    "sheets of text": b'{"nbformat": 3, "worksheets": ["x"]}', "huge number": b"1" * 5000,
    "cells by name": b'{"nbformat": 4, "cells": {"a": 1}}',
}  # fmt: skip
SPECIAL = {
    "folder": (lambda path: path.mkdir(), "not a file of its own"),
    "pipe": (os.mkfifo, "not a file of its own"),
    "link": (lambda path: path.symlink_to(source(NAME)), "not a file of its own"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "not a file of its own"),
    "a terabyte": (lambda path: path.touch() or os.truncate(path, 10**12), "larger than 20 MB"),
}


@pytest.mark.parametrize("kind", [*FILES, *SPECIAL])
def test_what_is_no_notebook_is_unreadable(tmp_path, kind):
    path = tmp_path / "a.ipynb"
    make, why = SPECIAL.get(kind, (lambda path: path.write_bytes(FILES[kind]), "^it "))
    make(path)
    why = "more than 300000 brackets" if kind == "many brackets" else why
    with pytest.raises(UnreadableNotebookError, match=why):
        opened(path)


def with_cells(*cells, **more):
    return json.dumps({"nbformat": 4, "cells": [*cells], **more})


@pytest.mark.parametrize(
    ("most", "why", "make"),
    [
        (2000, "2000 cells", lambda n: with_cells(*[{}] * n)),
        (2000, "2000 outputs", lambda n: with_cells({"outputs": [{"output_type": "x", "data": 5}] * n})),
        (1000, "2000 outputs", lambda n: with_cells(*[{"outputs": [5] * 2}] * n)),
        (10**6, "1000000 parts", lambda n: with_cells({}, x=[0] * (n - 5))),
        (60, "60 deep", lambda n: with_cells({}, x="deep").replace('"deep"', "[" * n + "]" * n)),
        (300_000, "300000 brackets", lambda n: with_cells({}, x="[" * (n - 3))),
        (20_000_000, "20 MB", lambda n: with_cells({}).ljust(n)),
    ],
)  # fmt: skip
def test_a_notebook_that_is_too_large_is_refused_in_a_sentence(tmp_path, most, why, make):
    """nbformat took a minute and 2.7 GB for a hundred thousand odd outputs."""
    path = tmp_path / "a.ipynb"
    path.write_text(make(most))
    assert opened(path)["cells"]
    path.write_text(make(most + 1))
    with pytest.raises(UnreadableNotebookError, match=f"^it .*{why}"):
        opened(path)


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
        {"cell_type": "widget"}, {}, 3,
    ]  # fmt: skip
    assert handed({"cells": strange}).code[-2:] == ("a = 1\nb = 2", "7")
