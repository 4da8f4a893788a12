"""Calls drawn by chance, and how each must end: right, or refused in one of our sentences.

A generator is registered with :func:`kind`: a function of a ``random.Random`` and a number that makes a
:class:`Case`, a call and a slow, obvious computation that says what is wrong with what it returned. Any
other end is a failure: a wrong number, another error, a number that is not finite without a word, a
warning that is not ours, ten seconds, a gigabyte. ``odd_*.py`` have the generators.
"""

import inspect
import io
import random
import re
import resource
import signal
import traceback
import warnings
from collections.abc import Callable
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, get_args, get_type_hints

from sklearn.exceptions import NotFittedError

import limetutor as lt

SECONDS, BYTES, LETTERS = 10, 10**9, 400
PACKAGE = str(Path(lt.__file__).parent)
# where the package calls what the caller passed: an error behind one of these is the caller's own
CALLER = {("arguments.py", "called"), ("explorer.py", "_frame"), ("margins.py", "_predict_raw")}
RIGHT, REFUSED = "right", "refused"
FOLDER = [Path()]  # of a run that needs one


class OwnError(Exception):
    """What a caller's own function raises: it has to arrive as it is."""


class RefusedError(Exception):
    """What a command or a reader of files refused, in a sentence that was looked at already."""


class ExceededError(BaseException):
    """A call took longer than it may."""


class Case(NamedTuple):
    """A call, and what is wrong with its result and the notes that came with it, if anything."""

    words: str
    call: Callable[[], Any]
    wrong: Callable[[Any, list[str]], str | None]
    may_refuse: bool = True


class Kind(NamedTuple):
    """A generator, its calls in ``make test`` and in ``make verify``, and what it needs open."""

    make: Callable[[random.Random, int], Case]
    sample: int
    whole: int
    around: Callable[[], Any]


KINDS: dict[str, Kind] = {}


def kind(name, sample, whole, around=nullcontext):
    """Register a generator."""

    def register(make):
        KINDS[name] = Kind(make, sample, whole, around)
        return make

    return register


def case_of(name, index):
    """The call of a kind with a number, whatever the others are."""
    return KINDS[name].make(random.Random(f"{name} {index}"), index)


@contextmanager
def in_folder():
    """A folder for files of a run."""
    with TemporaryDirectory() as place:
        FOLDER[0] = Path(place)
        yield FOLDER[0]


def damaged(chance, content):
    """What is left of some bytes, and what was done to them."""
    at, how = (
        chance.randrange(len(content)),
        chance.choice(["flip", "flip", "cut", "empty", "more"]),
    )
    flipped = content[:at] + bytes([content[at] ^ (1 << chance.randrange(8))]) + content[at + 1 :]
    return how, {"flip": flipped, "cut": content[:at], "empty": b"", "more": content + b"\0"}[how]


@contextmanager
def limited():
    """Ten seconds of the processor, and a gigabyte beyond what is in use."""

    def exceeded(*_):
        raise ExceededError

    pages = int(Path("/proc/self/statm").read_text().split()[5])
    most, before = pages * resource.getpagesize() + BYTES, resource.getrlimit(resource.RLIMIT_DATA)
    handler = signal.signal(signal.SIGPROF, exceeded)
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        resource.setrlimit(resource.RLIMIT_DATA, before)


def ends(case):
    """How a call ends: right, refused, or what is wrong with it."""
    notes, escaped, end = [], [], RIGHT

    def heard(message, category, filename, lineno, *_):
        frames = {(Path(frame.filename).name, frame.name) for frame in traceback.extract_stack()}
        if issubclass(category, lt.LimetutorWarning):
            notes.append(str(message))
        elif not frames & CALLER:
            escaped.append(f"{category.__name__}: {message} ({Path(filename).name}:{lineno})")

    with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        warnings.showwarning = heard
        try:
            with limited():
                found = case.call()
        except ExceededError:
            return f"it takes more than {SECONDS} s"
        except Exception as error:
            wrong, end = wrong_with_error(error), REFUSED
            if wrong is None and not case.may_refuse:
                wrong = f"it is refused: {error}"
        else:
            try:
                wrong = case.wrong(found, notes)
            except Exception as error:
                wrong = f"what it gives cannot be looked at: {error!r}"
    for text in notes:
        if not wrong and not a_sentence(text):
            wrong = f"a warning that is not a sentence: {text}"
    return wrong or (f"a warning escapes: {escaped[0]}" if escaped else end)


def wrong_with_error(error):
    """None for an error of ours, in one sentence that names an argument, and for the caller's own."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [(Path(f.filename).name, f.name) for f in frames if f.filename.startswith(PACKAGE)]
    inside = frames[-1].filename.startswith(PACKAGE)
    told = f"{type(error).__name__} in {Path(frames[-1].filename).name}: {error}"
    if isinstance(error, OwnError | NotFittedError | RefusedError):
        return None
    builtin = inside and not isinstance(error, TypeError)  # whose own frames Python does not show
    if places and places[-1] in CALLER and (not inside or builtin):
        return None  # the caller's own
    if not isinstance(error, ValueError | TypeError | ImportError):
        return f"neither a ValueError nor a TypeError: {told}"
    if not inside:
        return f"it comes from somewhere else: {told}"
    if not a_sentence(str(error)):
        return f"not one sentence: {told}"
    words = {*re.findall(r"\w{2,}", str(error)), re.match(r"\w*", str(error))[0]}
    named = words & arguments() or isinstance(error, ImportError)
    return None if named else f"it names no argument: {told}"


def a_sentence(text):
    """Whether a text is one line that ends like a sentence, and not long."""
    return text.rstrip(")").endswith(".") and "\n" not in text and len(text) <= LETTERS


def public():
    """What callers call, by name: everything public that is neither a warning nor a class of results."""
    objects = {name: getattr(lt, name) for name in lt.__all__ if not name.endswith("Warning")}
    results = {cls for f in objects.values() if inspect.isfunction(f) for cls in returned(f)}
    return {name: value for name, value in objects.items() if value not in results}


@cache
def returned(function):
    """The classes that a function says it returns; a class returns itself."""
    hint = function if isinstance(function, type) else get_type_hints(function).get("return")
    return tuple(t for t in (get_args(hint) or (hint,)) if isinstance(t, type))


@cache
def arguments():
    """The names of all arguments of everything public, of methods of results, and of explain_instance."""
    called = [*public().values(), lt.Gaussian.from_data]
    members = [m for f in called for cls in returned(f) for m in vars(cls).values()]
    called += [m for m in members if inspect.isfunction(m)]
    names = {name for f in called for name in inspect.signature(f).parameters} - {"self", "path"}
    return names | set("segmentation_fn hide_color instance control slider choice Figure".split())
