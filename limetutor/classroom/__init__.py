"""From the book to a class: assignments, grading, feedback and a question bank.

README.md in this folder lists its modules. A notebook of an assignment calls functions of this
package, :func:`hint`, :func:`numbers` and :func:`released`. While it is graded it has stand-ins for them
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


def released(version: str) -> None:
    """Say so if a notebook was released with another version of its assignment than the one installed here."""
    from .assignments import assignments, edition

    name = version.partition(" ")[0]
    if name in assignments() and version != edition(name):
        print(
            f"This notebook is of version {version}, and limetutor here has {edition(name)}: what hints say may not "
            "be what counts. Install limetutor by the line that your teacher gave."
        )
