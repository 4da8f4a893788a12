"""A recommendation that keeps its word, or says that no bandwidth is good."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limetutor as lt
from limetutor.bandwidth.curves import Points
from limetutor.bandwidth.path_events import Section
from limetutor.bandwidth.recommend import recommended_bandwidth


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


class Given:
    """A curve whose coefficients, effective samples and the like are functions of the bandwidth."""

    method, grid_size, bisections, sample_size = "exact", 601, 40, 1000

    def __init__(self, *coef, share=lambda nu: 1.0, kept=lambda nu: 1.0, weight=lambda nu: np.inf):
        self.coef, self.parts = coef, (weight, share, kept)
        self.problem = SimpleNamespace(d=len(coef), prediction=1.0, world=None)

    def at(self, places):
        def values(function):
            return np.array([float(function(nu)) for nu in places])

        coef = np.stack(
            [values(c) if callable(c) else np.full(len(places), c) for c in self.coef], 1
        )
        weight, share, kept = (values(part) for part in self.parts)
        zero = np.zeros(len(places))
        return Points(
            coef, zero, np.zeros_like(coef), weight, share, np.ones_like(coef) * kept[:, None]
        )

    def recommended(self, lo, hi):
        return recommended_bandwidth(Section.of(self, np.array([lo, hi])))


def step_above(found, edge):
    """The narrowest bandwidth of the grid at or beyond an edge, rounded to three digits."""
    return found is not None and edge * 0.999 <= found < edge * 1.02


def test_the_narrowest_with_thirty_effective_samples_a_coefficient():
    """Three coefficients want 90 of 1000 samples: at the bandwidth 0.9, not below and not far above."""
    curve = Given(5.0, 3.0, share=lambda nu: nu / 10)
    assert step_above(curve.recommended(0.2, 9.0).nu, 0.9)
    few = Given(5.0, 3.0, share=lambda nu: 0.0899).recommended(0.2, 9.0)
    assert few.nu is None and "at most 90 count" in few.reason and "want 90" in few.reason
    assert Given(5.0, 3.0, share=lambda nu: 0.0901).recommended(0.2, 9.0).nu == 0.2


def test_a_penalty_leaves_nine_tenths_of_the_strongest():
    assert step_above(Given(5.0, 3.0, kept=lambda nu: min(nu, 1)).recommended(0.2, 9.0).nu, 0.9)
    none = Given(5.0, 3.0, kept=lambda nu: 0.899).recommended(0.2, 9.0)
    assert none.nu is None and "the penalty decides" in none.reason
    assert Given(5.0, 3.0, kept=lambda nu: 0.901).recommended(0.2, 9.0).nu == 0.2


def test_all_other_rows_weigh_ten_times_the_row_of_xi():
    assert step_above(Given(5.0, 3.0, weight=lambda nu: 10 * nu).recommended(0.2, 9.0).nu, 1.0)


def test_where_only_bandwidths_beside_a_zero_have_enough_samples_it_says_so():
    beside = Given(5.0, np.log, share=lambda nu: 1 / 1.04 <= nu <= 1.04).recommended(0.2, 9.0)
    assert beside.nu is None and "a leading effect is zero within 5%" in beside.reason


@pytest.mark.parametrize("zero", [0.5, 1.0, 3.0])
def test_it_is_more_than_5_percent_from_a_zero_and_not_much_more(zero):
    """Of a fourth feature, which does not lead: its zero ends no range, but is kept off."""
    curve = Given(
        5.0, 4.0, 3.0, lambda nu: 0.1 * np.log(nu / zero), share=lambda nu: nu >= 0.99 * zero
    )
    found = curve.recommended(0.1, 9.0).nu
    assert 1.05 < found / zero < 1.08


@pytest.mark.parametrize(
    ("ratio", "margin"),
    [(4.0, 0.5), (2.4, 0.5), (2.1, 0.25), (1.65, 0.25), (1.5, 0.1), (1.25, 0.1)],
)
def test_how_far_inside_the_range_it_is(ratio, margin):
    """50% from both ends where there is room, else 25%, else 10%: on both sides of 2.25 and 1.5625."""

    def hump(nu):  # above 0 between 1 and the ratio
        return 3 * np.log(nu) * (np.log(ratio) - np.log(nu))

    curve = Given(5.0, hump, share=lambda nu: 1 <= nu <= ratio)
    advice = curve.recommended(0.2, 9.0)
    assert step_above(advice.nu, 1 + margin) and f"{margin:.0%} away" in advice.reason


def test_no_room_of_ten_percent_on_both_sides():
    def hump(nu):
        return 3 * np.log(nu) * (np.log(1.205) - np.log(nu))

    advice = Given(5.0, hump, share=lambda nu: 1 <= nu <= 1.205).recommended(0.2, 9.0)
    assert advice.nu is None and "change within 10%" in advice.reason


@pytest.mark.parametrize(("zero", "nu"), [(0.8, 1.2), (0.7, 1.05), (0.6, 1.0)])
def test_a_change_outside_the_path_counts_up_to_half_as_far_again(zero, nu):
    """50% above a zero of a leading feature at 0.8 or 0.7; one at 0.6 is further away than that."""
    found = Given(5.0, lambda at: np.log(at / zero)).recommended(1.0, 4.0).nu
    assert step_above(found, nu)


def test_a_range_shorter_than_20_percent_is_none():
    short = Given(5.0, 3.0).recommended(1.0, 1.19)
    assert short.nu is None and "no stretch of 20%" in short.reason
    assert Given(5.0, 3.0).recommended(1.0, 1.21).nu == 1.0
