"""The four kinds of exercises, and what a declaration is made of.

An exercise is declared as data in ``limetutor/course/exercises/<chapter>.py``. What is right and each
known mistake are functions of the numbers in the question (:class:`Given`), so that a variant with
other numbers can be drawn and judged like the original.
"""

from .exercise import Attempts, Exercise, Mistake, with_hints
from .functions import Function, Paragraph
from .givens import Given, between, in_words, one_of, pair, some_of
from .values import DIGITS, Members, Tabulated, Value, rounded

__all__ = [
    "DIGITS", "Attempts", "Exercise", "Function", "Given", "Members", "Mistake", "Paragraph",
    "Tabulated", "Value", "between", "in_words", "one_of", "pair", "rounded", "some_of", "with_hints",
]  # fmt: skip
