"""The two functions that every assignment calls, as they are while it is graded."""

from typing import Any

GIVEN: dict[str, dict[str, Any]] = {}  # the numbers of the student whose notebook this is


def hint(name: str, answer: Any, student: str = "") -> None:
    """Say nothing: what is right is known elsewhere."""


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives this student, whoever is asked for."""
    return dict(GIVEN[name])
