"""Fitted scikit-learn models as functions of switches: sums over columns, and rules for trees.

A model reads a row of columns, and column c holds a number that depends on how many of its switches
are on (:class:`Reading`). A linear model is then a sum of switches where the number is linear in the
count, and else a sum of rules; a tree is a set of rules. :func:`presence` is the case of a model that
was fitted on switches. Chapters: images, text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exact.read_sklearn import FORESTS
from ..inputs import arguments as arg
from ..inputs.predictors import class_of, last_step, listed_classes, output_column
from .forms import Group, Rule, Switched


@dataclass(frozen=True)
class Counted:
    """A column that a model reads: what it holds when the sizes of the switches that are on sum to t.

    ``values`` maps every possible t, 0 among them, to the number in the column. A word that occurs
    three times is one switch of size 3 with ``values`` {0: 0, 3: 3}.
    """

    members: tuple[int, ...]
    sizes: tuple[int, ...]
    values: dict[int, float]


@dataclass(frozen=True)
class Reading:
    """What a counting vectoriser makes of the switches.

    ``sizes`` (d, columns) is how often each switch brings the word of a column, ``always`` (columns,)
    what a text has with every switch off, ``value`` (column, count) the number the model gets.
    """

    sizes: Any  # sparse
    always: np.ndarray
    value: Callable[[int, int], float]

    def columns(self) -> dict[int, Counted]:
        """The columns that some switch touches, and those that hold something in any case."""
        by_column = self.sizes.tocsc()
        result = {}
        for c in np.union1d(np.unique(self.sizes.tocoo().col), np.flatnonzero(self.always)):
            column = by_column[:, [c]].tocoo()
            sizes = tuple(int(s) for s in column.data)
            base = int(self.always[c])
            values = {t: self.value(int(c), base + t) for t in _sums(sizes)}
            result[int(c)] = Counted(tuple(int(j) for j in column.row), sizes, values)
        return result

    def switched(self, j: int) -> bool:
        """Whether switch j changes any column."""
        return bool(self.sizes[[j]].nnz)


def _sums(sizes: Sequence[int]) -> set[int]:
    """All sums of some of the sizes."""
    sums = {0}
    for size in sizes:
        sums |= {s + size for s in sums}
    return sums


Reader = Callable[[Any, str, Reading, int, int], "Switched | None"]
READERS: list[Reader] = []


def reader(function: Reader) -> Reader:
    """Register how a kind of model is read."""
    READERS.append(function)
    return function


def read(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """One column of what a method of a model returns, as a function of d switches; None if unknown."""
    forms = (reader(model, method, reading, d, column) for reader in READERS)
    return next((form for form in forms if form is not None), None)


def presence(model: Any, output: Any = None) -> Switched:
    """A fitted scikit-learn model of switches: its columns are the switches, 0 or 1.

    Regressors and classifiers of trees and forests (the probability of the class ``output``, the last
    if left out), linear models (``decision_function`` of a classifier) and naive Bayes (its joint
    log-likelihood). Chapter: text.

    Examples
    --------
    >>> import limetutor as lt
    >>> from limetutor import switches
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> lt.switch_limit(switches.presence(tree), lt.image_switches(2, 100.0)).coef.round(3)
    array([0.5, 0.5])
    """
    d = getattr(model, "n_features_in_", None)
    if d is None:
        raise TypeError(
            f"model must be a fitted scikit-learn estimator of switches, got {arg.shorten(model)}."
        )
    labels = listed_classes(model)
    classes = len(labels)
    if not classes and np.size(outputs := model.predict(np.zeros((1, d)))) > 1:
        raise ValueError(f"model must predict one number, got one with {np.size(outputs)} outputs.")
    column = classes - 1  # a regressor has one
    if output is not None:
        column = output_column(output, max(classes, 1), labels)
    from scipy.sparse import eye_array

    reading = Reading(eye_array(d, format="csr"), np.zeros(d), lambda _, count: float(count))
    methods = ("predict_proba", "decision_function", "predict_joint_log_proba", "predict")
    for method in methods:
        form = read(model, method, reading, d, column) if hasattr(model, method) else None
        if form is not None:
            first_of_two = method == "decision_function" and classes == 2 and column == 0
            return form.times(-1.0) if first_of_two else form
    raise TypeError(
        "model must be a tree, a forest, a linear model or a naive Bayes of scikit-learn for a form, "
        f"got {arg.shorten(model)}; pass a function of masks instead."
    )


def _weighted_sum(reading: Reading, d: int, weights: np.ndarray, constant: float) -> Switched:
    """``constant + sum_c weights_c value_c``: sums where a column is linear in its count, else rules."""
    additive, rules = np.zeros(d), []
    for c, column in reading.columns().items():
        base = column.values[0]
        constant += weights[c] * base
        totals = sorted(column.values)
        per_unit = (column.values[totals[-1]] - base) / max(totals[-1], 1)
        if all(np.isclose(column.values[t], base + per_unit * t, 1e-14, 1e-14) for t in totals):
            additive[list(column.members)] += weights[c] * per_unit * np.array(column.sizes)
            continue
        for t in (t for t in totals if column.values[t] != base):
            group = Group(column.members, column.sizes, frozenset((t,)))
            rules.append(Rule(float(weights[c] * (column.values[t] - base)), (group,)))
    return Switched(float(constant), additive, tuple(rules))


@reader
def _linear(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """``decision_function`` and ``predict`` of linear models."""
    regressor = method == "predict" and not hasattr(model, "classes_")
    known = class_of(model) and hasattr(model, "coef_")
    if not known or not (method == "decision_function" or regressor):
        return None
    coef = np.atleast_2d(np.asarray(model.coef_, float))
    row = column if len(coef) > 1 else 0
    intercept = np.broadcast_to(np.ravel(model.intercept_), len(coef))[row]
    return _weighted_sum(reading, d, coef[row], float(intercept))


@reader
def _naive_bayes(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """The joint log-likelihood, a sum over words; a BernoulliNB also counts absent ones."""
    kind = class_of(model)
    if method != "predict_joint_log_proba" or kind not in ("MultinomialNB", "BernoulliNB"):
        return None
    log_p = model.feature_log_prob_[column]
    constant = float(model.class_log_prior_[column])
    if kind == "MultinomialNB":
        return _weighted_sum(reading, d, log_p, constant)
    absent = np.log1p(-np.exp(log_p))
    threshold = model.binarize

    def present(c: int, count: int) -> float:
        number = reading.value(c, count)
        return number if threshold is None else float(number > threshold)

    of_presence = Reading(reading.sizes, reading.always, present)
    return _weighted_sum(of_presence, d, log_p - absent, constant + float(absent.sum()))


@reader
def _trees(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """Probabilities of trees and forests, the mean of their leaves; or predictions of regressors."""
    trees = [t for t in np.ravel(getattr(model, "estimators_", [model])) if hasattr(t, "tree_")]
    classes = hasattr(model, "classes_")
    if not (
        class_of(model) in FORESTS
        and trees
        and method == ("predict_proba" if classes else "predict")
    ):
        return None
    columns, rules = reading.columns(), []
    for tree in (t.tree_ for t in trees):
        values = tree.value[:, 0, :]
        leaf = values[:, column] / values.sum(axis=1) if classes else values[:, 0]
        rules += [Rule(r.value / len(trees), r.groups) for r in tree_rules(tree, columns, leaf)]
    return Switched(0.0, np.zeros(d), tuple(rules))


def tree_rules(tree: Any, columns: dict[int, Counted], leaf_values: np.ndarray) -> list[Rule]:
    """The leaves of a scikit-learn tree as rules; columns without a switch hold 0.

    ``leaf_values`` (nodes,) are what the leaves predict. Branches that no mask reaches are left out.
    """
    rules: list[Rule] = []

    def descend(node: int, allowed: dict[int, frozenset[int]]) -> None:
        if tree.children_left[node] < 0:
            groups = tuple(
                Group(columns[c].members, columns[c].sizes, totals) for c, totals in allowed.items()
            )
            rules.append(Rule(float(leaf_values[node]), groups))
            return
        column, threshold = int(tree.feature[node]), tree.threshold[node]
        sides = ((tree.children_left[node], True), (tree.children_right[node], False))
        for child, below in sides:
            if column not in columns:
                if (threshold >= 0) == below:
                    descend(child, allowed)
                continue
            values = columns[column].values
            before = allowed.get(column, frozenset(values))
            # scikit-learn compares numbers rounded to single precision
            after = frozenset(t for t in before if (np.float32(values[t]) <= threshold) == below)
            if after == frozenset(values):
                descend(child, {c: a for c, a in allowed.items() if c != column})
            elif after:
                descend(child, allowed | {column: after})

    descend(0, {})
    return rules


@dataclass(frozen=True, eq=False)
class Score:
    """A method of the last step of a pipeline, as a function of what the pipeline takes."""

    model: Any
    method: str

    def __call__(self, inputs: Any) -> Any:
        """What the method returns."""
        if hasattr(self.model, "steps"):
            inputs = self.model[:-1].transform(inputs)
        return getattr(last_step(self.model), self.method)(inputs)


def score_of(model: Any, method: str) -> Score:
    """A method of a pipeline's last step that the pipeline itself does not pass on.

    ``score_of(pipeline, "predict_joint_log_proba")`` is naive Bayes' joint log-likelihood, one column
    per class, which adds up over words where its probabilities do not. Chapter: text.
    """
    last = last_step(model)
    if not isinstance(method, str) or not callable(getattr(last, method, None)):
        raise ValueError(
            f"method must be one that {type(last).__name__} has, such as 'predict_joint_log_proba', "
            f"got {arg.shorten(method)}."
        )
    return Score(model, method)
