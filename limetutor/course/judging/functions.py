"""Exercises answered by a function, which is called beside a reference, or by a paragraph."""

import tracemalloc
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...inputs.arguments import shorten
from .exercise import Exercise, Hinted
from .tables import Verdict, verdict

ROUGH = 1e-3  # of the largest number: what is as near as that was rounded
ROUNDED_SOMEWHERE = (
    "Nearly: it is right to three digits and no further. Is a number rounded on the way?"
)
BUILDS_A_MATRIX = (
    "The numbers are right, but it builds a matrix: for a million features that does not fit into "
    "any memory."
)


class Tried(NamedTuple):
    """What came of calling a function: ``hint`` names no input, ``where`` may."""

    kind: str
    hint: str = ""
    where: str = ""
    lost: bool = False  # wrong, and no declared mistake gives the same


@dataclass(frozen=True, kw_only=True)
class Function(Hinted):
    """A function to write: called on inputs that it has not seen, beside the reference.

    ``inputs(rng)`` gives the arguments of one call; mistakes are functions too, and so is what is right as well, in
    ``also``, because the question leaves it open. ``long(rng)`` gives long arrays, for which the function must not
    hold a square matrix of that size. What is right may depend on what the question gives, by name.
    """

    reference: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    also: Sequence[Callable[..., Any]] = ()
    calls: int = 20
    rtol: float = 1e-6
    long: Callable[[np.random.Generator], tuple[Any, ...]] | None = None

    answered: ClassVar[str] = "kernel"

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """Call it; what it raises, returns or changes is told, and never stops the judge."""
        if answer is Ellipsis:
            return Verdict("wrong", "Replace the three dots with your function, then run it again.")
        if not callable(answer):
            return verdict("wrong", "Give the function itself, by its name and without brackets.")
        rng = np.random.default_rng([zlib.crc32(self.name.encode()), attempt])
        outcome = self.tried(answer, rng)
        step = self.ladder[min(attempt, len(self.ladder)) - 1] if outcome.lost else ""
        return verdict(outcome.kind, outcome.where or outcome.hint, step)

    def tried(self, answer: Callable[..., Any], rng: np.random.Generator) -> Tried:
        """What comes of calls on inputs drawn by ``rng``."""
        cases = [self.inputs(rng) for _ in range(self.calls)]
        cases += [] if self.long is None else [self.long(rng)]

        def called(function: Callable[..., Any]) -> list[np.ndarray]:
            given = (function(*_copies(case), **self.params) for case in cases)
            return [np.asarray(value, float) for value in given]

        expected = called(self.reference)
        results: list[np.ndarray] = []
        for case, right in zip(cases, expected, strict=True):
            result, where, hint = _called(answer, case, right)
            if hint:
                return Tried("wrong", hint, where)
            results.append(result)
        if any(self._agree(results, one) for one in (expected, *map(called, self.also))):
            square = self.long is not None and _holds_a_matrix(answer, cases[-1])
            return Tried("wrong", BUILDS_A_MATRIX) if square else Tried("right")
        for mistaken, hint in self.mistakes:
            if self._agree(results, called(mistaken)):
                return Tried("wrong", hint)
        if self._agree(results, expected, ROUGH):
            return Tried("wrong", ROUNDED_SOMEWHERE)
        triples = zip(cases, results, expected, strict=True)
        case, result = next((c, r) for c, r, right in triples if not self._agree([r], [right]))
        where = f"For {_listed(case)} it gives {shorten(result)}, which is not right."
        return Tried("wrong", self.nudge, where, lost=True)

    def essence(self, answer: Any) -> Any:
        """What its code does: a cell run again makes a new object of the same code."""
        code = getattr(answer, "__code__", None)
        return (code.co_code, code.co_names, repr(code.co_consts)) if code else None

    def _agree(
        self, results: Sequence[np.ndarray], expected: Sequence[np.ndarray], rough: float = 0.0
    ) -> bool:
        return all(
            one.shape == other.shape
            and np.allclose(one, other, self.rtol, 1e-12 + rough * np.abs(other).max(initial=0))
            for one, other in zip(results, expected, strict=True)
        )


def _copies(case: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in case)


def _listed(case: tuple[Any, ...]) -> str:
    return ", ".join(shorten(value) for value in case)


def _called(
    function: Callable[..., Any], case: tuple[Any, ...], right: np.ndarray
) -> tuple[np.ndarray, str, str]:
    """What a function returned, or what is wrong with that: with the inputs, and without them."""
    passed, nothing = _copies(case), np.zeros(0)
    try:
        result = function(*passed)
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return nothing, f"For {_listed(case)} it raises {told[:150]}", "It raises an error."
    if any(not np.array_equal(a, b) for a, b in zip(passed, case, strict=True)):
        return nothing, "", "It changes what it was given: work on a copy."
    if result is None:
        return nothing, "", "It returns nothing: is there a return?"
    try:
        values = np.array(result, dtype=float)
    except (TypeError, ValueError, OverflowError):
        where = f"It returns {shorten(result)}, which is not a number or an array of them."
        return nothing, where, "It returns what is not a number or an array of them."
    if values.shape != right.shape:
        shapes = f"shape {values.shape}, for {_listed(case)} the shape is {right.shape}"
        where = f"It returns an array of {shapes}."
        return nothing, where, "It returns an array of another shape."
    if not np.all(np.isfinite(values)):
        where = f"For {_listed(case)} it returns nan or infinity."
        return nothing, where, "It returns nan or infinity."
    return values, "", ""


def _holds_a_matrix(function: Callable[..., Any], case: tuple[Any, ...]) -> bool:
    """Whether a call takes as much memory as half a square matrix of its longest argument."""
    size = max(np.size(value) for value in case)
    tracemalloc.start()
    try:
        function(*_copies(case))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return most > size**2 * np.dtype(float).itemsize / 2


@dataclass(frozen=True, kw_only=True)
class Paragraph(Exercise):
    """A text to write, which is not judged: the reader compares it with these points, then with the
    model answer, which is the solution in the chapter.
    """

    rubric: Sequence[str]
    fewest: int = 15  # words

    answered: ClassVar[str] = "points"

    def judge(self, answer: Any, attempt: int = 1) -> Verdict:
        """Never right or wrong, but for a text that is none."""
        if answer is Ellipsis:
            return Verdict("wrong", 'Replace the three dots with your text, in """ and """.')
        if not isinstance(answer, str) or len(answer.split()) < self.fewest:
            return verdict("wrong", f"Write a text of at least {self.fewest} words.")
        points = " ".join(f"({k}) {point}" for k, point in enumerate(self.rubric, 1))
        return Verdict("close", f"≈ Compare with these points, then with the solution: {points}")
