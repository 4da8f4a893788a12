"""What an explainer, a model and a row call columns and classes: the same, or refused."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from lime.lime_tabular import LimeTabularExplainer
from lime.lime_text import LimeTextExplainer
from sentences import one_sentence
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import limetutor as lt
from limetutor.lime.columns_and_classes import label_column, output_of

RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
MODEL = LinearRegression().fit(FRAME, X @ [1.0, 5.0, -3.0])
CLASS = np.digitize(X[:, 0], [-0.5, 0.5])
SHORT = {"calls": 500, "runs": 10}


def explainer(**options):
    return LimeTabularExplainer(X, random_state=0, **({"mode": "regression"} | options))


def test_an_explainer_in_another_order_than_the_model_is_refused():
    """lime hands over arrays: the model would take one column for another."""
    turned = LimeTabularExplainer(
        X[:, [2, 0, 1]], feature_names=["c", "a", "b"], mode="regression", random_state=0
    )
    for call in (
        lambda: lt.predict_lime(turned, MODEL, X[3, [2, 0, 1]], **SHORT),
        lambda: lt.predict_lime(turned, MODEL.predict, X[3, [2, 0, 1]], **SHORT),
        lambda: lt.audit(turned, MODEL, X[3, [2, 0, 1]], n=500),
    ):
        one_sentence(call, "explainer must have its features in the order of the columns of f")
    by_function = lt.predict_lime(
        turned, lambda x: MODEL.predict(FRAME[:0]._constructor(x[:, [1, 2, 0]], columns=["a", "b", "c"])),
        X[3, [2, 0, 1]], **SHORT,
    )  # fmt: skip
    assert by_function.prediction == pytest.approx(X[3] @ [1.0, 5.0, -3.0])
    # the world of the explainer goes by names
    found = lt.limit(MODEL, FRAME.iloc[3], lt.from_lime(turned), 1.0, "mismatch")
    assert found.prediction == pytest.approx(X[3] @ [1.0, 5.0, -3.0])


def test_an_explainer_may_call_its_features_otherwise_but_not_rows_in_another_order():
    truth = X[3] @ [1.0, 5.0, -3.0]
    for names in (None, ["Age", "Body mass", "Cost"]):
        found = lt.predict_lime(explainer(feature_names=names), MODEL, X[3], **SHORT)
        assert found.prediction == pytest.approx(truth)
    found = lt.predict_lime(explainer(), MODEL, FRAME.iloc[3], **SHORT)
    assert found.prediction == pytest.approx(truth)
    turned = FRAME[["c", "a", "b"]].iloc[3]
    for call in (
        lambda: lt.predict_lime(explainer(), MODEL, turned, **SHORT),
        lambda: lt.audit(explainer(), MODEL, turned, n=500),
    ):
        one_sentence(call, "explainer must have feature_names", "another order")
    mixed = partial(lt.predict_lime, explainer(feature_names=["Age", "c", "Cost"]), MODEL, X[3])
    one_sentence(partial(mixed, **SHORT), "explainer must have its features")


def test_columns_are_numbers_from_0_and_names_of_classes():
    names = ["bad", "fair", "good"]
    assert [label_column(k, names, 3) for k in (None, 0, 2, "good", np.int64(1))] == [1, 0, 2, 2, 1]
    for label in (-1, 3, "ugly", 1.0, True, "1"):
        one_sentence(partial(label_column, label, names, 3), "label must be a column from 0 to 2")
    for label in (-1, "1"):
        one_sentence(partial(label_column, label, None, None), "label must be a column from 0 on")
    forest = RandomForestClassifier(5, random_state=0).fit(X, CLASS)
    world = lt.from_lime(explainer(mode="classification"))
    for call in (
        lambda: lt.predict_lime(explainer(mode="classification"), forest, X[3], label=-1, **SHORT),
        lambda: lt.audit(explainer(mode="classification"), forest, X[3], label=-1, n=500),
        lambda: lt.path(forest, X[3], world, label=-1),
        lambda: output_of(forest, -1, None, True, None),
    ):
        one_sentence(call, "label must be a column from 0 to 2", "got -1")
    ask = lambda: lt.explain(forest, X[3], world, 1.0, output=-1)  # noqa: E731
    one_sentence(ask, "output must be a class of [0, 1, 2]")


@pytest.mark.parametrize(
    ("classes", "names", "asked"),
    [
        ([2, 0, 1], [2, 0, 1], "0"),
        (["b", "a", "c"], ["b", "a", "c"], "a"),
        (None, ["1", "2", "0"], "1"),
    ],
)
def test_names_of_classes_in_another_order_than_those_of_the_model_are_refused(
    classes, names, asked
):
    """scikit-learn sorts its classes; names as they came to mind are of other columns."""
    labels = CLASS if classes is None else np.array(classes)[CLASS]
    forest = RandomForestClassifier(5, random_state=0).fit(X, labels)
    wrong = explainer(mode="classification", class_names=names)
    world = lt.from_lime(wrong)
    for call in (
        lambda: lt.predict_lime(wrong, forest, X[3], label=asked, **SHORT),
        lambda: lt.audit(wrong, forest, X[3], label=asked, n=500),
        lambda: lt.explain(forest, X[3], world, 1.0, output=asked),
        lambda: lt.limit(forest.predict_proba, X[3], world, 1.0, output=asked),
        lambda: lt.path(forest, X[3], world, label=asked),
    ):
        one_sentence(call, "explainer must have its class_names in the order of the classes of f")
    found = lt.predict_lime(wrong, forest, X[3], label=2, **SHORT)  # a column is a column
    assert found.prediction == forest.predict_proba(X[[3]])[0, 2]
    right = explainer(mode="classification", class_names=list(forest.classes_))
    found = lt.predict_lime(right, forest, X[3], label=asked, **SHORT)
    column = [str(c) for c in forest.classes_].index(asked)
    assert found.prediction == forest.predict_proba(X[[3]])[0, column]


def test_a_class_name_that_comes_twice_is_refused():
    forest = RandomForestClassifier(5, random_state=0).fit(X, CLASS)
    twice = explainer(mode="classification", class_names=["low", "high", "low"])
    ask = partial(lt.predict_lime, twice, forest, X[3], label="low", **SHORT)
    one_sentence(ask, "different class_names", "'low'")
    ask = partial(lt.explain, forest, X[3], lt.from_lime(twice), 1.0, output="low")
    one_sentence(ask, "different class_names")


def test_classes_of_texts_are_matched_too():
    texts = ["a good film", "good music", "bad plot", "a bad end"]
    labels = ["up", "up", "down", "down"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    right, wrong = (
        LimeTextExplainer(class_names=n, random_state=0) for n in (["down", "up"], ["up", "down"])
    )
    found = lt.predict_lime(right, model.predict_proba, "a good plot", label="up")
    assert found.prediction == pytest.approx(model.predict_proba(["a good plot"])[0, 1])
    call = lambda: lt.predict_lime(wrong, model.predict_proba, "a good plot", label="up")  # noqa: E731
    one_sentence(call, "explainer must have its class_names in the order")
