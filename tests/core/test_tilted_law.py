"""What LIME converges to, against 50 digits, quadrature, population least squares and Monte Carlo."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import reference as ref
from reference import mp
from scipy import integrate, stats

import limetutor as lt
from limetutor.bandwidth.risk import total_switch_off
from limetutor.core.kernels import tilt
from limetutor.core.tilted_law import Tilt
from limetutor.exact.integrals import mean_weighted_square_distance


def random_setting(seed, d=None):
    """A linear f, an instance and a Gaussian world with unequal mu, sigma and p."""
    rng = np.random.default_rng(seed)
    d = d or int(rng.integers(1, 31))
    mu, sigma = rng.normal(0, 3, d), 10 ** rng.uniform(-1, 1, d)
    p = rng.integers(2, 11, d)
    xi = mu + sigma * rng.uniform(-2.0, 2.0, d)  # inner and outer boxes
    f = lt.Linear(rng.normal(0, 2, d) / sigma, float(rng.normal()))
    # C must leave something to see: about exp(-3) in any dimension
    nu = float(np.max(sigma) * np.sqrt(d) * rng.uniform(0.4, 1.0))
    return f, xi, lt.Gaussian(mu, sigma, p), nu


EXACTLY = {"epsabs": 0, "epsrel": 1e-12}  # what quad is asked for


@pytest.mark.parametrize("seed", range(12))
def test_the_theorem_matches_50_digits(seed):
    f, xi, world, nu = random_setting(seed)
    limit = lt.limit(f, xi, world, nu)
    places = zip(xi, world.mu, world.sigma, world.p.tolist(), strict=True)
    exact = [ref.coordinate(at, mu, sigma, nu, p) for at, mu, sigma, p in places]
    a, b = [mp.mpf(float(v)) for v in f.a], mp.mpf(f.b)
    parts = list(zip(a, exact, strict=True))
    centre = b + sum(slope * e.mu_tilde for slope, e in parts)
    f_xi = b + sum(slope * mp.mpf(float(at)) for slope, at in zip(a, xi, strict=True))
    C = mp.fprod(e.mass for e in exact)
    # the paper's own forms: Eq. beta for the intercept, Corollary local-model-error-light
    local = centre - sum(slope * e.theta / e.alpha for slope, e in parts)
    pairs = [
        (limit.Gamma[0], C * centre),
        (limit.Sigma_inv[0, 0], (1 + sum(e.alpha / e.rest for e in exact)) / C),
        (limit.intercept, centre + sum(slope * e.theta / e.rest for slope, e in parts)),
        (limit.local_prediction, local),
        (limit.local_error, local - f_xi),
    ]
    for j, (slope, e) in enumerate(parts):
        pairs += [
            (limit.alpha[j], e.alpha),
            (limit.theta[j], e.theta),
            (limit.mu_tilde[j], e.mu_tilde),
            (limit.sigma_tilde[j], e.sigma_tilde),
            (limit.critical_nu[j], e.critical),
            (limit.coef[j], slope * e.slope),
            (limit.Gamma[j + 1], C * (e.alpha * centre - slope * e.theta)),
            (limit.Sigma[0, j + 1], C * e.alpha),
            (limit.Sigma[j + 1, j + 1], C * e.alpha),
            (limit.Sigma_inv[0, j + 1], -1 / (C * e.rest)),
            (limit.Sigma_inv[j + 1, j + 1], 1 / (C * e.alpha * e.rest)),
        ]
    assert max(ref.relative_error(value, true) for value, true in pairs) < 1e-10
    assert ref.relative_error(limit.C, C) < 1e-12
    assert ref.relative_error(limit.prediction, f_xi) < 1e-12


def test_a_feature_without_slope_has_coefficient_zero():
    limit = lt.limit(lt.Linear([0.0, 1.0, 0.0]), [0.3, 0.2, -4.0], lt.Gaussian(), 0.7)
    assert limit.coef[0] == limit.coef[2] == 0.0
    assert limit.coef[1] != 0.0


def quadrature(density, weight, own, xi, pieces):
    """E[w], alpha, the means inside and outside and the variance of one coordinate, by quad."""

    def integral(g, parts):
        weighted = lambda x: g(x) * density(x) * weight(x)  # noqa: E731
        return sum(integrate.quad(weighted, lo, hi, **EXACTLY)[0] for lo, hi in parts)

    inside = [piece for piece in pieces if piece[0] >= own[0] and piece[1] <= own[1]]
    outside = [piece for piece in pieces if piece not in inside]
    mass_in, mass_out = integral(lambda x: 1.0, inside), integral(lambda x: 1.0, outside)
    total = mass_in + mass_out
    mean_in = integral(lambda x: x, inside) / mass_in
    mean_out = integral(lambda x: x, outside) / mass_out
    mean = (mass_in * mean_in + mass_out * mean_out) / total
    variance = integral(lambda x: (x - mean) ** 2, pieces) / total
    return total, mass_in / total, mean_in, mean_out, mean, np.sqrt(variance)


def assert_tilt(found: Tilt, j, expected, xi):
    total, alpha, inside, outside, mean, deviation = expected
    shown = [np.exp(found.log_mass[j]), found.alpha[j], found.rest[j], found.mu_tilde[j]]
    shown += [found.sigma_tilde[j], found.inside[j], found.gap[j]]
    wanted = [total, alpha, 1 - alpha, mean, deviation, inside - xi[j], inside - outside]
    assert shown == pytest.approx(wanted, rel=1e-10, abs=0)  # what the project promises
    assert found.theta[j] == pytest.approx(-alpha * (inside - mean), rel=1e-9, abs=0)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "mismatch"])
@pytest.mark.parametrize("nu", [0.6, 2.5])
def test_the_tilted_law_of_a_gaussian_world_matches_quadrature(kernel, nu):
    mu, sigma, p = [0.5, -1.0, 2.0, 0.0], [1.0, 0.4, 3.0, 1.5], [4, 2, 5, 10]
    xi = np.array([0.9, -1.3, 4.9, 0.2])
    found = tilt(lt.Gaussian(mu, sigma, p), xi, nu, kernel)
    for j in range(4):
        edges = stats.norm.ppf(np.arange(1, p[j]) / p[j], mu[j], sigma[j])
        cuts = [mu[j] - 12 * sigma[j], *edges, mu[j] + 12 * sigma[j]]  # 1e-32 lies beyond
        k = int(np.sum(edges <= xi[j]))
        own = cuts[k], cuts[k + 1]

        def weight(x, j=j, own=own):
            if kernel == "gaussian":
                return np.exp(-((x - xi[j]) ** 2) / (2 * nu**2))
            if kernel == "laplace":
                return np.exp(-abs(x - xi[j]) / nu)
            return 1.0 if own[0] <= x <= own[1] else np.exp(-1 / (2 * nu**2))

        # more cuts, so that quad does not overlook a narrow peak; edges stay what they are
        more = [c for c in xi[j] + nu * np.arange(-8, 9, 2) if cuts[0] < c < cuts[-1]]
        pieces = list(pairwise(sorted([*cuts, *more])))

        def density(x, j=j):
            return ref.bell(x, mu[j], sigma[j])

        assert_tilt(found, j, quadrature(density, weight, own, xi, pieces), xi)


def empirical_world(seed):
    """Skewed, tied and smooth columns, with the boxes rebuilt here from numpy alone."""
    rng = np.random.default_rng(seed)
    smooth, skewed = rng.normal(5, 2, 300), rng.exponential(1.0, 300)
    tied, two = np.round(rng.normal(0, 1, 300)), rng.random(300) < 0.3
    X = np.column_stack([smooth, skewed, tied, two])
    return X, lt.Empirical(X, p=4)


def rebuilt_boxes(column, p=4):
    """(frequency, values) of each box of a training column, and its ends: what `lime` does."""
    edges = np.unique(np.quantile(column, np.arange(1, p) / p))
    ends = [min(column.min(), edges[0]), *edges, max(column.max(), edges[-1])]
    box = np.searchsorted(edges, column, side="left")
    return [(np.mean(box == k), column[box == k], *ends[k : k + 2]) for k in range(len(edges) + 1)]


def one_box(values, lo, hi, weight):
    """E[w], E[w x] / E[w], E[w x^2] / E[w] of a normal truncated to a box, by quadrature."""
    mean, sd = values.mean(), values.std()
    if np.all(values == values[0]):
        return weight(values[0]), values[0], values[0] ** 2
    grid = np.linspace(lo, hi, 5)

    def integral(g):
        weighted = lambda x: g(x) * ref.bell(x, mean, sd)  # noqa: E731
        return sum(integrate.quad(weighted, *ends, **EXACTLY)[0] for ends in pairwise(grid))

    plain, w0 = integral(lambda x: 1.0), integral(weight)
    first, second = (integral(lambda x, k=k: x**k * weight(x)) / w0 for k in (1, 2))
    return w0 / plain, first, second


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.parametrize("nu", [0.5, 3.0])
def test_the_tilted_law_of_a_training_set_matches_quadrature(kernel, nu):
    X, world = empirical_world(1)
    xi = np.array([6.1, 0.05, 1.0, 1.0])
    found = tilt(world, xi, nu, kernel)
    law = found.views.law
    for j in range(4):
        boxes = [b for b in rebuilt_boxes(X[:, j]) if b[0] > 0]
        own = [lo < xi[j] <= hi or (xi[j] == lo == hi) for _, _, lo, hi in boxes]
        if not any(own):
            own[0] = True
        parts = []
        for mine, (frequency, values, lo, hi) in zip(own, boxes, strict=True):
            if kernel == "gaussian":
                part = one_box(values, lo, hi, lambda x: np.exp(-((x - xi[j]) ** 2) / 2 / nu**2))  # noqa: B023
            else:
                part = one_box(values, lo, hi, lambda x: 1.0 if mine else np.exp(-1 / 2 / nu**2))  # noqa: B023
            parts.append((frequency * part[0], *part[1:]))
        weight, first, second = np.array(parts).T
        own = np.array(own)
        assert own.sum() == 1
        total = weight.sum()
        inside, outside = first[own][0], weight[~own] @ first[~own] / weight[~own].sum()
        mean = weight @ first / total
        deviation = np.sqrt(weight @ second / total - mean**2)
        expected = total, weight[own][0] / total, inside, outside, mean, deviation
        # the law as boxes carries the same probabilities
        np.testing.assert_allclose(law.prob[j][law.prob[j] > 0], weight / total, rtol=1e-10)
        assert_tilt(found, j, expected, xi)


def test_the_mismatch_kernel_has_the_closed_form_of_lime():
    # alpha = p / (p + (1-p) exp(-1/2nu^2)); that beta is free of nu, tests/core/test_kernels.py asks
    X, world = empirical_world(2)
    xi, f = np.array([4.0, 1.2, 0.0, 0.0]), lt.Linear([1.0, -2.0, 3.0, 4.0], 0.5)
    boxes = [rebuilt_boxes(X[:, j]) for j in range(4)]
    own = [int(np.searchsorted([b[3] for b in boxes[j][:-1]], xi[j])) for j in range(4)]
    for nu in (0.3, 1.5, 40.0):
        limit = lt.limit(f, xi, world, nu, kernel="mismatch")
        p = np.array([boxes[j][own[j]][0] for j in range(4)])
        far = np.exp(-1 / (2 * nu**2))
        np.testing.assert_allclose(limit.alpha, p / (p + (1 - p) * far), rtol=1e-13)
        assert pytest.approx(np.prod(p + (1 - p) * far), rel=1e-13, abs=0) == limit.C
        assert np.all(np.isnan(limit.critical_nu))


def moment(power, xi, mu, sigma, nu, tilted):
    """E[pi (x - xi)^power] of one coordinate by quadrature; 12 deviations hold all but 1e-32."""
    centre, reach = float(tilted.mu_tilde), 12 * float(tilted.sigma_tilde)
    weight = lambda x: np.exp(-((x - xi) ** 2) / 2 / nu**2) * ref.bell(x, mu, sigma)  # noqa: E731
    ends = centre - reach, centre + reach
    return integrate.quad(lambda x: (x - xi) ** power * weight(x), *ends, **EXACTLY)[0]


def test_the_mean_weighted_square_distance_matches_quadrature():
    rng = np.random.default_rng(6)
    for d in (1, 2, 5, 30):
        xi, mu, sigma = rng.normal(0, 1, d), rng.normal(0, 1, d), 10 ** rng.uniform(-0.5, 0.5, d)
        nu = float(10 ** rng.uniform(-0.3, 0.5))
        tilted = [ref.coordinate(xi[j], mu[j], sigma[j], nu, 2) for j in range(d)]
        masses, squares = (
            [moment(power, xi[j], mu[j], sigma[j], nu, tilted[j]) for j in range(d)]
            for power in (0, 2)
        )
        exact = sum(squares[j] * np.prod(np.delete(masses, j)) for j in range(d))
        assert mean_weighted_square_distance(xi, mu, sigma, nu) == pytest.approx(
            exact, rel=1e-10, abs=0
        )
    # scalars stretch to the length of xi
    assert mean_weighted_square_distance([1.0, 2.0], 0.0, 1.0, 1.0) == pytest.approx(
        mean_weighted_square_distance([1.0, 2.0], [0.0, 0.0], [1.0, 1.0], 1.0), rel=1e-15, abs=0
    )


def test_the_papers_printed_square_distance_is_the_isotropic_case():
    xi, mu, sigma, nu, d = np.array([0.5, -1.0, 2.0]), np.array([0.0, 1.0, 1.5]), 0.8, 1.3, 3
    both = nu**2 + sigma**2
    C = (nu**2 / both) ** (d / 2) * np.exp(-np.sum((xi - mu) ** 2) / (2 * both))
    printed = C * (nu**4 / both**2 * np.sum((xi - mu) ** 2) + nu**2 * sigma**2 * d / both)
    assert mean_weighted_square_distance(xi, mu, sigma, nu) == pytest.approx(
        printed, rel=1e-14, abs=0
    )


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_ridge_solves_the_population_ridge_problem(seed, kernel):
    f, xi, world, nu = random_setting(seed, d=3 + seed)
    plain = lt.limit(f, xi, world, nu, kernel)
    for ridge, n in ((1.0, 5000), (30.0, 100), (1e-6, 10)):
        # min over (b0, b) of n E[pi (f - b0 - b.z)^2] + ridge |b|^2, intercept free
        penalty = ridge / n * np.diag([0.0] + [1.0] * f.a.size)
        beta = np.linalg.solve(plain.Sigma + penalty, plain.Gamma)
        found = lt.limit(f, xi, world, nu, kernel, ridge=ridge, n=n)
        np.testing.assert_allclose(found.coef, beta[1:], rtol=1e-9, atol=1e-13)
        assert found.intercept == pytest.approx(beta[0], rel=1e-10, abs=0)
        assert found.local_prediction == pytest.approx(beta.sum(), rel=1e-10, abs=0)
        assert found.local_error == pytest.approx(beta.sum() - found.prediction, rel=1e-9, abs=0)


@pytest.mark.parametrize("p", [3, 4, 5, 6, 10])
def test_an_instance_at_which_every_linear_model_gets_nothing(p: int):
    """Statement thm-total-switch-off: all contrasts of x_j are 0, for unequal mu and sigma."""
    world = lt.Gaussian(mu=[0.0, 3, -1], sigma=[1.0, 2, 0.8], p=p)
    xi = total_switch_off(world, 0.53)
    law = tilt(world, xi, 0.53)
    np.testing.assert_allclose(law.gap, 0, atol=1e-14)
    found = lt.explain(lt.Linear([3, -2, 5], 1), xi, world, 0.53, n=40_000, seed=0)
    assert np.all(np.abs(found.coef) < 4 * found.stderr)
    assert abs(found.coef).max() > 0


def test_beyond_one_deviation_nothing_even_can_be_switched_off():
    assert np.isnan(total_switch_off(lt.Gaussian(p=4), 1.0, d=1))  # the edge itself: another box
    assert np.all(total_switch_off(lt.Gaussian(p=4), 0.999, d=2) > 0.67)
    assert np.isnan(total_switch_off(lt.Gaussian(p=2), 0.1, d=1))
    assert total_switch_off(lt.Gaussian(mu=2, p=5), 50.0, d=1) == 2
    mixed = total_switch_off(lt.Gaussian(sigma=[1, 3], p=[4, 6]), 2.0)
    assert np.isnan(mixed).tolist() == [True, False]
    with pytest.raises(TypeError, match=r"world must be an lt\.Gaussian"):
        total_switch_off(lt.Empirical(np.eye(4)), 1.0)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "mismatch"])
def test_many_coordinates_are_done_in_blocks_as_few_are(kernel):
    d = 40_000
    rng = np.random.default_rng(0)
    f, xi, world = lt.Linear(rng.normal(size=d)), rng.normal(size=d), lt.Gaussian(0.0, 1.0)
    found = lt.limit(f, xi, world, 1.3, kernel)
    some = np.r_[:3, 16_383:16_386, d - 2 : d]  # around the ends of blocks
    alone = lt.limit(lt.Linear(f.a[some]), xi[some], world, 1.3, kernel)
    np.testing.assert_allclose(found.coef[some], alone.coef, rtol=1e-12)
    assert found.tilt.normal == alone.tilt.normal


def test_a_law_that_was_pickled_twice_has_its_parts():
    law = lt.limit(lt.Linear([1.0, 2.0]), [0.3, 0.9], lt.Gaussian(), 1.0).tilt
    again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(law))))
    np.testing.assert_array_equal(again.views.weights, law.views.weights)
