"""Calls whose columns come in odd orders, with odd names, gaps and labels, and what is true of them.

``odd_columns`` draws a table whose columns lie in ranges of their own, so that two that are taken
for each other show, and an additive model of it. World, model and row each have names or none, in
orders of their own. The truth goes by names alone: the model at the row, and for `lime`'s kernel the
mean of each column's own effect in the box of the row less the mean in all others.
"""

from collections import namedtuple
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
from fuzz import Case, kind
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import limetutor as lt

NAMES = [list("abcd"), list("dbca"), ["x2", "x4", "x1", "x3"], ["2", "0", "3", "1"], ["body mass", "b", "0", "x1"]]  # fmt: skip
NU, BOXES = 1.1, 4


def parts_of(values, gaussian, p=BOXES):
    """The edges of a column of numbers, and share, mean, deviation and ends of each box.

    Of a normal law (mean and deviation), or of values.
    """
    if gaussian is not None:
        edges = stats.norm(*gaussian).ppf(np.arange(1, p) / p)
        return edges, [(1 / p, *gaussian, *ends) for ends in pairwise([-np.inf, *edges, np.inf])]
    values = np.array(values, float)
    edges, found = np.unique(np.quantile(values, np.arange(1, p) / p)), []
    for lo, hi in pairwise([-np.inf, *edges, np.inf]):
        inside = values[(values > lo) & (values <= hi)]
        ends = max(lo, values.min()), min(hi, values.max())
        found.append((len(inside) / len(values), inside.mean(), inside.std(), *ends))
    return edges, found


class Column:
    """A column of the table (None where a value is missing), and what it adds to the prediction."""

    def __init__(self, chance, j, sorts, rows, gappy):
        self.sort, self.slope = chance.choice(sorts), chance.choice([-1, 1]) * chance.uniform(0.5, 2)  # fmt: skip
        self.step = np.inf, 0.0  # added beyond a value, by a model that was changed
        labels = {"code": [10 * j + k for k in (0, 1, 4)], "text": [k * w + 5 * j * "o" for k, w in enumerate("uvw", 1)]}  # fmt: skip
        some = labels.get(self.sort)
        draw = lambda: chance.choice(some) if some else 10 * j + chance.uniform(0, 5)  # noqa: E731
        self.values = [None if gappy and chance.random() < 0.2 else draw() for _ in range(rows)]
        if some:
            self.values[:3] = some
        self.present = [value for value in self.values if value is not None]

    def effect(self, value):
        if value is None:
            return 40 * self.slope
        number = len(value) if self.sort == "text" else float(value)
        return self.slope * number + self.step[1] * (number > self.step[0])

    def boxes(self, gaussian):
        """The share of each box, the mean effect there, and whether a value lies in it."""
        share = len(self.present) / len(self.values)
        yield 1 - share, self.effect(None), lambda v: v is None
        if self.sort != "number":
            for k in sorted(set(self.present)):
                yield self.values.count(k) / len(self.values), self.effect(k), lambda v, k=k: v == k
            return
        edges, parts = parts_of(self.present, gaussian)
        cuts = pairwise([-np.inf, *edges, np.inf])
        for (low, high), (p, mean, sd, lo, hi) in zip(cuts, parts, strict=True):
            law = stats.truncnorm((lo - mean) / sd, (hi - mean) / sd, mean, sd)
            effect = self.slope * law.mean() + self.step[1] * law.sf(self.step[0])
            holds = lambda v, low=low, high=high: v is not None and low < v <= high  # noqa: E731
            yield p * share, effect, holds

    def coefficient(self, value, gaussian):
        """The mean effect in the box of a value less that in all other boxes."""
        boxes = [(p, mean, holds(value)) for p, mean, holds in self.boxes(gaussian) if p]
        own = [mean for _, mean, inside in boxes if inside]
        others = [(p, mean) for p, mean, inside in boxes if not inside]
        if not own or not others:
            return 0.0
        return own[0] - sum(p * mean for p, mean in others) / sum(p for p, _ in others)

    def value(self, chance):
        """A value of the row: one of the table, one beyond it, or none."""
        if None in self.values and chance.random() < 0.3:
            return None
        if self.sort != "number" or chance.random() < 0.6:
            return chance.choice(self.present)
        far = chance.choice([1.0, 30.0, 1e4])
        return chance.choice([max(self.present) + far, min(self.present) - far])


class ByName:
    """A model that was fitted on a DataFrame, in the manner of scikit-learn."""

    def __init__(self, columns, order):
        self.columns, self.feature_names_in_ = columns, np.array([str(name) for name in order])
        self.n_features_in_ = len(order)

    def predict(self, frame):
        assert list(frame.columns) == list(self.feature_names_in_)
        return additive([self.columns[name] for name in frame.columns], frame.to_numpy(object))


class MinMaxScaler(StandardScaler):
    """Not scikit-learn's, although it has the name: it leaves everything as it is."""

    clip = False

    def transform(self, X, copy=None):
        return np.asarray(X, float)


def additive(columns, rows):
    """The sum of effects of each row, whatever stands for a missing value."""
    return np.array([
        sum(c.effect(None if v is None or v != v else v) for c, v in zip(columns, row, strict=True))
        for row in np.asarray(rows, object)
    ])  # fmt: skip


@kind("columns", 50, 3000)
def odd_columns(chance, index):
    """A call with odd columns, beside the prediction and the coefficients of each column alone."""
    names = chance.choice(NAMES)[: chance.randint(2, 4)]
    names = [f"x{names.index(n) + 1}" if n.startswith("x") else n for n in names]
    if all(n.isdigit() for n in names):
        names = [str(j) for j in np.argsort(np.argsort(names))]
    content = chance.choice("numbers numbers labels gaps text".split())
    holes, rows = content in ("gaps", "text"), chance.randint(30, 50)
    sorts = ["number", "code", "text"][: {"numbers": 1, "text": 3}.get(content, 2)]
    columns = {
        name: Column(chance, j, sorts, rows, holes and chance.random() < 0.6) for j, name in enumerate(names)
    }  # fmt: skip
    models = "function known linear wrapped pipeline own-scaler".split()
    model_kind = chance.choice(models[:2] if holes else models)
    world_order, model_order, row_order = (chance.sample(names, len(names)) for _ in range(3))
    model_order = world_order if chance.random() < 0.3 else model_order
    row_order = world_order if chance.random() < 0.3 else row_order
    frame = pd.DataFrame({n: pd.Series(c.values, dtype=object) for n, c in columns.items()})
    if not holes:
        frame = frame.astype({n: type(c.present[0]) for n, c in columns.items()})
    worlds = "frame frame array gaussian scalars lime bare-lime".split()
    world_kind = chance.choice(worlds[:3] if holes else worlds)
    if content != "numbers" and world_kind in ("gaussian", "scalars"):
        world_kind = "frame"
    value = {n: c.value(chance) for n, c in columns.items()}
    form = chance.choice("series dict frame list array namedtuple".split())
    if form == "namedtuple" and not all(n.isidentifier() for n in names):
        form = "dict"
    named_row, named_model = form not in ("list", "array"), model_kind != "function"
    row_order = row_order if named_row else world_order
    unnamed, fine = world_kind in ("array", "scalars", "bare-lime"), True
    places = [{str(j) for j in range(len(names))}, {f"x{j + 1}" for j in range(len(names))}]
    if unnamed and set(names) in places:  # default names are places, whoever has them
        world_order = sorted(names)
        row_order = row_order if named_row else world_order
    elif unnamed:
        # the world lists its features in the order of rows or functions without names
        if not named_model:
            row_order = world_order
        elif not named_row:
            model_order = world_order
        elif world_kind == "scalars":
            world_order = row_order
        elif chance.random() < 0.5:
            row_order = world_order
            fine = model_order == row_order
        else:
            model_order = world_order
            fine = model_order == row_order
        # a default name among others, which a world without names may have in another place
        fine &= not {"0", "x1", "x4"} & set(names)
    model = model_of(model_kind, columns, world_order, model_order, frame)
    world, law = world_of(world_kind, columns, world_order, frame)
    labels, values = list(row_order), [value[n] for n in row_order]
    defect = chance.choice([None] * 9 + ["lost", "renamed", "twice", "more"]) if named_row else None
    if defect:
        fine = False
        labels = {"lost": labels[1:], "renamed": ["other", *labels[1:]], "twice": [labels[1], *labels[1:]]}.get(defect, ["other", *labels])  # fmt: skip
        values = {"lost": values[1:], "more": [1.0, *values]}.get(defect, values)
    row = row_of(form, labels, values)
    call_kind = chance.choice("explain limit limits explain_many path audit predict_lime".split())
    if call_kind == "predict_lime":
        call_kind = call_kind if "lime" in world_kind else "audit"
        # it hands over arrays
        fine &= "lime" not in world_kind or not named_model or model_order == world_order
    coef = np.array([columns[n].coefficient(value[n], law) for n in world_order])
    prediction = additive([columns[n] for n in names], [[value[n] for n in names]])[0]

    def wrong(found, notes):
        got, by_call, stderr = found
        far = np.abs(by_call - coef) > 6 * np.asarray(stderr) + 1e-5 * (1 + np.abs(coef))
        if not np.isclose(got, prediction, rtol=1e-6, atol=1e-12) or np.any(far):
            return f"f(xi) is {got}, not {prediction}; the coefficients are {by_call}, not {coef}"
        return None

    words = f"{call_kind}, {content}, {model_kind} of {model_order}, {world_kind} of {world_order}, {form} {labels} {values}"  # fmt: skip
    call = partial(called, call_kind, model, row, world, frame[world_order])
    return Case(words, call, wrong, may_refuse=not fine)


def model_of(kind, columns, world_order, model_order, frame):
    if kind == "known":
        return ByName(columns, model_order)
    if kind == "function":
        return lambda x: additive([columns[n] for n in world_order], x)
    X = frame[model_order].astype(float)
    y = additive([columns[n] for n in model_order], X.to_numpy())
    steps = {"pipeline": [StandardScaler()], "own-scaler": [MinMaxScaler()]}.get(kind, [])
    model = make_pipeline(*steps, LinearRegression()) if steps else LinearRegression()
    model = model.fit(X, y)
    if kind == "wrapped":
        old, edge = model.predict, float(np.median(X[model_order[-1]]))
        columns[model_order[-1]].step = (edge, 7.0)
        model.predict = lambda x: old(x) + 7.0 * (np.asarray(x)[:, -1] > edge)
    return model


def world_of(kind, columns, order, frame):
    """The world, and mean and deviation of its features where they are normal."""
    table, labels = frame[order], [j for j, n in enumerate(order) if columns[n].sort != "number"]
    if kind == "gaussian":
        return lt.Gaussian([12.0] * len(order), [6.0] * len(order), BOXES, order), (12.0, 6.0)
    if kind == "scalars":
        return lt.Gaussian(12.0, 6.0, BOXES), (12.0, 6.0)
    if "lime" in kind:
        names = None if kind == "bare-lime" else list(order)
        return lt.from_lime(explainer_of(table, labels, names)), None
    return lt.Empirical(table if kind == "frame" else table.to_numpy(), categorical=labels), None


def explainer_of(table, labels, names):
    how = {"categorical_features": labels, "mode": "regression", "feature_names": names}
    return LimeTabularExplainer(table.to_numpy(float), random_state=0, **how)


def row_of(form, labels, values):
    if form in ("list", "array"):
        return values if form == "list" else np.array(values, dtype=object)
    if form == "dict" and len(set(labels)) == len(labels):
        return dict(zip(labels, values, strict=True))
    if form == "namedtuple" and len(set(labels)) == len(labels):
        return namedtuple("Row", labels)(*values)
    frame = pd.DataFrame([values], columns=labels, dtype=object)
    return frame if form == "frame" else frame.iloc[0]


def called(kind, model, row, world, table):
    """Prediction, coefficients, and standard errors (infinite where they are of another fit)."""
    how = {"kernel": "mismatch", "samples": 3000, "n": np.inf}  # the limit itself
    if kind == "explain":
        found = lt.explain(model, row, world, NU, 3000, 0, "mismatch", ridge=0)
        return found.prediction, found.coef, found.stderr
    if kind == "limit":
        found = lt.limit(model, row, world, NU, **how)
        return found.prediction, found.coef, found.stderr
    if kind == "path":
        found = lt.path(model, row, world, nu=[NU, 2.0], **how)
        return found.prediction, found.coef[0], found.stderr[0]
    if kind == "audit":
        found = lt.audit(world, model, row, nu=NU, kernel="mismatch", n=500)
        case = (next(iter(found)) if isinstance(found, lt.AuditTable) else found).case
        return case.problem.prediction, case.coef, np.inf
    if kind == "predict_lime":
        labels = [int(j) for j in np.flatnonzero(~world.boxes().ordered)]
        names = None if world.names == tuple(map(str, range(world.d))) else list(world.names)
        explainer = explainer_of(table, labels, names)
        found = lt.predict_lime(explainer, model, row, calls=500, runs=10)
        return found.prediction, found.coef, np.inf
    row = row._asdict() if hasattr(row, "_asdict") else row
    row = row.to_frame().T if isinstance(row, pd.Series) else row
    row = pd.DataFrame([row], dtype=object) if isinstance(row, dict) else row
    rows = np.array([row], dtype=object) if np.ndim(row) == 1 else row
    if kind == "limits":
        many = lt.limits(model, rows, world, NU, **how)
    else:
        many = lt.explain_many(model, rows, world, NU, 3000, kernel="mismatch", ridge=0)
    return many.prediction[0], many.coef[0], many.stderr[0]


CLASSES = [
    ["no", "yes", "so"], ["1", "2", "3"], ["0", "1"], [2, 0, 1], [1, 2, 3], [0, 1], [1.0, 2.5],
    [False, True], [True, False], ["a", "1.5"], [b"a", b"b"], [np.int64(7), np.int64(3)],
]  # fmt: skip


class Classifier:
    """A classifier by its looks: the probability of column k is (k + 1) / 10, whatever the row."""

    def __init__(self, classes):
        self.classes_ = classes

    def predict_proba(self, X):
        return np.tile(np.arange(1, len(self.classes_) + 1) / 10, (len(X), 1))


@kind("classes", 40, 1500)
def odd_output(chance, index):
    """A call with an odd ``output``: the class of its value and kind, or refused."""
    classes = chance.choice(CLASSES)
    some = chance.choice(classes)
    output = chance.choice([
        some, some, str(some), chance.randint(-1, 3), float(chance.randint(0, 2)), np.int64(1), True,
        False, "0", "1", 1, [some], np.array([1]), "other", np.str_(some), 1.5,
    ])  # fmt: skip
    model = Classifier(classes)
    f, world, xi = chance.choice([model, model.predict_proba]), lt.Gaussian(), [0.1, 0.2]
    calls = [
        lambda: lt.explain(f, xi, world, 1.0, 200, 0, output=output).prediction,
        lambda: lt.limit(f, xi, world, 1.0, output=output, samples=500).prediction,
        lambda: lt.limits(f, [xi], world, 1.0, output=output, samples=99).prediction[0],
    ]
    column = column_meant(classes, output)

    def wrong(found, notes):
        if column is None:
            return "it must be refused"
        return None if np.isclose(found, (column + 1) / 10) else f"{found} is not column {column}"

    words = f"{classes}, output={output!r}"
    return Case(words, chance.choice(calls), wrong, may_refuse=column is None)


def column_meant(classes, output):
    """The class of the same value and kind; a position where no class looks like a number."""

    def kind(value):
        value = value.item() if isinstance(value, np.generic) else value
        return {bool: "truth", int: "number", float: "number"}.get(
            type(value), type(value).__name__
        )

    if isinstance(output, list | np.ndarray):
        return None
    for k, label in enumerate(classes):
        if kind(label) == kind(output) and label == output:
            return k
    positions = kind(output) == "number" and not isinstance(output, float)
    if not positions or not 0 <= output < len(classes) or classes == [True, False]:
        return None
    words = all(kind(c) == "str" and not c.replace(".", "").isdigit() for c in classes)
    return int(output) if words or kind(classes[0]) in ("bytes", "truth") else None
