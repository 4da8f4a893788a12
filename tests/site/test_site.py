"""The built site in a real browser, with every request to another host refused.

The tests find pages, figures and controls themselves: a new chapter is covered without being named.
"""

import gzip
from collections.abc import Iterator

import pytest
import release
from browser import AXE
from playwright.sync_api import ElementHandle, Page
from site_visits import JS, LAPTOP, PHONE, SITE, moves, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

# Nine tenths of axe's time go into the rules that compare colours; FAINT asks the same question in a
# fiftieth of it.
WITHOUT_CONTRAST = {"color-contrast": {"enabled": False}, "link-in-text-block": {"enabled": False}}
LARGEST_PAGE = 500_000  # bytes, gzipped
FEWEST_STOPS = 30  # of a figure's first slider, so that it feels continuous
FORMULAS_READY = "document.fonts.ready.then(() => null)"
SMALLEST_TEXT = 12  # px, in a figure on a phone


# Loading a page and its formulas takes longer than most questions: each page is opened once on a phone,
# from a server, and once on a laptop, from disk.


@pytest.mark.verify
def test_on_a_phone_every_page_fits_and_every_control_moves_its_picture(
    pages, browser, served, verifying
):
    """All controls on every third page, on the others the first of each figure; all in ``make verify``.

    That a control moves its picture and its sentence is seen to when a figure is drawn.
    """
    controls = explained = 0
    with visit(browser, served, **PHONE) as visitor:
        for page_number, path in enumerate(pages):
            tab = visitor.open(path, served)
            visitor.note_all(moves(tab))
            visitor.note_all(unrendered_formulas(tab))
            for width in (320, 390):
                tab.set_viewport_size({"width": width, "height": 844})
                tab.evaluate(NEXT_FRAME)
                visitor.note_all(does_not_fit(tab, width))
            for dead in dead_controls(tab, 100 if verifying or page_number % 3 == 2 else 1):
                controls += 1
                visitor.note_all(filter(None, [dead]))
            visitor.note_all(cut_off(tab, ".cell_input pre"))
            explained += tab.locator("a.lt-term").count()
    assert controls, "no page has a control"
    assert explained > len(pages), "hardly a word is explained"


@pytest.mark.verify
def test_on_a_laptop_every_page_works_from_disk_and_axe_finds_nothing(pages, browser, verifying):
    """All rules of axe but contrast on every second page; contrast, as axe has it, on a few.

    FAINT looks for contrast on all pages. ``make verify`` leaves nothing out.
    """
    base, controls = SITE.as_uri() + "/", 0
    with visit(browser, base, **LAPTOP) as visitor:
        for number, path in enumerate(pages):
            tab = visitor.open(path, base)
            visitor.note_all(moves(tab))
            visitor.note_all(unrendered_formulas(tab))
            assert tab.evaluate("document.documentElement.dataset.theme") == "light"
            visitor.note_all(faint(tab))
            if verifying or number % 2 == 1:
                visitor.note_all(barriers(tab, contrast=verifying or number % 24 == 1))
            if verifying or number % 4 == 1:  # the script is the same as on a phone
                for dead in dead_controls(tab, most=1):
                    controls += 1
                    visitor.note_all(filter(None, [dead]))
            visitor.note_all(cut_off(tab, "article .cell_input pre, article .cell_output pre"))
            visitor.note_all(
                f"wider than a laptop: {tex}" for tex in tab.evaluate(JS.WIDE_FORMULAS)
            )
    assert controls, "no page has a control"


@pytest.mark.verify
def test_axe_finds_nothing_in_the_dark(pages, browser, served, verifying):
    """What its rules look at does not depend on the theme, but for contrast: on a few pages."""
    with visit(browser, served, color_scheme="dark") as visitor:
        for path in pages if verifying else pages[4::13]:
            tab = visitor.open(path, served)
            tab.evaluate(FORMULAS_READY)
            assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
            visitor.note_all(faint(tab))
            visitor.note_all(barriers(tab, contrast=True))


def faint(tab: Page) -> Iterator[str]:
    """Words that hardly differ from what is behind them."""
    yield from (f"faint: {words}" for words in tab.evaluate(JS.FAINT, False))


def barriers(tab: Page, contrast: bool) -> Iterator[str]:
    """What keeps somebody from reading a page."""
    tab.evaluate(AXE)
    for violation in tab.evaluate(JS.AXE_RUN, {} if contrast else WITHOUT_CONTRAST):
        nodes = "; ".join(node["html"][:120] for node in violation["nodes"][:3])
        yield f"{violation['id']}: {violation['help']} ({nodes})"


def cut_off(tab: Page, blocks: str) -> Iterator[str]:
    """Lines of code that a page cuts off, and words of the glossary that it does not explain."""
    yield from (f"cut off: {line}" for line in tab.evaluate(JS.CUT_OFF, blocks))
    yield from (f"not explained: {word}" for word in tab.evaluate(JS.UNEXPLAINED))


def unrendered_formulas(tab: Page) -> list[str]:
    return tab.evaluate(JS.UNRENDERED)


# Figures are found once a page and kept: to find them again takes longer than to ask them.
STATES = """(figures) => figures.map((figure) =>
    [figure.querySelector("svg").innerHTML, figure.querySelector(".lt-sentence").textContent])"""


def states(tab: Page, figures: list[ElementHandle]) -> list[tuple[str, str]]:
    """The picture and the sentence of each figure."""
    return [tuple(found) for found in tab.evaluate(STATES, figures)]


def figures_of(tab: Page) -> Iterator[tuple[ElementHandle, list[ElementHandle]]]:
    """Every figure with controls, and the others of its page."""
    figures = tab.query_selector_all(".lt-explore")
    for figure in figures:
        yield figure, [other for other in figures if other is not figure]


def dead_controls(tab: Page, most: int) -> Iterator[str | None]:
    """What does not answer among the first controls of each figure; nothing for one that does."""
    for figure, others in figures_of(tab):
        for number, control in enumerate(figure.query_selector_all("input, select")[:most]):
            yield "; ".join(dead_control(tab, figure, others, control, number)) or None


def dead_control(
    tab: Page,
    figure: ElementHandle,
    others: list[ElementHandle],
    control: ElementHandle,
    number: int,
) -> Iterator[str]:
    """Move one control by keyboard to both its ends; say what does not answer."""
    name, slider, stops = control.evaluate(
        "c => [c.labels[0]?.textContent, c.type === 'range', +c.max + 1]"
    )
    if not name:
        yield f"control {number} has no label"
    default, *elsewhere = states(tab, [figure, *others])
    control.focus()
    ends = []
    if slider:
        for key in ("Home", "End"):
            control.press(key)
            ends.append((*states(tab, [figure])[0], control.get_attribute("aria-valuetext")))
        first, last = (end[2] for end in ends)
        counted = first.isdigit() and int(last) - int(first) + 1 == stops  # runs, boxes: all
        if number == 0 and stops < FEWEST_STOPS and not counted:
            yield f"{name}: fewer than {FEWEST_STOPS} stops"
        if control.evaluate("c => c.nextElementSibling.value") != ends[-1][2]:
            yield f"{name}: the value shown is not the value told"
    else:
        for key in ("ArrowUp", "ArrowDown"):
            for _ in control.query_selector_all("option"):
                control.press(key)
            ends.append((*states(tab, [figure])[0], control.input_value()))
    for what, first, last in zip(("picture", "sentence", "value"), *ends, strict=True):
        if first == last:
            yield f"{name}: its two ends have the same {what}"
    if states(tab, others) != elsewhere:
        yield f"{name}: disturbs another figure"
    reset = figure.query_selector("button.lt-reset")
    reset.press("Enter") if number else reset.click()
    if states(tab, [figure]) != [default]:
        yield f"{name}: Reset does not bring the default back"


@pytest.mark.verify
def test_without_javascript_the_default_is_there_and_described(pages, browser, served, verifying):
    """``make test`` opens every second page."""
    with visit(browser, served, java_script_enabled=False) as visitor:
        for path in pages[:: 1 if verifying else 2]:
            visitor.note_all(visitor.open(path, served).evaluate(JS.AT_REST))


NEXT_FRAME = (
    "new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go(null))))"
)


@pytest.mark.verify
def test_a_dark_page_can_be_read_and_is_printed_light(pages, browser, served, verifying):
    """Letters dark on white, in text, code, tables and figures; on screen it is dark again.

    ``make test`` prints every third page.
    """
    with visit(browser, served, color_scheme="dark") as visitor:
        for number, path in enumerate(pages):
            tab = visitor.open(path, served)
            root, body = tab.locator("html"), tab.locator("body")
            assert root.get_attribute("data-theme") == "dark"
            dark = body.evaluate("e => getComputedStyle(e).backgroundColor")
            visitor.note_all(faint(tab))
            if not verifying and number % 3 != 1:
                continue
            tab.emulate_media(media="print", color_scheme="dark")
            tab.evaluate(NEXT_FRAME)
            for words in tab.evaluate(JS.FAINT, True):
                visitor.note(f"cannot be read on paper: {words}")
            pictures = tab.locator(".lt-explore svg")
            if tab.locator(".lt-controls:visible").count():
                visitor.note("controls are printed")
            if pictures.count() > tab.locator(".lt-explore svg:visible").count():
                visitor.note("a picture is not printed")
            tab.emulate_media(media="screen", color_scheme="dark")
            tab.evaluate(NEXT_FRAME)
            assert root.get_attribute("data-theme") == "dark"
            assert body.evaluate("e => getComputedStyle(e).backgroundColor") == dark


def does_not_fit(tab: Page, width: int) -> Iterator[str]:
    wide = tab.evaluate("document.documentElement.scrollWidth")
    if wide > width + 1:
        yield f"scrolls sideways at {width} px: {wide} px, because of {tab.evaluate(JS.WIDEST)}"
    yield from (f"a label reaches beyond its picture: {text}" for text in tab.evaluate(JS.BEYOND))
    yield from (f"letters over letters at {width} px: {both}" for both in tab.evaluate(JS.OVER))
    smallest = tab.evaluate(
        """() => Math.min(...[...document.querySelectorAll('.lt-svg text')].map(t =>
            parseFloat(getComputedStyle(t).fontSize) * t.ownerSVGElement.clientWidth
            / t.ownerSVGElement.viewBox.baseVal.width), 99)"""
    )
    if smallest < SMALLEST_TEXT * min(1, width / 390):
        yield f"a figure has text of {smallest:.1f} px at {width} px"


def test_no_page_is_heavy(pages):
    heavy = {
        path.name: size
        for path in pages
        if (size := len(gzip.compress(path.read_bytes()))) > LARGEST_PAGE
    }
    assert not heavy


def test_internal_links_lead_somewhere(pages):
    broken = list(release.dead_links(SITE))
    assert not broken, "\n".join(broken)
