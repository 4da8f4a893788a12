"""Boosted trees of other packages: their forms predict what they predict."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import limetutor as lt
from limetutor.exact.readers import form_of
from limetutor.exact.trees import Trees

RNG = np.random.default_rng(4)
X = RNG.normal(size=(300, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, -1.0]
X[:, 1] = np.round(X[:, 1])  # ties, and thresholds that x can equal
Y = X @ [1.0, -0.4, 3.0] + np.sin(2 * X[:, 0]) * X[:, 1]
THREE = np.array([5, 7, 9])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
# rows of the training set, far ones, and ones that lie on thresholds in single precision
ROWS = np.concatenate([X[:80], RNG.standard_t(2, size=(120, 3)) * [2.0, 6.0, 1.0]])
ROWS = np.concatenate([ROWS, ROWS.astype(np.float32).astype(float)])
FRAME = pd.DataFrame(X, columns=["size", "age", "price"])
WORLD = lt.Empirical(X)


def regressors(name: str) -> list[Any]:
    """Fitted regressors whose prediction is a sum of leaves."""
    package = pytest.importorskip(name)
    few = {"n_estimators": 20, "random_state": 0}
    if name == "xgboost":
        made = [
            package.XGBRegressor(max_depth=4, **few),
            package.XGBRegressor(booster="dart", rate_drop=0.3, max_depth=3, **few),
            package.XGBRegressor(tree_method="exact", base_score=0.0, max_depth=3, **few),
            package.XGBRegressor(num_parallel_tree=3, subsample=0.5, max_depth=3, **few),
            package.XGBRegressor(objective="reg:absoluteerror", max_depth=3, **few),
        ]
        with warnings.catch_warnings():  # deprecated since XGBoost 3.4
            warnings.filterwarnings("ignore", "`XGBRFRegressor`", FutureWarning)
            made.append(package.XGBRFRegressor(max_depth=4, **few))
    elif name == "lightgbm":
        quiet = {"verbose": -1, "min_child_samples": 5, **few}
        forest = {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1}
        made = [
            package.LGBMRegressor(**quiet),
            package.LGBMRegressor(**quiet, boosting_type="dart"),
            package.LGBMRegressor(**quiet, **forest),
            package.LGBMRegressor(**quiet, objective="huber"),
            package.LGBMRegressor(**{**quiet, "min_child_samples": 500}),  # nothing to split
        ]
    else:
        quiet = {"verbose": 0, "allow_writing_files": False, **few}
        made = [
            package.CatBoostRegressor(depth=4, **quiet),
            package.CatBoostRegressor(grow_policy="Lossguide", **quiet),
            package.CatBoostRegressor(grow_policy="Depthwise", loss_function="MAE", **quiet),
        ]
    return [_fit(model, X, Y) for model in made]


def _fit(model: Any, table: Any, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, y)


def agrees(found: np.ndarray, expected: np.ndarray) -> None:
    """To 1e-6: XGBoost adds up in single precision."""
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


BOOSTERS = ("xgboost", "lightgbm", "catboost")


@pytest.mark.parametrize("name", BOOSTERS)
def test_the_form_of_a_booster_predicts_what_the_booster_does(name):
    for model in regressors(name):
        form = form_of(model)
        assert isinstance(form, Trees)
        agrees(form(ROWS), np.ravel(model.predict(ROWS)))
        assert lt.limit(model, X[0], WORLD, 1.0).method == "exact"


@pytest.mark.parametrize("name", BOOSTERS)
def test_a_booster_fitted_on_a_frame_is_read_in_the_order_of_the_world(name):
    model = regressors(name)[0].__class__(n_estimators=5)
    if name == "catboost":
        model.set_params(verbose=0, allow_writing_files=False)
    model = _fit(model, FRAME[["price", "size", "age"]], Y)
    expected = np.ravel(model.predict(FRAME[["price", "size", "age"]]))
    found = lt.limits(model, FRAME, lt.Empirical(FRAME), 1.0, "mismatch")
    agrees(found.prediction, expected)
    assert set(found.method) == {"exact"}


@pytest.mark.parametrize("name", BOOSTERS)
def test_early_stopping_counts_the_trees_that_predict(name):
    model = regressors(name)[0]
    options: dict[str, Any] = {"verbose": False}
    if name == "xgboost":
        model = type(model)(n_estimators=200, early_stopping_rounds=2, learning_rate=1.0)
    elif name == "lightgbm":
        package = pytest.importorskip(name)
        model = type(model)(n_estimators=200, learning_rate=1.0, verbose=-1)
        options = {"callbacks": [package.early_stopping(2, verbose=False)]}
    else:
        stop = {"early_stopping_rounds": 2, "learning_rate": 1.0, "allow_writing_files": False}
        model = type(model)(n_estimators=200, **stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LightGBM is renaming eval_set
        model.fit(X[:150], Y[:150], eval_set=[(X[150:], Y[150:])], **options)
    form = form_of(model)
    assert isinstance(form, Trees) and len(form.roots) < 200
    agrees(form(ROWS), model.predict(ROWS))


def test_categorical_splits_are_refused():
    lightgbm = pytest.importorskip("lightgbm")
    label = RNG.integers(0, 8, 300)
    small = {"min_child_samples": 2, "min_data_per_group": 1, "cat_smooth": 0}
    model = lightgbm.LGBMRegressor(n_estimators=3, verbose=-1, **small)
    model.fit(np.column_stack([X, label]), label % 3 * 1.0, categorical_feature=[3])
    with pytest.raises(ValueError, match="split at thresholds"):
        form_of(model)


def test_zeros_that_count_as_missing_are_sampled():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    assert form_of(xgboost.XGBRegressor(n_estimators=2, missing=0.0).fit(X, Y)) is None
    model = lightgbm.LGBMRegressor(n_estimators=2, zero_as_missing=True, verbose=-1)
    assert form_of(model.fit(np.where(X < 0, 0.0, X), Y)) is None


def test_a_forest_of_no_trees_is_a_constant():
    np.testing.assert_array_equal(Trees.stack([], 1.5)(ROWS[:3]), [1.5, 1.5, 1.5])


@pytest.mark.parametrize("name", ["l1", "mae", "mse", "rmse", "mean_absolute_percentage_error"])
def test_an_objective_of_lightgbm_by_any_of_its_names(name):
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRegressor(n_estimators=8, verbose=-1, objective=name).fit(X, Y)
    np.testing.assert_allclose(form_of(model)(ROWS), model.predict(ROWS), rtol=1e-6, atol=1e-6)
    rooted = lightgbm.LGBMRegressor(n_estimators=8, verbose=-1, reg_sqrt=True).fit(X, Y)
    assert form_of(rooted) is None  # predicts the square of the sum


def test_sums_in_single_precision_are_not_taken_for_another_model():
    """XGBoost adds leaves to a start of 10^4 in single precision: its prediction is off by 1e-4."""
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=60, base_score=1e4, random_state=0).fit(X, Y)
    found = lt.limits(model, X[:20], WORLD, 2.0, "mismatch")
    assert set(found.method) == {"exact"}
    assert lt.limit(model, X[3], WORLD, 2.0, "mismatch").coef == pytest.approx(found.coef[3])


@pytest.mark.parametrize("objective", ["reg:squarederror", "binary:logistic", "multi:softprob"])
@pytest.mark.parametrize("named", [False, True])
def test_a_booster_is_called_with_its_own_matrix(objective, named):
    import xgboost

    y = {"reg:squarederror": Y, "binary:logistic": np.median(Y) < Y}.get(objective, THREE // 3)
    how = {"objective": objective} | ({"num_class": 4} if "multi" in objective else {})
    data = xgboost.DMatrix(FRAME if named else X, y)
    booster = xgboost.train(how, data, 5)
    world = lt.Empirical(FRAME if named else X)
    output = 2 if "multi" in objective else None
    theirs = booster.predict(data)
    found = lt.limit(booster, X[3], world, 1.0, "mismatch", output=output, samples=500)
    assert found.prediction == pytest.approx(theirs[3] if output is None else theirs[3, output])
    if named:
        with pytest.raises(ValueError, match="f must be fitted on the columns of the world"):
            lt.limit(booster, X[3], lt.Empirical(FRAME.rename(columns={"age": "years"})), 1.0)


def test_losses_of_catboost_with_a_link_are_sampled():
    """Their prediction is an exponential of the sum; no form is tried, so nothing warns."""
    catboost = pytest.importorskip("catboost")
    quiet = {"n_estimators": 4, "verbose": False, "allow_writing_files": False}
    for loss in ("Poisson", "Tweedie:variance_power=1.5"):
        model = catboost.CatBoostRegressor(loss_function=loss, **quiet).fit(X, np.abs(Y))
        assert form_of(model) is None
        assert lt.limit(model, X[0], lt.Empirical(X), 1.0, samples=300).method == "monte carlo"


@pytest.mark.parametrize("policy", ["SymmetricTree", "Lossguide", "Depthwise"])
def test_catboost_compares_numbers_in_single_precision(policy):
    """A double just above a border, which rounds to it, goes left, and one just below goes left too."""
    catboost = pytest.importorskip("catboost")
    quiet = {"n_estimators": 3, "max_depth": 2, "verbose": False, "allow_writing_files": False}
    model = catboost.CatBoostRegressor(grow_policy=policy, **quiet).fit(X, Y)
    form = form_of(model)
    inner = form.left >= 0
    for feature, threshold in zip(form.feature[inner], form.threshold[inner], strict=True):
        border, rows = np.float32(threshold), np.tile(X[0], (5, 1))
        above = np.nextafter(border, np.float32(np.inf))
        middle = (float(border) + float(above)) / 2
        near = [np.nextafter(float(border), np.inf), middle, np.nextafter(middle, 9e9)]
        rows[:, feature] = [border, *near, above]
        agrees(form(rows), model.predict(rows))
