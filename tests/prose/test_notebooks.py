"""Every notebook of the book: stored outputs can be compared, numbers have a source, cells are short.

That the chapters run is for others to see: ``make html`` draws every picture of every control and
refuses a dead one, ``make notebooks`` compares outputs and checks numbers and solutions.
"""

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from browser import ROOT
from chapter_checks import (
    NUMBER,
    exercises_of,
    label_of,
    misplaced_numbers,
    questions_of,
    solution_texts,
    solutions_of,
    stated_answers,
    tasks_without_a_stop,
    unaccounted_numbers,
    with_promises,
)

from limetutor.course.check import judge
from limetutor.course.exercises import chapters
from limetutor.course.judging.kinds import Paragraph, Tabulated
from limetutor.course.quizzes import questions

NOTEBOOKS = sorted((ROOT / "book").glob("*.ipynb"))
LONGEST_MEDIAN = 6
LONGEST_CODE, LONGEST_PRINT = 74, 76  # characters; at 1280 px 75 fit in a fold, 77 outside
PLOTTING = re.compile(
    r"\bplt\b|matplotlib|pyplot|plotly|seaborn"
    r"|\b(?:ax|axes|fig)\w*\.(?:plot|scatter|bar|hist|imshow|set\w*|subplots|add_\w+)\("
)


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def notebook(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def texts(cell: nbformat.NotebookNode) -> list[str]:
    """The outputs of a cell that nbval compares."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        found += [
            output.data[m] for m in ("text/plain", "text/html") if m in output.get("data", {})
        ]
    return found


def test_stored_outputs_can_be_compared(notebook):
    """nbval skips a cell that was never executed: a stripped notebook would pass."""
    cells = code_cells(notebook)
    assert all(cell.execution_count for cell in cells), "execute it: python book/execute.py"
    assert [cell.execution_count for cell in cells] == sorted(c.execution_count for c in cells)
    ignored = {"nbval-skip", "nbval-ignore-output"}
    compared = [
        text
        for cell in cells
        if not ignored & set(cell.metadata.get("tags", []))
        for text in texts(cell)
        if re.search(r"\d", text)
    ]
    assert compared or not cells, "no number of this notebook is compared"


def test_stored_outputs_are_small_and_stable(path, notebook):
    assert "widgets" not in notebook.metadata
    for cell in code_cells(notebook):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source
            assert "application/vnd.jupyter.widget-view+json" not in output.get("data", {})
        assert "execution" not in cell.metadata
        assert not any(re.search(r" at 0x[0-9a-f]+", text) for text in texts(cell))
        assert not any(str(ROOT) in text for text in texts(cell))
    assert path.stat().st_size < 300_000


def test_cells_are_short_and_plot_by_a_call(notebook):
    cells = code_cells(notebook)
    if cells:
        lengths = [len(cell.source.strip().splitlines()) for cell in cells]
        assert statistics.median(lengths) <= LONGEST_MEDIAN
    for cell in cells:
        found = PLOTTING.search(cell.source)
        assert not found, f"plotting code belongs in limetutor/course/figures: {found.group()}"


def test_lines_fit_on_the_page(notebook):
    """Lines of code and of what it prints (tests/site measures); on a phone code wraps."""
    shown = [c for c in code_cells(notebook) if "remove-cell" not in c.metadata.get("tags", [])]
    for cell in shown:
        printed = [output.text for output in cell.outputs if output.output_type == "stream"]
        assert not [line for line in cell.source.splitlines() if len(line) > LONGEST_CODE]
        assert not [t for text in printed for t in text.splitlines() if len(t) > LONGEST_PRINT]


def test_numbers_in_the_prose_have_a_source(notebook):
    """A decimal stands in a code cell, or a comment behind it says how to compute it."""
    assert not unaccounted_numbers(notebook)
    assert not misplaced_numbers(notebook)
    assert not re.search(r"<!-- number: (\S+) = \1 -->", nbformat.writes(notebook)), "cannot fail"


def test_tasks_that_ask_for_a_place_name_a_stop(notebook):
    """``<!-- stop: figure control=stop : what is so there -->``, which make notebooks checks."""
    assert not tasks_without_a_stop(notebook)


def markdown(notebook: nbformat.NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_every_exercise_has_a_check_and_a_solution(path, notebook):
    text, posed = markdown(notebook), list(questions_of(notebook))
    assert posed == [label_of(name) for name in exercises_of(notebook)]
    assert set(posed) == set(solution_texts(notebook))
    written = {label_of(e.name) for e in chapters().get(path.stem, ()) if isinstance(e, Paragraph)}
    assert set(solutions_of(notebook)) == set(posed) - written
    if "(ch-" in text:
        assert len(posed) >= 2
        assert 'class="quiz"' in text
        assert "## What to take away" in text
        assert "**You will be able to**" in text and "**You need**" in text and "**Time**" in text


def test_exercises_are_as_declared_and_solutions_state_the_answer(path, notebook):
    declared = chapters().get(path.stem, ())
    assert bool(declared) == bool(exercises_of(notebook))
    if not declared:
        return
    asked, stated = questions_of(notebook), stated_answers(notebook)
    chapter = declared[0].name.partition("/")[0]  # the progress counts by the label of the page
    assert re.search(rf"^\((ch|app)-{chapter}\)=$", markdown(notebook), re.MULTILINE)
    assert exercises_of(notebook) == [exercise.name for exercise in declared]
    for exercise in declared:
        question = re.sub("[\u2212–]", "-", asked[label_of(exercise.name)])
        for given in exercise.given.values():
            shown = given.shown.replace("−", "-")
            assert shown in question, f"{exercise.name} does not give {given.label}, {shown}"
        if isinstance(exercise, Tabulated):
            answer = stated[label_of(exercise.name)]
            assert judge(exercise.name, answer).kind == "right", f"{exercise.name}: {answer}"


def test_quizzes_have_three_options_with_a_reason_each(path, notebook):
    found = questions(markdown(notebook))
    assert [question.number for question in found] == list(range(1, len(found) + 1))
    assert sum(len(question.options) for question in found) == markdown(notebook).count(
        "<summary>"
    ) - markdown(notebook).count('<details class="')  # answers to questions, folded proofs
    for question in found:
        assert [option.right for option in question.options].count(True) == 1, question.text
        assert all(option.why for option in question.options), question.text
        assert len(question.options) >= (3 if path.stem in chapters() else 2), question.text


EXERCISE = """```{exercise}
:label: ex-mine-1
How much is it?
```

````{solution} ex-mine-1
```python
answer = 2 * offset
offset = 0
```
````"""


def chapter(*sources: str) -> nbformat.NotebookNode:
    """A small executed notebook; prose starts with a capital, code does not."""
    cells = [
        nbformat.v4.new_markdown_cell(source)
        if source[0].isupper() or source.startswith("```")
        else nbformat.v4.new_code_cell(source, execution_count=1)
        for source in sources
    ]
    return nbformat.v4.new_notebook(cells=cells)


def sources(notebook: nbformat.NotebookNode) -> str:
    return "\n".join(cell.source for cell in code_cells(notebook))


def test_a_wrong_number_would_be_noticed():
    """The comments are read: a number that the code does not give fails the notebook."""
    notebook = chapter("It is 0.51.\n\n<!-- number: 0.51 = 0.5 -->")
    assert NUMBER.search(notebook.cells[0].source)
    with pytest.raises(AssertionError, match=r"the prose says 0\.51, the code gives 0\.50"):
        exec(sources(with_promises(notebook)), {})


FIGURE = """lt.explore(
    None, alt="", nu=lt.Slider(0.5, 2, 1, stops=4), xi=lt.Slider(0, 2, 1, stops=3, fmt="{:d}")
)"""


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        ("nu=1.50 xi=2 : nu * xi == offset", ""),
        ("nu=1.50 : nu == 2", "what the task asks for is not so"),
        ("nu=1.2 : True", r"fig-mine has no stop nu = 1\.2"),
    ],
)
def test_a_task_that_cannot_be_done_would_be_noticed(stop, message):
    notebook = chapter("import limetutor as lt\noffset = 3", FIGURE, "Drag it until it is 3.")
    notebook.cells[1].metadata["mystnb"] = {"figure": {"name": "fig-mine"}}
    assert tasks_without_a_stop(notebook) == ["Drag it until it is 3."]
    notebook.cells[2].source += f"\n\n<!-- stop: fig-mine {stop} -->"
    assert not tasks_without_a_stop(notebook)
    copy = with_promises(notebook)
    run = "\n".join(c.source for c in code_cells(copy) if c.source != FIGURE)
    if message:
        with pytest.raises(AssertionError, match=message):
            exec(run, {})
    else:
        exec(run, {})


def test_a_refused_solution_would_be_noticed_and_a_right_one_leaves_no_trace(monkeypatch):
    from limetutor.course import check
    from limetutor.course.judging.tables import Verdict

    notebook = chapter("offset = 1", EXERCISE, 'pass  # lt.check("mine/1", answer)', "x = offset")
    judged = []

    def judge(name, answer):
        judged.append((name, answer))
        return Verdict("right" if answer == 2 else "wrong", "Think again.")

    monkeypatch.setattr(check, "judge", judge)
    scope: dict[str, object] = {}
    exec(sources(with_promises(notebook)), scope)
    assert judged == [("mine/1", 2)]
    assert scope["x"] == 1 and "answer" not in scope
    notebook.cells[0].source = "offset = 3"
    with pytest.raises(AssertionError, match="the solution of mine/1 is refused: Think again"):
        exec(sources(with_promises(notebook)), {})


@pytest.mark.slow
def test_nbval_runs_the_promises_where_the_chapter_stands(tmp_path):
    """Two chapters that read a file beside them; of one the number is right, of the other not."""
    book = tmp_path / "book"
    book.mkdir()
    (book / "table.txt").write_text("7.5")
    for name, shown in (("right", "7.50"), ("wrong", "7.51")):
        cells = (
            'from pathlib import Path\nvalue = float(Path("table.txt").read_text())',
            f"It is {shown}.\n\n<!-- number: {shown} = value -->",
        )
        nbformat.write(chapter(*cells), book / f"{name}.ipynb")
    tool = [sys.executable, ROOT / "tools" / "promises.py", "book", "_build/promised"]
    subprocess.run(tool, cwd=tmp_path, check=True)
    command = [sys.executable, "-m", "pytest", "-v", "-p", "nbval.plugin", "--nbval"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*command, "_build/promised"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout
    ends = [
        line.split("Cell ")[1].split()[1]
        for line in done.stdout.splitlines()
        if "right::ipynb::" in line
    ]
    assert ends == ["PASSED"] * 3
    assert "1 failed, 5 passed" in done.stdout and "FAILED _build/promised/wrong" in done.stdout
    assert done.stdout.count("the prose says 7.51, the code gives 7.50") >= 1


def test_copies_of_chapters_that_went_away_go_too(tmp_path, capsys):
    from promises import main

    copies = tmp_path / "copies"
    copies.mkdir()
    (copies / "old.ipynb").write_text("{}")
    assert main([str(ROOT / "book"), str(copies)]) == 0
    assert sorted(p.name for p in copies.iterdir()) == [p.name for p in NOTEBOOKS]
    for bad, code in (([str(tmp_path)], 2), ([str(tmp_path / "nowhere"), str(copies)], 1)):
        capsys.readouterr()
        assert main(bad) == code and capsys.readouterr().err.count("\n") == 1
