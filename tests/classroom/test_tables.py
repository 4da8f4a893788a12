"""What a gradebook tells a student."""

from limetutor.classroom.marking import GradedSubmission, Mark
from limetutor.classroom.tables import in_words

NAME = "lime_from_scratch"


def test_the_comment_of_a_person_and_why_a_file_has_no_points():
    marks = {f"{NAME}/fit": Mark(2, "right"), f"{NAME}/in_words": Mark(3, "Well put.")}
    said = in_words(GradedSubmission("ada", NAME, "graded", 22, marks))
    assert said == "5 of 22 points: fit 2, in_words 3. Well put."
    notes = ("The file cannot be read: it is not a notebook.",)
    zero = {name: Mark(0, "") for name in marks}
    bad = GradedSubmission("ada", NAME, "unreadable", 22, zero, notes=notes)
    assert in_words(bad) == notes[0]
