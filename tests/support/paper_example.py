"""The running example of the paper: two features of ten, and ways to explain it."""

import numpy as np

import limetutor as lt

PAPER = lt.Linear([10, -10] + [0] * 8)
PAPER_XI = np.array([0.961, 0.432, *np.linspace(-1, 1, 8)])
WORLD = lt.Gaussian(0, 1, 4)
SETTINGS = {
    "paper": {},
    "gaussian sampler": {"sampler": "gaussian"},
    "tilted": {"sampler": "tilted"},
    "lime's kernel": {"kernel": "mismatch"},
    "cosine": {"kernel": "cosine"},
    "ridge": {"ridge": 1.0},
    "lasso": {"lasso": 0.1},
    "two features": {"features": 2},
}


def paper(**options):
    return lt.explain(PAPER, PAPER_XI, WORLD, 1.0, **{"seed": 0} | options)
