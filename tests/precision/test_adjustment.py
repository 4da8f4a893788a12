"""Regression adjustment: the same limit from the same samples, with less noise."""

import numpy as np
import pytest
from coded_worlds import WORLDS
from scipy import stats
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import r2_score

import limetutor as lt
from limetutor.core.kernels import product_kernels
from limetutor.core.problem import Problem
from limetutor.core.sampler import SAMPLERS
from limetutor.course.experiments import repeat
from limetutor.many.explain_many import explain_quietly
from limetutor.precision.adjustment import Adjustment


def bent(x):
    return np.exp(0.4 * x[:, 0]) + x[:, 1] * x[:, 2] + np.sin(3 * x[:, 1])


@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
def test_columns_have_mean_0_on_both_sides_of_every_indicator(name, kernel):
    """Under the tilted law; with untilted means those of the Gaussian kernel would not."""
    world, xi = WORLDS[name]
    setting = Problem.of(bent, xi, world, 0.9, kernel)
    x, z = SAMPLERS["tilted"].draw(setting, np.random.default_rng(0), 60_000)
    found = Adjustment(setting, 60_000)
    columns = found.columns(x, z)
    np.testing.assert_array_equal(columns[:, :3], z)
    extra = columns[:, 3:]
    assert extra.shape[1] == found.size >= 3
    for j in range(3):
        for side in (z[:, j], ~z[:, j]):
            error = extra[side].std(axis=0) / np.sqrt(side.sum())
            assert np.all(np.abs(extra[side].mean(axis=0)) <= 4.5 * error + 1e-12)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("sampler", ["bins", "tilted", "sobol"])
@pytest.mark.parametrize("kernel", product_kernels())
@pytest.mark.parametrize("name", WORLDS)
def test_the_limit_is_the_mean_of_runs(name, kernel, sampler):
    world, xi = WORLDS[name]
    f = lt.Linear([1.0, -2.0, 0.7], 0.3)
    limit = lt.limit(f, xi, world, 0.9, kernel)
    how = {"kernel": kernel, "sampler": sampler, "adjust": True}
    runs = repeat(f, xi, world, 0.9, n=1500, runs=24, seed=5, **how)
    # an additive f has next to no noise left: what remains is the order of 1/n
    slack = 4 * runs.stderr + 2e-3 * np.abs(limit.coef)
    assert np.all(np.abs(runs.mean - limit.coef) < slack)


def test_untilted_means_would_bias_the_fit():
    """The Gaussian kernel moves the mean of every box: the point of tilting them."""
    xi, nu, n = np.array([0.3, -1.2]), 0.6, 40_000
    f = lt.Linear([1.0, -1.0])
    setting = Problem.of(f, xi, lt.Gaussian(), nu)
    x, z = SAMPLERS["tilted"].draw(setting, np.random.default_rng(0), n)
    truth, off = lt.limit(f, xi, lt.Gaussian(), nu).coef, []
    for tilted in (True, False):
        found = Adjustment(setting, n)
        if not tilted:
            found.means = setting.boxes.law.box_means()
        design = np.column_stack([np.ones(n), found.columns(x, z)])
        off.append(np.max(np.abs(np.linalg.lstsq(design, f(x))[0][1:3] - truth)))
    # unadjusted, the larger standard error would be .006
    assert off[0] < 0.006 and off[1] > 0.05


@pytest.mark.parametrize("ridge", [0.0, 50.0])
def test_the_fit_is_least_squares_on_all_columns_and_ridge_and_score_the_surrogates(ridge):
    world, xi = WORLDS["gaussian"]
    e = lt.explain(bent, xi, world, 0.9, 3000, 0, adjust=True, keep=True, ridge=ridge)
    columns = Adjustment(e.setting, 3000).columns(e.x, e.z)
    design, w = np.column_stack([np.ones(3000), columns]), e.weights
    penalty = np.diag([0.0] + 3 * [ridge] + (design.shape[1] - 4) * [0.0])
    gram = (design * w[:, None]).T @ design + penalty
    beta = np.linalg.solve(gram, (design * w[:, None]).T @ e.y)
    np.testing.assert_allclose([e.intercept, *e.coef], beta[:4], rtol=0, atol=1e-10)
    fitted = e.intercept + e.z @ e.coef
    assert e.score == pytest.approx(r2_score(e.y, fitted, sample_weight=w), rel=1e-9)


def friedman(d):
    X = np.random.default_rng(0).uniform(size=(600, d))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + X[:, 3:5] @ [10, 5]
    return GradientBoostingRegressor(random_state=0).fit(X, y), X


def test_the_same_samples_have_less_noise_and_their_intervals_cover():
    """Boosting on Friedman's function with lime's kernel and width: measured 5 times and more."""
    model, X = friedman(10)
    world, nu = lt.Empirical(X), 0.75 * np.sqrt(10)
    ratios, hits = [], []
    for row in (3, 4, 5):
        truth = lt.limit(model, X[row], world, nu, "mismatch").coef
        square = np.zeros(2)
        for seed in range(25):
            for k, adjust in enumerate((False, True)):
                how = {"seed": seed, "kernel": "mismatch", "adjust": adjust}
                e = explain_quietly(model.predict, X[row], world, nu, 2000, **how)
                square[k] += np.sum((e.coef - truth) ** 2)
            lo, hi = e.interval().T
            hits.append((lo <= truth) & (truth <= hi))
        ratios.append(square[0] / square[1])
    # 25 runs of 10 coefficients know a ratio to some 15%
    assert np.median(ratios) > 3
    # 750 intervals, ten of which share their samples: at least 75 independent trials
    assert np.mean(hits) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 75)


def test_it_uses_the_same_samples():
    world, xi = WORLDS["empirical"]
    plain, adjusted = (
        lt.explain(bent, xi, world, 0.9, 2000, 0, adjust=adjust, keep=True)
        for adjust in (False, True)
    )
    np.testing.assert_array_equal(plain.x, adjusted.x)
    assert adjusted.adjusted and not plain.adjusted
    assert "adjusted" in repr(adjusted) and "adjusted" not in repr(plain)


def test_chosen_features_are_adjusted_too():
    world, xi = WORLDS["gaussian"]
    plain, adjusted = (
        lt.explain(bent, xi, world, 0.9, 4000, 0, features=2, adjust=adjust)
        for adjust in (False, True)
    )
    assert np.count_nonzero(adjusted.coef) == 2
    assert np.all(adjusted.stderr[adjusted.used] < plain.stderr[adjusted.used])


def test_boxes_that_hardly_occur_have_no_column():
    setting = Problem.of(bent, [0.1, 0.1, 0.1], lt.Gaussian(), 0.05)
    few = Adjustment(setting, 100)
    assert len(few.box) == 0 and len(few.inside) == 3
    setting = Problem.of(lt.Linear([1.0]), [-1.0], lt.Gaussian(p=3), 1.0)
    rarest = stats.norm(-0.5, np.sqrt(0.5)).sf(stats.norm.ppf(2 / 3))  # the third box
    sizes = [len(Adjustment(setting, int(10 / rarest) + more).box) for more in (0, 1)]
    assert sizes == [0, 1]  # from ten expected draws on


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "cosine"}, "adjust must be False for a kernel"),
        ({"lasso": 0.1}, "adjust must be False with lasso"),
        ({"n": 10}, r"n must be \d+ or more with adjust=True"),
        ({"sampler": "gaussian"}, "adjust must be False with sampler='gaussian'"),
        ({"adjust": 1}, "adjust must be True or False"),
    ],
)
def test_what_cannot_be_adjusted_is_refused(options, words):
    world, xi = WORLDS["empirical" if "sampler" in options else "gaussian"]
    with pytest.raises(ValueError, match=words):
        lt.explain(bent, xi, world, 0.9, **{"seed": 0, "adjust": True} | options)


@pytest.mark.parametrize("n", [2000, 30_000])
@pytest.mark.parametrize("how", [{}, {"adjust": True}, {"adjust": True, "ridge": 1.0}])
def test_a_constant_column_is_one_whatever_the_weights(n, how):
    """Rounding in sums of unequal weights must not make it a feature with a coefficient."""
    table = np.column_stack([np.random.default_rng(0).normal(size=(200, 2)), np.full(200, 7.0)])
    for seed in range(3):
        e = explain_quietly(
            lambda x: np.sin(x[:, 0]) * x[:, 1], table[0], lt.Empirical(table), 1.1, n, seed,
            "mismatch", **how,
        )  # fmt: skip
        assert e.coef[2] == 0 and e.stderr[2] == 0 and not e.used[2]
        assert "all or none of its values in xi's box for 1 feature(s) ['x3']" in e.warnings[0]


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_intervals_hold_a_limit_that_the_columns_explain_to_the_last_digit(sampler):
    f, xi = lt.Linear([3.0, -1.0, 2.0], 7.0), [0.4, 1.0, -0.2]
    world = lt.Gaussian(0, [1.0, 2.0, 0.7])
    limit = lt.limit(f, xi, world, 1.5, "mismatch").coef
    for seed in range(8):
        options = {"n": 600, "seed": seed, "kernel": "mismatch", "sampler": sampler, "adjust": True}
        ends = lt.explain(f, xi, world, 1.5, **options).interval()
        assert np.all((ends[:, 0] <= limit) & (limit <= ends[:, 1]))
        assert np.ptp(ends, axis=1).max() < 1e-11
