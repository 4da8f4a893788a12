"""What the chapters say, read from the notebooks of the book: titles, exercises, solutions, quizzes.

References become words ("the lemma *The inverse of Σ*"), since a question in a bank or on paper has no
page to lead to.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...course.exercises import chapters

BOOK = Path(__file__).resolve().parents[3] / "book"

_BLOCK = r"(?ms)^(?P<fence>`{{3,}})\{{{}\}}(?P<first>[^\n]*)$(?P<body>.*?)^(?P=fence)$"
_EXERCISE, _SOLUTION = (re.compile(_BLOCK.format(kind)) for kind in ("exercise", "solution"))
_STATEMENT = re.compile(r"(?m)^`{3,}\{prf:(\w+)\} ?(.*)\n:label: (\S+)$")
_HEADING = re.compile(r"(?m)^\((\S+)\)=\n#+ (.+)$")
_OPTION_LINE = re.compile(r"(?m)^:\w+:.*\n")
_REFERENCE = re.compile(r"\{(?:prf:)?ref\}`(?:[^`<]*<)?([\w-]+)>?`")
_FIGURE = re.compile(r"\{numref\}`[^`]+`")
_CODE = re.compile(r"(?ms)^```python\n.*?^```$")
_COMMENT = re.compile(r"(?s)<!--.*?-->")


class Asked(NamedTuple):
    """An exercise as its chapter asks it, in Markdown."""

    title: str
    text: str
    solution: str


def check_book(folder: Path) -> Path:
    """The folder with the chapters, or a sentence."""
    if not (folder / "switch_off.ipynb").is_file():
        raise ValueError(
            f"--book must be the folder with the chapters, book/ of a clone of limetutor, got {str(folder)!r}."
        )
    return folder


def reading_order(folder: Path) -> list[str]:
    """The chapters with exercises, as chapters.yml lists them."""
    listed = re.findall(r"(?m)^(\w+):", (folder / "chapters.yml").read_text(encoding="utf-8"))
    return [stem for stem in listed if stem in chapters()]


@cache
def markdown(path: Path) -> str:
    """All Markdown of a chapter."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def title(path: Path) -> str:
    """The title of a chapter."""
    found = re.search(r"(?m)^# (.+)$", markdown(path))
    assert found, path
    return found[1]


@cache
def asked(path: Path) -> dict[str, Asked]:
    """The exercises of a chapter by their labels, ``ex-switch-off-1``."""
    text = markdown(path)
    solutions = {found["first"].strip(): found["body"] for found in _SOLUTION.finditer(text)}
    questions = {}
    for found in _EXERCISE.finditer(text):
        label = re.search(r":label: (\S+)", found["body"])
        assert label, found["first"]
        words = [_OPTION_LINE.sub("", body) for body in (found["body"], solutions[label[1]])]
        plain = [spelt_out(_COMMENT.sub("", _CODE.sub("", w)), path.parent).strip() for w in words]
        questions[label[1]] = Asked(found["first"].strip(), *plain)
    return questions


# --- references --------------------------------------------------------------------------------


@cache
def named(folder: Path) -> dict[str, str]:
    """What a reference stands for, in words, by its label."""
    names = {}
    for path in sorted(folder.glob("*.ipynb")):
        for kind, name, label in _STATEMENT.findall(markdown(path)):
            names[label] = f"the {kind} *{name}*" if name else f"the {kind} of *{title(path)}*"
        for label, heading in _HEADING.findall(markdown(path)):
            names.setdefault(label, f"*{heading}*")
    return names


def spelt_out(text: str, folder: Path) -> str:
    """A text with words in the place of references."""
    text = _FIGURE.sub("a figure of the chapter", text)
    return _REFERENCE.sub(lambda found: named(folder)[found[1]], text)
