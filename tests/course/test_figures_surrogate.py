"""What the pictures of the chapter on the surrogate claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy
from sklearn.linear_model import Ridge

import limetutor as lt
from limetutor.course.experiments import patient_13
from limetutor.course.figures import surrogate, weights
from limetutor.plotting.style import color


@pytest.fixture(scope="module")
def runs():
    model, xi, X = patient_13()
    how = dict(nu=weights.patient_samples().nu, n=5000, kernel="mismatch")
    return lt.repeat(model, xi, lt.Empirical(X), **how, runs=40)


def test_one_run_tells_how_far_runs_scatter(runs) -> None:
    """The standard deviation of forty runs has a relative error of 1 / √78, a ninth."""
    stderr, spread = weights.patient_samples().stderr, runs.coef.std(axis=0, ddof=1)
    assert np.all(np.abs(np.log(spread / stderr)) < 4 / np.sqrt(78))


def test_an_interval_is_grey_where_it_holds_zero_and_each_coefficient_is_in_view(runs) -> None:
    ex = weights.patient_samples()
    fig = surrogate.noise(ex, runs)
    names = [label.get_text() for label in fig.axes[0].get_yticklabels()][::-1]
    assert names == [ex.names[j] for j in ex.order()]
    ends = ex.interval()[ex.order()]
    grey = (ends[:, 0] < 0) & (ends[:, 1] > 0)
    seen = 0
    for ax in fig.axes:
        low, high = ax.get_xlim()
        for hue, wanted in ((color.surrogate, ~grey), (color.muted, grey)):
            for dot in in_colour(ax, hue, "o"):
                ((value, height),) = xy(dot)
                row = len(names) - 1 - int(height)
                assert value == ex.coef[ex.order()[row]] and wanted[row] and low < value < high
                seen += 1
        for marks in in_colour(ax, color.sample):
            assert np.all((xy(marks)[:, 0] > low) & (xy(marks)[:, 0] < high))
    assert seen == len(names)


@pytest.mark.parametrize("ridge", [0.1, 1.0, 520.0, 1e5])
def test_the_penalty_is_that_of_scikit_learn(ridge: float) -> None:
    ex = weights.patient_samples()
    fitted = Ridge(alpha=ridge).fit(ex.z, ex.y, sample_weight=ex.weights)
    assert surrogate.penalised(ridge) == pytest.approx(fitted.coef_, abs=1e-8)
    text, fig = drawn(surrogate.shrinking, ridge)
    dots = [line for line in fig.axes[0].lines if line.get_marker() == "o"]
    assert sorted(xy(dot)[0, 1] for dot in dots) == pytest.approx(sorted(fitted.coef_), abs=1e-8)
    share = fitted.coef_[8] / ex.coef[8]
    assert f"of s5 is {fitted.coef_[8]:.1f}, {share:.1%} of what it is without" in text


def test_half_is_left_where_the_penalty_is_the_total_weight_times_the_variance_of_an_indicator() -> (
    None
):
    ex = weights.patient_samples()
    share = np.average(ex.z[:, 8], weights=ex.weights)
    half = ex.weights.sum() * share * (1 - share)
    assert surrogate.penalised(half)[8] / ex.coef[8] == pytest.approx(0.5, abs=0.02)
    assert half == pytest.approx(520, rel=0.05)
