"""Take archives apart that other people made: bounded, with no file where its name says.

Each file goes under a number into a folder of its own, so that neither a name, nor a link, nor one file among
others can reach anything. It runs in a process with limits (:mod:`.bounded`).
"""

import contextlib
import stat
import zipfile
from pathlib import Path
from typing import Any

MEGABYTE = 2**20
# of what a platform exports
MAX_FILES, MAX_BYTES, MAX_FILE = 20_000, 4_000 * MEGABYTE, 100 * MEGABYTE
MAX_RATIO, SMALL = 200, 5 * MEGABYTE  # how far a larger file may have been compressed
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CHUNK = 2**16


def extracted(path: str, out: str, most_files: int, most_bytes: int) -> dict[str, Any]:
    """The files of an archive, as [name, the file that holds it, its date], and those left out, as [name, why]."""
    found: list[list[Any]] = []
    refused: list[list[str]] = []
    left = most_bytes
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > most_files:
                return {"files": [], "refused": [["", f"it has more than {most_files} files"]]}
            for number, entry in enumerate(entries):
                place = Path(out, f"{number:05d}")
                why = _problem(entry) or _copied(archive, entry, place, min(left, MAX_FILE))
                if why:
                    place.unlink(missing_ok=True)
                    refused.append([_name(entry), why])
                else:
                    left -= place.stat().st_size
                    found.append([_name(entry), str(place), list(entry.date_time)])
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError):
        return {"files": found, "refused": [*refused, ["", "it is damaged or no archive"]]}
    return {"files": found, "refused": refused}


def _problem(entry: zipfile.ZipInfo) -> str:
    """Why a file is left out, from what the archive says of it; empty if it is not."""
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
        return "it is a link or a device"
    if entry.flag_bits & 1:
        return "it is encrypted"
    if entry.compress_type not in METHODS:
        return "it is compressed in a way that is not read here"
    if entry.file_size > max(SMALL, MAX_RATIO * entry.compress_size):
        return f"it is {MAX_RATIO} times larger than it was packed"
    return ""


def _copied(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: Path, most: int) -> str:
    """Write a file; why it cannot be, or nothing."""
    size = 0
    try:
        with archive.open(entry) as source, open(place, "xb") as target:
            while chunk := source.read(CHUNK):
                size += len(chunk)
                if size > most:
                    return f"it is too large, or all files are together (of {most // MEGABYTE} MB left)"
                target.write(chunk)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError):
        return "it is damaged"
    except Exception as error:  # what decompression raises
        return f"it is damaged ({type(error).__name__})"
    return ""


def _name(entry: zipfile.ZipInfo) -> str:
    """The name of a file. Some programs write UTF-8 and do not say so."""
    name = entry.filename
    if not entry.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name[:1000]
