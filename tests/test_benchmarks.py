"""The benchmarks run: a small size of each part, with the machine, the table and the pictures."""

import importlib.util
import os
import subprocess
import sys

import pytest
from browser import ROOT

from limetutor.classroom.sandbox import why_unavailable


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("part", "rows"),
    [("pace", 10), ("calls", 19), ("many_rows", 4), ("grading", 2), ("dragging", 2)],
)
def test_a_small_size_runs(part, rows, tmp_path):
    done = subprocess.run(
        [sys.executable, "benchmarks/run.py", "--small", "--only", part, "--out", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    machine, _, *table = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
    assert "cores" in machine and "numpy" in machine and machine in done.stdout
    if part == "grading" and why_unavailable():
        rows = 0
    if part == "dragging" and not (ROOT / "_build" / "html" / "book").exists():
        rows = 0
    shap = 4 * (part == "many_rows" and importlib.util.find_spec("shap") is not None)
    assert len(table) == 2 + rows + shap and all(line.count("|") == 5 for line in table)
    pictures = {"calls": ["error.svg"], "pace": ["time.svg"], "many_rows": []}.get(part, [])
    assert [path.name for path in tmp_path.glob("*.svg")] == pictures
    for name in pictures:
        assert (tmp_path / name).read_text(encoding="utf-8").rstrip().endswith("</svg>")
