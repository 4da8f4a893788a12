"""Answers to the exercises of the book: :func:`judge` one, or :func:`check` it and count attempts."""

from typing import Any

from ..inputs import arguments as arg
from .exercises import named
from .judging.kinds import Attempts
from .judging.tables import Verdict

_attempts = Attempts()


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
        ``.kind`` is ``"right"``, ``"close"`` (right but for the form), ``"wrong"``, or ``"unread"``
        (no numbers could be read); ``.words`` are for the reader.

    Examples
    --------
    >>> judge("weights/1", "0,65").kind
    'close'
    """
    attempt = arg.whole("attempt", attempt, 1)
    return named(name).judge(answer, attempt)


def check(name: str, answer: Any) -> None:
    """Print the words of :func:`judge`, and count attempts: a new answer is a new attempt.

    Parameters
    ----------
    name, answer
        As for :func:`judge`.

    Examples
    --------
    >>> check("weights/1", "0.655")
    ✓ Right.
    """
    print(judge(name, answer, _attempts.at(named(name), answer)))
