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
from lime.lime_tabular import LimeTabularExplainer
from sklearn.linear_model import LinearRegression

import limetutor as lt
from limetutor import classroom
from limetutor.classroom import hint, numbers
from limetutor.classroom.assignments import assignments, edition, exercise
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
    scope |= numbers("the_audit/my_what_if", "ada")  # the row
    for cell in cells(solved(original(name), name)):
        if cell.kind == "code" and cell.role in ("locked", "answer"):
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


def texts(name: str) -> list[str]:
    return [c.source for c in original(name).cells if c.cell_type == "markdown"]


@by_name
def test_the_time_that_is_stated_is_what_it_takes(name):
    """Rates that give the 50 minutes that somebody took for the first: a point of code, words, reading.

    It had no kernel of one's own then, which has two points.
    """
    assignment, text = assignments()[name], "\n".join(texts(name))
    asked = [int(n) for pair in re.findall(r"(\d+) to (\d+) words", text) for n in pair]
    minutes = 2.5 * assignment.max_points + sum(asked) / 2 / 10 + len(text.split()) / 200
    stated = int(re.search(r"\*\*Time\*\* about (\d+) minutes", text)[1])
    assert stated % 5 == 0 and stated == pytest.approx(minutes, abs=5)
    if name == "lime_from_scratch":
        assert stated == pytest.approx(50 + 2 * 2.5, rel=0.15)


@by_name
def test_a_model_answer_is_as_long_as_what_is_asked(name):
    found = {c.name: c.text for c in cells(original(name)) if c.name}
    for question in (q for q in assignments()[name].questions if not q.machine):
        (asked,) = [t for t in texts(name) if "read by a person" in t]
        least, most = map(int, re.search(r"(\d+) to (\d+) words", asked).groups())
        answer = re.sub(r"(?m)^\*.*\*$", "", found[question.answer])
        assert least <= len(answer.split()) <= most
        assert question.exercise.fewest <= least


def test_the_verdict_is_that_of_the_audit():
    """Of the student whose row the model answer names: every number in it."""
    scope = answers("the_audit")
    (text,) = [t for t in texts("the_audit") if "model answer" in t]
    names, runs = scope["names"], [scope["one_run"](seed, scope["row"]) for seed in range(8)]
    coefs = np.array([run[0] for run in runs])
    ten = np.array([scope["one_run"](seed, scope["row"], "decile")[0] for seed in range(3)])
    change = dict(zip(names, scope["my_what_if"], strict=True))
    flips = dict(zip(names, scope["flips"](coefs), strict=True))
    assert f"row {scope['row']};" in text and f"about {scope['my_size']:,.0f}"[:-2] in text
    assert f"accounts for {100 * scope['my_fidelity']:.0f} per cent" in text
    assert f"predict {-change['bmi']:.0f} more" in text and f"s5 {change['s5']:.0f} less" in text
    assert f"adds only {-change['bp']:.0f}." in text
    assert [name for name in names if flips[name]] == ["age", "s1", "s2", "s4"]
    top = [set(np.argsort(-np.abs(run))[:3]) for run in coefs]
    assert all(features == {names.index(n) for n in ("bmi", "s5", "bp")} for features in top)
    for name in ("bmi", "s5", "bp"):
        signs = np.sign(np.vstack([coefs, ten])[:, names.index(name)])
        assert set(signs) == {np.sign(change[name])}
    invented = runs[0][3]
    assert np.mean(invented[:, names.index("sex")] < 0.5) == pytest.approx(0.5, abs=0.05)
    X, distance = scope["X"], scope["strangeness"]
    near = distance(np.delete(X, slice(200), axis=0), X[:200])
    assert np.median(distance(X, invented[1:201])) > 1.5 * np.median(near)


@by_name
def test_lime_draws_as_many_samples_as_by_default(name):
    how = inspect.signature(LimeTabularExplainer.explain_instance).parameters["num_samples"]
    code = "\n".join(c.source for c in original(name).cells)
    assert {int(n) for n in re.findall(r"num_samples=(\d+)", code)} <= {how.default}
    assert code.count("explain_instance(") == code.count("num_samples=")


@by_name
def test_a_question_says_which_standard_deviation(name):
    for text in texts(name):
        assert "standard deviation" not in text or "divides by" in text


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
        return question.exercise.reference(*arguments, **question.exercise.params)

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
    assert rows == {student: numbers("the_audit/my_size", student)["row"] for student in "abcdefgh"}
    assert numbers("the_audit/my_what_if", " A ") == {"row": rows["a"]}
    assert identity(" A ") == identity("a") != identity("b")
    assert numbers("the_theorem/my_bandwidth", "Zoë") == numbers("the_theorem/my_bandwidth", "zoë")


def test_a_notebook_says_its_version_and_so_does_its_import(capsys):
    version = released(original("the_audit"), "the_audit")
    (told,) = [t for c in version.cells for t in re.findall(r'released\("(.+)"\)', c.source)]
    assert told == edition("the_audit") and lt.__version__ in told
    classroom.released(told)
    classroom.released("")  # not released yet
    assert capsys.readouterr().out == ""
    classroom.released(told + "0")
    assert f"of version {told}0, and limetutor here has {told}" in capsys.readouterr().out


def test_hints_get_stronger_and_stop_before_the_solution(capsys):
    hint("lime_from_scratch/edges", lambda p: np.zeros(p - 1))
    hint("lime_from_scratch/edges", lambda p: np.ones(p - 1))
    hint("lime_from_scratch/edges", lambda p: np.full(p - 1, 2.0))
    first, second, third = capsys.readouterr().out.strip().splitlines()
    assert third.endswith(exercise("lime_from_scratch/edges").formula)
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


@pytest.mark.parametrize(("xi", "nu"), [(0.3, 1.0), (-0.9, 0.7), (-0.2, 0.5)])
def test_another_surrogate_and_another_model_are_those_of_samples(xi, nu):
    """By least squares on a million samples of the tilted law, within 5 standard errors."""
    rng = np.random.default_rng(2)
    x = xi / (1 + nu**2) + nu / np.sqrt(1 + nu**2) * rng.standard_normal(10**6)
    edges = [-0.6744897501960817, 0, 0.6744897501960817]
    boxes, own = np.searchsorted(edges, x), np.searchsorted(edges, xi)

    def coefficient(indicators, y):
        design = np.column_stack([np.ones(len(x)), *indicators])
        beta = np.linalg.lstsq(design, y, rcond=None)[0]
        left = y - design @ beta
        return beta[1], np.sqrt(left @ left / len(x) * np.linalg.inv(design.T @ design)[1, 1])

    found, noise = coefficient([boxes == own, boxes == own + 1], x)
    right = exercise("the_theorem/with_neighbour").reference(xi, nu)
    assert abs(found - right) < 5 * noise
    bent = x + exercise("the_theorem/bend").reference(xi, nu) * x**2
    found, noise = coefficient([boxes == own], bent)
    assert abs(found) < 5 * noise


def test_the_last_bandwidth_that_turns_a_sign_is_that_of_a_search():
    """On a grid of positions, the contrasts just below and just above."""
    law, grid = statistics.NormalDist(), np.linspace(-3, 3, 4001) + 1e-4

    def signs(p, nu):
        edges = np.array([-np.inf, *(law.inv_cdf(b / p) for b in range(1, p)), np.inf])
        box = np.searchsorted(edges, grid)
        mean, sd = grid / (1 + nu**2), nu / np.sqrt(1 + nu**2)
        lo, hi = (edges[box - 1] - mean) / sd, (edges[box] - mean) / sd
        return np.sign(np.abs(hi) - np.abs(lo))  # of φ(lo) − φ(hi), and so of the contrast of x

    for p in range(2, 8):
        found = exercise("the_theorem/safe").reference(p)
        wide = signs(p, 50.0)
        assert all(np.array_equal(signs(p, nu), wide) for nu in (1.002 * found + 0.01, 3.0))
        below = np.any(signs(p, 0.98 * found) != wide) if found else False
        assert below == (p > 3)


def test_every_row_that_a_student_may_get_is_in_the_table():
    class Ends:
        def __init__(self, last):
            self.last = last

        def integers(self, n):
            return n - 1 if self.last else 0

    row = exercise("the_audit/my_what_if").given["row"]
    assert [row.draw(Ends(last)) for last in (False, True)] == [0, len(diabetes().X) - 1]
