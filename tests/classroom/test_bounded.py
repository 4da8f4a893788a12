"""A process with limits: what goes beyond them ends it, and the next call finds a new one."""

import os
import signal
import subprocess
import sys

import pytest

from limetutor.classroom import bounded
from limetutor.classroom.bounded import BoundedProcess, CallError, ExceededError
from limetutor.classroom.inside import worker

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits are those of Unix")
LIST = "[1] * 2**20 * {} and 1"  # so many times 8 MB
SLEEP = "__import__('time').sleep({}) or 1"
WORK = """__import__('timeit').timeit('while process_time() < end: pass',
    'from time import process_time; end = process_time() + {}', number=1) > 0"""


@pytest.fixture
def call():
    process = BoundedProcess(seconds=1, megabytes=200)
    yield lambda text, seconds=60.0: process.call("builtins:eval", text, seconds=seconds)
    process.stop()


@pytest.mark.parametrize(
    ("why", "within", "beyond", "seconds"),
    [("out of memory", LIST.format(12), LIST.format(50), 60),
     ("timed out", WORK.format(0.7), WORK.format(60), 60),  # the limit is 1 to 2 seconds
     ("timed out", SLEEP.format(0.1), SLEEP.format(60), 2)],
    ids=["memory", "processor", "clock"],
)  # fmt: skip
def test_limits_are_those_of_each_call(call, why, within, beyond, seconds):
    for _ in range(3):
        assert call(within)
    with pytest.raises(ExceededError, match=why):
        call(beyond, seconds)
    assert call("print('not a reply') or ['\\udc80', None]") == ["\udc80", None]
    with pytest.raises(CallError, match="division by zero"):
        call("1 / 0")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_stop_the_grader_as_ctrl_c_does(number):
    with pytest.raises(KeyboardInterrupt), bounded.stopped_by_signals():
        signal.raise_signal(number)


def test_what_was_stopped_starts_no_other_process():
    process = BoundedProcess(seconds=1, megabytes=200)
    process.stop()
    with pytest.raises(CallError, match="grading was stopped"):
        process.call("builtins:eval", "1", seconds=60)


def test_a_notebook_does_not_inherit_these_limits():
    """A worker that such a process starts has those of its own only."""
    code = (
        "import resource as r, sys; sys.path[:0] = [sys.argv[1]]; import worker\n"
        "for kind in (r.RLIMIT_CPU, r.RLIMIT_DATA):\n"
        "    hard = r.getrlimit(kind)[1]\n"
        "    r.setrlimit(kind, (10**9, hard))\n"
        "    worker.limit(2**33, None, None)\n"
        "    assert r.getrlimit(kind)[0] == hard and r.getrlimit(r.RLIMIT_AS) == (2**33, 2**33)\n"
    )
    subprocess.run([sys.executable, "-c", code, os.path.dirname(worker.__file__)], check=True)
