"""Every sentence of the book that says always, never or every has something behind it."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from claims import (
    LEDGER,
    REASONS,
    NoClaim,
    Searched,
    Stated,
    found_in,
    matches,
    pages,
    strings_of,
    universal,
)
from statements import ROOT, statements_of_the_book

FOUND = {name: found_in(path) for name, path in pages().items()}
ENTRIES = [(page, piece, why) for page, rows in LEDGER.items() for piece, why in rows.items()]
LABELS = {statement.label for statement in statements_of_the_book()}
SEARCHES = ROOT / "tests" / "prose" / "test_claims_searched.py"


@cache
def functions(path):
    """The functions of a test file by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def uses_hypothesis(function):
    """Whether Hypothesis draws what the function is given; the searches import given as search."""
    names = {
        getattr(part, "id", getattr(part, "attr", ""))
        for decorator in function.decorator_list
        for part in [decorator.func if isinstance(decorator, ast.Call) else decorator]
    }
    return bool(names & {"given", "search"})


def plain(text):
    """For comparing: one space between words, small letters."""
    return re.sub(r"\s+", " ", text).lower()


@pytest.mark.parametrize("page", FOUND)
def test_every_universal_sentence_is_in_the_ledger(page):
    pieces = LEDGER.get(page, {})
    missing = [s for s in FOUND[page] if not any(matches(piece, s) for piece in pieces)]
    assert not missing, "say in tests/prose/support/claims.yml why these may stand:\n" + "\n".join(
        missing
    )


@pytest.mark.parametrize(("page", "piece", "why"), ENTRIES)
def test_every_entry_has_its_sentence_and_its_ground(page, piece, why):
    here = [s for s in FOUND.get(page, []) if matches(piece, s)]
    assert len(here) == 1, f"{len(here)} sentences of {page} hold {piece!r}"
    if isinstance(why, NoClaim):
        assert why.reason in REASONS.values()
    elif isinstance(why, Stated):
        assert why.label in LABELS
    else:
        path, name = why.place
        function = functions(path)[name]
        assert uses_hypothesis(function)
        if path == SEARCHES:
            said = plain(ast.get_docstring(function))
            assert plain(piece) in said, "the docstring quotes the sentence"


def test_every_search_stands_behind_a_sentence():
    behind = {why.place[1] for _, _, why in ENTRIES if isinstance(why, Searched)}
    assert {name for name in functions(SEARCHES) if name.startswith("test_")} == behind


TEXT = (Path(__file__).parent / "support" / "universal.txt").read_text("utf-8")


def test_the_scanner_reads():
    never, table, solution = universal(TEXT)
    assert (never, table) == ("It never ends, and", "at every width")
    assert solution == "No bandwidth at all switches it off."


def test_strings_are_read_and_docstrings_are_not():
    source = 'def f(x):\n    """It always ends."""\n    return f"At ν = {x} " "it never ends."\n'
    (found,) = strings_of(source)
    assert found == "At ν = … it never ends."
