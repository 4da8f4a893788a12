"""Kinds of columns: labels of boxes that differ where the boxes do, and say the right number."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import limetutor as lt
from limetutor.inputs.columns import KINDS, MISSING, NUMBER, Category, OrMissing, distinct, exact
from limetutor.lime.read_explainer import Coded

quick = settings(max_examples=150, deadline=None, derandomize=True)

ANY = st.floats(-1e300, 1e300, allow_nan=False)
USUAL = st.floats(-1e6, 1e6, allow_nan=False)
NEAR = st.builds(lambda base, k: base + k * np.spacing(base), USUAL, st.integers(0, 40))
EDGES = st.one_of(
    *(st.lists(kind, min_size=1, max_size=8, unique=True) for kind in (ANY, USUAL, NEAR)),
    st.lists(st.integers(1900, 2100).map(float), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(10**6, 10**6 + 99).map(float), min_size=1, max_size=8, unique=True),
)


def half_a_unit(text: str) -> float:
    """Half of one in the last digit that is printed."""
    mantissa, _, power = text.partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 0.5 * 10.0 ** (int(power or 0) - decimals)


@quick
@given(EDGES)
@example([2015.0, 2016.0, 2017.0, 2018.0])
@example([1000001.0, 1000002.0])
@example([0.1, 0.1 + 2**-56])
@example([-0.0, 5e-324])
@example([999.9999, 1000.0])
@example([999999999999999.9, 1e15])
def test_numbers_that_differ_are_written_differently_and_rightly(values):
    write = distinct(np.array(values))
    texts = [write(value) for value in sorted(set(values))]
    assert len(set(texts)) == len(set(values))
    for value, text in zip(sorted(set(values)), texts, strict=True):
        # a double holds 17 digits at most: the comparison itself is rounded
        assert abs(float(text) - value) <= half_a_unit(text) + np.spacing(abs(value))


@quick
@given(EDGES)
def test_written_numbers_keep_their_order(values):
    write = distinct(np.array(values))
    back = [float(write(value)) for value in sorted(set(values))]
    assert back == sorted(back)


@quick
@given(EDGES, st.booleans())
def test_boxes_of_a_column_have_labels_that_differ(values, left_closed):
    edges = np.unique([v for v in values if abs(v) < 1e99] or [0.0])
    world = lt.Empirical(np.arange(4.0)[:, None], edges={0: edges}, p=2)
    boxes = world.boxes()
    labels = [boxes.describe(0, k) for k in range(len(edges) + 1)]
    assert len(set(labels)) == len(labels)
    assert all("x1" in label for label in labels)
    assert re.fullmatch(r"x1 <= \S+", labels[0]) and re.fullmatch(r"x1 > \S+", labels[-1])
    for k, label in enumerate(labels[1:-1], start=1):
        lo, hi = re.fullmatch(r"(\S+) < x1 <= (\S+)", label).groups()
        for text, edge in ((lo, edges[k - 1]), (hi, edges[k])):
            small = 1e-12 * np.abs(edges[edges != edge] - edge).min()  # is written as 0
            off = abs(float(text) - edge)
            assert off <= half_a_unit(text) + np.spacing(abs(edge)) or off == abs(edge) <= small


def test_an_edge_that_is_rounding_beside_both_of_its_boxes_is_written_as_0():
    two, four = (lt.Gaussian(mu=1.39e-17, p=p).boxes(1) for p in (2, 4))
    assert (two.describe(0, 1), four.describe(0, 2)) == ("x1 >= 0", "0 <= x1 < 0.674")
    assert two.edges[0] == [1.39e-17]
    shares = lt.Empirical([[0.0], [1e-20], [0.2], [0.3]], edges={0: [1e-20, 0.2]}, p=2).boxes()
    assert shares.describe(0, 1) == "1e-20 < x1 <= 0.2"


def test_the_signs_say_where_an_edge_belongs():
    paper = lt.Gaussian(p=4).boxes(1)
    assert [paper.describe(0, k) for k in range(4)] == [
        "x1 < -0.674", "-0.674 <= x1 < 0", "0 <= x1 < 0.674", "x1 >= 0.674",
    ]  # fmt: skip
    for value in paper.edges[0][:2]:
        assert paper.describe(0, int(paper.discretize([value])[0])).startswith(f"{value:.3g} <=")
    data = lt.Empirical([[0.0], [1.0], [2.0], [3.0]], edges={0: [1.0, 2.0]}, p=2).boxes()
    assert data.describe(0, int(data.discretize([1.0])[0])) == "x1 <= 1"
    assert data.describe(0, int(data.discretize([2.0])[0])) == "1 < x1 <= 2"


def test_a_column_of_one_box_says_anything():
    boxes = lt.Empirical(np.full((5, 1), 3.0)).boxes()
    # a constant column is cut at its value, and nothing lies beyond
    assert boxes.describe(0, 0) == "x1 <= 3"
    alone = lt.Empirical(np.full((5, 1), 3.0), kinds={0: KINDS["category"]()}).boxes()
    assert alone.describe(0, 0) == "x1 = 3" and alone.count[0] == 1


@quick
@given(st.lists(USUAL, min_size=2, max_size=30), st.integers(2, 9))
def test_edges_ascend_and_lie_within_the_values(values, p):
    values = np.array(values)
    for kind in (NUMBER, Category()):
        edges = kind.cut(values, p)
        assert np.all(np.diff(edges) > 0)
        assert np.all((edges >= values.min()) & (edges <= values.max()))
    assert len(NUMBER.cut(values, p)) <= p - 1


@quick
@given(st.lists(st.integers(-50, 50).map(lambda k: k / 4), min_size=2, max_size=30))
def test_each_label_has_a_box_of_its_own(values):
    world = lt.Empirical(np.array(values)[:, None], p=2, categorical=[0])
    boxes, labels = world.boxes(), np.unique(values)
    assert boxes.count[0] == len(labels)
    own = boxes.discretize(labels[:, None])[:, 0]
    assert own.tolist() == list(range(len(labels)))
    shares = [np.mean(np.array(values) == label) for label in labels]
    np.testing.assert_allclose(boxes.law.prob[0, : len(labels)], shares, rtol=1e-12)
    texts = [boxes.describe(0, k) for k in range(len(labels))]
    assert [float(text.removeprefix("x1 = ")) for text in texts] == labels.tolist()


@quick
@given(st.lists(st.text(max_size=5), min_size=2, max_size=12))
def test_text_is_encoded_and_comes_back(labels):
    frame = pd.DataFrame({"t": pd.Series(labels, dtype=object)})
    boxes = lt.Empirical(frame, p=2, categorical=["t"]).boxes()
    codes = boxes.encode_rows(frame)
    assert boxes.decoded(codes)[0].tolist() == labels
    assert {boxes.describe(0, int(c)) for c in codes[:, 0]} == {f"t = {label}" for label in labels}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_refuse_what_they_cannot_read(kind):
    made = KINDS[kind]()
    known = np.array([1.0, 2.0])
    assert made.encode("a", 2, known) == 2.0
    for value in ("2", None, [1.0], 1j, np.nan, b"2", pd.NaT, 10**400):
        with pytest.raises(ValueError, match=r"^xi.*'a'.*\.$"):
            made.encode("a", value, known)


def test_a_kind_says_whether_differences_mean_something():
    frame = pd.DataFrame({"n": [1.0, 2, 3, 4], "c": list("uvuv"), "k": [1, 2, 1, 2]})
    boxes = lt.Empirical(frame, p=2, categorical=["c", "k"]).boxes()
    assert boxes.ordered.tolist() == [True, False, False]
    assert boxes.has_text and not lt.Empirical(frame[["n", "k"]], p=2).boxes().has_text


def test_codes_are_called_as_lime_calls_them():
    """``categorical_names`` for the reader, codes for the model, either from the caller."""
    known = np.array([0.0, 1.0, 2.0])
    for labels in (
        ["own", "rent", "free"],
        {0: "own", 1: "rent", 2: "free"},
        np.array(["own", "rent", "free"]),
    ):
        kind = Coded(labels)
        assert kind.encode("home", "rent", known) == kind.encode("home", 1, known) == 1.0
        assert [kind.name_of(code) for code in known] == ["own", "rent", "free"]
        assert kind.decode(known) is None and not kind.ordered
        with pytest.raises(ValueError, match="xi must hold a known category of 'home'"):
            kind.encode("home", 3, known)
    assert Coded().name_of(2.0) == 2 and Coded(["a"]).name_of(2.0) == 2  # lime prints the code


@pytest.mark.parametrize("kind", [NUMBER, Category(), Category(np.array(["u", "v", "w"]))])
def test_a_kind_with_gaps_is_that_kind_and_one_box_more(kind):
    values = np.array([0.0, 1.0, 2.0, 2.0, 1.0])
    whole = OrMissing(kind)
    edges = whole.cut(np.append(values, [MISSING, MISSING]), 2)
    assert np.array_equal(edges, kind.cut(values, 2))
    assert np.isnan(whole.fed(np.array([1.0, MISSING]))).tolist() == [False, True]
    assert whole.encode("a", None, np.array([0.0, 1, 2, MISSING])) == MISSING
    assert not whole.ordered
    decoded = whole.decode(np.array([1.0, MISSING]))
    if kind.decode(values) is None:
        assert decoded is None
    else:
        assert decoded[0] == "v" and np.isnan(decoded[1])


def test_a_name_of_two_codes_means_neither():
    kind, known = Coded(["yes", "no", "yes", "3"]), np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    assert kind.encode("a", "no", known) == 1.0 and kind.encode("a", 2, known) == 2.0
    assert kind.encode("a", "3", known) == 3.0
    for value in ("yes", "maybe"):
        with pytest.raises(ValueError, match=r"^xi.*'a'"):
            kind.encode("a", value, known)
    with pytest.raises(ValueError, match="xi's 'a' must hold numbers only"):
        Coded().encode("a", "1", known)  # a text is no number


def test_a_number_in_words_has_all_digits_and_no_minus_zero():
    assert [exact(v) for v in (-0.0, 2.0, 0.1, -1e-30)] == ["0", "2", "0.1", "-1e-30"]


def test_truth_values_read_as_such():
    """... in frames, with gaps too; models get 1 and 0, and a column that is always true is constant."""
    truth = np.arange(40) % 3 == 0
    gaps = pd.array(np.where(np.arange(40) % 5, truth, None), dtype="boolean")
    frame = pd.DataFrame({"tagged": truth, "x": np.arange(40.0), "all": True, "gap": gaps})
    boxes = lt.Empirical(frame).boxes()
    words = [[boxes.describe(j, k) for k in range(boxes.count[j])] for j in (0, 2, 3)]
    assert words == [
        ["tagged = False", "tagged = True"], ["all = True"],
        ["gap = False", "gap = True", "gap is missing"],
    ]  # fmt: skip
    np.testing.assert_allclose(boxes.law.prob[0][:2], [26 / 40, 14 / 40])
    np.testing.assert_array_equal(boxes.fed(boxes.encode_rows(frame))[:, 0], truth)
    counted = lt.Empirical(frame.astype({"tagged": float})).boxes()
    assert counted.describe(0, 1) != "tagged = True"  # numbers stay what they are
