"""Sessions and their processes: what a notebook leaves behind must not cost the next cell anything."""

import itertools
import subprocess
import threading
from unittest import mock

import pytest
from submissions import CODE

from limetutor.classroom import sandbox
from limetutor.classroom.marking import NotebookRun
from limetutor.classroom.processes import MAX_LEFTOVERS, ProcessTree
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable
from limetutor.classroom.session import Session, StoppedError

pytestmark = pytest.mark.skipif(bool(why_unavailable()), reason="there is no sandbox")

BOMB = "import os\nwhile True: os.fork()"


def test_debuggers_and_consoles_find_no_input(play):
    asks = ["pdb.set_trace()", "code.interact()", "breakpoint(); input()", "pdb.Pdb().set_trace()"]
    played = play("import code, pdb", *asks, "mine = 1")
    assert played.ask(1, do="value", name="mine")["value"] == 1 and played.trouble == set()


def test_a_sandbox_ends_with_its_session_though_what_started_it_is_gone():
    """What starts it may end before it has told it to end as well."""
    session = Session(SandboxLimits(), {})
    starter = session._process
    session._process = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    session._process.wait()
    session.close()
    starter.wait(timeout=10)
    starter.stdin.close()


@pytest.fixture
def play():
    """Cells in a sandbox, with few seconds."""
    begun: list[NotebookRun] = []

    def start(*code: str, seconds: float = 2.0, **more: float) -> NotebookRun:
        limits = SandboxLimits(seconds=seconds, **{"total": 100.0, "memory": 500, **more})
        begun.append(NotebookRun([*code, CODE.SEEN], limits, {}))
        return begun[-1]

    yield start
    for played in begun:
        played.close()


def call(played: NotebookRun, name: str = "seen", seconds: float = 2.0):
    return played.ask(seconds, do="call", name=name, arguments=[])["value"]


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        (BOMB, 30), (CODE.DAEMONS.format(count=4, work="pass"), 2), (CODE.WITHOUT_LEADER, 2), (CODE.LARGE, 10),
        (CODE.DAEMONS.format(count=MAX_LEFTOVERS + 1, work="time.sleep(1)"), 10),
    ],
    ids=["a bomb", "at work", "without a leader", "large", "many"],
)  # fmt: skip
def test_processes_that_a_cell_leaves_behind_are_killed(play, code, seconds):
    """The next question sees the first process of the sandbox and its own, not even dead ones."""
    played = play(code, "mine = 1", seconds=seconds)
    assert call(played) == [2, 1]
    assert played.trouble == set() and played.ask(1, do="value", name="mine")["value"] == 1


def test_processes_that_a_question_leaves_behind_are_killed(play, monkeypatch):
    """Their work is not that of the notebook, even if it is seen late, as it may be when they end."""
    played = play(f"def asked():\n    {BOMB.replace(chr(10), chr(10) + '    ')}")
    with pytest.raises(Exception, match="BlockingIOError"):  # no more processes
        call(played, "asked", seconds=30.0)
    assert call(played) == [2, 1]
    settle = Session.settle

    def late(session, seconds):
        seen = itertools.chain([0.0], itertools.repeat(1000.0))
        with monkeypatch.context() as patched:
            patched.setattr(Session, "cpu_seconds", property(lambda _: next(seen)))
            settle(session, seconds)

    monkeypatch.setattr(Session, "settle", late)
    with pytest.raises(Exception, match="BlockingIOError"):
        call(played, "asked", seconds=30.0)
    assert call(played) == [2, 1]


def test_what_starts_while_processes_are_listed_is_found(monkeypatch):
    """By process 11, which has ended before it is looked at, so that 12 has another parent by then."""
    lists = iter([["10", "11"], ["10", "12"], ["10", "12", "self"]])
    monkeypatch.setattr(ProcessTree, "_nothing_else_in_sandbox", lambda _: False)
    monkeypatch.setattr("os.listdir", lambda _: next(lists))
    look = mock.Mock(side_effect=[(0, True), ProcessLookupError, (10, True)])
    monkeypatch.setattr("limetutor.classroom.processes._parent_and_alive", look)
    assert ProcessTree(10, initial={10}).leftovers() == {12}


def test_few_that_sleep_may_stay(play):
    """A pool of processes that one cell makes and a function of another uses."""
    pool = "import multiprocessing\npool = multiprocessing.get_context('fork').Pool(2)"
    played = play(f"{pool}\npool.map(abs, [-1])", "def asked(): return pool.map(abs, [-3, 2])")
    assert call(played)[0] == 4
    assert [call(played, "asked") for _ in range(3)] == [[3, 2]] * 3


def test_a_child_that_comes_back_from_a_function_ends(play):
    played = play("import os\ndef asked():\n    os.fork()\n    return os.getpid()")
    assert len({call(played, "asked") for _ in range(5)}) == 1
    assert call(played) == [2, 1]


CHILDREN = "import os, socket, time\nfor _ in range(3):\n    if os.fork() == 0: "
HOLDS = {
    "own pages": "kept = bytearray({} * 2**20)",
    "pages of several": "kept = bytearray({} * 2**20)\n" + CHILDREN + "time.sleep(3); os._exit(0)",
    "shared pages": "import mmap\nkept = mmap.mmap(-1, {} * 2**20)\n"
    "for k in range(0, len(kept), 4096): kept[k] = 1",
    "files without content": "import os\nfor k in range({} * 2**4):\n"
    "    os.close(os.open(f'/dev/shm/{{k}}', os.O_CREAT))",
    "sockets": CHILDREN + "kept = [socket.socket() for _ in range({} // 3)]; time.sleep(3); os._exit(0)",
}  # fmt: skip


@pytest.mark.parametrize(("megabytes", "trouble"), [(150, set()), (400, {"out of memory"})])
@pytest.mark.parametrize("kind", [*HOLDS, "in a group"])
def test_all_memory_counts(play, monkeypatch, kind, megabytes, trouble):
    """Without a control group, and by such a group alone."""
    monkeypatch.setattr("limetutor.classroom.processes.INODE_BYTES", 2**16)  # to make fewer of them
    if kind == "in a group":
        monkeypatch.setattr(ProcessTree, "exceeds", lambda *_: False)
        megabytes *= 1 + bool(trouble)  # a group counts files on its own, so it has more
    else:
        monkeypatch.setattr(sandbox, "memory_group", lambda *_: None)
    if kind == "shared pages":  # the filter allows none
        monkeypatch.setattr(sandbox, "filter_program", lambda _: None)
    code = HOLDS.get(kind, HOLDS["own pages"]).format(megabytes)
    played = play(f"{code}\nimport time; time.sleep(0.5)", seconds=10, memory=350)
    if kind == "in a group" and played.session._group is None:
        pytest.skip("no control group can be made here")
    call(played, seconds=10)
    assert played.trouble == trouble


def test_threads_at_work_cost_their_cell(play):
    """... as if the cell itself had not ended, and they are not there when a question is asked."""
    played = play(CODE.THREADS.format(seconds=1000, count=3, work="pass"), seconds=1.0)
    assert call(played) == [2, 1]
    assert played.trouble == {"timed out"}
    with pytest.raises(Exception, match="no such name"):
        played.ask(1, do="value", name="mine")


def test_cells_together_have_an_end(play):
    """What was defined until then is asked for."""
    played = play(*[f"import time; time.sleep(0.2); c{k} = {k}" for k in range(40)], total=4.0)
    assert played.ask(1, do="value", name="c0")["value"] == 0
    assert played.trouble == {"timed out"}
    with pytest.raises(Exception, match="no such name"):
        played.ask(1, do="value", name="c39")


def test_who_asks_without_reading_is_stopped(play, monkeypatch):
    monkeypatch.setattr("limetutor.classroom.session.MAX_UNREAD_SECONDS", 0.5)
    played = play(CODE.ASKS_ON, seconds=20.0)
    with pytest.raises(StoppedError, match="timed out"):
        call(played, "asked", 20.0)
    assert threading.active_count() < 10 and call(played)


def test_to_wait_uses_seconds_as_to_work_does(play):
    played = play("import time\ndef waits(): time.sleep(1)\ndef works(): sum(range(2 * 10**7))")
    session, waited = played.session, []
    for name in ("waits", "works"):
        before = session.used_seconds - session.cpu_seconds
        call(played, name)
        waited.append(session.used_seconds - session.cpu_seconds - before)
    assert waited[0] > 0.2 and waited[1] < 0.1


def test_threads_at_work_cost_their_question(play):
    body = CODE.THREADS.format(seconds=1000, count=1, work="pass").replace("\n", "\n    ")
    played = play(f"def asked():{body}", seconds=1.0)
    with pytest.raises(StoppedError, match="timed out"):
        call(played, "asked", 1.0)
    assert call(played) == [2, 1]


@pytest.mark.parametrize(
    ("work", "seconds", "left"), [("pass", 0.2, 1), ("time.sleep(0.05)", 1000, 3)]
)
def test_threads_that_come_to_rest_cost_nothing(play, work, seconds, left):
    played = play(CODE.THREADS.format(seconds=seconds, count=2, work=work))
    assert call(played) == [2, left]
    assert played.trouble == set() and played.ask(1, do="value", name="mine")["value"] == 1
