"""The commands, and where they are registered."""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import limetutor as lt

from ..plotting.files import place, write_atomically
from ..plotting.page import visible
from .files import ModelAndTable
from .options import add_options
from .refusals import refuse

DONE, SERIOUS, BAD_INPUT, STOPPED = 0, 1, 2, 130  # exit codes; the last as shells have it
MAX_ROWS = 20_000  # of a table audited whole
CLASSROOM = (
    "limetutor.classroom.command"  # of a clone; loaded only when `limetutor class` is called
)

Options = Callable[[argparse.ArgumentParser], None]
Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A subcommand: its name, its description, its options and its function."""

    name: str
    help: str
    options: Options
    run: Run


COMMANDS: dict[str, Command] = {}


def command(name: str, words: str, options: Options) -> Callable[[Run], Run]:
    """Register a function as `limetutor name`."""

    def register(run: Run) -> Run:
        COMMANDS[name] = Command(name, words, options, run)
        return run

    return register


def _write(result: Any, options: argparse.Namespace, **page: Any) -> None:
    """Print a result, and write it into the files that were named."""
    print(visible(result))
    if options.html:
        result.to_html(options.html, **page)
        print(f"report: {visible(options.html)}")
    if options.json:
        text = json.dumps(result.to_dict(), allow_nan=False, indent=1)
        write_atomically(place("--json", options.json), text.encode())


@command("explain", "What counts for and against the prediction of one row.", add_options)
def explain(options: argparse.Namespace) -> int:
    """`limetutor explain`."""
    read = ModelAndTable.read(options)
    xi = read.row(options.row)
    explanation = lt.explain(read.f, xi, read.world, seed=options.seed, **read.settings)
    title = f"Row {options.row}: what counts for and against its prediction"
    _write(explanation, options, title=title)
    return DONE


@command(
    "audit",
    "Whether the explanation of one row, or of every row without --row, can be trusted.",
    add_options,
)
def audit(options: argparse.Namespace) -> int:
    """`limetutor audit`."""
    read = ModelAndTable.read(options)
    rows = read.frame if options.row is None else read.row(options.row)
    if options.row is None and len(rows) > MAX_ROWS:
        refuse(
            f"data has {len(rows):,} rows, and auditing them all would take long: pick one with --row, or "
            f"audit a part of them, at most {MAX_ROWS:,}, in a file of its own."
        )
    result = lt.audit(read.world, read.f, rows, seed=options.seed, **read.settings)
    _write(result, options)
    if isinstance(result, lt.Audit):
        return SERIOUS if result.severity == "serious" else DONE
    return SERIOUS if result.counts["serious"] else DONE


@command(
    "path",
    "How the explanation of one row moves with the bandwidth, and which to take.",
    add_options,
)
def path(options: argparse.Namespace) -> int:
    """`limetutor path`."""
    read = ModelAndTable.read(options)
    settings = {key: value for key, value in read.settings.items() if key != "nu"}
    result = lt.path(read.f, read.row(options.row), read.world, seed=options.seed, **settings)
    _write(result, options, title=f"Row {options.row}: which bandwidth?")
    return DONE


def _class_options(parser: argparse.ArgumentParser) -> None:
    if find_spec(CLASSROOM) is None:
        parser.error(
            "it needs a clone of limetutor, installed there with pip install -e '.[class]'."
        )
    import_module(CLASSROOM).options(parser)


@command("class", "Assignments: hand them out, grade them, give feedback.", _class_options)
def classroom(options: argparse.Namespace) -> int:
    """`limetutor class`."""
    return int(import_module(CLASSROOM).run(options))
