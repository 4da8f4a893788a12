"""Readings from draws against the exact ones of the same model, in units of their standard errors."""

import numpy as np
import pytest
from cubes import case, diabetes, with_categories
from scipy import stats

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
    exact = case("forest")[0]
    trees, xi, world = exact.setting.f.estimators_, X.to_numpy()[13], lt.Empirical(X.to_numpy())

    def f(x):
        return np.mean([tree.predict(x) for tree in trees], axis=0)

    return exact, [lt.cube(f, xi, world, n=3000, seed=seed) for seed in range(40)]


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
    xi, world = [0.4, 2.0, -1.0], lt.Gaussian(p=[2, 4, 5])
    exact = lt.cube(f, xi, world)
    inside = lambda x: world.boxes(3).discretize(x) == exact.setting.box_of_xi  # noqa: E731
    line = lt.cube(lambda x: f.a @ inside(x).T, xi, world)
    assert line.coef == pytest.approx((1 - exact.mass) * f.a, abs=1e-12)
    assert np.max(line.stderr) < 1e-10


def test_the_same_seed_gives_the_same_draws_and_another_one_others():
    def f(x):
        return np.sin(x).sum(axis=1)

    first, again, other = (lt.cube(f, [1.0, -1], lt.Gaussian(), n=500, seed=s) for s in (1, 1, 2))
    assert np.array_equal(first.coef, again.coef) and not np.array_equal(first.coef, other.coef)
    assert np.array_equal(first.lime(0.4), again.lime(0.4))


def test_the_model_is_called_once_for_all_readings_but_for_f_at_places():
    calls = []

    def f(x):
        calls.append(len(x))
        return x[:, 0] * x[:, 1]

    cube = lt.cube(f, [1.0, 0.2], lt.Gaussian(), n=1000, tolerance=0.5)
    for name, reading in READINGS.items():
        if not name.startswith("at "):
            reading(cube)
    cube.shapley("class")
    assert sum(calls) < 1000 + 10 and max(calls) == 1000
    cube.at(cube.mass)
    assert calls[-1] == 1000 and sum(calls) < 2000 + 10


def labels(p, rows=20_000):
    """A world of columns of which xi = 0 shares its label with 1 - p of the rows."""
    X = (np.random.default_rng(0).random((rows, len(p))) < p).astype(float)
    return lt.Empirical(X, categorical=range(len(p)))


@pytest.mark.parametrize(
    ("f", "t", "true"),
    [
        (lambda x: x[:, 0] * x[:, 1], np.zeros(10), 1.0),  # no draw of all readings counts
        (lambda x: 1 - x[:, 0], np.eye(10)[0], 1.0),
        (lambda x: np.all(x == 0, axis=1) * 1.0, np.ones(10), 1.0),
    ],
)
def test_f_is_right_where_no_draws_count(f, t, true):
    cube = lt.cube(f, np.zeros(10), labels([0.1] * 10), n=1000)
    found = cube.at(t)
    assert (found.coef, found.stderr, found.n) == (pytest.approx(true), pytest.approx(0), 1000)
    assert cube.at([t, cube.mass]).coef[0] == pytest.approx(true) and cube.at([t] * 2).n == 1000


@pytest.mark.verify
@pytest.mark.parametrize(
    ("held", "n", "share", "than"),
    [(0, 120, 0.93, "less"), (0, 500, 0.95, "two-sided"), (3, 1000, 0.95, "two-sided")],
)
def test_intervals_at_corners_cover(held, n, share, than, verified, verifying):
    """F lies in 95% of its intervals, by an exact binomial test; with few draws, in 93% and more."""

    def f(x):
        return (x[:, :held] == 0).all(axis=1) * (x[:, 6:].sum(axis=1) > 3) * 1.0

    world, runs = labels([0.9] * 10), 4000 if verifying else 200
    exact = lt.cube(f, np.zeros(10), world)
    t = np.where(np.arange(10) < held, 1.0, exact.mass)
    true = exact.at(t)
    found = [lt.cube(f, np.zeros(10), world, n=n, seed=seed).at(t) for seed in range(runs)]
    assert (true.method, found[0].method, found[0].n) == ("exact", "sampled", n)
    covered = sum(abs(one.coef - true.coef) < 1.96 * one.stderr for one in found)
    p = stats.binomtest(covered, runs, share, than).pvalue
    what = (
        f"F with {held} of 10 features held, {n} draws: {covered:,} of {runs:,} intervals hold it"
    )
    verified(f"{what}, p of {share:.0%}", p, (1e-3, None))


def test_f_at_a_place_is_an_intercept_with_the_error_of_lines_through_all_but_one():
    def f(x):
        return np.sin(x).sum(axis=1) + x[:, 0] * x[:, 1]

    t, n = np.array([0.5, 0.25, 0.7]), 60
    cube = lt.cube(f, [0.3, 1.0, -1.0], lt.Gaussian(), n=n)
    rows = cube.both.pool.at(t, n).rows
    columns, y = np.hstack([np.ones((n, 1)), rows.z]), rows.answers[:, 0]
    slopes = np.linalg.pinv(columns)
    share = np.insert(t, 0, 1) @ slopes  # of each draw in the intercept
    others = [np.delete(np.arange(n), i) for i in range(n)]
    lines = [np.linalg.lstsq(columns[rest], y[rest])[0] for rest in others]
    error = share * (y - np.sum(columns * lines, axis=1))
    found = cube.at(t)
    assert found.coef == pytest.approx(share @ y)
    assert found.stderr == pytest.approx(np.sqrt(np.sum(error**2) * n / (n - 1)))


def test_slopes_are_drawn_for_where_few_draws_count():
    """At a width where a rare box is likely and the way from p to 1 is elsewhere."""
    p, nu = np.repeat([0.999, 0.5], 8), 0.29

    def f(x):
        return (x[:, :8] == 0).all(axis=1) * 1.0 + (x[:, 8:] == 0).all(axis=1)

    cube = lt.cube(f, np.zeros(16), labels(p), n=20_000)
    alpha = cube.masses.alpha(np.array([nu]))[0]
    true = np.r_[np.prod(alpha[:8]) / alpha[:8], np.prod(alpha[8:]) / alpha[8:]]
    found = cube.lime(nu)
    assert np.all(np.abs(found.coef - true) < 0.04) and found.stderr.max() < 0.01


def test_a_constant_column_is_left_out_wherever_t_has_it():
    X = np.random.default_rng(0).normal(size=(500, 3)) * [1, 1, 0]
    cubes = [
        lt.cube(f, X[0], lt.Empirical(X))
        for f in (lambda x: x[:, 0] * x[:, 1] + 2, lt.Linear([1.0, 2, 3]))
    ]
    for cube in cubes:
        inside, outside = cube.at([0.5, 0.5, 1]), cube.at([0.5, 0.5, 0])
        assert inside.coef == outside.coef and inside.stderr == outside.stderr
        values = [cube._extension("value").at(np.array([[0.5, 0.5, t]])) for t in (0, 1)]
        assert all(np.array_equal(a, b) for a, b in zip(*(v[1] for v in values), strict=True))
    assert abs(cubes[0].at([0.5, 0.5, 0]).coef) > 0.5


def test_a_constant_column_has_values_of_zero():
    table, _ = with_categories()
    X = table[["age", "bmi", "same"]]
    cube = lt.cube(lambda x: x[:, 0] * x[:, 1] * x[:, 2], X.iloc[0], lt.Empirical(X), n=2000)
    for name, reading in READINGS.items():
        found = reading(cube)
        assert np.all(np.isfinite(found.coef)) and np.all(np.isfinite(found.stderr)), name
        assert np.all(np.atleast_1d(found.coef)[2:] == 0) or found.what == "F"
    assert "1 feature(s) ['same'] never leave" in cube.notes[0]
