"""Moodle's XML: https://docs.moodle.org/en/Moodle_XML_format.

Of the answers to a numerical question Moodle takes the first whose tolerance includes what was typed, as
our tables do. So the whole table is written in its order: a right answer gets full marks, one that is
right but for its form half, a known mistake none and its hint. The last answer, 0 with the largest
tolerance, fits every number and gives the nudge; formula and worked step are hints for later tries.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from html import escape
from typing import Any
from xml.dom import minidom

from ...course.judging.grammar import LARGEST
from ...course.judging.kinds import DIGITS, Value, rounded
from ...course.judging.tables import BEGINS, AnswerRow
from .questions import BankQuestion, ChoiceQuestion, EssayQuestion, NumericalQuestion

MARKS = {"right": 100, "close": 50, "wrong": 0}
EXTRA_DIGITS = 2  # of the stated answer beyond those that are asked for
PENALTY = "0.3333333"  # of each further try, Moodle's default

#: The book's own macros, which Moodle's MathJax does not know.
MACROS = {"E": r"{\mathbb{E}}", "Var": r"{\operatorname{Var}}", "R": r"{\mathbb{R}}"}


def moodle(questions: list[BankQuestion], course: str = "LIME") -> str:
    """The questions as an XML file: a category for each chapter, with one for each exercise and the quiz."""
    file = MoodleFile()
    category = None
    for question in questions:
        if category != (category := (question.chapter, question.topic)):
            names = (name.replace("/", "//") for name in category)
            file.category("/".join(("$course$/top", course, *names)))
        WRITERS[type(question)](file, question)
    return file.text()


class MoodleFile:
    """The XML document."""

    def __init__(self) -> None:
        self.dom = minidom.Document()
        self.quiz = self.dom.appendChild(self.dom.createElement("quiz"))

    def text(self) -> str:
        """The document as text."""
        return self.dom.toprettyxml(indent=" ", encoding="utf-8").decode()

    def add(self, parent: Any, tag: str, text: object = None, **attributes: object) -> Any:
        """An element, with a text if there is one."""
        element = parent.appendChild(self.dom.createElement(tag))
        for name, value in attributes.items():
            element.setAttribute(name, str(value))
        if text is not None:
            element.appendChild(self.dom.createTextNode(str(text)))
        return element

    def fill(self, parent: Any, **texts: object) -> None:
        """Add several elements with texts."""
        for tag, text in texts.items():
            self.add(parent, tag, text)

    def html(self, parent: Any, tag: str, html: str, **attributes: object) -> Any:
        """An element with a text in HTML, as Moodle itself writes it."""
        element = self.add(parent, tag, **attributes, format="html")
        inside = self.add(element, "text")
        inside.appendChild(self.dom.createCDATASection(html))
        return element

    def category(self, path: str) -> None:
        """Begin a category of questions."""
        question = self.add(self.quiz, "question", type="category")
        self.add(self.add(question, "category"), "text", path)

    def question(self, kind: str, name: str, question: BankQuestion, after: str = "") -> Any:
        """The elements that all kinds have; ``after`` is shown at the end."""
        element = self.add(self.quiz, "question", type=kind)
        self.add(self.add(element, "name"), "text", name)
        self.html(element, "questiontext", in_html(question_text(question)))
        self.html(element, "generalfeedback", after)
        ident = re.sub(r"\W+", "-", name).strip("-")
        self.fill(element, defaultgrade=question.points, penalty=PENALTY, hidden=0, idnumber=ident)
        return element


def question_text(question: BankQuestion) -> str:
    """The question, with the number of digits where a number is asked for."""
    if isinstance(question, NumericalQuestion):
        digits = DIGITS[question.exercise.digits]
        return f"{question.text}\n\n*Give a decimal number, to {digits}.*"
    return question.text


def numerical(file: MoodleFile, question: NumericalQuestion) -> None:
    """A number, with a line for each known mistake."""
    exercise = question.exercise
    nudge, formula, step = exercise.table.ladder
    name = f"{question.title} ({exercise.name}, version {question.version})"
    element = file.question("numerical", name, question, after=paragraph(step))
    for value, tolerance, row in answers(exercise):
        answer = file.add(element, "answer", fraction=MARKS[row.kind], format="moodle_auto_format")
        file.fill(answer, text=value, tolerance=tolerance)
        file.html(answer, "feedback", paragraph(feedback(row)))
    other = file.add(element, "answer", fraction=0, format="moodle_auto_format")
    file.fill(other, text=0, tolerance=LARGEST)
    file.html(other, "feedback", paragraph(nudge))
    file.fill(element, unitgradingtype=0, unitpenalty=0.1, showunits=3, unitsleft=0)
    for hint in (formula, step):
        file.html(element, "hint", paragraph(hint))


def answers(exercise: Value) -> Iterator[tuple[str, str, AnswerRow]]:
    """The rows of a table as value and tolerance, the value with few digits."""
    for row in exercise.table.rows:
        ((low, high),) = row.box
        middle = (low + high) / 2
        value = rounded(middle, exercise.digits + EXTRA_DIGITS) if row.kind == "right" else middle
        tolerance = min(high - value, value - low)
        yield f"{value:.12g}", f"{tolerance:.6g}", row


def feedback(row: AnswerRow) -> str:
    """The words for an answer. Moodle does not accept a per cent sign."""
    words = row.words.replace(", or with a % sign", "")
    return words if row.kind == "wrong" else f"{BEGINS[row.kind]} {words}".strip()


def stated(exercise: Value) -> str:
    """The right answer as the bank states it."""
    return next(value for value, _, row in answers(exercise) if row.kind == "right")


def choice(file: MoodleFile, question: ChoiceQuestion) -> None:
    """Options with their explanations."""
    element = file.question("multichoice", f"{question.chapter}: {question.title}", question)
    file.fill(element, single="true", shuffleanswers="true", answernumbering="abc")
    for option in question.options:
        answer = file.html(element, "answer", in_html(option.text), fraction=100 * option.right)
        file.html(answer, "feedback", in_html(option.why))


def essay(file: MoodleFile, question: EssayQuestion) -> None:
    """A text, with the rubric and the model answer for the person who grades it."""
    element = file.question("essay", f"{question.chapter}: {question.title}", question)
    file.fill(element, responseformat="editor", responserequired=1, responsefieldlines=15)
    file.add(element, "attachments", 0)
    points = "".join(f"<li>{escape(point)}</li>" for point in question.rubric)
    model = in_html(question.model)
    file.html(
        element, "graderinfo", f"<p>A good answer says, a point each:</p><ol>{points}</ol>{model}"
    )
    file.html(element, "responsetemplate", "")


WRITERS: dict[type, Callable[[MoodleFile, Any], None]] = {
    NumericalQuestion: numerical,
    ChoiceQuestion: choice,
    EssayQuestion: essay,
}


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

    def formula(tex: str, options: dict[str, bool]) -> str:
        tex = escape(with_macros(tex), quote=False)
        return rf"\[{tex}\]" if options["display_mode"] else rf"\({tex}\)"

    return MarkdownIt("commonmark", {"html": False}).use(dollarmath_plugin, renderer=formula)


def with_macros(tex: str) -> str:
    """A formula without the book's own macros."""
    return re.sub(r"\\([A-Za-z]+)", lambda match: MACROS.get(match[1], match[0]), tex)
