"""The same world cut into other boxes: those of `lime`'s other discretizers, and shifted ones.

Which boxes a feature is cut into is the choice of an explainer, not of the model, and decides what a
coefficient compares. Chapter: can it be shown?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..core.boxes import Gaussian, World
from ..inputs.columns import MISSING
from .empirical import Empirical
from .read_explainer import Coded, LimeWorld, world_of

SHIFT = 5  # percentiles by which edges are moved
PERCENTILES = {
    "quartiles": np.arange(25, 100, 25),
    "deciles": np.arange(10, 100, 10),
    f"quartiles {SHIFT} percentiles lower": np.arange(25, 100, 25) - SHIFT,
    f"quartiles {SHIFT} percentiles higher": np.arange(25, 100, 25) + SHIFT,
}
DISCRETIZERS = {"quartiles": "quartile", "deciles": "decile"}
LIMES_OWN = ("quartiles", "deciles", "entropy boxes")  # those that `lime` has a name for
DEPTH = 3  # of the trees that cut entropy boxes, as in `lime`


def recut(world: World, table: Any, responses: Any, asked: Any = None) -> dict[str, World] | None:
    """Worlds with other boxes, by what these are called; None where the training data are not known.

    ``responses`` of a classifier to the rows ``asked``, of ``table`` if left out, stand in for the labels
    that entropy boxes are cut by. There are none for worlds whose boxes were given.
    """
    if isinstance(world, Gaussian):
        return {"deciles": replace(world, p=10), "five boxes": replace(world, p=5)}
    if isinstance(world, Empirical):
        counts = {"quartiles": 4, "deciles": 10}
        enough = len(world.table) >= max(counts.values())  # type: ignore[attr-defined]
        own = np.unique(world.p)
        return {
            name: replace(world, p=p, edges=None)
            for name, p in counts.items()
            if enough and (world.edges or own.tolist() != [p])
        }
    if not isinstance(world, LimeWorld):
        return {}
    if table is None:
        return None
    boxes = world.boxes()
    numbers = [int(j) for j in np.flatnonzero(boxes.ordered)]
    cuts: dict[str, dict[Any, Any]] = {
        name: {j: np.unique(np.percentile(table[:, j], at)) for j in numbers}
        for name, at in PERCENTILES.items()
    }
    if responses is not None and len(np.unique(responses >= 0.5)) > 1:
        asked = table if asked is None else asked
        cuts["entropy boxes"] = {j: _entropy(asked[:, j], responses >= 0.5) for j in numbers}
    worlds: dict[str, World] = {}
    for name, edges in cuts.items():
        if all(np.array_equal(_used(boxes.edges[j]), edges[j]) for j in numbers):
            continue
        codes = [j for j in range(boxes.d) if j not in edges]
        worlds[name] = _cut(world, table, edges, codes, boxes.kinds)
    return worlds


def declared(world: World, table: np.ndarray, columns: Sequence[int]) -> World | None:
    """The world with columns declared as categories, as the table has them; None where that has no sense."""
    if isinstance(world, Empirical):
        edges = {j: e for j, e in world._given_edges.items() if j not in columns}  # type: ignore[attr-defined]
        names = [column for column in world.categorical if isinstance(column, int)]
        if len(names) < len(world.categorical) or np.any(table >= MISSING):
            return None
        return replace(world, edges=edges, categorical=[*names, *columns])
    if not isinstance(world, LimeWorld):
        return None
    own = world.boxes()
    for kind in DISCRETIZERS:
        made = made_by_lime(world, table, kind, columns)
        if made is None:
            return None
        new, numbers = made.boxes(), [j for j in np.flatnonzero(own.ordered) if j not in columns]
        if all(np.array_equal(_used(new.edges[j]), _used(own.edges[j])) for j in numbers):
            return made
    return None


def made_by_lime(
    world: LimeWorld, table: np.ndarray, kind: str, columns: Sequence[int] = ()
) -> LimeWorld | None:
    """The world of a new explainer of `lime` for the table, with other boxes or more categories.

    With what `lime` does wrong there. None where `lime` is not installed, or needs labels to cut.
    """
    if kind not in DISCRETIZERS or find_spec("lime") is None:
        return None
    from lime.lime_tabular import LimeTabularExplainer

    own = world.boxes()
    kinds = dict(own.kinds) | {j: Coded() for j in columns}
    explainer = LimeTabularExplainer(
        table, mode="regression", feature_names=own.names, categorical_features=list(kinds),
        discretizer=DISCRETIZERS[kind], kernel_width=world.nu, random_state=0,
    )  # fmt: skip
    made: Any = world_of(explainer, world.nu)
    boxes = replace(made.boxes(), kinds=kinds)
    return replace(world, _boxes=boxes, collapsed=made.collapsed)


def _cut(
    world: LimeWorld, table: np.ndarray, edges: dict[Any, Any], codes: list[int], kinds: Any
) -> LimeWorld:
    """The world with other boxes: these edges, and a box for each value of some columns."""
    cut = Empirical(table, edges=edges, categorical=codes).boxes()
    return replace(world, _boxes=replace(cut, names=world.boxes().names, kinds=kinds), collapsed=())


def _used(edges: np.ndarray) -> np.ndarray:
    return edges[np.isfinite(edges)]


def _entropy(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The edges that `lime`'s EntropyDiscretizer finds."""
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(criterion="entropy", max_depth=DEPTH, random_state=0)
    found = tree.fit(values[:, None], labels).tree_
    edges = found.threshold[found.children_left > -1]
    return np.unique(edges) if len(edges) else np.array([np.median(values)])
