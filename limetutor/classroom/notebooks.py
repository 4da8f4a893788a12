"""The notebooks of a class: where their sources are, and what a student has handed in.

A cell that matters has nbgrader's metadata with a ``grade_id``: an answer (``solution``), a judged
question (``grade``, with points) or one that students leave as it is (``locked``).
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# of a notebook
MAX_BYTES = 20_000_000
MAX_BRACKETS = 300_000  # each may cost the reader some hundred bytes
MAX_PARTS = 1_000_000  # numbers and texts
MAX_DEPTH = 60  # of lists in lists
MAX_COUNTS = {"parts": MAX_PARTS, "cells": 2000, "outputs": 2000}
# in a cell of every assignment; release writes it
VERSION = re.compile(r'\breleased\("([^"\\\n]{0,80})"\)')
STUB = "YOUR ANSWER HERE"  # what nbgrader writes into a released paragraph
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


def original(name: str) -> Any:
    """That notebook, as nbformat has it."""
    import nbformat

    return nbformat.read(source(name), as_version=4)


def opened(path: Path) -> dict[str, Any]:
    """What was handed in, its cells as in format 4; UnreadableNotebookError for all other files.

    Not by nbformat, which can need a gigabyte to say what is odd in some megabytes. Whoever looks at a part of a
    cell checks its type.
    """
    if path.is_symlink() or not path.is_file():
        raise UnreadableNotebookError("it is not a file of its own")
    if path.stat().st_size > MAX_BYTES:
        raise UnreadableNotebookError(f"it is larger than {MAX_BYTES // 10**6} MB")
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if text.count("{") + text.count("[") > MAX_BRACKETS:
            raise UnreadableNotebookError(f"it has more than {MAX_BRACKETS} brackets")
        data = json.loads(text)
        _check_sizes(data)
        found = _cells_of(data)
    except (ValueError, RecursionError, LookupError, TypeError):
        raise UnreadableNotebookError("it is not a notebook") from None
    if not found:
        raise UnreadableNotebookError("it has no cells")
    return {"cells": found}


def _cells_of(data: Any) -> list[Any]:
    """The cells of a notebook of format 4, or of the older ones, which have them in sheets."""
    if data["nbformat"] == 4:
        if not isinstance(data["cells"], list):
            raise TypeError
        return data["cells"]
    if data["nbformat"] not in (2, 3):
        raise ValueError
    older = [dict(cell) for sheet in data["worksheets"] for cell in sheet["cells"]]
    for cell in older:
        if cell.get("cell_type") == "code":
            cell["source"] = cell.get("input", "")
        elif cell.get("cell_type") == "heading":
            cell["cell_type"] = "markdown"
    return older


def _check_sizes(data: Any) -> None:
    """Refuse JSON that is too deep or too large for those who read it as a notebook."""
    counts = dict.fromkeys(MAX_COUNTS, 0)
    level, depth = [data], 0
    while level:
        if depth > MAX_DEPTH:
            raise UnreadableNotebookError(f"it has lists in lists, more than {MAX_DEPTH} deep")
        counts["parts"] += len(level)
        below: list[Any] = []
        for entry in level:
            if isinstance(entry, dict):
                for name in ("cells", "outputs"):
                    if isinstance(entry.get(name), list):
                        counts[name] += len(entry[name])
                below += entry.values()
            elif isinstance(entry, list):
                below += entry
        for name, most in MAX_COUNTS.items():
            if counts[name] > most:
                raise UnreadableNotebookError(f"it has more than {most} {name}")
        level, depth = below, depth + 1


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
    """The code of a notebook in its order, what was altered in it, the texts for a person, the answers' code.

    ``version`` is the one that it was released as, empty if it does not say.
    """

    code: tuple[str, ...]
    altered: tuple[str, ...]
    texts: dict[str, str]
    answers: dict[str, str]
    version: str


def submission(path: Path) -> Submission:
    """What a student handed in as an assignment, which the name of the file says."""
    if path.parent.is_symlink():
        raise UnreadableNotebookError("its folder is a link to another one")
    return compared(opened(path), opened(source(path.stem)))


def compared(notebook: Any, original: Any) -> Submission:
    """What there is to run, with the locked cells as they were, and what differs from the original.

    Cells of questions only give hints and are left out. A paragraph whose cell is not there by name is all that stands
    in cells without a name and not in ours.
    """
    originals: dict[str | None, GradedCell] = {c.name: c for c in cells(original) if c.name}
    handed_in = cells(notebook)
    count = {name: sum(cell.name == name for cell in handed_in) for name in originals}
    altered = [f"cell {name} is missing" for name in originals if not count[name]]
    altered += [f"cell {name} is there {n} times" for name, n in count.items() if n > 1]
    locked = [c for c in originals.values() if c.kind == "code" and c.role == "locked"]
    code = [cell.text for cell in locked if not count[cell.name]]
    texts: dict[str, str] = {}
    answers: dict[str, str] = {}
    version = ""
    for cell in handed_in:
        ours = originals.get(cell.name)
        role = "" if ours is None else ours.role
        if ours is not None:
            if role in ("locked", "question") and not _alike(cell, ours):
                altered.append(f"cell {cell.name} was changed")
            if role == "answer":
                (texts if ours.kind == "markdown" else answers)[str(cell.name)] = cell.text
            if told := VERSION.search(cell.text if role == "locked" else ""):
                version = told[1]
            if role == "locked":
                cell = ours
        if cell.kind == "code" and role != "question":
            code.append(cell.text)
    known = {cell.text.strip() for cell in cells(original) if not cell.name}
    own = [c.text for c in handed_in if c.kind == "markdown" and not c.name]
    own_text = "\n\n".join(text for text in own if text.strip() not in known)
    for name, ours in originals.items():
        if ours.role == "answer" and ours.kind == "markdown" and not count[name]:
            texts[str(name)] = own_text
    return Submission(tuple(code), tuple(dict.fromkeys(altered)), texts, answers, version)


def is_blank(text: str) -> bool:
    """Whether a paragraph has no more than what is there when it is released."""
    return not text.replace(STUB, "").strip()


def _alike(cell: GradedCell, other: GradedCell) -> bool:
    """Whether two cells are the same but for spaces at the ends of lines and the version."""
    texts = [VERSION.sub("released()", c.text.strip()) for c in (cell, other)]
    lines = [[line.rstrip() for line in text.splitlines()] for text in texts]
    return cell.kind == other.kind and lines[0] == lines[1]
