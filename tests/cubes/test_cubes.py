"""``lt.cube`` as a result: what it says, shows, keeps and refuses."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from cubes import CASES, case, diabetes, labels_alone, tree_of_wine, with_categories
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import limetutor as lt
from limetutor.cubes import many
from limetutor.plotting.page import number


@pytest.fixture(scope="module")
def wine():
    f, X, world = tree_of_wine()
    return lt.cube(f, X.iloc[60], world, output=1)


@pytest.fixture(scope="module")
def uneven():
    return lt.cube(
        lambda x: x[:, 0] * x[:, 1], [1.0, 0.2], lt.Gaussian(p=[2, 5]), n=800, tolerance=1
    )


def test_a_cube_says_what_it_reads_and_how(wine, uneven):
    text = str(wine)
    assert text.startswith("Shapley values on the boxes of xi, f(xi) = ")
    assert "(exact)" in text and "from the mean" in text and wine.summary() in text
    assert "sampled, n = 800, ± " in str(uneven) and " ± " in str(uneven)
    assert "LIME averaged over its widths need not be" in uneven.notes[-1]
    even = lt.cube(lt.Linear([1.0, 2]), [0.1, 1], lt.Gaussian())
    assert "All boxes have mass 0.25" in even.notes[0]
    reading = wine.lime(0.5, of="class")
    assert (reading.of, reading.method, reading.how) == ("class", "exact", "exact")
    assert str(reading).startswith("LIME at width 0.5 of the class of xi (exact)")
    assert str(uneven.lime([0.5, 1])).startswith("LIME of f (sampled, n = 800, ± ")


@pytest.mark.parametrize(
    ("p", "said"),
    [
        ((0.9999, 0.0001), "The boxes have masses from 0.0001 to 0.9999:"),
        ((1, 0.25, 0.25), "All boxes that samples can leave have mass 0.25:"),
        ((1, 0.5, 0.25), "The boxes that samples can leave have masses from 0.25 to 0.5:"),
    ],
)
def test_notes_name_the_masses(p, said):
    rows = 10_000
    X = np.column_stack([np.arange(rows) >= rows * share for share in p]) * 1.0
    cube = lt.cube(lambda x: x[:, 0], np.zeros(len(p)), lt.Empirical(X, categorical=range(len(p))))
    assert cube.notes[-1].startswith(said)


@pytest.mark.parametrize(
    "make", [list, tuple, set, iter, pd.Index, pd.Series, np.array, dict.fromkeys]
)
def test_features_of_a_rule_come_in_any_iterable(make, wine):
    assert wine.rule(make(["alcohol", "flavanoids"])).features == (0, 6)
    assert wine.rule(make([6, 0])).features == (0, 6)


def test_lists_frames_and_dictionaries(wine):
    frame = wine.to_frame()
    assert list(frame.columns) == ["condition", "mass", "coef", "stderr"]
    assert frame["coef"].to_numpy() == pytest.approx(wine.coef)
    assert wine.as_list()[0] == (wine.names[wine.order()[0]], wine.coef[wine.order()[0]])
    json.dumps(wine.to_dict(), allow_nan=False)
    assert wine.interactions().to_frame().shape == (7, 7)
    assert list(wine.interactions().to_frame().index) == list(wine.names)
    assert wine.lime([0.4, 1]).to_frame().shape == (2, 7)
    assert wine.lime(0.4).to_frame().shape == (7, 2)
    assert "<table" in wine._repr_html_() and "<table" in wine.to_html()


@pytest.mark.parametrize("name", [*CASES, "uneven"])
def test_a_pickle_keeps_the_values_and_refuses_the_rest(name, request):
    cube = request.getfixturevalue(name) if name == "uneven" else case(name)[0]
    again = pickle.loads(pickle.dumps(cube))
    assert np.array_equal(again.coef, cube.coef) and str(again) == str(cube)
    assert np.array_equal(again.shapley(), cube.shapley())
    assert again.to_frame().equals(cube.to_frame())
    assert all(np.array_equal(a, b) for a, b in zip(again.diagonal, cube.diagonal, strict=True))
    assert again.widths(2).nu == pytest.approx(cube.widths(2).nu)
    for ask in (lambda: again.lime(1.0), lambda: again.rule([0]), again.anchor, again.interactions):
        with pytest.raises(ValueError, match="comes from a pickle"):
            ask()


def test_the_mean_of_limes_points_is_the_shapley_value():
    cube, *_ = case("quadratic")
    weights = np.polynomial.legendre.leggauss(3)[1] / 2
    assert weights @ cube.diagonal.lime_steps == pytest.approx(cube.coef)
    assert np.allclose(cube.diagonal.lime_steps[:, 0], np.interp(cube.diagonal.lime_q, cube.diagonal.q, cube.diagonal.steps[:, 0]),
                       atol=1e-2 * np.abs(cube.coef).max())  # fmt: skip


def test_points_of_a_sum_lie_on_its_curves_though_masses_differ():
    found = case("linear_in_uneven_boxes")[0].diagonal
    assert found.lime_steps == pytest.approx(np.tile(found.steps[0], (3, 1)))


def test_what_is_rounding_is_printed_as_0():
    cube = lt.cube(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian())
    assert cube.intercept != 0 and "from the mean 0 of f to" in str(cube)
    large = lt.cube(lt.Linear([1e6, -1e6], 1e-6), [0.961, 0.432], lt.Gaussian())
    assert "from the mean 0 of f" not in str(large)


# --- the class


X, Y = diabetes()
SCALED_TREE = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3))


@pytest.mark.parametrize(
    ("model", "options", "method"),
    [
        (DecisionTreeClassifier(max_depth=3), {"output": True}, "exact"),
        (SCALED_TREE, {"output": True}, "exact"),
        (DecisionTreeRegressor(max_depth=3), {"tolerance": 20}, "exact"),
        (DecisionTreeClassifier(max_depth=3), {"output": True, "tolerance": 0.1}, "exact"),
        (RandomForestClassifier(5, max_depth=3), {"output": True}, "sampled"),
        (RandomForestRegressor(5, max_depth=3), {"tolerance": 20}, "sampled"),
    ],
)
def test_the_class_is_what_the_model_predicts_at_xi(model, options, method):
    classifies = hasattr(model, "predict_proba")
    f = model.fit(X.to_numpy(), Y > 140 if classifies else Y)
    world, xi = lt.Empirical(X.to_numpy()), X.to_numpy()[3]
    cube = lt.cube(f, xi, world, n=4000, **options)
    x, box = world.boxes().law.sample(np.random.default_rng(4), 40_000)
    if "tolerance" in options:
        value = f.predict_proba(x)[:, 1] if classifies else f.predict(x)
        same = np.abs(value - cube.prediction) <= options["tolerance"]
    else:
        same = f.predict(x) == f.predict(xi[None])[0]
    start = cube.at(cube.mass, of="class")
    error = np.hypot(np.sqrt(same.mean() * (1 - same.mean()) / len(x)), start.stderr)
    assert start.method == method and abs(start.coef - same.mean()) < 4 * error
    single = cube.lime(np.inf, of="class")  # one LIME of the label has all rules of one feature
    for j in range(3):
        gain = (1 - cube.mass[j]) * single.coef[j]
        rule = cube.rule(j)
        error = np.hypot(rule.stderr, (1 - cube.mass[j]) * single.stderr[j] + start.stderr)
        assert abs(rule.precision - start.coef - gain) < 4 * error + 1e-9
    inside = box[:, :2] == world.boxes().discretize(xi)[:2]
    held, rule = same[inside.all(axis=1)], cube.rule([0, 1])
    assert abs(held.mean() - rule.precision) < 4 * np.hypot(
        held.std() / np.sqrt(len(held)), rule.stderr
    )


def test_functions_have_classes_where_they_return_probabilities():
    def f(x):
        p = 1 / (1 + np.exp(-x[:, 0]))
        return np.column_stack([1 - p, p])

    cube = lt.cube(f, [1.0, 0.3], lt.Gaussian(p=2), output=0, n=2000)
    assert cube.rule(0).precision == 1 and cube.rule(1).precision == pytest.approx(0.5, abs=0.05)
    assert cube.coef[0] < -0.1
    numbers = lt.cube(
        lambda x: np.column_stack([x[:, 0] * 3, x[:, 1]]), [1.0, 0.3], lt.Gaussian(), output=0
    )
    with pytest.raises(ValueError, match="tolerance must be given"):
        numbers.anchor()


@pytest.mark.parametrize(
    ("change", "classes"),
    [
        (lambda y: y.round(3), True),
        (lambda y: y.round(2), True),
        (lambda y: y.astype(np.float16), True),
        (lambda y: y.astype(np.float32), True),
        (lambda y: y * 0.9, False),
        (lambda y: y - 0.5, False),
        (lambda y: y * [3, -1, -1], False),
    ],
)
def test_probabilities_may_be_rounded(change, classes):
    def f(x):
        y = np.exp(np.column_stack([x[:, 0], x[:, 1], 0 * x[:, 0]]))
        return change(y / y.sum(axis=1, keepdims=True))

    for xi in np.random.default_rng(0).normal(size=(40, 2)):
        answers = lt.cube(f, xi, lt.Gaussian(), output=0, n=30).both.answers
        assert answers.classifies == classes


def test_models_with_probabilities_always_have_classes():
    class Loose:
        def predict_proba(self, x):
            return np.column_stack([x[:, 0] > 0, np.full(len(x), 0.2)]) * 1.0

    cube = lt.cube(Loose(), [1.0, 0.3], lt.Gaussian(p=2), output=0, n=2000)
    assert cube.rule(0).precision == 1


def test_explainers_of_lime_are_worlds():
    from lime.lime_tabular import LimeTabularExplainer

    f, X, _ = tree_of_wine()
    explainer = LimeTabularExplainer(
        X.to_numpy(), feature_names=list(X.columns), class_names=["a", "b", "c"], random_state=0
    )
    world = lt.from_lime(explainer)
    cube, named = (lt.cube(f, X.iloc[60], world, label=label) for label in (1, "b"))
    limit = lt.limit(f, X.iloc[60], world, nu=0.8, output=1, n=np.inf)
    assert cube.lime(0.8).coef == pytest.approx(limit.coef, abs=1e-10)
    assert np.array_equal(named.coef, cube.coef) and np.array_equal(
        lt.cube(f.predict_proba, X.iloc[60], world).coef, cube.coef
    )
    assert cube.rule("alcohol").text == limit.box_names[0]
    unboxed = lt.from_lime(LimeTabularExplainer(X.to_numpy(), discretize_continuous=False))
    with pytest.raises(ValueError, match="world must have boxes"):
        lt.cube(f, X.iloc[60].to_numpy(), unboxed, label=1)


def test_labels_and_missing_values_belong_to_boxes():
    table, _ = with_categories()
    table = table.drop(columns="same")
    table.loc[::7, "bmi"] = np.nan
    world = lt.Empirical(table, categorical=["sex", "place"])

    def f(rows):
        frame = np.asarray(rows, dtype=object)
        gone = np.array([v is None or v != v for v in frame[:, 1]])
        return gone * 2.0 + (frame[:, 3] == "town") * (1 + gone)

    cube = lt.cube(f, table.iloc[7], world, tolerance=0.1)
    share = cube.mass[1] if table["bmi"].isna().iloc[7] else 1 - cube.mass[1]
    town = np.mean(table["place"] == "town")
    mean = 2 * share + town * (1 + share)
    assert abs(cube.intercept - mean) < 5 * max(cube.stderr.max(), 1e-3)
    assert "bmi" in cube.box_names[1]
    f, table, world = labels_alone()
    assert lt.cube(f, table.iloc[4], world).method == "exact"


def test_nothing_leaves_its_box_where_all_is_constant():
    cube = lt.cube(lambda x: x.sum(axis=1), [1.0, 2], lt.Empirical([[1.0, 2]] * 4), tolerance=0)
    assert cube.coef.tolist() == [0, 0] and cube.intercept == 3 == cube.local_prediction
    assert cube.anchor().features == () and cube.anchor().coverage == 1
    assert cube.lime(1.0).coef.tolist() == [0, 0]
    assert cube.interactions().coef.tolist() == [[0, 0]] * 2
    cube.plot()


def test_a_report_has_shapley_values_beside_the_effects():
    cube, (f, xi, world), _ = case("forest")
    for kernel, nu in (("mismatch", 2.0), ("gaussian", 0.1)):
        page = lt.audit(lt.limit(f, xi, world, nu, kernel)).to_html()
        assert "Beside Shapley values" in page and number(cube.local_prediction) in page
        assert all(f">{number(value)}</td>" in page for value in cube.coef)
    sampled = lt.audit(lt.limit(lambda x: x[:, 0], [0.1, 1], lt.Gaussian(), 1.0))
    assert "Shapley" not in sampled.to_html()


GOOD = {"f": lt.Linear([1.0, 2]), "xi": [0.1, 1.0], "world": lt.Gaussian()}


@pytest.mark.parametrize(
    ("wrong", "ask", "said"),
    [
        ({"tolerance": -1}, None, "tolerance must be 0 or above"),
        ({"tolerance": np.nan}, None, "tolerance must be"),
        ({"n": 3}, None, "n must be"),
        ({"seed": -1}, None, "seed must be"),
        ({"world": 3}, None, "world must be"),
        ({"xi": [0.1]}, None, "2"),
        ({"output": 1}, None, "output must be left out"),
        ({}, lambda c: c.lime(0), "nu must be"),
        ({}, lambda c: c.lime([]), "nu must be"),
        ({}, lambda c: c.lime([[1.0]]), "nu must be"),
        ({}, lambda c: c.lime(np.nan), "nu must be"),
        ({}, lambda c: c.lime("wide"), "nu must"),
        ({}, lambda c: c.lime(1.0, of="both"), "of must be"),
        ({}, lambda c: c.at([0.5]), "t must hold 2"),
        ({}, lambda c: c.at([0.5, 1.5]), "t must hold 2"),
        ({}, lambda c: c.at(np.empty((0, 2))), "t must hold 2"),
        ({}, lambda c: c.interactions(3), "order must be"),
        ({}, lambda c: c.interactions(index="myerson"), "index must be"),
        ({}, lambda c: c.widths(0), "m must be"),
        ({}, lambda c: c.shapley(of="class"), "tolerance must be given"),
        ({}, lambda c: c.anchor(), "tolerance must be given"),
        ({"tolerance": 1}, lambda c: c.rule("x9"), "features must be"),
        ({"tolerance": 1}, lambda c: c.rule([5]), "features must be"),
        ({"tolerance": 1}, lambda c: c.rule([True]), "features must be"),
        ({"tolerance": 1}, lambda c: c.rule(None), "features must be"),
        ({"tolerance": 1}, lambda c: c.anchor(0), "precision must be above 0"),
        ({"tolerance": 1}, lambda c: c.anchor([0.9, 0.8]), "precision must be"),
    ],
)
def test_mistakes_are_named_in_a_sentence(wrong, ask, said):
    def asked():
        return ask(lt.cube(**(GOOD | wrong)))

    with pytest.raises((ValueError, TypeError), match=said) as refused:
        asked()
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def test_many_rows_are_the_cubes_of_each(monkeypatch):
    for name in ("linear_in_uneven_boxes", "kernel_machine", "tree_with_a_constant_column"):
        cube, (f, xi, world), _ = case(name)
        rows = xi.to_frame().T if hasattr(xi, "to_frame") else [xi]
        assert many.shapley_values(f, rows, world)[0] == pytest.approx(cube.coef, abs=1e-9)
    X, _ = diabetes()
    f = case("forest")[1][0]
    monkeypatch.setattr(many, "ROWS_PER_BLOCK", 8)
    found = many.shapley_values(f, X.iloc[:20], lt.Empirical(X))
    for i in (0, 7, 8, 19):
        assert found[i] == pytest.approx(lt.cube(f, X.iloc[i], lt.Empirical(X)).coef, abs=1e-9)
    with pytest.raises(ValueError, match="f must have a closed form"):
        many.shapley_values(np.sum, X.iloc[:2], lt.Empirical(X))


def test_warnings_are_not_raised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cube = lt.cube(lt.Linear([1e6, 1e-6]), [8.0, -8], lt.Gaussian(p=[2, 9]), tolerance=1)
        found = cube.lime([1e-300, 1e-3, 1e300, np.inf])
        assert np.all(np.isfinite(found.coef)) and np.all(np.isfinite(found.intercept))
