"""What the figures of the chapter sampling claim, and the formulas behind them."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy
from scipy import stats

import limetutor as lt
from limetutor.core.boxes import Gaussian, standard_quantiles
from limetutor.course.figures import sampling as figures
from limetutor.lime.empirical import Empirical
from limetutor.plotting.style import color
from limetutor.precision.gaussian_and_tilted_samplers import sampler


def test_boxes_first_and_gaussian_cannot_be_told_apart_boxes_with_their_own_moments_can():
    boxes, gaussian = figures._drawn("boxes"), figures._drawn("gaussian")
    assert stats.ks_2samp(boxes, gaussian).pvalue > 0.001
    # those with their own moments can, even for a Gaussian training set: values avoid the edges
    own = figures._drawn("own")
    assert stats.kstest(own, stats.norm.cdf).pvalue < 1e-6
    near_edge = np.mean(np.abs(np.abs(own) - 0.6745) < 0.05)
    assert near_edge < 0.6 * 4 * 0.05 * stats.norm.pdf(0.6745)


def test_law_of_a_column_is_that_of_its_samples():
    X = np.random.default_rng(1).exponential(size=(300, 1))
    boxes = Empirical(X, p=5).boxes()
    x, _ = sampler("bins", boxes, X[0])(np.random.default_rng(2), 20_000)
    assert stats.kstest(x[:, 0], lambda t: figures.law_cdf(boxes.law, 0, t)).pvalue > 0.001


def test_law_of_a_gaussian_column_is_normal_and_standard_values_are_gaussian():
    t = np.linspace(-4, 4, 50)
    law = Gaussian(0, 1, p=7).boxes(1).law
    np.testing.assert_allclose(figures.law_cdf(law, 0, t), stats.norm.cdf(t), atol=1e-14)
    assert stats.kstest(figures.standard_values(1000), stats.norm.cdf).statistic < 1e-3


def test_many_boxes_follow_the_data_and_two_do_not():
    gaps = {p: figures.column_laws("s6", p, points=2001) for p in (2, 32)}
    few, many = (figures.largest_gap(laws.boxes, laws.data) for laws in gaps.values())
    normal = figures.largest_gap(gaps[2].normal, gaps[2].data)
    assert many < normal < few


def test_slope_of_the_general_model():
    for x in (-1.2, 0.4, 2.0):
        h = 1e-6
        numerical = (figures.wavy(np.array(x + h)) - figures.wavy(np.array(x - h))) / (2 * h)
        assert figures.wavy_slope(x) == pytest.approx(float(numerical), abs=1e-8)


@pytest.mark.parametrize("nu", [0.3, 1, 3])
@pytest.mark.parametrize("xi", [-1.2, 0.4, 0.69])
def test_general_setting_shows_the_weights_and_the_share_of_the_paper(xi, nu):
    """π = exp(-(x-ξ)²/2ν²), and the weighted share of z = 1 tends to α."""
    n = 200_000
    now = figures.general(xi, nu, n=n)
    np.testing.assert_allclose(now.weights, np.exp(-((now.x - xi) ** 2) / (2 * nu**2)), rtol=1e-12)
    total = now.weights.sum()
    share = now.weights @ now.z / total
    error = np.sqrt(np.sum(now.weights**2 * (now.z - share) ** 2)) / total
    assert abs(share - now.alpha) < 4 * error
    few = figures.general(xi, nu)
    own = few.weights[few.z].sum() / few.weights.sum()
    text = said(figures.general_setting, nu=nu, xi=xi)
    assert f"{few.z.sum()} of the 36 samples have z = 1; they carry {own:.0%} of the" in text
    assert f"({now.alpha:.0%} in the limit" in text


def test_z_jumps_at_an_edge_and_weights_do_not():
    below, above = figures.general(0.66, 1.0), figures.general(0.69, 1.0)
    np.testing.assert_array_equal(below.x, above.x)
    assert not np.any(below.z & above.z)
    assert np.max(np.abs(below.weights - above.weights)) < 0.02


def test_sentences_change_with_the_controls():
    few = [said(figures.three_ways, n=10, how=how) for how in ("boxes", "gaussian")]
    assert few[0] != few[1]
    assert "inside" in said(figures.three_ways, n=10_000, how="boxes")
    assert "outside" in said(figures.three_ways, n=10_000, how="own")
    assert "p = 8" in said(figures.column, p=8, name="bp")
    assert "Around ξ = −1.20 with ν = 0.10" in said(figures.general_setting, nu=0.1, xi=-1.2)


# --- edges read off data ---------------------------------------------------------------------


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


def test_at_an_edge_half_of_the_samples_are_encoded_differently():
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


@pytest.mark.parametrize("n", [30, 500, 10_000])
def test_growing_counts_the_sets_that_misplace_the_instance(n):
    text, fig = drawn(figures.growing, n=n)
    (ax,) = fig.axes
    found = np.quantile(figures._training_values()[:n], 0.75, axis=0)
    beyond = found >= 0.8  # an edge belongs to the box below it
    (near,), (far,) = in_colour(ax, color.box, "o"), in_colour(ax, color.alarm, "X")
    np.testing.assert_allclose(xy(near)[:, 1], found[~beyond], atol=1e-12)
    np.testing.assert_allclose(xy(far)[:, 1], found[beyond], atol=1e-12)
    assert f"In {beyond.sum()} of the 40 training sets" in text
    low, high = ax.get_ylim()
    assert np.all((low < found) & (found < high))
    error = np.sqrt(0.1875 / n) / stats.norm.pdf(stats.norm.ppf(0.75))
    assert f"standard error of {error:.3f}" in text
    assert np.mean(np.abs(found - stats.norm.ppf(0.75)) < 2 * error) > 0.8  # the shaded band


def test_crossing_changes_the_box_between_its_sides():
    below, above = (said(figures.crossing, xi=xi, nu=1) for xi in (0.67, 0.68))
    assert "third box" in below and "is 0.00" in below
    assert "highest box" in above and "is 1.16" in above


@pytest.mark.parametrize("nu", [0.3, 1.0])
def test_the_curve_of_coefficients_is_that_of_limits(nu):
    places, gaps = figures.coefficient_curve(nu)
    edges = [-0.6744897501960817, 0.0, 0.6744897501960817]
    clear = [k for k, x in enumerate(places) if np.min(np.abs(np.subtract(edges, x))) > 1e-3]
    assert len(clear) > 60
    limits = [lt.limit(lt.Linear([1.0]), [places[k]], lt.Gaussian(), nu).coef[0] for k in clear]
    np.testing.assert_allclose(gaps[clear], limits, atol=1e-12)
