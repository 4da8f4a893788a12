"""The problem of every row of a table: checked once, and what was computed of f is handed on."""

import numpy as np
import pytest
from mixed_rows import FORMS, FRAME, TABLE, WORLDS, Y
from sklearn.linear_model import Ridge

import limetutor as lt
from limetutor.many.problems import Problems


def test_what_was_computed_of_f_is_handed_on_to_parts_and_other_bandwidths():
    calls = []

    def f(x):
        calls.append(len(x))
        return x[:, 0]

    question = Problems.of(f, TABLE, WORLDS["empirical"], 1.0, "gaussian", None, "its limit")
    assert question.form is None and question.predictions.tolist() == TABLE["size"].tolist()
    part = question.at(2.0).rows(slice(2, 5))
    assert part.nu == 2.0 and list(part.index) == ["row 2", "row 3", "row 4"]
    np.testing.assert_array_equal(part.predictions, question.predictions[2:5])
    assert part.problem(1, prediction=7.0, form=None).prediction == 7.0
    assert calls == [9]
    assert part.problem(1).prediction == question.predictions[3] and calls == [9, 1]


def test_what_is_not_what_it_says_is_refused():
    model = FORMS["forest"]
    wrong = Ridge().fit(FRAME, Y)
    wrong.predict = lambda x: np.zeros(len(x))
    found = lt.limits(wrong, TABLE, WORLDS["empirical"], 1.0)
    assert set(found.method) == {"monte carlo"} and not np.any(found.coef)
    with pytest.raises(ValueError, match="n must be 1 or more with ridge"):
        lt.limits(model, TABLE, WORLDS["empirical"], 1.0, ridge=1.0)
    with pytest.raises(ValueError, match="X must be a table"):
        lt.limits(model, TABLE.iloc[0].to_numpy(), WORLDS["empirical"], 1.0)
    with pytest.raises(ValueError, match="factor"):
        lt.limits(model, TABLE, WORLDS["empirical"], 1.0, "cosine")
