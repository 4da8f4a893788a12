"""Distances from the data, and columns that exclude each other."""

import numpy as np
import pandas as pd
import pytest
from lime.lime_tabular import LimeTabularExplainer

import limetutor as lt
from limetutor.auditing.training_data import TrainingData


def test_distances_of_labels_and_numbers():
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3], "e": ["u", "u", "v", "v"], "k": [5.0] * 4})
    around = TrainingData.of(frame, lt.Empirical(frame, p=2, categorical=["e"]).boxes())
    points = around.points
    sd = np.std([0, 1, 2, 3])
    assert np.linalg.norm(points[0] - points[1]) == pytest.approx(1 / sd)
    assert np.linalg.norm(points[1] - points[2]) == pytest.approx(np.hypot(1 / sd, 1))
    with pytest.raises(ValueError, match="data must"):
        TrainingData.of(frame.iloc[:1], around.boxes)
    with pytest.raises(ValueError, match="data must be finite"):
        TrainingData.of(frame.assign(a=np.nan), around.boxes)


def test_numbers_that_may_be_missing_are_as_far_apart_as_labels():
    frame = pd.DataFrame({"a": [0.0, 0.1, 2, 3, np.nan], "b": [0.0, 1, 2, 3, 4]})
    around = TrainingData.of(frame, lt.Empirical(frame, p=2).boxes())
    sd = np.std(range(5))
    apart = np.linalg.norm(around.points[:, None] - around.points, axis=2)
    assert apart[0, 1] == pytest.approx(1 / sd)  # in one box
    assert apart[1, 2] == pytest.approx(np.hypot(1 / sd, 1))
    assert apart[3, 4] == pytest.approx(np.hypot(1 / sd, 1))  # to be missing is a label


def test_groups_of_which_one_is_one():
    codes = np.arange(60) % 3
    table = np.column_stack([np.linspace(0, 1, 60), np.eye(3)[codes], codes % 2, 1 - codes % 2])
    around = TrainingData.of(table, lt.Empirical(table).boxes())
    assert [group.tolist() for group in around.one_hot] == [[1, 2, 3], [4, 5]]
    rows = np.array(
        [[0, 1, 0, 0, 1, 0], [0, 1, 1, 0, 1, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 1, 1]]
    )
    assert around.impossible(rows.astype(float)).tolist() == [False, True, True, True]


def test_groups_are_found_wherever_their_columns_stand():
    rng = np.random.default_rng(0)
    hot, other = np.eye(4)[np.arange(400) % 4], np.eye(3)[rng.integers(0, 3, 400)]
    free = rng.integers(0, 2, 400)  # of its own, beside any of them
    table = np.column_stack(
        [hot[:, 2], other[:, 1], hot[:, 0], free, hot[:, 3], hot[:, 1], other[:, 2]]
    )
    for declared in ([], [0, 1, 2, 4, 5, 6]):
        around = TrainingData.of(table, lt.Empirical(table, categorical=declared).boxes())
        assert [group.tolist() for group in around.one_hot] == [[0, 2, 4, 5]]
        # one category has no column
        assert [group.tolist() for group in around.exclusive] == [[1, 6]]
        assert not np.any(around.impossible(around.table))
        rows = np.array(
            [[1, 1, 0, 1, 0, 0, 1], [1, 0, 0, 1, 0, 0, 0], [1, 0, 1, 0, 0, 0, 0]], float
        )
        assert around.impossible(rows).tolist() == [True, False, True]


def test_columns_that_rarely_are_one_do_not_exclude_each_other():
    rare = np.zeros((400, 2))
    rare[:30, 0], rare[50:90, 1] = 1, 1  # by chance together in three rows
    around = TrainingData.of(rare, lt.Empirical(rare, categorical=[0, 1]).boxes())
    assert around.one_hot == [] and around.exclusive == []


def test_a_code_with_names_is_no_dummy():
    codes = np.arange(200) % 2
    table = np.column_stack([codes, 1 - codes, np.linspace(0, 1, 200)])
    ex = LimeTabularExplainer(
        table, categorical_features=[0, 1], categorical_names={0: ["f", "m"], 1: ["no", "yes"]}
    )
    assert TrainingData.of(table, lt.from_lime(ex).boxes()).one_hot == []
