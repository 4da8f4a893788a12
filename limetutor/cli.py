"""The command `limetutor`: a model in a file, a table in a file, an answer.

    limetutor audit model.skops data.csv --row 7 --html report.html

The world is :class:`limetutor.Empirical` of the table; kernel, bandwidth and ridge are those of `lime`.
It ends with 0 when done, 1 when an audit found something serious, 2 when the input was bad. To add a
command: write a function here, or in a room of its own, and register it with :func:`command`.
Chapter: trust.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
import warnings
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .classroom import command as classroom

DONE, SERIOUS, BAD = 0, 1, 2
RIDGE, SAMPLES, WIDTH = 1.0, 5000, 0.75  # `lime`'s: Ridge(alpha=1), num_samples, 0.75 sqrt(d)
MOST_ROWS = 20_000  # of a table audited whole
MOST_LABELS = 500  # different texts of one column
# parts of scikit-learn's own models, arrays of numbers all of them, that skops leaves to the caller
NUMBERS_ONLY = (
    "sklearn.tree._tree.Tree",
    "sklearn._loss.",
    "sklearn.ensemble._hist_gradient_boosting.",
    "sklearn.neural_network._stochastic_optimizers.",
    "sklearn.calibration._",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.metrics._dist_metrics.",
    "numpy.dtype",
)
# what arguments of the package are called here
CALLED = {
    "nu": "--bandwidth",
    "n": "--samples",
    "seed": "--seed",
    "categorical": "--categorical",
    "X": "data",
}
PICKLE = (
    "--unsafe-pickle reads pickle and joblib files too, which RUN WHATEVER CODE THEY HOLD as they are "
    "opened: only for files that you made yourself or trust like your own programs"
)

Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A subcommand: what it is called, what it says of itself, its options and what it does."""

    name: str
    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Run


COMMANDS: dict[str, Command] = {}


def command(
    name: str, words: str, options: Callable[[argparse.ArgumentParser], None]
) -> Callable[[Run], Run]:
    """Register a function as `limetutor name`."""

    def register(run: Run) -> Run:
        COMMANDS[name] = Command(name, words, options, run)
        return run

    return register


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; what goes wrong is one sentence on the error stream, and 2."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # letters that a terminal lacks are no reason to fail
            stream.reconfigure(errors="replace")
    asked = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            code = COMMANDS[asked.command].run(asked)
    except KeyboardInterrupt:
        return _refused("stopped.")
    except Exception as error:  # a model may fail in any way
        if asked.traceback:
            traceback.print_exc()
        return _refused(_sentence(error))
    for text in dict.fromkeys(str(note.message) for note in said if _ours(note.category)):
        print(f"note: {text}", file=sys.stderr)
    return code


def _ours(category: type[Warning]) -> bool:
    from .arguments import LimetutorWarning

    return issubclass(category, LimetutorWarning)


def _sentence(error: BaseException) -> str:
    words = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror or words}."
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is not None and str(trace.tb_frame.f_globals.get("__name__")).startswith("limetutor"):
        name, space, rest = words.partition(" must ")  # of this package: a sentence already
        return CALLED.get(name, name) + space + rest
    return f"the model or the table failed with {type(error).__name__}: {words}"


class RefusedError(Exception):
    """Input that the command cannot work with."""


def _refused(words: str) -> int:
    print(f"limetutor: {words}", file=sys.stderr)
    return BAD


def _parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = argparse.ArgumentParser(
        prog="limetutor",
        description="What LIME says of a model in a file, and whether it can be trusted.",
        epilog="Ends with 0 when done, 1 when an audit found something serious, 2 when the input was bad.",
    )
    parser.add_argument("--version", action="version", version=f"limetutor {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for entry in COMMANDS.values():
        one = commands.add_parser(entry.name, help=entry.help, description=entry.help)
        one.add_argument(
            "--traceback", action="store_true", help="show where in the code an error came from"
        )
        entry.options(one)
    return parser


# --- models and tables in files -----------------------------------------------------------------


def _about_a_table(parser: argparse.ArgumentParser) -> None:
    """The options of commands that ask a model about a table."""
    add = parser.add_argument
    add("model", help="a fitted estimator in a skops file")
    add("data", help="the table in a CSV file: a row of names, then numbers and texts")
    add("--row", type=int, help="which row to explain, counted from 0")
    add("--target", help="a column that is not given to the model")
    add(
        "--drop",
        action="append",
        default=[],
        metavar="COLUMN",
        help="another such column; repeat it",
    )
    add(
        "--drop-missing", action="store_true",
        help="leave out rows with missing values (otherwise: a missing value is a box of its own)",
    )  # fmt: skip
    add(
        "--categorical", action="append", default=[], metavar="COLUMN",
        help="a column of numbers that are labels; repeat it (text columns are labels anyway)",
    )  # fmt: skip
    add("--output", help="the class to explain, by name (default: the second one, as in lime)")
    add("--bandwidth", type=float, help="the kernel width (default: lime's, 0.75 sqrt(columns))")
    add("--samples", type=int, default=SAMPLES, help="samples of an explanation (default: 5000)")
    add("--seed", type=int, default=0, help="of the samples (default: 0)")
    add("--html", metavar="FILE", help="write a report that stands alone")
    add("--json", metavar="FILE", help="write all numbers")
    add(
        "--trust", action="append", default=[], metavar="TYPE",
        help="a type in the skops file that skops does not know; repeat it",
    )  # fmt: skip
    add("--unsafe-pickle", action="store_true", help=PICKLE)


@dataclass(frozen=True)
class Question:
    """A model, a world, and how `lime` would ask."""

    f: Any
    frame: Any  # the features, with the positions in the file as index
    world: Any
    how: dict[str, Any]

    @classmethod
    def of(cls, asked: argparse.Namespace) -> Question:
        """Read both files and fit them to each other."""
        from . import Empirical

        _refuse_places(asked)
        frame = _read_table(asked)
        f = _read_model(asked)
        frame = _columns_for(f, frame, asked)
        text = [c for c in frame.columns if frame[c].dtype.kind not in "fiub"]
        _refuse_texts(frame, text)
        labels = list(dict.fromkeys([*text, *asked.categorical]))
        world = Empirical(frame, categorical=labels)
        output = _class(f, asked.output)
        _refuse_missing(f, frame, world, output)
        _refuse_strays(f, frame, text, world, output)
        nu = WIDTH * np.sqrt(frame.shape[1]) if asked.bandwidth is None else asked.bandwidth
        how = {"nu": nu, "kernel": "mismatch", "ridge": RIDGE, "n": asked.samples}
        return cls(f, frame, world, how | {"output": output})

    def row(self, i: int | None) -> Any:
        """One instance, by its position in the file."""
        last = int(self.frame.index[-1])
        if i is None:
            raise RefusedError(f"--row must be given: the position of a row, from 0 to {last}.")
        if i not in self.frame.index:
            why = (
                f"got {i}" if not 0 <= i <= last else f"row {i} has missing values and was left out"
            )
            raise RefusedError(f"--row must be the position of a row, from 0 to {last}; {why}.")
        return self.frame.loc[i]


def _refuse_places(asked: argparse.Namespace) -> None:
    """Files that cannot be written, before any work is done."""
    for option, place in (("--html", asked.html), ("--json", asked.json)):
        if place and (Path(place).is_dir() or not Path(place).absolute().parent.is_dir()):
            raise RefusedError(f"{option} must be a file in a folder that there is, got {place!r}.")


def _read_table(asked: argparse.Namespace) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "reading tables needs pandas; install it with pip install 'limetutor[cli]'."
        ) from None
    try:
        frame = pd.read_csv(asked.data, low_memory=False)
    except FileNotFoundError:
        raise RefusedError(
            f"data must be a CSV file, but there is no file {asked.data!r}."
        ) from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())
        raise RefusedError(
            f"data must be a CSV file, but {asked.data!r} is not one: {words}."
        ) from None
    for column in (*([asked.target] if asked.target else []), *asked.drop):
        if column not in frame.columns:
            known = ", ".join(map(str, frame.columns[:8]))
            raise RefusedError(
                f"--target and --drop must name columns of the table ({known}), got {column!r}."
            )
    frame = frame.drop(columns=[*([asked.target] if asked.target else []), *asked.drop])
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise RefusedError(
            f"data must have at least one row and one column, got {frame.shape[0]} row(s)."
        )
    return frame


def _read_model(asked: argparse.Namespace) -> Any:
    path = Path(asked.model)
    if not path.is_file():
        raise RefusedError(f"model must be a file, but there is none at {asked.model!r}.")
    if asked.unsafe_pickle and not _is_skops(path):
        return _unpickled(path)
    if not _is_skops(path):
        raise RefusedError(f"model must be a skops file, but {asked.model!r} is not one. {PICKLE}.")
    try:
        from skops import io
    except ImportError:
        raise ImportError(
            "reading models needs skops; install it with pip install 'limetutor[cli]'."
        ) from None
    held = io.get_untrusted_types(file=path)
    known = [name for name in held if name.startswith(NUMBERS_ONLY) or name in asked.trust]
    unknown = [name for name in held if name not in known]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise RefusedError(
            f"model holds types that skops does not know: {', '.join(unknown[:3])}{more}; if you know "
            f"them, pass {' '.join(f'--trust {name}' for name in unknown[:3])}."
        )
    return io.load(path, trusted=known)


def _is_skops(path: Path) -> bool:
    """A zip file with a schema in it."""
    return zipfile.is_zipfile(path) and "schema.json" in zipfile.ZipFile(path).namelist()


def _unpickled(path: Path) -> Any:
    try:
        import joblib as reader
    except ImportError:
        import pickle

        return pickle.loads(path.read_bytes())
    return reader.load(path)


def _columns_for(f: Any, frame: Any, asked: argparse.Namespace) -> Any:
    """The columns that the model was fitted on; rows that miss any of them stay unless told otherwise."""
    from .models import first_fitted

    first = first_fitted(f)
    wanted = [str(name) for name in getattr(first, "feature_names_in_", ())]
    if wanted:
        missing = [name for name in wanted if name not in frame.columns]
        if missing:
            raise RefusedError(
                f"data must have the columns of the model, but {missing[0]!r} is not there."
            )
        frame = frame[wanted]
    count = getattr(first, "n_features_in_", frame.shape[1])
    if count != frame.shape[1]:
        raise RefusedError(
            f"data must have the {count} columns that the model was fitted on, got {frame.shape[1]}: "
            f"{', '.join(map(str, frame.columns[:12]))}; leave some out with --target or --drop."
        )
    empty = frame.isna()
    nothing = frame.columns[empty.all()]
    if len(nothing):
        raise RefusedError(
            f"data must hold some value in every column, but {str(nothing[0])!r} is all missing."
        )
    if not asked.drop_missing or not empty.to_numpy().any():
        return frame
    frame = frame[~empty.any(axis=1)]
    if not len(frame):
        raise RefusedError("data must have a row without missing values, got none.")
    return frame.infer_objects()


def _refuse_missing(f: Any, frame: Any, world: Any, output: Any) -> None:
    """Ask the model about a row with a gap for each column that has gaps: not all models take them."""
    from .models import predictor

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
        raise RefusedError(
            f"data has missing values in {int(gaps.any(axis=1).sum()):,} of {len(frame):,} rows, most in "
            f"column {most!r}, and the model does not take them ({type(error).__name__}): save it with "
            "a step that fills them (a pipeline that begins with SimpleImputer), or leave those rows out "
            "with --drop-missing."
        ) from None


def _refuse_texts(frame: Any, text: list[str]) -> None:
    for column in text:
        count = frame[column].nunique()
        if count <= MOST_LABELS:
            continue
        if stray := _stray(frame[column]):
            raise RefusedError(f"{stray[1]}.")
        raise RefusedError(
            f"data must hold labels where it holds text, but column {column!r} has {count:,} different "
            f"texts in {len(frame):,} rows; leave it out with --drop {column!r}."
        )


def _stray(column: Any) -> tuple[Any, str] | None:
    """The row of a word in a column that mostly holds numbers, and what to say; None without one."""
    import pandas as pd

    there = column.dropna()
    words = there[pd.to_numeric(there, errors="coerce").isna()]
    if not 0 < len(words) < len(there) / 2:
        return None
    row, word = words.index[0], str(words.iloc[0])
    more = f" and texts in {len(words) - 1:,} more rows" if len(words) > 1 else ""
    return row, (
        f"data must hold numbers in column {column.name!r}, as in most rows, got {word!r} in row {row}{more}"
    )


def _refuse_strays(f: Any, frame: Any, text: list[str], world: Any, output: Any) -> None:
    """Ask the model about words among numbers, which it may take for labels."""
    from .models import predictor

    for column in text:
        stray = _stray(frame[column])
        if stray is None:
            continue
        boxes = world.boxes()
        try:
            predictor(f, boxes, output)(boxes.encode_rows(frame.loc[[stray[0]]]))
        except Exception as error:  # each package has its own words for it
            kind = type(error).__name__
            raise RefusedError(f"{stray[1]}, which the model does not take ({kind}).") from None


def _class(f: Any, output: str | None) -> Any:
    """The class that was named, or the second one, as in `lime`."""
    from .models import listed_classes

    classes = listed_classes(f) if hasattr(f, "predict_proba") else []
    if not classes:
        if output is not None:
            raise RefusedError(
                f"--output must be left out where the model has no classes, got {output!r}."
            )
        return None
    if output is None:
        return classes[min(1, len(classes) - 1)]
    for known in classes:
        if str(known) == output:
            return known
    raise RefusedError(f"--output must be one of {', '.join(map(str, classes))}, got {output!r}.")


# --- the commands -----------------------------------------------------------------------------


def _answered(result: Any, asked: argparse.Namespace, **page: Any) -> None:
    """Print a result, and write it into the files that were asked for."""
    print(result)
    if asked.html:
        result.to_html(asked.html, **page)
        print(f"report: {asked.html}")
    if asked.json:
        text = json.dumps(result.to_dict(), allow_nan=False, indent=1)
        Path(asked.json).write_text(text, encoding="utf-8")


@command("explain", "What speaks for and against the prediction of one row.", _about_a_table)
def explain(asked: argparse.Namespace) -> int:
    """`limetutor explain`."""
    import limetutor as lt

    question = Question.of(asked)
    xi = question.row(asked.row)
    found = lt.explain(question.f, xi, question.world, seed=asked.seed, **question.how)
    _answered(found, asked, title=f"Row {asked.row}: what speaks for and against its prediction")
    return DONE


@command(
    "audit",
    "Whether the explanation of one row, or of every row without --row, can be trusted.",
    _about_a_table,
)
def audit(asked: argparse.Namespace) -> int:
    """`limetutor audit`."""
    import limetutor as lt

    question = Question.of(asked)
    rows = question.frame if asked.row is None else question.row(asked.row)
    if asked.row is None and len(rows) > MOST_ROWS:
        raise RefusedError(
            f"data has {len(rows):,} rows, and auditing them all would take long: pick one with --row, or "
            f"audit a part of them, at most {MOST_ROWS:,}, in a file of its own."
        )
    found = lt.audit(question.world, question.f, rows, seed=asked.seed, **question.how)
    _answered(found, asked)
    worst = found.severity if isinstance(found, lt.Audit) else found.worst(1)["severity"].iloc[0]
    return SERIOUS if worst == "serious" else DONE


@command(
    "path",
    "How the explanation of one row moves with the bandwidth, and which to take.",
    _about_a_table,
)
def path(asked: argparse.Namespace) -> int:
    """`limetutor path`."""
    import limetutor as lt

    question = Question.of(asked)
    how = {key: value for key, value in question.how.items() if key != "nu"}
    found = lt.path(question.f, question.row(asked.row), question.world, seed=asked.seed, **how)
    _answered(found, asked, title=f"Row {asked.row}: which bandwidth?")
    return DONE


command("class", "Assignments: hand them out, grade them, give feedback.", classroom.options)(
    classroom.run
)


if __name__ == "__main__":
    sys.exit(main())
