"""A form is compared with its model where it is used; a class is known by identity."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor, kernels
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor.core.problem import Problem
from limetutor.exact.readers import form_of
from limetutor.exact.verification import DRAWS, draws
from limetutor.inputs.predictors import class_of

RNG = np.random.default_rng(2)
X = RNG.normal(size=(150, 2))
Y = X[:, 0] - 2 * X[:, 1]
XI, NU = np.array([0.3, -0.4]), 1.0
EDGE = 0.9
NOTE = "f was sampled: it is not what its fitted attributes say"


class Capped(LinearRegression):
    """A class of another name that predicts something else beyond an edge, and not at xi."""

    def predict(self, x):
        y = super().predict(x)
        return np.where(np.asarray(x)[:, 0] > EDGE, 0.0, y)


def capped_limit():
    """Coefficients of the capped line by quadrature over a fine grid, feature by feature."""
    grid = np.linspace(-9, 9, 60_001)
    sd = np.sqrt(1 / (1 + 1 / NU**2))
    below = grid <= EDGE
    edges = stats.norm.ppf([0.25, 0.5, 0.75])
    weights = [stats.norm.pdf(grid, x / (1 + NU**2), sd) for x in XI]
    inside = [np.searchsorted(edges, grid) == np.searchsorted(edges, x) for x in XI]

    def mean(values, j, side=None):
        w = weights[j] if side is None else weights[j] * side
        return np.sum(w * values) / np.sum(w)

    slope = (1.0, -2.0)  # f = (x0 - 2 x1) 1(x0 <= EDGE)
    first = [
        mean(slope[0] * grid * below, 0, s) + slope[1] * mean(grid, 1) * mean(below, 0, s)
        for s in (inside[0], ~inside[0])
    ]
    second = [mean(below, 0) * slope[1] * mean(grid, 1, s) for s in (inside[1], ~inside[1])]
    return np.array([first[0] - first[1], second[0] - second[1]])


def changed(how):
    """A model that is the capped line, whatever its attributes say."""
    model = LinearRegression().fit(X, Y)
    if how == "subclass":
        model = Capped().fit(X, Y)
    elif how == "replaced method":
        old = model.predict
        model.predict = lambda x: np.where(np.asarray(x)[:, 0] > EDGE, 0.0, old(x))
    return model


@pytest.mark.parametrize("how", ["subclass", "replaced method", "patched class"])
def test_a_model_that_predicts_otherwise_away_from_xi_is_sampled(how, monkeypatch):
    model = changed(how)
    if how == "patched class":
        old = LinearRegression.predict
        capped = lambda self, x: np.where(np.asarray(x)[:, 0] > EDGE, 0.0, old(self, x))  # noqa: E731
        monkeypatch.setattr(LinearRegression, "predict", capped)
    truth = capped_limit()
    if how == "patched class":
        with pytest.warns(lt.FitWarning, match=NOTE):
            found = lt.limit(model, XI, lt.Gaussian(), NU)
        with pytest.warns(lt.FitWarning, match=NOTE):
            many = lt.limits(model, [XI, XI], lt.Gaussian(), NU)
        assert any(NOTE in note for note in lt.path(model, XI, lt.Gaussian(), nu=[NU, 2.0]).notes)
        explainer = LimeTabularExplainer(X, mode="regression")
        prediction = lt.predict_lime(explainer, model, XI, calls=500, runs=10)
        assert prediction.method == "monte carlo" and NOTE in prediction.warnings[-1]
    else:  # it has no form at all
        found = lt.limit(model, XI, lt.Gaussian(), NU)
        many = lt.limits(model, [XI, XI], lt.Gaussian(), NU)
    assert found.method == "monte carlo" and set(many.method) == {"monte carlo"}
    assert np.all(np.abs(found.coef - truth) < 5 * found.stderr)
    assert np.all(np.abs(many.coef[0] - truth) < 5 * many.stderr[0])
    plain = lt.limit(lt.Linear([1.0, -2.0]), XI, lt.Gaussian(), NU).coef
    assert np.max(np.abs(plain - truth)) > 0.2  # what its attributes say


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_the_comparison_knows_no_unit(unit, monkeypatch):
    model = LinearRegression().fit(X, unit * Y)
    assert lt.limit(model, XI, lt.Gaussian(), NU).method == "exact"
    old = LinearRegression.predict
    wrong = lambda self, x: old(self, x) + 1e-3 * unit * (np.asarray(x)[:, 0] > EDGE)  # noqa: E731
    monkeypatch.setattr(LinearRegression, "predict", wrong)
    with pytest.warns(lt.FitWarning, match=NOTE):
        assert lt.limit(model, XI, lt.Gaussian(), NU).method == "monte carlo"


def test_terms_that_cancel_are_no_disagreement():
    """Of 1e9 each, which leave rounding of 1e-7."""
    model = LinearRegression().fit(X, Y)
    model.coef_, model.intercept_ = np.array([1e9, -1e9]), 0.0
    narrow = Problem.of(model, [0.3, 0.3], lt.Gaussian([0.3, 0.3], 1e-6), 1e-6, purpose="its limit")
    assert np.max(np.abs(narrow.predict(draws(narrow, 9)))) < 1e5
    assert isinstance(narrow.form, lt.Linear)


def test_draws_are_those_of_the_tilted_law_and_of_the_world():
    empirical, gaussian = lt.Empirical(X), lt.Gaussian([0.0, 1.0], [1.0, 2.0])
    for world, kernel in ((empirical, "gaussian"), (empirical, "mismatch"), (gaussian, "gaussian")):
        problem = Problem.of(None, XI, world, 0.5, kernel)
        x = draws(problem, 4000)
        assert np.array_equal(x, draws(problem, 4000)) and x.shape == (8000, 2)
        law, tilt = problem.boxes, problem.tilt
        laws = [(x[:4000], tilt.mu_tilde, tilt.sigma_tilde), (x[4000:], law.mu, law.sigma)]
        for part, mean, sd in laws:
            assert np.all(np.abs(part.mean(axis=0) - mean) < 5 * sd / np.sqrt(4000) + 0.02 * sd)
    other = Problem.of(None, XI, empirical, 0.5, "cosine")
    assert draws(other, 5).shape == (10, 2)


def test_the_model_is_called_once_for_xi_and_the_draws():
    rows = []
    model = LinearRegression().fit(X, Y)
    problem = Problem.of(model, XI, lt.Gaussian(), NU, purpose="its limit")
    predict = problem.predict
    problem.__dict__["predict"] = lambda x: rows.append(len(x)) or predict(x)
    assert problem.form is not None and problem.prediction == pytest.approx(XI @ [1.0, -2.0])
    assert rows == [1 + 2 * DRAWS]


def own(name, base):
    """A class of one's own with the name of one of scikit-learn's."""
    return type(name, (base,), {})


def test_a_class_that_only_has_the_name_is_not_the_class():
    assert class_of(LinearRegression()) == "LinearRegression"
    assert class_of(own("LinearRegression", LinearRegression)()) == ""
    assert class_of(LinearRegression(), "xgboost") == ""
    spoof = own("LinearRegression", LinearRegression)
    spoof.__module__ = "sklearn.linear_model._base"
    assert class_of(spoof()) == ""
    assert form_of(spoof().fit(X, Y)) is None


class Shift(StandardScaler):
    """What a scaler of one's own does."""

    clip = False

    def transform(self, X, copy=None):
        return np.asarray(X) ** 3


@pytest.mark.parametrize("name", ["MinMaxScaler", "StandardScaler", "MaxAbsScaler", "RobustScaler"])
def test_a_scaler_of_ones_own_is_sampled(name):
    model = make_pipeline(own(name, Shift)(), LinearRegression()).fit(X, X[:, 0] ** 3)
    found = lt.limit(model, XI, lt.Gaussian(), NU)
    assert found.method == "monte carlo"
    by_function = lt.limit(lambda x: x[:, 0] ** 3, XI, lt.Gaussian(), NU, seed=1)
    error = np.hypot(found.stderr, by_function.stderr)
    assert np.all(np.abs(found.coef - by_function.coef) < 5 * error + 1e-9)
    spied = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    spied.steps[0][1].transform = lambda x: np.zeros_like(x)
    assert lt.limit(spied, XI, lt.Gaussian(), NU).method == "monte carlo"


def test_parts_of_ones_own_inside_a_model():
    class RBF(kernels.RBF):
        def __call__(self, X, Y=None, eval_gradient=False):
            return super().__call__(np.round(X), None if Y is None else np.round(Y))

    process = GaussianProcessRegressor(RBF(), optimizer=None, alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="f must have an RBF kernel"):
        lt.limit(process, XI, lt.Gaussian(), NU)

    class Start(LinearRegression):
        constant_ = 3.0

    boosted = GradientBoostingRegressor(n_estimators=3, init=Start(), random_state=0).fit(X, Y)
    assert lt.limit(boosted, XI, lt.Gaussian(), NU).method == "monte carlo"
    forest = RandomForestRegressor(5, random_state=0).fit(X, Y)
    forest.estimators_[0] = DecisionTreeRegressor(random_state=0).fit(X, 100 + Y)
    assert lt.limit(forest, XI, lt.Gaussian(), NU).method == "exact"  # its attributes say so too


def test_a_classifier_before_its_link_is_compared_too(monkeypatch):
    model = LogisticRegression().fit(X, Y > 0)
    assert lt.limit(lt.margin(model, True), XI, lt.Gaussian(), NU).method == "exact"
    old = LogisticRegression.decision_function
    wrong = lambda self, x: np.minimum(old(self, x), 1.0)  # noqa: E731
    monkeypatch.setattr(LogisticRegression, "decision_function", wrong)
    with pytest.warns(lt.FitWarning, match=NOTE):
        lt.limit(lt.margin(model, True), XI, lt.Gaussian(), NU)


def test_a_machine_without_support_vectors_is_a_constant():
    model = SVR(epsilon=10.0).fit(X, 1e-9 * Y)
    assert len(model.support_) == 0
    found = lt.limit(model, XI, lt.Gaussian(), NU)
    assert found.method == "exact" and not np.any(found.coef)
    assert found.prediction == pytest.approx(float(model.intercept_[0]))
