"""Algorithm 1 as a whole: what an explanation holds, says and costs."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
import time
import tracemalloc
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import limetutor as lt

PAPER = lt.Linear([10, -10] + [0] * 8)
PAPER_XI = np.array([0.961, 0.432, *np.linspace(-1, 1, 8)])
WORLD = lt.Gaussian(0, 1, 4)
DIABETES = load_diabetes(as_frame=True)

SETTINGS = {
    "paper": {},
    "gaussian sampler": {"sampler": "gaussian"},
    "tilted": {"sampler": "tilted"},
    "lime's kernel": {"kernel": "mismatch"},
    "cosine": {"kernel": "cosine"},
    "ridge": {"ridge": 1.0},
    "lasso": {"lasso": 0.1},
    "two features": {"features": 2},
}


def paper(**options):
    return lt.explain(PAPER, PAPER_XI, WORLD, 1.0, **{"seed": 0} | options)


# ---------------------------------------------------------------------------- names and numbers


def test_the_signature_is_the_one_the_book_uses():
    names = list(inspect.signature(lt.explain).parameters)
    assert names[:9] == ["f", "xi", "world", "nu", "n", "seed", "kernel", "sampler", "ridge"]
    defaults = {k: v.default for k, v in inspect.signature(lt.explain).parameters.items()}
    assert (defaults["n"], defaults["seed"], defaults["ridge"]) == (5000, None, 0.0)
    assert (defaults["kernel"], defaults["sampler"]) == ("gaussian", "bins")


def test_an_explanation_holds_what_the_issue_promises():
    e = paper(keep=True)
    assert isinstance(e, lt.Explanation)
    assert e.coef.shape == e.stderr.shape == (10,)
    assert e.covariance.shape == (11, 11)
    assert e.prediction == pytest.approx(10 * 0.961 - 10 * 0.432)
    assert e.local_prediction == pytest.approx(e.intercept + e.coef.sum(), rel=1e-14)
    assert 0 < e.score < 1 and 0 < e.ess < e.n == 5000
    assert e.x.shape == e.z.shape == (5000, 10)
    assert e.weights.shape == e.y.shape == (5000,)
    np.testing.assert_array_equal(e.xi, PAPER_XI)
    assert e.nu == 1.0 and e.kernel == "gaussian" and e.sampler == "bins"
    np.testing.assert_allclose(e.y, PAPER(e.x), rtol=1e-14)


@pytest.mark.parametrize("sampler", ["bins", "gaussian", "tilted"])
@pytest.mark.parametrize("kernel", ["gaussian", "mismatch"])
def test_an_explanation_comes_close_to_its_limit(kernel, sampler):
    e = lt.explain(PAPER, PAPER_XI, WORLD, 1.0, 100_000, 1, kernel, sampler)
    truth = lt.limit(PAPER, PAPER_XI, WORLD, 1.0, kernel)
    # 4 standard errors for each of 10 features
    assert np.all(np.abs(e.coef - truth.coef) < 4 * e.stderr)
    assert abs(e.intercept - truth.intercept) < 4 * np.sqrt(e.covariance[0, 0])
    assert abs(e.local_prediction - truth.local_prediction) < 4 * e.local_stderr
    assert np.all(e.stderr < 0.6)  # and that is close


@pytest.mark.parametrize("ridge", [10.0, 1000.0])
@pytest.mark.parametrize("sampler", ["bins", "tilted"])
def test_ridge_comes_close_to_its_limit_for_both_ways_of_weighing(sampler, ridge):
    """A tilted sample stands for the weight C, so the penalty bites as it does with weights."""
    n = 50_000
    e = lt.explain(PAPER, PAPER_XI, WORLD, 1.0, n, 2, ridge=ridge, sampler=sampler)
    truth = lt.limit(PAPER, PAPER_XI, WORLD, 1.0, ridge=ridge, n=n)
    assert np.all(np.abs(e.coef - truth.coef) < 4 * e.stderr)
    assert truth.coef[0] < 0.97 * lt.limit(PAPER, PAPER_XI, WORLD, 1.0).coef[0]


def test_diabetes_comes_close_to_its_limit():
    X = DIABETES.data
    world, f = lt.Empirical(X), lt.Linear(np.linspace(-300, 600, 10), b=150)
    for kernel, nu in (("mismatch", 0.75 * np.sqrt(10)), ("gaussian", 0.1)):
        e = lt.explain(f, X.iloc[0], world, nu, 50_000, 3, kernel)
        truth = lt.limit(f, X.iloc[0], world, nu, kernel)
        assert np.all(np.abs(e.coef - truth.coef) < 4 * e.stderr)


# ---------------------------------------------------------------------------- seeds and memory


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_seed_gives_the_same_bits(setting):
    first, second = (paper(**SETTINGS[setting]) for _ in range(2))
    for name in ("coef", "covariance", "stderr"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert (first.intercept, first.score, first.ess) == (
        second.intercept,
        second.score,
        second.ess,
    )
    other = paper(seed=1, **SETTINGS[setting])
    assert not np.array_equal(first.coef, other.coef)


def test_without_a_seed_runs_differ():
    assert not np.array_equal(paper(seed=None).coef, paper(seed=None).coef)


def test_another_process_gets_the_same_bits():
    code = (
        "import limetutor as lt; f = lt.Linear([1, -2]);"
        "print(*[c.hex() for c in lt.explain(f, [0.3, 1], lt.Gaussian(), 1.0, seed=5).coef])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = lt.explain(lt.Linear([1, -2]), [0.3, 1], lt.Gaussian(), 1.0, seed=5).coef
    assert run.stdout.split() == [float(c).hex() for c in here]


def test_the_global_generator_of_numpy_is_left_alone():
    before = copy.deepcopy(np.random.get_state())  # noqa: NPY002
    paper(seed=None)
    after = np.random.get_state()  # noqa: NPY002
    assert before[0] == after[0] and before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("setting", SETTINGS)
def test_keeping_the_samples_changes_no_number(setting, monkeypatch):
    monkeypatch.setattr(sys.modules["limetutor.algorithm"], "BATCH", 11 * 1500)  # four batches
    kept, dropped = (paper(keep=keep, **SETTINGS[setting]) for keep in (True, False))
    np.testing.assert_array_equal(kept.coef, dropped.coef)
    np.testing.assert_array_equal(kept.covariance, dropped.covariance)
    assert kept.ess == dropped.ess and len(kept.y) == 5000
    assert dropped.samples is None


def test_a_batch_is_as_large_as_said_and_all_samples_are_asked_for(monkeypatch):
    monkeypatch.setattr(sys.modules["limetutor.algorithm"], "BATCH", 11 * 1500)
    rows = []

    def f(x):
        rows.append(len(x))
        return PAPER(x)

    lt.explain(f, PAPER_XI, WORLD, 1.0, n=5000, seed=0)
    assert rows == [1, 1500, 1500, 1500, 500]  # f(xi) first


def peak(n, monkeypatch):
    """Largest memory in use while explaining with n samples, in bytes, batches of 20 000 rows."""
    monkeypatch.setattr(sys.modules["limetutor.algorithm"], "BATCH", 20_000 * 11)
    tracemalloc.start()
    try:
        paper(n=n, sampler="gaussian")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_n(monkeypatch):
    paper()  # imports and caches
    small, large = peak(40_000, monkeypatch), peak(400_000, monkeypatch)
    assert large < 1.1 * small  # ten times the samples; 32 MB would be added by x alone


def test_a_million_samples_take_seconds():
    start = time.perf_counter()
    e = paper(n=1_000_000)
    # 2.7 s on one free core of the machine this was written on
    assert time.perf_counter() - start < 30
    assert e.n == 1_000_000
    assert np.all(np.abs(e.coef - lt.limit(PAPER, PAPER_XI, WORLD, 1.0).coef) < 4 * e.stderr)


# ---------------------------------------------------------------------------- what it says


def test_as_list_runs_from_the_largest_coefficient_down():
    e = paper(n=50_000)
    pairs = e.as_list()
    assert pairs[0] == ("x1 >= 0.674", e.coef[0])
    assert pairs[1] == ("0 <= x2 < 0.674", e.coef[1])
    sizes = [abs(value) for _, value in pairs]
    assert sizes == sorted(sizes, reverse=True) and len(pairs) == 10
    assert all(type(name) is str and type(value) is float for name, value in pairs)


def test_as_map_has_positions_under_the_output():
    e = paper(n=50_000)
    assert list(e.as_map()) == [1]  # as `lime` numbers a regression
    assert e.as_map()[1][0] == (0, e.coef[0])
    assert [j for j, _ in e.as_map()[1]] == e.order().tolist()
    assert all(type(j) is int and type(value) is float for j, value in e.as_map()[1])
    two = lt.explain(lambda x: x, [0.1, 0.2], WORLD, 1.0, seed=0, output=1)
    assert list(two.as_map()) == [1]
    assert two.as_map()[1][0][0] == 1


def test_features_left_out_are_not_listed():
    e = paper(features=2)
    assert {j for j, _ in e.as_map()[1]} == {0, 1}
    assert len(e.as_list()) == 2
    assert np.count_nonzero(e.coef) == np.count_nonzero(e.stderr) == 2


def test_repr_tells_the_story():
    text = repr(paper())
    first, *rest = text.splitlines()
    assert "f(xi) = 5.29 with 5000 samples, nu = 1, gaussian kernel, bins sampler" in first
    assert "x1 >= 0.674" in rest[0] and "±" in rest[0]
    assert len(rest) == 11  # ten features and the fit
    assert "R²" in rest[-1] and "effective samples" in rest[-1]


def test_repr_of_many_features_stays_short():
    e = lt.explain(lt.Linear(np.ones(30)), np.zeros(30), WORLD, 2.0, seed=0)
    assert "... and 20 more" in repr(e)
    assert len(repr(e).splitlines()) == 13


class Cells(HTMLParser):
    """The text of each cell, and whether every tag that opens closes."""

    def __init__(self):
        super().__init__()
        self.open, self.cells, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "p"):
            self.cells.append(data)


def read_html(e):
    parser = Cells()
    parser.feed(e._repr_html_())
    assert parser.open == []
    return parser


def test_html_holds_every_feature_and_the_fit():
    e = paper()
    page = read_html(e)
    assert page.cells[0] == "x1 >= 0.674"
    assert page.cells[1] == f"{e.coef[0]:+.4g}" and page.cells[2] == f"± {e.stderr[0]:.2g}"
    assert len(page.cells) == 31 and "of 5000" in page.cells[-1]


def test_html_escapes_names_labels_and_warnings():
    nasty = "<script>alert('x')</script> & co"
    frame = pd.DataFrame(
        {
            nasty: np.linspace(0, 1, 40),
            "kind": ["<b>bold</b>", "a&b"] * 20,
            "<i>constant</i>": [1.0] * 40,
        }
    )
    with pytest.warns(lt.FitWarning, match="<i>constant</i>"):
        e = lt.explain(
            lambda t: t[nasty].to_numpy() + (t["kind"] == "a&b"),
            frame.iloc[0],
            lt.Empirical(frame, categorical=["kind"]),
            2.0,
            seed=0,
        )
    page = read_html(e)
    assert page.tags == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert "kind = <b>bold</b>" in page.cells  # as text
    assert any(nasty in cell for cell in page.cells)
    assert any("<i>constant</i>" in cell for cell in page.cells)
    assert "<script" not in e._repr_html_()


def test_plot_shows_what_as_list_says_largest_on_top():
    e = paper(features=3)
    (axes,) = e.plot().axes
    bars = [bar.get_width() for bar in axes.patches]
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert list(zip(labels, bars, strict=True))[::-1] == e.as_list()


def test_plot_takes_names_that_look_like_formulas():
    frame = pd.DataFrame({"cost in $ (not \\foo{$)": np.arange(20.0), "a_{b": np.arange(20.0) % 7})
    e = lt.explain(lambda x: x.sum(axis=1), [3, 3], lt.Empirical(frame), 9.0, seed=0)
    e.plot().canvas.draw()


def test_samples_that_were_not_kept_are_asked_for_by_name():
    e = paper()
    for name in ("x", "z", "weights", "y"):
        with pytest.raises(ValueError, match=r"^keep must be True"):
            getattr(e, name)


def test_an_explanation_can_be_pickled_copied_and_compared():
    e = paper(keep=True)
    for again in (pickle.loads(pickle.dumps(e)), copy.deepcopy(e)):
        np.testing.assert_array_equal(again.coef, e.coef)
        np.testing.assert_array_equal(again.x, e.x)
        assert repr(again) == repr(e)
    assert e == e and e != paper()
    assert len({e, e}) == 1


# ---------------------------------------------------------------------------- on an edge


@pytest.mark.parametrize(("value", "box"), [(0.0, "0 <= x1 < 0.674"), (-1e-9, "-0.674 <= x1 < 0")])
def test_an_instance_on_an_edge_belongs_to_the_upper_box_in_the_paper(value, box):
    e = lt.explain(lt.Linear([1, 1]), [value, 0.3], WORLD, 1.0, seed=0, keep=True)
    assert e.box_names[0] == box
    inside = (e.x[:, 0] >= 0) if value == 0 else (e.x[:, 0] < 0)
    assert np.all(inside[e.z[:, 0]])


def test_an_instance_on_an_edge_belongs_to_the_lower_box_in_lime():
    X = np.arange(9.0)[:, None]  # quartiles 2, 4, 6
    e = lt.explain(lt.Linear([1]), [4.0], lt.Empirical(X), 3.0, seed=0, keep=True)
    assert e.box_names == ("2 < x1 <= 4",)
    own = e.x[e.z[:, 0], 0]
    assert own.min() >= 2 and own.max() <= 4


# ---------------------------------------------------------------------------- a real model


def test_a_forest_on_diabetes_from_end_to_end():
    X, y = DIABETES.data, DIABETES.target
    forest = RandomForestRegressor(30, max_depth=6, random_state=0).fit(X, y)
    e = lt.explain(
        forest, X.iloc[0], lt.Empirical(X), 0.75 * np.sqrt(10), seed=0, kernel="mismatch", ridge=1.0
    )
    assert e.prediction == pytest.approx(forest.predict(X.iloc[[0]])[0])
    assert e.names == tuple(X.columns)
    # what everybody finds in this table: blood sugar's companions s5 and bmi lead
    assert {name for name in ("bmi", "s5") if any(name in text for text, _ in e.as_list()[:2])} == {
        "bmi",
        "s5",
    }
    assert 0.3 < e.score < 1


def test_the_same_bits_whatever_the_number_of_threads():
    code = (
        "import numpy as np, limetutor as lt\n"
        "for d in (10, 40):\n"
        "    f, xi = lt.Linear(np.linspace(-1, 2, d)), np.linspace(-0.5, 0.5, d)\n"
        "    ex = lt.explain(f, xi, lt.Gaussian(), 2.0, n=20_000, seed=0, ridge=1.0)\n"
        "    print(ex.coef.tobytes().hex(), ex.covariance.tobytes().hex())\n"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "2")
    ]
    assert found[0] == found[1]
