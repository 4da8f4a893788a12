"""The case of a text: words without effect, and words that are one."""

import numpy as np
from lime.lime_text import LimeTextExplainer

import limetutor as lt


def test_words_without_effect_and_words_that_are_one():
    def f(texts):
        p = [0.1 + 0.2 * ("good" in t.lower().split()) + 0.1 * ("bad" in t.split()) for t in texts]
        return np.column_stack([1 - np.array(p), p])

    case = lt.audit(LimeTextExplainer(random_state=0), f, "Good good bad zebra").case
    assert case.name(case.silent) == ("zebra",)
    assert [case.name(np.isin(range(4), group)) for group in case.same] == [("Good", "good")]
    alone = dict(zip(case.names, case.alone, strict=True))
    assert np.isclose(alone["bad"], 0.1) and alone["good"] == alone["zebra"] == 0
    assert case.top == np.abs(case.coef).max() and case.without_model().problem is None
