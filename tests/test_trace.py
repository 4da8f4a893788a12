"""How far one has to follow a call: the modules and functions it visits, and how deep it goes.

What is counted is a second call with the world built; comprehensions count as functions.
"""

import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import limetutor as lt

PACKAGE = str(Path(lt.__file__).parent)
WORLD, LINEAR, XI = lt.Gaussian(0, 1, 4), lt.Linear([1.0, 2.0]), [0.3, 0.4]

# a call, and the most modules, functions and levels it may take
CALLS = {
    "explain": (lambda: lt.explain(lambda x: x[:, 0], XI, WORLD, 1.0, seed=0), 11, 81, 9),
    "limit": (lambda: lt.limit(LINEAR, XI, WORLD, 1.0), 9, None, None),
    "audit": (lambda: lt.audit(WORLD, lambda x: x[:, 0], XI, nu=1.0), 36, None, None),
}


def visited(call: Any) -> tuple[set[str], set[str], int]:
    """The modules and functions of the package that a call visits, and its deepest level."""
    functions: set[tuple[str, str]] = set()
    level = deepest = 0

    def follow(frame: FrameType, event: str, _: Any) -> None:
        nonlocal level, deepest
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            level += 1
            deepest = max(deepest, level)
            functions.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname))
        elif event == "return":
            level -= 1

    call()
    sys.setprofile(follow)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {file for file, _ in functions}, {f"{file} {name}" for file, name in functions}, deepest


@pytest.mark.parametrize("name", CALLS)
def test_a_call_can_be_followed(name):
    call, *bounds = CALLS[name]
    modules, functions, depth = visited(call)
    found = (len(modules), len(functions), depth)
    told = f"{found} of {bounds}: {sorted(modules)} {sorted(functions)}"
    assert all(bound is None or f <= bound for f, bound in zip(found, bounds, strict=True)), told


def test_an_answer_loads_one_chapter():
    code = "import sys, limetutor as lt; lt.check('switch-off/1', 1); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = [m for m in done.stdout.split() if m.startswith("limetutor.course.exercises.")]
    assert loaded == ["limetutor.course.exercises.switch_off"]
