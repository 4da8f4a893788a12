"""The two controls: clean stops, words, and refusals in one sentence."""

import re
from pathlib import Path

import numpy as np  # noqa: F401 - a case has it
import pytest
from cases import cases
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


VALUES = cases(Path(__file__).parent / "support" / "odd_controls.txt", globals())
TYPES = cases(Path(__file__).parent / "support" / "odd_types.txt", globals())


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
