"""Eigenvalues and norms of the inverse covariance, and lasso, against numpy, mpmath and scikit-learn."""

import numpy as np
import pytest
import reference as ref
from alphas import ALPHAS, draws, exact_inverse
from reference import mp
from sklearn.linear_model import Lasso, LinearRegression

from limetutor.core.covariance import inverse_covariance
from limetutor.precision.arrowhead import (
    alpha_constant,
    arrowhead_eigenvalues,
    inverse_frobenius_norm,
    inverse_norm_bound,
    lasso_limit,
    secular,
)


def exact_eigenvalues(alpha):
    with mp.workdps(250):
        return sorted(mp.eigsy(exact_inverse(alpha), eigvals_only=True))


@pytest.mark.parametrize("alpha", ALPHAS.values(), ids=ALPHAS.keys())
def test_eigenvalues_match_250_digits(alpha):
    found, exact = arrowhead_eigenvalues(alpha), exact_eigenvalues(alpha)
    assert len(found) == len(alpha) + 1
    for value, true in zip(found, exact, strict=True):
        # poles closer than 1e-13 are taken for one
        assert ref.relative_error(value, true) < 2e-13


def test_eigenvalues_match_numpy():
    for alpha in draws(2, 20):
        found, matrix = arrowhead_eigenvalues(alpha), inverse_covariance(alpha)
        expected = np.linalg.eigvalsh(matrix)
        # numpy's absolute error is 1e-16 of the largest, a few times over
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14 * expected[-1])
        assert found.sum() == pytest.approx(np.trace(matrix), rel=1e-13, abs=0)
        assert np.log(found).sum() == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-11, abs=0)


def test_eigenvalues_interlace_with_the_diagonal():
    for alpha in draws(3, 10):
        found, diagonal = arrowhead_eigenvalues(alpha), np.sort(1 / (alpha * (1 - alpha)))
        assert np.all(found[:-1] <= diagonal)
        assert np.all(diagonal <= found[1:])
        assert found[0] > 0


def test_the_secular_function_vanishes_at_the_eigenvalues_and_changes_sign_there():
    alpha = [0.1, 0.25, 0.7]
    for root in np.linalg.eigvalsh(inverse_covariance(alpha)):
        left, at, right = secular(np.array([root - 1e-4, root, root + 1e-4]), alpha)
        assert left > 0 > right
        assert abs(at) < 1e-9 * (left - right) / 2e-4 * root  # a root known to 1e-15, and its slope


def test_the_secular_function_is_the_determinant_over_the_diagonal():
    alpha = np.array([0.1, 0.25, 0.7])
    matrix = inverse_covariance(alpha)
    for lam in (-3.0, 0.5, 2.0, 7.7, 40.0):
        determinant = np.linalg.det(matrix - lam * np.eye(4))
        over = np.prod(1 / (alpha * (1 - alpha)) - lam)
        assert secular(lam, alpha) == pytest.approx(determinant / over, rel=1e-12, abs=0)


def test_the_frobenius_norm_matches_the_matrix():
    for alpha in draws(4, 20):
        norm = np.linalg.norm(inverse_covariance(alpha))
        assert inverse_frobenius_norm(alpha) == pytest.approx(norm, rel=1e-13, abs=0)
        assert inverse_frobenius_norm(alpha, C=0.02) == pytest.approx(norm / 0.02, rel=1e-13, abs=0)


def test_the_bound_on_the_norm_holds_and_is_the_papers():
    for alpha in [*draws(5, 50), *map(np.array, ALPHAS.values())]:
        spread = 1 / (alpha * (1 - alpha))
        assert alpha_constant(alpha) == pytest.approx(spread.max(), rel=1e-15, abs=0)
        bound = inverse_norm_bound(alpha, C=0.3)
        assert bound == pytest.approx(3 * len(alpha) * spread.max() / 0.3, rel=1e-14, abs=0)
        # the operator norm is what the lemma is about; the proof goes through Frobenius
        assert arrowhead_eigenvalues(alpha)[-1] / 0.3 <= inverse_frobenius_norm(alpha, 0.3) <= bound


@pytest.mark.parametrize("lasso", [0.0, 0.02, 0.3])
def test_the_lasso_limit_minimises_the_penalised_loss_over_all_outcomes(lasso):
    # a model that is not linear in z, on independent indicators: scikit-learn on all eight outcomes
    rng = np.random.default_rng(8)
    alpha = np.array([0.2, 0.55, 0.8])
    z = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], float)
    probability = np.prod(np.where(z == 1, alpha, 1 - alpha), axis=1)
    y = rng.normal(size=8)
    means = [
        [np.average(y[z[:, j] == v], weights=probability[z[:, j] == v]) for v in (1, 0)]
        for j in range(3)
    ]
    beta = np.array([inside - outside for inside, outside in means])
    model = Lasso(alpha=lasso, tol=1e-14, max_iter=100_000) if lasso else LinearRegression()
    expected = model.fit(z, y, sample_weight=probability).coef_
    # coordinate descent stops at a duality gap of 1e-14, so coefficients are good to its root
    np.testing.assert_allclose(lasso_limit(beta, alpha, lasso), expected, atol=1e-6)
    assert np.count_nonzero(lasso_limit(beta, alpha, 0.3)) < 3  # one is left out
