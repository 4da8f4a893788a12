"""The command `limetutor class`: what a lecturer does with this repository and a room of students.

    limetutor class release --out to_students
    limetutor class grade submissions --out graded

To add one: a module in this room, listed in ``MODULES``, with a function registered by :func:`action`.
Such a module imports what it needs inside its functions, so that every other command starts quickly.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

MODULES = ("release", "grade", "feedback", "bank")

Run = Callable[[argparse.Namespace], int]


class Action(NamedTuple):
    """`limetutor class name`: what it says of itself, its options and what it does."""

    name: str
    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Run


ACTIONS: dict[str, Action] = {}


def action(
    name: str, words: str, options: Callable[[argparse.ArgumentParser], None]
) -> Callable[[Run], Run]:
    """Register a function as `limetutor class name`."""

    def register(run: Run) -> Run:
        ACTIONS[name] = Action(name, words, options, run)
        return run

    return register


def options(parser: argparse.ArgumentParser) -> None:
    """One parser for each action."""
    for module in MODULES:
        import_module(f"{__package__}.{module}")
    actions = parser.add_subparsers(dest="action", required=True, metavar="action")
    for entry in ACTIONS.values():
        one = actions.add_parser(entry.name, help=entry.help, description=entry.help)
        entry.options(one)


def run(asked: argparse.Namespace) -> int:
    """Do what was asked; 0 when done."""
    return ACTIONS[asked.action].run(asked)
