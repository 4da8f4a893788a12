"""What tells calls apart: models, worlds, kernels and samplers, off the rows and in any unit."""

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVR

import limetutor as lt
from limetutor.core.boxes import BoxWorld
from limetutor.core.sampler import Bins
from limetutor.many import fingerprint
from limetutor.many.store import Store

RNG = np.random.default_rng(8)
X = RNG.normal(size=(6, 3))
TRAIN = RNG.normal(size=(300, 3))
Y = np.sin(2 * TRAIN[:, 0]) + TRAIN[:, 1]
CALL = {"X": X, "world": lt.Gaussian(), "nu": 2.0, "n": 200, "seed": 2}


def smooth(x):
    return np.sin(x[:, 0]) + x[:, 1] * x[:, 2]


def refused(folder, change, **call):
    """What the call says with the store of another one, which differs by ``change``."""
    lt.explain_many(**CALL | call, store=folder)
    with pytest.raises(ValueError, match="store must be") as e:
        lt.explain_many(**CALL | call | change, store=folder)
    assert "\n" not in str(e.value)
    return str(e.value)


def test_models_that_agree_at_all_rows_are_told_apart(tmp_path):
    def other(x):
        return smooth(x) + 1e-3 * np.min(np.abs(x[:, None] - X).sum(axis=2), axis=1)

    np.testing.assert_array_equal(other(X), smooth(X))
    assert "f is not the same: it gives other" in refused(tmp_path, {"f": other}, f=smooth)


@pytest.mark.parametrize("as_method", [False, True])
def test_models_that_differ_in_a_corner_are_told_apart_by_their_fitted_numbers(tmp_path, as_method):
    """A leaf that no row and hardly a sample falls into."""
    first = RandomForestRegressor(5, random_state=0).fit(TRAIN, Y)
    second = pickle.loads(pickle.dumps(first))
    tree = second.estimators_[3].tree_
    drawn = np.random.default_rng(0).normal(size=(20_000, 3))
    leaves, count = np.unique(second.estimators_[3].apply(drawn), return_counts=True)
    tree.value[leaves[np.argmin(count)]] += 5
    assert 0 < np.mean(first.predict(drawn) != second.predict(drawn)) < 1e-3
    f, g = (m.predict if as_method else m for m in (first, second))
    assert "f is not the same: it has other fitted numbers" in refused(tmp_path, {"f": g}, f=f)


def test_the_same_model_read_from_a_file_is_the_same(tmp_path):
    for model in (LinearRegression(), SVR(), SVR(kernel="poly"), RandomForestRegressor(3)):
        f, folder = model.fit(TRAIN, Y), tmp_path / repr(model)
        stored = lt.explain_many(f, **CALL, store=folder)
        again = lt.explain_many(pickle.loads(pickle.dumps(f)), **CALL, store=folder)
        np.testing.assert_array_equal(stored.coef, again.coef)


@pytest.mark.filterwarnings("ignore:Row 0. Standard errors are beyond 1e154 or below")
@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1e12, 1e140])
def test_predictions_are_compared_in_any_unit(tmp_path, unit):
    f, g = (lambda x: unit * smooth(x)), (lambda x: unit * smooth(x) * (1 + 1e-7))
    assert "f is not the same" in refused(tmp_path, {"f": g}, f=f)
    rounded = lambda x: unit * smooth(x) * (1 + 1e-15)  # noqa: E731
    lt.explain_many(rounded, **CALL, store=tmp_path)


def test_a_large_constant_hides_no_difference(tmp_path):
    f, g = (lambda x: 1e6 + 1e-4 * smooth(x)), (lambda x: 1e6 + 1.01e-4 * smooth(x))
    assert "f is not the same" in refused(tmp_path, {"f": g}, f=f)


def test_nor_do_large_predictions_elsewhere(tmp_path):
    f = lambda x: np.exp(40 * x[:, 0])  # noqa: E731
    assert "f is not the same" in refused(tmp_path, {"f": lambda x: f(x) + 1e-3}, f=f)


@pytest.mark.parametrize(("key", "ratio"), [("X", 1e-9), ("f", 1e-9), ("kernel", 0.0)])
def test_how_near_is_the_same(key, ratio):
    """On both sides of the edge: relative for values and predictions, absolute for logarithms."""
    then = np.array([1e-30, 3e-30, 2e-30])
    step = ratio * 1e-30 if ratio else 1e-9
    assert fingerprint.same(key, then, then + 0.9 * step)
    assert not fingerprint.same(key, then, then + np.array([1.2 * step, 0, 0]))
    assert not fingerprint.same(key, then, then[:2])
    far = np.array([0.0, np.inf, -np.inf])
    assert fingerprint.same(key, far, far) and not fingerprint.same(key, far, far[::-1])


def test_own_samplers_are_told_apart_by_what_they_draw(tmp_path):
    class Mirrored(Bins):
        def draw(self, problem, rng, n):
            x, z = super().draw(problem, rng, n)
            return x[::-1], z[::-1]

    words = refused(tmp_path, {"sampler": Mirrored()}, f=smooth)
    assert "sampler is not the same: it draws other points" in words


@pytest.mark.parametrize(
    "other", [lt.Gaussian(sigma=1 + 1e-7), lt.Gaussian(mu=1e-7), lt.Gaussian(p=[4, 4, 5])], ids=str
)
def test_worlds_are_told_apart_by_their_boxes(tmp_path, other):
    assert "world is not the same" in refused(tmp_path, {"world": other}, f=smooth)


@pytest.mark.filterwarnings("ignore:Row .*(Fewer than 5 effective|The fit is singular)")
def test_a_box_that_is_hardly_ever_drawn_counts(tmp_path):
    """Samples of the two worlds are the same but for one in 300."""
    table = np.sort(TRAIN, axis=0)
    edges = {j: [table[0, j] + 1e-9] for j in range(3)}
    moved = table.copy()
    moved[0] -= 3
    first, second = (lt.Empirical(rows, edges=edges) for rows in (table, moved))
    call = {"X": table[50:55], "f": smooth, "world": first}
    assert "world is not the same" in refused(tmp_path, {"world": second}, **call)


def test_which_side_of_an_edge_belongs_to_a_box_counts(tmp_path):
    boxes = lt.Empirical(TRAIN).boxes()
    worlds = [BoxWorld(replace(boxes, left_closed=side)) for side in (False, True)]
    words = refused(tmp_path, {"world": worlds[1]}, f=smooth, world=worlds[0])
    assert "world is not the same" in words


def test_units_do_not_hide_another_world(tmp_path):
    """Columns of size 1e-30, where any difference is below 1e-9."""
    worlds = [lt.Empirical(1e-30 * TRAIN), lt.Empirical(1e-30 * TRAIN + 1e-33)]
    call = {"X": 1e-30 * X, "f": smooth, "nu": 2e-30}
    assert "world is not the same" in refused(
        tmp_path, {"world": worlds[1]}, world=worlds[0], **call
    )
    other = {"X": 1e-30 * X + 1e-33}
    assert "X is not the same" in refused(tmp_path / "2", other, world=worlds[0], **call)


def test_kernels_with_weights_of_zero_are_told_apart(tmp_path):
    def ball(radius):
        return lambda x, z, xi, nu: (((x - xi) ** 2).sum(axis=1) < radius).astype(float)

    call = {"f": smooth, "world": lt.Gaussian(), "nu": 1.0}
    assert "kernel is not the same" in refused(
        tmp_path, {"kernel": ball(30)}, kernel=ball(9), **call
    )


def test_another_version_is_refused(tmp_path, monkeypatch):
    lt.explain_many(smooth, **CALL, store=tmp_path)
    monkeypatch.setattr(lt, "__version__", "99.0")
    words = rf"the version of limetutor is {fingerprint_version(tmp_path)} there and 99\.0 here"
    with pytest.raises(ValueError, match=words):
        lt.explain_many(smooth, **CALL | {"n": 201}, store=tmp_path)


def fingerprint_version(folder):
    with np.load(folder / "call.npz") as file:
        return json.loads(str(file["__plain__"]))["the version of limetutor"]


def test_names_with_commas_are_told_apart(tmp_path):
    worlds = [lt.Gaussian(names=names) for names in (("a, b", "c", "d"), ("a", "b, c", "d"))]
    words = refused(tmp_path, {"world": worlds[1]}, f=smooth, world=worlds[0])
    assert "names is ['a, b', 'c', 'd'] there and ['a', 'b, c', 'd'] here" in words


def test_numbers_of_another_type_are_the_same_setting(tmp_path):
    lt.explain_many(smooth, **CALL, store=tmp_path)
    lt.explain_many(smooth, **CALL | {"n": np.int64(200), "seed": np.int8(2)}, store=tmp_path)
    two = lambda x: np.stack([smooth(x), -smooth(x)], axis=1)  # noqa: E731
    lt.explain_many(two, **CALL, output=1, store=tmp_path / "two")
    lt.explain_many(two, **CALL, output=np.int64(1), store=tmp_path / "two")


TWO = (Path(__file__).parent / "two_processes.txt").read_text("utf-8")


def test_of_two_processes_that_start_at_once_one_has_the_store(tmp_path):
    """With other settings: the other process is refused, and no store holds rows of both."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, tmp_path, me, n], stdout=subprocess.PIPE, text=True
        )
        for me, n in (("a", "200"), ("b", "300"))
    ]
    ends = [process.communicate(timeout=60)[0].splitlines() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    for k in range(20):
        assert sorted(lines[k].split()[1] for lines in ends) == ["done", "refused"]
        folder = tmp_path / f"store-{k}"
        sizes = {row["n"] for row in Store(folder, np.zeros((3, 2)), 3).rows(3).values()}
        assert sizes == ({200} if ends[0][k].endswith("done") else {300})
        assert len(list(folder.iterdir())) == 4
