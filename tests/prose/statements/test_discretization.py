"""Statements of the chapter *Discretization*, against the exact law of an order statistic."""

from itertools import pairwise

import numpy as np
from scipy.stats import beta, norm
from statements import close, statement

N = 60_001  # of these every k/p with p = 4 or 5 has a training value of its own


def quantile_share(case_n, tau):
    """The share of the law below the empirical quantile: a Beta law, whatever the data's law is."""
    rank = round(tau * (case_n - 1)) + 1
    return beta(rank, case_n + 1 - rank)


def expectation(law, function):
    """E[function(B)] by quadrature over the central part of a Beta law."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    parts = [law.ppf(1e-13), law.mean(), law.isf(1e-13)]
    total = 0.0
    for a, b in pairwise(parts):
        u = (a + b) / 2 + (b - a) / 2 * nodes
        total += np.sum((b - a) / 2 * weights * law.pdf(u) * function(u))
    return total


@statement(
    "thm-edge-error",
    formulas=("standard error", "for a normal law"),
    assumptions=("positive density", "continuous density", "independent values", "large n"),
)
def test_error_of_an_edge(case, rng):
    tau = rng.integers(1, 4) / 4
    n = N if case.keeps("large n") else 9
    mu, sigma = rng.normal(0, 3), rng.uniform(0.5, 3)

    def place(u):  # the quantile function: a skewed law, or one whose density misbehaves at q
        u = np.asarray(u)
        if not case.keeps("positive density"):
            return np.cbrt(u - tau)
        if not case.keeps("continuous density"):
            return (u - tau) * np.where(u < tau, 1.0, 3.0)
        return np.exp(norm.ppf(u))

    def density(u, h=1e-7):
        return 2 * h / (place(u + h) - place(u - h))

    # each value twice is as good as half of them
    law = quantile_share(n if case.keeps("independent values") else (n + 1) // 2, tau)

    def exact(quantile):
        middle = expectation(law, quantile)
        return np.sqrt(expectation(law, lambda u: (quantile(u) - middle) ** 2))

    printed = np.sqrt(tau * (1 - tau) / n) / density(tau)
    close(case.formula(printed, "standard error"), exact(place), rel=2e-3)
    normal = sigma * np.sqrt(tau * (1 - tau) / n) / norm.pdf(norm.ppf(tau))
    at = exact(lambda u: mu + sigma * norm.ppf(u))
    close(case.formula(normal, "for a normal law"), at, rel=2e-3)
    # and the law of the error is close to a normal one
    t = np.array([-2, -1, 0.5, 1.5])
    shares = law.cdf(norm.cdf(norm.ppf(tau) + t * normal / sigma))
    close(shares, norm.cdf(t), abs=5e-3)


@statement("cor-misplaced", assumptions=("same law", "continuous law", "large n"))
def test_instances_in_another_box(case, rng):
    p = int(rng.integers(4, 6))
    n = N if case.keeps("large n") else 9
    orders = np.arange(1, p) / p
    printed = np.sqrt(2 / (np.pi * n)) * np.sum(np.sqrt(orders * (1 - orders)))

    def share_below(u):
        """How much of the instances' law lies below the place that has the share u of the data."""
        u = u if case.keeps("continuous law") else np.floor(7 * u) / 7
        return u if case.keeps("same law") else u**3

    chance = [
        expectation(
            quantile_share(n, tau), lambda u, tau=tau: np.abs(share_below(u) - share_below(tau))
        )
        for tau in orders
    ]
    close(case.formula(printed), sum(chance), rel=4e-3)
    if n == N and case.keeps("continuous law") and case.keeps("same law"):
        counted = misplaced(rng, p, 400)
        small = np.sqrt(2 / (np.pi * 400)) * np.sum(np.sqrt(orders * (1 - orders)))
        assert abs(counted.mean() - small) < 5 * counted.std() / 20 + 0.02 * small


def misplaced(rng, p, n, runs=400):
    """The share of instances that the boxes of n training values put elsewhere, run by run."""
    edges = np.quantile(rng.random((runs, n)), np.arange(1, p) / p, axis=1).T
    xi = rng.random((runs, 1000))
    found = np.array([np.searchsorted(e, x) for e, x in zip(edges, xi, strict=True)])
    return (found != np.floor(p * xi)).mean(axis=1)
