"""One look for every figure: colours that can be seen, settings that come back, literal text."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from limetutor.plotting import style, svg
from limetutor.plotting.style import PALETTE, color, new_figure, styled


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
    html = svg.markup(svg.picture(fig, "A line.", "p"))
    assert f"var(--lt-xi,{color.xi})" in html
    assert "font-family" not in html and "DejaVu" not in html
    css = style.theme_css()
    assert all(dark in css for _, dark in PALETTE.values())


def test_threads_leave_no_trace():
    """The style is entered by one thread at a time: none takes it for the user's own settings."""
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    together = threading.Barrier(8)

    @styled
    def enter(k):
        inner = styled(lambda: mpl.rcParams["axes.labelsize"])  # one in another
        time.sleep(0.002 * (k % 3))
        return inner(), mpl.rcParams["font.size"]

    def work(k):
        together.wait()
        return [enter(k + turn) for turn in range(10)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert dict(mpl.rcParams) == before
    assert {pair for turns in found for pair in turns} == {(13, 12.5)}


LITERAL = st.text("$\\ab_^{}%&<()", min_size=1, max_size=12)


def printed(text):
    """The text that an SVG of a figure with this title shows, and that nothing else does."""
    fig = new_figure()
    styled(fig.text)(0.5, 0.5, text)
    return ["".join(e.itertext()) for e in svg.picture(fig, "Alt.", "p").iter("text")]


@given(text=LITERAL)
@example(text="a$$")
@example(text="price ($) / cost ($)")
@example(text="$x$")
@example(text="\\$x\\$")
@example(text="\\")
@example(text="$\\")
@example(text="a\\$b$\\alpha$")
@settings(max_examples=60, deadline=None)
def test_plain_text_is_printed_letter_for_letter(text):
    assert printed(style.plain(text)) == [text]


def test_plain_takes_what_names_a_column_and_ignores_the_users_tex():
    import matplotlib as mpl

    assert style.plain(3) == "3"
    with mpl.rc_context({"text.usetex": True, "text.parse_math": False}):
        assert printed(style.plain("a$$")) == ["a$$"]
