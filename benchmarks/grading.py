"""Grading a class: copies of a good submission, all three assignments, two notebooks at a time.

Where there is no sandbox nothing is measured.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from settings import Row

from limetutor.classroom.grade import grade_all
from limetutor.classroom.release import solved, write
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable

SECONDS, GROWTH = 6, 1.1  # a submission on average; memory of the grader over what it began with


def rows(small: bool) -> Iterator[Row]:
    if why_unavailable():
        return
    copies = 1 if small else 200
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "student 0")
        write(str(first), solved)
        folders = [first, *(Path(folder, f"student {k}") for k in range(1, copies))]
        for other in folders[1:]:
            shutil.copytree(first, other)
        parts = [part for part in (folders[: copies // 4], folders[copies // 4 :]) if part]
        held, begin, points = [], time.perf_counter(), 0
        for part in parts:
            points += sum(result.points for result in grade_all(part, SandboxLimits(), 2))
            held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
        each = (time.perf_counter() - begin) / copies
    full = points == copies * 53
    yield Row(
        f"grading {copies} submissions of three notebooks, two at a time",
        f"{each:.1f} s each{'' if full else ', NOT FULL MARKS'}",
        f"{SECONDS} s",
        each < SECONDS and full,
    )
    grown = held[-1] / held[0]
    yield Row(
        "memory of the grader at the end, over that after a quarter",
        f"{held[-1]:.0f} MB, {grown:.2f} times",
        f"{GROWTH}",
        grown < GROWTH,
    )
