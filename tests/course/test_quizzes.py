"""Quizzes as data."""

from pathlib import Path

from limetutor.course.quizzes import QuizOption, QuizQuestion, questions

TEXT = (Path(__file__).parent / "support" / "quiz.txt").read_text("utf-8")


def test_questions_options_and_reasons_are_read():
    two = QuizOption("Two.", True, "Yes: $2$.")
    three = QuizOption("Three.", False, "No.\n\nOne too many.")
    nothing = QuizOption("Nothing.", False, "Look again.")
    first = QuizQuestion(1, "How much is $1 + 1$?", (two, three))
    assert questions(TEXT) == [first, QuizQuestion(2, "And then?", (nothing,))]
    assert questions("No quiz at all.") == []
