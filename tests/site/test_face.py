"""What the book's face promises: its own fonts, one shape for a letter, lines that can be read, code on demand."""

import re

import fonts
import formulas
import pytest
from fontTools.ttLib import TTFont
from site_visits import LAPTOP, PHONE, SITE, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

LOADED = """Promise.all([...document.fonts].filter((face) => /Lime/.test(face.family))
    .map((face) => face.load())).then((all) => all.map((face) => face.family.replaceAll('"', "")))"""
# Letters in a line of the paragraphs that fill at least three; the last is hardly ever full.
MEASURE = """() => [...document.querySelectorAll("article section > p:not(:has(math))")]
    .map((p) => [p.innerText.length, p.clientHeight / parseFloat(getComputedStyle(p).lineHeight)])
    .filter(([, lines]) => lines > 2.5).map(([length, lines]) => length / (Math.round(lines) - 0.5))"""
SIZES = """() => [...document.querySelectorAll("article p > span.math > math")]
    .map((math) => [math, math.closest("p")].map((e) => getComputedStyle(e).fontSize))"""
FOLDS = "[...document.querySelectorAll('details.hide, details.lt-python')].map((fold) => fold.open)"
CHAPTERS = [SITE / "book" / f"{name}.html" for name in ("theorem", "weights")]


def test_fonts_come_with_the_site_and_with_their_licences(pages, browser, served):
    with visit(browser, served) as visitor:  # which notes every request to another host
        families = visitor.open(CHAPTERS[0], served).evaluate(LOADED)
    assert {"Lime Text", "Lime Sans", "Lime Code", "Lime Greek", "Lime Math"} <= set(families)
    sizes = {path.name: path.stat().st_size for path in (SITE / "_static").glob("*.woff2")}
    assert 60_000 < sum(sizes.values()) - sizes["math.woff2"] < 110_000
    for folder in (fonts.OF_PAGES, fonts.OF_FIGURES, formulas.ASSETS):
        assert len([*folder.glob("LICENSE*")]) == 2
    for path in pages:
        static = re.search(r'of \["([^"]+)/text-italic\.woff2"', path.read_text("utf-8"))
        assert all((path.parent / static[1] / name).exists() for name in sizes), path


def test_a_letter_has_one_shape_in_text_formula_and_figure():
    math, greek = TTFont(formulas.FONT), TTFont(fonts.OF_FIGURES / "greek.ttf")
    text = TTFont(fonts.OF_PAGES / "text-regular.woff2")
    for letter, code in {"ξ": 0x1D709, "ν": 0x1D708, "β": 0x1D6FD, "Σ": ord("Σ")}.items():
        here, there = greek.getBestCmap()[ord(letter)], math.getBestCmap()[code]
        assert greek["hmtx"][here][0] == math["hmtx"][there][0], letter
        assert ord(letter) not in text.getBestCmap()  # or the text would have a shape of its own
    assert math["OS/2"].sxHeight == text["OS/2"].sxHeight
    assert math["OS/2"].sCapHeight == pytest.approx(text["OS/2"].sCapHeight, rel=0.02)


@pytest.mark.parametrize(("screen", "least", "most"), [(LAPTOP, 60, 76), (PHONE, 34, 52)])
def test_lines_can_be_read_and_formulas_have_the_size_of_text(browser, served, screen, least, most):
    with visit(browser, served, **screen) as visitor:
        for tab in (visitor.open(path, served) for path in CHAPTERS):
            lengths, sizes = sorted(tab.evaluate(MEASURE)), tab.evaluate(SIZES)
            assert least < lengths[len(lengths) // 2] < most
            assert sizes and all(formula == text for formula, text in sizes)


def test_one_switch_opens_all_code_and_is_remembered(browser, served):
    with visit(browser, served) as visitor:
        tab = visitor.open(CHAPTERS[0], served)
        assert not any(tab.evaluate(FOLDS))
        tab.press(".lt-code-switch", "Enter")
        assert all(tab.evaluate(FOLDS))
        assert all(visitor.open(CHAPTERS[1], served).evaluate(FOLDS))
        tab.click(".lt-code-switch[aria-pressed=true]")
        assert not any(visitor.open(CHAPTERS[0], served).evaluate(FOLDS))
    with visit(browser, served, java_script_enabled=False) as visitor:
        visitor.open(CHAPTERS[0], served).locator("details.hide > summary").first.click()
        assert visitor.tab.locator("details.hide pre").first.is_visible()
