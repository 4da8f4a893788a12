"""Points that a person gave, when the text that they are for changes."""

import platforms
import pytest
from slips import RIGHT, notebook_of

from limetutor.classroom import reading
from limetutor.classroom.marking import GradedSubmission, Mark, digest_of
from limetutor.cli import main

NAME = "lime_from_scratch"
KEY = f"{NAME}/in_words"


def handed(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NAME}.ipynb").write_text(notebook_of(RIGHT, folder.name, text))


def result(text, status="graded"):
    mark = Mark(0, "", open=4, text=digest_of(text)) if text else Mark(0, "")
    return GradedSubmission("ada", NAME, status, 22, {KEY: mark})


def test_points_are_those_of_the_text_that_was_read(tmp_path, capsys):
    place, out = tmp_path / "in", tmp_path / "out"
    asked = ["class", "read", str(place), "--out", str(out), "--only", NAME]
    handed(place / "ada", "What I found, in words.")
    assert main(asked) == 0
    platforms.filled_in(out / "marks.csv", points="4")
    given = reading.marks_in(out / "marks.csv", True)
    (same,) = reading.merged([result("What I  found, in words.\n")], given)
    assert (same.points, same.open) == (4, 0)
    capsys.readouterr()
    (other,) = reading.merged([result("bla")], given)
    assert (other.points, other.open) == (0, 4)
    assert f"ada, {KEY}: the text is another one" in capsys.readouterr().out
    handed(place / "ada", "bla")
    assert main(asked) == 0 and f"ada, {KEY}: the text is" in capsys.readouterr().out
    (row,) = platforms.filled_in(out / "marks.csv")
    assert (row["points"], row["text"]) == ("", digest_of("bla"))


@pytest.mark.parametrize("column", [f",{digest_of('bla')}", ""])
def test_what_is_blank_or_unreadable_gets_no_points(tmp_path, capsys, column):
    head = "student,assignment,question,points" + ",text" * bool(column)
    (tmp_path / "m.csv").write_text(f"{head}\nada,{NAME},in_words,4{column}\n")
    given = reading.marks_in(tmp_path / "m.csv", True)
    for status in ("graded", "unreadable"):
        (found,) = reading.merged([result("", status)], given)
        assert (found.points, found.open) == (0, 0)
        assert f"ada, {KEY}: there is no text" in capsys.readouterr().out
    (found,) = reading.merged([result("bla")], given)
    assert (found.points, found.open) == (4, 0), "as it is, or for this very text"
