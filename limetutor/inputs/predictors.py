"""Call any model: functions as they are, estimators by the method that gives numbers.

``boxes`` is the :class:`limetutor.inputs.encoding.Encoding` of a world's columns. Models are told
apart by their class (:class:`ModelRegistry`), which is looked up in the module that it comes from, so
that no package is imported before the caller has imported it.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from . import arguments as arg
from .names import are_default, labels_of, nameless, order_of, refuse_names, refuse_repeated

ROWS = "one argument, the rows (n, d)"  # what f gets
CLASS_METHODS = ("predict_proba", "predict_log_proba", "decision_function")
METHODS = (*CLASS_METHODS, "predict", "predict_joint_log_proba", "transform", "_raw_predict")
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
        package = package_of(model)
        return self.get((package, class_of(model, package)))


def package_of(model: Any) -> str:
    """The package that the class of a model comes from."""
    return type(model).__module__.partition(".")[0]


def class_of(model: Any, package: str = "sklearn") -> str:
    """The name of the class of a model where that is the package's own, and "" elsewhere.

    A class that only has the name is not, nor a model one of whose methods was replaced.
    """
    kind = type(model)
    own = getattr(sys.modules.get(kind.__module__), kind.__name__, None) is kind
    replaced = any(name in METHODS for name in getattr(model, "__dict__", ()))
    return kind.__name__ if own and not replaced and package_of(model) == package else ""


class Adapter(NamedTuple):
    """What a model of another package needs that scikit-learn's do not.

    ``categories`` maps the names of the world's columns of labels to the categories that the model
    wants for them, see :mod:`limetutor.exact.dataframes`.
    """

    call: Callable[[Any], Any] | None = None  # in place of ``predict`` or ``predict_proba``
    names: list[str] | None = None  # of the columns it was fitted on
    spelling: Callable[[str], str] = str  # of a column's name, as the model has it
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
        return lambda x: one_output(arg.called("f", f, ROWS, x.copy()), len(x), output, [])
    call, classes = caller(f, boxes)
    return lambda x: one_output(call(x), len(x), output, classes)


def caller(f: Any, boxes: Any) -> tuple[Callable[[np.ndarray], Any], list[Any]]:
    """``f`` as a function from rows (n, d) to whatever it returns, and its classes, if any.

    Functions are called as they are; classifiers by ``predict_proba``, other estimators by
    ``predict``. An estimator fitted on a DataFrame gets one, with its own columns in its own order,
    and so does its method (``model.predict_proba``); text columns get their text back.
    """
    call, classes = _callable_of(f)
    model = getattr(f, "__self__", f)
    columns, order = fitted_columns(model, boxes)
    first = first_fitted(model)
    fitted_on_array = hasattr(first, "n_features_in_") and not names_fitted_on(first)
    as_frame = FRAMES["maker"](first, boxes, columns, order) if columns else None
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
            if "ufunc 'isnan'" in str(error) and hasattr(model, "fit"):
                raise ValueError(
                    "f must be fitted on numbers or on texts, but this estimator compares numbers with "
                    "a column of objects; turn that column into numbers, or into texts, with astype."
                ) from error
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
    if getattr(f, "__name__", "") in CLASS_METHODS:
        return f, _columns_of_method(f)
    if hasattr(f, "predict_proba"):
        return f.predict_proba, listed_classes(f)
    if listed_classes(f) and hasattr(f, "predict"):
        raise ValueError(
            f"f must give class probabilities, got {arg.shorten(f)} without predict_proba; its "
            "class labels are not quantities: calibrate it, or pass a function such as "
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


def _columns_of_method(method: Any) -> list[Any]:
    """The classes that the columns of a classifier's method stand for."""
    model = getattr(method, "__self__", None)
    pairs = getattr(last_step(model), "decision_function_shape", "") == "ovo"
    return [] if pairs and method.__name__ == "decision_function" else listed_classes(model)


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


def fitted_columns(model: Any, boxes: Any) -> tuple[list[str], list[int]]:
    """The columns of the DataFrame that f wants, none where it takes arrays; the features they are.

    Matched as :mod:`limetutor.inputs.names` says.
    """
    fitted = names_fitted_on(model)
    if not fitted:
        return (list(boxes.names) if boxes.has_text else []), list(range(boxes.d))
    refuse_repeated("f", fitted, "be fitted on columns with different names")
    order = order_of(spelled(model, boxes.names), fitted) if len(fitted) == boxes.d else None
    if order is None:
        raise ValueError(
            f"f must be fitted on the columns of the world, {arg.shorten(list(boxes.names))}, "
            f"got one fitted on {arg.shorten(fitted)}."
        )
    return fitted, [int(j) for j in np.argsort(order)]


def names_fitted_on(f: Any) -> list[str]:
    """The columns that a model was fitted on, where it knows them."""
    model = first_fitted(getattr(f, "__self__", f))
    names = [str(name) for name in getattr(model, "feature_names_in_", ())]
    return names or list(adapter(model).names or ())


def spelled(f: Any, names: Iterable[str]) -> list[str]:
    """Names of columns as a model spells them."""
    return [adapter(first_fitted(getattr(f, "__self__", f))).spelling(name) for name in names]


def agreed_names(
    f: Any, who: str, X: Any, names: Sequence[str], whose: str = "world must have names"
) -> list[str]:
    """The names of rows, for a world without names of its own; [] where they or f have none.

    ``names`` are those of the world, none where any number of features will do. Where it lists its
    features without names, and rows and f have them in two orders, either could be meant.
    """
    labels = labels_of(X)
    fitted = names_fitted_on(f) if labels and nameless(names) else []
    if not fitted or are_default(labels) or are_default(fitted):
        return []  # matched with the names of the world
    refuse_repeated(who, labels)
    order = order_of(fitted, spelled(f, labels))
    if order is None:
        refuse_names(who, labels, fitted, "the columns that f was fitted on")
    if names and order != list(range(len(order))):
        raise ValueError(
            f"{whose}, since {who} has the columns of f in another order, "
            f"{arg.shorten(labels)} instead of {arg.shorten(fitted)}."
        )
    return labels


def one_output(y: Any, n: int, output: Any, classes: list[Any]) -> np.ndarray:
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
        known = classes if len(classes) == y.shape[1] else []
        y = y[:, output_column(output, y.shape[1], known)]
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


def _same(label: Any, output: Any) -> bool:
    """Whether a class is meant: equal, and of one kind. True is not 1, and 1 is not "1"."""
    try:
        return _kind(label) == _kind(output) and bool(label == output)
    except (TypeError, ValueError):  # comparing with an array or a table gives no bool
        return False


def _kind(value: Any) -> Any:
    if isinstance(value, np.bool_):
        return bool
    return next((k for k in (bool, Number, str, bytes) if isinstance(value, k)), type(value))


def _is_number_like(label: Any) -> bool:
    """Whether a class could be meant by a number: a number itself, or its digits."""
    if isinstance(label, bool | np.bool_):
        return False
    try:
        return not np.isnan(float(label))
    except (TypeError, ValueError, OverflowError):
        return isinstance(label, Number)


def output_column(output: Any, columns: int, classes: list[Any], name: str = "output") -> int:
    """The column of a class among f's outputs, or of a position that no class could be meant by."""
    if output is None:
        raise ValueError(
            f"{name} must pick one of the {columns} outputs of f: "
            f"{'a class of ' + arg.shorten(classes) if classes else f'0 to {columns - 1}'}."
        )
    matches = [k for k, label in enumerate(classes) if _same(label, output)]
    if len(matches) > 1:
        raise ValueError(f"f must have classes that differ, got {arg.shorten(classes)}.")
    if matches:
        return matches[0]
    truths = [bool(label) for label in classes if isinstance(label, bool | np.bool_)]
    if any(map(_is_number_like, classes)) or truths not in ([], [False, True]):
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
