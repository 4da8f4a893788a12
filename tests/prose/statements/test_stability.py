"""The statement on repeated runs of the chapter *How many samples?*, by quadrature and by brute force."""

from itertools import combinations

import numpy as np
from scipy.special import ndtr
from statements import close, statement


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
