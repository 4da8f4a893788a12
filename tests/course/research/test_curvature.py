"""Bounded curvature: the bounds against quadrature, sampling, and models that come close to them."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

import limetutor as lt
from limetutor.core.kernels import tilt
from limetutor.course.research.curvature import (
    averaged_first_order,
    first_order,
    hessian_bound,
    own_curvature_bound,
    spreads,
)

Q = norm.ppf([0, 0.25, 0.5, 0.75, 1])
WORLD = lt.Gaussian()


def contrast(g, xi: float, nu: float) -> float:
    """E~[g | z=1] - E~[g | z=0] for N(0, 1), four boxes: by quadrature of the tilted density."""
    mean, sd = xi / (1 + nu**2), nu / np.sqrt(1 + nu**2)
    k = np.searchsorted(Q, xi, side="right") - 1
    ends = np.clip([-np.inf, *Q[k : k + 2], np.inf], mean - 12 * sd, mean + 12 * sd)
    lower, inside, upper = (
        integrate.quad_vec(
            lambda x: np.array([1.0, g(x)]) * norm.pdf(x, mean, sd), a, b, epsabs=1e-14
        )[0]
        for a, b in pairwise(ends)
    )
    outside = lower + upper
    return float(inside[1] / inside[0] - outside[1] / outside[0])


@pytest.mark.parametrize(("xi", "nu"), [(1.1, 0.3), (0.4, 1.0), (-0.2, 0.5), (-1.4, 2.0)])
def test_the_spreads_are_second_moments(xi: float, nu: float):
    law = tilt(WORLD, [xi], nu)
    whole, inside, outside = spreads(law)[:, 0]
    centre = law.mu_tilde[0]
    assert whole == pytest.approx(law.sigma_tilde[0] ** 2, rel=1e-10)
    gap = contrast(lambda x: (x - centre) ** 2, xi, nu)
    assert inside - outside == pytest.approx(gap, rel=1e-7)
    assert whole == pytest.approx(law.alpha[0] * inside + law.rest[0] * outside, rel=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "mismatch"])
def test_the_bounds_are_those_of_the_book(kernel: str):
    """Spreads on either side of a box; that they bound, and cannot be halved, is shown in tests/prose."""
    rng = np.random.default_rng(5)
    world, A = lt.Empirical(rng.gamma(2.0, size=(300, 4))), rng.normal(size=(4, 4))
    f, xi, nu = lt.Quadratic(A, rng.normal(size=4)), rng.gamma(2.0, size=4), 0.7
    law, at = tilt(world, xi, nu, kernel), (xi, world, nu, kernel)
    whole, inside, outside = spreads(law)
    others = np.array([np.delete(whole, j).sum() for j in range(4)])
    np.testing.assert_allclose(hessian_bound(3, *at), 1.5 * (inside + outside + 2 * others))
    H = 2 * np.abs(np.diag(A))
    np.testing.assert_allclose(own_curvature_bound(H, *at), H / 2 * (inside + outside))
    slope = (A + A.T) @ law.mu_tilde + f.a  # of a quadratic, at the mean and on average
    for found in (first_order(f, *at), averaged_first_order(f, *at)):
        np.testing.assert_allclose(found, slope * law.gap, rtol=1e-6)
    away = np.abs(lt.limit(f, *at).coef - slope * law.gap)
    assert np.all(away <= own_curvature_bound(H, *at) + 1e-9) and away.max() > 0.1


def test_the_averaged_slope_is_a_mean_of_slopes():
    """For a logistic curve in three features, against sampling under the tilted law."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    model = LogisticRegression(C=100.0).fit(X, X @ [3.0, -2.0, 1.0] + rng.normal(size=200) > 0)
    xi, nu = np.array([0.4, -0.9, 0.2]), 0.8
    law = tilt(WORLD, xi, nu)
    x = law.mu_tilde + law.sigma_tilde * rng.standard_normal((200_000, 3))
    x[:, 1] = law.mu_tilde[1]
    y = model.predict_proba(x)[:, 1]
    slopes = model.coef_[0, 1] * y * (1 - y) * law.gap[1]
    found = averaged_first_order(model, xi, WORLD, nu, output=True)[1]
    assert abs(found - slopes.mean()) < 4 * slopes.std() / np.sqrt(len(slopes))


def test_what_cannot_be_bounded_is_refused():
    with pytest.raises(ValueError, match=r"H must be 0 or above, got -1\."):
        hessian_bound(-1, [0.5], WORLD, 1.0)
    with pytest.raises(ValueError, match="H must be one number of 0 or above, or one per feature"):
        own_curvature_bound([1, 2, 3], [0.5], WORLD, 1.0)
    with pytest.raises(ValueError, match="f must have a form for its slopes to be averaged"):
        averaged_first_order(lambda x: x[:, 0], [0.5], WORLD, 1.0)
    with pytest.raises(TypeError, match=r"world must be an lt\.Gaussian"):
        hessian_bound(1, [0.5], np.zeros((5, 1)), 1.0)
