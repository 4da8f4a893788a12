"""What runs have in common, from pools that are small enough to look at."""

import numpy as np
import pytest
from lime.lime_text import LimeTextExplainer

import limetutor as lt
from limetutor.lime_runs import Asked, one_label


def always_the_first(texts):
    p = np.array([float("alpha" in t) for t in texts])
    return np.column_stack([1 - p, p])


def test_a_word_that_decides_is_always_chosen():
    explainer = LimeTextExplainer(random_state=0)
    found = lt.predict_lime(explainer, always_the_first, "alpha beta gamma delta", num_features=1)
    assert found.sets == [((0,), 1.0)] and found.selection[0] > 0.99
    assert found.as_list()[0][0] == "alpha" and found.as_map()[1][0][0] == 0
    assert found.order()[0] == 0 and "alpha" in repr(found) and "alpha" in found._repr_html_()


def test_numbers_of_lime_and_fewer_runs_for_many_features():
    few, many = (Asked.of(10, 5000, None, None, 0, d) for d in (10, 2000))
    assert few.runs == 400 and many.runs == 20
    assert Asked.of(10, 5000, None, 7, 0, 2000).runs == 7


def test_one_label():
    assert one_label(None, (3,)) == 3 and one_label(2, None) == 2 and one_label(None, 4) == 4
    with pytest.raises(ValueError, match="labels must hold one label"):
        one_label(1, (1,))
