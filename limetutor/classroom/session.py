"""Talk to the worker in a sandbox: one request at a time, one reply each, as lines of JSON.

Before its reply, a notebook may ask for values of a few functions that are here (:class:`Session`).
"""

import base64
import contextlib
import itertools
import json
import math
import os
import queue
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .bounded import uninterrupted
from .inside import worker
from .processes import CHECK_SECONDS, ProcessTree, few_and_small, sleeps
from .questions import Formula
from .sandbox import CLOCK_FACTOR, MEGABYTE, SandboxError, SandboxLimits, module_paths, start_worker

MAX_REPLY_BYTES = 8_000_000  # of one reply
MAX_OUTPUT_BYTES = 100_000_000  # of all replies
MAX_DEPTH, MAX_TEXT_LENGTH = 12, 1000  # of lists in lists, of a text that is read as numbers
MAX_VALUES = 500_000  # of an answer: its numbers and texts, empty rows too
MAX_ASKED, MAX_ASKED_SECONDS = 20_000, 10.0  # that a notebook asks for, and the time to answer
TOO_OFTEN = (
    f"it calls more than {MAX_ASKED:,} times, or for more than {MAX_ASKED_SECONDS:g} seconds, and no more is "
    "answered. Call once, with whole arrays."
)
# numbers in what it asks about, and the largest whole number
MAX_ASKED_VALUES, MAX_WHOLE = 50_000, 10_000
MAX_START_SECONDS = 60  # until the worker is ready, and until what a notebook leaves behind is gone
MAX_UNREAD_SECONDS = 10  # of a line, when there is a next one
POLL_SECONDS = 0.05  # between two looks at the memory
LEFTOVER_SHARE = 0.4  # of a cell's seconds, in which processes left behind may fall asleep
RESERVED_MEGABYTES = 1024  # of addresses that libraries reserve and do not use

_users = itertools.count(os.getpid())  # each sandbox that root starts has a user of its own


class StoppedError(Exception):
    """The worker has ended; the argument is "timed out", "out of memory" or "died"."""


class AnswerError(Exception):
    """The notebook answered, but not with a value; the argument is what it raised or what was wrong."""


def encoded(value: Any) -> Any:
    """A value as JSON that the worker unpacks."""
    if isinstance(value, Formula):
        return {"formula": [value.text, worker.packed(dict(value.given))]}
    return worker.packed(value)


def decoded(reply: Any) -> Any:
    """A value out of JSON that a student may have written: data only, AnswerError for the rest."""
    return _decoded(reply, itertools.count(1))


def argument(value: Any) -> Any:
    """What a notebook passes to a function out here, as an array where it is a list; of bounded size."""
    value = np.asarray(value) if isinstance(value, list) else value
    whole = isinstance(value, int) and abs(value) > MAX_WHOLE
    if whole or isinstance(value, dict) or np.size(value) > MAX_ASKED_VALUES:
        raise AnswerError("too large")
    return value


def _decoded(reply: Any, values: Iterator[int], depth: int = 0) -> Any:
    """A part of a value; ``values`` counts its numbers and texts."""
    too_long = isinstance(reply, str) and len(reply) > MAX_TEXT_LENGTH
    if depth > MAX_DEPTH or too_long or next(values) > MAX_VALUES:
        raise AnswerError("not plain")
    if reply is None or isinstance(reply, bool | int | float | str):
        return reply
    if isinstance(reply, list):
        return [_decoded(entry, values, depth + 1) for entry in reply]
    if isinstance(reply, dict) and set(reply) == {"array"}:
        with contextlib.suppress(TypeError, ValueError, KeyError, OverflowError):
            return _array(*reply["array"])
    if isinstance(reply, dict) and set(reply) == {"dict"}:
        with contextlib.suppress(TypeError, ValueError):
            return {str(key): _decoded(value, values, depth + 1) for key, value in reply["dict"]}
    raise AnswerError("not plain")


def _array(name: str, shape: list[int], data: str) -> np.ndarray:
    """An array of numbers. An empty one is as large as its shape: as lists it has that many rows."""
    if len(shape) > MAX_DEPTH or math.prod(max(int(n), 1) for n in shape) > MAX_VALUES:
        raise ValueError
    dtype = {"<f8": float, "<i8": np.int64, "|b1": bool}[name]
    return np.frombuffer(base64.b64decode(data), dtype).reshape([int(n) for n in shape])


class Answers:
    """Values of functions out here, for a notebook that asks: so many, and about so much, for each question."""

    def __init__(self, outside: Mapping[str, Callable[..., Any]]) -> None:
        self._outside = outside
        self.given: set[str] = set()  # the functions that gave any
        self.begin_question()

    def begin_question(self) -> None:
        """Answer as often again as before: what one question asks for costs no other."""
        self.asked, self._seconds, self.too_often = 0, 0.0, False

    def reply(
        self, asked: dict[str, Any], exchange: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        """The value of a function that the notebook asks for, of an error only its kind."""

        def function(number: Any) -> Callable[..., Any]:
            def called(*arguments: Any) -> Any:
                """The value of a function in the notebook."""
                shown = [encoded(value) for value in arguments]
                reply = exchange({"evaluate": number, "arguments": shown})
                return decoded(reply.get("evaluated"))

            return called

        def read(value: Any) -> Any:
            if isinstance(value, dict) and set(value) == {"function"}:
                return function(value["function"])
            return argument(decoded(value))

        self.asked += 1
        began = time.process_time()
        try:
            if self.asked > MAX_ASKED or self._seconds > MAX_ASKED_SECONDS:
                self.too_often = True
                raise AnswerError("too often")
            name = asked["asked"]
            called = self._outside[name]
            arguments = [read(value) for value in asked["arguments"]]
            named = {str(key): read(value) for key, value in asked["named"].items()}
            value = encoded(called(*arguments, **named))
            self.given.add(name)
            return {"answer": value}
        except StoppedError:
            raise
        except Exception as error:
            return {"error": type(error).__name__}
        finally:
            self._seconds += time.process_time() - began


class Session:
    """The worker of a notebook: asked one thing at a time, stopped when it takes too much.

    It may ask in turn for values of the functions in ``outside``. Those in ``replaced`` have the names of functions of
    the notebook and are called in their places.
    """

    def __init__(
        self,
        limits: SandboxLimits,
        outside: Mapping[str, Callable[..., Any]],
        replaced: Sequence[str] = (),
    ) -> None:
        self._limits, self.answers = limits, Answers(outside)
        self._next_check = self._last_check = self._waited = 0.0
        self._seen = 0.0, 0  # seconds of the processor, and what was asked for, at the last check
        self._replies: queue.Queue[bytes | None] = queue.Queue(64)
        self._closed = threading.Event()
        self._folder = "/scratch" if limits.sandboxed else tempfile.mkdtemp(prefix="limetutor-")
        self._init_handle: int | None = None  # stays the same process even if its id is reused
        with uninterrupted():
            self._process, init, self._group = start_worker(limits, self._folder)
            if init is not None:
                with contextlib.suppress(OSError):
                    self._init_handle = os.pidfd_open(init)
        measured = self._process.pid if sys.platform.startswith("linux") else 0
        self._tree = ProcessTree((init or 0) if limits.sandboxed else measured, init)
        self._leftover_seconds = LEFTOVER_SHARE * limits.seconds
        threading.Thread(target=self._listen, daemon=True).start()
        self._sender = threading.Thread()  # of the last line
        self._sender.start()
        root = limits.sandboxed and os.getuid() == 0
        begin = {
            "memory": (limits.memory + RESERVED_MEGABYTES) * MEGABYTE,
            "processes": limits.processes if limits.sandboxed else None,
            "user": 60_000 + next(_users) % 5000 if root else None,
            "folder": self._folder,
            "paths": module_paths(limits),
            "replaced": list(replaced),
        }
        try:
            self.ask(MAX_START_SECONDS, **begin)
        except StoppedError as stopped:  # before any line of the notebook: not its fault
            raise SandboxError(f"a process to grade in did not start: it {stopped}.") from None
        except BaseException:
            self.close()
            raise
        self._tree.initial = self._tree.pids()

    @property
    def cpu_seconds(self) -> float:
        """Seconds of processor time that the sandbox has used."""
        return self._tree.cpu_seconds()

    @property
    def used_seconds(self) -> float:
        """Those seconds, and those in which it was asked something and all of it waited."""
        return self.cpu_seconds + self._waited

    def _listen(self) -> None:
        """Put lines of the worker into the queue, None at their end or when they are too many."""
        stream, received = self._process.stdout, 0
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while not self._closed.is_set() and received < MAX_OUTPUT_BYTES:
                line = stream.readline(MAX_REPLY_BYTES)
                received += len(line)
                if not line.endswith(b"\n"):
                    break
                self._enqueue(line)
        self._enqueue(None)
        with contextlib.suppress(OSError):
            stream.close()

    def _enqueue(self, line: bytes | None) -> None:
        """Put a line into the queue as soon as there is space, unless the session is closed."""
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._replies.put(line, timeout=1)
                return

    def ask(self, seconds: float, **request: Any) -> dict[str, Any]:
        """The reply to one request, StoppedError if there is none within so many seconds."""
        self._last_check, self._seen = time.monotonic(), (self.cpu_seconds, self.answers.asked)
        self._next_check = self._last_check + POLL_SECONDS
        deadline = self._last_check + seconds * CLOCK_FACTOR
        most = self._seen[0] + self._waited + seconds
        number = int.from_bytes(os.urandom(6))  # that no earlier reply can know

        def exchange(message: dict[str, Any]) -> dict[str, Any]:
            self._send(json.dumps(message | {"number": number}).encode() + b"\n")
            return self._reply_to(number, deadline, most)

        try:
            reply = exchange(request)
            while "asked" in reply:
                reply = exchange(self.answers.reply(reply, exchange))
            self._check_memory()  # or what it keeps would be blamed on the next request
            return reply
        except StoppedError:
            self.close()
            raise

    def _send(self, line: bytes) -> None:
        """Send a line in a thread: a worker that does not read must not block the grader."""
        stream = self._process.stdin

        def send() -> None:
            with contextlib.suppress(OSError, ValueError):
                assert stream is not None
                stream.write(line)
                stream.flush()

        self._sender.join(MAX_UNREAD_SECONDS)
        if self._sender.is_alive():  # it asks on without reading what it was told
            raise StoppedError("timed out")
        self._sender = threading.Thread(target=send, daemon=True)
        self._sender.start()

    def _reply_to(self, number: int, deadline: float, most: float) -> dict[str, Any]:
        """The first line with this number; a notebook can write others, so they cost little."""
        while True:
            now = time.monotonic()
            if now >= self._next_check:
                if now > deadline or self._checked_seconds(now) > most:
                    raise StoppedError("timed out")
                self._check_memory()
                self._next_check = now + POLL_SECONDS
            with contextlib.suppress(queue.Empty):
                line = self._replies.get(timeout=POLL_SECONDS)
                if line is None:
                    exceeded = self._group is not None and self._group.exceeded
                    raise StoppedError("out of memory" if exceeded else "died")
                with contextlib.suppress(ValueError, RecursionError):
                    reply = json.loads(line)
                    if isinstance(reply, dict) and reply.get("number") == number:
                        return reply

    def _checked_seconds(self, now: float) -> float:
        """Seconds used until now. What did nothing since the last check, and could do nothing now, has waited."""
        before, self._seen = self._seen, (self.cpu_seconds, self.answers.asked)
        if self._seen == before and self._tree.waits():
            self._waited += min(now - self._last_check, 2 * POLL_SECONDS)  # we may be late
        self._last_check = now
        return self._seen[0] + self._waited

    def _check_memory(self) -> None:
        if self._tree.exceeds(self._limits.memory * MEGABYTE):
            raise StoppedError("out of memory")

    def settle(self, seconds: float) -> None:
        """Wait until the notebook is idle; StoppedError if it still works after so many seconds.

        Processes that it has left behind may stay if they sleep and are few and small, as those do that
        joblib keeps for its next call; the time to fall asleep is short, and granted once. All others are
        killed, and their work until then does not count against the notebook again. A thread cannot be
        killed: one that works on counts as the notebook at work, since everything after it would wait.
        """
        tree, memory = self._tree, self._limits.memory * MEGABYTE
        start, cpu_start = time.monotonic(), self.cpu_seconds
        initial_start = tree.initial_cpu_seconds()
        kill = False  # once some are killed, no other may stay: it was only missed among so many
        try:
            while True:
                left = tree.leftovers()
                kill = kill or not few_and_small(left, memory)
                if not (kill and left) and all(map(sleeps, tree.initial | left)):
                    break
                late = tree.initial_cpu_seconds() - initial_start > seconds
                if late or time.monotonic() - start > MAX_START_SECONDS:
                    raise StoppedError("timed out")
                if kill or self.cpu_seconds - cpu_start > self._leftover_seconds:
                    kill = True
                    tree.kill_leftovers(start + MAX_START_SECONDS)
                time.sleep(CHECK_SECONDS)
            used = self.cpu_seconds - cpu_start
            self._leftover_seconds = max(0.0, self._leftover_seconds - used)
        except StoppedError:
            self.close()
            raise

    def close(self) -> None:
        """End the worker and everything that it has started."""
        self._closed.set()
        if self._init_handle is not None:
            with contextlib.suppress(OSError):  # all others of its namespace end with it
                signal.pidfd_send_signal(self._init_handle, signal.SIGKILL)
            os.close(self._init_handle)
            self._init_handle = None
        if self._process.poll() is None:
            if not self._limits.sandboxed and hasattr(os, "killpg"):
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):  # the listener closes the other stream
            assert self._process.stdin is not None
            self._process.stdin.close()
        if self._group is not None:
            self._group.remove()
        if not self._limits.sandboxed:
            shutil.rmtree(self._folder, ignore_errors=True)


def start_session(limits: SandboxLimits, *how: Any) -> Session:
    """A session, at the third attempt if need be: a machine may lack something for a moment."""
    for attempt in range(3):
        try:
            return Session(limits, *how)
        except SandboxError:
            if attempt == 2:
                raise
    raise AssertionError
