"""The questions to guess at: each is answered behind it, and no earlier page gives its answer away."""

import json
import re

import notation
import pytest
import yaml
from browser import ROOT

GUESS = "**Guess first"
GUESSES = yaml.safe_load((ROOT / "book" / "guesses.yml").read_text(encoding="utf-8"))
PAGES = [path for path in notation.reading_order() if path.suffix == ".ipynb"]
LISTED = [(page, guess) for page, guesses in GUESSES.items() for guess in guesses]


def text_of(path):
    """All that a reader may see of a page, folds, captions and what its code printed included."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        parts.append("".join(cell["source"]) if cell["cell_type"] == "markdown" else "")
        parts.append(cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", ""))
        for output in cell.get("outputs", ()):
            shown = output.get("text") or output.get("data", {}).get("text/plain", "")
            parts.append("".join(shown))
    return re.sub(r"(?s)<!--.*?-->", "", "\n".join(parts))


TEXTS = {path.stem: text_of(path) for path in PAGES}


def test_every_question_is_listed():
    asked = {page: text.count(GUESS) for page, text in TEXTS.items() if GUESS in text}
    assert asked == {page: len(guesses) for page, guesses in GUESSES.items()}


def test_every_chapter_of_the_story_asks_something():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    story = [toc["root"], *(entry["file"] for entry in toc["parts"][0]["chapters"])]
    assert {name.removeprefix("book/") for name in story} <= set(GUESSES)


@pytest.mark.parametrize(("page", "guess"), LISTED, ids=[page for page, _ in LISTED])
def test_the_answer_comes_behind_the_question_and_nowhere_before(page, guess):
    text = TEXTS[page]
    assert text.count(guess["ask"]) == 1
    before, _, behind = text.partition(guess["ask"])
    assert GUESS in before[-400:] + guess["ask"]
    answer = behind[: behind.index("</details>", behind.index('<details class="answer">'))]
    assert any(re.search(pattern, answer) for pattern in guess["answer"]), (
        "none of the patterns is in its answer"
    )
    earlier = [path.stem for path in PAGES][: [path.stem for path in PAGES].index(page)]
    for pattern in guess["answer"]:
        for name, told in [*((n, TEXTS[n]) for n in earlier), (page, before)]:
            found = re.search(f".{{0,60}}(?:{pattern}).{{0,40}}", told)
            assert not found, f"{name} gives it away: {found[0]}"
