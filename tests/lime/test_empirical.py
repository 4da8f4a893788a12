"""Worlds read off a training set: the boxes of `lime`, and what becomes of odd columns."""

import numpy as np
import pandas as pd
import pytest
from lime.discretize import QuartileDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_breast_cancer, load_diabetes

import limetutor as lt

DATA = {
    "diabetes": load_diabetes(as_frame=True),
    "breast cancer": load_breast_cancer(as_frame=True),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("p", "discretizer"), [(4, "quartile"), (10, "decile")])
def test_boxes_are_the_bins_of_lime(data, p, discretizer):
    X = DATA[data].data.to_numpy()
    explainer = LimeTabularExplainer(X, discretizer=discretizer, mode="regression")
    theirs = explainer.discretizer
    boxes = lt.Empirical(X, p=p).boxes()
    np.testing.assert_array_equal(boxes.discretize(X), theirs.discretize(X))
    rows, odd = X[:20] * 1.3 - 0.1, X[:20] * 1e3  # not training values; outside their range
    for other in (rows, odd, -odd):
        np.testing.assert_array_equal(boxes.discretize(other), theirs.discretize(other))
    for j in range(X.shape[1]):
        k = len(boxes.edges[j]) + 1
        assert k == len(theirs.names[j])
        np.testing.assert_allclose(boxes.law.lo[j, :k], theirs.mins[j], rtol=1e-14)
        np.testing.assert_allclose(boxes.law.hi[j, :k], theirs.maxs[j], rtol=1e-14)
        full = np.array(explainer.feature_values[j], dtype=int)  # the others have no values
        frequency = np.zeros(boxes.law.prob.shape[1])
        frequency[full] = explainer.feature_frequencies[j]
        np.testing.assert_allclose(boxes.law.prob[j], frequency, rtol=1e-14)
        scale = X[:, j].std()
        # sums in another order; `lime` adds 1e-11 to each deviation
        np.testing.assert_allclose(
            boxes.law.mean[j, :k][full], np.array(theirs.means[j])[full], atol=1e-12 * scale
        )
        np.testing.assert_allclose(
            boxes.law.sd[j, :k][full], np.array(theirs.stds[j])[full], atol=1e-12 * scale + 1.1e-11
        )


def test_box_names_read_as_in_lime():
    X = DATA["diabetes"].data
    theirs = QuartileDiscretizer(X.to_numpy(), [], list(X.columns)).names
    boxes = lt.Empirical(X).boxes()
    for j in range(10):
        for k, name in enumerate(theirs[j]):
            ours = boxes.describe(j, k).split()
            assert [w for w in ours if w in ("<", "<=", ">", X.columns[j])] == [
                w for w in name.split() if w in ("<", "<=", ">", X.columns[j])
            ]


def test_columns_named_by_numbers_keep_their_numbers():
    frame = DATA["diabetes"].data.set_axis(range(10, 20), axis=1)
    assert lt.Empirical(frame).names == tuple("10 11 12 13 14 15 16 17 18 19".split())


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 + 0.3, -7.0])
@pytest.mark.parametrize("sampler", ["bins", "gaussian", "tilted"])
def test_a_constant_column_is_sampled_at_its_value_and_left_out(value, sampler):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.full(60, value), rng.normal(size=60)])
    with pytest.warns(lt.FitWarning, match=r"1 feature\(s\) \['x2'\].*leave the columns out"):
        e = lt.explain(
            lambda x: x[:, 0], X[0], lt.Empirical(X), 1.0, seed=0, sampler=sampler, keep=True
        )
    assert set(e.x[:, 1]) == {value}
    assert e.coef[1] == 0 and e.stderr[1] == 0 and np.all(e.stderr[[0, 2]] > 0)
    assert [name for name, _ in e.as_list() if "x2" in name] == []


@pytest.mark.parametrize("p", [2, 4, 9])
def test_a_box_of_one_value_holds_it_and_a_box_of_several_is_filled(p):
    values = np.repeat([1.0, 2.0, 3.0], [50, 30, 20])
    world = lt.Empirical(values[:, None], p=p)
    boxes = world.boxes()
    e = lt.explain(lambda x: x[:, 0], [2.0], world, 1.0, seed=0, keep=True)
    own = boxes.discretize(e.x)[:, 0]
    for k, sd in enumerate(boxes.law.sd[0]):
        held = np.unique(values[boxes.discretize(values[:, None])[:, 0] == k])
        if len(held) == 1:
            assert sd == 0 and set(e.x[own == k, 0]) == set(held)
        elif len(held) > 1:
            lo, hi = boxes.law.lo[0, k], boxes.law.hi[0, k]
            assert sd > 0 and len(set(e.x[own == k, 0])) > 1000
            assert lo <= e.x[own == k, 0].min() and e.x[own == k, 0].max() <= hi


def test_an_instance_outside_the_training_range_lies_in_an_outer_box():
    X = DATA["diabetes"].data.to_numpy()
    world = lt.Empirical(X)
    far = np.full(10, 100.0)
    far[1] = X[:, 1].max()  # above its largest value `sex` has no box with values
    e = lt.explain(lambda x: x.sum(axis=1), far, world, 1e3, seed=0, keep=True)
    assert np.all(e.x.max(axis=0) <= X.max(axis=0))
    np.testing.assert_array_equal(np.delete(world.boxes().discretize(far[None])[0], 1), [3] * 9)
    gaussian = lt.explain(lambda x: x.sum(axis=1), [100.0, 1e6], lt.Gaussian(), 1e7, seed=0)
    assert all(name.endswith(">= 0.674") for name in gaussian.box_names)


def test_a_model_gets_its_text_back():
    table = pd.DataFrame({"size": np.arange(8.0), "colour": ["red", "green", "blue", "red"] * 2})
    seen = []

    def price(frame):
        seen.append(frame)
        return 2.0 * (frame["colour"] == "red").to_numpy()

    world = lt.Empirical(table, categorical="colour")
    e = lt.explain(price, table.iloc[0], world, 5.0, n=4000, seed=0)
    assert set(seen[-1]["colour"]) == {"red", "green", "blue"} and e.prediction == 2.0
    assert abs(e.coef[1] - 2.0) < 1e-9 and "colour = red" in dict(e.as_list())
