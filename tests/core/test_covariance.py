"""The covariance of the indicators: its inverse, eigenvalues and norms, against numpy and mpmath."""

import numpy as np
import pytest
import reference as ref
from alphas import ALPHAS, draws, exact_inverse
from reference import mp

from limetutor.core.covariance import covariance, inverse_covariance
from limetutor.precision.arrowhead import (
    alpha_constant,
    arrowhead_eigenvalues,
    inverse_frobenius_norm,
    inverse_norm_bound,
    secular,
)


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
