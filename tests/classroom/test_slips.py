"""A class of typical slips: each costs its own points and nothing else, as `slips.txt` has it beforehand."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest
from submissions import cell

from limetutor.classroom.assignments import assignments
from limetutor.classroom.marking import GradedSubmission, graded
from limetutor.classroom.notebooks import original
from limetutor.classroom.release import solved
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable

pytestmark = pytest.mark.skipif(bool(why_unavailable()), reason="there is no sandbox")
TEXT = Path(__file__).with_name("support").joinpath("slips.txt").read_text(encoding="utf-8")


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


def write(slip: Slip, folder: Path) -> None:
    """The solution with the slip's cells, as a student hands it in."""
    notebook = solved(original(slip.assignment), slip.assignment)
    typed = slip.cells.get("student", folder.name).strip()
    for name, code in slip.cells.items():
        if name == "+":
            notebook.cells.insert(1, nbformat.v4.new_code_cell(code))
        elif name != "student":
            cell(notebook, name).source = code
    for one in notebook.cells:
        one.source = one.source.replace('student = "solution"', f"student = {typed!r}")
        if slip.assignment == "lime_from_scratch":  # which takes less time to import
            one.source = one.source.replace("scipy.stats.norm.ppf(", "scipy.special.ndtri(")
    folder.mkdir(parents=True)
    (folder / f"{slip.assignment}.ipynb").write_text(json.dumps(notebook))


def judged(slip: Slip, folder: Path) -> GradedSubmission:
    write(slip, folder)
    return graded(folder, assignments()[slip.assignment], SandboxLimits(seconds=10))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("slip", slips(), ids=lambda slip: f"{slip.assignment}-{slip.name}")
def test_each_slip_costs_its_own_points(slip, tmp_path):
    found = judged(slip, tmp_path / "ada")
    right = {q.name: q.points for q in assignments()[slip.assignment].judged}
    lost = {name: 0 for name in right if name.partition("/")[2] in slip.lost}
    assert {name: mark.points for name, mark in found.marks.items()} == right | lost
    assert len(lost) == len(slip.lost) and found.status == slip.status
