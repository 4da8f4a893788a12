"""Linear and quadratic models."""

import numpy as np
import pandas as pd
import pytest

import limetutor as lt


@pytest.mark.parametrize("other", [["x", "y"], [1.0, None]], ids=["text", "gaps"])
def test_a_function_of_numbers_is_refused_where_there_is_text_or_a_gap(other):
    table = pd.DataFrame({"a": np.arange(20.0), "b": other * 10})
    world = lt.Empirical(table, p=2, categorical=["b"] if other[0] == "x" else ())
    with pytest.raises(ValueError, match="f must take text or missing values"):
        lt.limit(lt.Linear([1, 1]), table.iloc[0], world, 1.0)


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
