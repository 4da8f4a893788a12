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


def with_laplace(found, w):
    """The same features with the weight exp(-|x - xi| / nu)."""
    for g, xi in zip(found, w.xi, strict=True):
        g.weight = np.exp(-np.abs(g.x - xi) / w.nu)
    return found


def tilted(w):
    """Mean and deviation of the tilted law, as printed in the book."""
    total = w.nu**2 + w.sigma**2
    return (w.nu**2 * w.mu + w.sigma**2 * w.xi) / total, np.sqrt(w.nu**2 * w.sigma**2 / total)


def theta_and_alpha(w):
    """θ and α of each feature, as printed in the book."""
    mean, sd = tilted(w)
    u, v = (w.lo - mean) / sd, (w.hi - mean) / sd
    return sd * (norm.pdf(v) - norm.pdf(u)), norm.cdf(v) - norm.cdf(u)


def skewed(w):
    """The same features with the same means and deviations, and a skewed law."""
    found = features(w)
    for g, mu, sigma in zip(found, w.mu, w.sigma, strict=True):
        t = (g.x - mu) / sigma
        g.prob = g.prob * (1 + 0.1 * (t**3 - 3 * t))
    return found


class Line:
    """f = a_1 x + a_2 y + b, or with a cubic term added to it."""

    def __init__(self, a, b, bent):
        self.a, self.b, self.bent = a, b, bent

    def __call__(self, x, y):
        return self.a[0] * x + self.a[1] * y + self.b + (0.3 * x**2 * y if self.bent else 0.0)

    def line(self, point):
        """The line alone, at a point."""
        return self.a @ point + self.b


def linear(rng, bent=False):
    """A random function of two features."""
    return Line(rng.normal(0, 3, 2), rng.normal(0, 3), bent)
