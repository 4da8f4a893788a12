"""The questions of the bank: exercises with other numbers, quizzes, and what a person reads.

A variant's question is the text of its chapter with the numbers of the variant in it. A given stands
there as a word of its own, once; where it does not, ``VARIED`` says in which words it is found, and what
a question that stands alone says otherwise than one at the end of a chapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...course import quizzes
from ...course.exercises import chapters, exercises
from ...course.judging.kinds import Given, Paragraph, Value
from . import chapters as book


@dataclass(frozen=True)
class Alone:
    """How the question of an exercise stands alone.

    ``at`` are the words around a given, with ``{}`` in its place, where it is no word of its own or is
    said twice; ``instead`` replaces what leads to the rest of the chapter; ``title`` stands in the place
    of one that names a number which varies.
    """

    at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


#: Exercises with one number for an answer, whose text is true with other numbers too.
VARIED = {
    "ten-minutes/1": Alone(
        instead={"For `s4`, `lime` gave": "For the same feature, `lime` gave"},
    ),
    "ten-minutes/2": Alone(title="Less noise"),
    "discretization/2": Alone(),
    "sampling/1": Alone(),
    "sampling/3": Alone(at={"d": ("has {} features", "all {} boxes")}),
    "weights/1": Alone(),
    "weights/2": Alone(),
    "weights/3": Alone(),
    "surrogate/3": Alone(
        instead={"For the running example at $\\nu = 1$ the mean weight": "The mean weight"}
    ),
    "covariance/4": Alone(),
    "theorem/1": Alone(),
    "theorem/3": Alone(at={"mu": ("\\mu = {}$",)}),
    "switch-off/1": Alone(at={"xi": ("\\xi_j = {}$",)}),
    "switch-off/2": Alone(),
    "local-error/1": Alone(),
    "samples/1": Alone(),
    "samples/2": Alone(
        instead={
            "In the running example at $\\nu = 1$ the second coefficient tends to": "A coefficient tends to"
        }
    ),
    "samples/3": Alone(),
    "beyond-linear/1": Alone(at={"Q": ("f(x) = {}x^2",)}),
    "beyond-linear/2": Alone(),
    "real-lime/1": Alone(),
    "real-lime/2": Alone(),
    "trust/1": Alone(),
    "trust/2": Alone(),
    "interactions/1": Alone(),
    "interactions/2": Alone(),
    "interactions/3": Alone(),
    "images/1": Alone(at={"hidden": ("have the tone {}.",)}),
    "images/2": Alone(title="Most of them stay"),
    "integrals/1": Alone(),
    "integrals/2": Alone(),
    "paper/1": Alone(),
}


class Numerical(NamedTuple):
    """A number is asked."""

    chapter: str
    title: str
    text: str
    exercise: Value
    version: int


class Choice(NamedTuple):
    """One of some options is right."""

    chapter: str
    title: str
    text: str
    options: tuple[quizzes.Option, ...]


class Essay(NamedTuple):
    """A text is asked, which a person reads."""

    chapter: str
    title: str
    text: str
    rubric: tuple[str, ...]
    model: str


Question = Numerical | Choice | Essay


def bank(folder: Path, versions: int, seed: int, only: tuple[str, ...] = ()) -> list[Question]:
    """All questions, chapter by chapter: ``versions`` of each varied exercise, quizzes, texts to write."""
    stems = [stem for stem in book.reading_order(folder) if not only or stem in only]
    return [question for stem in stems for question in of_chapter(folder, stem, versions, seed)]


def of_chapter(folder: Path, stem: str, versions: int, seed: int) -> Iterator[Question]:
    """The questions of one chapter."""
    path = folder / f"{stem}.ipynb"
    chapter, posed = book.title(path), book.asked(path)
    for exercise in chapters()[stem]:
        question = posed["ex-" + exercise.name.replace("/", "-")]
        if exercise.name in VARIED:
            title = VARIED[exercise.name].title or question.title
            for version, variant in enumerate(drawn(exercise.name, seed, versions), 1):
                text = text_of(variant, question.text)
                yield Numerical(chapter, title, text, variant, version)
        elif isinstance(exercise, Paragraph):
            rubric = tuple(exercise.rubric)
            yield Essay(chapter, question.title, question.text, rubric, question.solution)
    for entry in quizzes.questions(book.markdown(path)):
        options = tuple(
            option._replace(
                text=book.spelt_out(option.text, folder), why=book.spelt_out(option.why, folder)
            )
            for option in entry.options
        )
        text = book.spelt_out(entry.text, folder)
        yield Choice(chapter, f"quiz {entry.number}", text, options)


def drawn(name: str, seed: int, versions: int) -> Iterator[Value]:
    """Variants, the same for the same seed: all different, and none with the numbers of the book.

    Fewer than were asked for where the numbers of the question leave no more.
    """
    exercise = exercises()[name]
    assert isinstance(exercise, Value)
    rng = np.random.default_rng([seed, *name.encode()])
    seen = {repr(exercise.params)}
    for _ in range(30 * versions):
        if len(seen) > versions:
            return
        variant = exercise.variant(rng)
        if repr(variant.params) not in seen:
            seen.add(repr(variant.params))
            yield variant


# --- the numbers of a variant in the text of its chapter -----------------------------------------


def text_of(variant: Value, text: str) -> str:
    """The chapter's text with the variant's numbers."""
    alone, declared = VARIED[variant.name], exercises()[variant.name]
    for words, other in alone.instead.items():
        text = _once(text, words, other, variant.name)
    marked = text
    for name, given in declared.given.items():
        if given.draw is not None:
            marked = _marked(marked, name, given, alone.at.get(name, ()), variant.name)
    for name, given in variant.given.items():
        marked = _filled(marked, name, given)
    return marked


def _mark(name: str) -> str:
    return f"\ue000{name}\ue001"  # private characters: no text has them


def _marked(text: str, name: str, given: Given, at: tuple[str, ...], exercise: str) -> str:
    """The text with a mark where a given stands."""
    if at:
        for words in at:
            found = [words.format(shown) for shown in _ways(given.shown)]
            (there,) = [shown for shown in found if shown in text] or [words]
            text = _once(text, there, words.replace("{}", _mark(name)), exercise)
        return text
    word = "|".join(re.escape(shown) for shown in _ways(given.shown))
    # no part of a longer number, of a name or of an exponent
    whole = re.compile(rf"(?<![\w^_{{.,−-])(?:{word})(?![\w^_]|[.,]\d)")
    if len(whole.findall(text)) != 1:
        raise ValueError(f"{exercise}: {given.label} must stand once in the question, as {word}.")
    return whole.sub(lambda _: _mark(name), text)


def _once(text: str, words: str, other: str, exercise: str) -> str:
    if text.count(words) != 1:
        raise ValueError(f"{exercise}: {words!r} must stand once in the question.")
    return text.replace(words, other)


def _ways(shown: str) -> list[str]:
    """In a formula a minus is a hyphen."""
    return list(dict.fromkeys([shown, shown.replace("\N{MINUS SIGN}", "-")]))


def _filled(text: str, name: str, given: Given) -> str:
    """The number in the place of its marks."""
    parts = text.split(_mark(name))
    for k in range(len(parts) - 1):
        before = "".join(parts[: k + 1])
        in_formula = before.count("$") % 2 == 1
        parts[k] += _ways(given.shown)[-1] if in_formula else given.shown
    return "".join(parts)
