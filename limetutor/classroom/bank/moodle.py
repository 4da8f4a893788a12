"""Moodle's XML: https://docs.moodle.org/en/Moodle_XML_format.

Of the answers to a numerical question Moodle takes the first whose tolerance holds what was typed, as our
tables do. So the whole table goes there, in its order: what is right gets all, right but for the form
half, a known mistake nothing and its hint. The last answer, 0 give or take all there is, fits every number
and gives the nudge; formula and worked step are the hints for later tries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from xml.dom import minidom

from ...course.judging.grammar import LARGEST
from ...course.judging.kinds import DIGITS, Value, rounded
from ...course.judging.tables import BEGINS, Row
from .questions import Choice, Essay, Numerical, Question

MARKS = {"right": 100, "close": 50, "wrong": 0}
MORE = 2  # digits of the stated answer beyond those that are asked
PENALTY = "0.3333333"  # of each further try, Moodle's default

#: The book's own macros, which Moodle's MathJax does not know.
MACROS = {"E": r"{\mathbb{E}}", "Var": r"{\operatorname{Var}}", "R": r"{\mathbb{R}}"}


def moodle(questions: list[Question], course: str = "LIME") -> str:
    """The questions as an XML file, one category for each chapter."""
    page = Page()
    chapter = None
    for question in questions:
        if question.chapter != chapter:
            chapter = question.chapter
            page.category(f"$course$/top/{course}/{chapter.replace('/', '//')}")
        WRITERS[type(question)](page, question)
    return page.text()


class Page:
    """The file as it grows."""

    def __init__(self) -> None:
        self.dom = minidom.Document()
        self.quiz = self.dom.appendChild(self.dom.createElement("quiz"))

    def text(self) -> str:
        """All of it."""
        return self.dom.toprettyxml(indent=" ", encoding="utf-8").decode()

    def add(self, parent: Any, tag: str, text: object = None, **attributes: object) -> Any:
        """An element, with a text if there is one."""
        element = parent.appendChild(self.dom.createElement(tag))
        for name, value in attributes.items():
            element.setAttribute(name, str(value))
        if text is not None:
            element.appendChild(self.dom.createTextNode(str(text)))
        return element

    def html(self, parent: Any, tag: str, html: str, **attributes: object) -> Any:
        """An element with a text in HTML, as Moodle itself writes it."""
        element = self.add(parent, tag, **attributes, format="html")
        inside = self.add(element, "text")
        inside.appendChild(self.dom.createCDATASection(html))
        return element

    def category(self, path: str) -> None:
        """From here on, questions belong to this category."""
        question = self.add(self.quiz, "question", type="category")
        self.add(self.add(question, "category"), "text", path)

    def question(self, kind: str, name: str, question: Question, after: str = "") -> Any:
        """What all kinds begin with; ``after`` is shown when all is over."""
        element = self.add(self.quiz, "question", type=kind)
        self.add(self.add(element, "name"), "text", name)
        self.html(element, "questiontext", in_html(asked(question)))
        self.html(element, "generalfeedback", after)
        for tag, value in (("defaultgrade", 1), ("penalty", PENALTY), ("hidden", 0)):
            self.add(element, tag, value)
        self.add(element, "idnumber", re.sub(r"\W+", "-", name).strip("-"))
        return element


def asked(question: Question) -> str:
    """The question, and how to answer where that is not plain."""
    if isinstance(question, Numerical):
        digits = DIGITS[question.exercise.digits]
        return f"{question.text}\n\n*Give a decimal number, to {digits}.*"
    return question.text


# --- the kinds -----------------------------------------------------------------------------------


def numerical(page: Page, question: Numerical) -> None:
    """A number, with a line for each known mistake."""
    exercise = question.exercise
    nudge, formula, step = exercise.table.ladder
    name = f"{question.title} ({exercise.name}, version {question.version})"
    element = page.question("numerical", name, question, after=paragraph(step))
    for value, tolerance, row in answers(exercise):
        answer = page.add(element, "answer", fraction=MARKS[row.kind], format="moodle_auto_format")
        page.add(answer, "text", value)
        page.add(answer, "tolerance", tolerance)
        page.html(answer, "feedback", paragraph(told(row)))
    other = page.add(element, "answer", fraction=0, format="moodle_auto_format")
    page.add(other, "text", 0)
    page.add(other, "tolerance", LARGEST)
    page.html(other, "feedback", paragraph(nudge))
    units = {"unitgradingtype": 0, "unitpenalty": 0.1, "showunits": 3, "unitsleft": 0}
    for tag, setting in units.items():
        page.add(element, tag, setting)
    for hint in (formula, step):
        page.html(element, "hint", paragraph(hint))


def answers(exercise: Value) -> Iterator[tuple[str, str, Row]]:
    """The rows of a table as value and tolerance, the value with few digits."""
    for row in exercise.table.rows:
        ((low, high),) = row.box
        middle = (low + high) / 2
        value = rounded(middle, exercise.digits + MORE) if row.kind == "right" else middle
        tolerance = min(high - value, value - low)
        yield f"{value:.12g}", f"{tolerance:.6g}", row


def told(row: Row) -> str:
    """The words for an answer. A sign for per cent is not a number to Moodle."""
    words = row.words.replace(", or with a % sign", "")
    return words if row.kind == "wrong" else f"{BEGINS[row.kind]} {words}".strip()


def stated(exercise: Value) -> str:
    """The right answer as the bank states it."""
    return next(value for value, _, row in answers(exercise) if row.kind == "right")


def choice(page: Page, question: Choice) -> None:
    """Options with a reason each."""
    element = page.question("multichoice", f"{question.chapter}: {question.title}", question)
    for tag, value in (("single", "true"), ("shuffleanswers", "true"), ("answernumbering", "abc")):
        page.add(element, tag, value)
    for option in question.options:
        answer = page.html(element, "answer", in_html(option.text), fraction=100 * option.right)
        page.html(answer, "feedback", in_html(option.why))


def essay(page: Page, question: Essay) -> None:
    """A text, with the rubric and the model answer for whoever grades it."""
    element = page.question("essay", f"{question.chapter}: {question.title}", question)
    for tag, value in (
        ("responseformat", "editor"),
        ("responserequired", 1),
        ("responsefieldlines", 15),
        ("attachments", 0),
    ):
        page.add(element, tag, value)
    points = "".join(f"<li>{escape(point)}</li>" for point in question.rubric)
    model = in_html(question.model)
    page.html(element, "graderinfo", f"<p>A good answer says:</p><ol>{points}</ol>{model}")
    page.html(element, "responsetemplate", "")


WRITERS: dict[type, Callable[[Page, Any], None]] = {
    Numerical: numerical,
    Choice: choice,
    Essay: essay,
}


# --- texts ---------------------------------------------------------------------------------------


def paragraph(words: str) -> str:
    """Plain words as HTML."""
    return f"<p>{escape(words)}</p>"


def in_html(markdown: str) -> str:
    r"""Markdown as HTML, formulas between \( and \), which Moodle's MathJax shows."""
    return _renderer().render(markdown).strip()


@cache
def _renderer() -> Any:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError:
        raise ImportError(
            "a question bank needs markdown-it-py; install it with pip install 'limetutor[class]'."
        ) from None

    def formula(tex: str, how: dict[str, bool]) -> str:
        tex = escape(with_macros(tex), quote=False)
        return rf"\[{tex}\]" if how["display_mode"] else rf"\({tex}\)"

    return MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=formula)


def with_macros(tex: str) -> str:
    """A formula without the book's own macros."""
    return re.sub(r"\\([A-Za-z]+)", lambda found: MACROS.get(found[1], found[0]), tex)


def write(questions: list[Question], path: Path) -> None:
    """The bank as a file."""
    path.write_text(moodle(questions), encoding="utf-8")
