"""Many rows at once: importance against runs, the pick against lime's own code."""

from types import SimpleNamespace

import numpy as np
import pytest
from lime.submodular_pick import SubmodularPick

import limetutor as lt
from limetutor.many.overview import pick

rng = np.random.default_rng(0)
TABLE = rng.normal(size=(30, 4))
F = lt.Linear([3.0, -1.0, 0.3, 0.0])


def explanation(coef, boxes, features):
    """What `lime` would give `SubmodularPick` for a row."""
    order = np.argsort(-np.abs(coef), kind="stable")[:features]
    listed = [(f"{j} in {boxes[j]}", coef[j]) for j in order]
    return SimpleNamespace(mode="regression", as_list=lambda label: listed, available_labels=list)


@pytest.mark.parametrize("features", [2, 4])
def test_the_pick_is_that_of_lime(features):
    boxes = rng.integers(0, 4, size=(30, 4))
    coef = rng.normal(size=(30, 4)) * [3, 1, 2, 0.1]
    rows = iter([explanation(c, b, features) for c, b in zip(coef, boxes, strict=True)])
    lime = SimpleNamespace(explain_instance=lambda *_, **__: next(rows))
    theirs = SubmodularPick(lime, coef, None, method="full", num_exps_desired=6)
    found = pick(coef, np.zeros(coef.shape), boxes, 6, features, 0)
    assert list(found.rows) == theirs.V and np.all(found.again == 1)
    assert np.all(np.diff(found.covered) >= 0) and found.covered[-1] <= 1 + 1e-12


def test_importance_and_picks_of_runs():
    many = lt.explain_many(F, TABLE, lt.Gaussian(), nu=1.0, n=300, seed=1)
    frame = many.importance()
    assert list(frame.index[:2]) == ["x1", "x2"] and len(frame) == 4
    assert frame.importance["x1"] == pytest.approx(np.abs(many.coef[:, 0]).mean())
    # noise alone makes the importance of a feature without effect
    assert frame.importance["x4"] == pytest.approx(frame.noise["x4"], rel=0.4)
    others = [lt.explain_many(F, TABLE, lt.Gaussian(), nu=1.0, n=300, seed=s) for s in range(2, 26)]
    spread = np.std([np.abs(other.coef[:, 1]).mean() for other in others], ddof=1)
    assert frame.stderr["x2"] > spread  # which has the choice of rows in it as well
    found = many.pick(3)
    shares = [np.mean([i in other.pick(3).rows for other in others]) for i in found.rows]
    assert np.mean(np.abs(found.again - shares)) < 0.25
    exact = lt.limits(F, TABLE, lt.Gaussian(), nu=1.0).pick(3)
    assert np.all(exact.again == 1) and len(exact.rows) == 3
