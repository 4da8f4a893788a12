"""Which features a bandwidth hides: gaps, where they change sign, and shares of a data set at risk."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

import limetutor as lt
from limetutor.bandwidth.risk import critical_bandwidths
from limetutor.bandwidth.roots import crossings, gaps, plain_gaps
from limetutor.core.kernels import product_kernels

WORLD = lt.Gaussian()


def test_risk_in_a_gaussian_world_is_the_critical_bandwidth():
    X = np.random.default_rng(0).standard_normal((300, 5))
    world = lt.Gaussian(mu=0.1, sigma=[1, 1, 1.3, 0.8, 1], p=[4, 5, 4, 3, 6])
    nus = np.array([0.2, 0.5, 0.7, 1.0])
    shares = lt.risk(X, world, nus, tolerance=0.1)
    critical = critical_bandwidths(world, X)
    with np.errstate(invalid="ignore"):
        near = np.array([np.abs(np.log(critical / nu)) <= np.log(1.1) for nu in nus])
        turned = np.array([nu < critical for nu in nus])
    # xi in a symmetric middle box has a sign of its own at every bandwidth, and none far out
    np.testing.assert_allclose(shares.near, near.mean((1, 2)), atol=1e-12)
    np.testing.assert_allclose(shares.turned, turned.mean((1, 2)), atol=1e-12)
    np.testing.assert_allclose(shares.at_risk, (near | turned).mean((1, 2)), atol=1e-12)
    np.testing.assert_allclose(shares.by_feature, (near | turned).mean(1), atol=1e-12)
    assert shares.turned[0] > 0.1 and shares.near[2] > 0.02


def test_a_gap_of_nothing_but_rounding_has_no_sign_to_lose():
    shares = lt.risk(np.full((3, 2), 0.3), lt.Gaussian(mu=0.3, sigma=0.7, p=5), [0.1, 1.0])
    assert shares.at_risk.tolist() == shares.opposed.tolist() == [0, 0]


def test_gaps_and_crossings_of_mixed_worlds():
    rng = np.random.default_rng(2)
    X = np.stack([rng.normal(size=200), rng.integers(0, 3, 200)], axis=1).astype(float)
    world = lt.Empirical(X, categorical=[1])
    for kernel in product_kernels():
        expected = [lt.limit(lt.Linear([1.0, 1.0]), xi, world, 0.7, kernel).coef for xi in X[:9]]
        np.testing.assert_allclose(gaps(world, X[:9], 0.7, kernel), expected, rtol=1e-10)
    assert np.all(np.isnan(crossings(world, X[0], 0.7, "mismatch")))
    at_zero = critical_bandwidths(WORLD, [[0.432]])[0, 0]
    assert crossings(WORLD, np.array([0.432]), at_zero)[0] == pytest.approx(at_zero, rel=1e-9)


def test_forms_of_risk():
    X = load_diabetes().data
    X = (X - X.mean(0)) / X.std(0)
    shares = lt.risk(X, WORLD, [0.1, 0.7, 2.0])
    assert "18.8%" in str(shares) and json.dumps(shares.to_dict())
    assert shares.turned[0] == pytest.approx(0.188, abs=5e-4) and shares.at_risk[-1] == 0
    lines = shares.plot().axes[0].get_lines()
    np.testing.assert_allclose(lines[0].get_ydata(), 100 * shares.at_risk)
    assert lt.risk(X, WORLD, [0.5], kernel="mismatch").at_risk[0] == 0
    frame = load_diabetes(as_frame=True).data
    assert lt.risk(frame, lt.Empirical(frame), [0.05]).names == tuple(frame.columns)


KERNEL = st.sampled_from(product_kernels())


@pytest.mark.parametrize("kernel", product_kernels())
def test_instances_at_the_ends_of_the_training_range_have_gaps_like_their_neighbours(kernel):
    """With the Laplace kernel the box of such an instance has a side without width."""
    X = np.random.default_rng(12).normal(size=(60, 3))
    world = lt.Empirical(X)
    for end, inward in ((X.min(axis=0), 1e-9), (X.max(axis=0), -1e-9)):
        at, beside = gaps(world, np.stack([end, end + inward]), 1.0, kernel)
        np.testing.assert_allclose(at, beside, rtol=1e-6)
        coef = lt.limit(lt.Linear([1.0, 1.0, 1.0]), end, world, 1.0, kernel).coef
        np.testing.assert_allclose(coef, at, rtol=1e-9)
    assert np.all(np.isfinite(lt.risk(X, world, [1.0], kernel).at_risk))


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), KERNEL)
def test_gaps_tend_to_those_without_weights(seed, kernel):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) * [1.0, 5.0, 0.1]
    world = lt.Empirical(X, p=3)
    np.testing.assert_allclose(gaps(world, X, 1e7, kernel), plain_gaps(world.boxes(), X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_a_crossing_has_different_signs_on_either_side(kernel):
    X = np.random.default_rng(5).gamma(2.0, size=(80, 4))
    world, found = lt.Empirical(X), 0
    for xi in X[:25]:
        at = crossings(world, xi, 0.8, kernel)
        for j in np.flatnonzero(np.isfinite(at)):
            below, above = (gaps(world, xi[None], at[j] * s, kernel)[0, j] for s in (0.999, 1.001))
            assert below * above < 0 and 0.8 / 1.26 < at[j] < 0.8 * 1.26
            found += 1
    assert found >= 5


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), KERNEL)
def test_risk_does_not_depend_on_the_order_of_rows_or_columns(seed, kernel):
    rng = np.random.default_rng(seed)
    frame = load_diabetes(as_frame=True).data.iloc[:60, :4]
    world = lt.Empirical(frame)
    nus = [0.02, 0.05]
    plain = lt.risk(frame, world, nus, kernel)
    mixed = frame.iloc[rng.permutation(60), rng.permutation(4)]
    other = lt.risk(mixed, world, nus, kernel)
    np.testing.assert_allclose(other.at_risk, plain.at_risk)
    np.testing.assert_allclose(other.by_feature, plain.by_feature)
    assert other.names == plain.names
    halves = [lt.risk(part, world, nus, kernel) for part in (frame[:20], frame[20:])]
    whole = (20 * halves[0].by_feature + 40 * halves[1].by_feature) / 60
    np.testing.assert_allclose(whole, plain.by_feature)


def test_two_changes_of_sign_close_together_are_both_seen():
    """A coarse grid steps over both; the nearer one is what an audit must tell.

    A table of three heaps, found among random ones, whose gap changes its sign at two bandwidths
    that are 14% apart.
    """
    rng = np.random.default_rng(2262)
    heaps = [rng.normal(rng.uniform(-3, 3), rng.uniform(0.05, 1), 100) for _ in range(3)]
    X = np.concatenate(heaps)
    world, xi = lt.Empirical(X[:, None], p=4), np.quantile(X, rng.random())
    fine = np.geomspace(0.2, 0.45, 2000)
    curve = gaps(world, np.full((2000, 1), xi), fine[:, None])[:, 0]
    first, second = fine[np.flatnonzero(np.sign(curve[1:]) != np.sign(curve[:-1]))]
    assert 1.1 < second / first < 1.2
    for nu, nearest in ((first * 0.98, first), (second * 1.02, second)):
        found = crossings(world, np.array([xi]), nu)[0]
        assert found == pytest.approx(nearest, rel=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "mismatch"])
@pytest.mark.parametrize("name", ["gaussian", "empirical"])
def test_counting_by_cells_is_counting_every_pair(name, kernel):
    """Cells decide most pairs by their ends; here every pair is looked at."""
    rng = np.random.default_rng(1)
    smooth, tied = rng.gamma(2, size=1500), np.round(rng.normal(size=1500), 1)
    X = np.column_stack([smooth, tied, rng.integers(0, 3, 1500), 1e3 + rng.normal(size=1500)])
    worlds = {
        "gaussian": lt.Gaussian(X.mean(0), X.std(0), p=[4, 5, 3, 10]),
        "empirical": lt.Empirical(X, categorical=[2]),
    }
    world, nus = worlds[name], [0.05, 0.3, 0.9, 1.4, 3.0]
    found, boxes = lt.risk(X, world, nus, kernel), world.boxes(4)

    def signs(gap):  # below 1e-9 of a deviation it is rounding
        return np.sign(np.where(np.abs(gap) > 1e-9 * X.std(axis=0), gap, 0.0))

    far = signs(plain_gaps(boxes, X))
    for i, nu in enumerate(nus):
        low, here, high = (signs(gaps(world, X, at, kernel)) for at in (nu / 1.05, nu, nu * 1.05))
        near, turned = low * high < 0, here * far < 0
        assert found.near[i] == pytest.approx(near.mean())
        assert found.turned[i] == pytest.approx(turned.mean())
        assert found.opposed[i] == pytest.approx((here < 0).mean())
        assert found.turned_back[i] == pytest.approx((turned & (here > 0)).mean())
        np.testing.assert_allclose(found.by_feature[i], (near | turned).mean(axis=0))
        assert found.at_risk[i] == pytest.approx((near | turned).mean())
