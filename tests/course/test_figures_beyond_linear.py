"""What the pictures of the chapter *beyond linear* claim."""

import numpy as np
import pytest
from drawing import in_colour, said, xy
from matplotlib.cbook import boxplot_stats

import limetutor as lt
from limetutor.course.figures import beyond_linear as figures
from limetutor.plotting.style import color

DOTS = ((color.alarm, "o"), (color.truth, "x"))


@pytest.mark.parametrize("model", figures.CURVES)
def test_the_curve_is_the_coefficient_of_one_feature_at_a_time(model: str):
    xi = np.array([-1.3, 0.2, 0.6])
    exact, guess = figures.exact_and_guess(xi, 0.7, model)
    c, a = figures.CURVES[model]
    for j, at in enumerate(xi):
        alone = lt.limit(lt.Quadratic([[c]], [a]), [at], lt.Gaussian(), 0.7).coef[0]
        assert exact[j] == pytest.approx(alone, rel=1e-12)
        slope = lt.Linear([2 * c * at + a])
        assert guess[j] == lt.limit(slope, [at], lt.Gaussian(), 0.7).coef[0]


def test_narrow_boxes_and_a_narrow_bandwidth_bring_the_guess_to_the_coefficient():
    def gap(nu: float, p: int) -> float:
        exact, guess = figures.exact_and_guess(figures.positions(4).ravel(), nu, "x²", p)
        return np.abs(exact - guess).max()

    assert gap(0.05, 64) < 0.5 * gap(0.05, 4)
    assert gap(0.05, 64) < 0.1 * gap(5.0, 64)


def test_the_sentences():
    text = said(figures.curved, 1.0, "x²", 4)
    assert "is −0.655, and the slope there would give +0.127" in text
    text = said(figures.side_by_side, 1.0, "linear")
    assert "Shapley values is 0.94; with the gradient 0.22" in text
    assert "the gradient is zero" in said(figures.side_by_side, 1.0, "forest")


@pytest.mark.parametrize("model", ["linear", "kernel ridge", "forest"])
def test_lime_is_nearer_to_shapley_values_than_to_gradients(model: str):
    lime, shapley, slope, times = figures.four_explanations(model, 1.0).values()
    assert figures.agreement(lime, shapley) > 0.85 > figures.agreement(lime, slope) + 0.4
    if model == "linear":  # then input × gradient is the Shapley value
        np.testing.assert_allclose(times, shapley, atol=1e-6 * np.abs(shapley).max())


def test_whiskers_are_those_that_matplotlib_draws():
    runs = np.random.default_rng(0).standard_t(2, size=(60, 5))
    ends = [(box["whislo"], box["whishi"]) for box in boxplot_stats(runs)]
    np.testing.assert_array_equal(np.transpose(figures.whiskers(runs)), ends)


def test_guess_and_limit_stand_on_either_side_of_the_boxes():
    runs = lt.repeat(lt.Linear([1.0, 2.0]), [0.3, 0.9], lt.Gaussian(), 1.0, n=200, runs=3)
    ax = figures.second_order(runs, np.array([5.0, 6.0]), np.array([7.0, 8.0])).axes[0]
    (guess,), (exact,) = (in_colour(ax, hue, mark)[:1] for hue, mark in DOTS)
    for dots, heights, side in ((guess, [5, 6], -1), (exact, [7, 8], 1)):
        assert xy(dots)[:, 1].tolist() == heights
        assert np.all(side * (xy(dots)[:, 0] - [1, 2]) > 0)


@pytest.mark.parametrize("xi", [-1.3, 0.2, 0.6])
def test_the_wave_is_the_sine(xi: float):
    """Against samples of the tilted law."""
    band = figures.curvature_band(np.array([xi]), 0.7, "sin 2x")
    at = lt.limit(lambda x: np.sin(2 * x[:, 0]), [xi], lt.Gaussian(), 0.7, samples=100_000)
    assert abs(band.beta[0] - at.coef[0]) < 4 * at.stderr[0]
    assert band.first[0] == pytest.approx(2 * np.cos(2 * at.mu_tilde[0]) * at.tilt.gap[0])


def test_over_some_patients_lime_is_nearer_to_shapley_values():
    """The page has every tenth patient and two models; this is a third one, at a few of them."""
    to_shapley, to_gradient = figures.agreements("kernel ridge", 1.0, 90).T
    assert np.median(to_shapley) > 0.85
    assert np.all(to_shapley > to_gradient)
    assert "uses 54% of the band" in said(figures.bounded, 1.0, "sin 2x", 4)
