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


@pytest.mark.parametrize("nu", [0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("xi", [-1.3, -0.3, 0.1, 0.6, 1.1])
def test_the_sine_stays_within_its_band(xi: float, nu: float):
    beta = contrast(lambda x: np.sin(2 * x), xi, nu)
    away = abs(beta - first_order(lambda x: np.sin(2 * x[:, 0]), [xi], WORLD, nu)[0])
    assert away <= hessian_bound(4, [xi], WORLD, nu)[0] * (1 + 1e-9)


def test_the_band_is_no_wider_than_it_has_to_be():
    """The sine uses most of it; the parabola all of it as nu shrinks."""
    beta = contrast(lambda x: np.sin(2 * x), 1.1, 0.1)
    away = beta - first_order(lambda x: np.sin(2 * x[:, 0]), [1.1], WORLD, 0.1)[0]
    assert abs(away) / hessian_bound(4, [1.1], WORLD, 0.1)[0] == pytest.approx(0.844, abs=5e-4)
    parabola, shares = lt.Quadratic([[1.0]]), []
    for nu in (0.1, 0.03, 0.01):
        away = lt.limit(parabola, [0.5], WORLD, nu).coef - first_order(parabola, [0.5], WORLD, nu)
        shares.append(abs(away[0]) / hessian_bound(2, [0.5], WORLD, nu)[0])
    assert shares == sorted(shares) and 0.99 < shares[-1] <= 1


@pytest.mark.parametrize("kernel", ["gaussian", "laplace", "mismatch"])
def test_quadratics_in_several_features(kernel: str):
    """Both bounds hold; the second is exact about interactions, the first knows them by their norm."""
    rng = np.random.default_rng(5)
    world = lt.Empirical(rng.gamma(2.0, size=(300, 4)))
    for _ in range(10):
        A = rng.normal(size=(4, 4))
        f, xi, nu = lt.Quadratic(A, rng.normal(size=4)), rng.gamma(2.0, size=4), rng.uniform(0.4, 3)
        beta = lt.limit(f, xi, world, nu, kernel).coef
        norm_of_hessian = np.abs(np.linalg.eigvalsh(A + A.T)).max()
        away = np.abs(beta - first_order(f, xi, world, nu, kernel))
        assert np.all(away <= hessian_bound(norm_of_hessian, xi, world, nu, kernel) + 1e-6)
        away = np.abs(beta - averaged_first_order(f, xi, world, nu, kernel))
        own = own_curvature_bound(2 * np.abs(np.diag(A)), xi, world, nu, kernel)
        assert np.all(away <= own + 1e-6)
        assert np.all(own <= hessian_bound(norm_of_hessian, xi, world, nu, kernel))


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
