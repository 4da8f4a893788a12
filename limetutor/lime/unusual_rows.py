"""Rows that `lime` takes beside plain ones: sparse rows, and the sequences of a RecurrentTabularExplainer.

Of a sparse row `lime` draws the columns that are not 0 there, as normals, and fits on the numbers *times*
their deviation; the others stay 0. A sequence is one row, feature by feature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..inputs import arguments as arg
from .empirical import Column, stack
from .lime_prediction import LimePrediction
from .read_explainer import LimeNumbers


class NonZero(NamedTuple):
    """The columns of a sparse row that are not 0: a world of these alone, and the model as one of them."""

    columns: np.ndarray
    world: LimeNumbers
    f: Callable[[np.ndarray], np.ndarray]
    xi: np.ndarray

    def spread(self, prediction: LimePrediction, names: tuple[str, ...]) -> LimePrediction:
        """The prediction for all columns; `lime` fills its list with the first of those that are 0."""
        d, columns = len(names), self.columns
        zeros = [j for j in range(d) if j not in set(columns.tolist())]
        sets = []
        for chosen, share in prediction.sets:
            own = [int(columns[j]) for j in chosen]
            more = zeros[: max(prediction.num_features - len(own), 0)]
            sets.append((tuple(sorted([*own, *more])), share))
        parts: dict[str, Any] = {}
        for name in ("coef", "sd", "stderr", "selection"):
            parts[name] = np.zeros(d)
            parts[name][columns] = getattr(prediction, name)
        parts["selection"][[j for j in sets[0][0] if j in zeros]] = 1.0
        return replace(prediction, names=names, sets=sets, **parts)


def nonzero_part(explainer: Any, f: Any, row: Any) -> NonZero:
    """What `lime` explains of a sparse row."""
    from scipy.sparse import csr_matrix

    row, d = csr_matrix(row), len(explainer.feature_names)
    if row.shape != (1, d):
        raise ValueError(f"instance must be one row of {d} columns, got shape {row.shape}.")
    around = explainer.sample_around_instance
    if explainer.discretizer is not None or len(explainer.categorical_features) or around:
        raise ValueError(
            "instance must be a dense row for an explainer with boxes or categories, or that samples "
            "around it, got a sparse one, which lime takes for other numbers alone."
        )
    row.sum_duplicates()
    row.eliminate_zeros()
    columns = row.indices.copy()
    if not len(columns):
        raise ValueError("instance must have a value other than 0 for a prediction, got none.")
    xi = arg.within("instance", arg.numbers("instance", row.data.astype(float)))
    scale = np.asarray(explainer.scaler.scale_, float)[columns]
    mean = np.asarray(explainer.scaler.mean_, float)[columns]
    reach = np.array([np.inf])
    made = [
        Column(np.array([]), np.ones(1), mean[[k]], scale[[k]], -reach, reach)
        for k in range(len(columns))
    ]
    names = tuple(str(explainer.feature_names[j]) for j in columns)
    boxes = replace(stack(made, names), unit=1 / scale)
    nu = explainer.base.kernel_fn.keywords["kernel_width"]
    world = LimeNumbers(boxes, nu, np.zeros(len(columns)), False)
    call = f if callable(f) else getattr(f, "predict_proba", None) or f.predict

    def of_columns(x: np.ndarray) -> np.ndarray:
        start = np.arange(0, x.size + 1, x.shape[1])
        places = np.tile(columns, len(x))
        return np.asarray(call(csr_matrix((x.ravel(), places, start), shape=(len(x), d))))

    return NonZero(columns, world, of_columns, xi)


def sequence(explainer: Any, f: Any, instance: Any) -> tuple[Callable[..., Any], np.ndarray]:
    """The model of rows that a RecurrentTabularExplainer makes of one of sequences, and the row."""
    steps, features = explainer.n_timesteps, explainer.n_features
    values = np.asarray(instance, float)
    if values.shape != (steps, features):
        raise ValueError(
            f"instance must be a sequence of shape {(steps, features)}, got {values.shape}."
        )
    call = f if callable(f) else getattr(f, "predict_proba", None) or f.predict
    return explainer._make_predict_proba(call), values.T.ravel()
