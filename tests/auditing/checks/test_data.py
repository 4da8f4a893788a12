"""Checks of what LIME feeds the model: samples off the data, labels, kernels, ranges."""

from dataclasses import replace

import numpy as np
import pytest
from audited_rows import EXPLAINER, LINEAR, X, explainer, severity_in, severity_of
from mlxtend.data import autompg_data
from scipy import spatial
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import limetutor as lt
from limetutor.auditing.checks import data as data_checks
from limetutor.auditing.checks.data import (
    fit_on_data,
    severity_of_change,
    slopes_alone,
    unconfirmed,
)
from limetutor.core.surrogate import Fit


def test_samples_off_the_data_are_found_in_every_row():
    """On the data g is column 3; column 2 leads every explanation."""
    rng = np.random.default_rng(1)
    data = rng.standard_normal((1000, 4))
    data[:, 1] = data[:, 0] + rng.uniform(-0.3, 0.3, 1000)

    def g(x):
        return np.where(np.abs(x[:, 0] - x[:, 1]) < 0.3, x[:, 3], x[:, 2] > 0)

    ex = explainer(data)
    table = lt.audit(ex, g, data[:60], data=data)
    assert set(severity_of(table, "off-data")) <= {"warning", "serious"}
    assert "off-data" not in lt.audit(ex, g, data[:3]).codes  # nobody knows without the data
    off = table[0]["off-data"]
    assert off.features == ("2",)
    # by hand: least squares on the data themselves, with lime's weights
    own = lt.from_lime(ex).boxes()
    z = own.discretize(data) == own.discretize(data[0])
    w = np.exp(-(~z).sum(1) / (2 * 0.75**2 * 4))
    design = np.column_stack([np.ones(1000), z])
    gram = design.T @ (design * w[:, None]) + np.diag([0, 1, 1, 1, 1])
    coef = np.linalg.solve(gram, design.T @ (w * g(data)))
    assert off.numbers["coef_on_data"] == pytest.approx(coef[3], rel=1e-6)
    # and the share, over many samples by a tree
    sd = data.std(0)
    tree = spatial.cKDTree(data / sd)
    near = np.quantile(tree.query(data / sd, k=2)[0][:, 1], 0.95)
    x, box = own.law.sample(np.random.default_rng(5), 20_000)
    w = np.exp(-(box != own.discretize(data[0])).sum(1) / (2 * 0.75**2 * 4))
    share = w @ (tree.query(x / sd)[0] > near) / w.sum()
    assert table.frame.off_data[0] == pytest.approx(share, abs=0.06)

    sober = lt.audit(ex, lt.Linear([0, 0, 1.0, 1.0]), data[:20], data=data)
    assert set(severity_of(sober, "off-data")) == {"note"}  # far away, and it does not matter
    alike = lt.audit(EXPLAINER, LINEAR, X[:20], data=X)
    assert "off-data" not in alike.codes and alike.frame.off_data.max() < 0.15


@pytest.mark.parametrize(("rows", "few"), [(90, True), (400, False)])
def test_too_few_data_near_a_row_are_said_to_be_too_few(rows, few):
    """Twenty columns that are nearly one; 84 rows should count, for 21 coefficients."""
    rng = np.random.default_rng(1)
    data = rng.standard_normal((rows, 1)) + 0.1 * rng.standard_normal((rows, 20))
    ex = explainer(data)
    off = lt.audit(ex, lt.Linear(np.ones(20)), data[0], data=data)["off-data"]
    assert ("too few data" in off.sentence) is few and off.numbers["share"] > 0.9


def test_columns_that_go_together_do_not_refute_each_other():
    """Cylinders, displacement, power and weight of cars: a fit to such data turns signs."""
    cars, mpg = autompg_data()
    cars = np.asarray(cars, float)[:, :7]
    forest = RandomForestRegressor(20, min_samples_leaf=2, random_state=0).fit(cars, mpg)
    ex = explainer(cars, categorical_features=[0, 6])
    found = lt.audit(ex, forest, cars[::8], data=cars)
    pairs = [(i, f) for i, row in enumerate(found.rows) for f in row.findings]
    off = [(i, f) for i, f in pairs if f.code == "off-data"]
    assert len(off) > 40 and not any(f.severity == "serious" for _, f in off)
    torn = [(i, f) for i, f in off if f.severity == "note" and f.numbers["torn"] == ["1"]]
    i, finding = torn[0]
    assert len(torn) >= 5 and "a fit to them turns 1, and alone" in finding.sentence
    case = found[i].case
    j, on_data = case.names.index("1"), fit_on_data(case, case.shared.data)
    assert case.coef[j] * on_data.beta[1 + j] < -1  # what was taken for a refutation


OUTSIDE = pytest.mark.parametrize(
    ("beyond", "severity"),
    [(-0.01, "ok"), (0.09, "note"), (0.11, "warning"), (0.49, "warning"), (0.51, "serious")],
)


@OUTSIDE
def test_how_far_outside_the_range(beyond, severity):
    """A new row of the same kind may be a little outside; half the range is another kind."""
    row = X[0].copy()
    lo, hi = X[:, 2].min(), X[:, 2].max()
    for at in (hi + beyond * (hi - lo), lo - beyond * (hi - lo)):
        row[2] = at
        for found in (
            lt.audit(EXPLAINER, LINEAR, row),
            lt.audit(lt.explain(LINEAR, row, lt.Empirical(X), 2.0, 2000, seed=0)),
            lt.audit(lt.limit(LINEAR, row, lt.Gaussian(), 2.0), data=X),
        ):
            assert severity_in(found, "outside-range") == severity
            if severity != "ok":
                assert found["outside-range"].features == (found.case.names[2],)


def coded(k=4):
    rng = np.random.default_rng(0)
    data = np.column_stack([np.arange(600) % k, rng.standard_normal((600, 2))])
    effect = np.array([2.0, -1.0, 0.5, -2.0, 1.5, 0, 3, -3])[:k]
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), [0]), remainder="passthrough"
    )
    y = effect[data[:, 0].astype(int)] + data[:, 1]
    return data, make_pipeline(encode, LinearRegression()).fit(data, y), y


@pytest.mark.parametrize("known", [True, False])
def test_labels_taken_for_numbers(known):
    """lime feeds 0.99999… where the data have 1, and the encoder knows no such label."""
    data, model, _ = coded()
    ex = explainer(data)
    row = data[np.flatnonzero(data[:, 0] == 1)[0]]
    found = lt.audit(ex, model.predict, row, data=data if known else None)["undeclared-category"]
    assert found.severity == "serious" and found.features == ("0",)
    # declared, lime itself gives about what the audit says would come out
    declared = explainer(data, categorical_features=[0], feature_selection="none")
    runs = [dict(declared.explain_instance(row, model.predict).local_exp[1])[0] for _ in range(5)]
    undeclared = [dict(ex.explain_instance(row, model.predict).local_exp[1])[0] for _ in range(5)]
    assert found.numbers["coef_repaired"][0] == pytest.approx(np.mean(runs), abs=0.15)
    assert found.numbers["coef"][0] == pytest.approx(np.mean(undeclared), abs=0.15)
    assert "undeclared-category" not in lt.audit(declared, model.predict, row, data=data)


def test_whole_numbers_that_the_model_rounds_by_itself_are_a_note():
    data, _, y = coded()
    trees = RandomForestRegressor(10, max_depth=4, random_state=0).fit(np.rint(data), y)
    ex = explainer(data)
    found = lt.audit(ex, lambda x: trees.predict(np.rint(x)), data[0], data=data)
    assert found["undeclared-category"].severity == "note"


@pytest.mark.parametrize(("values", "found"), [(10, True), (11, False)])
def test_ten_whole_numbers_are_labels_and_eleven_measure(values, found):
    data = np.column_stack([np.arange(440) % values, np.random.default_rng(7).standard_normal(440)])
    ex = explainer(data)
    for known in (data, None):
        codes = lt.audit(ex, lt.Linear([1.0, 1.0]), data[3], data=known).codes
        assert ("undeclared-category" in codes) is found
    halves = data / [2.0, 1.0]
    ex = explainer(halves)
    assert "undeclared-category" not in lt.audit(ex, lt.Linear([1.0, 1.0]), halves[3], data=halves)


def test_a_kernel_that_lime_does_not_use():
    data = load_diabetes()
    ex = explainer(data.data)
    model, world = LinearRegression().fit(data.data, data.target), lt.from_lime(ex)
    how = {"ridge": 0.0, "n": np.inf}
    forgotten = lt.limit(model, data.data[0], world, kernel="gaussian", **how)
    found = lt.audit(forgotten)["wrong-kernel"]
    right = lt.limit(model, data.data[0], world, **how)
    assert found.severity == "serious" and found.numbers["coef"] == pytest.approx(right.coef)
    j = int(np.argmax(np.abs(right.coef)))
    assert f"{right.coef[j]:.3g} there and {forgotten.coef[j]:.3g} here" in found.sentence
    other = lt.audit(lt.limit(model, data.data[0], world, 1.1 * world.nu, **how))
    assert other["wrong-kernel"].severity == "warning"
    assert "wrong-kernel" not in lt.audit(right)
    sampled = lt.explain(
        lambda x: model.predict(x), data.data[0], world, n=2000, seed=0, kernel="gaussian"
    )
    assert "wrong-kernel" in lt.audit(sampled)


@pytest.mark.parametrize(
    ("coef", "right", "severity"),
    [
        (1.0, 1.09, "note"),  # a change of a tenth of the largest coefficient, 1, is seen
        (1.0, 1.2, "warning"),
        (1.0, 1.3, "warning"),  # 23% of what it should be
        (1.0, 1.4, "serious"),  # 29%
        (0.3, 0.19, "serious"),
        (0.05, 0.12, "note"),
    ],
)
def test_when_a_changed_coefficient_is_another(coef, right, severity):
    assert severity_of_change(np.array([coef]), np.array([right]), 1.0) == severity


@pytest.mark.parametrize(
    ("leading", "on_data", "alone", "severity"),
    [
        (1.0, 0.51, 0.0, "note"),
        (1.0, 0.49, 0.0, "warning"),  # the data leave less than half of a leading coefficient
        (1.0, 0.24, 0.0, "serious"),  # less than a quarter
        (1.0, -0.5, 0.0, "serious"),
        (1.0, 0.24, 0.49, "serious"),
        (1.0, 0.24, 0.51, "warning"),  # not gone, if the feature alone has it
        (1.0, -0.5, 0.1, "note"),  # signs that differ tell of columns that go together
        (1.0, -0.5, -0.1, "serious"),
        (0.49, 0.0, 0.0, "note"),  # of half the largest, to lead
        (-1.0, 0.51, 0.0, "serious"),  # the sign counts
        (-1.0, 0.51, -0.1, "note"),
    ],
)
def test_when_the_data_do_not_confirm(leading, on_data, alone, severity):
    """Two coefficients, the other of them the largest and confirmed; a standard error of 0.0001."""
    ex = lt.explain(lt.Linear([1.0, 1.0]), [1.2, 1.2], lt.Gaussian(), 2.0, 2000, seed=0)
    case = lt.audit(replace(ex, coef=np.array([leading, 1.0]), covariance=np.zeros((3, 3)))).case
    fit = Fit(np.array([0.0, on_data, 1.0]), np.eye(3) * 1e-8, 0.5, np.ones(2, bool),
              np.zeros(2, bool), np.ones(3), 1.0)  # fmt: skip
    by_itself = (np.array([alone, 1.0]), np.full(2, 1e-4))
    assert unconfirmed(case, fit, by_itself)[0] == severity
    doubtful = fit._replace(covariance=np.eye(3))  # then nothing can be said
    assert unconfirmed(case, doubtful, by_itself)[0] == "note"
    assert unconfirmed(case, None, by_itself)[0] == unconfirmed(case, fit, None)[0] == "note"


def test_what_the_data_say_of_a_feature_alone():
    """The difference of two means, and its standard error by statsmodels' HC0 written out."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 2))
    f = lambda x: x[:, 0] + np.exp(x[:, 1])  # noqa: E731
    case = lt.audit(explainer(table), f, table[0], data=table).case
    slope, stderr = slopes_alone(case, case.shared.data)
    inside = case.boxes.discretize(table) == case.problem.box_of_xi
    w, y = np.exp(-np.sum(~inside, axis=1) / (2 * case.nu**2)), f(table)
    for j in range(2):
        design = np.column_stack([np.ones(300), inside[:, j]])
        bread = np.linalg.inv(design.T @ (w[:, None] * design))
        beta = bread @ design.T @ (w * y)
        meat = design.T @ (((w * (y - design @ beta)) ** 2)[:, None] * design)
        assert slope[j] == pytest.approx(beta[1])
        assert stderr[j] == pytest.approx(np.sqrt((bread @ meat @ bread)[1, 1]))


@pytest.mark.parametrize(("far", "impossible", "reported"), [(0.24, 0.049, False), (0.26, 0.0, True), (0.0, 0.051, True)])  # fmt: skip
def test_samples_off_the_data_are_reported_from_a_quarter_or_a_twentieth_on(
    far, impossible, reported, monkeypatch
):
    monkeypatch.setattr(data_checks, "off_shares", lambda case, data: (far, impossible))
    monkeypatch.setattr(data_checks, "fit_on_data", lambda case, data: None)
    data = np.random.default_rng(0).normal(size=(200, 3))
    how = {"nu": 1.0, "data": data, "n": 20_000}
    assert ("off-data" in lt.audit(lt.Gaussian(), lt.Linear([3, 2, 1]), data[0], **how)) == reported
    dummies = np.column_stack([data[:, 0], np.eye(3)[np.arange(200) % 3]])
    for slopes, severe in (([3, 2, 1, 0], impossible > 0.05), ([3, 0, 0, 0], False)):
        found = lt.audit(explainer(dummies), lt.Linear(slopes), dummies[0], data=dummies)
        severity = "warning" if severe else "note" if reported else "ok"
        assert severity_in(found, "off-data") == severity


@OUTSIDE
def test_missing_values_are_no_largest_number(beyond, severity):
    data = np.random.default_rng(0).uniform(0, 1, size=(300, 2))
    data[:2, 0], data[5:25, 0] = (0.0, 1.0), np.nan
    f = lambda x: np.nan_to_num(x[:, 0]) + x[:, 1]  # noqa: E731
    for value, said in ((1 + beyond, severity), (-beyond, severity), (np.nan, "ok")):
        found = lt.audit(lt.Empirical(data), f, [value, 0.5], nu=1.0, n=2000)
        assert severity_in(found, "outside-range") == said


@OUTSIDE
def test_a_column_that_is_constant_in_the_data_has_the_deviation_of_the_world_for_a_range(
    beyond, severity
):
    data = np.random.default_rng(0).normal(size=(300, 2))
    data[:, 0] = 5.0
    world = lt.Gaussian(mu=[5.0, 0.0], sigma=[2.0, 1.0])
    for side in (-1, 1) if beyond > 0 else (0,):
        at = lt.limit(lt.Linear([1.0, 1.0]), [5 + side * 2 * beyond, 0.3], world, 1.0)
        assert severity_in(lt.audit(at, data=data), "outside-range") == severity
