"""What a chapter promises in prose, turned into code that can fail.

``<!-- number: 7.50 = expr -->`` behind a paragraph says where a number comes from, and
``{solution}`` blocks hold code that must satisfy the exercise. :func:`with_promises` puts both
into a copy of the notebook as ordinary cells, at the place where a reader would meet them.
``make notebooks`` executes these copies (written by tools/promises.py), not the chapters as well.
"""

from __future__ import annotations

import re

import nbformat

NUMBER = re.compile(r"<!-- number: (?P<shown>\S+) = (?P<code>.+?)(?: ; word: (?P<word>.+?))? -->")
SOLUTION = re.compile(
    r"(?ms)^(?P<fence>`{3,})\{solution\} (?P<label>\S+)$.*?^```python\n(?P<code>.*?)^```$.*?^(?P=fence)$"
)
CHECK = re.compile(r"lt\.check\(\"(?P<name>[^\"]+)\", (?P<answer>\w+)\)")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\w)")

PRELUDE = """
def _check_number(shown, value):
    text = shown.replace("−", "-").rstrip("%")
    digits = len(text.partition(".")[2])
    computed = f"{float(value):.{digits}f}"
    assert float(computed) == float(text), f"the prose says {shown}, the code gives {computed}"


def _check_solution(name, answer, code):
    from limetutor.course.answers import verdict

    scope = dict(globals())  # what a solution sets is not there for the cells that follow
    exec(code, scope)
    right, text = verdict(name, scope[answer])
    assert right, f"the solution of {name} is refused: {text}"
"""


def with_promises(
    notebook: nbformat.NotebookNode, home: str | None = None
) -> nbformat.NotebookNode:
    """A copy of the notebook with a cell behind each promise that checks it.

    ``home`` is where the chapter runs, as seen from the folder of the copy.  The new cells have
    no outputs and no number, so that nbval runs them and compares nothing.
    """
    solutions = solutions_of(notebook)
    prelude = PRELUDE if home is None else f"__import__('os').chdir({home!r})\n{PRELUDE}"
    cells = [nbformat.v4.new_code_cell(prelude)]
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            lines = [
                f"_check_number({found['shown']!r}, {found['code']})"
                for found in NUMBER.finditer(cell.source)
            ]
        else:
            lines = [
                f"_check_solution({name!r}, {answer!r}, {solutions[label_of(name)]!r})"
                for name, answer in CHECK.findall(cell.source)
            ]
        cells += [nbformat.v4.new_code_cell(line) for line in lines]
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def label_of(exercise: str) -> str:
    """The label of an exercise in the text: switch-off/1 is ex-switch-off-1."""
    return "ex-" + exercise.replace("/", "-")


def solutions_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The code of each solution by the label of its exercise."""
    return {
        found["label"]: found["code"].strip()
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for found in SOLUTION.finditer(cell.source)
    }


def exercises_of(notebook: nbformat.NotebookNode) -> list[str]:
    """Names of the exercises that the notebook checks."""
    return [
        name
        for cell in notebook.cells
        if cell.cell_type == "code"
        for name, _ in CHECK.findall(cell.source)
    ]


def prose(markdown: str) -> str:
    """Markdown without code, comments, links and options: what a reader reads."""
    text = re.sub(r"(?ms)^```python$.*?^```$", "", markdown)
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    text = re.sub(r"(?m)^:\w+:.*$", "", text)
    return re.sub(r"\]\([^)]*\)|https?://\S+|(?<!`)`[^`\n]+`(?!`)", "", text)


def unaccounted_numbers(notebook: nbformat.NotebookNode) -> list[str]:
    """Decimals in the prose that no code cell holds and no comment derives."""
    cells = [c.source for c in notebook.cells if c.cell_type == "code"]
    code = "\n".join([*cells, *solutions_of(notebook).values()])
    given = set(DECIMAL.findall(code))
    derived = {
        found["shown"].lstrip("-−+").rstrip("%")
        for cell in notebook.cells
        for found in NUMBER.finditer(cell.source)
    }
    texts = [prose(c.source) for c in notebook.cells if c.cell_type == "markdown"]
    texts += [
        c.metadata.get("mystnb", {}).get("figure", {}).get("caption", "") for c in notebook.cells
    ]
    found = [number for text in texts for number in DECIMAL.findall(text)]
    return [number for number in found if number not in given | derived]


def misplaced_numbers(notebook: nbformat.NotebookNode) -> list[str]:
    """Comments whose number does not stand in the paragraph they belong to."""
    missing = []
    for cell in notebook.cells:
        for found in NUMBER.finditer(cell.source):
            said = found["word"] or found["shown"].lstrip("-−+")
            if said not in prose(cell.source).replace("\u202f", "").replace("{,}", ","):
                missing.append(said)
    return missing
