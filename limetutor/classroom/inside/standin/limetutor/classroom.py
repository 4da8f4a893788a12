"""The two functions that every assignment calls, as they are while it is graded."""

from typing import Any

GIVEN: dict[str, dict[str, Any]] = {}  # the numbers of the student whose notebook this is


def hint(name: str, answer: Any, student: str = "") -> None:
    """Print nothing: the right answers are outside of the sandbox."""


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives this student, whatever id is passed."""
    return dict(GIVEN[name])
