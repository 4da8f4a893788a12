"""What helps a reader of the built pages: words that are explained where they are met."""

import pytest
from site_visits import LAPTOP, PHONE, visit

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.site]

SHOWN = ".lt-note:not([hidden])"


def a_page_with_terms(pages):
    return next(path for path in pages if 'class="lt-term"' in path.read_text(encoding="utf-8"))


def test_a_word_is_explained_by_pointer_and_by_keyboard(pages, browser, served):
    with visit(browser, served, **LAPTOP) as visitor:
        tab = visitor.open(a_page_with_terms(pages), served)
        term, note = tab.locator("a.lt-term").first, tab.locator(SHOWN)
        term.hover()
        assert note.count() == 1
        note.hover()  # it stays while it is read
        tab.wait_for_timeout(300)
        assert note.count() == 1
        tab.keyboard.press("Escape")
        assert note.count() == 0
        tab.mouse.move(5, 5)
        term.focus()
        assert note.count() == 1
        described = term.evaluate(
            "t => document.getElementById(t.getAttribute('aria-describedby')).textContent"
        )
        assert note.inner_text() == described
        term.blur()
        assert note.count() == 0
        term.press("Enter")  # the link itself leads to the glossary
        tab.wait_for_url("**/glossary.html#term-*")
        assert tab.evaluate("document.querySelector(':target') !== null")


def test_a_tap_explains_and_a_second_one_follows_the_link(pages, browser, served):
    with visit(browser, served, **PHONE) as visitor:
        tab = visitor.open(a_page_with_terms(pages), served)
        term, note = tab.locator("a.lt-term").first, tab.locator(SHOWN)
        here = tab.url
        term.tap()
        assert note.count() == 1 and tab.url == here
        box = note.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390
        tab.locator("article h1").first.tap()
        assert note.count() == 0
        term.tap()
        term.tap()
        tab.wait_for_url("**/glossary.html#term-*")


def test_without_javascript_a_word_leads_to_the_glossary(pages, browser, served):
    with visit(browser, served, java_script_enabled=False, **LAPTOP) as visitor:
        tab = visitor.open(a_page_with_terms(pages), served)
        assert tab.locator(SHOWN).count() == 0
        tab.locator("a.lt-term").first.click()
        assert "glossary.html#term-" in tab.url


def test_appendices_have_letters(pages):
    """What is in an appendix has its letter, and nothing in a chapter has one."""
    for path in pages:
        if path.stem == "gaussian_integrals":
            text = path.read_text(encoding="utf-8")
            letter = text.partition('<h1><span class="section-number">')[2][:1]
            assert letter.isalpha()
            for kind in ("Fig.", "Exercise", "Lemma"):
                assert f"{kind} {letter}.1" in text.replace("\xa0", " ")


def test_words_in_an_address_stop_neither_a_page_nor_the_search(pages, browser, served):
    letters = "etaoinshrdlu"
    words = "+".join(one + other for one in letters for other in letters)
    with visit(browser, served) as visitor:
        tab = visitor.tab
        tab.goto(f"{served}book/theorem.html?highlight={words}")
        tab.wait_for_selector(".highlighted", state="attached")
        marked = tab.locator(".highlighted").all_text_contents()
        assert 1 < len({mark.lower() for mark in marked} - {""}) <= 10
        tab.goto(f"{served}search.html?q=constructor+toString+lime")
        tab.wait_for_function(
            "/finished|not match/.test(document.querySelector('.search-summary')?.innerText)"
        )
