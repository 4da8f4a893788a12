"""Counterexamples are looked for: a search for each universal sentence that restates no theorem.

A docstring quotes the sentences that its search stands behind, and ``tests/prose/support/claims.yml`` maps
each sentence to its search. A search that finds something means that the sentence is wrong: mend
the sentence, not the search. Ranges go over decades and include edges and corners.
"""

import warnings
from functools import cache
from unittest.mock import patch

import numpy as np
from grids import feature, given, lime, normal_feature
from hypothesis import given as search
from hypothesis import settings
from hypothesis import strategies as st
from lime.lime_tabular import LimeTabularExplainer
from reference import coordinate, mp
from scipy import stats
from statements import close

import limetutor as lt
from limetutor.core.boxes import standard_quantiles
from limetutor.core.theory import critical_bandwidth
from limetutor.course.datasets import diabetes
from limetutor.course.figures import sampling as sampling_figures
from limetutor.course.research.shapley import shapley_values
from limetutor.exact.forms import Bumps
from limetutor.precision.gaussian_and_tilted_samplers import sampler
from limetutor.switches.images import image_limit

quick = settings(max_examples=25, deadline=None)
many = settings(max_examples=100, deadline=None)

seeds = st.integers(0, 2**32 - 1)
unit = st.floats(0, 1)  # a place in a box, by share of its mass; both ends included
inside = st.floats(0.02, 0.98)
slopes = st.floats(0.1, 1e3) | st.floats(-1e3, -0.1)
means = st.floats(-100, 100)
PRODUCTS = ("gaussian", "laplace", "mismatch")


def decades(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers from 10^low to 10^high, as likely in each decade."""
    return st.floats(low, high).map(lambda power: 10.0**power)


def place(p: int, box: int, share: float) -> float:
    """Where so much of a box of N(0, 1) lies below, kept within nine deviations."""
    return float(np.clip(stats.norm.ppf((box + share) / p), -9, 9))


@st.composite
def worlds_and_places(draw, most: int = 12, least: int = 2, place_in_box=inside):
    """A Gaussian world of one feature and a place in one of its boxes."""
    p = draw(st.integers(least, most))
    box = draw(st.integers(0, p - 1))
    mu, sigma = draw(means), draw(decades(-2, 2))
    xi = mu + sigma * place(p, box, draw(place_in_box))
    return lt.Gaussian(mu=mu, sigma=sigma, p=p), xi, sigma


def quietly(call, *args, **how):
    """A call whose warnings are not the matter here (few effective samples, a starved row)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **how)


@many
@search(p=st.integers(2, 300), mu=means, sigma=decades(-3, 3))
def test_outer_boxes_have_no_end(p, mu, sigma):
    """Except in the two outer boxes, which are never small."""
    boxes = lt.Gaussian(mu=mu, sigma=sigma, p=p).boxes(1)
    assert boxes.ends(0, 0)[0] == -np.inf and boxes.ends(0, p - 1)[1] == np.inf
    assert len(boxes.edges[0]) == p - 1


@many
@search(
    p=st.integers(2, 40), edge=unit, mu=means, sigma=decades(-2, 2), nu=decades(-2, 3), a=slopes
)
def test_a_linear_model_jumps_at_an_edge(p, edge, mu, sigma, nu, a):
    """With normal features, the coefficient of a linear model jumps, whatever the bandwidth.

    The coefficient jumps at every edge, and it is there at every bandwidth.
    """
    world, nu = lt.Gaussian(mu=mu, sigma=sigma, p=p), nu * sigma
    edges = world.boxes(1).edges[0]
    above = edges[round(edge * (len(edges) - 1))]
    below = np.nextafter(above, -np.inf)
    up, down = (lt.limit(lt.Linear([a]), [xi], world, nu).coef[0] / a for xi in (above, below))
    assert up - down > 0.01 * min(nu, sigma)  # a jump of the size of the window or of a box


@many
@search(n=st.integers(1, 20_000))
def test_the_band_of_the_magnifying_glass(n):
    """In at least 95 cases out of 100, whatever $n$ is, and in not many more."""
    share = stats.kstwo.cdf(sampling_figures.BAND / np.sqrt(n), n)  # the exact law of the distance
    assert share > 0.95
    assert share < 0.97 or n < 10  # the slider starts at 10


@quick
@search(
    name=st.sampled_from(list(sampling_figures.LABELS)),
    edge=st.integers(0, 2),
    steps=st.integers(1, 2),
)
def test_samples_avoid_the_edges(name, edge, steps):
    """Near the edges, in every column: counted between the values that patients have."""
    laws, values = column(name), diabetes().X[name].to_numpy()
    at, reach = laws.edges[edge], (steps + 0.5) * (0.3 if name == "bmi" else 1.0)
    new = np.diff(np.interp([at - reach, at + reach], laws.grid, laws.boxes))
    assert new < 0.9 * np.mean(np.abs(values - at) <= reach)


@cache
def column(name):
    return sampling_figures.column_laws(name, 4, points=1601)


@quick
@search(seed=seeds, d=st.integers(2, 4), n=st.integers(20, 60), p=st.integers(2, 5))
def test_pairs_are_lost(seed, d, n, p):
    """Whatever the training set knows about pairs of features is lost.

    LIME draws each feature independently, whatever the data are like: a training set in which each
    column is shuffled by itself gives the same samples.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1)) + 0.1 * rng.standard_normal((n, d))  # nearly one number
    apart = rng.permuted(X, axis=0)
    for make in (lambda X: lt.Empirical(X, p=p), lambda X: lt.Gaussian.from_data(X, p=p)):
        draws = [
            sampler("bins", make(data).boxes(), X[0])(np.random.default_rng(1), 20)[0]
            for data in (X, apart)
        ]
        close(draws[0], draws[1], rel=1e-6, abs=1e-6)
    drawn = []
    for data in (X, apart):
        explainer = LimeTabularExplainer(data, mode="regression", random_state=0)
        drawn.append(explainer._LimeTabularExplainer__data_inverse(X[0], 20)[1])
    close(drawn[0], drawn[1], rel=1e-6, abs=1e-6)


@quick
@search(seed=seeds, d=st.integers(1, 4), kernel=st.sampled_from(PRODUCTS), nu=decades(-1, 1))
def test_a_gaussian_world_sees_means_and_deviations(seed, d, kernel, nu):
    """LIME draws its own normal samples and never looks at the data again."""
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(40, d))
    other = (
        X.mean(axis=0)
        + X.std(axis=0) * rng.choice([-1, 1], (1, d)) * np.repeat([-1, 1], 20)[:, None]
    )
    f, xi = lt.Linear(rng.normal(size=d)), X[0]
    first, second = (
        quietly(lt.explain, f, xi, lt.Gaussian.from_data(data), nu, 200, 0, kernel, ridge=1e-3)
        for data in (X, other)
    )
    close(first.coef, second.coef, rel=1e-6, abs=1e-9)


@quick
@search(seed=seeds, d=st.integers(1, 4), p=st.integers(2, 6))
def test_lime_measures_indicators(seed, d, p):
    """With boxes, `lime` never measures a distance between $x$ and ξ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(rng.normal(size=d), rng.uniform(0.1, 10, d), (50, d))
    explainer = LimeTabularExplainer(X, mode="regression", random_state=0)
    distances = "lime.lime_tabular.sklearn.metrics.pairwise_distances"
    with patch(distances, side_effect=lambda data, *_, **__: np.zeros((len(data), 1))) as asked:
        explainer.explain_instance(X[0], lambda x: x.sum(axis=1), num_samples=50)
    (data, row), _ = asked.call_args
    assert set(np.unique(data)) <= {0.0, 1.0} and np.all(np.asarray(row) == 1)


@many
@search(d=st.integers(1, 10**6), frequency=st.floats(1e-6, 1 - 1e-6))
def test_the_default_width_in_every_dimension(d, frequency):
    """A sample that shares no box weighs 0.41 whatever the number of features.

    From two features on, nine tenths of the samples are at work.
    """
    nu = 0.75 * np.sqrt(d)
    close(np.exp(-d / (2 * nu**2)), 0.411, rel=1e-3)  # all d boxes differ
    w = np.exp(-1 / (2 * nu**2))
    mean, square = (frequency + (1 - frequency) * w**k for k in (1, 2))
    log_share = d * (2 * np.log(mean) - np.log(square))
    assert log_share > np.log(0.9) or d == 1


@many
@search(d=st.integers(1, 60), sigma=decades(-2, 2), nu=decades(-1, 3), away=st.floats(-3, 3))
def test_the_mean_weight_is_near_one_only_beside_d(d, sigma, nu, away):
    """Is near 1 only if $\\nu^2$ is large compared with $d\\sigma^2$."""
    xi = np.full(d, away * sigma)
    C = lt.limit(lt.Linear(np.ones(d)), xi, lt.Gaussian(sigma=sigma), nu * sigma).C
    assert (1 + nu**-2) ** (-d / 2) >= C * (1 - 1e-9)
    assert C < 0.9 or nu**2 > 4 * d


@many
@search(at=worlds_and_places(), other=inside, nu=decades(5, 7), a=slopes, c=slopes)
def test_a_large_bandwidth_forgets_the_place(at, other, nu, a, c):
    """The position of ξ in its box no longer matters, so the slope at ξ cannot matter either."""
    world, xi, sigma = at
    t = (xi - world.mu) / sigma
    box = min(int(stats.norm.cdf(t) * world.p), world.p - 1)
    moved = world.mu + sigma * place(world.p, box, other)
    f = lt.Quadratic([[c / sigma**2]], [a / sigma])
    first, second = (lt.limit(f, [x], world, nu * sigma).coef[0] for x in (xi, moved))
    close(first, second, rel=1e-5, abs=1e-5 * (abs(a) + abs(c) * (1 + abs(world.mu) / sigma)))


@many
@search(
    xi=st.floats(-2, 2),
    ends=st.tuples(decades(-1.5, 0.5), decades(-1.5, 0.5)),
    mu=st.floats(-2, 2),
    sigma=st.floats(0.3, 2),
    nu=decades(-0.7, 1),
)
def test_any_edges(xi, ends, mu, sigma, nu):
    """The boxes only cut a normal law and the formula is the one of {prf:ref}`thm-coefficients`,
    whatever the edges.

    The formulas hold for any boxes that were fixed before sampling.
    """
    lo, hi = xi - ends[0], xi + ends[1]
    mean, sd = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2), nu * sigma / np.hypot(nu, sigma)
    law = stats.norm(mean, sd)
    inner, outer = law.cdf(hi) - law.cdf(lo), law.cdf(lo) + law.sf(hi)
    if min(inner, outer) > 1e-6:  # below, it is the grid that has no digits left
        theta = sd**2 * (law.pdf(hi) - law.pdf(lo))
        beta = lime(lambda x: x, [normal_feature(xi, mu, sigma, nu, lo, hi)]).beta[1]
        close(beta, -theta / (inner * outer), rel=1e-6, abs=1e-8)


@many
@search(p=st.integers(3, 12), box=unit, share=st.floats(0.1, 0.4) | st.floats(0.6, 0.9))
def test_the_factor_one_half_is_needed(p, box, share):
    """So the factor $\\tfrac12$ cannot be improved."""
    from limetutor.course.research.curvature import first_order, hessian_bound

    edges = standard_quantiles(p)[1:-1]
    k = round(box * (len(edges) - 2))
    xi = edges[k] + share * (edges[k + 1] - edges[k])
    nu = min(xi - edges[k], edges[k + 1] - xi) / 20
    parabola, at = lt.Quadratic([[1.0]]), ([xi], lt.Gaussian(p=p), nu)
    away = lt.limit(parabola, *at).coef - first_order(parabola, *at)
    assert 0.98 < abs(away[0]) / hessian_bound(2, *at)[0] <= 1


@many
@search(at=worlds_and_places(place_in_box=unit), a=slopes, penalty=decades(-6, 2), below=inside)
def test_the_lasso_leaves_out_every_feature(at, a, penalty, below):
    """So in the end the lasso leaves out every feature, whatever its slope: where |a θ| ≤ λ."""
    world, xi, sigma = at
    nu = below * penalty * np.sqrt(2 * np.pi) / abs(a)  # from here on down
    theta = coordinate(xi, float(world.mu), sigma, nu, int(world.p)).theta
    assert abs(a * theta) <= penalty


@many
@search(nu=decades(-4, 5))
def test_the_lasso_leaves_out_feature_two(nu):
    """With $\\lambda = 1$ it leaves out the second at every bandwidth."""
    assert abs(10 * coordinate(0.432, 0, 1, nu, 4).theta) < mp.mpf(1)


@many
@search(p=st.integers(2, 32).map(lambda half: 2 * half), box=unit, share=unit, sigma=decades(-2, 2))
def test_an_even_number_of_boxes_turns_up_to_one_deviation(p, box, share, sigma):
    """With Gaussian quartiles no bandwidth above σ changes the sign of a contrast; nor with any even number."""
    edges = standard_quantiles(p)
    k = 1 + round(box * (p - 3))
    xi = edges[k] + share * (edges[k + 1] - edges[k])
    found = critical_bandwidth(sigma * xi, 0, sigma, edges[k], edges[k + 1])
    assert np.isnan(found) or found <= sigma * (1 + 1e-9)
    lo, hi = edges[p // 2], edges[p // 2 + 1]  # the first box above the mean
    assert critical_bandwidth(sigma * hi * (1 - 1e-4), 0, sigma, lo, hi) > 0.999 * sigma


@quick
@search(nus=st.lists(decades(-2.5, 3), min_size=1, max_size=5))
def test_about_half_oppose_the_slope(nus):
    """Whatever the bandwidth, about half of the contrasts of a linear model oppose its slope."""
    opposed = lt.risk(patients(), lt.Gaussian(), nus).opposed
    assert np.all(np.abs(opposed - 0.5) < 0.06)


@cache
def patients():
    return diabetes(standardize=True).X


@many
@search(p=st.integers(2, 12), box=unit, nu=decades(-1.5, 2), a=slopes)
def test_one_place_without_error_in_each_box(p, box, nu, a):
    """In exactly one place per box, where ξ is the weighted mean of its own box.

    The error even falls all the way, so with several features there is at most one such value of
    each for given others: for almost every instance of a linear model the error is not zero.
    """
    edges = standard_quantiles(p)
    k = round(box * (p - 1))
    lo, hi = np.clip(edges[k : k + 2], -40, 40)  # far enough out for an outer box
    near = np.concatenate([[0], np.geomspace(1e-6, 0.5, 150)]) * (hi - lo)
    xi = np.unique(np.concatenate([lo + near, np.nextafter(hi, lo) - near]))
    xi = xi[(xi >= lo) & (xi < hi)]
    at = quietly(lt.limit, lt.Linear(np.ones(xi.size)), xi, lt.Gaussian(p=p), nu)
    errors = a * at.tilt.inside
    assert np.sum(np.diff(np.sign(errors[errors != 0])) != 0) == 1
    apart = np.diff(xi) > 1e-4 * (1 + np.abs(xi[1:]))  # beyond rounding
    assert np.all(np.diff(at.tilt.inside)[apart] < 0)


@quick
@search(seed=seeds, kind=st.sampled_from(["laplace", "mismatch", "rough"]), nu=decades(-0.5, 1))
def test_the_local_error_of_any_product_of_weights(seed, kind, nu):
    """The second holds for every weight that is a product over the features."""
    rng = np.random.default_rng(seed)
    features, xi, a = [], rng.normal(0, 0.7, 2), rng.normal(0, 3, 2)
    for x in xi:
        g = normal_feature(
            x, rng.normal(), 1.0, 1e3, x - rng.uniform(0.2, 1), x + rng.uniform(0.2, 1)
        )
        weight = {
            "laplace": np.exp(-np.abs(g.x - x) / nu),
            "mismatch": np.where(g.z == 1, 1, np.exp(-0.5 / nu**2)),
            "rough": rng.uniform(0.1, 1, g.x.size),
        }[kind]
        features.append(feature(g.x, g.prob, weight, g.z == 1))
    beta = lime(lambda x, y: a[0] * x + a[1] * y + 3, features).beta
    parts = [slope * (given(g, g.x, 1) - x) for slope, g, x in zip(a, features, xi, strict=True)]
    close(beta.sum() - (a @ xi + 3), sum(parts), rel=1e-8, abs=1e-8)


ways = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from([*PRODUCTS, "cosine"]),
        "ridge": st.sampled_from([0.0, 1e-3, 1.0, 100.0]),
    }
)


@quick
@search(seed=seeds, d=st.integers(1, 5), nu=decades(-1, 2), how=ways, lasso=st.booleans())
def test_every_explanation_has_its_numbers(seed, d, nu, how, lasso):
    """`lt.explain` always returns both. `lt.explain` always computes these standard errors.

    `lt.explain` gives standard errors at no extra call of the model.
    """
    rng = np.random.default_rng(seed)
    a, asked = rng.normal(size=d), []

    def f(x):
        asked.append(len(x))
        return np.tanh(x @ a)

    how = {"kernel": how["kernel"], "lasso": 0.01} if lasso else how
    ex = quietly(lt.explain, f, rng.normal(size=d), lt.Gaussian(), nu, 100, seed, **how)
    calls = list(asked)
    assert np.isfinite([ex.prediction, ex.local_prediction]).all()
    assert ex.stderr.shape == ex.coef.shape == (d,) and ex.interval().shape == (d, 2)
    assert np.all(ex.stderr >= 0)
    assert asked == calls and sum(calls) == 101  # the samples and ξ, and nothing more for the rest


@quick
@search(seed=seeds, d=st.integers(1, 5), nu=decades(-0.5, 2), c=decades(-3, 4), how=ways)
def test_a_constant_moves_the_intercept_alone(seed, d, nu, c, how):
    """Least squares adds it to the intercept and leaves the coefficients unchanged, whatever the samples.

    So the noise cannot depend on $f(\\tilde\\mu)$. A constant added to the model changes the
    intercept and nothing else, in every sample.
    """
    a, xi = np.random.default_rng(seed).normal(size=(2, d))
    at = xi, lt.Gaussian(), nu, 300, seed
    plain = quietly(lt.explain, lambda x: np.sin(x @ a), *at, **how)
    moved = quietly(lt.explain, lambda x: np.sin(x @ a) + c, *at, **how)
    size = 1e-7 * (1 + c) * (1 + np.abs(plain.coef).max())
    if plain.ess > 5 * (d + 1):  # with fewer, rounding of c itself is magnified
        close(moved.coef, plain.coef, abs=size)
        close(moved.intercept, plain.intercept + c, abs=size)
        close(moved.stderr, plain.stderr, rel=1e-5, abs=size)


@quick
@search(seed=seeds, d=st.integers(1, 4), p=st.integers(2, 6), nu=decades(-0.5, 1))
def test_the_surrogate_is_a_staircase(seed, d, p, nu):
    """Within a box it cannot rise or fall."""
    rng = np.random.default_rng(seed)
    world, xi, a = lt.Gaussian(p=p), rng.normal(size=d), rng.normal(size=d)
    ex = quietly(lt.explain, lambda x: x @ a, xi, world, nu, 200, seed, ridge=1e-6)
    boxes, place_in = world.boxes(d), rng.uniform(size=(2, 50, d))
    box = rng.integers(0, p, (50, d))
    x, y = stats.norm.ppf((box + place_in) / p)  # two points in each of fifty boxes
    z, same = (boxes.discretize(v) == boxes.discretize(xi[None]) for v in (x, y))
    assert np.array_equal(ex.intercept + z @ ex.coef, ex.intercept + same @ ex.coef)
    assert not np.any(x @ a == y @ a)


@quick
@search(seed=seeds, d=st.integers(1, 4), how=ways)
def test_only_predictions_are_asked_for(seed, d, how):
    """It never looks inside, LIME never opens the model, LIME can make one for any model.

    A linear model and a bare function with its values are the same.
    """
    a, xi = np.random.default_rng(seed).normal(size=(2, d))
    known = lt.Linear(a)
    at = xi, lt.Gaussian(), 1.0, 200, seed
    opened, closed = (quietly(lt.explain, f, *at, **how) for f in (known, lambda x: known(x)))
    assert np.array_equal(opened.coef, closed.coef) and opened.intercept == closed.intercept


@quick
@search(seed=seeds, d=st.integers(1, 3), nu=decades(-0.3, 1), n=st.integers(2, 10**5))
def test_a_limit_of_lime_counts_its_own_row(seed, d, nu, n):
    """`lt.limit` uses this result for every world with boxes that `lt.from_lime` has read, given $n$.

    The expected normal equations are solved here.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d))
    f, xi, penalty = lt.Linear(rng.normal(size=d), 2.0), X[0], 10 ** rng.uniform(-2, 2)
    world = lt.from_lime(LimeTabularExplainer(X, mode="regression", kernel_width=nu))
    free = quietly(lt.limit, f, xi, world, nu, "mismatch", n=np.inf)
    found = quietly(lt.limit, f, xi, world, nu, "mismatch", ridge=penalty, n=n)
    Z, ones = free.Sigma / free.C, np.ones(d + 1)
    N = (n - 1) * free.C
    A = N * Z + np.outer(ones, ones) + penalty * np.diag([0.0] + [1.0] * d)
    b = np.linalg.solve(A, N * Z @ [free.intercept, *free.coef] + f(xi) * ones)
    close([found.intercept, *found.coef], b, rel=1e-6, abs=1e-9)
    close(found.local_prediction, b.sum(), rel=1e-6, abs=1e-9)


@quick
@search(seed=seeds, d=st.integers(1, 5), bumps=st.booleans())
def test_shapley_values_add_up(seed, d, bumps):
    """For every model, the values add up to $f(\\xi) - \\E[f]$: parabolas and kernel machines here."""
    rng = np.random.default_rng(seed)
    mu, sigma, xi = rng.normal(size=d), rng.uniform(0.2, 2, d), rng.normal(size=d)
    if bumps:
        c, t, gamma = rng.normal(size=4), rng.normal(size=(4, d)), rng.uniform(0.1, 2, (4, d))
        f = Bumps(c, t, gamma)
        wide = 1 + 2 * gamma * sigma**2  # a normal density times a bump, integrated by hand
        mean = c @ np.prod(np.exp(-gamma * (mu - t) ** 2 / wide) / np.sqrt(wide), axis=1)
    else:
        Q, a = rng.normal(size=(d, d)), rng.normal(size=d)
        Q = Q + Q.T
        f = lt.Quadratic(Q, a)
        mean = mu @ Q @ mu + a @ mu + np.diag(Q) @ sigma**2
    total = shapley_values(f, xi, lt.Gaussian(mu=mu, sigma=sigma)).sum()
    close(total, f(xi[None])[0] - mean, rel=1e-8, abs=1e-8)


@quick
@search(
    seed=seeds,
    d=st.integers(1, 6),
    kernel=st.sampled_from(["cosine", "mismatch"]),
    nu=decades(-0.5, 1),
)
def test_the_limit_of_an_image_is_exact(seed, d, kernel, nu):
    """So `image_limit` is exact for any model, and for the cosine kernel too: a table of values."""
    rng = np.random.default_rng(seed)
    values, image = rng.normal(size=2**d), np.ones((1, d))
    patterns = (np.arange(2**d)[:, None] >> np.arange(d)) % 2
    found = image_limit(
        lambda rows: values[np.asarray(rows, int) @ 2 ** np.arange(d)],
        image,
        np.arange(d)[None],
        nu,
        kernel,
        reference=0,
    )
    kept = patterns.mean(axis=1)
    distance = d * (1 - kept) if kernel == "mismatch" else (1 - np.sqrt(kept)) ** 2
    root = np.exp(-distance / (4 * nu**2))  # of the weight
    design = np.column_stack([np.ones(2**d), patterns])
    beta = np.linalg.lstsq(root[:, None] * design, root * values, rcond=None)[0]
    close([found.intercept, *found.coef], beta, rel=1e-6, abs=1e-6)
