"""What each chapter needs and gives (book/chapters.yml), and what a path through the book lacks.

>>> missing(["welcome", "ten_minutes", "switch_off"])[0]
Missing(chapter='switch_off', term='tilted law', given_by='weights')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
import yaml

from minutes import minutes

BOOK = Path(__file__).resolve().parents[1]
BOX = re.compile(r"(?ms)^```\{admonition\} (?:In|On) this .+?^```$")


@dataclass(frozen=True)
class Chapter:
    """An entry of chapters.yml."""

    name: str
    needs: tuple[str, ...] = ()
    helps: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    optional: bool = False

    @property
    def path(self) -> Path:
        """The notebook."""
        return BOOK / f"{self.name}.ipynb"


class Missing(NamedTuple):
    """A word that a chapter of a path needs, and the page that would have given it."""

    chapter: str
    term: str
    given_by: str


@cache
def chapters() -> dict[str, Chapter]:
    """The pages by the names of their files."""
    entries = yaml.safe_load((BOOK / "chapters.yml").read_text(encoding="utf-8"))
    return {
        name: Chapter(name, **{k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()})
        for name, entry in entries.items()
    }


def giver(term: str) -> str:
    """The page that gives a word."""
    return next(chapter.name for chapter in chapters().values() if term in chapter.gives)


def missing(path: Iterable[str], given: Iterable[str] = ()) -> list[Missing]:
    """What each chapter of a path needs and neither an earlier one nor the teacher has given.

    ``path`` has names of pages in the order in which they are read ("switch_off"; "book/switch_off" and
    "switch-off" will do); ``given`` the words that are explained some other way.
    """
    known, lacking = set(given), []
    for name in path:
        stem = name.removeprefix("book/").replace("-", "_")
        if stem not in chapters():
            raise ValueError(
                f"path must hold pages of the book ({', '.join(chapters())}), got {name!r}."
            )
        chapter = chapters()[stem]
        lacking += [Missing(stem, t, giver(t)) for t in chapter.needs if t not in known]
        known.update(chapter.gives)
    return lacking


# --- the opening box --------------------------------------------------------------------------------


def written_lines(chapter: Chapter) -> dict[str, str]:
    """The lines of the opening box that are not written by hand, by their first words."""
    return {"Time": f"**Time** {minutes(chapter.path)}"}


def with_lines(markdown: str, lines: dict[str, str]) -> str:
    """The cell with these lines in its box: in their place, or at its end."""
    found = BOX.search(markdown)
    assert found, "no opening box"
    box = found[0]
    for words, line in lines.items():
        box, number = re.subn(
            rf"(?m)^\*\*{re.escape(words)}\*\* .*$", lambda _, line=line: line, box
        )
        if not number:
            box = f"{box.removesuffix('```')}\n{line}\n```"
    return markdown[: found.start()] + box + markdown[found.end() :]


def cell_with_box(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The cell of a notebook that has the opening box."""
    return next(c for c in notebook.cells if c.cell_type == "markdown" and BOX.search(c.source))


def write_box(chapter: Chapter) -> bool:
    """Write the lines into the notebook; say whether that changed it."""
    notebook = nbformat.read(chapter.path, as_version=4)
    cell = cell_with_box(notebook)
    before = cell.source
    cell.source = with_lines(before, written_lines(chapter))
    if cell.source != before:
        nbformat.write(notebook, chapter.path)
    return cell.source != before


def box_of(chapter: Chapter) -> str:
    """The opening box as it stands in the notebook."""
    found = BOX.search(cell_with_box(nbformat.read(chapter.path, as_version=4)).source)
    assert found
    return found[0]
