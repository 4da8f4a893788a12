"""Every notebook of the book: controls run, numbers and solutions hold, cells stay short."""

from __future__ import annotations

import os
import re
import statistics
from pathlib import Path

import nbformat
import pytest
from browser import ROOT
from chapter_checks import (
    NUMBER,
    exercises_of,
    label_of,
    misplaced_numbers,
    solutions_of,
    unaccounted_numbers,
    with_promises,
)
from nbclient import NotebookClient

NOTEBOOKS = sorted((ROOT / "book").glob("*.ipynb"))
LONGEST_MEDIAN = 6
PLOTTING = re.compile(
    r"\bplt\b|matplotlib|pyplot|plotly|seaborn"
    r"|\b(?:ax|axes|fig)\w*\.(?:plot|scatter|bar|hist|imshow|set\w*|subplots|add_\w+)\("
)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def notebook(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def texts(cell: nbformat.NotebookNode) -> list[str]:
    """The outputs of a cell that nbval compares."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        found += [
            output.data[m] for m in ("text/plain", "text/html") if m in output.get("data", {})
        ]
    return found


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.slow
def test_controls_run_at_their_ends_and_the_prose_keeps_its_promises(path, notebook):
    """In check mode explore draws at both ends and the middle, and raises for a dead control.

    Numbers quoted in the prose and solutions of exercises run along (see chapter_checks).
    """
    notebook = with_promises(notebook)
    environment = os.environ | {"LIMETUTOR_MODE": "check", "PYTHONPATH": str(ROOT)}
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(env=environment)
    for cell in code_cells(notebook):
        wanted = len(re.findall(r"^(?:lt\.)?explore\(", cell.source, flags=re.M))
        drawn = re.findall(r"^explore: (\d+) frames drawn$", "".join(texts(cell)), flags=re.M)
        assert len(drawn) >= wanted, f"not every control of this cell was run:\n{cell.source}"
        assert all(int(count) >= 3 for count in drawn)


def test_stored_outputs_can_be_compared(notebook):
    """nbval skips a cell that was never executed: a stripped notebook would pass."""
    cells = code_cells(notebook)
    assert all(cell.execution_count for cell in cells), "execute it: python book/execute.py"
    assert [cell.execution_count for cell in cells] == sorted(c.execution_count for c in cells)
    ignored = {"nbval-skip", "nbval-ignore-output"}
    compared = [
        text
        for cell in cells
        if not ignored & set(cell.metadata.get("tags", []))
        for text in texts(cell)
        if re.search(r"\d", text)
    ]
    assert compared or not cells, "no number of this notebook is compared"


def test_stored_outputs_are_small_and_stable(path, notebook):
    assert "widgets" not in notebook.metadata
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
        assert "execution" not in cell.metadata
        assert not any(re.search(r" at 0x[0-9a-f]+", text) for text in texts(cell))
        assert not any(str(ROOT) in text for text in texts(cell))
    assert path.stat().st_size < 300_000


def test_cells_are_short_and_plot_by_a_call(notebook):
    cells = code_cells(notebook)
    if cells:
        lengths = [len(cell.source.strip().splitlines()) for cell in cells]
        assert statistics.median(lengths) <= LONGEST_MEDIAN
    for cell in cells:
        found = PLOTTING.search(cell.source)
        assert not found, f"plotting code belongs in limetutor/figures: {found.group()}"


def test_numbers_in_the_prose_have_a_source(notebook):
    """A decimal stands in a code cell, or a comment behind it says how to compute it."""
    assert not unaccounted_numbers(notebook)
    assert not misplaced_numbers(notebook)


def test_every_exercise_has_a_check_and_a_solution(path, notebook):
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    posed = re.findall(r"\{exercise\}.*\n:label: (\S+)", text)
    assert posed == [label_of(name) for name in exercises_of(notebook)]
    assert set(posed) == set(solutions_of(notebook))
    if "(ch-" in text:
        assert len(posed) >= 2
        assert 'class="quiz"' in text
        assert "## What to take away" in text
        assert "**You will be able to**" in text and "**You need**" in text and "**Time**" in text


def test_a_wrong_number_would_be_noticed():
    """The comments are read: a number that the code does not give fails the notebook."""
    cell = nbformat.v4.new_markdown_cell("It is 0.51.\n\n<!-- number: 0.51 = 0.5 -->")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert NUMBER.search(cell.source)
    with pytest.raises(AssertionError, match=r"the prose says 0\.51, the code gives 0\.50"):
        exec("\n".join(c.source for c in with_promises(notebook).cells if c.cell_type == "code"))
