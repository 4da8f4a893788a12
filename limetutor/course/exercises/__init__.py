"""The exercises of the book, one module per chapter.

A module here has the name of its notebook and a tuple ``EXERCISES`` in the order of the page; that is
all it takes to be found. A chapter is imported when one of its exercises is asked for. The kinds are
in :mod:`limetutor.course.judging.kinds`.
"""

from __future__ import annotations

import pkgutil
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from ...inputs import arguments as arg
from ..judging.kinds import Exercise

#: Chapters whose exercises have a shorter name than their notebook.
SHORT_NAMES = {"integrals": "gaussian_integrals", "paper": "reading_the_paper"}


@cache
def stems() -> tuple[str, ...]:
    """The stems of the notebooks that have exercises."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


@cache
def chapter(stem: str) -> tuple[Exercise, ...]:
    """The exercises of the chapter with this stem, named after it and numbered from 1."""
    prefix = next((k for k, long in SHORT_NAMES.items() if long == stem), stem.replace("_", "-"))
    declared = import_module(f"{__name__}.{stem}").EXERCISES
    return tuple(replace(exercise, name=f"{prefix}/{k}") for k, exercise in enumerate(declared, 1))


def chapters() -> dict[str, tuple[Exercise, ...]]:
    """The exercises of every chapter, by the stem of its notebook."""
    return {stem: chapter(stem) for stem in stems()}


def exercises() -> dict[str, Exercise]:
    """All exercises, by name."""
    return {exercise.name: exercise for stem in stems() for exercise in chapter(stem)}


def named(name: Any) -> Exercise:
    """The exercise of this name, from its own chapter alone; ValueError if there is none."""
    prefix = name.partition("/")[0] if isinstance(name, str) else ""
    stem = SHORT_NAMES.get(prefix, prefix.replace("-", "_"))
    for exercise in chapter(stem) if stem in stems() else ():
        if exercise.name == name:
            return exercise
    raise ValueError(
        f"name must be that of one of the {len(exercises())} exercises, chapter and number as in "
        f"'switch-off/1', got {arg.shorten(name)}."
    )
