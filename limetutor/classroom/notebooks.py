"""The notebooks of a class: where their sources are, and what a student has handed in.

A cell that matters has nbgrader's metadata with a ``grade_id``: an answer (``solution``), a judged
question (``grade``, with points) or one that students leave as it is (``locked``).
"""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LARGEST = 20_000_000  # bytes of a notebook
PARTS = 300_000  # brackets in it: each may cost some hundred bytes and a look of the reader
HERE = Path(__file__).resolve().parents[2] / "assignments"


class UnreadableError(Exception):
    """A file that is no notebook."""


@dataclass(frozen=True)
class Cell:
    """What matters of a cell."""

    kind: str
    text: str
    name: str | None  # the grade_id
    role: str  # "answer", "question", "locked" or "" for a cell without a part in grading


def source(name: str) -> Path:
    """The notebook from which the versions of an assignment are made."""
    path = HERE / f"{name}.ipynb"
    if not path.is_file():
        raise FileNotFoundError(
            "the assignments are notebooks in the folder assignments of the repository, and "
            f"there is no {path}: run this command from a clone that is installed with pip install -e."
        )
    return path


def opened(path: Path) -> Any:
    """A notebook of any version, brought to the present one; UnreadableError for all other files."""
    import nbformat

    if path.is_symlink() or not path.is_file():
        raise UnreadableError("it is not a file of its own")
    if path.stat().st_size > LARGEST:
        raise UnreadableError(f"it is larger than {LARGEST // 10**6} MB")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableError("it is not a notebook") from None
    if text.count("{") + text.count("[") > PARTS:
        raise UnreadableError(f"it has more than {PARTS} parts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cells without an id, and the like
            found = nbformat.reads(text, as_version=4)
        json.dumps(found)
    except (Exception, RecursionError):  # whatever a reader of notebooks may stumble over
        raise UnreadableError("it is not a notebook") from None
    if not isinstance(found.get("cells"), list) or not found["cells"]:
        raise UnreadableError("it has no cells")
    return found


def cells(notebook: Any) -> list[Cell]:
    """Its cells, whatever has become of them."""
    return [_cell(entry) for entry in notebook["cells"] if isinstance(entry, dict)]


def _cell(entry: Any) -> Cell:
    text = entry.get("source", "")
    text = "".join(map(str, text)) if isinstance(text, list) else str(text)
    metadata = entry.get("metadata")
    grader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if not isinstance(grader, dict) or not isinstance(grader.get("grade_id"), str):
        return Cell(str(entry.get("cell_type")), text, None, "")
    roles = {"answer": "solution", "question": "grade", "locked": "locked"}
    role = next((role for role, key in roles.items() if grader.get(key)), "")
    return Cell(str(entry.get("cell_type")), text, grader["grade_id"], role)


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
    known: dict[str | None, Cell] = {cell.name: cell for cell in cells(original) if cell.name}
    theirs = cells(notebook)
    count = {name: sum(cell.name == name for cell in theirs) for name in known}
    altered = [f"cell {name} is missing" for name in known if not count[name]]
    altered += [f"cell {name} is there {n} times" for name, n in count.items() if n > 1]
    code = [
        cell.text
        for cell in known.values()
        if cell.kind == "code" and cell.role == "locked" and not count[cell.name]
    ]
    texts: dict[str, str] = {}
    for cell in theirs:
        ours = known.get(cell.name)
        if ours is not None and ours.role in ("locked", "question") and not _alike(cell, ours):
            altered.append(f"cell {cell.name} was changed")
        if ours is not None and ours.kind == "markdown" and ours.role == "answer":
            texts[str(cell.name)] = cell.text
        if ours is not None and ours.role == "question":
            continue
        if ours is not None and ours.role == "locked":
            cell = ours
        if cell.kind == "code":
            code.append(cell.text)
    return Submission(tuple(code), tuple(dict.fromkeys(altered)), texts)


def _alike(cell: Cell, other: Cell) -> bool:
    """Whether two cells are the same but for spaces at the ends of lines."""
    ours, theirs = ([line.rstrip() for line in c.text.strip().splitlines()] for c in (cell, other))
    return cell.kind == other.kind and ours == theirs
