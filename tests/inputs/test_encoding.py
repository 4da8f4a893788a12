"""Instances as numbers: by name, in any form and order, or refused in one sentence."""

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sentences import one_sentence

import limetutor as lt

quick = settings(max_examples=40, deadline=None, derandomize=True)
VALUES = st.integers(-200, 200).map(lambda k: k / 16)  # without rounding, and tie often
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@st.composite
def frames(draw: Any, least: int = 1) -> tuple[pd.DataFrame, list[int]]:
    """A table with names of its own, and an order of its columns."""
    names = draw(st.lists(NAMES, min_size=least, max_size=5, unique=True))
    assume(not re.fullmatch(r"x\d+", names[0]))  # names that say nothing are read by position
    rows = draw(st.integers(2, 5))
    cells = draw(st.lists(VALUES, min_size=rows * len(names), max_size=rows * len(names)))
    table = pd.DataFrame(np.reshape(cells, (rows, len(names))), columns=names)
    return table, draw(st.permutations(range(len(names))))


ONE = {
    "frame": lambda row: row,
    "series": lambda row: row.iloc[0],
    "dict": lambda row: row.iloc[0].to_dict(),
    "objects": lambda row: row.astype(object).iloc[0],
}
MANY = {
    "frame": lambda table: table,
    "objects": lambda table: table.astype(object),
    "nullable": lambda table: table.convert_dtypes(),
}
ONE["polars"] = MANY["polars"] = lambda table: pl.DataFrame({c: table[c].to_numpy() for c in table})


@quick
@given(frames(), st.sampled_from(sorted(ONE)))
def test_an_instance_goes_by_its_names(case, form):
    table, order = case
    boxes = lt.Empirical(table, p=2).boxes()
    for i in range(len(table)):
        row = ONE[form](table.iloc[[i], order])
        np.testing.assert_array_equal(boxes.encode(row), table.to_numpy()[i])


@quick
@given(frames(), st.sampled_from(sorted(MANY)))
def test_a_table_of_instances_goes_by_its_names(case, form):
    table, order = case
    boxes = lt.Empirical(table, p=2).boxes()
    rows = MANY[form](table.iloc[:, order])
    np.testing.assert_array_equal(boxes.encode_rows(rows), table.to_numpy())


@quick
@given(frames(), st.sampled_from(sorted(MANY)))
def test_a_training_table_in_another_order_makes_the_same_boxes(case, form):
    table, order = case
    plain = lt.Empirical(table, p=2).boxes()
    other = lt.Empirical(MANY[form](table.iloc[:, order]), p=2).boxes()
    assert other.names == tuple(plain.names[j] for j in order)
    np.testing.assert_array_equal(other.mu, plain.mu[order])
    np.testing.assert_array_equal(other.count, plain.count[order])
    for k, j in enumerate(order):
        np.testing.assert_array_equal(other.edges[k], plain.edges[j])
        assert other.describe(k, 0) == plain.describe(j, 0)


@pytest.mark.parametrize("world", [lt.Gaussian(p=3), lt.Empirical(np.eye(9)[:, :3])], ids=str)
def test_rows_without_names_go_by_position(world):
    row = np.array([0.25, 0.5, 0.75])
    others = (tuple(row), list(row), [row], row.astype(np.float32), row.astype(object))
    for xi in (row, *others, pd.Series(row, index=["a", "b", "c"]), pd.DataFrame([row])):
        np.testing.assert_array_equal(world.boxes(3).encode(xi), row)


def test_labels_that_cannot_be_looked_up_get_one_sentence():
    frame = pd.DataFrame({"town": ["Rome", "Oslo"] * 4, "rooms": [1, 2, 3, 5] * 2})
    boxes = lt.Empirical(frame, p=2, categorical=["town", "rooms"]).boxes()
    assert boxes.encode(["Oslo", 3]).tolist() == [0.0, 3.0]
    assert boxes.encode([np.str_("Rome"), np.array(5.0)]).tolist() == [1.0, 5.0]
    for town in (["Rome"], {"Rome"}, (["Rome"],), None, np.nan, 1, b"Rome", pd.NA, "Berlin"):
        row = np.empty(2, dtype=object)
        row[:] = [town, 1] if not isinstance(town, list | tuple) else [None, 1]
        row[0] = town
        one_sentence(lambda row=row: boxes.encode(row), "xi must hold a known category of 'town'")
    for rooms in (4, "1", np.nan, [1, 2], None, 10**400, 1 + 0j):
        row = np.empty(2, dtype=object)
        row[0] = "Rome"
        row[1] = rooms
        assert one_sentence(lambda row=row: boxes.encode(row), "'rooms'").startswith("xi")
