"""`limetutor class release` and `solution`: the two versions of every assignment.

Both come from one notebook. nbgrader takes the solutions out and locks the cells that students leave
alone; the solution version has the solutions, and the rubric behind what a person reads.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .command import action

MARK = re.compile(r"(?m)^.*### (?:BEGIN|END) SOLUTION.*\n?")


def released(notebook: Any) -> Any:
    """The students' version, by nbgrader's own steps: stubs in the place of solutions, no outputs."""
    try:
        from nbgrader import preprocessors as steps
    except ImportError:
        raise ImportError(
            "releasing assignments needs nbgrader; install it with pip install 'limetutor[class]'."
        ) from None
    resources: dict[str, Any] = {}
    for step in (
        steps.LockCells, steps.ClearSolutions, steps.ClearOutput, steps.ClearHiddenTests,
        steps.ClearMarkScheme, steps.ComputeChecksums, steps.CheckCellMetadata,
    ):  # fmt: skip
        notebook, resources = step().preprocess(notebook, resources)
    return notebook


def solved(notebook: Any, name: str) -> Any:
    """The teachers' version: solutions without their marks, rubrics behind the model answers."""
    import nbformat

    from .assignments import assignments
    from .notebooks import cells

    rubrics = {q.answer: q for q in assignments()[name].questions if not q.machine}
    result = []
    for cell, what in zip(notebook.cells, cells(notebook), strict=True):
        cell.source = MARK.sub("", cell.source).rstrip("\n")
        result.append(cell)
        if what.name in rubrics:
            result.append(nbformat.v4.new_markdown_cell(_rubric(rubrics[what.name])))
            result[-1]["id"] = f"{what.name}-rubric".replace("_", "-")
    notebook.cells = result
    return notebook


def _rubric(question: Any) -> str:
    points = "\n".join(f"- {point}" for point in question.exercise.rubric)
    return f"**Rubric** ({question.points} points). The cell above is a model answer.\n\n{points}"


def write(out: str, version: Callable[[Any, str], Any]) -> list[Path]:
    """One notebook for each assignment into a folder."""
    import nbformat

    from .assignments import assignments
    from .notebooks import opened, source

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.ipynb" for name in assignments()]
    for path in paths:
        nbformat.write(version(opened(source(path.stem)), path.stem), path)
    return paths


def _out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the notebooks go")


@action("release", "Write the assignments as students get them.", _out)
def release(asked: argparse.Namespace) -> int:
    """`limetutor class release`."""
    print(*write(asked.out, lambda notebook, name: released(notebook)), sep="\n")
    return 0


@action("solution", "Write the assignments with solutions, model answers and rubrics.", _out)
def solution(asked: argparse.Namespace) -> int:
    """`limetutor class solution`."""
    print(*write(asked.out, solved), sep="\n")
    return 0
