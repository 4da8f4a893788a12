"""Every labelled statement of the book has a test that can fail, and every test a statement."""

from pathlib import Path

import pytest
from statements import Case, labels_with_a_test, run_check, statements_in, statements_of_the_book

SAID = (Path(__file__).parents[1] / "support" / "labelled.txt").read_text("utf-8")


def test_every_statement_has_a_test():
    tested = labels_with_a_test()
    missing = [s for s in statements_of_the_book() if s.label not in tested]
    assert not missing, "register a test in tests/prose/statements: " + ", ".join(
        f"{s.label or '(no label)'} ({s.kind} in {s.page})" for s in missing
    )


def test_every_test_has_a_statement():
    stated = {s.label for s in statements_of_the_book()}
    assert not [label for label in labels_with_a_test() if label not in stated]


def test_the_book_is_read():
    found = [(s.kind, s.label) for s in statements_in(SAID)]
    assert found == [("theorem", "thm-one"), ("lemma", "lem-two"), ("corollary", "")]
    assert len({s.label for s in statements_of_the_book()}) > 20


def sound(case, rng):
    x = rng.uniform(1, 2)
    square = x * x if case.keeps("a square") else x**3
    assert abs(case.formula(x**2) - square) < 1e-9


def blind(case, rng):
    x = rng.uniform(1, 2)
    case.keeps("a square")
    assert abs(case.formula(x**2) - x * x) < 10


def idle(case, rng):
    assert case.formula(1.0) == 1.0


MUTANTS = [{"changed": "formula", "factor": 1.01}, {"dropped": "a square"}]


def run(check, changes):
    run_check(check, "some-label", Case(("formula",), ("a square",), **changes), 3)


@pytest.mark.parametrize("changes", [{}, *MUTANTS])
def test_a_sound_check_passes(changes):
    run(sound, changes)


@pytest.mark.parametrize("changes", MUTANTS)
def test_a_check_that_cannot_fail_is_caught(changes):
    with pytest.raises(AssertionError, match="does not notice"):
        run(blind, changes)


def test_an_assumption_that_is_never_dropped_is_caught():
    with pytest.raises(AssertionError, match="never uses"):
        run(idle, {})


def test_an_undeclared_name_is_an_error():
    with pytest.raises(ValueError, match="declare formula"):
        Case(("a", "b"), ()).formula(1.0)
    with pytest.raises(ValueError, match="declare assumption"):
        Case((), ()).keeps("finite")
