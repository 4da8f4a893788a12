"""Sums of samples: less exact where it does not show, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from limetutor import sums as room
from limetutor.surrogate import fit


def batch(n, d, spread=1.0, seed=0):
    """Indicators, a response with residuals that depend on them, weights that differ."""
    rng = np.random.default_rng(seed)
    z = rng.random((n, d)) < np.linspace(0.15, 0.6, d)
    y = z @ np.linspace(-1, 2, d) + (0.3 + z[:, 0]) * rng.normal(size=n)
    return z, y, -spread * rng.random(n) - spread * z[:, 1]


def summed(parts, d, monkeypatch=None, exact=False, **how):
    if exact:
        monkeypatch.setattr(room, "LARGE", 10**18)
    sums = room.Sums(d, **how)
    for part in parts:
        sums.add(*part)
    if exact:
        monkeypatch.undo()
    return sums


@pytest.mark.parametrize(
    ("n", "d", "spread", "way"),
    [
        (20_000, 20, 0.0, "_as_if_independent"),  # equal weights: counts in single precision
        (20_000, 20, 1.5, "_as_if_independent"),
        (3000, 60, 0.1, "_briskly"),
        (1500, 60, 0.0, "_briskly"),
    ],
)
def test_leverages_that_are_found_fast_do_not_show(n, d, spread, way, monkeypatch):
    parts = [batch(n, d, spread)]
    fast = summed(parts, d)
    assert fast._how_exactly(parts[0][0])[0].__name__ == way
    exact = summed(parts, d, monkeypatch, exact=True)
    one, two = fit(fast), fit(exact)
    np.testing.assert_array_equal(one.beta, two.beta)  # coefficients never see any of it
    # a standard error is itself known to 1 / sqrt(2 n), .5% here at best
    np.testing.assert_allclose(np.diag(one.covariance), np.diag(two.covariance), rtol=1e-3)
    np.testing.assert_allclose(one.freedom, two.freedom, rtol=0.02 if way[1] == "b" else 0.05)
    assert one.local_freedom == pytest.approx(two.local_freedom, rel=0.05)


def test_fast_and_exact_batches_mix(monkeypatch):
    """A batch that needs exact leverages finds what it needs of those before."""
    d = 20
    first, second = batch(20_000, d, 1.5), batch(6000, d, 1.5, seed=1)
    heavy = (second[0], second[1], second[2] + np.where(np.arange(6000) < 300, 6.0, 0.0))
    mixed = summed([first, heavy], d)
    assert mixed._how_exactly(first[0])[0].__name__ == "_exactly"
    exact = summed([first, heavy], d, monkeypatch, exact=True)
    one, two = fit(mixed), fit(exact)
    np.testing.assert_array_equal(one.beta, two.beta)
    np.testing.assert_allclose(np.diag(one.covariance), np.diag(two.covariance), rtol=2e-3)


def test_counts_of_equal_samples_are_exact():
    z, y, _ = batch(200_000, 6)
    sums = summed([(z, y, np.full(len(y), -3.0))], 6)
    whole = np.column_stack([np.ones(len(z)), z]).astype(np.int64)
    np.testing.assert_array_equal(sums.gram, whole.T @ whole)
    np.testing.assert_array_equal(sums.squared, sums.gram[0])


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_tiny_and_huge_responses_survive_single_precision(scale):
    z, y, log_w = batch(20_000, 20)
    found, plain = (fit(summed([(z, s * y, log_w)], 20)) for s in (scale, 1.0))
    np.testing.assert_allclose(found.beta / scale, plain.beta, rtol=1e-9)
    said, expected = (np.sqrt(np.diag(one.covariance)) for one in (found, plain))
    np.testing.assert_allclose(said / scale, expected, rtol=1e-6)


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_indicators_that_depend_on_each_other_are_not_taken_for_independent(share):
    """With a kernel that does not factor, or with copies: a share of the rows has z_0 = z_1."""
    z, y, log_w = batch(20_000, 20)
    same = np.random.default_rng(1).random(len(z)) < share
    z[same, 1] = z[same, 0]
    found = summed([(z, y, log_w)], 20)
    assert not found.solver.independent
    assert found._how_exactly(z)[0].__name__ != "_as_if_independent"
    apart = summed([batch(20_000, 20)], 20)
    assert apart.solver.independent


def test_no_feature_at_all_leaves_the_mean_and_lapack_silent(capfd):
    """A lasso may drop every feature; what LAPACK thinks of an empty matrix once stood on a page."""
    inverse, tangled = room.pseudo_inverse(np.zeros((0, 0)))
    assert inverse.shape == (0, 0) and tangled.shape == (0,)
    assert capfd.readouterr() == ("", "")
