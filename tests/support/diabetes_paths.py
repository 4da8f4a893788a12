"""Four columns of the diabetes data, an instance at which features switch off, models and worlds."""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge

import limetutor as lt

X, Y = load_diabetes(return_X_y=True)
X = X[:, [0, 2, 3, 8]] / X.std(axis=0)[[0, 2, 3, 8]]
XI = np.array([0.5, 0.45, -0.5, 0.6])  # in the halves of their boxes where features switch off
MODELS = {
    "linear": lt.Linear([10.0, -10.0, 3.0, 5.0]),
    "forest": RandomForestRegressor(6, max_leaf_nodes=12, random_state=0).fit(X, Y),
    "kernel": KernelRidge(kernel="rbf", gamma=0.3, alpha=0.5).fit(X[:40], (Y - Y.mean())[:40]),
}
WORLDS = {"gaussian": lt.Gaussian(), "empirical": lt.Empirical(X)}
