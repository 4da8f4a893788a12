"""How long a page takes: counted from what is on it, at rates that fit a reader who was timed.

A reader who knew linear regression read ten pages with a watch, exercises and sliders included
(version f98850a; tests/book/test_minutes.py has what was counted and what was taken). ``RATES`` are
round numbers that come within a quarter of each page and within a few per cent of the sum.
Nobody timed exercises that ask for a function or a paragraph: they are taken to be twice as long.
Proofs that are folded away (``<details class="proof">``) are for few, and are not counted.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import nbformat

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the package of this checkout

# minutes for one of each
RATES = {
    "word": 1 / 220,
    "formula on its own line": 2.0,
    "formula in a line": 0.1,
    "proof": 2.0,
    "line of code": 0.1,
    "figure": 0.5,
    "control": 0.5,
    "exercise": 3.5,
    "longer exercise": 7.0,
    "quiz question": 0.5,
}
EXERCISES = {"exercise", "longer exercise", "quiz question"}
STEP = 5  # shown to the nearest five minutes: more would pretend


class Minutes(NamedTuple):
    """With a pencil at rest, and with every exercise and quiz question."""

    reading: int
    all: int

    def __str__(self) -> str:
        """As the opening box of a chapter says it."""
        if self.reading == self.all:
            return f"{self.reading} minutes."
        return f"{self.reading} minutes, {self.all} with the exercises."


def minutes(path: Path) -> Minutes:
    """The minutes that a page takes, rounded."""
    counts = count(path)
    exact = {what: RATES[what] * number for what, number in counts.items()}
    reading = sum(time for what, time in exact.items() if what not in EXERCISES)
    return Minutes(rounded(reading), rounded(sum(exact.values())))


def rounded(time: float) -> int:
    """To the nearest five, and never to nothing."""
    return max(STEP, STEP * round(time / STEP))


def count(path: Path) -> Counter[str]:
    """How many of each there are on a page."""
    counts: Counter[str] = Counter()
    for cell in nbformat.read(path, as_version=4).cells:
        counts += in_prose(cell.source) if cell.cell_type == "markdown" else in_code(cell)
    longer = longer_exercises(path)
    return counts + Counter({"exercise": -longer, "longer exercise": longer})


def longer_exercises(path: Path) -> int:
    """How many exercises of a chapter ask for a function or a paragraph."""
    from limetutor.course.exercises import chapters

    return sum(exercise.answered != "box" for exercise in chapters().get(path.stem, ()))


def in_code(cell: nbformat.NotebookNode) -> Counter[str]:
    """Lines of code that are shown, or the figure that a folded cell draws."""
    tags = cell.metadata.get("tags", [])
    if "remove-cell" in tags or "lt.check(" in cell.source:
        return Counter()
    if "hide-input" not in tags:
        return Counter({"line of code": len(list(filter(str.strip, cell.source.splitlines())))})
    figure = cell.metadata.get("mystnb", {}).get("figure", {})
    controls = len(re.findall(r"lt\.(?:Slider|Choice)\(", cell.source))
    return Counter({"figure": 1, "control": controls}) + in_prose(figure.get("caption", ""))


def in_prose(markdown: str) -> Counter[str]:
    """Words, formulas and proofs of the text; exercises and quiz questions, not their words."""
    text = re.sub(r'(?s)<!--.*?-->|<details class="proof">.*?</details>', "", markdown)
    counts: Counter[str] = Counter()
    for fence in ("solution", "exercise"):
        text, number = re.subn(rf"(?ms)^(`{{3,}})\{{{fence}\}}.*?^\1$", "", text)
    counts["exercise"] = number
    text, _, quiz = text.partition('<div class="quiz">')
    counts["quiz question"] = len(re.findall(r"(?m)^\*\*\d+\. ", quiz))
    counts["proof"] = text.count("{prf:proof}")
    text, counts["formula on its own line"] = re.subn(r"(?s)\$\$.+?\$\$", " ", text)
    text, counts["formula in a line"] = re.subn(r"\$[^$\n]+\$", " ", text)
    text = re.sub(r"\{[\w:]+\}`[^`]*`|<[^>]+>|(?m:^:\w+:.*$)", " word ", text)
    counts["word"] = len(re.findall(r"[^\W\d_][\w'’-]*", text))
    return +counts
