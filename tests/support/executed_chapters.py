"""Chapters executed as for the site, in this process, without what they display."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from limetutor.interactive import explorer


def execute(path: Path, patch: pytest.MonkeyPatch) -> None:
    """Run all cells of a chapter."""
    patch.setattr(explorer, "_display", lambda *args, **kwargs: None)
    patch.setenv("LIMETUTOR_MODE", "static")
    patch.chdir(path.parent)
    scope: dict[str, Any] = {}
    python = TransformerManager()  # a cell may have magic in it
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(python.transform_cell(cell.source), scope)
