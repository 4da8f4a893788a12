"""Statements of the chapter *One cube*, against regressions over all corners and sums over all orders."""

from itertools import permutations
from math import comb, factorial

import numpy as np
from grids import all_masks, feature, lime
from scipy.integrate import quad
from scipy.optimize import brentq
from statements import close, statement


def boxed(rng, p, nu, inside_too=False):
    """Features of two values inside ξ's box and two outside, weighed as lime does, for each frequency."""
    made = []
    for own in p:
        values, inside = rng.normal(size=4), np.array([1, 1, 0, 0])
        split = rng.uniform(0.2, 0.8, 2)
        prob = np.array([split[0], 1 - split[0], split[1], 1 - split[1]])
        prob *= np.where(inside, own, 1 - own)
        weight = np.where(inside == 1, 1.0, np.exp(-1 / (2 * nu**2)))
        made.append(
            feature(values, prob, weight * (np.exp(-(values**2)) if inside_too else 1), inside)
        )
    return made


def reweighed(features, nu):
    """The same features at another width."""
    return [
        feature(g.x, g.prob, np.where(g.z == 1, 1.0, np.exp(-1 / (2 * nu**2))), g.z == 1)
        for g in features
    ]


def held(found, S):
    """v(S): the mean of f over the grid with the features of S in their boxes, without weights."""
    z = found.z[1:]
    here = found.prob * np.all(z[list(S)] == 1, axis=0)
    return np.sum(here * found.y) / np.sum(here)


def game(found, d):
    """v at all corners, by the set as a bit mask."""
    return np.array([held(found, np.flatnonzero(z)) for z in all_masks(d)])


def extension(v, q):
    """V(q): each feature held with its own probability, the sum over all sets."""
    z = all_masks(len(q))
    return float(np.prod(np.where(z == 1, q, 1 - np.asarray(q)), axis=1) @ v)


def slope(v, q, j, step=0.5):
    """∂V/∂q_j; V is linear in q_j, so any step will do."""
    up, down = (np.where(np.arange(len(q)) == j, at, q) for at in (q[j] + step, q[j] - step))
    return extension(v, up) - extension(v, down)


def by_orders(v, d):
    """Shapley values as the mean over all orders."""
    phi = np.zeros(d)
    for order in permutations(range(d)):
        before = 0
        for j in order:
            phi[j] += v[before | 1 << j] - v[before]
            before |= 1 << j
    return phi / factorial(d)


def width_at(q, p):
    """The width at which a box of frequency p is hit as often as if held with probability q."""

    def excess(nu):
        (one,) = reweighed(
            [feature(np.arange(2), np.array([1 - p, p]), np.ones(2), np.arange(2) == 1)], nu
        )
        share = one.prob * one.weight
        return share[1] / share.sum() - (p + q * (1 - p))

    return brentq(excess, 0.2, 20, xtol=1e-13)


def rough(x):
    """A function of three to five features with interactions of all orders."""
    return np.prod([v + 0.7 for v in x], axis=0) + np.sin(2 * x[0]) * x[-1] + np.exp(0.3 * x[1])


@statement(
    "thm-diagonal",
    formulas=("q", "slope", "shapley", "banzhaf width"),
    assumptions=("mismatch kernel", "independent features", "no ridge", "equal frequencies"),
)
def test_lime_walks_along_the_diagonal(case, rng):
    d, nu = 3, rng.uniform(0.4, 2)
    p, equal = rng.uniform(0.1, 0.7, d), np.full(d, rng.uniform(0.1, 0.7))
    features = boxed(rng, p, nu, not case.keeps("mismatch kernel"))
    together = None if case.keeps("independent features") else lambda x, y, w: np.exp(0.5 * x * y)
    found = lime(lambda *x: rough(x), features, together, 0.0 if case.keeps("no ridge") else 0.01)
    v, odds = game(found, d), p * (np.exp(1 / (2 * nu**2)) - 1)
    q = case.formula(odds / (1 + odds), "q")
    slopes = case.formula(np.array([slope(v, q, j) for j in range(d)]), "slope")
    close((1 - p) * found.beta[1:], slopes, abs=1e-9)

    if not case.keeps("equal frequencies"):
        equal = p
    features = boxed(rng, equal, 1.0)

    def coefficients(nu):
        return lime(lambda *x: rough(x), reweighed(features, nu)).beta[1:]

    v = game(lime(lambda *x: rough(x), features), d)
    phi = by_orders(v, d)

    def at(q, j):  # the width that belongs to q
        nu = 1 / np.sqrt(2 * np.log(1 + q / ((1 - q) * equal[0])))
        return (1 - equal[j]) * coefficients(nu)[j]

    mean = [quad(at, 0, 1, args=(j,), epsrel=1e-9, limit=60)[0] for j in range(d)]
    close(case.formula(np.array(mean), "shapley"), phi, rel=1e-6, abs=1e-8)
    half = case.formula(1 / np.sqrt(2 * np.log(1 + 1 / equal[0])), "banzhaf width")
    close(half, width_at(0.5, equal[0]), rel=1e-7)
    banzhaf = [slope(v, np.full(d, 0.5), j) for j in range(d)]
    close((1 - equal) * coefficients(half), banzhaf, abs=1e-8)


def fitted(table, p, nu):
    """LIME on switches that are on with frequencies p, for a function given by its values at all corners."""
    off_on, weight = np.array([0.0, 1.0]), np.array([np.exp(-1 / (2 * nu**2)), 1.0])
    features = [feature(off_on, np.array([1 - own, own]), weight, off_on == 1) for own in p]
    return lime(lambda *z: table[(np.array(z).T @ 2 ** np.arange(len(p))).astype(int)], features)


def of_order(rng, d, order):
    """A function on d switches with all interactions up to an order, as its values at the corners."""
    z = all_masks(d)
    sets = [S for S in z if S.sum() <= order]
    return sum(rng.normal() * np.all(z[:, S == 1] == 1, axis=1) for S in sets)


@statement(
    "cor-few-widths", formulas=("nu", "mean"), assumptions=("order at most 2m", "equal frequencies")
)
def test_few_widths_are_enough(case, rng):
    d, p = 5, rng.uniform(0.1, 0.6)
    masses = np.full(d, p) if case.keeps("equal frequencies") else rng.uniform(0.1, 0.6, d)
    for m in (1, 2):
        order = 2 * m if case.keeps("order at most 2m") else 2 * m + 1
        table = of_order(rng, d, order)
        phi = by_orders(game(fitted(table, masses, 1.0), d), d)
        nodes, weights = np.polynomial.legendre.leggauss(m)
        q, weights = (nodes + 1) / 2, weights / 2
        nu = case.formula(1 / np.sqrt(2 * np.log(1 + q / ((1 - q) * p))), "nu")
        close(nu, [width_at(one, p) for one in q], rel=1e-7)
        lime_at = np.array([fitted(table, masses, one).beta[1:] for one in nu])
        close(case.formula((1 - p) * weights @ lime_at, "mean"), phi, rel=1e-7, abs=1e-7)


@statement("cor-default-width", formulas=("weight", "bound"), assumptions=("the default width",))
def test_the_default_width_is_nearly_no_weight(case, rng):
    for d in (2, 3, 5, int(rng.integers(6, 11))):
        p = rng.uniform(0.001, 0.9, d) ** 2
        nu = 0.75 * (np.sqrt(d) if case.keeps("the default width") else 1)
        v = np.zeros(2**d)
        v[1] = 1.0  # so that of all steps to a set with feature 1 only the one from ∅ counts
        found = fitted(_unheld(v, p), p, nu)
        close(game(found, d), v, abs=1e-9)
        share = (1 - p[0]) * found.beta[1]
        odds = p[1:] * (np.exp(1 / (2 * nu**2)) - 1)
        close(case.formula(1 / np.prod(1 + odds), "weight"), share, abs=1e-9)
        bound = case.formula(np.exp(-8 / 9 * p[1:].mean()), "bound")
        close(bound, np.prod(np.exp(-8 / 9 * p[1:] / (d - 1))), rel=1e-12)
        assert share >= bound


def _unheld(v, p):
    """The values at the corners of inside and outside that make v, feature by feature."""
    values = v.reshape((2,) * len(p), order="F")
    for j, own in enumerate(p):
        redrawn, inside = np.moveaxis(values, j, 0)
        values = np.moveaxis(np.stack([(redrawn - own * inside) / (1 - own), inside]), 0, j)
    return values.reshape(-1, order="F")


@statement("prop-unequal-boxes", formulas=("psi", "h"), assumptions=("mismatch kernel",))
def test_unequal_boxes_are_a_random_order(case, rng):
    d, p = 3, rng.uniform(0.05, 0.8, 3)
    features = boxed(rng, p, 1.0)

    def integrand(tau, j):  # in τ = 1/2ν², so that ν⁻³ dν is dτ
        made = reweighed(features, 1 / np.sqrt(2 * tau))
        if not case.keeps("mismatch kernel"):
            made = [feature(g.x, g.prob, g.weight * np.exp(-tau * g.x**2), g.z == 1) for g in made]
        found = lime(lambda *x: rough(x), made)
        alpha = found.Sigma[0, 1 + j] / found.C
        return alpha * (1 - alpha) * found.beta[1 + j]

    def mean_over_widths(j):
        return sum(
            quad(integrand, *ends, args=(j,), epsrel=1e-9, limit=100)[0]
            for ends in ((1e-12, 3), (3, 40))
        )

    psi = case.formula(np.array([mean_over_widths(j) for j in range(d)]), "psi")
    v = game(lime(lambda *x: rough(x), features), d)
    close(psi.sum(), v[-1] - v[0], rel=1e-6, abs=1e-7)

    def first(j, *others):
        """The probability that all of these come before j: the time of i is that of j times p_j / p_i."""

        def all_before(x):
            ratios = p[list(others)] / p[j] * x
            return np.prod(ratios / (1 + ratios)) / (1 + x) ** 2

        return quad(all_before, 0, np.inf)[0]

    def mean_over_orders(j):
        i, k = (other for other in range(d) if other != j)
        ratios = p[[i, k]] / p[j]
        h = case.formula(ratios * (ratios - 1 - np.log(ratios)) / (ratios - 1) ** 2, "h")
        close(h, [first(j, i), first(j, k)], rel=1e-7)
        both, (hi, hk) = first(j, i, k), h
        chances = {
            0: 1 - hi - hk + both,
            1 << i: hi - both,
            1 << k: hk - both,
            1 << i | 1 << k: both,
        }
        return sum(chance * (v[S | 1 << j] - v[S]) for S, chance in chances.items())

    close(psi, [mean_over_orders(j) for j in range(d)], rel=1e-6, abs=1e-7)


@statement(
    "prop-anchors",
    formulas=("gain", "precision"),
    assumptions=("no weights", "no ridge", "independent features"),
)
def test_rules_are_corners(case, rng):
    d = 3
    p = rng.uniform(0.1, 0.8, d)
    nu = 1e6 if case.keeps("no weights") else 0.8
    features = boxed(rng, p, nu)
    level = rng.normal(0, 0.3)

    def same_class(*x):
        return (rough(x) > 0.7 + level).astype(float)

    together = None if case.keeps("independent features") else lambda x, y, w: np.exp(0.9 * x * y)
    found = lime(same_class, features, together, 0.0 if case.keeps("no ridge") else 0.05)
    law = found.prob * (1 if together is None else together(*found.x))
    inside = found.z[1:] == 1

    def precision(A):
        here = law * np.all(inside[list(A)], axis=0)
        return np.sum(here * found.y) / np.sum(here)

    beta = found.beta
    said = case.formula(beta[0] + p @ beta[1:] + (1 - p) * beta[1:], "precision")
    close(said, [precision([j]) for j in range(d)], abs=1e-6)
    A, j = [int(rng.integers(0, d))], 0
    j = (A[0] + 1) % d
    table = _outside(found, law, inside)
    at = np.where(np.isin(np.arange(d), A), 1.0, p)
    derivative = slope(table, at, j)
    gain = case.formula((1 - p[j]) * derivative, "gain")
    close(gain, precision([*A, j]) - precision(A), abs=1e-9)


def _outside(found, law, inside):
    """The means of f with the features of a set inside their boxes and all others outside."""
    d = len(inside)
    corners = []
    for S in all_masks(d):
        here = law * np.all(inside == (S == 1)[:, None], axis=0)
        corners.append(np.sum(here * found.y) / np.sum(here))
    return np.array(corners)


@statement("prop-kernel-shap", formulas=("phi",), assumptions=("these weights", "the constraint"))
def test_kernel_shap(case, rng):
    d = int(rng.integers(3, 7))
    z = all_masks(d)
    v, k = rng.normal(size=2**d), z.sum(axis=1)
    inner = (k > 0) & (k < d)
    weight = np.array([1 / (comb(d, n) * n * (d - n)) for n in k[inner]])
    if not case.keeps("these weights"):
        weight = np.array([1.0 + n**2 for n in k[inner]])
    Z, y = z[inner].astype(float), v[inner] - v[0]
    total = v[-1] - v[0]
    gram = Z.T @ (weight[:, None] * Z)
    system = np.block([[gram, np.ones((d, 1))], [np.ones((1, d)), np.zeros((1, 1))]])
    right = np.append(Z.T @ (weight * y), total)
    fitted = np.linalg.solve(system, right)[:d]
    free = [
        np.linalg.solve(gram, Z.T @ (weight * y)),
        np.linalg.lstsq(np.sqrt(weight)[:, None] * np.column_stack([np.ones(len(Z)), Z]),
                        np.sqrt(weight) * y)[0][1:],
    ]  # fmt: skip
    for off in free:  # without the constraint all differ by one number
        close(np.diff(off - fitted), 0, abs=1e-9)
    if not case.keeps("the constraint"):
        fitted = free[0]
    with_ = np.array([[v[(k == n) & (z[:, j] == 1)].mean() for n in range(1, d)] for j in range(d)])
    without = np.array(
        [[v[(k == n) & (z[:, j] == 0)].mean() for n in range(1, d)] for j in range(d)]
    )
    phi = case.formula((total + np.sum(with_ - without, axis=1)) / d, "phi")
    close(fitted, phi, abs=1e-9)
    close(by_orders(v, d), phi, abs=1e-9)
