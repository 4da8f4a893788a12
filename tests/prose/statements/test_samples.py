"""Statements of the chapter *How many samples*: influence by finite differences, and real runs."""

import numpy as np
from grids import given, lime
from statements import close, statement
from worlds_drawn import draw, linear, with_laplace

import limetutor as lt


def noise_by_influence(found, step=1e-6):
    """The covariance of sqrt(n) beta^: E[I I'] with I the effect of a grain more of probability."""

    def beta(k, h):
        grain = h * found.weight[k]
        Sigma = found.Sigma + grain * np.outer(found.z[:, k], found.z[:, k])
        return np.linalg.solve(Sigma, found.Gamma + grain * found.y[k] * found.z[:, k])

    rows = [(beta(k, step) - beta(k, -step)) / (2 * step) for k in range(len(found.prob))]
    effect = np.array(rows)
    return (effect.T * found.prob) @ effect


@statement("prop-ess", assumptions=("one of the two kernels",))
def test_effective_sample_size(case, rng):
    w = draw(rng, d=2)
    nu, of_lime, kept = w.nu, rng.integers(2), case.keeps("one of the two kernels")
    if of_lime or not kept:
        w.nu = 50.0  # a grid that leaves out no sample; its weights are replaced

    def moments(nu):
        """E[pi] and E[pi^2] at the bandwidth nu."""
        w.nu = w.nu if of_lime or not kept else nu
        features = w.features()
        for g, xi in zip(features, w.xi, strict=True):
            if not kept:
                g.weight = np.exp(-np.abs(g.x - xi) / nu)
            elif of_lime:
                g.weight = np.exp(-(1 - g.z) / (2 * nu**2))
        found = lime(np.add, features)
        return np.sum(found.prob * found.weight), np.sum(found.prob * found.weight**2)

    (C, square), (narrow, _) = moments(nu), moments(nu / np.sqrt(2))
    close(case.formula(C**2 / narrow), C**2 / square, rel=1e-6)


@statement("thm-normal-limit", formulas=("covariance",), settings=3)
def test_normal_limit(case, rng):
    w = draw(rng, d=1, p=4, nu=float(rng.uniform(0.8, 2)))
    found = lime(np.sin, w.features())  # any f
    r = found.y - found.beta @ found.z
    M = (found.z * found.prob * found.weight**2 * r**2) @ found.z.T
    inverse = np.linalg.inv(found.Sigma)
    V = case.formula(inverse @ M @ inverse, "covariance")
    close(V, noise_by_influence(found), rel=1e-4)
    world, runs = lt.Gaussian(w.mu, w.sigma, p=4), 200
    n, seed = 1500, int(rng.integers(1000))
    repeated = lt.repeat(lambda x: np.sin(x[:, 0]), w.xi, world, w.nu, n=n, runs=runs, seed=seed)
    spread = repeated.coef[:, 0].var(ddof=1) * n  # its own relative error is sqrt(2 / runs)
    assert abs(spread / V[1, 1] - 1) < 5 * np.sqrt(2 / runs)


@statement(
    "thm-normal-limit", formulas=("M_kk", "M_kl"), assumptions=("linear f", "Gaussian kernel")
)
def test_closed_form_of_the_noise(case, rng):
    w, gaussian = draw(rng, d=2), case.keeps("Gaussian kernel")
    f = linear(rng, bent=not case.keeps("linear f"))
    features = lambda: w.features() if gaussian else with_laplace(w.features(), w)  # noqa: E731
    found = lime(f, features())
    beta = found.beta
    r = found.y - beta @ found.z
    M = (found.z * found.prob * found.weight**2 * r**2) @ found.z.T
    # moments under the tilted law at nu / sqrt 2, feature by feature
    w.nu = w.nu / np.sqrt(2)
    narrow = features()
    C = np.prod([np.sum(g.prob * g.weight) for g in narrow])
    alpha, mean, var, U, G = (np.zeros(3) for _ in range(5))
    alpha[0] = 1.0
    for j, g in enumerate(narrow, start=1):
        u = f.a[j - 1] * g.x - beta[j] * g.z
        alpha[j] = share = np.sum(g.prob * g.weight * g.z) / np.sum(g.prob * g.weight)

        def overall(values, g=g, share=share):
            return share * given(g, values, 1) + (1 - share) * given(g, values, 0)

        mean[j] = overall(u)
        var[j] = overall((u - mean[j]) ** 2)
        inside = given(g, u, 1)
        U[j], G[j] = inside - mean[j], given(g, (u - inside) ** 2, 1) - var[j]
    T, W = f.b - beta[0] + mean.sum(), var.sum()
    for k in range(3):
        printed = (T + U[k]) ** 2 + W + G[k]
        close(case.formula(printed, "M_kk"), M[k, k] / (C * alpha[k]), rel=1e-6)
        for m in set(range(3)) - {k}:
            printed = (T + U[k] + U[m]) ** 2 + W + G[k] + G[m]
            close(case.formula(printed, "M_kl"), M[k, m] / (C * alpha[k] * alpha[m]), rel=1e-6)
