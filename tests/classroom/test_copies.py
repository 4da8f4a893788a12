"""Answers that are the same, in a class of 20."""

import csv

import pytest
from slips import RIGHT, notebook_of

from limetutor.classroom import copies
from limetutor.classroom.bounded import BoundedProcess

NAME = "lime_from_scratch"
TEXT = "A coefficient says how far the mean inside one box lies above that of its neighbours."
ODD = """
def fit(z, y, w):
    unknown = z.shape[1] + 1
    left, right = np.zeros((unknown, unknown)), np.zeros(unknown)
    for number in range(len(y)):
        row = np.concatenate([[1.0], z[number]])
        left += w[number] * np.outer(row, row)
        right += w[number] * y[number] * row
    return np.linalg.solve(left + 1e-13 * np.eye(unknown), right)
"""
SHORT = "\ndef fit(z, y, w):\n    zz = np.insert(z, 0, 1, 1)\n    return np.linalg.pinv(zz.T * w @ zz) @ (zz.T * w @ y)\n"


def listed(tmp_path, monkeypatch, copiers, code):
    def call(process, function, *arguments, seconds):
        return copies.prints(*arguments)

    monkeypatch.setattr(BoundedProcess, "call", call)
    for k in range(20):
        same = k < copiers
        own = "\n".join(f"word{k}x{n} " for n in range(40))
        folder = tmp_path / f"s{k:02d}"
        folder.mkdir()
        how = (TEXT, {"fit-answer": code}) if same else (own,)
        (folder / f"{NAME}.ipynb").write_text(notebook_of(RIGHT, folder.name, *how))
    rows = csv.DictReader(copies.report(sorted(tmp_path.iterdir()), [], [NAME]).splitlines())
    shown = [r for r in rows if r["question"] in ("fit", "in_words") and not r["remark"]]
    return {row["question"]: row["students"] for row in shown}


@pytest.mark.parametrize("end", ["", "fit?", "fit(", f"fit = 1{' + 1' * 3000}"])
def test_a_long_answer_of_five_is_one_line(tmp_path, monkeypatch, end):
    group = "s00 & s01 & s02 & s03 & s04"
    assert listed(tmp_path, monkeypatch, 5, f"{ODD}\n{end}") == {"fit": group, "in_words": group}


def test_short_code_of_three_is_left_out(tmp_path, monkeypatch):
    assert copies.LEAST["code"] <= copies.print_of("code", SHORT)[2] < copies.TELLING["code"]
    assert set(listed(tmp_path, monkeypatch, 3, SHORT)) == {"in_words"}
