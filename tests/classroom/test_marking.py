"""One submission, judged: files that cannot be, and the progress that a student reports."""

import json

import pytest
from slips import RIGHT, judged, notebook_of, slips
from submissions import NAME, progress_code

from limetutor.classroom.assignments import assignments, edition
from limetutor.classroom.marking import digest_of, graded, self_reported
from limetutor.classroom.notebooks import source
from limetutor.classroom.sandbox import SandboxLimits, why_unavailable
from limetutor.course.exercises import exercises
from limetutor.course.judging.functions import ROUNDED_SOMEWHERE

sandboxed = pytest.mark.skipif(bool(why_unavailable()), reason="there is no sandbox")


def test_a_file_that_is_none_and_a_folder_that_is_a_link_are_unreadable(tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{NAME}.ipynb").write_bytes(source(NAME).read_bytes())
    (tmp_path / "ada" / "progress.txt").write_text(progress_code())
    (tmp_path / "eve").symlink_to("ada")
    (tmp_path / "ben" / f"{NAME}.ipynb").mkdir(parents=True)
    for name, why in (("eve", "a link to another"), ("ben", "not a file of its own")):
        found = graded(tmp_path / name, assignments()[NAME], SandboxLimits())
        assert (found.status, found.points) == ("unreadable", 0) and why in found.notes[0]
    assert self_reported(tmp_path / "eve").status == "unreadable"
    assert self_reported(tmp_path / "ada").points == 2


@pytest.mark.parametrize("text", ["", "LT1~x", "hello", "LT1~switch-off.3.~00000000"])
def test_a_code_that_cannot_be_read_is_unreadable(tmp_path, text):
    (tmp_path / "progress.txt").write_text(text)
    found = self_reported(tmp_path)
    assert (found.status, found.points, found.max_points) == ("unreadable", 0, len(exercises()))


@pytest.mark.parametrize(("size", "status"), [(100_000, "self-reported"), (100_001, "unreadable")])
def test_a_code_is_read_up_to_100_000_bytes(tmp_path, size, status):
    (tmp_path / "progress.txt").write_text(progress_code().ljust(size))
    assert self_reported(tmp_path).status == status


@sandboxed
def test_what_students_are_told(tmp_path):
    """Of rounding, of limetutor in a function, of an empty text, of another version and of another id."""
    chosen = {s.name: s for s in slips() if s.assignment == NAME}
    lime = chosen["lt in a function"].cells["lime-answer"]
    cells = {"lime-answer": lime, "student": "bob"}
    text = notebook_of(chosen["four decimals"], "ada", "YOUR ANSWER HERE", cells)
    other = json.loads(text.replace('released(\\"\\")', f'released(\\"{NAME} 0.1+abc\\")'))
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{NAME}.ipynb").write_text(json.dumps(other))
    found = graded(tmp_path / "ada", assignments()[NAME], SandboxLimits())
    words = {name.partition("/")[2]: mark.words for name, mark in found.marks.items()}
    assert words["edges"] == ROUNDED_SOMEWHERE and "calls limetutor" in words["lime"]
    assert words["in_words"] == "There is no text here." and found.open == 0
    version, typed = found.notes
    assert f"'{NAME} 0.1+abc'" in version and edition(NAME) in version
    assert found.typed == "bob" and "The id in the notebook is 'bob', and yours is 'ada'" in typed
    assert found.status == "graded" and found.marks[f"{NAME}/my_weights"].points == 0


ROW_BY_ROW = """
def indicators(x, xi, edges):
    return np.array([[int(boxes(v, edges) == boxes(c, edges)) for v, c in zip(row, xi)] for row in x])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "code", "lost"),
    [("boxes-answer", "def boxes(x, edges):\n    time.sleep(1000)", {"boxes"}), ("+", "time.sleep(1000)", set())],
)  # fmt: skip
@sandboxed
def test_what_waits_costs_what_depends_on_it_and_nothing_else(tmp_path, cell, code, lost):
    """``total`` is less than two questions that wait until the clock stops them."""
    cells = {cell: f"import time\n{code}"}
    found = judged(RIGHT, tmp_path / "ada", "My words.", cells, seconds=5, total=35)
    zero = {name.partition("/")[2] for name, m in found.marks.items() if not m.points + m.open}
    assert zero == lost and found.status == "timed out"


FLOODS = "def lime(f, xi, nu, n, seed):\n    while True: boxes(0.0, [0.0])"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lime", "points", "words"),
    [
        ({}, 4, "Judged with a right `indicators`: right."),
        ({"lime-answer": FLOODS}, 0, "Judged with a right `boxes`: it calls more than 20,000"),
    ],
)
@sandboxed
def test_who_calls_too_often_is_told(tmp_path, lime, points, words):
    """... unless a later answer, which was right with a right `boxes`, can be asked instead, in fewer calls."""
    (slip,) = [s for s in slips() if s.name == "boxes unfinished"]
    cells = {"indicators-answer": ROW_BY_ROW, **lime}
    found = judged(slip, tmp_path / "ada", "My words.", cells)
    assert found.marks[f"{NAME}/indicators"].words == "Judged with a right `boxes`: right."
    assert found.marks[f"{NAME}/lime"].points == points
    assert found.marks[f"{NAME}/lime"].words.startswith(words)


@sandboxed
def test_a_syntax_error_and_a_lost_cell(tmp_path):
    """... are told as what they are: neither is a name that is gone, nor a paragraph that is empty."""
    cells = {"score-answer": "def score(z, y, w:\n    return 1"}
    notebook = json.loads(notebook_of(RIGHT, "ada", "My words.", cells))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "in_words":
            cell["metadata"] = {}
        if "**Rubric**" in cell["source"]:  # of the teachers' version
            cell["source"] = ""
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    found = graded(tmp_path / "ada", assignments()[NAME], SandboxLimits())
    assert "has a syntax error" in found.marks[f"{NAME}/score"].words
    assert (found.open, found.points) == (4, 16)
    assert found.marks[f"{NAME}/in_words"].text == digest_of("My words.")
