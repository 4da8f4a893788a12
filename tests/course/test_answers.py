"""Judges of the exercises that are not yet declared: each accepts what is right, hints at mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from answers_table import RIGHT, WRONG

import limetutor as lt
from limetutor.course.answers import _EXERCISES, verdict
from limetutor.course.exercises import exercises
from limetutor.course.judging.kinds import Tabulated


@pytest.mark.parametrize(("name", "answer"), RIGHT, ids=[name for name, _ in RIGHT])
def test_the_right_answer_is_accepted(name: str, answer: Any, capsys):
    lt.check(name, answer)
    assert capsys.readouterr().out == "✓ Right.\n"


@pytest.mark.parametrize(
    ("name", "answer", "hint"), WRONG, ids=[f"{name} {hint}" for name, _, hint in WRONG]
)
def test_a_likely_mistake_gets_its_own_hint(name: str, answer: Any, hint: str):
    right, text = verdict(name, answer)
    assert not right
    assert text.startswith("✗ Not yet. ") and hint in text


def test_three_dots_are_not_judged():
    right, text = verdict("welcome/1", ...)
    assert not right and "three dots" in text


def test_an_unknown_exercise_is_refused_and_every_known_one_is_in_the_table():
    with pytest.raises(ValueError, match=r"name must be that of one of .*, got 'welcome/9'\."):
        lt.check("welcome/9", 1)
    declared = {e.name for e in exercises().values() if isinstance(e, Tabulated)}
    assert set(_EXERCISES) | declared == {name for name, _ in RIGHT}
    assert set(_EXERCISES) == {name for name, *_ in WRONG}
