"""What `lime`'s explainer of tables will print.

The law of its samples is read off the explainer by :mod:`limetutor.lime_bridge`, its runs come from a
pool of rows (:mod:`limetutor.resampling`). Chapter: the real lime.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from . import arguments as arg
from .closed_forms import OWN_ROW, own_row_note
from .lime_bridge import (
    SAMPLES,
    from_lime,
    has_own_kernel,
    label_column,
    printed_names,
    readable,
    world_of,
)
from .lime_runs import LimePrediction, Request, Surrogates, Told, checked_weights
from .models import caller, model_behind, names_fitted_on
from .resampling import Weigh, known_surrogate, pool_of
from .setting import Setting

FEATURES = 10  # that `lime` prints unless told otherwise
CALLS = 2**14  # of a model that has a form: how its residuals are spread
MORE_CALLS = 2**15  # of one that has none: the mean of fits is then off by some .15 of ``sd``


class Tables:
    """Rows of a table, as a ``LimeTabularExplainer`` explains them."""

    name = "lime.lime_tabular.LimeTabularExplainer"
    options = ("distance_metric",)

    def reads(self, explainer: Any) -> bool:
        """Whether an explainer is one of tables; what is none of any kind is refused in its name."""
        readable(explainer)
        return True

    def predict(self, explainer: Any, f: Any, instance: Any, asked: Request) -> LimePrediction:
        """What ``explain_instance`` will print for a row."""
        ask = asked.numbers(FEATURES, SAMPLES, len(explainer.feature_names))
        surrogates = Surrogates(explainer, asked.model_regressor)
        metric = asked.options.get("distance_metric", "euclidean")
        own_kernel = has_own_kernel(explainer) and _is_euclidean(metric)
        weigh = None if own_kernel else _weigh(explainer, metric)
        setting, column = _setting(explainer, f, instance, asked.label, asked.top_labels)
        known = None if weigh else known_surrogate(setting)
        usual = MORE_CALLS if known is None else CALLS
        pool = pool_of(setting, ask.calls or usual, ask.seed, known, weigh)
        told = Told(
            names=printed_names(explainer, setting.xi),
            label=column,
            class_name=_class_name(explainer, column),
            prediction=setting.prediction,
            calls=len(pool.y),
            warnings=_notes(setting, ask.samples) if own_kernel else (),
        )
        return surrogates.predicted(pool, ask, told)


# --- what lime is asked -------------------------------------------------------------------------------


def _setting(
    explainer: Any, f: Any, instance: Any, label: Any, top_labels: Any
) -> tuple[Setting, int | None]:
    """f at the instance in the explainer's world, and the column that is explained."""
    nu = 0.75 * np.sqrt(
        len(explainer.feature_names)
    )  # only where to look, if the kernel is not lime's
    world = from_lime(explainer) if has_own_kernel(explainer) else world_of(explainer, nu)
    if hasattr(instance, "toarray"):
        raise ValueError(
            "instance must be a dense row, got a sparse one, which lime samples otherwise."
        )
    xi = world.boxes().encode(instance)
    f = model_behind(f)
    world = _as_fitted(world, f)
    call, classes = caller(f, world.boxes())
    found = np.asarray(call(xi[None]))
    if explainer.mode == "regression":
        column, output = _of_regression(f, found, label, top_labels)
    else:
        column = _of_classes(explainer, found, label, top_labels, classes)
        output = classes[column] if classes else column
    purpose = "a prediction of lime"
    made = Setting.of(
        f, xi, world, world.nu, world.kernel, output, purpose=purpose, boxes_needed=False
    )
    return made, column


def _as_fitted(world: Any, f: Any) -> Any:
    """The world with the column names that f was fitted on.

    `lime` calls f with arrays, whatever its own features are called.
    """
    fitted, boxes = names_fitted_on(f), world.boxes()
    if len(fitted) != boxes.d or set(fitted) == set(boxes.names):
        return world
    return replace(world, _boxes=replace(boxes, names=tuple(fitted)))


def _of_regression(f: Any, found: np.ndarray, label: Any, top_labels: Any) -> tuple[None, Any]:
    """No column, and the output that `lime` takes where f has several: the first."""
    if top_labels is not None or not (label is None or (arg.is_integer(label) and label == 1)):
        raise ValueError(
            "label must be left out for an explainer of mode 'regression', got "
            f"{arg.shorten(label if top_labels is None else top_labels)}."
        )
    if hasattr(f, "predict_proba"):
        raise ValueError(
            f"f must be a regressor for an explainer of mode 'regression', got {arg.shorten(f)}."
        )
    return None, 0 if found.ndim == 2 and found.shape[1] > 1 else None


def _of_classes(
    explainer: Any, found: np.ndarray, label: Any, top_labels: Any, classes: list[Any]
) -> int:
    """The column of the probabilities that a label stands for."""
    if found.ndim != 2 or found.shape[1] < 2:
        raise ValueError(
            "f must return a probability for each class, (n, classes), for an explainer of mode "
            f"'classification', got shape {found.shape} for one row."
        )
    columns = found.shape[1]
    if top_labels is not None:
        if label is not None or not arg.is_integer(top_labels) or top_labels != 1:
            raise ValueError(
                "top_labels must be 1, and label left out, for one prediction, got "
                f"{arg.shorten(top_labels)}; ask for other labels one at a time."
            )
        return int(np.argmax(found[0]))
    names = explainer.class_names
    return label_column(label, classes if names is None else names, columns)


def _class_name(explainer: Any, column: int | None) -> str | None:
    """As `lime` calls it: by its number where the explainer has no names."""
    names = explainer.class_names
    if column is None:
        return None
    return str(names[column]) if names is not None and column < len(names) else str(column)


def _is_euclidean(metric: Any) -> bool:
    return isinstance(metric, str) and metric in ("euclidean", "l2")


def _weigh(explainer: Any, metric: Any) -> Weigh:
    """The weights that an explainer gives by another kernel or another distance."""
    from sklearn.metrics import pairwise_distances

    def weigh(rows: np.ndarray) -> np.ndarray:
        return checked_weights(
            explainer, metric, lambda: pairwise_distances(rows, rows[:1], metric=metric).ravel()
        )

    return weigh


def _notes(setting: Setting, n: int) -> tuple[str, ...]:
    """Where xi's own row decides, runs are what they happen to be."""
    weight = (n - 1) * np.exp(setting.tilt.log_C)
    return (own_row_note(n, weight),) if weight < OWN_ROW else ()
