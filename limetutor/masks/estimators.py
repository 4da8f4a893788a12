"""Estimators as functions of switches: sums over columns, and rules for trees.

What an estimator reads is a row of columns, and column c holds a number that depends on how many of
its switches are on (:class:`Reading`). A linear model is then a sum of switches where the number is
linear in the count, and else a sum of rules; a tree is a set of rules. :func:`presence` is the case of
a model that was fitted on switches. Chapters: images, text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import arguments as arg
from ..models import listed_classes
from .forms import Counted, Group, Rule, Switched, tree_rules


@dataclass(frozen=True)
class Reading:
    """What a counting vectoriser sees of the switches.

    ``sizes`` (d, columns) is how often each switch brings the word of a column, ``always`` (columns,)
    what a text has with every switch off, ``value`` (column, count) the number the model gets.
    """

    sizes: Any  # sparse
    always: np.ndarray
    value: Callable[[int, int], float]

    def columns(self) -> dict[int, Counted]:
        """The columns that some switch touches, and those that hold something in any case."""
        by_column = self.sizes.tocsc()
        found = {}
        for c in np.union1d(np.unique(self.sizes.tocoo().col), np.flatnonzero(self.always)):
            column = by_column[:, [c]].tocoo()
            sizes = tuple(int(s) for s in column.data)
            base = int(self.always[c])
            values = {t: self.value(int(c), base + t) for t in _sums(sizes)}
            found[int(c)] = Counted(tuple(int(j) for j in column.row), sizes, values)
        return found

    def switched(self, j: int) -> bool:
        """Whether switch j changes any column."""
        return bool(self.sizes[[j]].nnz)


def _sums(sizes: Sequence[int]) -> set[int]:
    """All sums of some of the sizes."""
    sums = {0}
    for size in sizes:
        sums |= {s + size for s in sums}
    return sums


# --- which estimator is which ------------------------------------------------------------------

Reader = Callable[[Any, str, Reading, int, int], "Switched | None"]
READERS: list[Reader] = []


def reader(function: Reader) -> Reader:
    """Register how a kind of model is read."""
    READERS.append(function)
    return function


def read(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """One column of what a method of a model returns, as a function of d switches; None if unknown."""
    found = (reader(model, method, reading, d, column) for reader in READERS)
    return next((form for form in found if form is not None), None)


def presence(model: Any, output: int | None = None) -> Switched:
    """A fitted scikit-learn model of switches: its columns are the switches, 0 or 1.

    Regressors and classifiers of trees and forests (the probability of column ``output``, the last
    if left out), linear models (``decision_function`` of a classifier) and naive Bayes (its joint
    log-likelihood). Chapter: text.

    Examples
    --------
    >>> import limetutor as lt
    >>> from limetutor import masks
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> lt.switch_limit(masks.presence(tree), lt.image_switches(2, 100.0)).coef.round(3)
    array([0.5, 0.5])
    """
    d = getattr(model, "n_features_in_", None)
    if d is None:
        raise TypeError(
            f"model must be a fitted scikit-learn estimator of switches, got {arg.shorten(model)}."
        )
    classes = len(listed_classes(model))
    last = max(classes - 1, 0)
    column = last if output is None else arg.whole("output", output, 0, most=last)
    from scipy.sparse import eye_array

    reading = Reading(eye_array(d, format="csr"), np.zeros(d), lambda _, count: float(count))
    methods = ("predict_proba", "decision_function", "predict_joint_log_proba", "predict")
    for method in methods:
        form = read(model, method, reading, d, column) if hasattr(model, method) else None
        if form is not None:
            one = method == "decision_function" and classes == 2 and column == 0
            return form.times(-1.0) if one else form
    raise TypeError(
        "model must be a tree, a forest, a linear model or a naive Bayes of scikit-learn for a form, "
        f"got {arg.shorten(model)}; pass a function of masks instead."
    )


def _added(reading: Reading, d: int, weights: np.ndarray, constant: float) -> Switched:
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
        rules += [
            Rule(
                float(weights[c] * (column.values[t] - base)),
                (Group(column.members, column.sizes, frozenset((t,))),),
            )
            for t in totals
            if column.values[t] != base
        ]
    return Switched(float(constant), additive, tuple(rules))


@reader
def _linear(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """``decision_function`` and ``predict`` of linear models."""
    regressor = method == "predict" and not hasattr(model, "classes_")
    if not hasattr(model, "coef_") or not (method == "decision_function" or regressor):
        return None
    coef = np.atleast_2d(np.asarray(model.coef_, float))
    row = column if len(coef) > 1 else 0
    intercept = np.broadcast_to(np.ravel(model.intercept_), len(coef))[row]
    return _added(reading, d, coef[row], float(intercept))


@reader
def _naive_bayes(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """The joint log-likelihood, a sum over words; a BernoulliNB also counts absent ones."""
    kind = type(model).__name__
    if method != "predict_joint_log_proba" or kind not in ("MultinomialNB", "BernoulliNB"):
        return None
    log_p = model.feature_log_prob_[column]
    constant = float(model.class_log_prior_[column])
    if kind == "MultinomialNB":
        return _added(reading, d, log_p, constant)
    absent = np.log1p(-np.exp(log_p))
    threshold = model.binarize

    def present(c: int, count: int) -> float:
        number = reading.value(c, count)
        return number if threshold is None else float(number > threshold)

    seen = Reading(reading.sizes, reading.always, present)
    return _added(seen, d, log_p - absent, constant + float(absent.sum()))


@reader
def _trees(model: Any, method: str, reading: Reading, d: int, column: int) -> Switched | None:
    """Probabilities of trees and forests, the mean of their leaves; or predictions of regressors."""
    trees = [t for t in np.ravel(getattr(model, "estimators_", [model])) if hasattr(t, "tree_")]
    mean = type(model).__name__ in (
        "DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier",
        "ExtraTreesClassifier", "DecisionTreeRegressor", "ExtraTreeRegressor",
        "RandomForestRegressor", "ExtraTreesRegressor",
    )  # fmt: skip
    classes = hasattr(model, "classes_")
    if not (mean and trees and method == ("predict_proba" if classes else "predict")):
        return None
    columns, rules = reading.columns(), []
    for tree in (t.tree_ for t in trees):
        values = tree.value[:, 0, :]
        leaf = values[:, column] / values.sum(axis=1) if classes else values[:, 0]
        rules += [Rule(r.value / len(trees), r.groups) for r in tree_rules(tree, columns, leaf)]
    return Switched(0.0, np.zeros(d), tuple(rules))
