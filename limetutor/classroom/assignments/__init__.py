"""The assignments: a module each, named like its notebook in the folder ``assignments``.

A module has an ``ASSIGNMENT``; that is all it takes to be found. What is right is here, in functions of
the package, and never in a notebook.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from ... import arguments as arg
from ...course.judging.kinds import Exercise
from ..questions import Assignment


@cache
def assignments() -> dict[str, Assignment]:
    """All of them, by name, in the order of a course."""
    modules = [
        import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    ]
    return {a.name: a for a in sorted((m.ASSIGNMENT for m in modules), key=lambda a: a.number)}


def exercise(name: str, student: str = "") -> Exercise:
    """The exercise behind a question, with a student's numbers."""
    known = {q.name: q for a in assignments().values() for q in a.questions}
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"name must be that of one of the {len(known)} questions of the assignments, such as "
            f"{next(iter(known))!r}, got {arg.shorten(name)}."
        )
    if not isinstance(student, str):
        raise TypeError(f"student must be a text, your id, got {arg.shorten(student)}.")
    return known[name].of(student)
