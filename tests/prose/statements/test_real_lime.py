"""Statements of the chapter *The real lime*, against its regression over boxes drawn by frequency."""

import numpy as np
from grids import feature, lime, normal_feature
from statements import close, statement
from worlds_drawn import draw


def boxes(rng):
    """A feature of four boxes: their frequencies, two values drawn in each, and the box of ξ."""
    return (
        rng.dirichlet(np.full(4, 3.0)),
        np.sort(rng.normal(0, 2, 8)).reshape(4, 2),
        rng.integers(4),
    )


@statement(
    "thm-real-lime",
    formulas=("alpha", "C_d", "beta", "ridge"),
    assumptions=("linear f", "no row 0"),
)
def test_limit_of_the_real_lime(case, rng):
    nu, n, penalty = rng.uniform(0.5, 2), 500, 1.0
    a, drawn = rng.normal(0, 3, 2), [boxes(rng), boxes(rng)]
    features = []
    for frequency, values, own in drawn:
        k = np.repeat(np.arange(4), 2)
        weight = np.where(k == own, 1.0, np.exp(-1 / (2 * nu**2)))
        features.append(feature(values.ravel(), frequency[k] / 2, weight, k == own))

    def f(x, y):
        return a[0] * x + a[1] * y + (0 if case.keeps("linear f") else x * y)

    xi = [values[own].mean() for _, values, own in drawn]
    plain = fitted(f, features, xi, n, 0.0, case.keeps("no row 0"))
    p = np.array([frequency[own] for frequency, _, own in drawn])
    mean = [values.mean(axis=1) for _, values, _ in drawn]
    parts = p + (1 - p) * np.exp(-1 / (2 * nu**2))
    alpha, C = case.formula(p / parts, "alpha"), case.formula(np.prod(parts), "C_d")
    close(alpha, plain.Sigma[0, 1:] / plain.Sigma[0, 0])
    close(C, plain.Sigma[0, 0])
    rest = [
        sum(frequency[k] / (1 - frequency[own]) * m[k] for k in range(4) if k != own)
        for (frequency, _, own), m in zip(drawn, mean, strict=True)
    ]
    own_mean = np.array([m[own] for (_, _, own), m in zip(drawn, mean, strict=True)])
    beta = case.formula(a * (own_mean - rest), "beta")
    close(beta, plain.beta[1:])
    s = alpha * (1 - alpha)
    shrunk = case.formula(beta * s / (s + penalty / (n * C)), "ridge")
    close(shrunk, fitted(f, features, xi, n, penalty, case.keeps("no row 0")).beta[1:])


def fitted(f, features, xi, n, penalty, without_row_0):
    """The expected normal equations of n samples, with or without the instance as row 0."""
    found = lime(f, features, penalty=penalty / n)
    if not without_row_0:
        ones = np.ones(3)
        found.Sigma = (found.Sigma * (n - 1) + np.outer(ones, ones)) / n
        found.Gamma = (found.Gamma * (n - 1) + f(*xi) * ones) / n
        ridge = np.diag([0.0, penalty, penalty]) / n
        found.beta = np.linalg.solve(found.Sigma + ridge, found.Gamma)
    return found


@statement("prop-own-row", formulas=("b", "error"), assumptions=("independent features",))
def test_a_fit_with_the_row_of_the_instance(case, rng):
    """Against the whole normal equations; f is any model, here one with an interaction."""
    w, n, penalty = draw(rng, d=2), int(rng.integers(20, 200)), rng.uniform(0.1, 3)
    c = rng.normal(size=3)

    def f(x, y):
        return c[0] * x + c[1] * y + c[2] * x * y

    collinear = None if case.keeps("independent features") else lambda x, y: np.exp(np.sin(x * y))
    found, ones = lime(f, w.features(), collinear), np.ones(3)
    at_xi, N = f(*w.xi), (n - 1) * found.C
    whole = np.linalg.solve(
        (n - 1) * found.Sigma + np.outer(ones, ones) + np.diag([0.0, penalty, penalty]),
        (n - 1) * found.Gamma + at_xi * ones,
    )
    alpha = found.Sigma[0, 1:] / found.C
    beta, s = found.beta[1:], alpha * (1 - alpha)
    kept = s / (s + penalty / N)
    # the surrogate with ridge and without row 0, at ξ
    e = found.Gamma[0] / found.C + np.sum((1 - alpha) * beta * kept) - at_xi
    D = N + 1 + np.sum((1 - alpha) ** 2 / (s + penalty / N))
    b = case.formula(beta * kept - e / D * (1 - alpha) / (s + penalty / N), "b")
    close(b, whole[1:], rel=1e-6)
    close(case.formula(e * N / D, "error"), whole.sum() - at_xi, rel=1e-6)


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
