"""``limetutor.plotting.cubes``: what is drawn of a cube."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    f = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:, :7], y)
    return lt.cube(f, X[60, :7], lt.Empirical(X[:, :7]), output=1)


def test_the_picture_has_lime_its_mean_and_the_corner_of_the_anchor(wine):
    way, corner = wine.plot(title="a $ b").axes
    lines = {line.get_label(): line.get_xydata() for line in way.lines}
    best = wine.order()[0]
    path = lines[wine.names[best]]
    assert path[[0, -1], 1] == pytest.approx(wine.diagonal.steps[[0, -1], best])
    alone = wine.at(np.where(np.arange(7) == best, 1.0, wine.mass)).coef - wine.intercept
    assert path[0, 1] == pytest.approx(alone)
    marks = [list(line.get_ydata()) for line in way.lines if line.get_marker() == "D"]
    assert [wine.coef[best]] in marks
    heights = [bar.get_height() for bar in corner.patches]
    rule = wine.anchor()
    assert heights[0] == pytest.approx(wine.rule([]).precision)
    assert heights[-1] == pytest.approx(rule.precision) and len(heights) == 1 + len(rule.features)
    ax = Figure().subplots()
    assert wine.plot(ax=ax, top=2).axes == [ax]
    assert sum(line.get_label() in wine.names for line in ax.lines) == 2
    line = lt.cube(lt.Linear([1.0, 2]), [0.1, 1], lt.Gaussian())
    assert len(line.plot().axes) == 1  # no class, no rule
