"""What the pictures of the chapter on the surrogate claim."""

import numpy as np
import pytest
from drawing import drawn

import limetutor as lt
from limetutor.course.experiments import running_example
from limetutor.course.figures import surrogate


@pytest.mark.parametrize("nu", [0.5, 1.0, 5.0])
def test_the_surrogate_of_a_sum_meets_all_four_means(nu: float) -> None:
    ex = surrogate.corner_fit("sum", nu)
    means, share = surrogate.corner_means(ex)
    fitted = ex.intercept + np.array(surrogate.CORNERS, float) @ ex.coef
    assert fitted == pytest.approx(means, abs=0.05)
    assert share.sum() == pytest.approx(1)


def test_the_surrogate_of_a_product_is_worst_where_it_is_asked() -> None:
    ex = surrogate.corner_fit("product", 5.0)
    means, _ = surrogate.corner_means(ex)
    fitted = ex.intercept + np.array(surrogate.CORNERS, float) @ ex.coef
    assert np.argmax(np.abs(fitted - means)) == 3
    assert np.abs(fitted - means).max() > 0.5


def test_ridge_shrinks_all_and_lasso_drops_the_small_first() -> None:
    full = surrogate.penalised("ridge", 1e-9)
    ridge, lasso = surrogate.penalised("ridge", 0.2), surrogate.penalised("lasso", 1.0)
    assert np.all(ridge != 0)
    large = np.abs(full) > 5
    assert ridge[large] / full[large] == pytest.approx(0.5, abs=0.07)
    assert np.abs(ridge).sum() == pytest.approx(np.abs(full).sum() / 2, rel=0.05)
    dropped = lasso == 0
    assert 0 < dropped.sum() < 10
    assert np.abs(full[dropped]).max() < np.abs(full[~dropped]).min()
    assert np.all(surrogate.penalised("lasso", 30.0) == 0)


def test_the_penalty_leaves_equal_shares_or_takes_equal_amounts() -> None:
    _, names = surrogate.diabetes_fit()
    full = surrogate.penalised("ridge", 0.0)
    order = np.argsort(np.abs(full))
    for kind, strength, least, most in (("ridge", 0.2, 45, 56), ("lasso", 1.0, 60, 95)):
        text, fig = drawn(surrogate.penalty, strength, kind)
        left, right = fig.axes
        share = np.array([bar.get_width() for bar in right.patches])
        left_over = surrogate.penalised(kind, strength)[order]
        np.testing.assert_allclose(share * full[order] / 100, left_over)
        assert [label.get_text() for label in right.get_yticklabels()] == [names[j] for j in order]
        assert [label.get_text() for label in left.texts] == [names[j] for j in order[-5:]]
        assert np.all((least < share[-5:]) & (share[-5:] < most))
        assert f"{share[-1]:.0f}% of the largest (s1) and {share[-5]:.0f}% of the fifth" in text
        assert "of the fifth (s5)" in text
    taken = np.abs(full[order[-5:]]) * (1 - share[-5:] / 100)  # by the lasso, the last of the two
    assert taken.max() < 1.25 * taken.min()  # about: the boxes are not equally likely


def test_what_the_penalty_leaves_stays_in_the_picture() -> None:
    for kind in ("ridge", "lasso"):
        full = surrogate.penalised(kind, 0.0)
        for strength in np.geomspace(0.001, 30, 41):
            share = 100 * surrogate.penalised(kind, strength) / full
            assert np.all((share >= 0) & (share < 190))


def test_intervals_hold_the_limit_as_often_as_they_say() -> None:
    f, xi, world = running_example()
    truth = lt.limit(f, xi, world, nu=1.0).coef[0]
    coef, ends = surrogate.interval_runs(runs=200)
    held = ((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean()
    assert abs(held - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 200)
    assert len(surrogate.intervals(coef, ends, float(truth)).axes) == 1
