"""Surrogates on some of the features: those that scikit-learn and `lime` find."""

import numpy as np
import pytest
from fits_by_hand import design, kept
from lime.lime_base import LimeBase
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso

import limetutor as lt
from limetutor.many.explain_many import explain_quietly

X, TARGET = load_diabetes(return_X_y=True)
WORLD = lt.Empirical(X)
FOREST = RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, TARGET)
NU = 0.75 * np.sqrt(10)  # the default of `lime`


def of_forest(**options):
    options = {"kernel": "mismatch", "seed": 1, "keep": True} | options
    return lt.explain(FOREST, X[5], WORLD, NU, **options)


@pytest.mark.parametrize("lasso", [0.003, 0.05, 0.2, 10.0])
def test_lasso_is_that_of_scikit_learn(lasso):
    e = kept(lasso=lasso, n=3000)
    real = Lasso(alpha=lasso, tol=1e-14, max_iter=100_000)
    real.fit(e.z.astype(float), e.y, sample_weight=e.weights)
    np.testing.assert_allclose(e.coef, real.coef_, rtol=1e-8, atol=1e-9)
    assert e.intercept == pytest.approx(real.intercept_, rel=1e-8)
    assert [j for j, _ in e.as_map()[1]] == sorted(
        np.flatnonzero(real.coef_), key=lambda j: -abs(real.coef_[j])
    )


def lime_fit(e, k, selection):
    """What `lime` fits to the same samples: it takes distances, and xi's own row first."""
    base = LimeBase(lambda distance: np.exp(-(distance**2) / (2 * NU**2)))
    data = np.vstack([np.ones(10), e.z])
    labels = np.concatenate([[e.prediction], e.y])[:, None]
    distance = np.sqrt((1 - data).sum(axis=1))
    return base.explain_instance_with_data(data, labels, distance, 0, k, selection)


@pytest.mark.parametrize("k", [1, 3, 6, 8])
@pytest.mark.parametrize(
    ("ours", "theirs"), [("highest", "highest_weights"), ("forward", "forward_selection")]
)
def test_features_are_those_that_lime_chooses(ours, theirs, k):
    """`lime` itself on our samples; its first row, xi, is added to both sides."""
    e = of_forest(features=k, select=ours, ridge=1.0)
    base = LimeBase(lambda distance: distance)
    rows, y = np.vstack([np.ones(10), e.z]), np.append(e.prediction, e.y)
    theirs = base.feature_selection(rows, y, np.append(1.0, e.weights), k, theirs)
    assert set(np.flatnonzero(e.coef)) == set(theirs)
    assert len(e.as_list()) == k


@pytest.mark.parametrize("k", [4, 7])
def test_auto_chooses_as_lime_does_and_gives_its_numbers(k):
    """Forward up to 6 features, highest beyond; ridge 1 on those chosen.

    One row of 5000 more on the side of `lime` moves a coefficient by a fraction of its error.
    """
    e = of_forest(features=k, ridge=1.0)
    intercept, pairs, score, local = lime_fit(e, k, "auto")
    assert {j for j, _ in e.as_map()[1]} == {j for j, _ in pairs}
    for j, value in pairs:
        assert abs(e.coef[j] - value) < 0.2 * e.stderr[j]
    assert abs(e.intercept - intercept) < 0.2 * np.sqrt(e.covariance[0, 0])
    assert abs(e.local_prediction - local[0]) < 0.2 * e.local_stderr
    assert e.score == pytest.approx(score, abs=2e-3)


@pytest.mark.parametrize(
    ("k", "rule", "other"), [(6, "forward", "highest"), (7, "highest", "forward")]
)
def test_auto_goes_forward_up_to_six_features(k, rule, other):
    """On few samples around a row for which the two rules disagree."""

    def used(select):
        how = {"ridge": 1.0, "features": k, "select": select}
        return lt.explain(FOREST, X[16], WORLD, NU, 150, 1, "mismatch", **how).used.tolist()

    assert used("auto") == used(rule) != used(other)


def test_chosen_features_are_refitted_on_their_own():
    e = of_forest(features=3, select="highest")
    chosen = np.flatnonzero(e.coef)
    root = np.sqrt(e.weights)
    beta = np.linalg.lstsq(design(e, chosen) * root[:, None], e.y * root)[0]
    np.testing.assert_allclose([e.intercept, *e.coef[chosen]], beta, rtol=1e-10)
    left_out = np.setdiff1d(np.arange(10), chosen)
    assert np.all(e.stderr[left_out] == 0) and np.all(e.stderr[chosen] > 0)


def test_asking_for_all_features_or_more_leaves_none_out():
    whole = of_forest()
    for k in (10, 25):
        np.testing.assert_array_equal(of_forest(features=k).coef, whole.coef)


def test_standard_errors_of_chosen_features_are_those_of_many_runs():
    """What the features left out do to f is noise for the others."""
    f = lt.Linear([3.0, 3.0, 3.0, 3.0])
    how = {"n": 400, "features": 1, "select": "highest"}
    runs = [
        explain_quietly(f, [1.5, 0.1, 0.1, 0.1], lt.Gaussian(), 1.5, seed=s, **how)
        for s in range(300)
    ]
    first = [e for e in runs if e.used[0]]
    assert len(first) > 290
    spread = np.std([e.coef[0] for e in first], ddof=1)
    said = np.sqrt(np.mean([e.stderr[0] ** 2 for e in first]))
    assert said == pytest.approx(spread, rel=0.15)  # sqrt(1/600) = .04 from 300 runs, and some
