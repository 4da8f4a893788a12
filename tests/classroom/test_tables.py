"""What a gradebook tells a student."""

from limetutor.classroom.marking import GradedSubmission, Mark
from limetutor.classroom.roster import Roster, Student
from limetutor.classroom.tables import FORMATS, Gradebook, in_words

NAME = "lime_from_scratch"


def test_the_comment_of_a_person_and_why_a_file_has_no_points():
    marks = {f"{NAME}/fit": Mark(2, "right"), f"{NAME}/in_words": Mark(3, "Well put.")}
    said = in_words(GradedSubmission("ada", NAME, "graded", 22, marks))
    assert said == "5 of 22 points: fit 2, in_words 3. Well put."
    notes = ("The file cannot be read: it is not a notebook.",)
    zero = {name: Mark(0, "") for name in marks}
    bad = GradedSubmission("ada", NAME, "unreadable", 22, zero, notes=notes)
    assert in_words(bad) == notes[0]


def test_a_grade_of_canvas_stays_until_there_is_another():
    title = "LIME from scratch (7)"
    rows = {s: {"Student": s, "SIS User ID": s, title: "8"} for s in ("ada", "ben")}
    people = tuple(Student(s, s, "", s, row) for s, row in rows.items())
    found = {
        ("ada", NAME): GradedSubmission("ada", NAME, "graded", 22, {f"{NAME}/fit": Mark(2, "")})
    }
    book = Gradebook(found, [NAME], Roster(people, (*rows["ada"],)), {})
    lines = FORMATS["canvas"](book)["canvas.csv"].splitlines()
    assert [line.rpartition(",")[2] for line in lines[2:]] == ["2", "8"]
