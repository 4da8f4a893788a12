"""Explanations of many rows: each is what `explain` gives, wherever it is computed and stored."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest
from mixed_rows import FRAME, TABLE, WORLDS, X, Y
from sklearn.ensemble import RandomForestClassifier

import limetutor as lt


def model(x):
    return np.sin(x[:, 0]) * x[:, 1] + x[:, 3] / 100


CALL = {"n": 200, "seed": 3, "kernel": "mismatch"}


def same(found, other):
    for name in ("coef", "intercept", "prediction", "local_prediction", "stderr", "score", "ess"):
        np.testing.assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.mark.parametrize(
    "options",
    [
        {}, {"ridge": 1.0}, {"sampler": "tilted"}, {"features": 2}, {"lasso": 0.01},
        {"kernel": "cosine"},
    ],
    ids=str,
)  # fmt: skip
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


def test_options_that_make_no_sense_here_are_refused():
    world = WORLDS["empirical"]
    with pytest.raises(ValueError, match="keep must be left out"):
        lt.explain_many(model, TABLE, world, 2.0, keep=True)
    with pytest.raises(ValueError, match="seed must be"):
        lt.explain_many(model, TABLE, world, 2.0, seed=-1)
    with pytest.raises(TypeError, match="colour"):
        lt.explain_many(model, TABLE, world, 2.0, colour=1)


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


@pytest.mark.slow
def test_other_processes_find_the_same():
    world = WORLDS["lime"]
    forest = RandomForestClassifier(5, random_state=0).fit(X, np.digitize(Y, [0.5, 2]))
    here = lt.explain_many(forest, X[:9], world, world.nu, output=1, **CALL)
    there = lt.explain_many(forest, X[:9], world, world.nu, output=1, n_jobs=2, **CALL)
    same(here, there)
    assert there[4].output == 1 and there[4].setting.f is forest


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
        ({"seed": 4}, "seed is 3 there and 4 here"),
        ({"nu": 1.0}, "nu is 2.0 there and 1.0 here"),
        ({"ridge": 1.0}, "ridge is 0.0 there and 1.0 here"),
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
