"""Audits of whole tables."""

import json
import pickle
import re
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from audited_rows import EXPLAINER, LINEAR, X, explainer

import limetutor as lt
from limetutor.auditing import audit_table
from limetutor.auditing.findings import LEVELS, MEANING

COLUMNS = ["verdict", "severity", "code", "words", "noise", "local_error", "ess", "r2", "off_data"]


def test_a_row_of_a_table_is_the_audit_of_that_row():
    frame = pd.DataFrame(X[:5], index=list("vwxyz"), columns=["a", "b", "c", "d"])
    names = list(frame)
    ex = explainer(X, feature_names=names)
    table = lt.audit(ex, LINEAR, frame, data=X)
    assert isinstance(table, lt.AuditTable) and len(table) == 5
    assert list(table.frame.index) == list("vwxyz") and list(table.frame.columns) == COLUMNS
    for i in range(5):
        one = lt.audit(ex, LINEAR, frame.iloc[i], data=X)
        assert table[i].codes == one.codes
        assert table[i].case.coef == pytest.approx(one.case.coef, rel=1e-12)
        row = table.frame.iloc[i]
        ex_ = one.case.subject
        assert row.severity == one.severity and row.verdict == one.verdict and row.ess == ex_.ess
        numbers = [one.case.error, ex_.score, ex_.stderr.max() / np.abs(ex_.coef).max()]
        assert [row.local_error, row.r2, row.noise] == pytest.approx(numbers, rel=1e-9)
        if one.findings:
            worst = one.findings[0]
            assert row.code == worst.code and row.words == f"{worst.sentence} {worst.remedy}"
        else:
            assert (row.severity, row.code, row.words) == ("ok", "", "")


@pytest.mark.parametrize(
    "one", [X[:1], X[:1].tolist(), pd.DataFrame(X[:1], columns=[*"0123"]), pl.DataFrame(X[:1], [*"0123"])], ids=str
)  # fmt: skip
def test_a_table_of_one_row_is_a_table(one):
    assert len(lt.audit(EXPLAINER, LINEAR, one)) == 1
    assert isinstance(lt.audit(EXPLAINER, LINEAR, X[0]), lt.Audit)


def test_rows_that_cannot_be_audited_say_why_and_lose_nothing():
    table = pd.DataFrame(X[:6].copy(), columns=list("abcd"))
    table["e"] = ["red", "blue", "red", "green", "red", "blue"]
    world = lt.Empirical(
        pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 0, "red", "blue")),
        categorical=["e"],
    )

    def f(frame):
        y = frame["a"].to_numpy() + 2.0 * (frame["e"] == "red").to_numpy()
        return np.where(frame["b"] == X[4, 1], np.nan, y)

    table.loc[1, "c"] = np.nan
    found = lt.audit(world, f, table, nu=1.0, kernel="mismatch").frame
    assert found.code.eq("not-audited").tolist() == [False, True, False, True, True, False]
    assert (found.severity[found.code == "not-audited"] == "serious").all()
    assert "c must have a finite value" in found.words[1]
    assert "known category of 'e'" in found.words[3] and "finite values" in found.words[4]
    numbers = found[["noise", "local_error", "ess", "r2"]]
    assert numbers.isna().all(axis=1).tolist() == [False, True, False, True, True, False]


def hostile():
    names = ["<script>alert(1)</script>", "]]>", "a$$b", "‮evil"]
    index = ["<b>0</b>", "$1$", "two", "three"]
    ex = explainer(X, feature_names=names)
    rows = pd.DataFrame(X[:4].copy(), index=index, columns=names)
    rows.iloc[0, 0] = 99.0
    return lt.audit(ex, lambda x: np.sign(x[:, 0] * x[:, 1]), rows, data=X)


def test_what_travels(tmp_path):
    table = hostile()
    again = pickle.loads(pickle.dumps(table))
    assert again.frame.equals(table.frame) and again.rows == table.rows
    assert b"lambda" not in pickle.dumps(table)
    with pytest.raises(ValueError, match="model must be at hand"):
        again[0]
    plain = json.loads(json.dumps(table.to_dict()))
    assert [row["severity"] for row in plain["rows"]] == table.frame.severity.tolist()
    table.to_csv(tmp_path / "t.csv")
    read = pd.read_csv(tmp_path / "t.csv", index_col=0)
    assert list(read.columns) == COLUMNS and read.index.tolist() == table.frame.index.tolist()
    page = table.to_html()
    assert "<script" not in page and "alert(1)" in page and "‮" not in page
    assert not re.search(r'(src|href)="(?!#)', page)
    table.to_html(tmp_path / "t.html", title="My <title>")
    assert "My &lt;title&gt;" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert all(words in page for words in MEANING.values())
    assert "&lt;b&gt;" in table._repr_html_() and "Audit of 4 rows" in str(table)


def test_the_worst_come_first():
    table = hostile()
    ranks = [LEVELS.index(word) for word in table.worst(4).severity]
    assert ranks == sorted(ranks, reverse=True) and len(table.worst(2)) == 2
    assert table.worst(1).index[0] == "<b>0</b>"  # far outside the range, and no fit besides
    assert sum(table.counts.values()) == 4 and list(table.counts) == list(LEVELS)
    for bad in (9, -9):
        with pytest.raises(IndexError):
            table[bad]
    with pytest.raises(IndexError, match="no row has"):
        table["four"]
    assert [str(audit) for audit in table] == [str(table[name]) for name in table.frame.index]


def test_the_picture_of_a_table_has_a_square_for_each_finding():
    table = hostile()
    fig = table.plot(title="All $ of them")
    ax = fig.axes[0]
    assert len(ax.patches) == sum(len(row.findings) for row in table.rows)
    marks = Counter(text.get_text() for text in ax.texts)
    for mark, word in (("·", "note"), ("w", "warning"), ("S", "serious")):
        assert marks[mark] == sum(f.severity == word for row in table.rows for f in row.findings)
    assert [t.get_text() for t in ax.get_xticklabels()] == [
        c.replace("-", " ") for c in table.codes
    ]
    assert len(table.plot(top=2).axes[0].get_yticklabels()) == 3  # two rows, and how many more
    mine = lt.audit(EXPLAINER, LINEAR, X[:45]).plot()
    assert mine.get_figheight() < 11


def test_rows_go_to_other_processes_from_two_jobs_on(monkeypatch):
    asked = []

    def here(function, calls, n_jobs):
        asked.append(n_jobs)
        return [function(*call) for call in calls]

    monkeypatch.setattr(audit_table, "unordered", here)
    tables = [lt.audit(EXPLAINER, LINEAR, X[:3], data=X, n_jobs=n) for n in (None, 1, 2)]
    assert asked == [2] and all(len(table) == 3 for table in tables)


def test_a_store_keeps_audits_and_grows(tmp_path):
    asked = []

    def f(x):
        asked.append(len(x))
        return x @ LINEAR.a + 0.3 * x[:, 0] * x[:, 1]

    rows, how = X[:12], {"data": X, "store": tmp_path}
    plain = lt.audit(EXPLAINER, f, rows, data=X)
    first = lt.audit(EXPLAINER, f, rows[:7], **how)
    asked.clear()
    grown = lt.audit(EXPLAINER, f, rows, **how)
    assert sum(asked) > 4999 and first.rows == grown.rows[:7]
    asked.clear()
    again = lt.audit(EXPLAINER, f, rows, **how)
    assert sum(asked) < 2000  # what tells models apart
    for found in (grown, again):
        assert found.frame.equals(plain.frame) and found.verdicts == plain.verdicts
    assert grown[3].findings == plain[3].findings
    for change, words in (
        ({"data": X[:200]}, "data are not the same"),
        ({"num_features": 3}, "shown is"),
        ({"data": None}, "data are not the same"),
    ):
        with pytest.raises(ValueError, match=words):
            lt.audit(EXPLAINER, f, rows, **how | change)
    with pytest.raises(ValueError, match="store must be left out"):
        lt.audit(EXPLAINER, f, rows[0], store=tmp_path)
