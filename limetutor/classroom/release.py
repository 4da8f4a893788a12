"""`limetutor class release` and `solution`: the two versions of every assignment.

Both come from one notebook. nbgrader removes the solutions and locks the cells that students must not
change; the solution version has the solutions, and the rubric after what a person reads.
"""

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .command import action

SOLUTION_MARK = re.compile(r"(?m)^.*### (?:BEGIN|END) SOLUTION.*\n?")


def released(notebook: Any) -> Any:
    """The students' version, by nbgrader's own steps: stubs instead of solutions, no outputs."""
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
    """The teachers' version: solutions without their marks, rubrics after the model answers."""
    import nbformat

    from .assignments import assignments
    from .notebooks import cells

    rubrics: dict[Any, Any] = {q.answer: q for q in assignments()[name].questions if not q.machine}
    solved_cells = []
    for cell, graded_cell in zip(notebook.cells, cells(notebook), strict=True):
        cell.source = SOLUTION_MARK.sub("", cell.source).rstrip("\n")
        solved_cells.append(cell)
        if question := rubrics.get(graded_cell.name):
            head = f"**Rubric** ({question.points} points). The cell above is a model answer.\n\n"
            points = "\n".join(f"- {point}" for point in question.exercise.rubric)
            solved_cells.append(nbformat.v4.new_markdown_cell(head + points))
            solved_cells[-1]["id"] = f"{graded_cell.name}-rubric".replace("_", "-")
    notebook.cells = solved_cells
    return notebook


def write(out: str, version: Callable[[Any, str], Any]) -> list[Path]:
    """Write one notebook for each assignment into a folder."""
    import nbformat

    from .. import __version__
    from .assignments import assignments
    from .notebooks import original

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.ipynb" for name in assignments()]
    for path in paths:
        notebook = version(original(path.stem), path.stem)
        notebook.metadata["limetutor"] = {"version": __version__}
        nbformat.write(notebook, path)
    return paths


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the notebooks go")


@action("release", "Write the assignments as students get them.", _options)
def release(options: argparse.Namespace) -> int:
    """`limetutor class release`."""
    print(*write(options.out, lambda notebook, name: released(notebook)), sep="\n")
    return 0


@action("solution", "Write the assignments with solutions, model answers and rubrics.", _options)
def solution(options: argparse.Namespace) -> int:
    """`limetutor class solution`."""
    print(*write(options.out, solved), sep="\n")
    return 0
