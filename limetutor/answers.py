"""Checks for the exercises: a right answer is told why, a wrong one gets a hint.

An exercise is a function of the answer that returns a hint, or None when the answer is right.
It computes what is right with the package itself, so that it cannot drift from the theory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import arguments as arg
from .boxes import standard_quantiles
from .theory import gaussian_tilt

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


# --- switch-off ------------------------------------------------------------------------------


@exercise("switch-off/1")
def _find_the_bandwidth(answer: Any) -> str | None:
    q = standard_quantiles(4)
    square = (2 * 0.6 - q[3]) / q[3]
    if close(answer, square):
        return "That is the square of the bandwidth: take the root."
    if not close(answer, np.sqrt(square)):
        return "Which box holds -0.6? Put its two edges into the formula for V."
    return None


@exercise("switch-off/2")
def _hide_a_feature(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    xi = q * (1 + 0.75**2) / 2
    if close(answer, q * (1 + 0.75) / 2):
        return "The formula gives the square of the bandwidth: use 0.75², not 0.75."
    if not close(answer, xi):
        return "ξ lies between 0 and 0.674; solve ν² = (2ξ - q₊)/q₊ for ξ."
    return None


@exercise("switch-off/3")
def _a_safe_bandwidth(answer: Any) -> str | None:
    if not close(answer, 1.0):
        return "Where in its box is V largest? Then compare the boxes: which one is the worst?"
    return None


# --- local error -----------------------------------------------------------------------------


@exercise("local-error/1")
def _the_right_place(answer: Any) -> str | None:
    q = standard_quantiles(4)[3]
    density = np.exp(-(np.array([0.0, q]) ** 2) / 2) / np.sqrt(2 * np.pi)
    if close(answer, q / 2):
        return "That is the middle of the box; the normal density is higher on its left side."
    if not close(answer, 4 * (density[0] - density[1])):
        return "The surrogate lands on the mean of N(0, 1) within the box: (φ(0) - φ(q)) / (1/4)."
    return None


@exercise("local-error/2")
def _two_errors(answer: Any) -> str | None:
    inside = gaussian_tilt(
        [0.961, 0.432], 1.0, 0, 1, *zip(*_BOXES_OF_THE_EXAMPLE, strict=True)
    ).inside
    right = -inside[0] / inside[1]
    if close(answer, -right):
        return "The two contributions must have opposite signs: check the sign of your answer."
    if close(answer, 1 / right):
        return "You divided the wrong way round: a₂ multiplies the second distance."
    if not close(answer, right):
        return "Write the error as inside₁ + a₂ inside₂ with the distances from limit(...).tilt."
    return None


_BOXES_OF_THE_EXAMPLE = [standard_quantiles(4)[3:5], standard_quantiles(4)[2:4]]
