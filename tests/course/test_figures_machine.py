"""What the LIME machine claims, in every part of it."""

from itertools import product

import numpy as np
import pytest
from boxed_means import EDGES, Q, expected
from drawing import drawn, in_colour, said, xy
from matplotlib.colors import to_rgb

from limetutor.course.figures import machine
from limetutor.plotting.style import color

KERNELS = ["gaussian", "mismatch"]
PLACES = [(1.0, 0.432), (0.53, 0.432), (0.3, 0.6), (1.6, -2.0), (0.1, 1.3), (0.8, -0.3)]


def levels(nu, xi, kernel):
    """The surrogate in the box of ξ and elsewhere: means under the weighted normal density, by a sum."""
    x = np.linspace(-9, 9, 200_001)
    box = np.searchsorted(EDGES[1:-1], xi, side="right")
    own = (EDGES[box] <= x) & (x < EDGES[box + 1])
    near = np.exp(-((x - xi) ** 2) / (2 * nu**2))
    density = np.exp(-(x**2) / 2) * (near if kernel == "gaussian" else 1.0)
    return [np.average(x[part], weights=density[part]) for part in (own, ~own)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("nu", "xi"), PLACES)
def test_the_whole_machine_shows_the_limit(nu, xi, kernel):
    text, fig = drawn(machine.up_to("fit"), nu, xi, kernel)
    model, weights, bars = fig.axes
    inside, outside = levels(nu, xi, kernel)
    gap = inside - outside
    (step,) = in_colour(model, color.surrogate)
    heights = xy(step)[:, 1]
    assert heights == pytest.approx([outside, outside, inside, inside, outside, outside], abs=1e-4)
    (beta,) = bars.patches
    assert beta.get_height() == pytest.approx(gap, abs=1e-4)
    if abs(gap) > 0.005:
        role = color.positive if gap > 0 else color.negative
        assert beta.get_facecolor()[:3] == pytest.approx(to_rgb(role), abs=0.01)
    assert float(text.split("β = ")[1][:-1].replace("−", "-")) == pytest.approx(gap, abs=0.0051)
    (lines,) = in_colour(weights, color.sample)
    tops = xy(lines)[1::2]
    boxes = [np.searchsorted(EDGES[1:-1], at, side="right") for at in (tops[:, 0], xi)]
    square = (tops[:, 0] - xi) ** 2 if kernel == "gaussian" else 1.0 * (boxes[0] != boxes[1])
    assert tops[:, 1] == pytest.approx(np.exp(-square / (2 * nu**2)), abs=0.006)


def test_with_the_weights_of_lime_neither_bandwidth_nor_place_in_the_box_moves_the_step():
    values = {machine.levels(nu, xi, "mismatch") for nu in machine.NU.values for xi in (0.1, 0.6)}
    assert np.ptp(np.array(list(values)), axis=0) == pytest.approx([0, 0], abs=1e-12)


def test_a_wide_bandwidth_counts_all_alike_and_a_narrow_one_the_neighbours():
    x, xi = machine.samples(), 0.432
    assert machine.weights(50.0, xi, "gaussian").min() > 0.99
    far = np.abs(x - xi) > 0.3
    assert machine.weights(0.1, xi, "gaussian")[far].max() < 0.02
    every = np.average(machine.levels(50.0, xi, "gaussian"), weights=(0.25, 0.75))
    assert every == pytest.approx(0, abs=1e-3)  # the mean of f over all samples
    assert machine.levels(0.02, xi, "gaussian")[0] == pytest.approx(xi, abs=1e-3)


def test_filled_samples_are_those_in_the_box_of_xi():
    for xi in (-1.0, -0.3, 0.432, 0.961):
        text, fig = drawn(machine.up_to("weigh"), 1.0, xi)
        dots = [line for line in fig.axes[0].lines if line.get_markeredgecolor() == color.sample]
        full = [line for line in dots if line.get_markerfacecolor() == color.sample]
        filled = np.concatenate([line.get_xdata() for line in full])
        box = np.searchsorted(EDGES[1:-1], xi, side="right")
        x = machine.samples()
        wanted = x[(EDGES[box] <= x) & (x < EDGES[box + 1])]
        assert sorted(filled) == sorted(wanted)
        assert f"the {len(wanted)} samples in the box" in text and f"of all {len(x)}." in text


def test_it_grows_by_a_part_a_chapter():
    counts = []
    for last in machine.PARTS:
        values = {name: control.default for name, control in machine.controls(last).items()}
        text, fig = drawn(machine.up_to(last), **values)
        assert text.endswith(".")
        artists = sum(len(ax.lines) + len(ax.patches) + len(ax.texts) for ax in fig.axes)
        counts.append((len(fig.axes), artists))
    assert counts == sorted(counts) and len(set(counts)) == len(counts)


def test_no_sign_turns_before_the_chapter_that_asks_for_it():
    at = [machine.controls("fit")[name].values for name in ("nu", "xi", "kernel")]
    assert min(np.subtract(*machine.levels(*stop)) for stop in product(*at)) > 0


def test_words_by_part():
    inside, outside, _ = expected(1.0, 0.432)
    text = said(machine.up_to("fit"), 1.0, 0.432)
    assert f"{inside:.3f} in the box and {outside:.3f} elsewhere" in text
    assert f"elsewhere: β = +{inside - outside:.2f}" in text
    weights = np.exp(-((machine.samples() - 0.432) ** 2) / 2)
    own = (machine.samples() >= 0) & (machine.samples() < Q)
    text = said(machine.up_to("weigh"), 1.0, 0.432)
    assert f"carry {weights[own].sum() / weights.sum():.0%} of" in text
    assert text.startswith("With the paper's weights, ν = 1.00 and ξ = 0.43, the ")
    text = said(machine.up_to("weigh"), 1.0, 0.432, "mismatch")
    weights = np.where(own, 1, np.exp(-0.5))
    assert f"carry {weights[own].sum() / weights.sum():.0%} of" in text
    assert text.startswith("With lime's weights, ")
