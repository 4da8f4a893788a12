"""Columns of rows, worlds, models and explainers: matched by name, by position, or refused."""

from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import cases
from lime.lime_tabular import LimeTabularExplainer
from sentences import one_sentence
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.inputs.names import default_names, labels_of, nameless, order_of

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
TURNED = FRAME[["c", "a", "b"]]
MODEL = LinearRegression().fit(TURNED, X @ [1.0, 5.0, -3.0])
ROW = FRAME.iloc[4]
TRUTH = float(X[4] @ [1.0, 5.0, -3.0])


def test_default_names():
    assert default_names(3) == ("x1", "x2", "x3")
    assert nameless(["x1", "x2"]) and nameless(["0", "1"]) and nameless(())
    assert not nameless(["x2", "x1"]) and not nameless(["1", "2"]) and not nameless(["a", "x2"])


MATCHES = cases(Path(__file__).parent / "support" / "matches.txt")


@pytest.mark.parametrize(("names", "labels", "order"), MATCHES)
def test_names_win_over_positions_and_contradictions_are_none(names, labels, order):
    assert order_of(names.split(), labels.split()) == order


def test_names_that_come_with_rows():
    pair = namedtuple("pair", "b a")
    assert labels_of(pair(1, 2)) == ["b", "a"] and labels_of((1, 2)) == []
    assert labels_of(ROW) == labels_of(dict(ROW)) == labels_of(FRAME) == ["a", "b", "c"]
    assert labels_of(X) == labels_of([1, 2]) == []
    odd_names = pd.DataFrame(np.eye(2), columns=["body mass", "b"])
    (row, _) = odd_names.itertuples(index=False)  # which pandas calls _0
    assert labels_of(row) == [] and row.b == 0


def calls(f, row, table, world):
    """f at the row by everything that takes a model, a row and a world."""
    yield lt.explain(f, row, world, 1.0, 500, 0).prediction
    yield lt.limit(f, row, world, 1.0, samples=500).prediction
    yield lt.explain_many(f, table, world, 1.0, 500).prediction[0]
    yield lt.limits(f, table, world, 1.0, samples=500).prediction[0]
    yield lt.path(f, row, world, nu=[1.0, 2.0], samples=500).prediction
    yield lt.audit(world, f, row, nu=1.0, n=500).case.problem.prediction
    yield next(iter(lt.audit(world, f, table, nu=1.0, n=500))).case.problem.prediction


@pytest.mark.parametrize(
    "world",
    [lt.Empirical(X), lt.Gaussian([0.0] * 3), lt.from_lime(LimeTabularExplainer(X))],
    ids=str,
)
def test_a_world_that_lists_features_without_names_cannot_be_matched_with_two_orders(world):
    table = FRAME.iloc[4:6]
    for call in (
        lambda: lt.explain(MODEL, ROW, world, 1.0),
        lambda: lt.limit(MODEL, ROW, world, 1.0),
        lambda: lt.limits(MODEL, table, world, 1.0),
        lambda: lt.explain_many(MODEL, table, world, 1.0),
        lambda: lt.path(MODEL, ROW, world),
        lambda: lt.audit(world, MODEL, ROW, nu=1.0),
        lambda: lt.audit(world, MODEL, table, nu=1.0),
    ):
        one_sentence(call, "world must have names", "['a', 'b', 'c']", "['c', 'a', 'b']")
    # one order, or none, is taken as that of the world
    same = TURNED.iloc[4]
    assert lt.limit(MODEL, same, world, 1.0).prediction == pytest.approx(TRUTH)
    assert lt.limit(MODEL, same.to_numpy(), world, 1.0).prediction == pytest.approx(TRUTH)
    one_sentence(
        lambda: lt.limit(MODEL, ROW[["a", "b"]], world, 1.0), "xi must have the columns that f"
    )


def test_the_data_of_an_audit_are_matched_too():
    world, row = lt.Gaussian([0.0] * 3), TURNED.iloc[4]
    ask = {"nu": 1.0, "n": 500}
    one_sentence(
        lambda: lt.audit(world, MODEL, row, data=FRAME, **ask), "world must have names, since data"
    )
    assert lt.audit(world, MODEL, row, data=TURNED, **ask).case.shared.data.table.shape == (80, 3)
    found = lt.audit(lt.Gaussian(), MODEL, ROW, data=TURNED, **ask).case.shared.data
    np.testing.assert_array_equal(found.table, X)
    explanation = lt.explain(MODEL, row, world, 1.0, 500, 0)
    one_sentence(lambda: lt.audit(explanation, data=FRAME), "world must have names, since data")


def test_a_booster_of_lightgbm_goes_by_the_columns_it_was_trained_on():
    """It takes any array without a word."""
    lightgbm = pytest.importorskip("lightgbm")
    quiet = {"verbose": -1, "min_data_in_leaf": 5}
    y = X @ [1.0, 5.0, -3.0]
    booster = lightgbm.train(quiet, lightgbm.Dataset(TURNED, y), 10)
    truth = booster.predict(TURNED.iloc[[4]])[0]
    assert truth != booster.predict(X[[4]])[0]
    for found in calls(booster, ROW, FRAME.iloc[4:6], lt.Empirical(FRAME)):
        assert found == pytest.approx(truth)
    on_array = lightgbm.train(quiet, lightgbm.Dataset(X, y), 10)
    assert lt.explain(on_array, ROW, lt.Empirical(FRAME), 1.0, 200, 0).prediction == pytest.approx(
        on_array.predict(X[[4]])[0]
    )
    spaced = FRAME.rename(columns={"a": "body mass"})  # "body_mass" to LightGBM
    model = lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(
        spaced[["b", "body mass", "c"]], y
    )
    for world in (lt.Empirical(spaced), lt.Gaussian()):
        found = lt.explain(model, spaced.iloc[4], world, 1.0, 200, 0).prediction
        assert found == pytest.approx(model.predict(spaced[["b", "body mass", "c"]].iloc[[4]])[0])


def test_names_that_come_twice_are_refused_whoever_has_them():
    twice = ["a", "b", "a"]
    on_twice = SimpleNamespace(feature_names_in_=twice, predict=lambda x: np.zeros(len(x)))
    world = lt.Empirical(FRAME)
    one_sentence(
        lambda: lt.explain(MODEL, pd.Series(X[0], twice), world, 1.0), "xi must have different"
    )
    one_sentence(
        lambda: lt.limits(MODEL, pd.DataFrame(X, columns=twice), world, 1.0),
        "X must have different",
    )
    one_sentence(
        lambda: lt.explain(MODEL, pd.Series(X[0], twice), lt.Gaussian(), 1.0),
        "xi must have different",
    )
    one_sentence(
        lambda: lt.explain(on_twice, X[0], lt.Gaussian(), 1.0), "f must be fitted on", "'a'"
    )
    one_sentence(
        lambda: lt.limit(on_twice, X[0], lt.Empirical(X), 1.0), "f must be fitted on", "'a'"
    )
    one_sentence(lambda: lt.Gaussian(names=twice), "names must differ", "'a'")
    frame = pd.DataFrame(X, columns=twice)
    one_sentence(lambda: lt.Empirical(frame), "X must have different column names", "'a'")
    one_sentence(lambda: world.boxes().encode(frame.iloc[[0]]), "xi must have different", "'a'")
    explainer = LimeTabularExplainer(X, feature_names=twice, mode="regression")
    for call in (
        lambda: lt.from_lime(explainer),
        lambda: lt.predict_lime(explainer, lambda x: x[:, 0], X[0]),
        lambda: lt.audit(explainer, lambda x: x[:, 0], X[0]),
    ):
        one_sentence(call, "explainer must have different feature_names", "'a'")
