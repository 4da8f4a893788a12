"""What the figures of the chapter in ten minutes claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy

import limetutor as lt
from limetutor.course.figures import ten_minutes
from limetutor.plotting.style import color

FIVE = lt.Linear([1.0, -1.1, 1.2, -1.3, 1.4])


@pytest.mark.parametrize("run", [1, 4])
def test_a_run_is_drawn_among_all_and_the_top_three_are_counted(run):
    how = {"runs": 6}
    runs = {n: lt.repeat(FIVE, [0.5] * 5, lt.Gaussian(), 1.0, n=n, **how).coef for n in (60, 400)}
    named = [f"x{j + 1}" for j in range(5)]
    text, fig = drawn(ten_minutes.run_again, run=run, n=60, runs=runs, names=named, limit=9)
    left, right = fig.axes
    coef, order = runs[60], np.argsort(np.abs(runs[400].mean(axis=0)))
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
    three = lt.Linear([9.0, 6, 3])
    runs = {9: lt.repeat(three, [0.5] * 3, lt.Gaussian(), 1.0, n=50_000, runs=3).coef}
    text = drawn(ten_minutes.run_again, run=3, n=9, runs=runs, names="abc", limit=9)[0]
    assert text.endswith("The first 3 runs had the same top three.")


@pytest.mark.parametrize("width", [0.4, 2.0, 50.0])
@pytest.mark.parametrize("xi", [-1.2, -0.6, 0.3, 2.0])
def test_the_box_against_the_rest_is_what_lime_compares_at_any_width(xi, width):
    text, fig = drawn(ten_minutes.box_against_rest, xi=xi)
    (means,) = in_colour(fig.axes[0], color.surrogate)
    at = lt.limit(lt.Linear([1.0]), [xi], lt.Gaussian(), width, kernel="mismatch")
    levels = np.sort([at.intercept, at.local_prediction])
    np.testing.assert_allclose(np.unique(xy(means)[:, 1]), levels, atol=1e-8)
    difference = f"{at.coef[0]:+.2f}".replace("-", "−")
    verb = "agrees" if at.coef[0] > 0 else "opposes"
    assert f"a difference of {difference}, which {verb}" in text
