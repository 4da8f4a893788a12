"""Worlds: what boxes they have, and what becomes of odd columns and odd instances."""

import pickle

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

import limetutor as lt
from limetutor.core.boxes import default_names


def test_from_data_estimates_mean_and_deviation():
    frame = load_diabetes(as_frame=True).data * [3, 1, 1, 1, 1, 1, 1, 1, 1, 200] + 5
    world = lt.Gaussian.from_data(frame, p=5)
    np.testing.assert_allclose(world.mu, frame.mean())
    np.testing.assert_allclose(world.sigma, frame.std(ddof=0))
    assert world.names == tuple(frame.columns)
    assert world.d == 10
    array = lt.Gaussian.from_data(frame.to_numpy())
    assert array.names == default_names(10)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(2, 12), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.floats(-6, 6))
def test_a_value_lies_between_the_ends_of_its_box(p, mu, sigma, t):
    boxes = lt.Gaussian(mu, sigma, p).boxes(1)
    value = mu + sigma * t
    lo, hi = boxes.ends(0, boxes.discretize(np.array([[value]]))[0, 0])
    assert lo <= value < hi


def test_worlds_can_be_pickled_and_read():
    frame = pd.DataFrame({"size": np.linspace(0, 1, 60), "colour": ["red", "blue", "green"] * 20})
    world = lt.Empirical(frame, categorical=["colour"])
    for made in (lt.Gaussian([0, 1], 1, 4), world):
        again = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(again.boxes().law.mean, made.boxes().law.mean)
    assert repr(lt.Gaussian(0, 1, 4)) == "Gaussian(mu=0, sigma=1, p=4)"
    assert repr(world) == "Empirical(60 rows, 2 features, p=4)"
