"""Exact limits against an independent computation: quadrature in two dimensions, and projections."""

import time

import numpy as np
import pytest
from scipy import special
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

import limetutor as lt
from limetutor.core.kernels import tilt
from limetutor.exact import forms as exact
from limetutor.exact import read_sklearn as families
from limetutor.exact.moved import Moved

RNG = np.random.default_rng(20)
X2 = RNG.normal(size=(60, 2)) * [1.0, 2.0] + [0.5, -1.0]
X2[:20, 1] = 0.25  # a third of the rows in one point
Y2 = np.sin(X2[:, 0]) + 0.3 * X2[:, 1] ** 2 - X2[:, 0] * X2[:, 1]
XI2, NU = np.array([0.9, -0.4]), 1.1
WORLDS2 = {
    "gaussian": lt.Gaussian([0.3, -0.5], [1.0, 2.0], p=[4, 3]),
    "empirical": lt.Empirical(X2, p=3, edges={1: [-1.5, 0.24, 0.26]}),
}
assert WORLDS2["empirical"].boxes(2).law.sd[1, 2] == 0  # a box that holds a point
KERNELS = ("gaussian", "laplace", "mismatch")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
TOLERANCE = 1e-9  # of coefficients between 0.01 and 10; the issue asks for 1e-8


def rule(world, j, kernel, breaks=(), xi=XI2, nu=NU):
    """Nodes, weights and indicators for integrals over coordinate j, from the world's definition.

    Gauss-Legendre on pieces of every box, cut at ``breaks`` and nowhere longer than a standard
    deviation; the weight of a node has the density and the kernel in it.
    """
    boxes = world.boxes(len(xi))
    law, own = boxes.law, boxes.discretize(xi[None])[0, j]
    x, w, z = [], [], []
    for k in np.flatnonzero(law.prob[j] > 0):
        mean, sd = law.mean[j, k], law.sd[j, k]
        if sd == 0:
            points, mass = np.array([mean]), np.ones(1)
        else:
            lo, hi = max(law.lo[j, k], mean - 9 * sd), min(law.hi[j, k], mean + 9 * sd)
            inside = [b for b in (*breaks, xi[j]) if lo < b < hi]  # laplace has a kink at xi
            cuts = np.unique([lo, hi, *inside, *np.arange(lo, hi, min(sd, nu))])
            half = np.diff(cuts)[:, None] / 2
            points = (cuts[:-1, None] + half * (NODES + 1)).ravel()
            below, above = special.ndtr((np.array([law.lo[j, k], law.hi[j, k]]) - mean) / sd)
            density = np.exp(-0.5 * ((points - mean) / sd) ** 2) / np.sqrt(2 * np.pi) / sd
            mass = (half * WEIGHTS).ravel() * density / (above - below)
        x.append(points)
        w.append(law.prob[j, k] * mass)
        z.append(np.full(len(points), k == own))
    x, w, z = (np.concatenate(part) for part in (x, w, z))
    weight = {
        "gaussian": np.exp(-((x - xi[j]) ** 2) / (2 * nu**2)),
        "laplace": np.exp(-np.abs(x - xi[j]) / nu),
        "mismatch": np.where(z, 1.0, np.exp(-1 / (2 * nu**2))),
    }[kernel]
    return x, w * weight, z


def grid(world, kernel, outer, inner):
    """Nodes, weights and indicators in the plane; ``inner`` are breaks in x_2, or given x_1."""
    x1, w1, z1 = rule(world, 0, kernel, outer)
    if not callable(inner):
        x2, w2, z2 = rule(world, 1, kernel, inner)
        x = np.column_stack([np.repeat(x1, len(x2)), np.tile(x2, len(x1))])
        z = np.column_stack([np.repeat(z1, len(x2)), np.tile(z2, len(x1))])
        return x, np.outer(w1, w2).ravel(), z
    x, w, z = [], [], []
    for a, wa, za in zip(x1, w1, z1, strict=True):
        x2, w2, z2 = rule(world, 1, kernel, inner(a))
        x.append(np.column_stack([np.full(len(x2), a), x2]))
        w.append(wa * w2)
        z.append(np.column_stack([np.full(len(x2), za), z2]))
    return np.concatenate(x), np.concatenate(w), np.concatenate(z)


def by_quadrature(f, world, kernel, outer=(), inner=()):
    """Intercept and coefficients of the weighted regression of f(x) on z, in two dimensions."""
    x, w, z = grid(world, kernel, outer, inner)
    design, root = np.column_stack([np.ones(len(z)), z]), np.sqrt(w)
    return np.linalg.lstsq(design * root[:, None], f(x) * root, rcond=None)[0]


def assert_same(limit, beta, tolerance=TOLERANCE):
    assert np.max(np.abs(beta[1:])) > 0.01  # there is something to compare
    np.testing.assert_allclose(limit.coef, beta[1:], atol=tolerance)
    np.testing.assert_allclose(limit.intercept, beta[0], atol=tolerance)
    np.testing.assert_allclose(limit.local_prediction, beta.sum(), atol=tolerance)
    Gamma = limit.Sigma @ [limit.intercept, *limit.coef]
    np.testing.assert_allclose(limit.Gamma, Gamma, atol=tolerance)


PROCESS = 2 * RBF([1.0, 2.0]) + RBF(0.7) * 0.5 + ConstantKernel(0.3) + WhiteKernel(0.1)
SMOOTH = {
    "quadratic": lt.Quadratic([[1.0, 0.5], [0.2, -1.0]], [1.0, 2.0], 3.0),
    "kernel ridge": KernelRidge(kernel="rbf", alpha=0.1, gamma=0.4).fit(X2, Y2),
    "kernel ridge, gamma left out": KernelRidge(kernel="rbf", alpha=0.1).fit(X2, Y2),
    "SVR": SVR(C=5).fit(X2, Y2),
    "Gaussian process": GaussianProcessRegressor(PROCESS, normalize_y=True, optimizer=None).fit(
        X2, Y2
    ),
    "standard scaler": make_pipeline(StandardScaler(), SVR(C=5)).fit(X2, Y2),
    "two scalers": make_pipeline(
        MinMaxScaler((-1, 2)), "passthrough", RobustScaler(), KernelRidge(kernel="rbf", alpha=0.1)
    ).fit(X2, Y2),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("world", WORLDS2)
@pytest.mark.parametrize("name", SMOOTH)
def test_quadratics_and_kernel_machines_match_quadrature(name, world, kernel):
    f = SMOOTH[name]
    limit = lt.limit(f, XI2, WORLDS2[world], NU, kernel)
    assert limit.method == "exact"
    assert_same(limit, by_quadrature(getattr(f, "predict", f), WORLDS2[world], kernel))


LABELS = np.where(Y2 > 1, "high", np.where(Y2 > 0, "middle", "low"))
TREES = {
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0).fit(X2, Y2),
    "extra tree": ExtraTreeRegressor(max_depth=4, random_state=0).fit(X2, Y2),
    "forest": RandomForestRegressor(4, max_depth=4, random_state=0).fit(X2, Y2),
    "extra forest": ExtraTreesRegressor(3, max_depth=3, random_state=0).fit(X2, Y2),
    "boosting": GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0).fit(X2, Y2),
    "boosting from 0": GradientBoostingRegressor(init="zero", n_estimators=3).fit(X2, Y2),
    "histogram boosting": HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=8).fit(X2, Y2),
    "classes": RandomForestClassifier(3, max_depth=3, random_state=0).fit(X2, LABELS),
    "scaled": make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=3)).fit(X2, Y2),
}


def cuts(form):
    """Where the trees cut each of the two coordinates."""
    if isinstance(form, Moved):
        inner = cuts(form.form)
        return [(inner[j] - form.shift[j]) / form.scale[j] for j in range(2)]
    return [form.threshold[(form.left >= 0) & (form.feature == j)] for j in range(2)]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("world", WORLDS2)
@pytest.mark.parametrize("name", TREES)
def test_trees_match_quadrature(name, world, kernel):
    f = TREES[name]
    output = "middle" if name == "classes" else None
    call = f.predict if output is None else lambda x: f.predict_proba(x)[:, 2]
    limit = lt.limit(f, XI2, WORLDS2[world], NU, kernel, output=output)
    assert limit.method == "exact"
    outer, inner = cuts(families.form_of(f, output))
    assert_same(limit, by_quadrature(call, WORLDS2[world], kernel, outer, inner))


def test_a_threshold_sits_where_single_precision_rounds_across_it():
    rng = np.random.default_rng(1)
    threshold = rng.normal(size=2000) * 10.0 ** rng.integers(-6, 6, 2000)
    on_grid = threshold[:500].astype(np.float32).astype(float)  # ties between even and odd
    threshold = np.concatenate([threshold, on_grid, [0.0, 0.5, -2.0]])
    cut = families.rounded_threshold(threshold)
    assert np.all(cut.astype(np.float32) <= threshold)
    assert np.all(np.nextafter(cut, np.inf).astype(np.float32) > threshold)


def plane_breaks(form, world):
    """Where the units bend: in x_2 for a given x_1, and in x_1 where a bend meets a box's edge."""
    law = WORLDS2[world].boxes(2).law
    at = np.array([-25, -8, 0, 8, 25]) if form.activation != "relu" else np.zeros(1)
    edges = np.concatenate([np.where(law.sd[1] == 0, law.mean[1], law.lo[1]), law.hi[1]])
    edges = edges[np.isfinite(edges)]
    outer = (at[:, None, None] - form.v - form.w[:, 1] * edges[:, None]) / form.w[:, 0]
    inner = lambda a: ((at[:, None] - form.v - form.w[:, 0] * a) / form.w[:, 1]).ravel()  # noqa: E731
    return outer.ravel(), inner


def unit_limit(form, world, kernel, xi=XI2, nu=NU):
    """Centre, E~[f | z = 1] - E~[f | z = 0] of a form, without a model around it."""
    return form.expectation(tilt(world, xi, nu, kernel).views)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("world", WORLDS2)
@pytest.mark.parametrize(
    ("activation", "steep"), [("logistic", 1), ("logistic", 40), ("tanh", 1), ("relu", 1)]
)
def test_functions_of_a_projection_match_quadrature(activation, steep, world, kernel):
    w, v = np.array([[0.9, -0.6], [1.3, 0.8]]), np.array([0.2, -1.0])
    form = exact.Units(steep * w, steep * v, np.array([1.5, -0.7]), activation, 0.5)
    smooth = steep == 1 and activation != "relu"
    breaks = ((), ()) if smooth else plane_breaks(form, world)
    beta = by_quadrature(form, WORLDS2[world], kernel, *breaks)
    found = unit_limit(form, WORLDS2[world], kernel)
    np.testing.assert_allclose(found.inside - found.outside, beta[1:], atol=TOLERANCE)
    assert np.max(np.abs(beta[1:])) > 0.01


def test_waves_are_the_activations_on_their_interval():
    for name, g in exact.ACTIVATIONS.items():
        A = 7.0 + g.margin
        s = np.linspace(-7, 7, 101)
        terms = 40_000 if name == "relu" else 400  # relu's fall as 1/m^2
        t = (2 * np.arange(terms) + 1) * np.pi / A
        total = g.height(A) + g.slope * s
        for part in np.array_split(t, max(terms // 4000, 1)):
            with np.errstate(over="ignore"):
                total = total + (g.coef(part, A) @ np.exp(1j * np.outer(part, s))).real
        left = g.tail(t[-1])
        assert left < 1e-3 if name == "relu" else left < 1e-12
        np.testing.assert_allclose(total, g.function(s), atol=1e-12 + left)


def test_nothing_is_lost_where_xi_never_leaves_its_box():
    # 1 - alpha is about 1e-60 with the one kernel, 1e-22 with the other
    a, xi = np.array([2.0, -3.0, 1.0]), np.array([0.3, 0.2, -0.4])
    for world in (lt.Gaussian(np.zeros(3)), lt.Empirical(RNG.normal(size=(200, 3)))):
        for kernel, nu in (("gaussian", 0.02), ("mismatch", 0.1)):
            linear = lt.limit(lt.Linear(a, 1.0), xi, world, nu, kernel)
            assert np.all(linear.alpha == 1)
            bent = lt.limit(lt.Quadratic(np.zeros((3, 3)), a, 1.0), xi, world, nu, kernel)
            np.testing.assert_allclose(bent.coef, linear.coef, rtol=1e-11)
            np.testing.assert_allclose(bent.local_error, linear.local_error, atol=1e-13)
            wide = exact.Units(np.eye(3) * 1e-5, np.zeros(3), 1e5 * a, "tanh", 1.0)
            found = unit_limit(wide, world, kernel, xi, nu)
            np.testing.assert_allclose(found.inside - found.outside, linear.coef, rtol=1e-6)


@pytest.mark.parametrize("activation", exact.ACTIVATIONS)
def test_data_far_from_zero_costs_no_digits(activation):
    w, v, far = np.array([[0.9, -0.6]]), np.array([0.2]), 1e6
    near = exact.Units(w, v, np.ones(1), activation)
    there = exact.Units(w, v - w @ [far, far], np.ones(1), activation)
    expected = unit_limit(near, lt.Gaussian([0.0, 0.0]), "gaussian", XI2)
    found = unit_limit(there, lt.Gaussian([far, far]), "gaussian", XI2 + far)
    for one, other in zip(found, expected, strict=True):  # 1e-10 is what 1e6 leaves of a double
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_a_relu_whose_kink_is_out_of_reach_is_a_line():
    # with weights this small the waves would have to be too many
    world, w = WORLDS2["empirical"], 1e-7 * np.array([1.0, -0.5])
    for v, slope in ((1.0, w), (-1.0, 0 * w)):
        unit = exact.Units(w[None], np.array([v]), np.ones(1), "relu")
        found = unit_limit(unit, world, "gaussian")
        linear = lt.limit(lt.Linear(1e7 * slope), XI2, world, NU)
        np.testing.assert_allclose(1e7 * (found.inside - found.outside), linear.coef, atol=1e-7)


def test_the_work_is_cut_into_chunks_without_a_seam(monkeypatch):
    world = WORLDS2["empirical"]
    models = [SMOOTH["Gaussian process"], TREES["forest"]]
    whole = [lt.limit(f, XI2, world, NU).coef for f in models]
    monkeypatch.setattr(exact, "NUMBERS_PER_CHUNK", 400)
    for f, coef in zip(models, whole, strict=True):
        np.testing.assert_allclose(lt.limit(f, XI2, world, NU).coef, coef, rtol=1e-12)


def test_a_forest_of_a_hundred_trees_takes_less_than_a_second_and_one_prediction(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 10))
    y = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2]) + 0.1 * rng.normal(size=2000)
    forest = RandomForestRegressor(100, max_depth=8, random_state=0, max_samples=0.5).fit(X, y)
    rows = []
    predict = RandomForestRegressor.predict
    spy = lambda model, x: rows.append(len(x)) or predict(model, x)  # noqa: E731
    monkeypatch.setattr(RandomForestRegressor, "predict", spy)
    start = time.process_time()  # of this process alone, whatever else the machine does
    limit = lt.limit(forest, X[0], lt.Empirical(X), 1.5)
    assert time.process_time() - start < 1
    # f(xi), and where the trees are compared: sampling to three digits takes about a million rows
    assert len(rows) == 1 and rows[0] < 40
    assert limit.method == "exact" and np.max(np.abs(limit.coef)) > 0.1


def test_expit_is_scipys():
    s = np.array([-800.0, 0.0, 800.0])
    np.testing.assert_array_equal(exact.ACTIVATIONS["logistic"].function(s), special.expit(s))


def test_rounding_of_a_net_is_that_of_its_terms():
    rng = np.random.default_rng(0)
    w, v, x = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=(50, 2))
    for size in (1.0, 1e8):
        net = exact.Units(w, v, size * np.array([1.0, 1.0, -2.0]), "tanh")
        rounding = net.rounding(x)
        assert rounding.shape == (50,) and np.all(
            (rounding > 1e-13 * size) & (rounding < 1e-10 * size)
        )
