"""Statements of the chapter *Interactions and dependence*, against the regression itself on grids."""

from itertools import product

import numpy as np
from grids import feature, lime, normal_density, normal_feature
from scipy.optimize import brentq
from scipy.stats import norm
from statements import close, statement


@statement(
    "thm-total-switch-off",
    formulas=("xi", "bound", "intercept", "even p"),
    assumptions=("small bandwidth", "linear f", "normal features", "Gaussian kernel"),
)
def test_total_switch_off(case, rng):
    mu, sigma = rng.normal(0, 2, 2), rng.uniform(0.5, 2, 2)
    lo = mu + sigma * rng.uniform(-1.5, 0.5, 2)
    hi = lo + sigma * rng.uniform(0.4, 1.2, 2)
    middle = (lo + hi) / 2
    bound = case.formula(np.sqrt(sigma**2 * (hi - lo) / 2 / np.abs(middle - mu)), "bound")
    nu = min(bound.min(), 2.0) * rng.uniform(0.5, 0.95)
    if not case.keeps("small bandwidth"):
        nu = 1.2 * bound.max()

    def place(nu, j):
        return middle[j] + nu**2 / sigma[j] ** 2 * (middle[j] - mu[j])

    for j in range(2):  # the bound is where the place leaves its box
        edge = hi[j] if middle[j] > mu[j] else lo[j]
        leaves = brentq(lambda v, j=j, edge=edge: place(v, j) - edge, 1e-6, 1e3)
        close(bound[j], leaves, rel=1e-6)
    xi = case.formula(np.array([place(nu, j) for j in range(2)]), "xi")
    assert np.all((lo <= xi) & (xi < hi))
    features = [normal_feature(*at) for at in zip(xi, mu, sigma, [nu] * 2, lo, hi, strict=True)]
    for k, g in enumerate(features):
        t = (g.x - mu[k]) / sigma[k]
        if not case.keeps("normal features"):
            g.prob = g.prob * (1 + 0.1 * (t**3 - 3 * t))
        if not case.keeps("Gaussian kernel"):
            features[k] = feature(g.x, g.prob, np.exp(-np.abs(g.x - xi[k]) / nu), g.z == 1)
    for _ in range(3):  # one instance for all linear models
        a, b = rng.normal(0, 3, 2), rng.normal(0, 3)

        def f(x, y, a=a, b=b):
            return a[0] * x + a[1] * y + b + (0 if case.keeps("linear f") else 0.3 * x**2 * y)

        found = lime(f, features).beta
        close(found[1:], 0, abs=1e-8)
        close(case.formula(a @ middle + b, "intercept"), found[0], abs=1e-8)
    p = 2 * int(rng.integers(2, 8))
    q = norm.ppf(np.arange(1, p) / p)
    inner = np.sqrt((q[1:] - q[:-1]) / np.abs(q[1:] + q[:-1])) * sigma[0]
    close(case.formula(sigma[0], "even p"), inner.max())  # no box allows a wider bandwidth


def drawn_boxes(rng, nu, inside_too=False):
    """A feature of four boxes of two values each, and the frequency of ξ's own."""
    frequency, values = rng.dirichlet(np.full(4, 3.0)), rng.normal(0, 1, 8)
    own, k = rng.integers(4), np.repeat(np.arange(4), 2)
    weight = np.where(k == own, 1.0, np.exp(-1 / (2 * nu**2)))
    if inside_too:
        weight = weight * np.exp(-(values**2))
    return feature(values, frequency[k] / 2, weight, k == own), frequency[own]


def extension(values, t):
    """F(t), as printed."""
    return sum(
        values[z] * np.prod(np.where(np.array(z) == 1, t, 1 - np.asarray(t)))
        for z in product((0, 1), repeat=len(t))
    )


def worth(features, y):
    """v(S): the mean of y with the features of S inside and the others outside, unweighted."""
    z = np.array([v.ravel() for v in np.meshgrid(*(g.z for g in features), indexing="ij")])
    prob = np.prod(
        [v.ravel() for v in np.meshgrid(*(g.prob for g in features), indexing="ij")], axis=0
    )
    found = {}
    for S in product((0, 1), repeat=len(features)):
        here = prob * np.all(z == np.array(S)[:, None], axis=0)
        found[S] = np.sum(here * y) / np.sum(here)
    return found


@statement(
    "thm-multilinear",
    formulas=("alpha", "beta"),
    assumptions=("mismatch kernel", "independent features", "no ridge", "no row 0"),
)
def test_width_is_a_path_through_the_extension(case, rng):
    nu = rng.uniform(0.5, 2)
    made = [drawn_boxes(rng, nu, not case.keeps("mismatch kernel")) for _ in range(3)]
    features, p = [g for g, _ in made], np.array([own for _, own in made])

    def f(x, y, w):
        return x * y * w + np.sin(2 * x) * w + np.exp(0.3 * y) - w**2

    together = None if case.keeps("independent features") else lambda x, y, w: np.exp(0.5 * x * y)
    found = lime(f, features, together, 0.0 if case.keeps("no ridge") else 0.01)
    if not case.keeps("no row 0"):
        row = np.ones(4)
        found.beta = np.linalg.solve(
            found.Sigma + 0.01 * np.outer(row, row), found.Gamma + 0.01 * f(1.0, 1.0, 1.0) * row
        )
    v = worth(features, found.y)
    alpha = case.formula(p / (p + (1 - p) * np.exp(-1 / (2 * nu**2))), "alpha")
    sides = [[np.where(np.arange(3) == j, s, alpha) for s in (1.0, 0.0)] for j in range(3)]
    slopes = [extension(v, inside) - extension(v, outside) for inside, outside in sides]
    close(alpha, found.Sigma[0, 1:] / found.Sigma[0, 0], abs=1e-9)
    close(case.formula(np.array(slopes), "beta"), found.beta[1:], abs=1e-9)


def switches(p, nu):
    """Features that are their own indicators."""
    off_on, weight = np.array([0.0, 1.0]), np.array([np.exp(-1 / (2 * nu**2)), 1.0])
    return [feature(off_on, np.array([1 - q, q]), weight, off_on == 1) for q in p]


def first_coefficient(f, p, nu):
    """β₁ by regression over all corners."""
    return lime(f, switches(p, nu)).beta[1]


def turns(f, p):
    """How often β₁ changes its sign over the widths."""
    found = np.array([first_coefficient(f, p, nu) for nu in np.geomspace(0.28, 9, 90)])
    seen = np.sign(found[np.abs(found) > 1e-9])
    return int(np.sum(seen[1:] != seen[:-1]))


@statement(
    "prop-critical-widths",
    formulas=("a", "c"),
    assumptions=("equal frequencies", "order at most m"),
)
def test_number_of_critical_widths(case, rng):
    p = rng.uniform(0.1, 0.7, 3)
    c = rng.normal(size=8)

    def f(x, y, w):
        return x * (c[0] + c[1] * y + c[2] * w + c[3] * y * w) + c[4] * y + c[5] * w + c[6] * y * w

    odds, a = p / (1 - p), np.zeros(3)
    for S in product((0, 1), repeat=2):
        a[sum(S)] += (f(1, *S) - f(0, *S)) * np.prod(odds[1:] ** np.array(S))
    a = case.formula(a, "a")
    for nu in (0.5, 0.8, 1.7):
        r = np.exp(1 / (2 * nu**2))
        scaled = first_coefficient(f, p, nu) * np.prod(1 + r * odds[1:])
        close(a @ r ** np.arange(3), scaled, abs=1e-9)
    signs = np.sign(a)
    assert turns(f, p) <= np.sum(signs[1:] != signs[:-1])

    # as many as there are partners, where they are asked for
    partners, wanted = np.array([0.05, 0.5]), np.array([rng.uniform(0.35, 0.6), rng.uniform(1, 2)])
    alpha = partners / (partners + (1 - partners) * np.exp(-1 / (2 * wanted[:, None] ** 2)))
    slopes = case.formula(np.linalg.solve(alpha, -np.ones(2)), "c")

    def turning(x, y, w):
        return x * (1 + slopes[0] * y + slopes[1] * w)

    frequencies = np.array([0.3, *partners])
    zeros = [first_coefficient(turning, frequencies, nu) for nu in wanted]
    close(zeros, 0, abs=1e-9)
    assert turns(turning, frequencies) == 2

    # at most m - 1 with equal frequencies: m = 2
    common, at = rng.uniform(0.15, 0.3), rng.uniform(0.4, 0.5)
    pair = rng.normal(size=2)

    def order_two(x, y, w):
        return x * (pair[0] * (y - at) + pair[1] * (w - at)) + y * w

    def order_three(x, y, w):  # on the diagonal a square with two zeros
        return x * (y * w - (at + 0.2) * (y + w) + at * (at + 0.4))

    chosen = order_two if case.keeps("order at most m") else order_three
    if not case.keeps("equal frequencies"):
        assert turns(turning, frequencies) <= 1
    assert turns(chosen, np.full(3, common)) <= 1


@statement(
    "prop-dependence",
    formulas=("beta", "block", "ignored"),
    assumptions=("f of x₁ alone", "no ridge"),
)
def test_dependence(case, rng):
    rho, boxes = rng.uniform(0.2, 0.7) * rng.choice([-1, 1]), np.sort(rng.normal(size=(2, 2)))
    features = [normal_feature(0.0, 0.0, 1.0, 1e6, *box) for box in boxes]

    def ratio(x, y):
        s = np.sqrt(1 - rho**2)
        return normal_density((y - rho * x) / s) / s / normal_density(y)

    def general(x, y):
        return np.sin(x) + x * y

    found = lime(general, features, ratio, 0.0 if case.keeps("no ridge") else 0.05)
    law = found.prob * found.weight
    law, z = law / law.sum(), found.z
    residual = []
    for j in (1, 2):
        other = z[[0, 3 - j]]
        guess = np.linalg.solve((other * law) @ other.T, (other * law) @ z[j])
        residual.append(z[j] - guess @ other)
    beta = [(law * found.y) @ r / (law @ r**2) for r in residual]
    close(case.formula(np.array(beta), "beta"), found.beta[1:], rel=1e-6, abs=1e-8)
    spread = np.cov(z[1:], aweights=law, ddof=0)
    block = case.formula(np.linalg.inv(spread) / found.Sigma[0, 0], "block")
    close(block, np.linalg.inv(found.Sigma)[1:, 1:], rel=1e-6)

    def h(x, y):
        return x + np.cos(2 * x) + (0 if case.keeps("f of x₁ alone") else 0.2 * y)

    (lo, hi), s = boxes[1], np.sqrt(1 - rho**2)
    x1 = found.x[0]
    knowing_x = norm.cdf((hi - rho * x1) / s) - norm.cdf((lo - rho * x1) / s)
    share = [(law * (z[1] == k)) @ z[2] / (law @ (z[1] == k)) for k in (0, 1)]
    knowing_z = np.where(z[1] == 1, share[1], share[0])
    ignored = (law * h(*found.x)) @ (knowing_x - knowing_z) / (law @ residual[1] ** 2)
    fitted = lime(h, features, ratio).beta[2]
    close(case.formula(ignored, "ignored"), fitted, rel=1e-6, abs=1e-8)
    assert abs(ignored) > 1e-6  # knowing x says more than knowing its box
