"""Edges that are read off n values: their standard error, and who ends up in another box."""

import numpy as np
import pytest
from scipy import stats

from limetutor.precision.edge_errors import edge_stderr, misplaced_share


@pytest.mark.parametrize("p", [2, 4, 5, 10])
def test_standard_error_of_an_edge_is_what_simulation_finds(p):
    n, runs = 1000, 1500
    x = np.random.default_rng(p).standard_normal((runs, n))
    edges = np.quantile(x, np.arange(1, p) / p, axis=1)
    # a deviation from 1500 runs has a relative standard error of 1.8%; four of them, for 9 edges
    np.testing.assert_allclose(edges.std(axis=1), edge_stderr(p, n), rtol=4 / np.sqrt(2 * runs))
    np.testing.assert_allclose(edge_stderr(p, 400), edge_stderr(p, 100) / 2, rtol=1e-15)


@pytest.mark.parametrize(
    "law",
    [stats.norm(3, 2), stats.expon(), stats.uniform()],
    ids=["normal", "exponential", "uniform"],  # the same in every worker
)
@pytest.mark.parametrize("p", [2, 4, 10])
def test_share_of_instances_in_another_box_does_not_depend_on_the_law(law, p):
    n, runs = 1000, 700
    x = law.rvs((runs, n), random_state=np.random.default_rng(p))
    orders = np.arange(1, p) / p
    between = np.abs(law.cdf(np.quantile(x, orders, axis=1)) - orders[:, None]).sum(axis=0)
    error = between.std() / np.sqrt(runs)
    # four standard errors, and the 1/n that the limit leaves out
    assert abs(between.mean() - misplaced_share(p, n)) < 4 * error + 1 / n
