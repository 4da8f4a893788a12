"""Classifiers on the scale of their margin, the sum before the link: ``lt.margin``.

A classifier's probability is a function of a sum and is sampled; the **margin**, the sum itself (log
odds, mostly), has an exact limit: ``lt.limit(lt.margin(model, label), ...)``. Chapter: beyond linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.models import Form, Linear
from ..inputs import arguments as arg
from ..inputs.predictors import (
    class_of,
    first_fitted,
    last_step,
    listed_classes,
    output_column,
    package_of,
)
from .moved import moved
from .read_sklearn import scaled_steps
from .readers import RAW_OUTPUTS, family
from .trees import Trees


@dataclass(frozen=True, eq=False)
class Margin:
    """The raw output of a model for a label; made by :func:`limetutor.margin`."""

    model: Any
    label: Any = None

    @property
    def feature_names_in_(self) -> Any:
        """What the model was fitted on, where it says so."""
        return first_fitted(self.model).feature_names_in_

    @property
    def n_features_in_(self) -> Any:
        """How many features it was fitted on."""
        return first_fitted(self.model).n_features_in_

    def __call__(self, x: Any) -> np.ndarray:
        """The margin at each row of x."""
        raw = _predict_raw(self.model, x)
        outputs = 1 if raw.ndim == 1 else raw.shape[1]
        column, sign = self.picks(outputs)
        return sign * (raw if raw.ndim == 1 else raw[:, column])

    def picks(self, outputs: int) -> tuple[int, float]:
        """Which raw output, and its sign: one output of two classes counts for the second."""
        classes = listed_classes(last_step(self.model))
        if not classes:
            if self.label is None and outputs == 1:
                return 0, 1.0
            return output_column(self.label, outputs, [], name="label"), 1.0
        if self.label is None:
            raise ValueError(f"label must be a class of {arg.shorten(classes)}.")
        column = output_column(self.label, len(classes), classes, name="label")
        return (0, 1.0 if column else -1.0) if outputs == 1 else (column, 1.0)

    def __repr__(self) -> str:
        return f"margin({type(self.model).__name__}, {self.label!r})"


def margin(model: Any, label: Any = None) -> Margin:
    """A classifier on the scale on which it adds up: a function of rows with an exact limit.

    Trees and linear classifiers add up numbers and turn the sum into a probability at the end. The
    sum, the **margin** of ``label``, is what scikit-learn calls decision_function, XGBoost
    output_margin, LightGBM raw_score and CatBoost RawFormulaVal; for two classes it is the log odds
    of the label (of a support vector machine or the like, a distance; of a random forest of LightGBM
    the log odds times the number of trees). A regressor with a link (Poisson, say) has a margin too,
    without a label.

    Parameters
    ----------
    model
        A fitted classifier, or a regressor with a link, of scikit-learn, XGBoost, LightGBM or
        CatBoost; or a pipeline that ends in one.
    label
        The class whose margin is meant.

    Returns
    -------
    Margin
        A function from rows (n, d) to n numbers, for ``f`` in all functions of this package.

    Examples
    --------
    >>> import limetutor as lt
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> lt.limit(lt.margin(model, "yes"), [1.0], lt.Gaussian(1.5, 1.0), nu=1.0).method
    'exact'
    """
    last = last_step(model)
    methods = ("decision_function", "_raw_predict")  # the latter of boosted regressors
    has_margin = package_of(last) in PREDICT_RAW or any(hasattr(last, name) for name in methods)
    if not has_margin or not _is_fitted(last):
        raise TypeError(
            "model must be a fitted classifier that has a margin (decision_function, or one of "
            f"XGBoost, LightGBM or CatBoost), got {arg.shorten(model)}."
        )
    margin_of_label, classes = Margin(model, label), listed_classes(last)
    if classes:  # refuses labels that are none of them
        margin_of_label.picks(1 if len(classes) == 2 else len(classes))
    return margin_of_label


def _is_fitted(model: Any) -> bool:
    if hasattr(model, "is_fitted"):  # CatBoost
        return bool(model.is_fitted())
    return hasattr(model, "n_features_in_")


# how other packages are asked for the sum before the link
PREDICT_RAW: dict[str, Callable[[Any, Any], Any]] = {
    "xgboost": lambda model, x: model.predict(x, output_margin=True),
    "lightgbm": lambda model, x: model.predict(x, raw_score=True),
    "catboost": lambda model, x: model.predict(x, prediction_type="RawFormulaVal"),
}


def _predict_raw(model: Any, x: Any) -> np.ndarray:
    """The sums of a model before the link, (n,) or (n, outputs)."""
    if hasattr(model, "steps"):
        transformed = model[:-1].transform(x) if len(model.steps) > 1 else x
        return _predict_raw(last_step(model), transformed)
    call = PREDICT_RAW.get(package_of(model))
    if call is not None:
        return np.asarray(call(model, x), float)
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(x), float)
    if class_of(model) == "GradientBoostingRegressor":  # it has no link
        return np.asarray(model.predict(x), float)
    return np.ravel(model._raw_predict(np.asarray(x, float)))


@family("limetutor", "Margin")
def _margin(f: Any, output: Any) -> Form | None:
    """The form of the raw output for the label."""
    if output is not None:
        raise ValueError(f"output must be left out for a margin, got {arg.shorten(output)}.")
    model, scaling = last_step(f.model), None
    if model is not f.model:
        scaling = scaled_steps(f.model)
        if scaling is None:
            return None
    read = RAW_OUTPUTS.find(model)
    forms = None if read is None else read(model)
    if forms is None:
        return None
    column, sign = f.picks(len(forms))
    form = forms[column]
    if isinstance(form, Trees):
        form = replace(form, value=sign * form.value, b=sign * form.b)
    else:
        form = Linear(sign * form.a, sign * form.b)
    return form if scaling is None else moved(form, np.arange(len(scaling[0])), *scaling)
