"""Trees at many rows: tables of masses and sums over leaves, against sums over a grid of pieces."""

import itertools
from itertools import pairwise

import numpy as np
import pytest
import reference
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.core.kernels import product_kernels, tilt
from limetutor.exact import trees as forests
from limetutor.exact.integrals import truncated_cdf
from limetutor.exact.readers import form_of
from limetutor.exact.trees import Trees

RNG = np.random.default_rng(3)
X = np.column_stack([RNG.normal(size=200), RNG.gamma(2.0, size=200), RNG.integers(0, 3, 200)])
Y = np.sin(2 * X[:, 0]) * X[:, 2] + X[:, 1]
FOREST = form_of(RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, Y))
WORLD = lt.Empirical(X, categorical=[2])


def by_pieces(trees, views, row, d):
    """E~[f] and its contrasts from the value of f on every piece of a grid: no leaves, no sides."""
    cuts, _ = trees.cuts(d)
    pieces = []  # of each coordinate: a point inside each piece, its masses under the three views
    for j, values in enumerate(cuts):
        below = forests.mass_table(views, j, values)
        state = below.state[row]
        whole = np.diff(below.whole[:, state])
        contrast = np.diff(below.differences[0][:, state])
        ends = np.concatenate([[values[0] - 1], values, [values[-1] + 1]])
        pieces.append(list(zip((ends[:-1] + ends[1:]) / 2, whole, contrast, strict=True)))
    mean, beta = 0.0, np.zeros(d)
    for combination in itertools.product(*pieces):
        x, whole, contrast = (np.array(part) for part in zip(*combination, strict=True))
        value = trees(x[None])[0]
        mean += value * whole.prod()
        for j in range(d):
            beta[j] += value * contrast[j] * np.delete(whole, j).prod()
    return mean, beta


@pytest.mark.parametrize("kernel", product_kernels())
def test_sums_over_leaves_are_sums_over_pieces(kernel):
    views = tilt(WORLD, X[:3], 0.8, kernel).views
    mean, beta = FOREST.contrasts(views)
    for row in (0, 2):
        expected = by_pieces(FOREST, views, row, 3)
        np.testing.assert_allclose(mean[row], expected[0], rtol=1e-12)
        np.testing.assert_allclose(beta[row], expected[1], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", product_kernels())
def test_a_table_holds_masses_below_the_cuts(kernel):
    """Against the share of samples of the tilted law; 4 standard errors of 40 000 of them."""
    views, cuts = tilt(WORLD, X[:2], 0.8, kernel).views, np.array([-1.0, 0.2, 0.9])
    below = forests.mass_table(views, 0, cuts)
    one = tilt(WORLD, X[1], 0.8, kernel).views
    own = WORLD.boxes().discretize(X[1])[0]
    x, box = one.law.sample(np.random.default_rng(0), 40_000)
    inside = box[:, 0] == own
    for k, cut in enumerate(cuts, start=1):
        left = x[:, 0] <= cut
        column = below.state[1]
        assert abs(below.whole[k, column] - left.mean()) < 4 * 0.5 / 200
        contrast = left[inside].mean() - left[~inside].mean()
        spread = 0.5 * np.sqrt(1 / inside.sum() + 1 / (~inside).sum())
        assert abs(below.differences[0][k, column] - contrast) < 4 * spread
    assert np.all(below.whole[[0, -1]] == [[0.0], [1.0]])
    assert np.all(below.differences[0][[0, -1]] == 0)


def test_rows_of_one_box_share_a_column():
    views = tilt(WORLD, X, 0.8, "mismatch").views
    assert forests.mass_table(views, 0, np.array([0.0])).whole.shape[1] == 4
    assert forests.mass_table(views, 2, np.array([0.0])).whole.shape[1] == 3


@pytest.mark.parametrize(
    ("a", "b"), [(-1.0, 2.0), (3.0, 9.0), (-30.0, -29.0), (40.0, 41.0), (1.0, 1.0 + 1e-6), (-8, 8)]
)
def test_shares_below_keep_their_digits(a, b):
    u = a + (b - a) * np.array([1e-3, 0.3, 0.99])
    a, b = np.full(3, float(a)), np.full(3, float(b))
    log_mass = forests.normal_box(a, b).log_inside
    np.testing.assert_allclose(
        forests._share_below(u, a, b, log_mass), truncated_cdf(u, a, b), rtol=1e-11, atol=1e-14
    )


def test_a_leaf_that_no_value_reaches_is_left_out():
    """x <= 0, then x > 1: other packages keep such leaves."""
    feature, threshold = np.array([0, 0, 0, 0, 0]), np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    left, right = np.array([1, 2, -1, -1, -1]), np.array([4, 3, -1, -1, -1])
    value = np.array([0.0, 0.0, 2.0, 1e6, 5.0])
    trees = Trees(feature, threshold, left, right, value, np.array([0]))
    world = lt.Gaussian()
    found = lt.limits(trees, [[0.3]], world, 1.0)
    alone = lt.limit(trees, [0.3], world, 1.0)
    np.testing.assert_allclose(found.coef[0], alone.coef)
    assert np.abs(found.coef).max() < 10


def test_a_tree_without_splits_is_a_constant():
    leaf = np.array([-1])
    trees = Trees(np.array([0]), np.zeros(1), leaf, leaf, np.array([3.0]), np.array([0]), 1.0)
    found = lt.limits(trees, [[0.3, 0.1]], lt.Gaussian(), 1.0)
    np.testing.assert_array_equal(found.coef, [[0.0, 0.0]])
    assert found.intercept[0] == 4.0


def test_small_chunks_give_the_same(monkeypatch):
    views = tilt(WORLD, X[:20], 0.8).views
    whole = FOREST.contrasts(views)
    monkeypatch.setattr(forests, "NUMBERS_IN_CACHE", 64)
    for found, expected in zip(FOREST.contrasts(views), whole, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


def exact_masses(xi, nu, cuts):
    """P~ of each interval between cuts, of one standard normal feature: whole, inside xi's box, outside."""
    c = reference.coordinate(xi, 0, 1, nu, 4)
    ends = [-reference.mp.inf, *map(reference.mp.mpf, cuts), reference.mp.inf]

    def mass(lo, hi):
        if lo >= hi:
            return reference.mp.mpf(0)
        return reference.masses(*((end - c.mu_tilde) / c.sigma_tilde for end in (lo, hi)))[0]

    rows = []
    for lo, hi in pairwise(ends):
        whole, inside = mass(lo, hi), mass(max(lo, c.lo), min(hi, c.hi))
        outside = mass(lo, min(hi, c.lo)) + mass(max(lo, c.hi), hi)
        rows.append((whole, inside / c.alpha, outside / c.rest))
    return rows


@pytest.mark.parametrize("size", [1e12, 1e35, -1e120])
@pytest.mark.parametrize("nu", [0.15, 0.3, 1.0])
def test_leaves_of_very_different_sizes_keep_their_digits(size, nu):
    """Beside sums over leaves at 50 digits: large leaves have masses from 1e-90 to 1."""
    feature, left = np.array([0, 1, 1, 0, 0, 0, 0]), np.array([1, 3, 5, -1, -1, -1, -1])
    right, threshold = np.array([2, 4, 6, -1, -1, -1, -1]), np.array([2.0, 0.125, 0.5, 0, 0, 0, 0])
    value = np.array([0.0, 0.0, 0.0, 1.0, 3.0, size, -size / 64])
    trees = Trees(feature, threshold, left, right, value, np.array([0]))
    assert trees.is_uneven
    for xi in ([-1.0, 0.3], [-0.25, -0.5], [0.9, 2.0], [3.0, 1.0]):
        a = exact_masses(xi[0], nu, [2.0])
        b, b_right = exact_masses(xi[1], nu, [0.125]), exact_masses(xi[1], nu, [0.5])
        leaves = [(1, a[0], b[0]), (3, a[0], b[1])]
        leaves += [(size, a[1], b_right[0]), (-size / 64, a[1], b_right[1])]
        first = sum(v * (p[1] - p[2]) * q[0] for v, p, q in leaves)
        second = sum(v * p[0] * (q[1] - q[2]) for v, p, q in leaves)
        found = lt.limit(trees, xi, lt.Gaussian(), nu)
        many = lt.limits(trees, [xi], lt.Gaussian(), nu)
        # what a double may lose: its last digits of each term of the sum
        terms = [
            sum(abs(v) * (p[1] + p[2]) * q[0] for v, p, q in leaves),
            sum(abs(v) * p[0] * (q[1] + q[2]) for v, p, q in leaves),
        ]
        for j, exact in enumerate((first, second)):
            assert abs(found.coef[j] - exact) < 1e-12 * terms[j]
            assert abs(many.coef[0, j] - exact) < 1e-12 * terms[j]


def test_even_leaves_are_summed_the_fast_way():
    even = Trees.stack([forests.Tree.leaf(v) for v in (1.0, 0.0, -9e5)])
    assert not even.is_uneven
    assert Trees.stack([forests.Tree.leaf(v) for v in (1.0, 0.0, -1.1e6)]).is_uneven
    assert Trees.stack([], 2.5)(np.zeros((2, 3))).tolist() == [2.5, 2.5]
