"""Many rows at once: each is what it would be alone."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from lime.lime_tabular import LimeTabularExplainer
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, RandomForestClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import limetutor as lt
from limetutor import many
from limetutor.kernels import PRODUCT_KERNELS

RNG = np.random.default_rng(12)
FRAME = pd.DataFrame(
    {
        "size": RNG.gamma(2.0, size=300),
        "tied": RNG.integers(0, 3, 300).astype(float),
        "kind": RNG.choice([0.0, 1.0, 2.0], 300, p=[0.5, 0.3, 0.2]),
        "far": 100 + 10 * RNG.normal(size=300),
    },
    index=[f"row {i}" for i in range(300)],
)
X = FRAME.to_numpy()
Y = FRAME["size"] * (FRAME["kind"] - 0.5) + FRAME["tied"] + np.sin(FRAME["far"] / 5)
TABLE = FRAME.iloc[:9]
EXPLAINER = LimeTabularExplainer(
    X, feature_names=list(FRAME), categorical_features=[2], mode="regression"
)
WORLDS = {
    "gaussian": lt.Gaussian(X.mean(0), X.std(0), p=[4, 3, 5, 2], names=tuple(FRAME)),
    "empirical": lt.Empirical(FRAME, p=4, categorical=["kind"]),
    "lime": lt.from_lime(EXPLAINER),
}
FORMS = {
    "linear": Ridge().fit(FRAME, Y),
    "quadratic": lt.Quadratic(RNG.normal(size=(4, 4)) / 50, RNG.normal(size=4)),
    "bumps": make_pipeline(StandardScaler(), KernelRidge(kernel="rbf", gamma=0.3)).fit(FRAME, Y),
    "forest": ExtraTreesRegressor(6, max_depth=5, random_state=0).fit(FRAME, Y),
    "boosting": GradientBoostingRegressor(n_estimators=12, random_state=0).fit(FRAME, Y),
    "moved": make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4)).fit(FRAME, Y),
    "other order": DecisionTreeRegressor(max_depth=4).fit(
        FRAME[["far", "kind", "tied", "size"]], Y
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kernel", PRODUCT_KERNELS)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("f", FORMS)
def test_limits_are_the_limits_of_the_rows(f, world, kernel):
    found = lt.limits(FORMS[f], TABLE, WORLDS[world], 1.5, kernel)
    assert set(found.method) == {"exact"}
    alone = [lt.limit(FORMS[f], TABLE.iloc[i], WORLDS[world], 1.5, kernel) for i in range(9)]
    scale = 1e-10 * max(np.abs(found.coef).max(), np.abs(found.prediction).max(), 1.0)
    for name in ("coef", "intercept", "prediction", "local_prediction", "stderr"):
        one = np.array([getattr(limit, name) for limit in alone])
        np.testing.assert_allclose(getattr(found, name), one, rtol=1e-10, atol=scale, err_msg=name)


@pytest.mark.filterwarnings("ignore::limetutor.PrecisionWarning")
@pytest.mark.parametrize("nu", [0.02, 0.3, 30.0])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_trees_keep_their_digits_at_any_bandwidth(kernel, nu):
    f, world = FORMS["forest"], WORLDS["empirical"]
    found = lt.limits(f, TABLE, world, nu, kernel)
    for i in (0, 4):
        alone = lt.limit(f, TABLE.iloc[i], world, nu, kernel)
        np.testing.assert_allclose(found.coef[i], alone.coef, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "forest"])
@pytest.mark.filterwarnings("ignore:.*own row decides:limetutor.FitWarning")
def test_ridge_and_the_own_row_of_lime(name):
    world, f = WORLDS["lime"], FORMS[name]
    for nu, ridge, n in ((world.nu, 1.0, 5000), (0.2, 1.0, 200), (0.2, 0.0, 500), (1.0, 0.0, 1)):
        found = lt.limits(f, TABLE, world, nu, "mismatch", ridge=ridge, n=n)
        for i in (0, 7):
            alone = lt.limit(f, TABLE.iloc[i], world, nu, "mismatch", ridge=ridge, n=n)
            np.testing.assert_allclose(found.coef[i], alone.coef, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(found.intercept[i], alone.intercept, rtol=1e-9)
            np.testing.assert_allclose(found.local_prediction[i], alone.local_prediction, rtol=1e-9)


def test_a_warning_says_how_many_rows_their_own_row_decides():
    with pytest.warns(lt.FitWarning, match=r"own row decides in 9 of 9 rows"):
        found = lt.limits(FORMS["linear"], TABLE, WORLDS["lime"], 0.05, "mismatch", n=50)
    assert len(found.warnings) == 1


def test_a_row_of_limits_is_a_limit():
    found = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    assert len(found) == 9 and isinstance(found[3], lt.Limit)
    np.testing.assert_allclose(found[3].coef, found.coef[3], atol=1e-10)
    np.testing.assert_allclose(found[-1].coef, found.coef[8], atol=1e-10)
    np.testing.assert_allclose([limit.intercept for limit in found], found.intercept)
    assert "9 rows, 4 features" in repr(found) and "exact" in repr(found)
    with pytest.raises(IndexError, match="between 0 and 8"):
        found[9]
    with pytest.raises(TypeError, match="position"):
        found["row 3"]


def test_a_frame_of_limits_has_the_index_of_the_table():
    frame = lt.limits(FORMS["linear"], TABLE, WORLDS["empirical"], 1.0).to_frame()
    assert list(frame.index) == list(TABLE.index) and list(frame) == list(FRAME)
    plain = lt.limits(lt.Linear([1.0, 2.0]), [[0.1, 0.2]], lt.Gaussian(), 1.0).to_frame()
    assert list(plain.index) == [0] and list(plain) == ["x1", "x2"]


def test_series_and_samples_go_row_by_row():
    world = WORLDS["empirical"]
    model = LogisticRegression(max_iter=2000).fit(FRAME, np.median(Y) < Y)
    found = lt.limits(model, TABLE[:2], world, 1.0, output=True)
    assert set(found.method) == {"quadrature"}
    np.testing.assert_array_equal(
        found.coef[1], lt.limit(model, TABLE.iloc[1], world, 1.0, output=True).coef
    )

    def f(x):
        return np.sin(x[:, 0]) * x[:, 1]

    sampled = lt.limits(f, TABLE[:3], world, 1.0, samples=500, seed=4)
    assert set(sampled.method) == {"monte carlo"} and np.all(sampled.stderr[:, :3] > 0)
    seed = np.random.SeedSequence([4, 2])
    alone = lt.limit(f, TABLE.iloc[2], world, 1.0, samples=500, seed=seed)
    np.testing.assert_array_equal(sampled.coef[2], alone.coef)
    np.testing.assert_array_equal(sampled[2].coef, alone.coef)
    again = lt.limits(f, TABLE[:3], world, 1.0, samples=500, seed=None)
    assert np.all(again.coef[:, :3] != sampled.coef[:, :3])


def test_a_world_without_boxes():
    explainer = LimeTabularExplainer(
        X, mode="regression", discretize_continuous=False, sample_around_instance=True
    )
    world = lt.from_lime(explainer)
    found = lt.limits(FORMS["quadratic"], X[:3], world, world.nu, n=100, ridge=1.0)
    alone = lt.limit(FORMS["quadratic"], X[2], world, world.nu, n=100, ridge=1.0)
    np.testing.assert_allclose(found.coef[2], alone.coef)


def test_rows_in_chunks_are_rows(monkeypatch):
    whole = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    monkeypatch.setattr(many, "CHUNK", 5000)
    chunked = lt.limits(FORMS["forest"], TABLE, WORLDS["empirical"], 1.0)
    np.testing.assert_allclose(whole.coef, chunked.coef, atol=1e-13)


def test_what_is_not_what_it_says_is_refused():
    model = FORMS["forest"]
    wrong = Ridge().fit(FRAME, Y)
    wrong.predict = lambda x: np.zeros(len(x))
    with pytest.raises(ValueError, match="f must be what its fitted attributes say"):
        lt.limits(wrong, TABLE, WORLDS["empirical"], 1.0)
    with pytest.raises(ValueError, match="n must be 1 or more with ridge"):
        lt.limits(model, TABLE, WORLDS["empirical"], 1.0, ridge=1.0)
    with pytest.raises(ValueError, match="X must be a table"):
        lt.limits(model, TABLE.iloc[0].to_numpy(), WORLDS["empirical"], 1.0)
    with pytest.raises(ValueError, match="factor"):
        lt.limits(model, TABLE, WORLDS["empirical"], 1.0, "cosine")


# --- explaining many rows -----------------------------------------------------------------------------


def model(x):
    return np.sin(x[:, 0]) * x[:, 1] + x[:, 3] / 100


CALL = {"n": 200, "seed": 3, "kernel": "mismatch"}


def same(found, other):
    for name in ("coef", "intercept", "prediction", "local_prediction", "stderr", "score", "ess"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ridge": 1.0},
        {"sampler": "tilted"},
        {"features": 2},
        {"lasso": 0.01},
        {"kernel": "cosine"},
    ],
    ids=str,
)
def test_a_row_is_what_explain_finds_with_its_seed(options):
    call = CALL | options
    found = lt.explain_many(model, TABLE, WORLDS["empirical"], 2.0, **call)
    for i in (0, 8):
        seed = np.random.SeedSequence([3, i])
        alone = lt.explain(model, TABLE.iloc[i], WORLDS["empirical"], 2.0, **call | {"seed": seed})
        np.testing.assert_array_equal(found.coef[i], alone.coef)
        np.testing.assert_array_equal(found[i].covariance, alone.covariance)
        np.testing.assert_array_equal(found.stderr[i], alone.stderr)
        assert found.local_prediction[i] == alone.local_prediction
        assert repr(found[i]) == repr(alone)


def test_rows_do_not_depend_on_the_others():
    world = WORLDS["empirical"]
    whole = lt.explain_many(model, TABLE, world, 2.0, **CALL)
    part = lt.explain_many(model, TABLE[:4], world, 2.0, **CALL)
    np.testing.assert_array_equal(whole.coef[:4], part.coef)
    assert list(whole.to_frame().index) == list(TABLE.index)
    assert [one.intercept for one in whole] == list(whole.intercept)
    assert "monte carlo" in repr(whole)


@pytest.mark.slow
def test_other_processes_find_the_same():
    world = WORLDS["lime"]
    forest = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(Y, [0.5, 2]))
    here = lt.explain_many(forest, X[:9], world, world.nu, output=1, **CALL)
    there = lt.explain_many(forest, X[:9], world, world.nu, output=1, n_jobs=2, **CALL)
    same(here, there)
    assert there[4].output == 1 and there[4].setting.f is forest


def test_a_store_is_taken_up_where_it_was_left(tmp_path):
    world, calls = WORLDS["empirical"], []

    def slow(x):
        calls.append(len(x))
        if len(x) == 200 and sum(n == 200 for n in calls) == 6:
            raise KeyboardInterrupt
        return model(x)

    expected = lt.explain_many(model, TABLE, world, 2.0, **CALL)
    with pytest.raises(KeyboardInterrupt):
        lt.explain_many(slow, TABLE, world, 2.0, store=tmp_path / "kept", **CALL)
    done = sorted((tmp_path / "kept").glob("row-*.npz"))
    assert len(done) == 5
    done[2].write_bytes(b"half a file")  # counts as missing
    calls[:] = [200] * 10
    found = lt.explain_many(slow, TABLE, world, 2.0, store=str(tmp_path / "kept"), **CALL)
    assert sum(n == 200 for n in calls[10:]) == 5
    same(found, expected)
    assert repr(found[4]) == repr(expected[4]) and found[4].warnings == expected[4].warnings
    calls.clear()
    same(lt.explain_many(slow, TABLE, world, 2.0, store=tmp_path / "kept", **CALL), expected)
    assert 200 not in calls  # all of it was there
    assert not list((tmp_path / "kept").glob(".*"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n": 300}, "n is 200 there and 300 here"),
        ({"seed": 4}, "seed is 3 there and 4 here"),
        ({"nu": 1.0}, "nu is 2.0 there and 1.0 here"),
        ({"kernel": "gaussian"}, "kernel is mismatch there and gaussian here"),
        ({"ridge": 1.0}, "ridge is 0.0 there and 1.0 here"),
        ({"features": 2}, "features is None there and 2 here"),
        ({"X": TABLE[:5]}, "X is not the same"),
        ({"f": lambda x: x[:, 0]}, "f is not the same"),
        ({"world": lt.Empirical(FRAME, p=3, categorical=["kind"])}, "world is not the same"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_a_store_of_another_call_is_refused(tmp_path, change, words):
    call = {"f": model, "X": TABLE, "world": WORLDS["empirical"], "nu": 2.0, **CALL}
    lt.explain_many(**call, store=tmp_path)
    with pytest.raises(ValueError, match=re.escape(words)):
        lt.explain_many(**call | change, store=tmp_path)


def test_options_that_make_no_sense_here_are_refused():
    world = WORLDS["empirical"]
    with pytest.raises(ValueError, match="keep must be left out"):
        lt.explain_many(model, TABLE, world, 2.0, keep=True)
    with pytest.raises(ValueError, match="seed must be"):
        lt.explain_many(model, TABLE, world, 2.0, seed=-1)
    with pytest.raises(TypeError, match="colour"):
        lt.explain_many(model, TABLE, world, 2.0, colour=1)


@pytest.mark.slow
def test_a_dask_cluster_that_loses_a_worker_finds_the_same(tmp_path):
    """Half way one of two workers is killed; its rows are done again elsewhere."""
    pytest.importorskip("distributed")
    import joblib
    from distributed import Client, LocalCluster

    world = WORLDS["empirical"]
    expected = lt.explain_many(model, X[:60], world, 2.0, **CALL)
    store = tmp_path / "kept"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(lambda: __import__("os").getpid()).values()))

        def deadly(x):
            import os
            import time

            time.sleep(0.02)
            if os.getpid() == victim and len(list(store.glob("row-*"))) > 20:
                os._exit(1)
            return np.sin(x[:, 0]) * x[:, 1] + x[:, 3] / 100

        with joblib.parallel_config(backend="dask"):
            found = lt.explain_many(deadly, X[:60], world, 2.0, store=store, **CALL)
    same(found, expected)


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_what_it_has_done(tmp_path):
    code = (
        "import sys, time, numpy as np, limetutor as lt\n"
        "def f(x):\n"
        "    time.sleep(float(sys.argv[2]))\n"
        "    return np.sin(x[:, 0]) * x[:, 1]\n"
        "X = np.random.default_rng(0).normal(size=(40, 3))\n"
        "found = lt.explain_many(f, X, lt.Gaussian(), 1.0, n=100, seed=5, store=sys.argv[1])\n"
        "print(found.coef.tobytes().hex())\n"
    )
    store = tmp_path / "kept"

    def python(*args):
        return [sys.executable, "-c", code, *map(str, args)]

    process = subprocess.Popen(python(store, 0.1))
    deadline = time.monotonic() + 60
    while len(list(store.glob("row-*"))) < 10 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert 10 <= len(list(store.glob("row-*"))) < 40
    again, whole = (
        subprocess.run(python(folder, 0), check=True, capture_output=True, text=True).stdout
        for folder in (store, tmp_path / "other")
    )
    assert again == whole


@pytest.mark.parametrize(
    "how", [{"tol": 0.4}, {"rtol": 0.9}, {"sampler": "sobol", "adjust": True}], ids=str
)
def test_a_store_gives_back_what_fewer_calls_found(tmp_path, how):
    call = {"f": model, "X": TABLE[:3], "world": WORLDS["empirical"], "nu": 2.0, **CALL, "n": 800}
    fresh = lt.explain_many(**call | how)
    for _ in range(2):  # written, then read
        stored = lt.explain_many(**call | how, store=tmp_path)
        np.testing.assert_array_equal(stored.coef, fresh.coef)
        np.testing.assert_array_equal(stored.stderr, fresh.stderr)
        assert [repr(one) for one in stored] == [repr(one) for one in fresh]
        assert stored[1].precision == fresh[1].precision


def test_defaults_spelled_out_are_the_same_call(tmp_path):
    call = {"f": model, "X": TABLE[:2], "world": WORLDS["empirical"], "nu": 2.0, **CALL}
    first = lt.explain_many(**call, store=tmp_path)
    spelled = {"adjust": False, "lasso": 0, "ridge": 0, "features": None, "tol": None}
    again = lt.explain_many(**call | spelled, store=tmp_path)
    np.testing.assert_array_equal(first.coef, again.coef)


def test_a_store_that_cannot_be_written_or_read_is_refused_in_a_sentence(tmp_path):
    call = {"f": model, "X": TABLE[:2], "world": WORLDS["empirical"], "nu": 2.0, **CALL}
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match="store must be a folder that can be written to"):
        lt.explain_many(**call, store=tmp_path / "file" / "within")
    for name in ("settings.json", "evidence.npz"):
        folder = tmp_path / name
        found = lt.explain_many(**call, store=folder)
        (folder / "row-000000000.npz").write_bytes(b"half a ro")
        (folder / "row-mine.npz").write_bytes(b"")
        again = lt.explain_many(**call, store=folder)  # the damaged row is done again
        np.testing.assert_array_equal(again.coef, found.coef)
        (folder / name).write_text("{half")
        with pytest.raises(ValueError, match=r"settings\.json or evidence\.npz cannot be read"):
            lt.explain_many(**call, store=folder)


def test_a_row_at_which_the_model_fails_is_named_and_those_before_it_are_kept(tmp_path):
    def fails(x):
        if np.any(np.abs(x - X[2]).max(axis=1) == 0):
            raise ArithmeticError("no value here")
        return model(x)

    world = WORLDS["empirical"]
    with pytest.raises(ArithmeticError, match="no value here"):
        lt.explain_many(fails, TABLE[:4], world, 2.0, **CALL)  # f at all rows comes first
    calls = []

    def late(x):
        calls.append(len(x))
        if calls.count(CALL["n"]) == 3:
            raise ArithmeticError("no value here")
        return model(x)

    with pytest.raises(ArithmeticError) as caught:
        lt.explain_many(late, TABLE[:4], world, 2.0, **CALL, store=tmp_path, n_jobs=1)
    assert caught.value.__notes__ == ["(This was row 2 of X, counted from 0.)"]
    assert len(list(tmp_path.glob("row-*.npz"))) == 2


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two"])
def test_a_number_of_jobs_is_a_whole_number(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0"):
        lt.explain_many(model, TABLE, WORLDS["empirical"], 2.0, n_jobs=n_jobs)


def test_limits_say_which_columns_are_constant():
    table = np.column_stack([X[:, 0], np.full(len(X), 3.0)])
    with pytest.warns(lt.FitWarning, match=r"1 feature\(s\) \['x2'\] in xi's box"):
        found = lt.limits(lt.Linear([1.0, 2.0]), table[:3], lt.Empirical(table), 1.0)
    assert np.all(found.coef[:, 1] == 0)


# --- pickles ---------------------------------------------------------------------------------


def test_results_of_many_rows_travel_without_the_model():
    forest, world = FORMS["forest"], WORLDS["empirical"]
    many_limits = lt.limits(forest, TABLE, world, 1.5, "mismatch")
    explained = lt.explain_many(forest, TABLE, world, 1.5, 500, 0, kernel="mismatch")
    tree = forest.estimators_[0].tree_.value.tobytes()
    for found in (many_limits, explained):
        found[3]  # the form of the model is found on the way
        data = pickle.dumps(found)
        assert b"sklearn" not in data and tree not in data
        assert world.table[:, 0].tobytes() not in data
        back = pickle.loads(data)
        assert repr(back) == repr(found) and back.names == found.names
        pd.testing.assert_frame_equal(back.to_frame(), found.to_frame())
        np.testing.assert_array_equal(back.local_prediction, found.local_prediction)
        for again in (copy.copy(found), copy.deepcopy(found)):
            assert (
                again.question is found.question
                and again[3].coef.tolist() == found[3].coef.tolist()
            )
    back = pickle.loads(pickle.dumps(explained))
    assert back[3].to_dict() == explained[3].to_dict()
    back = pickle.loads(pickle.dumps(many_limits))
    with pytest.raises(ValueError, match="leaves the model out"):
        back[3]


def test_a_form_of_the_book_goes_along():
    found = lt.limits(FORMS["quadratic"], TABLE, WORLDS["gaussian"], 1.5)
    back = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(back[3].coef, found[3].coef)
