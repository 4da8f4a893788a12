"""Without boxes: coefficients are smoothed slopes, against quadrature, sampling and `lime` itself.

How lime's own numbers compare is in test_rows.py.
"""

import numpy as np
import pytest
from lime.lime_tabular import LimeTabularExplainer
from scipy import integrate
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

import limetutor as lt
from limetutor.exact import without_discretization as unboxed

DATA = load_diabetes()
X, Y = DATA.data[:, :3] * 20, DATA.target
MIXED = np.column_stack([X[:, 0], (DATA.data[:, 1] > 0).astype(float), X[:, 2]])


def explainer(data=X, **how):
    options = {"mode": "regression", "discretize_continuous": False, "kernel_width": 1.5} | how
    return LimeTabularExplainer(data, **options)


def least_squares(f, world, xi, n=400_000):
    """Weighted least squares on lime's own samples, and standard errors."""
    rng = np.random.default_rng(0)
    boxes = world.boxes_at(xi)
    x = boxes.mu + boxes.unit * rng.standard_normal((n, len(xi)))
    u, at = (x - world.centre) / boxes.unit, (xi - world.centre) / boxes.unit
    w = np.exp(-np.sum((u - at) ** 2, axis=1) / 2 / world.nu**2)
    design = np.column_stack([np.ones(n), u])
    bread = np.linalg.inv((design * w[:, None]).T @ design)
    y = f(x)
    beta = bread @ ((design * w[:, None]).T @ y)
    scores = design * (w * (y - design @ beta))[:, None]
    return beta, np.sqrt(np.diag(bread @ (scores.T @ scores) @ bread))


MODELS = {
    "linear": LinearRegression().fit(X, Y),
    "forest": RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, Y),
    "machine": SVR(C=100).fit(X, Y),
    "net": MLPRegressor(
        hidden_layer_sizes=(5,), activation="tanh", solver="lbfgs", max_iter=5000, random_state=0
    ).fit(X, Y),
    "quadratic": lt.Quadratic([[1, 0.5, 0], [0.5, 0, 0], [0, 0, -1]], a=[1.0, -2.0, 0.3]),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_limits_are_those_of_weighted_least_squares(name, around):
    world, xi, f = lt.from_lime(explainer(sample_around_instance=around)), X[13], MODELS[name]
    at = lt.limit(f, xi, world, n=np.inf)
    predict = f if name == "quadratic" else f.predict
    beta, error = least_squares(predict, world, xi)
    assert at.method == ("exact" if name == "linear" else "quadrature")
    room = 4.5 * error + 1e-9 * np.abs(beta).max()  # a linear f has no noise but rounding
    np.testing.assert_array_less(np.abs(np.array([at.intercept, *at.coef]) - beta), room)
    assert at.local_prediction == pytest.approx(
        at.intercept + at.coef @ ((xi - world.centre) / world.boxes().unit), rel=1e-10
    )


def test_the_stencil_is_a_derivative():
    c, h = unboxed.stencil(), unboxed.STEP
    k = np.arange(1, unboxed.PAIRS + 1)
    for degree in range(1, 2 * unboxed.PAIRS + 1):  # exact for polynomials
        slope = np.sum(c * ((k * h) ** degree - (-k * h) ** degree)) / h
        assert slope == pytest.approx(float(degree == 1), abs=1e-12)
    # of a step smoothed by a normal, the hardest f there is: Phi' = phi, wherever the step lies
    from scipy.stats import norm

    for t in np.linspace(-4, 4, 33):
        slope = np.sum(c * (norm.cdf(t + k * h) - norm.cdf(t - k * h))) / h
        assert slope == pytest.approx(norm.pdf(t), abs=2e-9)


def test_a_step_has_the_density_as_its_slope():
    """f = 1{x > t} in one dimension: beta = scale times the tilted density at t."""
    data = np.random.default_rng(0).normal(2, 3, size=(200, 1))
    world = lt.from_lime(explainer(data))
    forest = RandomForestRegressor(1, max_depth=1, random_state=0).fit(data, data[:, 0] > 1)
    tree = forest.estimators_[0].tree_
    t, low, high = tree.threshold[0], tree.value[1, 0, 0], tree.value[2, 0, 0]
    at = lt.limit(forest, [4.0], world, 0.8, n=np.inf)
    mean, scale = world.centre[0], world.boxes().unit[0]

    def tilted(x):
        return np.exp(-0.5 * ((x - mean) / scale) ** 2 - 0.5 * ((x - 4) / (0.8 * scale)) ** 2)

    total = integrate.quad(tilted, -30, 30, points=[4], epsabs=1e-13)[0]
    expected = scale * (high - low) * tilted(t) / total
    assert at.coef[0] == pytest.approx(expected, rel=1e-7)


def test_a_linear_model_is_read_off_at_every_width():
    model, xi = MODELS["linear"], X[13]
    for width in (0.2, 1.0, 20.0):
        world = lt.from_lime(explainer(kernel_width=width))
        at = lt.limit(model, xi, world, n=np.inf)
        np.testing.assert_allclose(at.coef, model.coef_ * world.boxes().unit, rtol=1e-12)
        assert at.local_error == pytest.approx(0, abs=1e-9)


def test_a_function_is_sampled_with_its_standard_errors():
    model, xi = MODELS["forest"], X[13]
    world = lt.from_lime(explainer())
    exact = lt.limit(model, xi, world, world.nu, ridge=1.0, n=500)
    z = []
    for seed in range(8):
        drawn = lt.limit(
            lambda x: model.predict(x), xi, world, world.nu, ridge=1.0, n=500,
            samples=20_000, seed=seed,
        )  # fmt: skip
        assert drawn.method == "monte carlo"
        z.append((drawn.coef - exact.coef) / drawn.stderr)
        assert abs(drawn.local_prediction - exact.local_prediction) < 5 * drawn.local_stderr
    assert 0.4 < np.sqrt(np.mean(np.square(z))) < 1.7  # 24 scores: sd of their rms is .14


def test_categories_keep_their_indicators():
    """Beside them the numbers' slopes stay what they are."""
    model = LinearRegression().fit(MIXED, Y)
    world = lt.from_lime(explainer(MIXED, categorical_features=[1]))
    xi = MIXED[13]
    at = lt.limit(model, xi, world, n=np.inf)
    share = np.mean(MIXED[:, 1] == xi[1])
    here, other = xi[1], 1 - xi[1]
    contrast = model.coef_[1] * (here - other)
    expected = model.coef_ * world.boxes().unit
    np.testing.assert_allclose(at.coef, [expected[0], contrast, expected[2]], rtol=1e-10)
    odds = share / (share + (1 - share) * np.exp(-0.5 / world.nu**2))
    assert at.alpha[1] == pytest.approx(odds)


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_lime_weighs_by_the_distance_of_what_it_fits_on(kernel):
    world = lt.from_lime(explainer())
    at = lt.limit(MODELS["forest"], X[13], world, world.nu, kernel)
    assert at.kernel == "gaussian"
    np.testing.assert_array_equal(
        at.coef, lt.limit(MODELS["forest"], X[13], world, world.nu, world.kernel).coef
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda w: lt.explain(MODELS["linear"], X[0], w, 1.0), "world must have boxes here"),
        (lambda w: lt.risk(X, w, [1.0]), "world must have boxes here"),
        (lambda w: lt.samples_needed(MODELS["linear"], X[0], w, 1.0, 1.0), "world must have boxes"),
        (lambda w: lt.limit(MODELS["linear"], X[0], w, 1.0, "laplace"), "must be 'gaussian' in a"),
        (lambda w: lt.limit(MODELS["linear"], X[0], w, 1.0).Sigma, "this world has no boxes"),
    ],
)
def test_what_needs_boxes_says_so(call, words):
    with pytest.raises((ValueError, AttributeError), match=words):
        call(lt.from_lime(explainer()))


def test_it_reads_well():
    assert "sampled around the means" in repr(lt.from_lime(explainer()))
    around = lt.from_lime(explainer(sample_around_instance=True))
    assert "around xi" in repr(around)
    text = repr(lt.limit(MODELS["linear"], X[0], around, 1.0))
    assert "nan" not in text and "inf" not in text


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("mixed", [False, True])
def test_an_audit_looks_at_what_lime_fits(around, mixed):
    """Coefficients, surrogate at xi and noise, against runs of `lime` with other seeds."""
    data, how = (MIXED, {"categorical_features": [1]}) if mixed else (X, {})
    model = RandomForestRegressor(8, max_depth=4, random_state=0).fit(data, Y)
    made = explainer(data, sample_around_instance=around, random_state=3, **how)
    case = lt.audit(made, model, data[13], n=1000).case
    ex = case.subject
    runs = [made.explain_instance(data[13], model.predict, num_samples=1000) for _ in range(40)]
    coef = np.array([[v for _, v in sorted(run.local_exp[1])] for run in runs])
    spread = coef.std(axis=0, ddof=1)
    assert np.all(np.abs(ex.coef - coef.mean(axis=0)) < 4.5 * ex.stderr * np.sqrt(1 + 1 / 40))
    assert np.all((ex.stderr / spread > 0.6) & (ex.stderr / spread < 1.7))  # 40 runs: sd to 11%
    for mine, theirs in [
        (ex.local_prediction, [run.local_pred[0] for run in runs]),
        (ex.intercept, [run.intercept[1] for run in runs]),
        (ex.score, [run.score for run in runs]),
    ]:
        assert abs(mine - np.mean(theirs)) < 5 * np.std(theirs)
    local = np.std([run.local_pred[0] for run in runs], ddof=1)
    assert 0.6 < ex.local_stderr / local < 1.7
    expected = [name for name, _ in runs[0].as_list()]
    assert set(ex.box_names) == set(expected)
    limit = lt.limit(model, data[13], lt.from_lime(made), 1.5, ridge=1.0, n=1000)
    np.testing.assert_allclose(case.limit.exact().coef, limit.coef, rtol=1e-12)


def test_what_is_planted_is_found_without_boxes():
    forest, xi = MODELS["forest"], X[13]
    clean = lt.audit(explainer(kernel_width=None), MODELS["linear"], xi)
    assert clean.ok

    def codes(f=forest, at=xi, data=None, n=5000, shown=10, **how):
        return lt.audit(explainer(**how), f, at, data=data, n=n, num_features=shown)

    narrow = codes(kernel_width=0.02)
    assert narrow["own-row"].severity == "serious" and narrow["few-samples"].severity == "serious"
    assert narrow["ridge"].severity == "serious"
    product = codes(lambda x: np.sign(x[:, 0]) * np.sign(x[:, 1]), kernel_width=9.0)
    assert product["no-fit"].severity == "serious"
    said = product["no-fit"].sentence
    assert "straight lines" in said and "box" not in said
    bump = codes(lambda x: np.exp(-8 * np.sum((x - xi) ** 2, axis=1)), kernel_width=9.0)
    assert "local-error" in bump and "slopes" in bump["local-error"].remedy
    alike = codes(lambda x: x @ [1.0, 1.001, 0.999] + 3 * np.sin(40 * x[:, 0]), n=400, shown=2)
    assert "unstable-set" in alike and "noise" in alike
    far = codes(at=np.array([9.0, 0, 0]), data=X, kernel_width=50.0)
    assert far["outside-range"].severity == "serious" and "box" not in far["outside-range"].sentence


def test_whole_numbers_without_boxes():
    """Normals never hit the codes of an undeclared category: a model that knows only these."""
    rng = np.random.default_rng(0)
    data = np.column_stack([rng.integers(0, 3, 500), rng.normal(size=(500, 2))]).astype(float)

    def known(x):
        return 3.0 * (x[:, 0] == 1) + x[:, 1]

    made = explainer(data, kernel_width=3.0)
    found = lt.audit(made, known, data[0], data=data)
    assert found["undeclared-category"].severity == "serious"
    assert lt.audit(made, lambda x: x[:, 1], data[0], data=data).ok
    declared = explainer(data, kernel_width=3.0, categorical_features=[0])
    assert "undeclared-category" not in lt.audit(declared, known, data[0], data=data)


@pytest.mark.parametrize("around", [False, True])
def test_a_table_without_boxes_is_its_rows(around):
    made = explainer(sample_around_instance=around)
    call = MODELS["net"].predict  # no form, so that a row alone has no more to go by
    table = lt.audit(made, lambda x: call(x), X[:4], data=X, n=800)
    for i in range(4):
        alone = lt.audit(made, lambda x: call(x), X[i], data=X, n=800)
        assert table[i].codes == alone.codes and table.frame["severity"][i] == alone.severity
        np.testing.assert_array_equal(table[i].case.coef, alone.case.coef)
    assert table.frame["off_data"].between(0, 1).all()
    assert "<svg" in table.to_html() and "<svg" in table[0].to_html()


def test_a_limit_without_boxes_can_be_audited():
    world = lt.from_lime(explainer())
    at = lt.limit(MODELS["forest"], X[13], world, world.nu, ridge=1.0, n=5000)
    assert lt.audit(at).ok
    wider = lt.limit(MODELS["forest"], X[13], world, 2 * world.nu, ridge=1.0, n=5000)
    assert lt.audit(wider).codes[0] == "wrong-kernel"
