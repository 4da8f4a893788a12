"""The command `limetutor`: a model in a file, a table in a file, an answer.

    limetutor audit model.skops data.csv --row 7 --html report.html

The world is :class:`limetutor.Empirical` of the table; kernel, bandwidth and ridge are those of `lime`.
It ends with 0 when done, 1 when an audit found something serious, 2 when the input was bad, 130 when
it was stopped. To add a command: write a function in ``commands.py`` and register it with :func:`.command`. Chapter: trust.
"""

import argparse
import contextlib
import os
import sys
import traceback
import warnings
from collections.abc import Sequence

from .. import __version__
from ..inputs.warning_classes import LimetutorWarning
from ..plotting.page import visible
from .commands import BAD_INPUT, COMMANDS, DONE, SERIOUS, STOPPED, Command, command
from .options import OPTIONS

__all__ = ["BAD_INPUT", "COMMANDS", "DONE", "SERIOUS", "STOPPED", "Command", "command", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what goes wrong is one sentence on the error stream, and 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # letters that a terminal lacks are no reason to fail
            stream.reconfigure(errors="replace")
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser(arguments).parse_args(arguments)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            code = COMMANDS[options.command].run(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        _refuse("stopped.")
        return STOPPED
    except Exception as error:  # a model may fail in any way
        if isinstance(error, OSError) and error.filename is None:
            _close_output()
        if isinstance(error, BrokenPipeError):  # the reader of a pipe, such as head, had enough
            return STOPPED
        if options.traceback:
            traceback.print_exc()
        return _refuse(_sentence(error))
    notes = [str(w.message) for w in caught if issubclass(w.category, LimetutorWarning)]
    for text in dict.fromkeys(notes):
        print(f"note: {visible(text)}", file=sys.stderr)
    return code


def _sentence(error: BaseException) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        return f"{str(error.filename or 'the answer')[:200]}: {error.strerror}."
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    ours = trace and str(trace.tb_frame.f_globals.get("__name__")).startswith("limetutor")
    if ours and words.endswith("."):
        name, space, rest = words.partition(" must ")  # of this package: a sentence already
        return OPTIONS.get(name, name) + space + rest
    return f"the model or the table failed with {type(error).__name__}: {words.rstrip('.')}."


def _close_output() -> None:
    """Let what could not be printed go, which Python would try again at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(sentence: str) -> int:
    print(f"limetutor: {visible(sentence)}", file=sys.stderr)
    return BAD_INPUT


def _parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the options of the command that is called."""
    parser = argparse.ArgumentParser(
        prog="limetutor",
        description="What LIME says of a model in a file, and whether it can be trusted.",
        epilog="Ends with 0 when done, 1 when an audit found something serious, 2 when the input was bad, "
        "130 when it was stopped.",
    )
    parser.add_argument("--version", action="version", version=f"limetutor {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for entry in COMMANDS.values():
        one = commands.add_parser(entry.name, help=entry.help, description=entry.help)
        if entry.name in arguments:
            words = "show where in the code an error came from"
            one.add_argument("--traceback", action="store_true", help=words)
            entry.options(one)
    return parser
