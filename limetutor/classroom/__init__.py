"""From the book to a class: assignments, grading, feedback and a question bank.

README.md in this folder lists its modules. A notebook of an assignment calls two functions of this
package, :func:`hint` and :func:`numbers`. While it is graded it has stand-ins for them
(``inside/standin``), because limetutor is not installed in the sandbox.
"""

from typing import Any

_attempts: Any = None


def hint(name: str, answer: Any, student: str = "") -> None:
    """Judge an answer to a question of an assignment as the grader will, and print a hint.

    The inputs are not those of the grader. A new answer is a new attempt, and hints get stronger with
    each attempt.
    """
    from ..course.judging.kinds import Attempts
    from .assignments import exercise

    global _attempts
    _attempts = _attempts or Attempts()
    question = exercise(name, student)
    print(question.judge(answer, _attempts.at(question, answer)))


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives a student: the same for the same id, others for others."""
    from .assignments import exercise

    return exercise(name, student).params
