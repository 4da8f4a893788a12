"""The models to explain: `Linear`, `Quadratic`, and one way to call any other.

Functions are called as they are, scikit-learn estimators by the method that gives numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import arguments as arg
from .worlds import Boxes, default_names


@dataclass(frozen=True, eq=False)
class Linear:
    """The linear model f(x) = a.x + b of the paper (Assumption hyp:model).

    Examples
    --------
    >>> f = Linear([10, -10])
    >>> f([[1.0, 2.0]])
    array([-10.])
    """

    a: Any
    b: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", arg.vector("a", self.a))
        object.__setattr__(self, "b", arg.scalar("b", self.b))

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        x = np.asarray(x, dtype=float)
        if x.shape[-1:] != self.a.shape:
            raise ValueError(
                f"x must have {self.a.size} columns, one per entry of a, got shape {x.shape}."
            )
        return x @ self.a + self.b

    def __repr__(self) -> str:
        return f"Linear(a={np.array2string(self.a, precision=4, threshold=6)}, b={self.b:g})"


@dataclass(frozen=True, eq=False)
class Quadratic:
    """The quadratic model f(x) = x.Qx + a.x + b, with Q (d, d) made symmetric.

    Examples
    --------
    >>> f = Quadratic([[1, 0], [0, 0]], a=[0, 2])
    >>> f([[3.0, 1.0]])
    array([11.])
    """

    Q: Any
    a: Any = None
    b: float = 0.0

    def __post_init__(self) -> None:
        Q = arg.numbers("Q", self.Q)
        if Q.ndim != 2 or Q.shape[0] != Q.shape[1] or Q.size == 0:
            raise ValueError(f"Q must be a square matrix, got shape {Q.shape}.")
        a = np.zeros(len(Q)) if self.a is None else self.a
        object.__setattr__(self, "Q", (Q + Q.T) / 2)
        object.__setattr__(self, "a", arg.vector("a", a, len(Q), because=", one per row of Q"))
        object.__setattr__(self, "b", arg.scalar("b", self.b))

    def __call__(self, x: Any) -> np.ndarray:
        """The value of f at each row of x."""
        x = np.asarray(x, dtype=float)
        if x.shape[-1:] != self.a.shape:
            raise ValueError(
                f"x must have {self.a.size} columns, one per entry of a, got shape {x.shape}."
            )
        return np.sum((x @ self.Q) * x, axis=-1) + x @ self.a + self.b

    def __repr__(self) -> str:
        short = {"precision": 4, "threshold": 6, "separator": ", "}
        Q, a = (" ".join(np.array2string(v, **short).split()) for v in (self.Q, self.a))
        return f"Quadratic(Q={Q}, a={a}, b={self.b:g})"


def predictor(f: Any, boxes: Boxes, output: Any = None) -> Callable[[np.ndarray], np.ndarray]:
    """``f`` as a function from rows (n, d) to finite numbers (n,), checked at every call.

    Functions are called as they are; classifiers by ``predict_proba``, other estimators by
    ``predict``. An estimator fitted on a DataFrame gets one, with its own columns in its own order,
    and so does its method (``model.predict_proba``); text columns get their text back.
    """
    call, classes = _callable_of(f)
    columns = fitted_columns(getattr(f, "__self__", f), boxes)

    def predict(x: np.ndarray) -> np.ndarray:
        # a copy: a model that scales its input in place must not move our samples
        y = call(_as_frame(x, boxes, columns) if columns else x.copy())
        return _one_output(y, len(x), output, classes)

    return predict


def _callable_of(f: Any) -> tuple[Callable[[Any], Any], list[Any]]:
    if isinstance(f, type):
        raise TypeError(
            f"f must be a fitted estimator or a function, got the class {f.__name__} itself."
        )
    if getattr(f, "__name__", "") == "predict_proba":
        return f, list(getattr(getattr(f, "__self__", None), "classes_", ()))
    if hasattr(f, "predict_proba"):
        return f.predict_proba, list(getattr(f, "classes_", ()))
    if hasattr(f, "classes_") and hasattr(f, "predict"):
        raise ValueError(
            f"f must give class probabilities, got {arg.shorten(f)} without predict_proba; its "
            "class labels are no quantities: calibrate it, or pass a function such as "
            "f.decision_function."
        )
    if hasattr(f, "predict"):
        return f.predict, []
    if callable(f):
        return f, []
    raise TypeError(
        "f must be a function of an (n, d) array or a fitted estimator with predict or "
        f"predict_proba, got {arg.shorten(f)}."
    )


def fitted_columns(model: Any, boxes: Boxes) -> list[str]:
    """The columns of the DataFrame that f wants, or none where it takes arrays.

    A world without names of its own (x1, x2, ...) takes those of the model, in order.
    """
    fitted = list(getattr(model, "feature_names_in_", ()))
    if not fitted or set(fitted) == set(boxes.names):
        return fitted or (list(boxes.names) if boxes.labels else [])
    if boxes.names == default_names(boxes.d) and len(fitted) == boxes.d:
        return fitted
    raise ValueError(
        f"f must be fitted on the columns of the world, {arg.shorten(list(boxes.names))}, "
        f"got one fitted on {arg.shorten(fitted)}."
    )


def _as_frame(x: np.ndarray, boxes: Boxes, columns: list[str]) -> Any:
    import pandas as pd  # the caller gave a DataFrame, so pandas is there

    named = set(columns) == set(boxes.names)
    names = list(boxes.names) if named else columns
    frame = pd.DataFrame(x, columns=names)
    for j, values in boxes.labels.items():
        frame[names[j]] = values[x[:, j].astype(int)]
    return frame[columns]


def _one_output(y: Any, n: int, output: Any, classes: list[Any]) -> np.ndarray:
    """The chosen column of what a model returned, as n finite numbers."""
    try:
        y = arg.floats(y)
    except (TypeError, ValueError):
        raise ValueError(
            f"f must return numbers, got {arg.shorten(y)}; explain class probabilities, "
            "not class names."
        ) from None
    if y.shape == (n, 1) and output is None:
        y = y[:, 0]
    if y.ndim == 2 and y.shape[0] == n:
        y = y[:, output_column(output, y.shape[1], classes)]
    elif output is not None:
        raise ValueError(f"output must be left out when f has a single output, got {output!r}.")
    if y.shape != (n,):
        raise ValueError(
            f"f must return one value per row (shape ({n},)), or one row of outputs, "
            f"got shape {y.shape}."
        )
    if not np.all(np.isfinite(y)):
        raise ValueError(
            f"f must return finite values, got {int(np.sum(~np.isfinite(y)))} nan or infinite "
            f"value(s) for {n} row(s)."
        )
    if np.max(np.abs(y)) > 1e140:  # its square, summed, must stay a number
        raise ValueError(
            f"f must return values within ±1e140, got {y[np.argmax(np.abs(y))]:g}; rescale it."
        )
    return y


def output_column(output: Any, columns: int, classes: list[Any]) -> int:
    """The column of a class, or of a position where no class is a number, among f's outputs."""
    if output is None:
        raise ValueError(
            f"output must pick one of the {columns} outputs of f: "
            f"{'a class of ' + arg.shorten(classes) if classes else f'0 to {columns - 1}'}."
        )
    if output in classes:
        return classes.index(output)
    if any(isinstance(c, int | float | np.number) for c in classes):
        # a position would be mistaken for the class with that number
        raise ValueError(f"output must be a class of {arg.shorten(classes)}, got {output!r}.")
    if isinstance(output, int | np.integer) and 0 <= output < columns:
        return int(output)
    allowed = f"a class of {arg.shorten(classes)} or " if classes else ""
    raise ValueError(f"output must be {allowed}a column from 0 to {columns - 1}, got {output!r}.")
