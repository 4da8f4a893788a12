"""What the figures of the chapter on trust claim."""

from types import SimpleNamespace

import numpy as np
import pytest
from drawing import drawn, said
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt
from limetutor.course.figures import trust

X, Y = load_wine(return_X_y=True)
X = X[:, [0, 6, 9, 10, 12]]
MODEL = DecisionTreeClassifier(max_leaf_nodes=12, random_state=0).fit(X, Y)
NUS = np.geomspace(0.5, 10, 9)


@pytest.fixture(scope="module")
def paths():
    world = lt.Empirical(X)
    return {
        f"wine {i}": lt.path(MODEL, X[i], world, "mismatch", NUS, ridge=1.0, n=5000, output=0)
        for i in (60, 140)
    }


def test_the_picture_stands_where_the_slider_is(paths):
    for row, path in paths.items():
        words, fig = drawn(trust.bandwidth, NUS[3], row, paths=paths)
        (ax,) = fig.axes
        order = path.order()[:5]
        dots = [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"]
        np.testing.assert_allclose(dots, path.coef[3, order])
        lowest_first = order[np.argsort(path.coef[-1, order])]
        assert [text.get_text() for text in ax.texts] == [path.names[j] for j in lowest_first]
        assert f"ν = {NUS[3]:.2f}" in words
        top = path.names[int(np.argmax(np.abs(path.coef[3])))]
        assert f"three largest are {top}" in words
        assert ax.get_xscale() == "log"


def test_inside_and_outside_of_the_range_are_told_apart(paths):
    for row, path in paths.items():
        for k, nu in enumerate(NUS):
            where = "inside" if path.stable[0] <= nu <= path.stable[1] else "outside"
            assert f"{where} the shaded range" in said(trust.bandwidth, nu, row, paths=paths), k


def test_frames_of_one_row_have_the_same_elements(paths):
    for row in paths:
        figures = [drawn(trust.bandwidth, nu, row, paths=paths)[1] for nu in NUS]
        counts = [[len(ax.lines) + len(ax.patches) for ax in fig.axes] for fig in figures]
        assert all(count == counts[0] for count in counts)


def test_the_likeliest_features_are_on_top():
    found = SimpleNamespace(
        selection=np.array([0.2, 1.0, 0.8]), coef=np.array([0.1, -0.4, 0.2]),
        sd=np.full(3, 0.01), names=("a", "b$", "c"),
    )  # fmt: skip
    fig = trust.chosen(found)
    labels = [text.get_text() for text in fig.axes[0].get_yticklabels()]
    assert labels == ["a", "c", r"b\$"]
    assert [bar.get_width() for bar in fig.axes[0].patches] == [20, 80, 100]


def test_the_picture_over_boxes_stands_where_the_slider_is():
    path = lt.path(MODEL, X[60], lt.Empirical(X), "mismatch", 2.0, boxes=range(2, 7), output=0)
    for i, p in enumerate(range(2, 7)):
        words, fig = drawn(trust.number_of_boxes, p, path=path)
        order = sorted(range(5), key=lambda j: -np.median(np.abs(path.coef[:, j])))[:3]
        dots = [line for line in fig.axes[0].lines if line.get_markersize() == 9]
        assert [(d.get_xdata()[0], d.get_ydata()[0]) for d in dots] == [
            (p, path.coef[i, j]) for j in order
        ]
        first = f"{path.names[order[0]]} {path.coef[i, order[0]]:+.1f}".replace("-", "−")
        assert f"With {p} boxes for each feature: {first}" in words
