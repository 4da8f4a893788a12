"""Weights: each kernel against an independent formula, and weights no double can hold."""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy.spatial.distance import cdist
from sklearn.datasets import load_diabetes
from weighed import XI, F, explained

import limetutor as lt


def test_gaussian_weight_falls_with_the_distance_in_x():
    e = explained()
    expected = np.exp(-(cdist(e.x, XI[None])[:, 0] ** 2) / (2 * 0.8**2))
    np.testing.assert_allclose(e.weights, expected, rtol=1e-12)


def test_mismatch_weight_is_what_lime_computes():
    """The kernel function of a real explainer, fed the distances it would compute from z."""
    X = load_diabetes().data
    real = LimeTabularExplainer(X, mode="regression")
    kernel, nu = real.base.kernel_fn, 0.75 * np.sqrt(10)
    e = lt.explain(
        lambda x: x.sum(axis=1), X[3], lt.Empirical(X), nu, kernel="mismatch", seed=0, keep=True
    )
    np.testing.assert_allclose(
        e.weights, kernel(cdist(e.z.astype(float), np.ones((1, 10)))[:, 0]), rtol=1e-12
    )
    assert e.weights.min() < 0.7 and e.weights.max() > 0.85  # there is something to compare


def test_a_kernel_may_return_a_list_and_give_some_samples_no_weight():
    e = explained(kernel=lambda x, z, xi, nu: list(1.0 * (np.abs(x - xi).max(axis=1) < 1.5)))
    inside = np.abs(e.x - XI).max(axis=1) < 1.5
    assert e.ess == pytest.approx(inside.sum(), rel=1e-12)
    design = np.column_stack([np.ones(inside.sum()), e.z[inside]])
    np.testing.assert_allclose(
        [e.intercept, *e.coef], np.linalg.lstsq(design, e.y[inside])[0], atol=1e-12
    )


@pytest.mark.parametrize("nu", [1e-100, 1e100])
@pytest.mark.parametrize("sampler", ["bins", "tilted"])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")
def test_the_widest_and_narrowest_bandwidths_give_numbers(nu, sampler, kernel):
    e = lt.explain(F, XI, lt.Gaussian(), nu, seed=0, sampler=sampler, kernel=kernel)
    assert np.all(np.isfinite(e.coef)) and np.all(np.isfinite(e.stderr))
    assert np.isfinite(e.local_prediction) and np.isfinite(e.score)


def test_weights_that_all_underflow_still_explain():
    """d = 30, nu = 0.02: every weight is below 1e-308, and only their ratios matter."""
    rng = np.random.default_rng(1)
    xi, f = rng.normal(size=30), lt.Linear(rng.normal(size=30))
    with pytest.warns(lt.FitWarning) as caught:
        e = lt.explain(f, xi, lt.Gaussian(), 0.02, n=1000, seed=0, keep=True)
    assert np.all(e.weights == 0)
    messages = [str(w.message) for w in caught]
    assert any(m.startswith("The effective sample size is 1.0 of n=1000") for m in messages)
    assert all("or ask lt.limit" in m for m in messages)  # tilted samples never leave their boxes
    assert np.all(np.isfinite(e.coef)) and np.isfinite(e.score) and 1 <= e.ess < 2
    # the surrogate passes through the sample that outweighs all others: the one nearest to xi
    nearest = np.argmin(((e.x - xi) ** 2).sum(axis=1))
    fitted = e.intercept + e.z[nearest] @ e.coef
    assert fitted == pytest.approx(e.y[nearest], abs=1e-6)


def test_tilted_explains_where_all_weights_underflow():
    """The remedy that the warning names, at a bandwidth where boxes still matter."""
    xi, f = np.full(30, 0.02), lt.Linear(np.linspace(1, 2, 30))
    e = lt.explain(f, xi, lt.Gaussian(), 0.02, n=20_000, seed=0, sampler="tilted")
    truth = lt.limit(f, xi, lt.Gaussian(), 0.02)
    assert truth.log_C < -100
    # 4 standard errors for each of 30 features
    assert np.all(np.abs(e.coef - truth.coef) < 4 * e.stderr)
    assert e.ess == pytest.approx(20_000)


@pytest.mark.parametrize(
    ("kernel", "lost"), [("gaussian", lambda nu: 1 / (2 * nu**2)), ("laplace", lambda nu: 1 / nu)]
)
@pytest.mark.parametrize("nu", [0.4, 1.3])
def test_a_label_that_differs_is_at_distance_one(kernel, lost, nu):
    """In the weights and in the tilt, which could both be wrong in the same way."""
    table = np.column_stack([np.repeat([0.0, 1.0, 7.0], [10, 20, 30]), np.linspace(-1, 1, 60)])
    world = lt.Empirical(table, categorical=[0])
    xi = np.array([1.0, 0.2])
    e = lt.explain(lambda x: x[:, 0], xi, world, nu, seed=0, kernel=kernel, keep=True)
    distance = np.abs(e.x[:, 1] - xi[1])
    of_number = distance**2 / (2 * nu**2) if kernel == "gaussian" else distance / nu
    expected = -of_number - np.where(e.x[:, 0] == 1.0, 0.0, lost(nu))
    np.testing.assert_allclose(np.log(e.weights), expected, rtol=1e-9)
    p, odds = 20 / 60, np.exp(-lost(nu))
    found = lt.limit(lt.Linear([1.0, 0.0]), xi, world, nu, kernel)
    assert found.alpha[0] == pytest.approx(p / (p + (1 - p) * odds), rel=1e-12)
    assert found.coef[0] == pytest.approx(1.0 - (10 * 0.0 + 30 * 7.0) / 40, rel=1e-12)


@pytest.mark.parametrize("nu", [1e-10, 1e-6, 1e-3, 0.1, 1.0, 1e3, 1e10])
@pytest.mark.parametrize("p", [3, 5, 10])
@pytest.mark.filterwarnings("ignore::limetutor.PrecisionWarning")
def test_the_mismatch_limit_of_a_linear_model_is_free_of_the_bandwidth(nu, p):
    table = np.random.default_rng(0).gamma(2.0, size=(300, 3))
    for world, xi in ((lt.Gaussian(p=p), XI), (lt.Empirical(table, p=p), table[7])):
        one = lt.limit(F, xi, world, 1.0, "mismatch").coef
        np.testing.assert_allclose(
            lt.limit(F, xi, world, nu, "mismatch").coef, one, rtol=1e-10, atol=1e-10
        )


@pytest.mark.parametrize("sampler", ["bins", "tilted", "sobol"])
@pytest.mark.parametrize("kernel", ["gaussian", "laplace"])
def test_an_instance_too_far_to_measure_distances_from_is_refused(kernel, sampler):
    """Seen from 1e20 all values are equally far in doubles, and all would weigh the same."""
    world = lt.Empirical(np.random.default_rng(0).normal(size=(50, 3)))
    for call in (
        lambda: lt.explain(F, [1e20, 0, 0], world, 0.3, n=50, kernel=kernel, sampler=sampler),
        lambda: lt.limit(F, [1e20, 0, 0], world, 0.3, kernel),
        lambda: lt.limits(F, [[1e20, 0, 0]], world, 0.3, kernel),
    ):
        with pytest.raises(ValueError, match="xi must lie within 1e\\+10 standard deviations"):
            call()


def test_boxes_can_be_compared_from_any_distance():
    world = lt.Empirical(np.random.default_rng(0).normal(size=(50, 3)))
    near, far = (lt.limit(F, [x, 0, 0], world, 0.3, "mismatch").coef for x in (1e2, 1e90))
    np.testing.assert_array_equal(near, far)
