"""The exercises of the book, one module a chapter, and :func:`judge` and :func:`check` for them all.

A module here has the name of its notebook and a tuple ``EXERCISES`` in the order of the page; that is
all it takes to be found. The kinds are in :mod:`limetutor.course.judging.kinds`.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from ... import arguments as arg
from ..judging.kinds import Attempts, Exercise
from ..judging.tables import Verdict

_attempts = Attempts()


@cache
def chapters() -> dict[str, tuple[Exercise, ...]]:
    """The exercises of each chapter, by the stem of its notebook."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: import_module(f"{__name__}.{name}").EXERCISES for name in names}


@cache
def exercises() -> dict[str, Exercise]:
    """All of them, by name."""
    return {e.name: e for chapter in chapters().values() for e in chapter}


def judge(name: str, answer: Any, attempt: int = 1) -> Verdict:
    """Judge an answer to an exercise of the book.

    Parameters
    ----------
    name
        Chapter and number, as in ``"switch-off/1"``.
    answer
        A number, a list or an array, or a text such as ``"0,88"``, ``"3/4"`` or ``"1, 2"``
        (:mod:`limetutor.course.judging.grammar` says what is read); for some exercises a function or
        a paragraph.
    attempt
        1, 2, …: later attempts get stronger hints.

    Returns
    -------
    Verdict
        ``.kind`` is ``"right"``, ``"close"`` (right but for the form) or ``"wrong"``; ``.words`` are
        for the reader.
    """
    attempt = arg.whole("attempt", attempt, 1)
    known = exercises()
    if not isinstance(name, str) or name not in known:
        raise ValueError(
            f"name must be that of one of the {len(known)} exercises, chapter and number as in "
            f"'switch-off/1', got {arg.shorten(name)}."
        )
    return known[name].judge(answer, attempt)


def check(name: str, answer: Any) -> None:
    """Print the words of :func:`judge`, and count attempts: a new answer is a new attempt."""
    known = exercises().get(name) if isinstance(name, str) else None
    print(judge(name, answer, _attempts.at(known, answer) if known else 1))
