"""Random settings for the tests of statements: a Gaussian world, an instance and a bandwidth."""

from types import SimpleNamespace

import numpy as np
from grids import normal_feature
from scipy.stats import norm


def draw(rng, d=2, p=None, outer=None, nu=None):
    """A world of d normal features with p quantile boxes, an instance and a bandwidth.

    ``outer`` asks for instances in outer boxes (True) or inner ones (False).
    """
    p = int(rng.integers(4, 7)) if p is None else p
    mu, sigma = rng.normal(0, 2, d), rng.uniform(0.5, 2, d)
    box = {
        None: rng.integers(0, p, d),
        True: rng.choice([0, p - 1], d),
        False: rng.integers(1, p - 1, d),
    }[outer]
    edges = norm.ppf(np.arange(p + 1) / p)
    at = norm.ppf((box + rng.uniform(0.05, 0.95, d)) / p)
    setting = SimpleNamespace(
        p=p,
        mu=mu,
        sigma=sigma,
        box=box,
        xi=mu + sigma * at,
        lo=mu + sigma * edges[box],
        hi=mu + sigma * edges[box + 1],
        nu=float(rng.uniform(0.5, 2)) if nu is None else nu,
    )
    setting.features = lambda: features(setting)
    return setting


def features(w):
    """The features of a setting on grids."""
    parts = zip(w.xi, w.mu, w.sigma, w.lo, w.hi, strict=True)
    return [normal_feature(xi, mu, sigma, w.nu, lo, hi) for xi, mu, sigma, lo, hi in parts]


def tilted(w):
    """Mean and deviation of the tilted law, as printed in the book."""
    total = w.nu**2 + w.sigma**2
    return (w.nu**2 * w.mu + w.sigma**2 * w.xi) / total, np.sqrt(w.nu**2 * w.sigma**2 / total)
