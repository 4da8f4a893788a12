"""Tables in CSV files: which rows, which cells are missing, and refusals in one sentence.

Rows are counted from 0, the first one below the names, whatever the file calls them. A cell is missing
if it is empty or holds a text named with ``--missing``; in a column of numbers also if it holds one of
:data:`NO_NUMBER`. In a column of texts, "NA" and "None" are texts like others.
"""

import argparse
import csv
import re
import warnings
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..inputs import arguments as arg
from ..inputs.predictors import predictor
from ..inputs.warning_classes import LimetutorWarning
from ..plotting.files import place
from .refusals import refuse

UNNAMED = "Unnamed: 0"  # pandas' name of a first column without a name
MAX_LABELS = 500  # different texts of one column
MAX_COLUMNS = 20_000  # for which pandas needs seconds
MAX_PIPE = 2**28  # bytes of what has no size: a pipe, a device, or a file of /proc may have no end
# what programs write into columns of numbers where there is none
NO_NUMBER = (
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip
TRUTH = {"true": True, "false": False}
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)


def read_table(options: argparse.Namespace, wanted: list[str]) -> Any:
    """The table without the columns that the options drop; rows have their positions as index.

    ``wanted`` are the columns that the model was fitted on, where it knows them.
    """
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "reading tables needs pandas; install it with pip install 'limetutor[cli]'."
        ) from None
    try:
        _refuse_wide(options)
        with _opened(options.data) as file:
            frame = pd.read_csv(
                file,
                compression=None,  # a small file may unpack to any size
                sep=options.sep,
                encoding=options.encoding,
                dtype=dict.fromkeys(options.text, str),
                keep_default_na=False,
                lineterminator=_line_end(file),
                low_memory=False,
                float_precision="round_trip",  # pandas 3.0 reads 1e30 as its neighbour
                na_values=["", *options.missing],
            )
    except (FileNotFoundError, NotADirectoryError):
        refuse(f"data must be a CSV file, but there is no file {options.data!r}.")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split()).rstrip(".")
        hint = "; --encoding says how its letters are written" * isinstance(error, UnicodeError)
        refuse(f"data must be a CSV file, but {options.data!r} is not one: {words}{hint}.")
    frame = _without_row_names(frame, options, wanted)
    dropped = [*([options.target] if options.target else []), *options.drop]
    for column in (*dropped, *options.text):
        if column not in frame.columns:
            names, which = ", ".join(map(str, frame.columns[:8])), "--target and --drop"
            which = which if column in dropped else "--text"
            refuse(f"{which} must name columns of the table ({names}), got {column!r}.")
    frame = frame.drop(columns=dropped)
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        refuse(f"data must have at least one row and one column, got {frame.shape[0]} row(s).")
    texts = [name for name, kind in frame.dtypes.items() if kind.kind not in "fiub"]
    for name in texts:
        if name not in options.text:
            frame[name] = _typed(frame[name])
    return frame


def _opened(name: str) -> BinaryIO:
    """The file, and never an address, which pandas would look up."""
    path = place("data", name)
    if _has_size(path):
        return path.open("rb")
    with path.open("rb") as pipe:
        content = pipe.read(MAX_PIPE + 1)
    if len(content) > MAX_PIPE:
        refuse(f"data must be at most {MAX_PIPE / 2**20:g} MiB where it has no size, got more.")
    return BytesIO(content)


def _has_size(path: Path) -> bool:
    """Whether it is a file that may be read as often as needed."""
    return path.is_file() and path.stat().st_size > 0


def _line_end(file: BinaryIO) -> str | None:
    """The carriage return of old Macs, of which pandas must be told: else it moves cells after empty lines."""
    start = file.read(2**16)
    file.seek(0)
    return "\r" if b"\r" in start and b"\n" not in start else None


def _without_row_names(frame: Any, options: argparse.Namespace, wanted: list[str]) -> Any:
    """Rows by position, not by name.

    R writes names of rows in a first column that has an empty name, or none at all.
    """
    import pandas as pd

    if frame.index.nlevels > 1:
        refuse("data must have a name for every column, got rows that are longer by two or more.")
    lines = _first_lines(options)
    counts = Counter(lines[0] if lines else ())
    twice = [name for name, count in counts.items() if count > 1 and name]
    if twice and f"{twice[0]}.1" not in wanted:  # as pandas calls the second one
        refuse(f"data must have different names of columns, got {twice[0]!r} more than once.")
    if lines and not wanted:
        _refuse_numbers(lines[0])
    longer = len(lines) == 2 and len(lines[1]) == len(lines[0]) + 1 and not lines[1][-1]
    if longer and frame.iloc[:, -1].isna().all():
        refuse("data must have as many cells as names in a row, got rows that end with a comma.")
    if not frame.index.equals(pd.RangeIndex(len(frame))):
        names = frame.index
    elif frame.shape[1] > 1 and frame.columns[0] == UNNAMED and UNNAMED not in wanted:
        names, frame = frame.iloc[:, 0], frame.iloc[:, 1:]
    else:
        return frame
    frame = frame.reset_index(drop=True)
    i = 0 if options.row is None else options.row
    if 0 <= i < len(frame):
        which = f"row {i} is the one called {str(names[i])!r}"
        words = f"data has names of rows, which are left out; rows are counted from 0: {which}."
        warnings.warn(words, LimetutorWarning, stacklevel=2)
    return frame


def _refuse_numbers(names: list[str]) -> None:
    """Refuse a file that begins with a row of numbers; whole ones may be names, and a note says so."""
    numbers = [name.strip() for name in names if NUMBER.fullmatch(name.strip())]
    if odd := [number for number in numbers if not number.isdigit()]:
        refuse(f"data must begin with a row of names, got the number {odd[0]}.")
    counted = [[str(k + first) for k in range(len(names))] for first in (0, 1)]
    if len(numbers) == len(names) and numbers not in counted:
        words = f"data begins with the numbers {', '.join(numbers[:5])}, which are taken for names."
        warnings.warn(words, LimetutorWarning, stacklevel=2)


def _refuse_wide(options: argparse.Namespace) -> None:
    """Count the names before pandas makes a column of each; another separator is seen here too."""
    path = place("data", options.data)
    if options.sep.lower() == "tab":
        options.sep = "\t"
    if len(options.sep) != 1 or options.sep in '"\r\n':
        refuse(f"--sep must be one character, or the word tab, got {options.sep!r}.")
    try:
        "".encode(options.encoding)
    except (LookupError, ValueError):
        refuse(
            "--encoding must be the name of one that Python knows, such as utf-16 or latin-1, got "
            f"{options.encoding!r}."
        )
    if not _has_size(path):
        return
    with (
        path.open(newline="", encoding=options.encoding, errors="replace") as file,
        suppress(csv.Error),  # for which the table is refused later
    ):
        names = next(csv.reader(file, delimiter=options.sep), [])
        if len(names) > MAX_COLUMNS:
            refuse(f"data must have at most {MAX_COLUMNS:,} columns, got {len(names):,}.")
        for other in ";\t|":
            cells = names[0].split(other) if len(names) == 1 and options.sep == "," else ()
            if len(cells) > 1 and all(cell.isprintable() for cell in cells):
                got, sep = arg.shorten(names[0]), "tab" if other == "\t" else f"'{other}'"
                refuse(f"data must have cells between commas, got {got}: pass --sep {sep}.")


def _first_lines(options: argparse.Namespace) -> list[list[str]]:
    """The names and the first row, cell by cell, once all rows have as many cells as that one.

    Nothing of a pipe, which is read once.
    """
    path, name = place("data", options.data), options.data
    if not _has_size(path):
        return []
    with path.open(newline="", encoding=options.encoding, errors="replace") as file:
        try:
            rows = csv.reader(file, delimiter=options.sep)
            records = (record for record in rows if record)
            lines = list(islice(records, 2))
            for i, record in enumerate(records, 1):
                if len(record) != len(lines[1]):
                    refuse(
                        "data must have as many cells in one row as in another, got "
                        f"{len(lines[1])} in row 0 and {len(record)} in row {i}."
                    )
        except csv.Error as error:
            refuse(f"data must be a CSV file, but {name!r} is not one: {error}.")
    return lines


def _typed(column: Any) -> Any:
    """A column of numbers, whose words for "no number" are missing values, or the texts as they are."""
    missing = column.isna()
    words = column.isin(NO_NUMBER) & ~missing
    rest = ~missing & ~words
    numbers = _numbers(column.where(rest))
    if rest.any() and numbers[rest].notna().all():
        return numbers
    if not words.any():
        return column
    truth = column.where(rest).str.lower().map(TRUTH)
    if rest.any() and truth[rest].notna().all():
        return truth
    word = str(column[words].iloc[0])
    warnings.warn(
        f"column {column.name!r} holds texts, and {word!r} in {int(words.sum()):,} row(s) is taken for "
        f"one of them; if it stands for a missing value, pass --missing {word}.",
        LimetutorWarning,
        stacklevel=2,
    )
    return column


def _numbers(column: Any) -> Any:
    """What pandas reads as numbers in cells of text, and nan for what it does not."""
    import pandas as pd

    return pd.to_numeric(column.astype(str), errors="coerce").astype(float)


def labels_of(frame: Any, named: Collection[str]) -> list[str]:
    """The columns of texts, all of which must be labels: columns of numbers are so only if ``named``."""
    text = [column for column in frame.columns if frame[column].dtype.kind not in "fiub"]
    for column in text:
        if column not in named:
            _refuse_stray(frame[column])
        count = frame[column].nunique()
        if count > MAX_LABELS:
            refuse(
                f"data must hold labels where it holds text, but column {column!r} has {count:,} different "
                f"texts in {len(frame):,} rows; leave it out with --drop {column!r}."
            )
    return text


def _refuse_stray(column: Any) -> None:
    """Refuse words in a column that mostly holds numbers: they would make labels of all of it."""
    present = column.dropna()
    words = present[_numbers(present).isna()]
    if not 0 < len(words) < len(present) / 2:
        return
    more = f" and texts in {len(words) - 1:,} more rows" if len(words) > 1 else ""
    refuse(
        f"data must hold numbers in column {column.name!r}, as in most rows, got "
        f"{arg.shorten(str(words.iloc[0]))} in row {words.index[0]}{more}; if it holds labels, name it with "
        f"--text {column.name!r}."
    )


def refuse_rows(f: Any, frame: Any, world: Any, output: Any) -> None:
    """Call the model on the first whole row: texts may look like numbers, and numbers like texts."""
    whole = frame[~frame.isna().any(axis=1)]
    if not len(whole):
        return
    boxes = world.boxes()
    try:
        predictor(f, boxes, output)(boxes.encode_rows(whole.iloc[:1]))
    except Exception as error:  # each package has its own words for it
        cause = error.__cause__ or error
        words = f"{type(cause).__name__}: {' '.join(str(cause).split())}"[:80].rstrip(".")
        refuse(
            f"data must hold what the model was fitted on, but the model fails on row {whole.index[0]} "
            f"({words}); if a column holds texts that look like numbers, such as zip codes, name it "
            "with --text."
        )


def refuse_missing(f: Any, frame: Any, world: Any, output: Any) -> None:
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
