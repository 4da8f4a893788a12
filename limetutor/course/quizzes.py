"""The quizzes of the book, read from the Markdown of a chapter.

A quiz is ``<div class="quiz">``: each question a paragraph in bold that begins with its number, each
option a ``<details>`` whose summary is the option and whose text is the explanation, beginning with ✓
or ✗. So it reads well in JupyterLab, works on the page without a script, and is data all the same.
"""

import re
from typing import NamedTuple

_QUIZ = re.compile(r'(?ms)^<div class="quiz">$(.*?)^</div>$')
_QUESTION = re.compile(r"(?ms)^\*\*(\d+)\. (.+?)\*\*$(.*?)(?=^\*\*\d+\. |\Z)")
_OPTION = re.compile(r"(?s)<details>\s*<summary>(.*?)</summary>\s*([✓✗])(.*?)</details>")


class QuizOption(NamedTuple):
    """What can be picked, whether it is right, and why."""

    text: str
    right: bool
    why: str


class QuizQuestion(NamedTuple):
    """A question with its options."""

    number: int
    text: str
    options: tuple[QuizOption, ...]


def questions(markdown: str) -> list[QuizQuestion]:
    """The questions of all quizzes in a text, in order."""
    return [
        QuizQuestion(
            int(number),
            text.strip(),
            tuple(
                QuizOption(option.strip(), mark == "✓", why.strip())
                for option, mark, why in _OPTION.findall(options)
            ),
        )
        for quiz in _QUIZ.findall(markdown)
        for number, text, options in _QUESTION.findall(quiz)
    ]
