"""What passes between a notebook and its grader: plain values, and nothing that runs."""

import base64
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from limetutor.classroom.inside import worker
from limetutor.classroom.questions import Formula
from limetutor.classroom.session import AnswerError, decoded, encoded

PLAIN = [
    None, True, 3, -2.5, "text", [1, "a", [2.0]], np.arange(6).reshape(2, 3), np.zeros((0, 2)),
    np.array([True, False]), np.array(7.0), {"a": np.array([1.5])}, float("inf"),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_through(value):
    for decode in (decoded, worker.unpacked):
        np.testing.assert_equal(decode(worker.packed(value)), value)


def test_scalars_tables_and_tuples_become_plain():
    assert worker.packed((np.float64(2), np.int32(3))) == [2.0, 3]
    assert decoded(worker.packed(pd.Series([1.0, 2.0]))).tolist() == [1.0, 2.0]
    assert worker.packed(np.array(["a", None], dtype=object)) == ["a", None]


@pytest.mark.parametrize(
    "value",
    [object(), iter([1]), lambda: 1, np.zeros(10**6), range(3), {1j: 2}, [[[[[[[[[[1]]]]]]]]]]],
    ids=["object", "iterator", "function", "large", "range", "complex", "deep"],
)
def test_other_values_stay_inside(value):
    with pytest.raises(worker.NotPlainError):
        worker.packed(value)


def nested(depth):
    return [1] if depth == 1 else [nested(depth - 1)]


def forged_array(*shape, count=0):
    return {"array": ["<f8", list(shape), base64.b64encode(bytes(8 * count)).decode()]}


@pytest.mark.parametrize(
    ("function", "most", "make"),
    [
        (worker.packed, 500_000, np.zeros), (worker.packed, 100_000, lambda n: [0] * n),
        (worker.packed, 100_000, lambda n: dict.fromkeys(range(n))), (worker.packed, 8, nested),
        (decoded, 12, nested), (decoded, 1000, lambda n: "x" * n), (decoded, 499_999, lambda n: [0] * n),
        (decoded, 500, lambda n: [[[]] * 998] * n + [0] * 499),
        (decoded, 500_000, lambda n: forged_array(n, 0)), (decoded, 500_000, lambda n: forged_array(0, n)),
        (decoded, 12, lambda n: forged_array(*[1] * n, count=1)),
        (decoded, 500_000, lambda n: forged_array(n, count=n)),
    ],
)  # fmt: skip
def test_sizes_are_bounded_before_values_are_read(function, most, make):
    """An array of a billion rows of nothing takes no memory, until it becomes lists."""
    function(make(most))
    with pytest.raises((worker.NotPlainError, AnswerError)):
        function(make(most + 1))


FORGED = [
    forged_array(10**9, 0), forged_array(-1, -1, count=1),
    {"formula": ["__import__('os').abort()", {"dict": []}]}, {"array": ["|O8", [1], "AAAAAAAAAAA="]},
    {"array": ["<f8", [10**12], "AAAAAAAAAAA="]}, {"array": ["<f8", [2], "AAAAAAAAAAA="]},
    {"array": ["<f8", [float("inf")], "AAAAAAAAAAA="]}, {"array": ["<f8", "x", 5]}, {"array": 1},
    {"dict": [[1]]}, {"other": 1}, {},
]  # fmt: skip


@pytest.mark.parametrize("reply", FORGED, ids=str)
def test_replies_that_were_forged_are_refused(reply):
    with pytest.raises(AnswerError):
        decoded(reply)


def test_a_formula_is_the_same_inside():
    formula = Formula("np.tanh(x @ c) + k", c=np.array([1.0, -2.0]), k=0.5)
    x = np.random.default_rng(0).normal(size=(5, 2))
    assert np.array_equal(worker.unpacked(encoded(formula))(x), formula(x))
    assert "tanh" in repr(formula)


def test_an_error_is_told_by_its_built_in_kind_only():
    """A notebook could write hidden inputs into the name of an exception."""
    leak = type("Leak123Error", (ValueError,), {})
    assert worker._kind(leak("456")) == "ValueError"
    assert worker._kind(ModuleNotFoundError()) == "ModuleNotFoundError"


def test_the_worker_knows_nothing_of_limetutor():
    text = Path(worker.__file__).read_text(encoding="utf-8")
    assert "from limetutor" not in text and "from ." not in text
    assert sys.modules["limetutor.classroom.inside.worker"] is worker
