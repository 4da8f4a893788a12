"""A table with numbers, ties and categories, worlds for it and models fitted on it."""

import numpy as np
import pandas as pd
from lime.lime_tabular import LimeTabularExplainer
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt

RNG = np.random.default_rng(12)
FRAME = pd.DataFrame(
    {
        "size": RNG.gamma(2.0, size=300),
        "tied": RNG.integers(0, 3, 300).astype(float),
        "kind": RNG.choice([0.0, 1.0, 2.0], 300, p=[0.5, 0.3, 0.2]),
        "far": 100 + 10 * RNG.normal(size=300),
    },
    index=[f"row {i}" for i in range(300)],
)
X = FRAME.to_numpy()
Y = FRAME["size"] * (FRAME["kind"] - 0.5) + FRAME["tied"] + np.sin(FRAME["far"] / 5)
TABLE = FRAME.iloc[:9]
EXPLAINER = LimeTabularExplainer(
    X, feature_names=list(FRAME), categorical_features=[2], mode="regression"
)
WORLDS = {
    "gaussian": lt.Gaussian(X.mean(0), X.std(0), p=[4, 3, 5, 2], names=tuple(FRAME)),
    "empirical": lt.Empirical(FRAME, p=4, categorical=["kind"]),
    "lime": lt.from_lime(EXPLAINER),
}
FORMS = {
    "linear": Ridge().fit(FRAME, Y),
    "quadratic": lt.Quadratic(RNG.normal(size=(4, 4)) / 50, RNG.normal(size=4)),
    "bumps": make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=0.3)).fit(FRAME, Y),
    "forest": ExtraTreesRegressor(6, max_depth=5, random_state=0).fit(FRAME, Y),
    "boosting": GradientBoostingRegressor(n_estimators=12, random_state=0).fit(FRAME, Y),
    "moved": make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4)).fit(FRAME, Y),
    "other order": DecisionTreeRegressor(max_depth=4).fit(
        FRAME[["far", "kind", "tied", "size"]], Y
    ),
}
