"""Rows as DataFrames, with the columns and categories of the one that a model was fitted on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.boxes import Boxes
from ..inputs.columns import is_missing
from ..inputs.predictors import FRAMES, adapter


def frame_maker(model: Any, boxes: Boxes, columns: list[str]) -> Callable[..., Any]:
    """A function from rows (n, d), and their decoded columns, to the DataFrame that a model wants."""
    categories = _categories_wanted(model, boxes, columns)
    return lambda x, decoded: _as_frame(x, boxes, decoded, columns, categories)


def _categories_wanted(model: Any, boxes: Boxes, columns: list[str]) -> dict[str, Any]:
    """The columns that a model wants as pandas' categories; None for those of the world.

    A column of the world that came with pandas' dtype goes back with it.
    """
    same = set(columns) == set(boxes.names)
    position = {name: boxes.names.index(name) if same else j for j, name in enumerate(columns)}
    kinds = {name: boxes.kind(position[name]) for name in columns}
    adapt = adapter(model).categories
    adapted = {} if adapt is None else adapt([c for c in columns if not kinds[c].ordered])
    return {c: None for c in columns if kinds[c].categories is not None} | adapted


def _as_frame(
    x: np.ndarray,
    boxes: Boxes,
    decoded: dict[int, np.ndarray],
    columns: list[str],
    categories: dict[str, Any],
) -> Any:
    """Rows as a DataFrame with the columns and the categories that a model wants."""
    import pandas as pd  # installed, since the model was fitted on a DataFrame or the world has text

    names = list(boxes.names) if set(columns) == set(boxes.names) else columns
    frame = pd.DataFrame(x, columns=names)
    for j, values in decoded.items():
        frame[names[j]] = values
    for name, labels in categories.items():
        labels = _categories_of(boxes, names.index(name)) if labels is None else labels
        numbers = {float(label): label for label in labels if not isinstance(label, str)}
        # pandas does not take 1.0 for the category 1
        column = [numbers.get(v) for v in frame[name]] if numbers else frame[name]
        frame[name] = pd.Categorical(column, categories=labels)
    return frame[columns]


def _categories_of(boxes: Boxes, j: int) -> Any:
    """The categories of feature j: those that the world's table came with, or its values."""
    kind = boxes.kind(j)
    if kind.categories is not None:
        return kind.categories
    codes = boxes.codes(j)
    labels = kind.decode(codes)
    values = [v for v in (kind.fed(codes) if labels is None else labels) if not is_missing(v)]
    if labels is None and all(v == int(v) for v in values):
        return [int(v) for v in values]  # XGBoost takes no others
    return values


FRAMES["maker"] = frame_maker
