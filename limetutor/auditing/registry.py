"""Where checks are registered. The order is that in which findings of one severity are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .case import Case
from .findings import Finding

Check = Callable[[Case], Iterator[Finding]]

CHECKS: list[Check] = []


def check(function: Check) -> Check:
    """Register a check."""
    CHECKS.append(function)
    return function
