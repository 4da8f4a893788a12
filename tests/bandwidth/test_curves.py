"""Curves over the bandwidth: closed forms, series and samples agree on what the limit is."""

import numpy as np
import pytest
from diabetes_paths import MODELS, WORLDS, XI, X, Y
from lime.lime_tabular import LimeTabularExplainer
from sklearn.linear_model import LogisticRegression

import limetutor as lt


def test_numbers_instead_of_boxes():
    explainer = LimeTabularExplainer(
        X, mode="regression", random_state=0, discretize_continuous=False
    )
    world = lt.from_lime(explainer)
    found = lt.path(MODELS["linear"], XI, world, ridge=1.0, n=5000, nu=[0.5, 1.5, 4.0])
    at = lt.limit(MODELS["linear"], XI, world, 1.5, "gaussian", ridge=1.0, n=5000)
    np.testing.assert_allclose(found.coef[1], at.coef, rtol=1e-9)


def test_a_series_goes_one_by_one():
    f = LogisticRegression().fit(X, Y > 150)
    found = lt.path(f, XI, WORLDS["empirical"], output=True, nu=[0.6, 1.5])
    assert found.method == "quadrature"
    at = lt.limit(f, XI, WORLDS["empirical"], 0.6, output=True)
    np.testing.assert_allclose(found.coef[0], at.coef, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch", "laplace"])
def test_samples_weighed_anew_agree_with_the_closed_form(kernel):
    """One call of the model for all bandwidths; deviations in units of their standard errors."""
    f, world, calls = MODELS["forest"], WORLDS["empirical"], []

    def asked(x):
        calls.append(len(x))
        return f.predict(x)

    nu = np.geomspace(0.7, 4, 7)
    sampled = lt.path(asked, XI, world, kernel, nu, samples=20_000)
    exact = lt.path(f, XI, world, kernel, nu)
    assert sampled.method == "monte carlo" and sum(calls) < 20_100
    z = (sampled.coef - exact.coef) / sampled.stderr
    assert np.all(np.abs(z) < 4.5) and 0.3 < np.sqrt(np.mean(z**2)) < 2
    assert np.all(np.abs(sampled.local_error - exact.local_error) < 20)


def test_zeros_of_a_sampled_curve_come_with_an_error():
    f, world = MODELS["linear"], WORLDS["gaussian"]
    exact = lt.path(f, XI, world)
    sampled = lt.path(lambda x: f(x), XI, world, samples=20_000)
    hits = [
        abs(zeros[0] - there[0]) / spread[0]
        for zeros, spread, there in zip(
            sampled.critical, sampled.critical_stderr, exact.critical, strict=True
        )
        if len(zeros) == len(there) == 1
    ]
    assert hits and max(hits) < 5


def test_a_kernel_without_a_tilt_is_sampled_from_the_world():
    f, nu = MODELS["linear"], [0.2, 0.4, 1.0]
    found = lt.path(f, XI, WORLDS["gaussian"], "cosine", nu, samples=20_000)
    ex = lt.explain(f, XI, WORLDS["gaussian"], 0.4, 20_000, 1, kernel="cosine")
    spread = np.hypot(ex.stderr, found.stderr[1])
    assert np.all(np.abs(found.coef[1] - ex.coef) < 4.5 * spread)
    assert found.ess[1] == pytest.approx(ex.ess / 4, rel=0.1)
    ridge = lt.path(f, XI, WORLDS["gaussian"], "cosine", nu, ridge=50.0, n=500, samples=20_000)
    assert np.all(np.abs(ridge.coef) < np.abs(found.coef))
