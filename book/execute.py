"""Execute chapters in place as a reader with a kernel would: python book/execute.py [notebook …].

Without arguments all notebooks in book/ are executed. What is stored is what nbval can compare and
a diff can show: plain text and streams. Timings, widget views (their ids are random) and pictures are left
out. The minutes in the opening box are counted anew.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

BOOK = Path(__file__).resolve().parent
sys.path.insert(0, str(BOOK / "_ext"))
from chapters import chapters, write_box

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# Random or large, and skipped by nbval: of no use in the repository.
NOT_STORED = ("application/vnd.jupyter.widget-view+json", "image/png", "image/jpeg")


def execute(path: Path) -> None:
    """Run one notebook from top to bottom and store its normalised outputs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
    ).execute()
    normalise(notebook)
    nbformat.write(notebook, path)
    if path.resolve().parent == BOOK and path.stem in chapters():
        write_box(chapters()[path.stem])


def normalise(notebook: nbformat.NotebookNode) -> None:
    """Drop what differs from run to run."""
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat_minor = 5
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("collapsed", None)
        if cell.cell_type == "code":
            cell.outputs = merged(cell.outputs)
        for output in cell.get("outputs", []):
            for mime in NOT_STORED:
                output.get("data", {}).pop(mime, None)
            if "metadata" in output:
                output.metadata = nbformat.NotebookNode()


def merged(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Join neighbouring pieces of one stream: where it was cut depends on timing."""
    result: list[nbformat.NotebookNode] = []
    for output in outputs:
        last = result[-1] if result else {}
        if output.output_type == "stream" and output.name == last.get("name"):
            last["text"] += output.text
        else:
            result.append(output)
    return result


def main(names: list[str]) -> None:
    """Execute the notebooks named, or all of them."""
    os.environ["LIMETUTOR_MODE"] = "live"
    paths = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(BOOK.parent), *paths])
    for path in [Path(name) for name in names] or sorted(BOOK.glob("*.ipynb")):
        print(path.name, flush=True)
        execute(path)


if __name__ == "__main__":
    main(sys.argv[1:])
