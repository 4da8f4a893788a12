"""The effective sample size as n grows."""

import itertools

import numpy as np

import limetutor as lt
from limetutor.precision.effective_samples import effective_sample_size


def test_weights_never_make_more_of_n_samples_than_n():
    """At wide bandwidths all weights are the same, but for rounding."""
    rng, n = np.random.default_rng(0), 10**6
    for d, nu in itertools.product((1, 3, 40), np.geomspace(1e3, 1e9, 25)):
        size = effective_sample_size(rng.normal(size=d), lt.Gaussian(), nu, n)
        assert n * (1 - 1e-4) < size <= n
