"""Probabilities of indicators that are hard on formulas, and C Sigma^-1 at 250 digits."""

import numpy as np
from reference import mp

ALPHAS = {
    "one": [0.3],
    "a half": [0.5],
    "plain": [0.1, 0.25, 0.7],
    "repeated": [0.3, 0.3, 0.3],
    "mirrored": [0.2, 0.8],  # the same pole, different sides
    "repeated and mirrored": [0.2, 0.8, 0.2, 0.5],
    "a half twice": [0.5, 0.5, 0.1],
    "close by 1e-6": [0.3, 0.300001, 0.299999],
    "close by 1e-11": [0.3, 0.3 + 1e-11, 0.9],
    "close by an ulp": [0.3, float(np.nextafter(0.3, 1)), 0.6],
    "tiny": [1e-10, 0.3],
    "nearly one": [1 - 2.0**-40, 0.3],
    "both": [1e-12, 1 - 2.0**-33, 0.5],
    "poles far apart": [1e-5, 1e-15, 0.5],
    "all tiny": [1e-8, 2e-8, 3e-8],
    "very tiny": [1e-100, 0.4],
}


def draws(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.uniform(0.01, 0.99, int(rng.integers(1, 31)))


def exact_inverse(alpha):
    """C Sigma^-1 by inverting Sigma itself, not by the lemma."""
    d = len(alpha)
    with mp.workdps(250):  # alpha of 1e-100 squared still leaves 50 digits
        a = [mp.mpf(1), *(mp.mpf(float(v)) for v in alpha)]
        sigma = mp.matrix(d + 1, d + 1)
        for i in range(d + 1):
            for j in range(d + 1):
                sigma[i, j] = a[i] if i == j else a[i] * a[j]
        return sigma**-1
