"""A recommendation that keeps its word, or says that no bandwidth is good."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limetutor as lt


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 6]), st.sampled_from([3, 4, 8]))
def test_a_recommendation_is_never_within_5_percent_of_a_zero_of_a_leading_feature(seed, d, p):
    rng = np.random.default_rng(seed)
    f, xi = lt.Linear(rng.normal(size=d) * 10), rng.normal(size=d)
    found = lt.path(f, xi, lt.Gaussian(p=p))
    advice = found.recommend()
    assert advice.reason
    if advice.nu is None:
        assert "None is good" in advice.reason
        return
    at = lt.limit(f, xi, lt.Gaussian(p=p), advice.nu)
    critical = at.critical_nu[np.isfinite(at.critical_nu)]
    widest = np.max(np.abs(found.coef), axis=0)
    leading = np.argsort(-widest)[:3]
    zeros = [c for j in leading for c in found.critical[j]]
    assert all(abs(advice.nu / zero - 1) > 0.05 for zero in zeros)
    assert set(np.round(np.concatenate(found.critical), 9)) <= set(np.round(critical, 9))
    assert found.nu[0] <= advice.nu <= found.nu[-1]


@pytest.mark.parametrize("seed", range(6))
def test_a_path_that_ends_beside_a_zero_keeps_off_it(seed):
    """The zero lies outside the path, which does not list it; a recommendation knows."""
    rng, world = np.random.default_rng(seed), lt.Gaussian()
    f, xi = lt.Linear([10.0, -10.0]), rng.uniform(0.35, 0.6, 2)
    critical = lt.limit(f, xi, world, 1.0).critical_nu
    assert np.all(np.isfinite(critical))
    for zero in critical:
        for nu in (np.geomspace(1.01 * zero, 10, 30), np.geomspace(0.1, zero / 1.01, 30)):
            found = lt.path(f, xi, world, nu=nu)
            best = found.recommend().nu
            assert not np.any(np.isclose(np.concatenate(found.critical), zero, rtol=5e-3))
            assert best is None or nu[0] * 0.995 <= best <= nu[-1] * 1.005
            assert best is None or np.all(np.abs(best / critical - 1) > 0.05), (best, critical)


def test_where_none_is_good_it_says_so():
    f, xi, world = lt.Linear([10.0, -10.0]), [0.961, 0.432], lt.Gaussian()
    near = lt.path(f, xi, world, nu=np.geomspace(0.515, 0.545, 20)).recommend()
    assert near.nu is None and near.reason.startswith("None is good")
    few = lt.path(f, xi, world, n=20).recommend()
    assert few.nu is None and "draw more samples" in few.reason
    flat = lt.path(lt.Linear([0.0, 0.0]), xi, world).recommend()
    assert flat.nu is None and "No effect" in flat.reason
