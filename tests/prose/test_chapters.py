"""What chapters need and give: any path can be checked, and the opening boxes say what the data say."""

import re

import chapters as data
import glossary
import notation
import pytest

CHAPTERS = data.chapters()
READING_ORDER = [path.stem for path in notation.reading_order()]
GIVEN = [term for chapter in CHAPTERS.values() for term in chapter.gives]
LABELS = {name: notation.label_of(chapter.path) for name, chapter in CHAPTERS.items()}


def line_of(chapter, words):
    """The line of the opening box that starts with these words."""
    found = re.search(rf"(?m)^\*\*{words}\*\* (.*)$", data.box_of(chapter))
    return found[1] if found else ""


def test_every_notebook_of_the_book_has_an_entry():
    notebooks = {path.stem for path in notation.reading_order() if path.suffix == ".ipynb"}
    assert set(CHAPTERS) == notebooks


def test_the_reading_order_needs_nothing_that_comes_later():
    assert data.missing([name for name in READING_ORDER if name in CHAPTERS]) == []


def test_optional_chapters_can_be_left_out():
    optional = {name for name, chapter in CHAPTERS.items() if chapter.optional}
    assert "covariance" in optional
    assert not data.missing(n for n in READING_ORDER if n in CHAPTERS and n not in optional)


def test_a_path_with_a_gap_is_told_what_is_missing_and_where_it_is():
    """The hour that a lecturer planned first, and the two ways to mend it."""
    hour = ["welcome", "book/ten_minutes", "switch-off"]
    lacking = data.missing(hour)
    assert {(m.chapter, m.term, m.given_by) for m in lacking} == {
        ("switch_off", "tilted law", "weights"),
        ("switch_off", "contrast", "theorem"),
        ("switch_off", "factor", "theorem"),
    }
    assert not data.missing(hour, given=["tilted law", "contrast", "factor"])
    longer = ["ten_minutes", "discretization", "weights", "surrogate", "theorem"]
    assert not data.missing([*longer, "switch_off"])
    assert data.missing(["switch_off", *longer])  # the order counts
    with pytest.raises(ValueError, match=r"path must hold pages of the book .* got 'switchoff'"):
        data.missing(["switchoff"])


def test_each_word_is_given_once_and_is_in_the_glossary():
    assert len(set(GIVEN)) == len(GIVEN)
    needed = {t for chapter in CHAPTERS.values() for t in (*chapter.needs, *chapter.helps)}
    assert needed <= set(GIVEN)
    met = {term.name: term.met_in for term in glossary.terms()}
    assert {term: LABELS[data.giver(term)] for term in GIVEN} == met


@pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=lambda chapter: chapter.name)
def test_the_opening_box_says_what_the_data_say(chapter):
    needs = line_of(chapter, "You need")
    asked = {LABELS[data.giver(t)] for t in (*chapter.needs, *chapter.helps)}
    named = set(re.findall(r"\{ref\}`([\w-]+)`", needs))
    assert named == asked or not chapter.needs, "the pages that You need names"
    for term in chapter.needs:
        forms = next(t for t in glossary.terms() if t.name == term).forms
        assert any(form in needs for form in forms), f"You need does not say {term}"
    assert not chapter.optional or "can skip" in data.box_of(chapter)


@pytest.mark.parametrize("chapter", CHAPTERS.values(), ids=lambda chapter: chapter.name)
def test_the_written_lines_are_up_to_date(chapter):
    for words, line in data.written_lines(chapter).items():
        assert line in data.box_of(chapter), f"run python tools/boxes.py: {words}"


def test_lines_are_put_in_their_place_or_at_the_end():
    box = "# A\n\n```{admonition} In this chapter\n**You need** it.\n\n**Time** 5 minutes.\n```\nB"
    lines = {"Time": "**Time** 10 minutes.", "Also": "**Also** this."}
    written = data.with_lines(box, lines)
    assert written == box.replace("5 minutes.\n", "10 minutes.\n\n**Also** this.\n")
    assert data.with_lines(written, lines) == written
