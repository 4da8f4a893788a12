"""A pool of rows: its sums are those of samples from the world, whatever tilts it was drawn from."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_diabetes

import limetutor as lt
from limetutor.core.problem import Problem
from limetutor.lime.selection_and_ridge import ridge
from limetutor.lime.tabular import known_surrogate, pool_of_rows

X = load_diabetes().data[:, :4] * 20
XI = X[3]
F = lt.Quadratic(np.diag([1.0, 0.5, 0, 0]), a=[2.0, 0, -1, 0.5])


def setting(width, boxes=True, f=F, **how):
    explainer = LimeTabularExplainer(
        X, mode="regression", kernel_width=width, discretize_continuous=boxes, **how
    )
    world = lt.from_lime(explainer)
    return Problem.of(
        f, XI, world, world.nu, world.kernel, purpose="a pool", boxes_needed=False
    ), explainer


def neighbourhood(explainer, n):
    """Regressors less those of xi, weights and responses of n rows of `lime`'s own."""
    z, x = explainer._LimeTabularExplainer__data_inverse(XI, n + 1)
    rows = (z - explainer.scaler.mean_) / explainer.scaler.scale_
    design = (rows - rows[0])[1:]
    weights = explainer.base.kernel_fn(np.sqrt(np.sum(design**2, axis=1)))
    return design, weights, F(x)[1:] - F(XI[None])[0]


@pytest.mark.parametrize("boxes", [True, False])
@pytest.mark.parametrize("width", [0.4, 1.5])
@pytest.mark.parametrize("weigh", [False, True])
def test_sums_and_their_spread_are_those_of_lime(width, boxes, weigh):
    """Means and variances of weighted sums, from a hundred thousand rows that `lime` draws itself."""
    asked, explainer = setting(width, boxes, random_state=1)
    own = explainer.base.kernel_fn

    def kernel(rows):
        return own(np.sqrt(np.sum((rows - rows[0]) ** 2, axis=1)))

    pool = pool_of_rows(asked, 2**15, 0, weigh=kernel if weigh else None)
    n = 100_000
    design, weights, y = neighbourhood(explainer, n)
    mine = [
        pool.weights,
        *(pool.weights * v for v in (*pool.design.T, pool.y, pool.design[:, 0] * pool.y)),
    ]
    real = [weights, *(weights * v for v in (*design.T, y, design[:, 0] * y))]
    for a, b in zip(mine, real, strict=True):
        for power in (1, 2):
            found, sample = pool.ratio @ a**power, b**power
            error = np.hypot(sample.std() / np.sqrt(n), abs(found) / 100)  # of them and of the pool
            assert abs(found - sample.mean()) < 5 * error
    assert pool.own_weight == 1.0


@pytest.mark.parametrize("boxes", [True, False])
@pytest.mark.parametrize("width", [0.4, 1.5])
def test_fits_tend_to_the_closed_form(width, boxes):
    asked, _ = setting(width, boxes)
    known = known_surrogate(asked)
    pool = pool_of_rows(asked, 2**12, 0, known)
    n = 10**12  # so many rows that xi's own and the penalty do not count
    limit = lt.limit(F, XI, asked.world, n=np.inf)
    np.testing.assert_allclose(ridge(pool.expected(n), 1.0).coef[0], limit.coef, atol=1e-6)
    assert pool.method == limit.method and not np.any(pool.stderr)
    sampled = pool_of_rows(asked, 2**12, 0)
    off = ridge(sampled.expected(n), 1.0).coef[0] - limit.coef
    assert sampled.method == "monte carlo" and np.all(np.abs(off) < 4 * sampled.stderr + 1e-9)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("width", "parts"), [(1.5, 10), (0.4, 1)])
@pytest.mark.parametrize("boxes", [True, False])
def test_runs_are_rows_of_the_pool_drawn_again(width, parts, boxes):
    """Mean and spread of their sums are those of so many independent rows, also in blocks."""
    pool, n, runs = pool_of_rows(setting(width, boxes)[0], 2**12, 0), 5000, 400
    draws = pool.draws(n, runs, np.random.default_rng(0))
    assert draws.parts.shape[1] == pytest.approx(parts, abs=1)
    sizes = [len(rows) for rows in draws.rows()]
    assert len(sizes) == runs and np.mean(sizes) == pytest.approx(n - 1, rel=0.02)
    products, expected = pool.moments(draws).products, pool.expected(n).products[0]
    each = np.einsum("m,mi,mj->mij", pool.weights, pool.columns, pool.columns)
    drawn = np.einsum("m,mij->ij", pool.ratio, each**2) / pool.ratio.sum()
    mean = np.einsum("m,mij->ij", pool.ratio, each) / pool.ratio.sum()
    sd = np.sqrt(n * np.maximum(drawn - mean**2, 1e-12 * drawn))
    assert np.max(np.abs(products.mean(axis=0) - expected) / sd) < 4 / np.sqrt(runs)
    spread = products.std(axis=0, ddof=1) / sd
    assert np.max(np.abs(spread - 1)[sd > 1e-3 * sd.max()]) < (0.15 if width > 1 else 0.4)


@pytest.mark.parametrize(("width", "laws"), [(1.5, 1), (0.1, 4), (None, 3)])
def test_the_model_is_called_as_often_as_was_asked(width, laws):
    """By one tilt, by a mixture of four, and by three for a kernel of the caller's own."""
    problem, _ = setting(width or 1.5)
    weigh = None if width else lambda rows: np.linspace(1, 2, len(rows))
    for calls in (4 * laws, 1000):
        pool = pool_of_rows(problem, calls, 0, weigh=weigh)
        assert len(pool.y) == calls and np.sum(pool.ratio) == pytest.approx(1, abs=2 / laws)
