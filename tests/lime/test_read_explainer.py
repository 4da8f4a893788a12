"""The real `lime`, predicted without sampling: its worlds read, its coefficients foretold."""

import warnings
from functools import partial

import numpy as np
import pytest
from lime.discretize import BaseDiscretizer
from lime.lime_tabular import LimeTabularExplainer
from scipy import stats
from sentences import one_sentence
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor.lime.read_explainer import repaired

N, RUNS = 5000, 20
DIABETES = load_diabetes()


def lime_runs(explainer, xi, predict, columns, runs=RUNS, n=N):
    """Coefficients of repeated `explain_instance` calls, (runs, columns, d).

    One neighbourhood serves all columns of ``predict``: `lime` calls them classes.
    """
    found = np.empty((runs, columns, len(xi)))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"\s*Prediction probabilties do not sum to 1")
        for r in range(runs):
            explanation = explainer.explain_instance(
                xi, predict, labels=range(columns), num_features=len(xi), num_samples=n
            )
            for c in range(columns):
                found[r, c] = [value for _, value in sorted(explanation.local_exp[c])]
    return found


def scores(runs, predicted):
    """Distance of the run mean from the prediction, in standard errors of that mean."""
    return (runs.mean(axis=0) - predicted) / (runs.std(axis=0, ddof=1) / np.sqrt(len(runs)))


def predicted(model, xi, world, output=None, n=N):
    how = {"output": output} if output is not None else {}
    return lt.limit(model, xi, world, nu=world.nu, kernel="mismatch", ridge=1.0, n=n, **how)


def models_of(data):
    """A linear, a forest and a boosting model of a data set, each with its output to explain."""
    X, y = data.data, data.target
    if "target_names" not in data:  # a regression
        forest, output = RandomForestRegressor(20, max_depth=6, random_state=0).fit(X, y), None
        linear = LinearRegression().fit(X, y)
    else:
        forest, output = RandomForestClassifier(20, max_depth=6, random_state=0).fit(X, y), 1
        linear = LinearRegression().fit(X, y == 1)
    boosting = GradientBoostingRegressor(n_estimators=30, max_depth=3, random_state=0).fit(X, y)
    return [(linear, None), (forest, output), (boosting, None)]


@pytest.mark.sampled(2)
@pytest.mark.verify
@pytest.mark.parametrize("load", [load_diabetes, load_wine, load_breast_cancer])
def test_what_lime_returns_is_predicted(load, verified, verifying):
    """All features, three models, 20 runs of n = 5000; five instances, one of them in a sample."""
    data = load()
    models = models_of(data)
    explainer = LimeTabularExplainer(
        data.data, feature_names=data.feature_names, feature_selection="none", random_state=1
    )
    world = lt.from_lime(explainer)

    def predict(x):
        return np.column_stack(
            [m.predict(x) if out is None else m.predict_proba(x)[:, out] for m, out in models]
        )

    rows = np.linspace(0, len(data.data) - 1, 5).astype(int)
    rows = rows if verifying else rows[1:2]
    z = []
    for xi in data.data[rows]:
        runs = lime_runs(explainer, xi, predict, len(models))
        exact = np.array([predicted(m, xi, world, out).coef for m, out in models])
        z.append(scores(runs, exact))
    z = np.array(z)  # (instances, models, d)
    within = np.mean(np.abs(z) <= 4, axis=(0, 2))
    name = f"real lime, {load.__name__[5:]}, {z.size} coefficients of three models"
    verified(f"{name}: share within 4 standard errors", float(within.min()), (0.95, None))
    verified(f"{name}: mean square score (1.12 by chance)", float(np.mean(z**2)), "by chance")
    # ... and those beyond are chance: 20 runs make a t law with 19 degrees of freedom, mean
    # square 19/17 = 1.12, and one in 1300 beyond 4
    assert np.sum(np.abs(z) > 4) <= stats.binom(z.size, 2 * stats.t(19).sf(4)).ppf(0.999)
    spread = np.sqrt(stats.t(19).stats("mvsk")[3] + 2) * 1.12 / np.sqrt(z.size)
    assert abs(np.mean(z**2) - 19 / 17) < 5 * spread


def sex_of_diabetes():
    explainer = LimeTabularExplainer(
        DIABETES.data, mode="regression", feature_names=DIABETES.feature_names, random_state=0
    )
    model = LinearRegression().fit(DIABETES.data, DIABETES.target)
    return explainer, model, DIABETES.data[0]


def test_the_sex_of_diabetes():
    """`lime` feeds 0 where the bin's only value is -0.0446, and halves the coefficient."""
    explainer, model, xi = sex_of_diabetes()
    world = lt.from_lime(explainer)
    (bin_,) = world.collapsed
    values = np.unique(DIABETES.data[:, 1])
    assert (bin_.feature, bin_.box) == (1, 0)
    assert bin_.value == values[0] == pytest.approx(-0.0446, abs=1e-4)
    assert abs(bin_.fed) < 1e-4  # a value that no patient has

    found = []
    for _ in range(RUNS):
        explanation = explainer.explain_instance(xi, model.predict, num_features=10)
        assert dict(explanation.local_exp[0])[1] == -dict(explanation.local_exp[1])[1]
        found.append(dict(explanation.local_exp[1])[1])
    found = np.array(found)
    f = lt.Linear(model.coef_, model.intercept_)
    as_lime_does = predicted(f, xi, world).coef[1]
    as_it_should = predicted(f, xi, repaired(world)).coef[1]
    own = lt.limit(f, xi, lt.Empirical(DIABETES.data), world.nu, "mismatch", ridge=1.0, n=N).coef[1]
    stderr = found.std(ddof=1) / np.sqrt(RUNS)
    assert abs(found.mean() - as_lime_does) < 4 * stderr
    assert abs(found.mean() - as_it_should) > 25 * stderr
    assert as_lime_does == pytest.approx(-12.1, abs=0.1)
    assert as_it_should == pytest.approx(-22.8, abs=0.1)
    assert own == pytest.approx(as_it_should, rel=1e-3)  # Empirical has the right value
    # in words: the distance between the two sexes, and the one between xi's and 0
    assert as_it_should / as_lime_does == pytest.approx(
        (values[1] - values[0]) / values[1], rel=1e-3
    )


def mixed_table():
    """Two normals, a column that is mostly 0, one that is mostly 7, and two categorical ones."""
    rng = np.random.default_rng(5)
    n = 400
    zeros = np.where(rng.random(n) < 0.6, 0.0, rng.gamma(2.0, size=n))
    sevens = np.where(rng.random(n) < 0.6, 7.0, 7.0 + rng.gamma(2.0, size=n))
    normals = rng.normal(3, 2, n), rng.gamma(2.0, size=n)
    codes = rng.choice([1.0, 2.0, 5.0], p=[0.2, 0.5, 0.3], size=n), rng.integers(0, 2, n)
    return np.column_stack([*normals, zeros, sevens, *codes])


MIXED = mixed_table()
LINEAR = lt.Linear([1.0, -2.0, 3.0, 0.5, -1.0, 2.0], 4.0)


def mixed_explainer(**options):
    labels = (LINEAR(MIXED) > np.median(LINEAR(MIXED))).astype(int)
    how = {"training_labels": labels, "categorical_features": [4, 5], "random_state": 2}
    return LimeTabularExplainer(MIXED, **({"mode": "regression"} | how | options))


def neighbourhood(explainer, xi, n):
    """The rows that `lime` itself would feed the model, without xi's own, and their indicators."""
    z, x = explainer._LimeTabularExplainer__data_inverse(xi, n)
    return z[1:] == 1, x[1:]


OPTIONS = {
    "quartile": {"discretizer": "quartile"},
    "decile": {"discretizer": "decile"},
    "entropy": {"discretizer": "entropy"},
    "no categories": {"categorical_features": None},
    "kernel width": {"kernel_width": 1.5},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_world_is_what_lime_samples_from(name):
    explainer = mixed_explainer(**OPTIONS[name])
    world = lt.from_lime(explainer)
    assert world.nu == (1.5 if name == "kernel width" else 0.75 * np.sqrt(6))
    boxes, xi, n = world.boxes(), MIXED[7], 40_000
    e = lt.explain(lambda x: x[:, 0], xi, world, 1.0, 900, 0, lambda *_: np.ones(899))
    assert e.ess == 900  # a kernel weighs what was drawn, and xi itself has weight 1
    z, x = neighbourhood(explainer, xi, n)
    own = boxes.discretize(xi[None])[0]
    rows = np.arange(6)
    share, mean = boxes.law.prob[rows, own], boxes.law.box_means()[rows, own]
    deviation = np.sqrt(boxes.law.box_variances()[rows, own])
    for j in range(6):
        inside = x[z[:, j], j]
        assert abs(len(inside) - n * share[j]) < 4 * np.sqrt(n * share[j] * (1 - share[j]))
        assert abs(inside.mean() - mean[j]) <= 4 * deviation[j] / np.sqrt(len(inside)) + 1e-9
        assert inside.std() == pytest.approx(deviation[j], rel=0.03, abs=1e-9)
    # the whole law of each coordinate, not only xi's box
    centre, spread = boxes.law.mean_and_deviation()
    assert np.all(np.abs(x.mean(0) - centre) < 4 * spread / np.sqrt(n))
    np.testing.assert_allclose(x.std(0), spread, rtol=0.03)
    # our sampler draws from it: two samples, one law
    ours, _ = boxes.law.sample(np.random.default_rng(0), n)
    for j in range(4):
        mine, theirs = (np.round(sample[:, j], 6) for sample in (ours, x))
        assert stats.ks_2samp(mine, theirs).pvalue > 1e-4


def test_collapsed_bins_are_listed_with_what_is_fed():
    world = lt.from_lime(mixed_explainer())
    assert [(bin_.feature, bin_.value) for bin_ in world.collapsed] == [(2, 0.0), (3, 7.0)]
    assert all(abs(bin_.fed) < 1e-3 for bin_ in world.collapsed)
    fixed = repaired(world)
    assert not fixed.collapsed
    assert fixed.boxes().law.mean[3, 0] == 7.0 and abs(world.boxes().law.mean[3, 0]) < 1e-3
    assert "2 collapsed" in repr(world)


def test_names_and_boxes_are_those_of_lime():
    explainer, _, xi = sex_of_diabetes()
    world = lt.from_lime(explainer)
    assert world.names == tuple(DIABETES.feature_names) and world.d == 10
    own = world.boxes().discretize(DIABETES.data)
    theirs = explainer.discretizer.discretize(DIABETES.data).astype(int)
    assert np.array_equal(own, theirs)
    with pytest.raises(ValueError, match="xi must have 10 entries"):
        lt.explain(lambda x: x[:, 0], xi[:4], world, world.nu)


def test_statistics_instead_of_data():
    first = mixed_explainer(categorical_features=None)
    kept = first.discretizer
    statistics = {part: getattr(kept, part) for part in ("means", "stds", "mins", "maxs")}
    statistics |= {
        "feature_values": first.feature_values,
        "feature_frequencies": first.feature_frequencies,
        "bins": {j: kept.maxs[j][:-1] for j in range(6)},
    }
    second = LimeTabularExplainer(MIXED, mode="regression", training_data_stats=statistics)
    one, two = (lt.from_lime(explainer).boxes().law for explainer in (first, second))
    for part in ("log_prob", "mean", "sd", "lo", "hi"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))


def test_refusals():
    other = mixed_explainer(kernel=lambda d, kernel_width: 1 / (1 + d))
    one_sentence(lambda: lt.from_lime(other), "explainer must use lime's own kernel")
    one_sentence(lambda: lt.from_lime("explainer"), "explainer must be a lime.lime_tabular.LimeTab")
    world, xi = lt.from_lime(mixed_explainer()), MIXED[7].copy()
    xi[4] = 3.0
    one_sentence(lambda: predicted(LINEAR, xi, world), "known category of '4'")


def test_lime_ignores_sample_around_instance_while_it_discretizes():
    """... and so does the world."""
    runs = []
    for around in (False, True):
        explainer = mixed_explainer(sample_around_instance=around)
        runs.append(neighbourhood(explainer, MIXED[7], 500)[1])
    assert np.array_equal(*runs)


def test_names_of_categories_and_classes():
    """A category as `lime` prints it, and output='bad' for the class of that name."""
    names = {4: {1: "one", 2: "two", 5: "five"}, 5: ["own", "rent"]}
    labels = np.digitize(LINEAR(MIXED), np.quantile(LINEAR(MIXED), [0.3, 0.7])) + 1
    explainer = mixed_explainer(
        mode="classification", categorical_names=names, class_names=["bad", "fair", "good"]
    )
    world = lt.from_lime(explainer)
    forest = RandomForestClassifier(10, random_state=0).fit(MIXED, labels)  # classes 1, 2, 3
    by_name, by_class = (
        lt.limit(forest, MIXED[7], world, world.nu, "mismatch", output=output)
        for output in ("bad", 1)
    )
    assert np.array_equal(by_name.coef, by_class.coef)
    theirs = explainer.explain_instance(MIXED[7], forest.predict_proba, num_features=6)
    printed = {name for name, _ in theirs.as_list()}
    assert set(by_name.box_names[4:]) <= printed and "x6=own" not in printed
    rows = lt.limits(forest, MIXED[:3], world, world.nu, "mismatch", output="good")
    assert rows.coef.shape == (3, 6)
    ask = {"output": "good", "kernel": "mismatch", "n": 500, "seed": 0}
    function = lt.explain(forest.predict_proba, MIXED[7], world, world.nu, **ask)
    assert function.prediction == forest.predict_proba(MIXED[[7]])[0, 2]
    with pytest.raises(ValueError, match="output must be a class of"):
        lt.limit(forest, MIXED[7], world, world.nu, "mismatch", output="ugly")


class Thirds(BaseDiscretizer):
    """Bins of one's own, as `lime` invites to."""

    def bins(self, data, labels):
        return [np.percentile(data[:, j], [100 / 3, 200 / 3]) for j in self.to_discretize]


class WideEdges(Thirds):
    def bins(self, data, labels):
        return [np.array([-99.0, 0.0, 99.0]) for _ in self.to_discretize]


class UpperEdges(Thirds):
    """An edge belongs to the bin above it."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        for j in self.lambdas:
            edges = np.array(self.maxs[j][:-1])
            self.lambdas[j] = lambda x, edges=edges: np.searchsorted(edges, x, side="right")


class Means(Thirds):
    """The mean of a bin in the place of draws."""

    def undiscretize(self, data):
        values = data.copy()
        for j in self.means:
            values[:, j] = np.array(self.means[j])[values[:, j].astype(int)]
        return values


class Flat(Thirds):
    def get_undiscretize_values(self, feature, values):
        lo, hi = (np.array(side[feature])[values] for side in (self.mins, self.maxs))
        return self.random_state.uniform(lo, hi)


def discretized(kind):
    X = DIABETES.data[:, [2, 3, 8]]
    return X, LimeTabularExplainer(
        X, mode="regression", random_state=0, feature_selection="none",
        discretizer=kind(X, [], ["a", "b", "c"], random_state=np.random.RandomState(0)),
    )  # fmt: skip


@pytest.mark.parametrize("kind", [Thirds, WideEdges])
def test_bins_of_ones_own_are_read(kind):
    X, explainer = discretized(kind)
    slopes = np.array([300.0, -200.0, 500.0])
    world = lt.from_lime(explainer)
    found = lt.limit(lt.Linear(slopes), X[5], world, world.nu, "mismatch", ridge=1.0, n=5000)
    theirs = [
        dict(explainer.explain_instance(X[5], lambda x: x @ slopes, num_features=3).as_map()[1])
        for _ in range(12)
    ]
    coef = np.array([[run[j] for j in range(3)] for run in theirs])
    assert np.all(
        np.abs(coef.mean(axis=0) - found.coef) < 5 * coef.std(axis=0, ddof=1) / np.sqrt(12)
    )


@pytest.mark.parametrize("kind", [UpperEdges, Means, Flat])
def test_a_discretizer_that_draws_in_its_own_way_is_refused(kind):
    X, explainer = discretized(kind)
    for call in (
        lambda: lt.from_lime(explainer),
        lambda: lt.predict_lime(explainer, lambda x: x[:, 0], X[5]),
    ):
        one_sentence(call, "explainer must have a discretizer", kind.__name__)


@pytest.mark.parametrize("unit", [1e-6, 1e-15, 1e-19])
def test_small_units_are_read_as_lime_draws_them(unit):
    """It adds 1e-11 to all deviations, so that values spread evenly over the bins of small numbers."""
    X = unit * DIABETES.data[:, :2]
    explainer = LimeTabularExplainer(X, mode="regression", random_state=0)
    boxes, discretizer = lt.from_lime(explainer).boxes(), explainer.discretizer
    for box in range(4):
        theirs = discretizer.get_undiscretize_values(0, np.full(20_000, box)) / unit
        error = theirs.std() / np.sqrt(20_000)
        assert abs(theirs.mean() - boxes.law.box_means()[0, box] / unit) < 5 * error


@pytest.mark.parametrize("unit", [1e-21, 1e-30, 1e-90])
def test_units_in_which_lime_draws_rounding_are_refused(unit):
    explainer = LimeTabularExplainer(unit * DIABETES.data[:, :2], mode="regression")
    one_sentence(lambda: lt.from_lime(explainer), "explainer must have columns in units", "rescale")


def test_every_label_has_a_box_of_its_own():
    """Six of them, not in steps of one: each is its own box, drawn as often as it occurs."""
    codes = np.array([0.0, 1, 2, 3, 7, 50])
    X = np.column_stack([np.repeat(codes, [1, 2, 3, 4, 5, 6]), np.arange(21.0)])
    boxes = lt.from_lime(LimeTabularExplainer(X, categorical_features=[0])).boxes()
    rows = np.column_stack([codes, np.zeros(6)])
    assert boxes.discretize(rows)[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(boxes.law.prob[0, :6], np.arange(1, 7) / 21)


@pytest.mark.parametrize("boxes", [True, False])
def test_a_world_brings_the_settings_of_lime_to_every_function(boxes):
    """... each of which another argument overrides."""
    how = {"mode": "regression", "discretize_continuous": boxes, "kernel_width": 1.9}
    world, table = lt.from_lime(LimeTabularExplainer(DIABETES.data, **how)), DIABETES.data[3:5]
    model = LinearRegression().fit(DIABETES.data, DIABETES.target)
    own = {"nu": 1.9, "kernel": "mismatch" if boxes else "gaussian", "ridge": 1.0, "n": 5000}
    functions = [partial(lt.limit, model, table[0], world), partial(lt.limits, model, table, world)]
    if boxes:
        functions += [partial(lt.explain, model, table[0], world, seed=0)]
        functions += [partial(lt.explain_many, model, table, world, seed=0)]
        assert functions[-1](lasso=0.1)[0].ridge == 0
        assert lt.risk(table, world, [1]).turned == lt.risk(table, world, [1], "mismatch").turned
    for f in functions:
        ours = f()
        np.testing.assert_array_equal(ours.coef, f(**own).coef)
        assert all(word in repr(ours) for word in ("ridge 1", "5000", own["kernel"]))
        for change in ({"nu": 1.0}, {"ridge": 30.0}, {"n": 100}):
            assert np.any(f(**change).coef != ours.coef)
    ours, given = (lt.path(model, table[0], world, **(m | {"nu": [1, 2]})) for m in ({}, own))
    np.testing.assert_array_equal(ours.coef, given.coef)
    assert ours.n == 5000 and "ridge 1, 5000 rows" in repr(ours)
    endless = functions[0](n=np.inf)
    assert (endless.n, endless.ridge) == (None, 0.0) and "rows" not in repr(endless)
    one_sentence(lambda: functions[0](ridge=1.0, n=np.inf), "n must be 1 or more")
