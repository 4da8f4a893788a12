"""The arguments of a prediction: numbers and labels."""

import numpy as np
import pytest
from scipy import stats

from limetutor.lime.runs import MEDIAN_DEVIATION, RUNS_PER_GROUP, Request, one_label


def test_numbers_of_lime_and_fewer_runs_for_many_features():
    few, many = (Request().numbers(10, 5000, d) for d in (10, 2000))
    assert few.runs == 400 and many.runs == 20
    assert Request(runs=7).numbers(10, 5000, 2000).runs == 7


def test_one_label():
    assert one_label(None, (3,)) == 3 and one_label(2, None) == 2 and one_label(None, 4) == 4
    with pytest.raises(ValueError, match="labels must hold one label"):
        one_label(1, (1,))


def test_twenty_normal_values_have_this_standard_deviation_in_the_median():
    freedom = RUNS_PER_GROUP - 1
    median = np.sqrt(stats.chi2.median(freedom) / freedom)
    assert median == pytest.approx(MEDIAN_DEVIATION, abs=5e-5)
