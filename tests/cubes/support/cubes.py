"""Models and worlds whose F can be summed over all 2^d sets of boxes, and those sums."""

from functools import cache
from itertools import combinations, product
from math import factorial

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier

import limetutor as lt
from limetutor.core.tilted_law import ConditionalLaws


@cache
def diabetes(d=6):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X.iloc[:, :d], y


@cache
def with_categories():
    """Two numbers, a column of labels, one of two values, and one that never changes."""
    X, y = diabetes()
    table = X[["age", "bmi", "sex"]].assign(
        place=np.where(X["bp"] > 0, "town", np.where(X["age"] > 0, "hill", "coast")), same=1.0
    )
    return table, y


def quadratic():
    Q = np.random.default_rng(1).normal(size=(4, 4))
    return lt.Quadratic(Q + Q.T, [1.0, 0, -1, 2], 0.5), [0.3, -1.2, 0.9, 0.1], lt.Gaussian()


def linear_in_uneven_boxes():
    f = lt.Linear([1.0, -2, 3], 5)
    return f, [0.4, 2.0, -1.0], lt.Gaussian([0, 1, 0], [1, 2, 0.5], [4, 3, 6])


def forest():
    X, y = diabetes()
    f = RandomForestRegressor(15, max_depth=5, random_state=0).fit(X, y)
    return f, X.iloc[13], lt.Empirical(X)


def boosting_margin():
    X, y = diabetes()
    f = GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, y > 140)
    return lt.margin(f, True), X.iloc[5], lt.Gaussian.from_data(X)


def kernel_machine():
    X, y = diabetes()
    f = make_pipeline(StandardScaler(), SVR(C=50, gamma=0.1)).fit(X, y)
    return f, X.iloc[40], lt.Empirical(X)


def logistic():
    X, y = diabetes()
    f = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y > 140)
    return (f, X.iloc[7], lt.Empirical(X)), {"output": True}


def tree_with_a_constant_column():
    table, y = with_categories()
    X = table[["age", "bmi", "sex", "same"]]  # numbers, of which sex has two
    f = RandomForestRegressor(5, max_depth=4, random_state=0).fit(X, y)
    return f, X.iloc[3], lt.Empirical(X)


@cache
def tree_of_wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :7]
    f = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X.to_numpy(), y)
    return f, X, lt.Empirical(X)


CASES = {
    make.__name__: make
    for make in (quadratic, linear_in_uneven_boxes, forest, boosting_margin, kernel_machine,
                 logistic, tree_with_a_constant_column)
}  # fmt: skip


@cache
def case(name):
    """A cube, and what it was asked about: arguments and options."""
    made = CASES[name]()
    arguments, options = made if isinstance(made[-1], dict) else (made, {})
    return lt.cube(*arguments, **options), arguments, options


def means_by_box(cube):
    """E[f | z] for each z, (2, ..., 2), by the form alone; constant features count as inside."""
    problem, form = cube.setting, cube.setting.form
    views = problem.tilt.views
    _, inside, outside = views.weights
    values = np.empty((2,) * problem.d)
    for z in product((0, 1), repeat=problem.d):
        side = np.where(np.array(z)[:, None] == 1, inside, outside)
        values[z] = form.expectation(ConditionalLaws(views.law, np.stack([side] * 3))).mean
    return values


def game(values, p):
    """v(S), as a dictionary: the mean of f with the features of S in their boxes, others by chance."""
    d, worth = len(p), {}
    for size in range(d + 1):
        for held in combinations(range(d), size):
            t = np.where(np.isin(np.arange(d), held), 1.0, p)
            chance = np.ones((1,) * d)
            for j, share in enumerate(t):
                shape = [2 if i == j else 1 for i in range(d)]
                chance = chance * np.reshape([1 - share, share], shape)
            worth[frozenset(held)] = float(np.sum(values * chance))
    return worth


def index_of(worth, d, members, weight):
    """Sum over sets S without ``members`` of weight(|S|) times their joint difference at S."""
    others, total = [j for j in range(d) if j not in members], 0.0
    for size in range(len(others) + 1):
        for S in map(frozenset, combinations(others, size)):
            for k in range(len(members) + 1):
                for T in combinations(members, k):
                    total += weight(size) * (-1) ** (len(members) - k) * worth[S | set(T)]
    return total


def shapley_weight(d, k):
    """Of sets of a size, for k members: (d - size - k)! size! / (d - k + 1)!."""
    return lambda size: factorial(d - size - k) * factorial(size) / factorial(d - k + 1)


def banzhaf_weight(d, k):
    return lambda size: 0.5 ** (d - k)


def labels_alone(rows=400):
    """A function of four labels that act together, a table of them, and its world."""
    rng, sizes = np.random.default_rng(5), {"u": 2, "v": 3, "w": 2, "x": 3}
    table = pd.DataFrame({n: rng.choice(list("abc")[:k], rows) for n, k in sizes.items()})

    def f(x):
        codes = np.vectorize("abc".index)(np.asarray(x)).astype(float)
        return codes @ [1.0, -2, 0.5, 1] + codes[:, 0] * codes[:, 1] * codes[:, 3]

    return f, table, lt.Empirical(table, categorical=list(table))
