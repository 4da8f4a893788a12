"""Margins: exact limits of classifiers, on the scale on which they add up."""

import warnings
from typing import Any

import numpy as np
import pytest
from sentences import one_sentence
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import limetutor as lt
from limetutor.exact.readers import form_of

RNG = np.random.default_rng(4)
X = np.round(RNG.normal(size=(300, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, -1.0], 1)
Y = X @ [1.0, -0.4, 3.0] + np.sin(2 * X[:, 0]) * X[:, 1]
TWO = np.array(["no", "yes"])[(np.median(Y) < Y).astype(int)]
THREE = np.array([5, 7, 9])[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]
ROWS = np.concatenate([X[:80], RNG.standard_t(2, size=(120, 3)) * [2.0, 6.0, 1.0]])
WORLD = lt.Empirical(X)


def agrees(found: np.ndarray, expected: np.ndarray) -> None:
    """To 1e-6: XGBoost adds up in single precision."""
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def classifiers(name: str, y: np.ndarray) -> list[Any]:
    if name == "sklearn":
        made: list[Any] = [
            HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5),
            GradientBoostingClassifier(n_estimators=10, random_state=0),
            GradientBoostingClassifier(n_estimators=10, init="zero", random_state=0),
            LogisticRegression(),
            RidgeClassifier(),
            make_pipeline(StandardScaler(), LogisticRegression()),
        ]
        return [model.fit(X, y) for model in made]
    package = pytest.importorskip(name)
    y = np.unique(y, return_inverse=True)[1]  # XGBoost wants classes 0, 1, ...
    kind, quiet = {
        "xgboost": ("XGBClassifier", {}),
        "lightgbm": ("LGBMClassifier", {"verbose": -1, "min_child_samples": 5}),
        "catboost": ("CatBoostClassifier", {"verbose": 0, "allow_writing_files": False}),
    }[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [getattr(package, kind)(n_estimators=10, random_state=0, **quiet).fit(X, y)]


@pytest.mark.parametrize("name", ["sklearn", "xgboost", "lightgbm", "catboost"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_margins_are_exact_and_probabilities_are_not_changed(name, y):
    for model in classifiers(name, y):
        total = np.zeros(len(ROWS))
        for label in model.classes_:
            f = lt.margin(model, label)
            form = form_of(f)
            assert form is not None
            agrees(form(ROWS), f(ROWS))
            limit = lt.limit(f, X[0], WORLD, 1.0, "mismatch")
            assert limit.method == "exact"
            total += np.exp(f(ROWS))
        if hasattr(model, "predict_proba"):
            share = model.predict_proba(ROWS)[:, -1]
            odds = np.exp(f(ROWS))  # of the last class
            if len(model.classes_) == 2:
                np.testing.assert_allclose(odds / (1 + odds), share, rtol=1e-5, atol=1e-6)
            else:  # softmax of the margins
                np.testing.assert_allclose(odds / total, share, rtol=1e-5, atol=1e-6)


def test_a_probability_is_sampled_and_a_margin_is_not():
    model = HistGradientBoostingClassifier(max_iter=5).fit(X, TWO)
    sampled = lt.limit(model, X[0], WORLD, 1.0, output="yes", samples=2000)
    assert sampled.method == "monte carlo"
    no, yes = (lt.limit(lt.margin(model, label), X[0], WORLD, 1.0) for label in model.classes_)
    np.testing.assert_allclose(no.coef, -yes.coef)


def test_a_regressor_with_a_link_has_a_margin():
    model = HistGradientBoostingRegressor(loss="poisson", max_iter=5).fit(X, Y - Y.min())
    assert form_of(model) is None
    f = lt.margin(model)
    np.testing.assert_allclose(np.exp(f(ROWS)), model.predict(ROWS))
    agrees(form_of(f)(ROWS), f(ROWS))


def test_a_margin_of_a_model_without_a_form_is_sampled():
    model = SVC().fit(X, TWO)
    assert lt.limit(lt.margin(model, "yes"), X[0], WORLD, 1.0, samples=500).method == "monte carlo"


def test_what_has_no_margin_is_refused():
    unfit = [RandomForestClassifier(2).fit(X, TWO), GradientBoostingClassifier()]
    unfit += [pytest.importorskip("xgboost").XGBClassifier()]
    unfit += [pytest.importorskip("catboost").CatBoostClassifier()]
    for bad in unfit:
        one_sentence(lambda bad=bad: lt.margin(bad, "yes"), "model must be a fitted classifier")
    model = LogisticRegression().fit(X, TWO)
    one_sentence(lambda: lt.margin(model), "label must be a class")
    one_sentence(lambda: lt.margin(model, "perhaps"), "label must be a class of ['no', 'yes']")
    ask = lambda: lt.limit(lt.margin(model, "yes"), X[0], WORLD, 1.0, output="yes")  # noqa: E731
    one_sentence(ask, "output must be left out")


def test_the_margin_of_a_forest_of_lightgbm_is_its_raw_score():
    lightgbm = pytest.importorskip("lightgbm")
    forest = {"boosting_type": "rf", "subsample": 0.5, "subsample_freq": 1, "verbose": -1}
    model = lightgbm.LGBMClassifier(n_estimators=8, **forest).fit(X, TWO)
    form = form_of(lt.margin(model, "yes"))
    np.testing.assert_allclose(form(ROWS), model.predict(ROWS, raw_score=True), rtol=1e-9)


def test_a_boosted_regressor_of_scikit_learn_is_its_own_margin():
    model = GradientBoostingRegressor(n_estimators=4, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(lt.margin(model)(X), model.predict(X))
    one, other = (lt.limit(f, X[0], WORLD, 1.0).coef for f in (lt.margin(model), model))
    np.testing.assert_allclose(one, other, rtol=1e-9)
