"""Copy chapters with their promises as cells: python tools/promises.py book _build/promised.

A copy is the chapter with one more cell behind each number that its prose quotes and each exercise
that it poses (see tests/prose/support/chapter_checks.py). ``pytest --nbval`` on the copies then compares
the stored outputs and checks the promises, with the chapter executed once.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "prose" / "support"))

from chapter_checks import with_promises


def write_copies(source: Path, target: Path) -> list[Path]:
    """Write the copies of all notebooks in `source` to `target`, and nothing else."""
    notebooks = sorted(source.glob("*.ipynb"))
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    home = os.path.relpath(source, target)  # a chapter finds its files where it found them
    copies = []
    for path in notebooks:
        copy = with_promises(nbformat.read(path, as_version=4), home=home)
        copies.append(target / path.name)
        nbformat.write(copy, copies[-1])
    return copies


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("Usage: python tools/promises.py CHAPTERS COPIES.", file=sys.stderr)
        return 2
    if not write_copies(*map(Path, arguments)):
        print(f"{arguments[0]} holds no notebooks.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
