"""lt.limit for every kind of model: against simulation, by ridge, by name, sampled, or refused."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import limetutor as lt
from limetutor.families import FAMILIES, form_of

RNG = np.random.default_rng(11)
ROWS = 240
X = np.column_stack(
    [
        RNG.normal(size=ROWS),
        3 + 2 * RNG.normal(size=ROWS),
        RNG.integers(0, 2, ROWS) - 0.4,  # two values: boxes that hold a point
        RNG.integers(0, 3, ROWS),  # three labels
    ]
)
Y = np.sin(2 * X[:, 0]) + 0.3 * (X[:, 1] - 3) * X[:, 2] + 0.5 * (X[:, 3] == 1)
HIGH = np.where(Y > 0.2, "yes", "no")
THREE = np.digitize(Y, [-0.2, 0.4])
XI, NU = np.array([0.5, 2.2, -0.4, 1.0]), 1.2
WORLDS = {
    "gaussian": lt.Gaussian(X.mean(0), X.std(0), p=[4, 3, 4, 2]),
    "empirical": lt.Empirical(X, p=4, categorical=[3]),
}
KERNELS = ("gaussian", "mismatch")


def net(activation, **options):
    options = {"hidden_layer_sizes": (6,), "max_iter": 300, "tol": 1.0, "random_state": 0} | options
    return MLPRegressor(activation=activation, solver="lbfgs", **options)


def fitted(model, y=Y):
    return model.fit(X, y)


PROCESS = GaussianProcessRegressor(
    2.0 * RBF(1.5) + WhiteKernel(0.1), optimizer=None, normalize_y=True
)
MODELS = {
    "Linear": (lt.Linear([1.0, -2.0, 0.5, 1.0], 3.0), None),
    "Quadratic": (lt.Quadratic(np.diag([1.0, 0.2, 0.5, -1.0]) + 0.1, [1.0, 0.0, 2.0, 0.0]), None),
    "Ridge": (fitted(Ridge()), None),
    "KernelRidge": (fitted(KernelRidge(kernel="rbf", alpha=0.1)), None),
    "SVR": (fitted(SVR()), None),
    "GaussianProcessRegressor": (fitted(PROCESS), None),
    "DecisionTreeRegressor": (fitted(DecisionTreeRegressor(max_depth=5, random_state=0)), None),
    "DecisionTreeClassifier": (
        fitted(DecisionTreeClassifier(max_depth=4, random_state=0), HIGH),
        "yes",
    ),
    "RandomForestRegressor": (fitted(RandomForestRegressor(8, max_depth=6, random_state=0)), None),
    "RandomForestClassifier": (
        fitted(RandomForestClassifier(8, max_depth=6, random_state=0), THREE),
        2,
    ),
    "ExtraTreesRegressor": (fitted(ExtraTreesRegressor(8, max_depth=6, random_state=0)), None),
    "ExtraTreesClassifier": (
        fitted(ExtraTreesClassifier(8, max_depth=6, random_state=0), HIGH),
        "no",
    ),
    "GradientBoostingRegressor": (
        fitted(GradientBoostingRegressor(n_estimators=20, random_state=0)),
        None,
    ),
    "HistGradientBoosting": (
        fitted(HistGradientBoostingRegressor(max_iter=10, random_state=0)),
        None,
    ),
    "LogisticRegression": (fitted(LogisticRegression(C=10), HIGH), "yes"),
    "the other class": (fitted(LogisticRegression(C=10), HIGH), "no"),
    "MLP tanh": (fitted(net("tanh")), None),
    "MLP logistic": (fitted(net("logistic")), None),
    "MLP relu": (fitted(net("relu")), None),
    "scaled SVR": (fitted(make_pipeline(StandardScaler(), SVR())), None),
    "scaled net": (fitted(make_pipeline(MinMaxScaler(), net("relu"))), None),
    "scaled logistic": (fitted(make_pipeline(StandardScaler(), LogisticRegression()), HIGH), "no"),
}


def runs(f, output, world, kernel, sampler="tilted", ridge=0.0, n=400, count=50):
    """Coefficients (count, d + 1) of that many runs of LIME, intercept first."""
    kept = lt.explain(
        f, XI, world, NU, count * n, 8, kernel, sampler, output=output, keep=True
    )  # independent samples, cut into runs: one call of f
    C = np.mean(kept.weights)
    found = []
    for part in np.split(np.arange(count * n), count):
        design = np.column_stack([np.ones(n), kept.z[part]])
        weighted = design * (kept.weights[part] / C)[:, None]
        penalty = ridge / C * np.diag([0.0, 1, 1, 1, 1])
        found.append(np.linalg.solve(weighted.T @ design + penalty, weighted.T @ kept.y[part]))
    return np.array(found)


def assert_within_four_errors(limit, found):
    error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    truth = np.array([limit.intercept, *limit.coef])
    assert np.all(np.abs(found.mean(axis=0) - truth) <= 4 * error + 1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", MODELS)
def test_the_mean_of_fifty_runs_is_at_the_limit(name, world, kernel):
    f, output = MODELS[name]
    limit = lt.limit(f, XI, WORLDS[world], NU, kernel, output=output)
    assert limit.method in ("exact", "quadrature") and np.all(limit.stderr == 0)
    assert limit.local_stderr == 0
    found = runs(f, output, WORLDS[world], kernel)
    assert_within_four_errors(limit, found)
    largest = np.max(np.abs(limit.coef))  # and the runs would tell a coefficient from 0
    assert largest > 10 * np.min(found.std(axis=0, ddof=1)) / np.sqrt(len(found))


@pytest.mark.parametrize("name", ["RandomForestRegressor", "MLP relu", "SVR"])
def test_weighted_runs_have_the_same_limit(name):
    f, output = MODELS[name]
    for world in WORLDS.values():
        found = runs(f, output, world, "gaussian", sampler="bins", n=1200)
        assert_within_four_errors(lt.limit(f, XI, world, NU, output=output), found)


@pytest.mark.parametrize("kernel", KERNELS)
def test_ridge_shrinks_the_limit_of_any_model(kernel):
    f, _ = MODELS["RandomForestRegressor"]
    for world in WORLDS.values():
        plain = lt.limit(f, XI, world, NU, kernel)
        ridge = 0.05 * 2000 * plain.C
        limit = lt.limit(f, XI, world, NU, kernel, ridge=ridge, n=2000)
        found = runs(f, None, world, kernel, ridge=ridge, n=2000)
        assert_within_four_errors(limit, found)
        assert np.all(np.abs(limit.coef) < 0.9 * np.abs(plain.coef))
        assert limit.local_prediction == pytest.approx(limit.intercept + limit.coef.sum())


LINEAR = [
    LinearRegression(),
    Lasso(0.01),
    ElasticNet(0.01),
    HuberRegressor(),
    LinearSVR(tol=0.1, random_state=0),
]


@pytest.mark.parametrize(
    "model",
    [*LINEAR, SVR(kernel="linear"), net("identity"), net("relu", hidden_layer_sizes=())],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'kernel', '')}",
)
def test_linear_estimators_are_linear_with_all_that_follows(model):
    for wrap in (lambda m: m, lambda m: make_pipeline(StandardScaler(), MinMaxScaler(), m)):
        f = wrap(model).fit(X, Y)
        at = f.predict(np.vstack([np.zeros(4), np.eye(4)]))
        same = lt.limit(lt.Linear(at[1:] - at[0], at[0]), XI, WORLDS["gaussian"], NU)
        limit = lt.limit(f, XI, WORLDS["gaussian"], NU)
        assert isinstance(limit.f, lt.Linear) and limit.method == "exact"
        np.testing.assert_allclose(limit.coef, same.coef, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(limit.local_error, same.local_error, atol=1e-10)
        np.testing.assert_array_equal(limit.critical_nu, same.critical_nu)
        assert np.any(np.isfinite(limit.critical_nu))


def test_critical_bandwidths_are_for_linear_models():
    assert np.all(np.isnan(lt.limit(MODELS["SVR"][0], XI, WORLDS["gaussian"], NU).critical_nu))
    linear = MODELS["Linear"][0]
    assert np.all(np.isnan(lt.limit(linear, XI, WORLDS["empirical"], NU).critical_nu))
    assert np.all(np.isnan(lt.limit(linear, XI, WORLDS["gaussian"], NU, "mismatch").critical_nu))


def test_several_outputs():
    both = np.column_stack([Y, -3 * Y])  # and so is whatever is linear in y
    for model in (Ridge(), KernelRidge(kernel="rbf"), RandomForestRegressor(3, random_state=0)):
        f = model.fit(X, both)
        first, second = (lt.limit(f, XI, WORLDS["empirical"], NU, output=k) for k in range(2))
        np.testing.assert_allclose(second.coef, -3 * first.coef, atol=1e-8)
        assert first.method == "exact"
        one_sentence(lambda f=f: lt.limit(f, XI, WORLDS["empirical"], NU), "output", "2 outputs")
    process = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None, normalize_y=True)
    twins = [lt.limit(process.fit(X, both), XI, WORLDS["empirical"], NU, output=k) for k in (0, 1)]
    np.testing.assert_allclose(twins[1].coef, -3 * twins[0].coef, atol=1e-8)
    nets = [
        lt.limit(fitted(net("tanh"), both), XI, WORLDS["empirical"], NU, output=k) for k in (0, 1)
    ]
    assert nets[0].prediction != nets[1].prediction and nets[1].method == "quadrature"


FRAME = pd.DataFrame(X, columns=["a", "b", "c", "e"])


@pytest.mark.parametrize(
    "model", [RandomForestRegressor(3, random_state=0), LinearRegression(), SVR()]
)
def test_a_model_fitted_on_columns_in_another_order(model):
    world = lt.Empirical(FRAME, categorical=["e"])
    straight = lt.limit(fitted(model), XI, lt.Empirical(X, categorical=[3]), NU)
    columns = ["c", "a", "e", "b"]
    mixed = model.fit(FRAME[columns], Y)
    limit = lt.limit(mixed, XI, world, NU)
    assert limit.method == "exact" and limit.names == ("a", "b", "c", "e")
    sampled = lt.limit(mixed.predict, XI, world, NU, samples=4000)
    assert np.all(np.abs(sampled.coef - limit.coef) < 4 * sampled.stderr + 1e-9)
    if not isinstance(model, RandomForestRegressor):  # a forest draws other columns
        np.testing.assert_allclose(limit.coef, straight.coef, atol=1e-9)


def test_text_columns_are_left_to_the_model():
    table = FRAME.assign(e=np.array(["red", "green", "blue"])[X[:, 3].astype(int)])
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["e"]), remainder="passthrough"),
        LinearRegression(),
    ).fit(table, Y)
    world = lt.Empirical(table, categorical=["e"])
    limit = lt.limit(model, table.iloc[0], world, NU, "mismatch", samples=3000)
    assert limit.method == "monte carlo"
    codes = lt.Empirical(X[:, :3])
    numbers = make_pipeline(StandardScaler(), LinearRegression()).fit(
        X[:, :3], model.predict(table)
    )
    close = lt.limit(numbers, X[0, :3], codes, NU, "mismatch")  # nearly the same without colours
    assert np.all(np.abs(limit.coef[:3] - close.coef) < 4 * limit.stderr[:3] + 0.05)


def test_categories_by_their_names_are_sampled():
    table = FRAME.assign(e=np.array(["red", "green", "blue"])[X[:, 3].astype(int)])
    model = HistGradientBoostingRegressor(categorical_features=["e"], max_iter=3).fit(table, Y)
    world = lt.Empirical(table, categorical=["e"])
    limit = lt.limit(model, table.iloc[0], world, NU, "mismatch", samples=500)
    assert limit.method == "monte carlo"


def sampled_models():
    yield "function", lambda x: np.sin(x[:, 0]) * x[:, 1], None
    yield "predict", MODELS["RandomForestRegressor"][0].predict, None
    yield "softmax", fitted(LogisticRegression(max_iter=500), THREE), 1
    yield (
        "boosted classes",
        fitted(GradientBoostingClassifier(n_estimators=3, random_state=0), HIGH),
        "yes",
    )
    yield (
        "net of classes",
        fitted(MLPClassifier((3,), max_iter=1, tol=9, random_state=0), HIGH),
        "no",
    )
    yield "two layers", fitted(net("tanh", hidden_layer_sizes=(3, 3))), None
    yield "log link", fitted(PoissonRegressor(), np.abs(Y)), None
    yield (
        "log link in trees",
        fitted(HistGradientBoostingRegressor(loss="poisson", max_iter=3), np.abs(Y)),
        None,
    )
    yield "clipping", fitted(make_pipeline(MinMaxScaler(clip=True), SVR())), None
    yield (
        "start",
        fitted(GradientBoostingRegressor(init=LinearRegression(), n_estimators=3, random_state=0)),
        None,
    )

    class Own(RandomForestRegressor):
        def predict(self, X):
            return -super().predict(X)

    yield "subclass", fitted(Own(3, random_state=0)), None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_has_no_form_is_sampled_and_says_so():
    world = WORLDS["empirical"]
    for name, f, output in sampled_models():
        limit = lt.limit(f, XI, world, NU, output=output, samples=500)
        assert limit.method == "monte carlo", name
        assert np.all(limit.stderr > 0) and limit.local_stderr > 0, name
        assert "monte carlo" in repr(limit) and "±" in repr(limit), name
        run = lt.explain(f, XI, world, NU, 500, 0, sampler="tilted", output=output)
        np.testing.assert_allclose(limit.coef, run.coef)
        np.testing.assert_allclose(limit.stderr, run.stderr)
        np.testing.assert_allclose(limit.intercept, run.intercept)
        np.testing.assert_allclose(limit.local_prediction, run.local_prediction)
        np.testing.assert_allclose(limit.local_stderr, run.local_stderr)


def test_sampling_is_repeatable_and_its_errors_are_right():
    f, world = MODELS["SVR"][0], WORLDS["gaussian"]
    truth = lt.limit(f, XI, world, NU)
    first, again, other = (
        lt.limit(f.predict, XI, world, NU, samples=20_000, seed=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.coef, again.coef)
    assert np.all(first.coef != other.coef)
    assert np.all(np.abs(first.coef - truth.coef) < 4 * first.stderr)
    assert abs(first.local_prediction - truth.local_prediction) < 4 * first.local_stderr
    shrunk = lt.limit(f.predict, XI, world, NU, samples=20_000, seed=1, ridge=200.0, n=500)
    assert np.all(shrunk.stderr < first.stderr)
    np.testing.assert_allclose(shrunk.stderr / first.stderr, shrunk.shrinkage)


def test_a_kink_over_points_alone_is_sampled():
    # the waves of relu fall too slowly where the law has no density to smooth them
    codes = np.column_stack([X[:, 2], X[:, 3]])
    f = net("relu").fit(codes, Y)
    limit = lt.limit(f, codes[0], lt.Empirical(codes, categorical=[0, 1]), NU, samples=2000)
    assert limit.method == "monte carlo"
    smooth = net("tanh").fit(codes, Y)
    limit = lt.limit(smooth, codes[0], lt.Empirical(codes, categorical=[0, 1]), NU)
    assert limit.method == "quadrature"


def one_sentence(call, argument, *parts):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert re.match(rf"{argument}(?!\w)", message), message
    assert message.endswith(".") and not re.search(r"[.!?] [A-Z]|\n", message), message
    assert len(message) <= 190, message
    for part in parts:
        assert part in message, message


CATEGORICAL = HistGradientBoostingRegressor(categorical_features=[3], max_iter=3)
REFUSED = {
    "polynomial ridge": (KernelRidge(kernel="poly"), Y, "RBF", "kernel='poly'", "f.predict"),
    "polynomial SVR": (SVR(kernel="poly"), Y, "RBF", "kernel='poly'", "f.predict"),
    "a function as kernel": (KernelRidge(kernel=lambda a, b: a @ b), Y, "RBF", "f.predict"),
    "Matern": (GaussianProcessRegressor(Matern(), optimizer=None), Y, "RBF", "Matern", "f.predict"),
    "categories": (CATEGORICAL, Y, "categorical splits", "f.predict"),
    "several labels": (
        RandomForestClassifier(2, random_state=0),
        np.column_stack([THREE, THREE]),
        *("one label", "2 of them", "function"),
    ),
    "no output": (RandomForestClassifier(2, random_state=0), THREE, "output", "[0, 1, 2]"),
    "other features": (Ridge(), None, "4 features", "got one fitted on 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unsupported_models_say_so_and_name_the_alternative(case):
    model, y, *parts = REFUSED[case]
    f = model.fit(X[:, :3], Y) if y is None else model.fit(X, y)
    argument = "output" if case == "no output" else "f"
    one_sentence(lambda: lt.limit(f, XI, WORLDS["empirical"], NU), argument, *parts)


def test_refused_models_can_be_sampled_as_they_are_told():
    f = KernelRidge(kernel="poly", degree=2).fit(X, Y)
    limit = lt.limit(f.predict, XI, WORLDS["empirical"], NU, samples=500)
    assert limit.method == "monte carlo"


def test_a_linear_classifier_is_not_taken_for_a_linear_model():
    f = RidgeClassifier().fit(X, HIGH)
    assert form_of(f) is None
    one_sentence(lambda: lt.limit(f, XI, WORLDS["empirical"], NU), "f", "class probabilities")


def test_attributes_that_do_not_say_what_the_model_does():
    f = RandomForestRegressor(3, random_state=0).fit(X, Y)
    f.predict = lambda x: np.zeros(len(x)) + 7.0
    one_sentence(lambda: lt.limit(f, XI, WORLDS["empirical"], NU), "f", "7 at xi", "f.predict")


def test_what_is_not_fitted_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        lt.limit(SVR(), XI, WORLDS["empirical"], NU)


def test_bad_outputs_and_quadratics():
    one_sentence(
        lambda: lt.limit(MODELS["Linear"][0], XI, WORLDS["empirical"], NU, output=1),
        *("output", "left out", "got 1"),
    )
    one_sentence(lambda: lt.Quadratic([[1, 2]]), "Q", "square", "(1, 2)")
    one_sentence(lambda: lt.Quadratic(np.eye(2), [1.0]), "a", "2 entries", "got 1")
    one_sentence(lambda: lt.Quadratic(np.eye(2))(np.ones((3, 4))), "x", "2 columns", "(3, 4)")
    one_sentence(
        lambda: lt.limit(lt.Quadratic(np.eye(2)), XI, WORLDS["empirical"], NU), "a", "4 entries"
    )
    one_sentence(
        lambda: lt.limit(MODELS["SVR"][0].predict, XI, WORLDS["empirical"], NU, samples=3),
        "samples",
        "6",
    )


def test_a_quadratic_is_what_it_says():
    f = lt.Quadratic([[1.0, 4.0], [0.0, -1.0]], [1.0, 2.0], 3.0)
    x1, x2 = RNG.normal(size=(2, 20))
    expected = x1**2 + 4 * x1 * x2 - x2**2 + x1 + 2 * x2 + 3
    np.testing.assert_allclose(f(np.column_stack([x1, x2])), expected)
    assert "Quadratic(Q=[[ 1." in repr(f) or "Quadratic(Q=[[1." in repr(f)
    assert "\n" not in repr(f)


def test_the_display_of_a_limit():
    limit = lt.limit(MODELS["SVR"][0], XI, WORLDS["empirical"], NU)
    text, page = repr(limit), limit._repr_html_()
    for j, box in enumerate(limit.box_names):
        assert box in text and f"{limit.coef[j]:+.4g}" in text
        assert f"{limit.coef[j]:+.4g}" in page
    assert "&lt;" in page and "exact" in page and "±" not in text + page
    assert [box for box, _ in limit.as_list()] == [limit.box_names[j] for j in limit.order()]
    sizes = [abs(value) for _, value in limit.as_list()]
    assert sizes == sorted(sizes, reverse=True)
    long = lt.limit(lt.Linear(np.arange(1, 13)), np.zeros(12), lt.Gaussian(), 1.0)
    assert "... and 2 more" in repr(long)
    sampled = lt.limit(MODELS["SVR"][0].predict, XI, WORLDS["empirical"], NU, samples=500)
    assert f"± {sampled.stderr[0]:.2g}" in sampled._repr_html_()


def test_every_family_is_in_the_one_table_and_has_a_form():
    for f, output in MODELS.values():
        form = form_of(f, output)
        assert form is not None
        rows = X[:20]
        call = f if isinstance(f, lt.Linear | lt.Quadratic) else f.predict
        if output is not None:
            column = list(f.classes_).index(output)
            call = lambda x, f=f, column=column: f.predict_proba(x)[:, column]  # noqa: E731
        np.testing.assert_allclose(form(rows), call(rows), atol=1e-10)
        assert isinstance(f, lt.Linear | lt.Quadratic) or ("sklearn", type(f).__name__) in FAMILIES
    assert form_of(MODELS["SVR"][0]).closed
    assert not form_of(MODELS["scaled net"][0]).closed
