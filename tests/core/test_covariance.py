"""The covariance of the indicators: its inverse, eigenvalues and norms, against numpy and mpmath."""

import numpy as np
import pytest
import reference as ref
from reference import mp
from sklearn.linear_model import Lasso, LinearRegression

from limetutor.covariance import (
    alpha_constant,
    arrowhead_eigenvalues,
    covariance,
    inverse_covariance,
    inverse_frobenius_norm,
    inverse_norm_bound,
    lasso_limit,
    secular,
)

# Doubles with a story: one feature, repeated and mirrored poles, nearly repeated ones, extremes.
ALPHAS = {
    "one": [0.3],
    "a half": [0.5],
    "plain": [0.1, 0.25, 0.7],
    "repeated": [0.3, 0.3, 0.3],
    "mirrored": [0.2, 0.8],  # the same pole, different sides
    "repeated and mirrored": [0.2, 0.8, 0.2, 0.5],
    "a half twice": [0.5, 0.5, 0.1],
    "close by 1e-6": [0.3, 0.300001, 0.299999],
    "close by 1e-11": [0.3, 0.3 + 1e-11, 0.9],
    "close by an ulp": [0.3, float(np.nextafter(0.3, 1)), 0.6],
    "tiny": [1e-10, 0.3],
    "nearly one": [1 - 2.0**-40, 0.3],
    "both": [1e-12, 1 - 2.0**-33, 0.5],
    "poles far apart": [1e-5, 1e-15, 0.5],
    "all tiny": [1e-8, 2e-8, 3e-8],
    "very tiny": [1e-100, 0.4],
}


def draws(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield rng.uniform(0.01, 0.99, int(rng.integers(1, 31)))


def exact_inverse(alpha):
    """C Sigma^-1 by inverting Sigma itself, not by the lemma."""
    d = len(alpha)
    with mp.workdps(250):  # alpha of 1e-100 squared still leaves 50 digits
        a = [mp.mpf(1), *(mp.mpf(float(v)) for v in alpha)]
        sigma = mp.matrix(d + 1, d + 1)
        for i in range(d + 1):
            for j in range(d + 1):
                sigma[i, j] = a[i] if i == j else a[i] * a[j]
        return sigma**-1


def exact_eigenvalues(alpha):
    with mp.workdps(250):
        return sorted(mp.eigsy(exact_inverse(alpha), eigvals_only=True))


def test_sigma_holds_the_moments_of_independent_indicators():
    alpha = np.array([0.2, 0.5, 0.9])
    # every outcome of three coins, with its probability: no sampling
    outcomes = np.array([[1, i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    probability = np.prod(np.where(outcomes[:, 1:], alpha, 1 - alpha), axis=1)
    expected = outcomes.T @ (probability[:, None] * outcomes)
    np.testing.assert_allclose(covariance(alpha), expected, rtol=1e-14)


def test_the_inverse_inverts():
    for alpha in draws(1, 20):
        product = covariance(alpha) @ inverse_covariance(alpha)
        # sums of d + 1 terms as large as 1 / (alpha (1 - alpha)), rounded
        np.testing.assert_allclose(product, np.eye(len(alpha) + 1), atol=1e-12)
        np.testing.assert_allclose(
            inverse_covariance(alpha), np.linalg.inv(covariance(alpha)), rtol=1e-8, atol=1e-8
        )  # numpy inverts with the condition number, up to 1e6 here


@pytest.mark.parametrize("alpha", ALPHAS.values(), ids=ALPHAS.keys())
def test_the_inverse_matches_the_inverse_at_250_digits(alpha):
    found, exact = inverse_covariance(alpha), exact_inverse(alpha)
    for i in range(len(alpha) + 1):
        for j in range(len(alpha) + 1):
            if found[i, j] == 0:
                assert i != j
                assert min(i, j) > 0
                assert abs(exact[i, j]) < mp.mpf(10) ** -40
            else:
                # 1 - alpha is one rounding; a handful more
                assert ref.relative_error(found[i, j], exact[i, j]) < 1e-15


def test_one_minus_alpha_known_better_is_used():
    # alpha is 1 to the last digit, 1 - alpha is 1e-40
    found = inverse_covariance([1.0, 0.5], rest=[1e-40, 0.5])
    assert found[1, 1] == pytest.approx(1e40, rel=1e-15, abs=0)
    assert found[0, 0] == pytest.approx(1e40, rel=1e-15, abs=0)
    assert found[0, 1] == pytest.approx(-1e40, rel=1e-15, abs=0)
    assert alpha_constant([1.0, 0.5], rest=[1e-40, 0.5]) == pytest.approx(1e40, rel=1e-15, abs=0)


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
        assert (
            arrowhead_eigenvalues(alpha)[-1] / 0.3 <= inverse_frobenius_norm(alpha, C=0.3) <= bound
        )


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_alpha_of_0_or_1_has_no_inverse(value):
    assert covariance([value, 0.5])[0, 1] == value  # Sigma itself exists
    for function in (
        inverse_covariance,
        arrowhead_eigenvalues,
        inverse_frobenius_norm,
        inverse_norm_bound,
        alpha_constant,
        lambda alpha: secular(1.0, alpha),
    ):
        with pytest.raises(ValueError, match="alpha must lie strictly between 0 and 1"):
            function([value, 0.5])


def test_an_alpha_outside_0_to_1_is_no_probability():
    for bad in ([-0.1, 0.5], [1.1]):
        with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
            covariance(bad)


# --- lasso ----------------------------------------------------------------------------------------


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
