"""Judges of chapters whose exercises are not declared in ``exercises``: none is left, so this can go.

A judge is a function of the answer that returns a hint, or None when the answer is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Judge = Callable[[Any], str | None]

_EXERCISES: dict[str, Judge] = {}


def verdict(exercise: str, answer: Any) -> tuple[bool, str]:
    """Whether the answer is right, and what to tell the reader."""
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
