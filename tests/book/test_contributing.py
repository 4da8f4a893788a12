"""The examples in CONTRIBUTING.md are code: each one works when it is put into its one file."""

from __future__ import annotations

import importlib
import re

import numpy as np
import pytest
from browser import ROOT
from sklearn.dummy import DummyRegressor

import limetutor as lt
from limetutor.course.figures.parts import bell
from limetutor.families import FAMILIES, form_of
from limetutor.interactive.film import Film
from limetutor.interactive.frames import markup
from limetutor.interactive.layers import in_layers
from limetutor.kernels import KERNELS
from limetutor.plotting.handles import handle
from limetutor.plotting.style import color
from limetutor.sampling import SAMPLERS

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
DIFFS = re.findall(r"(?ms)^```diff\n(.*?)^```$", TEXT)


def added(word: str) -> str:
    """The lines that the diff with this word adds before the registry it ends in."""
    (diff,) = [diff for diff in DIFFS if word in diff]
    lines = []
    for line in diff.splitlines():
        if not line.startswith("+"):
            break
        lines.append(line[1:])
    return "\n".join(lines)


def defined(module: str, word: str) -> dict:
    """What the example defines, in the namespace of its file."""
    scope = dict(vars(importlib.import_module(f"limetutor.{module}")))
    exec(compile(added(word), "CONTRIBUTING.md", "exec"), scope)
    return scope


def test_there_is_one_example_for_each_registry():
    assert len(DIFFS) == 6


def test_a_kernel(monkeypatch):
    scope = defined("kernels", "TriangleKernel")
    monkeypatch.setitem(KERNELS, "triangle", scope["TriangleKernel"]())
    f, xi = lt.Linear([1.0, 2.0]), [0.3, 0.3]
    ex = lt.explain(f, xi, lt.Gaussian(), 1.5, kernel="triangle", seed=0, keep=True)
    expected = np.prod(np.maximum(1 - np.abs(ex.x - xi) / 1.5, 0), axis=1)
    np.testing.assert_allclose(ex.weights, expected, rtol=1e-9)
    with pytest.raises(ValueError, match="factor"):
        lt.limit(f, xi, lt.Gaussian(), 1.5, "triangle")


def test_a_sampler(monkeypatch):
    scope = defined("sampling", "Mirrored")
    monkeypatch.setitem(SAMPLERS, "mirrored", scope["Mirrored"]())
    f, xi = lt.Linear([1.0, 2.0]), [0.3, 0.3]
    ex = lt.explain(f, xi, lt.Gaussian(), 1.0, 40_000, 0, sampler="mirrored")
    assert np.all(np.abs(ex.coef - lt.limit(f, xi, lt.Gaussian(), 1.0).coef) < 4 * ex.stderr)


def test_a_model(monkeypatch):
    before = dict(FAMILIES)
    try:
        defined("families", "DummyRegressor")
        model = DummyRegressor().fit(np.zeros((4, 2)), [1, 2, 3, 6])
        assert form_of(model)(np.zeros((1, 2)))[0] == 3
        assert lt.limit(model, [0.1, 0.2], lt.Gaussian(), 1.0).method == "exact"
    finally:
        FAMILIES.clear()
        FAMILIES.update(before)


def test_a_kind_of_column():
    month = defined("columns", "class Month")["Month"]()
    X = np.repeat(np.arange(1.0, 13), 5)[:, None]
    boxes = lt.Empirical(X, kinds={0: month}).boxes()
    assert boxes.edges[0].tolist() == [3, 6, 9]
    assert boxes.describe(0, 1) == "3 < x1 <= 6"


def test_a_finding():
    checks = importlib.import_module("limetutor.auditing.checks")
    before = list(checks.CHECKS)
    try:
        defined("auditing.checks", "two-boxes")
        ex = lt.explain(lt.Linear([1.0]), [0.3], lt.Gaussian(p=2), 1.0, seed=0)
        assert "two-boxes" in lt.audit(ex)
    finally:
        checks.CHECKS[:] = before


def test_an_exercise():
    from limetutor.course.judging import kinds
    from limetutor.laws import tilted_normal

    scope = {**vars(kinds), "tilted_normal": tilted_normal}
    (exercise,) = eval(compile(f"({added('weights/5')})", "CONTRIBUTING.md", "eval"), scope)
    assert exercise.judge("0,8").kind == "right"
    assert "square" in exercise.judge(2 / 3).words
    assert exercise.judge(0.5).words.endswith("the mean of the tilted law is asked.")
    assert exercise.variant(np.random.default_rng(0)).given["nu"].value != 0.5


def test_a_figure_in_layers_with_a_handle():
    (block,) = re.findall(r"(?ms)^```python\n(def panels.*?)^```$", TEXT)
    scope = {"GRID": np.linspace(-2, 2, 9), "bell": bell, "color": color}
    scope |= {"handle": handle, "in_layers": in_layers}
    exec(compile(block, "CONTRIBUTING.md", "exec"), scope)
    controls = {"nu": lt.Slider(0.5, 2, 1, stops=3), "xi": lt.Slider(-1, 1, 0, stops=5)}
    film = Film(scope["my_figure"], (6.4, 3.6), controls, "p")
    assert [len(strip.roots) for strip in film.strips] == [1, 15, 5, 5]
    assert 'data-handle="xi"' in markup(film.page("A law."))
