"""Controls, frames and the three ways of showing them."""

from __future__ import annotations

import gzip
import itertools
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from browser import running_browser

from limetutor.interactive import explorer as interactive
from limetutor.interactive import frames
from limetutor.interactive.controls import Choice, Slider
from limetutor.plotting import style
from limetutor.plotting.style import PALETTE, color, new_figure, styled


def wave(fig, nu, kind="sine"):
    """A curve, a text and a bar; one more curve (another shape of frame) beyond ν = 2."""
    ax = fig.subplots()
    x = np.linspace(0, 6, 50)
    y = (np.sin if kind == "sine" else np.cos)(nu * x)
    ax.plot(x, y, color=color.surrogate)
    ax.bar([1], [nu], color=color.xi)
    if nu > 2:
        ax.plot(x, -y, color=color.truth)
    ax.text(3, 1, f"ν = {nu:.2f}")
    ax.set(xlim=(0, 6), ylim=(-1, 3))
    return f"At ν = {nu:.2f} the {kind} ends at {y[-1]:.2f}."


ALT = "A wave."
NU = Slider(0.1, 3, 0.53, stops=6, label="bandwidth ν")
KIND = Choice(["sine", "cosine"], label="curve")


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


# --- controls --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "slider",
    [
        Slider(0.1, 3, 0.53),
        Slider(0, 1, 0.333, stops=31),
        Slider(10, 10_000, 1000, log=True, fmt="{:d}", stops=31),
        Slider(0.01, 100, 1, log=True, fmt="{:.3g}"),
        Slider(-2, 2, 0, stops=5, fmt="{:+.1f}"),
        Slider(1000, 50_000, 10_000, stops=50, fmt="{:,.0f}"),
        Slider(0, 40, 40, stops=41, fmt="{:d} samples"),
    ],
)
def test_stops_are_what_the_label_shows(slider):
    values = slider.values
    assert len(values) == slider.stops
    assert list(values) == sorted(set(values))
    assert slider.default in values
    assert slider.default in slider.live_values
    for value in values:
        shown = re.search(r"[-+]?[\d.]+(e[-+]?\d+)?", slider.text(value).replace(",", ""))
        assert float(shown.group()) == value
    assert values[0] == pytest.approx(slider.start)
    assert values[-1] == pytest.approx(slider.stop)


def test_a_whole_number_format_gives_whole_numbers():
    assert all(isinstance(v, int) for v in Slider(1, 41, 5, fmt="{:d}").values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Slider(3, 1, 2), "must run upwards"),
        (lambda: Slider(0, 1, 2), "outside the slider's range"),
        (lambda: Slider(0, 1, 0.5, log=True), "needs start > 0"),
        (lambda: Slider(0, 1, 0.5, stops=1), "at least two stops"),
        (lambda: Slider(0, 1, 0.5, fmt="{:.1f}"), "show more digits"),
        (lambda: Slider(0, 1, 0.5, fmt="{:.0%}"), "must show the number itself"),
        (lambda: Choice(["one"]), "at least two options"),
        (lambda: Choice(["a", "b"], "c"), "not among the options"),
    ],
)
def test_bad_controls_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_choice_may_show_other_words_than_it_passes_on():
    choice = Choice({"the first": 1, "the second": 2}, 2)
    assert choice.values == (1, 2)
    assert choice.default == 2
    assert choice.text(2) == "the second"
    assert Choice(["a", "b"]).default == "a"


def test_bad_calls_say_what_is_wrong(mode):
    mode("live")
    with pytest.raises(ValueError, match="needs alt"):
        interactive.explore(wave, alt=" ", nu=NU)
    with pytest.raises(ValueError, match="at least one control"):
        interactive.explore(wave, alt=ALT)
    with pytest.raises(TypeError, match="must be a Slider or a Choice, not int"):
        interactive.explore(wave, alt=ALT, nu=3)
    with pytest.raises(ValueError, match="needs alt"):
        interactive.show(new_figure(), alt="")
    mode("film")
    with pytest.raises(ValueError, match="must be live, static or check, not 'film'"):
        interactive.explore(wave, alt=ALT, nu=NU)


# --- static ----------------------------------------------------------------------------------


def data_of(html: str) -> dict:
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])


def all_frames(prefix="p"):
    values = [(nu, kind) for kind in KIND.values for nu in NU.values]
    with_words = [interactive._frame(wave, (6.4, 3.6), {"nu": n, "kind": k}) for n, k in values]
    start = values.index((NU.default, KIND.default))
    return [frames.clean(svg, prefix, ALT) for svg, _ in with_words], start


def test_differences_give_every_frame_back_exactly():
    pictures, start = all_frames()
    data = json.loads(json.dumps(frames.encode(pictures, start)))
    assert len(data["groups"]) == 2  # with and without the second curve
    for number, picture in enumerate(pictures):
        found = frames.decode(pictures[start], data, number)
        assert frames.markup(found) == frames.markup(picture)
    numbers = [column for group in data["groups"] for column in group["columns"] if column[2]]
    assert numbers, "no column is stored as numbers"


def test_the_default_outside_the_first_place_of_its_group():
    pictures, _ = all_frames()
    for start in range(len(pictures)):
        data = frames.encode(pictures, start)
        on_page = [group for group in data["groups"] if group["base"] is None]
        assert len(on_page) == 1
        for number in (0, start, len(pictures) - 1):
            found = frames.decode(pictures[start], data, number)
            assert frames.markup(found) == frames.markup(pictures[number])


def test_static_output_is_deterministic_and_small(outputs, mode):
    mode("static")
    many = Slider(0.1, 1.9, 0.53, stops=41)
    for _ in range(2):
        interactive._seen.clear()
        interactive.explore(wave, alt=ALT, nu=many)
    (text, first, _), (_, second, _) = outputs
    assert first == second
    assert text == "<explore: A wave. At ν = 0.53 the sine ends at -0.04.>"
    assert len(gzip.compress(first.encode())) < 60_000
    assert data_of(first)["frames"] == [[0, k] for k in range(41)]


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
    found = [ids(html) for _, html, _ in outputs]
    assert all(found)
    together = list(itertools.chain(*found))
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
    controls = next(a for _, a in tags if a.get("class") == "lt-controls")
    assert "hidden" in controls
    fields = [a for tag, a in tags if tag in ("input", "select")]
    labels = [a["for"] for tag, a in tags if tag == "label"]
    assert [field["id"] for field in fields] == labels
    assert fields[0]["aria-valuetext"] == "0.53"
    sentence = next(a for _, a in tags if a.get("class") == "lt-sentence")
    assert sentence["aria-live"] == "polite"
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
    assert len(data_of(html)["frames"]) == NU.stops
    with pytest.raises(ValueError, match="drop live=True"):
        interactive.explore(wave, alt=ALT, nu=Slider(0.1, 3, 1, live=True))
    with pytest.raises(ValueError, match="too many for a page"):
        interactive.explore(wave, alt=ALT, nu=Slider(0.1, 3, 1, stops=250), kind=KIND)


def test_draw_must_say_something(mode):
    mode("static")
    with pytest.raises(ValueError, match="must return one sentence"):
        interactive.explore(lambda fig, nu: None, alt=ALT, nu=NU)


def test_show_on_a_page(outputs, mode):
    mode("static")
    fig = new_figure()
    fig.subplots().scatter(*np.random.default_rng(0).normal(size=(2, 3000)), rasterized=True)
    interactive.show(fig, "A cloud.")
    text, html, _ = outputs[0]
    assert text == "<figure: A cloud.>"
    assert 'aria-label="A cloud."' in html and "data:image/png;base64" in html
    assert len(html) < 200_000, "the points were not rasterized"


# --- the browser's half ----------------------------------------------------------------------


@pytest.mark.browser
def test_the_script_shows_what_python_drew(outputs, mode):
    """Every frame of every control, two figures side by side, compared with Python's own."""
    mode("static")
    interactive.explore(wave, alt=ALT, nu=NU, kind=KIND)
    interactive.explore(wave, alt="Another.", nu=NU, kind=KIND)
    body = "".join(html for _, html, _ in outputs)
    prefix = re.search(r'<label for="(lt\w+)-nu"', body)[1]
    pictures, start = all_frames(prefix)
    with running_browser() as browser:
        page = browser.new_page()
        errors = []
        page.on("pageerror", lambda error: errors.append(error))
        page.set_content(f"<style>{interactive.page_css()}</style>{body}")
        assert page.locator("input").first.is_hidden()
        page.add_script_tag(content=interactive.page_js())
        first, second = page.locator(".lt-explore").all()
        other = second.locator("svg").inner_html()
        slider, select = first.locator("input"), first.locator("select")
        for number, picture in enumerate(pictures):
            kind, nu = divmod(number, NU.stops)
            if nu == 0:
                select.select_option(index=kind)
            slider.evaluate(
                "(e, v) => {e.value = v; e.dispatchEvent(new Event('input', {bubbles: true}))}", nu
            )
            assert same_svg(first.locator("svg").evaluate("e => e.outerHTML"), picture), number
            assert slider.get_attribute("aria-valuetext") == NU.text(NU.values[nu])
        first.get_by_role("button", name="Reset").click()
        assert same_svg(first.locator("svg").evaluate("e => e.outerHTML"), pictures[start])
        assert second.locator("svg").inner_html() == other
        assert not errors


def same_svg(html: str, expected: ET.Element) -> bool:
    found = ET.fromstring(html.replace("&nbsp;", "\u00a0"))
    return ET.canonicalize(ET.tostring(found)) == ET.canonicalize(frames.markup(expected))


# --- live ------------------------------------------------------------------------------------


def test_live_widgets_redraw_in_place(outputs, mode):
    mode("live")
    interactive.explore(wave, alt=ALT, nu=NU, kind=KIND)
    text, _, box = outputs[0]
    assert text == "<explore: A wave. At ν = 0.53 the sine ends at -0.04.>"
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
    for name, mime in (
        ("live", "application/vnd.jupyter.widget-view+json"),
        ("static", "text/html"),
    ):
        mode(name)
        interactive.explore(wave, alt=ALT, nu=NU)
        bundle = published.pop()
        assert set(bundle) == {"text/plain", mime}
        assert bundle["text/plain"].startswith("<explore: A wave. At ν = 0.53")


# --- check -----------------------------------------------------------------------------------


def test_check_counts_frames(capsys, mode):
    mode("check")
    interactive.explore(wave, alt=ALT, nu=NU, kind=KIND)
    assert capsys.readouterr().out == "explore: 6 frames drawn\n"  # 1 + 3 + 2
    fig = new_figure()
    interactive.show(fig, "Nothing.")
    assert capsys.readouterr().out == "show: 1 figure drawn\n"


def test_check_finds_dead_controls_and_errors(mode):
    mode("check")
    with pytest.raises(ValueError, match="dead control: 'unused' does not change the picture"):
        interactive.explore(
            lambda fig, nu, unused: wave(fig, nu), alt=ALT, nu=NU, unused=Slider(0, 1, 0.5)
        )

    def mute(fig, nu):
        wave(fig, nu)
        return "A wave."

    with pytest.raises(ValueError, match="dead control: 'nu' does not change the sentence"):
        interactive.explore(mute, alt=ALT, nu=NU)

    def fails_at_the_end(fig, nu, kind):
        if nu == 3:
            raise ZeroDivisionError
        return wave(fig, nu, kind)

    with pytest.raises(ZeroDivisionError):  # kind is live, and checked all the same
        interactive.explore(
            fails_at_the_end, alt=ALT, nu=NU, kind=Choice(["sine", "cosine"], live=True)
        )


# --- style -----------------------------------------------------------------------------------


def luminance(hex_color):
    channels = [int(hex_color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("role", sorted(set(PALETTE) - {"grid", "paper"}))
def test_colours_can_be_seen_on_both_themes(role):
    for shade, page in zip(PALETTE[role], ("#ffffff", "#14181e"), strict=True):
        light, dark = sorted((luminance(shade), luminance(page)), reverse=True)
        contrast = (light + 0.05) / (dark + 0.05)
        assert contrast >= (7 if role == "ink" else 3), contrast


def test_colours_follow_the_theme():
    fig = new_figure()
    fig.subplots().plot([1, 2], color=color.xi)
    html = frames.markup(frames.clean(frames.svg(fig), "p", ALT))
    assert f"var(--lt-xi,{color.xi})" in html
    assert "font-family" not in html and "DejaVu" not in html
    css = style.theme_css()
    assert all(dark in css for _, dark in PALETTE.values())


def test_the_style_leaves_no_trace():
    import matplotlib as mpl

    before = dict(mpl.rcParams)

    @styled
    def size():
        return mpl.rcParams["axes.labelsize"]

    assert size() == style.RC["axes.labelsize"]
    assert dict(mpl.rcParams) == before


def test_the_core_loads_no_plotting():
    code = "import limetutor, sys; print({'matplotlib', 'ipywidgets'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
