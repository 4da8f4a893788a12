"""Checks for the exercises: a right answer is told why, a wrong one gets a hint.

An exercise is a function of the answer that returns a hint, or None when the answer is right.
It computes what is right with the package itself, so that it cannot drift from the theory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg

Judge = Callable[[Any], str | None]

_EXERCISES: dict[str, Judge] = {}


def check(exercise: str, answer: Any) -> None:
    """Print whether ``answer`` solves the exercise, and a hint where it does not."""
    print(verdict(exercise, answer)[1])


def verdict(exercise: str, answer: Any) -> tuple[bool, str]:
    """Whether the answer is right, and what to tell the reader."""
    if exercise not in _EXERCISES:
        known = ", ".join(sorted(_EXERCISES))
        raise ValueError(f"exercise must be one of {known}, got {arg.shorten(exercise)}.")
    if answer is Ellipsis:
        return False, "Replace the three dots with your answer, then run the cell again."
    hint = _EXERCISES[exercise](answer)
    return (True, "✓ Right.") if hint is None else (False, f"✗ Not yet. {hint}")


def exercise(name: str) -> Callable[[Judge], Judge]:
    """Register the judge of an exercise under its name, ``chapter/number``."""

    def register(judge: Judge) -> Judge:
        _EXERCISES[name] = judge
        return judge

    return register


def close(answer: Any, expected: Any, rtol: float = 0.01, atol: float = 0.0) -> bool:
    """Whether the answer has the shape of what is expected and lies within tolerance."""
    try:
        answer = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return False
    expected = np.asarray(expected, dtype=float)
    return answer.shape == expected.shape and np.allclose(answer, expected, rtol=rtol, atol=atol)
