"""What results of many rows have in common: rows by label or position, frames, pickles without the model."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from mixed_rows import FORMS, FRAME, TABLE, WORLDS

import limetutor as lt
from limetutor.many.row_results import row_position


def test_a_row_of_limits_is_a_limit():
    found = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    assert len(found) == 9 and isinstance(found[3], lt.Limit)
    np.testing.assert_allclose(found[3].coef, found.coef[3], atol=1e-10)
    np.testing.assert_allclose(found[-1].coef, found.coef[8], atol=1e-10)
    np.testing.assert_allclose([limit.intercept for limit in found], found.intercept)
    assert "9 rows, 4 features" in repr(found) and "exact" in repr(found)
    with pytest.raises(IndexError, match="between 0 and 8"):
        found[9]
    np.testing.assert_array_equal(found["row 3"].coef, found[3].coef)
    with pytest.raises(IndexError, match="no row has"):
        found["row 9"]


LETTERS, ODD = ["a", "b", "c"], [7, 5, 6]


@pytest.mark.parametrize(
    ("index", "i", "found"),
    [
        (None, 1, 1), (None, -1, 2), ([0, 1, 2], -1, 2), (ODD, 5, 1), ([2, 0, 1], 2, 0),
        ([1, 2, 3], 3, 2), (LETTERS, "c", 2), (LETTERS, -3, 0), ([0.5, 1.5, 2.5], 1.5, 1),
        ([("a", 1), ("a", 2), ("b", 1)], ("a", 2), 1), (None, 3, "between 0 and 2"),
        (None, "a", "position"), (ODD, 0, "no row has"), (ODD, -1, "no row has"),
        (["a", "b", "b"], "b", "2 rows have"), (ODD, [7], "no row"), (ODD, np.arange(3), "no row"),
        ([1, 2, 3], True, "no row"),
    ],
)  # fmt: skip
def test_labels_beat_positions(index, i, found):
    index = None if index is None else pd.Index(index)
    if isinstance(found, int):
        assert row_position(i, 3, index) == found
        return
    with pytest.raises((IndexError, TypeError), match=found):
        row_position(i, 3, index)


def test_a_frame_of_limits_has_the_index_of_the_table():
    frame = lt.limits(FORMS["linear"], TABLE, WORLDS["empirical"], 1.0).to_frame()
    assert list(frame.index) == list(TABLE.index) and list(frame) == list(FRAME)
    plain = lt.limits(lt.Linear([1.0, 2.0]), [[0.1, 0.2]], lt.Gaussian(), 1.0).to_frame()
    assert list(plain.index) == [0] and list(plain) == ["x1", "x2"]


def test_results_of_many_rows_travel_without_the_model():
    forest, world = FORMS["forest"], WORLDS["empirical"]
    many_limits = lt.limits(forest, TABLE, world, 1.5, "mismatch")
    explained = lt.explain_many(forest, TABLE, world, 1.5, 500, 0, kernel="mismatch")
    tree = forest.estimators_[0].tree_.value.tobytes()
    for found in (many_limits, explained):
        found[3]  # the form of the model is found on the way
        data = pickle.dumps(found)
        assert b"sklearn" not in data and tree not in data
        assert world.table[:, 0].tobytes() not in data
        back = pickle.loads(data)
        assert repr(back) == repr(found) and back.names == found.names
        pd.testing.assert_frame_equal(back.to_frame(), found.to_frame())
        np.testing.assert_array_equal(back.local_prediction, found.local_prediction)
        for again in (copy.copy(found), copy.deepcopy(found)):
            assert (
                again.question is found.question
                and again[3].coef.tolist() == found[3].coef.tolist()
            )
    back = pickle.loads(pickle.dumps(explained))
    assert back[3].to_dict() == explained[3].to_dict()
    back = pickle.loads(pickle.dumps(many_limits))
    with pytest.raises(ValueError, match="leaves the model out"):
        back[3]


def test_a_form_of_the_book_goes_along():
    found = lt.limits(FORMS["quadratic"], TABLE, WORLDS["gaussian"], 1.5)
    back = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(back[3].coef, found[3].coef)
