"""Tables in any order, as whatever callers have them: the same numbers, or one sentence."""

import datetime
import itertools
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from cases import cases
from scipy import sparse
from sentences import one_sentence

import limetutor as lt
from limetutor.core.problem import instance_in
from limetutor.inputs.columns import Category, Number
from limetutor.inputs.tables import positions, read_table, rows_of

WORKS = {
    "nullable integers": pd.array([1, 2, 3, 4], dtype="Int64"),
    "nullable floats": pd.array([1.0, 2, 3, 4], dtype="Float64"),
    "bytes of a number": np.array([1, 2, 3, 4], np.uint8),
    "half precision": np.array([1, 2, 3, 4], np.float16),
    "a category of numbers": pd.Categorical([1, 2, 3, 4]),
    "sparse": pd.arrays.SparseArray([1.0, 2.0, 3.0, 4.0]),
    "objects": np.array([1, 2.0, np.int8(3), np.float32(4)], dtype=object),
    "exact numbers": np.array([Decimal(1), Fraction(2), 3, 4.0], dtype=object),
}


@pytest.mark.parametrize("kind", WORKS)
def test_numbers_of_any_kind_are_numbers(kind):
    frame = pd.DataFrame({"a": [4.0, 3.0, 2.0, 1.0], "b": WORKS[kind]})
    world = lt.Empirical(frame, p=2)
    np.testing.assert_array_equal(world.table[:, 1], [1, 2, 3, 4])
    assert world.boxes().encode(frame.iloc[[1]]).tolist() == [3.0, 2.0]
    assert world.boxes().encode(frame.iloc[1]).tolist() == [3.0, 2.0]
    np.testing.assert_array_equal(world.boxes().encode_rows(frame), world.table)
    assert lt.Gaussian.from_data(frame).mu.tolist() == [2.5, 2.5]


@pytest.mark.parametrize("dtype", ["bool", "boolean", "object"])
def test_truths_are_0_and_1(dtype):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [True, False, True, True]})
    frame = frame.astype({"b": dtype})
    world = lt.Empirical(frame, p=2)
    assert world.table[:, 1].tolist() == [1, 0, 1, 1]
    assert world.boxes().encode(frame.iloc[[1]]).tolist() == [2.0, 0.0]
    assert world.boxes().encode([2.0, True]).tolist() == [2.0, 1.0]


DAY = datetime.date(2020, 1, 1)
REFUSED = dict(cases(Path(__file__).parent / "support" / "refused_columns.txt", globals()))


EMPIRICAL_ONLY = {"gaps", "gaps among objects", "nan", "a category of text"}  # have boxes there


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_number_gets_one_sentence(kind):
    values, words = REFUSED[kind]
    frame = pd.DataFrame({"a": [4.0, 3.0, 2.0, 1.0], "b": values})
    for make in (lt.Empirical, lt.Gaussian.from_data)[kind in EMPIRICAL_ONLY :]:
        message = one_sentence(lambda make=make: make(frame), "'b'", words)
        assert message.startswith("X must")
    world = lt.Empirical(pd.DataFrame({"a": [4.0, 3, 2, 1], "b": [1.0, 2, 3, 4]}), p=2)
    if "vanish" in kind:
        return  # as an instance it is a number like any other
    assert one_sentence(lambda: world.boxes().encode_rows(frame)).startswith("X must")
    row = frame.iloc[[0 if "1e" in words else 1]]
    for xi in (row, row.iloc[0], dict(row.iloc[0]), row.to_numpy().tolist()[0]):
        assert one_sentence(lambda xi=xi: instance_in(world, xi)).startswith("xi must")


def test_masks_are_respected():
    X = np.arange(12.0).reshape(4, 3)
    hidden = np.ma.masked_array(X, X == 4)
    one_sentence(lambda: lt.Empirical(hidden), "X must", "'x2' holds masked values")
    boxes = lt.Empirical(np.ma.masked_array(X), p=2).boxes()  # nothing is hidden there
    np.testing.assert_array_equal(boxes.encode_rows(np.ma.masked_array(X)), X)
    one_sentence(lambda: boxes.encode(hidden[1]), "xi must", "masked")
    one_sentence(lambda: boxes.encode([1.0, np.ma.masked, 2.0]), "xi must", "masked")
    one_sentence(lambda: boxes.encode({"x1": 1, "x2": np.ma.masked, "x3": 1}), "xi must", "masked")
    one_sentence(lambda: boxes.encode_rows(hidden), "X must", "masked")


def test_sparse_tables_are_asked_to_be_dense_and_sparse_rows_are_read():
    X = np.arange(12.0).reshape(4, 3)
    for made in (sparse.csr_matrix(X), sparse.coo_array(X)):
        one_sentence(lambda made=made: lt.Empirical(made), "X must be a dense table", ".toarray()")
        np.testing.assert_array_equal(lt.Empirical(X, p=2).boxes().encode_rows(made), X)
    row = sparse.csr_matrix(X[:1])
    assert lt.Empirical(X, p=2).boxes().encode(row).tolist() == [0.0, 1.0, 2.0]


def test_a_struct_of_polars_is_refused():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [{"x": 1.0, "y": 2.0}] * 2})
    for categorical in ([], ["b"]):
        call = lambda categorical=categorical: lt.Empirical(frame, categorical=categorical)  # noqa: E731
        one_sentence(call, "X must hold one value in a cell, but column 'b' holds several")


def test_frames_of_polars():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"]})
    world = lt.Empirical(frame, p=2, categorical=["b"])
    assert world.boxes().encode(frame[1]).tolist() == [2.0, 1.0]
    assert world.boxes().encode(frame[["b", "a"]][1]).tolist() == [2.0, 1.0]
    assert world.boxes().encode({"b": "v", "a": 2}).tolist() == [2.0, 1.0]
    one_sentence(lambda: lt.Empirical(frame), "'b' holds text")
    one_sentence(lambda: lt.Empirical(frame.lazy()), "X must", "LazyFrame", ".collect()")
    one_sentence(lambda: world.boxes().encode(frame.lazy()), "xi must", "LazyFrame")
    gaps = pl.DataFrame({"a": [1.0, None, 3.0]})
    one_sentence(lambda: lt.Gaussian.from_data(gaps), "X must be finite", "'a'")
    missing = lt.Empirical(gaps, p=2).boxes()
    assert missing.describe(0, int(missing.count[0]) - 1) == "a is missing"


def test_columns_by_name_or_position():
    names = ("a", "b", "c")
    assert positions("categorical", ["c", 0, np.int64(1)], names) == [2, 0, 1]
    assert positions("categorical", "b", names) == [1]
    assert positions("categorical", np.int64(2), names) == [2]
    assert positions("categorical", None, names) == []
    for wrong in (True, [True], 3, -1, "q", [None], 1.0, [[0]], np.array(1.0), [np.timedelta64(1)]):
        one_sentence(lambda wrong=wrong: positions("categorical", wrong, names), "categorical must")


def test_kinds_of_columns_are_said_by_a_dict():
    X = np.arange(12.0).reshape(4, 3)
    table = read_table(X, kinds={"x1": Category(), 2: Number()})
    assert [type(kind) for kind in table.kinds] == [Category, Number, Number]
    for wrong in ([Category()], Category(), {0: "category"}, {0: Category}, {"q": Number()}, "x1"):
        one_sentence(lambda wrong=wrong: read_table(X, kinds=wrong), "kinds must")


def test_rows_come_as_they_are():
    assert rows_of("xi", [1, "u"], ("a", "b"), one=True).tolist() == [[1, "u"]]
    one_sentence(lambda: rows_of("xi", np.zeros((2, 2)), ("a", "b"), one=True), "xi must", "(2, 2)")
    one_sentence(lambda: rows_of("X", np.zeros((0, 2)), ("a", "b"), one=False), "X must", "none")
    one_sentence(lambda: rows_of("X", [1.0, 2.0], ("a", "b"), one=False), "X must", "(2,)")


def gappy(n=600):
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "home": rng.choice(["own", "rent", "free"], n),
            "code": rng.choice([1.0, 2.0, 5.0], n),
            "size": rng.gamma(2.0, size=n),
        }
    )
    for j, column in enumerate(frame.columns[:3]):
        frame.loc[rng.random(n) < 0.1 * (j + 1), column] = np.nan
    return frame


GAPPY = gappy()


def test_what_is_missing_is_a_box_of_its_own():
    world = lt.Empirical(GAPPY, categorical=["home", "code"])
    boxes = world.boxes()
    for j, column in enumerate(GAPPY.columns[:3]):
        last = int(boxes.count[j]) - 1
        assert boxes.describe(j, last) == f"{column} is missing"
        assert boxes.law.prob[j, last] == GAPPY[column].isna().mean()
    assert [boxes.describe(1, k) for k in range(3)] == ["home = free", "home = own", "home = rent"]
    there = GAPPY["age"].dropna()
    np.testing.assert_allclose(boxes.edges[0][:3], np.quantile(there, [0.25, 0.5, 0.75]))
    top = f"age > {np.quantile(there, 0.75):.1f}"
    assert boxes.describe(0, 3) == top  # and not "up to the code that stands for a gap"
    # what is there is drawn as in a table without gaps, and what is not reaches models as nan
    x, _ = boxes.law.sample(np.random.default_rng(0), 20_000)
    fed = boxes.fed(x)
    assert abs(np.isnan(fed[:, 0]).mean() - GAPPY["age"].isna().mean()) < 0.01
    assert np.nanmin(fed[:, 0]) >= there.min() and np.nanmax(fed[:, 0]) <= there.max()
    assert set(np.unique(fed[:, 2][~np.isnan(fed[:, 2])])) == {1.0, 2.0, 5.0}


def test_pandas_categories_are_labels_without_a_word():
    frame = pd.DataFrame({"a": np.arange(8.0), "b": pd.Categorical(list("uvwuvwuv"))})
    said = lt.Empirical(frame.astype({"b": object}), p=2, categorical=["b"]).boxes()
    unsaid = lt.Empirical(frame, p=2).boxes()
    assert [said.describe(1, k) for k in range(3)] == [unsaid.describe(1, k) for k in range(3)]
    numbers = frame.assign(b=pd.Categorical([3, 1, 2, 3, 1, 2, 3, 1]))
    assert not lt.Empirical(numbers, p=2).boxes().ordered[1]
    gaps = frame.assign(b=pd.Categorical(["u", None, "w", "u", "v", None, "u", "v"]))
    assert lt.Empirical(gaps, p=2).boxes().describe(1, 3) == "b is missing"


@pytest.mark.parametrize("beyond", [1e-9, 0.5, 1.0, 2.0, 50.0, 1e90])
def test_a_value_beyond_the_training_maximum_is_not_missing(beyond):
    """Whatever the number that stands for a gap: f gets the value, in the outermost box."""
    frame = GAPPY[["age", "size"]]
    top = float(frame["age"].max())
    boxes = lt.Empirical(frame).boxes()
    for value in (top * (1 + beyond), -top * (1 + beyond)):
        seen = []

        def f(rows, value=value, seen=seen):
            seen.append(rows[rows[:, 0] == value])
            return np.where(np.isnan(rows[:, 0]), 100.0, 50.0)

        assert lt.explain(f, [value, 1.0], lt.Empirical(frame), 1.0, 300, 0).prediction == 50.0
        assert len(np.vstack(seen)) == 1
        box = boxes.discretize(boxes.encode([value, 1.0]))[0]
        assert box == (3 if value > 0 else 0)
        assert "missing" not in boxes.describe(0, int(box))
    one_sentence(lambda: boxes.encode([1e101, 1.0]), "xi's 'age' must lie within")


def test_given_edges_leave_what_is_missing_a_box_of_its_own():
    frame = GAPPY[["age", "code", "size"]]
    age, gone = frame["age"], frame["age"].isna()
    for edges in ([30.0, 50.0], [age.max() + 5.0], [age.min() - 9.0, 40.0]):
        boxes = lt.Empirical(frame, edges={"age": edges}, categorical=["code"]).boxes()
        cuts = [-np.inf, *edges, np.inf]
        shares = [np.mean((age > lo) & (age <= hi)) for lo, hi in itertools.pairwise(cuts)]
        np.testing.assert_allclose(
            boxes.law.prob[0, : len(shares) + 1], [*shares, gone.mean()], rtol=1e-12
        )
        assert boxes.describe(0, len(shares)) == "age is missing"
        x, box = boxes.law.sample(np.random.default_rng(0), 5000)
        fed = boxes.fed(x)[:, 0]
        assert np.array_equal(np.isnan(fed), box[:, 0] == len(shares))
        assert np.nanmin(fed) >= min(age.min(), edges[0])
        assert np.nanmax(fed) <= max(age.max(), edges[-1])


class Ordinal(Category):
    """Labels with an order and, roughly, distances."""

    ordered = True


def test_the_kind_of_a_caller_is_kept():
    sizes = ["low", "mid", "high"]
    frame = pd.DataFrame({"size": [*sizes, "mid"] * 6, "v": np.arange(24.0)})
    for labels in (sizes, np.array(sizes), tuple(sizes)):
        boxes = lt.Empirical(frame, p=2, kinds={"size": Ordinal(labels)}).boxes()
        kind = boxes.kind(0)
        assert type(kind) is Ordinal and boxes.ordered[0]
        assert [boxes.describe(0, k) for k in range(3)] == [f"size = {s}" for s in sizes]
        assert boxes.encode_rows(frame)[:4, 0].tolist() == [0.0, 1.0, 2.0, 1.0]
        assert boxes.decoded(boxes.encode_rows(frame))[0].tolist() == frame["size"].tolist()
    own = lt.Empirical(frame, p=2, kinds={"size": Ordinal()}).boxes()
    assert type(own.kind(0)) is Ordinal and own.describe(0, 0) == "size = high"
    gaps = frame.assign(size=[None, *frame["size"][1:]])
    boxes = lt.Empirical(gaps, p=2, kinds={"size": Ordinal(sizes)}).boxes()
    assert [boxes.describe(0, k) for k in range(4)] == [
        *(f"size = {s}" for s in sizes),
        "size is missing",
    ]
    typed = frame.assign(size=pd.Categorical(frame["size"], categories=sizes))
    assert type(lt.Empirical(typed, p=2, kinds={"size": Ordinal(sizes)}).boxes().kind(0)) is Ordinal
    for wrong, words in (
        ({"size": Ordinal(sizes[:2])}, "'high'"),
        ({"size": Ordinal([*sizes, "low"])}, "more than once"),
        ({"size": Ordinal(), "v": Ordinal(sizes)}, "holds numbers"),
    ):
        one_sentence(lambda wrong=wrong: lt.Empirical(frame, kinds=wrong), words)


def test_labels_beyond_what_a_double_tells_apart_are_refused():
    for labels in ([2**53, 2**53 + 1], [-(2**60), 5], [float(2**54), 1.0]):
        frame = pd.DataFrame({"id": labels * 10, "v": np.arange(20.0)})
        one_sentence(lambda frame=frame: lt.Empirical(frame, categorical=["id"]), "2**53", "'id'")
        as_text = frame.assign(id=frame["id"].astype(str))
        assert lt.Empirical(as_text, categorical=["id"]).boxes().count[0] == 2
    just = pd.DataFrame({"id": [2**53 - 1, 2**53 - 2] * 10, "v": np.arange(20.0)})
    assert lt.Empirical(just, categorical=["id"]).boxes().count[0] == 2


def test_numbers_that_columns_are_called_by_are_names_and_no_positions():
    frame = pd.DataFrame({2: [1.0, 2, 3, 4] * 5, 0: [0, 1] * 10, 1: np.arange(20.0)})
    for columns in ([0], 0, ["0"], np.array([0])):
        boxes = lt.Empirical(frame, p=2, categorical=columns).boxes()
        assert boxes.ordered.tolist() == [True, False, True] and boxes.names == ("2", "0", "1")
    boxes = lt.Empirical(
        frame, p=2, edges={2: [1.5], "1": [3.0, 7.0]}, kinds={0: Category()}
    ).boxes()
    assert [edges.tolist() for edges in boxes.edges] == [[1.5], [0.5], [3.0, 7.0]]
    for wrong in ({"categorical": [3]}, {"edges": {5: [1.0]}}, {"kinds": {-1: Number()}}):
        (name,) = wrong
        one_sentence(
            lambda wrong=wrong: lt.Empirical(frame, **wrong), f"{name} must name columns of X, got"
        )
    twice = {"edges": {2: [1.0], "2": [2.0]}}
    one_sentence(lambda: lt.Empirical(frame, **twice), "edges must name a column once", "'2'")
    named = frame.set_axis(["a", "b", "c"], axis=1)
    one_sentence(
        lambda: lt.Empirical(named, edges={"a": [1.0], 0: [2.0]}), "edges must name a column once"
    )
    one_sentence(
        lambda: lt.Empirical(named, kinds={"a": Number(), 0: Category()}), "kinds must name"
    )
