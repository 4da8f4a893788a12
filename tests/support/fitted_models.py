"""Fitted models of every family that has a form, and worlds to explain them in."""

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import limetutor as lt

RNG = np.random.default_rng(11)
ROWS = 240
X = np.column_stack(
    [
        RNG.normal(size=ROWS),
        3 + 2 * RNG.normal(size=ROWS),
        RNG.integers(0, 2, ROWS) - 0.4,  # two values: boxes that hold a point
        RNG.integers(0, 3, ROWS),  # three labels
    ]
)
Y = np.sin(2 * X[:, 0]) + 0.3 * (X[:, 1] - 3) * X[:, 2] + 0.5 * (X[:, 3] == 1)
HIGH = np.where(Y > 0.2, "yes", "no")
THREE = np.digitize(Y, [-0.2, 0.4])
XI, NU = np.array([0.5, 2.2, -0.4, 1.0]), 1.2
WORLDS = {
    "gaussian": lt.Gaussian(X.mean(0), X.std(0), p=[4, 3, 4, 2]),
    "empirical": lt.Empirical(X, p=4, categorical=[3]),
}


def net(activation, **options):
    options = {"hidden_layer_sizes": (6,), "max_iter": 300, "tol": 1.0, "random_state": 0} | options
    return MLPRegressor(activation=activation, solver="lbfgs", **options)


def fitted(model, y=Y):
    return model.fit(X, y)


PROCESS = GaussianProcessRegressor(
    2.0 * RBF(1.5) + WhiteKernel(0.1), optimizer=None, normalize_y=True
)
MODELS = {
    "Linear": (lt.Linear([1.0, -2.0, 0.5, 1.0], 3.0), None),
    "Quadratic": (lt.Quadratic(np.diag([1.0, 0.2, 0.5, -1.0]) + 0.1, [1.0, 0.0, 2.0, 0.0]), None),
    "Ridge": (fitted(Ridge()), None),
    "KernelRidge": (fitted(KernelRidge(kernel="rbf", alpha=0.1)), None),
    "SVR": (fitted(SVR()), None),
    "GaussianProcessRegressor": (fitted(PROCESS), None),
    "DecisionTreeRegressor": (fitted(DecisionTreeRegressor(max_depth=5, random_state=0)), None),
    "DecisionTreeClassifier": (
        fitted(DecisionTreeClassifier(max_depth=4, random_state=0), HIGH),
        "yes",
    ),
    "RandomForestRegressor": (fitted(RandomForestRegressor(8, max_depth=6, random_state=0)), None),
    "RandomForestClassifier": (
        fitted(RandomForestClassifier(8, max_depth=6, random_state=0), THREE),
        2,
    ),
    "ExtraTreesRegressor": (fitted(ExtraTreesRegressor(8, max_depth=6, random_state=0)), None),
    "ExtraTreesClassifier": (
        fitted(ExtraTreesClassifier(8, max_depth=6, random_state=0), HIGH),
        "no",
    ),
    "GradientBoostingRegressor": (
        fitted(GradientBoostingRegressor(n_estimators=20, random_state=0)),
        None,
    ),
    "HistGradientBoosting": (
        fitted(HistGradientBoostingRegressor(max_iter=10, random_state=0)),
        None,
    ),
    "LogisticRegression": (fitted(LogisticRegression(C=10), HIGH), "yes"),
    "the other class": (fitted(LogisticRegression(C=10), HIGH), "no"),
    "MLP tanh": (fitted(net("tanh")), None),
    "MLP logistic": (fitted(net("logistic")), None),
    "MLP relu": (fitted(net("relu")), None),
    "scaled SVR": (fitted(make_pipeline(StandardScaler(), SVR())), None),
    "scaled net": (fitted(make_pipeline(MinMaxScaler(), net("relu"))), None),
    "scaled logistic": (fitted(make_pipeline(StandardScaler(), LogisticRegression()), HIGH), "no"),
}
