"""What a chapter promises in prose, turned into code that can fail.

``<!-- number: 7.50 = expr -->`` behind a paragraph says where a number comes from,
``<!-- stop: fig-mine nu=0.53 : expr -->`` that a task can be done, since the figure has this stop and
there the expression (of ``nu``, and of all that the notebook has) is true, and ``{solution}`` blocks hold
code that must satisfy the exercise. :func:`with_promises` puts them into a copy of the notebook as
ordinary cells, at the place where a reader would meet them.
``make notebooks`` executes these copies (written by tools/promises.py), not the chapters as well.
"""

import re
from pathlib import Path

import nbformat

NUMBER = re.compile(r"<!-- number: (?P<shown>\S+) = (?P<code>.+?)(?: ; word: (?P<word>.+?))? -->")
STOP = re.compile(r"<!-- stop: (?P<figure>[\w-]+) (?P<stops>[^:]+?) : (?P<code>.+?) -->")
# "Drag it until the error vanishes", "find the bandwidth at which …", "put ξ at 0.6"
TASK = re.compile(
    r"\b(?:drag|move|go|push|lower|raise|make|shrink|widen|increase|decrease)\b[^.?]*\buntil\b"
    r"|\bfind (?:a|the) (?:bandwidth|position|place|width|stop|number)\b|\bbring\b"
    r"|\b(?:put|set) [^.?]*(?:ξ|ν|\\xi|\\nu)[^.?]*\d",
    re.IGNORECASE,
)
BLOCK = r"(?ms)^(?P<fence>`{{3,}})\{{{}\}}(?P<first>[^\n]*)$(?P<body>.*?)^(?P=fence)$"
SOLUTION, EXERCISE = (re.compile(BLOCK.format(kind)) for kind in ("solution", "exercise"))
PYTHON = re.compile(r"(?ms)^```python\n(.*?)^```$")
BOLD = re.compile(r"\*\*(.+?)\*\*")
CHECK = re.compile(r"lt\.check\(\"(?P<name>[^\"]+)\", (?P<answer>\w+)\)")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.]*\w)")

PRELUDE = (Path(__file__).parent / "prelude.txt").read_text("utf-8")


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
            lines += [check_of_stop(notebook, found) for found in STOP.finditer(cell.source)]
        else:
            lines = [
                f"_check_solution({name!r}, {answer!r}, {solutions[label_of(name)]!r})"
                for name, answer in CHECK.findall(cell.source)
                if label_of(name) in solutions
            ]
        cells += [nbformat.v4.new_code_cell(line) for line in lines]
    return nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)


def check_of_stop(notebook: nbformat.NotebookNode, found: re.Match[str]) -> str:
    """The line that checks a stop: it runs the cell of the figure to see its controls."""
    stops = dict(pair.split("=") for pair in found["stops"].split())
    named = [
        c.source
        for c in notebook.cells
        if c.metadata.get("mystnb", {}).get("figure", {}).get("name") == found["figure"]
    ]
    assert len(named) == 1, f"no figure is called {found['figure']}"
    holds = f"lambda {', '.join(stops)}: {found['code']}"
    return f"_check_stop({found['figure']!r}, {named[0]!r}, {stops!r}, {holds})"


def tasks_without_a_stop(notebook: nbformat.NotebookNode) -> list[str]:
    """Sentences that ask to bring a control to a place, in cells with too few stops behind them."""
    missing = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = SOLUTION.sub("", EXERCISE.sub("", cell.source)).partition('<div class="quiz">')[
                0
            ]
            text = re.sub(r"(?s)<details.*?</details>|```\{prf.*?```", "", text)
            sentences = [s for s in re.split(r"(?<=[.?])\s", prose(text)) if TASK.search(s)]
            if len(sentences) > len(STOP.findall(cell.source)):
                missing += sentences
    return missing


def label_of(exercise: str) -> str:
    """The label of an exercise in the text: switch-off/1 is ex-switch-off-1."""
    return "ex-" + exercise.replace("/", "-")


def blocks(notebook: nbformat.NotebookNode, kind: re.Pattern[str]) -> list[re.Match[str]]:
    """The exercises or the solutions of a notebook, in order."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [found for source in cells for found in kind.finditer(source)]


def questions_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The text of each exercise by its label."""
    found = [block["body"] for block in blocks(notebook, EXERCISE)]
    return {re.search(r":label: (\S+)", body)[1]: body for body in found}  # type: ignore[index]


def solution_texts(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The text of each solution by the label of its exercise."""
    return {found["first"].strip(): found["body"] for found in blocks(notebook, SOLUTION)}


def solutions_of(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The code of each solution that has some, by the label of its exercise."""
    return {
        label: code[1].strip()
        for label, text in solution_texts(notebook).items()
        if (code := PYTHON.search(text))
    }


def stated_answers(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The answer that a solution states, its last words in bold, by the label of its exercise."""
    return {
        label: bold[-1]
        for label, text in solution_texts(notebook).items()
        if (bold := BOLD.findall(PYTHON.sub("", text)))
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
    """Decimals in the prose that stand in no code cell, and in no comment that checks something."""
    cells = [c.source for c in notebook.cells if c.cell_type == "code"]
    # a stated answer is held against the judge, by a test of its own
    stated = stated_answers(notebook).values()
    text = "\n".join(c.source for c in notebook.cells)
    checks = [found[0] for kind in (NUMBER, STOP) for found in kind.finditer(text)]
    given = DECIMAL.findall("\n".join([*cells, *solutions_of(notebook).values(), *stated, *checks]))
    texts = [prose(c.source) for c in notebook.cells if c.cell_type == "markdown"]
    texts += [
        c.metadata.get("mystnb", {}).get("figure", {}).get("caption", "") for c in notebook.cells
    ]
    found = [number for text in texts for number in DECIMAL.findall(text)]
    return [number for number in found if number not in given]


def misplaced_numbers(notebook: nbformat.NotebookNode) -> list[str]:
    """Comments whose number does not stand in the paragraph they belong to."""
    missing = []
    for cell in notebook.cells:
        for found in NUMBER.finditer(cell.source):
            said = found["word"] or found["shown"].lstrip("-−+")
            if said not in prose(cell.source).replace("\u202f", "").replace("{,}", ","):
                missing.append(said)
    return missing
