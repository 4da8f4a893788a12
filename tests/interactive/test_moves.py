"""Which gestures move a figure, which do not, and how far: both sides of each edge."""

import pytest
from browser import running_browser
from pads import ALT, CONTROLS, pad, panels

from limetutor.interactive import explorer
from limetutor.interactive.controls import Slider
from limetutor.interactive.layers import in_layers
from limetutor.plotting.handles import handle
from limetutor.plotting.style import color

pytestmark = pytest.mark.browser

START = [12, 5]
NU = Slider(0.1, 10, 1.0, stops=25, log=True, label="bandwidth ν")


def one_dot(axes, nu):
    (dot,) = axes[1].plot(nu, 1.0, "o", color=color.truth)
    handle(dot, "nu")


@in_layers(panels, one_dot)
def line(nu):
    """A dot that runs along a line."""
    return f"The dot is at ν = {nu:.2f}."


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A dot on a map and one that runs along a line of 25 stops; in another figure that alone."""
    shown = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIMETUTOR_MODE", "static")
        patch.setattr(explorer, "_display", lambda text, **kw: shown.append(kw["html"]))
        explorer.explore(pad, alt=ALT, **CONTROLS | {"nu": NU})
        explorer.explore(line, alt="One dot.", nu=NU)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><style>{explorer.page_css()}</style>"
        f"<figure id=fig-one>{shown[0]}</figure><figure id=fig-two>{shown[1]}</figure>"
        f"<script>{explorer.page_js()}</script>", "utf-8",
    )  # fmt: skip
    with running_browser() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        tab.goto(path.as_uri())
        yield tab


def at(page, figure="one"):
    sliders = page.locator(f"#fig-{figure} input").all()
    return [int(slider.input_value()) for slider in sliders]


def middle(page, name, figure="one"):
    box = page.locator(f"#fig-{figure} [data-handle='{name}']").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def reset(page):
    page.locator("#fig-one .lt-reset").click()
    assert at(page) == START


def test_a_page_key_moves_by_a_tenth_and_keys_of_the_browser_do_not_move(page):
    """Three of 25 stops; with Alt, Control or Meta a key is not the figure's."""
    dot = page.locator("#fig-one [data-handle='nu']")
    for key, stop in (("PageUp", 15), ("PageUp", 18), ("PageDown", 15), ("ArrowDown", 14)):
        dot.press(key)
        assert at(page) == [stop, START[1]]
    for other in ("Alt+ArrowUp", "Control+ArrowUp", "Meta+ArrowUp"):
        dot.press(other)
        assert at(page) == [14, START[1]], other
    reset(page)


def test_a_reset_is_an_entry_and_the_right_button_drags_nothing(page):
    page.locator("#fig-one [data-handle='nu']").press("End")
    page.keyboard.press("Tab")
    entries = page.evaluate("history.length")
    reset(page)
    assert page.evaluate("history.length") == entries + 1
    page.mouse.move(*middle(page, "xi nu"))
    page.mouse.down(button="right")
    page.mouse.move(200, 200, steps=3)
    page.mouse.up(button="right")
    page.mouse.move(250, 150)
    assert at(page) == START
    page.keyboard.press("Escape")


def test_a_tap_counts_up_to_eight_units_beside_the_map(page):
    dot = page.locator("#fig-one [data-handle='xi nu']")
    ends = []
    for rows, across in (("ArrowUp", "End"), ("ArrowDown", "Home")):
        for _ in range(25):
            dot.press(rows)
        dot.press(across)
        ends.append(middle(page, "xi nu"))
    (right, top), (left, bottom) = ends
    unit = page.locator("#fig-one svg").evaluate(
        "s => s.getBoundingClientRect().width / s.viewBox.baseVal.width"
    )
    x, y = (left + right) / 2, (top + bottom) / 2
    for away, counts in ((6 * unit, True), (10 * unit, False)):
        for place in ((left - away, y), (right + away, y), (x, top - away), (x, bottom + away)):
            reset(page)
            page.mouse.click(*place)
            assert (at(page) != START) is counts, (away, place)
    reset(page)


@pytest.mark.parametrize("stops", [[25, 5, 0], [12, -1, 0], [12, 5, 2], [12, 5], "12", None])
def test_stops_that_an_older_page_left_behind_are_not_taken(page, stops):
    page.evaluate("s => history.replaceState({limetutor: {'fig-one': s}}, '')", stops)
    page.reload()
    assert (
        at(page) == START and page.locator("#fig-one select").evaluate("s => s.selectedIndex") == 0
    )
    page.evaluate("() => history.replaceState({limetutor: {'fig-one': [24, 0, 1]}}, '')")
    page.reload()
    assert at(page) == [24, 0]
    reset(page)


def test_a_tap_moves_no_dot_that_runs_along_a_line(page):
    page.locator("#fig-two svg").scroll_into_view_if_needed()
    x, y = middle(page, "nu", "two")
    page.mouse.click(x - 100, y)
    assert at(page, "two") == START[:1]
    page.locator("#fig-two [data-handle='nu']").press("Home")
    assert at(page, "two") == [0]
