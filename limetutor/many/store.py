"""A folder of finished rows, with which :func:`limetutor.explain_many` resumes after an interruption.

Every row is a file, written atomically. The settings of the call lie beside them, with numbers that
stand for the table, the world, the model and the kernel; a folder of another call is refused.
"""

from __future__ import annotations

import json
import zipfile
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..inputs import arguments as arg
from .files import write_atomically

FORMAT = 2  # of the files; stores without a format number are of the version before
SETTINGS, EVIDENCE = "settings.json", "evidence.npz"
VALUES = "__plain__"  # the entry of a file that holds, as JSON, what is no array
# what reading a damaged file may raise
UNREADABLE = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile)
TOLERANCE = 1e-9  # another machine may round the model's predictions in another way


@dataclass(frozen=True)
class Store:
    """A folder of finished rows."""

    folder: Path

    @classmethod
    def opened(
        cls, folder: Any, settings: dict[str, Any], evidence: dict[str, np.ndarray]
    ) -> Store:
        """Open the store in a folder, or create it; a folder of another call is refused."""
        try:
            path = Path(folder)
        except TypeError:
            raise TypeError(f"store must be a folder, got {arg.shorten(folder)}.") from None
        if path.exists() and not path.is_dir():
            raise ValueError(f"store must be a folder, got the file {str(path)!r}.")
        store = cls(path)
        if (path / SETTINGS).exists():
            store._compare(settings, evidence)
            return store
        names = {entry.name for entry in path.iterdir()} if path.exists() else set()
        if any(not name.startswith(".") for name in names - {EVIDENCE}):
            raise ValueError(f"store must be an empty folder or a store, got {str(path)!r}.")
        content = json.dumps({"format": FORMAT, **settings}, indent=1)
        try:
            path.mkdir(parents=True, exist_ok=True)
            store._save_arrays(EVIDENCE, evidence)
            write_atomically(path / SETTINGS, content.encode())  # last: now the store is complete
        except OSError as error:
            raise ValueError(
                f"store must be a folder that can be written to, but {str(path)!r}: {error.strerror}."
            ) from None
        return store

    def _compare(self, settings: dict[str, Any], evidence: dict[str, np.ndarray]) -> None:
        """Refuse the folder unless it was written in this format, by a call with the same settings."""
        try:
            stored_settings = dict(json.loads((self.folder / SETTINGS).read_text()))
            with np.load(self.folder / EVIDENCE, allow_pickle=False) as file:
                stored = dict(file)
        except (*UNREADABLE, TypeError):
            self._refuse(f"{SETTINGS} or {EVIDENCE} cannot be read")
        stored_format = stored_settings.pop("format", 1)
        if stored_format != FORMAT:
            raise ValueError(
                f"store must be a new folder or one of format {FORMAT}, but {str(self.folder)!r} was "
                f"written by another version of limetutor in format {stored_format}; give another "
                "folder, or delete this one, and all rows are computed anew."
            )
        for key in sorted({*stored_settings, *settings}):
            then, now = stored_settings.get(key), settings.get(key)
            if then != now:
                self._refuse(f"{key} is {then} there and {now} here")
        for key, array in evidence.items():
            same_shape = key in stored and stored[key].shape == array.shape
            if not (same_shape and np.allclose(stored[key], array, TOLERANCE, TOLERANCE)):
                self._refuse(f"{key} is not the same")

    def _refuse(self, difference: str) -> NoReturn:
        raise ValueError(
            f"store must be a new folder or one of the same call, but in {str(self.folder)!r} "
            f"{difference}."
        )

    def rows(self) -> dict[int, dict[str, Any]]:
        """The finished rows by position; a file that cannot be read counts as missing."""
        finished = {}
        for path in sorted(self.folder.glob("row-*.npz")):
            try:
                with np.load(path, allow_pickle=False) as file:
                    arrays = {key: file[key] for key in file.files}
                values, row = (
                    json.loads(str(arrays.pop(VALUES))),
                    int(path.stem.removeprefix("row-")),
                )
            except UNREADABLE:
                continue
            tuples = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
            finished[row] = arrays | tuples
        return finished

    def write(self, row: int, parts: dict[str, Any]) -> None:
        """Save a finished row."""
        arrays = {key: part for key, part in parts.items() if isinstance(part, np.ndarray)}
        values = {key: part for key, part in parts.items() if key not in arrays}
        text = json.dumps(values, default=_json_value)  # JSON keeps every digit of a double
        self._save_arrays(f"row-{row:09d}.npz", arrays | {VALUES: np.array(text)})

    def _save_arrays(self, name: str, arrays: dict[str, np.ndarray]) -> None:
        write_atomically(self.folder / name, lambda file: np.savez(file, **arrays))  # type: ignore[arg-type]


def _json_value(value: Any) -> Any:
    """What :mod:`json` cannot write by itself: dataclasses and numpy's scalars."""
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value.item()
