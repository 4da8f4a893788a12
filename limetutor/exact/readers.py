"""Registries of functions that read a fitted model as a form, and the form of any model.

A **family** is read by a function of the fitted estimator and ``output`` (the class or the column that
was asked for); it returns a form, or None where f must be sampled, and refuses, in a sentence, what
belongs to a family but has no form. Models that add up numbers before a link have a second function,
for the forms of their **raw outputs**; :mod:`limetutor.exact.margins` uses it. To add a model: write
the function under ``@family("package", "ClassName")``. Chapter: beyond linear.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..core.boxes import Boxes
from ..core.models import READERS, Form
from ..inputs import arguments as arg
from ..inputs import predictors
from ..inputs.predictors import ModelRegistry, output_column
from .moved import moved
from .verification import verified

FAMILIES = ModelRegistry()  # functions (f, output) -> Form | None
RAW_OUTPUTS = ModelRegistry()  # functions (f) -> list[Form] | None
family, raw_outputs = FAMILIES.register, RAW_OUTPUTS.register


def form_of(f: Any, output: Any = None) -> Form | None:
    """The form of a model, or None where it has none and must be sampled."""
    if isinstance(f, Form):
        return f
    read = FAMILIES.find(f)
    if read is None:
        return None
    if predictors.package_of(f) == "sklearn":
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(f)
    return read(f, output)  # type: ignore[no-any-return]


def form_in(question: Any) -> Form | None:
    """The form of the model of a problem, or of many, where it predicts the same; else None."""
    form = form_in_world(question.boxes, question.f, question.output)
    return None if form is None else verified(form, question)


def form_in_world(boxes: Boxes, f: Any, output: Any) -> Form | None:
    """The form of f in the coordinates of a world, or None."""
    features = features_of(f)
    if features is not None and features != boxes.d:
        raise ValueError(
            f"f must have been fitted on {boxes.d} features, as many as the world has, "
            f"got one fitted on {features}."
        )
    _, order = predictors.fitted_columns(f, boxes)
    if boxes.has_text or boxes.has_gaps:
        return None  # the model has its own way to turn text and missing values into numbers
    form = form_of(f, output)
    if form is None or order == list(range(boxes.d)):
        return form
    return moved(form, np.array(order), np.ones(boxes.d), np.zeros(boxes.d))


def features_of(f: Any) -> int | None:
    """The number of features that f was fitted on, where it says so."""
    count: Any = getattr(predictors.first_fitted(f), "n_features_in_", None)
    return int(count) if arg.is_integer(count) else None


def picked(outputs: Sequence[Any] | np.ndarray | None, output: Any) -> Any:
    """The requested output; the only one where there is one, None where there are none."""
    if outputs is None or (len(outputs) == 1 and output is None):
        return None if outputs is None else outputs[0]
    return outputs[output_column(output, len(outputs), [])]


def refuse(wanted: str, f: Any, got: str) -> NoReturn:
    """Refuse a model of a family whose settings leave it without a form."""
    raise ValueError(
        f"f must {wanted} for an exact limit, got {type(f).__name__} with {got}; "
        "pass a function such as f.predict to have it sampled."
    )


READERS.append((form_in, features_of))
