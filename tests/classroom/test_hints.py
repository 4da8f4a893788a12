"""What a notebook asks for: without an id, nobody is told that all is well."""

import pytest

from limetutor.classroom import hint, numbers

NAME = "the_theorem/my_position"


@pytest.mark.parametrize("student", ["your id", " Your ID", ""])
def test_a_missing_id_is_told(capsys, student):
    nu = numbers(NAME, student)["nu"]
    assert "Your id is missing" in capsys.readouterr().out
    hint(NAME, 0.6744897501960817 * (1 + nu**2) / 2, student)
    said = capsys.readouterr().out
    assert said.startswith("Your id is missing") and said.count("\n") == 1


def test_an_id_and_questions_that_need_none_are_not_bothered(capsys):
    numbers(NAME, "ada")
    hint("lime_from_scratch/edges", lambda p: [0.0])
    hint(NAME, 0.0, "ada")
    assert "id is missing" not in capsys.readouterr().out
