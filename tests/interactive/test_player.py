"""Handles and addresses in a real browser: by mouse, finger, keyboard, slider and link."""

import itertools
import re
from contextlib import contextmanager
from urllib.parse import unquote

import numpy as np
import pytest
import sphinx
from browser import axe_violations, running_browser
from pads import ALT, CONTROLS, LINK, pad, page_of_two

from limetutor.interactive import frames
from limetutor.interactive.frame_table import FrameTable
from limetutor.plotting import svg

pytestmark = pytest.mark.browser

NU, XI, _ = CONTROLS.values()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """A page with two figures, some text to scroll and links."""
    return page_of_two(tmp_path_factory.mktemp("page") / "page.html")


@pytest.fixture(scope="module")
def browser():
    with running_browser() as started:
        yield started


@contextmanager
def opened(browser, path, fragment="", **options):
    """A tab with the page, in which nothing moves by itself; nothing may go wrong in it."""
    options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options}
    context = browser.new_context(**options)
    page = context.new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: message.type == "error" and wrong.append(message.text))
    page.goto(path.as_uri() + fragment)
    yield page
    context.close()
    assert not wrong


def figure(page, name="one"):
    return page.locator(f"#fig-{name} .lt-explore")


def state(page, name="one"):
    """All that a reader of a figure sees and hears: picture, sentence, sliders."""
    return figure(page, name).evaluate(
        """f => [f.querySelector("svg").innerHTML.replace(/ r="[\\d.]+"/g, ""),
                 f.querySelector(".lt-sentence").textContent,
                 ...[...f.querySelectorAll("input, select")].map((c) => c.value)]"""
    )


def at(page, name="one"):
    """The stops that the sliders show."""
    return [int(e.input_value()) for e in figure(page, name).locator("input").all()]


def grab(page, handle):
    box = handle.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def place(page, handle, nu, xi):
    """Where a handle is on the screen with the sliders at these stops; afterwards all is as it was."""
    was = at(page)
    shown(page, nu, xi)
    centre = grab(page, handle)
    shown(page, *was)
    return centre


def test_a_search_marks_words_of_the_page_and_leaves_figures_alone(browser, page_file):
    """Else it marks what is stored as well, for half a minute, and puts elements into pictures."""
    with opened(browser, page_file) as page:
        figure(page).locator("input").first.press("End")  # keeps the first picture
        page.evaluate("globalThis._ready = () => {}")
        page.add_script_tag(path=f"{sphinx.package_dir}/themes/basic/static/sphinx_highlight.js")
        page.evaluate("[...'e0,'].forEach((c) => _highlightText(document.body, c, 'highlighted'))")
        assert page.locator("p .highlighted").count() > 9
        assert page.locator("svg :is(.highlighted, tspan:not([class])), [type] *").count() == 0


def test_keys_of_a_handle(browser, page_file):
    with opened(browser, page_file) as page:
        both = figure(page).locator("[data-handle='xi nu']")
        one = figure(page).locator("[data-handle='nu']")
        start = at(page)
        for key, handle, expected in (
            ("ArrowRight", one, [start[0] + 1, start[1]]),
            ("ArrowUp", one, [start[0] + 2, start[1]]),
            ("ArrowLeft", one, [start[0] + 1, start[1]]),
            ("ArrowDown", one, start),
            ("PageUp", one, [start[0] + 1, start[1]]),
            ("Home", one, [0, start[1]]),
            ("PageDown", one, [0, start[1]]),
            ("End", one, [6, start[1]]),
            ("ArrowRight", one, [6, start[1]]),
            ("End", both, [6, 8]),
            ("Home", both, [6, 0]),
            ("PageDown", both, [5, 0]),
            ("ArrowDown", both, [4, 0]),
            ("x", both, [4, 0]),
        ):
            handle.press(key)
            assert at(page) == expected, key
        assert both.get_attribute("aria-valuetext") == "position of ξ −2.00, bandwidth ν 2.15"
        assert both.get_attribute("aria-valuenow") == "-2"
        assert one.get_attribute("aria-valuetext") == "2.15"
        assert one.evaluate("e => e === document.activeElement") is False
        assert both.evaluate("e => e === document.activeElement")  # a new shape of frame keeps it


def test_a_finger_on_a_phone(browser, page_file):
    """Dragged by touch without scrolling; tapped on the map; 44 px wide at each size of the page."""
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(browser, page_file, **phone) as page:
        for handle in page.locator("[data-handle]").all():
            box = handle.bounding_box()
            assert min(box["width"], box["height"]) >= 44
            assert handle.evaluate("e => getComputedStyle(e).touchAction") == "none"
        both = figure(page).locator("[data-handle='xi nu']")
        touch = page.context.new_cdp_session(page)

        def finger(kind, *points):
            found = [{"x": x, "y": y} for x, y in points]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": found})

        goals = [place(page, both, *stops) for stops in ((3, 5), (5, 6), (2, 7))]
        finger("touchStart", grab(page, both))
        for goal in goals:
            finger("touchMove", goal)
        finger("touchEnd")
        page.wait_for_function("location.hash.length > 1")
        assert at(page) == [2, 7] and page.evaluate("scrollY") == 0
        address = unquote(page.evaluate("location.hash"))
        assert address.startswith("#fig-one&nu=0.46&xi=1.5&kind=plain")
        page.touchscreen.tap(*place(page, both, 5, 1))
        page.wait_for_function("location.hash.includes('xi=-1.5')")
        assert at(page) == [5, 1]


def test_the_address_follows_and_leads(browser, page_file):
    """One entry a move that ends; back, forward, reload, links, anchors and a shared address."""
    with opened(browser, page_file) as page:
        start = [state(page, name) for name in ("one", "two")]
        entries = page.evaluate("history.length")
        both = figure(page).locator("[data-handle='xi nu']")
        x, y = grab(page, both)
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(6):
            page.mouse.move(x - 25 * step, y + 8 * step)
        assert page.evaluate("history.length") == entries, "a move that has not ended is no entry"
        page.mouse.up()
        moved = state(page)
        assert moved != start[0] and page.evaluate("history.length") == entries + 1
        first = page.evaluate("location.hash")
        nu, xi = at(page)
        assert first == f"#fig-one&nu={NU.values[nu]:g}&xi={XI.values[xi]:g}&kind=plain"
        figure(page, "two").locator("select").select_option("fancy one")
        assert page.evaluate("history.length") == entries + 2
        assert page.evaluate("location.hash").endswith("&kind=fancy%20one")
        slider = figure(page, "two").locator("input").first
        page.keyboard.down("Shift")
        page.keyboard.up("Shift")
        slider.focus()
        for _ in range(3):  # a key held down
            page.keyboard.down("ArrowRight")
        assert page.evaluate("history.length") == entries + 2
        page.keyboard.up("ArrowRight")
        assert page.evaluate("history.length") == entries + 3
        last = state(page, "two")

        def travel(by):
            page.evaluate(
                f"new Promise((go) => {{ addEventListener('popstate', () => setTimeout(go), {{once: true}}); history.go({by}); }})"
            )

        travel(-2)
        assert page.evaluate("location.hash") == first
        assert state(page) == moved and state(page, "two") == start[1]
        travel(-1)
        assert [state(page, name) for name in ("one", "two")] == start
        travel(3)
        assert state(page) == moved and state(page, "two") == last
        page.reload()
        assert state(page) == moved and state(page, "two") == last

        # an anchor is an anchor, and leaves the figures alone
        page.get_by_text("to the end").click()
        page.wait_for_function("scrollY > 200")
        assert page.evaluate("location.hash") == "#end"
        assert state(page) == moved and state(page, "two") == last
        # a link to a state moves its figure, and shows it, as often as it is asked
        for _ in range(2):
            page.evaluate("scrollTo(0, 0)")
            page.get_by_text("show me").click()
            assert at(page) == [5, 2] and state(page, "two") == last
            figure(page).locator("[data-handle='nu']").press("Home")
        travel(-1)
        assert at(page) == [5, 2]
        shared = state(page)
    with opened(browser, page_file, LINK) as page:
        assert state(page) == shared and state(page, "two") == start[1]
    with opened(browser, page_file, LINK.replace("one", "two"), reduced_motion="reduce") as page:
        assert figure(page, "two").evaluate("f => f.getBoundingClientRect().top < innerHeight")
        assert page.evaluate("scrollY") and at(page, "two") == [5, 2] and state(page) == start[0]


# As savers do that write down what a form holds.
AS_SAVED = """() => {
    for (const e of document.querySelectorAll("input")) e.setAttribute("value", e.value);
    for (const e of document.querySelectorAll("option")) e.toggleAttribute("selected", e.selected);
}"""


def test_a_page_saved_after_a_move_opens_at_the_start(browser, page_file, tmp_path):
    """A figure in layers whose frames have several shapes: saved elsewhere, it moves as before."""
    saved = tmp_path / "saved.html"
    with opened(browser, page_file) as page:
        slider, seen = figure(page).locator("input").last, [state(page)]  # beyond 1, another shape
        for key in ("Home", "End"):
            slider.press(key)
            seen.append(state(page))
        page.evaluate(AS_SAVED)
        saved.write_text(page.content(), encoding="utf-8")
    with opened(browser, saved) as page:
        slider, again = figure(page).locator("input").last, [state(page)]
        for key in ("Home", "End"):
            slider.press(key)
            again.append(state(page))
        figure(page).get_by_role("button", name="Reset").click()
        assert again == seen and state(page) == seen[0]


def test_copy_link_says_what_happened(browser, page_file):
    with opened(browser, page_file) as page:
        one = figure(page)
        one.locator("[data-handle='nu']").press("End")
        button, said = one.get_by_role("button", name="Copy link"), one.locator("[role=status]")
        assert said.inner_text() == ""
        page.evaluate(
            "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }"
        )
        button.click()
        page.wait_for_function("document.querySelector('#fig-one .lt-said').textContent")
        assert said.inner_text() == "Link copied."
        link = page_file.as_uri() + "#fig-one&nu=10&xi=0.5&kind=plain"
        assert page.evaluate("window.copied") == link
        page.evaluate(
            """() => { navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
                       document.execCommand = () => false; }"""
        )
        button.click()
        page.wait_for_function(
            "document.querySelector('#fig-one .lt-said').textContent.includes('nu=10')"
        )
        assert "does not let me copy" in said.inner_text()
        assert button.evaluate("b => b === document.activeElement")


def test_assistive_technology_finds_the_handles(browser, page_file):
    with opened(browser, page_file) as page:
        assert page.get_by_role("slider", name="position of ξ and bandwidth ν").count() == 2
        # a slider below the picture, and one in it
        assert figure(page).get_by_role("slider", name="bandwidth ν", exact=True).count() == 2
        assert figure(page).get_by_role("group", name=ALT).count() == 1
        assert not axe_violations(page)
        handle = figure(page).locator("[data-handle='nu']")
        figure(page).locator("[data-handle='xi nu']").focus()
        page.keyboard.press("Tab")
        assert handle.evaluate("e => e === document.activeElement")
        ring = "e => [getComputedStyle(e).stroke, getComputedStyle(e).strokeWidth]"
        assert handle.evaluate(ring)[1] == "2px" and handle.evaluate(ring)[0] != "none"
        page.emulate_media(forced_colors="active")
        assert handle.evaluate(ring)[1] == "3px"
        page.emulate_media(media="print", forced_colors="none")
        assert not handle.is_visible()
    with opened(browser, page_file, java_script_enabled=False) as page:
        assert page.locator("[data-handle]:visible").count() == 0  # nothing dead
        assert page.locator("svg").first.is_visible()


def test_the_script_shows_what_python_stored(browser, page_file):
    """Every combination of stops of a figure in layers, as frames.decode has it."""
    table = FrameTable(pad, (6.4, 3.6), CONTROLS, "p")
    data, picture = table.data(), table.page(ALT)
    sizes = {k: len(control.values) for k, control in enumerate(CONTROLS.values())}
    with opened(browser, page_file) as page:
        found = figure(page).evaluate(
            """f => {
                const [nu, xi, kind] = f.querySelectorAll("input, select"), all = [];
                for (kind.selectedIndex = 0; kind.selectedIndex >= 0; kind.selectedIndex++)
                for (let b = 0; b <= +xi.max; b++) for (let a = 0; a <= +nu.max; a++) {
                    nu.value = a; xi.value = b;
                    nu.dispatchEvent(new Event("input", {bubbles: true}));
                    all.push([f.querySelector(".lt-sentence").textContent,
                              ...[...f.querySelectorAll("svg > g:not(.lt-marks)")].map((layer) => layer.outerHTML)]);
                }
                return all;
            }"""
        )
    combinations = itertools.product(range(2), range(9), range(7))
    said = [sentence for sentence, *_ in found]
    assert said == data["sentences"] and len(set(said)) == len(said)
    for (_, *layers), (kind, xi, nu) in zip(found, combinations, strict=True):
        for layer, stored, shown in zip(picture, data["layers"], layers, strict=True):
            drawn = frames.decode(layer, stored, {0: nu, 1: xi, 2: kind}, sizes)
            assert places_in(svg.markup(drawn)) == places_in(shown)


def places_in(markup):
    """What a browser does not write otherwise than Python does: numbers, colours, words."""
    return re.findall(r' (?:d|cx|cy|x|y|transform|style)="([^"]*)"|>([^<]+)<', markup)


def shown(page, *stops):
    """Each layer with the sliders set to these places, between stops too."""
    return figure(page).evaluate(
        """(f, stops) => {
            const sliders = f.querySelectorAll("input");
            sliders.forEach((slider, k) => { slider.step = "any"; slider.value = stops[k]; });
            sliders[0].dispatchEvent(new Event("input", {bubbles: true}));
            if (stops.every(Number.isInteger)) sliders.forEach((slider) => { slider.step = 1; });
            return [...f.querySelectorAll("svg > g:not(.lt-marks)")].map((layer) => layer.outerHTML);
        }""",
        stops,
    )


def numbers_in(layers):
    found = re.findall(r' (?:d|cx|cy|x|y)="([^"]*)"', "".join(layers))
    return np.array([float(n) for text in found for n in re.findall(r"-?[\d.]+", text)])


def test_between_stops_is_the_mean_and_a_jump_is_at_the_middle(browser, page_file):
    with opened(browser, page_file) as page:
        for k, part in itertools.product((0, 3, 5), (0.25, 0.5, 0.9)):
            one, two, here = (numbers_in(shown(page, k + t, 4)) for t in (0, 1, part))
            assert np.abs((1 - part) * one + part * two - here).max() < 0.02
            assert np.abs(one - two).max() > 5
        corners = [numbers_in(shown(page, a, b)) for b in (2, 3) for a in (1, 2)]
        weights = [0.75 * 0.6, 0.25 * 0.6, 0.75 * 0.4, 0.25 * 0.4]
        assert np.abs(np.dot(weights, corners) - numbers_in(shown(page, 1.25, 2.4))).max() < 0.02
        below, above = (shown(page, 3, stop)[2] for stop in (6, 7))  # beyond ξ = 1 a mark more
        assert shown(page, 3, 6.49)[2] == below != above == shown(page, 3, 6.5)[2]
        assert figure(page).locator("output").all_inner_texts() == ["1.00", "1.50"]
        assert "ν = 1.00, ξ = 1.50" in figure(page).locator(".lt-sentence").inner_text()


CENTRES = """(h) => [h, h.closest("svg").querySelector(".lt-marks").children[
    [...h.parentNode.children].indexOf(h)].querySelector("circle")].map((e) => {
    const r = e.getBoundingClientRect();
    return [r.x + r.width / 2, r.y + r.height / 2];
})"""


def test_what_is_dragged_stays_under_the_pointer_and_settles(browser, page_file):
    """Its mark as well; picture, words and address are then those of a stop."""
    with opened(browser, page_file, reduced_motion="no-preference") as page:
        page.evaluate("localStorage.setItem('limetutor.dragged', 'yes')")
        page.reload()
        other, beside = state(page, "two"), np.array((5, -4))  # taken hold of beside its middle
        ways = {
            "xi nu": (60, -60),
            "nu": (-110, 99),
        }  # this one across, however high the pointer is
        for name, way in ways.items():
            handle = figure(page).locator(f"[data-handle='{name}']")
            start = np.array(grab(page, handle))
            page.mouse.move(*(start + beside))
            page.mouse.down()
            for t in np.linspace(0.05, 1, 20):
                page.mouse.move(*(start + beside + t * np.array(way)))
                for centre in handle.evaluate(CENTRES):
                    away = np.abs(centre - start - t * np.array(way))[: name.count(" ") + 1]
                    assert away.max() < 0.3
            rough = [float(e.input_value()) for e in figure(page).locator("input").all()]
            assert any(value % 1 for value in rough)
            page.mouse.up()
            page.wait_for_function("document.querySelector('#fig-one input').step === '1'")
            assert at(page) == [round(value) for value in rough]
            settled = state(page)
            page.reload()  # the address is of the very stop
            assert state(page) == settled and state(page, "two") == other
        slider = figure(page).locator("input").nth(1)
        box = slider.bounding_box()
        page.mouse.click(box["x"] + 0.33 * box["width"], box["y"] + box["height"] / 2)
        page.wait_for_function("document.querySelectorAll('#fig-one input')[1].step === '1'")
        assert at(page)[1] == 3 and "xi=-0.5" in page.evaluate("location.hash")


def test_the_first_handle_ever_seen_moves_once_by_itself(browser, page_file):
    watch = """() => { window.seen = new Set(); const [h] = document.querySelectorAll("[data-handle]");
        new MutationObserver(() => seen.add(h.getAttribute("cx"))).observe(h, {attributes: true}); }"""
    with opened(browser, page_file) as page:  # nothing moves by itself here
        page.evaluate(watch)
        page.wait_for_timeout(2500)
        assert page.evaluate("seen.size") <= 1
        start, cx = state(page), page.locator("[data-handle]").first.get_attribute("cx")
    with opened(browser, page_file, reduced_motion="no-preference") as page:
        page.evaluate(watch)
        page.wait_for_function("seen.size > 1")  # there, and back
        back = f"document.querySelector('[data-handle]').getAttribute('cx') === '{cx}'"
        page.wait_for_function(f"{back} && document.querySelector('.lt-first')", polling=500)
        page.reload()
        page.evaluate(watch)
        page.wait_for_timeout(2500)
        assert page.evaluate("seen.size") <= 1 and state(page) == start
