"""Eigenvalues and norms of the inverse covariance, and lasso, against numpy, mpmath and scikit-learn."""

from itertools import product

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
    largest_eigenvalue,
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
    assert ref.relative_error(largest_eigenvalue(alpha), exact[-1]) < 2e-13


def test_eigenvalues_match_numpy():
    for alpha in draws(2, 20):
        found, expected = (
            arrowhead_eigenvalues(alpha),
            np.linalg.eigvalsh(inverse_covariance(alpha)),
        )
        # numpy's absolute error is 1e-16 of the largest, a few times over
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14 * expected[-1])


def test_the_largest_eigenvalue_is_that_of_numpy_where_a_probability_is_known_by_what_is_left():
    rest = np.array([1e-30, 0.2, 1e-9, 0.5])
    expected = np.linalg.eigvalsh(inverse_covariance(1 - rest, rest))[-1]
    assert largest_eigenvalue(1 - rest, rest) == pytest.approx(expected, rel=1e-13)
    assert largest_eigenvalue([0.3, 1.0]) == np.inf


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
    z = np.array(list(product((0.0, 1.0), repeat=3)))
    probability = np.prod(np.where(z == 1, alpha, 1 - alpha), axis=1)
    y = rng.normal(size=8)
    inside, outside = (np.average(np.tile(y, (3, 1)), 1, probability * (v == z.T)) for v in (1, 0))
    beta = inside - outside
    model = Lasso(alpha=lasso, tol=1e-14, max_iter=100_000) if lasso else LinearRegression()
    expected = model.fit(z, y, sample_weight=probability).coef_
    # coordinate descent stops at a duality gap of 1e-14, so coefficients are good to its root
    np.testing.assert_allclose(lasso_limit(beta, alpha, lasso), expected, atol=1e-6)
    assert np.count_nonzero(lasso_limit(beta, alpha, 0.3)) < 3  # one is left out
