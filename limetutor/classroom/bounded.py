"""A process of the grader's own, with limits, in which submissions are read and answers are judged.

What a student hands in can make its reader slow or large, so it is read here and never in the grader itself, which
takes a reply of bounded length. Who goes beyond a limit ends this process, and the next call starts another one.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

MAX_REPLY_BYTES = 50_000_000
END_SECONDS = 5  # to close what it has started, before it is killed
STOPPED = "Stopped"  # the kind of error of a call to a process that was told to end
PLACE = str(Path(__file__).resolve().parents[2])


class ExceededError(Exception):
    """A call went beyond a limit; the argument is "timed out" or "out of memory"."""


class CallError(Exception):
    """A function raised an error: ``kind`` is its class, the argument its message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class BoundedProcess:
    """A process that calls functions: seconds of the processor for each, and megabytes, are limited."""

    def __init__(self, seconds: int = 120, megabytes: int = 1024) -> None:
        self._limits = seconds, megabytes
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._stopped = False

    def call(self, function: str, *arguments: Any, seconds: float) -> Any:
        """The value of ``module:function``, both as JSON; ExceededError after so many seconds on the clock."""
        process = self._running()
        late = threading.Event()

        def end() -> None:
            late.set()
            _end(process)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None and process.stdout is not None
            with contextlib.suppress(OSError):  # it has ended
                process.stdin.write(json.dumps([function, arguments]).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline(MAX_REPLY_BYTES)
        finally:
            timer.cancel()
        reply = json.loads(line) if line.endswith(b"\n") else None
        if reply is None or reply.get("raised") == "MemoryError":
            code = self._forget()
            if late.is_set() or code == -getattr(signal, "SIGXCPU", signal.SIGTERM):
                raise ExceededError("timed out")
            if reply is not None:
                raise ExceededError("out of memory")
            kind = STOPPED if self._stopped else "RuntimeError"
            raise CallError(kind, f"the process that judges ended with code {code}.")
        if "raised" in reply:
            raise CallError(reply["raised"], reply["message"])
        return reply["value"]

    def _running(self) -> subprocess.Popen[bytes]:
        with self._starting:
            if self._stopped:
                raise CallError(STOPPED, "grading was stopped.")
            if self._process is None:
                code = f"import sys; sys.path.insert(0, {PLACE!r}); from {__name__} import serve"
                # a group of its own: keys that stop the grader are for the grader alone
                group: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
                self._process = subprocess.Popen(
                    [sys.executable, "-c", f"{code}; serve{self._limits}"],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, **group,
                )  # fmt: skip
            return self._process

    def _forget(self) -> int:
        """End the process; its exit code."""
        with self._starting:
            process, self._process = self._process, None
        return 0 if process is None else _end(process)

    def stop(self) -> None:
        """End the process, whatever it does, and start no other."""
        self._stopped = True
        self._forget()


def called_for_each(
    function: str, calls: Iterable[tuple[Any, ...]], seconds: float, processor_seconds: int
) -> Iterator[Any]:
    """The values of a function that reads submissions, one after the other; errors in the place of some."""
    process = BoundedProcess(processor_seconds)
    try:
        for arguments in calls:
            try:
                yield process.call(function, *arguments, seconds=seconds)
            except (CallError, ExceededError) as error:
                yield error
    finally:
        process.stop()


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP, unless they are ignored, stop this program as Ctrl-C does."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    usual = [n for n in numbers if signal.getsignal(n) == signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        usual = []
    for number in usual:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in usual:
            signal.signal(number, signal.SIG_DFL)


def _end(process: subprocess.Popen[bytes]) -> int:
    """Ask a process to end, with all that it has started, then make it; its exit code."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            assert stream is not None
            stream.close()
    return process.wait()


def serve(seconds: int, megabytes: int) -> None:
    """Call what the grader asks for, one line of JSON each, until it asks no more."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGTERM, _exit)
    threading.Thread(target=_end_without_grader, daemon=True).start()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        function, arguments = json.loads(line)
        called = resolve_name(function)
        _limit(seconds, megabytes)
        try:
            text = json.dumps({"value": called(*arguments)})
        except Exception as error:
            text = json.dumps({"raised": type(error).__name__, "message": str(error)[:1000]})
        replies.write(text.encode() + b"\n")
        replies.flush()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # the watching thread may still send one


def _end_without_grader() -> None:
    """End as if told to, in the middle of a call too, once the grader has ended, by whatever signal."""
    if hasattr(select, "poll"):  # not on Windows
        grader = select.poll()
        grader.register(0, 0)  # wakes up when nobody has the other end any more
        grader.poll()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(END_SECONDS)
        os._exit(1)


_told_to_end = False
_busy = False


def _exit(*_: Any) -> None:
    """End as by an error, so that sandboxes are closed, and only once."""
    global _told_to_end
    _told_to_end = True
    if not _busy:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(1)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Do not end in the middle of this: bubblewrap, if it loses its parent as it starts, waits for ever."""
    global _busy
    _busy = True
    try:
        yield
    finally:
        _busy = False
        if _told_to_end:
            _exit()


_own_bytes = 0


def _limit(seconds: int, megabytes: int) -> None:
    """Set limits for the next call; sandboxes, which inherit them, set their own."""
    try:
        import resource
    except ImportError:  # Windows
        return
    global _own_bytes
    if not _own_bytes:
        with (
            contextlib.suppress(OSError, ValueError, IndexError),
            open("/proc/self/statm") as pages,
        ):
            _own_bytes = int(pages.read().split()[5]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_CPU, int(time.process_time()) + 1 + seconds),
        (resource.RLIMIT_DATA, _own_bytes + megabytes * 2**20),
    ):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))
