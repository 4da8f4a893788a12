"""lt.limit for every kind of model: against simulation, by ridge, by name, sampled, or refused."""

import numpy as np
import pandas as pd
import pytest
from fitted_models import HIGH, MODELS, NU, THREE, WORLDS, XI, X, Y, fitted, net
from sentences import says
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Matern
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import SVR, LinearSVR

import limetutor as lt
from limetutor.core.theory import critical_bandwidth
from limetutor.exact.read_sklearn import form_of

KERNELS = ("gaussian", "mismatch")
REFUSAL = (ValueError, TypeError)


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
        says(lambda f=f: lt.limit(f, XI, WORLDS["empirical"], NU), REFUSAL, "output", "2 outputs")
    process = GaussianProcessRegressor(RBF(2.0), alpha=0.1, optimizer=None, normalize_y=True)
    twins = [lt.limit(process.fit(X, both), XI, WORLDS["empirical"], NU, output=k) for k in (0, 1)]
    np.testing.assert_allclose(twins[1].coef, -3 * twins[0].coef, atol=1e-8)
    nets = [
        lt.limit(fitted(net("tanh"), both), XI, WORLDS["empirical"], NU, output=k) for k in (0, 1)
    ]
    assert nets[0].prediction != nets[1].prediction and nets[1].method == "quadrature"


FRAME = pd.DataFrame(X, columns=["a", "b", "c", "e"])


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
    says(lambda: lt.limit(f, XI, WORLDS["empirical"], NU), REFUSAL, argument, *parts)


def test_a_linear_classifier_is_not_taken_for_a_linear_model():
    f = RidgeClassifier().fit(X, HIGH)
    assert form_of(f) is None
    says(lambda: lt.limit(f, XI, WORLDS["empirical"], NU), REFUSAL, "f", "class probabilities")


def test_at_the_critical_bandwidth_the_tilted_mean_is_the_middle_of_the_box():
    rng = np.random.default_rng(5)
    for _ in range(300):
        mu, sigma = rng.normal(0, 2), 10 ** rng.uniform(-1, 1)
        lo, hi = np.sort(rng.normal(size=2))
        xi, middle = mu + sigma * rng.uniform(lo, hi), mu + sigma * (lo + hi) / 2
        nu = critical_bandwidth(xi, mu, sigma, lo, hi)
        mean = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2)
        between = (xi - middle) * (middle - mu) > 0  # the middle lies between mu and xi
        assert mean == pytest.approx(middle, 1e-11, 1e-11 * sigma) if between else np.isnan(nu)


def test_the_papers_first_coefficient_is_11_4_and_its_second_is_switched_off_at_0_53():
    f, xi = lt.Linear([10.0, -10.0]), [0.961, 0.432]  # xi is given to three digits
    coef = {nu: lt.limit(f, xi, lt.Gaussian(), nu).coef for nu in (0.5, 0.53, 0.56, 1.0)}
    np.testing.assert_allclose(coef[1.0], [11.4, -1.76], atol=0.005)
    assert abs(coef[0.53][1]) < 0.01 and coef[0.53][0] > 5  # the first stays
    assert coef[0.5][1] > 0.1 > -0.1 > coef[0.56][1]  # the sign changes across
    np.testing.assert_allclose(lt.limit(f, xi, lt.Gaussian(), 1).critical_nu, [np.nan, 0.53], 1e-3)


def test_an_instance_in_the_middle_of_its_box_has_no_critical_bandwidth():
    """There the formula gives 0, which is no bandwidth; on one side of it there is one, however small."""
    box = {"mu": 0.0, "sigma": 1.0, "lo": 0.25, "hi": 0.75}
    assert np.isnan(critical_bandwidth(0.5, **box))
    assert critical_bandwidth(0.5 + 2**-40, **box) == pytest.approx(2**-19.5, rel=1e-9)
    assert np.isnan(critical_bandwidth(0.5 - 2**-40, **box))
