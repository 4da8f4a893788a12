"""The arguments of a prediction: numbers and labels."""

import pytest

from limetutor.lime.runs import Request, one_label


def test_numbers_of_lime_and_fewer_runs_for_many_features():
    few, many = (Request().numbers(10, 5000, d) for d in (10, 2000))
    assert few.runs == 400 and many.runs == 20
    assert Request(runs=7).numbers(10, 5000, 2000).runs == 7


def test_one_label():
    assert one_label(None, (3,)) == 3 and one_label(2, None) == 2 and one_label(None, 4) == 4
    with pytest.raises(ValueError, match="labels must hold one label"):
        one_label(1, (1,))
