"""The functions that every assignment calls, as they are while it is graded."""

from typing import Any


def ask(name: str, *arguments: Any) -> Any:
    """The value of a function of the grader; the worker puts its own in this place."""
    raise RuntimeError(name)


def released(version: str) -> None:
    """Compare nothing: the grader does."""


def hint(name: str, answer: Any, student: str = "") -> None:
    """Print nothing: the right answers are outside of the sandbox."""


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives a student."""
    return ask("numbers", name, student)  # type: ignore[no-any-return]
