"""The notebooks of a class: where their sources are, and what a student has handed in.

A cell that matters has nbgrader's metadata with a ``grade_id``: an answer (``solution``), a judged
question (``grade``, with points) or one that students leave as it is (``locked``).
"""

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 20_000_000  # of a notebook
MAX_BRACKETS = 300_000  # in it: each may cost the reader some hundred bytes
SOURCES = Path(__file__).resolve().parents[2] / "assignments"


class UnreadableNotebookError(Exception):
    """A file that is no notebook."""


@dataclass(frozen=True)
class GradedCell:
    """The parts of a cell that grading needs."""

    kind: str
    text: str
    name: str | None  # the grade_id
    role: str  # "answer", "question", "locked" or "" for a cell that is not graded


def source(name: str) -> Path:
    """The notebook from which the versions of an assignment are made."""
    path = SOURCES / f"{name}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(
            "the assignments are notebooks in the folder assignments of the repository, and "
            f"there is no {path}: run this command from a clone that is installed with pip install -e."
        )
    return path


def opened(path: Path) -> Any:
    """A notebook of any version, brought to the present one; UnreadableNotebookError for all other files."""
    import nbformat

    if path.is_symlink() or not path.is_file():
        raise UnreadableNotebookError("it is not a file of its own")
    if path.stat().st_size > MAX_BYTES:
        raise UnreadableNotebookError(f"it is larger than {MAX_BYTES // 10**6} MB")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableNotebookError("it is not a notebook") from None
    if text.count("{") + text.count("[") > MAX_BRACKETS:
        raise UnreadableNotebookError(f"it has more than {MAX_BRACKETS} parts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cells without an id, and the like
            notebook = nbformat.reads(text, as_version=4)
        json.dumps(notebook)
    except (Exception, RecursionError):  # whatever the reader may raise
        raise UnreadableNotebookError("it is not a notebook") from None
    if not isinstance(notebook.get("cells"), list) or not notebook["cells"]:
        raise UnreadableNotebookError("it has no cells")
    return notebook


def cells(notebook: Any) -> list[GradedCell]:
    """The cells of a notebook, of whatever form."""
    return [_cell(entry) for entry in notebook["cells"] if isinstance(entry, dict)]


def _cell(entry: Any) -> GradedCell:
    text = entry.get("source", "")
    text = "".join(map(str, text)) if isinstance(text, list) else str(text)
    metadata = entry.get("metadata")
    grader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if not isinstance(grader, dict) or not isinstance(grader.get("grade_id"), str):
        return GradedCell(str(entry.get("cell_type")), text, None, "")
    roles = {"answer": "solution", "question": "grade", "locked": "locked"}
    role = next((role for role, key in roles.items() if grader.get(key)), "")
    return GradedCell(str(entry.get("cell_type")), text, grader["grade_id"], role)


@dataclass(frozen=True)
class Submission:
    """The code of a notebook in its order, what was altered in it, and the texts for a person."""

    code: tuple[str, ...]
    altered: tuple[str, ...]
    texts: dict[str, str]


def submission(notebook: Any, original: Any) -> Submission:
    """What there is to run, with the locked cells as they were, and what differs from the original.

    Cells of questions only give hints and are left out.
    """
    originals: dict[str | None, GradedCell] = {c.name: c for c in cells(original) if c.name}
    handed_in = cells(notebook)
    count = {name: sum(cell.name == name for cell in handed_in) for name in originals}
    altered = [f"cell {name} is missing" for name in originals if not count[name]]
    altered += [f"cell {name} is there {n} times" for name, n in count.items() if n > 1]
    locked = [c for c in originals.values() if c.kind == "code" and c.role == "locked"]
    code = [cell.text for cell in locked if not count[cell.name]]
    texts: dict[str, str] = {}
    for cell in handed_in:
        ours = originals.get(cell.name)
        role = "" if ours is None else ours.role
        if ours is not None:
            if role in ("locked", "question") and not _alike(cell, ours):
                altered.append(f"cell {cell.name} was changed")
            if ours.kind == "markdown" and role == "answer":
                texts[str(cell.name)] = cell.text
            if role == "locked":
                cell = ours
        if cell.kind == "code" and role != "question":
            code.append(cell.text)
    return Submission(tuple(code), tuple(dict.fromkeys(altered)), texts)


def _alike(cell: GradedCell, other: GradedCell) -> bool:
    """Whether two cells are the same but for spaces at the ends of lines."""
    lines = [[line.rstrip() for line in c.text.strip().splitlines()] for c in (cell, other)]
    return cell.kind == other.kind and lines[0] == lines[1]
