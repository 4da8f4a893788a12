"""`limetutor class bank`: a question bank for Moodle, and the same as plain text for an exam."""

import argparse
from pathlib import Path

from ..command import action

DEFAULT_VERSIONS, MAX_VERSIONS = 5, 50
DEFAULT_MINUTES, MIN_MINUTES, MAX_MINUTES = 60, 10, 300


def _options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    words = "a folder, or the XML file, for the bank; texts stand beside it"
    add("--out", required=True, help=words)
    words = f"of each exercise (default: {DEFAULT_VERSIONS})"
    add("--versions", type=int, default=DEFAULT_VERSIONS, help=words)
    words = f"that an exam takes, two for a point (default: {DEFAULT_MINUTES})"
    add("--minutes", type=int, default=DEFAULT_MINUTES, help=words)
    words = "of the numbers, and of what is in an exam (default: 0)"
    add("--seed", type=int, default=0, help=words)
    words = "a chapter by the name of its file, as in switch_off; repeat it (default: all)"
    add("--only", action="append", default=[], metavar="CHAPTER", help=words)
    add("--book", help="the folder with the chapters (default: that of this clone)")


@action("bank", "Write a question bank for Moodle, and exams in plain text.", _options)
def bank(options: argparse.Namespace) -> int:
    """`limetutor class bank`."""
    from ...course.exercises import chapters
    from . import chapters as book
    from . import exam, moodle, questions

    if not 1 <= options.versions <= MAX_VERSIONS:
        raise ValueError(f"--versions must be from 1 to {MAX_VERSIONS}, got {options.versions}.")
    if not MIN_MINUTES <= options.minutes <= MAX_MINUTES:
        raise ValueError(
            f"--minutes must be from {MIN_MINUTES} to {MAX_MINUTES}, got {options.minutes}."
        )
    if options.seed < 0:
        raise ValueError(f"--seed must be 0 or more, got {options.seed}.")
    for stem in options.only:
        if stem not in chapters():
            raise ValueError(f"--only must be one of {', '.join(chapters())}, got {stem!r}.")
    folder = book.check_book(Path(options.book) if options.book else book.BOOK)
    posed = questions.bank(folder, options.versions, options.seed, tuple(options.only))
    out = Path(options.out)
    single = out.suffix.lower() == ".xml"
    target, prefix = (out, f"{out.stem}_exam_") if single else (out / "moodle.xml", "exam_")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(moodle.moodle(posed), encoding="utf-8")
    print(f"{target}: {len(posed)} questions for Moodle")
    for number in range(1, options.versions + 1):
        path = target.with_name(f"{prefix}{number}.txt")
        text = exam.exam(posed, number, options.minutes, options.seed)
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {text.partition(chr(10))[0]}, with its key")
    return 0
