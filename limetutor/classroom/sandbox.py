"""The sandbox for students' code: a process that sees the interpreter, its packages and an empty folder.

bubblewrap (Linux) makes the sandbox: nothing else of this machine is mounted, there is no network and no
environment, other processes are hidden, and everything it writes is gone with it. limetutor itself is
replaced by a stand-in, because it knows the answers. Time, memory and processes are bounded
(:class:`SandboxLimits`), and system calls that no notebook needs are refused (:mod:`.system_calls`).
"""

import contextlib
import glob
import importlib.util
import json
import os
import platform
import shutil
import site
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .groups import MemoryGroup, memory_group, remove_abandoned
from .inside import worker
from .system_calls import filter_program

WORKER_FOLDER = Path(worker.__file__).resolve().parent
PACKAGE = Path(__file__).resolve().parents[1]  # limetutor itself
CLOCK_FACTOR = 4
MEGABYTE = 2**20
BYTECODE = "/bytecode"
# not /dev/zero: shared between processes, a map of it is memory that no size limits
DEVICES = ("/dev/null", "/dev/random", "/dev/urandom")
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
# what notebooks import, compiled once for all of them
COMPILED_MODULES = (
    "IPython.core.interactiveshell", "lime.lime_tabular", "numpy", "pandas", "scipy.stats",
    "sklearn.datasets", "sklearn.ensemble", "sklearn.linear_model", "sklearn.model_selection",
    "sklearn.tree", "matplotlib.pyplot",
)  # fmt: skip


@dataclass(frozen=True)
class SandboxLimits:
    """What a notebook may use: seconds for a cell and for a question, and for all; megabytes; processes.

    Seconds are those of the processor and those in which all of a notebook waits, where they can be measured: a busy
    machine makes no notebook late. In any case it is stopped after :data:`CLOCK_FACTOR` times as many on the clock.
    ``total`` is for the cells alone, on the clock: each question has its own seconds, whatever others took.
    """

    seconds: float = 20.0
    total: float = 240.0
    memory: int = 2048
    processes: int = 64
    scratch: int = 64  # megabytes of files
    sandboxed: bool = True
    bytecode: str | None = None  # a folder with what the interpreter has compiled already

    def longest(self, questions: int) -> float:
        """Seconds on the clock that no notebook can take: all cells, and each question twice."""
        return CLOCK_FACTOR * (self.total + 2 * questions * self.seconds)


class SandboxError(RuntimeError):
    """Nothing can be graded on this machine, whatever was handed in."""


def _interpreter() -> str:
    """The program itself, not the link to it that an environment has."""
    return os.path.realpath(sys.executable)


def _package_folders() -> dict[str, str]:
    """The folders of installed packages, by their names inside."""
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    present = [folder for folder in folders if os.path.isdir(folder)]
    return {f"/packages/{k}": folder for k, folder in enumerate(present)}


def module_paths(limits: SandboxLimits) -> list[str]:
    """Where the worker and what it starts find modules: the stand-in before all others."""
    if limits.sandboxed:
        return ["/inside/standin", *_package_folders()]
    return [str(WORKER_FOLDER / "standin"), *_package_folders().values()]


def _mounts() -> dict[str, str]:
    """What is visible, by its name inside: the interpreter, packages, the system's libraries."""
    mounts = {path: path for path in (*SYSTEM, _interpreter(), sysconfig.get_path("stdlib"))}
    mounts[f"{sys.base_prefix}/lib"] = f"{sys.base_prefix}/lib"
    mounts |= _package_folders()
    mounts["/inside"] = str(WORKER_FOLDER)
    return {inside: outside for inside, outside in mounts.items() if os.path.exists(outside)}


def _hidden(mounts: dict[str, str]) -> Iterator[str]:
    """Where limetutor is, by its names inside: it knows the answers. So does a clone, with its notebooks."""
    clone = PACKAGE.parent if any(PACKAGE.parent.glob("assignments/*.ipynb")) else PACKAGE
    installed = (os.path.realpath(f"{path}/limetutor") for path in _package_folders().values())
    folders = {str(PACKAGE), str(clone), *installed}
    for inside, outside in mounts.items():
        for part in ("", "python3*/", "lib/python3*/"):
            for kind in ("site", "dist"):
                for path in glob.glob(f"{glob.escape(outside)}/{part}{kind}-packages/limetutor"):
                    yield inside + path.removeprefix(outside)
        if os.path.isdir(f"{outside}/limetutor"):
            yield f"{inside}/limetutor"
        real = os.path.realpath(outside)
        for folder in folders:
            if folder.startswith(f"{real}/") and os.path.isdir(folder):
                yield inside + folder.removeprefix(real)


def _bubblewrap(limits: SandboxLimits, mounted: Sequence[str] = ()) -> list[str]:
    """The command that starts a sandbox, without the program in it."""
    tmpfs = ["--perms", "1777", "--size", str(limits.scratch * MEGABYTE), "--tmpfs"]
    command = ["bwrap", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    command += [f"--unshare-{kind}" for kind in ("net", "pid", "ipc", "uts", "cgroup-try")]
    if os.getuid() == 0:  # with no more rights than it takes to become another user
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user", *(["--disable-userns"] if _can_disable_namespaces() else [])]
    mounts = _mounts()
    parents = {str(parent) for path in mounts for parent in Path(path).parents} - {"/"}
    for parent in sorted(parents):
        command += ["--perms", "0755", "--dir", parent]
    for inside, outside in mounts.items():
        command += ["--ro-bind", outside, inside]
    if limits.bytecode:
        command += ["--ro-bind", limits.bytecode, BYTECODE]
    for folder in sorted(set(_hidden(mounts))):
        command += ["--tmpfs", folder, "--remount-ro", folder]
    command += mounted
    command += ["--proc", "/proc", *tmpfs, "/dev/shm"]
    for device in DEVICES:
        command += ["--dev-bind", device, device]
    command += [*tmpfs, "/scratch", "--chdir", "/scratch", "--remount-ro", "/"]
    for name, value in {**ENVIRONMENT, "PYTHONPATH": ":".join(module_paths(limits))}.items():
        command += ["--setenv", name, value]
    return command


@cache
def _can_disable_namespaces() -> bool:
    """Whether bubblewrap can forbid user namespaces: from version 0.8 on, without rights of root."""
    path = shutil.which("bwrap")
    if path is None or os.stat(path).st_mode & stat.S_ISUID:
        return False
    words = subprocess.run([path, "--help"], env={}, capture_output=True, timeout=60, check=False)
    return b"--disable-userns" in words.stdout + words.stderr


@contextlib.contextmanager
def _filtered() -> Iterator[tuple[list[str], list[int]]]:
    """The option of bubblewrap that filters system calls, and the open file that it names."""
    program = filter_program(platform.machine())
    if program is None:
        yield [], []
        return
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as stream:
            stream.write(program)
        yield ["--seccomp", str(reading)], [reading]
    finally:
        os.close(reading)


class StartedWorker(NamedTuple):
    """A worker: its process, the first process of its sandbox, the group that limits its memory."""

    process: subprocess.Popen[bytes]
    init: int | None = None
    group: MemoryGroup | None = None


def start_worker(limits: SandboxLimits, folder: str) -> StartedWorker:
    """Start the worker, in a sandbox unless that was not asked for."""
    inside = "/inside" if limits.sandboxed else str(WORKER_FOLDER)
    # -S: packages are found by the paths of the worker, and no .pth file leads anywhere else
    cached = ["-X", f"pycache_prefix={BYTECODE}"] if limits.bytecode else []
    run = [_interpreter(), "-I", "-S", "-B", *cached, f"{inside}/worker.py"]
    pipe: Any = subprocess.PIPE
    options: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL}
    if not limits.sandboxed:
        windows = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if "SYSTEMROOT" in os.environ else {}
        paths = {"PYTHONPATH": os.pathsep.join(module_paths(limits)), "PATH": os.defpath}
        env = ENVIRONMENT | windows | paths | {"HOME": folder, "TMPDIR": folder}
        return StartedWorker(subprocess.Popen(run, env=env, start_new_session=True, **options))
    reading, writing = os.pipe()
    waiting, releasing = os.pipe()
    with os.fdopen(releasing, "wb", 0) as release:
        try:
            with _filtered() as (filtered, files), os.fdopen(writing, "wb"):
                told = ["--info-fd", str(writing), "--block-fd", str(waiting)]
                process = subprocess.Popen(
                    [*_bubblewrap(limits), *filtered, *told, "--", *run],
                    env={},
                    executable=shutil.which("bwrap"),
                    pass_fds=[*files, writing, waiting],
                    process_group=0,  # keys that stop the grader are for it alone
                    **options,
                )
        finally:
            os.close(waiting)
            with os.fdopen(reading, "rb") as stream:
                info = stream.read()
        try:
            init = int(json.loads(info)["child-pid"])
        except ValueError:
            return StartedWorker(process)
        most = (limits.memory + 2 * limits.scratch) * MEGABYTE
        group = memory_group(most, init)  # before anything runs in it
        with contextlib.suppress(OSError):  # it has ended already
            release.write(b"go")
    return StartedWorker(process, init, group)


def _run_trusted(
    limits: SandboxLimits, code: str, *mounted: str
) -> subprocess.CompletedProcess[bytes]:
    """Run code of this file in a sandbox."""
    run = [_interpreter(), "-I", "-S", "-X", f"pycache_prefix={BYTECODE}", "-c", code]
    with _filtered() as (filtered, files):
        return subprocess.run(
            [*_bubblewrap(limits, mounted), *filtered, "--", *run], env={}, pass_fds=files,
            executable=shutil.which("bwrap"), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=600, check=False,
        )  # fmt: skip


def weaknesses() -> list[str]:
    """What the sandbox of this machine lacks, in sentences."""
    if filter_program(platform.machine()) is None:
        return [
            f"System calls are not filtered on this kind of processor ({platform.machine()}): a notebook "
            "reaches more of the Linux kernel, and memory that its processes share without a file is "
            "counted only while they map it."
        ]
    if os.getuid() != 0 and not _can_disable_namespaces():
        return [
            "This bubblewrap cannot switch off user namespaces (version 0.8 can, unless it is installed "
            "setuid): the filter of system calls alone keeps notebooks from making them."
        ]
    return []


def why_unavailable() -> str:
    """Why there is no sandbox on this machine, in one sentence; empty if there is one."""
    flag = "pass --unsafe-no-sandbox to run the students' code with your own rights"
    if not sys.platform.startswith("linux") or shutil.which("bwrap") is None:
        return (
            "grading needs the sandbox bubblewrap (Linux; on Debian and Ubuntu: apt install bubblewrap), "
            f"and there is none here: install it, or {flag}."
        )
    probe = _run_trusted(SandboxLimits(), "pass")
    if probe.returncode:
        why = probe.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return (
            f"the sandbox bubblewrap does not start here ({why[:200]}): the page For teachers says what Ubuntu and "
            f"containers ask for; mend that, or {flag}."
        )
    return ""


@contextlib.contextmanager
def prepared(limits: SandboxLimits) -> Iterator[SandboxLimits]:
    """Refuse to run students' code where there is no sandbox, unless that was asked for.

    Where the packages are not compiled yet, each notebook would compile them again and wait for it:
    that is done once, by a process that runs no student's code.
    """
    if not limits.sandboxed:
        yield limits
        return
    if why := why_unavailable():
        raise SandboxError(why)
    try:
        if os.path.exists(importlib.util.cache_from_source(str(np.__file__))):
            yield limits
            return
        with tempfile.TemporaryDirectory(prefix="limetutor-") as folder:
            os.chmod(folder, 0o755)  # a sandbox started by root runs as another user
            imports = [f"try: import {name}\nexcept ImportError: pass" for name in COMPILED_MODULES]
            code = "\n".join([f"import sys; sys.path[:0] = {[*_package_folders()]!r}", *imports])
            _run_trusted(limits, code, "--bind", folder, BYTECODE)
            yield replace(limits, bytecode=folder)
    finally:
        remove_abandoned()
