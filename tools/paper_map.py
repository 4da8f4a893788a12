"""Write the table of the appendix "Reading the paper": python tools/paper_map.py.

book/paper_map.yml lists what the paper has; this writes it as book/paper_map.md, which the appendix
includes. The table has two columns, so that it fits on a phone; every entry links to its page.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TARGET = ROOT / "book" / "paper_map.yml", ROOT / "book" / "paper_map.md"
TESTS = "https://github.com/limetutor/limetutor/blob/main/"
ROLES = {"fig": "numref", "ch": "ref", "app": "ref"}  # all other labels are statements


def entries() -> list[dict[str, Any]]:
    """The list as it is in the file."""
    return yaml.safe_load(SOURCE.read_text(encoding="utf-8"))


def place(entry: dict[str, Any]) -> str:
    """A link to the label on the page."""
    label = entry["page"].partition("#")[2]
    return f"{{{ROLES.get(label.partition('-')[0], 'prf:ref')}}}`{label}`"


def function_link(name: str) -> str:
    """The function by its own name, linked to the reference where that has it."""
    sys.path.insert(0, str(ROOT))
    import limetutor

    folder, *module, rest = name.split(".", 2)
    public = rest.partition(".")[0] in limetutor.__all__
    short = name.rpartition(".")[2] if folder == "course" else ".".join([*module, rest])
    short = short.replace("_", "_\u200b")  # may break there, or a phone has to scroll
    return f"{{py:obj}}`{short} <limetutor.{rest if public else name}>`"


def row(entry: dict[str, Any]) -> str:
    """One row: what the paper has; where it is, what computes it and what tests it."""
    number = f"**{entry['number']}** " if "number" in entry else ""
    parts = [place(entry)]
    if entry["function"] != "none":
        parts.append(function_link(entry["function"]))
    if entry["test"] != "none":
        parts.append(f"[test]({TESTS}{entry['test'].partition('::')[0]})")
    return f"| {number}{entry['about']} | {', '.join(parts)} |"


def table() -> str:
    """The whole table as MyST markdown."""
    head = ["| In the paper | Here |", "| :--- | :--- |"]
    return "\n".join([*head, *map(row, entries()), ""])


if __name__ == "__main__":
    TARGET.write_text(table(), encoding="utf-8")
