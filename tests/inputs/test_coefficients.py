"""What callers pass to make a form, and to call it."""

import numpy as np
import pytest

import limetutor as lt


def test_forms_answer_to_numbers_only():
    linear, quadratic = lt.Linear([1.0, 2.0]), lt.Quadratic(np.eye(2))
    for f in (linear, quadratic):
        for x in ([[1.0, np.nan]], np.array([[np.inf, 1.0]]), [[1e308, 1e308]]):
            with pytest.raises(ValueError, match=r"x must be finite, got .* in 1 row"):
                f(x)
        for x in ([["a", "b"]], [[1j, 0]], [[1.0, 2.0], [3.0]], None):
            with pytest.raises(ValueError, match=r"^x must"):
                f(x)
        masked = np.ma.masked_array([[1.0, 2.0]], [[False, False]])
        np.testing.assert_array_equal(f(masked), f([[1.0, 2.0]]))
    for make in (lambda: lt.Linear([1e200]), lambda: lt.Quadratic([[1e100]])):
        with pytest.raises(ValueError, match=r"must lie within .* rescale it"):
            make()
