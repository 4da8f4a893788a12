"""What the figures of the chapter on the covariance claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy

import limetutor as lt
from limetutor.core.covariance import inverse_covariance
from limetutor.course.datasets import boston, diabetes
from limetutor.course.experiments import linear_example, running_example
from limetutor.course.figures import covariance
from limetutor.plotting.style import color, new_figure
from limetutor.precision.arrowhead import inverse_frobenius_norm
from limetutor.precision.effective_samples import effective_sample_size

F, XI, WORLD = running_example()


def sigma(nu: float, p: int = 4) -> np.ndarray:
    return lt.limit(F, XI, lt.Gaussian(p=p), nu).Sigma


@pytest.mark.parametrize("p", [4, 16])
def test_the_curves_are_the_eigenvalues_of_sigma(p: int):
    scaled, C = covariance.spectrum(p)
    for k in (0, 20, 49):
        expected = np.linalg.eigvalsh(sigma(covariance.NU[k], p))
        # numpy is exact to 1e-16 of the largest; the smallest is 3e-5 of it
        np.testing.assert_allclose(scaled[k] * C[k], expected, rtol=1e-9)


def test_all_eigenvalues_but_one_fall_as_the_bandwidth_shrinks():
    for nu, rest in ((0.1, 0.15), (0.05, 0.03)):
        values = np.linalg.eigvalsh(sigma(nu)) / lt.limit(F, XI, WORLD, nu).C
        assert values[-1] > 10.2
        assert values[-2] < rest
    scaled, _ = covariance.spectrum(4)
    assert np.all(np.diff(scaled[:, 0]) > 0)  # the smallest, from ν = 0.1 upwards
    assert np.all(np.diff(scaled[:, -1]) < 0)  # the largest, towards d + 1


def test_more_boxes_hurt_at_wide_bandwidths_help_at_narrow_ones_and_leave_the_mean_weight():
    few, _ = covariance.spectrum(4)
    many, _ = covariance.spectrum(16)
    assert many[-1, 0] < few[-1, 0]
    assert many[0, 0] > few[0, 0]
    for nu in (0.1, 1.0, 3.0):
        assert covariance.mean_weight(nu) == pytest.approx(lt.limit(F, XI, WORLD, nu).C, rel=1e-12)


def test_numbers_are_written_for_readers():
    small = {1.3e-14: "1.3·10⁻¹⁴", 0.00098: "9.8·10⁻⁴", 0.001: "0.001", 0.0953: "0.095"}
    middle = {24.6: "25", 99.4: "99", 99.6: "100", 104: "100", 29664.0: "30000", 99_000: "99000"}
    for value, text in (small | middle | {1e5: "1.0·10⁵", 3.3e10: "3.3·10¹⁰"}).items():
        assert covariance._number(value) == text


def test_the_table_shows_both_matrices():
    fig = new_figure((6.4, 3.2))
    covariance.matrix_and_inverse(fig, 1.0)
    left, right = ([t.get_text() for t in ax.texts] for ax in fig.axes)
    assert left[:4] == ["1.00", "0.39", "0.36", "0.35"]
    assert right[:4] == ["2.76", "−1.64", "−1.57", "−1.55"]
    assert (right.count("0"), left.count("0")) == (6, 0)


def test_each_piece_of_the_secular_curve_falls_through_zero_once():
    alpha = np.array([0.6, 0.8, 0.9])
    ax = covariance.secular_curve(alpha).axes[0]
    roots, poles = np.linalg.eigvalsh(inverse_covariance(alpha)), np.sort(1 / (alpha * (1 - alpha)))
    assert [t.get_text() for t in ax.texts] == [f"{v:.1f}" for v in (*poles, *roots)]
    (dots,) = in_colour(ax, color.truth, "o")
    np.testing.assert_allclose(xy(dots)[:, 0], roots, rtol=1e-9)
    np.testing.assert_array_equal(np.searchsorted(poles, roots), range(4))
    for piece, root in zip(in_colour(ax, color.ink), roots, strict=True):
        x, y = xy(piece).T
        assert np.all(np.diff(y) < 0)
        assert np.interp(0, -y, x) == pytest.approx(root, abs=0.02)  # between points of a grid


@pytest.mark.parametrize("scaled", [True, False])
def test_the_line_spans_the_eigenvalues_and_the_sentence_has_their_ratio(scaled: bool):
    text, fig = drawn(covariance.eigenvalues, 0.53, scaled, 4)
    values = np.linalg.eigvalsh(sigma(0.53)) / (lt.limit(F, XI, WORLD, 0.53).C if scaled else 1)
    (span,) = in_colour(fig.axes[0], color.truth, "o")
    np.testing.assert_allclose(xy(span), [[0.53, values[0]], [0.53, values[-1]]], rtol=1e-9)
    assert [t.get_text() for t in fig.axes[0].texts] == [f"ratio {values[-1] / values[0]:.2g}"]
    assert f"condition number of {values[-1] / values[0]:.2g}." in text


def test_the_bound_holds_with_two_in_place_of_three():
    # the chapter's proof ends there; random probabilities of up to 30 features
    rng = np.random.default_rng(0)
    for _ in range(50):
        alpha = rng.uniform(0.001, 0.999, int(rng.integers(1, 31)))
        A = np.max(1 / (alpha * (1 - alpha)))
        norm = inverse_frobenius_norm(alpha)
        assert norm <= 2 * len(alpha) * A * (1 + 1e-12)


@pytest.mark.parametrize("table", [boston(), diabetes()], ids=["boston", "diabetes"])
def test_the_most_average_row_has_the_largest_effective_sample_size(table):
    f, xi, world = linear_example(table)
    scores = (table.X.to_numpy() - world.mu) / world.sigma
    standard = lt.Gaussian()
    worth = [effective_sample_size(row, standard, 1.0, n=1000) for row in scores]
    best = table.X.to_numpy()[int(np.argmax(worth))]
    np.testing.assert_array_equal(xi, best)
    residual = table.y - f(table.X)
    assert abs(residual.mean()) < 1e-8 * table.y.std()
    assert np.abs(residual @ scores).max() < 1e-6 * table.y.std() * len(table.y)


def test_two_tables_have_a_panel_each():
    f, xi, world = linear_example(diabetes(standardize=True))
    runs = lt.repeat(f, xi, world, nu=1.0, n=200, runs=3)
    fig = covariance.two_tables(("one", runs, runs.mean), ("two", runs, runs.mean))
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    assert [t.get_text() for t in fig.axes[0].get_xticklabels()][:3] == ["age", "sex", "bmi"]
