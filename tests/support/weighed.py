"""A small explanation with its samples, to look at weights."""

import numpy as np

import limetutor as lt

F = lt.Linear([1.0, 2.0, -1.0])
XI = np.array([0.3, -1.0, 0.1])


def explained(**options):
    options = {"nu": 0.8, "seed": 0, "n": 2000, "keep": True} | options
    return lt.explain(F, XI, lt.Gaussian(), **options)
