"""Statements of the chapter *Beyond linear*, against integrals over the two sides of a box."""

import numpy as np
from grids import feature, given, lime, normal_density, normal_feature, panels, refined
from mpmath import mp
from statements import close, statement
from worlds_drawn import draw, tilted


def together(case):
    """Nothing, or a factor that makes the features depend on each other."""
    return None if case.keeps("independent features") else lambda x, y: np.exp(0.3 * np.tanh(x * y))


@statement("prop-quadratic", assumptions=("Q symmetric", "quadratic f", "independent features"))
def test_quadratic(case, rng):
    w = draw(rng, d=2)
    Q, a, b = rng.normal(size=(2, 2)), rng.normal(size=2), rng.normal()
    if case.keeps("Q symmetric"):
        Q = (Q + Q.T) / 2

    def f(x, y):
        cubic = 0 if case.keeps("quadratic f") else 0.3 * x**2 * y
        square = Q[0, 0] * x**2 + (Q[0, 1] + Q[1, 0]) * x * y + Q[1, 1] * y**2
        return square + a[0] * x + a[1] * y + b + cubic

    features, (mean, _) = w.features(), tilted(w)
    g = a + 2 * Q @ mean

    def gap(j, order):
        u = (features[j].x - mean[j]) ** order
        return given(features[j], u, 1) - given(features[j], u, 0)

    beta = [g[j] * gap(j, 1) + Q[j, j] * gap(j, 2) for j in range(2)]
    close(case.formula(beta), lime(f, features, together(case)).beta[1:], rel=1e-7, abs=1e-9)


@statement("prop-secant", assumptions=("one nearest edge", "continuous f"))
def test_smallest_bandwidth(case, rng):
    sigma, lo, width = rng.uniform(0.5, 2), rng.normal(), rng.uniform(0.5, 1.5)
    share = rng.choice([0.2, 0.8]) + rng.uniform(-0.1, 0.1)
    hi = lo + width
    xi = lo + width * share if case.keeps("one nearest edge") else lo + width / 2
    gap, edge = min((xi - lo, lo), (hi - xi, hi))
    nu = gap / 30  # the limit is left behind by about (nu / gap)^2, a thousandth
    other = rng.normal()  # the other feature, on which the tilted law is a point

    def f(x):
        jump = 0 if case.keeps("continuous f") else 1.0 * (x > xi)
        return np.exp(0.5 * x) + 2 * x * np.cos(other) + jump

    def mean(breaks):
        x, dx = panels(refined(np.array(breaks), nu / 2))
        exponent = -(((x - xi) / nu) ** 2) / 2
        mass = dx * np.exp(exponent - exponent.max()) * normal_density(x, 0, sigma)
        return np.array([np.sum(mass * f(x)), np.sum(mass)]), exponent.max()

    (inside, weight), _ = mean([lo, hi])
    sides = [mean([lo - 8 * nu, lo]), mean([hi, hi + 8 * nu])]
    top = max(shift for _, shift in sides)
    outside, rest = sum(part * np.exp(shift - top) for part, shift in sides)
    printed = f(xi) - f(edge)
    close(case.formula(printed), inside / weight - outside / rest, rel=4e-3)


@statement(
    "prop-narrow",
    formulas=("kept", "nearest"),
    assumptions=("distances differ", "Gaussian weights", "full rank"),
)
def test_a_small_bandwidth_at_a_fixed_number_of_samples(case, rng):
    """Normal equations in 1200 digits; the rows kept are found by exact ranks of small integers."""
    d, n, nu = 3, 14, 0.02
    z = (rng.random((n, d)) < 0.5).astype(int)
    z[: d + 2] = np.vstack([np.ones((1, d)), np.ones((d, d)) - np.eye(d), np.zeros((1, d))])
    x, y = rng.normal(size=(n, d)), rng.normal(size=n)
    x *= (rng.permutation(n) + 1)[:, None] / 10 / np.linalg.norm(x, axis=1)[:, None]
    if not case.keeps("full rank"):
        z[:, 1] = z[:, 0]
    order = np.argsort(np.linalg.norm(x, axis=1))
    if not case.keeps("distances differ"):  # two nearest ones, with one row
        x[order[1]], z[order[1]] = -x[order[0]], z[order[0]]
    kept = []
    for i in order:
        rows = np.column_stack([np.ones(len(kept) + 1), z[[*kept, i]]])
        if np.linalg.matrix_rank(rows) > len(kept):
            kept.append(i)
    rows = np.column_stack([np.ones(len(kept)), z[kept]])
    through = case.formula(np.linalg.lstsq(rows, y[kept], rcond=None)[0], "kept")
    nearest = case.formula(y[order[0]], "nearest")
    with mp.workdps(1200):
        distance = [mp.fsum(mp.mpf(float(v)) ** 2 for v in row) for row in x]
        if not case.keeps("Gaussian weights"):  # those of lime, which depend on z alone
            distance = [mp.mpf(int(v)) for v in d - z.sum(axis=1)]
        w = [mp.exp(-v / (2 * mp.mpf(nu) ** 2)) for v in distance]
        Z = [[1, *map(int, row)] for row in z]
        gram = mp.matrix(d + 1, d + 1)
        right = mp.matrix(d + 1, 1)
        for weight, row, value in zip(w, Z, y, strict=True):
            for j in range(d + 1):
                right[j] += weight * row[j] * mp.mpf(float(value))
                for k in range(d + 1):
                    gram[j, k] += weight * row[j] * row[k]
        penalised = gram.copy()
        for j in range(1, d + 1):
            penalised[j, j] += mp.mpf("0.1")
        try:
            plain = [float(v) for v in mp.lu_solve(gram, right)]
        except ZeroDivisionError:  # no rank, no solution
            plain = np.full(d + 1, np.inf)
        ridge = [float(v) for v in mp.lu_solve(penalised, right)]
    close(through, plain, rel=1e-6, abs=1e-6)
    close(ridge, [nearest, *np.zeros(d)], rel=1e-6, abs=1e-6)


@statement(
    "thm-bounded-hessian",
    formulas=("first order", "bound"),
    assumptions=("bounded Hessian", "independent features"),
)
def test_bounded_hessian(case, rng):
    w = draw(rng, d=2)
    a, wave, height = rng.normal(0, 2, 2), rng.normal(0, 1, 2), rng.uniform(0.5, 2)
    M = height * wave @ wave
    bend = height if case.keeps("bounded Hessian") else 30 * height

    def f(x, y, height=bend):
        return a[0] * x + a[1] * y + height * np.sin(wave[0] * x + wave[1] * y)

    features, (mean, _) = w.features(), tilted(w)
    gap = np.array([given(g, g.x, 1) - given(g, g.x, 0) for g in features])
    straight = lime(lambda x, y: f(x, y, 0.0), features, together(case)).beta[1:]
    close(case.formula(a * gap, "first order"), straight, rel=1e-6, abs=1e-8)
    slope = a + bend * wave * np.cos(wave @ mean)
    found = lime(f, features)
    law = found.prob * found.weight
    square = (found.x[0] - mean[0]) ** 2 + (found.x[1] - mean[1]) ** 2
    for j in (0, 1):
        own, other = features[j], features[1 - j]
        mass = other.prob * other.weight
        rest = np.sum(mass * (other.x - mean[1 - j]) ** 2) / np.sum(mass)
        sides = [given(own, (own.x - mean[j]) ** 2, k) + rest for k in (0, 1)]
        bound = case.formula(M / 2 * sum(sides), "bound")
        here = [law * (found.z[1 + j] == k) for k in (0, 1)]
        close(bound, M / 2 * sum(mass @ square / mass.sum() for mass in here), rel=1e-6)
        assert abs(found.beta[1 + j] - slope[j] * gap[j]) <= bound * (1 + 1e-9)


@statement(
    "prop-own-curvature",
    formulas=("averaged slope", "bound"),
    assumptions=("bounded own curvature", "independent features"),
)
def test_own_curvature(case, rng):
    w = draw(rng, d=2)
    a, b, rate, height = rng.normal(), rng.normal(), rng.uniform(0.5, 2), rng.uniform(0.5, 2)
    bend = height if case.keeps("bounded own curvature") else 100 * height

    def f(x, y, height=bend):
        return a * x + b * x * np.exp(0.5 * y) + 5 * y**2 + height * np.sin(rate * x)

    features, (mean, _) = w.features(), tilted(w)
    own, other = features
    gap = given(own, own.x, 1) - given(own, own.x, 0)
    mass = other.prob * other.weight
    averaged = a + b * np.sum(mass * np.exp(0.5 * other.x)) / np.sum(mass)
    straight = lime(lambda x, y: f(x, y, 0.0), features, together(case)).beta[1]
    close(case.formula(averaged * gap, "averaged slope"), straight, rel=1e-6, abs=1e-8)
    found = lime(f, features)
    spreads = [given(own, (own.x - mean[0]) ** 2, k) for k in (0, 1)]
    bound = case.formula(height * rate**2 / 2 * sum(spreads), "bound")
    law = found.prob * found.weight
    here = [law * (found.z[1] == k) for k in (0, 1)]
    square = (found.x[0] - mean[0]) ** 2
    close(bound, height * rate**2 / 2 * sum(m @ square / m.sum() for m in here), rel=1e-6)
    slope = averaged + bend * rate * np.cos(rate * mean[0])
    assert abs(found.beta[1] - slope * gap) <= bound * (1 + 1e-9)


@statement("prop-own-row", formulas=("ridge", "b", "error"), assumptions=("independent features",))
def test_a_fit_with_the_row_of_the_instance(case, rng):
    """Against the whole normal equations; f is any model, here one with an interaction."""
    w, n, penalty = draw(rng, d=2), int(rng.integers(20, 200)), rng.uniform(0.1, 3)
    c = rng.normal(size=3)

    def f(x, y):
        return c[0] * x + c[1] * y + c[2] * x * y

    collinear = None if case.keeps("independent features") else lambda x, y: np.exp(np.sin(x * y))
    found, ones = lime(f, w.features(), collinear), np.ones(3)
    at_xi, N = f(*w.xi), (n - 1) * found.C
    rows, right = (n - 1) * found.Sigma + np.diag([0, penalty, penalty]), (n - 1) * found.Gamma
    without = np.linalg.solve(rows, right)
    whole = np.linalg.solve(rows + np.outer(ones, ones), right + at_xi * ones)
    alpha = found.Sigma[0, 1:] / found.C
    beta, s = found.beta[1:], alpha * (1 - alpha)
    ridge = case.formula(beta * s / (s + penalty / N), "ridge")
    close(ridge, without[1:], rel=1e-6)
    e = without.sum() - at_xi
    T = N + 1 + np.sum((1 - alpha) ** 2 / (s + penalty / N))
    b = case.formula(ridge - e / T * (1 - alpha) / (s + penalty / N), "b")
    close(b, whole[1:], rel=1e-6)
    close(case.formula(e * N / T, "error"), whole.sum() - at_xi, rel=1e-6)


@statement("prop-own-row", formulas=("alpha", "C_d"))
def test_the_weights_of_lime(case, rng):
    """The mass of the own box and the mean weight, against sums over all pairs of boxes."""
    nu, p, own = (
        rng.uniform(0.5, 2),
        rng.dirichlet(np.full(4, 3.0), size=2),
        rng.integers(4, size=2),
    )
    k = np.indices((4, 4)).reshape(2, -1)
    mass = p[0, k[0]] * p[1, k[1]] * np.exp(-(own != k.T).sum(axis=1) / (2 * nu**2))
    at = p[[0, 1], own]
    parts = at + (1 - at) * np.exp(-1 / (2 * nu**2))
    shares = [mass[k[j] == own[j]].sum() / mass.sum() for j in (0, 1)]
    close(case.formula(at / parts, "alpha"), shares)
    close(case.formula(np.prod(parts), "C_d"), mass.sum())


@statement(
    "thm-without-boxes",
    formulas=("mean", "slope"),
    assumptions=("normal features", "Gaussian weight", "independent features"),
)
def test_without_boxes(case, rng):
    """Against weighted least squares on the scaled numbers, on a grid."""
    w = draw(rng, d=2)
    width = rng.uniform(0.5, 2)  # in units of the deviations
    t = 0.9 * rng.normal(size=2)

    def f(x, y):
        return np.sin(x + t[0]) * y + 0.3 * x * x + t[1] * y

    def slopes(x, y):
        return np.cos(x + t[0]) * y + 0.6 * x, np.sin(x + t[0]) + t[1] + 0 * y

    features = []
    for xi, mu, sigma in zip(w.xi, w.mu, w.sigma, strict=True):
        g = normal_feature(xi, mu, sigma, width * sigma, mu, np.inf)
        if not case.keeps("normal features"):
            g.prob = g.prob * (1 + 0.8 * np.tanh((g.x - mu) / sigma))
        if not case.keeps("Gaussian weight"):
            weight = 1 / (1 + ((g.x - xi) / (width * sigma)) ** 4)
            g = feature(g.x, g.prob, weight, g.z == 1)
        features.append(g)
    collinear = None if case.keeps("independent features") else lambda x, y: np.exp(np.sin(x * y))
    grid = lime(f, features, collinear)
    mass = grid.prob * grid.weight
    u = [(x - mu) / sigma for x, mu, sigma in zip(grid.x, w.mu, w.sigma, strict=True)]
    design = np.stack([np.ones_like(mass), *u])
    beta = np.linalg.solve((design * mass) @ design.T, design @ (mass * grid.y))[1:]

    mean = (width**2 * w.mu + w.xi) / (1 + width**2)
    sd = w.sigma * width / np.sqrt(1 + width**2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    weights = np.outer(weights, weights) / np.sum(weights) ** 2

    def smoothed(function, centre):
        x, y = np.meshgrid(*(m + s * nodes for m, s in zip(centre, sd, strict=True)), indexing="ij")
        return np.array([np.sum(weights * v) for v in function(x, y)])

    step = 1e-5 * np.eye(2)
    rise = [
        (smoothed(lambda x, y: [f(x, y)], mean + h) - smoothed(lambda x, y: [f(x, y)], mean - h))[0]
        / 2e-5
        for h in step
    ]
    close(case.formula(w.sigma * np.array(rise), "mean"), beta, rel=1e-5, abs=1e-6)
    close(case.formula(w.sigma * smoothed(slopes, mean), "slope"), beta, rel=1e-6, abs=1e-7)
