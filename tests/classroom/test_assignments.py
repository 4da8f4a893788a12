"""The assignments: one source, two versions, questions that are judged as in the book."""

import inspect
import json
import re
import statistics
import sys
import warnings

import nbformat
import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from limetutor.classroom import hint, numbers
from limetutor.classroom.assignments import assignments, exercise
from limetutor.classroom.notebooks import cells, opened, original
from limetutor.classroom.questions import identity
from limetutor.classroom.release import IDS, released, solved
from limetutor.cli import main
from limetutor.course.datasets import diabetes
from limetutor.course.judging.kinds import Function

NAMES = list(assignments())
QUESTIONS = [q for a in assignments().values() for q in a.questions]
FUNCTIONS = [q for q in QUESTIONS if isinstance(q.exercise, Function)]
by_name = pytest.mark.parametrize("name", NAMES)


def answers(name: str) -> dict:
    """The names that the solutions define, without the cells that only use them."""
    scope: dict = {"student": "ada", "hint": lambda *a: None, "numbers": numbers}
    for cell in cells(solved(original(name), name)):
        if cell.kind == "code" and cell.role in ("locked", "answer"):
            if "my_what_if = ..." in cell.text:
                scope["row"] = numbers("the_audit/my_what_if", "ada")["row"]
            exec(cell.text, scope)
    return scope


@by_name
def test_the_solutions_are_right(name):
    scope = answers(name)
    for question in assignments()[name].judged:
        assert question.of("ada").judge(scope[question.answer]).kind == "right", question.name


@by_name
def test_there_is_enough_to_do_and_every_cell_has_its_question(name):
    assignment = assignments()[name]
    assert assignment.max_points >= 10
    found = {c.name: c for c in cells(original(name)) if c.name}
    for question in assignment.questions:
        short = question.name.partition("/")[2]
        if question.machine:
            assert found[short].role == "question" and found[f"{short}-answer"].role == "answer"
            assert found[short].text.startswith(f'hint("{question.name}", {question.answer}')
        else:
            assert found[short].kind == "markdown" and found[short].role == "answer"
    raw = [c for c in original(name).cells if c.metadata.get("nbgrader", {}).get("grade")]
    points = {c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points for c in raw}
    assert points == {q.name.partition("/")[2]: q.points for q in assignment.questions}
    text = "\n".join(c.source for c in original(name).cells if c.cell_type == "markdown")
    stated = [int(n) for n in re.findall(r"\*\((\d+) points?", text)]
    assert stated == [q.points for q in assignment.questions]
    person = sum(q.points for q in assignment.questions if not q.machine)
    assert re.search(rf"\*\*Points\*\* {assignment.max_points} for .* {person} for ", text)


@by_name
def test_students_get_no_solution_and_no_hidden_input(name):
    """Nothing between the marks, no model answer, no line of the module that knows what is right."""
    ours, version = original(name), released(original(name), name)
    # sources, outputs, metadata and attachments
    text = json.dumps([[c.source for c in version.cells], version], ensure_ascii=False)
    lines = set()
    for cell in ours.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            regions = re.findall(r"(?s)### BEGIN SOLUTION\n(.*?)### END", cell.source)
            for region in regions or [cell.source]:
                lines |= {line.strip() for line in region.splitlines() if len(line.strip()) > 12}
    module = sys.modules[f"limetutor.classroom.assignments.{name}"]
    code = [line.strip() for line in inspect.getsource(module).splitlines()]
    code = [line for line in code if not line.startswith(('"', "import", "from"))]
    lines |= {line for line in code if len(line) > 25}
    assert len(lines) > 50
    assert [line for line in lines if json.dumps(line, ensure_ascii=False)[1:-1] in text] == []
    assert "SOLUTION" not in text and "raise NotImplementedError" in text
    assert not any(cell.get("outputs") for cell in version.cells)
    nbformat.validate(version)


@by_name
def test_both_versions_come_from_one_source(name, tmp_path):
    """They have the same cells but for answers and rubrics."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["class", "release", "--out", str(tmp_path / "a b")]) == 0
    assert main(["class", "solution", "--out", str(tmp_path / "solved")]) == 0
    ours = cells(opened(tmp_path / "a b" / f"{name}.ipynb"))
    theirs = cells(opened(tmp_path / "solved" / f"{name}.ipynb"))
    theirs = [c for c in theirs if "**Rubric**" not in c.text]
    assert [c.name for c in ours] == [c.name for c in theirs]
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if "released(" not in a.text]
    pairs = [(a.role, a.text.replace(*IDS), b.text) for a, b in pairs]
    assert all((a == b) == (role != "answer") for role, a, b in pairs)


@pytest.mark.parametrize("question", FUNCTIONS, ids=lambda q: q.name)
def test_known_mistakes_bring_their_hints(question):
    for wrong, words in question.exercise.mistakes:
        assert question.exercise.judge(wrong).words == f"✗ Not yet. {words}"


@pytest.mark.parametrize("question", FUNCTIONS, ids=lambda q: q.name)
def test_other_inputs_are_asked_of_other_files(question):
    """And a right function is right for all of them."""
    seen = []

    def watched(*arguments):
        seen.append(repr(arguments))
        return question.exercise.reference(*arguments)

    for seed in range(3):
        tried = question.exercise.tried(watched, np.random.default_rng(seed))
        assert tried.kind == "right"
    assert len(set(seen)) >= 10


def test_rubrics_add_up():
    for question in (q for q in QUESTIONS if not q.machine):
        text = " ".join(question.exercise.rubric)
        assert sum(int(n) for n in re.findall(r"\((\d) points?\)", text)) == question.points


def test_numbers_belong_to_a_student():
    rows = {student: numbers("the_audit/my_what_if", student)["row"] for student in "abcdefgh"}
    assert len(set(rows.values())) > 4
    assert numbers("the_audit/my_what_if", " A ") == {"row": rows["a"]}
    assert identity(" A ") == identity("a") != identity("b")
    assert numbers("the_theorem/my_bandwidth", "Zoë") == numbers("the_theorem/my_bandwidth", "zoë")


def test_hints_get_stronger(capsys):
    hint("lime_from_scratch/edges", lambda p: np.zeros(p - 1))
    hint("lime_from_scratch/edges", lambda p: np.ones(p - 1))
    first, second = capsys.readouterr().out.strip().splitlines()
    edges = exercise("lime_from_scratch/edges")
    assert first.endswith(edges.nudge) and second.endswith(edges.formula)


def test_what_is_no_question_gets_a_sentence():
    with pytest.raises(ValueError, match="name must be that of one of the"):
        hint("lime_from_scratch/nothing", 1)
    with pytest.raises(TypeError, match="student must be a text"):
        numbers("the_audit/my_what_if", 7)


def test_edges_are_those_of_another_library():
    law = statistics.NormalDist()
    right = exercise("lime_from_scratch/edges").reference
    assert np.allclose(right(7), [law.inv_cdf(b / 7) for b in range(1, 7)], rtol=1e-12)


def test_fits_and_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    z, y, w = exercise("lime_from_scratch/fit").inputs(rng)
    theirs = LinearRegression().fit(z, y, w)
    ours = exercise("lime_from_scratch/fit").reference(z, y, w)
    assert np.allclose(ours, [theirs.intercept_, *theirs.coef_])
    share = exercise("lime_from_scratch/score").reference(z, y, w)
    assert np.isclose(share, theirs.score(z, y, w))
    assert np.isclose(exercise("the_audit/fidelity").reference(y, theirs.predict(z), w), share)


def test_coefficients_and_errors_are_those_of_samples():
    """Of a million samples of the tilted law, within 5 standard errors."""
    rng = np.random.default_rng(1)
    a, xi, nu = np.array([3.0, -2.0]), np.array([0.5, -0.2]), 0.6
    x = xi / (1 + nu**2) + nu / np.sqrt(1 + nu**2) * rng.standard_normal((10**6, 2))
    edges = [-0.6744897501960817, 0, 0.6744897501960817]
    z = np.searchsorted(edges, x) == np.searchsorted(edges, xi)
    inside = np.array([x[z[:, j], j].mean() for j in range(2)])
    outside = np.array([x[~z[:, j], j].mean() for j in range(2)])
    noise = 5 * np.abs(a) / np.sqrt((~z).sum(axis=0).clip(max=z.sum(axis=0)))
    found = exercise("the_theorem/coefficients").reference(a, xi, nu)
    assert np.all(np.abs(found - a * (inside - outside)) < noise)
    assert np.abs(exercise("the_theorem/mass").reference(xi, nu) - z.mean(axis=0)).max() < 0.0025
    error = exercise("the_theorem/local_error").reference(a, xi, nu)
    assert abs(error - a @ (inside - xi)) < noise.sum()


def test_every_row_that_a_student_may_get_is_in_the_table():
    class Ends:
        def __init__(self, last):
            self.last = last

        def integers(self, n):
            return n - 1 if self.last else 0

    row = exercise("the_audit/my_what_if").given["row"]
    assert [row.draw(Ends(last)) for last in (False, True)] == [0, len(diabetes().X) - 1]
