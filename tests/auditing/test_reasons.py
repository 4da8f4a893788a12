"""The reasons on display, how surely other runs give them, and when one that does not hold stops the list."""

import numpy as np
import pytest
from scipy import stats

from limetutor.auditing.reasons import same_reasons, severity_for


@pytest.mark.parametrize(
    ("gap", "together", "severity"),
    [(4.0, 1.0, "note"), (2.1, 0.93, "note"), (1.5, 0.86, "warning"), (0.0, 0.5, "warning")],
)
def test_reasons_that_other_runs_give(gap, together, severity):
    """Four coefficients: two far ahead, and two that differ by so many standard errors of a run."""
    coef = np.array([9.0, -8.0, 3.0 + gap, 3.0])
    found = same_reasons(coef, np.eye(4), 3)
    assert found.together == pytest.approx(stats.norm.cdf(gap / 2**0.5), abs=0.04)
    assert found.together == pytest.approx(together, abs=0.04)
    assert found.features.tolist() in ([0, 1, 2], [0, 1, 3])
    assert severity_for(found.features, found.each < 0.9) == severity


@pytest.mark.parametrize(
    ("harmed", "severity"),
    [
        ("000", "note"),
        ("001", "warning"),
        ("010", "warning"),
        ("011", "serious"),
        ("100", "serious"),
    ],
)
def test_the_first_reason_or_most_of_them_stop_an_explanation(harmed, severity):
    assert severity_for(np.arange(3), np.array([c == "1" for c in harmed])) == severity
