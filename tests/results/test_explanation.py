"""What an explanation holds, and how it says it."""

import copy
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from paper_example import PAPER, PAPER_XI, WORLD, paper
from scipy import stats

import limetutor as lt
from limetutor.results.explanation import student_reach
from limetutor.results.printing import printed


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
    assert len(printed(e).splitlines()) == 13


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
    kinds = ["<b>bold</b>", "a&b"] * 20
    frame = pd.DataFrame({nasty: np.linspace(0, 1, 40), "kind": kinds, "<i>constant</i>": 1.0})
    world, f = lt.Empirical(frame, categorical=["kind"]), lambda t: t[nasty] + (t["kind"] == "a&b")
    with pytest.warns(lt.FitWarning, match="<i>constant</i>"):
        e = lt.explain(f, frame.iloc[0], world, 2.0, seed=0)
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


def test_an_interval_is_students():
    e = lt.explain(lt.Linear([1.0, 2.0]), [0.3, -1.0], WORLD, 0.8, n=200, seed=0)
    for level in (0.5, 0.95, 0.999):
        half = stats.t.ppf(0.5 + level / 2, e.freedom[1:]) * e.stderr
        expected = np.column_stack([e.coef - half, e.coef + half])
        np.testing.assert_allclose(e.interval(level), expected, rtol=1e-12)
        np.testing.assert_allclose(student_reach(e.stderr, e.freedom[1:], level), half, rtol=1e-12)
    assert e.interval().shape == (2, 2)
    for level in (0, 1, 1.5, "a"):
        with pytest.raises(ValueError, match="level must"):
            e.interval(level)
