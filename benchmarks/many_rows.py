"""Many rows: exact limits of forests against shap's TreeExplainer, a million features, risk of a table.

shap is no part of the package or of its tests: where it is missing, the rows about it are left out
(``make bench`` installs it).
"""

from __future__ import annotations

import importlib.util
import resource
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from settings import Row, times
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

import limetutor as lt
from limetutor.course.figures.parts import log_axes
from limetutor.cubes.many import shapley_values
from limetutor.plotting.style import color

# The model, and the most that its limits and Shapley values may take, in times of TreeExplainer.
MODELS = {
    "forest of 100, depth 8": (RandomForestRegressor(100, max_depth=8, random_state=0), (0.5, 3)),
    "boosting of 200, depth 4": (GradientBoostingRegressor(n_estimators=200, max_depth=4), (3, 6)),
}
D = 10
WIDTH = 0.75 * np.sqrt(D)  # lime's


def rows(small: bool) -> Iterator[Row]:
    many = 20 if small else 1000
    if importlib.util.find_spec("shap"):
        for name in MODELS:
            yield from _against_trees(name, many, 1 if small else 3)
    yield _wide(1000 if small else 10**6)
    yield from _signs(200 if small else 10**5)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    yield Row("the same: memory, interpreter included", f"{most:.2f} GB", "under 2 GB", most < 2)


def _against_trees(name: str, many: int, repeats: int) -> Iterator[Row]:
    ours, theirs, boxes = times(repeats, *_limits_and_trees(name, many))
    pairs = zip(
        ("exact limits", "Shapley values on boxes"), (ours, boxes), MODELS[name][1], strict=True
    )
    for what, took, goal in pairs:
        yield Row(
            f"{many} rows of a {name}: {what} against TreeExplainer",
            f"{took / theirs:.2f} times ({took:.2f} and {theirs:.2f} s)",
            f"at most {goal}",
            took / theirs <= goal,
        )


def _limits_and_trees(name: str, many: int) -> list[Callable[[], Any]]:
    """The limits of the first rows, and where shap is there their TreeSHAP values and those on boxes."""
    X, y = make_friedman1(2000, D, noise=0.1, random_state=0)
    model, world = MODELS[name][0].fit(X, y), lt.Empirical(X)
    calls: list[Callable[[], Any]] = [lambda: lt.limits(model, X[:many], world, WIDTH, "mismatch")]
    if importlib.util.find_spec("shap"):
        import shap

        explainer = shap.TreeExplainer(model)
        calls.append(lambda: explainer.shap_values(X[:many], check_additivity=False))
        calls.append(lambda: shapley_values(model, X[:many], world))
    return calls


def _wide(d: int) -> Row:
    rng = np.random.default_rng(0)
    f, xi, world = lt.Linear(rng.normal(size=d)), rng.normal(size=d), lt.Gaussian()
    (took,) = times(3, lambda: lt.limit(f, xi, world, 100.0).coef)
    return Row(f"`limit` of a linear model, d = {d:,}", f"{took:.2f} s", "under 1 s", took < 1)


def _signs(many: int) -> Iterator[Row]:
    X = np.random.default_rng(0).normal(size=(many, 20))
    for world, goal in ((lt.Gaussian(), 10), (lt.Empirical(X), 60)):
        (took,) = times(1, lambda w=world: lt.risk(X, w, np.geomspace(0.1, 10, 50)))
        what = f"`risk` of {many:,} rows × 20 features × 50 bandwidths, {type(world).__name__}"
        yield Row(what, f"{took:.1f} s", f"under {goal} s", took < goal)


def draw(axes: Axes, small: bool) -> None:
    """Time against the number of rows: exact limits, TreeSHAP values, a sampled run a row."""
    sizes = (5, 10) if small else (10, 30, 100, 300, 1000)
    name = "forest of 100, depth 8"
    found = [times(1 if small else 3, *_limits_and_trees(name, many)[:2]) for many in sizes]
    names = ("limits, exact, forest", "shap's TreeExplainer, forest")
    for word, hue, series in zip(
        names, (color.truth, color.ink), np.transpose(found), strict=False
    ):
        axes.plot(sizes, 1e3 * series, color=hue, marker="o", ms=4, label=word)
    log_axes(axes, x=sizes)
    axes.set_xlabel(f"rows, d = {D}")
    axes.legend(fontsize=10)
