"""Quizzes as data."""

from limetutor.course.quizzes import QuizOption, QuizQuestion, questions

TEXT = """
<details class="answer">
<summary>No quiz</summary>

✓ Nothing.

</details>

<div class="quiz">

**1. How much is $1 + 1$?**

<details><summary>Two.</summary>

✓ Yes: $2$.
</details>

<details>
<summary>Three.</summary>

✗ No.

One too many.

</details>

**2. And then?**

<details><summary>Nothing.</summary> ✗ Look again.</details>

</div>

**3. Not in the quiz.**
"""


def test_questions_options_and_reasons_are_read():
    two = QuizOption("Two.", True, "Yes: $2$.")
    three = QuizOption("Three.", False, "No.\n\nOne too many.")
    nothing = QuizOption("Nothing.", False, "Look again.")
    first = QuizQuestion(1, "How much is $1 + 1$?", (two, three))
    assert questions(TEXT) == [first, QuizQuestion(2, "And then?", (nothing,))]
    assert questions("No quiz at all.") == []
