"""Call any model: functions as they are, estimators by the method that gives numbers.

``boxes`` is the :class:`limetutor.inputs.encoding.Encoding` of a world's columns. Models are told
apart by package and class name (:class:`ModelRegistry`), so that no package is imported before the
caller has imported it.
"""

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .tables import nameless

ROWS = "one argument, the rows (n, d)"  # what f gets
MAX_OUTPUT = 1e300  # of what f may return: differences of two values must stay finite


class ModelRegistry(dict[tuple[str, str], Callable[..., Any]]):
    """Functions by the package and the class name of the models that they are for.

    Only the registered classes themselves count: a subclass may predict something else.
    """

    def register(self, package: str, *names: str) -> Callable[[Any], Any]:
        """Decorate a function for the classes of those names in that package."""

        def decorate(function: Any) -> Any:
            self.update({(package, name): function for name in names})
            return function

        return decorate

    def find(self, model: Any) -> Callable[..., Any] | None:
        """The function for a model, or None."""
        return self.get((package_of(model), type(model).__name__))


def package_of(model: Any) -> str:
    """The package that the class of a model comes from."""
    return type(model).__module__.partition(".")[0]


class Adapter(NamedTuple):
    """What a model of another package needs that scikit-learn's do not.

    ``categories`` maps the names of the world's columns of labels to the categories that the model
    wants for them, see :mod:`limetutor.exact.dataframes`.
    """

    call: Callable[[Any], Any] | None = None  # in place of ``predict`` or ``predict_proba``
    names: list[str] | None = None  # of the columns it was fitted on
    categories: Callable[[list[str]], dict[str, Any]] | None = None


ADAPTERS = ModelRegistry()
adapts = ADAPTERS.register


# "maker" makes rows a DataFrame for models that were fitted on one: limetutor.exact.dataframes
FRAMES: dict[str, Callable[..., Any]] = {}


def adapter(model: Any) -> Adapter:
    """What a model of another package needs."""
    adapt = ADAPTERS.find(model)
    return Adapter() if adapt is None else adapt(model)


def predictor(f: Any, boxes: Any, output: Any = None) -> Callable[[np.ndarray], np.ndarray]:
    """``f`` as a function from rows (n, d) to finite numbers (n,), checked at every call."""
    if isinstance(f, FunctionType) and not boxes.kinds:  # needs no look at names and labels
        return lambda x: _one_output(arg.called("f", f, ROWS, x.copy()), len(x), output, [])
    call, classes = caller(f, boxes)
    return lambda x: _one_output(call(x), len(x), output, classes)


def caller(f: Any, boxes: Any) -> tuple[Callable[[np.ndarray], Any], list[Any]]:
    """``f`` as a function from rows (n, d) to whatever it returns, and its classes, if any.

    Functions are called as they are; classifiers by ``predict_proba``, other estimators by
    ``predict``. An estimator fitted on a DataFrame gets one, with its own columns in its own order,
    and so does its method (``model.predict_proba``); text columns get their text back.
    """
    call, classes = _callable_of(f)
    model = getattr(f, "__self__", f)
    columns = fitted_columns(model, boxes)
    first = first_fitted(model)
    fitted_on_array = hasattr(first, "n_features_in_") and not names_fitted_on(first)
    as_frame = FRAMES["maker"](first, boxes, columns) if columns else None
    hides_labels = any(kind.hides_labels for kind in boxes.kinds.values())

    def predict(x: np.ndarray) -> Any:
        # a copy: a model that scales its input in place must not change our samples
        rows: Any = boxes.fed(x) if boxes.kinds else x.copy()
        if as_frame is not None:
            rows = as_frame(rows, boxes.decoded(x))
        if columns and fitted_on_array:  # one that held text
            rows = rows.to_numpy(dtype=object)
        try:
            return arg.called("f", call, ROWS, rows)
        except (TypeError, ValueError) as error:
            if not hides_labels or not hasattr(model, "fit"):
                raise
            words = " ".join(str(error).split())[:120].rstrip(".")
            raise ValueError(
                "f must take the codes of categories, as lime hands them over, but this estimator "
                f"failed with {type(error).__name__}: {words}; pass the function that lime gets."
            ) from error

    return predict, classes


def _callable_of(f: Any) -> tuple[Callable[[Any], Any], list[Any]]:
    if isinstance(f, type):
        raise TypeError(
            f"f must be a fitted estimator or a function, got the class {f.__name__} itself."
        )
    adapted = adapter(f).call
    if adapted is not None:
        return adapted, []
    if getattr(f, "__name__", "") == "predict_proba":
        return f, listed_classes(getattr(f, "__self__", None))
    if hasattr(f, "predict_proba"):
        return f.predict_proba, listed_classes(f)
    if listed_classes(f) and hasattr(f, "predict"):
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


def listed_classes(model: Any) -> list[Any]:
    """The class labels of an estimator, [] for none: CatBoost's regressors have an empty ``classes_``."""
    try:
        return list(getattr(model, "classes_", ()))
    except TypeError:  # a user's own class, with None for instance
        return []


def classes_of(f: Any) -> list[Any]:
    """The classes that the columns of what f returns stand for, [] where it returns no probabilities."""
    return _callable_of(f)[1]


def model_behind(f: Any) -> Any:
    """The estimator behind the method that `lime` gets, ``predict_proba`` or a regressor's ``predict``.

    Its form may be known. A classifier's ``predict`` is left as it is: it says something else.
    """
    model, name = getattr(f, "__self__", None), getattr(f, "__name__", "")
    if model is None or isinstance(model, type):
        return f
    plain = name == "predict" and not hasattr(model, "predict_proba") and not listed_classes(model)
    return model if plain or name == "predict_proba" else f


def last_step(model: Any) -> Any:
    """The last step of a pipeline; another model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def first_fitted(model: Any) -> Any:
    """The part of a model that was fitted on the table itself: a pipeline's first fitted step.

    A pipeline has the attributes of its first step, and "passthrough" has none.
    """
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        return model
    working = [step for _, step in steps if step is not None and not isinstance(step, str)]
    return first_fitted(working[0]) if working else model


def fitted_columns(model: Any, boxes: Any) -> list[str]:
    """The columns of the DataFrame that f wants, or none where it takes arrays.

    A world without names of its own (x1, x2, ...) takes those of the model, in order.
    """
    fitted = names_fitted_on(model)
    if not fitted:
        return list(boxes.names) if boxes.has_text else []
    if set(fitted) == set(boxes.names):
        return fitted
    if nameless(boxes.names) and len(fitted) == boxes.d:
        return fitted
    raise ValueError(
        f"f must be fitted on the columns of the world, {arg.shorten(list(boxes.names))}, "
        f"got one fitted on {arg.shorten(fitted)}."
    )


def names_fitted_on(f: Any) -> list[str]:
    """The columns that a model was fitted on, where it knows them."""
    model = first_fitted(getattr(f, "__self__", f))
    names = list(getattr(model, "feature_names_in_", ()))
    return names or list(adapter(model).names or ())


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
        raise ValueError(
            f"output must be left out when f has a single output, got {arg.shorten(output)}."
        )
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
    if np.max(np.abs(y)) > MAX_OUTPUT:
        raise ValueError(
            f"f must return values within ±{MAX_OUTPUT:g}, got {y[np.argmax(np.abs(y))]:g}; rescale it."
        )
    return y


def _equal(label: Any, output: Any) -> bool:
    try:
        return bool(label == output)
    except (TypeError, ValueError):  # comparing with an array or a table gives no bool
        return False


def output_column(output: Any, columns: int, classes: list[Any], name: str = "output") -> int:
    """The column of a class, or of a position where no class is a number, among f's outputs."""
    if output is None:
        raise ValueError(
            f"{name} must pick one of the {columns} outputs of f: "
            f"{'a class of ' + arg.shorten(classes) if classes else f'0 to {columns - 1}'}."
        )
    matches = [k for k, label in enumerate(classes) if _equal(label, output)]
    if matches:
        return matches[0]
    if any(isinstance(c, int | float | np.number) for c in classes):
        # a position could be mistaken for the class with that number
        raise ValueError(
            f"{name} must be a class of {arg.shorten(classes)}, got {arg.shorten(output)}."
        )
    if arg.is_integer(output) and 0 <= output < columns:
        return int(output)
    allowed = f"a class of {arg.shorten(classes)} or " if classes else ""
    raise ValueError(
        f"{name} must be {allowed}a column from 0 to {columns - 1}, got {arg.shorten(output)}."
    )
