"""Quadratic models."""

import numpy as np

import limetutor as lt


def test_a_quadratic_is_what_it_says():
    f = lt.Quadratic([[1.0, 4.0], [0.0, -1.0]], [1.0, 2.0], 3.0)
    x1, x2 = np.random.default_rng(0).normal(size=(2, 20))
    expected = x1**2 + 4 * x1 * x2 - x2**2 + x1 + 2 * x2 + 3
    np.testing.assert_allclose(f(np.column_stack([x1, x2])), expected)
    assert "Quadratic(Q=[[ 1." in repr(f) or "Quadratic(Q=[[1." in repr(f)
    assert "\n" not in repr(f)
