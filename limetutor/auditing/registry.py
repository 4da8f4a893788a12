"""Where checks are registered. The order is that in which findings of one severity are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .case import Case
from .findings import Finding

Check = Callable[[Case], Iterator[Finding]]

CHECKS: list[Check] = []

#: What comes first, whichever of these rooms is imported first; checks of any other room come last.
ROOMS = ("data_checks", "noise_checks", "checks")


def check(function: Check) -> Check:
    """Register a check."""
    CHECKS.append(function)
    CHECKS.sort(key=_place)  # keeps the order within a room
    return function


def _place(function: Check) -> int:
    room = function.__module__.rpartition(".")[2]
    return ROOMS.index(room) if room in ROOMS else len(ROOMS)
