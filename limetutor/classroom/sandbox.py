"""Where students' code runs: a process that sees the interpreter, its packages and an empty folder.

bubblewrap (Linux) makes the sandbox: nothing of this machine but those is mounted, there is no network
and no environment, other processes are out of sight, and everything it writes is gone with it. limetutor
itself is replaced by a stand-in, because it knows the answers. Time, memory and processes are bounded
(:class:`Limits`). :class:`Session` talks to the process.
"""

from __future__ import annotations

import base64
import contextlib
import glob
import importlib.util
import itertools
import json
import os
import queue
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .formulas import Formula
from .inside import worker

INSIDE = Path(worker.__file__).resolve().parent
HERE = Path(__file__).resolve().parents[1]  # limetutor itself
LONGEST = 8_000_000  # bytes of one reply
FLOOD = 100_000_000  # bytes of all replies
DEEPEST, WORDS = 12, 1000  # lists in lists, letters of a text that is to be read as numbers
PATIENCE = 4
START = 60  # seconds until the process is ready, and until what it leaves behind is gone
TICK = 0.05  # seconds between looks at the memory
BLINK = 0.002  # seconds between looks at processes that are to end or to rest
LOOKS = 6  # at threads, until they count as asleep
FEW = 8  # processes that may be left behind
GRACE = 0.4  # the share of a cell's seconds in which they may fall asleep
MEGABYTE = 2**20
SPARE = 1024  # megabytes of addresses that libraries reserve and do not use
SYSTEM = ("/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
# while code is graded; one thread, because the notebooks share the cores between them
ENVIRONMENT = {
    "HOME": "/scratch",
    "LANG": "C.UTF-8",
    "LOKY_MAX_CPU_COUNT": "1",  # what scikit-learn takes n_jobs=-1 for
    "MPLBACKEND": "agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "TMPDIR": "/scratch",
}
BYTECODE = "/bytecode"
# what notebooks import, compiled once for all of them
MODULES = (
    "IPython.core.interactiveshell", "lime.lime_tabular", "numpy", "pandas", "scipy.stats",
    "sklearn.datasets", "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection",
    "sklearn.tree", "matplotlib.pyplot",
)  # fmt: skip
_users = itertools.count(os.getpid())  # each sandbox that root starts has a user of its own


@dataclass(frozen=True)
class Limits:
    """What a notebook may use: seconds for a cell and for a question, and for all; megabytes; processes.

    Seconds are those of the processor, where they can be measured: nobody is late because the machine
    is busy. A notebook that only waits is stopped after :data:`PATIENCE` times as many on the clock.
    """

    seconds: float = 20.0
    total: float = 240.0
    memory: int = 2048
    processes: int = 64
    scratch: int = 64  # megabytes of files
    sandboxed: bool = True
    bytecode: str | None = None  # a folder with what the interpreter has compiled already
    stop: threading.Event = field(default_factory=threading.Event)  # set when nobody waits any more


class SandboxError(RuntimeError):
    """Nothing can be graded here, whatever was handed in."""


class StoppedError(Exception):
    """The process is gone; ``why`` is "timed out", "out of memory" or "died"."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class AnswerError(Exception):
    """The notebook answered, but not with a value; ``kind`` is what it raised, or what was wrong."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


# --- values on their way in and out ------------------------------------------------------------


def sent(value: Any) -> Any:
    """A value as JSON that the worker unpacks."""
    if isinstance(value, Formula):
        return {"formula": [value.text, worker.packed(dict(value.given))]}
    return worker.packed(value)


def received(reply: Any, depth: int = 0) -> Any:
    """A value out of JSON that a student may have written: data only, AnswerError for the rest."""
    if depth > DEEPEST or (isinstance(reply, str) and len(reply) > WORDS):
        raise AnswerError("not plain")
    if reply is None or isinstance(reply, bool | int | float | str):
        return reply
    if isinstance(reply, list):
        return [received(entry, depth + 1) for entry in reply]
    if isinstance(reply, dict) and set(reply) == {"array"}:
        with contextlib.suppress(TypeError, ValueError, KeyError, OverflowError):
            name, shape, data = reply["array"]
            dtype = {"<f8": float, "<i8": np.int64, "|b1": bool}[name]
            return np.frombuffer(base64.b64decode(data), dtype).reshape([int(n) for n in shape])
    if isinstance(reply, dict) and set(reply) == {"dict"}:
        with contextlib.suppress(TypeError, ValueError):
            return {str(key): received(value, depth + 1) for key, value in reply["dict"]}
    raise AnswerError("not plain")


# --- the sandbox -------------------------------------------------------------------------------


def _interpreter() -> str:
    """The program itself, not the link to it that an environment has."""
    return os.path.realpath(sys.executable)


def _mounts() -> dict[str, str]:
    """What is to be seen, by its name inside: the interpreter, packages, the system's libraries."""
    seen = {path: path for path in (*SYSTEM, _interpreter(), sysconfig.get_path("stdlib"))}
    seen[f"{sys.base_prefix}/lib"] = f"{sys.base_prefix}/lib"
    seen |= dict(zip(_packages(), _site(), strict=True))
    seen["/inside"] = str(INSIDE)
    return {inside: outside for inside, outside in seen.items() if os.path.exists(outside)}


def _site() -> list[str]:
    """The folders of installed packages."""
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    return [folder for folder in folders if os.path.isdir(folder)]


def _packages() -> list[str]:
    """The same, as a sandbox calls them."""
    return [f"/packages/{k}" for k in range(len(_site()))]


def _hidden(mounts: dict[str, str]) -> Iterator[str]:
    """Where limetutor is, by its names inside: it knows the answers. So does a clone, with its notebooks."""
    clone = HERE.parent if any(HERE.parent.glob("assignments/*.ipynb")) else HERE
    known = {
        str(HERE),
        str(clone),
        *(os.path.realpath(f"{folder}/limetutor") for folder in _site()),
    }
    for inside, outside in mounts.items():
        for part in ("", "python3*/", "lib/python3*/"):
            for kind in ("site", "dist"):
                for found in glob.glob(f"{glob.escape(outside)}/{part}{kind}-packages/limetutor"):
                    yield inside + found.removeprefix(outside)
        if os.path.isdir(f"{outside}/limetutor"):
            yield f"{inside}/limetutor"
        real = os.path.realpath(outside)
        for folder in known:
            if folder.startswith(f"{real}/") and os.path.isdir(folder):
                yield inside + folder.removeprefix(real)


def _bubblewrap(limits: Limits, more: Sequence[str] = ()) -> list[str]:
    room = ["--perms", "1777", "--size", str(limits.scratch * MEGABYTE), "--tmpfs"]
    command = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    command += [f"--unshare-{kind}" for kind in ("net", "pid", "ipc", "uts", "cgroup-try")]
    if os.getuid() == 0:  # with no more rights than it takes to become somebody else
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    mounts = _mounts()
    parents = {str(parent) for path in mounts for parent in Path(path).parents} - {"/"}
    for parent in sorted(parents):
        command += ["--perms", "0755", "--dir", parent]
    for inside, outside in mounts.items():
        command += ["--ro-bind", outside, inside]
    if limits.bytecode:
        command += ["--ro-bind", limits.bytecode, BYTECODE]
    for folder in sorted(set(_hidden(mounts))):
        command += ["--tmpfs", folder]
    command += more
    command += ["--proc", "/proc", "--dev", "/dev", *room, "/dev/shm", "--remount-ro", "/dev"]
    command += [*room, "/scratch", "--chdir", "/scratch", "--remount-ro", "/"]
    for name, value in {**ENVIRONMENT, "PYTHONPATH": ":".join(_paths(limits))}.items():
        command += ["--setenv", name, value]
    return command


def _paths(limits: Limits) -> list[str]:
    """Where the worker and what it starts find modules: the stand-in before all others."""
    if limits.sandboxed:
        return ["/inside/standin", *_packages()]
    return [str(INSIDE / "standin"), *_site()]


class Session:
    """A notebook's process: asked one thing at a time, stopped when it takes too much."""

    def __init__(self, limits: Limits, given: dict[str, Any]) -> None:
        if limits.stop.is_set():
            raise SandboxError("grading was stopped.")
        self._limits = limits
        self._numbers = itertools.count(int.from_bytes(os.urandom(6)))
        self._replies: queue.Queue[bytes | None] = queue.Queue(64)
        self._closed = threading.Event()
        self._folder = "/scratch" if limits.sandboxed else tempfile.mkdtemp(prefix="limetutor-")
        self._inner: int | None = None  # the first process of the sandbox ...
        self._handle: int | None = None  # ... which no other of its number is taken for
        self._own: set[int] = set()  # processes that are no notebook's doing
        self._grace = GRACE * limits.seconds
        self._process = self._start()
        threading.Thread(target=self._listen, daemon=True).start()
        root = limits.sandboxed and os.getuid() == 0
        begin = {
            "memory": (limits.memory + SPARE) * MEGABYTE,
            "processes": limits.processes if limits.sandboxed else None,
            "user": 60_000 + next(_users) % 5000 if root else None,
            "folder": self._folder,
            "paths": _paths(limits),
            "given": worker.packed(given),
        }
        try:
            self.ask(START, **begin)
        except StoppedError as stopped:  # no line of the notebook has run yet: it is not to blame
            raise SandboxError(f"a process to grade in did not start: it {stopped.why}.") from None
        self._own = set(_family(self._root))

    def _start(self) -> subprocess.Popen[bytes]:
        inside = "/inside" if self._limits.sandboxed else str(INSIDE)
        # -S: packages are found by the paths of the worker, and no .pth file leads anywhere else
        cached = ["-X", f"pycache_prefix={BYTECODE}"] if self._limits.bytecode else []
        run = [_interpreter(), "-I", "-S", "-B", *cached, f"{inside}/worker.py"]
        pipe: Any = subprocess.PIPE
        how: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL}
        if not self._limits.sandboxed:
            own = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}
            paths = {"PYTHONPATH": os.pathsep.join(_paths(self._limits)), "PATH": os.defpath}
            env = ENVIRONMENT | own | paths | {"HOME": self._folder, "TMPDIR": self._folder}
            return subprocess.Popen(run, env=env, start_new_session=True, **how)
        info, theirs = os.pipe()
        try:
            with os.fdopen(theirs, "wb"):
                command = [*_bubblewrap(self._limits), "--info-fd", str(theirs), "--", *run]
                program = shutil.which("bwrap")
                how["process_group"] = 0  # keys that stop the grader are for it alone
                process = subprocess.Popen(
                    command, env={}, executable=program, pass_fds=[theirs], **how
                )
        finally:
            with os.fdopen(info, "rb") as told:
                said = told.read()
        with contextlib.suppress(ValueError):
            self._inner = int(json.loads(said)["child-pid"])
            with contextlib.suppress(OSError):
                self._handle = os.pidfd_open(self._inner)
        return process

    def _listen(self) -> None:
        """Lines of the process into the queue, until it ends or says too much."""
        stream, heard = self._process.stdout, 0
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while not self._closed.is_set() and heard < FLOOD:
                line = stream.readline(LONGEST)
                heard += len(line)
                if not line.endswith(b"\n"):
                    break
                while not self._closed.is_set():
                    with contextlib.suppress(queue.Full):
                        self._replies.put(line, timeout=1)
                        break
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._replies.put(None, timeout=1)
                break
        with contextlib.suppress(OSError):
            stream.close()

    def ask(self, seconds: float, **what: Any) -> dict[str, Any]:
        """The reply to one request, StoppedError if none comes in so many seconds."""
        until, busy = time.monotonic() + seconds * PATIENCE, self.busy + seconds
        number = next(self._numbers)
        line = json.dumps(what | {"number": number}).encode() + b"\n"
        assert self._process.stdin is not None
        try:
            threading.Thread(target=self._tell, args=(line,), daemon=True).start()
            while True:
                reply = self._reply(until, busy)
                if reply.get("number") == number:
                    return reply
        except StoppedError:
            self.close()
            raise

    def _tell(self, line: bytes) -> None:
        """In a thread of its own: a process that does not listen must not stop the grader."""
        stream = self._process.stdin
        with contextlib.suppress(OSError, ValueError):
            assert stream is not None
            stream.write(line)
            stream.flush()

    def _reply(self, until: float, busy: float) -> dict[str, Any]:
        while True:
            if time.monotonic() > until or self.busy > busy or self._limits.stop.is_set():
                raise StoppedError("timed out")
            if self._too_large():
                raise StoppedError("out of memory")
            with contextlib.suppress(queue.Empty):
                line = self._replies.get(timeout=TICK)
                if line is None:
                    raise StoppedError("died")
                with contextlib.suppress(ValueError, RecursionError):
                    reply = json.loads(line)
                    if isinstance(reply, dict):
                        return reply

    @property
    def _root(self) -> int:
        """The process from which all others come: the first of the sandbox, if there is one."""
        if self._limits.sandboxed:
            return self._inner or 0
        return self._process.pid if sys.platform.startswith("linux") else 0

    def settle(self, seconds: float) -> None:
        """Wait until the notebook rests; StoppedError if it is still at work after so many seconds.

        Processes that it has left behind may stay while they sleep and are few and small, as those do that
        joblib keeps for its next call; what they may take to fall asleep is little, and not given twice. All
        others are killed, and what they have worked until then is not the notebook's fault a second time. A
        thread cannot be killed: one that works on counts as the notebook itself at work, since all that
        comes next would wait for it.
        """
        begun, busy, own = time.monotonic(), self.busy, self._own_work
        try:
            while not (
                self._modest(left := self._strangers()) and all(map(_sleeps, self._own | left))
            ):
                passed = time.monotonic() - begun
                if self._own_work - own > seconds or passed > START or self._limits.stop.is_set():
                    raise StoppedError("timed out")
                if not self._modest(left) or self.busy - busy > self._grace:
                    self._kill_strangers()
                time.sleep(BLINK)
            self._grace = max(0.0, self._grace - (self.busy - busy))
        except StoppedError:
            self.close()
            raise

    def _modest(self, pids: set[int]) -> bool:
        """Whether so few processes hold so little that nobody else goes short."""
        return len(pids) <= FEW and 2 * sum(map(_held, pids)) <= self._limits.memory * MEGABYTE

    def _strangers(self) -> set[int]:
        """Processes of the sandbox that the notebook has started, but for those that have ended."""
        return {pid for pid in set(_family(self._root)) - self._own if not _ended(pid)}

    def _kill_strangers(self) -> None:
        """Stop them first, and whoever could start more of them; then none can run away."""
        stopped: set[int] = set()
        while new := self._strangers() - stopped:
            self._signal({*new, *self._own} - {self._inner}, signal.SIGSTOP)
            stopped |= new
        self._signal(stopped, signal.SIGKILL)
        self._signal(self._own - {self._inner}, signal.SIGCONT)

    def _signal(self, pids: set[int], what: signal.Signals) -> None:
        """Send a signal to processes that are of the sandbox even now, and to no other of their number."""
        opened = {}
        for pid in pids:
            with contextlib.suppress(OSError):
                opened[pid] = os.pidfd_open(pid)
        ours = set(_family(self._root))
        for pid, handle in opened.items():
            with contextlib.suppress(OSError):
                if pid in ours:
                    signal.pidfd_send_signal(handle, what)
            os.close(handle)

    @property
    def busy(self) -> float:
        """Seconds that the processor has worked for the sandbox."""
        return sum(map(_worked, _family(self._root)))

    @property
    def _own_work(self) -> float:
        """The same for the notebook's own process alone, whatever it has started."""
        return sum(_worked(pid, children=False) for pid in self._own)

    def _too_large(self) -> bool:
        """Whether all processes of the sandbox together hold more than they may.

        A quick count first, which counts pages once for each process that shares them.
        """
        most, family = self._limits.memory * MEGABYTE, list(_family(self._root))
        return sum(map(_held, family)) > most and sum(map(_share, family)) > most

    def close(self) -> None:
        """End it, and all that it has started."""
        self._closed.set()
        if self._handle is not None:
            with contextlib.suppress(OSError):  # all others of its namespace go with it
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
            self._handle = None
        if self._process.poll() is None:
            if not self._limits.sandboxed and hasattr(os, "killpg"):
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):  # the listener closes the other stream
            assert self._process.stdin is not None
            self._process.stdin.close()
        if not self._limits.sandboxed:
            shutil.rmtree(self._folder, ignore_errors=True)


def started(limits: Limits, given: dict[str, Any]) -> Session:
    """A session, at the third attempt if need be: a machine may be short of something for a moment."""
    for left in (2, 1, 0):
        try:
            return Session(limits, given)
        except SandboxError:
            if not left:
                raise
    raise AssertionError


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants; of none, if it is 0."""
    if not pid:
        return
    yield pid
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    yield from _family(int(child))


def _states(pid: int) -> str:
    """What the threads of a process do, a letter each: R runs, S sleeps, Z has ended."""
    states = ""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(OSError, IndexError),
                open(f"/proc/{pid}/task/{task}/stat") as stat,
            ):
                states += stat.read().rpartition(")")[2].split()[0]
    return states


def _ended(pid: int) -> bool:
    """Whether nothing of a process runs any more: it is gone, or nobody has asked for its end yet."""
    return set(_states(pid)) <= {"Z", "X"}


def _sleeps(pid: int) -> bool:
    """Whether all threads of a process wait for something.

    One look is enough for one thread. Of several that hand a lock to each other, each may be seen asleep
    in the very moment in which it waits for the one before.
    """
    for _ in range(LOOKS):
        states = _states(pid)
        if set(states) & {"R", "D"}:
            return False
        if len(states) <= 1:
            break
        time.sleep(BLINK)
    return True


def _worked(pid: int, children: bool = True) -> float:
    """Seconds of a process, and of its children that have ended."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return sum(map(int, fields[11 : 15 if children else 13])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _share(pid: int) -> int:
    """Bytes of a process, where a page that several have counts as a part for each."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/smaps_rollup") as table:
            lines = [line.split() for line in table if line.startswith("Pss_Anon:")]
        return int(lines[0][1]) * 1024
    return _held(pid)


def _held(pid: int) -> int:
    """Bytes of a process that are no files."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        with open(f"/proc/{pid}/statm") as pages:
            _, resident, shared, *_ = map(int, pages.read().split())
        return (resident - shared) * os.sysconf("SC_PAGE_SIZE")
    return 0


def lacking() -> str:
    """Why there is no sandbox here, in one sentence; nothing if there is one."""
    flag = "pass --unsafe-no-sandbox to run the students' code with your own rights"
    if not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return (
            "grading needs the sandbox bubblewrap (Linux; on Debian and Ubuntu: apt install bubblewrap), "
            f"and there is none here: install it, or {flag}."
        )
    probe = _trusted(Limits(), "pass")
    if probe.returncode:
        why = probe.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return f"the sandbox bubblewrap does not start here ({why[:200]}): mend that, or {flag}."
    return ""


@contextlib.contextmanager
def ready(limits: Limits) -> Iterator[Limits]:
    """Refuse to run students' code where there is no sandbox, unless that was asked for.

    Where the packages are not compiled yet, each notebook would compile them anew and wait for it:
    that is done once, by a process that runs no student's code.
    """
    if not limits.sandboxed:
        yield limits
        return
    if why := lacking():
        raise SandboxError(why)
    if os.path.exists(importlib.util.cache_from_source(str(np.__file__))):
        yield limits
        return
    with tempfile.TemporaryDirectory(prefix="limetutor-") as folder:
        os.chmod(folder, 0o755)  # a sandbox of root runs as somebody else
        imports = [f"try: import {module}\nexcept ImportError: pass" for module in MODULES]
        code = "\n".join([f"import sys; sys.path[:0] = {_packages()!r}", *imports])
        _trusted(limits, code, "--bind", folder, BYTECODE)
        yield replace(limits, bytecode=folder)


def _trusted(limits: Limits, code: str, *more: str) -> subprocess.CompletedProcess[bytes]:
    """Run code of this file in a sandbox."""
    run = [_interpreter(), "-I", "-S", "-X", f"pycache_prefix={BYTECODE}", "-c", code]
    return subprocess.run(
        [*_bubblewrap(limits, more), "--", *run], env={}, executable=shutil.which("bwrap"),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False,
    )  # fmt: skip
