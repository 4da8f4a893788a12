"""A folder that holds the rows of a long computation as they come: :func:`limetutor.explain_many`.

Every row is a file of its own, written under another name and then renamed, so that whatever
happens a file is whole or is not there. What was asked lies beside them, and a folder that belongs
to another question is refused.
"""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from . import arguments as arg

SETTINGS, EVIDENCE = "settings.json", "evidence.npz"
PLAIN = "__plain__"  # the entry of a file that holds what is no array
# what reading a damaged file may raise
UNREADABLE = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile)
AGREE = 1e-9  # another machine may round the model's predictions in another way


@dataclass(frozen=True)
class Store:
    """A folder of finished rows."""

    folder: Path

    @classmethod
    def opened(
        cls, folder: Any, settings: dict[str, Any], evidence: dict[str, np.ndarray]
    ) -> Store:
        """The store in a folder, made where there is none, refused where it is another one's."""
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
        inside = {entry.name for entry in path.iterdir()} if path.exists() else set()
        if any(not name.startswith(".") for name in inside - {EVIDENCE}):
            raise ValueError(f"store must be an empty folder or a store, got {str(path)!r}.")
        try:
            path.mkdir(parents=True, exist_ok=True)
            store._save(EVIDENCE, evidence)
            store._save(SETTINGS, json.dumps(settings, indent=1))  # last: with it the store is one
        except OSError as error:
            raise ValueError(
                f"store must be a folder that can be written to, but {str(path)!r}: {error.strerror}."
            ) from None
        return store

    def _compare(self, settings: dict[str, Any], evidence: dict[str, np.ndarray]) -> None:
        try:
            known = json.loads((self.folder / SETTINGS).read_text())
            with np.load(self.folder / EVIDENCE, allow_pickle=False) as kept:
                seen = {key: kept[key] for key in evidence}
        except UNREADABLE:
            self._refuse(f"{SETTINGS} or {EVIDENCE} cannot be read")
        for key in sorted({*known, *settings}):
            if known.get(key) != settings.get(key):
                self._refuse(f"{key} is {known.get(key)} there and {settings.get(key)} here")
        for key, now in evidence.items():
            then = seen[key]
            if then.shape != now.shape or not np.allclose(then, now, AGREE, AGREE):
                self._refuse(f"{key} is not the same")

    def _refuse(self, difference: str) -> NoReturn:
        raise ValueError(
            f"store must be a new folder or one of the same call, but in {str(self.folder)!r} "
            f"{difference}."
        )

    def rows(self) -> dict[int, dict[str, Any]]:
        """What is there already, by row; a file that cannot be read counts as missing."""
        found = {}
        for path in sorted(self.folder.glob("row-*.npz")):
            try:
                with np.load(path, allow_pickle=False) as kept:
                    arrays = {key: kept[key] for key in kept.files}
                plain, row = json.loads(str(arrays.pop(PLAIN))), int(path.stem.removeprefix("row-"))
            except UNREADABLE:
                continue
            lists = {k: tuple(v) if isinstance(v, list) else v for k, v in plain.items()}
            found[row] = arrays | lists
        return found

    def write(self, row: int, parts: dict[str, Any]) -> None:
        """Put a finished row there."""
        arrays = {key: part for key, part in parts.items() if isinstance(part, np.ndarray)}
        plain = {key: _plain(part) for key, part in parts.items() if key not in arrays}
        self._save(f"row-{row:09d}.npz", arrays | {PLAIN: np.array(json.dumps(plain))})

    def _save(self, name: str, content: str | dict[str, np.ndarray]) -> None:
        """Write under another name, then rename: readers see all of it or nothing."""
        handle, temporary = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                if isinstance(content, str):
                    file.write(content.encode())
                else:
                    np.savez(file, **content)  # type: ignore[arg-type]
            os.replace(temporary, self.folder / name)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _plain(value: Any) -> Any:
    """A numpy number as Python's own, a record as a dict; JSON keeps every digit of a double."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.item() if isinstance(value, np.generic) else value
