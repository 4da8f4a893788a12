"""Models and tables in files: reading, and refusals in one sentence."""

from __future__ import annotations

import argparse
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from ..inputs.lime_defaults import KERNEL_WIDTH_FACTOR, RIDGE
from ..inputs.predictors import first_fitted, listed_classes, predictor
from ..lime.empirical import Empirical
from .options import PICKLE

MAX_LABELS = 500  # different texts of one column
# parts of scikit-learn's own models, arrays of numbers all of them, that skops leaves to the caller
NUMBERS_ONLY = (
    "sklearn.tree._tree.Tree", "sklearn._loss.", "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.neural_network._stochastic_optimizers.", "sklearn.calibration._",
    "sklearn.neighbors._kd_tree.KDTree", "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.metrics._dist_metrics.", "numpy.dtype",
)  # fmt: skip


class RefusedError(Exception):
    """Input that the command cannot work with."""


def refuse(sentence: str) -> NoReturn:
    """Refuse the input."""
    raise RefusedError(sentence) from None


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
        for option, place in (("--html", options.html), ("--json", options.json)):
            if place and (Path(place).is_dir() or not Path(place).absolute().parent.is_dir()):
                refuse(f"{option} must be a file in a folder that there is, got {place!r}.")
        frame, f = _read_table(options), read_model(options)
        frame = _columns_for(f, frame, options)
        text = [c for c in frame.columns if frame[c].dtype.kind not in "fiub"]
        _refuse_texts(frame, text)
        labels = list(dict.fromkeys([*text, *options.categorical]))
        world = Empirical(frame, categorical=labels)
        output = _class(f, options.output)
        _refuse_missing(f, frame, world, output)
        _refuse_strays(f, frame, text, world, output)
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


def _read_table(options: argparse.Namespace) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "reading tables needs pandas; install it with pip install 'limetutor[cli]'."
        ) from None
    try:
        frame = pd.read_csv(options.data, low_memory=False)
    except FileNotFoundError:
        refuse(f"data must be a CSV file, but there is no file {options.data!r}.")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        refuse(f"data must be a CSV file, but {options.data!r} is not one: {words}.")
    dropped = [*([options.target] if options.target else []), *options.drop]
    for column in dropped:
        if column not in frame.columns:
            names = ", ".join(map(str, frame.columns[:8]))
            refuse(f"--target and --drop must name columns of the table ({names}), got {column!r}.")
    frame = frame.drop(columns=dropped)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        refuse(f"data must have at least one row and one column, got {frame.shape[0]} row(s).")
    return frame


def read_model(options: argparse.Namespace) -> Any:
    """The model in a skops file; in a pickle only if the options allow it."""
    path = Path(options.model)
    if not path.is_file():
        refuse(f"model must be a file, but there is none at {options.model!r}.")
    if not (zipfile.is_zipfile(path) and "schema.json" in zipfile.ZipFile(path).namelist()):
        if options.unsafe_pickle:
            return _unpickled(path)
        refuse(f"model must be a skops file, but {options.model!r} is not one. {PICKLE}.")
    try:
        from skops import io
    except ImportError:
        raise ImportError(
            "reading models needs skops; install it with pip install 'limetutor[cli]'."
        ) from None
    types = io.get_untrusted_types(file=path)
    trusted = [name for name in types if name.startswith(NUMBERS_ONLY) or name in options.trust]
    unknown = [name for name in types if name not in trusted]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        refuse(
            f"model holds types that skops does not know: {', '.join(unknown[:3])}{more}; if you know "
            f"them, pass {' '.join(f'--trust {name}' for name in unknown[:3])}."
        )
    return io.load(path, trusted=trusted)


def _unpickled(path: Path) -> Any:
    try:
        import joblib as reader
    except ImportError:
        import pickle

        return pickle.loads(path.read_bytes())
    return reader.load(path)


def _columns_for(f: Any, frame: Any, options: argparse.Namespace) -> Any:
    """The columns that the model was fitted on; without rows that miss values if so requested."""
    first = first_fitted(f)
    wanted = [str(name) for name in getattr(first, "feature_names_in_", ())]
    if wanted:
        missing = [name for name in wanted if name not in frame.columns]
        if missing:
            refuse(f"data must have the columns of the model, but {missing[0]!r} is not there.")
        frame = frame[wanted]
    count = getattr(first, "n_features_in_", frame.shape[1])
    if count != frame.shape[1]:
        refuse(
            f"data must have the {count} columns that the model was fitted on, got {frame.shape[1]}: "
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


def _refuse_missing(f: Any, frame: Any, world: Any, output: Any) -> None:
    """Call the model on a row with a gap for each column that has gaps: not all models take them."""
    gaps = frame.isna().to_numpy()
    columns = np.flatnonzero(gaps.any(axis=0))
    if not columns.size:
        return
    boxes = world.boxes()
    rows = boxes.encode_rows(frame.iloc[np.unique(gaps[:, columns].argmax(axis=0))])
    try:
        predictor(f, boxes, output)(rows)
    except Exception as error:  # each package has its own words for it
        most = str(frame.columns[int(gaps.sum(axis=0).argmax())])
        refuse(
            f"data has missing values in {int(gaps.any(axis=1).sum()):,} of {len(frame):,} rows, most in "
            f"column {most!r}, and the model does not take them ({type(error).__name__}): save it with "
            "a step that fills them (a pipeline that begins with SimpleImputer), or leave those rows out "
            "with --drop-missing."
        )


def _refuse_texts(frame: Any, text: list[str]) -> None:
    for column in text:
        count = frame[column].nunique()
        if count <= MAX_LABELS:
            continue
        if stray := _stray(frame[column]):
            refuse(f"{stray[1]}.")
        refuse(
            f"data must hold labels where it holds text, but column {column!r} has {count:,} different "
            f"texts in {len(frame):,} rows; leave it out with --drop {column!r}."
        )


def _stray(column: Any) -> tuple[Any, str] | None:
    """The row of a word in a column that mostly holds numbers, and what to say; None without one."""
    import pandas as pd

    present = column.dropna()
    words = present[pd.to_numeric(present, errors="coerce").isna()]
    if not 0 < len(words) < len(present) / 2:
        return None
    row, word = words.index[0], str(words.iloc[0])
    more = f" and texts in {len(words) - 1:,} more rows" if len(words) > 1 else ""
    return row, (
        f"data must hold numbers in column {column.name!r}, as in most rows, got {word!r} in row {row}{more}"
    )


def _refuse_strays(f: Any, frame: Any, text: list[str], world: Any, output: Any) -> None:
    """Call the model on words among numbers, which it may take for labels."""
    for column in text:
        stray = _stray(frame[column])
        if stray is None:
            continue
        boxes = world.boxes()
        try:
            predictor(f, boxes, output)(boxes.encode_rows(frame.loc[[stray[0]]]))
        except Exception as error:  # each package has its own words for it
            refuse(f"{stray[1]}, which the model does not take ({type(error).__name__}).")


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
    refuse(f"--output must be one of {', '.join(map(str, classes))}, got {output!r}.")
