"""The concentration bounds: their derivations, step by step, and that they hold in simulation."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

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
    residual_bound,
    response_bound,
    response_norm_bound,
    response_tail,
    subgaussian_tail,
    theorem_sample_size,
)
from limetutor.precision.normal_limit import whitened_variance


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
    assert covariance_tail(0.1, 900, d) == pytest.approx((d + 1) ** 2 * each, rel=1e-13, abs=0)
    assert covariance_tail(0.1, 900, d, corrected=False) == pytest.approx(
        4 * d**2 * np.exp(-2 * 900 * 0.01), rel=1e-13, abs=0
    )


def test_weighted_responses_never_exceed_their_bound_and_reach_it_where_f_vanishes():
    rng = np.random.default_rng(1)
    for _ in range(20):
        f, xi, nu = (
            lt.Linear(rng.normal(size=4), rng.normal()),
            rng.normal(size=4),
            rng.uniform(0.2, 3),
        )
        x = xi + nu * rng.normal(size=(3000, 4)) * rng.uniform(0, 3, (3000, 1))
        weighted = np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2)) * f(x)
        assert np.abs(weighted).max() <= response_bound(f, xi, nu)
        # with f(xi) = 0 the bound is attained one bandwidth away along the gradient
        level = lt.Linear(f.a, -float(xi @ f.a))
        best = xi + nu * f.a / np.linalg.norm(f.a)
        assert np.exp(-0.5) * level(best[None])[0] == pytest.approx(
            response_bound(level, xi, nu), rel=1e-12, abs=0
        )
    # and with no gradient at xi itself
    assert response_bound(lt.Linear([0.0, 0.0], -3.0), [1.0, 1.0], 0.5) == 3.0


@pytest.mark.parametrize("d", [1, 4])
def test_the_response_bound_is_hoeffding_on_every_entry(d):
    f, xi, world, limit = setting(d)
    B = abs(f(xi[None])[0]) + limit.nu * np.linalg.norm(f.a) * np.exp(-0.5)
    each = hoeffding(0.3 / np.sqrt(d + 1), 700, width=2 * B)
    assert response_tail(0.3, 700, f, xi, limit.nu, 1.0) == pytest.approx(
        (d + 1) * each, rel=1e-12, abs=0
    )
    spread = np.sum(f.a**2 * world.sigma**2)
    assert response_tail(0.3, 700, f, xi, limit.nu, world.sigma, corrected=False) == pytest.approx(
        4 * d * np.exp(-700 * 0.09 / (2 * spread)), rel=1e-12, abs=0
    )


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
        found = inverse_tail(t, 5000, d, C, A)
        assert found == pytest.approx(covariance_tail(reach, 5000, d), rel=1e-13, abs=0)
        printed = 8 * d**2 * np.exp(-(C**4) * 5000 * t**2 / (162 * d**4 * A**4))
        assert inverse_tail(t, 5000, d, C, A, corrected=False) == pytest.approx(
            printed, rel=1e-12, abs=0
        )


def test_the_bound_on_the_inverse_is_for_small_t_only():
    with pytest.raises(ValueError, match="t must be at most 3 d A / C = 60, got 61"):
        inverse_tail(61.0, 100, 2, 0.5, 5.0)
    assert inverse_tail(60.0, 100, 2, 0.5, 5.0) > 0


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
    assert theorem_sample_size(limit, world.sigma, eps, eta, corrected=False) == pytest.approx(
        third, rel=1e-12, abs=0
    )
    # with a steep f whose value at mu~ vanishes in one dimension, the first term is the largest
    steep = lt.Linear([1.0], 0.0)
    at = lt.limit(steep, [0.0], lt.Gaussian(p=2), 0.1)
    A = alpha_constant(at.alpha)
    terms = [
        288 * 100.0**2 * A**2 / at.C**2 * np.log(12 / eta),
        18 * A**2 / at.C**2 * np.log(24 / eta),
    ]
    assert theorem_sample_size(at, 100.0, 1.0, eta, corrected=False) == pytest.approx(
        terms[0], rel=1e-12, abs=0
    )
    # and with a large eps the second
    assert theorem_sample_size(at, 1.0, 1e6, eta, corrected=False) == pytest.approx(
        terms[1], rel=1e-12, abs=0
    )


def test_the_corrected_sample_size_is_enough_in_simulation():
    f, xi, world = lt.Linear([0.1], 0.5), np.array([0.3]), lt.Gaussian(p=2)
    limit = lt.limit(f, xi, world, 2.0)
    n = int(np.ceil(theorem_sample_size(limit, 1.0, eps=5.0, eta=0.2)))
    assert n < 100_000  # one dimension and a loose eps, or no simulation could check it
    runs = list(estimates(f, xi, world, limit, n, 50, seed=0))
    assert np.mean([np.linalg.norm(error) > 5.0 for *_, error in runs]) <= 0.2


@pytest.mark.parametrize("n", [1, 5, 4000])
def test_hoeffding_bounds_the_exact_tail_of_coins_and_is_close_for_many_of_them(n):
    for k in range(n // 2 + 1, n + 1):  # P(heads >= k) of n fair coins, exactly
        t = k / n - 0.5
        exact = stats.binom.sf(k - 1, n, 0.5)
        assert exact <= hoeffding_tail(t, n)
        assert hoeffding_tail(3 * t, n, width=3.0) == pytest.approx(hoeffding_tail(t, n))
    if n == 4000:  # no constant above 2 would do: 2.4 is broken
        assert stats.binom.sf(2259, n, 0.5) > np.exp(-2.4 * n * (2260 / n - 0.5) ** 2)


def test_the_sub_gaussian_bound_holds_for_normal_means_and_its_exponent_is_theirs():
    t, s, n = np.linspace(0.05, 6, 60), 1.7, 9
    exact = stats.norm.sf(t * np.sqrt(n) / s)
    bound = np.array([subgaussian_tail(v, n, s) for v in t])
    assert np.all(exact <= bound)
    # log of the ratio grows like log t only: the exponent itself cannot be improved
    assert np.log(exact[-1]) / np.log(bound[-1]) < 1.1
    assert subgaussian_tail(1.0, n, s) == pytest.approx(hoeffding_tail(1.0, n, width=2 * s))


@pytest.mark.parametrize("d", [1, 4])
def test_the_empirical_inverse_stays_below_its_bound_where_the_covariance_is_near(d):
    _, _, _, limit = setting(d)
    t, bound = empirical_inverse_bound(d, limit.C, alpha_constant(limit.alpha))
    norms = [
        np.linalg.norm(np.linalg.inv(limit.Sigma + E), 2)
        for E in symmetric_matrices(d + 1, t, 60, seed=d)
    ]
    assert max(norms) <= bound
    # Weyl's step is sharp: towards the smallest eigenvalue the inverse grows as it says
    values, vectors = np.linalg.eigh(limit.Sigma)
    worst = limit.Sigma - t * np.outer(vectors[:, 0], vectors[:, 0])
    assert np.linalg.norm(np.linalg.inv(worst), 2) == pytest.approx(1 / (values[0] - t))


def test_the_bound_on_the_response_holds_and_is_not_far_off():
    rng, ratios = np.random.default_rng(2), []
    for _ in range(200):
        d = int(rng.integers(1, 6))
        f = lt.Linear(rng.normal(size=d), rng.normal() * 3)
        limit = lt.limit(f, rng.normal(size=d), lt.Gaussian(), rng.uniform(0.1, 3))
        ratios.append(np.linalg.norm(limit.Gamma) / response_norm_bound(limit))
    assert max(ratios) <= 1
    assert max(ratios) > 0.5  # a narrow bandwidth in one dimension: alpha near 1, theta near 0


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


@pytest.mark.parametrize("d", [1, 2, 4])
def test_weighted_residuals_never_exceed_their_bound(d):
    f, xi, _, limit = setting(d)
    B, beta = residual_bound(limit), np.append(limit.intercept, limit.coef)
    rng, nu = np.random.default_rng(d), limit.nu
    x = xi + nu * rng.normal(size=(20_000, d)) * rng.uniform(0, 3, (20_000, 1))
    along = xi + nu * np.linspace(-3, 3, 601)[:, None] * f.a / np.linalg.norm(f.a)
    x = np.concatenate([x, along])
    weight = np.exp(-np.sum((x - xi) ** 2, axis=1) / (2 * nu**2))
    for inside in product((0, 1), repeat=d):  # any z, also one that does not belong to x
        found = np.max(weight * np.abs(f(x) - beta @ [1, *inside]))
        assert found <= B
    worst = max(np.max(weight * np.abs(f(x) - beta @ [1, *z])) for z in product((0, 1), repeat=d))
    assert worst > 0.5 * B  # of the right size


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
    # the events are enough, whatever Sigma^ and g are: the worst of each
    values, vectors = np.linalg.eigh(limit.Sigma)
    root = vectors * np.sqrt(values) @ vectors.T
    delta = deltas[np.argmin([fails(n, delta) for delta in deltas])]
    rng = np.random.default_rng(0)
    for _ in range(40):
        turn = np.linalg.qr(rng.normal(size=(d + 1, d + 1)))[0]
        A = turn * rng.uniform(1 - delta, 3, d + 1) @ turn.T
        w = rng.normal(size=d + 1)
        w *= (1 - delta) * eps / kappa / np.linalg.norm(w)
        off = np.linalg.solve(root @ A @ root, root @ w)
        assert np.linalg.norm(off) <= eps * (1 + 1e-9)


def test_the_finite_sample_size_is_enough_in_simulation_and_fewer_are_not():
    f, xi, world, limit = setting(2)
    eps, eta = 0.3, 0.2
    n = int(np.ceil(finite_sample_size(limit, spread_of(limit), eps, eta)))
    assert n < 20_000
    far = [np.linalg.norm(e) > eps for *_, e in estimates(f, xi, world, limit, n, 200, seed=0)]
    assert np.mean(far) <= eta
    few = n // 40  # a theorem for every n must leave something on the table, but not everything
    far = [np.linalg.norm(e) > eps for *_, e in estimates(f, xi, world, limit, few, 200, seed=1)]
    assert np.mean(far) > eta


def test_adding_a_constant_to_f_moves_the_intercept_and_nothing_else():
    f, xi, world, _ = setting(3)
    one = lt.explain(f, xi, world, 1.4, n=200, seed=0)
    other = lt.explain(lt.Linear(f.a, f.b + 100.0), xi, world, 1.4, n=200, seed=0)
    np.testing.assert_allclose(other.coef, one.coef, rtol=1e-10, atol=1e-11)
    assert other.intercept == pytest.approx(one.intercept + 100, rel=1e-12)
    sizes = [lt.samples_needed(lt.Linear(f.a, b), xi, world, 1.4, eps=1.0) for b in (0.0, 100.0)]
    assert sizes[0].finite == pytest.approx(sizes[1].finite, rel=1e-12)
    assert sizes[0].weighted == sizes[1].weighted
    assert sizes[1].printed > 100 * sizes[0].printed  # f(mu~)^2: an artefact


def test_the_finite_sample_size_is_for_the_gaussian_kernel():
    limit = lt.limit(lt.Linear([1.0]), [0.3], lt.Gaussian(), 1.0, kernel="mismatch")
    with pytest.raises(ValueError, match="linear f and the gaussian kernel on numbers, got 'mism"):
        finite_sample_size(limit, 1.0, 1.0, 0.1)


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


def test_the_theorem_is_for_the_gaussian_kernel():
    limit = lt.limit(lt.Linear([1.0]), [0.3], lt.Gaussian(), 1.0, kernel="mismatch")
    with pytest.raises(ValueError, match="limit must be of the gaussian kernel, got 'mismatch'"):
        theorem_sample_size(limit, 1.0, 1.0, 0.1)


@pytest.mark.parametrize("eta", [0.0, 1.0, -0.5, 2.0])
def test_eta_is_a_probability(eta):
    with pytest.raises(ValueError, match="eta must lie between 0 and 1"):
        theorem_sample_size(setting()[3], 1.0, 1.0, eta)


@pytest.mark.parametrize("d", [1, 3, 6])
def test_the_rate_that_the_chapter_prints_is_the_theorem_solved_for_eps(d):
    for nu in (0.3, 1.4, 8.0):
        f, _, _, limit = setting(d, nu)
        v, L, C = spread_of(limit), leverage_bound(limit.alpha), limit.C
        # E~[r^2] is the variance of f that the boxes leave, and pi <= 1
        assert v <= L * np.sum((f.a * limit.sigma_tilde) ** 2)
        kappa, R = (
            np.sqrt(np.linalg.norm(limit.Sigma_inv, 2)),
            residual_bound(limit) * np.sqrt(L / C),
        )
        for n, eta in ((1e4, 0.1), (1e7, 0.01)):
            log = np.log(4 / eta)
            eps = 2 * kappa * (np.sqrt(2 * v * log / n) + 2 * R * log / (3 * n))
            tau = eps / (2 * kappa)  # delta = 1/2
            assert 2 * (v / tau**2 + R / (3 * tau)) * log <= n * (1 + 1e-12)
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


def test_the_bound_on_the_response_is_for_the_papers_setting():
    limit = lt.limit(lt.Linear([1.0]), [0.3], lt.Gaussian(), 1.0, kernel="mismatch")
    with pytest.raises(ValueError, match="limit must be of the paper's setting"):
        response_norm_bound(limit)


def test_a_huge_model_needs_infinitely_many_samples_and_no_traceback():
    with pytest.warns(lt.PrecisionWarning, match="beyond 1e308"):
        need = lt.samples_needed(lt.Linear([1e150, 1.0]), [0.3, 0.3], lt.Gaussian(), 1e8, eps=1.0)
    assert need.corrected == np.inf and need.weighted < need.finite < np.inf
