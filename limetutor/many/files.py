"""Files that are either whole or not there."""

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO


def write_atomically(path: Path, content: bytes | Callable[[BinaryIO], Any]) -> None:
    """Write a file under a temporary name, then rename it: readers see all of it or nothing.

    ``content`` is bytes, or a function that writes to an open binary file. A write that fails leaves
    an older file of that name as it was.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with temporary.open("xb") as file:
            if callable(content):
                content(file)
            else:
                file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
