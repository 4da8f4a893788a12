"""A folder of submissions, good and bad: what each student hands in, and what it must be worth.

All hand in the first assignment: 18 points by machine, of which ``score``, which no other question needs, has 2.
Most of them spoil ``score`` in their own way, so that 16 are left.
"""

import copy
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat

from limetutor.classroom.notebooks import original
from limetutor.classroom.release import released, solved
from limetutor.course.progress import checksum

TEXT = Path(__file__).with_name("handed_in.txt").read_text(encoding="utf-8")
CODE = SimpleNamespace(**dict(re.findall(r"(?ms)^== (\w+)[^\n]*(\n.*?\n)(?=\n== |\Z)", TEXT)))
NAME = "lime_from_scratch"
ALL, WITHOUT_SCORE, WITHOUT_BOXES, WITHOUT_BOTH = 18, 16, 16, 14


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


def without_boxes(code: str) -> Callable[[Any], Any]:
    """``boxes`` unfinished, so that ``indicators``, with this code, is judged again with one from outside."""

    def change(notebook: Any) -> Any:
        cell(
            notebook, "boxes-answer"
        ).source = "def boxes(x, edges):\n    raise NotImplementedError()"
        cell(notebook, "indicators-answer").source = code
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
    cell(notebook, "score-answer").source = CODE.GOOD_SCORE.replace(
        "beta[1:]", "np.asarray(beta)[1:]"
    )
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


ALARM = "import signal; signal.setitimer(signal.ITIMER_REAL, 0.3)\n"


def handed_in(places: list[str], port: int, usual: set[str]) -> list[Handed]:
    """All submissions; ``places`` and ``port`` are there outside and must not be seen inside."""
    spy = f"PLACES, PORT, USUAL = {places!r}, {port}, {usual!r}\n{CODE.SPY}\n{CODE.GOOD_SCORE}"
    spy = spy.replace("    beta = fit", "    if found: return str(found)\n    beta = fit")
    return [
        Handed("good", ALL, "graded", lambda notebook: notebook),
        Handed("good in her own style", ALL, "graded", _own_style),
        Handed("good, version 3", ALL, "graded", _version_3),
        Handed("good, no ids", ALL, "graded", _without_ids),
        Handed("untouched", 0, "graded", lambda n: released(original(NAME), NAME)),
        Handed("syntax", WITHOUT_SCORE, "graded", score("def score(z, y, w:\n    retrun 1")),
        Handed("raises", WITHOUT_SCORE, "graded", inside("raise type(str(y), (Exception,), {})(y)")),
        Handed("loops in a cell", WITHOUT_SCORE, "timed out", score("while True: pass")),
        Handed("loops when called", WITHOUT_SCORE, "timed out", inside("while True: time.sleep(1)")),
        Handed("stubborn", WITHOUT_SCORE, "timed out", score(CODE.STUBBORN)),
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
        Handed("a child at work", WITHOUT_SCORE, "graded", inside(CODE.CHILD_AT_WORK)),
        Handed("other name", WITHOUT_SCORE, "graded", score(CODE.GOOD_SCORE.replace("score", "Score"))),
        Handed("empty", 0, "unreadable", lambda n: b""),
        Handed("corrupt", 0, "unreadable", lambda n: nbformat.writes(n)[:5000]),
        Handed("not text", 0, "unreadable", lambda n: b"PK\x03\x04\xff\xfe\x00"),
        Handed("no cells", 0, "unreadable", lambda n: nbformat.v4.new_notebook() | {"cells": []}),
        Handed("deep", 0, "unreadable", lambda n: "[" * 100_000),
        Handed("link", 0, "unreadable", lambda n: Path("..", "good", f"{NAME}.ipynb")),
        Handed("missing", 0, "missing", lambda n: None),
        Handed("destroys", ALL, "graded", first(CODE.DESTROYS.replace("PLACES", f"*{places!r}"))),
        Handed("prints", ALL, "graded", first("for _ in range(100): print('x' * 10**6)")),
        Handed("patches", WITHOUT_SCORE, "graded", score(CODE.PATCHED)),
        Handed("clever", WITHOUT_SCORE, "graded", score(CODE.CLEVER)),
        Handed("forges", WITHOUT_SCORE, "graded", score(CODE.FORGED)),
        Handed("leaves things behind", ALL, "graded", first(CODE.LEFT_BEHIND)),
        Handed("in passing", ALL, "graded", score(CODE.IN_PASSING + CODE.GOOD_SCORE)),
        Handed("sets an alarm", ALL, "graded", score(ALARM + CODE.GOOD_SCORE)),
        Handed("tells", WITHOUT_SCORE, "graded", score(CODE.TELLS)),
        Handed("spies", ALL, "graded", score(spy)),
        Handed("changes", WITHOUT_SCORE, "graded", inside(f"w *= 2\n{'return 1'}")),
        Handed("huge", WITHOUT_SCORE, "graded", inside("return np.zeros(3 * 10**6)")),
        Handed("a billion rows", WITHOUT_SCORE, "graded", inside("return np.zeros((10**9, 0))")),
        Handed("kills all", WITHOUT_SCORE, "graded", score("import os; os.kill(-1, 9)")),
        Handed("closes all files", WITHOUT_SCORE, "graded", score("import os; os.closerange(0, 256)")),
        Handed("many cells", 0, "unreadable", lambda n: n | {"cells": n.cells * 200}),
        Handed("calls boxes", WITHOUT_BOXES, "graded", without_boxes(CODE.CALLS_BOXES)),
        Handed("calls boxes for ever", WITHOUT_BOTH, "graded", without_boxes(CODE.FLOODS)),
        Handed("asks for everything", WITHOUT_BOTH, "graded", without_boxes(CODE.ASKS)),
        Handed("looks for boxes", WITHOUT_BOXES, "graded", without_boxes(CODE.LOOKS)),
        Handed("forges what it asks", WITHOUT_BOTH, "graded", without_boxes(CODE.FORGES_ASKED)),
        Handed("keeps asking", WITHOUT_BOXES, "graded", without_boxes(CODE.KEEPS_ASKING)),
        Handed("asks on", WITHOUT_SCORE, "timed out", score(CODE.ASKS_ON.replace("asked()", "score(z, y, w)"))),
        Handed("keeps boxes", WITHOUT_BOXES, "graded", without_boxes(CODE.KEEPS_BOXES)),
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
        if isinstance(text, str):
            text = text.replace('student = \\"solution\\"', f'student = \\"{handed.name}\\"')
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


def progress_code() -> str:
    """What a reader has done, as the page gives it: two exercises solved, one tried."""
    body = "LT1~switch-off.352.3"
    return f"{body}~{checksum(body)}"
