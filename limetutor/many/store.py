"""A folder of finished rows, with which :func:`limetutor.explain_many` resumes after an interruption.

Every row is a file, written atomically. One more file holds what tells the call from others
(:mod:`limetutor.many.fingerprint`); a folder of another call is refused. Of several processes that
begin a store at the same time one writes that file, and the others compare themselves with it. Each file
has a digest of what it holds, of its place and of the file of the call: a row that was damaged, edited,
renamed or copied from elsewhere is computed anew. Links, pipes and folders in the place of a file are refused.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, is_dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..inputs import arguments as arg
from ..plotting.files import place, write_atomically
from .fingerprint import DIFFERENCES, digest, same

Evidence = dict[str, np.ndarray]
FORMAT = 4  # of the files
CALL = "call.npz"  # what tells the call from others
SETTINGS_BEFORE = "settings.json"  # what formats 1 and 2 had in its place
VALUES = "__plain__"  # the entry of a file that holds, as JSON, what is no array
DIGEST = "__digest__"  # the entry with the digest of all others
MAX_TEXT = 2**24  # bytes of a file besides its arrays: notes, settings, names


@dataclass(frozen=True)
class Store:
    """A folder of finished rows."""

    folder: Path
    table: np.ndarray  # the rows, as numbers
    begun: int  # so many of these were there when the store was made

    @classmethod
    def opened(
        cls, folder: Any, settings: dict[str, Any], evidence: Callable[[int | None], Evidence]
    ) -> Store:
        """Open the store in a folder, or create it; a folder of another call is refused.

        ``evidence`` is that of so many of the first rows, of all for None. A table may have more rows
        than the one that the store was made for: they are added.
        """
        path = place("store", folder)
        if path.exists() and not path.is_dir():
            raise ValueError(f"store must be a folder, got the file {str(path)!r}.")
        found = evidence(None)
        store = cls(path, found["X"], len(found["X"]))
        if not store._path(CALL).exists():
            store._create(settings, found)
        begun = store._compare(settings, found, evidence)
        return cls(path, found["X"], begun)

    def _create(self, settings: dict[str, Any], evidence: Evidence) -> None:
        """Write what tells this call from others, unless another process was faster."""
        if self._path(SETTINGS_BEFORE).exists():
            self._refuse_format(_format_before(self.folder / SETTINGS_BEFORE))
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            others = [path for path in self.folder.iterdir() if not path.name.startswith(".")]
            if others and not (self.folder / CALL).exists():
                raise ValueError(
                    f"store must be an empty folder or a store, got {str(self.folder)!r}."
                )
            self._save(CALL, (), {"format": FORMAT} | settings, evidence, new=True)
        except FileExistsError:
            return
        except (OSError, RecursionError) as error:
            self._refuse_to_write(self.folder, error)

    def _compare(
        self,
        settings: dict[str, Any],
        evidence: Evidence,
        of_first: Callable[[int | None], Evidence],
    ) -> int:
        """Refuse the folder unless it was written in this format, by a call with the same settings.

        Returns how many rows that call had.
        """
        most = MAX_TEXT + 2 * sum(array.nbytes for array in evidence.values())
        try:
            stored_settings, stored, whole = _read(self.folder / CALL, (), most)
            stored_settings = dict(stored_settings)
        except TooLargeError:
            self._refuse(f"{CALL} holds more than that of this call")
        except Exception:  # whatever reading a damaged file raises
            self._refuse(f"{CALL} cannot be read")
        stored_format = stored_settings.pop("format", None)
        if stored_format != FORMAT:
            self._refuse_format(stored_format)
        if not whole:
            self._refuse(f"{CALL} was changed")
        for key in [*settings, *sorted({*stored_settings} - {*settings})]:
            then, now = stored_settings.get(key), settings.get(key)
            if then != now:
                self._refuse(f"{_shown(key)} is {_shown(then)} there and {_shown(now)} here")
        begun = len(stored.get("X", ()))
        if 0 < begun < len(evidence["X"]):
            evidence = of_first(begun)
        for key, words in DIFFERENCES.items():
            if key in evidence and not (key in stored and same(key, stored[key], evidence[key])):
                self._refuse(words)
        return begun

    def _refuse(self, difference: str) -> NoReturn:
        raise ValueError(
            f"store must be a new folder or one of the same call, but in {str(self.folder)!r} "
            f"{difference}."
        )

    def _refuse_format(self, number: Any) -> NoReturn:
        raise ValueError(
            f"store must be a new folder or one of format {FORMAT}, but {str(self.folder)!r} was "
            f"written by another version of limetutor in format {_shown(number)}; give another "
            "folder, or delete this one, and all rows are computed anew."
        )

    def _refuse_to_write(self, path: Path, error: BaseException) -> NoReturn:
        reason = getattr(error, "strerror", "too many folders within each other")
        raise ValueError(
            f"store must be a folder that can be written to, but {arg.shorten(str(path))}: {reason}."
        ) from None

    def _path(self, name: str) -> Path:
        """The place of a file in the folder; what is there and no file, such as a link, is refused."""
        path = self.folder / name
        with suppress(FileNotFoundError, NotADirectoryError):
            if not stat.S_ISREG(path.lstat().st_mode):
                self._refuse(f"{name} is no regular file")
        return path

    @cached_property
    def _call(self) -> str:
        """What the file of the call holds, in short."""
        return sha256((self.folder / CALL).read_bytes()).hexdigest()

    def _place(self, row: int) -> tuple[Any, ...]:
        """What the digest of a row has besides the row: the call, and for an added row its values."""
        added = () if row < self.begun else (self.table[row : row + 1].tobytes().hex(),)
        return (self._call, row, *added)

    def rows(self, count: int) -> dict[int, dict[str, Any]]:
        """The finished ones of so many rows; a file that was not written for its row counts as missing."""
        finished = {}
        # twice a covariance, the largest array of a row
        most = MAX_TEXT + 16 * (self.table.shape[1] + 1) ** 2
        for row in range(count):
            path = self._path(_row_name(row))
            try:
                values, arrays, whole = _read(path, self._place(row), most)
                tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
            except Exception:  # whatever reading a damaged file raises
                continue
            if whole:
                finished[row] = arrays | tuples
        return finished

    def write(self, row: int, parts: dict[str, Any]) -> None:
        """Save a finished row."""
        arrays = {key: part for key, part in parts.items() if isinstance(part, np.ndarray)}
        values = {key: part for key, part in parts.items() if key not in arrays}
        name = _row_name(row)
        try:
            self._save(name, self._place(row), values, arrays)
        except OSError as error:
            self._refuse_to_write(self.folder / name, error)

    def _save(
        self, name: str, place: tuple[Any, ...], values: dict[str, Any],
        arrays: dict[str, np.ndarray], new: bool = False,
    ) -> None:  # fmt: skip
        text = json.dumps(values, default=_json_value)  # JSON keeps every digit of a double
        entries = {VALUES: text, DIGEST: _digest(place, text, arrays)}
        content = arrays | {key: np.array(entry) for key, entry in entries.items()}
        write_atomically(self._path(name), lambda file: np.savez(file, **content), new=new)  # type: ignore[arg-type]


def _row_name(row: int) -> str:
    return f"row-{row:09d}.npz"


class TooLargeError(Exception):
    """A file of a store holds more than was ever written into it."""


def _read(path: Path, place: tuple[Any, ...], most: int) -> tuple[Any, dict[str, np.ndarray], bool]:
    """What a file of a store holds: the values, the arrays, and whether it was written like that.

    It may hold so many bytes at ``most``, packed or not.
    """
    if path.stat().st_size > most:
        raise TooLargeError
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        if sum(entry.file_size for entry in file.zip.infolist()) > most:
            raise TooLargeError
        arrays = {key: file[key] for key in file.files}
    text, stored = str(arrays.pop(VALUES)), str(arrays.pop(DIGEST, ""))
    return json.loads(text), arrays, stored == _digest(place, text, arrays)


def _digest(place: tuple[Any, ...], text: str, arrays: dict[str, np.ndarray]) -> str:
    names = sorted(arrays)
    return digest((place, text, names, [arrays[name] for name in names])).hex()


def _format_before(path: Path) -> Any:
    """The format of a store whose settings are a file of JSON; the first had no number."""
    try:
        with path.open("rb") as file:
            return dict(json.loads(file.read(MAX_TEXT))).get("format", 1)
    except Exception:
        return "1 or 2"


def _shown(value: Any) -> str:
    return arg.shorten(value).strip("'")


def _json_value(value: Any) -> Any:
    """What :mod:`json` cannot write by itself: dataclasses and numpy's scalars."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value.item()
