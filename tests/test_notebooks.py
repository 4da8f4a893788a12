"""Every notebook of the book: all controls run, something is compared, cells stay short."""

from __future__ import annotations

import os
import re
import statistics
from pathlib import Path

import nbformat
import pytest
from browser import ROOT
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
def test_every_control_runs_at_its_ends_and_in_the_middle(path, notebook):
    """In check mode explore draws there, and raises for an exception or a control without effect."""
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
