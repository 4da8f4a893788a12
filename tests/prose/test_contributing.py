"""What the folders' README.md show under "Add ..." is code: it works in its one file."""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from browser import ROOT
from sklearn.dummy import DummyRegressor

import limetutor as lt
from limetutor.auditing.checks import CHECKS
from limetutor.classroom.bank import questions
from limetutor.core.kernels import KERNELS
from limetutor.core.sampler import SAMPLERS, Bins
from limetutor.core.truncated import tilted_normal
from limetutor.course.figures.parts import bell
from limetutor.course.judging import kinds
from limetutor.exact.readers import FAMILIES, form_of
from limetutor.interactive.frame_table import FrameTable
from limetutor.interactive.frames import markup
from limetutor.interactive.layers import in_layers
from limetutor.lime.selection_and_ridge import Moments
from limetutor.plotting.handles import handle
from limetutor.plotting.style import color
from limetutor.switches.estimators import READERS

PAGES = sorted((ROOT / "limetutor").rglob("README.md"))
BLOCK = re.compile(r"(?ms)^```(diff|python)\n(.*?)^```$")
F, XI, WORLD = lt.Linear([1.0, 2.0]), [0.3, 0.3], lt.Gaussian()


class Example(NamedTuple):
    """A block, and the file that its section names first."""

    file: Path
    kind: str
    text: str

    @property
    def added(self) -> str:
        """The lines that it adds, in a diff those before the registry it ends in."""
        if self.kind == "python":
            return self.text
        lines = self.text.splitlines()
        end = next((k for k, line in enumerate(lines) if line[:1] != "+"), len(lines))
        return "\n".join(line[1:] for line in lines[:end]) + "\n"

    @property
    def module(self) -> ModuleType:
        """The module that it is an addition to."""
        path = self.file.relative_to(ROOT).with_suffix("")
        return importlib.import_module(".".join(path.parts))

    def executed(self) -> dict:
        """What it defines, in the namespace of its file."""
        scope = dict(vars(self.module))
        exec(compile(self.added, "an example", "exec"), scope)
        return scope

    def applied(self, code: str) -> str:
        """A file after this change."""
        rest = [line for line in self.text.splitlines()[self.added.count("\n") :] if line]
        old, new = ("\n".join(line[1:] for line in rest if line[0] in " " + s) for s in "-+")
        if not rest:
            return f"{code}\n\n{self.added}"
        assert code.count(old) == 1, f"{self.file} has not, or not once:\n{old}"
        at = code.index(old)  # the additions go before the statement that holds it
        start = [match.start() for match in re.finditer(r"(?m)^\w", code[: at + 1])][-1]
        return f"{code[:start]}{self.added}\n\n{code[start:].replace(old, new)}"


def examples() -> dict[str, Example]:
    """All blocks by their first added line."""
    result: dict[str, Example] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            section = re.split(r"(?m)^(?:#|\*\*… )", text[: block.start()])[-1]
            names = re.findall(r"`([\w/.]+\.py)`", section)
            files = [p for n in names for p in (ROOT / n, page.parent / n) if p.is_file()]
            example = Example(files[0] if files else page, block[1], block[2])
            assert result.setdefault(example.added.partition("\n")[0], example) is example
    return result


EXAMPLES = examples()
MODULES = ("TriangleKernel", "Rejection", "DummyRegressor", "class Month", "@check", "@reader",
           "largest_correlation")  # fmt: skip
OTHERS = ("Value(", "def panels", "@command", "Standalone(")


def example(word: str) -> Example:
    (found,) = [example for line, example in EXAMPLES.items() if word in line]
    return found


def test_every_example_is_tried_here():
    assert len(EXAMPLES) == len(MODULES) + len(OTHERS)
    assert len({example(word) for word in MODULES + OTHERS}) == len(EXAMPLES)


@pytest.mark.parametrize("page", [p for p in PAGES if p.parent.name != "limetutor"], ids=str)
def test_a_readme_lists_every_file_of_its_folder(page):
    """In its table, with what it may import, on one page."""
    text, folder = page.read_text(encoding="utf-8"), page.parent
    table = "".join(re.findall(r"(?m)^\|.*", text))
    listed = {folder / name for name in re.findall(r"`(\w+(?:\.py|/))`", table)}
    files = {p for p in folder.iterdir() if p.is_dir() or p.suffix == ".py"}
    assert {p for p in files if p.name[:2] != "__"} <= listed
    assert "may import" in text and len(text.splitlines()) <= 75


@pytest.mark.slow
def test_examples_pass_ruff_and_mypy(tmp_path):
    """All diffs of modules at once, in a copy of the package."""
    shutil.copytree(ROOT / "limetutor", tmp_path / "limetutor")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    changed = set()
    for change in map(example, MODULES):
        path = tmp_path / change.file.relative_to(ROOT)
        path.write_text(change.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
        changed.add(path)
    for tool in ("ruff check", "mypy --cache-dir=.cache"):
        command = [sys.executable, "-m", *tool.split(), *sorted(changed)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.fixture
def registries():
    """Registries as they were before the test."""
    before = [(registry, registry.copy()) for registry in (KERNELS, FAMILIES, CHECKS, READERS)]
    yield
    for registry, members in before:
        if isinstance(registry, list):
            registry[:] = members
        else:
            registry.clear()
            registry.update(members)


def test_a_kernel(registries):
    example("TriangleKernel").executed()
    ex = lt.explain(F, XI, WORLD, 1.5, kernel="triangle", seed=0, keep=True)
    expected = np.prod(np.maximum(1 - np.abs(ex.x - XI) / 1.5, 0), axis=1)
    np.testing.assert_allclose(ex.weights, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="factor"):
        lt.limit(F, XI, WORLD, 1.5, "triangle")


def test_a_sampler(monkeypatch):
    rejection = example("Rejection").executed()["Rejection"]()
    monkeypatch.setitem(SAMPLERS, "rejection", rejection)
    ex = lt.explain(F, XI, WORLD, 1.0, 40_000, 0, sampler="rejection")
    assert np.all(np.abs(ex.coef - lt.limit(F, XI, WORLD, 1.0).coef) < 4 * ex.stderr)
    assert ex.ess == pytest.approx(40_000)
    # labels and numbers with gaps, beside weighted samples
    table = pd.DataFrame({"v": [0.1, 0.5, None, 2.0, 3.5] * 20, "home": ["own", "rent"] * 50})
    world = lt.Empirical(table, p=2, categorical=["home"])
    f = lambda x: x["v"].fillna(9.0).to_numpy() * (x["home"] == "own").to_numpy()  # noqa: E731
    asked = {"f": f, "xi": table.iloc[3], "world": world, "nu": 1.0, "n": 20_000, "seed": 0}
    kept, weighed = (lt.explain(**asked, sampler=s) for s in ("rejection", "bins"))
    assert np.all(np.abs(kept.coef - weighed.coef) < 4 * np.hypot(kept.stderr, weighed.stderr))


def test_a_sampler_that_draws_no_codes_of_labels_is_refused():
    class Mirrored(Bins):
        """Pairs around the mean, which labels do not have."""

        name = "mirrored"

        def draw(self, problem, rng, n):
            x, _ = super().draw(problem, rng, -(-n // 2))
            x = np.vstack([x, 2 * problem.boxes.mu - x])[:n]
            return x, problem.boxes.discretize(x) == problem.box_of_xi

    table = np.column_stack([np.arange(60.0), np.tile([0, 1, 5], 20)])
    world = lt.Empirical(table, categorical=[1])
    with pytest.raises(
        ValueError, match=r"sampler must draw the codes of labels, .* for 'x2', got"
    ):
        lt.explain(lambda x: x[:, 0], table[0], world, 9.0, sampler=Mirrored())
    gaps = table.copy()
    gaps[::7] = np.nan
    world = lt.Empirical(gaps, categorical=[1])
    with pytest.raises(ValueError, match=r"sampler must draw the codes of labels"):
        lt.explain(lambda x: np.nan_to_num(x[:, 0]), gaps[1], world, 9.0, sampler=Mirrored())
    lt.explain(lambda x: x[:, 0], table[0], lt.Empirical(table), 9.0, sampler=Mirrored(), seed=0)


def test_a_model(registries):
    example("DummyRegressor").executed()
    model = DummyRegressor().fit(np.zeros((4, 2)), [1, 2, 3, 6])
    assert form_of(model)(np.zeros((1, 2)))[0] == 3
    assert lt.limit(model, [0.1, 0.2], WORLD, 1.0).method == "exact"


def test_a_model_of_switches():
    model = DummyRegressor().fit(np.zeros((4, 2)), [1, 2, 3, 6])
    form = example("@reader").executed()["_dummy"](model, "predict", None, 2, 0)
    np.testing.assert_array_equal(form(np.array([[0, 1], [1, 1]])), [3, 3])


def test_a_rule_of_selection():
    gram, response = np.diag([1.0, 4.0, 1.0])[None], np.array([[1.0, 1.0, -3.0]])
    sums = Moments(None, None, None, None, gram, response, None)
    kept = example("largest_correlation").executed()["largest_correlation"](sums, 2, None)
    np.testing.assert_array_equal(kept, [[True, False, True]])


def test_a_kind_of_column():
    month = example("class Month").executed()["Month"]()
    X = np.repeat(np.arange(1.0, 13), 5)[:, None]
    boxes = lt.Empirical(X, kinds={0: month}).boxes()
    assert boxes.edges[0].tolist() == [3, 6, 9]
    assert boxes.describe(0, 1) == "3 < x1 <= 6"


def test_a_finding(registries):
    example("@check").executed()
    ex = lt.explain(lt.Linear([1.0]), [0.3], lt.Gaussian(p=2), 1.0, seed=0)
    assert "two-boxes" in lt.audit(ex)


def test_an_exercise():
    scope = {**vars(kinds), "tilted_normal": tilted_normal, "np": np}
    (exercise,) = eval(f"({example('Value(').added})", scope)
    assert exercise.judge("0,8").kind == "right"
    assert "square" in exercise.judge(2 / 3).words
    assert exercise.judge(0.5).words.endswith("You are asked for the mean of the tilted law.")
    assert exercise.variant(np.random.default_rng(0)).given["nu"].value != 0.5


def test_a_figure_in_layers_with_a_handle():
    scope = {"GRID": np.linspace(-2, 2, 9), "bell": bell, "color": color}
    scope |= {"handle": handle, "in_layers": in_layers}
    exec(example("def panels").added, scope)
    controls = {"nu": lt.Slider(0.5, 2, 1, stops=3), "xi": lt.Slider(-1, 1, 0, stops=5)}
    table = FrameTable(scope["my_figure"], (6.4, 3.6), controls, "p")
    assert [len(layer.roots) for layer in table.layers] == [1, 15, 5, 5]
    assert 'data-handle="xi"' in markup(table.page("A law."))


def test_a_command(tmp_path, capsys, monkeypatch):
    commands = importlib.import_module("limetutor.cli.commands")
    monkeypatch.setitem(commands.COMMANDS, "rows", None)  # is taken out again
    example("@command").executed()
    (tmp_path / "table.csv").write_text("a,b\n1,2\n3,4\n")
    assert importlib.import_module("limetutor.cli").main(["rows", str(tmp_path / "table.csv")]) == 0
    assert capsys.readouterr().out == "2\n"


def test_a_variant_for_the_question_bank():
    (name,) = eval(f"{{{example('Standalone(').added}}}", dict(vars(questions)))
    assert name in questions.VARIED
