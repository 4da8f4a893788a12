"""Cases of a test, one on each line of a text, as Python writes them."""

from pathlib import Path
from typing import Any


def cases(path: Path) -> list[Any]:
    """What the lines say; those that begin with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [eval(line) for line in lines if line and not line.startswith("#")]
