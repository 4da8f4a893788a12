"""Zeros of many curves at once, against scipy's one by one."""

import numpy as np
import pytest
from scipy import optimize

from limetutor.bandwidth.roots import bisect, find_roots, nearest_zeros


def test_roots_are_those_of_scipy_whatever_the_scale_of_the_curve():
    functions = [
        lambda x: np.log(x) - 1.3,
        lambda x: 1e-9 * (x - 4) * (x + 1) ** 3,
        lambda x: np.tanh(50 * (x - 2.7)),
        lambda x: 1e12 * (np.exp(x) - np.exp(5.5)),
        lambda x: 1e-6 - (x > 3),  # a step: a change of sign without a zero
    ]

    def values(places, which):
        return np.array([functions[k](x) for k, x in zip(which, places, strict=True)])

    expected = [optimize.brentq(f, 1.5, 8, xtol=1e-14) for f in functions]
    found = find_roots(values, np.full(5, 1.5), np.full(5, 8.0))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_the_nearest_of_several_sign_changes_is_taken():
    curve = lambda at: np.stack([np.sin(at), np.ones_like(at), np.sin(at) * 1e-12], 1)  # noqa: E731
    grid = np.linspace(1, 10, 100)
    found = nearest_zeros(curve, grid, 7.0, np.full(3, 1e-9))
    assert found[0] == pytest.approx(2 * np.pi) and np.all(np.isnan(found[1:]))


def test_a_change_is_found_by_halving():
    at = bisect(lambda x: x < [2.0, 7.0], np.array([1.0, 5.0]), np.array([4.0, 9.0]), 40)
    np.testing.assert_allclose(at, [2.0, 7.0], rtol=1e-10)
