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

    if _without_id(name, student):
        return
    global _attempts
    _attempts = _attempts or Attempts()
    question = exercise(name, student)
    print(question.judge(answer, _attempts.at(question, answer)))


def numbers(name: str, student: str) -> dict[str, Any]:
    """The numbers that a question gives a student: the same for the same id, others for others."""
    from .assignments import exercise

    _without_id(name, student)
    return exercise(name, student).params


def _without_id(name: str, student: str) -> bool:
    """Say so if a question with numbers of one's own is asked without an id, or with what stands in its place."""
    from .assignments import assignments, exercise
    from .questions import identity

    exercise(name, student)  # names and types first
    questions = {q.name: q for a in assignments().values() for q in a.questions}
    missing = questions[name].personal and identity(student) in ("", "your id")
    if missing:
        print(
            'Your id is missing: write it in the cell with student = "your id", run that cell, then this one. These '
            "are nobody's numbers, and an answer to them gets no points."
        )
    return missing


def released(version: str) -> None:
    """Say so if a notebook was released with another version of its assignment than the one installed here."""
    from .assignments import assignments, edition

    name = version.partition(" ")[0]
    if name in assignments() and version != edition(name):
        print(
            f"This notebook is of version {version}, and limetutor here has {edition(name)}: what hints say may not "
            "be what counts. Install limetutor by the line that your teacher gave."
        )
