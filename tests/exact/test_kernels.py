"""The Laplace and the cosine kernel: weights, and a tilt where no double can follow."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_distances
from weighed import XI, F, explained

import limetutor as lt
from limetutor.exact.kernels import LaplaceKernel


def test_the_laplace_weight_falls_with_the_distance_in_x():
    e = explained(kernel="laplace")
    expected = np.exp(-cdist(e.x, XI[None], "cityblock")[:, 0] / 0.8)
    np.testing.assert_allclose(e.weights, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::limetutor.PrecisionWarning")
def test_the_laplace_tilt_refuses_a_bandwidth_that_no_double_can_follow():
    with pytest.raises(ValueError, match="nu must be at least 1e-05 standard deviations"):
        lt.limit(F, XI, lt.Gaussian(), 1e-6, "laplace")
    narrow = lt.limit(F, XI, lt.Gaussian(), 2e-5, "laplace")
    np.testing.assert_allclose(narrow.tilt.inside, 0, atol=1e-4)  # all of the weight is at xi


def test_laplace_weights_beyond_all_values_do_not_depend_on_how_far():
    world = lt.Empirical(np.random.default_rng(0).normal(size=(50, 3)))
    near, far = (lt.limit(F, [x, 0, 0], world, 0.3, "laplace").coef for x in (1e2, 1e9))
    np.testing.assert_allclose(near, far, rtol=1e-6)


def test_a_label_may_weigh_nothing():
    class Strict(LaplaceKernel):
        """Other labels do not count."""

        def mismatch(self, nu):
            return -np.inf

    values = np.column_stack([np.arange(60.0), np.arange(60) % 3])
    world = lt.Empirical(values, categorical=[1])
    with pytest.warns(lt.FitWarning, match="singular in 1 feature"):
        e = lt.explain(
            lambda x: x[:, 0], [30.0, 1.0], world, 9.0, n=400, seed=0, kernel=Strict(), keep=True
        )
    assert np.all(np.isfinite(e.coef)) and np.all((e.weights > 0) == (e.x[:, 1] == 1.0))


def test_cosine_weight_falls_with_the_cosine_distance_of_z():
    e = explained(kernel="cosine")
    distance = cosine_distances(e.z.astype(float), np.ones((1, 3)))[:, 0]
    assert np.any(~e.z.any(axis=1))  # the zero vector is among them, at distance 1
    np.testing.assert_allclose(e.weights, np.exp(-(distance**2) / (2 * 0.8**2)), rtol=1e-12)
