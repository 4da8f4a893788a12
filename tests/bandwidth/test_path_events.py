"""Zeros of coefficients, and ranges in which signs and order stay, against limits one by one."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from diabetes_paths import MODELS, WORLDS, XI, X
from lime.lime_tabular import LimeTabularExplainer
from scipy import optimize
from sklearn.neural_network import MLPRegressor

import limetutor as lt
from limetutor.bandwidth.curves import Points
from limetutor.bandwidth.path_events import Dips, signs


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


def ratio(nu, xi=0.6):
    """The coefficient of x^2 divided by that of x, which has an extremum in nu."""
    square, plain = (lt.limit(f, [xi], lt.Gaussian(), nu).coef[0] for f in (SQUARE, PLAIN))
    return square / plain


SQUARE, PLAIN = lt.Quadratic([[1.0]]), lt.Linear([1.0])


@pytest.mark.parametrize("apart", [0.05, 0.002, 1e-4, 1e-5])
@pytest.mark.parametrize("ends", [(0.05, 5.0), (0.1, 0.3)])
def test_two_zeros_that_are_close_are_both_found(apart, ends):
    """Of x^2 - a x, with a near an extremum of the ratio of the two coefficients."""
    x = optimize.minimize_scalar(
        lambda x: ratio(np.exp(x)), bounds=np.log([0.15, 0.21]), options={"xatol": 1e-10}
    ).x
    a = ratio(np.exp(x + apart / 2))
    where = [np.exp(x - apart), np.exp(x), np.exp(x + apart)]
    zeros = [
        optimize.brentq(lambda nu: ratio(nu) - a, lo, hi, xtol=1e-15) for lo, hi in pairwise(where)
    ]
    found = lt.path(lt.Quadratic([[1.0]], a=[-a]), [0.6], lt.Gaussian(), nu=np.geomspace(*ends, 9))
    assert np.diff(np.log(zeros)) == pytest.approx(apart, rel=0.1)
    close = found.critical[0][np.abs(np.log(found.critical[0]) - x) < 0.1]
    np.testing.assert_allclose(close, zeros, rtol=1e-2 * apart)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_two_zeros_close_together_are_found_by_quadrature_too():
    net = MLPRegressor(hidden_layer_sizes=(3,), activation="tanh", max_iter=1)
    net.fit(np.zeros((10, 1)), np.zeros(10))
    net.coefs_ = [
        np.array([[1.486567, -1.939778, -0.424009]]),
        np.array([[1.375795], [0.12318], [62.860681033]]),
    ]
    net.intercepts_ = [np.array([-0.57346, 4.724838, -1.886451]), np.zeros(1)]
    found = lt.path(net, [1.574641], lt.Gaussian(), nu=np.geomspace(0.4, 8, 61))
    assert found.critical[0] == pytest.approx([0.53214, 0.53535], abs=1e-5)


@pytest.mark.parametrize(("times", "seen"), [(2.9, 0.0), (3.1, 1.0), (-2.9, 0.0), (-3.1, -1.0)])
def test_a_sampled_coefficient_has_a_sign_from_three_standard_errors_on(times, seen):
    one, none = np.ones((1, 1)), np.zeros(1)
    points = Points(times * 0.2 * one, none, 0.2 * one, none, none, one)
    assert signs(points, 5.0).tolist() == [[seen]]


def test_a_curve_that_touches_no_zero_has_none():
    """Above the extremum by as little as the zeros above are below it."""
    grid = np.geomspace(0.1, 10, 121)
    for lift, hidden in ((1e-9, 0), (-1e-9, 1)):
        curve = lambda at, lift=lift: (np.log(at)[:, None] - 0.0123) ** 2 + lift  # noqa: E731
        assert len(Dips.of(curve(grid)).beyond(curve, grid)) == hidden


def test_two_coefficients_that_change_places_for_a_moment_are_seen():
    grid = np.geomspace(0.1, 10, 121)

    def curve(at):
        x = np.log(at)[:, None]
        return np.hstack([-2.0 - (x - 0.0123) ** 2, 0 * x + 2.0 + 1e-7, 0 * x + 0.5])

    (place,) = Dips.of(curve(grid)).beyond(curve, grid)
    assert abs(np.log(place) - 0.0123) < 3.2e-4  # there the second is the larger one


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
