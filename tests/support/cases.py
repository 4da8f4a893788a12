"""Cases of a test, one on each line of a text, as Python writes them."""

from pathlib import Path
from typing import Any


def cases(path: Path, names: dict[str, Any] | None = None) -> list[Any]:
    """What the lines say, with the names of a test; those that begin with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [eval(line, names or {}) for line in lines if line and not line.startswith("#")]
