"""Linear and quadratic models."""

import numpy as np

import limetutor as lt


def test_linear():
    f = lt.Linear([1, 2], b=3)
    np.testing.assert_array_equal(f([[1, 1], [0, 0]]), [6.0, 3.0])
    assert f([1.0, 1.0]) == 6.0
    assert repr(f) == "Linear(a=[1. 2.], b=3)"
    assert lt.Linear(5).a.shape == (1,)
    a = np.ones(2)
    g = lt.Linear(a)
    a += 1
    assert g.a.tolist() == [1, 1]
