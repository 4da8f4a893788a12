"""What the pictures of the chapter *interactions and dependence* claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy

import limetutor as lt
from limetutor.course.figures import interactions as figures
from limetutor.plotting import svg
from limetutor.plotting.style import color


@pytest.mark.parametrize(("nu", "p"), [(0.1, 4), (0.53, 4), (0.99, 4), (1.5, 5), (0.7, 8)])
def test_the_instance_is_switched_off_and_in_the_shaded_box(nu: float, p: int):
    text, fig = drawn(figures.everything_off, nu, p)
    left, right = fig.axes
    (dot,) = in_colour(left, color.xi)
    xi = xy(dot)[0]
    at = lt.limit(lt.Linear([1.0, -3.0]), xi, lt.Gaussian(p=p), nu)
    np.testing.assert_allclose(at.coef, 0, atol=1e-12)
    np.testing.assert_allclose(xy(in_colour(left, color.sample, "v")[0])[0], at.mu_tilde)
    np.testing.assert_allclose(xy(in_colour(right, color.xi)[0]), [[xi[0], 0]])
    assert "linear model coefficient 0" in text


def test_beyond_one_deviation_there_is_none_and_nothing_is_shown():
    text, fig = drawn(figures.everything_off, 1.2, 4)
    assert "no instance" in text
    assert np.all(xy(in_colour(fig.axes[0], color.xi)[0]) > 10)


def test_the_green_path_crosses_the_border_where_the_coefficient_turns():
    """The product once, the model of three features twice; the sum has no border."""
    for model, crossings in (("x₁ + x₂", 0), ("x₁x₂", 1), ("three features", 2)):
        path = figures.paths()[model]
        a, b, c = path.line
        t, u = path.game.alpha(figures.WIDTHS)[:, path.plane].T
        value = a + b * t + c * u
        np.testing.assert_allclose(value, path.game.path(figures.WIDTHS)[:, 0], atol=1e-9)
        assert np.sum(np.diff(np.sign(value)) != 0) == crossings
        assert len(path.game.critical_widths(0)) == crossings


def test_the_sentences():
    assert "changes sign at 0.947" in said(figures.width_path, 0.95, "x₁x₂")
    assert "changes sign at 0.4 and 1.5" in said(figures.width_path, 0.95, "three features")
    assert "does not change sign" in said(figures.width_path, 0.95, "x₁ + x₂")
    text = said(figures.correlated, 0.5, "both top")
    assert "ignores gets coefficient 0.36" in text and "draws, they get 0.00 and 1.69" in text


@pytest.mark.parametrize("boxes", figures.PAIRS)
def test_bars_and_lines_agree_without_correlation_and_nowhere_else(boxes: str):
    for rho in (-0.6, 0.0, 0.6):
        _, fig = drawn(figures.correlated, rho, boxes)
        bars = [patch.get_height() for patch in fig.axes[1].patches]
        (lines,) = fig.axes[1].collections
        heights = [segment[0, 1] for segment in lines.get_segments()]
        assert np.allclose(bars, heights, atol=1e-9) == (rho == 0)


def test_the_distances_are_those_of_all_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 3))
    x = np.column_stack([rng.permutation(column) for column in X.T])
    fig = figures.far_from_data(X, x, (0, 2), ["a", "b", "c"])
    patients, samples = (xy(line) for line in fig.axes[1].lines)
    assert np.all(samples[50:, 0] > patients[50:, 0])
    assert fig.axes[0].get_xlabel() == "a" and fig.axes[0].get_ylabel() == "c"
    tags = [element.tag for element in svg.picture(fig, "Two clouds.", "p").iter()]
    assert "image" not in tags  # which would keep the colours of the light theme
