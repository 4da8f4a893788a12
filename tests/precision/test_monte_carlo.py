"""Limits of models without a form: sampled, with standard errors."""

import numpy as np
import pytest
from fitted_models import HIGH, MODELS, NU, THREE, WORLDS, XI, X, Y, fitted, net
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVR

import limetutor as lt


def sampled_models():
    yield "function", lambda x: np.sin(x[:, 0]) * x[:, 1], None
    yield "predict", MODELS["RandomForestRegressor"][0].predict, None
    yield "softmax", fitted(LogisticRegression(max_iter=500), THREE), 1
    boosted = GradientBoostingClassifier(n_estimators=3, random_state=0)
    yield "boosted classes", fitted(boosted, HIGH), "yes"
    classes = MLPClassifier((3,), max_iter=1, tol=9, random_state=0)
    yield "net of classes", fitted(classes, HIGH), "no"
    yield "two layers", fitted(net("tanh", hidden_layer_sizes=(3, 3))), None
    yield "log link", fitted(PoissonRegressor(), np.abs(Y)), None
    poisson = HistGradientBoostingRegressor(loss="poisson", max_iter=3)
    yield "log link in trees", fitted(poisson, np.abs(Y)), None
    yield "clipping", fitted(make_pipeline(MinMaxScaler(clip=True), SVR())), None
    started = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3, random_state=0)
    yield "start", fitted(started), None

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
        for part in ("coef", "stderr", "intercept", "local_prediction", "local_stderr"):
            np.testing.assert_allclose(getattr(limit, part), getattr(run, part))


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
