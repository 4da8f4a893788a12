"""What the figures of the appendix on the paper claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy

import limetutor as lt
from limetutor.course.experiments import running_example
from limetutor.course.figures import reading_the_paper
from limetutor.plotting.style import color


@pytest.mark.parametrize("n", [300, 2000])
def test_the_lines_are_where_the_bounds_say_one_percent_for_any_number_of_samples(n):
    errors = reading_the_paper.covariance_errors([3, 8], n, runs=40, seed=0)
    for k, d in enumerate((3, 8)):
        text, fig = drawn(reading_the_paper.covariance_tail, d, errors)
        assert "the printed bound promises 1% beyond its line" in text
        assert f"{np.mean(errors.norms[k] >= errors.printed[k]):.0%} of the simulations" in text
        printed, corrected = fig.axes[0].lines
        assert printed.get_color() == color.alarm
        assert printed.get_xdata()[0] == pytest.approx(np.sqrt(np.log(400 * d**2) / (2 * n)))
        assert corrected.get_xdata()[0] > printed.get_xdata()[0]


def test_the_printed_bound_fails_and_the_corrected_one_holds():
    errors = reading_the_paper.covariance_errors([5, 10], 500, runs=60, seed=1)
    assert errors.exceeded[1] > errors.exceeded[0] > 0.2
    assert np.all(errors.norms < errors.corrected[:, None])
    assert said(reading_the_paper.covariance_tail, 10, errors).endswith(
        "; 0% are beyond the corrected line."
    )


def test_the_antiderivative_has_a_factor_of_two():
    assert reading_the_paper.antiderivative_error(1.3, 0.7, 2) < 1e-8
    assert reading_the_paper.antiderivative_error(1.3, 0.7, 1) > 0.1


def test_lasso_widens_the_critical_bandwidth_into_an_interval():
    # where |a theta| <= lambda, found by asking for it at the ends
    spans = [tuple(map(float, words.split(" to "))) for words in reading_the_paper.left_out(0.1, 1)]
    (_, low), (start, end) = spans
    assert low < start < 0.53 < end
    f, xi, world = running_example()
    for nu, left_out in ((start * 0.98, False), (start * 1.02, True), (end * 1.02, False)):
        ex = lt.explain(f, xi, world, nu, n=400_000, seed=0, sampler="tilted", lasso=0.1)
        assert (ex.coef[1] == 0) == left_out
    assert reading_the_paper.left_out(1.0, 1) == ["0.05 to 20.00"]


def test_before_and_after_have_a_panel_and_a_cross_for_every_feature_each():
    f, xi, world = lt.Linear([1.0, 2.0]), [0.3, 0.9], lt.Gaussian()
    runs = lt.repeat(f, xi, world, 1.0, n=200, runs=3)
    fig = reading_the_paper.before_and_after(runs, runs, (runs.mean, -runs.mean))
    for ax, beta in zip(fig.axes, (runs.mean, -runs.mean), strict=True):
        (crosses,) = in_colour(ax, color.truth, "x")
        np.testing.assert_array_equal(xy(crosses), np.column_stack([[1.29, 2.29], beta]))
