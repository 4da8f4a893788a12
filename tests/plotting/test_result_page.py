"""Tables in notebooks and effects in words; pages of results are tested in tests/results."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import limetutor as lt
from limetutor.plotting.result_page import frame_blocks, frame_in_notebook, in_words, notebook_table


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        ((0.0, 0.0, 0.0), "no effect"),
        ((1.0, -1.0, 3.0), "not distinguishable from no effect; more samples would"),
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
