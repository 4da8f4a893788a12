"""The plans for teachers: nothing is used before it is explained, and the minutes add up."""

import re
from collections import Counter

import chapters as book
import minutes
import plans
import pytest
import slides
import yaml
from browser import ROOT

from limetutor.course.exercises import exercises
from limetutor.course.judging.kinds import Paragraph

DATA = plans.data()
PLANS = DATA["plans"]
DECKS = {deck.name: deck for deck in slides.decks()}


TIMED = {name: plan for name, plan in PLANS.items() if "minutes" in plan}
SLIDES = {name for name, plan in PLANS.items() if "slides" in plan}


def pages(plan):
    return [part["page"] for part in plan["parts"] if "page" in part]


def days(plan):
    """The parts of each day, of several where there are sessions."""
    starts = [k for k, part in enumerate(plan["parts"]) if k == 0 or "session" in part]
    return [plan["parts"][a:b] for a, b in zip(starts, [*starts[1:], None], strict=True)]


def test_there_are_plans_for_the_slots_that_there_are():
    assert [plan["minutes"] for plan in TIMED.values()][:3] == [50, 80, 170]
    assert [sum(part["minutes"] for part in day) for day in days(PLANS["fortnight"])] == [80] * 4
    assert len(pages(PLANS["five"])) == 5 and set(PLANS) - set(TIMED) == {"five"}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_a_plan_lacks_nothing_and_says_nothing_twice(plan):
    path, given = pages(plan), plan["given"]
    assert book.missing(path, given) == []
    for term in given:  # a sentence that is not needed would be a lecture of its own
        others = [other for other in given if other != term]
        assert book.missing(path, others), f"no page of the plan needs {term}"
        assert 6 <= len(given[term].split()) <= 40
    assert len(set(path)) == len(path)


@pytest.mark.parametrize("plan", TIMED.values(), ids=TIMED)
def test_the_minutes_add_up_and_some_are_left(plan):
    assert sum(part["minutes"] for part in plan["parts"]) == plan["minutes"]
    for day in days(plan):
        assert "page" not in day[-1] and day[-1]["what"].startswith("questions")
        free = sum(part["minutes"] for part in day if "questions" in part["what"])
        assert free >= 0.07 * sum(part["minutes"] for part in day)
        at_work = 0
        for part in day:
            at_work = (
                0
                if part["what"] == "*Break*" and part["minutes"] >= 10
                else at_work + part["minutes"]
            )
            assert at_work <= 80, "nobody sits for longer"


def section_minutes(page):
    """How long the reading of each section of a page takes, at the rates of the opening boxes."""
    counts, now = {}, ""
    for cell in plans.book.nbformat.read(book.chapters()[page].path, as_version=4).cells:
        texts = re.split(r"(?m)^## (.+)$", cell.source) if cell.cell_type == "markdown" else [""]
        for title, text in zip(["", *texts[1::2]], texts[::2], strict=True):
            now = title.strip() or now
            counts.setdefault(now, Counter()).update(minutes.in_prose(text))
        if cell.cell_type == "code":
            counts[now].update(minutes.in_code(cell))
    return {
        title: sum(minutes.RATES[what] * number for what, number in count.items())
        for title, count in counts.items()
    }


@pytest.mark.parametrize("name", sorted(set(TIMED) - SLIDES))
def test_a_class_that_works_on_the_page_has_the_time_to(name):
    """The sections and the exercises that a part names, at a reader's pace, and a tenth is left."""
    for part in (part for part in PLANS[name]["parts"] if "page" in part):
        sections = section_minutes(part["page"])
        named = [t for t in re.findall(r"\*([^*]+)\*", part["what"]) if t in sections]
        stem = part["page"].replace("_", "-")
        numbers = re.findall(r"exercises? (\d)(?: and (\d))?", part["what"])
        kinds = [exercises()[f"{stem}/{n}"].answered for pair in numbers for n in pair if n]
        rates = {"box": "exercise", "points": "paragraph to write", "kernel": "function to write"}
        work = sum(minutes.RATES[rates[kind]] for kind in kinds)
        reading = sum(sections[title] for title in named)
        assert named and reading + work <= 0.9 * part["minutes"], part["page"]


def test_the_hours_at_home_are_those_of_the_pages_and_notebooks():
    (said,) = re.findall(r"(?m)^That is .*$", plans.texts()[plans.BOOK / "plans.md"])
    in_class, at_home, read, code = (
        60 * int(h) + int(m) for h, m in re.findall(r"(\d+) h (\d+) min", said)
    )
    parts = [part["home"] for part in PLANS["fortnight"]["parts"] if "home" in part]
    assert in_class == PLANS["fortnight"]["minutes"] and at_home == read + code
    boxes = [book.box_of(book.chapters()[page]) for home in parts for page in home.get("read", ())]
    assert read == sum(int(re.search(r"\*\*Time\*\* (\d+) minutes", box)[1]) for box in boxes)
    notebooks = [
        ROOT / "assignments" / f"{home['assignment']}.ipynb"
        for home in parts
        if "assignment" in home
    ]
    assert len(notebooks) == len(list((ROOT / "assignments").glob("*.ipynb")))
    stated = [re.search(r"about (\d+) minutes", path.read_text("utf-8"))[1] for path in notebooks]
    assert code == sum(map(int, stated))
    assert in_class + at_home <= 12 * 60, "for one method"


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_class_leaves_without_the_package_that_it_will_install(plan):
    path = pages(plan)
    assert "real_lime" in path
    assert "switch_off" not in path or path.index("real_lime") > path.index("switch_off")


# What is on the page for everybody: no exercise, no folded proof, no quiz.
FOLDED = r'(?s)<!--.*?-->|<details class="proof">.*?</details>|<div class="quiz">.*'


@pytest.mark.parametrize("page", book.chapters())
def test_a_page_asks_for_the_mathematics_that_it_uses(page):
    cells = plans.book.nbformat.read(book.chapters()[page].path, as_version=4).cells
    text = re.sub(FOLDED, "", "\n".join(c.source for c in cells if c.cell_type == "markdown"))
    text = re.sub(r"(?ms)^(`{3,})\{(?:exercise|solution)\}.*?^\1$", "", text)
    used = {
        term: len(re.findall(entry["sign"], text)) for term, entry in DATA["mathematics"].items()
    }
    asked = set(book.chapters()[page].asks)
    assert {term for term, times in used.items() if times > 1} <= asked
    assert asked <= {term for term, times in used.items() if times}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_the_sections_that_a_plan_names_are_there(plan):
    for part in (part for part in plan["parts"] if "page" in part):
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
    (free,) = [part["minutes"] for part in plan["parts"] if "page" not in part]
    assert sum(slide.minutes for slide in deck.slides) == plan["minutes"] - free


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
    assert {plan["slides"] for plan in TIMED.values() if plan["minutes"] <= 90} == set(DECKS)


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
