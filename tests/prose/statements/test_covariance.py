"""Statements of the chapter *The covariance*, against the moments summed on a grid."""

import numpy as np
from grids import lime
from statements import close, statement
from worlds_drawn import draw, linear, skewed, theta_and_alpha, tilted


def zero(*x):
    return 0.0 * x[0]


def weighted(w, product=True):
    return lime(zero, w.features(), None if product else lambda x, y: np.exp(0.3 * np.sin(x * y)))


def shares(found):
    """alpha and C of the tilted law."""
    return found.Sigma[0, 1:] / found.C, found.C


def printed_covariance(alpha, C):
    inner = np.outer(alpha, alpha)
    np.fill_diagonal(inner, alpha)
    return C * np.block([[np.ones((1, 1)), alpha[None]], [alpha[:, None], inner]])


def printed_inverse(alpha, C):
    with np.errstate(divide="ignore", invalid="ignore"):
        corner = np.full((1, 1), 1 + np.sum(alpha / (1 - alpha)))
        edge = -1 / (1 - alpha)
        inner = np.diag(1 / (alpha * (1 - alpha)))
        return np.block([[corner, edge[None]], [edge[:, None], inner]]) / C


@statement("lem-covariance", assumptions=("product weight",))
def test_covariance(case, rng):
    found = weighted(draw(rng, d=2), case.keeps("product weight"))
    close(case.formula(printed_covariance(*shares(found))), found.Sigma, rel=1e-7)


@statement("lem-inverse", assumptions=("product weight", "no α_j is 0 or 1"))
def test_inverse(case, rng):
    w = draw(rng, d=2)
    if not case.keeps("no α_j is 0 or 1"):
        w.lo[0], w.hi[0] = -np.inf, np.inf
    found = weighted(w, case.keeps("product weight"))
    inverse = np.linalg.pinv(found.Sigma, rcond=1e-13)
    close(case.formula(printed_inverse(*shares(found))), inverse, rel=1e-6, abs=1e-7 / found.C)


@statement("lem-gamma", formulas=("Γ_0", "Γ_j", "θ"), assumptions=("linear f", "normal features"))
def test_response_vector(case, rng):
    w = draw(rng, d=2)
    f = linear(rng, bent=not case.keeps("linear f"))
    features = w.features() if case.keeps("normal features") else skewed(w)
    found = lime(f, features)
    theta, alpha = theta_and_alpha(w)
    theta = case.formula(theta, "θ")
    at_mean = f.line(tilted(w)[0])
    close(case.formula(found.C * at_mean, "Γ_0"), found.Gamma[0])
    close(case.formula(found.C * (alpha * at_mean - f.a * theta), "Γ_j"), found.Gamma[1:])


@statement("prop-secular", formulas=("left side",), assumptions=("distinct α_j(1-α_j)",))
def test_secular_equation(case, rng):
    d = 4
    alpha = rng.uniform(0.05, 0.95, d)
    if not case.keeps("distinct α_j(1-α_j)"):
        alpha[1] = alpha[0]
    s = alpha * (1 - alpha)
    inverse = np.linalg.inv(printed_covariance(alpha, 1.0))
    # the left side times the product of (1/s_j - l) is det(C Sigma^-1 - l I), for every l
    for ell in rng.uniform(0, 2 / s.min(), 6):
        left = 1 + np.sum(alpha / (1 - alpha)) - ell
        left -= np.sum(alpha / ((1 - alpha) * (1 - ell * s)))
        product = case.formula(left, "left side") * np.prod(1 / s - ell)
        close(product, np.linalg.det(inverse - ell * np.eye(d + 1)), rel=1e-6)
    between = np.sort(np.concatenate([np.linalg.eigvalsh(inverse), 1 / s]))
    assert set(between[1::2]) == set(1 / s)  # eigenvalue, pole, eigenvalue, ..., eigenvalue
    assert np.all(np.diff(between) > 1e-9 * between[-1])


@statement("lem-norm-bound", assumptions=("no α_j is 0 or 1",))
def test_norm_bound(case, rng):
    w = draw(rng, d=2)
    if not case.keeps("no α_j is 0 or 1"):
        w.lo[0], w.hi[0] = -np.inf, np.inf
    found = weighted(w)
    alpha, C = shares(found)
    with np.errstate(divide="ignore"):
        bound = case.formula(3 * 2 * np.max(1 / (alpha * (1 - alpha))) / C)
    mass = found.prob * found.weight / C
    spread = [np.sum(mass * (z - np.sum(mass * z)) ** 2) for z in found.z[1:]]  # of the indicators
    close(bound, 6 / (min(spread) * C), rel=1e-6)
    assert np.linalg.norm(np.linalg.inv(found.Sigma), 2) <= bound
