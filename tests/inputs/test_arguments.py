"""Bad input: one sentence that names the argument, what came and what is allowed, before any work.

Tables of calls and what their sentence must hold: ``support/refused.txt``. ``tests/fuzz`` has calls drawn by chance.
"""

import re
from pathlib import Path

import numpy as np
import odd_calls as odd
import pandas as pd
import pytest
from fuzz import REFUSED, RIGHT, ends
from sentences import says

import limetutor as lt
from limetutor.inputs.warning_classes import LimetutorWarning

NAN, INF = np.nan, np.inf
GAUSSIAN, LINEAR = lt.Gaussian(), lt.Linear([1, 2, 3])
TABLE = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pd.DataFrame(
    {"size": TABLE[:, 0], "town": ["Rome", "Paris"] * 20, "rooms": [1, 2, 3, 5] * 10}
)
EMPIRICAL = lt.Empirical(TABLE)
MIXED = lt.Empirical(FRAME, categorical=["town", "rooms"])
CLASSIFIER = odd.RandomForestClassifier(3, random_state=0).fit(TABLE, ["a", "b", "c", "a"] * 10)
UNFIT_COLUMNS = odd.LinearRegression().fit(FRAME[["size", "rooms"]], TABLE[:, 1])


def each_of(title):
    """The lines of one table of refused.txt."""
    text = (Path(__file__).parent / "support" / "refused.txt").read_text(encoding="utf-8")
    table = re.search(rf"(?ms)^== {title}\n(.*?)(?:\n\n|\Z)", text)
    return pytest.mark.parametrize("case", table[1].strip().splitlines())


def evaluated(source):
    return eval(source, {**vars(odd), **globals()})


def changed(source, **working):
    return {
        "xi": [0.1, 0.2, 0.3],
        "world": GAUSSIAN,
        "nu": 1.0,
        **working,
        **evaluated(f"dict({source})"),
    }


@each_of("explain, before it calls the model")
def test_explain_refuses_before_it_calls_the_model(case):
    source, *said = case.split(" | ")
    calls = []

    def f(x):
        calls.append(x)
        return np.zeros(len(x))

    says(lambda: lt.explain(f, **changed(source)), (ValueError, TypeError), *said)
    assert calls == []


def test_the_call_that_these_cases_change_works():
    lt.explain(lambda x: np.zeros(len(x)), **changed("n=100"))


@each_of("explain, what a model or a kernel returns")
def test_explain_refuses_what_a_model_or_a_kernel_returns(case):
    source, *said = case.split(" | ")
    error = ValueError if source.startswith("kernel") else (ValueError, TypeError)
    says(lambda: lt.explain(**changed(source, f=lt.Linear([1, 2, 3]))), error, *said)


@each_of("limit")
def test_limit_refuses(case):
    source, *said = case.split(" | ")
    asked = changed(source, f=lt.Linear([1, 2, 3]), xi=[0, 0, 0])
    says(lambda: lt.limit(**asked), (ValueError, TypeError), *said)


@each_of("worlds, models, paths and risks")
def test_other_calls_refuse(case):
    source, *said = case.split(" | ")
    says(lambda: evaluated(source), (ValueError, TypeError), *said)


@each_of("calls that once ended badly, and no chance may forget")
def test_what_was_mended_stays_mended(case, monkeypatch):
    monkeypatch.setenv("LIMETUTOR_MODE", "static")
    assert ends(odd.evaluated(case)) in (RIGHT, REFUSED)


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


def test_all_warnings_are_of_one_kind_that_can_be_silenced():
    kinds = [lt.FitWarning, lt.PrecisionWarning, LimetutorWarning]
    assert all(
        issubclass(kind, LimetutorWarning) and issubclass(kind, UserWarning) for kind in kinds
    )
