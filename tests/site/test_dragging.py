"""Every handle of the built site, found by itself and moved: by mouse, by finger and by keys."""

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import CDPSession, ElementHandle, Page
from playwright.sync_api import TimeoutError as TooLate
from site_visits import JS, SITE, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

FEWEST_FIGURES = 7  # in which something can be dragged, on every second page
FEWEST_STOPS = 15  # of what can be dragged

CONTROLS = re.compile(r'data-controls="([^"]*)"')


def with_handles(pages: list[Path]) -> list[Path]:
    return [path for path in pages if "data-handle=" in path.read_text(encoding="utf-8")]


STOPS = """(handle) => handle.dataset.handle.split(" ").map((name) =>
    +handle.closest(".lt-explore").querySelector(`input[id$="-${name}"]`).value)"""
CENTRE = """(handle) => {
    const box = handle.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
}"""
AT_REST = (
    "(h) => [...h.closest('.lt-explore').querySelectorAll('input')].every((i) => i.step === '1')"
)

WAY, STEPS, AWAY = 200, 20, 3  # pixels; in so many moves; how far a handle may be from the pointer


def dragged(handle: ElementHandle, move: Callable[[str, float, float], None]) -> Iterator[str]:
    """Drag over 200 px, or as far as there is room, and let go; say what does not follow or settle.

    ``move`` is told "down", "move" or "up" and where.
    """
    tab, name = handle.owner_frame().page, handle.get_attribute("data-handle")
    room, words = handle.evaluate(JS.ROOM), handle.get_attribute("aria-valuetext")
    if min(room["stops"]) < FEWEST_STOPS:
        yield f"handle {name}: too few stops to drag it along"
    entries, scrolled = tab.evaluate("history.length"), tab.evaluate("scrollY")
    start, goal = room["ends"][0][2], list(room["ends"][0][2])
    axes = ["xy".index(axis) for axis in handle.get_attribute("data-way")]
    for axis, (low, high, here) in zip(axes, room["ends"], strict=True):
        ways = sorted((end[axis] - here[axis] for end in (low, high)), key=abs)
        goal[axis] += max(-WAY, min(WAY, ways[-1]))
    move("down", *start)
    for k in range(1, STEPS + 1):
        to = [a + (b - a) * k / STEPS for a, b in zip(start, goal, strict=True)]
        move("move", *to)
        centre = handle.evaluate(CENTRE)
        if any(abs(centre[axis] - to[axis]) > AWAY for axis in axes):
            yield f"handle {name}: is at {centre} when the pointer is at {to}"
    place = handle.evaluate(STOPS)
    move("up", *goal)
    try:
        tab.wait_for_function(AT_REST, arg=handle, timeout=5000)
    except TooLate:
        yield f"handle {name}: does not settle"
    if any(abs(a - b) > 0.51 for a, b in zip(handle.evaluate(STOPS), place, strict=True)):
        yield f"handle {name}: let go at {place}, it went to {handle.evaluate(STOPS)}"
    if tab.evaluate("history.length") not in (entries + 1, 50):  # browsers keep fifty
        yield f"handle {name}: a drag is not one entry of the history"
    if handle.get_attribute("aria-valuetext") == words:
        yield f"handle {name}: says the same after it was moved"
    if tab.evaluate("scrollY") != scrolled:
        yield f"handle {name}: the page scrolled under it"


def moved_by_mouse_and_keys(tab: Page, handle: ElementHandle) -> Iterator[str]:
    """What else keys do, and what assistive technology is told, are asked in tests/interactive."""

    def move(what: str, x: float, y: float) -> None:
        tab.mouse.move(x, y)
        if what != "move":
            getattr(tab.mouse, what)()

    yield from dragged(handle, move)
    name = handle.get_attribute("data-handle")
    for key, stop in (("Home", 0), ("End", handle.evaluate(JS.ROOM)["stops"][0] - 1)):
        handle.press(key)
        if handle.evaluate(STOPS)[0] != stop:
            yield f"handle {name}: {key} does not go to the end"
    handle.evaluate("(h) => h.closest('.lt-explore').querySelector('.lt-reset').click()")


def moved_by_finger(finger: CDPSession, handle: ElementHandle) -> Iterator[str]:
    box = handle.bounding_box()
    if box is None or min(box["width"], box["height"]) < 44:
        yield f"handle {handle.get_attribute('data-handle')}: too small for a finger, {box}"

    def move(what: str, x: float, y: float) -> None:
        kind = {"down": "touchStart", "move": "touchMove", "up": "touchEnd"}[what]
        points = [] if what == "up" else [{"x": x, "y": y}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    yield from dragged(handle, move)


@pytest.mark.verify
def test_every_handle_moves(pages, browser, served, verifying):
    """On every second page in ``make test``; on the others a finger moves one handle of each figure."""
    figures = 0
    with visit(browser, served) as visitor:
        visitor.tab.set_viewport_size({"width": 1280, "height": 800})
        for path in with_handles(pages) if verifying else with_handles(pages)[1::2]:
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
        for path in with_handles(pages)[:: 1 if verifying else 2]:
            tab = visitor.open(path, served)
            for figure in tab.query_selector_all(".lt-explore:has([data-handle])"):
                for problem in moved_by_finger(finger, figure.query_selector("[data-handle]")):
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
