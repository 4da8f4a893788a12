"""What the pictures of the chapter *one cube* claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, xy
from matplotlib.colors import to_rgb

import limetutor as lt
from limetutor.course.datasets import titanic
from limetutor.course.experiments import patient_13
from limetutor.course.figures import one_cube as figures
from limetutor.plotting.palette import PALETTE
from limetutor.plotting.results import stroke
from limetutor.plotting.style import color


@pytest.fixture(scope="module")
def cube():
    model, xi, X = patient_13(figures.MEASURED)
    return lt.cube(model, xi, lt.Empirical(X))


@pytest.mark.parametrize("q", [0.0, 0.3, 0.5, 1.0])
def test_the_dots_are_limes_limits_and_the_dotted_lines_their_mean(cube, q):
    """The boxes hold nearly a quarter, so that LIME stays near the true diagonal."""
    text, fig = drawn(figures.diagonal, q)
    left, right = fig.axes
    nu = figures.width_at(q)
    lime = (1 - cube.mass) * cube.lime(max(nu, 0.05)).coef
    for k, own in enumerate(lime):
        curve, mean, dot = in_colour(right, stroke(k)[0])[-3:]
        assert xy(dot)[0] == pytest.approx([q, own], abs=0.25)
        assert xy(mean)[0, 1] == pytest.approx(cube.shapley().coef[k], abs=1e-9)
        grid, values = xy(curve).T
        assert np.trapezoid(values, grid) == pytest.approx(xy(mean)[0, 1], abs=0.01)
    ends = xy(in_colour(left, color.truth)[0])
    (place,) = xy(in_colour(left, color.truth, "o")[0])
    assert place == pytest.approx(ends[0] + q * (ends[1] - ends[0]))
    said = "without weights" if q == 0 else "tends to 0" if q == 1 else f"{nu:.2f}"
    assert said in text


def test_the_corners_are_means_with_some_features_held(cube):
    _, fig = drawn(figures.diagonal, 0.5)
    shown = [text.get_text() for text in fig.axes[0].texts[:8]]
    corners = np.array(list(np.ndindex(2, 2, 2)))
    assert shown == [f"{v:.0f}" for v in cube.at(np.where(corners, 1, cube.mass)).coef]


@pytest.mark.parametrize("person", figures.PEOPLE)
@pytest.mark.parametrize("men", [0.786, 0.3])
def test_bars_are_what_a_table_with_so_many_men_gives(person, men):
    """Counted over people drawn from it, each column by itself."""
    _, fig = drawn(figures.rules, men, person)
    left, right = fig.axes
    xi, tree = np.array(figures.PEOPLE[person]), figures.passenger_tree()
    rng, n = np.random.default_rng(0), 200_000
    X = titanic().X.to_numpy()
    people = np.column_stack([rng.choice(X[:, 0], n), rng.random(n) > men, rng.choice(X[:, 2], n)])
    same = tree.predict(people) == tree.predict([xi])
    for j in range(3):
        inside = people[:, j] == xi[j]
        contrast = same[inside].mean() - same[~inside].mean()
        assert left.patches[j].get_width() == pytest.approx(contrast, abs=0.02)
        end = right.patches[j].get_x() + right.patches[j].get_width()
        assert end == pytest.approx(same[inside].mean(), abs=0.02)
        role = "surrogate" if contrast > 0 else "against"
        assert left.patches[j].get_facecolor()[:3] == to_rgb(PALETTE[role][0])


def test_aboard_the_titanic_the_two_disagree_about_the_man_and_the_woman():
    firsts = (("man", "third"), ("woman", "third"), ("woman", "woman"))
    for person, (lime, best) in zip(figures.PEOPLE, firsts, strict=True):
        said = f"LIME puts “{lime}” first; the most precise condition is “{best}”"
        assert said in drawn(figures.rules, 0.786, person)[0]
