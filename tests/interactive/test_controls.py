"""The two controls: clean stops, words, and refusals in one sentence."""

import re

import numpy as np
import pytest
from waves import refused

from limetutor.interactive.controls import Choice, Slider


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
        Slider(-2, 2, 0.432, stops=41, fmt="{:.3g}", also=[0.961]),
        Slider(18, 42, 32.1, stops=25, fmt="{:.1f}", also=[29.4, 29.2]),
        Slider(0.1, 3, 1, stops=31, log=True, also=[0.53, 3, 0.1]),
    ],
)
def test_stops_are_what_the_label_shows(slider):
    values = slider.values
    assert len(values) == slider.stops
    assert list(values) == sorted(set(values))
    assert slider.default in values
    assert slider.default in slider.live_values
    assert set(slider.also) <= set(values) and set(slider.also) <= set(slider.live_values)
    for value in values:
        shown = re.search(
            r"[-+]?[\d.]+(e[-+]?\d+)?", slider.text(value).replace(",", "").replace("−", "-")
        )
        assert float(shown.group()) == value
    assert values[0] == pytest.approx(slider.start)
    assert values[-1] == pytest.approx(slider.stop)


def test_a_whole_number_format_gives_whole_numbers():
    assert all(isinstance(v, int) for v in Slider(1, 41, 5, fmt="{:d}").values)


VALUES = [
    (lambda: Slider(3, 1, 2), "must run upwards"),
    (lambda: Slider(0, 1, 2), "outside the slider's range"),
    (lambda: Slider(0, 1, 0.5, log=True), "needs start > 0"),
    (lambda: Slider(0, 1, 0.5, stops=1), "stops must be 2 or more, got 1"),
    (lambda: Slider(0, 1, 0.5, stops=10**7), "stops must be 10000 or fewer, got 10000000"),
    (lambda: Slider(0, 1, 0.5, stops=2.5), "stops must be a whole number, got 2.5"),
    (lambda: Slider(0, 1, 0.5, stops="9"), "stops must be a whole number, got '9'"),
    (lambda: Slider(None, 1, 0.5), "^start must "),
    (lambda: Slider(0, "1", 0.5), "^stop must "),
    (lambda: Slider(0, 1, [0.5]), "value must be a single number"),
    (lambda: Slider(0, float("nan"), 0.5), "stop must be finite"),
    (lambda: Slider(0, 1, float("nan")), "value must be finite"),
    (lambda: Slider(-1e308, 1.7e308, 0), "too far apart"),
    (lambda: Slider(0, 1, 0.5, fmt="{:.2f} {:.2f}"), "fmt must say how to show one number"),
    (lambda: Slider(0, 1, 0.5, fmt="{nu}"), "fmt must say how to show one number"),
    (lambda: Slider(0, 1, 0.5, fmt="{:x}"), "fmt must say how to show one number"),
    (lambda: Slider(0, 1, 0.5, fmt="{0.nothing}"), "fmt must say how to show one number"),
    (lambda: Slider(0, 1, 0.5, fmt="{:.1f}"), "show more digits"),
    (lambda: Slider(0, 1, 0.5, fmt="{:.0%}"), "must show the number itself"),
    (lambda: Slider(0, 1, 0.5, also=[2]), "also must lie in the slider's range"),
    (lambda: Slider(0, 1, 0.5, also=[[1, 2]]), "also must be one row of numbers"),
    (lambda: Choice(["one"]), "at least two options"),
    (lambda: Choice(["a", "b"], "c"), "not among the options"),
    (lambda: Choice([]), "at least two options"),
    (lambda: Choice(["a", "b", "a"]), "options must differ"),
    (lambda: Choice([1, "1"]), "options must differ"),
    (lambda: Choice({"a": 1, "b": 1}), "options must differ"),
    (lambda: Choice({"a": np.zeros(2), "b": np.ones(2)}), "== can tell apart"),
]
TYPES = [
    (lambda: Slider(0, 1, 0.5, fmt=None), "fmt must be a text, got None"),
    (lambda: Slider(0, 1, 0.5, label=3), "label must be a text, got 3"),
    (lambda: Slider(0, 1, 0.5, log="yes"), "log must be True or False, got 'yes'"),
    (lambda: Slider(0, 1, 0.5, live=None), "live must be True or False, got None"),
    (lambda: Choice(None), "options must be a list"),
    (lambda: Choice(3), "options must be a list"),
    (lambda: Choice("abc"), "options must be a list"),
    (lambda: Choice({"a", "b"}), "options must be a list"),
    (lambda: Choice(["a", "b"], label=None), "label must be a text, got None"),
    (lambda: Choice(["a", "b"], live=1), "live must be True or False, got 1"),
]


@pytest.mark.parametrize(
    ("kind", "make", "message"),
    [*((ValueError, *case) for case in VALUES), *((TypeError, *case) for case in TYPES)],
)
def test_bad_controls_say_what_is_wrong(kind, make, message):
    refused(kind, make, message)


def test_a_live_slider_has_five_stops_for_one_and_those_of_the_page_among_them():
    for stops in (2, 11, 41):
        slider = Slider(0, 1, 0.5 if stops > 2 else 1, stops=stops, fmt="{:.6f}")
        assert len(slider.live_values) == 5 * (stops - 1) + 1
        assert set(slider.values) <= set(slider.live_values)


def test_the_finest_slider_is_quick():
    finest = Slider(0, 1, 0.5, stops=10_000, fmt="{:.6f}")
    assert len(finest.live_values) == 10_000 == len(finest.values)


def test_a_choice_may_show_other_words_than_it_passes_on():
    choice = Choice({"the first": 1, "the second": 2}, 2)
    assert choice.values == (1, 2)
    assert choice.default == 2
    assert choice.text(2) == "the second"
    assert Choice(["a", "b"]).default == "a"
