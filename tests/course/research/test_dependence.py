"""Correlated samples against scipy's bivariate normal and sampling; distances to the data."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.spatial.distance import mahalanobis as by_scipy
from scipy.stats import multivariate_normal, norm

from limetutor.course.research.dependence import (
    correlated_coefficients,
    distance_to_data,
    distance_within_data,
    mahalanobis,
    pair_probability,
)

Q = norm.ppf([0, 0.25, 0.5, 0.75, 1])
BOXES = [tuple(Q[k : k + 2]) for k in range(4)]


@pytest.mark.parametrize("rho", [-0.95, -0.4, 0.0, 0.5, 0.99])
def test_the_probability_of_a_pair_of_boxes(rho: float):
    law = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    found = np.array([[pair_probability(rho, a, b) for b in BOXES] for a in BOXES])
    clipped = np.clip(Q, -9, 9)
    cdf = np.array([[law.cdf([a, b]) for b in clipped] for a in clipped])
    # scipy's bivariate distribution function is good to about 1e-8
    np.testing.assert_allclose(found, np.diff(np.diff(cdf, axis=0), axis=1), atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=0), 0.25, atol=1e-12)


@pytest.mark.parametrize(("first", "second"), [(3, 3), (2, 3), (1, 0), (0, 2)])
@pytest.mark.parametrize("rho", [-0.7, 0.5, 0.9])
def test_the_coefficients_are_those_of_least_squares(rho: float, first: int, second: int):
    rng, n = np.random.default_rng(first + 10 * second), 400_000
    x = rng.standard_normal((n, 2)) @ [[1, rho], [0, np.sqrt(1 - rho**2)]]
    boxes = BOXES[first], BOXES[second]
    z = np.column_stack([(lo <= x[:, j]) & (x[:, j] < hi) for j, (lo, hi) in enumerate(boxes)])
    design = np.column_stack([np.ones(n), z])
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ x[:, 0]
    residual = (x[:, 0] - design @ fitted)[:, None] * design
    stderr = np.sqrt(np.diag(inverse @ residual.T @ residual @ inverse))
    away = fitted[1:] - correlated_coefficients(rho, *boxes)
    assert np.all(np.abs(away) < 4 * stderr[1:])


def test_without_correlation_the_ignored_feature_gets_nothing():
    beta = correlated_coefficients(0.0, BOXES[3], BOXES[1])
    np.testing.assert_allclose(beta, [4 * norm.pdf(Q[3]) / 0.75, 0], atol=1e-12)


@pytest.mark.parametrize(("rho", "top", "largest"), [(0.5, 0.36, 0.83), (0.9, 0.67, 1.55)])
def test_the_numbers_of_the_chapter(rho: float, top: float, largest: float):
    ignored = np.array([[correlated_coefficients(rho, a, b)[1] for b in BOXES] for a in BOXES])
    assert ignored[3, 3] == pytest.approx(top, abs=0.005)
    assert ignored.max() == pytest.approx(largest, abs=0.005)
    np.testing.assert_allclose(ignored, -ignored[::-1, ::-1], atol=1e-9)  # mirror images


def test_distances():
    rng = np.random.default_rng(0)
    X, x = rng.normal(size=(50, 3)) * [1, 10, 0.1], rng.normal(size=(20, 3)) * [1, 10, 0.1]
    scale = X.std(axis=0)
    np.testing.assert_allclose(distance_to_data(x, X), cdist(x / scale, X / scale).min(axis=1))
    own = cdist(X / scale, X / scale) + np.diag(np.full(50, np.inf))
    np.testing.assert_allclose(distance_within_data(X), own.min(axis=1))
    inverse = np.linalg.inv(np.cov(X.T, bias=True))
    expected = [by_scipy(row, X.mean(axis=0), inverse) for row in x]
    np.testing.assert_allclose(mahalanobis(x, X), expected)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"rho must lie between -1 and 1, got 1\."):
        pair_probability(1.0, *BOXES[:2])
    with pytest.raises(ValueError, match="second must be the two ends of a box"):
        correlated_coefficients(0.5, BOXES[0], (1.0, 0.0))
    with pytest.raises(ValueError, match="X must be a table of two rows or more"):
        distance_within_data(np.ones((5, 2)))
    with pytest.raises(ValueError, match="x must have the 2 columns of X"):
        distance_to_data(np.ones((5, 3)), np.eye(2))
