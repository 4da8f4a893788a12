"""Every registered family: the form of a fitted model predicts what the model predicts."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import all_estimators
from threadpoolctl import threadpool_limits

import limetutor as lt
from limetutor.core.problem import Problem
from limetutor.exact.forms import Units
from limetutor.exact.read_sklearn import SCALERS
from limetutor.exact.readers import FAMILIES, features_of, form_of
from limetutor.exact.trees import Trees

RNG = np.random.default_rng(8)
X = RNG.normal(size=(80, 3)) * [1.0, 3.0, 0.2] + [0.0, 5.0, -1.0]
Y = X @ [1.0, -0.4, 3.0] + np.sin(2 * X[:, 0])
CLASS = np.array(["no", "yes"])[(np.median(Y) < Y).astype(int)]
FRAME = pd.DataFrame(X, columns=["size", "age", "price"])
# rows near the training set, and far from it
ROWS = np.concatenate([X[:40], RNG.standard_t(2, size=(160, 3)) * [2.0, 6.0, 1.0]])
CLASSES = {name: cls for name, cls in all_estimators() if ("sklearn", name) in FAMILIES}

# what a class needs beyond its defaults to be fitted here, and quickly
OPTIONS: dict[str, dict[str, Any]] = {
    "GaussianProcessRegressor": {
        "kernel": ConstantKernel(2.0) * RBF([1.0, 2.0, 0.5]) + RBF(3.0) + WhiteKernel(0.1),
        "optimizer": None,
        "normalize_y": True,
    },
    "GradientBoostingRegressor": {"n_estimators": 20},
    "HistGradientBoostingRegressor": {"max_iter": 20, "min_samples_leaf": 3},
    "LogisticRegressionCV": {"Cs": 2, "cv": 2},
    "KernelRidge": {"kernel": "rbf", "alpha": 0.1},
    "MLPRegressor": {"hidden_layer_sizes": (6,), "max_iter": 50, "random_state": 0},
    "Pipeline": {"steps": [("scale", StandardScaler()), ("ridge", Ridge())]},
    **{
        name: {"n_estimators": 7, "max_depth": 5, "random_state": 0}
        for name in CLASSES
        if name.startswith(("RandomForest", "ExtraTrees"))
    },
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Small models in many threads wait for each other, the longer the busier the machine is."""
    with threadpool_limits(1):
        yield


def made(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some classes are on their way out
        return clone(CLASSES[name](**OPTIONS.get(name, {})))


def fitted(model: Any, table: Any = X) -> Any:
    """The model fitted to what it is for; how well is not asked."""
    name = type(model).__name__
    y: Any = CLASS if hasattr(model, "predict_proba") or name.endswith("Classifier") else Y
    if name.startswith("MultiTask"):
        y = np.stack([Y, -2 * Y + 1], axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(table, y)


def output_of(model: Any) -> Any:
    if type(model).__name__.startswith("MultiTask"):
        return 1
    return "yes" if hasattr(model, "classes_") else None


def predicted(model: Any, rows: Any, output: Any) -> np.ndarray:
    """What the model itself says, by scikit-learn alone."""
    if hasattr(model, "classes_"):
        return model.predict_proba(rows)[:, list(model.classes_).index(output)]
    y = model.predict(rows)
    return y if y.ndim == 1 else y[:, 0 if output is None else output]


def assert_agrees(model: Any, output: Any = None) -> None:
    form = form_of(model, output)
    assert isinstance(form, lt.core.models.Form)
    expected = predicted(model, ROWS, output)
    np.testing.assert_allclose(form(ROWS), expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_every_family_is_a_class_of_its_package():
    leaving = {("sklearn", "PassiveAggressiveRegressor")}  # scikit-learn 1.10 has it no more
    elsewhere = {key for key in FAMILIES if key[0] != "sklearn"}  # see test_boosters.py
    assert {package for package, _ in elsewhere} <= {"xgboost", "lightgbm", "catboost", "limetutor"}
    assert set(FAMILIES) - {("sklearn", name) for name in CLASSES} - elsewhere <= leaving


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_the_form_of_a_fitted_model_predicts_what_the_model_does(name):
    model = fitted(made(name))
    assert_agrees(model, output_of(model))
    assert features_of(model) == 3


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_model_fitted_on_a_frame_is_read_in_the_order_of_the_world(name):
    model = fitted(made(name), FRAME[["price", "size", "age"]])
    output = output_of(model)
    setting = Problem.of(model, FRAME.iloc[0], lt.Empirical(FRAME), 1.0, output=output)
    frame = pd.DataFrame(ROWS, columns=list(FRAME))
    expected = predicted(model, frame[["price", "size", "age"]], output)
    scale = 1e-6 * np.abs(expected).max()
    np.testing.assert_allclose(setting.form(ROWS), expected, rtol=1e-6, atol=scale)
    np.testing.assert_allclose(setting.predict(ROWS), expected, rtol=1e-12, atol=1e-14)


# one class for each function that makes forms
MEMBERS = {FAMILIES["sklearn", name]: name for name in sorted(CLASSES)}


@pytest.mark.parametrize("name", MEMBERS.values())
def test_limits_at_the_end_of_the_training_range_are_those_beside_it(name):
    """With the Laplace kernel the box of such an instance has a side without width."""
    model = fitted(made(name))
    output, world, end = output_of(model), lt.Empirical(X), X.max(axis=0)
    at, beside = (
        lt.limit(model, xi, world, 1.0, "laplace", output=output) for xi in (end, end - 1e-9)
    )
    assert at.method == beside.method != "monte carlo"
    np.testing.assert_allclose(at.coef, beside.coef, rtol=1e-5, atol=1e-7 * np.abs(Y).max())


def test_models_fitted_on_sparse_tables():
    read = []
    for name in sorted(CLASSES):
        model = make_pipeline(MaxAbsScaler(), Ridge()) if name == "Pipeline" else made(name)
        try:
            fitted(model, sparse.csr_matrix(X))
        except (TypeError, ValueError):
            continue  # not every estimator takes one
        assert_agrees(model, output_of(model))
        read.append(name)
    assert len(read) >= 15 and {"KernelRidge", "SVR", "Lasso", "Pipeline"} <= set(read)


LAST = [Ridge(), KernelRidge(kernel="rbf", gamma=0.3), DecisionTreeRegressor(max_depth=4)]
PIPELINES = {
    "standard": [StandardScaler()],
    "standard without mean": [StandardScaler(with_mean=False)],
    "standard without deviation": [StandardScaler(with_std=False)],
    "range": [MinMaxScaler((-1, 3))],
    "robust": [RobustScaler()],
    "robust without centre": [RobustScaler(with_centering=False)],
    "robust without scale": [RobustScaler(with_scaling=False)],
    "largest": [MaxAbsScaler()],
    "several": [RobustScaler(), MinMaxScaler(), StandardScaler()],
    "passthrough first": ["passthrough", StandardScaler()],
    "passthrough between": [StandardScaler(), "passthrough", MaxAbsScaler()],
    "nothing": [],
    "passthrough alone": ["passthrough"],
    "a pipeline in it": [make_pipeline("passthrough", StandardScaler())],
}


@pytest.mark.parametrize("last", LAST, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "a pipeline in it"])
def test_scalers_move_the_form_behind_them(name, last):
    steps = [(f"step{k}", step) for k, step in enumerate([*PIPELINES[name], last])]
    model = fitted(Pipeline(steps))
    assert_agrees(model)
    assert features_of(model) == 3
    on_frame = fitted(Pipeline(steps), FRAME[["age", "price", "size"]])
    setting = Problem.of(on_frame, FRAME.iloc[0], lt.Empirical(FRAME), 1.0)
    assert setting.form(setting.xi[None])[0] == pytest.approx(setting.prediction, rel=1e-6)
    expected = on_frame.predict(FRAME[["age", "price", "size"]])
    np.testing.assert_allclose(setting.predict(X), expected, rtol=1e-12)


def test_every_scaler_is_in_a_pipeline_above():
    used = {("sklearn", type(step).__name__) for steps in PIPELINES.values() for step in steps}
    assert set(SCALERS) <= used


def test_classes_behind_a_scaler():
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, CLASS)
    for output in ("no", "yes"):
        assert_agrees(model, output)


def test_pipelines_of_pipelines_are_sampled():
    model = fitted(make_pipeline(*PIPELINES["a pipeline in it"], Ridge()))
    assert form_of(model) is None and features_of(model) == 3
    assert lt.limit(model, X[0], lt.Empirical(X), 2.0, samples=500).method == "monte carlo"


class Doubled(TransformerMixin, BaseEstimator):
    """A transformer of somebody's own, which does not say how many features it saw."""

    def fit(self, x: Any, y: Any = None) -> Any:
        self.fitted_ = True
        return self

    def transform(self, x: Any) -> Any:
        return np.concatenate([x, x], axis=1)


def test_a_step_that_does_not_say_how_many_features_it_takes_is_not_asked():
    model = make_pipeline(Doubled(), Ridge()).fit(X, Y)
    assert features_of(model) is None
    found = lt.limit(model, X[0], lt.Empirical(X), 2.0, samples=500)
    assert found.method == "monte carlo"
    assert found.prediction == pytest.approx(model.predict(X[:1])[0])


# more of them, whose limits are sampled, are in tests/precision/test_monte_carlo.py
WITHOUT_FORM = [
    make_pipeline(PolynomialFeatures(2), Ridge()),
    make_pipeline(FunctionTransformer(np.abs), Ridge()),
    make_pipeline(StandardScaler(), "passthrough"),
]


@pytest.mark.parametrize("model", WITHOUT_FORM, ids=str)
def test_what_has_no_form(model):
    assert form_of(model.fit(X, Y)) is None


def test_models_that_were_not_fitted_say_so_themselves():
    for name in CLASSES:
        if name == "GaussianProcessRegressor":  # predicts without having been fitted
            with pytest.raises(ValueError, match=r"f must be fitted .* with no training points"):
                form_of(made(name))
            continue
        with pytest.raises(NotFittedError):
            form_of(made(name))


def test_a_tree_splits_where_single_precision_does():
    """Values within the rounding of a threshold go where scikit-learn sends them."""
    model = DecisionTreeRegressor(random_state=0).fit(X, Y)
    form = form_of(model)
    assert isinstance(form, Trees)
    cuts = model.tree_.threshold[model.tree_.feature >= 0]
    feature = model.tree_.feature[model.tree_.feature >= 0]
    for step in (-3e-8, -1e-9, 0.0, 1e-9, 3e-8):
        rows = np.tile(X.mean(axis=0), (len(cuts), 1))
        rows[np.arange(len(cuts)), feature] = cuts * (1 + step)
        np.testing.assert_allclose(form(rows), model.predict(rows), rtol=1e-12)


def test_activations_of_a_net():
    for activation in ("identity", "relu", "tanh", "logistic"):
        small = {"hidden_layer_sizes": (5,), "max_iter": 40, "random_state": 1}
        model = fitted(MLPRegressor(activation=activation, **small))
        assert isinstance(form_of(model), lt.Linear if activation == "identity" else Units)
        assert_agrees(model)
