"""New examples: samplers have the laws they claim."""

from __future__ import annotations

import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes

import limetutor as lt
from limetutor.algorithm import explain_quietly
from limetutor.kernels import KERNELS, PRODUCT_KERNELS
from limetutor.sampling import SAMPLERS, sampler
from limetutor.setting import Setting

# Every statistical test below has a fixed seed, so it passes or fails once and for all. LEVEL is
# the chance that correct code would have failed for the seed that was picked.
LEVEL = 1e-3

WORLDS = {
    "paper": (lt.Gaussian(0, 1, 4), np.array([0.961, 0.432, 0.0])),
    "unequal": (
        lt.Gaussian([-3, 0, 50, 1e-3], [0.2, 1, 30, 1e-4], [2, 5, 10, 3]),
        np.array([-3.5, 2.5, 51, 1e-3]),
    ),
}


def tilted(boxes, xi, nu, kernel):
    """A function that draws from the tilted law, and the log of what each draw stands for."""
    setting = Setting(None, xi, None, boxes, nu, KERNELS[kernel])
    draws = SAMPLERS["tilted"]
    log_C = draws.log_weights(setting, xi[None], None)[0]
    return lambda rng, n: draws.draw(setting, rng, n), log_C


def drawn(name, world, xi, n, seed):
    boxes = world.boxes(len(xi))
    x, z = sampler(name, boxes, xi)(np.random.default_rng(seed), n)
    return boxes, x, z


@pytest.mark.parametrize("world", WORLDS)
def test_bins_and_gaussian_have_the_same_marginals(world):
    world, xi = WORLDS[world]
    _, first, _ = drawn("bins", world, xi, 40_000, 1)
    _, second, _ = drawn("gaussian", world, xi, 40_000, 2)
    p = [stats.ks_2samp(first[:, j], second[:, j]).pvalue for j in range(len(xi))]
    assert min(p) > LEVEL / len(xi)  # Bonferroni


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", ["bins", "gaussian"])
def test_each_coordinate_is_the_normal_of_the_world(world, name):
    """64 cells of equal mass see what Kolmogorov-Smirnov does not: the tails and the edges."""
    world, xi = WORLDS[world]
    n = 64_000
    boxes, x, _ = drawn(name, world, xi, n, 3)
    for j in range(len(xi)):
        u = stats.norm.cdf(x[:, j], boxes.mu[j], boxes.sigma[j])
        counts = np.bincount(np.minimum((u * 64).astype(int), 63), minlength=64)
        assert stats.chisquare(counts).pvalue > LEVEL / len(xi)


@pytest.mark.parametrize("world", WORLDS)
def test_bins_and_gaussian_fill_joint_boxes_alike(world):
    """Chi-square on the table sampler x joint box of the first three features."""
    world, xi = WORLDS[world]
    tables = []
    for name, seed in (("bins", 4), ("gaussian", 5)):
        boxes, x, _ = drawn(name, world, xi, 40_000, seed)
        sizes = [len(boxes.edges[j]) + 1 for j in range(3)]
        joint = np.ravel_multi_index(boxes.discretize(x)[:, :3].T, sizes)
        tables.append(np.bincount(joint, minlength=np.prod(sizes)))
    # the least frequent joint box still expects 40 000 / 100 = 400 samples, plenty for chi-square
    assert stats.chi2_contingency(np.array(tables)).pvalue > LEVEL


@pytest.mark.parametrize("name", ["bins", "gaussian"])
def test_coordinates_are_independent(name):
    n = 40_000
    _, x, z = drawn(name, lt.Gaussian(0, 1, 4), np.linspace(-1, 1, 6), n, 6)
    for values in (x, np.abs(x), z):
        correlations = np.corrcoef(values.T)[np.triu_indices(6, 1)]
        # a correlation of independent columns is N(0, 1/n); 4 deviations for each of 45 pairs
        assert np.max(np.abs(correlations)) < 4 / np.sqrt(n)


@pytest.mark.parametrize("name", ["bins", "gaussian", "tilted"])
@pytest.mark.parametrize("kind", ["gaussian world", "empirical world"])
def test_indicators_say_whether_the_value_lies_in_the_box_of_xi(name, kind):
    if kind == "gaussian world":
        world, xi = WORLDS["unequal"]
    else:
        world = lt.Empirical(load_diabetes().data, p=5)
        xi = world.table[7]
    boxes = world.boxes(len(xi))
    draw = tilted(boxes, xi, 0.7, "gaussian")[0] if name == "tilted" else sampler(name, boxes, xi)
    x, z = draw(np.random.default_rng(7), 20_000)
    assert x.shape == z.shape == (20_000, len(xi))
    assert z.dtype == bool
    np.testing.assert_array_equal(z, boxes.discretize(x) == boxes.discretize(xi[None]))


def test_bins_draws_the_boxes_of_a_training_set_by_their_frequency():
    world = lt.Empirical(load_diabetes().data, p=4)
    boxes, x, _ = drawn("bins", world, world.table[0], 50_000, 8)
    for j in range(world.d):
        k = len(boxes.edges[j]) + 1
        frequency = np.bincount(boxes.discretize(world.table)[:, j], minlength=k) / 442
        counts = np.bincount(boxes.discretize(x)[:, j], minlength=k)
        assert np.all(counts[frequency == 0] == 0)
        seen = frequency > 0
        test = stats.chisquare(counts[seen], 50_000 * frequency[seen])
        assert test.pvalue > LEVEL / world.d


def test_values_inside_a_box_follow_a_normal_with_the_moments_of_the_box_truncated_to_it():
    world = lt.Empirical(load_diabetes().data, p=4)
    boxes, x, _ = drawn("bins", world, world.table[0], 40_000, 9)
    j = 2  # bmi, without ties at its quartiles
    own = boxes.discretize(x)[:, j]
    ends = [world.table[:, j].min(), *boxes.edges[j], world.table[:, j].max()]
    inside = boxes.discretize(world.table)[:, j]
    for k in range(4):
        values = world.table[inside == k, j]
        mean, sd = values.mean(), values.std()
        a, b = (ends[k] - mean) / sd, (ends[k + 1] - mean) / sd
        law = stats.truncnorm(a, b, mean, sd)
        assert stats.kstest(x[own == k, j], law.cdf).pvalue > LEVEL / 4


def test_tilted_draws_from_the_tilted_normal():
    """mu~ = (nu^2 mu + sigma^2 xi)/(nu^2+sigma^2), sigma~^2 = nu^2 sigma^2/(nu^2+sigma^2)."""
    mu, sigma, nu = np.array([0.0, 2.0, -1.0]), np.array([1.0, 0.5, 3.0]), 0.8
    xi = np.array([0.5, 1.0, 4.0])
    boxes = lt.Gaussian(mu, sigma, [4, 3, 7]).boxes()
    draw, log_C = tilted(boxes, xi, nu, "gaussian")
    x, _ = draw(np.random.default_rng(10), 40_000)
    both = nu**2 + sigma**2
    mean, sd = (nu**2 * mu + sigma**2 * xi) / both, nu * sigma / np.sqrt(both)
    for j in range(3):
        assert stats.kstest(x[:, j], stats.norm(mean[j], sd[j]).cdf).pvalue > LEVEL / 3
    C = np.prod(nu / np.sqrt(both) * np.exp(-((xi - mu) ** 2) / (2 * both)))
    assert np.exp(log_C) == pytest.approx(C, rel=1e-12)  # a dozen operations on doubles


def test_tilted_mismatch_draws_the_own_box_more_often_and_leaves_the_rest_alone():
    boxes, nu = lt.Gaussian(0, 1, 4).boxes(2), 0.6
    draw, _ = tilted(boxes, np.array([0.2, -2.0]), nu, "mismatch")
    x, z = draw(np.random.default_rng(11), 40_000)
    alpha = 0.25 / (0.25 + 0.75 * np.exp(-1 / (2 * nu**2)))
    for j in range(2):
        assert stats.binomtest(int(z[:, j].sum()), 40_000, alpha).pvalue > LEVEL / 2
        other = boxes.discretize(x)[~z[:, j], j]
        counts = np.bincount(other, minlength=4)
        assert stats.chisquare(counts[counts > 0]).pvalue > LEVEL / 2  # still equal shares


MIXED = "diabetes with sex declared categorical"


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.parametrize("setting", ["paper", "unequal", "diabetes", MIXED])
def test_tilted_has_the_limit_of_bins(setting, kernel):
    if setting in WORLDS:
        world, xi = WORLDS[setting]
        nu = 1.0
    else:
        # in units of 0.05, about one deviation, so that the Gaussian weight matters
        X = load_diabetes().data / 0.05
        world, nu = lt.Empirical(X, p=4, categorical=[1] if setting == MIXED else ()), 2.0
        xi = world.table[3]
    d = len(xi)
    f = lt.Linear(np.linspace(-2, 3, d) / world.boxes(d).sigma, b=4.0)
    bins, tilted = (
        lt.explain(f, xi, world, nu, n=40_000, seed=s, kernel=kernel, sampler=name)
        for s, name in ((12, "bins"), (13, "tilted"))
    )
    error = np.hypot(bins.stderr, tilted.stderr)
    # 4 standard errors of the difference
    assert np.all(np.abs(bins.coef - tilted.coef) <= 4 * error)
    assert abs(bins.local_prediction - tilted.local_prediction) <= 4 * np.hypot(
        bins.local_stderr, tilted.local_stderr
    )


def mean_square_error(f, xi, nu, name, runs=40):
    truth = lt.limit(f, xi, lt.Gaussian(), nu).coef
    with warnings.catch_warnings():
        # at nu = 0.53 the weighted sampler has few effective samples and says so: that is the point
        warnings.simplefilter("ignore", lt.FitWarning)
        errors = [
            lt.explain(f, xi, lt.Gaussian(), nu, n=5000, seed=s, sampler=name).coef - truth
            for s in range(runs)
        ]
    return np.mean(np.sum(np.square(errors), axis=1))


PAPER_F = lt.Linear([10.0, -10.0] + [0.0] * 8)


@pytest.mark.parametrize(("nu", "least"), [(1.0, 5), (0.53, 100)])
def test_tilted_has_less_noise_at_an_instance_of_the_world(nu, least):
    """d = 10, f = 10 x1 - 10 x2, xi drawn from the world: measured 8.5 and 212.

    40 runs know each ratio to about 12%, so both bounds are four of these deviations away.
    """
    xi = np.random.default_rng(0).normal(size=10)
    ratio = mean_square_error(PAPER_F, xi, nu, "bins") / mean_square_error(
        PAPER_F, xi, nu, "tilted"
    )
    assert ratio >= least


@pytest.mark.parametrize(("nu", "low", "high"), [(1.0, 1.8, 4.2), (0.53, 27, 66)])
def test_tilted_gains_least_at_the_mean_of_the_world(nu, low, high):
    """Where weights are largest there is less to win: measured 2.8 and 43, +- 12% each."""
    xi = np.zeros(10)
    ratio = mean_square_error(PAPER_F, xi, nu, "bins") / mean_square_error(
        PAPER_F, xi, nu, "tilted"
    )
    assert low < ratio < high


@pytest.mark.parametrize("nu", [0.7, 1.0, 3.0])
def test_effective_sample_size_of_the_weighted_sampler(nu):
    """Ess / n tends to C(nu)^2 / C(nu/sqrt 2), since the square of a weight halves nu^2."""
    xi, world, f = np.array([0.3, -1.0, 0.8]), lt.Gaussian(), lt.Linear([1, 1, 1])
    share = np.exp(
        2 * lt.limit(f, xi, world, nu).log_C - lt.limit(f, xi, world, nu / np.sqrt(2)).log_C
    )
    e = lt.explain(f, xi, world, nu, n=200_000, seed=14)
    # the two sums have relative errors of about (1/ess)^0.5 <= 0.5% each
    assert e.ess / e.n == pytest.approx(share, rel=0.02)


def test_tilted_samples_all_count_in_full():
    e = lt.explain(PAPER_F, np.zeros(10), lt.Gaussian(), 0.5, seed=0, sampler="tilted", keep=True)
    assert e.ess == pytest.approx(5000, rel=1e-12)
    C = lt.limit(PAPER_F, np.zeros(10), lt.Gaussian(), 0.5).C
    np.testing.assert_allclose(e.weights, C, rtol=1e-12)


def test_a_box_that_holds_one_value_is_sampled_there():
    """`sex` of diabetes has two values; `lime` 0.2.0.1 feeds the model a third (see theory.md)."""
    X = load_diabetes().data
    world = lt.Empirical(X)
    for name in ("bins", "tilted"):
        e = lt.explain(lambda x: x[:, 1], X[0], world, 1.0, seed=0, sampler=name, keep=True)
        assert set(e.x[:, 1]) == set(X[:, 1])
        # so the surrogate of "sex" itself is exact: its value here less its other value
        assert e.coef[1] == pytest.approx(X[0, 1] - X[1, 1], rel=1e-9)
        assert X[0, 1] != X[1, 1]


@pytest.mark.parametrize("name", ["bins", "gaussian"])
def test_labels_are_drawn_by_frequency_whatever_the_sampler(name):
    rng = np.random.default_rng(15)
    X = np.column_stack([rng.normal(size=500), rng.choice([2.0, 5.0, 9.0], 500, p=[0.6, 0.3, 0.1])])
    world = lt.Empirical(X, categorical=[1])
    _, x, _ = drawn(name, world, X[0], 20_000, 16)
    values, counts = np.unique(x[:, 1], return_counts=True)
    assert list(values) == [2.0, 5.0, 9.0]
    frequency = np.unique(X[:, 1], return_counts=True)[1] / 500
    assert stats.chisquare(counts, 20_000 * frequency).pvalue > LEVEL


# --- Sobol points -----------------------------------------------------------------------------


def sobol(f, xi, world, nu, **how):
    return explain_quietly(f, xi, world, nu, **{"sampler": "sobol", "seed": 0} | how)


@pytest.mark.parametrize("kernel", PRODUCT_KERNELS)
def test_sobol_points_have_the_tilted_law(kernel):
    """Coordinate by coordinate far closer than chance: Kolmogorov's distance is of order 1/n."""
    world, xi = WORLDS["unequal"]
    setting = Setting.of(lt.Linear(np.ones(4)), xi, world, 0.9, kernel)
    n = 4096
    x, z = SAMPLERS["sobol"].draw(setting, np.random.default_rng(0), n)
    law = setting.tilt.views.law
    for j in range(4):
        values = np.sort(x[:, j])
        below = np.exp(law.log_prob[j]) @ law.box_cdf(j, values)
        assert np.max(np.abs(below - (np.arange(n) + 0.5) / n)) < 2 / n  # 1.4 / sqrt(n) by chance
    np.testing.assert_array_equal(z, setting.boxes.discretize(x) == setting.own)
    # every indicator has its share to the last point
    np.testing.assert_allclose(z.mean(axis=0), setting.tilt.alpha, atol=2 / n)


def test_sobol_points_reach_labels_text_and_points():
    rng = np.random.default_rng(15)
    X = np.column_stack([rng.normal(size=500), rng.choice([2.0, 5.0, 9.0], 500, p=[0.6, 0.3, 0.1])])
    e = lt.explain(
        lambda x: x[:, 0] * (x[:, 1] == 5), X[0], lt.Empirical(X, categorical=[1]), 1.0,
        seed=0, sampler="sobol", kernel="mismatch", keep=True,
    )  # fmt: skip
    assert set(e.x[:, 1]) == {2.0, 5.0, 9.0}
    assert e.x[:, 0].min() >= X[:, 0].min() and e.x[:, 0].max() <= X[:, 0].max()


@pytest.mark.parametrize(
    ("n", "scrambles", "drawn"),
    [(5000, None, 8192), (4096, None, 4096), (4097, None, 8192), (4096, 1, 4096), (1000, 3, 1536)],
)
def test_n_is_rounded_up_to_a_power_of_two_for_each_scramble(n, scrambles, drawn):
    calls = []

    def f(x):
        calls.append(len(x))
        return x.sum(axis=1)

    e = sobol(f, np.zeros(3), lt.Gaussian(), 1.0, n=n, scrambles=scrambles)
    assert e.n == drawn == sum(calls) - 1  # f(xi) was asked for too
    assert e.scrambles == (2 if scrambles is None else scrambles)
    assert sobol(f, [0.1], lt.Gaussian(), 1.0).scrambles == 4  # one coefficient is judged alone


def test_scrambles_are_for_points_that_depend_on_each_other():
    with pytest.raises(ValueError, match="scrambles must be left out with sampler='bins'"):
        lt.explain(PAPER_F, np.zeros(10), lt.Gaussian(), 1.0, scrambles=2)
    for odd in (0, 2.5, "2", True, 65):
        with pytest.raises(ValueError, match=r"^scrambles must be"):
            sobol(PAPER_F, np.zeros(10), lt.Gaussian(), 1.0, scrambles=odd)
    with pytest.raises(ValueError, match="sobol' needs a kernel that factors"):
        sobol(PAPER_F, np.zeros(10), lt.Gaussian(), 1.0, kernel="cosine")


def wavy(x):
    return np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + np.exp(0.5 * x[:, 3]) + (x[:, 4] > 0.3)


@cache
def wavy_runs(scrambles):
    """Runs of Sobol points, and the limit from far more of them."""
    xi = np.array([0.4, -0.3, 1.2, 0.8, -0.1])
    truth = sobol(wavy, xi, lt.Gaussian(), 0.9, n=2**19, seed=99).coef
    runs = [
        sobol(wavy, xi, lt.Gaussian(), 0.9, n=2048, seed=s, scrambles=scrambles) for s in range(150)
    ]
    plain = [
        explain_quietly(wavy, xi, lt.Gaussian(), 0.9, n=2048, seed=s, sampler="tilted")
        for s in range(50)
    ]
    return truth, runs, plain


@pytest.mark.parametrize("scrambles", [2, 4])
def test_intervals_from_scrambles_cover(scrambles):
    truth, runs, _ = wavy_runs(scrambles)
    ends = np.array([e.interval() for e in runs])
    hits = (ends[..., 0] <= truth) & (truth <= ends[..., 1])
    # 750 intervals, five of which share their points: between 150 and 750 trials
    slack = 3 * np.sqrt(0.95 * 0.05 / 150)
    assert 0.95 - slack < hits.mean() <= 0.995
    error = np.sqrt(np.mean((np.array([e.coef for e in runs]) - truth) ** 2, axis=0))
    half = np.median((ends[..., 1] - ends[..., 0]) / 2, axis=0)
    assert np.median(half / error) < 4


def test_sobol_points_have_far_less_noise():
    truth, runs, plain = wavy_runs(2)
    mse = [np.mean((np.array([e.coef for e in found]) - truth) ** 2) for found in (plain, runs)]
    assert mse[0] > 12 * mse[1]  # measured 26 at this n; 50 and 150 runs know it to a fifth


def test_the_standard_error_of_one_scramble_is_an_upper_bound():
    truth, runs, _ = wavy_runs(1)
    error = np.sqrt(np.mean((np.array([e.coef for e in runs]) - truth) ** 2, axis=0))
    said = np.mean([e.stderr for e in runs], axis=0)
    assert np.all(said > 2 * error)
    two = wavy_runs(2)[1]
    spread = np.sqrt(np.mean((np.array([e.coef for e in two]) - truth) ** 2, axis=0))
    assert np.mean(error) < np.mean(spread)  # and the error the least


def test_many_features_and_their_bound():
    f = lt.Linear(np.ones(300))
    e = sobol(f, np.zeros(300), lt.Gaussian(), 5.0, n=2048)
    assert np.all(np.isfinite(e.stderr)) and e.n == 2048
    with pytest.raises(ValueError, match="at most 21201 features"):
        SAMPLERS["sobol"].check(SimpleNamespace(product=1, d=21202))
