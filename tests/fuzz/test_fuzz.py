"""Calls drawn by chance (``support/odd_*.py``): each ends right, or is refused in one of our sentences."""

import inspect
import warnings
from collections import Counter
from functools import wraps
from importlib import import_module
from pathlib import Path

import fuzz
import numpy as np
import pytest
from fuzz import KINDS, REFUSED, RIGHT, Case, case_of, ends

import limetutor as lt

for path in sorted(Path(fuzz.__file__).parent.glob("odd_*.py")):
    import_module(path.stem)

# public, attacked with odd arguments like all else, and compared with slow computations elsewhere
ELSEWHERE = {
    "samples_needed": "tests/precision/test_normal_length.py, with simulations",
    "margin": "tests/exact/test_margins.py, with the models' own scores",
    "judge": "kind pages, with what the page says of the same text",
    "check": "tests/course/test_exercises.py, with judge",
    "from_lime": "kind columns, and tests/lime/test_read_explainer.py",
    "Slider": "tests/interactive/test_controls.py",
    "Choice": "tests/interactive/test_controls.py",
    "explore": "tests/interactive/test_frame_table.py, frame by frame with the function that draws",
    "show": "it shows a figure as it is",
}


@pytest.fixture
def called(monkeypatch):
    """The names of what is public as it gets called."""
    monkeypatch.setenv("LIMETUTOR_MODE", "static")
    found = set()

    def noted(name, function):
        @wraps(function)
        def call(*arguments, **options):
            found.add(name)
            return function(*arguments, **options)

        return call

    for name, value in fuzz.public().items():
        if inspect.isfunction(value):
            monkeypatch.setattr(lt, name, noted(name, value))
        else:
            monkeypatch.setattr(value, "__init__", noted(name, value.__init__))
    return found


def named(name):
    return pytest.param(name, marks=pytest.mark.browser if name == "pages" else ())


@pytest.mark.verify
@pytest.mark.parametrize("name", [named(name) for name in KINDS])
def test_calls_end_right_or_refused(name, called, verified, verifying):
    count, found, failures = KINDS[name].whole if verifying else KINDS[name].sample, Counter(), []
    with KINDS[name].around():
        for index in range(count):
            case = case_of(name, index)
            end = ends(case)
            found[end] += 1
            if end not in (RIGHT, REFUSED):
                failures.append(f"case_of({name!r}, {index}): {case.words}\n    {end}")
    assert not failures, f"{len(failures)} of {count} calls\n" + "\n".join(failures)
    words = f"{found[RIGHT]:,} right, {found[REFUSED]:,} refused"
    verified(f"fuzz, {name}: failures in {count:,} calls ({words})", len(failures), 0)
    assert found[RIGHT] > count / 5
    if name == "numbers":
        assert fuzz.public().keys() - called == ELSEWHERE.keys()


@pytest.mark.verify
def test_the_number_of_calls(verified, verifying):
    verified("fuzz, calls of all kinds", sum(kind.whole for kind in KINDS.values()), (20_000, None))
    assert sum(kind.sample for kind in KINDS.values()) >= 600


def test_what_is_new_is_attacked_without_a_word_about_it(monkeypatch):
    def fresh(xi, level=0.5):
        raise KeyError(xi)

    monkeypatch.setattr(lt, "fresh", fresh, raising=False)
    monkeypatch.setattr(lt, "__all__", [*lt.__all__, "fresh"])
    calls = (case_of("arguments", index) for index in range(1000))
    assert "KeyError" in ends(next(case for case in calls if "lt.fresh(" in case.words))


@pytest.mark.parametrize(
    ("call", "wrong", "said"),
    [
        (lambda: 1, None, RIGHT),
        (lambda: lt.Linear("a"), None, REFUSED),
        (lambda: {}["x"], None, "neither a ValueError nor a TypeError"),
        (lambda: float("x"), None, "it comes from somewhere else"),
        (lambda: warnings.warn("x", stacklevel=1), None, "a warning escapes"),
        (lambda: 2, "two", "two"),
        # more than malloc may hold of what was freed before
        (lambda: np.ones(4 * 10**8), None, "neither a ValueError nor a TypeError: MemoryError"),
        (lambda: all(k == 0 for k in iter(int, 1)), None, "it takes more than 1 s"),
    ],
)
def test_all_other_ends_are_failures(call, wrong, said, monkeypatch):
    monkeypatch.setattr(fuzz, "SECONDS", 1)
    monkeypatch.setattr(fuzz, "BYTES", 2 * 10**8)
    assert ends(Case("", call, lambda *_: wrong)).startswith(said)
