"""What the LIME machine claims, in every part of it."""

import numpy as np
import pytest
from boxed_means import EDGES, Q, expected
from drawing import drawn, in_colour, said, xy
from matplotlib.colors import to_rgb

from limetutor.course.figures import machine
from limetutor.plotting.style import color

PLACES = [(1.0, 0.432), (0.53, 0.432), (0.3, 0.6), (1.6, -2.0), (0.1, 1.3), (0.8, -0.3)]


@pytest.mark.parametrize(("nu", "xi"), PLACES)
def test_the_whole_machine_shows_the_limit(nu, xi):
    text, fig = drawn(machine.up_to("miss"), nu, xi)
    model, weights, chart, bars = fig.axes
    inside, outside, _ = expected(nu, xi)
    gap, error = inside - outside, inside - xi
    (step,) = in_colour(model, color.surrogate)
    heights = xy(step)[:, 1]
    assert heights == pytest.approx([outside, outside, inside, inside, outside, outside], abs=1e-6)
    slope, beta, missed = (bar.get_height() for bar in bars.patches)
    assert (slope, beta, missed) == pytest.approx((1, gap, error), abs=1e-6)
    hue = bars.patches[1].get_facecolor()
    if abs(gap) > 0.005:
        role = color.positive if gap > 0 else color.negative
        assert hue[:3] == pytest.approx(to_rgb(role), abs=0.01)
        assert ("agrees with" if gap > 0 else "opposes") + " the slope" in text
    else:
        assert "as good as zero although the slope is +1" in text
    (point,) = in_colour(chart, color.xi, "o")
    assert xy(point)[0] == pytest.approx([xi, nu]) and point.get_gid() == "handle:xi nu"
    (lines,) = in_colour(weights, color.sample)
    tops = xy(lines)[1::2]
    assert tops[:, 1] == pytest.approx(np.exp(-((tops[:, 0] - xi) ** 2) / (2 * nu**2)), abs=0.006)
    (segment,) = in_colour(model, color.alarm)
    assert xy(segment)[:, 1] == pytest.approx([xi, xi + error], abs=1e-6)


def test_filled_examples_are_those_in_the_box_of_xi():
    for xi in (-1.0, -0.3, 0.432, 0.961):
        text, fig = drawn(machine.up_to("draw"), xi)
        dots = [line for line in fig.axes[0].lines if line.get_markeredgecolor() == color.sample]
        full = [line for line in dots if line.get_markerfacecolor() == color.sample]
        filled = np.concatenate([line.get_xdata() for line in full])
        box = np.searchsorted(EDGES[1:-1], xi, side="right")
        x = machine.examples()
        wanted = x[(EDGES[box] <= x) & (x < EDGES[box + 1])]
        assert sorted(filled) == sorted(wanted)
        assert f"{len(wanted)} of the {len(x)} new examples" in text


def test_it_grows_by_a_part_a_chapter():
    counts = []
    for last in machine.PARTS:
        values = {name: control.default for name, control in machine.controls(last).items()}
        text, fig = drawn(machine.up_to(last), **values)
        assert text.endswith(".")
        artists = sum(len(ax.lines) + len(ax.patches) + len(ax.texts) for ax in fig.axes)
        counts.append((len(fig.axes), artists))
    assert counts == sorted(counts) and len(set(counts)) == len(counts) - 1  # the share is told


def test_the_stops_that_the_text_links_to():
    assert {0.432, 0.961, 0.6, 0.7, -1.5} <= set(machine.XI.values)
    assert {0.53, 0.3, 1.0} <= set(machine.NU.values)
    assert len(machine.XI.values) == 41 and len(machine.NU.values) == 31


def test_words_by_part():
    assert said(machine.up_to("cut"), 0.432) == "ξ = 0.43 lies in the third box, from 0.00 to 0.67."
    assert said(machine.up_to("cut"), -1.0).endswith("lowest box, below −0.67.")
    assert said(machine.up_to("cut"), 1.0).endswith("highest box, above 0.67.")
    inside, outside, share = expected(1.0, 0.432)
    text = said(machine.up_to("share"), 1.0, 0.432)
    assert f"α = {share:.2f}" in text and f"= {share * (1 - share):.3f}" in text
    text = said(machine.up_to("fit"), 1.0, 0.432)
    assert f"{inside:.3f} in the box and {outside:.3f} elsewhere" in text
    assert f"elsewhere: β = +{inside - outside:.2f}" in text
    weights = np.exp(-((machine.examples() - 0.432) ** 2) / 2)
    own = (machine.examples() >= 0) & (machine.examples() < Q)
    text = said(machine.up_to("weigh"), 1.0, 0.432)
    assert f"carry {weights[own].sum() / weights.sum():.0%} of" in text
