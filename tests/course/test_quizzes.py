"""Quizzes as data."""

from __future__ import annotations

from limetutor.course.quizzes import Option, Question, questions

TEXT = """
<details class="answer">
<summary>No quiz</summary>

✓ Nothing.

</details>

<div class="quiz">

**1. How much is $1 + 1$?**

<details>
<summary>Two.</summary>

✓ Yes: $2$.

</details>

<details>
<summary>Three.</summary>

✗ No.

One too many.

</details>

**2. And then?**

<details>
<summary>Nothing.</summary>

✗ Look again.

</details>

</div>

**3. Not in the quiz.**
"""


def test_questions_options_and_reasons_are_read():
    assert questions(TEXT) == [
        Question(
            1,
            "How much is $1 + 1$?",
            (Option("Two.", True, "Yes: $2$."), Option("Three.", False, "No.\n\nOne too many.")),
        ),
        Question(2, "And then?", (Option("Nothing.", False, "Look again."),)),
    ]
    assert questions("No quiz at all.") == []
