"""The length of a normal vector against chi-squares, closed forms, mpmath and simulation."""

import time

import numpy as np
import pytest
from reference import mp
from scipy import stats

from limetutor.precision.normal_length import Covariance, norm_distribution, norm_quantile

RNG = np.random.default_rng(3)


def diagonal(eigenvalues):
    """A covariance in its own axes, without a matrix of thousands of rows."""
    m = len(eigenvalues)
    return Covariance(np.asarray(eigenvalues, float), np.zeros((m, 0)), np.zeros((0, 0)))


@pytest.mark.parametrize("k", [1, 2, 5, 31])
def test_length_of_a_standard_normal_vector(k):
    t = np.sqrt(stats.chi2(k).ppf([1e-3, 0.1, 0.5, 0.95, 1 - 1e-7]))
    np.testing.assert_allclose(norm_distribution(t, np.eye(k)), stats.chi(k).cdf(t), atol=1e-11)
    for eta in (1 - 1e-9, 0.999, 0.3, 0.05, 1e-6, 1e-10):
        assert norm_quantile(4 * np.eye(k), eta) == pytest.approx(2 * stats.chi(k).isf(eta), 1e-6)


def test_length_with_unequal_variances():
    # equal pairs make exponentials: ||y||^2 = 6 E + E', whose distribution is elementary
    V = np.diag([3.0, 3.0, 0.5, 0.5])
    t = np.array([0.2, 1.0, 3.0, 8.0])
    exact = 1 - (6 * np.exp(-(t**2) / 6) - np.exp(-(t**2))) / 5
    np.testing.assert_allclose(norm_distribution(t, V), exact, atol=1e-12)
    # a rotation and ten orders of magnitude change nothing
    turn = np.linalg.qr(RNG.standard_normal((4, 4)))[0]
    np.testing.assert_allclose(norm_distribution(t, turn @ V @ turn.T), exact, atol=1e-11)
    thin = np.diag([1.0, 1e-10, 1e-10])
    assert norm_quantile(thin, 0.05) == pytest.approx(stats.norm.isf(0.025), rel=1e-7)
    wide = np.diag(np.geomspace(1e-4, 1.0, 12))
    y = RNG.standard_normal((400_000, 12)) * np.sqrt(np.diag(wide))
    share = np.mean(np.linalg.norm(y, axis=1) <= norm_quantile(wide, 0.1))
    assert abs(share - 0.9) < 4 * np.sqrt(0.09 / len(y))


def test_length_at_the_ends():
    assert norm_quantile(np.zeros((3, 3)), 0.05) == 0
    assert norm_quantile(np.eye(2), 1 - 1e-9) == pytest.approx(np.sqrt(2e-9), rel=1e-3)
    assert norm_distribution([-1.0, 0.0], np.eye(2)).tolist() == [0, 0]
    with pytest.raises(ValueError, match="eta must be 1e-10 or above"):
        norm_quantile(np.eye(2), 1e-12)


@pytest.mark.parametrize("k", [300, 1000, 5000])
def test_length_in_many_dimensions(k):
    """The matrix, or for the largest its eigenvalues: what LAPACK takes is no part of this."""
    V = np.eye(k) if k < 5000 else diagonal(np.ones(k))
    for eta in (0.9, 0.5, 0.05, 1e-9):
        assert norm_quantile(V, eta) == pytest.approx(stats.chi2.isf(eta, k) ** 0.5, rel=1e-6)


SPECTRA = {
    "one dominates": np.append(np.full(4999, 1e-4), 1.0),
    "one stands out of many": np.append(np.full(1000, 1.0), 60.0),
    "two clusters": np.repeat([1.0, 0.01], [20, 3000]),
    "twelve decades": np.geomspace(1e-12, 1.0, 200),
    "slow decay": 1 / np.arange(1, 301),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_quantiles_of_odd_spectra_are_those_of_simulation(name):
    """Shares of 40,000 draws beyond three quantiles, within 4 standard errors."""
    eigenvalues, draws = SPECTRA[name], 40_000
    values, counts = np.unique(eigenvalues, return_counts=True)
    rng, squares = np.random.default_rng(1), np.zeros(draws)
    for value, count in zip(values, counts, strict=True):
        squares += value * rng.chisquare(count, draws)
    for eta in (0.99, 0.5, 0.05):
        q = norm_quantile(diagonal(eigenvalues), eta) ** 2
        assert abs(np.mean(squares > q) - eta) < 4 * np.sqrt(eta * (1 - eta) / draws)


@pytest.mark.parametrize("eta", [0.999, 0.5, 0.05, 1e-8])
@pytest.mark.parametrize("name", ["one dominates", "geometric", "pairs"])
def test_quantiles_of_odd_spectra_are_those_of_30_digits(name, eta):
    """The distribution at the quantile by mpmath's inversion of the Laplace transform."""
    eigenvalues = {
        "one dominates": [1.0, 1e-3, 1e-3, 2e-4],
        "geometric": list(np.geomspace(1e-12, 1.0, 7)),
        "pairs": [3.0, 3.0, 0.5, 0.2, 0.2],
    }[name]
    q = norm_quantile(np.diag(eigenvalues), eta) ** 2

    def transform(s):
        return mp.fprod((1 + 2 * mp.mpf(value) * s) ** -0.5 for value in eigenvalues) / s

    with mp.workdps(30):
        below = mp.invertlaplace(transform, mp.mpf(q), method="talbot", degree=40)
        error = abs(1 - below - eta) / min(eta, 1 - eta)
    assert error < 1e-5


def test_a_diagonal_plus_a_part_of_low_rank_is_that_matrix():
    """Also where entries of the diagonal are below 0, or no eigenvalue is near them."""
    for m, r in ((3, 1), (40, 3), (200, 5)):
        factors, root = RNG.standard_normal((m, r)), RNG.standard_normal((r, r))
        low = factors @ root @ root.T @ factors.T
        entries = RNG.gamma(1.0, size=m)
        entries[0] = -0.1 * np.min(np.diag(low))
        least = np.linalg.eigvalsh(np.diag(entries) + low)[0]
        entries[1:] += max(-2 * least, 0.0)
        V = Covariance(entries, factors, root @ root.T)
        np.testing.assert_allclose(V.matrix(), np.diag(entries) + low, atol=1e-12)
        np.testing.assert_allclose(V.variances, np.diag(V.matrix()))
        assert V.square_trace() == pytest.approx(np.sum(V.matrix() ** 2))
        if np.linalg.eigvalsh(V.matrix())[0] > 0:
            for eta in (0.999, 0.4, 0.05, 1e-8):
                expected = norm_quantile(V.matrix(), eta)
                assert norm_quantile(V, eta) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e150, 1e307])
def test_any_unit(unit):
    V = np.array([[2.0, 0.5], [0.5, 1.0]])
    expected = np.sqrt(unit) * norm_quantile(V, 0.05)
    assert norm_quantile(unit * V, 0.05) == pytest.approx(expected, rel=1e-8)


def test_infinite_and_unknown_covariances():
    assert norm_quantile(np.diag([np.inf, 1.0]), 0.05) == np.inf
    assert np.isnan(norm_quantile(np.full((2, 2), np.nan), 0.05))
    assert norm_distribution([-1.0, 0.0, 1.0], np.zeros((2, 2))).tolist() == [0, 1, 1]


def test_thousands_of_dimensions_take_seconds():
    eigenvalues = RNG.gamma(0.3, size=5000)
    start = time.process_time()
    norm_quantile(diagonal(eigenvalues), 0.05)
    assert time.process_time() - start < 5  # 0.2 on a free core
