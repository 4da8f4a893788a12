"""What n rows make of a limit: ridge and xi's own row, against the normal equations solved whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lime.lime_tabular import LimeTabularExplainer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.precision.finite_n import Regressors, finite_sample_correction


def solved(mean, variance, lead, weight, ridge, own_row, beta, error):
    """Centre and coefficients from the whole normal equations, in regressors centred at ``mean``.

    f is taken as beta . (r - mean) plus an uncorrelated part, so that its limit is beta with centre
    0, and f(xi) is that limit less ``error``.
    """
    d = len(mean)
    v = np.concatenate([[1.0], lead])
    A = weight * np.diag([1.0, *variance]) + np.diag([0.0] + [ridge] * d)
    right = weight * np.concatenate([[0.0], variance * beta])
    if own_row:
        A, right = A + np.outer(v, v), right + (lead @ beta - error) * v
    return np.linalg.solve(A, right)


shares = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=5)


@given(
    shares, st.floats(-6, 3), st.sampled_from([0.0, 0.3, 1.0]), st.booleans(), st.integers(0, 99)
)
def test_rows_solve_the_normal_equations(alpha, log_C, ridge, own_row, seed):
    rng, alpha = np.random.default_rng(seed), np.array(alpha)
    variance, lead = alpha * (1 - alpha), 1 - alpha
    beta, error, n = rng.normal(size=len(alpha)), float(rng.normal()), 50
    r = Regressors(alpha, np.log(variance), lead)
    found = finite_sample_correction(r, log_C, ridge, n, own_row)
    before = error - np.sum(beta * lead * (1 - found.shrinkage))
    coef = beta * found.shrinkage - before * found.pull
    weight = (n - own_row) * np.exp(log_C)
    centre, *whole = solved(alpha, variance, lead, weight, ridge, own_row, beta, error)
    scale = np.max(np.abs(beta)) + abs(error)
    np.testing.assert_allclose(coef, whole, atol=1e-8 * scale)  # the solver's own conditioning
    assert -before * found.centre == pytest.approx(centre, abs=1e-8 * scale)
    at_xi = centre + lead @ np.array(whole)
    assert before * found.left == pytest.approx(at_xi - (lead @ beta - error), abs=1e-8 * scale)


def test_without_n_there_are_no_rows():
    r = Regressors(np.array([0.3]), np.log([0.21]), np.array([0.7]))
    assert not finite_sample_correction(r, 0.0, own_row=True).own_row
    left = finite_sample_correction(r, 0.0, n=10**12, own_row=True).left
    assert left == pytest.approx(1, abs=1e-10)


@pytest.mark.parametrize("log_C", [-2000.0, -800.0, -30.0])
def test_where_the_other_rows_weigh_nothing_the_surrogate_passes_through_xi(log_C):
    r = Regressors(np.array([0.3, 0.6]), np.log([0.21, 0.24]), np.array([0.7, 0.4]))
    found = finite_sample_correction(r, log_C, 1.0, 5000, own_row=True)
    assert found.left == pytest.approx(0, abs=1e-9) and found.centre == pytest.approx(1, abs=1e-9)
    assert np.all(np.isfinite(found.pull)) and np.all(np.abs(found.pull) < 1e-9)  # ridge wins


WIDTHS = (0.4, 0.5, 0.75, 1.0, 2.0, None)
RUNS = 40


def table(name):
    """Columns without ties, so that no box of `lime` collapses; wine without its last column."""
    if name == "diabetes":
        data = load_diabetes(scaled=False)
        return np.delete(data.data, 1, axis=1), data.target
    data = load_wine().data
    return data[:, :-1], data[:, -1]


def lime_means(explainer, xi, models, runs):
    """Means and standard errors of intercept and coefficients over runs, one row a model."""
    d = len(xi)
    found = np.empty((runs, len(models), d + 1))
    for r in range(runs):
        for m, model in enumerate(models):
            explanation = explainer.explain_instance(xi, model.predict, num_features=d)
            found[r, m, 0] = explanation.intercept[1]
            found[r, m, 1:] = [value for _, value in sorted(explanation.local_exp[1])]
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(runs)


def scores(name, width, row, runs, **how):
    """Distances of lime's means from the prediction in standard errors, and the limits."""
    X, y = table(name)
    models = [
        LinearRegression().fit(X, y),
        RandomForestRegressor(20, min_samples_leaf=5, random_state=0).fit(X, y),
        GradientBoostingRegressor(n_estimators=30, random_state=0).fit(X, y),
    ]
    how |= {"mode": "regression", "kernel_width": width, "random_state": row}
    explainer = LimeTabularExplainer(X, **how)
    world = lt.from_lime(explainer)
    mean, error = lime_means(explainer, X[row], models, runs)
    options = dict(nu=world.nu, kernel=world.kernel, ridge=1.0, n=5000)
    limits = [lt.limit(model, X[row], world, **options) for model in models]
    predicted = np.array([[li.intercept, *li.coef] for li in limits])
    return (mean - predicted) / error, limits


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:xi's own row decides")
@pytest.mark.parametrize("name", ["diabetes", "wine"])
@pytest.mark.parametrize("width", WIDTHS)
def test_lime_is_predicted_at_every_width(name, width, verified, verifying):
    """Linear, forest, boosting; 40 runs; wherever the other rows are expected to weigh .05."""
    if not verifying and (name, width) not in [("diabetes", 0.5), ("wine", 0.75)]:
        pytest.skip("make verify runs all of them")
    z, limits = scores(name, width, 13, RUNS if verifying else 12)
    weight = limits[0].rows.weight
    if weight < 0.05:
        assert all("own row decides" in " ".join(li.warnings) for li in limits)
        return
    share = float(np.mean(np.abs(z) <= 4))
    label = f"lime on {name}, width {width or 'default'}, rows weigh {weight:.3g}"
    verified(f"{label}: share within 4 standard errors", share, (0.95, None))


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore:xi's own row decides")
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("name", ["diabetes", "wine"])
@pytest.mark.parametrize("width", [1.0, 2.0, None])
def test_lime_without_boxes_is_predicted(name, width, around, verified, verifying):
    """The same without boxes, samples drawn around the means or around xi."""
    if not verifying and (name, width) != ("diabetes", 1.0):
        pytest.skip("make verify runs all of them")
    how = {"discretize_continuous": False, "sample_around_instance": around}
    z, _ = scores(name, width, 13, RUNS if verifying else 12, **how)
    share = float(np.mean(np.abs(z) <= 4))
    where = "xi" if around else "the means"
    label = f"lime without boxes on {name}, width {width or 'default'}, around {where}"
    verified(f"{label}: share within 4 standard errors", share, (0.95, None))


def test_without_the_row_small_widths_are_missed():
    """What the row is for: lime at width .5 is far from the limit, shrunk or not."""
    X, y = table("diabetes")
    model = LinearRegression().fit(X, y)
    explainer = LimeTabularExplainer(X, mode="regression", kernel_width=0.5, random_state=0)
    world = lt.from_lime(explainer)
    mean, error = lime_means(explainer, X[13], [model], 20)
    with pytest.warns(lt.FitWarning, match="own row decides"):
        at = lt.limit(model, X[13], world, 0.5, kernel="mismatch", ridge=1.0, n=5000)
    shrunk = at.surrogate.beta * at.shrinkage
    assert np.max(np.abs((mean[0, 1:] - shrunk) / error[0, 1:])) > 5
    assert np.max(np.abs((mean[0, 1:] - at.coef) / error[0, 1:])) < 4
    turned = np.sign(at.coef) != np.sign(at.surrogate.beta)
    assert turned.any()  # the sign of a linear model's coefficient, by a bandwidth alone


def test_explain_in_a_lime_world_has_the_row_too():
    X, y = table("diabetes")
    model = LinearRegression().fit(X, y)
    world = lt.from_lime(LimeTabularExplainer(X, mode="regression", kernel_width=0.75))
    how = dict(nu=world.nu, kernel="mismatch", ridge=1.0)
    ex = lt.explain(model, X[13], world, n=2000, seed=0, keep=True, **how)
    assert ex.n == 2000 and len(ex.x) == 2000
    np.testing.assert_array_equal(ex.x[0], X[13])
    assert ex.weights[0] == ex.weights.max() and np.all(ex.z[0])
    runs = lt.repeat(model, X[13], world, n=2000, runs=60, **how)
    at = lt.limit(model, X[13], world, n=2000, **how)
    assert np.all(np.abs(runs.mean - at.coef) < 4.5 * runs.stderr)  # 9 coefficients, 60 runs
