"""A model and a table in files, matched to each other."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import arguments as arg
from ..inputs.lime_defaults import KERNEL_WIDTH_FACTOR, RIDGE
from ..inputs.predictors import first_fitted, listed_classes, names_fitted_on, spelled
from ..lime.empirical import Empirical
from ..plotting.files import place
from .model_files import read_model
from .refusals import refuse
from .tables import labels_of, read_table, refuse_missing, refuse_rows


@dataclass(frozen=True)
class ModelAndTable:
    """A model, the world of a table, and the settings of `lime`."""

    f: Any
    frame: Any  # the features, with the positions in the file as index
    world: Any
    settings: dict[str, Any]

    @classmethod
    def read(cls, options: argparse.Namespace) -> ModelAndTable:
        """Read both files and match them to each other."""
        _refuse_places(options)
        f = read_model(options.model, options.trust, options.unsafe_pickle)
        frame = _columns_for(f, read_table(options, names_fitted_on(f)), options)
        text = labels_of(frame, [*options.text, *options.categorical])
        labels = list(dict.fromkeys([*text, *options.categorical]))
        world = Empirical(frame, categorical=labels)
        output = _class(f, options.output)
        refuse_missing(f, frame, world, output)
        refuse_rows(f, frame, world, output)
        usual = KERNEL_WIDTH_FACTOR * np.sqrt(frame.shape[1])
        nu = usual if options.bandwidth is None else options.bandwidth
        settings = {"nu": nu, "kernel": "mismatch", "ridge": RIDGE, "n": options.samples}
        return cls(f, frame, world, settings | {"output": output})

    def row(self, i: int | None) -> Any:
        """One instance, by its position in the file."""
        last = int(self.frame.index[-1])
        if i is None:
            refuse(f"--row must be given: the position of a row, from 0 to {last}.")
        if i not in self.frame.index:
            why = f"row {i} has missing values and was left out" if 0 <= i <= last else f"got {i}"
            refuse(f"--row must be the position of a row, from 0 to {last}; {why}.")
        return self.frame.loc[i]


def _refuse_places(options: argparse.Namespace) -> None:
    """Refuse reports in folders that are not there, and those that would take the place of an input."""
    taken = [place("model", options.model), place("data", options.data)]
    for option, file in (("--html", options.html), ("--json", options.json)):
        if not file:
            continue
        path = place(option, file)
        if path.is_dir() or not path.absolute().parent.is_dir():
            refuse(f"{option} must be a file in a folder that there is, got {file!r}.")
        if os.path.realpath(path) in map(os.path.realpath, taken):
            refuse(f"{option} must be a file of its own, but {file!r} has another use here.")
        taken.append(path)


def _columns_for(f: Any, frame: Any, options: argparse.Namespace) -> Any:
    """The columns that the model was fitted on; without rows that miss values if so requested."""
    first = first_fitted(f)
    wanted = names_fitted_on(f)
    if wanted:
        columns = dict(zip(spelled(f, frame.columns), frame.columns, strict=True))
        missing = [name for name in wanted if name not in columns]
        if missing:
            refuse(
                f"data must have the columns of the model, but {arg.shorten(missing[0])} is not there."
            )
        frame = frame[[columns[name] for name in wanted]]
    # 0 is what CatBoost says once skops has read it
    count = getattr(first, "n_features_in_", 0) or frame.shape[1]
    if count != frame.shape[1]:
        refuse(
            f"data must have the {arg.shorten(count)} columns that the model was fitted on, got {frame.shape[1]}: "
            f"{', '.join(map(str, frame.columns[:12]))}; leave some out with --target or --drop."
        )
    empty = frame.isna()
    nothing = frame.columns[empty.all()]
    if len(nothing):
        refuse(
            f"data must hold some value in every column, but {str(nothing[0])!r} is all missing."
        )
    if not options.drop_missing or not empty.to_numpy().any():
        return frame
    frame = frame[~empty.any(axis=1)]
    if not len(frame):
        refuse("data must have a row without missing values, got none.")
    return frame.infer_objects()


def _class(f: Any, output: str | None) -> Any:
    """The class that was named, or the second one, as in `lime`."""
    classes = listed_classes(f) if hasattr(f, "predict_proba") else []
    if output is None:
        return classes[min(1, len(classes) - 1)] if classes else None
    if not classes:
        refuse(f"--output must be left out where the model has no classes, got {output!r}.")
    for label in classes:
        if str(label) == output:
            return label
    more = f" and {len(classes) - 20} more" if len(classes) > 20 else ""
    names = ", ".join(map(str, classes[:20])) + more
    return refuse(f"--output must be one of {names}, got {output!r}.")
