"""Grading a class: a good submission for each id, all three assignments, two notebooks at a time.

Where there is no sandbox nothing is measured.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from settings import Row

from limetutor.classroom.assignments import assignments
from limetutor.classroom.grade import grade_all
from limetutor.classroom.release import solved, write
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable

SECONDS, GROWTH = 3, 1.1  # a notebook on average; memory of the grader over what it began with


def rows(small: bool) -> Iterator[Row]:
    if why_unavailable():
        return
    copies = 1 if small else 200
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder, f"student {k}") for k in range(copies)]
        write(str(folders[0]), solved)
        texts = {path.name: path.read_text("utf-8") for path in folders[0].iterdir()}
        for own in folders:
            own.mkdir(exist_ok=True)
            for name, text in texts.items():
                (own / name).write_text(
                    text.replace('\\"solution\\"', f'\\"{own.name}\\"'), "utf-8"
                )
        parts = [part for part in (folders[: copies // 4], folders[copies // 4 :]) if part]
        held, begin, points = [], time.perf_counter(), 0
        for part in parts:
            points += sum(result.points for result in grade_all(part, SandboxLimits(), 2))
            held.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3)
        each = (time.perf_counter() - begin) / copies / len(assignments())
    full = points == copies * sum(a.max_points for a in assignments().values())
    yield Row(
        f"grading {copies} submissions of three notebooks, two at a time",
        f"{each:.1f} s a notebook{'' if full else ', NOT FULL MARKS'}",
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
