"""`limetutor class release` and `solution`: the two versions of every assignment.

Both come from one notebook. nbgrader removes the solutions and locks the cells that students must not
change; the solution version has the solutions, and the rubric after what a person reads.
"""

import argparse
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .command import action
from .notebooks import SOURCES

IDS = '"your id"', '"solution"'  # what students replace by theirs, and the id of the solutions
SOLUTION_MARK = re.compile(r"(?m)^.*### (?:BEGIN|END) SOLUTION.*\n?")


def released(notebook: Any, name: str) -> Any:
    """The students' version, by nbgrader's own steps: stubs instead of solutions, no outputs; it says its version."""
    try:
        from nbgrader import preprocessors as steps
    except ImportError:
        raise ImportError(
            "releasing assignments needs nbgrader; install it with pip install 'limetutor[class]'."
        ) from None
    from .assignments import edition
    from .notebooks import VERSION

    for cell in notebook.cells:
        cell.source = VERSION.sub(f'released("{edition(name)}")', cell.source)
    resources: dict[str, Any] = {}
    for step in (
        steps.LockCells, steps.ClearSolutions, steps.ClearOutput, steps.ClearHiddenTests,
        steps.ClearMarkScheme, steps.ComputeChecksums, steps.CheckCellMetadata,
    ):  # fmt: skip
        notebook, resources = step().preprocess(notebook, resources)
    return notebook


def solved(notebook: Any, name: str) -> Any:
    """The teachers' version: solutions without their marks, rubrics after the model answers.

    It is filled in for the id "solution", so that the solutions of personal questions are right for it.
    """
    import nbformat

    from .assignments import assignments
    from .notebooks import cells

    rubrics: dict[Any, Any] = {q.answer: q for q in assignments()[name].questions if not q.machine}
    solved_cells = []
    for cell, graded_cell in zip(notebook.cells, cells(notebook), strict=True):
        cell.source = SOLUTION_MARK.sub("", cell.source).rstrip("\n").replace(*IDS)
        solved_cells.append(cell)
        if question := rubrics.get(graded_cell.name):
            head = f"**Rubric** ({question.points} points). The cell above is a model answer.\n\n"
            points = "\n".join(f"- {point}" for point in question.exercise.rubric)
            solved_cells.append(nbformat.v4.new_markdown_cell(head + points))
            solved_cells[-1]["id"] = f"{graded_cell.name}-rubric".replace("_", "-")
    notebook.cells = solved_cells
    return notebook


def install_line() -> str:
    """The line that installs what this clone has: by its commit, or by the tag of its version."""
    from .. import __version__

    try:
        told = subprocess.run(
            ["git", "-C", str(SOURCES.parent), "rev-parse", "HEAD"],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        archive = told.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        archive = f"refs/tags/v{__version__}"
    return f'pip install "limetutor[lab] @ https://github.com/limetutor/limetutor/archive/{archive}.zip"'


def write(out: str, version: Callable[[Any, str], Any]) -> list[Path]:
    """Write one notebook for each assignment into a folder."""
    import nbformat

    from .assignments import assignments
    from .notebooks import original

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.ipynb" for name in assignments()]
    for path in paths:
        nbformat.write(version(original(path.stem), path.stem), path)
    return paths


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="FOLDER", help="where the notebooks go")


@action("release", "Write the assignments as students get them.", _options)
def release(options: argparse.Namespace) -> int:
    """`limetutor class release`."""
    print(*write(options.out, released), sep="\n")
    print(f"Students install the same version: {install_line()}")
    return 0


@action("solution", "Write the assignments with solutions, model answers and rubrics.", _options)
def solution(options: argparse.Namespace) -> int:
    """`limetutor class solution`."""
    print(*write(options.out, solved), sep="\n")
    return 0
