"""The class of slips in `slips.txt`, as notebooks that students hand in."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from submissions import cell

from limetutor.classroom.assignments import assignments
from limetutor.classroom.marking import GradedSubmission, graded
from limetutor.classroom.notebooks import original
from limetutor.classroom.release import solved
from limetutor.classroom.sandbox import SandboxLimits

TEXT = Path(__file__).with_name("slips.txt").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Slip:
    name: str
    assignment: str
    lost: tuple[str, ...]
    status: str
    cells: dict[str, str]


def slips() -> list[Slip]:
    found = []
    for block in re.split(r"(?m)^(?:#.*\n)*== ", re.sub(r"(?m)^#[^\n]*\n", "", TEXT))[1:]:
        head, *cells = re.split(r"(?m)^-- ", block)
        name, assignment, lost, status = (part.strip() for part in head.split("|"))
        pairs = (c.partition("\n")[::2] for c in cells)
        found.append(Slip(name, assignment, tuple(lost.split()), status, dict(pairs)))
    return found


RIGHT = slips()[0]


def notebook_of(
    slip: Slip, student: str, text: str | None = None, cells: dict[str, str] | None = None
) -> str:
    """The solution with the slip's cells, as a student hands it in; with another text for a person, and more cells."""
    notebook = solved(original(slip.assignment), slip.assignment)
    changed = slip.cells | (cells or {})
    typed = changed.pop("student", student).strip()
    for name, code in changed.items():
        if name == "+":
            notebook.cells.insert(1, nbformat.v4.new_code_cell(code))
        else:
            cell(notebook, name).source = code
    for one in notebook.cells:
        one.source = one.source.replace('student = "solution"', f"student = {typed!r}")
        if slip.assignment == "lime_from_scratch":  # which takes less time to import
            one.source = one.source.replace("scipy.stats.norm.ppf(", "scipy.special.ndtri(")
        role = one.metadata.get("nbgrader", {})
        if text is not None and role.get("solution") and one.cell_type == "markdown":
            one.source = text
    return json.dumps(notebook)


def judged(slip: Slip, folder: Path, *how: Any, **limits: float) -> GradedSubmission:
    """It, handed in by who the folder is named after, and graded."""
    folder.mkdir()
    (folder / f"{slip.assignment}.ipynb").write_text(notebook_of(slip, folder.name, *how))
    return graded(folder, assignments()[slip.assignment], SandboxLimits(**limits))
