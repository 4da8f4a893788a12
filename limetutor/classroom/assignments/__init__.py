"""The assignments: a module each, named like its notebook in the folder ``assignments``.

A module with an ``ASSIGNMENT`` is found by itself. The right answers are here, in functions of the
package, and never in a notebook.
"""

import pkgutil
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from ...course.judging.kinds import Exercise
from ...inputs import arguments as arg
from ..questions import Assignment


@cache
def assignments() -> dict[str, Assignment]:
    """All of them, by name, in the order of a course."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    declared = [import_module(f"{__name__}.{name}").ASSIGNMENT for name in names]
    return {a.name: a for a in sorted(declared, key=lambda a: a.number)}


@cache
def edition(name: str) -> str:
    """The version of an assignment: that of the package, and a digest of what its answers are judged by."""
    from ... import __version__

    judging = sorted(Path(__file__).parents[2].glob("course/judging/*.py"))
    files = [Path(__file__).with_name(f"{name}.py"), *judging]
    text = "\n".join(line for file in files for line in file.read_text("utf-8").splitlines())
    return f"{name} {__version__}+{sha256(text.encode()).hexdigest()[:8]}"


def exercise(name: str, student: str = "") -> Exercise:
    """The exercise behind a question, with a student's numbers."""
    questions = {q.name: q for a in assignments().values() for q in a.questions}
    if not isinstance(name, str) or name not in questions:
        raise ValueError(
            f"name must be that of one of the {len(questions)} questions of the assignments, such as "
            f"{next(iter(questions))!r}, got {arg.shorten(name)}."
        )
    if not isinstance(student, str):
        raise TypeError(f"student must be a text, your id, got {arg.shorten(student)}.")
    return questions[name].of(student)
