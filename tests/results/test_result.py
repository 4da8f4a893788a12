"""Results that travel: as tables, plain values, pages and pickles, whatever the names are."""

import copy
import json
import pickle
import subprocess
import sys
import types
from functools import cache

import numpy as np
import pandas as pd
import pytest
from browser import axe_violations, running_browser
from hostile import HOSTILE, read
from lime.lime_tabular import LimeTabularExplainer
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt
from limetutor.plotting.result_page import MISSED
from limetutor.results.result import DroppedModel

RNG = np.random.default_rng(0)
NAMES = [*HOSTILE[:8], "colour"]
X = pd.DataFrame(RNG.normal(size=(300, 9)), columns=NAMES)
X["colour"] = RNG.choice(["<b>red</b>", "green"], 300)
CODES = X.assign(colour=(X["colour"] == "green").astype(float)).to_numpy()
FOREST = RandomForestRegressor(30, random_state=0).fit(CODES, CODES[:, 0] - 2 * CODES[:, 1])
WORLD = lt.Empirical(X, categorical=["colour"])


def model(frame):
    """The forest, asked with a table that holds text."""
    table = pd.DataFrame(frame, columns=NAMES)
    return FOREST.predict(table.assign(colour=table["colour"] == "green").to_numpy(float))


@cache
def made(name):
    xi = X.iloc[7]
    if name == "explanation":
        return lt.explain(model, xi, WORLD, 2.0, 2000, 0)
    if name == "limit":
        return lt.limit(model, xi, WORLD, 2.0, samples=2000)
    if name == "audit":
        return lt.audit(lt.explain(model, xi, WORLD, 2.0, 2000, 0))
    if name == "table":  # rows are called what columns are
        return lt.audit(WORLD, model, X.iloc[:8].set_axis(HOSTILE[:8]), nu=2.0, n=500)
    if name == "limits":
        return lt.limits(model, X.iloc[5:8], WORLD, 2.0, samples=1000)
    if name == "explanations":
        return lt.explain_many(model, X.iloc[5:8], WORLD, 2.0, 1000, features=3)
    if name == "prediction":
        explainer = LimeTabularExplainer(CODES, mode="regression", feature_names=NAMES)
        return lt.predict_lime(explainer, FOREST, CODES[7], runs=20)
    if name == "switches":
        return lt.switch_limit(lambda z: z @ [1.0, -3.0, 2.0], lt.text_switches(3))
    if name == "path":
        return lt.path(model, xi, WORLD, nu=[1.0, 2.0, 4.0], samples=1000)
    return lt.path(model, xi, WORLD, nu=2.0, boxes=[2, 3, 4], samples=1000)


KINDS = ("explanation", "limit", "audit", "path", "boxes")
# without a picture of their own
MORE = ("table", "limits", "explanations", "prediction", "switches")


@pytest.fixture(params=KINDS)
def result(request):
    return made(request.param)


def test_frames_hold_the_numbers():
    ex = made("explanation")
    frame = ex.to_frame()
    assert frame.index.tolist() == NAMES and frame.index.name == "feature"
    np.testing.assert_array_equal(frame["coef"], ex.coef)
    np.testing.assert_array_equal(frame[["lower", "upper"]], ex.interval())
    assert frame.loc["colour", "value"] == X.iloc[7]["colour"]
    li = made("limit")
    np.testing.assert_allclose(li.to_frame()["upper"], li.coef + 1.96 * li.stderr)
    path = made("path")
    np.testing.assert_array_equal(path.to_frame().to_numpy(), path.coef)
    assert path.to_frame().index.name == "nu" and made("boxes").to_frame().index.name == "boxes"
    audit = made("audit")
    assert audit.to_frame()["code"].tolist() == list(audit.codes)


def test_pages_stand_alone_and_names_are_text(result, tmp_path):
    page = result.to_html()
    found = read(page)
    assert not {"script", "img", "link", "iframe", "b", "image"} & set(found.tags)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert all(link.startswith("#") for link in found.attributes.get("href", []))
    assert "src" not in found.attributes and found.tags.count("svg") == 1
    plain_text = "".join(found.words)
    assert "ran" not in page.split("<title>")[1][:12]
    for symbol in "ξνβ":
        assert symbol not in plain_text
    path = tmp_path / "report.html"
    assert result.to_html(path) is None
    assert path.read_text(encoding="utf-8") == page


def test_symbols_come_on_request_and_titles_as_asked():
    page = made("explanation").to_html(symbols=True, title="Row <7>")
    words = "".join(read(page).words)
    assert "ν" in words and "ξ" in words and "R²" in words and "Row <7>" in words
    assert "ν" in "".join(read(made("path").to_html(symbols=True)).words)


@pytest.mark.parametrize("kind", KINDS + MORE)
def test_every_result_has_an_order_lists_tables_pages_and_pickles(kind):
    result = made(kind)
    back, pages = pickle.loads(pickle.dumps(result)), read(result.to_html())
    assert "script" not in pages.tags and "table" in pages.tags and "title" in pages.tags
    json.dumps(result.to_dict(), allow_nan=False)
    assert len(pickle.dumps(result)) < 60_000 and str(back) == str(result)
    for show in ("as_list", "to_dict", "to_html", "_repr_html_"):
        assert getattr(back, show)() == getattr(result, show)(), show
    pd.testing.assert_frame_equal(back.to_frame(), result.to_frame())
    order, again = (r.order if kind == "table" else r.order() for r in (result, back))
    np.testing.assert_array_equal(order, again)
    in_notebook = read(result._repr_html_())
    assert not {"script", "img", "b"} & set(in_notebook.tags) and "".join(in_notebook.words)
    if kind not in ("audit", "table"):
        assert "table" in in_notebook.tags and result.summary() in read(result.to_html()).words


def test_orders_and_lists_of_many_rows_are_those_of_single_ones():
    for kind in ("limits", "explanations"):
        many = made(kind)
        assert many.as_list() == [one.as_list() for one in many]
        assert many.order().shape == many.coef.shape == (3, 9)
        assert many.order()[1].tolist()[:3] == many[6].order().tolist()[:3]
        assert many.to_dict()["coef"] == many.coef.tolist()
    path = made("path")
    assert [len(row) for row in path.as_list()] == [9, 9, 9]
    assert path.as_list()[1][0][1] == path.coef[1][np.argmax(np.abs(path.coef[1]))]


def test_orders_and_lists_of_switches_predictions_and_audits():
    fit = made("switches")
    assert fit.order().tolist() == [1, 2, 0] and [j for j, _ in fit.as_list()] == [1, 2, 0]
    prediction = made("prediction")
    assert prediction.to_frame().loc[prediction.names[0], "sd"] == prediction.sd[0]
    assert prediction.to_dict()["sets"][0][1] == prediction.sets[0][1]
    audit, table = made("audit"), made("table")
    assert audit.as_list() == made("explanation").as_list()
    assert audit.order().tolist() == made("explanation").order().tolist()
    assert [index for index, _ in table.as_list()] == table.worst(8).index.tolist()
    assert [severity for _, severity in table.as_list()] == table.worst(8)["severity"].tolist()


@pytest.mark.browser
def test_a_browser_runs_nothing_asks_for_nothing_and_axe_finds_nothing(tmp_path):
    with running_browser() as browser:
        for kind in (*KINDS[:4], "table"):
            path = tmp_path / f"{kind}.html"
            made(kind).to_html(path)
            for theme in ("light", "dark"):
                asked, said = [], []
                page = browser.new_page(color_scheme=theme, viewport={"width": 600, "height": 700})
                page.on("request", lambda request, asked=asked: asked.append(request.url))
                page.on("console", lambda message, said=said: said.append(message.text))
                page.goto(path.as_uri())
                assert not said and asked == [path.as_uri()] and page.title() != "ran"
                assert axe_violations(page) == []
                page.close()


def test_pictures_take_axes_a_number_and_a_title(result):
    fig = result.plot(top=2, title="a$$ title")
    assert isinstance(fig, Figure) and fig.axes[0].get_title() == r"a\$\$ title"
    own = Figure()
    ax = own.subplots(2)[1]
    assert result.plot(ax=ax) is own and (ax.lines or ax.patches)
    fig.canvas.draw()
    with pytest.raises(ValueError, match="top must be 1 or more"):
        result.plot(top=0)


def test_a_pickle_holds_no_model_and_no_training_table(result):
    data = pickle.dumps(result)
    assert b"RandomForest" not in data and FOREST.estimators_[0].tree_.value.tobytes() not in data
    assert WORLD.table[:, 0].tobytes() not in data
    pickle.loads(data).plot().canvas.draw()
    assert result.to_dict()["names"] == NAMES


def test_a_result_opened_elsewhere_is_all_there(tmp_path):
    path = tmp_path / "ex.pickle"
    path.write_bytes(pickle.dumps(made("explanation")))
    code = (
        "import pickle, sys; ex = pickle.loads(open(sys.argv[1], 'rb').read())\n"
        "ex.interval(); ex.as_list(); ex.stability(3); ex.to_html(); print(ex)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)


def test_to_ask_the_model_again_is_refused_in_a_sentence():
    back = pickle.loads(pickle.dumps(made("explanation")))
    for again in (lambda: back.f(CODES), lambda: back.setting.predict(CODES)):
        with pytest.raises(ValueError, match="leaves the model out") as error:
            again()
        assert "model" in str(error.value) and "\n" not in str(error.value)
    assert back.setting.prediction == back.prediction
    assert "left out" in repr(back.f)


def test_a_form_of_the_book_goes_along_and_can_be_audited():
    ex = lt.explain(lt.Linear([10, -10]), [0.961, 0.432], lt.Gaussian(), 0.53, 20_000, 0)
    back = pickle.loads(pickle.dumps(ex))
    assert lt.audit(back).codes == lt.audit(ex).codes


def test_a_kernel_of_ones_own_stays_behind():
    ex = lt.explain(
        lt.Linear([1.0, 2.0]), [0.3, 0.4], lt.Gaussian(), 1.0, seed=0,
        kernel=lambda x, z, xi, nu: np.ones(len(x)),
    )  # fmt: skip
    back = pickle.loads(pickle.dumps(ex))
    np.testing.assert_array_equal(back.coef, ex.coef)


def test_copies_share_the_model():
    ex = made("explanation")
    for again in (copy.copy(ex), copy.deepcopy(ex)):
        assert again.f is model and again.coef.tolist() == ex.coef.tolist()


def test_what_is_forgotten_twice_keeps_its_name():
    back = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made("explanation")))))
    assert back.f.what == "model"
    assert DroppedModel(FOREST).what == "RandomForestRegressor"


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")  # of shap and of what it imports
@pytest.mark.parametrize("kind", ["explanation", "limit"])
def test_shap_draws_coefficients_that_add_up_to_the_surrogate(kind):
    """With the real shap, which `make verify` installs and `make test` does not (212 MB)."""
    shap = pytest.importorskip("shap")
    ex = made(kind)
    found = ex.to_shap()
    assert isinstance(found, shap.Explanation) and found.feature_names == [*NAMES, MISSED]
    np.testing.assert_array_equal(found.values[:-1], ex.coef)
    assert found.base_values + found.values.sum() == pytest.approx(ex.prediction)
    assert found.data[-2] == X.iloc[7]["colour"]
    plain_names = [f"x{j}" for j in range(len(NAMES) + 1)]
    found.feature_names = plain_names  # shap takes dollar signs for formulas
    ax = shap.plots.waterfall(found, show=False)
    drawn = " ".join(text.get_text() for part in ax.figure.axes for text in part.texts)
    lead = found.values[int(np.argmax(np.abs(found.values)))]
    assert f"{abs(lead):.2f}" in drawn.replace("\N{MINUS SIGN}", "-")
    several = made(f"{kind}s").to_shap()
    np.testing.assert_allclose(
        several.base_values + several.values.sum(axis=1), made(f"{kind}s").prediction
    )
    several.feature_names = plain_names
    shap.plots.beeswarm(several, show=False)


@pytest.mark.verify
@pytest.mark.filterwarnings("ignore")
def test_shap_gets_missing_values():
    shap = pytest.importorskip("shap")
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0] * 5, "b": ["u", None, "v", "v"] * 5})
    world = lt.Empirical(table, p=2, categorical=["b"])
    ex = lt.explain(lambda x: np.arange(len(x), dtype=float), table.iloc[1], world, 1.0, 200, 0)
    found = ex.to_shap()
    assert found.data.tolist() == [None] * 3
    shap.plots.waterfall(found, show=False)


@pytest.mark.parametrize("boxes", [True, False])
def test_what_shap_gets_adds_up_to_the_prediction(boxes, monkeypatch):
    """With a stand-in for shap; numbers without boxes count by their coefficient times their value."""
    shap = types.SimpleNamespace(Explanation=types.SimpleNamespace)
    monkeypatch.setitem(sys.modules, "shap", shap)
    table = np.random.default_rng(0).gamma(2.0, size=(200, 3))
    explainer = LimeTabularExplainer(table, mode="regression", discretize_continuous=boxes)
    world = lt.from_lime(explainer)
    f = lt.Linear([3.0, -2.0, 1.0], 7.0)
    at, many = lt.limit(f, table[5], world, 1.0), lt.limits(f, table[4:6], world, 1.0).to_shap()
    found = at.to_shap()
    assert found.base_values + found.values.sum() == pytest.approx(at.prediction, rel=1e-12)
    assert found.values[-1] == pytest.approx(-at.local_error) and found.feature_names[-1] == MISSED
    assert np.array_equal(found.values[:-1], at.coef) == boxes
    np.testing.assert_allclose(many.values[1], found.values, rtol=1e-9)
    np.testing.assert_array_equal(many.data[:, :-1], table[4:6])


def test_without_shap_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match="pip install shap"):
        made("explanation").to_shap()


def test_a_pickle_of_the_version_before_fails_at_loading():
    with pytest.raises(ModuleNotFoundError, match="closed_forms"):
        pickle.loads(b"climetutor.closed_forms\nLimit\n.")
