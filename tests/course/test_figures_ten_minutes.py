"""What the figures of the chapter in ten minutes claim."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawing import drawn, in_colour, xy

import limetutor as lt
from limetutor.course.figures import ten_minutes
from limetutor.plotting.style import color

X = pd.DataFrame(
    np.random.default_rng(0).normal(size=(60, 3)), columns=["cost ($) or ($)", "b", "c"]
)
WORLD = lt.Empirical(X)
MODEL = lt.Linear([1.0, -3.0, 2.0])


def test_lime_is_drawn_beside_our_intervals():
    ours = lt.explain(MODEL, X.iloc[0], WORLD, 1.0, n=500, seed=0)
    lime = {0: 0.1, 1: 0.2, 2: 0.3}
    fig = ten_minutes.side_by_side(ours, lime)
    ax = fig.axes[0]
    order = ours.order()[::-1]
    (crosses,) = in_colour(ax, color.lime)
    np.testing.assert_allclose(xy(crosses)[:, 0], [lime[j] for j in order])
    (bars,) = ax.collections
    ends = np.array(bars.get_segments())[:, :, 0]
    np.testing.assert_allclose(ends, ours.interval(0.95)[order], rtol=1e-9)
    assert {text.get_text().replace("\\$", "$") for text in ax.get_yticklabels()} == set(
        ours.box_names
    )
    fig.canvas.draw()


@pytest.mark.parametrize("run", [1, 4])
def test_a_run_is_drawn_within_the_range_of_all_and_its_largest_are_named(run):
    runs = {n: lt.repeat(MODEL, X.iloc[0], WORLD, 1.0, n=n, runs=4) for n in (100, 400)}
    text, fig = drawn(ten_minutes.run_again, run=run, n=100, runs=runs, limit=9)
    coef = runs[100].coef
    top = [X.columns[j] for j in np.argsort(-np.abs(coef[run - 1]))]
    assert text.endswith(f"the three largest are {top[0]}, {top[1]} and {top[2]}.")
    order = np.argsort(np.abs(runs[400].mean))
    bars = [bar.get_width() for bar in fig.axes[0].patches]
    np.testing.assert_array_equal(bars, coef[run - 1, order])
    spread = np.array(fig.axes[0].collections[0].get_segments())[:, :, 0]
    np.testing.assert_array_equal(spread, np.column_stack([coef.min(0), coef.max(0)])[order])


@pytest.mark.parametrize(("nu", "stands"), [(3.0, "opposes"), (1.0, "opposes"), (0.3, "agrees")])
def test_a_contrast_is_the_step_between_the_two_means(nu, stands):
    text, fig = drawn(ten_minutes.contrast, nu=nu, xi=-0.6)
    (means,) = in_colour(fig.axes[0], color.surrogate)
    heights = np.unique(xy(means)[:, 1])
    limit = lt.limit(lt.Linear([1.0]), [-0.6], lt.Gaussian(), nu)
    np.testing.assert_allclose(heights, np.sort([limit.intercept, limit.local_prediction]))
    assert f"a contrast of {limit.coef[0]:+.2f}, which {stands}" in text


def test_a_contrast_that_vanishes_is_said_to_be_zero():
    critical = lt.limit(lt.Linear([1.0]), [-0.6], lt.Gaussian(), 1.0).critical_nu[0]
    assert "as good as zero" in drawn(ten_minutes.contrast, nu=critical, xi=-0.6)[0]
