"""Checks of what LIME feeds the model: samples off the data, labels, kernels, ranges."""

from types import SimpleNamespace

import numpy as np
import pytest
from audited_rows import EXPLAINER, LINEAR, X, explainer, severity_in, severity_of
from scipy import spatial
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import limetutor as lt
from limetutor.auditing.checks import data as data_checks
from limetutor.auditing.checks.data import Seen, near_contrasts, severity_of_change


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
    unknown = lt.audit(ex, g, data[:3])  # nobody knows without the data, and that is said
    assert "off-data" not in unknown.codes
    asked = [next(c for c in row.checked if c.name == "off-data") for row in unknown.rows]
    assert all(c.state == "not checked" and c.needs for c in asked)
    off = table[0]["off-data"]
    assert off.severity == "serious" and off.features[0] == "2" and off.numbers["near"][0] == 0
    # the share that is far, over many samples by a tree
    own, sd = lt.from_lime(ex).boxes(), data.std(0)
    tree = spatial.cKDTree(data / sd)
    near = np.quantile(tree.query(data / sd, k=2)[0][:, 1], 0.95)
    x, box = own.law.sample(np.random.default_rng(5), 20_000)
    w = np.exp(-(box != own.discretize(data[0])).sum(1) / (2 * 0.75**2 * 4))
    share = w @ (tree.query(x / sd)[0] > near) / w.sum()
    assert table.frame.off_data[0] == pytest.approx(share, abs=0.06)

    sober = lt.audit(ex, lt.Linear([0, 0, 1.0, 1.0]), data[:20], data=data)
    assert sober.frame.off_data.min() > 0.25  # far away, and it does not matter
    assert set(severity_of(sober, "off-data")) == {"ok"}
    asked = [next(c for c in row.checked if c.name == "off-data") for row in sober.rows]
    shares = zip(asked, sober.frame.off_data, strict=True)
    passed = [f"{share:.0%}" in c.reason for c, share in shares if c.state == "passed"]
    assert all(passed) and passed


@pytest.mark.parametrize("boxed", [True, False])
def test_what_the_data_near_a_row_say_of_a_feature(boxed):
    """By hand: the nearest rows, the feature moved inside and outside of its box, or over one unit."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 3)) * [1, 5, 1]
    f = lambda x: x[:, 0] + x[:, 1] * x[:, 2]  # noqa: E731
    lime = explainer(table, discretize_continuous=boxed)
    case = lt.audit(lime, f, table[0], data=table).case
    near = table[np.argsort((((table - table[0]) / table.std(0)) ** 2).sum(1))[:30]]
    for seen in near_contrasts(case, case.shared.data):
        j = seen.feature
        inside = case.boxes.discretize(table)[:, j] == case.problem.box_of_xi[j]
        slope = [np.ones(30), near[:, 2], near[:, 1]][j]
        by, spread = table[:, j].std(), 0.0
        if boxed:
            by = table[inside, j].mean() - table[~inside, j].mean()
            spread = (table[inside, j].var() + table[~inside, j].var()) / 20 * slope.mean() ** 2
        assert seen.value == pytest.approx((by * slope).mean(), rel=0.15, abs=0.1)
        assert seen.stderr == pytest.approx((by * slope).std(ddof=1) / 30**0.5, rel=0.15, abs=1e-9)
        assert seen.choice == pytest.approx(spread**0.5, rel=0.25, abs=1e-9)


@pytest.mark.parametrize(
    ("coef", "value", "stderr", "choice", "doubt"),
    [
        (1.0, 0.34, 0.0, 0.0, ""),  # a third of it, to three times it
        (1.0, 0.33, 0.0, 0.0, "size"),
        (1.0, 2.9, 0.0, 0.0, ""),
        (-1.0, -3.1, 0.0, 0.0, "size"),
        (1.0, 0.2, 0.1, 0.0, ""),  # two standard errors allow a third
        (1.0, 0.5, 0.0, 0.1, "size"),  # other values could say less than that
        (1.0, 0.5, 0.0, 0.08, ""),
        (1.0, 0.09, 0.0, 0.0, "gone"),  # a tenth is next to nothing
        (1.0, -0.3, 0.31, 0.0, "size"),
        (1.0, -0.3, 0.29, 0.0, "opposes"),
        (-1.0, 0.3, 0.29, 0.0, "opposes"),
    ],
)
def test_what_the_data_do_not_confirm(coef, value, stderr, choice, doubt):
    assert Seen(0, coef, value, stderr, choice).doubt == doubt


@pytest.fixture(scope="module")
def one_column():
    """An honest model of one column alone; lime gives the others about .01 beside 150, by its penalty."""
    X = load_diabetes(scaled=False).data
    return explainer(X, categorical_features=[1]), lambda x: 150.0 * (x[:, 1] == 1), X


def test_what_cannot_be_seen_beside_the_largest_coefficient_stops_no_row(one_column):
    ex, f, X = one_column
    found = lt.audit(ex, f, X[:12], data=X)
    assert set(found.frame.verdict) == {"Show it with this remark."}
    assert set(severity_of(found, "off-data")) == set(severity_of(found, "size")) == {"ok"}
    runs = [dict(ex.explain_instance(X[0], f, num_features=10).local_exp[1]) for _ in range(40)]
    coef = np.array([[run[j] for j in range(10)] for run in runs])
    others, first = np.delete(np.arange(10), 1), found[0]["noise"]
    assert len({tuple(np.argsort(-np.abs(c))[:3]) for c in coef}) > 10  # hardly two runs agree
    assert first.numbers["each"][0] == 1 and first.numbers["advised"] == {"num_features": 1}
    stderr = lt.audit(ex, f, X[0], data=X).case.stderr
    # each sd of 40 runs is known to a ninth, that of nine columns together to a twenty-sixth
    seen = np.sqrt(np.mean(coef.var(axis=0, ddof=1)[others] / stderr[others] ** 2))
    assert seen == pytest.approx(1, abs=4 / 26)


def test_a_value_far_outside_that_the_model_does_not_read_is_no_finding(one_column):
    ex, f, X = one_column
    row = X[0].copy()
    row[0] = 2 * X[:, 0].max()
    assert "outside-range" not in lt.audit(ex, f, row, data=X)
    reads = lt.audit(ex, lambda x: f(x) + (x[:, 0] > X[:, 0].max()), row, data=X)
    assert "outside-range" not in reads  # 1 beside 150
    reads = lt.audit(ex, lambda x: f(x) + 5 * (x[:, 0] > X[:, 0].max()), row, data=X)
    assert reads["outside-range"].features == ("0",)


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


def test_labels_taken_for_numbers():
    """lime feeds 0.99999… where the data have 1, and the encoder knows no such label."""
    data, model, _ = coded()
    ex = explainer(data)
    row = data[np.flatnonzero(data[:, 0] == 1)[0]]
    found = lt.audit(ex, model.predict, row, data=data)["undeclared-category"]
    assert found.severity != "note" and found.features == ("0",)
    # declared, lime itself gives about what the audit says would come out
    declared = explainer(data, categorical_features=[0], feature_selection="none")
    runs = [dict(declared.explain_instance(row, model.predict).local_exp[1])[0] for _ in range(5)]
    undeclared = [dict(ex.explain_instance(row, model.predict).local_exp[1])[0] for _ in range(5)]
    assert found.numbers["coef_repaired"][0] == pytest.approx(np.mean(runs), abs=0.15)
    assert found.numbers["coef"][0] == pytest.approx(np.mean(undeclared), abs=0.15)
    assert "undeclared-category" not in lt.audit(declared, model.predict, row, data=data)


def test_whole_numbers_that_the_model_rounds_by_itself_are_no_finding():
    data, _, y = coded()
    trees = RandomForestRegressor(10, max_depth=4, random_state=0).fit(np.rint(data), y)
    ex = explainer(data)
    found = lt.audit(ex, lambda x: trees.predict(np.rint(x)), data[0], data=data)
    assert "undeclared-category" not in found


@pytest.mark.parametrize(("values", "found"), [(10, True), (11, False)])
def test_ten_whole_numbers_are_labels_and_eleven_measure(values, found):
    """Of a model that says something else between them; an age of many values is no label."""
    data = np.column_stack([np.arange(440) % values, np.random.default_rng(7).standard_normal(440)])
    f = lambda x: 8 * x[:, 1] + 3 * (x[:, 0] > 4) * (x[:, 0] == np.rint(x[:, 0]))  # noqa: E731
    ex = explainer(data)
    assert ("undeclared-category" in lt.audit(ex, f, data[3], data=data)) is found
    unknown = lt.audit(ex, f, data[3])  # edges say nothing of the values between them
    ended = next(c for c in unknown.checked if c.name == "undeclared-category")
    assert ended.state == "not checked" and ended.needs
    halves = data / [2.0, 1.0]
    ex = explainer(halves)
    assert "undeclared-category" not in lt.audit(ex, f, halves[3], data=halves)


def test_a_kernel_that_lime_does_not_use():
    data = load_diabetes()
    ex = explainer(data.data)
    model, world = LinearRegression().fit(data.data, data.target), lt.from_lime(ex)
    how = {"ridge": 0.0, "n": np.inf}
    forgotten = lt.limit(model, data.data[0], world, kernel="gaussian", **how)
    found = lt.audit(forgotten)["wrong-kernel"]
    right = lt.limit(model, data.data[0], world, **how)
    assert found.severity == "note"  # with its wide kernel nearly the same
    assert found.numbers["coef"] == pytest.approx(right.coef)
    j = int(np.argmax(np.abs(right.coef)))
    assert f"{right.coef[j]:.3g} there and {forgotten.coef[j]:.3g} here" in found.sentence
    steps, narrow = (lambda x: 1.0 * (x[:, 2] > x[:, 3])), {"kernel": "gaussian", "nu": 0.06}
    for f, other, severity in (
        (model, {"nu": 1.1 * world.nu}, "note"),
        (steps, {"nu": world.nu / 3}, "warning"),
        (steps, narrow, "serious"),
    ):
        audit = lt.audit(lt.explain(f, data.data[0], world, n=20_000, seed=0, **other))
        assert audit["wrong-kernel"].severity == severity
    assert "wrong-kernel" not in lt.audit(right)
    sampled = lt.explain(
        lambda x: model.predict(x), data.data[0], world, n=2000, seed=0, kernel="gaussian"
    )
    assert "wrong-kernel" in lt.audit(sampled)


@pytest.mark.parametrize(
    ("coef", "right", "severity"),
    [
        (1.0, 1.09, None),  # a change of a tenth of the largest coefficient, 1, is seen
        (1.0, 1.2, None),  # ... and of a quarter of itself
        (1.0, 1.4, "note"),
        (1.0, 3.1, "serious"),  # three times as large, of the first reason
        (1.0, -0.2, "serious"),
        (0.3, 0.19, "note"),
        (0.3, -0.1, "serious"),
        (0.05, 0.12, None),
    ],
)
def test_when_a_changed_coefficient_is_another(coef, right, severity):
    case = SimpleNamespace(coef=np.array([coef]), top=1.0, names=("a",))
    assert severity_of_change(case, np.array([right])) == (severity, ["a"] * (severity is not None))


@pytest.mark.parametrize(("impossible", "found"), [(0.049, False), (0.051, True)])
def test_samples_that_cannot_exist_are_reported_from_a_twentieth_on(impossible, found, monkeypatch):
    monkeypatch.setattr(data_checks, "off_shares", lambda case, data: (0.9, impossible))
    data = np.random.default_rng(0).normal(size=(200, 3))
    dummies = np.column_stack([data[:, 0], np.eye(3)[np.arange(200) % 3]])
    audit = lt.audit(explainer(dummies), lt.Linear([3, 2, 1, 0]), dummies[0], data=dummies)
    assert severity_in(audit, "impossible-samples") == ("note" if found else "ok")


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
