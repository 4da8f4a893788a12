"""From the book to a class: assignments, how they are graded, what a lecturer takes away.

``command`` is `limetutor class`. ``questions`` and ``assignments`` are what is asked and what is right;
``sandbox`` is where students' code runs, beside ``inside/worker``; ``notebooks`` reads what they hand in,
``marking`` judges it, ``release``, ``grade`` and ``feedback`` are the commands. A notebook of an
assignment calls two functions of this room, :func:`hint` and :func:`numbers`. While it is graded it has
stand-ins for them (``inside/standin``), because limetutor is not there.
"""

from __future__ import annotations

from typing import Any

_attempts: Any = None


def hint(name: str, answer: Any, student: str = "") -> None:
    """Judge an answer to a question of an assignment as the grader will, and print what to think of.

    The inputs here are not those of the grader. A new answer is a new attempt, and hints get stronger
    as attempts go by.
    """
    from ..course.judging.kinds import Attempts
    from .assignments import exercise

    global _attempts
    _attempts = _attempts or Attempts()
    asked = exercise(name, student)
    print(asked.judge(answer, _attempts.at(asked, answer)))


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives a student: the same for the same id, others for others."""
    from .assignments import exercise

    return exercise(name, student).params
