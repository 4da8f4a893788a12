"""What the processes of a notebook use, read from ``/proc`` (Linux): processor time, memory, state."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_LEFTOVERS = 8  # processes that a notebook may leave behind
SLEEP_CHECKS = 6  # of a process with several threads, until they count as asleep
ENDED = {"Z", "X"}  # states of a thread
MAX_LISTINGS = 20  # of all processes, until one has nothing new
CHECK_SECONDS = 0.002  # between two looks at processes that are to end or to fall asleep
FILE_SYSTEMS = ("scratch", "dev/shm")  # of a sandbox, in memory
INODE_BYTES = 1024  # that the kernel needs for a file without content
SOCKET_BYTES = 2**20  # that a socket may buffer


@dataclass
class ProcessTree:
    """A process and its descendants: those of the worker itself, and those a notebook has started.

    ``root`` is 0 where processes cannot be measured; the tree is empty then. ``initial`` are the
    processes of the worker, of which ``init``, the first one of a sandbox, ignores signals.
    """

    root: int
    init: int | None = None
    initial: set[int] = field(default_factory=set)

    def pids(self) -> set[int]:
        """All processes."""
        return set(_descendants(self.root))

    def cpu_seconds(self) -> float:
        """Seconds of processor time of all processes."""
        return sum(map(_cpu_seconds, self.pids()))

    def waits(self) -> bool:
        """Whether there are processes that can be seen, and all of them wait for something."""
        pids = self.pids()
        return bool(pids) and all(map(sleeps, pids))

    def initial_cpu_seconds(self) -> float:
        """Seconds of the worker's own processes, without those that the notebook has started."""
        return sum(_cpu_seconds(pid, children=False) for pid in self.initial)

    def exceeds(self, memory: int) -> bool:
        """Whether all processes, and what a sandbox keeps in memory besides, are more than so many bytes.

        A quick sum first, which counts a page of several processes once for each. Pages that processes
        share are those of files in memory, since the filter of system calls allows no others, so the larger
        of the two numbers counts.
        """
        pids, files = self.pids(), self._file_bytes()
        memory -= self._sockets() * SOCKET_BYTES
        quick = sum(sum(_resident_bytes(pid)) for pid in pids)
        if quick + files <= memory:
            return False
        sums = [sum(column) for column in zip(*map(_proportional_bytes, pids), strict=True)]
        own, shared = sums or (0, 0)
        return own + max(shared, files) > memory

    def _sockets(self) -> int:
        """The sockets that are open in a sandbox, or on their way between its processes."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self.init is not None:
                with open(f"/proc/{self.init}/net/sockstat") as table:
                    return int(table.readline().split()[2])  # "sockets: used 3"
        return 0

    def _file_bytes(self) -> int:
        """Bytes of the file systems that a sandbox has in memory, and of the kernel for each file."""
        total = 0
        for name in FILE_SYSTEMS:
            with contextlib.suppress(OSError):  # there is no sandbox, or it is gone
                found = os.statvfs(f"/proc/{self.init}/root/{name}")
                total += (found.f_blocks - found.f_bfree) * found.f_frsize
                total += (found.f_files - found.f_ffree) * INODE_BYTES
        return total

    def leftovers(self) -> set[int]:
        """Processes that the notebook has started and that have not ended.

        The lists of children miss those whose parent ends meanwhile, as the parents of a fork bomb do.
        """
        if self._nothing_else_in_sandbox():
            return set()
        return {pid for pid, alive in _listed_tree(self.root).items() if alive} - self.initial

    def _nothing_else_in_sandbox(self) -> bool:
        """Whether the sandbox's own list of processes, which is short, has those of the worker alone."""
        with contextlib.suppress(OSError):  # there is no sandbox, or its list may not be read
            names = os.listdir(f"/proc/{self.init}/root/proc")
            return sum(map(str.isdigit, names)) <= len(self.initial)
        return False

    def kill_leftovers(self, deadline: float) -> None:
        """Kill them; all processes are stopped first, so that none can start another meanwhile.

        Processes that end before they are stopped, each having started the next, may outlast this.
        """
        stopped: set[int] = set()
        while (new := self.leftovers() - stopped) and time.monotonic() < deadline:
            self._signal({*new, *self.initial} - {self.init}, signal.SIGSTOP)
            stopped |= new
        self._signal(stopped, signal.SIGKILL)
        self._signal(self.initial - {self.init}, signal.SIGCONT)

    def _signal(self, pids: set[int], number: signal.Signals) -> None:
        """Send a signal to processes of the tree, never to another one that has got the same id."""
        handles = {}
        for pid in pids:
            with contextlib.suppress(OSError):
                handles[pid] = os.pidfd_open(pid)
        present = _listed_tree(self.root)
        for pid, handle in handles.items():
            with contextlib.suppress(OSError):
                if pid in present:
                    signal.pidfd_send_signal(handle, number)
            os.close(handle)


def few_and_small(pids: set[int], memory: int) -> bool:
    """Whether processes are few and hold at most half of so many bytes."""
    return (
        len(pids) <= MAX_LEFTOVERS and 2 * sum(sum(_resident_bytes(pid)) for pid in pids) <= memory
    )


def sleeps(pid: int) -> bool:
    """Whether all threads of a process wait for something.

    One look is enough for one thread. Of several that pass a lock to each other, each may be seen
    asleep in the moment in which it waits for another.
    """
    for _ in range(SLEEP_CHECKS):
        states = _states(pid)
        if set(states) & {"R", "D"}:
            return False
        if len(states) <= 1:
            break
        time.sleep(CHECK_SECONDS)
    return True


def _descendants(pid: int) -> Iterator[int]:
    """A process and all that come from it."""
    if not pid:
        return
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    yield from _descendants(int(child))


def _listed_tree(root: int) -> dict[int, bool]:
    """A process and all that come from it, by the list of all processes: whether each was alive.

    What has ended when it is looked at has started its children before. So the list is read again until it
    has nothing new; a machine that always starts something is not waited for.
    """
    parents, alive = {0: 0}, {0: False}
    for _ in range(MAX_LISTINGS):
        listed = map(int, filter(str.isdigit, os.listdir("/proc")))
        new = [pid for pid in listed if parents.get(pid, -1) not in parents]
        if not new:
            break
        for pid in new:
            with contextlib.suppress(OSError, ValueError, IndexError):
                parents[pid], alive[pid] = _parent_and_alive(pid)
    tree: dict[int, bool] = {}
    generation = {root} - {0}
    while generation:
        tree |= {pid: alive.get(pid, False) for pid in generation}
        generation = {pid for pid, parent in parents.items() if parent in generation} - set(tree)
    return tree


def _parent_and_alive(pid: int) -> tuple[int, bool]:
    """The parent of a process, and whether one of its threads is alive."""
    with open(f"/proc/{pid}/stat") as stat:
        state, parent, *_ = stat.read().rpartition(")")[2].split()
    return int(parent), bool(set(state if state not in ENDED else _states(pid)) - ENDED)


def _states(pid: int) -> str:
    """The states of the threads of a process, a letter each: R runs, S sleeps, Z has ended."""
    states = ""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            path = f"/proc/{pid}/task/{task}/stat"
            with contextlib.suppress(OSError, IndexError), open(path) as stat:
                states += stat.read().rpartition(")")[2].split()[0]
    return states


def _cpu_seconds(pid: int, children: bool = True) -> float:
    """Seconds of a process, and of its children that have ended."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
        return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _proportional_bytes(pid: int) -> tuple[int, int]:
    """As :func:`_resident_bytes`, where a page of several processes is divided between them."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return _kilobytes(f"/proc/{pid}/smaps_rollup", "Pss_Anon", "Pss_Shmem")
    return _resident_bytes(pid)


def _resident_bytes(pid: int) -> tuple[int, int]:
    """Bytes of a process that are not files on a disk: its own, and those that others may share."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return _kilobytes(f"/proc/{pid}/status", "RssAnon", "RssShmem")
    return 0, 0


def _kilobytes(path: str, own: str, shared: str) -> tuple[int, int]:
    """Two lines of a table of the kernel, in bytes."""
    with open(path) as table:
        lines = dict(line.split(":", 1) for line in table if ":" in line)
    first, second = (int(lines[name].split()[0]) * 1024 for name in (own, shared))
    return first, second
