"""A classifier of texts or images: what it returns, and which column of it is explained.

`lime` gets a function that returns one row of probabilities for each text or image. Here it may also
be the fitted estimator, a decision function or a regressor, with one number each. Chapter: text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exact.margins import Margin
from ..inputs import arguments as arg
from ..inputs.predictors import last_step, listed_classes
from ..switches.estimators import Score
from .columns_and_classes import label_column

METHODS = ("predict_proba", "decision_function", "predict")  # the first that an estimator has


@dataclass(frozen=True, eq=False)
class Classifier:
    """What is called, and the estimator behind it where there is one."""

    call: Callable[[Any], Any]
    model: Any = None
    method: str = ""
    margin: Margin | None = None

    @classmethod
    def of(cls, f: Any) -> Classifier:
        """A function, a method, an estimator, a :class:`Score` or a margin."""
        if isinstance(f, Score):
            return cls(f, f.model, f.method)
        if isinstance(f, Margin):
            return cls(f, f.model, "decision_function", f)
        owner = getattr(f, "__self__", None)
        if owner is not None and hasattr(owner, "get_params"):
            return cls(f, owner, f.__name__)
        method = next((m for m in METHODS if hasattr(f, m)), None)
        if method is not None and not isinstance(f, type):
            return cls(getattr(f, method), f, method)
        if not callable(f) or isinstance(f, type):
            raise TypeError(
                "f must be what lime gets, a function of a list of texts or an array of images that "
                f"returns probabilities, or a fitted estimator, got {arg.shorten(f)}."
            )
        return cls(f)

    @property
    def classes(self) -> list[Any]:
        """The classes of the estimator, if it has any."""
        return listed_classes(last_step(self.model))

    @property
    def scores_two(self) -> bool:
        """Whether one number is the score of the second of two classes."""
        return self.method == "decision_function" and self.margin is None and len(self.classes) == 2

    def picks(self, column: int) -> tuple[int, float]:
        """Which column of the method a column of :meth:`columns` is, and the sign it has there."""
        if self.margin is not None:
            return self.margin.picks(1 if len(self.classes) == 2 else len(self.classes))
        return (0, 2.0 * column - 1) if self.scores_two else (column, 1.0)

    def columns(self, inputs: Any) -> np.ndarray:
        """One row per input, one column per class (or one in all), (n, columns)."""
        returned = arg.called("f", self.call, "one argument, the texts or images", inputs)
        n = len(inputs)
        if hasattr(returned, "toarray"):
            returned = returned.toarray()
        try:
            values = arg.floats(returned)
        except (TypeError, ValueError):
            raise ValueError(
                f"f must return numbers, one row for each text or image, got {arg.shorten(returned)}."
            ) from None
        if values.ndim not in (1, 2) or len(values) != n or not values.size:
            raise ValueError(
                f"f must return one row for each text or image, ({n}, classes) for {n} of them, "
                f"got shape {values.shape}."
            )
        if not np.all(np.isfinite(values)):
            bad = int(np.sum(~np.isfinite(values)))
            raise ValueError(f"f must return finite numbers, got {bad} nan or infinite value(s).")
        arg.within("f's answers", values)
        if values.ndim == 1:
            values = values[:, None]
        return np.hstack([-values, values]) if self.scores_two else values


@dataclass(frozen=True)
class Label:
    """Which column is explained; ``number`` and ``name`` are as `lime` has them, None for one number."""

    column: int
    number: int | None
    name: str | None


def label_of(
    outputs: np.ndarray, label: Any, top_labels: Any, names: list[str], default: int | None
) -> Label:
    """The column that a label stands for, ``outputs`` (columns,) being f at the instance.

    ``default`` is the column of no label: 1, or None for the likeliest.
    """
    columns = len(outputs)
    if top_labels is not None:
        top = np.argsort(outputs)[::-1][: arg.whole("top_labels", top_labels, 1)]
        if label is None:
            return _labelled(int(top[0]), names)
        chosen = label_of(outputs, label, None, names, default)
        if chosen.column not in top:
            raise ValueError(
                f"label must be one of the {len(top)} likeliest for top_labels={len(top)}, "
                f"{arg.shorten([int(c) for c in top])}, got {arg.shorten(label)}."
            )
        return chosen
    if label is None and columns == 1:
        return Label(0, None, None)
    if label is None:
        return _labelled(int(np.argmax(outputs)) if default is None else default, names)
    only = (arg.is_integer(label) and label == 0) or (isinstance(label, str) and label in names[:1])
    if columns == 1 and not only:
        raise ValueError(
            "label must be left out where f returns one number for each text or image, got "
            f"{arg.shorten(label)}."
        )
    return _labelled(label_column(label, names, columns), names)


def _labelled(column: int, names: list[str]) -> Label:
    return Label(column, column, class_name(column, names))


def class_name(column: int, names: Any) -> str:
    """The name of a column as `lime` has it: its number where there is no name."""
    return str(names[column]) if names is not None and column < len(names) else str(column)
