"""The command `limetutor class`: what a lecturer needs of this repository.

    limetutor class release --out to_students
    limetutor class collect moodle.zip --roster roster.csv --out submissions
    limetutor class grade submissions --out graded

To add one: a module in this folder, listed in ``MODULES``, with a function registered by :func:`action`.
Such a module imports what it needs inside its functions, so that every other command starts quickly.
"""

import argparse
from collections.abc import Callable
from importlib import import_module

from ..plotting.files import place
from .bounded import stopped_by_signals

# options in which ~ is the home folder
PATHS = ("submissions", "--out", "--book", "--roster", "--marks")
MODULES = ("release", "collect", "grade", "reading", "feedback", "bank")

Run = Callable[[argparse.Namespace], int]
Options = Callable[[argparse.ArgumentParser], None]

ACTIONS: dict[str, tuple[str, Options, Run]] = {}  # by name: the help, the options, the function


def action(name: str, words: str, options: Options) -> Callable[[Run], Run]:
    """Register a function as `limetutor class name`."""

    def register(run: Run) -> Run:
        ACTIONS[name] = (words, options, run)
        return run

    return register


def options(parser: argparse.ArgumentParser) -> None:
    """Add a parser for each action."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for name, (words, add_options, _) in ACTIONS.items():
        add_options(actions.add_parser(name, help=words, description=words))


def run(options: argparse.Namespace) -> int:
    """Run the action of the parsed options; 0 when done."""
    for option in PATHS:
        name = option.lstrip("-")
        if getattr(options, name, None):
            setattr(options, name, str(place(option, getattr(options, name))))
    with stopped_by_signals():
        return ACTIONS[options.action][-1](options)
