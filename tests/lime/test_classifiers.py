"""A classifier of texts in every form it may come in."""

import numpy as np
from lime.lime_text import LimeTextExplainer
from passages import SHORT, pipelines, probability

import limetutor as lt


def test_a_classifier_may_come_in_many_ways():
    explainer = LimeTextExplainer(class_names=["other", "medical"], random_state=0)
    forest, linear = pipelines()["forest"], pipelines()["linear"]
    same = [
        lt.predict_lime(explainer, f, SHORT, calls=500, **how).coef
        for f in (forest, forest.predict_proba)
        for how in ({}, {"label": 1}, {"label": "medical"}, {"labels": (1,)}, {"labels": [1]})
    ]
    assert all(np.array_equal(coef, same[0]) for coef in same)
    score = lt.predict_lime(explainer, linear.decision_function, SHORT, label=1)
    other = lt.predict_lime(explainer, linear.decision_function, SHORT, label=0)
    margin = lt.predict_lime(explainer, lt.margin(linear, True), SHORT)
    assert np.allclose(score.coef, -other.coef) and np.allclose(score.coef, margin.coef)
    assert score.method == margin.method == "exact" and margin.label is None
    top = lt.predict_lime(explainer, forest, SHORT, top_labels=1)
    assert top.label == int(np.argmax(forest.predict_proba([SHORT])[0]))
    assert lt.predict_lime(explainer, forest, SHORT, label=0, top_labels=2).label == 0


def one_column(texts):
    return probability(texts)[:, 1:]


def test_one_column():
    explainer = LimeTextExplainer(random_state=0)
    expected = lt.predict_lime(explainer, probability, SHORT, label=1, num_features=20)
    for f in (one_column, lambda t: one_column(t)[:, 0], lambda t: list(one_column(t)[:, 0])):
        found = lt.predict_lime(explainer, f, SHORT, num_features=20)
        assert np.allclose(found.coef, expected.coef) and found.label is None
