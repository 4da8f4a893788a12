"""Write what the page *For teachers* includes: python tools/plans.py.

book/plans.yml has plans and notes as data, book/chapters.yml what each page asks; book/plans.md, for_whom.md and
by_chapter.md are written. What a chapter is for, and how long it takes, comes from the chapter itself.
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
from minutes import minutes  # noqa: E402


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
    yield "| minutes | page | what |\n|---|---|---|"
    yield from (clock_lines if "minutes" in plan else route_lines)(plan["parts"])
    yield ""
    homework = [part["home"] for part in plan["parts"] if "home" in part]
    if homework:
        read, code = (sum(column) for column in zip(*map(minutes_at_home, homework), strict=True))
        yield (
            f"That is {hours(plan['minutes'])} in class and about {hours(read + code)} at home: "
            f"{hours(read)} to read and {hours(code)} for the assignments.\n"
        )
    if plan["given"]:
        yield "Say, in one sentence each, what the pages of this plan take for granted:\n"
        for term, words in plan["given"].items():
            yield f"- *{term}*: {words}"
        yield ""


def clock_lines(parts: list[dict[str, Any]]) -> Iterator[str]:
    """What is done when; a session begins a new day."""
    clock = 0
    for part in parts:
        if "session" in part:
            yield f"| | **Session {part['session']}** | |"
            clock = 0
        home = f" *At home:* {at_home(part['home'])}." if "home" in part else ""
        page = ref(part["page"]) if "page" in part else ""
        yield f"| {clock}–{clock + part['minutes']} | {page} | {sentence(part['what'])}{home} |"
        clock += part["minutes"]


def route_lines(parts: list[dict[str, Any]]) -> Iterator[str]:
    """What is read, with its minutes."""
    taken = [minutes(BOOK / f"{part['page']}.ipynb") for part in parts]
    for part, page in zip(parts, taken, strict=True):
        what = sentence(part["what"])
        yield f"| {page.reading}, {page.all} with the exercises | {ref(part['page'])} | {what} |"
    reading, everything = (sum(column) for column in zip(*taken, strict=True))
    yield f"| {reading}, {everything} with the exercises | *together* | |"


def sentence(words: str) -> str:
    """With a capital and a stop."""
    end = "" if words.rstrip("*").endswith("?") else "."
    return words[0].upper() + words[1:] + end if words[0] != "*" else words + end


def at_home(home: dict[str, Any]) -> str:
    """What is read and written, with its minutes."""
    read, code = minutes_at_home(home)
    pages = [f"read {', '.join(map(ref, home['read']))} ({read} minutes)"] if read else []
    return "; ".join(
        pages + ([f"assignment `{home['assignment']}` ({code} minutes)"] if code else [])
    )


def minutes_at_home(home: dict[str, Any]) -> tuple[int, int]:
    """To read, and for the assignment: what pages and notebooks state."""
    read = sum(minutes(BOOK / f"{page}.ipynb").reading for page in home.get("read", ()))
    if "assignment" not in home:
        return read, 0
    path = ROOT / "assignments" / f"{home['assignment']}.ipynb"
    stated = re.search(r"\*\*Time\*\* about (\d+) minutes", path.read_text(encoding="utf-8"))
    assert stated, path
    return read, int(stated[1])


def hours(time: int) -> str:
    """``5 h 25 min``."""
    return f"{time // 60} h {time % 60} min"


def whom_lines() -> Iterator[str]:
    """Which page asks for which mathematics."""
    courses = {term: entry["course"] for term, entry in data()["mathematics"].items()}
    yield "| page | mathematics that it uses | from a course on |\n|---|---|---|"
    for page, chapter in book.chapters().items():
        where = dict.fromkeys(courses[term] for term in chapter.asks)
        uses = ", ".join(chapter.asks) or "none: for everyone"
        yield f"| {ref(page)} | {uses} | {', '.join(where)} |"


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
    """The files as they should be."""
    head = "<!-- written by tools/plans.py from plans.yml -->\n"
    plans = [line for plan in data()["plans"].values() for line in plan_lines(plan)]
    notes = [
        line for page, entry in data()["chapters"].items() for line in chapter_lines(page, entry)
    ]
    return {
        BOOK / "plans.md": "\n".join([head, *plans]),
        BOOK / "for_whom.md": "\n".join([head, *whom_lines(), ""]),
        BOOK / "by_chapter.md": "\n".join([head, *notes]),
    }


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
