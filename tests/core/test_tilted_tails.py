"""In the tails: nu from 1e-3 to 1e3 sigma, xi up to 8 sigma out, against 50 digits.

Both sides get the same doubles xi, mu, sigma, nu; the quantiles are exact on the 50-digit side.
"""

import warnings

import numpy as np
import pytest
import reference as ref
from reference import mp

import limetutor as lt
from limetutor.core.tilted_law import gaussian_tilt

TOLERANCE = 1e-9  # what the project promises; measured is 1e-11 at worst


def settings(seed, count, distance):
    """Random (xi, mu, sigma, nu, p); half of them with mu = 0, half with sigma = 1."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        mu = rng.choice([0.0, rng.normal(0, 30)])
        sigma = rng.choice([1.0, 10 ** rng.uniform(-3, 3)])
        xi = mu + sigma * rng.uniform(-distance, distance)
        yield xi, mu, sigma, sigma * 10 ** rng.uniform(-3, 3), int(rng.integers(2, 11))


def quiet_limit(f, xi, world, nu, **options):
    """The limit, and whether it warned that something is beyond a double."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = lt.limit(f, xi, world, nu, **options)
    assert all(w.category is lt.PrecisionWarning for w in caught)
    return result, bool(caught)


@pytest.mark.parametrize("nu", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("xi", [0.3, -0.3, 1.7])
def test_the_local_error_keeps_its_digits_at_small_bandwidths(xi, nu):
    """It is about -a xi nu^2, 1e-14 at nu = 1e-7: a difference of two means there has one digit left."""
    limit, _ = quiet_limit(lt.Linear([3.0]), [xi], lt.Gaussian(), nu)
    exact = ref.coordinate(xi, 0.0, 1.0, nu, 4)
    assert ref.relative_error(limit.local_error, 3 * exact.inside) < 1e-12


def check(xi, mu, sigma, nu, p):
    """One coordinate against 50 digits; returns how close it is to a switch-off."""
    exact = ref.coordinate(xi, mu, sigma, nu, p)
    limit, warned = quiet_limit(lt.Linear([3.0]), [xi], lt.Gaussian(mu, sigma, p), nu)
    where = {"xi": xi, "mu": mu, "sigma": sigma, "nu": nu, "p": p}
    assert ref.relative_error(limit.alpha[0], exact.alpha) < TOLERANCE, where
    assert ref.relative_error(limit.coef[0], 3 * exact.slope) < TOLERANCE, where
    assert ref.relative_error(limit.critical_nu[0], exact.critical) < TOLERANCE, where
    assert ref.relative_error(limit.sigma_tilde[0], exact.sigma_tilde) < TOLERANCE, where
    representable = abs(exact.theta) >= ref.TINY
    assert warned == (not representable and exact.theta != 0), where
    if representable:
        assert ref.relative_error(limit.theta[0], exact.theta) < TOLERANCE, where
    else:
        assert abs(limit.theta[0]) < 2 * ref.TINY, where
    if exact.rest > ref.TINY:
        assert ref.relative_error(limit.tilt.rest[0], exact.rest) < TOLERANCE, where
    # held to the size of what is added up: both may pass through 0
    scale = abs(xi - mu) + sigma
    assert abs(float(limit.mu_tilde[0] - exact.mu_tilde)) < 1e-14 * (scale + abs(mu)), where
    assert abs(float(limit.local_error - 3 * exact.inside)) < 1e-13 * scale, where
    log_mass = float(mp.log(exact.mass))
    assert abs(limit.log_C - log_mass) < 1e-13 * max(1, abs(log_mass)), where
    return exact


def test_everything_matches_50_digits_up_to_8_sigma_out():
    found = [check(*s) for s in settings(1, 250, 8.0)]
    assert sum(mp.isinf(e.lo) or mp.isinf(e.hi) for e in found) > 150  # mostly outer boxes


def test_everything_matches_50_digits_in_inner_boxes():
    found = [check(*s) for s in settings(2, 350, 1.3)]
    assert sum(not mp.isinf(e.lo) and not mp.isinf(e.hi) for e in found) > 150
    assert sum(not mp.isnan(e.critical) for e in found) > 50  # with a switch-off
    assert sum(abs(e.theta) < ref.TINY for e in found) > 20  # and beyond a double


@pytest.mark.parametrize("ratio", [1e-3, 1e-2, 0.1, 1.0, 10.0, 1e2, 1e3])
def test_everything_matches_50_digits_on_a_grid_of_round_numbers(ratio):
    # round numbers sit on special cases: xi = mu, middles of boxes, exactly 8 sigma
    for p in (2, 3, 4, 5, 10):
        for t in (-8.0, -2.0, -0.5, 0.0, 0.25, 1.0, 8.0):
            check(10.0 + 0.5 * t, 10.0, 0.5, 0.5 * ratio, p)


def test_everything_matches_50_digits_just_inside_an_edge():
    # where a narrow weight sees the edge: theta is small but representable, for nu = 1e-3 sigma
    seen = 0
    for p in (2, 4, 10):
        for k in range(1, p):
            for step in (1e-4, 1e-3, 5e-3, 2e-2):
                seen += abs(check(float(ref.quantile(k, p)) + step, 0.0, 1.0, 1e-3, p).rest) < 1e-10
    assert seen > 10


@pytest.mark.parametrize("step", [1e-15, 1e-12, 1e-6, 1e-2])
def test_in_a_central_box_theta_keeps_its_digits_however_close_xi_is_to_mu(step):
    # the box is exactly symmetric, so that theta is proportional to xi - mu down to the last digit
    for p in (3, 5, 9):
        for nu in (0.05, 0.5, 1.0, 30.0):
            check(step, 0.0, 1.0, nu, p)
            check(7.0 - 2.0 * step, 7.0, 2.0, nu, p)


@pytest.mark.parametrize("closeness", [1e-2, 1e-4, 1e-6])
def test_next_to_a_switch_off_theta_loses_what_it_must_and_no_more(closeness):
    # theta is a difference that vanishes at nu_crit: a rounding of 1e-16 in the quantiles is one of
    # 1e-16 / closeness in theta, however it is computed from doubles
    for xi, mu, sigma, _, p in settings(3, 150, 1.3):
        critical = ref.coordinate(xi, mu, sigma, sigma, p).critical
        if mp.isnan(critical):
            continue
        for side in (-1, 1):
            nu = float(critical) * (1 + side * closeness)
            exact = ref.coordinate(xi, mu, sigma, nu, p)
            limit, _ = quiet_limit(lt.Linear([3.0]), [xi], lt.Gaussian(mu, sigma, p), nu)
            # where the middle of the box is near xi the quantiles count more than once
            allowed = 4e-15 / closeness * max(1, 1 / (float(critical) / sigma) ** 2)
            if abs(exact.theta) > ref.TINY:
                assert ref.relative_error(limit.theta[0], exact.theta) < allowed
            assert ref.relative_error(limit.coef[0], 3 * exact.slope) < allowed
            assert np.sign(limit.coef[0]) == float(mp.sign(exact.slope))


def test_at_the_critical_bandwidth_nothing_is_left_but_rounding():
    for xi, mu, sigma, _, p in settings(4, 300, 1.3):
        limit, _ = quiet_limit(lt.Linear([1.0]), [xi], lt.Gaussian(mu, sigma, p), sigma)
        critical = limit.critical_nu[0]
        if np.isnan(critical) or critical < 0.05 * sigma:
            continue  # below, alpha is 1 to the last digits and beta is a ratio of nothings
        at, _ = quiet_limit(lt.Linear([1.0]), [xi], lt.Gaussian(mu, sigma, p), critical)
        box = ref.coordinate(xi, mu, sigma, critical, p)
        # beta ~ rounding / (1 - alpha): the quantiles know the middle of the box to 1e-16 sigma
        assert abs(at.coef[0]) < 1e-12 * sigma / float(box.rest) * float(box.sigma_tilde) / sigma


@pytest.mark.parametrize("nu", [1e-3, 0.03, 1.0, 1e3])
def test_no_silent_nan_anywhere(nu):
    # 30 features 8 sigma out at nu = 1e-3: C is exp(-1200), 1 - alpha is exp(-3e7)
    for xi in (np.full(30, 8.0), np.linspace(-8, 8, 30), np.zeros(30)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            limit = lt.limit(lt.Linear(np.ones(30), 1.0), xi, lt.Gaussian(p=5), nu)
            theory = [limit.alpha, limit.theta, limit.mu_tilde, limit.sigma_tilde, limit.coef]
            theory += [limit.intercept, limit.local_error, limit.local_prediction, limit.log_C]
            theory += [limit.Sigma, limit.Gamma]
            assert all(np.all(np.isfinite(value)) for value in theory)
            unwarned = len(caught)
            C, inverse = limit.C, limit.Sigma_inv
        assert all(w.category is lt.PrecisionWarning for w in caught)  # and nothing from numpy
        assert not np.any(np.isnan(inverse))
        if C < ref.TINY or np.any(np.isinf(inverse)):
            assert len(caught) > unwarned


def test_weights_beyond_a_double_are_said_to_be():
    limit = lt.limit(lt.Linear(np.ones(30)), np.full(30, 8.0), lt.Gaussian(), 0.5)
    with pytest.warns(lt.PrecisionWarning, match="C = exp"):
        assert limit.C < ref.TINY
    with pytest.warns(lt.PrecisionWarning, match="Sigma_inv holds entries beyond 1e308"):
        inverse = limit.Sigma_inv
    assert np.all(inverse[0] != 0)
    assert inverse[1, 2] == 0.0


def test_a_theta_beyond_a_double_is_said_to_be_and_the_coefficient_stays_exact():
    with pytest.warns(lt.PrecisionWarning, match="theta is too small for a double"):
        limit = lt.limit(lt.Linear([3.0]), [0.3], lt.Gaussian(), 1e-3)
    exact = ref.coordinate(0.3, 0.0, 1.0, 1e-3, 4)
    assert exact.theta < mp.mpf(10) ** -10000
    assert limit.theta[0] == 0.0
    assert ref.relative_error(limit.coef[0], 3 * exact.slope) < TOLERANCE


def test_a_theta_with_few_digits_left_counts_as_beyond_a_double():
    # 1e-310 is a double, but a subnormal one with 7 digits
    world = lt.Gaussian(p=2)
    for nu in np.linspace(0.00795, 0.00805, 21):
        exact = abs(ref.coordinate(0.3, 0.0, 1.0, nu, 2).theta)
        _, warned = quiet_limit(lt.Linear([1.0]), [0.3], world, nu)
        assert warned == (exact < ref.TINY)


def test_arguments_broadcast():
    nu = np.array([0.1, 1.0, 10.0])[:, None]
    tilt = gaussian_tilt([0.3, 0.9], nu, 0.0, 1.0, [0.0, 0.7], [0.7, np.inf])
    one = gaussian_tilt(0.9, 1.0, 0.0, 1.0, 0.7, np.inf)
    assert tilt.alpha.shape == (3, 2)
    assert tilt.theta[1, 1] == one.theta
    assert tilt.gap[1, 1] == one.gap
