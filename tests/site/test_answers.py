"""Answers typed into the built pages: the verdict and the words that Python gives, kept and counted."""

import re
from pathlib import Path

import nbformat
import pytest
from browser import AXE, ROOT
from site_visits import JS, PHONE, SITE, visit
from typed_answers import Typed, typed, write

import limetutor as lt
from limetutor.course import progress
from limetutor.course.exercises import chapters, exercises
from limetutor.course.judging.kinds import Function, Paragraph, Tabulated
from limetutor.course.quizzes import questions

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

# The right answer to an exercise of the page, and one that is far off.
RIGHT = {
    e.name: write(e.value.ravel(), e.value.shape)
    for e in exercises().values()
    if hasattr(e, "value")
}


@pytest.fixture(scope="module")
def answered(pages: list[Path]) -> list[Path]:
    """The pages of chapters whose exercises are declared."""
    return [path for path in pages if path.stem in chapters()]


def declared(path: Path, kind: type = object) -> list[str]:
    return [e.name for e in chapters()[path.stem] if isinstance(e, kind)]


@pytest.mark.verify
def test_every_exercise_has_a_box_that_says_what_python_says(answered, browser, served, verifying):
    """Every text that is known for it; in ``make test`` each third, and the first in any case."""
    table: dict[str, list[Typed]] = {}
    for row in typed():
        table.setdefault(row.name, []).append(row)
    assert answered
    with visit(browser, served) as visitor:
        for path in answered:
            tab = visitor.open(path, served)
            boxes = tab.eval_on_selector_all(
                "form input[data-exercise]", "found => found.map((input) => input.dataset.exercise)"
            )
            assert boxes == declared(path, Tabulated)
            by_hand = declared(path, (Function, Paragraph))
            assert tab.locator("input[data-done]").count() == len(by_hand)
            rows = [row for name in boxes for row in table[name][:: 1 if verifying else 3]]
            shown = tab.evaluate(JS.TYPE, [row[:3] for row in rows])
            for row, (kind, words) in zip(rows, shown, strict=True):
                said = lt.judge(row.name, row.text, row.attempt)
                if (kind, words) != (said.kind, said.words):
                    visitor.note(f"{row.name} {row.text!r}: {kind} {words!r}, Python: {said}")
    posed = {found for path in answered for found in box_labels(path)}
    assert len(posed) == sum(len(declared(path)) for path in answered)


def box_labels(path: Path) -> list[str]:
    """The exercises of a page, by what the page shows."""
    return re.findall(r'class="exercise admonition" id="(ex-[\w-]+)"', path.read_text("utf-8"))


@pytest.mark.parametrize("origin", ["server", "disk"])
def test_by_keyboard_and_what_was_done_is_there_after_a_reload(answered, browser, served, origin):
    base = served if origin == "server" else SITE.as_uri() + "/"
    path = next(p for p in answered if p.stem == "switch_off")
    with visit(browser, base) as visitor:
        tab = visitor.open(path, base)
        one = tab.locator('input[data-exercise="switch-off/1"]')
        status = tab.locator('form:has(input[data-exercise="switch-off/1"]) [role="status"]')
        solution = tab.locator(".solution-of-ex-switch-off-1")
        form = tab.get_by_role("form", name="Find the bandwidth")
        offer = form.get_by_role("button", name="Show the solution")
        assert status.get_attribute("data-verdict") is None and not solution.is_visible()
        one.focus()
        tab.keyboard.type("7")
        tab.keyboard.press("Enter")
        assert status.get_attribute("data-verdict") == "wrong" and not offer.is_visible()
        tab.keyboard.press("Enter")  # the same again is no second try
        assert not offer.is_visible()
        one.fill("8")
        tab.keyboard.press("Enter")
        assert offer.is_visible() and solution.is_visible()
        offer.focus()
        tab.keyboard.press("Enter")
        assert solution.get_by_text("the answer is").is_visible()
        one.fill(RIGHT["switch-off/1"])
        tab.keyboard.press("Enter")
        assert status.get_attribute("data-verdict") == "right"
        code = tab.get_by_label("Your results as a code").input_value()
        assert progress.read(code) == {"switch-off/1": progress.Item(3, True)}
        tab.reload()
        if status.get_attribute("data-verdict") is None:  # storage came late
            tab.wait_for_timeout(1000)
            tab.reload()
        if origin == "disk" and tab.evaluate("localStorage.getItem('limetutor')") is None:
            pytest.skip("Chromium gave the reloaded page from disk an empty storage")
        assert status.get_attribute("data-verdict") == "right" and status.inner_text() == "✓ Right."
        assert one.input_value() == RIGHT["switch-off/1"]
        badge = tab.locator(".bd-sidebar-primary .lt-badge").filter(visible=True)
        assert badge.all_inner_texts() == [f"1/{len(things(path))}"]
        other = visitor.open(next(p for p in answered if p != path), base)
        assert f"1/{len(things(path))}" in other.locator(".bd-sidebar-primary").inner_text()


def things(path: Path) -> list[str]:
    """The exercises and questions of a page."""
    source = (ROOT / path.relative_to(SITE)).with_suffix(".ipynb")
    cells = nbformat.read(source, as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [*declared(path), *(question.text for question in questions(text))]


def test_by_touch_quizzes_paragraphs_and_the_code(answered, browser, served):
    path = next(p for p in answered if p.stem == "images")
    with visit(browser, served, **PHONE) as visitor:
        tab = visitor.open(path, served)
        box = tab.get_by_role("form", name="Two parts")
        box.get_by_role("textbox").fill("1/2; 1")
        box.get_by_role("button", name="Check").tap()
        assert box.locator('[data-verdict="right"]').inner_text() == "✓ Right."
        text = tab.get_by_label("Your text")
        text.fill("A zero means that hiding it changes nothing.")
        assert not tab.locator(".solution-of-ex-images-4").is_visible()
        tab.get_by_text("Points to compare").tap()
        tab.locator(".solution-of-ex-images-4").wait_for()  # the page hears of it a moment later
        tab.get_by_role("checkbox", name="I have written my answer and compared it").tap()
        tab.locator(".quiz .lt-right summary").nth(0).tap()
        tab.locator(".quiz .lt-wrong summary").last.tap()  # the first pick of a question counts
        tab.locator(".quiz .lt-right summary").nth(1).tap()
        tab.wait_for_timeout(200)  # the page hears of the tap a moment later
        found = progress.read(tab.get_by_label("Your results as a code").input_value())
        assert found["images/3"] == found["images/4"] == progress.Item(1, True)
        picks = [found[f"images/quiz-{k}"] for k in (1, 2)]
        assert picks == [progress.Item(1, True), progress.Item(2, False)]
        tab.reload()
        assert text.input_value().startswith("A zero")
        summary = tab.locator(".lt-progress").inner_text()
        assert "solved 3 of 6" in summary and "nothing is sent" in summary
        forget = tab.get_by_role("button", name="Forget")
        forget.tap()
        assert "solved 3 of 6" in tab.locator(".lt-progress").inner_text()  # asks once more
        forget.tap()
        assert "solved 0 of 6" in tab.locator(".lt-progress").inner_text()
        assert not tab.get_by_role("checkbox", name="Written").is_checked()
        assert text.input_value() == ""


REFUSED = """Object.defineProperty(globalThis, "localStorage", {
    get() { throw new DOMException("denied", "SecurityError"); } });"""


@pytest.mark.parametrize("spoil", [REFUSED, "localStorage.setItem('refused', 'true')"])
def test_where_nothing_is_kept_the_page_says_so_and_works(answered, browser, served, spoil):
    with visit(browser, served) as visitor:
        visitor.tab.add_init_script(spoil)
        path = next(p for p in answered if p.stem == "images")
        tab = visitor.open(path, served)
        name = declared(path, Tabulated)[0]
        assert tab.evaluate(JS.TYPE, [[name, RIGHT[name], 1]]) == [["right", "✓ Right."]]
        said = tab.locator(".lt-progress").inner_text()
        assert ("keeps nothing" in said) == (spoil == REFUSED) and "solved 1 of" in said


@pytest.mark.verify
def test_without_a_script_there_is_no_box_and_every_solution_can_be_read(
    answered, browser, served, verifying
):
    """``make test`` opens every third page."""
    with visit(browser, served, java_script_enabled=False) as visitor:
        for path in answered[:: 1 if verifying else 3]:
            tab = visitor.open(path, served)
            assert not tab.locator("form.lt-answer:visible, .lt-progress:visible").count()
            labels = [".solution-of-ex-" + name.replace("/", "-") for name in declared(path)]
            assert tab.evaluate(HIDDEN, labels) == []


HIDDEN = """(selectors) => selectors.filter((selector) =>
    !document.querySelector(selector)?.checkVisibility({visibilityProperty: true}))"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_boxes_with_verdicts_can_be_read_by_all(answered, browser, served, theme):
    """Every kind of verdict given, every fold open: what the tests of whole pages do not see."""
    with visit(browser, served, color_scheme=theme) as visitor:
        path = next(p for p in answered if p.stem == "images")
        tab = visitor.open(path, served)
        keep = JS.TYPE.replace("limetutor.progress.forget();", "")
        texts = [RIGHT["images/1"], f"[{RIGHT['images/2']}]", "12345, 1"]
        kinds = tab.evaluate(keep, [[f"images/{k}", text, 3] for k, text in enumerate(texts, 1)])
        assert [kind for kind, _ in kinds] == ["right", "close", "wrong"]
        tab.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        for faint in tab.evaluate(JS.FAINT, False):
            visitor.note(f"faint: {faint}")
        tab.evaluate(AXE)
        for violation in tab.evaluate(JS.AXE_BOXES):
            nodes = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
            visitor.note(f"{violation['id']}: {violation['help']} ({nodes})")
        for width in (320, 390):
            tab.set_viewport_size({"width": width, "height": 844})
            wide = tab.evaluate("document.documentElement.scrollWidth")
            if wide > width + 1:
                visitor.note(f"scrolls sideways at {width} px: {wide} px")
