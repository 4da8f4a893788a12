"""Stability indices without repeats, against the definition computed from real repeats."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor.precision.stability import _overlap

X, Y = load_diabetes(return_X_y=True)
MODEL = DecisionTreeRegressor(max_leaf_nodes=40, random_state=0).fit(X, Y)
XI, N, RUNS = X[7], 1000, 40
EXPLAINER = LimeTabularExplainer(X, mode="regression", random_state=0)
WORLD = lt.from_lime(EXPLAINER)


def one(seed, **how):
    asked = {"kernel": "mismatch", "ridge": 1.0} | how
    return lt.explain(MODEL, XI, WORLD, WORLD.nu, N, seed, **asked)


def vsi(sets):
    """The definition: the mean over pairs of runs of the share of features in common."""
    return 100 * np.mean([len(a & b) / len(a) for a, b in combinations(sets, 2)])


def csi(coef, stderr):
    """The definition: the mean over features of the share of pairs whose 95% intervals overlap."""
    shares = []
    for b, s in zip(coef.T, stderr.T, strict=True):
        lo, hi = b - 1.96 * s, b + 1.96 * s
        shares.append(
            np.mean([lo[i] < hi[k] and lo[k] < hi[i] for i, k in combinations(range(len(b)), 2)])
        )
    return 100 * np.mean(shares)


def test_textbook_standard_errors_are_those_of_the_formula():
    ex = one(0, keep=True)
    z, w = ex.z.astype(float), ex.weights
    design = np.hstack([np.ones((N, 1)), z])
    beta = np.linalg.lstsq(np.sqrt(w)[:, None] * design, np.sqrt(w) * ex.y, rcond=None)[0]
    sigma2 = np.sum(w * (ex.y - design @ beta) ** 2) / (N - z.shape[1])
    gram = (z.T * w) @ z
    bread = np.linalg.inv(gram + np.eye(len(gram)))
    np.testing.assert_allclose(
        ex.textbook_stderr, np.sqrt(sigma2 * np.diag(bread @ gram @ bread)), rtol=1e-9
    )


def test_forward_selection_keeps_what_explains_most():
    """The larger coefficient is that of an indicator that hardly varies."""
    ex = lt.explain(lt.Linear([1.0, 1.0]), [0.3, 0.3], lt.Gaussian(p=[2, 40]), 1.0, 5000, 0)
    ex = replace(ex, coef=np.array([0.8, 1.0]), covariance=1e-6 * np.eye(3))
    for select, kept in (("forward", [1, 0]), ("highest", [0, 1])):
        assert ex.stability(1, select=select).selection.tolist() == kept


def test_the_indices_of_real_repeats_were_to_be_expected():
    """VSI of 40 runs of the real lime, CSI of 40 explanations by the same law, both predicted by one.

    A VSI of 40 runs has a standard error of some 2 points; that of one run's V adds to it.
    """
    k = 5
    sets = []
    for _ in range(RUNS):
        found = EXPLAINER.explain_instance(XI, MODEL.predict, num_features=k, num_samples=N)
        sets.append({j for j, _ in found.local_exp[1]})
    runs = [one(seed) for seed in range(RUNS)]
    coef, stderr, textbook = (
        np.array([getattr(run, name) for run in runs])
        for name in ("coef", "stderr", "textbook_stderr")
    )
    guessed = np.array([run.stability(k)[:3] for run in runs[:10]]).mean(axis=0)
    assert guessed[0] == pytest.approx(vsi(sets), abs=7)
    assert 50 < vsi(sets) < 95  # there is something to predict
    assert guessed[1] == pytest.approx(csi(coef, stderr), abs=1.5)
    assert guessed[2] == pytest.approx(csi(coef, textbook), abs=2.5)


@pytest.mark.parametrize("runs", [2, 5])
def test_a_mean_over_the_features_that_two_runs_or_more_keep(runs):
    """Each counts by the probability of that, which is a binomial tail."""
    ex = one(0)
    found = ex.stability(3, runs)
    often = stats.binom.sf(1, runs, found.selection)
    reach = 1.96 * np.sqrt(2) * ex.textbook_stderr / ex.stderr
    share = stats.norm.cdf(reach) - stats.norm.cdf(-reach)
    expected = np.average(share, weights=often)
    once = np.average(share, weights=stats.binom.sf(0, runs, found.selection))
    assert abs(expected - once) > 1e-6  # of one run or more it would be another mean
    assert found.reported_csi == pytest.approx(100 * expected, rel=1e-9)


def test_all_features_are_always_the_same_ones():
    found = one(1).stability(10)
    assert found.vsi == 100 and found.features == 10 and np.all(found.selection == 1)
    assert found.csi == pytest.approx(99.4, abs=0.05)  # 2 Phi(1.96 sqrt 2) - 1


def test_selection_adds_up_to_the_number_of_features():
    for k, select in ((3, "auto"), (3, "highest"), (8, "auto"), (8, "forward")):
        found = one(1).stability(k, select=select)
        assert found.selection.sum() == pytest.approx(k)
        assert 0 <= found.vsi <= 100


def test_a_clear_ranking_is_stable():
    ex = lt.explain(lt.Linear([9.0, 5.0, 0.0, 0.0]), np.ones(4), lt.Gaussian(), 1.0, seed=0)
    assert ex.stability(2).vsi > 99.9
    assert "VSI" in str(ex.stability(2))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"features": 0}, "features must be 1 or more"),
        ({"runs": 1}, "runs must be 2 or more"),
        ({"select": "lasso"}, "select must be one of"),
    ],
)
def test_bad_input_gets_one_sentence(asked, words):
    with pytest.raises(ValueError, match=words):
        one(0).stability(**asked)


def test_a_selection_has_been_made_already():
    with pytest.raises(ValueError, match="an estimate for every feature"):
        one(0, features=3).stability(2)


def test_intervals_of_two_runs_overlap_as_often_as_simulated_ones():
    rng = np.random.default_rng(0)
    for stderr, sd in ((0.1, 0.1), (0.1, 0.5), (20.0, 10.0)):
        first, second = rng.normal(scale=sd, size=(2, 100_000))
        share = np.mean(np.abs(first - second) < 2 * 1.96 * stderr)
        found = _overlap(np.array([stderr]), np.array([sd]), np.ones(1))
        assert found == pytest.approx(share, abs=4 * 0.5 / np.sqrt(len(first)))
    assert _overlap(np.ones(1), np.zeros(1), np.ones(1)) == 1.0
