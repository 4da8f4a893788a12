"""The plans for teachers: nothing is used before it is explained, and the minutes add up."""

import re
import sys

import pytest
from browser import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
sys.path.insert(0, str(ROOT / "tools"))
import chapters as book
import plans
import slides
import yaml

from limetutor.course.exercises import exercises
from limetutor.course.judging.kinds import Paragraph

DATA = plans.data()
PLANS = DATA["plans"]
DECKS = {deck.name: deck for deck in slides.decks()}


def pages(plan):
    return [part["page"] for part in plan["parts"]]


def test_there_are_plans_of_four_lengths():
    assert [plan["minutes"] for plan in PLANS.values()][:3] == [60, 90, 180]
    sessions = [part["session"] for part in PLANS["fortnight"]["parts"] if "session" in part]
    assert sessions == ["1", "2", "3", "4"]


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_lacks_nothing_and_says_nothing_twice(plan):
    path, given = pages(plan), plan["given"]
    assert book.missing(path, given) == []
    for term in given:  # a sentence that is not needed would be a lecture of its own
        others = [other for other in given if other != term]
        assert book.missing(path, others), f"no page of the plan needs {term}"
        assert 6 <= len(given[term].split()) <= 40
    assert len(set(path)) == len(path)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_minutes_add_up(plan):
    parts = [(part, part["minutes"] + part.get("break", 0)) for part in plan["parts"]]
    assert sum(minutes for _, minutes in parts) == plan["minutes"]
    day = 0
    for part, minutes in parts:
        day = minutes if "session" in part else day + minutes
        assert day <= (90 if plan is PLANS["fortnight"] else plan["minutes"])


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_class_leaves_without_the_package_that_it_will_install(plan):
    path = pages(plan)
    assert "real_lime" in path
    assert path.index("real_lime") > path.index("switch_off")


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_sections_that_a_plan_names_are_there(plan):
    for part in plan["parts"]:
        path = book.chapters()[part["page"]].path
        text = "\n".join(c.source for c in plans.book.nbformat.read(path, as_version=4).cells)
        titles = set(re.findall(r"\*([^*]+)\*", part["what"]))
        for title in titles:
            assert f"## {title}" in text, f"{part['page']} has no section {title}"
        for number in re.findall(r"exercises? (\d)(?! of)", part["what"]):
            assert text.count("{exercise}") >= int(number)


def test_each_chapter_has_its_notes():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    parts = [p for p in toc["parts"] if p.get("numbered") and p["caption"] != "Appendices"]
    entries = [entry for part in parts for entry in part["chapters"]]
    listed = [entry["file"].removeprefix("book/") for entry in entries]
    assert list(DATA["chapters"]) == listed
    for page, notes in DATA["chapters"].items():
        assert set(notes) == {"believe", "ask", "answer"}, page
        assert notes["ask"].endswith("?") and not notes["answer"].endswith("?")


def test_the_page_lists_the_questions_that_a_person_marks():
    text = (ROOT / "book" / "teach.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\{ref\}`ex-([\w-]+)-(\d+)`", text))
    written = [name for name, exercise in exercises().items() if isinstance(exercise, Paragraph)]
    assert listed == {tuple(name.split("/")) for name in written}


def test_what_the_page_includes_is_up_to_date():
    for path, text in plans.texts().items():
        assert path.read_text(encoding="utf-8") == text, "run python tools/plans.py"


@pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)
def test_a_deck_takes_as_long_as_its_plan(deck):
    (plan,) = [plan for plan in PLANS.values() if plan.get("slides") == deck.name]
    assert 12 <= len(deck.slides) <= 15
    assert all(slide.minutes for slide in deck.slides), "a note begins with its minutes"
    assert sum(slide.minutes for slide in deck.slides) == plan["minutes"]


@pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)
def test_a_deck_begins_with_the_list_of_patient_13_and_ends_with_its_sources(deck):
    figures = [re.findall(r"explore\(welcome\.(\w+)", slide.markdown) for slide in deck.slides[1:4]]
    assert figures == [["run_again"], ["other_boxes"], ["other_width"]]
    names_its_sources(deck.slides[-1].markdown)


def test_the_handout_names_its_sources():
    names_its_sources((slides.SOURCES / f"{slides.HANDOUT}.md").read_text(encoding="utf-8"))


def names_its_sources(text):
    address = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["baseurl"]
    for named in ("Garreau", "von Luxburg", "2020", "Ribeiro", "2016", address, "CC BY 4.0", "BSD"):
        assert named in text


def test_every_plan_of_at_most_ninety_minutes_has_a_deck():
    assert {plan["slides"] for plan in PLANS.values() if plan["minutes"] <= 90} == set(DECKS)


def test_a_figure_is_drawn_once_and_one_that_fails_stops_the_build(tmp_path):
    code = "from limetutor.interactive.explorer import show\nshow(None, alt='none')\n"
    with pytest.raises(
        RuntimeError, match=r"A figure of the slides failed:\n(?s:.)*needs a matplotlib"
    ):
        slides.draw([code], tmp_path, "key")
    assert not list(tmp_path.glob("*.html"))
    drawn = slides.draw([STILL], tmp_path, "key")
    (kept,) = tmp_path.glob("*.html")
    assert kept.read_text(encoding="utf-8") == drawn[STILL] and "lt-still" in drawn[STILL]
    kept.write_text("from the cache", encoding="utf-8")
    assert slides.draw([STILL], tmp_path, "key") == {STILL: "from the cache"}
    assert slides.draw([], tmp_path, "another") == {} and not kept.exists()


STILL = """from limetutor.interactive.explorer import show
from limetutor.plotting.style import new_figure

show(new_figure(), alt="An empty figure.")
"""
