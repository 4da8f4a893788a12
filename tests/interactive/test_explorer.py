"""Controls, frames and the two ways of showing them."""

import gzip
import json
import re
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from cases import cases
from waves import ALT, KIND, NU, refused, wave

from limetutor.interactive import explorer as interactive
from limetutor.interactive.controls import Choice, Slider
from limetutor.interactive.frame_table import clean_sentence
from limetutor.plotting.style import new_figure


@pytest.fixture
def outputs(monkeypatch):
    """What would be displayed, as (text, html, widget)."""
    shown = []

    def keep(text, *, html=None, widget=None):
        shown.append((text, html, widget))

    monkeypatch.setattr(interactive, "_display", keep)
    interactive._seen.clear()
    return shown


@pytest.fixture
def mode(monkeypatch):
    return lambda name: monkeypatch.setenv("LIMETUTOR_MODE", name)


explore = partial(interactive.explore, alt=ALT)


def silent(fig, nu):
    """Say nothing."""


@pytest.mark.parametrize(
    ("kind", "call", "message"),
    cases(Path(__file__).parent / "support" / "odd_figures.txt", globals()),
)
@pytest.mark.parametrize("name", ["live", "static"])
def test_bad_calls_say_what_is_wrong(mode, name, kind, call, message):
    mode(name)
    refused(kind, call, message)


@pytest.mark.parametrize(
    "size", [None, 3, "wide", (6,), (6, 4, 2), (6, -4), (0, 4), (6, float("nan")), (6, 1e9), NU]
)
def test_a_size_that_is_none_is_refused(size):
    message = "size must be width and height in inches"
    refused(ValueError, lambda: explore(wave, size=size, nu=NU), message)


@pytest.mark.parametrize(
    "name", ["a b", "1st", "", "lambda", 'nu"><script>alert(1)</script>', "ν'"]
)
def test_the_name_of_a_control_is_an_identifier(mode, outputs, name):
    mode("static")
    draw = lambda fig, **values: wave(fig, values[name])  # noqa: E731
    refused(ValueError, lambda: explore(draw, **{name: NU}), "must be a Python identifier")
    assert not outputs


def test_ids_are_escaped_all_the_same():
    html = interactive._controls_html({'"><script>': NU, "'&": KIND}, "p")
    assert "<script>" not in html and 'id="p-&quot;&gt;&lt;script&gt;"' in html
    assert 'for="p-&#x27;&amp;"' in html


def test_a_function_that_hides_its_arguments_may_draw(outputs, mode):
    mode("static")

    class Drawing:
        @property
        def __signature__(self):
            raise ValueError

        def __call__(self, fig, nu):
            return wave(fig, nu)

    interactive.explore(Drawing(), alt=ALT, nu=NU)
    assert outputs


def test_an_unknown_mode_is_refused(mode):
    mode("film")
    refused(ValueError, lambda: explore(wave, nu=NU), "must be live or static, not 'film'")


def data_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html)[1])


def test_static_output_is_deterministic_and_small(outputs, mode):
    """The frames and sentences, most of the data, wait until something moves."""
    mode("static")
    many = Slider(0.1, 1.9, 0.53, stops=41)
    for _ in range(2):
        interactive._seen.clear()
        interactive.explore(wave, alt=ALT, nu=many)
    (text, first, _), (_, second, _) = outputs
    assert first == second
    assert text == "<explore: A wave. At ν = 0.53 the sine ends at −0.04.>"
    assert len(gzip.compress(first.encode())) < 60_000
    at_once = json.loads(unescape(re.search(r'data-controls="([^"]*)"', first)[1]))
    assert set(at_once) == {"names", "stops", "texts", "glides"} and at_once["names"] == ["nu"]
    assert len(at_once["stops"][0]) == len(at_once["texts"][0]) == 41
    assert set(data_of(first)) == {"layers", "sentences"}
    (layer,) = data_of(first)["layers"]
    assert len(layer["groups"]) == 1 and layer["which"] == [] and layer["controls"] == [0]


class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    handle_startendtag = handle_starttag


def ids(html):
    return [attributes["id"] for _, attributes in Tags(html).tags if "id" in attributes]


def test_figures_on_one_page_share_no_id(outputs, mode):
    mode("static")
    interactive.explore(wave, alt=ALT, nu=NU)
    interactive.explore(wave, alt=ALT, nu=NU)  # even the same figure twice
    interactive.explore(wave, alt="Another.", nu=NU)
    together = [name for _, html, _ in outputs for name in ids(html)]
    assert len(together) == len(set(together))
    for _, html, _ in outputs:
        references = re.findall(r'(?:url\(|href="|for=")#?([^)"]+)', html)
        assert references and set(references) <= set(ids(html))


def test_static_markup_can_be_read_by_everyone(outputs, mode):
    mode("static")
    interactive.explore(wave, alt='A <b> & "quoted" wave.', nu=NU, kind=KIND)
    html = outputs[0][1]
    tags = Tags(html).tags
    svg = next(a for tag, a in tags if tag == "svg")
    assert svg["role"] == "img" and svg["aria-label"] == 'A <b> & "quoted" wave.'
    assert [a for _, a in tags if a.get("class") == "lt-controls lt-idle"]  # hidden at first
    fields = [a for tag, a in tags if tag in ("input", "select")]
    labels = [a["for"] for tag, a in tags if tag == "label"]
    assert [field["id"] for field in fields] == labels
    assert fields[0]["aria-valuetext"] == "0.53"
    sentence = next(a for _, a in tags if a.get("class") == "lt-sentence")
    assert sentence["aria-live"] == "polite"
    said = [
        clean_sentence(wave(new_figure(), nu, kind)) for nu in NU.values for kind in KIND.values
    ]
    room = next(a["data-longest"] for _, a in tags if a.get("class") == "lt-words")
    assert room in said and len(room) == max(map(len, said))
    assert "http" not in re.sub(r"<script.*?</script>", "", html)


def test_a_sentence_cannot_break_out_of_its_script(outputs, mode):
    mode("static")

    def nasty(fig, nu):
        wave(fig, nu)
        return f"</script><b>{nu}"

    interactive.explore(nasty, alt=ALT, nu=NU)
    html = outputs[0][1]
    assert html.count("</script>") == 1
    assert data_of(html)["sentences"][0] == "</script><b>0.1"


def test_live_controls_stay_at_their_default_on_a_page(outputs, mode):
    mode("static")
    interactive.explore(wave, alt=ALT, nu=NU, kind=Choice(["sine", "cosine"], live=True))
    html = outputs[0][1]
    assert "<select" not in html
    assert len(data_of(html)["sentences"]) == NU.stops
    with pytest.raises(ValueError, match="drop live=True"):
        explore(wave, nu=Slider(0.1, 3, 1, live=True))
    with pytest.raises(ValueError, match="500 combinations of stops are too many for a page"):
        explore(wave, nu=Slider(0.1, 3, 1, stops=250), kind=KIND)
    finest = dict.fromkeys("abc", Slider(0.1, 3, 1, stops=10_000, fmt="{:.6f}"))
    with pytest.raises(ValueError, match="1000000000000 combinations"):  # counted, not listed
        explore(lambda fig, a, b, c: wave(fig, a + b + c), **finest)


def test_show_on_a_page(outputs, mode):
    mode("static")
    fig = new_figure()
    fig.subplots().scatter(*np.random.default_rng(0).normal(size=(2, 3000)), rasterized=True)
    interactive.show(fig, "A cloud.")
    text, html, _ = outputs[0]
    assert text == "<figure: A cloud.>"
    assert 'aria-label="A cloud."' in html and "data:image/png;base64" in html
    assert len(html) < 200_000, "the points were not rasterized"


def test_a_figure_stays_its_callers(mode, outputs):
    """Showing a figure changes neither its resolution nor the window it hangs in."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    for name in ("live", "static"):
        mode(name)
        fig = new_figure((5, 3))
        fig.dpi = 91
        fig.subplots().plot([1, 2])
        canvas = FigureCanvasAgg(fig)
        before = fig.bbox.bounds
        interactive.show(fig, "A line.")
        assert fig.dpi == 91 and fig.canvas is canvas
        assert fig.bbox.bounds == before
        fig.axes[0].scatter([1], [float("nan")], rasterized=True)
        fig.axes[0].set_title("$\\nosuchcommand$")
        with pytest.raises(ValueError):  # not even when drawing it fails
            interactive.show(fig, "A formula that matplotlib cannot read.")
        assert fig.dpi == 91 and fig.canvas is canvas


def test_static_finds_dead_controls_and_errors(mode, outputs):
    mode("static")
    for live in (False, True):
        unused = Slider(0, 1, 0.5, stops=2, fmt="{:.1f}", live=live)
        with pytest.raises(ValueError, match="dead control: 'unused' does not change the picture"):
            explore(lambda fig, nu, unused: wave(fig, nu), nu=NU, unused=unused)

    def mute(fig, nu):
        wave(fig, nu)
        return "A wave."

    with pytest.raises(ValueError, match="dead control: 'nu' does not change the sentence"):
        interactive.explore(mute, alt=ALT, nu=NU)

    def fails_at_the_end(fig, nu, kind):
        if kind == "cosine":
            raise ZeroDivisionError
        return wave(fig, nu, kind)

    live_kind = Choice(["sine", "cosine"], live=True)
    with pytest.raises(ZeroDivisionError):  # kind is live, and run at its ends all the same
        interactive.explore(fails_at_the_end, alt=ALT, nu=NU, kind=live_kind)
    assert not outputs


def test_live_widgets_redraw_in_place(outputs, mode):
    mode("live")
    interactive.explore(wave, alt=ALT, nu=NU, kind=KIND)
    text, _, box = outputs[0]
    assert text == "<explore: A wave. At ν = 0.53 the sine ends at −0.04.>"
    picture, slider, choice, button, words = box.children
    before = picture.value
    assert 'aria-label="A wave."' in before
    assert len(slider.options) > NU.stops  # finer than on the page
    slider.value = 3.0
    assert picture.value != before and "ν = 3.00" in words.value
    choice.value = "cosine"
    assert "the cosine" in words.value
    button.click()
    assert picture.value == before and "ν = 0.53" in words.value


def test_live_errors_reach_the_reader(outputs, mode):
    mode("live")

    def fragile(fig, nu):
        if nu > 2:
            raise RuntimeError("ν is <too> large")
        return wave(fig, nu)

    interactive.explore(fragile, alt=ALT, nu=NU)
    _, slider, _, words = outputs[0][2].children
    slider.value = 3.0
    assert "⚠ RuntimeError: ν is &lt;too&gt; large" in words.value
    slider.value = 0.53
    assert "⚠" not in words.value
    with pytest.raises(RuntimeError):  # at the start it must stop the cell
        interactive.explore(fragile, alt=ALT, nu=Slider(0.1, 3, 2.5))


def test_show_live(outputs, mode):
    mode("live")
    fig = new_figure()
    fig.subplots().plot([1, 2])
    interactive.show(fig, "A line.")
    text, _, widget = outputs[0]
    assert text == "<figure: A line.>"
    assert 'aria-label="A line."' in widget.value


def test_the_output_has_stable_text_and_a_view(capsys, mode, monkeypatch):
    published = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: published.append(data))
    widget = "application/vnd.jupyter.widget-view+json"
    for name, mime in (("live", widget), ("static", "text/html")):
        mode(name)
        interactive.explore(wave, alt=ALT, nu=NU)
        bundle = published.pop()
        assert set(bundle) == {"text/plain", mime}
        assert bundle["text/plain"].startswith("<explore: A wave. At ν = 0.53")
