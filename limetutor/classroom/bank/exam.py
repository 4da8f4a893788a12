"""The questions as plain text, for paper: all questions, then the key on a separate page."""

import re
from collections import Counter
from functools import cache
from string import ascii_lowercase
from textwrap import fill
from typing import Any

from ...course.judging.kinds import DIGITS
from .moodle import stated, with_macros
from .questions import BankQuestion, ChoiceQuestion, NumericalQuestion

WIDTH = 92
NEW_PAGE = "\f"


def version(questions: list[BankQuestion], number: int) -> list[BankQuestion]:
    """The questions of version ``number``: one variant of each exercise, and all other questions.

    Where an exercise has fewer variants, its first follows its last.
    """
    counts = Counter(q.exercise.name for q in questions if isinstance(q, NumericalQuestion))
    chosen = {name: (number - 1) % count + 1 for name, count in counts.items()}
    return [
        q
        for q in questions
        if not isinstance(q, NumericalQuestion) or q.version == chosen[q.exercise.name]
    ]


def exam(questions: list[BankQuestion], number: int) -> str:
    """One version: questions, then the key."""
    posed = version(questions, number)
    lines = [f"LIME: questions, version {number}", "=" * 34, ""]
    for k, question in enumerate(posed, 1):
        head = "" if isinstance(question, ChoiceQuestion) else f"{question.title}. "
        lines += [_wrapped(f"{k}. {head}{_as_text(question.text)}"), *_answer_space(question), ""]
    lines += [NEW_PAGE + f"Key, version {number}", "=" * 34, ""]
    lines += [_wrapped(f"{k}. {_key(question)}") for k, question in enumerate(posed, 1)]
    return "\n".join(lines) + "\n"


def _answer_space(question: BankQuestion) -> list[str]:
    """The lines below a question."""
    if isinstance(question, NumericalQuestion):
        return [f"   Answer, to {DIGITS[question.exercise.digits]}: ______________"]
    if isinstance(question, ChoiceQuestion):
        return [
            _wrapped(f"   ({letter}) {_as_text(option.text)}")
            for letter, option in zip(ascii_lowercase, question.options, strict=False)
        ]
    return ["   " + "_" * 60] * 5


def _key(question: BankQuestion) -> str:
    if isinstance(question, NumericalQuestion):
        return f"{stated(question.exercise)}   ({question.exercise.name})"
    if isinstance(question, ChoiceQuestion):
        right = next(k for k, option in enumerate(question.options) if option.right)
        return f"({ascii_lowercase[right]}) {_as_text(question.options[right].why)}"
    return "A good answer says: " + " ".join(f"({k}) {p}" for k, p in enumerate(question.rubric, 1))


def _wrapped(text: str) -> str:
    """Lines that fit on paper, with a hanging indent."""
    inset = " " * (len(text) - len(text.lstrip()) + 3)
    return fill(text, WIDTH, subsequent_indent=inset, break_long_words=False)


def _as_text(markdown: str) -> str:
    """Markdown as text without markup, formulas in Unicode."""
    parts = re.split(r"\$+([^$]+)\$+", markdown)
    for k, part in enumerate(parts):
        parts[k] = _formula(part) if k % 2 else re.sub(r"[*`]", "", part)
    return " ".join("".join(parts).split())


def _formula(tex: str) -> str:
    r"""``\xi_j = -0.6`` as ``ξ_j = −0.6``."""
    braced = re.sub(r"\\[td]?frac(\d)(\d)", r"\\frac{\1}{\2}", with_macros(tex))
    braced = re.sub(r"\\(sqrt|bar|hat|tilde) +(\w)", r"\\\1{\2}", braced)
    # TeX ignores the space after the name of a command
    spaced = re.sub(r"(\\[A-Za-z]+) +", r"\1{} ", braced)
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
