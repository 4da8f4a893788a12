"""Zeros of coefficients, and ranges in which signs and order stay, against limits one by one."""

import warnings

import numpy as np
import pytest
from diabetes_paths import MODELS, WORLDS, XI, X
from lime.lime_tabular import LimeTabularExplainer
from scipy import optimize

import limetutor as lt
from limetutor.bandwidth.path_events import suspects


def roots_of_the_limit(f, xi, world, lo, hi, points=60, **how):
    """The zeros of each coefficient of lt.limit, by scipy on a grid of its own."""
    grid = np.geomspace(lo, hi, points)
    coef = np.array([lt.limit(f, xi, world, nu, **how).coef for nu in grid])
    found = []
    for j, column in enumerate(coef.T):
        turns = np.flatnonzero(np.sign(column[1:]) * np.sign(column[:-1]) < 0)
        at = lambda nu, j=j: lt.limit(f, xi, world, nu, **how).coef[j]  # noqa: E731
        found.append([optimize.brentq(at, grid[i], grid[i + 1], xtol=1e-14) for i in turns])
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("f", MODELS.values(), ids=MODELS)
def test_critical_bandwidths_are_the_zeros_of_the_limit(f, world):
    found = lt.path(f, XI, world, nu=np.geomspace(0.2, 4, 9))
    wanted = roots_of_the_limit(f, XI, world, 0.2, 4)
    assert found.method == "exact"
    for mine, theirs in zip(found.critical, wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-8)


def test_there_are_zeros_to_be_found():
    every = [lt.path(f, XI, world).critical for f in MODELS.values() for world in WORLDS.values()]
    assert sum(len(zeros) > 0 for one in every for zeros in one) >= 6


def test_the_paths_of_a_world_read_from_lime_are_its_own():
    explainer = LimeTabularExplainer(X, mode="regression", random_state=0)
    world, f = lt.from_lime(explainer), MODELS["forest"]
    how = {"kernel": "mismatch", "ridge": 1.0, "n": 5000}
    found = lt.path(f, XI, world, ridge=1.0, n=5000, nu=np.geomspace(0.3, 6, 12))
    assert found.kernel == "mismatch"
    for k in (0, 5, 11):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            at = lt.limit(f, XI, world, found.nu[k], **how)
        np.testing.assert_allclose(found.coef[k], at.coef, rtol=1e-9)
    wanted = roots_of_the_limit(f, XI, world, 0.6, 6, 40, **how)
    mine = [zeros[zeros > 0.6] for zeros in found.critical]
    for zeros, theirs in zip(mine, wanted, strict=True):
        np.testing.assert_allclose(zeros, theirs, rtol=0, atol=1e-8)
    assert f"{world.nu:.3g}" in found.recommend().reason


def test_a_curve_that_barely_crosses_zero_is_not_missed():
    """Two zeros between neighbouring bandwidths of the grid."""
    grid = np.geomspace(0.1, 10, 121)
    bottom = np.log(grid[60] * 1.015)
    touch = (np.log(grid)[:, None] - bottom) ** 2 - 1e-5
    assert np.all(touch > 0)
    extra = suspects(grid, touch)
    assert np.any((np.log(extra) - bottom) ** 2 < 1e-5)


def leaders(coef):
    order = np.argsort(-np.abs(coef))[:3]
    return order.tolist(), np.sign(coef[order]).tolist()


@pytest.mark.parametrize("f", MODELS.values(), ids=MODELS)
def test_signs_and_order_stay_in_the_stable_range_and_change_beyond(f):
    world = WORLDS["empirical"]
    found = lt.path(f, XI, world)
    lo, hi = found.stable
    inside = np.geomspace(lo * 1.0001, hi / 1.0001, 12)
    kinds = {str(leaders(lt.limit(f, XI, world, nu).coef)) for nu in inside}
    assert len(kinds) == 1
    if lo > found.nu[0]:
        assert str(leaders(lt.limit(f, XI, world, lo / 1.0001).coef)) not in kinds
    if hi < found.nu[-1]:
        assert str(leaders(lt.limit(f, XI, world, hi * 1.0001).coef)) not in kinds
