"""The answer boxes of the page, from the declarations in limetutor/course/exercises.

The code cell with ``lt.check("switch-off/1", answer)`` that follows an exercise in the notebook is
folded away on the page, where nobody can run it, and a box takes its place: a form that knows the
table of its exercise, a link to a kernel where a function is asked, points to compare with where a
paragraph is. ``data_for_page`` is what answers.js and progress.js work with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_exercise.nodes import is_exercise_node, solution_node

import notation

CHECK = re.compile(r'lt\.check\("([^"]+)", \w+\)')


def label_of(exercise: str) -> str:
    """The label of an exercise on the page: switch-off/1 is ex-switch-off-1."""
    return "ex-" + exercise.replace("/", "-")


# --- what the scripts are told ---------------------------------------------------------------------


def data_for_page() -> dict[str, Any]:
    """The grammar of answers, how verdicts begin, and what there is to do on each page."""
    from limetutor.course.judging import grammar, tables

    pages = list(pages_with_something_to_do())
    return {"grammar": grammar.for_page(), "begins": tables.BEGINS, "pages": pages}


def pages_with_something_to_do() -> Iterator[dict[str, Any]]:
    """Each page in reading order with its numbers of exercises and of questions in its quiz."""
    from limetutor.course.exercises import chapters
    from limetutor.course.quizzes import questions

    for path in notation.reading_order():
        quiz = len(questions("\n\n".join(raw_markdown(path))))
        exercises = len(chapters().get(path.stem, ()))
        if quiz or exercises:
            page = path.relative_to(notation.BOOK.parent).with_suffix("").as_posix()
            chapter = notation.label_of(path).partition("-")[2]
            yield {"page": page, "chapter": chapter, "exercises": exercises, "quiz": quiz}


def raw_markdown(path: Path) -> list[str]:
    """The Markdown of a page as it stands, cell by cell."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return [text]
    cells = json.loads(text)["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def script() -> str:
    """The data as the script that comes before the others."""
    data = json.dumps(data_for_page(), ensure_ascii=True)
    here = 'document.querySelector(".lt-progress")?.dataset.page'
    return (
        f"globalThis.limetutor = {data};\n"
        f"limetutor.here = limetutor.pages.find(({{ page }}) => page === {here});\n"
    )


# --- the page --------------------------------------------------------------------------------------


def put_boxes(app: Sphinx, doctree: nodes.document) -> None:
    """Put a box in place of each cell that checks a declared exercise, and the panel at the end."""
    from limetutor.course.exercises import exercises

    for solution in doctree.findall(solution_node):
        solution["classes"].append(f"solution-of-{solution['target_label']}")
    titles = {node["label"]: title_of(node) for node in doctree.findall(is_exercise_node)}
    cells = [node for node in doctree.findall(nodes.container) if is_code_cell(node)]
    for cell in cells:
        found = CHECK.search(cell.astext())
        if found and found[1] in exercises():
            exercise = exercises()[found[1]]
            box = BOXES[exercise.answered](exercise, titles[label_of(found[1])], app)
            fold(cell, box)
    page = app.env.docname
    if any(entry["page"] == page for entry in pages_with_something_to_do()):
        section = doctree.next_node(nodes.section)
        if section is not None:
            section += html(PANEL.format(page=escape(page)))


def title_of(exercise: nodes.Element) -> str:
    """Its title without the word Exercise, or that."""
    title = exercise.next_node(nodes.subtitle) or exercise.next_node(nodes.title)
    return title.astext() if title else "Exercise"


def is_code_cell(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and node.get("nb_element") == "cell_code"


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def fold(cell: nodes.Element, box: str) -> None:
    """The box, and the cell behind it in a fold, without what it printed."""
    for output in list(cell.findall(nodes.container)):
        if output.get("nb_element") == "cell_code_output":
            output.parent.remove(output)
    start = '<details class="lt-python"><summary>The same in Python</summary>'
    place = cell.parent.index(cell)
    cell.parent[place : place + 1] = [html(box + start), cell, html("</details>")]


# --- the three kinds of boxes ------------------------------------------------------------------------


def answer_box(exercise: Any, title: str, app: Sphinx) -> str:
    """A form that judges."""
    label, table = label_of(exercise.name), exercise.table
    return f"""<form class="lt-answer" data-label="{label}" data-table="{table.for_page()}"
 aria-label="Exercise: {escape(title)}" autocomplete="off" hidden>
<label for="answer-{label}">Your answer <span>{escape(how_to_write(exercise))}</span></label>
<div class="lt-line"><input type="text" id="answer-{label}" data-exercise="{escape(exercise.name)}"
 autocapitalize="off" autocorrect="off" spellcheck="false" enterkeyhint="done">
<button type="submit">Check</button></div>
<p role="status"></p>
<p class="lt-offer" hidden><button type="button">Show the solution</button></p>
</form>"""


def how_to_write(exercise: Any) -> str:
    """In brackets behind the label: how many numbers, to how many digits."""
    from limetutor.course.judging.kinds import DIGITS

    digits = getattr(exercise, "digits", None)
    count = exercise.table.arrange.removeprefix("Give ").removesuffix(".")
    whole = digits and all(value.is_integer() for value in exercise.value.ravel().tolist())
    return f"({count}; {DIGITS[digits]})" if digits and not whole else f"({count})"


def kernel_box(exercise: Any, title: str, app: Sphinx) -> str:
    """A function needs Python."""
    docname = app.env.docname
    repository = app.config.html_theme_options.get("repository_url", "").rstrip("/")
    project = repository.removeprefix("https://github.com/")
    branch = app.config.html_theme_options.get("repository_branch", "main")
    binder = f"https://mybinder.org/v2/gh/{project}/{branch}?urlpath=lab/tree/{docname}.ipynb"
    colab = f"https://colab.research.google.com/github/{project}/blob/{branch}/{docname}.ipynb"
    return f"""<div class="lt-own" data-label="{label_of(exercise.name)}">
<p>A function is tried on inputs of its own, which needs Python: open this chapter in
<a class="reference external" href="{escape(binder)}">Binder</a> or
<a class="reference external" href="{escape(colab)}">Colab</a>, write it there and run the cell below it.</p>
{done(exercise, title, "Solved there")}</div>"""


def points_box(exercise: Any, title: str, app: Sphinx) -> str:
    """A paragraph is compared by its reader."""
    label = label_of(exercise.name)
    points = "".join(f"<li>{escape(point)}</li>" for point in exercise.rubric)
    return f"""<div class="lt-own" data-label="{label}">
<div hidden><label for="text-{label}">Your text (kept in this browser only)</label>
<textarea id="text-{label}" rows="5"></textarea></div>
<details class="answer"><summary>Points to compare your text with</summary><ol>{points}</ol></details>
{done(exercise, title, "I have written my answer and compared it")}</div>"""


def done(exercise: Any, title: str, words: str) -> str:
    """A box to tick, for the progress."""
    return (
        f'<p hidden><label><input type="checkbox" data-done="{escape(exercise.name)}" '
        f'aria-label="{words}: {escape(title)}" autocomplete="off"> {words}</label></p>'
    )


BOXES = {"box": answer_box, "kernel": kernel_box, "points": points_box}

PANEL = """<section class="lt-progress" data-page="{page}" aria-label="Your progress" hidden>
<p></p>
<div class="lt-line"><label for="lt-code">Your results as a code</label>
<input id="lt-code" type="text" readonly>
<button type="button">Copy my results</button> <button type="button">Forget them</button></div>
<p role="status"></p>
</section>"""
