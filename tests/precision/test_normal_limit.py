"""The normal limit against quadrature and many runs, and ``limetutor.precision.samples_needed``."""

import time
import warnings
from itertools import pairwise

import numpy as np
import pytest
import reference as ref
from reference import mp
from scipy import stats
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.core.problem import Problem
from limetutor.precision import samples_needed
from limetutor.precision.bounds import finite_sample_size, theorem_sample_size
from limetutor.precision.effective_samples import effective_sample_size
from limetutor.precision.normal_length import Covariance, norm_quantile
from limetutor.precision.normal_limit import asymptotic_covariance, noise_of, whitened_variance

RNG = np.random.default_rng(3)
TABLE = RNG.gamma(2.0, size=(300, 2)) * [1.0, 3.0]

SETTINGS = {
    "one feature": (lt.Linear([2.0], 0.3), [0.4], lt.Gaussian(0.1, 0.8, p=4), 0.7),
    "outer box": (lt.Linear([-3.0], 5.0), [1.9], lt.Gaussian(), 1.3),
    "two features": (
        *(lt.Linear([2.0, -1.5], -1.0), [0.5, -0.2]),
        *(lt.Gaussian([0, 0.3], [1.0, 0.6], p=[4, 5]), 0.8),
    ),
    "narrow": (lt.Linear([1.0, 1.0]), [0.961, 0.432], lt.Gaussian(), 0.25),
    "from data": (lt.Linear([1.0, -0.5], 2.0), [1.5, 7.0], lt.Empirical(TABLE, p=3), 1.1),
}


def grid(boxes, j, points=32):
    """Nodes, probabilities and box numbers of coordinate j: its law as a sum over points."""
    law = boxes.law
    inner = [*boxes.edges[j]]
    unit, unit_weight = np.polynomial.legendre.leggauss(points)
    nodes, weights, number = [], [], []
    for k, prob in enumerate(law.prob[j, : len(inner) + 1]):
        mean, sd = law.mean[j, k], law.sd[j, k]
        lo, hi = max(law.lo[j, k], mean - 10 * sd), min(law.hi[j, k], mean + 10 * sd)
        for a, b in pairwise(np.linspace(lo, hi, 5)):
            x = a + (b - a) * (unit + 1) / 2
            ends = (np.array([law.lo[j, k], law.hi[j, k]]) - mean) / sd
            pdf = stats.truncnorm.pdf(x, *ends, mean, sd)
            nodes.append(x)
            weights.append(prob * pdf * unit_weight * (b - a) / 2)
            number.append(np.full(points, k))
    return np.concatenate(nodes), np.concatenate(weights), np.concatenate(number)


def by_quadrature(f, xi, world, nu, kernel, tilted):
    """V from its definition, with every expectation a sum over a product grid."""
    xi = np.asarray(xi, float)
    boxes = world.boxes(len(xi))
    own = boxes.discretize(xi[None])[0]
    parts = zip(*(grid(boxes, j) for j in range(len(xi))), strict=True)
    x, prob, number = (
        np.stack(np.meshgrid(*p, indexing="ij"), -1).reshape(-1, len(xi)) for p in parts
    )
    prob, same = prob.prod(axis=1), number == own
    z = np.concatenate([np.ones((len(x), 1)), same], axis=1)
    square = ((x - xi) ** 2).sum(1) if kernel == "gaussian" else (~same).sum(1)
    pi = np.exp(-square / (2 * nu**2))
    if tilted:
        prob, pi = prob * pi / (prob @ pi), np.ones(len(x))
    Sigma, Gamma = (z * (prob * pi)[:, None]).T @ z, z.T @ (prob * pi * f(x))
    residual = f(x) - z @ np.linalg.solve(Sigma, Gamma)
    M = (z * (prob * pi**2 * residual**2)[:, None]).T @ z
    inverse = np.linalg.inv(Sigma)
    return inverse @ M @ inverse


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.parametrize("name", SETTINGS)
def test_covariance_of_the_normal_limit_is_its_definition(name, kernel, sampler):
    f, xi, world, nu = SETTINGS[name]
    V = asymptotic_covariance(f, xi, world, nu, kernel, sampler=sampler)
    expected = by_quadrature(f, xi, world, nu, kernel, tilted=sampler == "tilted")
    np.testing.assert_allclose(V, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("name", SETTINGS)
def test_the_whitened_variance_is_the_trace_of_its_definition(name):
    f, xi, world, nu = SETTINGS[name]
    # V = Sigma^-1 M Sigma^-1 by quadrature, so that v = tr(Sigma^-1 M) = tr(V Sigma)
    V = by_quadrature(f, xi, world, nu, "gaussian", tilted=False)
    v = np.trace(V @ lt.limit(f, xi, world, nu).Sigma)
    found = whitened_variance(Problem.of(f, xi, world, nu, "gaussian"))
    assert found == pytest.approx(v, rel=1e-8, abs=0)


FOUR = (
    lt.Linear([10.0, -10.0, 3.0, 0.0], 2.0),
    [0.5, 0.432, -0.3, 1.1],
    lt.Gaussian(mu=[0, 0, 0.2, 0], sigma=[1, 1, 0.7, 1.4], p=[4, 4, 5, 3]),
    0.9,
)


def errors(sampler, n, runs):
    """Coefficients (intercept first) minus their limit, one row a run."""
    f, xi, world, nu = FOUR
    exact = lt.limit(f, xi, world, nu)
    found = [lt.explain(f, xi, world, nu, n=n, seed=s, sampler=sampler) for s in range(runs)]
    rows = [np.concatenate([[e.intercept - exact.intercept], e.coef - exact.coef]) for e in found]
    return np.array(rows), found


@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_many_runs_have_that_covariance(sampler):
    runs, n = 500, 4000
    V = asymptotic_covariance(*FOUR, sampler=sampler)
    off, found = errors(sampler, n, runs)
    whitened = np.sqrt(n) * np.linalg.solve(np.linalg.cholesky(V), off.T).T
    squares = (whitened**2).sum(axis=1)  # chi-square with d + 1 = 5 degrees of freedom
    assert abs(squares.mean() - 5) < 4 * squares.std() / np.sqrt(runs)
    assert stats.kstest(squares, stats.chi2(5).cdf).pvalue > 1e-3
    # any f: the sandwich of each run estimates V / n
    sandwich = np.mean([ex.covariance for ex in found], axis=0) * n
    np.testing.assert_allclose(np.diag(sandwich), np.diag(V), rtol=0.05)


def test_the_number_of_samples_keeps_its_promise():
    f, xi, world, nu = FOUR
    need = lt.samples_needed(f, xi, world, nu, eps=1.5, eta=0.1)
    for sampler, n in (("bins", need.weighted), ("tilted", need.tilted)):
        off, _ = errors(sampler, int(n), 400)
        kept = np.mean(np.linalg.norm(off, axis=1) <= 1.5)
        assert abs(kept - 0.9) < 4 * np.sqrt(0.09 / 400), (sampler, kept)


def test_the_number_of_samples_in_many_dimensions_is_that_of_simulated_noise():
    """300 features: the share of draws of N(0, V / n) within eps, at 4 standard errors."""
    rng = np.random.default_rng(0)
    f, xi, nu = lt.Linear(rng.normal(size=300)), rng.normal(size=300), 13.0
    need = lt.samples_needed(f, xi, lt.Gaussian(), nu, eps=1.0)
    for sampler, n in (("bins", need.weighted), ("tilted", need.tilted)):
        V = asymptotic_covariance(f, xi, lt.Gaussian(), nu, sampler=sampler)
        squares = rng.chisquare(1, (20_000, 301)) @ np.linalg.eigvalsh(V) / n
        assert abs(np.mean(squares > 1) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 20_000)


def test_the_number_of_samples_of_thousands_of_features_takes_seconds():
    """Alike features make V known: it has the eigenvalues of a matrix of two rows, and one more."""
    d, xi, nu = 5000, 0.4, 60.0
    start = time.process_time()
    need = lt.samples_needed(lt.Linear(np.ones(d)), np.full(d, xi), lt.Gaussian(), nu, eps=1.0)
    assert time.process_time() - start < 30  # 3 on a free core
    problem = Problem.of(lt.Linear(np.ones(d)), np.full(d, xi), lt.Gaussian(), nu)
    for sampler, n in (("bins", need.weighted), ("tilted", need.tilted)):
        V, log_unit = noise_of(problem, sampler)
        first, second, third = Covariance(V.diagonal[:3], V.factors[:3], V.middle).matrix()
        alike = second[1] - second[2]  # d - 1 times
        pair = [[first[0], np.sqrt(d) * first[1]], [np.sqrt(d) * first[1], alike + d * second[2]]]
        rng, (low, high) = np.random.default_rng(2), np.linalg.eigvalsh(pair)
        squares = alike * rng.chisquare(d - 1, 40_000) + low * rng.chisquare(1, 40_000)
        squares += high * rng.chisquare(1, 40_000)
        share = np.mean(squares * np.exp(log_unit) > n)
        assert abs(share - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 40_000)
        assert third[2] == pytest.approx(second[1])


def test_a_constant_column_has_no_noise_and_adds_none():
    """Its coefficient is 0 in every run; the noise of the others is that without it."""
    table = np.column_stack([TABLE[:, 0], np.full(len(TABLE), 7.0), TABLE[:, 1]])
    f, xi = lt.Linear([1.0, 3.0, -0.5]), [1.5, 7.0, 7.0]
    for sampler in ("bins", "tilted"):
        V = asymptotic_covariance(f, xi, lt.Empirical(table, p=3), 1.1, sampler=sampler)
        assert not np.any(V[2]) and not np.any(V[:, 2])
        g, at = lt.Linear([1.0, -0.5]), [1.5, 7.0]
        expected = asymptotic_covariance(g, at, lt.Empirical(TABLE, p=3), 1.1, sampler=sampler)
        others = np.ix_([0, 1, 3], [0, 1, 3])
        np.testing.assert_allclose(V[others], expected, rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-150, 1e150, 1e188])
def test_the_unit_of_f_changes_no_number_of_samples(unit):
    f, xi, world, nu = FOUR
    need = lt.samples_needed(f, xi, world, nu, eps=1.0)
    other = lt.samples_needed(lt.Linear(unit * f.a, unit * f.b), xi, world, nu, eps=unit)
    for one, two in zip(need.rows(), other.rows(), strict=True):
        assert two == (one[0], pytest.approx(one[1], rel=1e-6, abs=1))


def test_beside_the_theorem():
    """The book's example: f = 10 x1 - 10 x2, d = 4, xi = 1/2, mu = 0, sigma = nu = 1, p = 4."""
    f, xi, world = lt.Linear([10, -10, 0, 0]), [0.5] * 4, lt.Gaussian()
    need = lt.samples_needed(f, xi, world, nu=1.0, eps=1.0, eta=0.05)
    at = lt.limit(f, xi, world, nu=1.0)
    assert need.printed == theorem_sample_size(at, 1.0, 1.0, 0.05, corrected=False)
    assert need.corrected == theorem_sample_size(at, 1.0, 1.0, 0.05, corrected=True)
    spread = whitened_variance(Problem.of(f, xi, world, 1.0, "gaussian"))
    assert need.finite == finite_sample_size(at, spread, 1.0, 0.05)
    assert need.weighted < need.finite < 1e-6 * need.printed
    assert need.weighted == 6715 and need.tilted == 4726
    assert f"{need.printed:.2g}" == "5.5e+12"
    assert need.share == pytest.approx(effective_sample_size(xi, world, 1.0, 1000) / 1000)
    text = str(need)
    assert "6,715" in text and "5.5e+12" in text and "closed form" in text
    assert "6,715" in need._repr_html_()


def test_a_pilot_that_tells_nothing_is_refused(monkeypatch):
    """Rounding may leave a covariance with a negative variance: the number of samples was nan."""
    broken = lambda *_: [np.diag([1.0, -3.0]), np.eye(2)]  # noqa: E731
    monkeypatch.setattr(samples_needed, "_estimated_covariances", broken)
    with pytest.raises(ValueError, match="pilot must be enough samples"):
        lt.samples_needed(np.sum, [0.3], lt.Gaussian(), 1.0, eps=0.1, pilot=100)


def test_any_function_by_a_pilot_run():
    f, xi, world, nu = FOUR
    closed = lt.samples_needed(f, xi, world, nu, eps=1.0)
    pilot = lt.samples_needed(lambda x: f(x), xi, world, nu, eps=1.0, pilot=200_000)
    assert pilot.weighted == pytest.approx(closed.weighted, rel=0.05)
    assert pilot.tilted == pytest.approx(closed.tilted, rel=0.05)
    assert np.isnan(pilot.printed) and "—" in str(pilot) and "200000 samples" in str(pilot)


def test_a_fitted_linear_model_is_linear():
    f, xi, world, nu = FOUR
    X = RNG.standard_normal((50, 4))
    model = LinearRegression().fit(X, f(X))
    need, closed = (lt.samples_needed(which, xi, world, nu, eps=1.0) for which in (model, f))
    assert need.weighted == closed.weighted and need.printed == pytest.approx(closed.printed)
    with pytest.raises(TypeError, match="f must be linear for a closed form of the covariance"):
        asymptotic_covariance(lambda x: x[:, 0], xi, world, nu)


def test_kernels_that_do_not_factor():
    f, xi, world, _ = FOUR
    need = lt.samples_needed(f, xi, world, 0.5, eps=1.0, kernel="cosine")
    assert need.weighted > 100 and np.isnan(need.tilted) and np.isnan(need.share)
    mismatch = lt.samples_needed(f, xi, world, 0.5, eps=1.0, kernel="mismatch")
    assert np.isnan(mismatch.printed) and mismatch.tilted < mismatch.weighted
    assert np.isnan(mismatch.finite)
    data = lt.samples_needed(*SETTINGS["from data"], eps=1.0)  # no paper, but a bounded residual
    assert np.isnan(data.printed) and data.finite > data.weighted


def test_numbers_no_double_can_hold_are_infinite_and_told_once():
    with pytest.warns(lt.PrecisionWarning, match="beyond 1e308, given as infinite") as told:
        need = lt.samples_needed(lt.Linear([1.0]), [0.3], lt.Gaussian(), 0.3, eps=1e-200)
    assert len(told) == 1 and told[0].filename == __file__
    assert need.weighted == need.tilted == need.printed == need.finite == np.inf
    assert str(need).count("∞") == 5 and "—" not in str(need)


def test_a_model_that_is_zero_needs_no_samples_however_narrow_the_bandwidth():
    """Influences overflow there, residuals are 0: their product is 0, not nan."""
    for nu in (1e-2, 1e-8, 1e-50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lt.PrecisionWarning)  # of the theorem's numbers
            need = lt.samples_needed(lt.Linear([0.0, 0.0]), [0.3, 1.0], lt.Gaussian(), nu, eps=1.0)
        assert need.weighted == need.tilted == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"eps": 0}, "eps must be above 0"),
        ({"eta": 0}, "eta must lie between 0 and 1"),
        ({"eta": 1.5}, "eta must lie between 0 and 1"),
        ({"nu": -1}, "nu must be above 0"),
        ({"xi": [1.0]}, "xi must have 4 entries"),
    ],
)
def test_refusals(change, words):
    f, xi, world, nu = FOUR
    call = {"f": f, "xi": xi, "world": world, "nu": nu, "eps": 1.0} | change
    with pytest.raises(ValueError, match=words):
        lt.samples_needed(**call)


def covariance_at_50_digits(a, xi, nu):
    """V of one feature of N(0, 1) in quartiles, f = a x, from Sigma and M at 50 digits.

    M = E[pi^2 r^2 z z'], and pi^2 is the kernel at nu / sqrt 2: moments of truncated normals.
    """
    here, there = (ref.coordinate(xi, 0, 1, at, 4) for at in (nu, nu / mp.sqrt(2)))
    beta1 = a * here.slope
    beta0 = a * here.mu_tilde - here.alpha * beta1

    def second_moment(law, lo, hi, shift):
        """E[(a x + shift)^2; lo < x < hi] under N(law.mu_tilde, law.sigma_tilde^2)."""
        u, v = ((end - law.mu_tilde) / law.sigma_tilde for end in (lo, hi))
        mass, _ = ref.masses(u, v)
        first = ref.density(u) - ref.density(v)
        edge = [e * ref.density(e) if not mp.isinf(e) else mp.mpf(0) for e in (u, v)]
        second = mass + edge[0] - edge[1]
        m, s = a * law.mu_tilde + shift, a * law.sigma_tilde
        return m**2 * mass + 2 * m * s * first + s**2 * second

    lo, hi = here.lo, here.hi
    inside = second_moment(there, lo, hi, -beta0 - beta1)
    outside = second_moment(there, -mp.inf, lo, -beta0) + second_moment(there, hi, mp.inf, -beta0)
    M = there.mass * mp.matrix([[inside + outside, inside], [inside, inside]])
    Sigma = here.mass * mp.matrix([[1, here.alpha], [here.alpha, here.alpha]])
    inverse = Sigma**-1
    return inverse * M * inverse, here.rest


@pytest.mark.parametrize("xi", [0.4, 1.0, 2.0, 2.5, 2.7, 2.9, 3.1, -2.8])
def test_sample_sizes_keep_their_digits_where_the_box_holds_everything(xi):
    """1 - alpha down to 1e-14, where a matrix product in doubles has lost all digits."""
    nu = 0.3
    exact, rest = covariance_at_50_digits(2.0, xi, nu)
    V = asymptotic_covariance(lt.Linear([2.0]), [xi], lt.Gaussian(), nu)
    for i in range(2):
        for j in range(2):
            assert ref.relative_error(V[i, j], exact[i, j]) < 1e-9, (i, j)
    expected = (norm_quantile(np.array(exact.tolist(), float), 0.05) / 0.1) ** 2
    found = lt.samples_needed(lt.Linear([2.0]), [xi], lt.Gaussian(), nu, eps=0.1)
    assert found.weighted == pytest.approx(expected, rel=0.01, abs=1)
    if abs(xi) > 3:
        assert rest < 1e-12
