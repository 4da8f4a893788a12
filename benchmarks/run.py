"""How fast, and with how few model calls: one table and two pictures.

    python benchmarks/run.py [--small] [--only calls,pace,many_rows,grading,dragging] [--out FOLDER]

``make bench`` runs it whole, in about twenty minutes, on one thread. Prints the machine and the
table, and writes ``table.md``, ``error.svg`` and ``time.svg`` with their numbers (``.json``) to FOLDER
(``benchmarks/results``).
Ratios are taken within one run: no figure of another machine is compared with.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from limetutor.plotting import svg

HERE = Path(__file__).resolve().parent
# Each a module with rows(), and the picture() it draws, if any.
PARTS = {
    "calls": "error.svg",
    "pace": "time.svg",
    "many_rows": None,
    "grading": None,
    "dragging": None,
}


def machine() -> str:
    """What the figures were measured on, and how busy it was."""
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn", "lime")
    )
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {_processor()}, {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}, {platform.system()}, Python {platform.python_version()}, {packages}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def line(row) -> str:
    """A row of the table in Markdown."""
    met = {None: "", True: "yes", False: "**no**"}[row.met]
    return f"| {row.what} | {row.found} | {row.goal} | {met} |"


def draw(part: Any, path: Path) -> None:
    """Draw the stored curves of a part, in colours that follow the theme of the book."""
    found = json.loads(path.with_suffix(".json").read_text("utf-8"))
    root = svg.picture(part.picture(found), "", path.stem)
    root.attrib |= {"xmlns": "http://www.w3.org/2000/svg", "font-family": "sans-serif"}
    path.write_text(svg.markup(root) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--small", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, separated by commas")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    how = parser.parse_args(arguments)
    how.out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(HERE))
    lines = [machine(), "", "| what | found | goal | met |", "| --- | --- | --- | --- |"]
    print("\n".join(lines), flush=True)
    for name in how.only.split(","):
        part = importlib.import_module(name)
        for row in part.rows(how.small):
            if how.small:  # goals are for the sizes they were set for
                row = row._replace(goal="", met=None)
            lines.append(line(row))
            print(lines[-1], flush=True)
        if picture := PARTS[name]:
            found = part.curves(how.small)
            (how.out / picture).with_suffix(".json").write_text(json.dumps(found) + "\n")
            draw(part, how.out / picture)
    (how.out / "table.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
