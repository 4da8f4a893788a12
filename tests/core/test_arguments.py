"""Bad input: one sentence that names the argument, what came and what is allowed, before any work."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC

import limetutor as lt

NAN, INF = np.nan, np.inf
GAUSSIAN = lt.Gaussian()
TABLE = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pd.DataFrame(
    {"size": TABLE[:, 0], "town": ["Rome", "Paris"] * 20, "rooms": [1, 2, 3, 5] * 10}
)
EMPIRICAL = lt.Empirical(TABLE)
MIXED = lt.Empirical(FRAME, categorical=["town", "rooms"])
CLASSIFIER = RandomForestClassifier(3, random_state=0).fit(TABLE, ["a", "b", "c", "a"] * 10)
UNFIT_COLUMNS = LinearRegression().fit(FRAME[["size", "rooms"]], TABLE[:, 1])


def says(call, error, argument, *parts):
    """The error is one short sentence about the argument, and holds the parts."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert re.match(rf"{re.escape(argument)}(?!\w)", message), message  # the argument comes first
    assert message.endswith(".") and "\n" not in message, message
    assert not re.search(r"[.!?] [A-Z]", message), message  # one sentence
    assert len(message) <= 190, message
    for part in parts:
        assert part in message, message
    # no second traceback above the sentence
    assert caught.value.__context__ is None or caught.value.__suppress_context__


# what differs from a call that works; the argument at fault; what the message must hold
EXPLAIN = {
    "xi too short": ({"xi": [0, 1], "world": EMPIRICAL}, "xi", "3 entries", "got 2"),
    "xi too long": ({"xi": [0, 1, 2, 3], "world": EMPIRICAL}, "xi", "3 entries", "got 4"),
    "xi too long for names": ({"xi": [0] * 4, "world": MIXED}, "xi", "3 entries", "got 4"),
    "xi empty": ({"xi": []}, "xi", "at least one entry"),
    "xi empty for a table": ({"xi": [], "world": EMPIRICAL}, "xi", "at least one entry"),
    "xi with nan": ({"xi": [0, NAN, 1]}, "xi", "finite", "1 nan"),
    "xi with inf": ({"xi": [INF, -INF, 1]}, "xi", "finite", "2 nan or infinite"),
    "xi missing": ({"xi": None}, "xi", "finite"),
    "xi of text": ({"xi": ["a", "b", "c"]}, "xi", "numbers only", "'a'"),
    "xi of digits in text": ({"xi": ["1", "2", "3"]}, "xi", "numbers only", "'1'"),
    "xi complex": ({"xi": [1j, 0, 0]}, "xi", "numbers only", "1j"),
    "xi ragged": ({"xi": [0, [1, 2], 3]}, "xi", "numbers only"),
    "xi of several rows": ({"xi": TABLE[:2], "world": EMPIRICAL}, "xi", "one row", "(2, 3)"),
    "xi in three dimensions": ({"xi": np.zeros((1, 1, 3))}, "xi", "one row", "(1, 1, 3)"),
    "xi with an unknown label": (
        {"xi": [0.1, "Oslo", 1], "world": MIXED},
        *("xi", "'town'", "'Oslo'", "['Paris', 'Rome']"),
    ),
    "xi with an unknown number": (
        {"xi": [0.1, "Rome", 4], "world": MIXED},
        *("xi", "'rooms'", "got 4.0", "[1.0, 2.0, 3.0, 5.0]"),
    ),
    "the class of a world": ({"world": lt.Gaussian}, "world", "lt.Gaussian(...)", "class"),
    "a table as world": ({"world": TABLE}, "world", "lt.Empirical(...)", "array"),
    "no world": ({"world": None}, "world", "lt.Empirical(...)", "None"),
    "nu zero": ({"nu": 0}, "nu", "above 0", "got 0"),
    "nu negative": ({"nu": -1.5}, "nu", "above 0", "got -1.5"),
    "nu nan": ({"nu": NAN}, "nu", "finite"),
    "nu inf": ({"nu": INF}, "nu", "finite"),
    "nu text": ({"nu": "1"}, "nu", "numbers only", "'1'"),
    "nu per feature": ({"nu": [1, 1, 1]}, "nu", "single number", "(3,)"),
    "nu missing": ({"nu": None}, "nu", "finite"),
    "nu too small": ({"nu": 1e-200}, "nu", "1e-100", "got 1e-200"),
    "nu too large": ({"nu": 1e200}, "nu", "1e100", "got 1e+200"),
    "n too small": ({"n": 4}, "n", "5 or more", "4 coefficients", "got 4"),
    "n negative": ({"n": -5}, "n", "5 or more", "got -5"),
    "n not whole": ({"n": 10.5}, "n", "whole number", "10.5"),
    "n text": ({"n": "5000"}, "n", "whole number", "'5000'"),
    "n infinite": ({"n": INF}, "n", "whole number", "inf"),
    "n true": ({"n": True}, "n", "whole number", "True"),
    "unknown kernel": (
        {"kernel": "rbf"},
        "kernel",
        "'gaussian', 'laplace', 'mismatch', 'cosine'",
        "'rbf'",
    ),
    "kernel missing": ({"kernel": None}, "kernel", "'gaussian'", "None"),
    "unknown sampler": ({"sampler": "x"}, "sampler", "'bins', 'gaussian', 'tilted'", "'x'"),
    "sampler a function": ({"sampler": np.sum}, "sampler", "'bins'", "function sum"),
    "nothing to tilt": (
        {"sampler": "tilted", "kernel": "cosine"},
        *("sampler='tilted'", "'gaussian' or 'laplace' or 'mismatch'", "'cosine'"),
    ),
    "own kernel to tilt": (
        {"sampler": "tilted", "kernel": lambda x, z, xi, nu: np.ones(len(x))},
        *("sampler='tilted'", "'gaussian' or 'laplace' or 'mismatch'"),
    ),
    "seed text": ({"seed": "abc"}, "seed", "whole number", "'abc'"),
    "seed negative": ({"seed": -1}, "seed", "0 or above", "-1"),
    "seed not whole": ({"seed": 1.5}, "seed", "whole number", "1.5"),
    "seed true": ({"seed": True}, "seed", "whole number", "True"),
    "ridge negative": ({"ridge": -1}, "ridge", "0 or above", "-1"),
    "ridge nan": ({"ridge": NAN}, "ridge", "finite"),
    "lasso negative": ({"lasso": -0.1}, "lasso", "0 or above", "-0.1"),
    "both penalties": ({"ridge": 1, "lasso": 1}, "ridge and lasso", "one penalty"),
    "no features": ({"features": 0}, "features", "1 or more", "got 0"),
    "half a feature": ({"features": 1.5}, "features", "whole number", "1.5"),
    "unknown choice": ({"select": "lars"}, "select", "'auto', 'highest', 'forward'", "'lars'"),
}


@pytest.mark.parametrize("case", EXPLAIN)
def test_explain_refuses_before_it_calls_the_model(case):
    changes, argument, *parts = EXPLAIN[case]
    calls = []

    def f(x):
        calls.append(x)
        return np.zeros(len(x))

    asked = {"xi": [0.1, 0.2, 0.3], "world": GAUSSIAN, "nu": 1.0} | changes
    says(lambda: lt.explain(f, **asked), (ValueError, TypeError), argument, *parts)
    assert calls == []


def test_the_call_that_these_cases_change_works():
    lt.explain(lambda x: np.zeros(len(x)), [0.1, 0.2, 0.3], GAUSSIAN, 1.0, n=100)


def nan_for_many(x):
    return np.where(np.arange(len(x)) % 2 == 1, NAN, 1.0)


MODELS = {
    "not a model": ({"f": 3}, "f", "function", "got 3"),
    "the class of a model": ({"f": RandomForestClassifier}, "f", "fitted estimator", "the class"),
    "one number": ({"f": lambda x: 1.0}, "f", "one value per row", "(1,)", "got shape ()"),
    "nothing": ({"f": lambda x: None}, "f", "one value per row", "got shape ()"),
    "too few rows": ({"f": lambda x: x[:1, 0]}, "f", "(5000,)", "got shape (1,)"),
    "too many rows": ({"f": lambda x: np.zeros(len(x) + 1)}, "f", "got shape (2,)"),
    "rows and columns turned": ({"f": lambda x: x[:, :2].T}, "f", "got shape (2, 1)"),
    "three dimensions": ({"f": lambda x: x[:, :, None]}, "f", "got shape (1, 3, 1)"),
    "nan": ({"f": lambda x: x[:, 0] * NAN}, "f", "finite", "1 nan", "1 row"),
    "nan for some": ({"f": nan_for_many}, "f", "finite", "2500 nan", "5000 row"),
    "infinite": ({"f": lambda x: np.full(len(x), -INF)}, "f", "finite", "1 nan or infinite"),
    "huge": ({"f": lambda x: np.full(len(x), -1e305)}, "f", "±1e+300", "got -1e+305"),
    "text": ({"f": lambda x: ["yes"] * len(x)}, "f", "numbers", "'yes'", "probabilities"),
    "digits in text": ({"f": lambda x: np.full(len(x), "1")}, "f", "numbers", "probabilities"),
    "complex": ({"f": lambda x: x[:, 0] * 1j}, "f", "numbers"),
    "a class name": (
        {"f": SVC().fit(TABLE, ["a", "b"] * 20)},
        *("f", "SVC", "class probabilities"),
    ),
    "several outputs": ({"f": lambda x: x}, "output", "3 outputs", "0 to 2"),
    "several classes": ({"f": CLASSIFIER}, "output", "3 outputs", "['a', 'b', 'c']"),
    "an unknown class": ({"f": CLASSIFIER, "output": "d"}, "output", "['a', 'b', 'c']", "'d'"),
    "a column too far": ({"f": lambda x: x, "output": 3}, "output", "0 to 2", "got 3"),
    "a column below": ({"f": lambda x: x, "output": -1}, "output", "0 to 2", "got -1"),
    "two columns": ({"f": lambda x: x, "output": [0, 1]}, "output", "0 to 2", "[0, 1]"),
    "an output of one": ({"f": lambda x: x[:, 0], "output": 0}, "output", "single output", "0"),
    "linear of another length": ({"f": lt.Linear([1, 2])}, "x", "2 columns", "(1, 3)"),
    "fitted on other columns": (
        {"f": UNFIT_COLUMNS, "world": MIXED, "xi": [0, "Rome", 1]},
        *("f", "fitted on the columns", "['size', 'rooms']"),
    ),
}


@pytest.mark.parametrize("case", MODELS)
def test_explain_refuses_what_a_model_returns(case):
    changes, argument, *parts = MODELS[case]
    asked = {"xi": [0.1, 0.2, 0.3], "world": GAUSSIAN, "nu": 1.0} | changes
    says(lambda: lt.explain(**asked), (ValueError, TypeError), argument, *parts)


@pytest.mark.parametrize(
    ("kernel", "parts"),
    [
        (lambda x, z, xi, nu: -np.ones(len(x)), ("5000 weights", "least value -1")),
        (lambda x, z, xi, nu: np.ones(3), ("5000 weights", "shape (3,)")),
        (lambda x, z, xi, nu: 1.0, ("5000 weights", "shape ()")),
        (lambda x, z, xi, nu: np.full(len(x), NAN), ("finite", "5000 nan")),
        (lambda x, z, xi, nu: ["a"] * len(x), ("numbers only",)),
        (lambda x, z, xi, nu: np.zeros(len(x)), ("weight above 0", "all 5000")),
    ],
)
def test_explain_refuses_what_a_kernel_returns(kernel, parts):
    f = lt.Linear([1, 2, 3])
    says(lambda: lt.explain(f, [0, 0, 0], GAUSSIAN, 1, kernel=kernel), ValueError, "kernel", *parts)


MAKE = {
    "mu nan": (lambda: lt.Gaussian(mu=[0, NAN]), "mu", "finite", "1 nan"),
    "mu text": (lambda: lt.Gaussian(mu="a"), "mu", "numbers only", "'a'"),
    "mu a table": (lambda: lt.Gaussian(mu=TABLE), "mu", "one per feature", "(40, 3)"),
    "mu empty": (lambda: lt.Gaussian(mu=[]), "mu", "one per feature", "(0,)"),
    "sigma zero": (lambda: lt.Gaussian(sigma=0), "sigma", "above 0", "got 0"),
    "sigma negative": (lambda: lt.Gaussian(sigma=[1, -2]), "sigma", "above 0", "got -2"),
    "sigma inf": (lambda: lt.Gaussian(sigma=INF), "sigma", "finite"),
    "p one": (lambda: lt.Gaussian(p=1), "p", "2 or more", "got 1"),
    "p one of several": (lambda: lt.Gaussian(p=[4, 1]), "p", "2 or more", "got 1"),
    "p not whole": (lambda: lt.Gaussian(p=2.5), "p", "whole number", "2.5"),
    "p text": (lambda: lt.Gaussian(p="4"), "p", "whole number", "'4'"),
    "p nan": (lambda: lt.Gaussian(p=NAN), "p", "whole number", "nan"),
    "lengths": (lambda: lt.Gaussian([0, 0], [1, 1, 1]), "mu, sigma, p", "lengths [2, 3]"),
    "names": (lambda: lt.Gaussian([0, 0], names=["a"]), "mu, sigma, p", "lengths [1, 2]"),
    "no dimension": (lambda: lt.Gaussian().boxes(), "d", "must be given"),
    "constant column": (
        lambda: lt.Gaussian.from_data(pd.DataFrame({"a": [1, 2, 3], "b": [0.1] * 3})),
        *("X", "'b' is constant", "lt.Empirical"),
    ),
    "from an empty table": (lambda: lt.Gaussian.from_data(np.empty((0, 2))), "X", "empty table"),
    "from text": (lambda: lt.Gaussian.from_data(FRAME), "X", "'town' holds text"),
    "a nan": (lambda: lt.Linear([1, NAN]), "a", "finite"),
    "a empty": (lambda: lt.Linear([]), "a", "at least one entry"),
    "a a table": (lambda: lt.Linear(TABLE), "a", "one row", "(40, 3)"),
    "b text": (lambda: lt.Linear([1], b="x"), "b", "numbers only", "'x'"),
    "b several": (lambda: lt.Linear([1], b=[1, 2]), "b", "single number", "(2,)"),
    "b inf": (lambda: lt.Linear([1], b=INF), "b", "finite"),
    "X no rows": (lambda: lt.Empirical(np.empty((0, 3))), "X", "empty table"),
    "X no columns": (lambda: lt.Empirical(np.empty((3, 0))), "X", "empty table"),
    "X an empty frame": (lambda: lt.Empirical(pd.DataFrame()), "X", "empty table"),
    "X no rows but names": (lambda: lt.Empirical(FRAME.iloc[:0]), "X", "empty table"),
    "X an empty list": (lambda: lt.Empirical([]), "X", "rows and columns", "(0,)"),
    "X one row": (lambda: lt.Empirical(TABLE[0]), "X", "rows and columns", "(3,)"),
    "X in three dimensions": (lambda: lt.Empirical(TABLE[None]), "X", "(1, 40, 3)"),
    "X nothing": (lambda: lt.Empirical(None), "X", "rows and columns"),
    "X nan": (
        lambda: lt.Gaussian.from_data(np.where(TABLE > 1, NAN, TABLE)),
        *("X", "finite", "'x1' holds nan"),
    ),
    "X inf": (lambda: lt.Empirical(FRAME[["size"]] / 0.0), "X", "finite", "'size'"),
    "X none among numbers": (
        lambda: lt.Gaussian.from_data(pd.DataFrame({"a": [1, 2, None, 3, 4]}, dtype=object)),
        *("X", "finite", "'a'"),
    ),
    "X missing integers": (
        lambda: lt.Gaussian.from_data(
            pd.DataFrame({"a": pd.array([1, 2, None, 3], dtype="Int64")})
        ),
        *("X", "finite", "'a'"),
    ),
    "X fewer rows than boxes": (
        lambda: lt.Empirical(TABLE[:3]),
        *("X", "as many rows as boxes (4)", "got 3"),
    ),
    "X fewer rows than one column's boxes": (
        lambda: lt.Empirical(TABLE, p=[4, 50, 4]),
        *("X", "as many rows as boxes (50)", "got 40"),
    ),
    "X text": (lambda: lt.Empirical(FRAME), "X", "'town' holds text", "categorical="),
    "X text of digits": (
        lambda: lt.Empirical(pd.DataFrame({"zip": ["10115", "75001"] * 4})),
        *("X", "'zip' holds text", "categorical="),
    ),
    "X text in an array": (lambda: lt.Empirical(FRAME.to_numpy()), "X", "'x2' holds text"),
    "X dates": (
        lambda: lt.Empirical(pd.DataFrame({"day": pd.date_range("2020", periods=9)})),
        *("X", "'day' holds dates", "numbers"),
    ),
    "X nothing but gaps": (
        lambda: lt.Empirical(pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [None] * 4})),
        *("X", "'b' is all missing"),
    ),
    "X text and numbers": (
        lambda: lt.Empirical(pd.DataFrame({"t": ["a", 1] * 4}, dtype=object), categorical="t"),
        *("X", "'t' also holds 1"),
    ),
    "X one name twice": (
        lambda: lt.Empirical(pd.DataFrame(TABLE, columns=["a", "b", "a"])),
        *("X", "different column names", "'a'"),
    ),
    "p per column": (lambda: lt.Empirical(TABLE, p=[4, 4]), "p", "one per column (3)", "(2,)"),
    "empirical p": (lambda: lt.Empirical(TABLE, p=1), "p", "2 or more", "got 1"),
    "categorical unknown": (
        lambda: lt.Empirical(FRAME, categorical=["city"]),
        *("categorical", "positions 0 to 2", "'city'"),
    ),
    "categorical too far": (
        lambda: lt.Empirical(FRAME, categorical=[3]),
        *("categorical", "positions 0 to 2", "got 3"),
    ),
    "categorical below": (lambda: lt.Empirical(TABLE, categorical=-1), "categorical", "got -1"),
    "edges a list": (lambda: lt.Empirical(TABLE, edges=[0, 1]), "edges", "dict", "[0, 1]"),
    "edges of nothing": (lambda: lt.Empirical(TABLE, edges={"q": [0]}), "edges", "'q'"),
    "edges falling": (lambda: lt.Empirical(TABLE, edges={0: [1, 0]}), "edges[0]", "increase"),
    "edges equal": (lambda: lt.Empirical(TABLE, edges={0: [1, 1]}), "edges[0]", "increase"),
    "edges nan": (lambda: lt.Empirical(TABLE, edges={"x1": [NAN]}), "edges['x1']", "finite"),
    "edges empty": (lambda: lt.Empirical(TABLE, edges={0: []}), "edges[0]", "at least one"),
    "a world of three asked for two": (lambda: EMPIRICAL.boxes(2), "xi", "3 entries", "got 2"),
    "samples that were not kept": (
        lambda: lt.explain(lt.Linear([1]), [0.0], GAUSSIAN, 1).x,
        *("keep", "True"),
    ),
}


@pytest.mark.parametrize("case", MAKE)
def test_worlds_and_models_refuse(case):
    call, argument, *parts = MAKE[case]
    says(call, ValueError, argument, *parts)


LIMIT = {
    "f a number": ({"f": 3}, "f", "function", "estimator", "got 3"),
    "a of another length": ({"f": lt.Linear([1, 2]), "world": EMPIRICAL}, "a", "3 entries"),
    "xi too short": ({"xi": [0, 1]}, "xi", "3 entries", "got 2"),
    "xi nan": ({"xi": [0, NAN, 0]}, "xi", "finite"),
    "nu zero": ({"nu": 0}, "nu", "above 0"),
    "no product": ({"kernel": "cosine"}, "kernel", "'gaussian', 'laplace', 'mismatch'", "'cosine'"),
    "world": ({"world": lt.Empirical}, "world", "lt.Empirical(...)", "class"),
    "ridge without n": ({"ridge": 1.0}, "n", "1 or more", "ridge"),
    "ridge negative": ({"ridge": -1.0}, "ridge", "0 or above"),
}


@pytest.mark.parametrize("case", LIMIT)
def test_limit_refuses(case):
    changes, argument, *parts = LIMIT[case]
    asked = {"f": lt.Linear([1, 2, 3]), "xi": [0, 0, 0], "world": GAUSSIAN, "nu": 1.0} | changes
    says(lambda: lt.limit(**asked), (ValueError, TypeError), argument, *parts)


# ---------------------------------------------------------------------------- what is allowed

GOOD = {
    "a list": [0.1, 0.2, 0.3],
    "a tuple": (0.1, 0.2, 0.3),
    "an array": np.array([0.1, 0.2, 0.3]),
    "32 bits": np.array([0.1, 0.2, 0.3], dtype=np.float32).astype(float).round(6),
    "objects": np.array([0.1, 0.2, 0.3], dtype=object),
    "a table of one row": [[0.1, 0.2, 0.3]],
    "a series": pd.Series([0.1, 0.2, 0.3], index=["a", "b", "c"]),
    "a frame of one row": pd.DataFrame([[0.1, 0.2, 0.3]]),
}


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("world", [GAUSSIAN, EMPIRICAL], ids=["gaussian", "empirical"])
def test_an_instance_comes_in_many_forms(kind, world):
    e = lt.explain(lt.Linear([1, 2, 3]), GOOD[kind], world, 1.0, seed=0)
    np.testing.assert_array_equal(e.xi, [0.1, 0.2, 0.3])
    plain = lt.explain(lt.Linear([1, 2, 3]), [0.1, 0.2, 0.3], world, 1.0, seed=0)
    np.testing.assert_array_equal(e.coef, plain.coef)


@pytest.mark.parametrize("xi", [FRAME.iloc[0], FRAME.iloc[[0]], list(FRAME.iloc[0])])
def test_a_row_with_text_comes_as_series_frame_or_list(xi):
    e = lt.explain(lambda frame: frame["rooms"].to_numpy(), xi, MIXED, 1.0, seed=0)
    assert e.prediction == 1.0


def test_whole_numbers_may_come_as_floats_and_numpy_numbers():
    f, xi = lt.Linear([1, 2, 3]), [0, 0, 0]
    for n in (100, 100.0, np.int32(100), np.float64(100)):
        assert lt.explain(f, xi, lt.Gaussian(p=np.int64(4)), 1.0, n=n).n == 100
    assert lt.Gaussian(p=4.0).boxes(1).law.prob.shape == (1, 4)


def test_a_seed_may_be_a_numpy_number_or_a_generator():
    f, xi = lt.Linear([1, 2, 3]), [0, 0, 0]
    one = lt.explain(f, xi, GAUSSIAN, 1.0, seed=7).coef
    np.testing.assert_array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=np.int64(7)).coef, one)
    rng = np.random.default_rng(7)
    np.testing.assert_array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=rng).coef, one)
    assert not np.array_equal(lt.explain(f, xi, GAUSSIAN, 1.0, seed=rng).coef, one)  # it moved on


def test_an_explanation_does_not_change_with_the_array_it_was_asked_for():
    xi = np.zeros(3)
    e = lt.explain(lt.Linear([1, 2, 3]), xi, GAUSSIAN, 1.0, seed=0)
    xi += 5
    assert e.xi.tolist() == [0, 0, 0]


def test_no_categorical_columns_may_be_none():
    assert not lt.Empirical(TABLE, categorical=None).boxes().kinds


# ---------------------------------------------------------------------------- warnings


def warned(call):
    with pytest.warns(lt.FitWarning) as caught:
        result = call()
    assert all(w.filename == __file__ for w in caught)  # it points at the caller's line
    messages = [str(w.message) for w in caught]
    assert tuple(messages) == result.warnings
    for message in messages:
        assert message.endswith(".") and "\n" not in message
        assert message in repr(result)
    return result, messages


def test_few_effective_samples_warn_with_the_number_and_the_remedy():
    f, xi = lt.Linear([1, 2, 3]), [2.0, 2.0, -2.0]
    e, messages = warned(lambda: lt.explain(f, xi, GAUSSIAN, 0.25, n=400, seed=0))
    assert e.ess < 20
    assert messages[0] == (
        f"The effective sample size is {e.ess:.1f} of n=400, and 4 coefficients want at least 20: "
        "raise nu or n, or use sampler='tilted'."
    )


def test_five_effective_samples_for_each_coefficient_are_enough():
    f, xi, halves = lt.Linear([1, 2, 3]), [0.1, 0.1, 0.1], lt.Gaussian(p=2)
    kernel = lambda x, z, xi, nu: np.arange(len(x)) < 20  # noqa: E731
    assert lt.explain(f, xi, halves, 1, seed=3, kernel=kernel).ess == pytest.approx(20)
    kernel = lambda x, z, xi, nu: np.arange(len(x)) < 19  # noqa: E731
    _, messages = warned(lambda: lt.explain(f, xi, halves, 1, seed=3, kernel=kernel))
    assert "size is 19.0 of n=5000" in messages[0]
    assert "tilted" not in messages[0]  # a kernel of one's own cannot be tilted


def test_a_singular_fit_warns_with_the_features():
    """With nu = 0.05 around the middle of a box no sample leaves it."""
    world, f, xi = lt.Gaussian(0, 1, 3), lt.Linear([1, 1]), [0.0, 0.43]
    e, messages = warned(lambda: lt.explain(f, xi, world, 0.05, n=20_000, seed=0, sampler="tilted"))
    assert messages == [
        "The fit is singular in 1 feature(s) ['x1']: among the weighted samples their indicators "
        "do not vary, or not apart from others; raise nu or n."
    ]
    assert e.coef[0] == 0 and e.stderr[0] == 0 and e.coef[1] != 0
    assert [j for j, _ in e.as_map()[1]] == [1]


def test_ridge_makes_a_singular_fit_unique_and_quiet():
    world, f, xi = lt.Gaussian(0, 1, 3), lt.Linear([1, 1]), [0.0, 0.43]
    e = lt.explain(f, xi, world, 0.05, n=20_000, seed=0, sampler="tilted", ridge=1e-3)
    assert e.warnings == ()


def test_a_good_fit_says_nothing():
    assert lt.explain(lt.Linear([1, 2]), [0.3, 0.3], GAUSSIAN, 1.0, seed=0).warnings == ()
