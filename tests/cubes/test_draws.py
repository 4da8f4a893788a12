"""Readings from draws against the exact ones of the same model, in units of their standard errors."""

import numpy as np
import pytest
from cubes import case, diabetes, with_categories

import limetutor as lt

READINGS = {
    "at the world": lambda c: c.at(c.mass),
    "at a corner": lambda c: c.at(np.where(np.arange(len(c.mass)) < 2, 1.0, c.mass)),
    "unweighted": lambda c: c.lime(np.inf),
    "lime": lambda c: c.lime(0.75 * np.sqrt(len(c.mass))),
    "narrow": lambda c: c.lime(0.3),
    "narrowest": lambda c: c.lime(0.01),
    "shapley": lambda c: c.shapley(),
    "banzhaf": lambda c: c.interactions(1, "banzhaf"),
    "interactions": lambda c: c.interactions(),
    "over widths": lambda c: c.mean_over_widths(),
}


@pytest.fixture(scope="module")
def many():
    """Exact readings of a forest, and those from draws with many seeds."""
    X, _ = diabetes()
    exact, _, _ = case("forest")
    f = exact.setting.f
    world = lt.Empirical(X.to_numpy())
    runs = [
        lt.cube(lambda x: unnamed(f, x), X.iloc[13].to_numpy(), world, n=3000, seed=seed)
        for seed in range(40)
    ]
    return exact, runs


def unnamed(f, x):
    return np.mean([tree.predict(x) for tree in f.estimators_], axis=0)


@pytest.mark.parametrize("name", READINGS)
def test_errors_are_as_large_as_the_standard_errors_say(name, many):
    """Over 40 seeds: no bias, and a spread near 1, in standard errors."""
    exact, runs = many
    true = np.asarray(READINGS[name](exact))
    found = [READINGS[name](run) for run in runs]
    z = np.array([(np.asarray(one) - true) / one.stderr for one in found])
    assert found[0].method == "sampled" and "n = 3,000" in found[0].how
    assert np.all(np.abs(z.mean(axis=0)) < 4.5 / np.sqrt(len(runs)) * max(1.0, z.std()))
    assert 0.6 < np.sqrt(np.mean(z**2)) < 1.35, np.sqrt(np.mean(z**2))


def test_a_line_is_read_off_without_noise():
    f = lt.Linear([1.0, -2, 3], 5)
    exact = lt.cube(f, [0.4, 2.0, -1.0], lt.Gaussian(p=[2, 4, 5]))
    world = lt.Gaussian(p=[2, 4, 5])
    line = lt.cube(lambda x: f.a @ (world.boxes(3).discretize(x) == exact.setting.box_of_xi).T,
                   [0.4, 2.0, -1.0], world)  # fmt: skip
    assert line.coef == pytest.approx((1 - exact.mass) * f.a, abs=1e-12)
    assert np.max(line.stderr) < 1e-10


def test_the_same_seed_gives_the_same_draws_and_another_one_others():
    def f(x):
        return np.sin(x).sum(axis=1)

    first, again, other = (lt.cube(f, [1.0, -1], lt.Gaussian(), n=500, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.coef, again.coef) and not np.array_equal(first.coef, other.coef)
    assert np.array_equal(first.lime(0.4), again.lime(0.4))


def test_the_model_is_called_once_for_all_readings():
    calls = []

    def f(x):
        calls.append(len(x))
        return x[:, 0] * x[:, 1]

    cube = lt.cube(f, [1.0, 0.2], lt.Gaussian(), n=1000, tolerance=0.5)
    for reading in READINGS.values():
        reading(cube)
    cube.shapley("class")
    assert sum(calls) < 1000 + 10 and max(calls) == 1000


def test_a_constant_column_has_values_of_zero():
    table, _ = with_categories()
    X = table[["age", "bmi", "same"]]
    cube = lt.cube(lambda x: x[:, 0] * x[:, 1] * x[:, 2], X.iloc[0], lt.Empirical(X), n=2000)
    for name, reading in READINGS.items():
        found = reading(cube)
        assert np.all(np.isfinite(found.coef)) and np.all(np.isfinite(found.stderr)), name
        assert np.all(np.atleast_1d(found.coef)[2:] == 0) or found.what == "F"
    assert "1 feature(s) ['same'] never leave" in cube.notes[0]
