"""Exact Shapley values against their definition, and gradients."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression

import limetutor as lt
from limetutor.course.research.shapley import gradient, shapley_values

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 4)) * [1, 2, 0.5, 1] + [0, 1, 0, -1]
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) - X[:, 3] ** 2
XI = X[7]
FEW = RNG.integers(0, 3, size=(9, 4)).astype(float)  # a world of a few points, to be summed over
WORLDS = {
    "gaussian": lt.Gaussian(X.mean(axis=0), X.std(axis=0)),
    "points": lt.Empirical(FEW, categorical=(0, 1, 2, 3)),
}


def by_definition(f, xi, laws):
    """Shapley values from all coalitions; ``laws`` has the points and weights of each feature."""
    d = len(xi)

    def worth(coalition):
        sides = [([xi[j]], [1.0]) if j in coalition else laws[j] for j in range(d)]
        grid = np.array(np.meshgrid(*(points for points, _ in sides))).reshape(d, -1).T
        mass = np.array(np.meshgrid(*(w for _, w in sides))).reshape(d, -1).prod(axis=0)
        return mass @ f(grid)

    values = np.zeros(d)
    for j in range(d):
        others = [i for i in range(d) if i != j]
        for size in range(d):
            share = factorial(size) * factorial(d - size - 1) / factorial(d)
            for S in combinations(others, size):
                values[j] += share * (worth({*S, j}) - worth(set(S)))
    return values


def laws(name):
    """Points and weights of every feature: the columns of the table, or Gauss-Hermite."""
    if name == "points":
        counts = [np.unique(column, return_counts=True) for column in FEW.T]
        return [(points, count / len(FEW)) for points, count in counts]
    nodes, weights = np.polynomial.hermite_e.hermegauss(14)
    moments = zip(WORLDS[name].mu, WORLDS[name].sigma, strict=True)
    return [(m + s * nodes, weights / weights.sum()) for m, s in moments]


QUADRATIC = lt.Quadratic(RNG.normal(size=(4, 4)), [1, 2, 0, -1], 3)
RIDGE = KernelRidge(kernel="rbf", gamma=0.05).fit(X, Y)
FOREST = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, Y)
LOGISTIC = LogisticRegression().fit(X, Y > 0)


@pytest.mark.parametrize(
    ("f", "call", "name", "tolerance"),
    [
        (QUADRATIC, QUADRATIC, "points", 1e-11),
        (QUADRATIC, QUADRATIC, "gaussian", 1e-11),
        (RIDGE, RIDGE.predict, "points", 1e-11),
        (RIDGE, RIDGE.predict, "gaussian", 1e-8),  # what Gauss-Hermite with 14 nodes reaches
        (FOREST, FOREST.predict, "points", 1e-11),
    ],
)
def test_shapley_values_are_the_mean_over_coalitions(f, call, name, tolerance):
    world = WORLDS[name]
    xi = FEW[2] if name == "points" else XI
    expected = by_definition(call, xi, laws(name))
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(shapley_values(f, xi, world), expected, atol=tolerance)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_for_a_linear_model_it_is_slope_times_distance_from_the_mean(d):
    a, xi, world = RNG.normal(size=d), RNG.normal(size=d), lt.Gaussian(np.arange(d), 2.0)
    expected = a * (xi - np.arange(d))
    np.testing.assert_allclose(shapley_values(lt.Linear(a, 4), xi, world), expected, atol=1e-12)


@pytest.mark.parametrize("f", [FOREST, LOGISTIC])
def test_they_add_up_to_what_sets_the_instance_apart(f):
    """The sum is f(xi) - E[f]; here the mean of f is sampled."""
    world, output = WORLDS["gaussian"], 1 if f is LOGISTIC else None
    x = np.random.default_rng(0).normal(world.mu, world.sigma, size=(100_000, 4))
    x = np.vstack([XI, x])
    y = f.predict(x) if output is None else f.predict_proba(x)[:, 1]
    total = shapley_values(f, XI, world, output=output).sum()
    assert abs(total - (y[0] - y[1:].mean())) < 4 * y.std() / np.sqrt(len(x))


def test_gradients():
    world = WORLDS["gaussian"]
    expected = 2 * QUADRATIC.Q @ XI + QUADRATIC.a
    np.testing.assert_allclose(gradient(QUADRATIC, XI, world), expected, atol=1e-8)
    np.testing.assert_array_equal(gradient(FOREST, XI, world), 0)


def test_models_without_a_form_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match="must have a form for exact Shapley values"):
        shapley_values(RIDGE.predict, XI, WORLDS["gaussian"])
