"""Audits drawn at random: tables, models, explainers of `lime`, rows and options by a seed."""

from typing import Any, NamedTuple

import numpy as np
from lime.lime_tabular import LimeTabularExplainer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import limetutor as lt

NAMES = "alder birch cedar elm fir hazel larch maple oak pine rowan spruce willow yew".split()
NAMES += [f"{a} {b}" for a in ("red", "white") for b in NAMES]


class Drawn(NamedTuple):
    X: np.ndarray
    labels: list[int]  # declared columns
    f: Any  # what is passed
    call: Any  # what it says, a number for each row
    explainer: Any
    xi: np.ndarray
    data: Any
    options: dict[str, Any]
    known_form: bool

    def audit(self):
        return lt.audit(self.explainer, self.f, self.xi, data=self.data, **self.options)


def column(rng, rows):
    """A column of some kind, and whether it holds labels."""
    kind = rng.choice(
        ["normal", "skewed", "age", "count", "flag", "two", "half", "large", "label", "flat"],
        p=[0.3, 0.12, 0.1, 0.08, 0.1, 0.05, 0.08, 0.06, 0.1, 0.01],
    )
    return {
        "normal": lambda: rng.normal(size=rows),
        "skewed": lambda: rng.gamma(1.5, size=rows),
        "age": lambda: rng.integers(18, 80, rows),
        "count": lambda: rng.poisson(1.0, rows),
        "flag": lambda: rng.random(rows) < rng.uniform(0.1, 0.6),
        "two": lambda: rng.integers(1, 3, rows),
        "half": lambda: np.maximum(rng.normal(size=rows), 0),
        "large": lambda: 1000 * rng.normal(size=rows) + 5000,
        "label": lambda: rng.integers(0, rng.integers(2, 6), rows),
        "flat": lambda: np.full(rows, 2.0),
    }[str(kind)]().astype(float), kind == "label"


def truth(rng, X):
    """What models are fitted to: a sum over features, with or without steps, products and noise."""
    unit = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
    y = unit @ (rng.normal(size=X.shape[1]) * rng.choice([1, 1, 0.2], X.shape[1]))
    if rng.random() < 0.5:
        y = y + 2 * np.sign(unit[:, 0]) * rng.random()
    if rng.random() < 0.4:
        y = y + rng.uniform(0.5, 2) * unit[:, 0] * unit[:, 1]
    return y + rng.normal(size=len(X)) * rng.uniform(0, 0.5)


def model(rng, X, y):
    """A model that is passed, as a function of rows, and the column that is explained, if any."""
    classifies = rng.random() < 0.35
    kinds = [
        lambda: LogisticRegression() if classifies else LinearRegression(),
        lambda: (GradientBoostingClassifier if classifies else GradientBoostingRegressor)(
            n_estimators=20, max_depth=int(rng.integers(1, 4)), random_state=0
        ),
        lambda: (RandomForestClassifier if classifies else RandomForestRegressor)(
            10, min_samples_leaf=5, random_state=0
        ),
        lambda: LogisticRegression() if classifies else KNeighborsRegressor(10),
    ]
    made = make_pipeline(StandardScaler(), kinds[int(rng.integers(4))]())
    made.fit(X, y > np.median(y) if classifies else y)
    says = (lambda x: made.predict_proba(x)[:, 1]) if classifies else made.predict
    passed = made.predict_proba if classifies else made.predict
    if rng.random() < 0.4:  # nothing is known of its form
        inner, passed = passed, (lambda x: inner(x))
    return passed, says, classifies


def drawn(seed):
    rng = np.random.default_rng([2026, seed])
    rows, d = (
        int(rng.integers(120, 600)),
        int(rng.choice([3, 4, 5, 6, 8, 22], p=[0.2, 0.2, 0.2, 0.2, 0.17, 0.03])),
    )
    columns, is_label = zip(*[column(rng, rows) for _ in range(d)], strict=True)
    X, labels = np.column_stack(columns), [int(j) for j in np.flatnonzero(is_label)]
    if rng.random() < 0.15:  # dummies of one category
        X[:, :3] = np.eye(3)[rng.integers(0, 3, rows)]
        labels = [j for j in labels if j > 2]
    f, call, classifies = model(rng, X, truth(rng, X))
    options = {"mode": "classification" if classifies else "regression"}
    if rng.random() < 0.3:
        options["kernel_width"] = float(rng.uniform(0.3, 1.5) * np.sqrt(d))
    explainer = LimeTabularExplainer(
        X, feature_names=NAMES[:d], categorical_features=labels, random_state=0,
        discretizer=str(rng.choice(["quartile", "decile"], p=[0.8, 0.2])), **options,
    )  # fmt: skip
    xi = X[rng.integers(rows)].copy()
    numbers = [j for j in range(d) if j not in labels]
    if rng.random() < 0.1 and numbers:
        j = int(rng.choice(numbers))
        xi[j] = X[:, j].max() + rng.uniform(0, 1) * (np.ptp(X[:, j]) or 1)
    how = {
        "num_samples": int(rng.choice([300, 1000, 5000])),
        "num_features": int(rng.integers(3, 11)),
    }
    how["seed"] = int(rng.integers(1000))
    data = X if rng.random() < 0.8 else None
    return Drawn(X, labels, f, call, explainer, xi, data, how, False)
