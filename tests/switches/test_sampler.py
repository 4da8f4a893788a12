"""Masks: each by itself follows the law, together they are balanced."""

from math import comb

import numpy as np
import pytest
from scipy import stats
from switch_forms import WORLDS

from limetutor.switches.sampler import _order, draw
from limetutor.switches.switches import coin_flips, counted_switches


@pytest.mark.parametrize("kind", WORLDS)
def test_every_number_of_switches_has_its_share(kind):
    world = WORLDS[kind](9, 0.3)
    z = draw(world, 4000, np.random.default_rng(0))
    share = np.exp(world.log_measure - world.log_C)
    assert np.all(np.abs(np.bincount(z.sum(axis=1), minlength=10) - 4000 * share) <= 1)
    # given the number, every switch is on equally often: 4000 draws, 5 standard errors
    assert np.ptp(z.mean(axis=0)) < 2 * 5 * 0.5 / np.sqrt(4000)


@pytest.mark.parametrize("n", [24, 25, 8], ids=["pairs", "pairs and one", "too few for pairs"])
def test_every_mask_by_itself_follows_the_law(n):
    """Whatever its place: the mean count of each mask of four switches, 2000 draws of n."""
    world, rng = counted_switches([0.1, 0.2, 0.4, 0.2, 0.1], 0.5), np.random.default_rng(0)
    share = np.exp(world.log_measure - world.log_C) / [comb(4, k) for k in range(5)]
    z = np.array([draw(world, n, rng) for _ in range(2000)])
    for place in (0, 1, n - 1):
        found = np.bincount(z[:, place] @ [1, 2, 4, 8], minlength=16)
        expected = 2000 * share[[int(i).bit_count() for i in range(16)]]
        assert stats.chisquare(found, expected).pvalue > 1e-4


def test_masks_come_with_their_opposites_and_switches_balance():
    world, d = coin_flips(63), 63
    z = draw(world, 1280, np.random.default_rng(1))
    first, second = z[::2], z[1::2]
    sum_to_d = first.sum(axis=1) + second.sum(axis=1) == d
    assert np.mean(sum_to_d) > 0.9 and np.array_equal(second[sum_to_d], ~first[sum_to_d])
    signs = 2.0 * first - 1
    by_chance = 1 / np.sqrt(640)
    beside = (signs.T @ signs / 640)[~np.eye(d, dtype=bool)]
    assert np.sqrt(np.mean(beside**2)) < 0.5 * by_chance


def test_switches_are_ranked_by_orthogonal_signs():
    order = _order(20, np.arange(32) % 21, np.random.default_rng(0))
    signs = np.floor(order)  # the rest, below one, orders equal signs
    assert set(signs.ravel()) == {-1, 1} and np.array_equal(signs.T @ signs, 32 * np.eye(20))
