"""What the figures of the chapter on the theorem claim."""

import numpy as np
import pytest
from drawing import said

import limetutor as lt
from limetutor.course.datasets import boston, diabetes
from limetutor.course.experiments import linear_example
from limetutor.course.figures import theorem
from limetutor.precision.effective_samples import effective_sample_size

WORLD = lt.Gaussian()


@pytest.mark.parametrize("xi", [-1.5, 0.2, 0.6, 0.961])
@pytest.mark.parametrize("nu", [0.15, 1.0, 5.0])
def test_the_step_of_a_line_is_the_closed_form(xi: float, nu: float):
    inside, outside = theorem.means_inside_and_outside(lambda x: 3 * x - 1, xi, nu)
    li = lt.limit(lt.Linear([3], -1), [xi], WORLD, nu)
    # quadrature with 80 nodes a piece: far beyond what the picture shows
    assert inside - outside == pytest.approx(li.coef[0], abs=1e-9)
    assert outside == pytest.approx(li.intercept, abs=1e-9)
    assert inside == pytest.approx(li.local_prediction, abs=1e-9)


@pytest.mark.parametrize(("xi", "nu"), [(0.961, 1.0), (0.6, 0.25), (-1.5, 2.0)])
def test_the_step_is_what_lime_tends_to(xi: float, nu: float):
    inside, outside = theorem.means_inside_and_outside(theorem.wave, xi, nu)
    wave = lambda x: theorem.wave(x[:, 0])  # noqa: E731
    ex = lt.explain(wave, [xi], WORLD, nu, n=200_000, seed=1, sampler="tilted")
    assert abs(ex.coef[0] - (inside - outside)) < 4 * ex.stderr[0]
    assert abs(ex.local_prediction - inside) < 4 * ex.local_stderr


def test_the_step_and_the_tangent_may_disagree():
    text = said(theorem.step_and_tangent, 1.0, 0.961)
    assert "β₁ = +0.45" in text
    assert "is −0.69: the two disagree in sign" in text
    assert "agree in sign" in said(theorem.step_and_tangent, 1.0, 0.2)


@pytest.mark.parametrize("p", [2, 4, 10])
def test_the_factor_is_the_coefficient_of_slope_one(p: int):
    xi = np.array([-2.0, -0.3, 0.432, 0.961])
    expected = lt.limit(lt.Linear(np.ones(4)), xi, lt.Gaussian(p=p), 0.7).coef
    np.testing.assert_allclose(theorem.factor(xi, 0.7, p), expected, rtol=1e-12)


def test_the_sentence_on_the_factor():
    text = said(theorem.factor_curve, 1.0, 4)
    assert "+1.14 at ξ = 0.961 and +0.18 at ξ = 0.432" in text
    assert "the same sign, one 6.5 times" in text
    assert "opposite signs" in said(theorem.factor_curve, 0.3, 4)
    assert "more than 100 times" in said(theorem.factor_curve, 0.53, 4)


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
    fig = theorem.two_tables(("one", runs, runs.mean), ("two", runs, runs.mean))
    assert [ax.get_title() for ax in fig.axes] == ["one", "two"]
    assert [t.get_text() for t in fig.axes[0].get_xticklabels()][:3] == ["age", "sex", "bmi"]
