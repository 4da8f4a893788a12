"""Zip archives and arrays of numpy, read so that no file can take more memory than it may.

Everything is read into memory and nothing is extracted: what an archive calls its members is only a
name. Sizes that a header declares are compared with the bytes that are there before numpy is asked.
"""

import math
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np

from .refusals import RefusedError, refuse

MAX_BYTES = 2**30  # of all members of an archive together, uncompressed
SMALL, MAX_RATIO = 2**27, 10  # above so many bytes, at most so many times the size of the file
MAX_MEMBERS = 50_000  # a tree takes three or four
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # a step of the others may be of any size


def most_bytes(archive: Path | BytesIO) -> int:
    """How much an archive may hold: a small file does not fill the memory."""
    size = archive.stat().st_size if isinstance(archive, Path) else archive.getbuffer().nbytes
    return min(MAX_BYTES, max(SMALL, MAX_RATIO * size))


def members(archive: Path | BytesIO, what: str) -> dict[str, bytes]:
    """The members of an archive by name; ``what`` it is, for refusals."""
    try:
        with zipfile.ZipFile(archive) as file:
            entries = file.infolist()
            if len(entries) > MAX_MEMBERS:
                refuse(f"{what} must have at most {MAX_MEMBERS:,} parts, got {len(entries):,}.")
            size = sum(entry.file_size for entry in entries)
            most = most_bytes(archive)
            if size > most:
                refuse(
                    f"{what} must hold at most {most / 2**30:.3g} GiB, uncompressed, got "
                    f"{size / 2**30:.3g}."
                )
            if any(entry.compress_type not in METHODS for entry in entries):
                refuse(f"{what} must be an archive that is stored or deflated, got another method.")
            if len({entry.filename for entry in entries}) < len(entries):
                refuse(f"{what} must have one member of each name, got two of the same.")
            return {entry.filename: _content(file, entry) for entry in entries}
    except RefusedError:
        raise
    except Exception as error:  # whatever reading a damaged archive raises
        return refuse(f"{what} is damaged ({_first_words(error)}).")


def _content(file: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    with file.open(entry) as stream:
        content = stream.read(entry.file_size)
        stream.read(1)  # at the end the checksum is compared
    return content


def array_of(content: bytes, what: str) -> np.ndarray:
    """The array in numpy's own format, without pickled objects, once its size is right."""
    try:
        stream = BytesIO(content)
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, _, dtype = read(stream)
        count: int = math.prod(shape)  # type: ignore[arg-type]
        size = count * dtype.itemsize
        if min(shape, default=0) < 0:
            raise ValueError("a negative size")
        if size != len(content) - stream.tell() or (count and not size):
            raise ValueError("a size that is not that of its values")
        stream.seek(0)
        return np.asarray(np.load(stream, allow_pickle=False))
    except Exception as error:  # whatever reading a damaged array raises
        return refuse(f"{what} holds an array that is damaged ({_first_words(error)}).")


def _first_words(error: BaseException) -> str:
    words = " ".join(str(error).split()).rstrip(".")[:100]
    return f"{type(error).__name__}: {words}" if words else type(error).__name__
