"""Tables in notebooks and effects in words; pages of results are tested in tests/results."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from lime.lime_tabular import LimeTabularExplainer

import limetutor as lt
from limetutor.plotting.result_page import frame_blocks, frame_in_notebook, in_words, notebook_table


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        ((0.0, 0.0, 0.0), "no effect"),
        ((1.0, -1.0, 3.0), "not distinguishable from no effect"),
        ((1.0, 0.5, 1.5), "raises the prediction"),
        ((-1.0, -1.5, -0.5), "lowers the prediction"),
    ],
)
def test_an_effect_in_words(effect, words):
    assert in_words(*effect) == words


def test_a_table_in_a_notebook_holds_text_only():
    table = notebook_table(["<a>", "n"], [("<b>", "1")], ["x < y"], ["<!>"], "<c>")
    assert "<caption>&lt;c&gt;</caption>" in table and "<p>⚠ &lt;!&gt;</p>" in table
    assert "<td style='text-align:left'>&lt;b&gt;</td><td>1</td>" in table


def test_long_frames_are_cut():
    frame = pd.DataFrame({"a": np.arange(40.0)})
    (table,) = frame_blocks(frame)
    assert "the first 30 of 40" in table and table.count("<tr>") == 31
    assert frame_in_notebook(["40 rows."], frame).count("<tr>") <= 12


def test_a_page_needs_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import limetutor as lt\n"
        "ex = lt.explain(lt.Linear([1.0, 2.0]), [0.3, 0.4], lt.Gaussian(), 1.0, seed=0)\n"
        "page = ex.to_html(); assert '<table>' in page and '<svg' not in page"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_model_that_does_nothing_is_said_to():
    ex = lt.limit(lt.Linear([0.0, 0.0]), [0.3, 0.4], lt.Gaussian(), 1.0)
    assert "no feature moves that" in ex.summary()
    assert "no effect" in ex.to_html()


def test_a_summary_names_no_effect_that_explains_nothing():
    """The product of two centred features has no effect of either, and an R² of about 0."""
    kept = lt.explain(lt.Linear([2.0, 1.0]), [1.0, 1.0], lt.Gaussian(), 1.0, 2000, 0).summary()
    assert "the largest effect is that of “x1 >= 0.674”" in kept and "higher than without" in kept
    empty = lt.explain(lambda x: x[:, 0] * x[:, 1], [0.1, 0.1], lt.Gaussian(), 5.0, 2000, 0)
    assert empty.score < 0.1 and "explains" in empty.summary()
    assert "its effects say little about this prediction" in empty.summary()
    off = lt.limit(lt.Quadratic([[5.0]]), [3.0], lt.Gaussian(p=2), 5.0)
    assert abs(off.local_error) > abs(off.coef[0]) and "say little" in off.summary()


def test_wide_results_print_about_twenty_lines():
    d = 60
    rows = np.random.default_rng(0).normal(size=(200, d))
    explainer = LimeTabularExplainer(rows, mode="regression", random_state=0)
    f = lt.Linear(np.linspace(1, 2, d))
    printed = lt.predict_lime(explainer, f, rows[0], num_features=d, runs=20, calls=500)
    frame = lt.predict_lime(explainer, f, rows[0], num_features=5, runs=20, calls=500).to_frame()
    assert frame["coef"].isna().sum() >= d - 20 and frame["coef"].notna().sum() >= 5
    fit = lt.explain(f, rows[0], lt.from_lime(explainer), seed=0, features=7)
    assert fit.to_frame()["coef"].notna().sum() == 7
    for result, html in ((printed, printed._repr_html_()), (fit, fit._repr_html_())):
        assert len(repr(result).splitlines()) < 25 and html.count("<tr>") < 25
    assert "... and 40 more" in repr(printed) and len(printed.plot().axes[0].patches) == 20
    low, high = printed.interval().T
    np.testing.assert_allclose(high - low, 2 * 1.96 * printed.sd, rtol=1e-3)
