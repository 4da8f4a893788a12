"""The options of commands that read a model and a table."""

import argparse
from typing import Any

from ..inputs.lime_defaults import NUM_SAMPLES

# the options that arguments of the package are called here
OPTIONS = {
    "nu": "--bandwidth", "n": "--samples", "seed": "--seed", "categorical": "--categorical",
    "X": "data",
}  # fmt: skip
PICKLE = (
    "--unsafe-pickle reads pickle and joblib files too, which RUN WHATEVER CODE THEY HOLD as they are "
    "opened: only for files that you made yourself or trust like your own programs"
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that read a model and a table."""
    add = parser.add_argument
    add("model", help="a fitted estimator in a skops file")
    add("data", help="the table in a CSV file: a row of names, then numbers and texts")
    sep = "what separates cells: a character, or the word tab (default: a comma)"
    add("--sep", metavar="CHARACTER", default=",", help=sep)
    coding = "how the letters of the table are written, such as utf-16 or latin-1 (default: utf-8)"
    add("--encoding", metavar="NAME", default="utf-8-sig", help=coding)
    row = (
        "which row to explain, counted from 0, the first one below the names, whatever it is called"
    )
    add("--row", type=int, help=row)
    add("--target", help="a column that is not given to the model")
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add("--drop", metavar="COLUMN", help="another such column; repeat it", **repeated)
    gaps = "leave out rows with missing values (otherwise: a missing value is a box of its own)"
    missing = (
        "a text that stands for a missing value; repeat it (an empty cell always does; NA, NaN, None, "
        "null and the like do in columns of numbers, and are texts in columns of texts)"
    )
    add("--missing", metavar="TEXT", help=missing, **repeated)
    add("--drop-missing", action="store_true", help=gaps)
    labels = "a column of numbers that are labels; repeat it (text columns are labels anyway)"
    add("--categorical", metavar="COLUMN", help=labels, **repeated)
    text = "a column of texts that look like numbers, such as zip codes; repeat it"
    add("--text", metavar="COLUMN", help=text, **repeated)
    add("--output", help="the class to explain, by name (default: the second one, as in lime)")
    add("--bandwidth", type=float, help="the kernel width (default: lime's, 0.75 sqrt(columns))")
    samples = "samples of an explanation (default: 5000)"
    add("--samples", type=int, default=NUM_SAMPLES, help=samples)
    add("--seed", type=int, default=0, help="of the samples (default: 0)")
    add("--html", metavar="FILE", help="write a report that stands alone")
    add("--json", metavar="FILE", help="write all numbers")
    trust = (
        "a type in the skops file, by its full name, that may run code or crash as it is read: only for "
        "files that you trust like your own programs; repeat it (classes of scikit-learn that limetutor "
        "knows need no such word)"
    )
    add("--trust", metavar="TYPE", help=trust, **repeated)
    add("--unsafe-pickle", action="store_true", help=PICKLE)
