"""A text as `lime` takes it apart, and what a scikit-learn pipeline makes of its words.

`lime` splits a text into tokens, each a switch (with ``bow=True`` one switch for all occurrences of a
token), and a switch that is off takes the token out, or puts a placeholder in its place. A vectoriser
that counts words sees sums over switches: column c holds sum_j size_jc z_j, where size_jc is how often
switch j brings the word of column c. From there a linear model is a sum of switches, and a tree is a
set of rules; :func:`form_of` writes both down. Chapter: text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import arguments as arg
from .forms import Counted, Group, Rule, Switched, tree_rules
from .sampling import draw
from .switches import text_switches

PROBES = 64  # random masks on which the counts of a text must be the sums over its switches


@dataclass(frozen=True, eq=False)
class TextSwitches:
    """The switches of a text: ``names`` are the tokens, in `lime`'s order."""

    indexed: Any  # lime's own IndexedString or IndexedCharacters

    @property
    def d(self) -> int:
        """How many switches there are."""
        return int(self.indexed.num_words())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The tokens."""
        return tuple(str(self.indexed.word(j)) for j in range(self.d))

    def compose(self, z: np.ndarray) -> list[str]:
        """The texts that masks (n, d) stand for, as `lime` writes them."""
        return [self.indexed.inverse_removing(np.flatnonzero(~row)) for row in np.asarray(z, bool)]


def switches_of(explainer: Any, text: Any) -> TextSwitches:
    """The switches that a ``lime.lime_text.LimeTextExplainer`` makes of a text."""
    from lime.lime_text import IndexedCharacters, IndexedString

    if not isinstance(text, str):
        raise TypeError(
            f"instance must be a text for a LimeTextExplainer, got {arg.shorten(text)}."
        )
    if explainer.char_level:
        indexed = IndexedCharacters(text, bow=explainer.bow, mask_string=explainer.mask_string)
    else:
        indexed = IndexedString(
            text,
            bow=explainer.bow,
            split_expression=explainer.split_expression,
            mask_string=explainer.mask_string,
        )
    if indexed.num_words() == 0:
        raise ValueError(
            f"instance must hold at least one word for lime to switch off, got {arg.shorten(text)}."
        )
    return TextSwitches(indexed)


# --- what a pipeline reads ---------------------------------------------------------------------


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


def reading_of(vectoriser: Any, tfidf: Any, text: TextSwitches) -> Reading | None:
    """How a vectoriser (and a TfidfTransformer behind it) reads a text; None where it is no sum.

    The counts are the vectoriser's own. They are taken to be sums over switches where that holds
    with no switch on, with each alone, with all, and on random masks; word pairs and characters
    around a gap, say, fail it. Rows that are normalised are no sums either.
    """
    weigh = _weighing(vectoriser, tfidf)
    if weigh is None:
        return None
    d = text.d
    probes = draw(text_switches(d, 1.0), PROBES, np.random.default_rng(0))
    masks = np.vstack(
        [np.zeros((1, d), bool), np.eye(d, dtype=bool), np.ones((1, d), bool), probes]
    )
    counts = _counts(vectoriser, text.compose(masks)).tocsr()
    always = np.asarray(counts[[0]].todense()).ravel()
    sizes = counts[1 : d + 1] - _repeated(counts[[0]], d)
    if sizes.nnz and sizes.data.min() < 0:
        return None
    from scipy.sparse import csr_matrix

    sums = csr_matrix(masks.astype(float)) @ sizes + _repeated(counts[[0]], len(masks))
    if abs(sums - counts).max() > 0:
        return None
    sizes.eliminate_zeros()
    return Reading(sizes, always, weigh)


def _repeated(row: Any, times: int) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix(np.ones((times, 1))) @ row


def _counts(vectoriser: Any, texts: list[str]) -> Any:
    """Plain counts: what a CountVectorizer of the same words gives."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer.transform(_plain(vectoriser), texts)


def _plain(vectoriser: Any) -> Any:
    """The same vectoriser without ``binary``, which is applied to the sums."""
    from copy import copy

    plain = copy(vectoriser)
    plain.binary = False
    return plain


def _weighing(vectoriser: Any, tfidf: Any) -> Callable[[int, int], float] | None:
    """From a count to the number that the model gets, for vectorisers that only count and scale."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

    if type(vectoriser) is TfidfVectorizer and tfidf is None:
        scale = vectoriser._tfidf if hasattr(vectoriser, "_tfidf") else None
    elif type(vectoriser) is CountVectorizer and (tfidf is None or type(tfidf) is TfidfTransformer):
        scale = tfidf
    else:
        return None
    if scale is not None and scale.norm is not None:
        return None
    idf = getattr(scale, "idf_", None) if scale is not None and scale.use_idf else None

    def value(column: int, count: int) -> float:
        number = float(count > 0) if vectoriser.binary else float(count)
        if scale is not None and scale.sublinear_tf and number:
            number = 1 + np.log(number)
        return float(number * idf[column]) if idf is not None else number

    return value


# --- forms -------------------------------------------------------------------------------------


def form_of(f: Any, text: TextSwitches, column: int) -> Switched | None:
    """What f, a pipeline or one of its methods, is as a function of the switches; None if unknown.

    Known are sums over columns (``decision_function`` of linear models, the joint log-likelihood of
    naive Bayes) and probabilities of trees and forests. ``column`` is the column of the output.
    """
    pipeline, method = getattr(f, "__self__", f), getattr(f, "__name__", "predict_proba")
    steps = [step for _, step in getattr(pipeline, "steps", [])]
    if len(steps) not in (2, 3):
        return None
    reading = reading_of(steps[0], steps[1] if len(steps) == 3 else None, text)
    if reading is None:
        return None
    model = steps[-1]
    for read in READERS:
        made = read(model, method, reading, text.d, column)
        if made is not None:
            return made
    return None


Reader = Callable[[Any, str, Reading, int, int], "Switched | None"]
READERS: list[Reader] = []


def reader(function: Reader) -> Reader:
    """Register how a kind of model is read."""
    READERS.append(function)
    return function


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
