"""Write the plans and the notes by chapter of the page *For teachers*: python tools/plans.py.

book/plans.yml has both as data; book/plans.md and book/by_chapter.md are what the page includes. What a chapter
is for comes from its own opening box.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
sys.path.insert(0, str(BOOK / "_ext"))

import chapters as book  # noqa: E402
import notation  # noqa: E402


def data() -> dict[str, Any]:
    """The file as it is."""
    return yaml.safe_load((BOOK / "plans.yml").read_text(encoding="utf-8"))


def ref(page: str) -> str:
    """A link to a chapter."""
    return f"{{ref}}`{notation.label_of(BOOK / f'{page}.ipynb')}`"


def plan_lines(plan: dict[str, Any]) -> Iterator[str]:
    """One plan: what it is for, its parts as a table, and the words to say."""
    yield f"### {plan['title']}\n"
    yield f"{plan['about']}\n"
    if "slides" in plan:
        link = f'<a href="../slides/{plan["slides"]}.html">Slides</a>'
        yield f"{link} go with it, with the figures of the book and their controls.\n"
    clock = 0
    yield "| minutes | page | what |\n|---|---|---|"
    for part in plan["parts"]:
        if "session" in part:
            yield f"| | **Session {part['session']}** | |"
            clock = 0
        home = f" *At home:* {part['home']}." if "home" in part else ""
        what = part["what"][0].upper() + part["what"][1:]
        stop = "" if what.rstrip("*").endswith("?") else "."
        yield f"| {clock}–{clock + part['minutes']} | {ref(part['page'])} | {what}{stop}{home} |"
        clock += part["minutes"]
        if "break" in part:
            yield f"| {clock}–{clock + part['break']} | | *Break* |"
            clock += part["break"]
    yield ""
    if plan["given"]:
        yield "Say, in one sentence each, what the pages of this plan take for granted:\n"
        for term, words in plan["given"].items():
            yield f"- *{term}*: {words}"
        yield ""


def goal(page: str) -> str:
    """What a chapter is for, from its opening box."""
    found = re.search(r"\*\*You will be able to\*\* (.+)", book.box_of(book.chapters()[page]))
    assert found, page
    return found[1]


def chapter_lines(page: str, notes: dict[str, str]) -> Iterator[str]:
    """One chapter: goal, misconception, a question for a show of hands and its answer."""
    theirs = goal(page).replace("yourself", "themselves")
    yield f"**{ref(page)}**\n: *Goal.* They will be able to {theirs}"
    yield f": *They believe:* {notes['believe']}"
    yield f": *Ask for hands:* {notes['ask']}"
    yield f": *Answer:* {notes['answer']}\n"


def texts() -> dict[Path, str]:
    """The two files as they should be."""
    head = "<!-- written by tools/plans.py from plans.yml -->\n"
    plans = [line for plan in data()["plans"].values() for line in plan_lines(plan)]
    notes = [
        line for page, entry in data()["chapters"].items() for line in chapter_lines(page, entry)
    ]
    return {
        BOOK / "plans.md": "\n".join([head, *plans]),
        BOOK / "by_chapter.md": "\n".join([head, *notes]),
    }


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
