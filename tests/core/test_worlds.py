"""Worlds: what boxes they have, and what becomes of odd columns and odd instances."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lime.discretize import DecileDiscretizer, QuartileDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes

import limetutor as lt
from limetutor.worlds import default_names, standard_quantiles

DATA = {
    "diabetes": load_diabetes(as_frame=True),
    "breast cancer": load_breast_cancer(as_frame=True),
}

# ---------------------------------------------------------------------------- Gaussian


@pytest.mark.parametrize("p", [2, 3, 4, 5, 10, 101])
def test_standard_quantiles_cut_the_normal_into_equal_masses(p):
    q = standard_quantiles(p)
    assert q[0] == -np.inf and q[-1] == np.inf
    # equal masses, as well as a difference of two Phi can tell
    np.testing.assert_allclose(np.diff(stats.norm.cdf(q)), 1 / p, rtol=1e-12)
    np.testing.assert_array_equal(q, -q[::-1])  # to the last digit: switch-offs depend on it


def test_scalars_stretch_to_the_instance():
    world = lt.Gaussian(1.0, 2.0, 3)
    assert world.d is None
    scalar, vector = world.boxes(4), lt.Gaussian([1.0] * 4, [2.0] * 4, [3] * 4).boxes()
    assert scalar.d == vector.d == 4
    for name in ("log_prob", "mean", "sd", "lo", "hi"):
        np.testing.assert_array_equal(getattr(scalar.law, name), getattr(vector.law, name))


def test_one_value_per_feature_and_scalars_mix():
    boxes = lt.Gaussian(0.0, [1.0, 5.0], [2, 4]).boxes()
    np.testing.assert_array_equal(boxes.edges[0], [0.0])
    np.testing.assert_allclose(boxes.edges[1], 5 * stats.norm.ppf([0.25, 0.5, 0.75]), atol=1e-14)
    assert boxes.law.prob[0].tolist() == [0.5, 0.5, 0, 0]


def test_scalars_and_vectors_explain_alike():
    f, xi = lt.Linear([1, -2, 3]), [0.1, 0.9, -2]
    scalar, vector = lt.Gaussian(0, 1, 4), lt.Gaussian([0] * 3, [1] * 3, [4] * 3)
    a, b = (lt.explain(f, xi, world, 1.0, seed=0).coef for world in (scalar, vector))
    np.testing.assert_array_equal(a, b)


def test_from_data_estimates_mean_and_deviation():
    frame = DATA["diabetes"].data * [3, 1, 1, 1, 1, 1, 1, 1, 1, 200] + 5
    world = lt.Gaussian.from_data(frame, p=5)
    np.testing.assert_allclose(world.mu, frame.mean())
    np.testing.assert_allclose(world.sigma, frame.std(ddof=0))
    assert world.names == tuple(frame.columns)
    assert world.d == 10
    array = lt.Gaussian.from_data(frame.to_numpy())
    assert array.names == default_names(10)


def test_an_edge_belongs_to_the_upper_box_in_the_paper():
    """Left-closed boxes [q_k, q_(k+1))."""
    boxes = lt.Gaussian(0, 1, 4).boxes(1)
    q = boxes.edges[0]
    on, below = boxes.discretize(q[:, None])[:, 0], boxes.discretize(np.nextafter(q, -9)[:, None])
    assert on.tolist() == [1, 2, 3]
    assert below[:, 0].tolist() == [0, 1, 2]
    assert boxes.describe(0, 2) == "0 <= x1 < 0.674"
    assert boxes.describe(0, 0) == "x1 < -0.674"
    assert boxes.describe(0, 3) == "x1 >= 0.674"


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(2, 12), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.floats(-6, 6))
def test_a_value_lies_between_the_ends_of_its_box(p, mu, sigma, t):
    boxes = lt.Gaussian(mu, sigma, p).boxes(1)
    value = mu + sigma * t
    lo, hi = boxes.ends(0, boxes.discretize(np.array([[value]]))[0, 0])
    assert lo <= value < hi


# ---------------------------------------------------------------------------- Empirical and lime


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("p", "discretizer"), [(4, QuartileDiscretizer), (10, DecileDiscretizer)])
def test_boxes_are_the_bins_of_lime(data, p, discretizer):
    X, names = DATA[data].data.to_numpy(), list(DATA[data].data.columns)
    theirs = discretizer(X, [], names)
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
        full = boxes.law.prob[j, :k] > 0
        scale = X[:, j].std()
        # sums in another order; `lime` adds 1e-11 to each deviation
        np.testing.assert_allclose(
            boxes.law.mean[j, :k][full], np.array(theirs.means[j])[full], atol=1e-12 * scale
        )
        np.testing.assert_allclose(
            boxes.law.sd[j, :k][full], np.array(theirs.stds[j])[full], atol=1e-12 * scale + 1.1e-11
        )


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("p", "discretizer"), [(4, "quartile"), (10, "decile")])
def test_frequencies_are_those_of_lime(data, p, discretizer):
    X = DATA[data].data.to_numpy()
    theirs = LimeTabularExplainer(X, discretizer=discretizer, mode="regression")
    law = lt.Empirical(X, p=p).boxes().law
    for j in range(X.shape[1]):
        values = np.array(theirs.feature_values[j], dtype=int)
        expected = np.zeros(law.prob.shape[1])
        expected[values] = theirs.feature_frequencies[j]
        np.testing.assert_allclose(law.prob[j], expected, rtol=1e-14)


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


def test_an_edge_belongs_to_the_lower_box_in_lime():
    X = np.arange(9.0)[:, None]
    boxes = lt.Empirical(X).boxes()
    assert boxes.edges[0].tolist() == [2.0, 4.0, 6.0]
    assert boxes.discretize(boxes.edges[0][:, None])[:, 0].tolist() == [0, 1, 2]
    assert boxes.describe(0, 0) == "x1 <= 2"
    assert boxes.describe(0, 1) == "2 < x1 <= 4"
    assert boxes.describe(0, 3) == "x1 > 6"
    assert boxes.law.prob[0].tolist() == [3 / 9, 2 / 9, 2 / 9, 2 / 9]


def test_names_are_carried_through():
    frame = DATA["diabetes"].data
    world = lt.Empirical(frame)
    assert world.names == tuple(frame.columns)
    e = lt.explain(lambda x: x[:, 2], frame.iloc[0], world, 1.0, seed=0)
    assert e.names == tuple(frame.columns)
    assert "bmi" in e.as_list()[0][0]
    assert lt.Empirical(frame.to_numpy()).names == default_names(10)


def test_columns_named_by_numbers_keep_their_numbers():
    frame = DATA["diabetes"].data.set_axis(range(10, 20), axis=1)
    assert lt.Empirical(frame).names == tuple("10 11 12 13 14 15 16 17 18 19".split())


def test_tables_come_as_arrays_lists_or_frames():
    X = DATA["diabetes"].data.to_numpy()[:40]
    kinds = [X, X.tolist(), pd.DataFrame(X), X.astype(object), np.asfortranarray(X)]
    laws = [lt.Empirical(kind).boxes().law.mean for kind in kinds]
    for law in laws[1:]:
        np.testing.assert_array_equal(law, laws[0])


def test_p_may_differ_by_column():
    boxes = lt.Empirical(DATA["diabetes"].data.iloc[:, [0, 2]], p=[2, 7]).boxes()
    assert [len(e) for e in boxes.edges] == [1, 6]


@pytest.mark.parametrize("column", ["bmi", 2])
def test_edges_can_be_given_by_name_or_position(column):
    frame = DATA["diabetes"].data
    boxes = lt.Empirical(frame, edges={column: [-0.05, 0.0, 0.05]}).boxes()
    np.testing.assert_array_equal(boxes.edges[2], [-0.05, 0.0, 0.05])
    bmi = frame["bmi"].to_numpy()
    assert boxes.law.prob[2, 0] == pytest.approx(np.mean(bmi <= -0.05))
    assert boxes.law.prob[2, 2] == pytest.approx(np.mean((bmi > 0) & (bmi <= 0.05)))
    assert boxes.law.mean[2, 3] == pytest.approx(bmi[bmi > 0.05].mean())
    # the others keep their quartiles
    np.testing.assert_array_equal(boxes.edges[0], lt.Empirical(frame).boxes().edges[0])


def test_given_edges_may_leave_boxes_empty():
    X = np.linspace(0, 1, 50)[:, None]
    world = lt.Empirical(X, edges={0: [-5.0, 0.5, 7.0]})
    assert world.boxes().law.prob[0].tolist() == [0.0, 0.5, 0.5, 0.0]
    e = lt.explain(lambda x: x[:, 0], [0.2], world, 1.0, seed=0, keep=True)
    assert e.x.min() > -5 and e.x.max() <= 7  # boxes with values reach to the edges given
    with pytest.warns(lt.FitWarning, match=r"all or none of its values in xi's box"):
        e = lt.explain(lambda x: x[:, 0], [9.0], world, 1.0, seed=0)
    assert e.coef.tolist() == [0.0] and e.as_list() == []


# ---------------------------------------------------------------------------- odd columns


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


def test_a_column_of_two_values_has_a_box_for_each():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [0.0], [0.0], [1.0]])
    world = lt.Empirical(X)
    e = lt.explain(lambda x: 3 * x[:, 0] + 1, [1.0], world, 1.0, seed=0, keep=True)
    assert set(e.x[:, 0]) == {0.0, 1.0}
    assert e.coef[0] == pytest.approx(3, rel=1e-12)
    assert e.x.mean() == pytest.approx(3 / 8, abs=4 * np.sqrt(3 / 8 * 5 / 8 / 5000))


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


def test_boolean_columns_count_as_0_and_1():
    frame = pd.DataFrame({"a": np.arange(8.0), "flag": [True, False] * 4})
    e = lt.explain(lambda x: 5 * x[:, 1], [3, True], lt.Empirical(frame), 1.0, seed=0, keep=True)
    assert set(e.x[:, 1]) == {0.0, 1.0}
    assert e.coef[1] == pytest.approx(5, rel=1e-12)


def test_an_instance_outside_the_training_range_lies_in_an_outer_box():
    X = DATA["diabetes"].data.to_numpy()
    world = lt.Empirical(X)
    far = np.full(10, 100.0)
    far[1] = X[:, 1].max()  # above its largest value `sex` has no box with values
    e = lt.explain(lambda x: x.sum(axis=1), far, world, 1e3, seed=0, keep=True)
    assert np.all(e.x.max(axis=0) <= X.max(axis=0))
    np.testing.assert_array_equal(
        np.delete(world.boxes().discretize(far[None])[0], 1), np.full(9, 3)
    )
    gaussian = lt.explain(lambda x: x.sum(axis=1), [100.0, 1e6], lt.Gaussian(), 1e7, seed=0)
    assert all(name.endswith(">= 0.674") for name in gaussian.box_names)


# ---------------------------------------------------------------------------- categorical columns

COLOURS = pd.DataFrame(
    {
        "size": np.linspace(0, 1, 60),
        "colour": ["red", "blue", "red", "green", "blue", "red"] * 10,
        "rooms": [1, 2, 2, 5, 1, 2] * 10,
        "code": ["10", "9", "10", "10", "9", "9"] * 10,
    }
)
CATEGORICAL = ["colour", "rooms", "code"]


def colour_world(**options):
    return lt.Empirical(COLOURS, categorical=CATEGORICAL, **options)


def test_categorical_columns_have_one_box_per_value():
    boxes = colour_world().boxes()
    assert boxes.ordered.tolist() == [True, False, False, False]
    assert boxes.kind(1).labels.tolist() == ["blue", "green", "red"]
    np.testing.assert_allclose(boxes.law.prob[1][:3], [1 / 3, 1 / 6, 1 / 2])
    assert [boxes.describe(1, k) for k in range(3)] == [
        "colour = blue",
        "colour = green",
        "colour = red",
    ]
    assert [boxes.describe(2, k) for k in range(3)] == ["rooms = 1", "rooms = 2", "rooms = 5"]


def test_text_that_looks_like_numbers_stays_text():
    boxes = colour_world().boxes()
    assert boxes.kind(3).labels.tolist() == ["10", "9"]
    assert boxes.kind(2).labels is None  # rooms are numbers


def test_a_model_gets_its_text_back():
    seen = []

    def price(frame):
        seen.append(frame)
        return (
            frame["size"].to_numpy()
            + 2.0 * (frame["colour"] == "red").to_numpy()
            - 1.0 * (frame["rooms"] == 5).to_numpy()
            + 4.0 * (frame["code"] == "9").to_numpy()
        )

    xi = COLOURS.iloc[0]  # red, 1 room, code 10
    e = lt.explain(price, xi, colour_world(), 5.0, n=4000, seed=0)
    assert e.prediction == pytest.approx(2.0)
    assert set(seen[-1]["colour"]) == {"red", "green", "blue"}
    assert set(seen[-1]["code"]) == {"9", "10"}
    assert set(seen[-1]["rooms"]) == {1.0, 2.0, 5.0}
    # red against the rest, code 10 against 9; 1 room against 2 (three times as often) and 5
    truth = [2.0, 0.25, -4.0]
    assert np.all(np.abs(e.coef[1:] - truth) < 4 * e.stderr[1:])
    assert dict(e.as_list()).keys() >= {"colour = red", "rooms = 1", "code = 10"}


def test_text_in_an_object_array():
    table = COLOURS.to_numpy(dtype=object)
    e = lt.explain(
        lambda frame: 1.0 * (frame["x2"] == "red").to_numpy(),
        table[0],
        lt.Empirical(table, categorical=[1, 2, 3]),
        5.0,
        seed=0,
    )
    assert e.coef[1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_numeric_categories_weigh_by_agreement_not_by_distance(kernel):
    """Relabelling the values of a categorical column changes no number."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 3, 300)])
    Y = X.copy()
    Y[:, 1] = np.array([0.0, 50.0, 1000.0])[X[:, 1].astype(int)]
    f = lambda x: x[:, 0] + (x[:, 1] == 0)  # noqa: E731
    xi = np.array([0.3, 0.0])
    a, b = (
        lt.explain(f, xi, lt.Empirical(T, categorical=[1]), 1.0, seed=0, kernel=kernel)
        for T in (X, Y)
    )
    np.testing.assert_array_equal(a.coef, b.coef)


def test_a_category_declared_by_name_or_position_is_the_same():
    a = lt.Empirical(COLOURS, categorical=CATEGORICAL).boxes()
    b = lt.Empirical(COLOURS, categorical=[1, 2, 3]).boxes()
    np.testing.assert_array_equal(a.law.mean, b.law.mean)
    single = lt.Empirical(COLOURS[["size", "rooms"]], categorical="rooms").boxes()
    assert single.ordered.tolist() == [True, False]


def test_pandas_categoricals_are_text_columns():
    frame = COLOURS.assign(colour=COLOURS["colour"].astype("category"))
    boxes = lt.Empirical(frame, categorical=CATEGORICAL).boxes()
    assert boxes.kind(1).labels.tolist() == ["blue", "green", "red"]


# ---------------------------------------------------------------------------- as objects


def test_worlds_can_be_pickled_and_read():
    for world in (lt.Gaussian([0, 1], 1, 4), colour_world()):
        again = pickle.loads(pickle.dumps(world))
        np.testing.assert_array_equal(again.boxes().law.mean, world.boxes().law.mean)
    assert repr(lt.Gaussian(0, 1, 4)) == "Gaussian(mu=0, sigma=1, p=4)"
    assert repr(colour_world()) == "Empirical(60 rows, 4 features, p=4)"


def test_a_world_does_not_change_with_the_arrays_it_was_made_from():
    mu, X = np.zeros(2), np.random.default_rng(0).normal(size=(30, 2))
    gaussian, empirical = lt.Gaussian(mu, 1), lt.Empirical(X)
    mu += 5
    X += 5
    assert gaussian.mu.tolist() == [0, 0]
    assert empirical.boxes().mu.max() < 1
