"""The errata of the paper, one test each: the printed form is wrong, the corrected one right.

Numbers are those of the list in the book's reading notes. Of number 8, where the printed form is none
at all, these stand elsewhere: f returns a value per row (tests/core/test_models.py), quantiles are
those of each feature and a box ends at its own (tests/core/test_truncated.py, test_boxes.py), lime's
bandwidth and distance (tests/core/test_kernels.py, test_lime_measures_indicators in tests/prose).
"""

from functools import partial
from itertools import product

import numpy as np
import pytest
import reference as ref
from scipy import integrate, optimize, stats

import limetutor as lt
from limetutor.core.covariance import covariance as covariance_of
from limetutor.core.covariance import inverse_covariance
from limetutor.core.tilted_law import gaussian_tilt
from limetutor.course.figures import reading_the_paper
from limetutor.precision import bounds
from limetutor.precision.arrowhead import (
    alpha_constant,
    arrowhead_eigenvalues,
    inverse_frobenius_norm,
    secular,
)
from limetutor.precision.bounds import covariance_tail, response_tail

QUARTILE = stats.norm.ppf(0.75)
close = partial(pytest.approx, abs=0)


def weighted_moment(k, xi, nu, mu, sigma, *ends):
    """Of x^k under the density of N(mu, sigma^2) times the weight around xi, by quadrature."""
    weight = lambda x: np.exp(-((x - xi) ** 2) / 2 / nu**2)  # noqa: E731
    return integrate.quad(lambda x: x**k * weight(x) * ref.bell(x, mu, sigma), *ends)[0]


def test_1_the_printed_sigma_tilde_is_the_square_of_the_deviation():
    # P~ has density proportional to weight times density: measure its deviation
    xi, nu, sigma = 1.3, 0.7, 2.0
    mass, first, second = (weighted_moment(k, xi, nu, 0.0, sigma, -9, 9) for k in range(3))
    deviation = np.sqrt(second / mass - (first / mass) ** 2)
    printed = nu**2 * sigma**2 / (nu**2 + sigma**2)
    limit = lt.limit(lt.Linear([1.0]), [xi], lt.Gaussian(0, sigma), nu)
    assert limit.sigma_tilde[0] == close(deviation, rel=1e-9)  # quad's own 1e-9
    assert np.sqrt(printed) == close(deviation, rel=1e-9)
    assert abs(printed - deviation) > 0.1
    # and with the printed one alpha is not the mass of the box under P~
    lo, hi = sigma * np.array([0, QUARTILE])
    inside = weighted_moment(0, xi, nu, 0.0, sigma, lo, hi) / mass
    wrong = np.diff(stats.norm.cdf([lo, hi], limit.mu_tilde[0], printed))[0]
    assert limit.alpha[0] == close(inside, rel=1e-9)
    assert abs(wrong - inside) > 0.05


def test_2_the_sum_in_the_secular_equation_has_a_minus_sign():
    alpha = np.array([0.15, 0.4, 0.7])
    eigenvalues = np.linalg.eigvalsh(inverse_covariance(alpha))
    assert np.all(np.abs(secular(eigenvalues, alpha)) < 1e-10)  # eigenvalues known to 1e-15
    assert np.all(np.abs(secular(eigenvalues, alpha, sign=+1.0)) > 0.1)
    np.testing.assert_allclose(arrowhead_eigenvalues(alpha), eigenvalues, rtol=1e-12)
    # one feature, alpha = 1/2: the printed equation is (lambda^2 - 6 lambda + 12) / (lambda - 4) = 0,
    # up to sign, which no real number solves; the matrix has the eigenvalues 3 +- sqrt 5
    lam = np.linspace(-50, 50, 1000)
    printed = (lam**2 - 6 * lam + 12) / (4 - lam)
    np.testing.assert_allclose(secular(lam, [0.5], sign=+1.0), printed, rtol=1e-10)
    assert np.all(lam**2 - 6 * lam + 12 >= 3)
    np.testing.assert_allclose(arrowhead_eigenvalues([0.5]), 3 + np.sqrt([5.0]) * [-1, 1])
    np.testing.assert_allclose(secular(3 + np.sqrt([5.0]) * [-1, 1], [0.5]), 0.0, atol=1e-14)


# measured over 8000 runs: 0.030, 0.084, 0.457, 0.951
@pytest.mark.parametrize(("d", "least"), [(1, 0.02), (2, 0.05), (5, 0.4), (10, 0.9)])
def test_3_entries_within_t_do_not_keep_the_covariance_matrix_within_t(d, least):
    n, runs = 2000, 1500
    t = np.sqrt(np.log(4 * d**2 / 0.01) / (2 * n))
    assert covariance_tail(t, n, d, corrected=False) == close(0.01, rel=1e-12)
    # p = 2 and nu so large that every weight is 1: the indicators are fair coins
    wide = lt.limit(lt.Linear(np.ones(d)), np.full(d, 0.3), lt.Gaussian(p=2), 1e6)
    np.testing.assert_allclose(wide.alpha, 0.5, rtol=1e-6)
    rng = np.random.default_rng(d)
    errors = np.empty(runs)
    for run in range(runs):
        z = np.ones((n, d + 1), dtype=np.float32)  # counts up to 2000 are exact
        z[:, 1:] = rng.integers(0, 2, (n, d), dtype=np.int8)
        errors[run] = np.linalg.norm(z.T @ z / n - wide.Sigma, 2)
    frequency = np.mean(errors >= t)
    assert frequency > least > 0.01  # the printed bound, broken by more than 4 standard errors
    assert frequency <= covariance_tail(t, n, d)
    # where the corrected bound says 0.01 it is so
    t = np.sqrt(np.log(2 * (d + 1) ** 2 / 0.01) * (d + 1) ** 2 / (2 * n))
    assert covariance_tail(t, n, d) == close(0.01, rel=1e-12)
    assert np.mean(errors >= t) <= 0.01


def test_3_the_number_of_entries_is_not_bounded_by_2_d_squared():
    assert [d for d in range(1, 30) if (d + 1) ** 2 > 2 * d**2] == [1, 2]


def test_4_a_constant_model_still_has_a_noisy_response():
    f, xi, nu, n = lt.Linear([0.0, 0.0], 5.0), np.zeros(2), 1.0, 200
    limit = lt.limit(f, xi, lt.Gaussian(), nu)
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(300):
        x = rng.normal(size=(n, 2))
        # xi lies in the box from 0 to the upper quartile
        z = np.column_stack([np.ones(n), (x >= 0) & (x < QUARTILE)])
        pi = np.exp(-np.sum(x**2, axis=1) / (2 * nu**2))
        errors.append(np.linalg.norm(z.T @ (pi * f(x)) / n - limit.Gamma))
    t = 0.05
    assert response_tail(t, n, f, xi, nu, 1.0, corrected=False) == 0.0  # printed: never
    assert np.mean(np.array(errors) > t) > 0.5  # in fact: mostly
    assert np.mean(np.array(errors) > t) <= response_tail(t, n, f, xi, nu, 1.0)
    # and where the corrected bound is not empty it holds
    t = 2.2
    assert response_tail(t, n, f, xi, nu, 1.0) < 0.5
    assert np.mean(np.array(errors) > t) <= response_tail(t, n, f, xi, nu, 1.0)


def test_4_the_printed_response_bound_misses_the_same_factor_as_3():
    # f whose pi f varies as much as f itself: nu large. Entries are each within t, the norm is not.
    d, n, nu, runs = 30, 200, 1e4, 400
    f, xi = lt.Linear([1.0] + [0.0] * (d - 1)), np.full(d, 0.3)
    limit = lt.limit(f, xi, lt.Gaussian(p=2), nu)
    t = np.sqrt(np.log(4 * d / 0.01) * 2 / n)
    assert response_tail(t, n, f, xi, nu, 1.0, corrected=False) == close(0.01, rel=1e-12)
    rng = np.random.default_rng(1)
    errors = np.empty(runs)
    for run in range(runs):
        x = rng.normal(size=(n, d))
        z = np.column_stack([np.ones(n), x >= 0])
        pi = np.exp(-np.sum((x - xi) ** 2, 1) / 2 / nu**2)
        errors[run] = np.linalg.norm(z.T @ (pi * x[:, 0]) / n - limit.Gamma)
    assert np.mean(errors > t) > 0.04  # four times the printed 0.01, 6 standard errors above
    assert np.mean(errors > t) <= min(1, response_tail(t, n, f, xi, nu, 1.0))


def test_5_the_frobenius_norm_needs_a_factor_two_and_a_square():
    alpha, C = np.array([0.2, 0.6, 0.45]), 0.3
    norm = np.linalg.norm(inverse_covariance(alpha) / C)
    assert inverse_frobenius_norm(alpha, C) == close(norm, rel=1e-13)
    assert inverse_frobenius_norm(alpha, C, printed=True) < 0.7 * norm
    # the printed expression, from the paper
    a, as_printed = alpha, inverse_frobenius_norm(alpha, C, printed=True)
    printed = (1 + np.sum(a / (1 - a))) ** 2 + np.sum(1 / (1 - a) ** 2) + np.sum(1 / (a * (1 - a)))
    assert as_printed == close(np.sqrt(printed) / C, rel=1e-13)
    # that the lemma's final bound survives, tests/precision/test_arrowhead.py asks


def test_6_the_second_order_antiderivative_has_2ax_plus_b():
    # F' must be x^2 exp(-ax^2+bx+c): by differences of F over an interval against quadrature
    mp = ref.mp
    a, b, c = mp.mpf("0.8"), mp.mpf("0.5"), mp.mpf("-0.3")

    def antiderivative(x, factor):
        bell = mp.exp(-a * x**2 + b * x + c)
        front = mp.sqrt(mp.pi) * (2 * a + b**2) / (8 * a ** mp.mpf("2.5"))
        error = mp.erf((2 * a * x - b) / (2 * mp.sqrt(a)))
        return front * mp.exp(b**2 / (4 * a) + c) * error - (factor * a * x + b) / (4 * a**2) * bell

    true = mp.quad(lambda x: x**2 * mp.exp(-a * x**2 + b * x + c), [-1, 0, 2])
    right, wrong = (antiderivative(2, k) - antiderivative(-1, k) for k in (2, 1))
    assert abs(right - true) < mp.mpf(10) ** -40
    assert abs(wrong - true) > 0.1
    # what the package integrates is the right one: a = 1/2nu^2 + 1/2sigma^2 and so on
    from limetutor.exact.integrals import gaussian_integral

    xi, mu, nu, sigma = mp.mpf("0.4"), mp.mpf("-0.7"), mp.mpf("0.9"), mp.mpf("1.6")
    a, b = 1 / (2 * nu**2) + 1 / (2 * sigma**2), xi / nu**2 + mu / sigma**2
    c = -(xi**2 / (2 * nu**2) + mu**2 / (2 * sigma**2))
    expected = (antiderivative(2, 2) - antiderivative(-1, 2)) / (sigma * mp.sqrt(2 * mp.pi))
    found = gaussian_integral(2, 0.4, -0.7, 0.9, 1.6, -1.0, 2.0)
    assert found == close(float(expected), rel=1e-13)


def test_6_the_constant_of_the_zeroth_order_needs_a_half_on_both_squares():
    xi, mu, nu, sigma = 0.4, -0.7, 0.9, 1.6
    a, b = 1 / (2 * nu**2) + 1 / (2 * sigma**2), xi / nu**2 + mu / sigma**2
    claimed = -((xi - mu) ** 2) / (2 * (nu**2 + sigma**2))  # what b^2/4a + c must be
    right, printed = (-(xi**2 / (2 * nu**2) + half * mu**2 / sigma**2) for half in (0.5, 1.0))
    assert b**2 / (4 * a) + right == close(claimed, rel=1e-13)
    assert abs(b**2 / (4 * a) + printed - claimed) > 0.05
    # and the integral itself sides with the claim
    value = weighted_moment(0, xi, nu, mu, sigma, -12, 12)
    assert value == close(nu / np.hypot(nu, sigma) * np.exp(claimed), rel=1e-9)


def test_7_the_sample_size_fits_the_proposition_and_not_the_proofs_quote_of_it():
    # n_4 is what makes the proposition's bound eta/3 at t_3 = eps / 2||Gamma||, with ||Gamma||
    # replaced by its bound C sqrt(d (3 f(mu~)^2 + sigma~^2 ||a||^2))
    d, eps, eta = 3, 0.2, 0.1
    f, xi = lt.Linear([1.0, -2.0, 0.5], 0.3), np.array([0.2, 0.9, -0.4])
    limit = lt.limit(f, xi, lt.Gaussian(), 1.2)
    C, A, centre = limit.C, alpha_constant(limit.alpha), f(limit.mu_tilde[None])[0]
    gamma = C * np.sqrt(d * (3 * centre**2 + np.sum((f.a * limit.sigma_tilde) ** 2)))
    assert np.linalg.norm(limit.Gamma) <= gamma
    n, t = bounds.theorem_sample_size(limit, 1.0, eps, eta, corrected=False), eps / (2 * gamma)
    proposition = bounds.inverse_tail(t, round(n), d, C, A, corrected=False)
    assert proposition == close(eta / 3, rel=1e-6)  # n is 1e9, rounded to a whole number
    quoted = 8 * d**2 * np.exp(-(C**3) * n * t**2 / (162 * d**2 * A**4))
    assert quoted < 1e-3 * eta / 3  # d^2 / C times too large an exponent
    # and that quote is not what the proof of the proposition gives: its t_1 squared, doubled
    t_1 = C**2 * t / (18 * d**2 * A**2)
    assert 2 * t_1**2 == close(C**4 * t**2 / (162 * d**4 * A**4), rel=1e-12)


def test_7_the_corrected_number_of_samples_may_be_smaller_or_far_larger():
    cases = product((2, 50), (0, 10))
    ratios = {(d, b): reading_the_paper.corrected_over_printed(d, b) for d, b in cases}
    assert ratios[2, 0] == pytest.approx(0.03, abs=0.005)
    assert ratios[50, 10] == pytest.approx(86, abs=0.5)
    # b enters the printed one through 3 f(mu~)^2, of which the exact norm of Gamma needs less
    assert ratios[2, 0] < ratios[2, 10] and ratios[50, 0] < 1


def test_8_the_sample_of_the_introduction_shares_its_second_box():
    # xi in the boxes (2, 3), a sample in (1, 3): z is (0, 1) where (1, 0) is printed
    discretize = lt.Gaussian(p=4).boxes(2).discretize
    xi, x = np.array([-0.3, 0.3]), np.array([-1.0, 0.5])
    assert (1 + discretize(xi)).tolist() == [2, 3] and (1 + discretize(x)).tolist() == [1, 3]
    assert (discretize(x) == discretize(xi)).astype(int).tolist() == [0, 1]


def test_8_the_local_error_is_the_surrogates_value_minus_that_of_f():
    # in the discussion the term is printed without - f(xi); a constant added to f tells them apart
    for b in (0.0, 100.0):
        f, xi = lt.Linear([1.0, -2.0], b), np.array([2.0, 0.3])
        limit = lt.limit(f, xi, lt.Gaussian(), 1.0)
        value = f(limit.mu_tilde[None])[0] - np.sum(f.a * limit.theta / limit.alpha)  # printed
        run = lt.explain(f, xi, lt.Gaussian(), 1.0, n=100_000, seed=0)
        error = run.local_prediction - f(xi[None])[0]
        assert abs(error - (value - f(xi[None])[0])) < 4 * run.local_stderr
        assert abs(error - value) > 100 * run.local_stderr
        assert limit.local_error == pytest.approx(value - f(xi[None])[0], rel=1e-10, abs=1e-12)


def test_8_mu_tilde_other_than_mu_is_no_criterion_for_an_error():
    # "as soon as mu~ differs from mu, it is the general situation": the three conditions
    # mu~ != mu, xi != mu and mu~ != xi are one; there is an error where they fail, and none at a
    # place where they hold
    f, world = lt.Linear([1.0]), lt.Gaussian()
    for xi in (0.0, 0.3, 1.215, 2.0):
        at = lt.limit(f, [xi], world, 1.0)
        assert (at.mu_tilde[0] != 0) == (xi != 0) == (at.mu_tilde[0] != xi)
    assert lt.limit(f, [0.0], world, 1.0).local_error == pytest.approx(0.31, abs=0.005)
    mass, first = (weighted_moment(k, 0.0, 1.0, 0.0, 1.0, 0, QUARTILE) for k in range(2))
    assert first / mass == pytest.approx(0.31, abs=0.005)  # the surrogate at 0: the mean in the box
    cancels = optimize.brentq(lambda xi: lt.limit(f, [xi], world, 1.0).local_error, 1.0, 1.5)
    assert cancels == pytest.approx(1.215, abs=0.001)
    assert lt.limit(f, [cancels], world, 1.0).mu_tilde[0] == pytest.approx(cancels / 2)


def test_8_a_small_bandwidth_without_a_penalty_is_no_constant_fit():
    # f = x^2, xi = 0.5: all 200 coefficients are near the secant to the edge, none is near 0
    found = reading_the_paper.at_small_bandwidth(0.003, n=2000, runs=200)
    secant = 0.25 - QUARTILE**2
    assert secant == pytest.approx(-0.2049, abs=5e-5)
    assert found.mean() == pytest.approx(-0.207, abs=0.001) and found.std() < 0.004
    assert np.all((found < -0.2) & (found > -0.23))
    # as nu shrinks it is f at the nearest sample inside minus f at the nearest one outside
    x = np.random.default_rng(0).standard_normal((3, 40))
    inside = (x >= 0) & (x < QUARTILE)
    nearest = [
        np.take_along_axis(x, np.abs(np.where(side, x, 9) - 0.5).argmin(1)[:, None], 1)[:, 0]
        for side in (inside, ~inside)
    ]
    tiny = reading_the_paper.at_small_bandwidth(1e-4, n=40, runs=3)
    np.testing.assert_allclose(tiny, nearest[0] ** 2 - nearest[1] ** 2, atol=1e-12)
    # the same from the normal equations, with enough digits for the smallest weights; a ridge
    # penalty of 1e-6 exceeds the weights outside and makes it a constant
    mp, nu = ref.mp, 0.02
    with mp.workdps(60):
        row = [mp.mpf(float(v)) for v in x[0]]
        w = [mp.exp(-((v - 0.5) ** 2) / (2 * mp.mpf(nu) ** 2)) for v in row]
        wz = [weight if z else mp.mpf(0) for weight, z in zip(w, inside[0], strict=True)]
        right = mp.matrix([mp.fdot(weights, [v**2 for v in row]) for weights in (w, wz)])
        gram = [mp.matrix([[sum(w), sum(wz)], [sum(wz), sum(wz) + p]]) for p in (0, mp.mpf("1e-6"))]
        plain, ridge = (float(mp.lu_solve(matrix, right)[1]) for matrix in gram)
    assert reading_the_paper.at_small_bandwidth(nu, n=40, runs=3)[0] == close(plain, rel=1e-9)
    assert abs(plain) > 0.1 and abs(ridge) < 1e-6


@pytest.mark.parametrize("nu", [0.2, 1.0, 5.0])
def test_8_the_middle_of_an_odd_number_of_boxes_is_off_at_every_bandwidth(nu):
    # the exception to "theta_j = 0 only if V_crit > 0 and nu^2 = V_crit"
    edge = stats.norm.ppf(2 / 3)
    top, bottom = 2 * 0.0 - (-edge) - edge, -2 * 0.0 + (-edge) + edge
    assert top == bottom == 0  # V_crit is 0 / 0
    assert lt.limit(lt.Linear([1.0]), [0.0], lt.Gaussian(p=3), nu).theta[0] == 0
    mean = weighted_moment(1, 0.0, nu, 0.0, 1.0, -edge, edge)
    assert abs(mean) < 1e-12  # x has mean 0 in the box, as outside it
    assert abs(lt.limit(lt.Linear([1.0]), [0.1], lt.Gaussian(p=3), nu).theta[0]) > 1e-4


def test_8_each_mean_of_the_covariance_has_its_own_centre():
    # the second and third Hoeffding lines are printed with E[pi] as their centre
    rng, n, t = np.random.default_rng(0), 4000, 0.1
    assert 2 * np.exp(-2 * n * t**2) < 1e-30
    x = rng.normal(size=(n, 2))
    z = (x >= 0) & (x < QUARTILE)
    pi = np.exp(-np.sum((x - 0.3) ** 2, axis=1) / 2)
    limit = lt.limit(lt.Linear([1.0, 1.0]), [0.3, 0.3], lt.Gaussian(), 1.0)
    one, both = np.mean(pi * z[:, 0]), np.mean(pi * z[:, 0] * z[:, 1])
    assert abs(one - limit.C) > t and abs(both - limit.C) > t
    assert abs(one - limit.Sigma[0, 1]) < t / 4 and abs(both - limit.Sigma[1, 2]) < t / 4


def test_8_the_proposition_compares_the_two_inverses():
    # its last display has ||S^-1 - S|| on the left, S the sampled matrix; the right is 0 as S -> Sigma
    alpha = np.array([0.3, 0.6])
    Sigma, inverse = 0.4 * covariance_of(alpha), inverse_covariance(alpha) / 0.4
    change = np.diag([1.0, -1.0, 0.5])
    for size in (1e-3, 1e-6):
        S = Sigma + size * change
        norms = [np.linalg.norm(matrix, 2) for matrix in (inverse, S - Sigma, np.linalg.inv(S))]
        right = np.prod(norms)
        assert np.linalg.norm(np.linalg.inv(S) - inverse, 2) <= right < 1
        assert np.linalg.norm(np.linalg.inv(S) - S, 2) > 10


def test_8_n_1_needs_the_square_of_A():
    limit = lt.limit(lt.Linear([1.0, -2.0, 0.5]), [0.2, 0.9, -0.4], lt.Gaussian(), 1.2)
    printed, with_A = reading_the_paper.first_sample_size(limit, 0.1)
    assert with_A == close(0.1 / 3, rel=1e-12)
    assert printed > 1  # no bound at all
    # and the claim that n_1 <= n_3 survives: the same factor before a smaller logarithm
    assert all(np.log(12 * d**2 / 0.1) <= np.log(24 * d**2 / 0.1) for d in (1, 5, 50))


def test_8_the_scale_tends_to_one_for_each_dimension_not_for_all_at_once():
    def scale(d, nu):
        return np.exp(lt.limit(lt.Linear(np.ones(d)), np.zeros(d), lt.Gaussian(), nu).log_C)

    at_ten, wide = ([scale(d, nu) for d in (10, 1000)] for nu in (10.0, 1e4))
    np.testing.assert_allclose(wide, 1.0, atol=1e-4)
    np.testing.assert_allclose(at_ten, [0.951, 0.0069], rtol=1e-2)


def beta(xi, nu, sigma=1.0):
    """Slope of the coefficient at xi for mu = 0, p = 4, per unit of gradient."""
    t = np.asarray(xi) / sigma
    edges = np.array([-np.inf, -QUARTILE, 0.0, QUARTILE, np.inf])
    k = np.searchsorted(edges, t, side="right") - 1
    return gaussian_tilt(xi, nu, 0.0, sigma, edges[k], edges[k + 1])


def test_9_the_three_published_numbers_do_not_fit_together():
    # mu = 0, sigma = 1, p = 4, nu = 1: beta_1 = 11.4 has two solutions
    off_by = lambda x: 10 * beta(x, 1.0).gap - 11.4  # noqa: E731
    fit = [optimize.brentq(off_by, *bracket) for bracket in ((0.7, 1.3), (1.3, 2.5))]
    np.testing.assert_allclose(fit, [0.961, 1.737], atol=0.001)  # printed to three digits
    # beta_2 = -4.1 has one up to sign ...
    grid = np.linspace(1e-4, QUARTILE - 1e-9, 4001)
    roots = grid[np.flatnonzero(np.diff(np.sign(-10 * beta(grid, 1.0).gap + 4.1)))]
    np.testing.assert_allclose(roots, [0.089], atol=0.0005)
    outer = beta(np.linspace(QUARTILE + 1e-9, 9, 4001), 1.0)
    assert np.all(-10 * outer.gap < -4.5)  # none in the outer box
    world = lt.Gaussian(mu=0, sigma=1, p=4)
    at = lt.limit(lt.Linear([-10.0]), [0.089], world, 1.0)
    assert at.coef[0] == pytest.approx(-4.1, abs=0.01)
    # ... which no bandwidth switches off
    assert np.isnan(at.critical_nu[0])
    assert np.all(beta(0.089, np.geomspace(0.02, 100, 400)).gap > 0)
    # while what 0.53 switches off has another coefficient at nu = 1
    off = optimize.brentq(lambda x: beta(x, 0.53).gap, 0.35, 0.6)
    assert off == pytest.approx(0.432, abs=0.001)
    assert -10 * beta(off, 1.0).gap == pytest.approx(-1.76, abs=0.01)


def test_9_no_common_sigma_reconciles_them():
    # xi_2 such that 0.53 switches it off, then beta_2 at nu = 1, for every sigma up to 14
    def switched_off(sigma):
        # mu~ = middle of the box: xi = middle (1 + nu^2 / sigma^2), if that stays in the box
        middle = sigma * QUARTILE / 2
        xi = middle * (1 + 0.53**2 / sigma**2)
        if not 0 < xi < sigma * QUARTILE:
            return np.nan
        assert abs(beta(xi, 0.53, sigma).gap) < 1e-8 * sigma  # switched off, up to rounding
        return -10 * beta(xi, 1.0, sigma).gap

    found = np.array([switched_off(sigma) for sigma in np.linspace(0.2, 14, 139)])
    assert np.sum(np.isfinite(found)) > 130
    assert np.nanmin(found) > -4.05  # what rounds to -4.1 begins there
    # between 14.1 and 14.6 it could be, and beyond that no more
    assert -4.15 < switched_off(14.3) < -4.05
    assert all(switched_off(sigma) < -4.15 for sigma in np.linspace(14.6, 60, 100))


def test_9_other_edges_reconcile_them_only_far_from_the_quartiles():
    # mu = 0, sigma = 1: feature 2 switched off at 0.53 puts xi at 1 + 0.53^2 times the middle of
    # its box; the box must hold xi, and beta_2 at nu = 1 be -4.1
    lower, width = np.linspace(-0.5, 1.5, 201)[:, None], np.linspace(0.01, 4, 1000)
    upper = lower + width
    xi = (1 + 0.53**2) * (lower + upper) / 2
    beta_2 = -10 * gaussian_tilt(xi, 1.0, 0.0, 1.0, lower, upper).gap
    assert np.all(np.abs(gaussian_tilt(xi, 0.53, 0.0, 1.0, lower, upper).gap) < 1e-8)
    fits = (lower <= xi) & (xi < upper) & (np.abs(beta_2 + 4.1) < 0.05)  # what rounds to -4.1
    assert fits.sum() > 100
    assert upper[fits].min() > 1.1 > QUARTILE
