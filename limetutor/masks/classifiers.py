"""A classifier as `lime` is given it: what it returns, and which column of it is explained.

`lime` gets a function that returns one row of probabilities for each text or image. Here it may also
be the fitted estimator, a decision function or a regressor, with one number each. Chapter: text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import arguments as arg
from ..boosters import Margin
from ..models import listed_classes

METHODS = ("predict_proba", "decision_function", "predict")  # of an estimator, the first it has


@dataclass(frozen=True, eq=False)
class Score:
    """A method of the last step of a pipeline, as a function of what the pipeline takes."""

    model: Any
    method: str

    def __call__(self, inputs: Any) -> Any:
        """What the method returns."""
        if not hasattr(self.model, "steps"):
            return getattr(self.model, self.method)(inputs)
        before, last = self.model[:-1], self.model.steps[-1][1]
        return getattr(last, self.method)(before.transform(inputs))


def score_of(model: Any, method: str) -> Score:
    """A method of a pipeline's last step that the pipeline itself does not pass on.

    ``score_of(pipeline, "predict_joint_log_proba")`` is naive Bayes' joint log-likelihood, one column
    per class, which adds up over words where its probabilities do not. Chapter: text.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(method, str) or not callable(getattr(last, method, None)):
        raise ValueError(
            f"method must be one that {type(last).__name__} has, such as 'predict_joint_log_proba', "
            f"got {arg.shorten(method)}."
        )
    return Score(model, method)


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
        last = self.model.steps[-1][1] if hasattr(self.model, "steps") else self.model
        return listed_classes(last)

    @property
    def speaks_for_two(self) -> bool:
        """Whether one number decides between two classes: it is the score of the second."""
        decides = self.method == "decision_function" and self.margin is None
        return decides and len(self.classes) == 2

    def picks(self, column: int) -> tuple[int, float]:
        """Which column of the method a column of :meth:`columns` is, and the sign it has there."""
        if self.margin is not None:
            return self.margin.picks(1 if len(self.classes) == 2 else len(self.classes))
        return (0, 2.0 * column - 1) if self.speaks_for_two else (column, 1.0)

    def columns(self, inputs: Any) -> np.ndarray:
        """One row per input, one column per class (or one in all), (n, columns)."""
        found = arg.called("f", self.call, "one argument, the texts or images", inputs)
        many = len(inputs)
        if hasattr(found, "toarray"):
            found = found.toarray()
        try:
            values = arg.floats(found)
        except (TypeError, ValueError):
            raise ValueError(
                f"f must return numbers, one row for each text or image, got {arg.shorten(found)}."
            ) from None
        if values.ndim not in (1, 2) or len(values) != many or not values.size:
            raise ValueError(
                f"f must return one row for each text or image, ({many}, classes) for {many} of them, "
                f"got shape {values.shape}."
            )
        if not np.all(np.isfinite(values)):
            bad = int(np.sum(~np.isfinite(values)))
            raise ValueError(f"f must return finite numbers, got {bad} nan or infinite value(s).")
        arg.within("f's answers", values)
        if values.ndim == 1:
            values = values[:, None]
        return np.hstack([-values, values]) if self.speaks_for_two else values


@dataclass(frozen=True)
class Label:
    """Which column is explained; ``number`` and ``name`` are as `lime` has them, None for one number."""

    column: int
    number: int | None
    name: str | None


def label_of(
    found: np.ndarray, label: Any, top_labels: Any, names: list[str], usual: int | None
) -> Label:
    """The column that a label stands for, ``found`` (columns,) being what f says of the instance.

    ``usual`` is the column of no label: 1, or None for the likeliest.
    """
    columns = len(found)
    if top_labels is not None:
        top = np.argsort(found)[::-1][: arg.whole("top_labels", top_labels, 1)]
        if label is None:
            return _labelled(int(top[0]), names)
        chosen = label_of(found, label, None, names, usual)
        if chosen.column not in top:
            raise ValueError(
                f"label must be one of the {len(top)} likeliest for top_labels={len(top)}, "
                f"{arg.shorten([int(c) for c in top])}, got {arg.shorten(label)}."
            )
        return chosen
    if label is None and columns == 1:
        return Label(0, None, None)
    if label is None:
        return _labelled(int(np.argmax(found)) if usual is None else usual, names)
    if arg.is_integer(label) and 0 <= label < columns:
        return _labelled(int(label), names)
    if isinstance(label, str) and label in names[:columns]:
        return _labelled(names.index(label), names)
    if columns == 1:
        raise ValueError(
            "label must be left out where f returns one number for each text or image, got "
            f"{arg.shorten(label)}."
        )
    named = f" or one of the classes {arg.shorten(names)}" if names else ""
    raise ValueError(
        f"label must be a column from 0 to {columns - 1}{named}, got {arg.shorten(label)}."
    )


def _labelled(column: int, names: list[str]) -> Label:
    return Label(column, column, names[column] if column < len(names) else str(column))
