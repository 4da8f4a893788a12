"""What all kinds of exercises share: a name, the numbers of the question, mistakes, hints, attempts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .givens import Given
from .tables import Verdict


class Mistake(NamedTuple):
    """A wrong answer that is known: what it gives, as a function of the givens, and its hint."""

    value: Callable[..., Any]
    hint: str


def with_hints(*pairs: Any) -> tuple[Mistake, ...]:
    """Mistakes written one below the other: what each gives, then its hint."""
    return tuple(Mistake(*pair) for pair in zip(pairs[::2], pairs[1::2], strict=True))


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """What all kinds have: a name, ``chapter/number``, and the numbers of the question.

    The name is not declared: :mod:`limetutor.course.exercises` numbers the exercises of a chapter.
    """

    name: str = ""
    given: Mapping[str, Given] = field(default_factory=dict)

    #: what the page offers: a box, a kernel, or points to compare with
    answered: ClassVar[str] = "box"

    @property
    def params(self) -> dict[str, Any]:
        """The numbers of the question, by name."""
        return {name: given.value for name, given in self.given.items()}

    def variant(self, rng: np.random.Generator) -> Self:
        """The same exercise with other numbers, where they can be drawn."""
        drawn = {
            name: replace(given, value=given.draw(rng)) if given.draw else given
            for name, given in self.given.items()
        }
        return replace(self, given=drawn)

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """The verdict on an answer at an attempt: 1, 2, …"""
        raise NotImplementedError

    def essence(self, answer: Any) -> Any:
        """What makes an answer a new attempt; None if it is none."""
        return None

    def _filled(self, words: str) -> str:
        """A hint with the numbers of the question in it: "{nu}" is one."""
        shown = {name: g.shown for name, g in self.given.items() if f"{{{name}}}" in words}
        for name, text in shown.items():
            words = words.replace(f"{{{name}}}", text)
        return words


@dataclass(frozen=True, kw_only=True)
class Hinted(Exercise):
    """An exercise with known mistakes and with hints for the first, the second and any later attempt.

    The first hint shows no formula, none shows the answer. Where marks count there is no ``step``.
    """

    mistakes: Sequence[Mistake] = ()
    nudge: str
    formula: str
    step: str = ""

    @property
    def ladder(self) -> tuple[str, ...]:
        """The hints with the numbers of the question in them."""
        return tuple(self._filled(h) for h in (self.nudge, self.formula, self.step) if h)


class Attempts:
    """What each exercise was answered so far, so that a cell that is run again is no new attempt."""

    def __init__(self) -> None:
        self._tried: dict[str, list[Any]] = {}

    def at(self, exercise: Exercise, answer: Any) -> int:
        """The number of the attempt that an answer is: 1, 2, …"""
        tried = self._tried.setdefault(exercise.name, [])
        essence = exercise.essence(answer)
        if essence is not None and essence not in tried:
            tried.append(essence)
        return max(1, len(tried))
