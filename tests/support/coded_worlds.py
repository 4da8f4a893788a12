"""A normal world and a training set with ties and codes, and an instance of each."""

import numpy as np
import pandas as pd

import limetutor as lt

RNG = np.random.default_rng(31)
CODES = pd.DataFrame(
    {
        "size": RNG.gamma(2.0, size=400),
        "tied": RNG.integers(0, 3, 400).astype(float),
        "colour": RNG.choice([0.0, 1.0, 2.0], 400, p=[0.5, 0.3, 0.2]),
    }
)
ROW = {"size": 2.1, "tied": 1.0, "colour": 1.0}
WORLDS = {
    "gaussian": (lt.Gaussian([0.2, -0.5, 1.0], [1.0, 0.7, 1.5], p=[4, 3, 5]), [0.8, -0.9, 2.2]),
    "empirical": (lt.Empirical(CODES, p=3, categorical=["colour"]), ROW),
}
