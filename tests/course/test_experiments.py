"""Experiments: repeated runs are those of explain, whatever the threads around them."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy.stats import norm, zscore
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor

import limetutor as lt
from limetutor.course import experiments
from limetutor.course.datasets import diabetes
from limetutor.course.experiments import repeat, running_example
from limetutor.course.figures import beyond_linear


def test_repeated_runs_are_those_of_explain():
    f, xi, world = running_example(3)
    runs = repeat(f, xi, world, 1.0, n=300, runs=4, seed=5)
    for k, stream in enumerate(np.random.default_rng(5).spawn(4)):
        ex = lt.explain(f, xi, world, 1.0, n=300, seed=stream)
        np.testing.assert_array_equal(runs.coef[k], ex.coef)
        np.testing.assert_array_equal(runs.coef_stderr[k], ex.stderr)
        np.testing.assert_array_equal(runs.interval[k], ex.interval())
        assert runs.ess[k] == ex.ess
    np.testing.assert_allclose(runs.stderr, runs.coef.std(axis=0, ddof=1) / 2)


def test_runs_in_threads_leave_warnings_as_they_were():
    f, xi, world = running_example(2)
    with warnings.catch_warnings():
        before = list(warnings.filters)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda s: repeat(f, xi, world, 0.1, n=100, runs=5, seed=s), range(16)))
        assert list(warnings.filters) == before
        with pytest.warns(lt.FitWarning):
            lt.explain(f, xi, world, 0.05, n=100, seed=0)


def test_patient_13_is_a_row_of_the_table_and_rises_with_bmi():
    model, xi, X = experiments.patient_13()
    np.testing.assert_array_equal(xi, diabetes().X.iloc[13])
    bmi = list(X.columns).index("bmi")
    lean, heavy = np.tile(xi, (2, 1))
    lean[bmi], heavy[bmi] = 20, 34
    assert model.predict([lean])[0] + 50 < model.predict([heavy])[0]
    assert model.predict([lean])[0] < model.predict([xi])[0] < model.predict([heavy])[0]


def test_the_running_example_shows_all_its_numbers():
    """What is printed is enough to type the example in again, on lines that fit on a phone."""
    example = running_example()
    f, xi, world = example
    shown = str(example)
    assert max(map(len, shown.splitlines())) <= 40
    assert "f(x) = 10 x1 - 10 x2\n" in shown and "N(0, 1)" in shown
    numbers = shown.partition("ξ = [")[2].partition("]")[0]
    np.testing.assert_array_equal([float(x) for x in numbers.split(",")], xi)
    edges = shown.partition("edges ")[2].partition("\n")[0]
    quartiles = norm.ppf([0.25, 0.5, 0.75])
    np.testing.assert_allclose([float(q) for q in edges.split(",")], quartiles, atol=5e-4)
    in_boxes = [int(k) for k in shown.partition("in boxes ")[2].split()]
    assert in_boxes == list(np.searchsorted(quartiles, xi) + 1)
    np.testing.assert_array_equal(f.a, [10, -10] + 8 * [0])
    assert (world.mu, world.sigma, world.p) == (0, 1, 4)


def test_the_examples_are_what_they_say():
    f, xi, _ = experiments.linear_example(diabetes(standardize=True))
    X, y = diabetes(standardize=True)
    design = np.column_stack([np.ones(len(X)), X])
    np.testing.assert_allclose(design @ [f.b, *f.a], f(X.to_numpy()), rtol=1e-9)
    assert np.abs(design.T @ (y - f(X.to_numpy()))).max() < 1e-6 * np.abs(y).sum()  # least squares
    assert np.sum(xi**2) == pytest.approx(np.min(np.sum(X.to_numpy() ** 2, axis=1)))
    model, same, _ = experiments.kernel_ridge_example(diabetes(standardize=True))
    np.testing.assert_array_equal(xi, same)
    assert model.get_params()["gamma"] == 1 / 50


def test_models_have_the_settings_that_the_book_names():
    forests = (experiments.patient_13().model, beyond_linear.patient()[0]["forest"])
    assert {(forest.n_estimators, forest.min_samples_leaf) for forest in forests} == {(50, 5)}
    paper = experiments.kernel_ridge_example(diabetes(standardize=True))[0]
    for ridge in (paper, beyond_linear.patient()[0]["kernel ridge"]):
        assert (ridge.kernel, ridge.gamma, ridge.alpha) == ("rbf", 1 / 50, 1)
    boosted, row, world = experiments.boosting_example()
    X, y = make_friedman1(1000, 10, noise=1.0, random_state=0)
    X = zscore(X)
    np.testing.assert_allclose(world.table, X, atol=1e-12)
    np.testing.assert_array_equal(row, world.table[0])
    again = GradientBoostingRegressor(n_estimators=100, random_state=0).fit(X, y)
    np.testing.assert_allclose(boosted.predict(X), again.predict(X), rtol=1e-9)


def test_the_two_faced_model_judges_people_by_sex_and_samples_as_the_forest_does():
    model, xi, X = experiments.patient_13()
    explainer = LimeTabularExplainer(
        X.to_numpy(), mode="regression", categorical_features=[1], random_state=0
    )
    hides = experiments.two_faced(model, explainer, X)
    np.testing.assert_array_equal(hides(X), np.where(X["sex"] == 1, 250, 100))
    samples, _ = lt.from_lime(explainer).boxes().law.sample(np.random.default_rng(1), 2000)
    assert np.mean(hides(samples) == model.predict(samples)) > 0.85
    said = lt.predict_lime(explainer, hides, xi, num_features=3)
    assert np.argmax(np.abs(said.coef)) == list(X).index("s5")  # LIME is fooled
    honest = lt.predict_lime(explainer, lambda x: np.where(x[:, 1] == 1, 250.0, 100.0), xi)
    assert np.argmax(np.abs(honest.coef)) == 1


def test_runs_on_a_text_are_sorted_by_word():
    from lime.lime_text import LimeTextExplainer

    def says(texts):
        found = np.array(["yes" in text for text in texts], float)
        return np.column_stack([1 - found, found])

    explainer = LimeTextExplainer(random_state=0)
    runs = experiments.repeat_switches(explainer, "no yes maybe", says, 3, runs=2, num_samples=200)
    assert runs.shape == (2, 3) and np.ptp(runs, axis=0).max() > 0
    assert np.all(np.argmax(runs, axis=1) == 1)
