"""Files that are either whole or not there, at the place that a caller named; cells of a table in CSV."""

import errno
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from ..inputs import arguments as arg

Content = bytes | Callable[[BinaryIO], Any]


def place(name: str, value: Any) -> Path:
    """The path that a caller named, where ~ is the home folder."""
    try:
        path = Path(value).expanduser()
    except TypeError:
        raise TypeError(f"{name} must be a path, got {arg.shorten(value)}.") from None
    except RuntimeError:
        raise ValueError(f"{name} must be a path, but {arg.shorten(value)} has no home.") from None
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path
    except (OSError, ValueError) as error:  # too long, or with characters that no path has
        reason = getattr(error, "strerror", error)
        raise ValueError(f"{name} must be a path, but {arg.shorten(value)}: {reason}.") from None
    return path


def write_atomically(path: Path, content: Content, *, new: bool = False) -> None:
    """Write a file under a temporary name, then rename it: readers see all of it or nothing.

    ``content`` is bytes, or a function that writes to an open binary file. A write that fails leaves
    an older file of that name as it was. With ``new`` there must be none: of several processes that
    write one at the same time, one succeeds, and the others get a FileExistsError. A link stays one,
    and a device such as /dev/stdout is written to. An OSError names the path.
    """
    try:
        _write(Path(os.path.realpath(path)), content, new)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _write(path: Path, content: Content, new: bool) -> None:
    if path.is_symlink():  # to itself, by others or not
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if path.exists() and not path.is_file() and not path.is_dir():  # a device
        with path.open("wb") as device:
            _put(content, device)
        return
    temporary = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            _put(content, file)
        if new:
            _link(temporary, path)
            return
        if path.exists():  # it keeps its permissions
            path.open("ab").close()  # fails where it may not be written
            temporary.chmod(path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _put(content: Content, file: BinaryIO) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)


def _link(source: Path, path: Path) -> None:
    """Give a file another name, which must be new."""
    try:
        os.link(source, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links; now a reader may see half of the file
        with path.open("xb") as file:
            file.write(source.read_bytes())


FORMULA_STARTS = tuple("=+-@＝＋－＠")
_SEPARATOR = re.compile(r"([;|\t\r\n])")  # a comma is not among them: its cell is quoted


def without_formulas(text: str) -> str:
    """A text for a cell of a CSV file in which no spreadsheet finds a formula: an apostrophe precedes it.

    A spreadsheet that splits lines at semicolons or tabs may begin a cell in the middle of a text.

    >>> without_formulas("=1+1"), without_formulas("a;=1+1"), without_formulas("a = b; -- c")
    ("'=1+1", "a;'=1+1", "a = b;' -- c")
    """
    pieces = _SEPARATOR.split(text)
    begins = [_first_visible(piece) in FORMULA_STARTS for piece in pieces]
    safe = "".join(f"'{p}" if formula else p for p, formula in zip(pieces, begins, strict=True))
    return f"'{safe}" if safe.startswith(("\t", "\r", "\n")) else safe


def _first_visible(text: str) -> str:
    """The first character that a spreadsheet may not leave out, as it does spaces of all kinds and quotes."""
    return next((c for c in text if c.isprintable() and c not in ' "'), "")
