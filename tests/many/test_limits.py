"""Limits of many rows at once: each is what it would be alone."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from mixed_rows import FORMS, FRAME, TABLE, WORLDS, X, Y
from sklearn.linear_model import LogisticRegression

import limetutor as lt
from limetutor.core.kernels import product_kernels
from limetutor.many import problems as many


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("f", FORMS)
def test_limits_are_the_limits_of_the_rows(f, world, kernel):
    found = lt.limits(FORMS[f], TABLE, WORLDS[world], 1.5, kernel)
    assert set(found.method) == {"exact"}
    alone = [lt.limit(FORMS[f], TABLE.iloc[i], WORLDS[world], 1.5, kernel) for i in range(9)]
    scale = 1e-10 * max(np.abs(found.coef).max(), np.abs(found.prediction).max(), 1.0)
    for name in ("coef", "intercept", "prediction", "local_prediction", "stderr"):
        one = np.array([getattr(limit, name) for limit in alone])
        np.testing.assert_allclose(getattr(found, name), one, rtol=1e-10, atol=scale, err_msg=name)


@pytest.mark.filterwarnings("ignore::limetutor.PrecisionWarning")
@pytest.mark.parametrize("nu", [0.02, 0.3, 30.0])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_trees_keep_their_digits_at_any_bandwidth(kernel, nu):
    f, world = FORMS["forest"], WORLDS["empirical"]
    found = lt.limits(f, TABLE, world, nu, kernel)
    for i in (0, 4):
        alone = lt.limit(f, TABLE.iloc[i], world, nu, kernel)
        np.testing.assert_allclose(found.coef[i], alone.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "forest"])
@pytest.mark.filterwarnings("ignore:.*own row decides:limetutor.FitWarning")
def test_ridge_and_the_own_row_of_lime(name):
    world, f = WORLDS["lime"], FORMS[name]
    for nu, ridge, n in ((world.nu, 1.0, 5000), (0.2, 1.0, 200), (0.2, 0.0, 500), (1.0, 0.0, 1)):
        found = lt.limits(f, TABLE, world, nu, "mismatch", ridge=ridge, n=n)
        for i in (0, 7):
            alone = lt.limit(f, TABLE.iloc[i], world, nu, "mismatch", ridge=ridge, n=n)
            np.testing.assert_allclose(found.coef[i], alone.coef, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(found.intercept[i], alone.intercept, rtol=1e-9)
            np.testing.assert_allclose(found.local_prediction[i], alone.local_prediction, rtol=1e-9)


def test_a_warning_says_how_many_rows_their_own_row_decides():
    with pytest.warns(lt.FitWarning, match=r"own row decides in 9 of 9 rows"):
        found = lt.limits(FORMS["linear"], TABLE, WORLDS["lime"], 0.05, "mismatch", n=50)
    assert len(found.warnings) == 1


def test_series_and_samples_go_row_by_row():
    world = WORLDS["empirical"]
    model = LogisticRegression(max_iter=2000).fit(FRAME, np.median(Y) < Y)
    found = lt.limits(model, TABLE[:2], world, 1.0, output=True)
    assert set(found.method) == {"quadrature"}
    np.testing.assert_array_equal(
        found.coef[1], lt.limit(model, TABLE.iloc[1], world, 1.0, output=True).coef
    )

    def f(x):
        return np.sin(x[:, 0]) * x[:, 1]

    sampled = lt.limits(f, TABLE[:3], world, 1.0, samples=500, seed=4)
    assert set(sampled.method) == {"monte carlo"} and np.all(sampled.stderr[:, :3] > 0)
    seed = np.random.SeedSequence([4, 2])
    alone = lt.limit(f, TABLE.iloc[2], world, 1.0, samples=500, seed=seed)
    np.testing.assert_array_equal(sampled.coef[2], alone.coef)
    np.testing.assert_array_equal(sampled[2].coef, alone.coef)
    again = lt.limits(f, TABLE[:3], world, 1.0, samples=500, seed=None)
    assert np.all(again.coef[:, :3] != sampled.coef[:, :3])


def test_a_world_without_boxes():
    explainer = LimeTabularExplainer(
        X, mode="regression", discretize_continuous=False, sample_around_instance=True
    )
    world = lt.from_lime(explainer)
    found = lt.limits(FORMS["quadratic"], X[:3], world, world.nu, n=100, ridge=1.0)
    alone = lt.limit(FORMS["quadratic"], X[2], world, world.nu, n=100, ridge=1.0)
    np.testing.assert_allclose(found.coef[2], alone.coef)


def test_rows_in_chunks_are_rows(monkeypatch):
    whole = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    monkeypatch.setattr(many, "NUMBERS_PER_BLOCK", 5000)
    chunked = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    np.testing.assert_allclose(whole.coef, chunked.coef, atol=1e-13)


def test_limits_say_which_columns_are_constant():
    table = np.column_stack([X[:, 0], np.full(len(X), 3.0)])
    with pytest.warns(lt.FitWarning, match=r"1 feature\(s\) \['x2'\] in xi's box"):
        found = lt.limits(lt.Linear([1.0, 2.0]), table[:3], lt.Empirical(table), 1.0)
    assert np.all(found.coef[:, 1] == 0)
