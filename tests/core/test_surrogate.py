"""The fit: weighted least squares, its penalties, its choice of features and its errors."""

import os
from functools import cache

import numpy as np
import pytest
from fits_by_hand import BENT_XI, batch, bent, design, kept, sandwich_by_hand
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.neural_network import MLPRegressor

import limetutor as lt
from limetutor.core import surrogate
from limetutor.core.surrogate import Sums, fit
from limetutor.many.explain_many import explain_quietly
from limetutor.precision.effective_samples import effective_sample_size


def test_unpenalised_fit_is_weighted_least_squares():
    e = kept()
    root = np.sqrt(e.weights)
    beta = np.linalg.lstsq(design(e) * root[:, None], e.y * root)[0]
    # normal equations on indicators have a condition number near 10: 1e-16 becomes 1e-13
    np.testing.assert_allclose([e.intercept, *e.coef], beta, rtol=0, atol=1e-12)
    shown = e.intercept + e.z @ e.coef
    assert e.score == pytest.approx(r2_score(e.y, shown, sample_weight=e.weights), rel=1e-10)


def fitted(*batch):
    sums = surrogate.Sums(batch[0].shape[1])
    sums.add(*batch)
    return surrogate.fit(sums)


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


SAMPLED = [{"kernel": k, "sampler": s} for k in ("gaussian", "mismatch")
           for s in ("bins", "gaussian", "tilted")]  # fmt: skip


@pytest.mark.parametrize("how", [*SAMPLED, *({"ridge": r} for r in (0.5, 1.0, 300.0))], ids=str)
def test_covariance_is_the_sandwich(how):
    """With ridge the residuals in the meat are those of the unpenalised fit: noise without bias."""
    e = kept(**how)
    expected = sandwich_by_hand(e, how.get("ridge", 0.0))
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.all(np.abs(e.covariance - expected) < 1e-9 * scale)  # rounding, squared twice
    np.testing.assert_allclose(e.stderr, np.sqrt(np.diag(expected))[1:], rtol=1e-9)
    assert e.local_stderr == pytest.approx(np.sqrt(expected.sum()), rel=1e-9)
    np.testing.assert_allclose(e.freedom[1:], freedom_by_hand(e), rtol=1e-9)


# fast with 500 effective samples, 100 a coefficient, where no box is so small that it costs digits
@pytest.mark.parametrize(
    ("nu", "p", "error"), [(0.45, 4, 1e-9), (0.5, 4, 1e-5), (0.9, 4, 1e-5), (0.9, 40, 1e-9)]
)
def test_standard_errors_of_large_samples_are_fast_where_that_costs_nothing(nu, p, error):
    e = lt.explain(bent, BENT_XI, lt.Gaussian(0, 1, [4, 4, 4, p]), nu, 12_000, 0, keep=True)
    errors = np.abs(e.stderr / np.sqrt(np.diag(sandwich_by_hand(e)))[1:] - 1)
    assert e.ess > 480 and np.all(errors < error) and np.any(errors > 1e-9) == (error > 1e-9)
    np.testing.assert_allclose(e.freedom[1:], freedom_by_hand(e), rtol=max(error, 1e-6))


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch", "cosine"])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 250.0])
def test_ridge_is_that_of_scikit_learn(ridge, kernel):
    e = kept(ridge=ridge, kernel=kernel, n=3000)
    real = Ridge(alpha=ridge).fit(e.z, e.y, sample_weight=e.weights)
    np.testing.assert_allclose(e.coef, real.coef_, rtol=1e-8, atol=1e-10)
    assert e.intercept == pytest.approx(real.intercept_, rel=1e-8)
    assert e.score == pytest.approx(real.score(e.z, e.y, e.weights), rel=1e-8)


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


@pytest.mark.parametrize("growth", [1.0, 50.0])
def test_the_pooled_noise_of_batches_is_that_of_their_residuals(growth):
    """The second batch has larger responses, in whose unit the sums of the first are written anew."""
    parts = [batch(300, 3, seed=1), batch(300, 3, seed=2)]
    parts[1] = (parts[1][0], growth * parts[1][1], parts[1][2])
    sums, noise, seen = surrogate.Sums(3), 0.0, []
    for z, y, log_w in parts:
        sums.add(z, y, log_w)
        seen.append((z, y, np.exp(log_w)))
        Z, Y, W = (np.concatenate(column) for column in zip(*seen, strict=True))
        design, root = np.column_stack([np.ones(len(Z)), Z]), np.sqrt(W)
        beta = np.linalg.lstsq(design * root[:, None], Y * root)[0]
        residual = y - np.column_stack([np.ones(len(z)), z]) @ beta
        noise += np.sum((np.exp(log_w) * residual) ** 2)
    found = sums.noise * sums.unit**2 * np.exp(2 * sums.log_scale)
    assert found == pytest.approx(noise, rel=1e-9)


def test_scaling_all_weights_changes_nothing_but_the_weight_of_a_penalty():
    def weigh(c):
        return lambda x, z, xi, nu: c * np.exp(-((x - xi) ** 2).sum(axis=1))

    one, many = (kept(kernel=weigh(c), keep=False) for c in (1.0, 1e-250))
    np.testing.assert_allclose(one.coef, many.coef, rtol=1e-9)
    np.testing.assert_allclose(one.stderr, many.stderr, rtol=1e-9)
    assert one.ess == pytest.approx(many.ess, rel=1e-9)
    ridge, scaled = kept(kernel=weigh(1.0), ridge=7.0), kept(kernel=weigh(1e-3), ridge=7e-3)
    np.testing.assert_allclose(ridge.coef, scaled.coef, rtol=1e-9)


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


def test_an_indicator_that_never_varies_gets_no_coefficient():
    rng = np.random.default_rng(3)
    z = rng.random((400, 3)) < 0.5
    z[:, 1] = True
    result = fitted(z, 2.0 * z[:, 0] - 1.0 * z[:, 2], np.zeros(400))
    np.testing.assert_allclose(result.beta[1:], [2, 0, -1], atol=1e-12)
    assert list(result.used) == [True, False, True]
    assert list(result.collinear) == [False, True, False]


def test_rounding_is_not_taken_for_a_direction():
    """Weights over many orders of magnitude leave variances that are rounding and no more.

    Coefficients stay of the size of the responses (|y| < 5); inverting the noise gave 2000.
    """
    rng = np.random.default_rng(2)
    for _ in range(400):
        z, y = rng.random((600, 6)) < 0.4, rng.normal(size=600)
        assert np.max(np.abs(fitted(z, y, np.sort(rng.normal(0, 60, 600))).beta)) < 10


def test_indicators_that_always_agree_share_their_coefficient():
    rng = np.random.default_rng(4)
    z = rng.random((400, 3)) < 0.5
    z[:, 1] = z[:, 0]
    result = fitted(z, 2.0 * z[:, 0] - 1.0 * z[:, 2], np.zeros(400))
    np.testing.assert_allclose(result.beta[1:], [1, 1, -1], atol=1e-9)  # the least norm
    assert list(result.collinear) == [True, True, False]
    assert np.all(np.isfinite(result.covariance))


def test_counts_of_equal_samples_are_exact():
    z, y, _ = batch(200_000, 6)
    sums = surrogate.Sums(6)
    sums.add(z, y, np.full(len(y), -3.0))
    whole = np.column_stack([np.ones(len(z)), z]).astype(np.int64)
    np.testing.assert_array_equal(sums.gram, whole.T @ whole)
    np.testing.assert_array_equal(sums.squared, sums.gram[0])


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_tiny_and_huge_responses_survive_single_precision(scale):
    z, y, log_w = batch(20_000, 20)
    found, plain = (fitted(z, s * y, log_w) for s in (scale, 1.0))
    np.testing.assert_allclose(found.beta / scale, plain.beta, rtol=1e-9)
    said, expected = (np.sqrt(np.diag(one.covariance)) for one in (found, plain))
    np.testing.assert_allclose(said / scale, expected, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-148, 1e148, 1e200, 1e290])
def test_standard_errors_are_right_in_any_unit_or_infinite_and_said_to_be(unit):
    """Never 0: a square that is lost is no proof of precision, and rtol is not reached by it."""
    model = lambda x: np.sin(x[:, 0]) * x[:, 1]  # noqa: E731
    how = {"xi": [0.3, 1.0], "world": lt.Gaussian(), "nu": 1.0, "n": 2000, "seed": 4}
    plain = lt.explain(model, **how)
    found = explain_quietly(lambda x: unit * model(x), **how)
    np.testing.assert_allclose(found.coef / unit, plain.coef, rtol=1e-12)
    if 1e-150 < unit < 1e150:
        np.testing.assert_allclose(found.stderr / unit, plain.stderr, rtol=1e-9)
        assert not found.warnings
    else:
        assert np.all(found.stderr == np.inf) and "rescale f" in found.warnings[-1]
        asked = explain_quietly(lambda x: unit * model(x), **how, rtol=0.5)
        assert not asked.precision.reached and asked.n == 2000


def test_no_feature_at_all_leaves_the_mean_and_lapack_silent(capfd):
    """A lasso may drop every feature; what LAPACK thinks of an empty matrix once stood on a page."""
    inverse, collinear = surrogate.pseudo_inverse(np.zeros((0, 0)))
    assert inverse.shape == (0, 0) and collinear.shape == (0,)
    assert capfd.readouterr() == ("", "")


VERIFY = bool(os.environ.get("LIMETUTOR_VERIFY"))
RUNS = 500 if VERIFY else 120
WORLD = lt.Gaussian()


@cache
def models(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(400, d))
    y = np.sin(2 * X[:, 0]) + X[:, -1] ** 2 + 0.3 * X.sum(axis=1)
    slopes = np.array([10.0, -10.0, *np.zeros(20)])[:d]
    net = MLPRegressor(hidden_layer_sizes=(16,), max_iter=3000, random_state=0)
    forest = RandomForestRegressor(20, max_depth=6, random_state=0)
    return {"linear": lt.Linear(slopes), "forest": forest.fit(X, y), "net": net.fit(X, y)}


def least_samples(xi, nu, sampler):
    """The n at which 5 (d + 1) effective samples, and 5 on each side of xi's boxes, are expected."""
    alpha = lt.limit(lt.Linear(np.ones(len(xi))), xi, WORLD, nu).alpha
    need = max(5 * (len(xi) + 1), 5 / np.minimum(alpha, 1 - alpha).min())
    share = 1.0 if sampler == "tilted" else effective_sample_size(xi, WORLD, nu, 1)
    return int(np.ceil(1.05 * need / share))


SETTINGS = [(d, nu, way) for d in (2, 5, 10) for nu in (0.53, 1.0) for way in ("bins", "tilted")]


@pytest.mark.sampled(2)
@pytest.mark.verify
@pytest.mark.parametrize("name", ["linear", "forest", "net"])
@pytest.mark.parametrize(
    ("d", "nu", "sampler"), SETTINGS if VERIFY else [(2, 1.0, "bins"), (5, 0.53, "tilted")]
)
def test_pooled_intervals_cover(d, nu, sampler, name, verified):
    f, xi = models(d)[name], np.random.default_rng(d).normal(size=d) * 0.8
    truth = lt.limit(f, xi, WORLD, nu).coef
    predict = f if name == "linear" else f.predict
    n = min(least_samples(xi, nu, sampler), 20_000)
    hits = []
    for seed in range(RUNS):
        ex = explain_quietly(predict, xi, WORLD, nu, n=n, seed=seed, sampler=sampler)
        lo, hi = ex.interval().T
        hits.append((lo <= truth) & (truth <= hi))
    cover = float(np.mean(hits))
    verified(f"95% intervals, {name}, d={d}, ν={nu}, {sampler}, n={n}", f"{cover:.1%}", "93–99%")
    # pooled over d coefficients, which share their samples: at least RUNS independent trials
    slack = 0 if VERIFY else 3 * np.sqrt(0.95 * 0.05 / RUNS)
    assert 0.93 - slack <= cover <= 0.99 + slack


def test_never_nan():
    for f, world, options in (
        (lt.Linear([1.0]), lt.Gaussian(p=2), {"n": 50}),
        (lambda x: np.ones(len(x)), lt.Gaussian(), {"n": 20}),
        (lt.Linear([1.0]), lt.Gaussian(), {"n": 3}),
        (lt.Linear([1e-150]), lt.Gaussian(), {"n": 30}),
        (lt.Linear([1e150]), lt.Gaussian(), {"n": 30}),
        (lt.Linear([1.0]), lt.Empirical(np.ones((20, 1))), {"n": 30, "ridge": 1.0}),
    ):
        e = explain_quietly(f, [0.3] if world.d is None else [1.0], world, 0.7, seed=0, **options)
        assert np.all(np.isfinite(e.stderr)) and np.isfinite(e.local_stderr)
        assert np.all(np.isfinite(e.interval())) and np.isfinite(e.score)
    for unit in (1e-300, 1e180):  # whose squares no double holds: infinite, which is no nan
        e = explain_quietly(lt.Linear([unit]), [0.3], lt.Gaussian(), 0.7, 30, 0)
        assert e.stderr == e.local_stderr == np.inf and np.isfinite(e.score)
        assert not np.any(np.isnan(e.interval()))


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    size=st.floats(1e3, 1e300),
    share=st.floats(1e-16, 1e-12),
    count=st.integers(1, 5),
)
def test_samples_that_do_not_count_move_nothing(seed, size, share, count):
    """w |f| below 1e-12 of the total: coefficients and intercept stay within 1e-9 of f's scale."""
    rng = np.random.default_rng(seed)
    z, y = rng.random((300, 4)) < 0.5, rng.normal(size=300)
    log_w = rng.normal(size=300)
    plain = Sums(4)
    plain.add(z, y, log_w)
    total = np.exp(log_w) @ np.abs(y)
    # further samples, huge, with weights so small that each adds ``share`` of the total
    far = np.where(rng.random(count) < 0.5, -1, 1) * size
    far_w = np.log(share * total / count) - np.log(size)
    both = Sums(4)
    order = rng.permutation(300 + count)
    both.add(
        np.concatenate([z, rng.random((count, 4)) < 0.5])[order],
        np.concatenate([y, far])[order],
        np.concatenate([log_w, np.full(count, far_w)])[order],
    )
    scale = total / np.exp(log_w).sum()
    assert np.all(np.abs(fit(both).beta - fit(plain).beta) < 1e-9 * scale)
    assert np.all(np.isfinite(fit(both).covariance))


def test_an_indicator_that_is_always_1_is_the_intercept_to_the_last_bit():
    """In the samples that weigh something; of the others no value counts."""
    rng = np.random.default_rng(0)
    z, y, log_w = rng.random((500, 3)) < 0.5, rng.normal(size=500), -3 * rng.exponential(size=500)
    z[:, 1] = np.arange(500) != 7
    for weight, merged in ((-np.inf, True), (log_w[7], False)):
        log_w[7] = weight
        sums = Sums(3)
        for rows in np.array_split(np.arange(500), 5):
            sums.add(z[rows], y[rows], log_w[rows])
        assert np.array_equal(sums.gram[2], sums.gram[0]) is merged
        assert np.array_equal(sums.gram, sums.gram.T)
        for part in (sums.response, sums.squared):
            assert (part[2] == part[0]) is np.bool_(merged)
