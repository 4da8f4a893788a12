"""A folder of submissions, good and bad: what each student hands in, and what it must be worth.

All hand in the first assignment: 16 points, of which ``score``, which no other question needs, has 2.
Most of them spoil ``score`` in their own way, so that 14 are left.
"""

import copy
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from limetutor.classroom.notebooks import original
from limetutor.classroom.release import released, solved
from limetutor.course.progress import checksum

NAME = "lime_from_scratch"
ALL, WITHOUT_SCORE = 16, 14
GOOD_SCORE = """
def score(z, y, w):
    beta = fit(z, y, w)
    left = w @ (y - beta[0] - z @ beta[1:]) ** 2
    return 1 - left / (w @ (y - np.average(y, weights=w)) ** 2)
"""


@dataclass(frozen=True)
class Handed:
    """What a student hands in and what comes of it."""

    name: str
    points: int
    status: str
    change: Callable[[Any], Any]  # of the solved notebook; bytes and text are written as they are


def solution() -> Any:
    """The first assignment, solved (with an import that takes less time than scipy.stats)."""
    notebook = solved(original(NAME), NAME)
    for cell in notebook.cells:
        cell.source = cell.source.replace("scipy.stats.norm.ppf(", "scipy.special.ndtri(")
    return notebook


def cell(notebook: Any, name: str) -> Any:
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def score(code: str) -> Callable[[Any], Any]:
    """Another cell in the place of the answer to ``score``."""

    def change(notebook: Any) -> Any:
        cell(notebook, "score-answer").source = code
        return notebook

    return change


def inside(body: str) -> Callable[[Any], Any]:
    """Another body of the function ``score``."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return score(f"import os, sys, time\ndef score(z, y, w):\n{lines}")


def first(code: str) -> Callable[[Any], Any]:
    """One more cell at the beginning."""

    def change(notebook: Any) -> Any:
        notebook.cells.insert(1, nbformat.v4.new_code_cell(code))
        return notebook

    return change


def _own_style(notebook: Any) -> Any:
    """Solved in another way, with outputs and cells of the student's own."""
    cell(notebook, "fit-answer").source = (
        "class Fit:\n    def __call__(self, z, y, w):\n        Z = np.c_[np.ones(len(y)), z]\n"
        "        s = np.sqrt(w)\n"
        "        return np.linalg.lstsq(s[:, None] * Z, s * y, rcond=None)[0].tolist()\n"
        "fit = Fit()"
    )
    cell(notebook, "lime-answer").source += "\n%timeit -n1 -r1 edges(3)\nlime"
    new = nbformat.v4.new_code_cell("print('hm')\n1/0", outputs=[nbformat.v4.new_output("stream")])
    notebook.cells.append(new)
    cell(notebook, "score-answer").source = GOOD_SCORE.replace("beta[1:]", "np.asarray(beta)[1:]")
    return notebook


def _version_3(notebook: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nbformat.v3.writes_json(nbformat.convert(notebook, 3))


def _without_ids(notebook: Any) -> Any:
    data = json.loads(nbformat.writes(notebook))
    for entry in data["cells"]:
        entry.pop("id", None)
    return json.dumps(data)


def _doubled(notebook: Any) -> Any:
    notebook.cells.append(copy.deepcopy(cell(notebook, "weights-answer")))
    notebook.cells.append(copy.deepcopy(cell(notebook, "weights")))
    return notebook


def _deleted(notebook: Any) -> Any:
    gone = ("setup", "score-answer", "edges")
    notebook.cells = [c for c in notebook.cells if c not in [cell(notebook, g) for g in gone]]
    return notebook


def _tampered(notebook: Any) -> Any:
    cell(notebook, "setup").source = "raise SystemExit"
    cell(notebook, "score").source = "score = 'ok'; points = 100"
    cell(notebook, "score").metadata["nbgrader"]["points"] = 1000
    return notebook


CLEVER = """
class Yes(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    def __float__(self): return 0.0
    def __le__(self, other): return True
    __array__ = lambda self, *a, **k: self
class Clever:
    def __eq__(self, other): return True
    def __array__(self, *a, **k): raise SystemExit
    def __reduce__(self): return os.system, ("touch /scratch/x",)
import os
def score(z, y, w):
    return [Clever(), Yes(0)][len(y) % 2]
"""

FORGED = """
import os
# answers to all that may be asked, to whoever listens
for fd in range(3, 64):
    for text in (b'{"value": 0.5, "number": 1}\\n', b'{"points": 100}\\n', b"x" * 5000 + b"\\n"):
        try:
            os.write(fd, text)
        except OSError:
            pass
for path in ("/scratch/grades.csv", "grades.csv", "../grades.csv", "/inside/worker.py"):
    try:
        open(path, "w").write("forger,lime_from_scratch,100,100,graded")
    except OSError:
        pass
import __main__
for name in ("answer", "packed", "MAX_ARRAY_BYTES"):
    if hasattr(__main__, name):
        setattr(__main__, name, lambda *a, **k: {"value": 0.5, "formula": ["1/0", {}]})
def score(z, y, w):
    return 0.5
"""

PATCHED = """
import numpy as np
np.allclose = np.array_equal = np.testing.assert_allclose = lambda *a, **k: True
np.asarray = lambda *a, **k: 0
import json; json.dumps = lambda *a, **k: "true"
def score(z, y, w):
    return 0.5
"""

# what people write in a notebook without a thought, and what comes after it counts
IN_PASSING = """
%matplotlib inline
!pip install numpy
%pip install numpy
files = !ls
help(print)
name = input("your name: ")
breakpoint()
import limetutor.course.datasets
from limetutor.plotting import style
exit()
"""

ALARM = "import signal; signal.setitimer(signal.ITIMER_REAL, 0.3)\n"

# an answer of its own to the very question that is asked, with what it was given in the place of an error
TELLS = """
import json, os, sys
def score(z, y, w):
    frame = sys._getframe()
    while "replies" not in frame.f_locals:
        frame = frame.f_back
    replies, request = frame.f_locals["replies"], frame.f_locals["request"]
    reply = {"error": f"LEAK {request}", "number": request["number"]}
    os.write(replies.fileno(), json.dumps(reply).encode() + b"\\n")
    return 0.5
"""

CHILD_AT_WORK = """
if os.fork() == 0:
    while True: pass
return 0.5
"""

LEFT_BEHIND = """
import os, threading, time
def forever():
    while True: time.sleep(0.1)
threading.Thread(target=forever).start()
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
"""

STUBBORN = """
import signal
for s in range(1, 32):
    try: signal.signal(s, signal.SIG_IGN)
    except OSError: pass
while True:
    try:
        while True: pass
    except BaseException:
        pass
"""

DESTROYS = """
import os, shutil
for folder in ("/inside", "/scratch", "/etc", "/packages/0/numpy/linalg", "/dev", PLACES):
    shutil.rmtree(folder, ignore_errors=True)
for folder in ("/", "/usr/lib", "/packages/0", "/inside", "/etc", PLACES):
    for name in ("limetutor-was-here", "grades.csv"):
        try: open(os.path.join(folder, name), "w").write("x")
        except OSError: pass
"""

# whatever it finds makes its score wrong
SPY = """
import os, socket, glob, sys
found = []
def look(what):
    try:
        seen = what()
    except BaseException:
        return
    if seen:
        found.append(seen)
for place in PLACES:
    look(lambda: os.path.exists(place) and place)
    look(lambda: os.listdir(place))
look(lambda: open("/etc/passwd").read())
look(lambda: os.listdir("/home") + os.listdir("/tmp") + os.listdir("/var"))
look(lambda: [p for p in glob.glob("/packages/*/*limetutor*/**", recursive=True)
              if not ".dist-info" in p])
look(lambda: [p for p in glob.glob("/inside/**", recursive=True) if p.endswith(".ipynb")])
look(lambda: [n for n in os.environ if n not in USUAL])
look(lambda: [p for p in glob.glob("/proc/[0-9]*/environ") if b"SECRET" in open(p, "rb").read()])
look(lambda: [p for p in glob.glob("/proc/[0-9]*/cmdline") if b"limetutor" in open(p, "rb").read()
              and b"bwrap" not in open(p, "rb").read()])
look(lambda: len(glob.glob("/proc/[0-9]*")) > 2 and "other processes")
for where in (("127.0.0.1", PORT), ("localhost", PORT), ("1.1.1.1", 53), ("::1", PORT)):
    look(lambda: socket.create_connection(where, timeout=1))
look(lambda: socket.getaddrinfo("pypi.org", 443))
def imported():
    import limetutor.classroom.assignments.lime_from_scratch as answers
    return getattr(answers, "__file__", None) or list(answers.ASSIGNMENT.questions)
look(imported)
def called():
    import limetutor
    return limetutor.explain(lambda x: x[:, 0], [0.1], limetutor.Gaussian(p=4), nu=1.0)
look(called)
look(lambda: [m for m in sys.modules if m.startswith("limetutor.") and m != "limetutor.classroom"
              and hasattr(sys.modules[m], "__file__")])
look(lambda: os.getuid() == 0 and "root")
look(lambda: os.setuid(0) or "root")
"""


def handed_in(places: list[str], port: int, usual: set[str]) -> list[Handed]:
    """All submissions; ``places`` and ``port`` are there outside and must not be seen inside."""
    spy = f"PLACES, PORT, USUAL = {places!r}, {port}, {usual!r}\n{SPY}\n{GOOD_SCORE}"
    spy = spy.replace("    beta = fit", "    if found: return str(found)\n    beta = fit")
    return [
        Handed("good", ALL, "graded", lambda notebook: notebook),
        Handed("good in her own style", ALL, "graded", _own_style),
        Handed("good, version 3", ALL, "graded", _version_3),
        Handed("good, no ids", ALL, "graded", _without_ids),
        Handed("untouched", 0, "graded", lambda n: released(original(NAME))),
        Handed("syntax", WITHOUT_SCORE, "graded", score("def score(z, y, w:\n    retrun 1")),
        Handed("raises", WITHOUT_SCORE, "graded", inside("raise type(str(y), (Exception,), {})(y)")),
        Handed("loops in a cell", WITHOUT_SCORE, "timed out", score("while True: pass")),
        Handed("loops when called", WITHOUT_SCORE, "timed out", inside("while True: time.sleep(1)")),
        Handed("stubborn", WITHOUT_SCORE, "timed out", score(STUBBORN)),
        Handed("ends Python", WITHOUT_SCORE, "graded", inside("os._exit(0)")),
        Handed("ends Python in a cell", WITHOUT_SCORE, "graded", score("import os; os._exit(0)")),
        Handed("leaves", WITHOUT_SCORE, "graded", score("import sys; sys.exit(0)")),
        Handed("crashes", WITHOUT_SCORE, "graded", inside("import ctypes\nctypes.string_at(0)")),
        Handed("doubled", ALL, "altered", _doubled),
        Handed("deleted", WITHOUT_SCORE, "altered", _deleted),
        Handed("tampered", ALL, "altered", _tampered),
        Handed(
            "memory", WITHOUT_SCORE, "out of memory",
            inside("a = []\nwhile True: a.append(np.ones(10**6))"),
        ),
        Handed("memory at once", WITHOUT_SCORE, "out of memory", inside("return np.ones(10**11)")),
        Handed("forks", WITHOUT_SCORE, "graded", score("import os\nwhile True: os.fork()")),
        Handed("a child at work", WITHOUT_SCORE, "graded", inside(CHILD_AT_WORK)),
        Handed("other name", WITHOUT_SCORE, "graded", score(GOOD_SCORE.replace("score", "Score"))),
        Handed("empty", 0, "unreadable", lambda n: b""),
        Handed("corrupt", 0, "unreadable", lambda n: nbformat.writes(n)[:5000]),
        Handed("not text", 0, "unreadable", lambda n: b"PK\x03\x04\xff\xfe\x00"),
        Handed("no cells", 0, "unreadable", lambda n: nbformat.v4.new_notebook() | {"cells": []}),
        Handed("deep", 0, "unreadable", lambda n: "[" * 100_000),
        Handed("link", 0, "unreadable", lambda n: Path("..", "good", f"{NAME}.ipynb")),
        Handed("missing", 0, "missing", lambda n: None),
        Handed("destroys", ALL, "graded", first(DESTROYS.replace("PLACES", f"*{places!r}"))),
        Handed("prints", ALL, "graded", first("for _ in range(100): print('x' * 10**6)")),
        Handed("patches", WITHOUT_SCORE, "graded", score(PATCHED)),
        Handed("clever", WITHOUT_SCORE, "graded", score(CLEVER)),
        Handed("forges", WITHOUT_SCORE, "graded", score(FORGED)),
        Handed("leaves things behind", ALL, "graded", first(LEFT_BEHIND)),
        Handed("in passing", ALL, "graded", score(IN_PASSING + GOOD_SCORE)),
        Handed("sets an alarm", ALL, "graded", score(ALARM + GOOD_SCORE)),
        Handed("tells", WITHOUT_SCORE, "graded", score(TELLS)),
        Handed("spies", ALL, "graded", score(spy)),
        Handed("changes", WITHOUT_SCORE, "graded", inside(f"w *= 2\n{'return 1'}")),
        Handed("huge", WITHOUT_SCORE, "graded", inside("return np.zeros(3 * 10**6)")),
        Handed("a billion rows", WITHOUT_SCORE, "graded", inside("return np.zeros((10**9, 0))")),
        Handed("kills all", WITHOUT_SCORE, "graded", score("import os; os.kill(-1, 9)")),
        Handed("closes all files", WITHOUT_SCORE, "graded", score("import os; os.closerange(0, 256)")),
        Handed("many cells", 0, "unreadable", lambda n: n | {"cells": n.cells * 200}),
        Handed("endless", WITHOUT_SCORE, "graded", inside("import itertools\nreturn itertools.count()")),
    ]  # fmt: skip


def write(handed: Handed, folder: Path) -> None:
    """Into ``folder/<student>``."""
    path = folder / handed.name / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    content = handed.change(solution())
    if isinstance(content, Path):
        path.symlink_to(content)
    elif content is not None:
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def progress_code() -> str:
    """What a reader has done, as the page gives it: two exercises solved, one tried."""
    body = "LT1~switch-off.352.3"
    return f"{body}~{checksum(body)}"
