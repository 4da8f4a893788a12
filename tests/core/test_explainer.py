"""Algorithm 1 as a whole: what an explanation holds, says and costs."""

import copy
import inspect
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from paper_example import PAPER, PAPER_XI, SETTINGS, WORLD, paper
from scipy.stats import norm

import limetutor as lt


def test_the_signature_is_the_one_the_book_uses():
    names = list(inspect.signature(lt.explain).parameters)
    assert names[:9] == ["f", "xi", "world", "nu", "n", "seed", "kernel", "sampler", "ridge"]
    defaults = {k: v.default for k, v in inspect.signature(lt.explain).parameters.items()}
    assert {defaults[name] for name in ("nu", "n", "seed", "kernel", "ridge")} == {None}
    plain = lt.explain(PAPER, PAPER_XI, WORLD, 1.0, seed=0)
    assert (plain.n, plain.ridge, plain.kernel, plain.sampler) == (5000, 0.0, "gaussian", "bins")


@pytest.mark.parametrize("ridge", [10.0, 1000.0])
@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_ridge_comes_close_to_its_limit_for_both_ways_of_weighing(sampler, ridge):
    """A tilted sample stands for the weight C, so the penalty bites as it does with weights."""
    n = 50_000
    e = lt.explain(PAPER, PAPER_XI, WORLD, 1.0, n, 2, ridge=ridge, sampler=sampler)
    truth = lt.limit(PAPER, PAPER_XI, WORLD, 1.0, ridge=ridge, n=n)
    assert np.all(np.abs(e.coef - truth.coef) < 4 * e.stderr)
    assert truth.coef[0] < 0.97 * lt.limit(PAPER, PAPER_XI, WORLD, 1.0).coef[0]


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_seed_gives_the_same_bits(setting):
    first, second = (paper(**SETTINGS[setting]) for _ in range(2))
    for name in ("coef", "covariance", "stderr"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.intercept, first.score, first.ess) == (second.intercept, second.score, second.ess)
    other = paper(seed=1, **SETTINGS[setting])
    assert not np.array_equal(first.coef, other.coef)


def test_without_a_seed_runs_differ():
    assert not np.array_equal(paper(seed=None).coef, paper(seed=None).coef)


def test_another_process_gets_the_same_bits():
    code = (
        "import limetutor as lt; f = lt.Linear([1, -2]);"
        "print(*[c.hex() for c in lt.explain(f, [0.3, 1], lt.Gaussian(), 1.0, seed=5).coef])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = lt.explain(lt.Linear([1, -2]), [0.3, 1], lt.Gaussian(), 1.0, seed=5).coef
    assert run.stdout.split() == [float(c).hex() for c in here]


def test_the_global_generator_of_numpy_is_left_alone():
    before = copy.deepcopy(np.random.get_state())  # noqa: NPY002
    paper(seed=None)
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0] and before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


def algorithm_1(f, xi, boxes, nu, n, seed):
    """Intercept and coefficients. ``boxes[j]``: frequency, mean, deviation and ends of each of j's boxes."""
    d, rng = len(xi), np.random.default_rng(seed)
    which, where = rng.random((n, d)), rng.random((n, d))
    x, z = np.empty((n, d)), np.empty((n, d))
    for j in range(d):
        own = next(k for k, (*_, lo, hi) in enumerate(boxes[j]) if lo <= xi[j] < hi)
        for i in range(n):
            share = np.cumsum([frequency for frequency, *_ in boxes[j]])
            box = int(np.searchsorted(share[:-1], which[i, j], side="right"))
            _, mean, sd, lo, hi = boxes[j][box]
            low, high = norm.cdf((lo - mean) / sd), norm.cdf((hi - mean) / sd)
            x[i, j] = mean + sd * norm.ppf(low + where[i, j] * (high - low))
            z[i, j] = box == own
    y = f(x)
    weights = [np.exp(-sum((x[i] - xi) ** 2) / (2 * nu**2)) for i in range(n)]
    root = np.sqrt(weights)
    design = np.column_stack([np.ones(n), z])
    return np.linalg.lstsq(design * root[:, None], y * root)[0]


def paper_boxes(mu, sigma, p):
    ends = mu + sigma * norm.ppf(np.arange(p + 1) / p)
    return [(1 / p, mu, sigma, lo, hi) for lo, hi in pairwise(ends)]


def table_boxes(column, p):
    """Quantiles, and in each box the mean and the deviation of its values."""
    ends = np.quantile(column, np.arange(p + 1) / p)
    ends[-1] = np.inf
    inside = [column[(lo <= column) & (column < hi)] for lo, hi in pairwise(ends)]
    ends[-1] = column.max()
    return [
        (len(values) / len(column), values.mean(), values.std(), lo, hi)
        for values, lo, hi in zip(inside, ends[:-1], ends[1:], strict=True)
    ]


TABLE = np.random.default_rng(5).gamma(2.0, size=(60, 3))
MU, SIGMA, P = [0.2, -0.5, 1.0], [1.0, 0.7, 1.5], [4, 3, 5]
CASES = {
    "gaussian": (lt.Gaussian(MU, SIGMA, P), list(map(paper_boxes, MU, SIGMA, P)), [0.8, -0.9, 2.2]),
    "empirical": (lt.Empirical(TABLE, p=4), [table_boxes(c, 4) for c in TABLE.T], [1.0, 2.5, 1.4]),
}


@pytest.mark.parametrize("nu", [0.7, 2.0])
@pytest.mark.parametrize("case", CASES)
def test_explain_is_algorithm_1(case, nu):
    world, boxes, xi = CASES[case]

    def f(x):
        return np.sin(x[:, 0]) + x[:, 1] * x[:, 2]

    e = lt.explain(f, xi, world, nu, n=200, seed=8)
    expected = algorithm_1(f, np.array(xi), boxes, nu, 200, 8)
    np.testing.assert_allclose([e.intercept, *e.coef], expected, rtol=1e-9, atol=1e-9)
