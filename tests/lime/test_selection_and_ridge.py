"""`lime`'s feature selection and ridge from sums, against `lime`'s own on the rows."""

import numpy as np
import pytest
from lime.lime_base import LimeBase
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge

from limetutor.lime import selection_and_ridge as rules

RUNS, N, D = 6, 80, 8


def neighbourhoods(numbers: bool = False):
    """Rows as `lime` has them, xi's first, with responses and weights that differ widely."""
    rng = np.random.default_rng(3)
    for _ in range(RUNS):
        rows = rng.normal(1, 1, (N, D)) if numbers else rng.integers(0, 2, (N, D)).astype(float)
        rows[0] = rng.normal(1, 1, D) if numbers else 1.0
        y = rows @ np.linspace(2, 0.1, D) + rows[:, 0] * rows[:, 1] + rng.normal(0, 1, N)
        weights = np.exp(-np.sum((rows - rows[0]) ** 2, axis=1) / 3)
        yield rows, y, weights


def products_of(runs):
    found = []
    for rows, y, weights in runs:
        columns = np.column_stack([np.ones(len(y)), rows - rows[0], y - y[0]])
        found.append((columns * weights[:, None]).T @ columns)
    return np.array(found)


def sums_of(runs):
    return rules.Moments.of(products_of(runs))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("k", [1, 3, 7, D])
@pytest.mark.parametrize("name", rules.SELECTIONS)
def test_what_lime_chooses_and_fits(name, k, numbers):
    runs = list(neighbourhoods(numbers))
    sums = sums_of(runs)
    for r, (rows, y, weights) in enumerate(runs):
        one = rules.Moments(*(part[r : r + 1] for part in sums))
        chosen = rules.SELECTIONS[name](one, k, rows[0])
        fit = rules.ridge(one, 1.0, chosen)
        theirs = LimeBase(lambda w: w, random_state=0).explain_instance_with_data(
            rows, y[:, None], weights, 0, k, feature_selection=name
        )
        intercept, pairs, score, local = theirs
        expected = np.zeros(D)
        for j, value in pairs:
            expected[j] = value
        assert set(np.flatnonzero(chosen[0])) == {j for j, _ in pairs}
        np.testing.assert_allclose(fit.coef[0], expected, atol=1e-9)
        assert fit.local[0] + y[0] == pytest.approx(local[0], abs=1e-9)
        assert fit.local[0] + y[0] - rows[0] @ fit.coef[0] == pytest.approx(intercept, abs=1e-9)
        assert fit.score[0] == pytest.approx(score, abs=1e-9)


def test_up_to_six_features_are_selected_forward(monkeypatch):
    """... and more by the highest weights, as in `lime`."""
    for name in ("forward_selection", "highest_weights"):
        monkeypatch.setattr(rules, name, lambda sums, k, at_xi, name=name: name)
    chosen = [rules.auto(None, k, None) for k in (1, 6, 7)]
    assert chosen == ["forward_selection", "forward_selection", "highest_weights"]


def test_runs_together_are_runs_alone():
    sums = sums_of(neighbourhoods())
    lead = np.ones(D)
    for rule in rules.SELECTIONS.values():
        together = rule(sums, 3, lead)
        alone = [
            rule(rules.Moments(*(part[r : r + 1] for part in sums)), 3, lead)[0]
            for r in range(RUNS)
        ]
        assert np.array_equal(together, alone)


def test_a_regressor_that_never_varies_gets_nothing():
    runs = [(rows * np.arange(D), y, w) for rows, y, w in neighbourhoods(True)]  # column 0 is 0
    sums = sums_of(runs)
    for penalty in (0.0, 1.0):
        assert np.all(rules.ridge(sums, penalty).coef[:, 0] == 0)
    chosen = rules.forward_selection(sums, D - 1, np.ones(D))
    assert not chosen[:, 0].any()


def test_a_constant_response_is_fitted():
    runs = [(rows, np.full(N, 4.0), w) for rows, _, w in neighbourhoods()]
    fit = rules.ridge(sums_of(runs), 1.0)
    assert np.all(fit.coef == 0) and np.all(fit.score == 1) and np.all(fit.local == 0)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(alpha=300.0), LinearRegression(), Lasso(0.1), HuberRegressor(),
        Ridge(positive=True), LinearRegression(positive=True), Ridge(fit_intercept=False),
        LinearRegression(fit_intercept=False),
    ],
)  # fmt: skip
def test_other_regressors(model):
    runs = list(neighbourhoods())
    chosen = np.ones((RUNS, D), bool)
    chosen[:, 2] = False
    penalty = rules.penalty_of(model)
    rows = rules.estimator_fits(model, runs, chosen)
    params = model.get_params()
    plain = params["fit_intercept"] and not params.get("positive") and "epsilon" not in params
    assert (penalty is not None) == (plain and not isinstance(model, Lasso))
    plainly = rules.ridge(sums_of(runs), getattr(model, "alpha", 0.0), chosen)
    if penalty is not None:
        for a, b in zip(plainly, rows, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-8)
    else:  # signs, an intercept of 0 or another loss: not the ridge of the same penalty
        assert np.max(np.abs(rows.coef - plainly.coef)) > 0.01
    theirs = LimeBase(lambda w: w).explain_instance_with_data(
        runs[0][0][:, chosen[0]], runs[0][1][:, None], runs[0][2], 0, D, "none", model
    )
    np.testing.assert_allclose(
        sorted(rows.coef[0, chosen[0]]), sorted(v for _, v in theirs[1]), atol=1e-9
    )


@pytest.mark.parametrize("slope", [1e-3, 1e-5, 1e-6])
def test_forward_selection_sees_small_gains(slope):
    """A second feature whose share of the response is down to 1e-12, before a third without any."""
    rng = np.random.default_rng(0)
    rows = (rng.random((2000, 3)) < 0.5).astype(float)
    y = rows[:, 0] + slope * rows[:, 2]
    run = (rows, y, np.ones(len(rows)))
    assert rules.forward_selection(sums_of([run]), 2, np.ones(3)).tolist() == [[True, False, True]]


def test_the_first_order_of_a_fit_has_mean_0():
    """Mean sums are those of all runs together; a small step from them moves fits as it says."""
    products = products_of(neighbourhoods())
    sums = rules.Moments.of(products)
    mean = rules.Moments.of(products.mean(axis=0)[None])
    first = rules.linearised(mean, sums, 1.0)
    np.testing.assert_allclose(first.mean(axis=0), 0, atol=1e-12)
    step = 1e-6
    near = rules.Moments.of(products.mean(axis=0) + step * (products - products.mean(axis=0)))
    moved = (rules.ridge(near, 1.0).coef - rules.ridge(mean, 1.0).coef) / step
    np.testing.assert_allclose(moved, first, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("model", [Ridge, "ridge", 3])
def test_what_is_no_regressor(model):
    with pytest.raises(TypeError, match="model_regressor must be a scikit-learn regressor"):
        rules.penalty_of(model)
