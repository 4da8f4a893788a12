"""Worlds of switches: weights, the covariance of masks and its inverse."""

from math import comb

import mpmath
import numpy as np
import pytest
from switch_forms import WORLDS, measure

from limetutor.switches.switches import Line, all_masks


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_covariance_is_the_mean_of_products_over_all_masks(kind, d):
    world = WORLDS[kind](d, 0.4)
    z = np.column_stack([np.ones(2**d), all_masks(d)])
    kept = all_masks(d).sum(axis=1)
    mass = np.array([float(m) for m in measure(kind, d, 0.4, mpmath.mp)])
    weight = (mass / [comb(d, k) for k in range(d + 1)])[kept]
    assert np.allclose(world.covariance(), (z * weight[:, None]).T @ z, rtol=1e-13, atol=0)
    assert np.exp(world.log_C) == pytest.approx(mass.sum(), rel=1e-13)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("nu", [0.25, 3.0])
def test_the_inverse_at_five_hundred_switches(kind, nu):
    """The step of one refinement, its residual taken at 50 digits, is the error of the inverse."""
    d, mp = 500, mpmath.MPContext()
    mp.dps = 50
    mass = list(measure(kind, d, nu, mp))
    first, one = mp.fsum(mass), mp.fsum(m * k / d for k, m in enumerate(mass))
    two = mp.fsum(m * k * (k - 1) / (d * (d - 1)) for k, m in enumerate(mass))
    inverse = WORLDS[kind](d, nu).inverse_covariance()
    for column in (0, 1):
        x = [mp.mpf(float(v)) for v in inverse[:, column]]
        total = mp.fsum(x[1:])
        residual = [-(first * x[0] + one * total) + (column == 0)]
        residual += [
            -(one * x[0] + (one - two) * x[j] + two * total) + (column == j)
            for j in range(1, d + 1)
        ]
        step = inverse @ np.array([float(r) for r in residual])
        assert np.max(np.abs(step)) < 1e-10 * np.max(np.abs(inverse[:, column]))


def test_means_keep_their_digits_when_one_level_has_all_the_weight():
    line = Line.through([0.0, 1.0, 2.0], np.array([0.0, -2000.0, -5000.0]))
    assert line.slope(np.array([1.0, 4.0, 100.0])) == pytest.approx(3.0, rel=1e-14)
    assert line.mean == 0.0 and line.average(np.array([1.0, 4.0, 100.0])) == 1.0
    assert line.log_variance == pytest.approx(-2000.0)
