"""Statements of the chapter *Sampling*: quadrature, the package's sampler, the law of order statistics."""

from itertools import pairwise

import numpy as np
from grids import integral, normal_density
from scipy.stats import beta, norm
from statements import close, statement, within

import limetutor as lt


@statement(
    "prop-boxes-first",
    formulas=("law", "normal law"),
    assumptions=("each box with its own probability", "pieces of one law"),
)
def test_boxes_first(case, rng):
    mu, sigma = rng.normal(0, 2), rng.uniform(0.5, 2)
    p = int(rng.integers(3, 7))
    t = mu + sigma * rng.uniform(-1, 1)
    far = 10 * sigma

    def two_steps(edges, probabilities, density):
        """P(x <= t) when the box is drawn first."""
        total = 0.0
        for lo, hi, share in zip(edges[:-1], edges[1:], probabilities, strict=True):
            piece = piece_of(density, lo, hi)
            whole = integral(piece, [lo, hi], sigma)
            total += (
                share
                * (integral(piece, [lo, t], sigma) if lo < t < hi else whole * (hi <= t))
                / whole
            )
        return total

    def piece_of(density, lo, hi):
        if case.keeps("pieces of one law"):
            return density
        return lambda x: normal_density(x, (lo + hi) / 2, sigma / 4)

    # any law, any boxes: here two bumps
    def bumps(x):
        return 0.3 * normal_density(x, mu - sigma, sigma / 2) + 0.7 * normal_density(x, mu, sigma)

    edges = np.sort(np.append(mu + sigma * rng.uniform(-1.5, 1.5, p - 1), [mu - far, mu + far]))
    own = [integral(bumps, e, sigma) for e in pairwise(edges)]
    shares = own if case.keeps("each box with its own probability") else np.full(p, 1 / p)
    close(
        case.formula(integral(bumps, [mu - far, t], sigma), "law"), two_steps(edges, shares, bumps)
    )
    # quantile boxes of a normal law, each with probability 1/p
    inner = mu + sigma * norm.ppf(np.arange(1, p) / p)
    edges = np.concatenate([[mu - far], inner, [mu + far]])
    printed = case.formula(norm.cdf(t, mu, sigma), "normal law")
    close(printed, two_steps(edges, np.full(p, 1 / p), lambda x: normal_density(x, mu, sigma)))
    world = lt.Gaussian([mu, mu], [sigma, sigma], p=p)
    run = lt.explain(
        lt.Linear([1, 1]), [mu, mu], world, nu=1e3, n=4000, keep=True, seed=int(rng.integers(99))
    )
    both = np.all(run.x <= t, axis=1)  # two features, drawn independently
    within(norm.cdf(t, mu, sigma) ** 2, both.mean(), np.sqrt(both.var() / run.n))


@statement("lem-truncated-mean", assumptions=("normal law",))
def test_truncated_mean(case, rng):
    mu, sigma = rng.normal(0, 2), rng.uniform(0.5, 2)
    lo = mu + sigma * rng.normal()
    hi = lo + sigma * rng.uniform(0.3, 2)
    u, v = (lo - mu) / sigma, (hi - mu) / sigma
    printed = mu + sigma * (norm.pdf(u) - norm.pdf(v)) / (norm.cdf(v) - norm.cdf(u))

    def density(x):
        t = (x - mu) / sigma
        return normal_density(t) * (1.0 if case.keeps("normal law") else 1 + 0.1 * (t**3 - 3 * t))

    mass, first = (integral(lambda x, k=k: x**k * density(x), [lo, hi], sigma) for k in (0, 1))
    close(case.formula(printed), first / mass)


# --- edges read off data ---------------------------------------------------------------------

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
