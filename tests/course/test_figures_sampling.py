"""What the figures of the chapter sampling claim."""

import numpy as np
import pytest
from drawing import said
from scipy import stats

from limetutor.core.boxes import Gaussian
from limetutor.course.figures import sampling as figures
from limetutor.lime.empirical import Empirical
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
