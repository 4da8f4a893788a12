"""What the figures of the chapter discretization claim, and the two formulas behind them."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy
from scipy import stats

from limetutor.core.boxes import standard_quantiles
from limetutor.course.figures import discretization as figures
from limetutor.lime.empirical import Empirical
from limetutor.plotting.style import color


def test_quantiles_investigation_shows_empirical_edges_close_to_theoretical_ones():
    """The paper: 'already very close' at 500 training points, generic ξ, no difference."""
    setting = figures.quantile_setting()
    assert setting.X.shape == (500, 2)
    np.testing.assert_array_equal(setting.theoretical, standard_quantiles(4)[1:-1])
    expected = np.quantile(setting.X, [0.25, 0.5, 0.75], axis=0).T
    np.testing.assert_array_equal(setting.empirical, expected)
    for seed in range(40):  # 240 edges: the largest of so many errors stays below 4 deviations
        setting = figures.quantile_setting(seed=seed)
        assert np.all(np.abs(setting.empirical - setting.theoretical) < 4 * setting.stderr)


def test_at_an_edge_half_of_the_examples_are_encoded_differently():
    setting = figures.quantile_setting()
    inside = (setting.theoretical[2] + setting.empirical[0, 2]) / 2
    assert figures.agreement(0.3, setting) > 0.95
    assert figures.agreement(inside, setting) == pytest.approx(0.5, abs=0.05)


def test_coefficient_jumps_at_every_edge():
    for nu in (0.5, 1, 2):
        x, beta = figures.coefficient_curve(nu)
        ends = np.flatnonzero(np.isnan(x))[:-1]
        np.testing.assert_allclose(x[ends - 1], x[ends + 1])
        jumps = beta[ends + 1] - beta[ends - 1]
        assert np.all(jumps > 0.8)
        smooth = np.diff(beta)[np.isfinite(np.diff(beta))]
        assert np.max(np.abs(smooth)) < 0.1


def test_the_magnified_square_shows_the_instance_between_two_edges():
    setting, xi = figures.quantile_setting(), np.array([0.7, -0.3])
    fig = figures.quantiles_investigation(setting, xi)
    left, right = fig.axes
    for ax in (left, right):
        dashed = [line for line in ax.lines if line.get_linestyle() == "--"]
        shown = np.sort(np.concatenate([xy(line).ravel() for line in dashed]))
        edges = np.sort(setting.empirical.ravel())
        np.testing.assert_allclose(shown[np.abs(shown) < 3][::2], edges)
    (dot,) = in_colour(right, color.xi)
    edges = [[setting.theoretical[2], 0], [0.7, 0], [setting.empirical[0, 2], 0]]
    solid, at, broken = right.transData.transform(edges)[:, 0]
    radius = dot.get_markersize() / 2 * fig.dpi / 72
    assert solid < at - radius < at + radius < broken  # the dot hides neither
    (square,) = in_colour(left, color.ink)
    np.testing.assert_allclose(np.ptp(xy(square), axis=0), [np.ptp(right.get_xlim())] * 2)


@pytest.mark.parametrize("p", [2, 4, 32])
@pytest.mark.parametrize("patient", [22.0, 29.4])
def test_body_mass_says_which_box(p, patient):
    sentence = said(figures.body_mass, p=p, patient=patient)
    values = figures._bmi()[:, None]
    boxes = Empirical(values, p=p).boxes()
    own = boxes.discretize(np.array([[patient]]))[0, 0]
    assert f"box {own + 1} of {p}" in sentence
    assert f"{np.sum(boxes.discretize(values) == own)} of the 442" in sentence


@pytest.mark.parametrize("n", [10, 500, 10_000])
def test_convergence_counts_the_sets_that_misplace_the_instance(n):
    text, fig = drawn(figures.convergence, n)
    left, right = fig.axes
    found = np.quantile(figures._training_values()[:n], 0.75, axis=0)
    beyond = found >= 0.7  # an edge belongs to the box below it
    (near,), (far,) = in_colour(left, color.box, "o"), in_colour(left, color.alarm, "X")
    error = found - stats.norm.ppf(0.75)
    np.testing.assert_allclose(xy(near)[:, 0], error[~beyond], atol=1e-12)
    np.testing.assert_allclose(xy(far)[:, 0], error[beyond], atol=1e-12)
    assert np.all(np.abs(error) < left.get_xlim()[1])
    assert f"and in {beyond.sum()} of them" in text
    assert f"in {np.sum(np.abs(error) < 0.1)} of the 40" in text
    (curve,) = in_colour(right, color.alarm, "None")
    assert xy(curve)[-1].tolist() == [n, beyond.sum()]  # and nothing is told beyond n
    assert np.all(np.diff(xy(curve)[:, 0]) > 0)


def test_an_instance_on_the_edge_belongs_to_the_box_below():
    """What the count of misplaced sets takes for granted."""
    boxes = Empirical(np.arange(9.0)[:, None], p=4).boxes()
    assert boxes.discretize(boxes.edges[0][2:][:, None])[0, 0] == 2


def test_crossing_changes_the_box_between_its_sides():
    below, above = (said(figures.crossing, xi=xi, nu=1) for xi in (0.67, 0.68))
    assert "third box" in below and "is 0.00" in below
    assert "highest box" in above and "is 1.16" in above
