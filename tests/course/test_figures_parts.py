"""What the figures share: boxes as the world has them, paths with gaps, ticks, numbers in words."""

import re

import numpy as np
import pytest
from drawing import said
from scipy import stats

from limetutor.core.boxes import Gaussian
from limetutor.course.figures import local_error, machine, parts, real_lime, sampling, weights
from limetutor.plotting.style import color, new_figure

Q = stats.norm.ppf(0.75)


@pytest.mark.parametrize("p", [2, 4, 5, 32])
def test_a_value_lies_in_the_box_the_world_says_on_edges_too(p):
    boxes = Gaussian(p=p).boxes(1)
    values = np.concatenate([boxes.edges[0], np.nextafter(boxes.edges[0], -9), [-9, 9, 0.3]])
    index = boxes.discretize(values[:, None])[:, 0]
    np.testing.assert_array_equal(parts.boxes_of(values, p), index)
    for value, box in zip(values, index, strict=True):
        lo, hi = parts.box_of(value, p)
        assert (lo, hi) == boxes.ends(0, box)
        assert lo <= value < hi


def test_figures_agree_on_the_box_of_an_instance_on_an_edge():
    assert "third box" in said(sampling.crossing, 0.0, 1)
    assert "lies in box 3" in said(real_lime.boxes_decide, 4, 0.0)
    mass = stats.norm(0, np.sqrt(0.5)).cdf([0, Q])
    assert f"has mass {mass[1] - mass[0]:.2f}" in said(weights.tilt_over_boxes, 1.0, 0.0)


def test_positions_run_through_every_box_from_end_to_end():
    pieces = list(parts.inside_boxes(4, reach=2, count=5))
    assert [ends for _, *ends in pieces] == [[-np.inf, -Q], [-Q, 0], [0, Q], [Q, np.inf]]
    starts, stops = zip(*[(xi[0], xi[-1]) for xi, *_ in pieces], strict=True)
    assert starts == pytest.approx([-2, -Q, 0, Q])
    assert stops == pytest.approx([-Q, 0, Q, 2])
    inset = next(parts.inside_boxes(4, reach=2, count=5, inset=0.1))[0]
    assert (inset[0], inset[-1]) == pytest.approx((-1.9, -Q - 0.1))


def test_paths_with_gaps_lines_curves_histograms_and_surrogates():
    x, y = parts.lines(np.array([1.0, 2.0]), 0, np.array([5.0, 6.0]))
    np.testing.assert_array_equal(x, [1, 1, 1, 2, 2, 2])
    np.testing.assert_array_equal(y, [0, 5, np.nan, 0, 6, np.nan])
    np.testing.assert_array_equal(parts.lines(np.array([1.0]), 0, 3)[1], [0, 3, np.nan])
    x, y = parts.joined([np.array([[1, 2], [3, 4]]), np.array([[5, 6]])])
    np.testing.assert_array_equal(x, [1, 3, np.nan, 5, np.nan])
    np.testing.assert_array_equal(y, [2, 4, np.nan, 6, np.nan])
    assert np.isnan(parts.joined([])).all()
    x, y = parts.steps(np.array([0.0, 1.0, 3.0]), np.array([2.0, 5.0]))
    assert np.trapezoid(y, x) == 2 + 10
    x, y = parts.plateau((0.0, np.inf), inside=7, outside=1, reach=3)
    assert y == [1, 1, 7, 7, 1, 1] and x[1:3] == [0, 0]
    assert x[0] < -3 and min(x[3:]) > 3  # an outer box ends beyond the picture


def test_a_bell_is_a_normal_density_with_its_top_at_1():
    x = np.linspace(-3, 3, 7)
    law = stats.norm(0.5, 2)
    np.testing.assert_allclose(parts.bell(x, 0.5, 2), law.pdf(x) / law.pdf(0.5), rtol=1e-12)


def test_log_axes_have_the_ticks_they_are_given_and_no_other():
    ax = new_figure().subplots()
    parts.log_axes(ax, x=[0.001, 0.3, 1000], y=parts.powers([-3, 0, 12]))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert list(ax.get_xticks()) == [0.001, 0.3, 1000]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0.001", "0.3", "1000"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["10⁻³", "1", "10¹²"]
    assert not len(ax.get_xticks(minor=True)) and not len(ax.get_yticks(minor=True))
    other = new_figure().subplots()
    parts.log_axes(other, y=[1, 10])
    assert (other.get_xscale(), other.get_yscale()) == ("linear", "log")


def test_signed_numbers_have_no_minus_zero_and_powers_of_ten_a_mantissa_below_ten():
    without = {-0.001: "0.00", -1.5: "−1.50", 0: "0.00", 2.346: "2.35"}
    assert {value: parts.signed(value) for value in without} == without
    with_plus = {2.346: "+2.35", -2.346: "−2.35", -0.001: "0.00", 0.001: "0.00"}
    assert {value: parts.signed(value, plus=True) for value in with_plus} == with_plus
    powers = {8.41e16: "8.4·10¹⁶", 9.96e6: "1.0·10⁷", 1.3e-14: "1.3·10⁻¹⁴"}
    assert {value: parts.scientific(value) for value in powers} == powers


@pytest.mark.parametrize(("step", "said"), [(0.0049, "zero"), (0.0051, "agrees"), (2.0, "agrees")])
def test_a_contrast_that_is_rounded_to_zero_neither_agrees_nor_opposes(step, said):
    assert said in parts.beside_slope(step)
    assert said.replace("agrees", "opposes") in parts.beside_slope(-step)


def test_agreement_is_a_cosine_and_zero_with_nothing():
    a, b = np.array([3.0, 0.0]), np.array([1.0, 1.0])
    assert parts.agreement(a, b) == pytest.approx(np.sqrt(0.5))
    assert parts.agreement(a, -2 * a) == -1
    assert parts.agreement(a, np.zeros(2)) == 0


@pytest.mark.parametrize(
    ("draw", "one", "other", "difference"),
    [
        (machine.up_to("fit"), r"surrogate is (\S+)", r"(\S+) elsewhere", r"β = (\S+)\."),
        (local_error.landing, r"were at (\S+)", r"instead of (\S+):", r"error of (\S+)\."),
    ],
    ids=["fit", "landing"],
)
def test_who_subtracts_two_numbers_of_a_sentence_finds_the_third(draw, one, other, difference):
    """Up to half a unit of its last digit, and of those of the two, which have one more."""
    for nu, xi in ((3.0, -0.6), (1.0, 0.432), (0.5, 0.961), (0.3, -1.2), (2.0, 0.1)):
        text = said(draw, nu=nu, xi=xi).replace("−", "-")
        a, b, c = (float(re.search(part, text)[1]) for part in (one, other, difference))
        assert abs(a - b - c) < 0.0061, text


@pytest.mark.parametrize(
    "heights", [[1, 5, 9], [4.9, 5, 5.1, 5.05], [9.9, 10, 0.1], [0, 0, 0], [3]]
)
def test_names_stand_at_the_ends_of_lines_and_none_over_another(heights):
    fig = new_figure((6, 4))
    ax = fig.subplots()
    ax.set(xlim=(0, 1), ylim=(0, 10))
    names = {f"line {k}": (height, color.ink) for k, height in enumerate(heights)}
    parts.named_at_ends(ax, 1, names)
    tall = ax.transData.transform([[0, 10]])[0, 1] - ax.transData.transform([[0, 0]])[0, 1]
    points = np.array([text.xy[1] for text in ax.texts]) * tall / 10 * 72 / fig.dpi
    assert [text.get_text() for text in ax.texts] == [list(names)[k] for k in np.argsort(heights)]
    assert np.all(np.diff(points) > 17.9) and points.min() > -0.1 and points.max() < tall + 0.1
    if np.diff(sorted(heights)).min(initial=9) > 2:
        assert [text.xy[1] for text in ax.texts] == pytest.approx(sorted(heights))
