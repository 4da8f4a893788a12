"""The fit: weighted least squares, its penalties, its choice of features and its errors."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from lime.lime_base import LimeBase
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.metrics import r2_score

import limetutor as lt
from limetutor import surrogate

X, TARGET = load_diabetes(return_X_y=True)
WORLD = lt.Empirical(X)
FOREST = RandomForestRegressor(20, max_depth=5, random_state=0).fit(X, TARGET)
NU = 0.75 * np.sqrt(10)  # the default of `lime`


def bent(x):
    """Not linear, with interactions: residuals that depend on z."""
    return np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(0.5 * x[:, 3])


BENT_XI = np.array([0.4, -0.3, 1.2, 0.8])


def kept(**options):
    """An explanation of `bent` with its samples."""
    return lt.explain(bent, BENT_XI, lt.Gaussian(), 0.9, **{"seed": 0, "keep": True} | options)


def of_forest(**options):
    options = {"kernel": "mismatch", "seed": 1, "keep": True} | options
    return lt.explain(FOREST, X[5], WORLD, NU, **options)


def design(e, columns=slice(None)):
    return np.column_stack([np.ones(e.n), e.z[:, columns]])


def test_unpenalised_fit_is_weighted_least_squares():
    e = kept()
    root = np.sqrt(e.weights)
    beta = np.linalg.lstsq(design(e) * root[:, None], e.y * root)[0]
    # normal equations on indicators have a condition number near 10: 1e-16 becomes 1e-13
    np.testing.assert_allclose([e.intercept, *e.coef], beta, rtol=0, atol=1e-12)


def sandwich_by_hand(e, penalty=0.0):
    """inv(A) (sum w^2 s^2 z z') inv(A), A = sum w z z' + penalty, with the whole hat matrix H.

    s^2 = r^2 / ((1 - h) ||row of 1 - H||), raised by h^2 of what it lacks of the pooled noise.
    """
    Z, w = design(e), e.weights
    plain = np.linalg.inv((Z * w[:, None]).T @ Z)
    rest = np.eye(e.n) - Z @ plain @ (Z * w[:, None]).T
    residual, kept_share, size = rest @ e.y, np.diag(rest), np.sum(rest**2, axis=1)
    s2 = residual**2 / (kept_share * np.sqrt(size))
    pooled = np.sum((w * residual) ** 2) / np.sum(w**2 * size)
    s2 += (1 - kept_share) ** 2 * np.maximum(pooled - s2, 0)
    bread = np.linalg.inv((Z * w[:, None]).T @ Z + penalty * np.diag([0.0] + [1.0] * e.coef.size))
    return bread @ (Z.T * (w**2 * s2)) @ Z @ bread


def freedom_by_hand(e):
    """Welch's degrees of freedom for unequal weights, from the influence of every sample."""
    Z, w = design(e), e.weights
    influence = (Z * w[:, None]) @ np.linalg.inv((Z * w[:, None]).T @ Z)
    found = []
    for j in range(1, Z.shape[1]):
        sides = [influence[Z[:, j] == v, j] for v in (0, 1)]
        top = sum(np.sum(a**2) for a in sides) ** 2
        found.append(top / sum(np.sum(a**4) / max(1 - np.sum(a**2), 0.1) for a in sides))
    return np.array(found)


@pytest.mark.parametrize("sampler", ["bins", "gaussian", "tilted"])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_covariance_is_the_sandwich(kernel, sampler):
    e = kept(kernel=kernel, sampler=sampler)
    expected = sandwich_by_hand(e)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.all(np.abs(e.covariance - expected) < 1e-9 * scale)  # rounding, squared twice
    np.testing.assert_allclose(e.stderr, np.sqrt(np.diag(expected))[1:], rtol=1e-9)
    assert e.local_stderr == pytest.approx(np.sqrt(expected.sum()), rel=1e-9)
    np.testing.assert_allclose(e.freedom[1:], freedom_by_hand(e), rtol=1e-9)


@pytest.mark.parametrize("ridge", [0.5, 1.0, 300.0])
def test_covariance_is_the_sandwich_with_ridge_too(ridge):
    """The residuals in the meat are those of the unpenalised fit: the noise, without the bias."""
    e = kept(ridge=ridge)
    expected = sandwich_by_hand(e, ridge)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.all(np.abs(e.covariance - expected) < 1e-9 * scale)
    assert e.local_stderr == pytest.approx(np.sqrt(expected.sum()), rel=1e-9)


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch", "cosine"])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 250.0])
def test_ridge_is_that_of_scikit_learn(ridge, kernel):
    e = kept(ridge=ridge, kernel=kernel, n=3000)
    real = Ridge(alpha=ridge).fit(e.z, e.y, sample_weight=e.weights)
    np.testing.assert_allclose(e.coef, real.coef_, rtol=1e-8, atol=1e-10)
    assert e.intercept == pytest.approx(real.intercept_, rel=1e-8)
    assert e.score == pytest.approx(real.score(e.z, e.y, e.weights), rel=1e-8)


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


def test_lasso_of_a_forest_on_many_features():
    e = of_forest(lasso=2.0, n=2000)
    real = Lasso(alpha=2.0, tol=1e-14, max_iter=100_000)
    real.fit(e.z.astype(float), e.y, sample_weight=e.weights)
    assert 0 < np.count_nonzero(real.coef_) < 10  # a case that drops some and keeps some
    np.testing.assert_allclose(e.coef, real.coef_, rtol=1e-8, atol=1e-8)


def test_score_is_the_weighted_r2():
    e = kept()
    fitted = e.intercept + e.z @ e.coef
    assert e.score == pytest.approx(r2_score(e.y, fitted, sample_weight=e.weights), rel=1e-10)


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
    theirs = base.feature_selection(
        np.vstack([np.ones(10), e.z]),
        np.concatenate([[e.prediction], e.y]),
        np.concatenate([[1.0], e.weights]),
        k,
        theirs,
    )
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
        e = lt.explain(
            FOREST, X[16], WORLD, NU, 150, 1, "mismatch", ridge=1.0, features=k, select=select
        )
        return e.used.tolist()

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


# ---------------------------------------------------------------------------- standard errors


def test_95_percent_intervals_contain_the_limit():
    """500 runs, n = 5000, d = 5, nu = 1, linear f: pooled coverage between 93% and 97%.

    2500 intervals know their coverage to 0.44%, so 95% +- 2% is 4.5 deviations wide.
    """
    f, world = lt.Linear([10, -10, 3, 0, 1], b=5), lt.Gaussian()
    xi = np.array([0.961, 0.432, -1.0, 0.1, 0.0])
    truth = lt.limit(f, xi, world, 1.0)
    inside, local = [], []
    for seed in range(500):
        e = lt.explain(f, xi, world, 1.0, n=5000, seed=seed, sampler="gaussian")
        inside.append(np.abs(e.coef - truth.coef) <= 1.959964 * e.stderr)
        local.append(abs(e.local_prediction - truth.local_prediction) <= 1.959964 * e.local_stderr)
    assert 0.93 <= np.mean(inside) <= 0.97
    # one feature alone: 500 intervals, so 4 deviations are 3.9%
    assert np.all(np.abs(np.mean(inside, axis=0) - 0.95) < 0.039)
    assert abs(np.mean(local) - 0.95) < 0.039


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_intervals_cover_for_the_other_samplers_too(sampler):
    """150 runs of 5 features: 750 intervals, so 4 deviations are 3.2%."""
    f, world = lt.Linear([10, -10, 3, 0, 1], b=5), lt.Gaussian()
    xi = np.array([0.961, 0.432, -1.0, 0.1, 0.0])
    truth = lt.limit(f, xi, world, 1.0).coef
    inside = []
    for seed in range(150):
        e = lt.explain(f, xi, world, 1.0, n=2000, seed=seed, sampler=sampler)
        inside.append(np.abs(e.coef - truth) <= 1.959964 * e.stderr)
    assert abs(np.mean(inside) - 0.95) < 0.032


def test_standard_error_falls_with_the_root_of_n():
    small, large = (kept(n=n, keep=False).stderr for n in (20_000, 320_000))
    # each is known to about 1/sqrt(2 ess) < 1%
    np.testing.assert_allclose(small / large, 4.0, rtol=0.05)


# ---------------------------------------------------------------------------- batches


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_batches_add_up_to_the_fit_of_all_their_samples(monkeypatch, sampler):
    """The samples depend on how they are batched, so the fit is redone from those kept."""
    monkeypatch.setattr(sys.modules["limetutor.algorithm"], "BATCH", 1000 * 5)
    e = kept(n=5_500, sampler=sampler)  # five batches and a half
    root = np.sqrt(e.weights)
    beta = np.linalg.lstsq(design(e) * root[:, None], e.y * root)[0]
    np.testing.assert_allclose([e.intercept, *e.coef], beta, rtol=0, atol=1e-12)
    assert e.ess == pytest.approx(e.weights.sum() ** 2 / (e.weights**2).sum(), rel=1e-12)
    # early residuals are those of fits to fewer samples: off by the variance of a fit to 1000
    # relative to that of a residual, (d + 1) / ess of the first batch, which is about 1%
    expected = sandwich_by_hand(e)
    np.testing.assert_allclose(e.stderr, np.sqrt(np.diag(expected))[1:], rtol=0.01)
    assert not np.array_equal(e.covariance, expected)  # there was more than one batch


def test_sums_of_batches_are_sums_of_all():
    """Also when the largest weight comes late, so that all sums change their unit."""
    rng = np.random.default_rng(2)
    z, y = rng.random((600, 3)) < 0.4, rng.normal(size=600)
    log_w = np.sort(rng.normal(-2000, 1.0, 600))
    whole, parts = surrogate.Sums(3), surrogate.Sums(3)
    whole.add(z, y, log_w)
    for k in range(0, 600, 100):
        parts.add(z[k : k + 100], y[k : k + 100], log_w[k : k + 100])
    assert parts.log_scale == whole.log_scale == log_w[-1]
    assert parts.n == whole.n == 600
    np.testing.assert_allclose(parts.gram, whole.gram, rtol=1e-12)
    assert parts.ess == pytest.approx(whole.ess, rel=1e-12)
    a, b = surrogate.fit(parts), surrogate.fit(whole)
    np.testing.assert_allclose(a.beta, b.beta, rtol=1e-9, atol=1e-12)
    assert a.score == pytest.approx(b.score, rel=1e-9)


def test_scaling_all_weights_changes_nothing_but_the_weight_of_a_penalty():
    def weigh(c):
        return lambda x, z, xi, nu: c * np.exp(-((x - xi) ** 2).sum(axis=1))

    one, many = (kept(kernel=weigh(c), keep=False) for c in (1.0, 1e-250))
    np.testing.assert_allclose(one.coef, many.coef, rtol=1e-9)
    np.testing.assert_allclose(one.stderr, many.stderr, rtol=1e-9)
    assert one.ess == pytest.approx(many.ess, rel=1e-9)
    ridge, scaled = kept(kernel=weigh(1.0), ridge=7.0), kept(kernel=weigh(1e-3), ridge=7e-3)
    np.testing.assert_allclose(ridge.coef, scaled.coef, rtol=1e-9)


# ---------------------------------------------------------------------------- hard cases


def test_a_constant_model_has_coefficients_zero_and_says_so():
    for value in (3.0, 0.1, -1e9):
        e = lt.explain(lambda x, v=value: np.full(len(x), v), BENT_XI, lt.Gaussian(), 1.0, seed=0)
        np.testing.assert_allclose(e.coef, 0, atol=1e-15 * abs(value))
        assert e.intercept == pytest.approx(value, rel=1e-15)
        assert e.score == 1.0
        assert len(e.as_list()) == 4  # estimated, and found to be zero


def test_a_large_offset_costs_no_digits():
    plain = kept(keep=False)
    moved = lt.explain(lambda x: bent(x) + 1e9, BENT_XI, lt.Gaussian(), 0.9, seed=0)
    # y itself is rounded to 1.2e-7 when it is near 1e9; averaged over 5000 samples far less
    np.testing.assert_allclose(moved.coef, plain.coef, rtol=0, atol=2e-8)
    np.testing.assert_allclose(moved.stderr, plain.stderr, rtol=1e-5)
    assert moved.score == pytest.approx(plain.score, abs=1e-6)
    assert moved.intercept - 1e9 == pytest.approx(plain.intercept, abs=2e-7)


def test_responses_of_any_unit_scale_the_explanation():
    plain = kept(keep=False)
    for unit in (1e-60, 1e60):
        e = lt.explain(lambda x, u=unit: u * bent(x), BENT_XI, lt.Gaussian(), 0.9, seed=0)
        np.testing.assert_allclose(e.coef, unit * plain.coef, rtol=1e-9)
        np.testing.assert_allclose(e.stderr, unit * plain.stderr, rtol=1e-9)
        assert e.score == pytest.approx(plain.score, rel=1e-9)


def test_an_indicator_that_never_varies_gets_no_coefficient():
    sums = surrogate.Sums(3)
    rng = np.random.default_rng(3)
    z = rng.random((400, 3)) < 0.5
    z[:, 1] = True
    y = 2.0 * z[:, 0] - 1.0 * z[:, 2]
    sums.add(z, y, np.zeros(400))
    result = surrogate.fit(sums)
    np.testing.assert_allclose(result.beta[1:], [2, 0, -1], atol=1e-12)
    assert list(result.used) == [True, False, True]
    assert list(result.tangled) == [False, True, False]


def test_rounding_is_not_taken_for_a_direction():
    """Weights over many orders of magnitude leave variances that are rounding and no more.

    Coefficients stay of the size of the responses (|y| < 5); inverting the noise gave 2000.
    """
    rng = np.random.default_rng(2)
    for _ in range(400):
        z, y = rng.random((600, 6)) < 0.4, rng.normal(size=600)
        sums = surrogate.Sums(6)
        sums.add(z, y, np.sort(rng.normal(0, 60, 600)))
        assert np.max(np.abs(surrogate.fit(sums).beta)) < 10


def test_indicators_that_always_agree_share_their_coefficient():
    sums = surrogate.Sums(3)
    rng = np.random.default_rng(4)
    z = rng.random((400, 3)) < 0.5
    z[:, 1] = z[:, 0]
    sums.add(z, 2.0 * z[:, 0] - 1.0 * z[:, 2], np.zeros(400))
    result = surrogate.fit(sums)
    np.testing.assert_allclose(result.beta[1:], [1, 1, -1], atol=1e-9)  # the least norm
    assert list(result.tangled) == [True, True, False]
    assert np.all(np.isfinite(result.covariance))


# --- groups of samples that depend on each other --------------------------------------------------


def batch(n, d, spread=1.0, seed=0):
    """Indicators, a response with residuals that depend on them, weights that differ."""
    rng = np.random.default_rng(seed)
    z = rng.random((n, d)) < np.linspace(0.15, 0.6, d)
    y = z @ np.linspace(-1, 2, d) + (0.3 + z[:, 0]) * rng.normal(size=n)
    return z, y, -spread * rng.random(n) - spread * z[:, 1]


def grouped(groups, d=4, n=600):
    parts = [batch(n, d, 0.3, seed=s) for s in range(groups)]
    sums = surrogate.Sums(d, groups=groups)
    for group, part in enumerate(parts):
        sums.add(*part, group)
    return parts, sums


def test_the_noise_of_groups_is_that_of_their_scores_drawn_together():
    groups, d = 5, 4
    parts, sums = grouped(groups)
    found = surrogate.fit(sums)
    designs = [np.column_stack([np.ones(len(z)), z]) for z, _, _ in parts]
    W = [np.exp(log_w) for _, _, log_w in parts]
    A = sum((D * w[:, None]).T @ D for D, w in zip(designs, W, strict=True))
    b = sum(D.T @ (w * y) for D, w, (_, y, _) in zip(designs, W, parts, strict=True))
    beta = np.linalg.solve(A, b)
    np.testing.assert_allclose(found.beta, beta, rtol=1e-10)
    scores = np.array(
        [D.T @ (w * (y - D @ beta)) for D, w, (_, y, _) in zip(designs, W, parts, strict=True)]
    )
    B = np.linalg.inv(A)
    spread = B @ scores.T @ scores @ B * groups / (groups - 1)
    common = np.mean(np.diag(spread)[1:] / np.diag(B)[1:])
    pool = min(surrogate.POOL, d - 1)
    expected = ((groups - 1) * spread + pool * common * B) / (groups - 1 + pool)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-8)
    assert np.all(found.freedom == groups - 1 + pool) and found.local_freedom == groups - 1 + pool


def test_a_row_without_a_group_moves_the_fit_and_makes_no_noise():
    _, sums = grouped(3)
    _, other = grouped(3)
    z, y = np.ones((1, 4), bool), np.array([30.0])
    other.add(z, y, np.zeros(1), None)
    before, after = surrogate.fit(sums), surrogate.fit(other)
    assert not np.allclose(before.beta, after.beta)
    # the noise of groups alone: the row, some 20 standard errors off, is the same in every run
    ratio = np.diag(after.covariance) / np.diag(before.covariance)
    assert np.all((ratio > 0.5) & (ratio < 2.0))


def test_one_coefficient_has_none_to_borrow_from():
    parts = [batch(400, 1 + 1, 0.0, seed=s) for s in range(2)]
    sums = surrogate.Sums(1, groups=2)
    for group, (z, y, log_w) in enumerate(parts):
        sums.add(z[:, :1], y, log_w, group)
    assert surrogate.fit(sums).freedom[1] == 1
