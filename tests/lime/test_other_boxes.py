"""Worlds with other boxes are those of the real lime's discretizers."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer

import limetutor as lt
from limetutor.lime.other_boxes import recut

DATA = load_breast_cancer()
TABLE = np.column_stack([DATA.data[:, :5], DATA.target])


@pytest.mark.parametrize(("kind", "name"), [("decile", "deciles"), ("entropy", "entropy boxes")])
def test_boxes_are_those_of_lime(kind, name):
    labels = (TABLE[:, 0] > 14).astype(float)
    how = {"categorical_features": [5], "random_state": 0}
    plain = lt.from_lime(LimeTabularExplainer(TABLE, **how))
    real = LimeTabularExplainer(TABLE, discretizer=kind, training_labels=labels, **how)
    made, right = recut(plain, TABLE, labels)[name].boxes(), lt.from_lime(real).boxes()
    assert np.array_equal(made.discretize(TABLE), right.discretize(TABLE))
    for part in ("prob", "mean", "sd"):
        ours, theirs = getattr(made.law, part), getattr(right.law, part)
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)


def test_what_there_is_to_cut():
    plain = lt.from_lime(LimeTabularExplainer(TABLE, categorical_features=[5]))
    assert recut(plain, None, None) is None
    shifted = recut(plain, TABLE, None)["quartiles 5 percentiles lower"].boxes().edges[0]
    assert shifted[:3] == pytest.approx(np.percentile(TABLE[:, 0], [20, 45, 70]))
    assert set(recut(lt.Empirical(TABLE), None, None)) == {"deciles"}
    assert set(recut(lt.Empirical(TABLE, p=10), None, None)) == {"quartiles"}
    assert set(recut(lt.Gaussian(), None, None)) == {"deciles", "five boxes"}
    numbers = LimeTabularExplainer(TABLE, discretize_continuous=False)
    assert recut(lt.from_lime(numbers), TABLE, None) == {}
