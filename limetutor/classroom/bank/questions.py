"""The questions of the bank: exercises with other numbers, quizzes, and texts that a person reads.

The text of a variant is that of its chapter with the numbers of the variant in it. A given must appear
there once, as a separate word; where it does not, ``VARIED`` gives the words around it, and what a
question outside of its chapter must say differently.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...course import quizzes
from ...course.exercises import chapters, exercises
from ...course.judging.kinds import Given, Paragraph, Value
from . import chapters as book


@dataclass(frozen=True)
class Standalone:
    """Changes to the text of an exercise outside of its chapter.

    ``at`` has the words around a given, with ``{}`` in its place, where it is not a separate word or
    occurs twice; ``instead`` replaces what refers to the rest of the chapter; ``title`` replaces one
    that names a number which varies.
    """

    at: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    title: str = ""


#: Exercises whose text is true with other numbers as it is ...
UNCHANGED = (
    "sampling/1", "sampling/5", "weights/1", "covariance/4",
    "theorem/1", "switch-off/2", "local-error/1", "samples/1", "samples/3", "beyond-linear/2",
    "real-lime/1", "trust/1", "interactions/1", "interactions/2",
    "interactions/3", "one-cube/1", "one-cube/2", "integrals/1", "integrals/2", "paper/1",
)  # fmt: skip

#: ... and all exercises with one number for an answer that the bank varies.
VARIED = dict.fromkeys(UNCHANGED, Standalone()) | {
    "ten-minutes/1": Standalone(title="Less noise"),
    "sampling/3": Standalone(at={"d": ("has {} features", "all {} boxes")}),
    "switch-off/1": Standalone(at={"xi": ("\\xi_j = {}$",)}),
    "samples/2": Standalone(
        instead={
            "In the running example at $\\nu = 1$, the second coefficient tends to": "A coefficient tends to"
        }
    ),
    "beyond-linear/1": Standalone(at={"Q": ("f(x) = {}x^2",)}),
    "images/1": Standalone(at={"hidden": ("have tone {}.",)}),
    "images/2": Standalone(title="Most of them stay"),
}

#: Texts to write that ask for more than a question outside of its chapter can suppose to be known.
ESSAYS = {
    "trust/2": Standalone(
        instead={
            "Write the note that goes with the list for patient 13: which": (
                "For a patient `lime` gives the reasons `s5` (+42), `bmi` (+12), `sex` (−7), `bp` and `age`. "
                "The first three are on the list in every run, the last two are not. With ten boxes instead "
                "of four `bmi` is negative, and the signs of `s5` and `sex` stay the same. If only `bmi` "
                "rises, the prediction rises on the whole.\nWrite the note that goes with the list: which"
            )
        }
    )
}

MARK = "\ue000{}\ue001"  # in the place of a given: private-use characters


class NumericalQuestion(NamedTuple):
    """A question for a number; ``topic`` is shared by the versions of one exercise, and by no others."""

    chapter: str
    title: str
    text: str
    exercise: Value
    version: int

    @property
    def topic(self) -> str:
        """The subcategory of its chapter."""
        return self.title

    @property
    def points(self) -> int:
        """For six minutes with paper and a calculator."""
        return 3


class ChoiceQuestion(NamedTuple):
    """A question with several options, of which one is right."""

    chapter: str
    title: str
    text: str
    options: tuple[quizzes.QuizOption, ...]

    @property
    def topic(self) -> str:
        """The subcategory of its chapter."""
        return "Quiz"

    @property
    def points(self) -> int:
        """For two minutes."""
        return 1


class EssayQuestion(NamedTuple):
    """A question for a text that a person reads."""

    chapter: str
    title: str
    text: str
    rubric: tuple[str, ...]
    model: str

    @property
    def topic(self) -> str:
        """The subcategory of its chapter."""
        return self.title

    @property
    def points(self) -> int:
        """One for each point of its rubric."""
        return len(self.rubric)


BankQuestion = NumericalQuestion | ChoiceQuestion | EssayQuestion


def bank(folder: Path, versions: int, seed: int, only: tuple[str, ...] = ()) -> list[BankQuestion]:
    """All questions, chapter by chapter: ``versions`` of each varied exercise, quizzes, texts to write."""
    stems = [stem for stem in book.reading_order(folder) if not only or stem in only]
    return [question for stem in stems for question in of_chapter(folder, stem, versions, seed)]


def of_chapter(folder: Path, stem: str, versions: int, seed: int) -> Iterator[BankQuestion]:
    """The questions of one chapter."""
    path = folder / f"{stem}.ipynb"
    chapter, posed = book.title(path), book.exercises_of(path)
    for exercise in chapters()[stem]:
        question = posed["ex-" + exercise.name.replace("/", "-")]
        if exercise.name in VARIED:
            title = VARIED[exercise.name].title or question.title
            for version, variant in enumerate(drawn(exercise.name, seed, versions), 1):
                text = text_of(variant, question.text)
                yield NumericalQuestion(chapter, title, text, variant, version)
        elif isinstance(exercise, Paragraph):
            text, rubric = question.text, tuple(exercise.rubric)
            if exercise.name in ESSAYS:
                text = _instead(text, ESSAYS[exercise.name], exercise.name)
            yield EssayQuestion(chapter, question.title, text, rubric, question.solution)
    for entry in quizzes.questions(book.markdown(path)):
        spelt_out = partial(book.spelt_out, folder=folder)
        options = tuple(
            option._replace(text=spelt_out(option.text), why=spelt_out(option.why))
            for option in entry.options
        )
        yield ChoiceQuestion(chapter, f"quiz {entry.number}", spelt_out(entry.text), options)


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


def text_of(variant: Value, text: str) -> str:
    """The chapter's text with the variant's numbers."""
    changes, declared = VARIED[variant.name], exercises()[variant.name]
    marked = _instead(text, changes, variant.name)
    for name, given in declared.given.items():
        if given.draw is not None:
            marked = _marked(marked, name, given, changes.at.get(name, ()), variant.name)
    for name, given in variant.given.items():
        marked = _filled(marked, name, given)
    return marked


def _marked(text: str, name: str, given: Given, at: tuple[str, ...], exercise: str) -> str:
    """The text with a mark in the place of a given."""
    if at:
        for words in at:
            spellings = [words.format(shown) for shown in _spellings(given.shown)]
            (present,) = [shown for shown in spellings if shown in text] or [words]
            text = _once(text, present, words.replace("{}", MARK.format(name)), exercise)
        return text
    word = "|".join(re.escape(shown) for shown in _spellings(given.shown))
    # not part of a longer number, of a name or of an exponent
    whole = re.compile(rf"(?<![\w^_{{.,−-])(?:{word})(?![\w^_]|[.,]\d)")
    if len(whole.findall(text)) != 1:
        raise ValueError(f"{exercise}: {given.label} must stand once in the question, as {word}.")
    return whole.sub(lambda _: MARK.format(name), text)


def _instead(text: str, changes: Standalone, exercise: str) -> str:
    """The text without what refers to the rest of the chapter."""
    for words, other in changes.instead.items():
        text = _once(text, words, other, exercise)
    return text


def _once(text: str, words: str, other: str, exercise: str) -> str:
    if text.count(words) != 1:
        raise ValueError(f"{exercise}: {words!r} must stand once in the question.")
    return text.replace(words, other)


def _spellings(shown: str) -> list[str]:
    """A number with a minus sign, and with the hyphen that formulas have instead."""
    return list(dict.fromkeys([shown, shown.replace("\N{MINUS SIGN}", "-")]))


def _filled(text: str, name: str, given: Given) -> str:
    """The text with the number in the place of its marks."""
    parts = text.split(MARK.format(name))
    for k in range(len(parts) - 1):
        before = "".join(parts[: k + 1])
        in_formula = before.count("$") % 2 == 1
        parts[k] += _spellings(given.shown)[-1] if in_formula else given.shown
    return "".join(parts)
