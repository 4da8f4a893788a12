"""How long a page takes: counted from what is on it, at rates that fit five readers.

They reckoned page by page how long the reading took and how long the exercises: one for six pages of an
older version, four for Part I. ``RATES`` are round numbers within 15 per cent of each page of the first,
a fifth of each page of the second and of the mean of the last three, and a fifth of what each of these
took for all of Part I; tests/prose/test_minutes.py has what was counted and what was taken.
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
    "word": 1 / 200,
    "formula on its own line": 2.0,
    "formula in a line": 0.08,
    "proof": 0.5,
    "line of code": 0.15,
    "figure": 1.0,
    "control": 0.75,
    "exercise": 4.5,
    "paragraph to write": 3.0,
    "function to write": 10.0,
    "quiz question": 1.0,
}
EXERCISES = {"exercise", "paragraph to write", "function to write", "quiz question"}


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
    """To the minute (five would hide up to two of them on a short page), and never to nothing."""
    return max(1, round(time))


def count(path: Path) -> Counter[str]:
    """How many of each there are on a page."""
    counts: Counter[str] = Counter()
    for cell in nbformat.read(path, as_version=4).cells:
        counts += in_prose(cell.source) if cell.cell_type == "markdown" else in_code(cell)
    longer = longer_exercises(path)
    return counts + longer + Counter({"exercise": -longer.total()})


def longer_exercises(path: Path) -> Counter[str]:
    """How many exercises of a chapter ask for a function and for a paragraph."""
    from limetutor.course.exercises import chapters

    kinds = {"kernel": "function to write", "points": "paragraph to write"}
    answered = [exercise.answered for exercise in chapters().get(path.stem, ())]
    return Counter(kinds[how] for how in answered if how in kinds)


def in_code(cell: nbformat.NotebookNode) -> Counter[str]:
    """Lines of code that are shown, or the figure that a folded cell draws."""
    tags = cell.metadata.get("tags", [])
    drawn = re.search(r"lt\.(?:explore|show)\(", cell.source)
    folded = {"hide-input", "remove-input"} & set(tags)
    if "remove-cell" in tags or "lt.check(" in cell.source or (folded and not drawn):
        return Counter()
    if not folded:
        return Counter({"line of code": len(list(filter(str.strip, cell.source.splitlines())))})
    figure = cell.metadata.get("mystnb", {}).get("figure", {})
    control = r"lt\.(?:Slider|Choice)\(|machine\.controls\(|=\w+\.[A-Z]+\b"
    controls = len(re.findall(control, cell.source))
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
