"""Real estimators, called as they were fitted, with the output that was asked for."""

import numpy as np
import pandas as pd
import pytest
from sentences import one_sentence
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import limetutor as lt

DIABETES = load_diabetes(as_frame=True)
CANCER = load_breast_cancer(as_frame=True)
IRIS = load_iris(as_frame=True)

REGRESSORS = [
    LinearRegression(),
    RandomForestRegressor(10, max_depth=4, random_state=0),
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    make_pipeline(StandardScaler(), Ridge()),
]
CLASSIFIERS = [
    RandomForestClassifier(10, max_depth=4, random_state=0),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def named(model):
    return type(model).__name__


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("model", REGRESSORS, ids=named)
def test_regressors_fitted_on_arrays_and_frames(model, frame):
    """Warnings are errors here, and scikit-learn warns when feature names come or go missing."""
    X = DIABETES.data if frame else DIABETES.data.to_numpy()
    model.fit(X, DIABETES.target)
    xi = X.iloc[4] if frame else X[4]
    e = lt.explain(model, xi, lt.Empirical(X), 2.0, n=500, seed=0, keep=True)
    assert e.prediction == pytest.approx(model.predict(X)[4], rel=1e-12)
    table = pd.DataFrame(e.x, columns=X.columns) if frame else e.x
    np.testing.assert_allclose(e.y, model.predict(table), rtol=1e-12)
    assert list(e.as_map()) == [1]


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=named)
def test_classifiers_are_explained_by_their_probabilities(model, frame):
    X = IRIS.data if frame else IRIS.data.to_numpy()
    model.fit(X, IRIS.target_names[IRIS.target])
    xi = X.iloc[60] if frame else X[60]
    world = lt.Empirical(X)
    kinds = ["setosa", "versicolor", "virginica"]
    by_class = [lt.explain(model, xi, world, 2.0, n=500, seed=0, output=k) for k in kinds]
    by_column = [lt.explain(model, xi, world, 2.0, n=500, seed=0, output=k) for k in range(3)]
    for j in range(3):
        assert by_class[j].prediction == pytest.approx(model.predict_proba(X)[60, j], rel=1e-12)
        np.testing.assert_array_equal(by_class[j].coef, by_column[j].coef)
        assert list(by_class[j].as_map()) == [kinds[j]]
        assert list(by_column[j].as_map()) == [j]
    # probabilities add up to one, so coefficients add up to zero
    np.testing.assert_allclose(sum(e.coef for e in by_class), 0, atol=1e-12)
    assert sum(e.intercept for e in by_class) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
def test_the_method_of_a_model_is_explained_like_the_model(frame):
    """`explain(model.predict_proba, ...)` is what users of `lime` type."""
    X = CANCER.data.iloc[:, :6] if frame else CANCER.data.iloc[:, :6].to_numpy()
    model = RandomForestClassifier(10, max_depth=3, random_state=0)
    model.fit(X, CANCER.target_names[CANCER.target])
    xi, world = (X.iloc[0] if frame else X[0]), lt.Empirical(X)  # areas of a thousand: a wide nu
    of_model = lt.explain(model, xi, world, 500.0, n=500, seed=0, output="benign")
    of_method = lt.explain(model.predict_proba, xi, world, 500.0, n=500, seed=0, output="benign")
    np.testing.assert_array_equal(of_model.coef, of_method.coef)
    regressor = RandomForestRegressor(5, random_state=0).fit(X, CANCER.target)
    assert lt.explain(regressor.predict, xi, world, 500.0, n=500, seed=0).prediction > -1


def test_a_pipeline_with_text_columns():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 300),
            "town": rng.choice(["Berlin", "Paris", "Rome"], 300),
            "zip": rng.choice(["10115", "75001"], 300),  # text, although it looks like numbers
            "income": rng.normal(3, 1, 300),
        }
    )
    y = frame["income"] + 2 * (frame["town"] == "Rome") - 1.5 * (frame["zip"] == "75001")
    text = ["town", "zip"]
    model = make_pipeline(
        ColumnTransformer([("text", OneHotEncoder(), text)], remainder="passthrough"),
        LinearRegression(),
    ).fit(frame, y)
    world = lt.Empirical(frame, categorical=text)
    xi = frame[frame["town"] == "Rome"].iloc[0]
    e = lt.explain(model, xi, world, 100.0, n=4000, seed=0)
    assert e.prediction == pytest.approx(y[frame["town"] == "Rome"].iloc[0])
    own = 1.5 if xi["zip"] == "10115" else -1.5
    # the model is additive and exact; 4 standard errors of the sampling
    assert np.all(np.abs(e.coef[[1, 2]] - [2.0, own]) < 4 * e.stderr[[1, 2]])
    assert "town = Rome" in dict(e.as_list())


def test_functions_may_return_columns_lists_and_series():
    world, xi = lt.Gaussian(), [0.5, 0.5]
    plain = lt.explain(lambda x: x[:, 0], xi, world, 1.0, seed=0)
    for f in (
        lambda x: x[:, :1],
        lambda x: x[:, 0].tolist(),
        lambda x: pd.Series(x[:, 0], index=range(7, 7 + len(x))),
        lambda x: pd.DataFrame({"y": x[:, 0]}),
    ):
        np.testing.assert_array_equal(lt.explain(f, xi, world, 1.0, seed=0).coef, plain.coef)
    second = lt.explain(lambda x: x, xi, world, 1.0, seed=0, output=0)
    np.testing.assert_array_equal(second.coef, plain.coef)
    whole = lt.explain(lambda x: x[:, 0] > 0, xi, world, 1.0, seed=0)  # a decision, as 0 and 1
    assert whole.prediction == 1.0


def test_a_model_that_changes_its_input_changes_no_sample():
    def careless(x):
        y = x[:, 0].copy()
        x[:] = 0
        return y

    world, xi = lt.Gaussian(), [0.5, 0.5]
    plain = lt.explain(lambda x: x[:, 0], xi, world, 1.0, seed=0, keep=True)
    hurt = lt.explain(careless, xi, world, 1.0, seed=0, keep=True)
    np.testing.assert_array_equal(hurt.coef, plain.coef)
    np.testing.assert_array_equal(hurt.x, plain.x)
    np.testing.assert_array_equal(hurt.xi, plain.xi)


def test_a_model_fitted_on_an_array_with_text_gets_an_array_with_text():
    table = np.array([["red", 1.0], ["blue", 2.0], ["red", 3.0], ["blue", 5.0]] * 5, dtype=object)
    encode = ColumnTransformer([("colour", OneHotEncoder(), [0])], remainder="passthrough")
    model = make_pipeline(encode, LinearRegression()).fit(table, 10.0 * (table[:, 0] == "red"))
    e = lt.explain(model, table[0], lt.Empirical(table, categorical=[0]), 5.0, n=500, seed=0)
    assert e.coef == pytest.approx([10.0, 0.0], abs=1e-9)


def test_functions_that_cannot_be_called_so_are_refused_and_their_own_errors_pass():
    xi, world = [0.1, 0.2], lt.Gaussian()
    with pytest.raises(TypeError, match=r"^f must take one argument, the rows \(n, d\), but"):
        lt.explain(lambda: 1.0, xi, world, 1.0)
    with pytest.raises(TypeError, match=r"^kernel must take four arguments, \(x, z, xi, nu\), but"):
        lt.explain(lt.Linear([1, 2]), xi, world, 1.0, kernel=lambda x, nu: 1.0)

    def own(x):
        raise TypeError("mine")

    with pytest.raises(TypeError, match=r"^mine$"):
        lt.explain(own, xi, world, 1.0)


def test_true_is_a_class_and_no_column():
    model = LogisticRegression().fit(IRIS.data.to_numpy(), IRIS.target == 0)
    at = {"xi": IRIS.data.to_numpy()[0], "world": lt.Empirical(IRIS.data.to_numpy()), "nu": 2.0}
    yes, no = (lt.explain(model, **at, output=o, n=200, seed=0).prediction for o in (True, False))
    assert yes + no == pytest.approx(1) and yes > 0.5
    with pytest.raises(ValueError, match="output must be a column from 0 to 3, got True"):
        lt.explain(lambda x: x, **at, output=True)
    with pytest.raises(ValueError, match=r"output must be a class of .*, got .*\.$"):
        lt.explain(model, **at, output=IRIS.data)
    for same in (["yes", "yes"], [1.0, 1]):  # found by attack: the first column was explained
        model.classes_ = np.array(same, object)
        with pytest.raises(ValueError, match=r"f must have classes that differ, got \["):
            lt.explain(model, **at, output=same[1])


def test_an_estimator_fitted_on_numbers_as_objects_is_one_sentence():
    """Zip codes for instance, in a column that once held text; scikit-learn says "ufunc 'isnan'"."""
    codes = np.resize(np.array([2139, 10001, 94110], dtype=object), 60)
    frame = pd.DataFrame({"a": np.arange(60.0) % 7, "code": codes})
    labels = ColumnTransformer([("code", OneHotEncoder(), ["code"])], remainder="passthrough")
    model = make_pipeline(labels, LinearRegression()).fit(frame, frame["a"])
    world = lt.Empirical(frame, categorical=["code"])
    with pytest.raises(ValueError, match=r"^f must be fitted on numbers or on texts, but"):
        lt.explain(model, frame.iloc[0], world, 1.0, 500, 0, kernel="mismatch")
    for dtype in (int, str):
        model.fit(frame.astype({"code": dtype}), frame["a"])
        world = lt.Empirical(frame.astype({"code": dtype}), categorical=["code"])
        xi = frame.astype({"code": dtype}).iloc[0]
        found = lt.explain(model, xi, world, 1.0, 500, 0, kernel="mismatch")
        assert found.prediction == pytest.approx(0, abs=1e-9)


def test_columns_of_other_methods_are_classes_too():
    X = IRIS.data.to_numpy()
    model = LogisticRegression(max_iter=500).fit(X, np.array([3, 1, 2])[IRIS.target])
    world = lt.Empirical(X)
    for method in (model.decision_function, model.predict_log_proba, model.predict_proba):
        for column, label in enumerate(model.classes_):
            found = lt.explain(method, X[0], world, 2.0, n=200, seed=0, output=label)
            assert found.prediction == pytest.approx(method(X[:1])[0, column])
        one_sentence(
            lambda m=method: lt.explain(m, X[0], world, 2.0, output=0), "output must be a class"
        )
    pairs = SVC(decision_function_shape="ovo").fit(X, IRIS.target + 1)  # of classes, three of them
    found = lt.explain(pairs.decision_function, X[0], world, 2.0, n=200, seed=0, output=0)
    assert found.prediction == pytest.approx(pairs.decision_function(X[:1])[0, 0])
