"""Intervals that cover, and sums that a sample without weight cannot move."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.neural_network import MLPRegressor

import limetutor as lt
from limetutor.algorithm import explain_quietly
from limetutor.normal_limit import effective_sample_size
from limetutor.surrogate import Sums, fit

VERIFY = bool(os.environ.get("LIMETUTOR_VERIFY"))
RUNS = 500 if VERIFY else 120
WORLD = lt.Gaussian()


def test_an_interval_is_students():
    e = lt.explain(lt.Linear([1.0, 2.0]), [0.3, -1.0], WORLD, 0.8, n=200, seed=0)
    for level in (0.5, 0.95, 0.999):
        half = stats.t.ppf(0.5 + level / 2, e.freedom[1:]) * e.stderr
        expected = np.column_stack([e.coef - half, e.coef + half])
        np.testing.assert_allclose(e.interval(level), expected, rtol=1e-12)
    assert e.interval().shape == (2, 2)
    for level in (0, 1, 1.5, "a"):
        with pytest.raises(ValueError, match="level must"):
            e.interval(level)


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


SETTINGS = [
    (d, nu, sampler) for d in (2, 5, 10) for nu in (0.53, 1.0) for sampler in ("bins", "tilted")
]


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
        lo, hi = (
            explain_quietly(predict, xi, WORLD, nu, n=n, seed=seed, sampler=sampler).interval().T
        )
        hits.append((lo <= truth) & (truth <= hi))
    cover = float(np.mean(hits))
    verified(f"95% intervals, {name}, d={d}, ν={nu}, {sampler}, n={n}", f"{cover:.1%}", "93–99%")
    # pooled over d coefficients, which share their samples: at least RUNS independent trials
    slack = 0 if VERIFY else 3 * np.sqrt(0.95 * 0.05 / RUNS)
    assert 0.93 - slack <= cover <= 0.99 + slack


def test_few_effective_samples_are_said():
    e = explain_quietly(lt.Linear([1.0, 1.0]), [0.3, 0.3], WORLD, 0.1, n=300, seed=0)
    assert e.ess < 15
    assert any("effective sample size" in text for text in e.warnings)
    e = explain_quietly(lt.Linear([1.0]), [0.337], WORLD, 0.15, n=40, seed=0, sampler="tilted")
    assert any("one side of xi's box" in text or "singular" in text for text in e.warnings)


def test_standard_errors_of_chosen_features_are_those_of_many_runs():
    """What the features left out do to f is noise for the others."""
    f = lt.Linear([3.0, 3.0, 3.0, 3.0])
    how = {"n": 400, "features": 1, "select": "highest"}
    runs = [explain_quietly(f, [1.5, 0.1, 0.1, 0.1], WORLD, 1.5, seed=s, **how) for s in range(300)]
    first = [e for e in runs if e.used[0]]
    assert len(first) > 290
    spread = np.std([e.coef[0] for e in first], ddof=1)
    said = np.sqrt(np.mean([e.stderr[0] ** 2 for e in first]))
    assert said == pytest.approx(spread, rel=0.15)  # sqrt(1/600) = .04 from 300 runs, and some


def test_never_nan():
    for f, world, options in (
        (lt.Linear([1.0]), lt.Gaussian(p=2), {"n": 50}),
        (lambda x: np.ones(len(x)), lt.Gaussian(), {"n": 20}),
        (lt.Linear([1.0]), lt.Gaussian(), {"n": 3}),
        (lt.Linear([1e-300]), lt.Gaussian(), {"n": 30}),
        (lt.Linear([1e150]), lt.Gaussian(), {"n": 30}),
        (lt.Linear([1.0]), lt.Empirical(np.ones((20, 1))), {"n": 30, "ridge": 1.0}),
    ):
        e = explain_quietly(f, [0.3] if world.d is None else [1.0], world, 0.7, seed=0, **options)
        assert np.all(np.isfinite(e.stderr)) and np.isfinite(e.local_stderr)
        assert np.all(np.isfinite(e.interval())) and np.isfinite(e.score)


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
