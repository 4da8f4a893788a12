"""Statements on the paper's proofs and on penalties, and this book's theorem for every n."""

from itertools import product
from math import factorial
from types import SimpleNamespace

import numpy as np
from grids import feature, integral, lime, normal_density, normal_feature, panels, refined
from scipy import optimize, stats
from statements import close, statement
from worlds_drawn import draw, tilted

phi, Phi = stats.norm.pdf, stats.norm.cdf


def outcomes(d):
    """Every row of indicators."""
    return np.array(list(product((0.0, 1.0), repeat=d)))


@statement("prop-penalties", formulas=("ridge", "lasso"), assumptions=("independent",))
def test_penalties_in_the_limit(case, rng):
    d, z = 3, outcomes(3)
    alpha, y = rng.uniform(0.2, 0.8, d), rng.normal(0, 2, len(z))
    prob = np.prod(np.where(z == 1, alpha, 1 - alpha), axis=1)
    if not case.keeps("independent"):  # the same alpha, two features that go together
        joint = np.where(z[:, 0] == z[:, 1], 1, -1) * 0.6 * np.min([alpha, 1 - alpha]) ** 2
        prob = prob + joint * np.where(z[:, 2] == 1, alpha[2], 1 - alpha[2])
    centred = z - alpha
    gram, right = centred.T @ (prob[:, None] * centred), centred.T @ (prob * (y - prob @ y))
    beta, s = np.linalg.solve(gram, right), alpha * (1 - alpha)
    lam = float(0.7 * np.median(s * np.abs(beta)))
    ridge = case.formula(s / (s + lam) * beta, "ridge")
    lasso = case.formula(np.sign(beta) * np.maximum(np.abs(beta) - lam / s, 0), "lasso")
    close(ridge, np.linalg.solve(gram + lam * np.eye(d), right), abs=1e-12)

    # the lasso: no step in any direction makes the printed answer better
    def loss(b):
        return prob @ (y - prob @ y - centred @ b) ** 2 + 2 * lam * np.sum(np.abs(b))

    steps = rng.normal(size=(200, d)) * 10 ** rng.uniform(-4, 0, (200, 1))
    assert all(loss(lasso) <= loss(lasso + step) + 1e-12 for step in steps)


@statement("thm-hoeffding", assumptions=("independent", "bounded"), settings=8)
def test_hoeffding(case, rng):
    n = 8
    low, width = rng.normal(size=n), rng.uniform(0.5, 2, n)
    p = rng.uniform(0.3, 0.7, n)
    t = rng.uniform(0.3, 0.6) * np.mean((1 - p) * width)
    bound = case.formula(np.exp(-2 * n**2 * t**2 / np.sum(width**2)))
    # the same bound before it is solved: the best exponential, by Hoeffding's lemma
    found = optimize.minimize_scalar(lambda y: -y * n * t + y**2 * np.sum(width**2) / 8)
    close(bound, np.exp(found.fun), rel=1e-6)
    z = outcomes(n)
    prob = np.prod(np.where(z == 1, p, 1 - p), axis=1)
    if not case.keeps("independent"):  # one coin for all
        z, prob, p = np.array([[0.0] * n, [1.0] * n]), np.array([0.5, 0.5]), np.full(n, 0.5)
        t = 0.45 * np.mean(width)
        bound = np.exp(-2 * n**2 * t**2 / np.sum(width**2))
    reach = width if case.keeps("bounded") else 4 * width  # beyond the interval that is claimed
    x = low + reach * z
    mean = low + reach * p
    assert prob @ (np.mean(x - mean, axis=1) >= t - 1e-12) <= bound


@statement("thm-subgaussian", assumptions=("independent", "sub-Gaussian"))
def test_subgaussian_means(case, rng):
    n, s = int(rng.integers(4, 30)), rng.uniform(0.5, 2)
    t = rng.uniform(2, 3) * s
    bound = case.formula(np.exp(-n * t**2 / (2 * s**2)))
    found = optimize.minimize_scalar(lambda y: -y * n * t + n * y**2 * s**2 / 2)
    close(bound, np.exp(found.fun), rel=1e-6)
    exact = stats.norm.sf(np.sqrt(n) * t / s)
    if not case.keeps("independent"):  # n copies of one variable
        exact = stats.norm.sf(t / s)
    if not case.keeps("sub-Gaussian"):  # exponentials of variance s^2
        exact = stats.gamma.sf(n * (1 + t / s), n)
    assert exact <= bound


@statement("lem-gamma-norm", assumptions=("linear f", "normal features"))
def test_norm_of_the_response(case, rng):
    w = draw(rng, d=2)
    w.sigma[:] = w.sigma[0]
    edges, u = stats.norm.ppf(np.arange(w.p + 1) / w.p), (w.box + rng.uniform(0.1, 0.9, 2)) / w.p
    w.xi = w.mu + w.sigma * stats.norm.ppf(u)
    w.lo, w.hi = w.mu + w.sigma * edges[w.box], w.mu + w.sigma * edges[w.box + 1]
    mean, sd = tilted(w)
    a = rng.normal(0, 3, 2)
    b = float(-a @ mean + rng.normal())

    def f(x, y):
        bent = 0 if case.keeps("linear f") else 100 * ((x - mean[0]) ** 2 + (y - mean[1]) ** 2)
        return a[0] * x + a[1] * y + b + bent

    features = w.features()
    C = lime(f, features).C
    bound = case.formula(C**2 * (6 * f(*mean) ** 2 + 2 * sd[0] ** 2 * (a @ a)))
    # the same with mean and deviation of the weighted grid instead of mu~ and sigma~
    g = features[0]
    mass = g.prob * g.weight / np.sum(g.prob * g.weight)
    spread = mass @ (g.x - mass @ g.x) ** 2
    close(bound, C**2 * (6 * (a @ mean + b) ** 2 + 2 * spread * (a @ a)), rel=1e-6)
    if not case.keeps("normal features"):  # far tails that the formula does not know
        for h, mu in zip(features, w.mu, strict=True):
            h.prob = h.prob * (1 + 50 * np.abs(h.x - mu) ** 3)
    assert np.sum(lime(f, features).Gamma ** 2) <= bound


def matrices(rng, d):
    """Box probabilities, C, A, Sigma and its inverse, the latter by numpy."""
    alpha, C = rng.uniform(0.1, 0.9, d), rng.uniform(0.05, 1)
    z = np.column_stack([np.ones(2**d), outcomes(d)])
    prob = np.prod(np.where(z[:, 1:] == 1, alpha, 1 - alpha), axis=1)
    Sigma = C * z.T @ (prob[:, None] * z)
    return alpha, C, np.max(1 / (alpha * (1 - alpha))), Sigma, np.linalg.inv(Sigma)


def symmetric(rng, size, norm):
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]
    return turn * (norm * np.append(rng.uniform(-1, 1, size - 1), -1.0)) @ turn.T


@statement("lem-empirical-inverse", formulas=("near", "bound"), assumptions=("near",))
def test_the_sampled_inverse(case, rng):
    d = int(rng.integers(1, 6))
    alpha, C, A, Sigma, inverse = matrices(rng, d)
    near = case.formula(C / (6 * d * A), "near")
    bound = case.formula(6 * d * A / C, "bound")
    # twice and half of what bounds the inverse of Sigma: A again, as a sum of odds
    most = 3 * d * np.max(1 / alpha + 1 / (1 - alpha)) / C
    close(near, 1 / (2 * most))
    close(bound, 2 * most)
    assert np.linalg.norm(inverse, 2) <= most
    values, vectors = np.linalg.eigh(Sigma)
    size = near if case.keeps("near") else values[0] * (1 - 1e-3 * near)
    worst = size * np.outer(vectors[:, 0], vectors[:, 0])
    for E in [worst, *(symmetric(rng, d + 1, near) for _ in range(10))]:
        assert np.linalg.norm(np.linalg.inv(Sigma - E), 2) <= bound


@statement("prop-inverse-distance", assumptions=("near",))
def test_the_distance_of_the_inverses(case, rng):
    d = int(rng.integers(1, 6))
    alpha, C, A, Sigma, inverse = matrices(rng, d)
    factor = case.formula(18 * d**2 * A**2 / C**2)
    close(factor, 2 * (3 * d * np.max(1 / alpha + 1 / (1 - alpha)) / C) ** 2)
    values, vectors = np.linalg.eigh(Sigma)
    near = C / (6 * d * A)
    size = near if case.keeps("near") else values[0] * (1 - 1e-6)
    worst = size * np.outer(vectors[:, 0], vectors[:, 0])
    for E in [worst, *(symmetric(rng, d + 1, near) for _ in range(10))]:
        apart = np.linalg.norm(np.linalg.inv(Sigma - E) - inverse, 2)
        assert apart <= factor * np.linalg.norm(E, 2)


@statement(
    "prop-prescribed-boxes",
    formulas=("alpha", "beta"),
    assumptions=("linear f", "restricted normal"),
)
def test_prescribed_boxes(case, rng):
    mu, sigma, nu = rng.normal(0, 2), rng.uniform(0.5, 2), rng.uniform(0.4, 2)
    q = mu + sigma * np.append(np.insert(np.sort(rng.uniform(-2, 2, 4)), 0, -9.0), 9.0)
    p = rng.dirichlet(np.full(5, 3.0))
    own = int(rng.integers(0, 5))
    xi = rng.uniform(max(q[own], mu - 3 * sigma), min(q[own + 1], mu + 3 * sigma))
    mean = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2)
    sd = nu * sigma / np.hypot(nu, sigma)
    w, u = (q - mu) / sigma, (q - mean) / sd
    e = p * np.diff(Phi(u)) / np.diff(Phi(w))
    m = mean - sd * np.diff(phi(u)) / np.diff(Phi(u))
    other = np.arange(5) != own
    a = rng.normal(0, 3)
    alpha = case.formula(e[own] / e.sum(), "alpha")
    beta = case.formula(a * (m[own] - e[other] @ m[other] / e[other].sum()), "beta")
    x, dx = panels(refined(q, 0.5 * min(sigma, nu)))
    box = np.searchsorted(q[1:-1], x, side="right")
    density = normal_density(x, mu, sigma)
    if not case.keeps("restricted normal"):  # uniform within boxes instead
        density = np.ones_like(x)
    mass = np.array([np.sum((density * dx)[box == k]) for k in range(5)])
    prob = p[box] * density * dx / mass[box]
    g = feature(x, prob, np.exp(-(((x - xi) / nu) ** 2) / 2), box == own)
    found = lime(lambda t: a * t + (0 if case.keeps("linear f") else t**2), [g])
    close(alpha, found.Sigma[0, 1] / found.C, rel=1e-7)
    close(beta, found.beta[1], rel=1e-6, abs=1e-8)


@statement(
    "thm-finite",
    formulas=("L", "R", "B", "R for normal features", "S", "first", "second"),
    assumptions=("product weight", "weights at most 1", "linear f"),
)
def test_samples_for_a_given_precision(case, rng):
    w = draw(rng, d=2, outer=False, nu=float(rng.uniform(0.7, 1.5)))
    a, features = rng.normal(0, 2, 2), w.features()
    bent = 0.0 if case.keeps("linear f") else 60.0

    def f(x, y):
        return a[0] * x + a[1] * y + bent * x * y

    scale = 1.0 if case.keeps("weights at most 1") else 30.0
    for g in features:
        g.weight = g.weight * scale
    at = lime(f, features)
    weight = at.weight
    if not case.keeps("product weight"):  # one that ties the two indicators together
        weight = weight * np.where(at.z[1] == at.z[2], 1.0, 0.1)
        at.Sigma = (at.z * at.prob * weight) @ at.z.T
        at.beta = np.linalg.solve(at.Sigma, at.z @ (at.prob * weight * at.y))
        at.C = at.Sigma[0, 0]
    inverse, alpha = np.linalg.inv(at.Sigma), at.Sigma[0, 1:] / at.C
    eps, eta, delta, d = rng.uniform(0.3, 1), rng.uniform(0.02, 0.2), rng.uniform(0.2, 0.6), 2

    # L: the largest z' (C Sigma^-1) z over all z
    L = case.formula(1 + np.sum(np.maximum(alpha / (1 - alpha), (1 - alpha) / alpha)), "L")
    rows = np.column_stack([np.ones(4), outcomes(2)])
    close(L, np.max(np.einsum("ij,jk,ik->i", rows, at.C * inverse, rows)))

    # B: at least pi |r|, and as derived from weighted means over the grid
    r = at.y - at.beta @ at.z
    means = [[np.average(g.x[g.z == v], weights=(g.prob * g.weight)[g.z == v]) for v in (0, 1)]
             for g in features]  # fmt: skip
    mean, sd = tilted(w)
    ends = np.array([w.lo, w.hi]) - mean
    theta, mass = -np.diff(-sd * phi(ends / sd), axis=0)[0], np.diff(Phi(ends / sd), axis=0)[0]
    gap = np.array([mean + theta / (1 - mass) - w.xi, mean - theta / mass - w.xi])
    most = w.nu * np.sqrt(a @ a / np.e)
    B = case.formula(most + np.sum(np.abs(a) * np.max(np.abs(gap), axis=0)), "B")
    shifts = np.max(np.abs(np.array(means).T - w.xi), axis=0)
    close(B, most + np.abs(a) @ shifts, rel=1e-6)
    assert np.max(weight * np.abs(r)) <= B

    # R, from B or from the deviations and means of the tilted law of pi^2: all moments obey it
    leverage = np.einsum("ji,jk,ki->i", at.z, inverse, at.z)
    assert np.max(weight * leverage) <= L / at.C
    size = weight * np.abs(r) * np.sqrt(leverage)
    v = float(np.sum(at.prob * size**2))
    of_bound = case.formula(B / 3 * np.sqrt(L / at.C), "R")
    assert np.max(size) <= 3 * of_bound
    narrow = SimpleNamespace(**vars(w) | {"nu": w.nu / np.sqrt(2)})
    other, sd = tilted(narrow)
    far = np.max(np.abs(gap + w.xi - other), axis=0)
    S = case.formula(np.linalg.norm(a * sd) + np.abs(a) @ far, "S")
    squares = [g.prob * (g.weight / scale) ** 2 for g in features]
    centres = np.array([np.average(g.x, weights=q) for g, q in zip(features, squares, strict=True)])
    spread = [np.average((g.x - c) ** 2, weights=q)
              for g, c, q in zip(features, centres, squares, strict=True)]  # fmt: skip
    means_apart = np.max(np.abs(np.array(means).T - centres), axis=0)
    close(S, np.sqrt(a**2 @ spread) + np.abs(a) @ means_apart, rel=1e-6)
    C = float(np.sum(at.prob * weight**2))
    of_normal = case.formula(C * (L / at.C) ** 1.5 * S**3 / v, "R for normal features")
    close(of_normal / S**3, C * (L / at.C) ** 1.5 / v)
    close(of_bound / B, np.sqrt(L / at.C) / 3)
    for m, R in product(range(3, 15), (of_bound, of_normal)):
        assert np.sum(at.prob * size**m) <= factorial(m) / 2 * v * R ** (m - 2)
    R = min(of_bound, of_normal)

    # the two conditions make each failure as likely as eta / 2
    kappa = np.sqrt(np.linalg.norm(inverse, 2))
    tau = (1 - delta) * eps / kappa
    h = integral(lambda s: -np.log1p(-s), [0, delta])
    first = case.formula(
        L / (at.C * (delta + (1 - delta) * np.log(1 - delta))) * np.log(2 * (d + 1) / eta), "first"
    )
    close((d + 1) * np.exp(-first * at.C * h / L), eta / 2)
    second = case.formula(2 * (v / tau**2 + R / tau) * np.log(4 / eta), "second")
    close(2 * np.exp(-second * tau**2 / (2 * (v + R * tau))), eta / 2)

    # and so many samples are enough: the theorem is far from sharp, so that not one run misses
    n = int(np.ceil(max(first, second)))
    missed = 0
    for _ in range(12):
        drawn = rng.choice(len(at.prob), size=min(n, 200_000), p=at.prob / at.prob.sum())
        z, pi = at.z[:, drawn], weight[drawn]
        beta = np.linalg.solve((z * pi) @ z.T, z @ (pi * at.y[drawn]))
        missed += np.linalg.norm(beta - at.beta) > eps
    assert missed == 0


@statement(
    "prop-sign",
    formulas=("sign",),
    assumptions=("linear f", "normal features", "Gaussian kernel"),
    settings=12,
)
def test_the_sign_of_a_contrast(case, rng):
    p = int(rng.integers(3, 8))
    w = draw(rng, d=1, p=p)  # outer boxes too
    xi, mu, sigma, lo, hi = (v[0] for v in (w.xi, w.mu, w.sigma, w.lo, w.hi))
    nu = sigma * np.exp(rng.uniform(np.log(0.15), np.log(5)))
    tilted = (nu**2 * mu + sigma**2 * xi) / (nu**2 + sigma**2)
    a = rng.choice([-1, 1]) * rng.uniform(1, 5)
    if np.isinf(lo):
        sign = -np.sign(a)
    else:
        sign = np.sign(a) if np.isinf(hi) else np.sign(a * ((lo + hi) / 2 - tilted))
    g = normal_feature(xi, mu, sigma, nu, lo, hi)
    t = (g.x - mu) / sigma
    if not case.keeps("normal features"):
        g.prob = g.prob * np.exp(2 * np.sin(3 * t))
    if not case.keeps("Gaussian kernel"):
        g = feature(g.x, g.prob, 1 / (0.01 + np.abs(g.x - xi - sigma)), g.z == 1)
    y = a * g.x - (0 if case.keeps("linear f") else 2 * a * sigma * t**3)
    # the harness multiplies by 1.01: a sign is 1 or -1 exactly
    assert case.formula(sign, "sign") == np.sign(lime(lambda _: y, [g]).beta[1])
