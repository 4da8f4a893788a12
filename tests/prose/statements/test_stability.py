"""The statement on repeated runs of the chapter *How many samples?*, by quadrature and by brute force."""

from itertools import combinations

import numpy as np
from scipy.special import ndtr
from scipy.stats import multivariate_normal
from statements import close, statement, within


@statement("prop-stability", formulas=("VSI", "CSI"), assumptions=("independent runs", "normal"))
def test_what_repeats_would_show(case, rng):
    """VSI by summing over all pairs of sets, CSI by integrating over two runs."""
    d, k = 5, int(rng.integers(2, 4))
    sets = list(combinations(range(d), k))
    share = rng.dirichlet(np.full(len(sets), 0.5))
    chi = np.array([sum(p for p, s in zip(share, sets, strict=True) if j in s) for j in range(d)])
    both = np.diag(share) if not case.keeps("independent runs") else np.outer(share, share)
    common = sum(
        both[a, b] * len(set(sets[a]) & set(sets[b])) / k
        for a in range(len(sets))
        for b in range(len(sets))
    )
    close(case.formula(np.sum(chi**2) / k, "VSI"), common)

    rho = rng.uniform(0.2, 1.2)
    b, step = np.linspace(-9, 9, 4001, retstep=True)
    density = np.exp(-(b**2) / 2) / np.sqrt(2 * np.pi)
    if not case.keeps("normal"):  # uniform with the same variance
        density = np.where(np.abs(b) < np.sqrt(3), 1 / np.sqrt(12), 0.0)
    reach = 2 * 1.96 * rho
    below = np.cumsum(density) * step - density * step / 2
    inside = np.interp(b + reach, b, below, right=1.0) - np.interp(b - reach, b, below, left=0.0)
    overlap = np.sum(density * inside) * step
    close(case.formula(2 * ndtr(1.96 * np.sqrt(2) * rho) - 1, "CSI"), overlap, rel=2e-4)


def rows_of_two(mean, V, normal, points=1200):
    """A grid of two numbers, jointly normal or not, with its probabilities; each (points, points)."""
    t, step = np.linspace(-8, 8, points, retstep=True)
    first, second = np.meshgrid(t + step / 3, t, indexing="ij")  # no point on a line x = y
    mass = np.exp(-(first**2 + second**2) / 2) * step**2 / (2 * np.pi)
    if not normal:  # combinations of uniform numbers with the same mean and covariance
        mass = np.where(np.maximum(np.abs(first), np.abs(second)) < np.sqrt(3), step**2 / 12, 0)
    root = np.linalg.cholesky(V)
    x = mean[0] + root[0, 0] * first
    return x, mean[1] + root[1, 0] * first + root[1, 1] * second, mass


@statement(
    "prop-ranking", formulas=("order", "correlation", "bound"), assumptions=("jointly normal",)
)
def test_the_order_of_coefficients(case, rng):
    """Both sides of the order over a grid of two normal numbers; the bound against simulated sets."""
    A = rng.normal(size=(3, 3)) + np.eye(3)
    V, mean = A @ A.T, rng.normal(0, 1.5, 3)

    def printed(i, j):
        """P(|b_i| > |b_j|) by scipy's bivariate normal distribution."""
        s, t = (np.sqrt(V[i, i] + V[j, j] + sign * 2 * V[i, j]) for sign in (-1, 1))
        u, v = (mean[i] - mean[j]) / s, (mean[i] + mean[j]) / t
        rho = case.formula((V[i, i] - V[j, j]) / (s * t), "correlation")
        close(rho, (np.array([1, -1]) @ V[np.ix_([i, j], [i, j])] @ [1, 1]) / (s * t))
        both = multivariate_normal([0, 0], [[1, rho], [rho, 1]])
        return both.cdf([u, v]) + both.cdf([-u, -v])

    x, y, mass = rows_of_two(mean, V[:2, :2], case.keeps("jointly normal"))
    exact = np.sum(mass[np.abs(x) > np.abs(y)])
    close(case.formula(printed(0, 1), "order"), exact, abs=2e-3, rel=0)

    drawn = rng.multivariate_normal(mean, V, 200_000)
    first = int(np.argmax(np.abs(mean)))
    others = [j for j in range(3) if j != first]
    bound = case.formula(sum(printed(j, first) for j in others), "bound")
    beaten = np.abs(drawn[:, others]) >= np.abs(drawn[:, [first]])
    within(bound, beaten.sum(axis=1).mean(), beaten.sum(axis=1).std() / np.sqrt(len(drawn)))
    assert np.mean(beaten.any(axis=1)) <= bound + 0.005
