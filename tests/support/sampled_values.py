"""Draws of a sampler, for statistical tests."""

import numpy as np

from limetutor.precision.gaussian_and_tilted_samplers import sampler

# Every test with it has a fixed seed, so it passes or fails once and for all: the chance that correct
# code would have failed for the seed that was picked.
LEVEL = 1e-3


def drawn(name, world, xi, n, seed):
    boxes = world.boxes(len(xi))
    x, z = sampler(name, boxes, xi)(np.random.default_rng(seed), n)
    return boxes, x, z
