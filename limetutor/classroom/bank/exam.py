"""The questions as plain text, for paper: first all questions, then, on a page of its own, the key."""

from __future__ import annotations

import re
from functools import cache
from string import ascii_lowercase
from textwrap import fill
from typing import Any

from ...course.judging.kinds import DIGITS
from .moodle import stated, with_macros
from .questions import Choice, Numerical, Question

WIDTH = 92
NEW_PAGE = "\f"


def version(questions: list[Question], number: int) -> list[Question]:
    """What version ``number`` of an exam asks: one variant of each exercise, and all the rest.

    Where an exercise has fewer variants it begins again with the first.
    """
    most: dict[str, int] = {}
    for question in questions:
        if isinstance(question, Numerical):
            most[question.exercise.name] = max(
                most.get(question.exercise.name, 0), question.version
            )
    return [
        question
        for question in questions
        if not isinstance(question, Numerical)
        or question.version == (number - 1) % most[question.exercise.name] + 1
    ]


def exam(questions: list[Question], number: int) -> str:
    """One version: questions, then the key."""
    asked = version(questions, number)
    lines = [f"LIME: questions, version {number}", "=" * 34, ""]
    for k, question in enumerate(asked, 1):
        head = "" if isinstance(question, Choice) else f"{question.title}. "
        lines += [_wrapped(f"{k}. {head}{_plain(question.text)}"), *_how(question), ""]
    lines += [NEW_PAGE + f"Key, version {number}", "=" * 34, ""]
    lines += [_wrapped(f"{k}. {_key(question)}") for k, question in enumerate(asked, 1)]
    return "\n".join(lines) + "\n"


def _how(question: Question) -> list[str]:
    """What stands below a question."""
    if isinstance(question, Numerical):
        return [f"   Answer, to {DIGITS[question.exercise.digits]}: ______________"]
    if isinstance(question, Choice):
        return [
            _wrapped(f"   ({letter}) {_plain(option.text)}")
            for letter, option in zip(ascii_lowercase, question.options, strict=False)
        ]
    return ["   " + "_" * 60] * 5


def _key(question: Question) -> str:
    if isinstance(question, Numerical):
        return f"{stated(question.exercise)}   ({question.exercise.name})"
    if isinstance(question, Choice):
        right = next(k for k, option in enumerate(question.options) if option.right)
        return f"({ascii_lowercase[right]}) {_plain(question.options[right].why)}"
    return "A good answer says: " + " ".join(f"({k}) {p}" for k, p in enumerate(question.rubric, 1))


def _wrapped(text: str) -> str:
    """Lines that fit on paper, the later ones below the first word."""
    inset = " " * (len(text) - len(text.lstrip()) + 3)
    return fill(text, WIDTH, subsequent_indent=inset, break_long_words=False)


def _plain(markdown: str) -> str:
    """Markdown without its marks, formulas in Unicode."""
    parts = re.split(r"\$+([^$]+)\$+", markdown)
    for k, part in enumerate(parts):
        parts[k] = _formula(part) if k % 2 else re.sub(r"[*`]", "", part)
    return " ".join("".join(parts).split())


def _formula(tex: str) -> str:
    r"""``\xi_j = -0.6`` as ``ξ_j = −0.6``."""
    spaced = re.sub(
        r"(\\[A-Za-z]+) +", r"\1{} ", with_macros(tex)
    )  # TeX eats the space after a name
    return _reader().latex_to_text(spaced).replace("-", "\N{MINUS SIGN}").strip()


@cache
def _reader() -> Any:
    try:
        from pylatexenc.latex2text import LatexNodes2Text
    except ImportError:
        raise ImportError(
            "an exam in plain text needs pylatexenc; install it with pip install 'limetutor[class]'."
        ) from None
    return LatexNodes2Text(math_mode="text", strict_latex_spaces=False)
