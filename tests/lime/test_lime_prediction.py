"""The result: what it lists and how it is displayed."""

import numpy as np
from lime.lime_text import LimeTextExplainer

import limetutor as lt


def always_the_first(texts):
    p = np.array([float("alpha" in t) for t in texts])
    return np.column_stack([1 - p, p])


def test_a_word_that_decides_is_always_chosen():
    explainer = LimeTextExplainer(random_state=0)
    found = lt.predict_lime(explainer, always_the_first, "alpha beta gamma delta", num_features=1)
    assert found.sets == [((0,), 1.0)] and found.selection[0] > 0.99
    assert found.as_list()[0][0] == "alpha" and found.as_map()[1][0][0] == 0
    assert found.order()[0] == 0 and "alpha" in repr(found) and "alpha" in found._repr_html_()


def test_names_are_escaped_on_a_page():
    explainer = LimeTextExplainer(split_expression=str.split, random_state=0)
    prediction = lt.predict_lime(explainer, always_the_first, "alpha <script>&", num_features=2)
    html = prediction._repr_html_()
    assert "&lt;script&gt;&amp;" in html and "<script>" not in html
