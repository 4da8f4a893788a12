"""Checks of boxes and bandwidths: critical ones, hidden features, collapsed bins."""

import json

import numpy as np
import pytest
from audited_rows import LINEAR, WORLD, X, assert_states, explainer, severity_of
from scipy import optimize, stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.bandwidth.risk import critical_bandwidths
from limetutor.bandwidth.roots import gaps


@pytest.mark.parametrize("factor", [0.982, 1.0, 1.018])
@pytest.mark.parametrize("kind", ["limit", "explanation"])
def test_a_bandwidth_within_two_percent_of_a_critical_one(kind, factor):
    xi2, q = 0.432, stats.norm.ppf(0.75)
    critical = np.sqrt((2 * xi2 - q) / q)  # Eq. special-nu with mu = 0, sigma = 1, box [0, q]
    nu = factor * critical
    f, xi = lt.Linear([10.0, -10.0]), [0.961, xi2]
    if kind == "limit":
        subject = lt.limit(f, xi, WORLD, nu)
    else:
        subject = lt.explain(f, xi, WORLD, nu, n=20_000, seed=0, sampler="tilted")
    finding = lt.audit(subject)["critical-bandwidth"]
    assert finding.severity == "serious" and finding.features == ("x2",)
    assert finding.numbers["critical_nu"] == pytest.approx([critical], rel=1e-9)
    assert finding.numbers["distance"] == pytest.approx([1 / factor - 1], abs=1e-9)
    assert_states(finding, ("x1", "x2"), critical, nu, abs(1 / factor - 1), subject.coef[1])
    assert ("above" in finding.sentence) == (factor < 1)
    at_twice = lt.limit(f, xi, WORLD, 2 * nu).coef[1]
    assert finding.numbers["coef_at_2nu"] == pytest.approx([at_twice])


def test_a_critical_bandwidth_of_a_training_set():
    """No formula here: the coefficient itself must have opposite signs on the two sides."""
    X = np.random.default_rng(0).gamma(3.0, size=(500, 2))
    world, f, xi = lt.Empirical(X), lt.Linear([1.0, 1.0]), np.array([2.2, 5.0])
    audits = (lt.audit(lt.limit(f, xi, world, nu)) for nu in np.geomspace(0.2, 3, 60))
    finding = next(found for found in audits if "critical-bandwidth" in found)["critical-bandwidth"]
    j = list(world.names).index(finding.features[0])
    at = finding.numbers["critical_nu"][0]
    below, above = (lt.limit(f, xi, world, at * s).coef[j] for s in (1 - 1e-6, 1 + 1e-6))
    assert below * above < 0
    assert abs(finding.numbers["distance"][0]) <= 0.05


def test_a_critical_bandwidth_of_a_fitted_model():
    """The coefficient of a forest passes 0: read off its exact limits, not off the boxes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 2))
    model = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, X[:, 0] + X[:, 1])
    xi = np.array([0.432, 1.0])
    audits = (lt.audit(lt.limit(model, xi, WORLD, nu)) for nu in np.geomspace(0.3, 0.9, 12))
    finding = next(found for found in audits if "critical-bandwidth" in found)["critical-bandwidth"]
    assert finding.severity == "serious" and finding.features == ("x1",)
    at = finding.numbers["critical_nu"][0]
    below, above = (lt.limit(model, xi, WORLD, at * s).coef[0] for s in (0.999, 1.001))
    assert below * above < 0
    # without the form only the boxes can be asked, and the words say so
    boxes = critical_bandwidths(WORLD, [xi])[0, 0]
    assert abs(at / boxes - 1) > 1e-3
    ex = lt.explain(lambda x: model.predict(x), xi, WORLD, boxes, n=5000, seed=0)
    finding = lt.audit(ex)["critical-bandwidth"]
    assert finding.severity == "warning" and "straight-line effect of x1" in finding.sentence
    assert finding.numbers["critical_nu"][0] == pytest.approx(boxes)


def test_a_sign_that_flips_nearby():
    f, xi = lt.Linear([10.0, -10.0]), [0.961, 0.432]
    critical = critical_bandwidths(WORLD, [xi])[0, 1]
    li = lt.limit(f, xi, WORLD, 1.12 * critical)
    found = lt.audit(li)
    assert found.codes == ("sign-flips",)
    finding = found["sign-flips"]
    assert finding.features == ("x2",) and "below" in finding.sentence
    assert_states(finding, ("x1", "x2"), critical, li.nu, 1 - 1 / 1.12, li.coef[1], f.a[1])
    assert "agrees with the slope" in finding.sentence  # both negative, above the critical one
    assert lt.limit(f, xi, WORLD, 0.99 * critical).coef[1] * li.coef[1] < 0
    assert lt.audit(lt.limit(f, xi, WORLD, 1.5 * critical)).codes == ()


def test_a_feature_the_model_ignores_is_not_at_risk():
    xi = [0.961, 0.432]
    critical = critical_bandwidths(WORLD, [xi])[0, 1]
    for a2, codes in ((0.0, ()), (0.01, ()), (1.0, ("critical-bandwidth",))):
        assert lt.audit(lt.limit(lt.Linear([10.0, a2]), xi, WORLD, critical)).codes == codes


@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_an_instance_in_the_middle_of_five_boxes(kernel):
    world = lt.Gaussian(p=[5, 4])
    f, xi = lt.Linear([5.0, -3.0]), [0.1, 0.9]
    ex = lt.explain(f, xi, world, 1.0, n=20_000, seed=0, kernel=kernel, sampler="tilted")
    finding = lt.audit(ex)["hidden"]
    assert finding.features == ("x1",) and finding.numbers["box"] == [3]
    largest = max(
        abs(lt.limit(lt.Linear([1.0, 0.0]), xi, world, nu, kernel).coef[0])
        for nu in np.geomspace(0.5, 2, 41)
    )
    assert_states(finding, ex.names, 3, 5, (largest, 0.05), ex.coef[0])
    even = lt.explain(f, xi, lt.Gaussian(), 1.0, n=20_000, seed=0, kernel=kernel)
    assert "hidden" not in lt.audit(even)


def test_an_indicator_that_hardly_varies():
    li = lt.limit(lt.Linear([1.0, 1.0]), [0.3, 1.5], lt.Gaussian(p=[4, 3]), 0.08)
    finding = lt.audit(li)["near-singular"]
    assert_states(finding, ("x1", "x2"), li.alpha.max())
    scarce = np.minimum(li.alpha, 1 - li.alpha) < 0.01
    assert finding.features == tuple(np.array(("x1", "x2"))[scarce])


def test_a_function_without_a_form_is_audited_by_sampling():
    data = load_diabetes(scaled=False)
    lime = explainer(data.data, feature_names=data.feature_names)
    model = LinearRegression().fit(data.data, data.target)
    exact = lt.audit(lime, model, data.data[0])["collapsed-bin"].numbers
    sampled = lt.audit(lime, lambda x: model.predict(x), data.data[0])
    found = sampled["collapsed-bin"].numbers
    assert found["coef_repaired"] == pytest.approx(exact["coef_repaired"], rel=0.25)
    assert found["coef_repaired"] != exact["coef_repaired"]
    assert found["share"] == exact["share"]
    # a family without a form for this kernel is no reason to give up
    rough = KernelRidge(kernel="laplacian").fit(data.data[:50], data.target[:50])
    assert lt.audit(lime, rough, data.data[0]).case.form is None


def test_a_collapsed_bin_that_the_model_cannot_see_is_no_finding():
    """In raw units sex is 1 or 2 and lime feeds 0; trees split at 1.5 and treat 0 as 1."""
    X, y = load_diabetes(scaled=False, return_X_y=True)
    lime = explainer(X)
    forest = RandomForestRegressor(n_estimators=5, max_depth=6, random_state=0).fit(X, y)
    ended = next(c for c in lt.audit(lime, forest, X[13]).checked if c.name == "collapsed")
    assert ended.state == "passed" and "change none of the reasons" in ended.reason
    seen = lt.audit(lime, LinearRegression().fit(X, y), X[13])["collapsed-bin"]
    assert seen.severity == "note"  # twice as large as it should be: right to a factor of three


@pytest.mark.parametrize(("at", "found"), [(0.249, True), (0.251, False)])
def test_a_gap_of_a_quarter_deviation_nearby_is_not_hidden(at, found):
    world, nu = lt.Gaussian(p=5), 0.3

    def largest(xi):
        across = [gaps(world, np.array([[xi]]), nu * by)[0, 0] for by in 2 ** np.linspace(-1, 1, 9)]
        return np.max(np.abs(across)) - at

    xi = optimize.brentq(largest, 1e-6, 0.253)
    assert ("hidden" in lt.audit(lt.limit(lt.Linear([1.0]), [xi], world, nu))) is found


@pytest.mark.filterwarnings("ignore::limetutor.FitWarning")
def test_constant_columns_are_a_note_and_no_more():
    flat = X.copy()
    flat[:, 1] = 3.0
    for found in (
        lt.audit(lt.explain(LINEAR, flat[0], lt.Empirical(flat), 1.0, seed=0)),
        lt.audit(explainer(flat), lambda x: x[:, 0], flat[0]),
    ):
        assert found["constant"].severity == "note" and len(found["constant"].features) == 1
        json.dumps(found.to_dict())
    table = lt.audit(explainer(flat), LINEAR, flat[:4], data=flat)
    assert set(severity_of(table, "constant")) == {"note"} and "not-audited" not in table.codes
    nothing = lt.audit(explainer(np.ones((50, 2))), lambda x: np.ones(len(x)), np.ones((2, 2)))
    assert nothing.codes["constant"] == 2 and set(nothing.frame.severity) == {"note"}


def test_a_constant_column_that_lime_feeds_wrongly_may_move_others():
    """All rows have 1 in the last column, lime feeds 0, and the model multiplies by it."""
    flat = np.column_stack([X, np.ones(len(X))])
    ex = explainer(flat)
    found = lt.audit(ex, lambda x: x[:, 0] * x[:, 4] + 0.1 * x[:, 1], flat[1])
    assert found["collapsed-bin"].severity == "serious"
    assert "that of 0 would be" in found["collapsed-bin"].sentence
    assert "collapsed-bin" not in lt.audit(ex, lambda x: x[:, 0] + x[:, 4], flat[1])


@pytest.mark.parametrize(
    ("distance", "close"), [(-0.051, False), (-0.049, True), (0.049, True), (0.051, False)]
)
def test_a_feature_is_switched_off_up_to_five_percent_from_its_critical_bandwidth(distance, close):
    xi2, q = 0.432, stats.norm.ppf(0.75)
    critical = np.sqrt((2 * xi2 - q) / q)
    found = lt.audit(
        lt.limit(lt.Linear([10.0, -10.0]), [0.961, xi2], WORLD, critical / (1 + distance))
    )
    assert ("critical-bandwidth" in found, "sign-flips" in found) == (close, not close)
