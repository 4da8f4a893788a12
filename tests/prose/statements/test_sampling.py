"""Statements of the chapter *Sampling*, against quadrature and the package's own sampler."""

from itertools import pairwise

import numpy as np
from grids import integral, normal_density
from scipy.stats import norm
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
