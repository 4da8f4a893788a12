"""Control groups (Linux): the kernel's own limit on all memory of a sandbox, where one can be made.

A group counts what no list of processes shows: pages that none of them maps any more, files in memory, buffers of
pipes and sockets. It can be made by root, or in a part of the tree that the system has handed to the user.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")  # the groups of this process
PREFIX = "limetutor"
MAX_REMOVE_SECONDS = 1.0  # the kernel needs a moment after the last process

_numbers = itertools.count()


class Version(NamedTuple):
    """The files of a version of control groups."""

    limit: str
    others: dict[str, bool]  # what else is limited where it is there: to as much, or to nothing
    events: str  # has a line "oom_kill 1" after the kernel has ended a process


V1 = Version(
    "memory.limit_in_bytes",
    {"memory.memsw.limit_in_bytes": True, "memory.kmem.tcp.limit_in_bytes": True},
    "memory.oom_control",
)
V2 = Version("memory.max", {"memory.swap.max": False}, "memory.events")


class MemoryGroup:
    """A group with a limit on its memory, in bytes."""

    def __init__(self, folder: Path, version: Version, limit: int) -> None:
        self._folder, self._version = folder, version
        folder.mkdir()
        try:
            (folder / version.limit).write_text(str(limit))
            for name, as_much in version.others.items():
                if (folder / name).exists():
                    (folder / name).write_text(str(limit if as_much else 0))
        except OSError:
            self.remove()
            raise

    def add(self, pid: int) -> None:
        """Put a process into the group; what it starts from now on is in it too."""
        (self._folder / "cgroup.procs").write_text(str(pid))

    @property
    def exceeded(self) -> bool:
        """Whether the kernel has ended a process that asked for more."""
        with contextlib.suppress(OSError):
            lines = (self._folder / self._version.events).read_text().splitlines()
            return any(line.startswith("oom_kill ") and line != "oom_kill 0" for line in lines)
        return False

    def remove(self) -> None:
        """Remove the group, whose processes have ended."""
        deadline = time.monotonic() + MAX_REMOVE_SECONDS
        while self._folder.exists() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                self._folder.rmdir()
                return
            time.sleep(0.002)


def memory_group(limit: int, pid: int) -> MemoryGroup | None:
    """A new group with one process in it; None where none can be made."""
    for version, parent in _parents():
        with contextlib.suppress(OSError):
            folder = parent / f"{PREFIX}-{os.getpid()}-{next(_numbers)}"
            group = MemoryGroup(folder, version, limit)
            try:
                group.add(pid)
                return group
            except OSError:
                group.remove()
    return None


def remove_abandoned() -> None:
    """Remove the groups of graders that have ended before they could."""
    for _, parent in _parents():
        for folder in parent.glob(f"{PREFIX}-*-*"):
            if not os.path.exists(f"/proc/{folder.name.split('-')[1]}"):
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _parents() -> Iterator[tuple[Version, Path]]:
    """Where a group may be made: in the group of this process, or, with version 2, in one above it.

    In version 2 a group that has processes has no groups with limits in it, unless it is the first of all.
    """
    with contextlib.suppress(OSError, ValueError):
        for line in OWN.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "memory" in controllers.split(","):
                yield V1, ROOT / "memory" / path.lstrip("/")
            elif not controllers:
                own = ROOT / path.lstrip("/")
                for parent in (own, *own.parents):
                    if not parent.is_relative_to(ROOT):
                        break
                    with contextlib.suppress(OSError):
                        if "memory" in (parent / "cgroup.subtree_control").read_text().split():
                            yield V2, parent
