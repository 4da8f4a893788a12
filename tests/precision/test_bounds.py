"""The concentration bounds: their derivations, step by step, and that they hold in simulation."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy import integrate
from sentences import one_sentence

import limetutor as lt
from limetutor.core.covariance import inverse_covariance
from limetutor.precision.arrowhead import alpha_constant
from limetutor.precision.bounds import (
    chernoff_exponent,
    covariance_tail,
    empirical_inverse_bound,
    finite_sample_size,
    hoeffding_tail,
    inverse_tail,
    leverage_bound,
    moment_constant,
    residual_bound,
    response_bound,
    response_norm_bound,
    response_tail,
    subgaussian_tail,
    theorem_sample_size,
)
from limetutor.precision.normal_limit import whitened_variance

close = partial(pytest.approx, rel=1e-12, abs=0)


def hoeffding(t, n, width):
    """Two-sided: the mean of n independent values in an interval of this width is t off."""
    return 2 * np.exp(-2 * n * t**2 / width**2)


def setting(d=3, nu=1.4, b=0.7):
    rng = np.random.default_rng(d)
    f = lt.Linear(rng.normal(size=d), b)
    xi, sigma = rng.normal(size=d), 10 ** rng.uniform(-0.3, 0.3, d)
    world = lt.Gaussian(0.2, sigma, 4)
    return f, xi, world, lt.limit(f, xi, world, nu)


def estimates(f, xi, world, limit, n, runs, seed):
    """Sigma^ - Sigma, Gamma^ - Gamma and beta^ - beta of repeated runs of Algorithm 1."""
    rng = np.random.default_rng(seed)
    edges = world.boxes(f.a.size).edges
    own = [np.searchsorted(e, v, side="right") for e, v in zip(edges, xi, strict=True)]
    Sigma, Gamma, beta = limit.Sigma, limit.Gamma, np.append(limit.intercept, limit.coef)
    for _ in range(runs):
        x = rng.normal(world.mu, world.sigma, (n, f.a.size))
        z = np.ones((n, f.a.size + 1))
        for j, e in enumerate(edges):
            z[:, j + 1] = np.searchsorted(e, x[:, j], side="right") == own[j]
        pi = np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * limit.nu**2))
        gram, response = z.T @ (pi[:, None] * z) / n, z.T @ (pi * f(x)) / n
        yield gram - Sigma, response - Gamma, np.linalg.solve(gram, response) - beta


@pytest.mark.parametrize("d", [1, 2, 7])
def test_the_covariance_bound_is_hoeffding_on_every_entry(d):
    # if every one of the (d+1)^2 entries, all in [0, 1], is within t/(d+1), Frobenius is within t
    each = hoeffding(0.1 / (d + 1), 900, width=1.0)
    assert covariance_tail(0.1, 900, d) == close((d + 1) ** 2 * each)
    printed = 4 * d**2 * np.exp(-2 * 900 * 0.01)
    assert covariance_tail(0.1, 900, d, corrected=False) == close(printed)


def test_weighted_responses_never_exceed_their_bound_and_reach_it_where_f_vanishes():
    rng = np.random.default_rng(1)
    for _ in range(20):
        f, xi = lt.Linear(rng.normal(size=4), rng.normal()), rng.normal(size=4)
        nu = rng.uniform(0.2, 3)
        x = xi + nu * rng.normal(size=(3000, 4)) * rng.uniform(0, 3, (3000, 1))
        weighted = np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2)) * f(x)
        assert np.abs(weighted).max() <= response_bound(f, xi, nu)
        # with f(xi) = 0 the bound is attained one bandwidth away along the gradient
        level = lt.Linear(f.a, -float(xi @ f.a))
        best = xi + nu * f.a / np.linalg.norm(f.a)
        assert np.exp(-0.5) * level(best[None])[0] == close(response_bound(level, xi, nu))
    # and with no gradient at xi itself
    assert response_bound(lt.Linear([0.0, 0.0], -3.0), [1.0, 1.0], 0.5) == 3.0


@pytest.mark.parametrize("d", [1, 4])
def test_the_response_bound_is_hoeffding_on_every_entry(d):
    f, xi, world, limit = setting(d)
    B = abs(f(xi[None])[0]) + limit.nu * np.linalg.norm(f.a) * np.exp(-0.5)
    each = hoeffding(0.3 / np.sqrt(d + 1), 700, width=2 * B)
    assert response_tail(0.3, 700, f, xi, limit.nu, 1.0) == close((d + 1) * each)
    printed = 4 * d * np.exp(-700 * 0.09 / (2 * np.sum(f.a**2 * world.sigma**2)))
    found = response_tail(0.3, 700, f, xi, limit.nu, world.sigma, corrected=False)
    assert found == close(printed)


def test_a_model_that_is_zero_everywhere_has_no_noise():
    f = lt.Linear([0.0, 0.0], 0.0)
    assert response_tail(0.1, 10, f, [0.0, 0.0], 1.0, 1.0) == 0.0


def symmetric_matrices(size, norm, count, seed):
    """Symmetric matrices of a given operator norm, some of rank one."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        E = rng.normal(size=(size, size)) if k % 2 else np.outer(*2 * [rng.normal(size=size)])
        E = (E + E.T) * rng.choice([-1, 1])
        yield norm * E / np.linalg.norm(E, 2)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_a_covariance_within_reach_has_an_inverse_within_t(d):
    # the step of the proof that makes covariance_tail at t' a bound for the inverse at t
    *_, limit = setting(d)
    C, A = limit.C, alpha_constant(limit.alpha)
    for t in (3 * d * A / C, 0.1 * d * A / C):
        reach = C**2 * t / (18 * d**2 * A**2)
        for E in symmetric_matrices(d + 1, reach, 40, seed=d):
            change = np.linalg.inv(limit.Sigma + E) - limit.Sigma_inv
            assert np.linalg.norm(change, 2) <= t
        assert inverse_tail(t, 5000, d, C, A) == close(covariance_tail(reach, 5000, d))
        printed = 8 * d**2 * np.exp(-(C**4) * 5000 * t**2 / (162 * d**4 * A**4))
        assert inverse_tail(t, 5000, d, C, A, corrected=False) == close(printed)


# the last one has a wide kernel and so a large B: there the response is what needs most samples
@pytest.mark.parametrize(
    ("d", "eps", "nu"), [(1, 0.1, 1.4), (3, 0.5, 1.4), (5, 50.0, 1.4), (1, 1.0, 500.0)]
)
def test_the_sample_size_makes_each_event_of_the_proof_fail_with_eta_over_three(d, eps, nu):
    f, xi, world, limit = setting(d, nu)
    eta, C, A = 0.05, limit.C, alpha_constant(limit.alpha)
    t1, t2 = C / (6 * d * A), eps * C / (12 * d * A)
    t3 = min(eps / (2 * np.linalg.norm(limit.Gamma)), 3 * d * A / C)
    needed = theorem_sample_size(limit, world.sigma, eps, eta)

    def failures(n, corrected):
        # the bounds want a whole n; theirs is in the exponent only, so scale t instead
        scale = np.sqrt(n / 1000)
        return [
            covariance_tail(t1 * scale, 1000, d, corrected=corrected),
            response_tail(t2 * scale, 1000, f, xi, limit.nu, world.sigma, corrected=corrected),
            covariance_tail(C**2 * t3 / (18 * d**2 * A**2) * scale, 1000, d, corrected=corrected)
            * (1 if corrected else 2),
        ]

    assert max(failures(needed, True)) == pytest.approx(eta / 3, rel=1e-9, abs=0)  # of size 10
    assert max(failures(0.99 * needed, True)) > eta / 3
    # on those events beta^ is within eps, whatever Sigma^ and Gamma^ are
    beta = np.append(limit.intercept, limit.coef)
    reach = min(t1, C**2 * t3 / (18 * d**2 * A**2))
    rng = np.random.default_rng(0)
    for E in symmetric_matrices(d + 1, reach, 40, seed=d):
        g = rng.normal(size=d + 1)
        found = np.linalg.solve(limit.Sigma + E, limit.Gamma + t2 * g / np.linalg.norm(g))
        assert np.linalg.norm(found - beta) <= eps
    # printed: the same with the printed lemmas, and a bound in place of ||Gamma||
    printed = theorem_sample_size(limit, world.sigma, eps, eta, corrected=False)
    assert max(failures(printed, False)) <= eta / 3 * (1 + 1e-9)


def test_the_printed_sample_size_is_the_papers():
    f, _, world, limit = setting(3)
    eps, eta, d, C, A = 0.2, 0.1, 3, limit.C, alpha_constant(limit.alpha)
    centre = f(limit.mu_tilde[None])[0]
    tilted = np.sum((f.a * limit.sigma_tilde) ** 2)
    third = 648 * d**5 * A**4 * (3 * centre**2 + tilted) / (C * eps) ** 2 * np.log(24 * d**2 / eta)
    assert theorem_sample_size(limit, world.sigma, eps, eta, corrected=False) == close(third)
    # with a steep f whose value at mu~ vanishes in one dimension, the first term is the largest
    steep = lt.Linear([1.0], 0.0)
    at = lt.limit(steep, [0.0], lt.Gaussian(p=2), 0.1)
    A = alpha_constant(at.alpha)
    first = 288 * 100.0**2 * A**2 / at.C**2 * np.log(12 / eta)
    assert theorem_sample_size(at, 100.0, 1.0, eta, corrected=False) == close(first)
    # and with a large eps the second
    second = 18 * A**2 / at.C**2 * np.log(24 / eta)
    assert theorem_sample_size(at, 1.0, 1e6, eta, corrected=False) == close(second)


def test_the_corrected_sample_size_is_enough_in_simulation():
    f, xi, world = lt.Linear([0.1], 0.5), np.array([0.3]), lt.Gaussian(p=2)
    limit = lt.limit(f, xi, world, 2.0)
    n = int(np.ceil(theorem_sample_size(limit, 1.0, eps=5.0, eta=0.2)))
    assert n < 100_000  # one dimension and a loose eps, or no simulation could check it
    runs = list(estimates(f, xi, world, limit, n, 50, seed=0))
    assert np.mean([np.linalg.norm(error) > 5.0 for *_, error in runs]) <= 0.2


def test_bounds_are_those_that_the_book_states_and_proves():
    """Each formula is held against integrals and simulations in tests/prose/statements."""
    for d in (1, 2, 4):
        f, _, _, limit = setting(d)
        C, A, centre = limit.C, alpha_constant(limit.alpha), f(limit.mu_tilde[None])[0]
        assert hoeffding_tail(0.3, d, width=2.0) == close(np.exp(-2 * d * 0.09 / 4))
        assert subgaussian_tail(0.3, d, 1.7) == close(np.exp(-d * 0.09 / (2 * 1.7**2)))
        assert subgaussian_tail(0.3, d) == close(np.exp(-d * 0.09 / 2))
        assert empirical_inverse_bound(d, C, A) == close((C / (6 * d * A), 6 * d * A / C))
        tilted = np.sum((f.a * limit.sigma_tilde) ** 2)
        assert response_norm_bound(limit) == close(C * np.sqrt(d * (3 * centre**2 + tilted)))
        # B: how far f goes within a bandwidth, and how far the means of boxes are from xi
        inside = limit.tilt.inside
        farther = np.maximum(np.abs(inside), np.abs(inside - limit.tilt.gap))
        B = limit.nu * np.linalg.norm(f.a) / np.sqrt(np.e) + np.abs(f.a) @ farther
        assert residual_bound(limit) == close(B)


def test_a_constant_added_to_f_enters_the_printed_sample_size_alone():
    f, xi, world, _ = setting(3)
    sizes = [lt.samples_needed(lt.Linear(f.a, b), xi, world, 1.4, eps=1.0) for b in (0.0, 100.0)]
    assert sizes[0].finite == close(sizes[1].finite) and sizes[0].weighted == sizes[1].weighted
    assert sizes[1].printed > 100 * sizes[0].printed  # f(mu~)^2: an artefact


def test_what_the_bounds_are_not_for():
    mismatch = lt.limit(lt.Linear([1.0]), [0.3], lt.Gaussian(), 1.0, kernel="mismatch")
    for call, words in (
        (lambda: finite_sample_size(mismatch, 1.0, 1.0, 0.1), "linear f and the gaussian kernel on"),
        (lambda: theorem_sample_size(mismatch, 1.0, 1.0, 0.1), "limit must be of the gaussian kernel"),
        (lambda: response_norm_bound(mismatch), "limit must be of the paper's setting"),
        (lambda: inverse_tail(61.0, 100, 2, 0.5, 5.0), "t must be at most 3 d A / C = 60, got 61"),
        *((lambda eta=eta: theorem_sample_size(setting()[3], 1.0, 1.0, eta), "eta must lie between 0")
          for eta in (0.0, 1.0, -0.5, 2.0)),
    ):  # fmt: skip
        one_sentence(call, words)
    assert inverse_tail(60.0, 100, 2, 0.5, 5.0) > 0


def spread_of(limit):
    return whitened_variance(limit.setting)


def test_the_largest_leverage_is_found_by_trying_every_z():
    rng = np.random.default_rng(3)
    for d in (1, 2, 5):
        alpha = rng.uniform(0.01, 0.99, d)
        every = np.array([(1, *z) for z in product((0, 1), repeat=d)], float)
        quadratic = np.einsum("ij,jk,ik->i", every, inverse_covariance(alpha), every)
        assert quadratic.max() == pytest.approx(leverage_bound(alpha), rel=1e-12)
        written = 1 + np.sum((every[:, 1:] - alpha) ** 2 / (alpha * (1 - alpha)), axis=1)
        np.testing.assert_allclose(quadratic, written, rtol=1e-11)


def test_the_exponent_of_chernoff_is_an_integral_and_has_no_seam():
    for delta in (1e-7, 0.9e-4, 1.1e-4, 0.02, 0.5, 0.99):
        exact = integrate.quad(lambda s: -np.log1p(-s), 0, delta, epsabs=0, epsrel=1e-12)[0]
        # beside the series the two terms of size 1e-4 cancel to 5e-9, and lose four digits
        assert chernoff_exponent(delta) == pytest.approx(exact, rel=3e-8, abs=0)
    assert chernoff_exponent(0.5) == pytest.approx(0.1534, abs=5e-5)


@pytest.mark.parametrize(("d", "eps", "nu"), [(1, 0.3, 0.8), (2, 1.0, 1.4), (2, 0.05, 1.4)])
def test_the_finite_sample_size_bounds_both_events_by_half_of_eta(d, eps, nu):
    _, _, _, limit = setting(d, nu)
    eta, v = 0.1, spread_of(limit)
    n = finite_sample_size(limit, v, eps, eta)
    L, C = leverage_bound(limit.alpha), limit.C
    kappa, R = np.sqrt(np.linalg.norm(limit.Sigma_inv, 2)), residual_bound(limit) * np.sqrt(L / C)

    def fails(n, delta):
        tau = (1 - delta) * eps / kappa
        matrix = (d + 1) * (np.exp(-delta) / (1 - delta) ** (1 - delta)) ** (n * C / L)
        return max(matrix, 2 * np.exp(-n * tau**2 / (2 * (v + R * tau / 3))))

    deltas = np.linspace(1e-3, 0.999, 4000)
    best = min(fails(n, delta) for delta in deltas)
    # a grid of 4000 deltas meets the best one within a thousandth of its exponent
    assert best == pytest.approx(eta / 2, rel=0.02)
    assert best >= eta / 2 * (1 - 1e-9)
    assert min(fails(0.99 * n, delta) for delta in deltas) > 1.01 * eta / 2


def test_the_finite_sample_size_is_far_below_the_one_that_the_paper_prints_and_bounded_in_nu():
    rng = np.random.default_rng(0)
    for _ in range(60):
        d, p = int(rng.integers(1, 4)), int(rng.integers(2, 9))
        f, xi = lt.Linear(rng.normal(size=d)), rng.normal(size=d)
        nu, eps = np.exp(rng.uniform(np.log([0.2, 0.01]), np.log([1e8, 100])))
        need = lt.samples_needed(f, xi, lt.Gaussian(p=p), nu, eps * np.linalg.norm(f.a))
        assert need.weighted < need.finite < 0.2 * need.printed
    wide = [lt.samples_needed(lt.Linear([1.0]), [0.3], lt.Gaussian(), nu, 1.0) for nu in (1e3, 1e8)]
    assert wide[0].finite == pytest.approx(wide[1].finite, rel=1e-3) and wide[1].finite < 600


def test_the_constant_of_the_moments_is_the_smaller_of_two():
    for nu, unbounded in ((0.8, False), (1e4, True)):
        f, xi, world, limit = setting(2, nu)
        v, root = spread_of(limit), np.sqrt(leverage_bound(limit.alpha) / limit.C)
        square = nu**2 / 2  # of the bandwidth of pi^2
        total = square + world.sigma**2
        mean = (square * world.mu + world.sigma**2 * xi) / total
        inside, outside = xi + limit.tilt.inside, xi + limit.tilt.inside - limit.tilt.gap
        far = np.maximum(np.abs(inside - mean), np.abs(outside - mean))
        deviation = np.sqrt(square / total) * world.sigma
        S = np.linalg.norm(f.a * deviation) + np.abs(f.a) @ far
        C = np.prod(np.sqrt(square / total) * np.exp(-((xi - world.mu) ** 2) / (2 * total)))
        both = residual_bound(limit) * root / 3, C * (S * root) ** 3 / v
        assert (both[1] < both[0]) == unbounded
        assert moment_constant(limit, v) == pytest.approx(min(both), rel=1e-9)
    # without normal features, and with no residual, the first alone
    rows = np.random.default_rng(0).normal(size=(50, 1))
    other = lt.limit(lt.Linear([1.0]), rows[0], lt.Empirical(rows), 1e4, kernel="gaussian")
    root = np.sqrt(leverage_bound(other.alpha) / other.C)
    assert moment_constant(other, 1.0) == close(residual_bound(other) * root / 3)


@pytest.mark.parametrize("corrected", [False, True])
@pytest.mark.parametrize("nu", [0.05, 0.01, 1e-3])
def test_a_sample_size_beyond_a_double_is_infinite_with_a_warning(nu, corrected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.PrecisionWarning)
        limit = lt.limit(lt.Linear([1.0, 1.0]), [0.3, -0.4], lt.Gaussian(), nu)
    if nu == 0.05:
        assert 1e20 < theorem_sample_size(limit, 1.0, 1.0, 0.1, corrected=corrected) < 1e300
        return
    with pytest.warns(lt.PrecisionWarning, match="is beyond 1e308, given as infinite"):
        assert theorem_sample_size(limit, 1.0, 1.0, 0.1, corrected=corrected) == np.inf


@pytest.mark.parametrize("d", [1, 3, 6])
def test_the_rate_that_the_chapter_prints_is_the_theorem_solved_for_eps(d):
    for nu in (0.3, 1.4, 8.0):
        f, _, _, limit = setting(d, nu)
        v, L, C = spread_of(limit), leverage_bound(limit.alpha), limit.C
        # E~[r^2] is the variance of f that the boxes leave, and pi <= 1
        assert v <= L * np.sum((f.a * limit.sigma_tilde) ** 2)
        kappa = np.sqrt(np.linalg.norm(limit.Sigma_inv, 2))
        R = moment_constant(limit, v)
        for n, eta in ((1e4, 0.1), (1e7, 0.01)):
            log = np.log(4 / eta)
            eps = 2 * kappa * (np.sqrt(2 * v * log / n) + 2 * R * log / n)
            tau = eps / (2 * kappa)  # delta = 1/2
            assert 2 * (v / tau**2 + R / tau) * log <= n * (1 + 1e-12)
        # at xi: 1' Sigma^-1 1 in closed form
        ones = np.ones(d + 1)
        odds = 1 + np.sum((1 - limit.alpha) / limit.alpha)
        assert ones @ limit.Sigma_inv @ ones == pytest.approx(odds / C, rel=1e-9)


def test_a_constant_model_only_needs_a_matrix_that_can_be_inverted():
    limit = lt.limit(lt.Linear([0.0, 0.0], 3.0), [0.1, 0.9], lt.Gaussian(), 1.0)
    assert spread_of(limit) == residual_bound(limit) == 0
    n = finite_sample_size(limit, 0.0, 1e-3, 0.05)
    # delta tends to 1, where h(delta) = 1
    assert n == pytest.approx(leverage_bound(limit.alpha) / limit.C * np.log(6 / 0.05), rel=1e-4)


def test_a_tiny_distance_is_a_matter_of_the_variance_alone():
    _, _, _, limit = setting(2)
    n = finite_sample_size(limit, spread_of(limit), 1e-9, 0.05)
    kappa2 = np.linalg.norm(limit.Sigma_inv, 2)
    assert n * 1e-18 == pytest.approx(2 * spread_of(limit) * kappa2 * np.log(80), rel=1e-5)


def test_a_huge_model_needs_infinitely_many_samples_and_no_traceback():
    with pytest.warns(lt.PrecisionWarning, match="beyond 1e308"):
        need = lt.samples_needed(lt.Linear([1e150, 1.0]), [0.3, 0.3], lt.Gaussian(), 1e8, eps=1.0)
    assert need.corrected == np.inf and need.weighted < need.finite < np.inf
