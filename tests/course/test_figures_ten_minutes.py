"""What the figures of the chapter in ten minutes claim."""

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
FIVE = lt.Linear([1.0, -1.1, 1.2, -1.3, 1.4])


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
    labels = {text.get_text().replace("\\$", "$") for text in ax.get_yticklabels()}
    assert labels == set(ours.box_names)
    fig.canvas.draw()


@pytest.mark.parametrize("run", [1, 4])
def test_a_run_is_drawn_among_all_and_the_top_three_are_counted(run):
    runs = {n: lt.repeat(FIVE, [0.5] * 5, lt.Gaussian(), 1.0, n=n, runs=6) for n in (60, 400)}
    text, fig = drawn(ten_minutes.run_again, run=run, n=60, runs=runs, limit=9)
    left, right = fig.axes
    coef, order = runs[60].coef, np.argsort(np.abs(runs[400].mean))
    (dots,) = in_colour(left, color.surrogate, "o")
    np.testing.assert_array_equal(xy(dots)[:, 0], coef[run - 1, order])
    (marks,) = in_colour(left, color.surrogate, "None")
    for row, j in enumerate(order):
        there = xy(marks)[np.abs(xy(marks)[:, 1] - row) < 0.4, 0]
        np.testing.assert_array_equal(np.unique(there), np.unique(coef[:, j]))

    threes = [sorted(range(5), key=lambda j: -abs(one[j]))[:3] for one in coef]
    counts = [[sum(j in three for three in threes[:k]) for j in order] for k in (6, run)]
    bars = [bar.get_width() for bar in right.patches]
    np.testing.assert_array_equal(bars, np.concatenate(counts))
    names = [f"x{j + 1}" for j in threes[run - 1]]
    assert f"the three largest are {names[0]}, {names[1]} and {names[2]}." in text
    kinds = len(set(map(tuple, threes[:run])))
    assert kinds > 1 or run == 1
    assert (f"The first 4 runs had {kinds} different top threes." in text) == (run == 4)


def test_runs_that_agree_are_said_to():
    runs = {9: lt.repeat(lt.Linear([9.0, 6, 3]), [0.5] * 3, lt.Gaussian(), 1.0, n=50_000, runs=3)}
    text = drawn(ten_minutes.run_again, run=3, n=9, runs=runs, limit=9)[0]
    assert text.endswith("The first 3 runs had the same top three.")


@pytest.mark.parametrize(("nu", "stands"), [(3.0, "opposes"), (1.0, "opposes"), (0.3, "agrees")])
def test_a_contrast_is_the_step_between_the_two_means(nu, stands):
    text, fig = drawn(ten_minutes.contrast, nu=nu, xi=-0.6)
    (means,) = in_colour(fig.axes[0], color.surrogate)
    heights = np.unique(xy(means)[:, 1])
    limit = lt.limit(lt.Linear([1.0]), [-0.6], lt.Gaussian(), nu)
    np.testing.assert_allclose(heights, np.sort([limit.intercept, limit.local_prediction]))
    contrast = f"{limit.coef[0]:+.2f}".replace("-", "−")
    assert f"a contrast of {contrast}, which {stands}" in text


def test_a_contrast_that_vanishes_is_said_to_be_zero():
    critical = lt.limit(lt.Linear([1.0]), [-0.6], lt.Gaussian(), 1.0).critical_nu[0]
    assert "as good as zero" in drawn(ten_minutes.contrast, nu=critical, xi=-0.6)[0]
