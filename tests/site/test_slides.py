"""The slides and the handout in a browser: they move, they can be read from the back, they print."""

import re
from pathlib import Path

import pytest
import slides
import yaml
from browser import ROOT
from site_visits import JS, SITE, visit

pytestmark = [pytest.mark.site, pytest.mark.browser]
DECKS = [deck.name for deck in slides.decks()]
SIZE = {"width": 1280, "height": 720}


def page_count(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b(?!s)", pdf))


@pytest.mark.parametrize("deck", DECKS)
def test_every_slide_can_be_read_from_the_back_of_a_room(pages, browser, served, deck):
    with visit(browser, served, viewport=SIZE) as visitor:
        tab = visitor.open(SITE / "slides" / f"{deck}.html", served)
        tab.wait_for_function("Reveal.isReady()")
        count = tab.evaluate("Reveal.getTotalSlides()")
        assert 12 <= count <= 15
        for number in range(count):
            tab.evaluate(f"Reveal.slide({number})")
            for end in (None, 0, 1):
                if end is not None:
                    tab.evaluate(JS.ENDS, end)
                for problem in tab.evaluate(JS.AMISS):
                    visitor.note(f"slide {number + 1}: {problem}")


VOTES = yaml.safe_load((Path(__file__).parent / "support" / "votes.yml").read_text("utf-8"))


@pytest.mark.parametrize("deck", DECKS)
def test_no_answer_is_on_the_screen_before_its_vote(pages, browser, served, deck):
    with visit(browser, served, viewport=SIZE) as visitor:
        tab = visitor.open(SITE / "slides" / f"{deck}.html", served)
        tab.wait_for_function("Reveal.isReady()")
        screens, asked = "", set()
        for number, slide in enumerate(slides.read(slides.SOURCES / f"{deck}.md").slides):
            tab.evaluate(f"Reveal.slide({number})")
            screens += tab.locator("section.present").inner_text() + "\n"
            title, *body = re.sub(r'(?ms)^```figure\n.*?^```$|"[^"]*"', "", slide.markdown).split(
                "\n"
            )
            if "?" in "\n".join(body):
                pattern = VOTES[title.strip("# ")]
                assert re.search(pattern, slide.note), title
                assert not (early := re.search(pattern, screens)), f"{title}: {early[0]}"
                asked.add(title)
        assert len(asked) >= 6


@pytest.mark.parametrize("deck", DECKS)
def test_keys_move_controls_and_turn_slides(pages, browser, served, deck):
    with visit(browser, served, viewport=SIZE) as visitor:
        tab = visitor.open(SITE / "slides" / f"{deck}.html", served)
        tab.wait_for_function("Reveal.isReady()")
        figures = tab.locator("section:has(.lt-explore)").count()
        assert figures >= 4
        moved = 0
        for number in range(tab.evaluate("Reveal.getTotalSlides()")):
            slide = tab.locator("section.present")
            if slide.locator(".lt-explore").count():
                picture, sentence = slide.locator("svg"), slide.locator(".lt-sentence")
                before = picture.inner_html(), sentence.inner_text()
                slider = slide.locator("input[type=range]").first
                slider.focus()
                tab.keyboard.press("Home")
                if slider.input_value() == slider.get_attribute("data-default"):
                    tab.keyboard.press("End")
                assert (picture.inner_html(), sentence.inner_text()) != before
                assert tab.evaluate("Reveal.getIndices().h") == number, "the key was the slider's"
                tab.keyboard.press("Escape")
                moved += 1
            tab.keyboard.press("ArrowRight")
        assert moved == figures
        assert tab.evaluate("Reveal.isLastSlide()")


def test_a_finger_turns_slides_and_on_a_slider_moves_the_slider(pages, browser, served):
    with visit(browser, served, viewport=SIZE, has_touch=True) as visitor:
        tab = visitor.open(SITE / "slides" / "hour.html", served)
        tab.wait_for_function("Reveal.isReady()")
        fingers = tab.context.new_cdp_session(tab)

        def swipe(start: float, end: float, y: float) -> None:
            way = {"touchStart": [start], "touchMove": [(start + end) / 2, end], "touchEnd": [None]}
            for kind, x in [(kind, x) for kind, stops in way.items() for x in stops]:
                points = [] if x is None else [{"x": x, "y": y}]
                fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        swipe(900, 300, 500)
        tab.wait_for_function("Reveal.getIndices().h === 1")
        slider = tab.locator("section.present input[type=range]")
        place, value = slider.bounding_box(), slider.input_value()
        right, middle = place["x"] + place["width"] - 4, place["x"] + place["width"] / 2
        swipe(right, middle, place["y"] + place["height"] / 2)  # beside it: to the next slide
        assert slider.input_value() != value
        assert tab.evaluate("Reveal.getIndices().h") == 1


@pytest.mark.parametrize("origin", ["server", "disk"])
def test_the_speaker_sees_the_notes(pages, browser, served, origin):
    call = """<script>parent.postMessage('{"method":"slide","args":[3]}', "*")</script>"""
    stranger = "document.createElement('iframe'), {sandbox: 'allow-scripts', srcdoc}"
    base = served if origin == "server" else SITE.as_uri() + "/"
    with visit(browser, base, viewport=SIZE) as visitor:
        tab = visitor.open(SITE / "slides" / "hour.html", base)
        tab.wait_for_function("Reveal.isReady()")
        tab.evaluate(f"(srcdoc) => document.body.append(Object.assign({stranger}))", call)
        with tab.expect_popup() as opened:
            tab.keyboard.press("s")
        view = opened.value
        view.wait_for_function(
            "document.querySelector('.speaker-controls-notes .value')?.textContent.trim()"
        )
        assert "Full screen is F" in view.inner_text(".speaker-controls-notes .value")
        assert tab.evaluate("Reveal.getIndices().h") == 0  # the stranger has no say
        tab.keyboard.press("ArrowRight")
        view.frames[2].wait_for_function("Reveal.getIndices().h === 2")


def test_neither_an_address_nor_the_window_of_a_stranger_sets_anything(pages, browser, served):
    picture = "parallaxBackgroundImage=http%3A%2F%2F127.0.0.1%3A9%2Fx.png"
    call = """([origin, method, argument]) => dispatchEvent(
        new MessageEvent("message", {origin, data: JSON.stringify({method, args: [argument]})}))"""
    with visit(browser, served, viewport=SIZE) as visitor:
        tab = visitor.tab
        tab.goto(f"{served}slides/hour.html?{picture}&plugins=x#/2")
        tab.wait_for_function("Reveal.isReady()")
        assert tab.evaluate("location.search + location.hash") == "#/2"
        for origin in ("https://example.org", "null"):
            tab.evaluate(call, [origin, "previewIframe", "javascript:parent.document.title = ''"])
            tab.evaluate(call, [origin, "slide", 3])
        assert not tab.query_selector(".r-overlay") and tab.evaluate("Reveal.getIndices().h") == 2
        tab.evaluate(call, [served.rstrip("/"), "slide", 3])  # as the speaker's view does
        assert tab.evaluate("Reveal.getIndices().h") == 3


@pytest.mark.parametrize("deck", DECKS)
def test_a_deck_prints_one_page_a_slide(pages, browser, served, deck):
    with visit(browser, served, viewport=SIZE) as visitor:
        visitor.where = deck
        visitor.tab.goto(f"{served}slides/{deck}.html?print-pdf")
        visitor.tab.wait_for_function("Reveal.isReady()")
        visitor.tab.wait_for_selector(".pdf-page")
        count = len(slides.read(ROOT / "book" / "slides" / f"{deck}.md").slides)
        assert page_count(visitor.tab.pdf(prefer_css_page_size=True)) == count


def test_the_handout_is_two_pages(pages, browser, served):
    built = (SITE / "slides" / "handout.pdf").read_bytes()  # there is a browser, so it was printed
    assert page_count(built) == 2
    with visit(browser, served, viewport={"width": 390, "height": 844}) as visitor:
        tab = visitor.open(SITE / "slides" / "handout.html", served)
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        assert tab.get_attribute(".as-pdf a", "href") == "handout.pdf"
        assert tab.locator(".tick").count() >= 6
        assert page_count(tab.pdf(prefer_css_page_size=True)) == 2
        tab.emulate_media(media="print")
        tab.set_viewport_size({"width": 794, "height": 1123})  # A4
        cut = "[...document.querySelectorAll('.sheet')].map((s) => s.scrollHeight - s.clientHeight)"
        assert max(tab.evaluate(cut)) <= 1, "something is cut off at the foot of a page"


def test_the_page_for_teachers_leads_to_all_of_them(pages):
    text = (SITE / "book" / "teach.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'href="\.\./slides/(\w+)\.html"', text))
    assert linked == {*DECKS, slides.HANDOUT}
    assert all(Path(SITE / "slides" / f"{name}.html").is_file() for name in linked)
