"""Titles, exercises and solutions of the chapters, read from the notebooks of the book.

References become words ("the lemma *The inverse of Σ*"), since a question in a bank or on paper has no
page to link to.
"""

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


class ChapterExercise(NamedTuple):
    """The text of an exercise in its chapter, in Markdown."""

    title: str
    text: str
    solution: str


def check_book(folder: Path) -> Path:
    """The folder, if it has the chapters."""
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
    heading = re.search(r"(?m)^# (.+)$", markdown(path))
    assert heading, path
    return heading[1]


@cache
def exercises_of(path: Path) -> dict[str, ChapterExercise]:
    """The exercises of a chapter by their labels, ``ex-switch-off-1``."""
    text = markdown(path)
    solutions = {block["first"].strip(): block["body"] for block in _SOLUTION.finditer(text)}
    exercises = {}
    for block in _EXERCISE.finditer(text):
        label = re.search(r":label: (\S+)", block["body"])
        assert label, block["first"]
        bodies = [_OPTION_LINE.sub("", body) for body in (block["body"], solutions[label[1]])]
        texts = [_COMMENT.sub("", _CODE.sub("", body)) for body in bodies]
        texts = [spelt_out(text, path.parent).strip() for text in texts]
        exercises[label[1]] = ChapterExercise(block["first"].strip(), *texts)
    return exercises


@cache
def reference_names(folder: Path) -> dict[str, str]:
    """What references refer to, in words, by their labels."""
    names = {}
    for path in sorted(folder.glob("*.ipynb")):
        for kind, name, label in _STATEMENT.findall(markdown(path)):
            names[label] = f"the {kind} *{name}*" if name else f"the {kind} of *{title(path)}*"
        for label, heading in _HEADING.findall(markdown(path)):
            names.setdefault(label, f"*{heading}*")
    return names


def spelt_out(text: str, folder: Path) -> str:
    """A text with words instead of references."""
    text = _FIGURE.sub("a figure of the chapter", text)
    return _REFERENCE.sub(lambda match: reference_names(folder)[match[1]], text)
