"""Every handle of the built site, found by itself and moved: by mouse, by finger and by keys."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import CDPSession, ElementHandle, Page
from site_visits import JS, SITE, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

FEWEST_FIGURES = 7  # in which something can be dragged, on every second page
FEWEST_STOPS = 15  # of what can be dragged

CONTROLS = re.compile(r'data-controls="([^"]*)"')


def with_handles(pages: list[Path]) -> list[Path]:
    return [path for path in pages if "data-handle=" in path.read_text(encoding="utf-8")]


STOPS = """(handle) => handle.dataset.handle.split(" ").map((name) =>
    +handle.closest(".lt-explore").querySelector(`input[id$="-${name}"]`).value)"""


def moved_by_mouse_and_keys(tab: Page, handle: ElementHandle) -> Iterator[str]:
    """Drag it and move it by keys; say what does not answer.

    What else keys do, and what assistive technology is told, are asked in tests/interactive.
    """
    handle.evaluate("h => h.scrollIntoView({block: 'center', behavior: 'instant'})")
    name, words = (handle.get_attribute(key) for key in ("data-handle", "aria-valuetext"))
    plan = handle.evaluate(JS.GOAL)
    if min(plan["stops"]) < FEWEST_STOPS:
        yield f"handle {name}: too few stops to drag it along"
    entries = tab.evaluate("history.length")
    tab.mouse.move(*plan["here"])
    tab.mouse.down()
    tab.mouse.move(*plan["there"], steps=3)
    tab.mouse.up()
    if handle.evaluate(STOPS) != plan["goal"]:
        yield f"handle {name}: dragged to {handle.evaluate(STOPS)} instead of {plan['goal']}"
    if tab.evaluate("history.length") not in (entries + 1, 50):  # browsers keep fifty
        yield f"handle {name}: a drag is not one entry of the history"
    if handle.get_attribute("aria-valuetext") == words:
        yield f"handle {name}: says the same after it was moved"
    handle.press("Home")
    first = handle.evaluate(STOPS)[0]
    handle.press("End")
    if first != 0 or handle.evaluate(STOPS)[0] != plan["stops"][0] - 1:
        yield f"handle {name}: Home and End do not go to the ends"
    handle.evaluate("(h) => h.closest('.lt-explore').querySelector('.lt-reset').click()")


def moved_by_finger(tab: Page, finger: CDPSession, handle: ElementHandle) -> Iterator[str]:
    handle.evaluate("h => h.scrollIntoView({block: 'center', behavior: 'instant'})")
    name, box = handle.get_attribute("data-handle"), handle.bounding_box()
    if box is None or min(box["width"], box["height"]) < 44:
        yield f"handle {name}: too small for a finger, {box}"
    plan, before = handle.evaluate(JS.GOAL), tab.evaluate("scrollY")
    for kind, *points in (
        ("touchStart", plan["here"]),
        ("touchMove", [(a + b) / 2 for a, b in zip(plan["here"], plan["there"], strict=True)]),
        ("touchMove", plan["there"]),
        ("touchEnd",),
    ):
        found = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": found})
    if handle.evaluate(STOPS) != plan["goal"]:
        yield f"handle {name}: a finger takes it to {handle.evaluate(STOPS)}, not to {plan['goal']}"
    if tab.evaluate("scrollY") != before:
        yield f"handle {name}: the page scrolled under the finger"


@pytest.mark.verify
def test_every_handle_moves(pages, browser, served, verifying):
    """On every second page in ``make test``; on the others a finger moves one handle of each figure."""
    figures = 0
    with visit(browser, served, reduced_motion="reduce") as visitor:
        visitor.tab.set_viewport_size({"width": 1280, "height": 800})
        for path in with_handles(pages)[:: 1 if verifying else 2]:
            tab = visitor.open(path, served)
            for figure in tab.query_selector_all(".lt-explore:has([data-handle])"):
                figures += 1
                for handle in figure.query_selector_all("[data-handle]"):
                    for problem in moved_by_mouse_and_keys(tab, handle):
                        visitor.note(problem)
    assert figures >= FEWEST_FIGURES


@pytest.mark.verify
def test_a_finger_moves_one_handle_of_every_figure(pages, browser, served, verifying):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visit(browser, served, **phone) as visitor:
        finger = visitor.context.new_cdp_session(visitor.tab)
        for path in with_handles(pages) if verifying else with_handles(pages)[1::2]:
            tab = visitor.open(path, served)
            for figure in tab.query_selector_all(".lt-explore:has([data-handle])"):
                handle = figure.query_selector("[data-handle]")
                for problem in moved_by_finger(tab, finger, handle):
                    visitor.note(problem)


PLACES = """() => [...document.querySelectorAll(".lt-explore")].map((figure) =>
    [...figure.querySelectorAll("input")].map((slider) => slider.value).join(" "))"""


def test_a_page_loaded_again_has_all_figures_where_they_stood(pages, browser, served):
    """Whatever else of the page writes into the history; and back, and forward, and loaded again there."""
    path = next(p for p in pages if p.stem == "local_error")
    with visit(browser, served, reduced_motion="reduce") as visitor:
        tab = visitor.open(path, served)
        seen = [tab.evaluate(PLACES)]
        for figure in tab.locator(".lt-explore").all():
            figure.locator("input").first.press("End")
            seen.append(tab.evaluate(PLACES))
        assert len({str(places) for places in seen}) == len(seen) > 2
        tab.reload()
        assert tab.evaluate(PLACES) == seen[-1]
        tab.go_back()
        tab.wait_for_function(
            f"JSON.stringify(({PLACES})()) !== {json.dumps(json.dumps(seen[-1], separators=(',', ':')))}"
        )
        assert tab.evaluate(PLACES) == seen[-2]
        tab.reload()
        assert tab.evaluate(PLACES) == seen[-2]


def test_links_to_states_name_stops(pages):
    """A link that moves a figure asks for a figure that is there, its controls and their very stops."""
    figures: dict[tuple[str, str], dict[str, list[str]]] = {}
    links = []
    for path in pages:
        text = path.read_text(encoding="utf-8")
        for name, rest in re.findall(r'<figure[^>]* id="([^"]+)">(.*?)</figure>', text, re.S):
            for table in CONTROLS.findall(rest):
                data = json.loads(unescape(table))
                figures[path.name, name] = dict(zip(data["names"], data["stops"], strict=True))
        for target in re.findall(r'href="([^"]*#[^"]*&amp;[^"]*)"', text):
            page, _, state = unescape(target).partition("#")
            links.append((path.name, Path(page).name or path.name, *state.split("&")))
    assert len(links) >= 10
    for page, goal, name, *controls in links:
        for control in controls:
            key, _, value = control.partition("=")
            assert unquote(value) in figures[goal, name][key], f"{page}: no stop {control}"


def test_the_first_minute(browser, served):
    """The machine is the first thing on the page: above the fold, or one swipe away; no code before it."""
    with visit(browser, served) as visitor:
        for width, height, within in ((1280, 800, 800), (390, 844, 2 * 844)):
            visitor.tab.set_viewport_size({"width": width, "height": height})
            tab = visitor.open(SITE / "book" / "welcome.html", served)
            box = tab.locator(".lt-explore svg").first.bounding_box()
            assert box is not None and box["y"] > 0
            assert box["y"] + box["height"] < within, f"{width} px: the picture ends at {box}"
            before = "(s) => [...document.querySelectorAll('article pre')].filter((p) => p.compareDocumentPosition(s) & 4).length"
            assert tab.locator(".lt-explore svg").first.evaluate(before) == 0
        doors = tab.locator(".doors a").all_inner_texts()
        assert [door.strip() for door in doors][:3] == ["Read", "Run", "Teach"]
