"""An exam in plain text, for paper: questions for a stated time with their points, then the key on a new page.

All versions of an exam have the same exercises, with other numbers and with options in another order.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from string import ascii_lowercase
from textwrap import fill
from typing import Any

import numpy as np

from ...course.judging.kinds import DIGITS
from ...course.quizzes import QuizOption
from .moodle import stated, with_macros
from .questions import BankQuestion, ChoiceQuestion, EssayQuestion, NumericalQuestion

WIDTH = 92
NEW_PAGE = "\f"
MINUTES_PER_POINT = 2
#: What each kind gets of the points; what is left goes to whatever still fits.
SHARES: dict[type, float] = {EssayQuestion: 0.35, NumericalQuestion: 0.4, ChoiceQuestion: 0.25}

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

NOTATION = (
    "ξ is the instance that is explained, ν the bandwidth (in lime: the kernel width), z_j the indicator of the "
    "box of ξ_j. Φ and ϕ are the distribution function and the density of 𝒩(0,1). The paper is D. Garreau and "
    "U. von Luxburg, Explaining the Explainer, 2020. A sample x has the weight exp(−‖x − ξ‖²/(2ν²)) in the paper, "
    "and in lime exp(−m/(2ν²)) if m of its d features are in other boxes than those of ξ; there ν is 0.75√d "
    "unless stated otherwise. Row 0 is lime's sample at ξ itself, and ridge its penalty on large coefficients."
)


def version(questions: list[BankQuestion], number: int) -> list[BankQuestion]:
    """The questions of version ``number``: one variant of each exercise, and all other questions.

    Where an exercise has fewer variants, its first follows its last.
    """
    counts = Counter(q.exercise.name for q in questions if isinstance(q, NumericalQuestion))
    chosen = {name: (number - 1) % count + 1 for name, count in counts.items()}

    def belongs(q: BankQuestion) -> bool:
        return not isinstance(q, NumericalQuestion) or q.version == chosen[q.exercise.name]

    return [*filter(belongs, questions)]


def composed(questions: list[BankQuestion], minutes: int, seed: int) -> list[int]:
    """Which questions of a version fill so many minutes, or nearly: drawn, from as many chapters as there are."""
    pool = version(questions, 1)
    order = np.random.default_rng([seed, minutes]).permutation(len(pool)).tolist()
    points = left = minutes // MINUTES_PER_POINT
    chapters: Counter[str] = Counter()
    chosen = []
    for kind, share in [*SHARES.items(), (object, 1.0)]:
        most = min(left, round(share * points))
        while fitting := [k for k in order if isinstance(pool[k], kind) and pool[k].points <= most]:
            k = min(fitting, key=lambda k: chapters[pool[k].chapter])
            order.remove(k)
            chosen.append(k)
            chapters[pool[k].chapter] += 1
            most, left = most - pool[k].points, left - pool[k].points
    return sorted(chosen)


def exam(questions: list[BankQuestion], number: int, minutes: int, seed: int) -> str:
    """One version: questions, then the key."""
    variants, chosen = version(questions, number), composed(questions, minutes, seed)
    posed = [_shuffled(variants[k], [seed, number, k]) for k in chosen]
    total = sum(question.points for question in posed)
    title = f"LIME: an exam of {MINUTES_PER_POINT * total} minutes, version {number}"
    name = f"{_points(total)}.   Name: {'_' * 40}"
    lines = [title, "=" * len(title), "", name, "", fill(NOTATION, WIDTH), ""]
    for k, question in enumerate(posed, 1):
        first, *others = _parts(question.text)
        lines += [_wrapped(_head(k, question) + first), *map(_indented, others)]
        lines += [*_answer_space(question), ""]
    title = f"Key, version {number}: {_points(total)}"
    lines += [NEW_PAGE + title, "=" * len(title), ""]
    for k, question in enumerate(posed, 1):
        first, *others = _key(question)
        head = _wrapped(f"{k}. [{_points(question.points)}] {first}")
        lines += [head, *map(_indented, others), ""]
    return "\n".join(lines)


def _shuffled(question: BankQuestion, seed: list[int]) -> BankQuestion:
    """With the options in an order of this version."""
    if not isinstance(question, ChoiceQuestion):
        return question
    order = np.random.default_rng(seed).permutation(len(question.options))
    return question._replace(options=tuple(question.options[k] for k in order))


def _points(number: int) -> str:
    return f"{number} point{'s' * (number != 1)}"


def _head(number: int, question: BankQuestion) -> str:
    """Number, points and title."""
    title = "" if isinstance(question, ChoiceQuestion) else f" {question.title}"
    end = "." * (title != "" and title[-1] not in ".?!")
    return f"{number}. [{_points(question.points)}]{title}{end} "


def _answer_space(question: BankQuestion) -> list[str]:
    """The lines below a question."""
    if isinstance(question, NumericalQuestion):
        return [f"   Answer, to {DIGITS[question.exercise.digits]}: ______________"]
    if isinstance(question, ChoiceQuestion):
        options = _lettered(question)
        return [_indented(f"({letter}) {_as_text(option.text)}") for letter, option in options]
    return ["   " + "_" * 60] * (2 * question.points)


def _lettered(question: ChoiceQuestion) -> Iterator[tuple[str, QuizOption]]:
    return zip(ascii_lowercase, question.options, strict=False)


def _key(question: BankQuestion) -> list[str]:
    """What is right, and what helps whoever grades."""
    if isinstance(question, NumericalQuestion):
        exercise = question.exercise
        return [f"{stated(exercise)}   ({exercise.name})", exercise.table.ladder[-1]]
    if isinstance(question, ChoiceQuestion):
        ((letter, option),) = [pair for pair in _lettered(question) if pair[1].right]
        return [f"({letter}) {_as_text(option.why)}"]
    rubric = [f"({k}) {point}" for k, point in enumerate(question.rubric, 1)]
    first, *others = _parts(question.model)
    return ["A good answer says, a point each:", *rubric, f"An answer: {first}", *others]


def _parts(markdown: str) -> list[str]:
    """Paragraphs and the items of lists, as text."""
    plain = re.sub(r"(?m)^> ?", "", markdown)
    parts = [_as_text(part) for part in re.split(r"\n\s*\n|\n(?=[-*] )", plain)]
    return [part for part in parts if part]


def _indented(text: str) -> str:
    return _wrapped(f"   {text.strip()}")


def _wrapped(text: str) -> str:
    """Lines that fit on paper, with a hanging indent."""
    return fill(text, WIDTH, subsequent_indent="   ", break_long_words=False)


def _as_text(markdown: str) -> str:
    """Markdown as text without markup, formulas in Unicode."""
    parts = re.split(r"\$+([^$]+)\$+", markdown)
    for k, part in enumerate(parts):
        parts[k] = _formula(part) if k % 2 else re.sub(r"[*`]", "", part)
    return " ".join("".join(parts).split())


def _formula(tex: str) -> str:
    r"""``\xi_j^2 = -0.6`` as ``ξ_j² = −0.6``."""
    braced = re.sub(r"\\[td]?frac(\d)(\d)", r"\\frac{\1}{\2}", with_macros(tex))
    braced = re.sub(r"\\(sqrt|bar|hat|tilde) +(\w)", r"\\\1{\2}", braced)
    braced = re.sub(r"\^(?:\{(-?\d+)\}|(\d))", lambda m: (m[1] or m[2]).translate(RAISED), braced)
    braced = re.sub(r"\^\{([^{}]*\W[^{}]*)\}", r"^{(\1)}", braced)
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
