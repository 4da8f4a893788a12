"""Samples that depend on each other: noise from the spread of independent groups."""

import numpy as np
from fits_by_hand import batch

from limetutor.core.surrogate import fit
from limetutor.precision.sobol_sampler import POOLED_FREEDOM, GroupedSums


def summed(parts, d, first=()):
    """The sums of as many groups as there are parts, with rows of no group in front."""
    sums = GroupedSums(d, 0, len(parts))
    sums.add(*map(np.concatenate, zip(*first, *parts, strict=True)))
    return sums


def grouped(groups, d=4, n=600):
    parts = [batch(n, d, 0.3, seed=s) for s in range(groups)]
    return parts, summed(parts, d)


def test_the_noise_of_groups_is_that_of_their_scores_drawn_together():
    groups, d = 5, 4
    parts, sums = grouped(groups)
    found = fit(sums)
    designs = [np.column_stack([np.ones(len(z)), z]) for z, _, _ in parts]
    W = [np.exp(log_w) for _, _, log_w in parts]
    A = sum((D * w[:, None]).T @ D for D, w in zip(designs, W, strict=True))
    b = sum(D.T @ (w * y) for D, w, (_, y, _) in zip(designs, W, parts, strict=True))
    beta = np.linalg.solve(A, b)
    np.testing.assert_allclose(found.beta, beta, rtol=1e-10)
    scores = np.array(
        [D.T @ (w * (y - D @ beta)) for D, w, (_, y, _) in zip(designs, W, parts, strict=True)]
    )
    B = np.linalg.inv(A)
    spread = B @ scores.T @ scores @ B * groups / (groups - 1)
    common = np.mean(np.diag(spread)[1:] / np.diag(B)[1:])
    pool = min(POOLED_FREEDOM, d - 1)
    expected = ((groups - 1) * spread + pool * common * B) / (groups - 1 + pool)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-8)
    assert np.all(found.freedom == groups - 1 + pool) and found.local_freedom == groups - 1 + pool


def test_a_row_without_a_group_moves_the_fit_and_makes_no_noise():
    parts, sums = grouped(3)
    other = summed(parts, 4, [(np.ones((1, 4), bool), np.array([30.0]), np.zeros(1))])
    before, after = fit(sums), fit(other)
    assert not np.allclose(before.beta, after.beta)
    # the noise of groups alone: the row, some 20 standard errors off, is the same in every run
    ratio = np.diag(after.covariance) / np.diag(before.covariance)
    assert np.all((ratio > 0.5) & (ratio < 2.0))


def test_one_coefficient_has_none_to_borrow_from():
    parts = [(z[:, :1], y, w) for z, y, w in (batch(400, 2, 0.0, seed=s) for s in range(2))]
    assert fit(summed(parts, 1)).freedom[1] == 1
