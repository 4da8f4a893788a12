"""Statements of the chapter *LIME for text*, against least squares over all masks."""

from math import comb

import numpy as np
from grids import all_masks, weighted_fit
from statements import close, statement


def by_number(z, m):
    """The weight of each mask: those with k switches on share m_k."""
    k = z.sum(axis=1)
    return m[k] / np.bincount(k)[k]


def line(y, m):
    """Height at 0 and slope of the weighted line through y at 0, 1, …"""
    k = np.arange(len(m))
    slope = np.cov(k, y, aweights=m, ddof=0)
    slope = slope[0, 1] / slope[0, 0]
    return np.average(y, weights=m) - slope * np.average(k, weights=m), slope


def shares(m):
    d = len(m) - 1
    k = np.arange(d + 1)
    return m * k * (d - k) / np.sum(m * k * (d - k))


@statement(
    "prop-text-sum",
    formulas=("beta_j", "beta_0"),
    assumptions=("a sum", "they determine a fit", "no ridge"),
)
def test_a_sum_of_switches(case, rng):
    d = 5
    n = 40 if case.keeps("they determine a fit") else d
    z, a, b = rng.integers(0, 2, (n, d)), rng.normal(size=d), rng.normal()
    y = b + z @ a + (0 if case.keeps("a sum") else z[:, 0] * z[:, 1])
    found = weighted_fit(z, y, rng.uniform(0.1, 1, n), 0.0 if case.keeps("no ridge") else 1.0)
    close(case.formula(a, "beta_j"), found[1:], rel=1e-7, abs=1e-9)
    close(case.formula(b, "beta_0"), found[0], rel=1e-7, abs=1e-9)


@statement(
    "thm-switches",
    formulas=("beta_j", "u", "beta_0"),
    assumptions=(
        "sets equally likely", "weight depends on k", "two k, one of them inner", "no ridge",
    ),
)  # fmt: skip
def test_switches_drawn_by_their_number(case, rng):
    d = int(rng.integers(3, 7))
    z, k = all_masks(d), np.arange(d + 1)
    y = rng.normal(size=2**d)
    m = np.where(rng.random(d + 1) < 0.7, rng.uniform(0.05, 1, d + 1), 0)
    inner = int(rng.integers(1, d))
    m[[0, inner]] = rng.uniform(0.1, 1, 2)
    if not case.keeps("two k, one of them inner"):
        m[:] = k == inner
    weight = by_number(z, m)
    if not case.keeps("sets equally likely"):
        weight = weight * np.where(z[:, 0] == 1, 1, 3)
    if not case.keeps("weight depends on k"):
        weight = weight * np.exp(-z[:, 0] * z[:, 1])
    beta = weighted_fit(z, y, weight, 0.0 if case.keeps("no ridge") else 0.5)
    count = z.sum(axis=1)
    means = np.bincount(count, y) / np.bincount(count)
    if np.sum(m > 0) > 1:
        height, slope = line(means, m)
    else:
        height, slope = means[inner], 0.0
    u = case.formula(shares(m), "u")
    delta = np.zeros((d, d + 1))
    for j in range(d):
        for level in range(1, d):
            at = count == level
            delta[j, level] = y[at & (z[:, j] == 1)].mean() - y[at & (z[:, j] == 0)].mean()
    close(case.formula(slope + (1 - 1 / d) * delta @ u, "beta_j"), beta[1:], rel=1e-7, abs=1e-9)
    close(case.formula(height, "beta_0"), beta[0], rel=1e-7, abs=1e-9)


@statement("prop-rule", formulas=("A", "inside", "outside"), assumptions=("a rule",))
def test_a_rule(case, rng):
    d = int(rng.integers(4, 8))
    size = int(rng.integers(1, d))
    z, m = all_masks(d), rng.uniform(0.05, 1, d + 1)
    y = z[:, :size].all(axis=1) * 1.0
    if not case.keeps("a rule"):
        y = y + z[:, 0] * (1 - z[:, -1])
    beta = weighted_fit(z, y, by_number(z, m))
    k = range(d + 1)
    chance = np.array([comb(i - 1, size - 1) if i else 0 for i in k]) / comb(d - 1, size - 1)
    A = case.formula(shares(m) @ chance, "A")
    slope = line(np.array([comb(i, size) for i in k]) / comb(d, size), m)[1]
    inside = slope + (1 - 1 / d) * A
    outside = slope - (1 - 1 / d) * size / (d - size) * A
    close(case.formula(np.full(size, inside), "inside"), beta[1 : size + 1], rel=1e-7)
    close(case.formula(np.full(d - size, outside), "outside"), beta[size + 1 :], rel=1e-6)


@statement("prop-tfidf", formulas=("kappa", "kappa'", "beta_j"), assumptions=("all words alike",))
def test_normalised_vectors_of_equal_words(case, rng):
    d = int(rng.integers(3, 8))
    z, m, a, b = all_masks(d), rng.uniform(0.05, 1, d + 1), rng.normal(size=d) + 1, rng.normal()
    h = np.ones(d) if case.keeps("all words alike") else rng.uniform(0.5, 2, d)
    h = h / np.linalg.norm(h)
    length = np.sqrt(z @ h**2)
    y = b + np.divide(z @ (a * h), length, out=np.zeros(2**d), where=length > 0)
    v = np.arange(d + 1) / d
    kappa = case.formula(m @ (np.sqrt(v) * (1 - v)) / (m @ (v * (1 - v))), "kappa")
    together = case.formula(line(np.sqrt(v), m)[1] * d, "kappa'")
    beta = (kappa * (a - a.mean()) + together * a.mean()) / np.sqrt(d)
    close(case.formula(beta, "beta_j"), weighted_fit(z, y, by_number(z, m))[1:], rel=1e-7, abs=1e-9)


def groups_of_words(sizes, a, h, m):
    """The coefficients of normalised words that come in two kinds, by exact sums over their counts.

    Given k, how many of the first kind stay is hypergeometric; f depends on the two counts alone.
    """
    from scipy.stats import hypergeom

    d = sum(sizes)
    k, first = np.arange(d + 1)[:, None], np.arange(sizes[0] + 1)[None, :]
    chance = hypergeom.pmf(first, d, sizes[0], k)
    second = np.clip(k - first, 0, sizes[1])
    length = np.sqrt(first * h[0] ** 2 + second * h[1] ** 2)
    top = first * a[0] * h[0] + second * a[1] * h[1]
    f = np.divide(top, length, out=np.zeros(top.shape), where=length > 0)
    means, k = (chance * f).sum(axis=1), k[:, 0]
    slope, beta = line(means, m)[1], []
    for counts, size in ((first, sizes[0]), (second, sizes[1])):
        with_it = (chance * f * counts / size).sum(axis=1)  # E[f z_j | k]
        departure = m @ (with_it - means * k / d)
        beta.append(slope + (d - 1) / d * departure / (m @ (k / d * (1 - k / d))))
    return np.array(beta)


def long_text(d, rng, case):
    """Two kinds of words, one with a longer entry than the other, drawn and weighed as by lime."""
    sizes = (d // 4, d - d // 4)
    ratio = rng.uniform(1.2, 2.0)
    h = np.array([ratio, 1.0]) / np.sqrt(sizes[0] * ratio**2 + sizes[1])
    if not case.keeps("no word has more than its share"):
        sizes = (1, d - 1)  # one word with half of the squared length, however long the text
        h = np.array([np.sqrt(0.5), np.sqrt(0.5 / (d - 1))])
    a = rng.uniform(0.5, 1.5, 2)
    v = np.arange(d + 1) / d
    m = np.exp(-((1 - np.sqrt(v)) ** 2) / (2 * rng.uniform(0.15, 0.6) ** 2))
    m[d] = 0
    return sizes, a, h, m, v


@statement(
    "prop-tfidf-long",
    formulas=("beta_j",),
    assumptions=("no word has more than its share",),
    settings=4,
)
def test_normalised_vectors_of_long_texts(case, rng):
    state = rng.bit_generator.state
    errors = []
    for d in (100, 400):
        rng.bit_generator.state = state
        sizes, a, h, m, v = long_text(d, rng, case)
        kappa = m @ (np.sqrt(v) * (1 - v)) / (m @ (v * (1 - v)))
        together = line(np.sqrt(v), m)[1] * d
        f = np.array(sizes) @ (a * h)
        rough = kappa * (a * h - f / 2 * h**2) + (together - kappa / 2) * f / d
        exact = groups_of_words(sizes, a, h, m)
        errors.append(np.sqrt(d) * np.abs(case.formula(rough) - exact).max())
    # o(1/sqrt d): the scaled error falls; as 1/d, so that four times the text leaves about a quarter
    assert errors[1] < 0.4 * errors[0]
    assert errors[1] < 0.02
