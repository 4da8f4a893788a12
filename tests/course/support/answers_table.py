"""Right answers to the exercises, chapter by chapter.

What is right is written out here, or taken from the package in another way than the exercise does. A
chapter whose answers need names for numbers is a function, so that these stay its own.
"""

from typing import Any

import numpy as np
from boxed_means import contrast
from lime.lime_tabular import LimeTabularExplainer
from scipy import integrate, optimize, stats
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.course import datasets
from limetutor.course.experiments import running_example
from limetutor.precision.normal_limit import asymptotic_covariance

EDGE = norm.ppf(0.75)  # the third edge of four boxes
WORLD = lt.Gaussian()
TOP = stats.truncnorm(1, np.inf).mean()
Rows = list[tuple[str, Any]]  # exercise, answer

SHORT: Rows = [
    ("ten-minutes/1", 45_000),
    ("discretization/1", norm(94.6, 13.8).ppf(np.arange(1, 5) / 5)),
    ("weights/1", optimize.brentq(lambda nu: 1 / (1 + nu**2) - 0.7, 0.1, 2)),
    ("surrogate/1", [1.5, 0.5]),
    ("switch-off/1", np.sqrt((2 * 0.6 - EDGE) / EDGE)),
    ("switch-off/2", optimize.brentq(lambda xi: contrast(xi, 0.8), 0.4, 0.6)),
    ("images/1", 2.4),
    ("images/2", 1 / np.sqrt(2 * np.log(9))),
    ("images/3", [0.5, 1.0]),
    ("integrals/1", TOP + TOP * 0.1 / 0.6),
    ("integrals/2", 14),
]


def welcome() -> Rows:
    """From what lime prints, the phrases only."""
    table = datasets.diabetes()
    X, names = table.X.to_numpy(), list(table.X.columns)
    forest = RandomForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, table.y)
    lists = []
    for seed in range(1, 9):
        explainer = LimeTabularExplainer(
            X, feature_names=names, mode="regression", random_state=seed
        )
        phrases = explainer.explain_instance(X[13], forest.predict, num_features=5).as_list()
        lists.append({name for name in names for phrase, _ in phrases if name in phrase.split()})
    return [("welcome/1", sum("age" in found for found in lists))]


def sampling() -> Rows:
    share = np.sqrt(2 / (500 * np.pi)) * (0.5 + 2 * np.sqrt(0.1875))
    return [
        ("sampling/1", stats.truncnorm(norm.ppf(0.8), np.inf, 100, 15).mean()),
        ("sampling/2", list(np.diff([0, norm.cdf(-1), norm.cdf(2), 1]))),
        ("sampling/3", 5000 / 4**10),
        ("sampling/5", 0.1875 / norm.pdf(EDGE) ** 2 / 0.01**2),
        ("sampling/6", 1 - (1 - share) ** 10),
    ]


def covariance() -> Rows:
    def edge_in_deviations(nu: float) -> float:
        """From a tilted law by quadrature: how many of its standard deviations half the box is."""
        tilted = lambda x: norm.pdf(x) * np.exp(-((x - EDGE / 2) ** 2) / (2 * nu**2))  # noqa: E731
        moments = [integrate.quad(lambda x, k=k: x**k * tilted(x), -2, 3)[0] for k in range(3)]
        mean = moments[1] / moments[0]
        return EDGE / 2 / np.sqrt(moments[2] / moments[0] - mean**2)

    matrix = 0.4 * np.array([[1, 0.5, 0.25], [0.5, 0.5, 0.125], [0.25, 0.125, 0.25]])
    return [
        ("covariance/1", [[0.30, 0.06, 0.15], [0.06, 0.06, 0.03], [0.15, 0.03, 0.15]]),
        ("covariance/2", np.linalg.inv(matrix)[0]),
        ("covariance/3", optimize.brentq(lambda nu: edge_in_deviations(nu) - 1.645, 0.1, 0.4)),
        ("covariance/4", 1 + 1 / 4 + 35 / 65 + 9 + 1 / 0.09),
    ]


def theorem() -> Rows:
    factors = lt.limit(lt.Linear([1, 1]), [0.961, 0.432], WORLD, nu=1.0).coef
    return [
        ("theorem/1", 2 / 3),
        ("theorem/2", 5.7 / factors),
        ("theorem/2", [57 / 11.4, 57 / 1.76]),
    ]


def local_error() -> Rows:
    return [("local-error/1", stats.truncnorm(0, np.inf, loc=10, scale=3).mean())]


def samples() -> Rows:
    f, xi, world = running_example()
    beta = lt.limit(f, xi, world, 1.0).coef[1]
    V = asymptotic_covariance(f, xi, world, 1.0)
    exponent = 0.5 - np.log(2) / 2
    return [
        ("samples/1", 61_466),
        ("samples/2", norm.sf(0, loc=beta, scale=np.sqrt(V[2, 2] / 500))),
        ("samples/3", 5 * np.log(120) / 0.1 / exponent),
    ]


def beyond_linear() -> Rows:
    """The slope that hides a curve from quadrature; Shapley values over the two orders."""

    def contrast(f: Any) -> float:
        inside, total = (
            integrate.quad(lambda x: f(x) * norm.pdf(x), *ends)[0]
            for ends in ((0, EDGE), (-np.inf, np.inf))
        )
        return 4 * inside - (total - inside) / 0.75

    v = {(): 10, (1,): 16, (2,): 12, (1, 2): 30}
    first_then_second = [v[(1,)] - v[()], v[(1, 2)] - v[(1,)]]
    second_then_first = [v[(1, 2)] - v[(2,)], v[(2,)] - v[()]]
    return [
        ("beyond-linear/1", -2 * contrast(lambda x: x**2) / contrast(lambda x: x)),
        ("beyond-linear/2", 0.5**3 - EDGE**3),
        ("beyond-linear/3", np.mean([first_then_second, second_then_first], axis=0)),
    ]


def real_lime() -> Rows:
    return [("real-lime/1", 13.5), ("real-lime/2", [3, 5])]


def trust() -> Rows:
    third = [0.5, 0.3, 0.2]
    lists = [{"a", "b", name} for name in "xyz"]
    common = sum(
        p * q * len(one & other) / 3
        for p, one in zip(third, lists, strict=True)
        for q, other in zip(third, lists, strict=True)
    )
    return [("trust/1", common)]


def interactions() -> Rows:
    box = norm.ppf([4 / 6, 5 / 6])

    def hidden_at(nu: float) -> float:
        """Where the instance lies that hides this box, in units of σ = 2."""
        return box.mean() * (1 + (nu / 2) ** 2)

    # lime's mean of x2 at the width 0.8, written out: box by box, by its probability and weight
    share = np.array([0.75 * np.exp(-1 / (2 * 0.8**2)), 0.25])
    means = norm.pdf(EDGE) / np.array([-0.75, 0.25])
    return [
        ("interactions/1", optimize.brentq(lambda nu: hidden_at(nu) - box[1], 0.1, 5)),
        ("interactions/2", -np.average(means, weights=share)),
        ("interactions/3", -0.2),
    ]


def one_cube() -> Rows:
    # a sample in the first box meets the second condition in 60% of all cases
    within = 0.6 * (0.3 + 0.5 - 0.1) + 0.4 * (0.3 + 0.5)
    inside = optimize.brentq(lambda beta: 54 - (1 - 0.3) * beta - 40, 0, 100)
    return [("one-cube/1", inside), ("one-cube/2", within)]


def text() -> Rows:
    # four words, how many stay uniform on 0..3: the normal equations of the rule, summed over all masks
    z = (np.arange(2**4)[:, None] >> np.arange(4)) % 2
    k = z.sum(axis=1)
    weight = np.where(k < 4, 1 / np.bincount(k)[k], 0)
    Z = np.column_stack([np.ones(2**4), z])
    beta = np.linalg.solve(Z.T @ (weight[:, None] * Z), Z.T @ (weight * z[:, 0] * z[:, 1]))
    return [("text/1", np.exp(-0.5)), ("text/2", beta[1]), ("text/3", 0.026)]


def paper() -> Rows:
    """The penalty at which a lasso of the two weighted means is first 0, by minimising."""

    def left(lam: float) -> float:
        found = optimize.minimize_scalar(lambda b: 0.21 * (b + 3) ** 2 + 2 * lam * abs(b))
        return abs(found.x)

    penalties = np.linspace(0.5, 0.8, 301)
    first = next(lam for lam in penalties if left(lam) < 1e-6)
    return [("paper/1", first)]


CHAPTERS = (
    welcome, sampling, covariance, theorem, local_error, samples, beyond_linear, real_lime, trust,
    interactions, one_cube, text, paper,
)  # fmt: skip
RIGHT = SHORT + [row for chapter in CHAPTERS for row in chapter()]
