"""`limetutor class bank`: a question bank for Moodle, and the same as plain text for an exam."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..command import action

VERSIONS, MOST = 5, 50


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--out",
        required=True,
        help="a folder, or the XML file, for the bank; texts stand beside it",
    )
    add("--versions", type=int, default=VERSIONS, help=f"of each exercise (default: {VERSIONS})")
    add("--seed", type=int, default=0, help="of the numbers (default: 0)")
    add(
        "--only", action="append", default=[], metavar="CHAPTER",
        help="a chapter by the name of its file, as in switch_off; repeat it (default: all)",
    )  # fmt: skip
    add("--book", help="the folder with the chapters (default: that of this clone)")


@action("bank", "Write a question bank for Moodle, and exams in plain text.", _options)
def bank(asked: argparse.Namespace) -> int:
    """`limetutor class bank`."""
    from ...course.exercises import chapters
    from . import chapters as book
    from . import exam, moodle, questions

    if not 1 <= asked.versions <= MOST:
        raise ValueError(f"--versions must be from 1 to {MOST}, got {asked.versions}.")
    if asked.seed < 0:
        raise ValueError(f"--seed must be 0 or more, got {asked.seed}.")
    for stem in asked.only:
        if stem not in chapters():
            raise ValueError(f"--only must be one of {', '.join(chapters())}, got {stem!r}.")
    folder = book.check_book(Path(asked.book) if asked.book else book.BOOK)
    found = questions.bank(folder, asked.versions, asked.seed, tuple(asked.only))
    target, begin = _places(Path(asked.out))
    moodle.write(found, target)
    print(f"{target}: {len(found)} questions for Moodle")
    for number in range(1, asked.versions + 1):
        path = target.with_name(f"{begin}{number}.txt")
        path.write_text(exam.exam(found, number), encoding="utf-8")
        print(f"{path}: version {number} of an exam, with its key")
    return 0


def _places(out: Path) -> tuple[Path, str]:
    """The XML file, and how the names of the texts beside it begin."""
    if out.suffix.lower() == ".xml":
        out.parent.mkdir(parents=True, exist_ok=True)
        return out, f"{out.stem}_exam_"
    out.mkdir(parents=True, exist_ok=True)
    return out / "moodle.xml", "exam_"
