"""F against sums over all boxes, ``lt.limit``, and what is known of its averages."""

from itertools import combinations

import numpy as np
import pytest
import scipy
from cubes import CASES, banzhaf_weight, case, game, index_of, means_by_box, shapley_weight
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.cubes import widths
from limetutor.cubes.extension import (
    Masses,
    TableExtension,
    banzhaf_of,
    interactions_of,
    shapley_of,
)
from limetutor.cubes.widths import over_all_widths, widths_of

named = pytest.mark.parametrize("name", CASES)


def scale(cube):
    return max(np.max(np.abs(cube.coef)), abs(cube.intercept), 1.0)


@named
@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")  # of the limit, about a constant column
@pytest.mark.parametrize("nu", [0.15, 0.557, 1.9, 1e6])
def test_lime_is_the_limit_with_the_mismatch_kernel(name, nu):
    cube, arguments, options = case(name)
    limit, found = lt.limit(*arguments, nu, "mismatch", **options), cube.lime(nu)
    assert np.max(np.abs(found.coef - limit.coef)) < 1e-10 * scale(cube)
    assert found.intercept == pytest.approx(limit.intercept, abs=1e-10 * scale(cube))
    both = cube.lime([nu, 0.8])
    assert both.coef[0] == pytest.approx(found.coef, abs=1e-12 * scale(cube))
    assert np.asarray(both.intercept).shape == (2,) and found.method == limit.method


@named
def test_values_and_interactions_are_sums_over_all_sets(name):
    cube, *_ = case(name)
    d, tight = len(cube.coef), 1e-12 if cube.method == "exact" else 1e-9
    worth = game(means_by_box(cube), cube.mass)
    values = [index_of(worth, d, (j,), shapley_weight(d, 1)) for j in range(d)]
    assert np.max(np.abs(cube.coef - values)) < tight * scale(cube)
    everything, nothing = worth[frozenset(range(d))], worth[frozenset()]
    assert cube.intercept == pytest.approx(nothing, abs=tight * scale(cube))
    assert cube.local_prediction == pytest.approx(everything, abs=10 * tight * scale(cube))
    assert cube.at(np.ones(d)).coef == pytest.approx(everything, abs=tight * scale(cube))
    for index, weight in (("shapley", shapley_weight), ("banzhaf", banzhaf_weight)):
        found = cube.interactions(index=index).coef
        for i in range(d):
            for j in range(d):
                members = (i,) if i == j else (i, j)
                expected = index_of(worth, d, members, weight(d, len(members)))
                assert found[i, j] == pytest.approx(expected, abs=1e-9 * scale(cube))
        assert cube.interactions(1, index).coef == pytest.approx(np.diag(found))


def test_values_of_twelve_features_are_sums_over_all_sets():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 12))
    y = np.prod(np.where(X[:, :6] > 0.5, 2.0, 1.0), axis=1) + X[:, 6:] @ rng.normal(size=6)
    f = RandomForestRegressor(3, max_depth=9, random_state=0).fit(X, y)
    cube = lt.cube(f, X[4], lt.Gaussian(np.zeros(12), 1.0, [4, 3, 5] * 4))
    worth = game(means_by_box(cube), cube.mass)
    values = [index_of(worth, 12, (j,), shapley_weight(12, 1)) for j in range(12)]
    assert np.max(np.abs(cube.coef - values)) < 1e-12 * scale(cube)


@named
def test_the_mean_over_widths_adds_up_and_is_shapley_where_masses_are_equal(name):
    cube, *_ = case(name)
    mean = cube.mean_over_widths().coef
    assert mean.sum() == pytest.approx(cube.coef.sum(), abs=1e-10 * scale(cube))
    equal = np.ptp(cube.mass[cube.mass < 1]) < 1e-12
    assert (cube.widths(2).order == 4) == equal
    difference = np.max(np.abs(mean - cube.coef)) / scale(cube)
    if equal:
        assert difference < 1e-10
        nu, weights, _ = cube.widths(40)
        assert weights[0] == pytest.approx(weights[0, 0], rel=1e-12)
        means = (weights * cube.lime(nu).coef).sum(axis=0)
        assert means == pytest.approx(cube.coef, abs=1e-10 * scale(cube))
    elif name != "linear_in_uneven_boxes":  # in which every order gives the same
        assert difference > 1e-6


@pytest.mark.parametrize(
    "p", [(1 - 1e-5, 1e-5, 0.5), (1e-6, 1 - 1e-6), (0.3, 0.1), (1e-6,) * 6 + (0.9,)]
)
def test_the_mean_over_widths_of_very_uneven_boxes(p, monkeypatch):
    extension = table(np.random.default_rng(3).normal(size=(2,) * len(p)), p)
    found = extension.weighted_slopes(*over_all_widths(extension.masses)).value
    ends = extension.at(np.array([p, np.ones(len(p))]))[0].value
    assert found.sum() == pytest.approx(ends[1] - ends[0], abs=1e-12)
    monkeypatch.setattr(widths, "NODES", 60)
    fine = extension.weighted_slopes(*over_all_widths(extension.masses)).value
    assert found == pytest.approx(fine, abs=1e-12)


def test_the_mean_over_widths_of_two_boxes_and_its_method():
    """Of a product, h(p_1 / p_2) of what acts together goes to the first: see ``mean_over_widths``."""
    X = (np.random.default_rng(0).random((1000, 2)) < [0.02, 0.6]) * 1.0
    X[0] = 0
    world = lt.Empirical(X, categorical=[0, 1])
    cube = lt.cube(lambda x: (x == 0).all(axis=1) * 1.0, X[0], world)
    p, q = cube.mass
    r = p / q
    share = r * (r - 1 - np.log(r)) / (r - 1) ** 2
    found = cube.mean_over_widths()
    first = (1 - p) * q + (1 - p) * (1 - q) * (1 - share)
    assert found.coef == pytest.approx([first, 1 - p * q - first], abs=1e-12)
    assert found.method == found.how == "quadrature" and cube.method == "exact"
    assert case("quadratic")[0].mean_over_widths().method in ("exact", "quadrature")


def table(values, p):
    p = np.broadcast_to(np.asarray(p, float), (np.ndim(values),))
    return TableExtension(np.asarray(values, float), Masses(np.log(p), np.log1p(-p)))


def of_order(k, d, seed):
    """A function of z in which k of d features act together at most, and some sets of k do."""
    rng, values = np.random.default_rng(seed), np.zeros((2,) * d)
    for size in range(k + 1):
        for members in combinations(range(d), size):
            values[tuple(1 if j in members else slice(None) for j in range(d))] += rng.normal()
    return values


@pytest.mark.parametrize("m", [1, 2, 3])
def test_m_widths_are_enough_for_interactions_of_order_2m_and_no_more(m):
    d = 2 * m + 1
    for p in (0.25, 0.4):
        for order in range(1, d + 1):
            extension = table(of_order(order, d, 7), p)
            masses = extension.masses
            nu, weights, exact_to = widths_of(masses, m)
            assert exact_to == 2 * m
            lime = extension.at(masses.alpha(nu))[1].value
            error = np.max(np.abs((weights * lime).sum(axis=0) - shapley_of(extension).value))
            assert (error < 1e-11) == (order <= 2 * m), (p, order, error)


@pytest.mark.parametrize(("apart", "order"), [(1e-2, 0), (1e-7, 0), (1e-12, 4)])
def test_masses_are_equal_but_for_rounding(apart, order):
    p = np.array([0.25, 0.25 * (1 + apart)])
    assert widths_of(Masses(np.log(p), np.log1p(-p)), 2).order == order


def test_the_widths_of_quartiles():
    masses = table(np.zeros((2, 2)), 0.25).masses
    assert widths_of(masses, 1).nu.round(3) == pytest.approx([0.557])
    assert widths_of(masses, 2).nu.round(3) == pytest.approx([0.829, 0.425])
    banzhaf = 1 / np.sqrt(2 * np.log(1 + 1 / 0.25))
    assert widths_of(masses, 1).nu == pytest.approx([banzhaf])


@pytest.mark.parametrize("seed", range(3))
def test_unequal_masses_let_features_enter_in_another_order(seed):
    """psi_j = v_j + sum_i P(i before j) times the interaction of i and j, where none is larger."""
    p = np.array([0.1, 0.25, 0.5, 0.9])
    extension = table(of_order(2, 4, seed), p)
    v = game(extension.values, p)
    alone = np.array([v[frozenset([j])] - v[frozenset()] for j in range(4)])
    pairs = interactions_of(extension, "shapley").value  # of order two: the same at every place
    np.fill_diagonal(pairs, 0)
    first = np.array([[scipy.integrate.quad(_arrives, 0, 1, (i, j))[0] for i in p] for j in p])
    psi = extension.weighted_slopes(*over_all_widths(extension.masses)).value
    assert psi == pytest.approx(alone + np.sum(first * pairs, axis=1), abs=1e-9)
    assert shapley_of(extension).value == pytest.approx(alone + pairs.sum(axis=1) / 2)


def _arrives(u, p_i, p_j):
    """i before j: with odds s p and s = e^tau - 1, P(T <= tau) = s p / (1 + s p); u is that of j."""
    s = u / ((1 - u) * p_j)
    return s * p_i / (1 + s * p_i)


def test_tables_agree_with_enumeration_and_leave_constant_features_out():
    rng = np.random.default_rng(3)
    values, p = rng.normal(size=(2, 2, 2)), np.array([0.2, 0.7, 0.5])
    masses = Masses(np.log(np.insert(p, 1, 1.0)), np.insert(np.log1p(-p), 1, -np.inf))
    worth = game(values, p)
    expected = [index_of(worth, 3, (j,), shapley_weight(3, 1)) for j in range(3)]
    found = shapley_of(TableExtension(values, masses)).value
    assert found == pytest.approx(np.insert(expected, 1, 0.0))
    halves = [index_of(worth, 3, (j,), banzhaf_weight(3, 1)) for j in range(3)]
    assert banzhaf_of(TableExtension(values, masses)).value == pytest.approx(
        np.insert(halves, 1, 0.0)
    )


def test_thirty_features_need_no_sum_over_all_sets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 30))
    y = X[:, 0] * X[:, 1] + X[:, 2:].sum(axis=1)
    f = RandomForestRegressor(10, max_depth=7, random_state=0).fit(X, y)
    cube = lt.cube(f, X[0], lt.Empirical(X))
    assert cube.both.value.degree <= 7
    assert cube.local_prediction == pytest.approx(cube.at(np.ones(30)).coef, abs=1e-10)
    assert cube.interactions().coef.shape == (30, 30)
