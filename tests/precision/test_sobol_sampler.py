"""Sobol points: they have the tilted law, and intervals from scrambles cover."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import limetutor as lt
from limetutor.core.kernels import product_kernels
from limetutor.core.problem import Problem
from limetutor.core.sampler import SAMPLERS
from limetutor.exact.integrals import box_cdf
from limetutor.many.explain_many import explain_quietly

PAPER_F = lt.Linear([10.0, -10.0] + [0.0] * 8)
UNEQUAL = (
    lt.Gaussian([-3, 0, 50, 1e-3], [0.2, 1, 30, 1e-4], [2, 5, 10, 3]),
    np.array([-3.5, 2.5, 51, 1e-3]),
)


def sobol(f, xi, world, nu, **how):
    return explain_quietly(f, xi, world, nu, **{"sampler": "sobol", "seed": 0} | how)


@pytest.mark.parametrize("kernel", product_kernels())
def test_sobol_points_have_the_tilted_law(kernel):
    """Coordinate by coordinate far closer than chance: Kolmogorov's distance is of order 1/n."""
    world, xi = UNEQUAL
    setting = Problem.of(lt.Linear(np.ones(4)), xi, world, 0.9, kernel)
    n = 4096
    x, z = SAMPLERS["sobol"].draw(setting, np.random.default_rng(0), n)
    law = setting.tilt.views.law
    for j in range(4):
        values = np.sort(x[:, j])
        below = np.exp(law.log_prob[j]) @ box_cdf(law, j, values)
        assert np.max(np.abs(below - (np.arange(n) + 0.5) / n)) < 2 / n  # 1.4 / sqrt(n) by chance
    np.testing.assert_array_equal(z, setting.boxes.discretize(x) == setting.box_of_xi)
    # every indicator has its share to the last point
    np.testing.assert_allclose(z.mean(axis=0), setting.tilt.alpha, atol=2 / n)


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
    at = wavy, xi, lt.Gaussian(), 0.9, 2048
    runs = [explain_quietly(*at, s, sampler="sobol", scrambles=scrambles) for s in range(150)]
    plain = [explain_quietly(*at, s, sampler="tilted") for s in range(50)]
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


@pytest.mark.parametrize("xi", [[0.3], [0.3, 0.9, -0.2]])
def test_the_variance_falls_about_like_the_square_of_the_calls(xi):
    """Not like their cube, as for smooth integrands: indicators jump at the edges."""
    f, calls = lt.Quadratic(np.eye(len(xi)), np.ones(len(xi))), 2 ** np.arange(8, 14)
    truth = lt.limit(f, xi, lt.Gaussian(), 1.0).coef
    how = {"sampler": "sobol", "scrambles": 1}
    mse = []
    for n in calls.tolist():
        runs = [explain_quietly(f, xi, lt.Gaussian(), 1.0, n, s, **how).coef for s in range(30)]
        mse.append(np.mean((np.array(runs) - truth) ** 2))
    order = -np.polyfit(np.log(calls), np.log(mse), 1)[0]
    # each variance is known to a quarter, and so the order, over five doublings, to 0.1
    assert 1.5 < order < 2.4


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
