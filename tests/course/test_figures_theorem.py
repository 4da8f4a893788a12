"""What the figures of the chapter on the theorem claim."""

import numpy as np
import pytest
from drawing import drawn, in_colour, said, xy

import limetutor as lt
from limetutor.course.figures import theorem
from limetutor.plotting.style import color


@pytest.mark.parametrize("p", [2, 3, 4, 10])
def test_the_contrast_of_bmi_is_what_weighted_samples_have(p: int):
    """Means over drawn samples, inside and outside, and in each box; errors of ratios of means."""
    model, xi, X = theorem.patient()
    found = theorem.contrast_of_bmi(p)
    ex = lt.explain(
        model, xi, lt.Empirical(X, p=p), 2.3717, n=40_000, kernel="mismatch", seed=3, keep=True
    )

    def mean_and_error(where: np.ndarray) -> tuple[float, float]:
        w = ex.weights * where
        mean = np.average(ex.y, weights=w)
        return mean, np.sqrt(np.sum(w**2 * (ex.y - mean) ** 2)) / w.sum()

    z, bmi = ex.z[:, theorem.BMI], ex.x[:, theorem.BMI]
    box = np.searchsorted(found.edges[1:-1], bmi)
    np.testing.assert_array_equal(box == found.box, z == 1)
    groups = [(z, found.inside), (1 - z, found.outside)]
    groups += [(box == k, mean) for k, mean in enumerate(found.means)]
    for where, exact in groups:
        mean, error = mean_and_error(where)
        assert abs(mean - exact) < 4 * error
    assert found.means[found.box] == pytest.approx(found.inside, abs=1e-9)
    # outside its box `lime` weighs all boxes alike: the mean outside is that of the other boxes
    share = np.delete(lt.Empirical(X, p=p).boxes().law.prob[theorem.BMI], found.box)
    others = np.average(np.delete(found.means, found.box), weights=share)
    assert others == pytest.approx(found.outside, abs=1e-9)


def test_ten_boxes_turn_the_sign_of_bmi_and_the_picture_shows_it():
    four, ten = (drawn(theorem.another_box, p) for p in (4, 10))
    assert "163.94 where 25.7 < bmi ≤ 29.3 and 152.24 elsewhere: a contrast of +11.7" in four[0]
    assert "140.78 where 25.7 < bmi ≤ 26.9 and 154.34 elsewhere: a contrast of −13.6" in ten[0]
    assert "where bmi > 25.7" in said(theorem.another_box, 2)
    for p, (_, fig), hue in ((4, four, color.positive), (10, ten, color.negative)):
        found = theorem.contrast_of_bmi(p)
        (bar,) = [line for line in fig.axes[0].lines if line.get_linewidth() == 6]
        assert bar.get_color() == hue
        np.testing.assert_allclose(xy(bar)[:, 1], [found.outside, found.inside])
        (steps,) = in_colour(fig.axes[0], color.sample)
        np.testing.assert_allclose(xy(steps)[::2, 1], found.means)


@pytest.mark.parametrize("p", [2, 4, 10])
def test_the_factor_is_the_coefficient_of_slope_one(p: int):
    xi = np.array([-2.0, -0.3, 0.432, 0.961])
    expected = lt.limit(lt.Linear(np.ones(4)), xi, lt.Gaussian(p=p), 0.7).coef
    np.testing.assert_allclose(theorem.factor(xi, 0.7, p), expected, rtol=1e-12)


@pytest.mark.parametrize("nu", [0.3, 2.0, 50.0])
def test_with_the_weights_of_lime_the_factor_is_that_of_equal_weights(nu: float):
    xi = np.array([-2.0, -0.3, 0.432, 0.961])
    for p in (2, 4, 10):
        ours = lt.limit(lt.Linear(np.ones(4)), xi, lt.Gaussian(p=p), nu, "mismatch").coef
        np.testing.assert_allclose(theorem.factor(xi, np.inf, p), ours, rtol=1e-9)


def test_boxes_of_runs_have_a_cross_where_the_theory_says():
    runs = lt.repeat(lt.Linear([1.0, 2.0]), [0.3, 0.9], lt.Gaussian(), 1.0, n=200, runs=3)
    (crosses,) = in_colour(theorem.simple_f(runs, -runs.mean).axes[0], color.truth, "x")
    np.testing.assert_array_equal(xy(crosses), np.column_stack([[1.29, 2.29], -runs.mean]))


def test_the_sentence_on_the_factor():
    text = said(theorem.factor_curve, 1.0, 4)
    assert text.startswith("With ν = 1.00 and p = 4 boxes")
    assert "+1.140 at ξ = 0.961 and +0.176 at ξ = 0.432" in text
    assert "the same sign, one 6.5 times" in text
    assert "opposite signs" in said(theorem.factor_curve, 0.3, 4)
    assert "more than 100 times" in said(theorem.factor_curve, 0.53, 4)
    text = said(theorem.factor_curve, np.inf, 4)
    assert "With lime's weights and p = 4 boxes, the factor is +1.69" in text
