"""Rows as DataFrames, with the columns and categories of the one that a model was fitted on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.boxes import Boxes
from ..inputs.columns import is_missing
from ..inputs.predictors import FRAMES, adapter


def frame_maker(
    model: Any, boxes: Boxes, columns: list[str], order: list[int]
) -> Callable[..., Any]:
    """A function from rows (n, d), and their decoded columns, to the DataFrame that a model wants.

    ``columns`` are its names, ``order`` the feature of the world that each of them is.
    """
    feature = dict(zip(columns, order, strict=True))
    categories = _categories_wanted(model, boxes, feature)
    return lambda x, decoded: _as_frame(x, boxes, decoded, feature, categories)


def _categories_wanted(model: Any, boxes: Boxes, feature: dict[str, int]) -> dict[str, Any]:
    """The columns that a model wants as pandas' categories; None for those of the world.

    A column of the world that came with pandas' dtype goes back with it.
    """
    kinds = {name: boxes.kind(j) for name, j in feature.items()}
    adapt = adapter(model).categories
    typed = [c for c in feature if kinds[c].categories is not None]
    adapted = {} if adapt is None else adapt(typed or [c for c in feature if kinds[c].holds_codes])
    return dict.fromkeys(typed) | adapted


def _as_frame(
    x: np.ndarray,
    boxes: Boxes,
    decoded: dict[int, np.ndarray],
    feature: dict[str, int],
    categories: dict[str, Any],
) -> Any:
    """Rows as a DataFrame with the columns and the categories that a model wants."""
    import pandas as pd  # installed, since the model was fitted on a DataFrame or the world has text

    frame = pd.DataFrame(x[:, list(feature.values())], columns=list(feature))
    for name, j in feature.items():
        if j in decoded:
            frame[name] = decoded[j]
    for name, labels in categories.items():
        labels = _categories_of(boxes, feature[name]) if labels is None else labels
        numbers = {float(label): label for label in labels if not isinstance(label, str)}
        # pandas does not take 1.0 for the category 1
        column = [numbers.get(v) for v in frame[name]] if numbers else frame[name]
        frame[name] = pd.Categorical(column, categories=labels)
    return frame


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
