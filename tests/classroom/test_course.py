"""A course from a platform's export to its gradebook: collected, graded, read by a person, exported, read back."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import platforms
import pytest
from platforms import canvas_gradebook, contents, own_roster, people, worksheet, written
from slips import notebook_of, slips

from limetutor.classroom import copies, reading, tables
from limetutor.classroom.assignments import assignments
from limetutor.classroom.marking import GradedSubmission, Mark
from limetutor.classroom.questions import generator
from limetutor.classroom.roster import read
from limetutor.classroom.sandbox import why_unavailable
from limetutor.cli import main
from limetutor.course.judging.kinds import Function

NAME = "lime_from_scratch"
MOST = assignments()[NAME].most_points
SLIPS = [s for s in slips() if s.assignment == NAME and s.status == "graded"]
TEXT = "LIME draws samples near the instance, asks the model and fits weights to boxes, says "


def run(*arguments: object) -> None:
    assert main(["class", *map(str, arguments)]) == 0


def hidden(content: bytes) -> list[str]:
    """The inputs that a notebook is asked about, as somebody may print them."""
    found = []
    for question in assignments()[NAME].judged:
        exercise = question.exercise
        assert isinstance(exercise, Function)
        for value in exercise.inputs(generator(question.name, content)):
            numbers = np.ravel(value)[:3] if isinstance(value, np.ndarray) else []
            found += [f"{v:.6g}" for v in numbers if len(f"{abs(v):.6g}") > 6]
    return found


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("platform", ["moodle", "canvas"])
def test_from_an_export_to_a_gradebook(tmp_path, platform, verifying, verified, capsys):
    """``make test`` takes a class of four, ``make verify`` of 200."""
    if why := why_unavailable():
        pytest.skip(why)
    class_ = people(200 if verifying else 3)
    handed = {}
    for k, p in enumerate(class_):
        text = TEXT + p.given if k % 4 else ""
        handed[p.id] = notebook_of(SLIPS[k % len(SLIPS)], p.id, text)
    export, out = tmp_path / "export", tmp_path / "graded"
    notebook = lambda p: handed[p.id].encode()  # noqa: E731
    if platform == "moodle":
        platforms.zipped(export, platforms.moodle_export(class_, notebook, NAME))
        roster, told = own_roster(class_, "moodle"), worksheet(class_)
    else:
        written(export, platforms.canvas_export(class_, notebook, NAME))
        roster = own_roster(class_, "canvas")
        told = canvas_gradebook(class_, "LIME from scratch (77)")
    (tmp_path / "roster.csv").write_text(roster)
    (tmp_path / "platform.csv").write_text(told)
    place = tmp_path / "submissions"
    run("collect", export, "--roster", tmp_path / "roster.csv", "--out", place)
    only = ["--out", out, "--only", NAME]
    grade = ["grade", place, *only, "--format", platform, "--roster"]
    own, platforms_own = tmp_path / "roster.csv", tmp_path / "platform.csv"
    run(*grade, own)
    first = gradebook(out, platform, class_)
    blank = {p.id for k, p in enumerate(class_) if k % 4 == 0}
    assert set(first) == blank, "where a person has still to give points, the cell is empty"
    run("read", place, *only, "--anonymous")
    rows = platforms.filled_in(out / "marks.csv", points="3")
    assert len(rows) == len(class_) - len(blank)
    page = (out / "read" / f"{NAME}-in_words.html").read_text()
    assert not any(p.id in page or p.family in page for p in class_)
    assert page.count(TEXT) == len(rows)
    run(*grade, own)
    run("read", place, *only, "--anonymous")
    assert platforms.filled_in(out / "marks.csv") == rows, "what was filled in stays"
    points = {q.answer: q.points for q in assignments()[NAME].judged}
    right = {}
    for k, p in enumerate(class_):
        lost = SLIPS[k % len(SLIPS)].lost
        right[p.id] = sum(points[n] for n in points if n not in lost) + 3 * (k % 4 > 0)
    assert gradebook(out, platform, class_) == {name: (v, float(MOST)) for name, v in right.items()}
    run(*grade, platforms_own)
    scale = {"moodle": 100.0, "canvas": 10.0}[platform]
    scaled = gradebook(out, platform, class_)
    near = lambda v: (pytest.approx(v / MOST * scale, abs=0.005), scale)  # noqa: E731
    assert scaled == {name: near(v) for name, v in right.items()}
    run("feedback", place, "--out", out)
    pages = {p.parent.name: p.read_text() for p in (out / "feedback").rglob("*.html")}
    assert set(pages) == set(handed)
    for p in class_:
        text = pages[p.id]
        assert not any(value in text + page for value in hidden(handed[p.id].encode())), p
        assert not re.findall(r"\bs[12]\d\d\d\b", text.replace(p.id, "")) and "copies" not in text
        assert f"{right[p.id]:g} of {MOST} points" in text
    if platform == "moodle":
        given = platforms.moodle_takes_feedback(out / f"moodle-feedback-{NAME}.zip", class_)
        assert given == {student: {f"{NAME}.html": text} for student, text in pages.items()}
    before = contents(out)
    again = ["--again"] if verifying and platform == "moodle" else []
    run(*grade, platforms_own, *again)
    run("feedback", place, "--out", out)
    assert contents(out) == before, "a second run gives the same"
    words = f"students of {platform} whose grade is in its gradebook as it should be"
    verified(words, len(scaled), (len(class_), len(class_)))


def gradebook(out: Path, platform: str, class_) -> dict[str, tuple[float, float]]:
    """What the platform would read, as its documentation has it."""
    if platform == "moodle":
        return platforms.moodle_imports((out / f"moodle-{NAME}.csv").read_text(), class_)
    (grades,) = platforms.canvas_imports((out / "canvas.csv").read_text(), class_).values()
    return grades


def results(class_) -> list[GradedSubmission]:
    """Different points for all, some of them open, one missing."""
    found = []
    for k, p in enumerate(class_):
        text = Mark(0, "", open=4 * (k % 5 == 1))
        marks = {f"{NAME}/fit": Mark(k % 17, ""), f"{NAME}/in_words": text}
        status = "missing" if k == 3 else "graded"
        found.append(GradedSubmission(p.id, NAME, status, MOST, marks))
    return found


@pytest.mark.parametrize("platform", [*tables.FORMATS])
def test_200_lines_one_for_each_student(tmp_path, platform):
    """Each in its own line, of the platform's own table too; open points and what is missing are empty cells."""
    class_ = people(200)
    told = canvas_gradebook(class_, "LIME from scratch (77)", "50")
    own = {"moodle": worksheet(class_, "50"), "canvas": told}
    listed = own_roster(class_, platform if platform in own else "")
    for roster, most in ((listed, MOST), (own.get(platform), 50)):
        if roster is None:
            continue
        (tmp_path / "r.csv").write_text(roster)
        found = {(r.student, r.assignment): r for r in results(class_)}
        numbers = {(p.id, NAME): str(getattr(p, platform, "")) for p in class_}
        book = tables.Gradebook(found, [NAME], read(tmp_path / "r.csv"), numbers)
        ((_, text),) = tables.FORMATS[platform](book).items()
        given = [(k, p) for k, p in enumerate(class_) if k % 5 != 1 and k != 3]
        right = {p.id: round(k % 17 / MOST * most, 2) for k, p in given}
        if platform == "csv":
            rows = {row["student"]: row for row in csv.DictReader(text.splitlines())}
            assert {s: float(r[NAME]) for s, r in rows.items() if r[NAME]} == right
            assert len(rows) == 200
            assert rows[class_[1].id]["open"] == "4"
            continue
        if platform == "moodle":
            grades = platforms.moodle_imports(text, class_)
        else:
            (grades,) = platforms.canvas_imports(text, class_).values()
        assert grades == {s: (pytest.approx(v, abs=0.005), most) for s, v in right.items()}


def test_no_cell_of_a_gradebook_is_a_formula(tmp_path):
    (tmp_path / "r.csv").write_text(
        'id,name,email,number\n1,"=HYPERLINK(""x"")",+1@x,7\n2,a;=1,@b,8\n'
    )
    found = {(s, NAME): GradedSubmission(s, NAME, "graded", 20, {}) for s in "12"}
    numbers = {(s, NAME): s for s in "12"}
    book = tables.Gradebook(found, [NAME], read(tmp_path / "r.csv"), numbers)
    for make in tables.FORMATS.values():
        for text in make(book).values():
            rows = csv.reader(text.splitlines())
            cells = [c for row in rows for cell in row for c in cell.split(";")]
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("ada,lime_from_scratch,in_words,five", "points must be a number, got 'five' in line 2"),
        ("ada,lime_from_scratch,in_words,5", "must be from 0 to 4, got 5 in line 2"),
        ("ada,lime_from_scratch,fit,1", "a question that a person reads"),
        (2 * "ada,lime_from_scratch,in_words,1\n", "line 3 gives the points"),
    ],
)
def test_marks_that_are_none_get_a_sentence(tmp_path, lines, words):
    (tmp_path / "m.csv").write_text(f"student,assignment,question,points\n{lines}\n")
    graded = [GradedSubmission("ada", NAME, "graded", 20)]
    with pytest.raises(ValueError, match="--marks") as raised:
        reading.merged(graded, reading.marks_in(tmp_path / "m.csv", True))
    assert words in str(raised.value)


def test_points_of_a_person_take_the_place_of_open_ones(tmp_path, capsys):
    """Also with a comma, by a code instead of a name, or still open; who is not there is named."""
    lines = [f"{reading.code_of('ada')};{NAME};in_words;2,5;4;good", f"ben;{NAME};in_words;;4;"]
    lines += [f"nobody;{NAME};in_words;1;4;"]
    header = "student;assignment;question;points;max_points;comment"
    (tmp_path / "m.csv").write_text("\n".join([header, *lines]))
    marks = {f"{NAME}/in_words": Mark(0, "", open=4)}
    graded = [GradedSubmission(s, NAME, "graded", 20, marks) for s in ("ada", "ben")]
    ada, ben = reading.merged(graded, reading.marks_in(tmp_path / "m.csv", True))
    assert (ada.points, ada.open, ada.marks[f"{NAME}/in_words"].words) == (2.5, 0, "good")
    assert (ben.points, ben.open) == (0, 4)
    assert "line 4 is for 'nobody', who has no folder here." in capsys.readouterr().out


# --- copies ------------------------------------------------------------------------------------------

OWN = """
def fit(z, y, w):
    rows = np.column_stack([np.ones(len(z)), z])
    root = np.sqrt(w)
    found = np.linalg.lstsq(root[:, None] * rows, root * y, rcond=None)
    return found[0]
"""
RENAMED = (
    OWN.replace("rows", "design")
    .replace("root", "r")
    .replace("found", "b")
    .replace("def fit(z, y, w):", "def fit(z, y, w):\n    '''Mine.'''\n    # all mine")
)
LONGER = OWN.replace("    return", "    assert len(y)\n    return")
OTHER = """
def fit(z, y, w):
    Z = np.insert(z, 0, 1, axis=1)
    gram = np.einsum("ni,n,nj->ij", Z, w, Z)
    return np.linalg.inv(gram) @ np.einsum("ni,n,n->i", Z, w, y)
"""


def test_copies_are_seen_by_structure(tmp_path):
    """Names and comments aside; what many have, or the model answer, says so or is left out."""
    codes = {"ada": OWN, "ben": RENAMED, "cem": LONGER, "dan": OTHER}
    slip = SLIPS[0]
    folders = []
    for name, code in codes.items():
        folder = tmp_path / name
        text = notebook_of(slip, name, name, {"fit-answer": code})
        written(folder, {f"{NAME}.ipynb": text.encode()})
        folders.append(folder)
    typed = [GradedSubmission(n, NAME, "graded", 20, typed="ada" * (n == "ben")) for n in codes]
    lines = [*csv.DictReader(copies.report(folders, typed, [NAME]).splitlines())]
    fits = {(row["what"], row["students"]) for row in lines if row["question"] in ("fit", "")}
    assert fits == {("the same", "ada & ben"), ("alike", "ada & cem"), (copies.KINDS[0], "ben")}
    model = [row for row in lines if row["question"] == "score"]
    told = [(row["students"], row["remark"]) for row in model]
    assert told == [("ada & ben & cem & dan", "the model answer")]


def test_answers_for_the_numbers_of_another_are_found(tmp_path):
    """... where the id was changed by hand and the answer was not."""
    (slip,) = [s for s in slips() if s.assignment == "the_theorem" and s.name == "right"]
    from limetutor.classroom.marking import graded
    from limetutor.classroom.sandbox import SandboxLimits

    if why := why_unavailable():
        pytest.skip(why)
    xi = assignments()["the_theorem"].numbers("ada")["the_theorem/my_bandwidth"]["xi"]
    q = 0.6744897501960817
    cells = {"my_bandwidth-answer": f"my_bandwidth = {np.sqrt(2 * abs(xi) / q - 1):.3f}"}
    written(tmp_path / "ben", {"the_theorem.ipynb": notebook_of(slip, "ben", "", cells).encode()})
    found = graded(tmp_path / "ben", assignments()["the_theorem"], SandboxLimits(), ["ada", "ben"])
    mark = found.marks["the_theorem/my_bandwidth"]
    assert (mark.points, mark.fits, found.typed) == (0, ("ada",), "")
    (line,) = csv.DictReader(copies.report([], [found], []).splitlines())
    assert (line["what"], line["students"]) == (copies.KINDS[1], "ben") and "ada" in line["remark"]
    assert json.dumps([mark.words, found.notes]).count("ada") == 0
