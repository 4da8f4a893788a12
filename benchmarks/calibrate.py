"""How well do the verdicts of `lt.audit` tell the rows whose explanation does harm?

``truth`` computes the harm of rows (`harm.py`, without limetutor), tables for tuning first, then those
held out, one row of every table and model after the other; it appends to `results/harm.csv` and can be
stopped and started again. It takes hours for 40 rows each.

``audits`` audits the rows whose harm is known, with and without ``data=``, and writes what each verdict and each
finding was to `results/audits.csv`; ``tables`` writes the counts that the book prints, `results/audits.json`.
"""

from __future__ import annotations

import argparse
import csv
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import harm

import limetutor as lt
from limetutor.auditing.findings import VERDICTS

RESULTS = Path(__file__).parent / "results"
TRUTH = RESULTS / "harm.csv"
AUDITS = RESULTS / "audits.csv"
AUDIT_FIELDS = ("table", "model", "row", "verdict", "findings")
KEYS = {words.removesuffix(" without"): key for key, words in VERDICTS.items()}
ROWS = 40  # of each table and model
TUNING_FIRST = 4  # rows of tables for tuning before any held out
FIELDS = ("table", "model", "row", "reasons", *harm.KINDS)


@cache
def table_of(name: str) -> harm.Table:
    return harm.Table(name)


@cache
def model_of(name: str, model: str) -> Callable[[Any], Any]:
    return table_of(name).fit(model)


def rows_in_turn(name: str) -> list[int]:
    """The rows of a table in the order in which they are computed."""
    rows = table_of(name).rows(ROWS)
    return random.Random(f"{harm.SEED} {name} order").sample(rows, len(rows))


def tuning() -> list[str]:
    """The tables that severities may be tuned on."""
    return sorted(set(harm.TABLES) - set(harm.held_out()))


def cases() -> Iterator[tuple[str, str, int]]:
    """Tables, models and rows in turn: so that the first k of them are as many of each."""
    turns = [(names, k) for names, k in ((tuning(), range(TUNING_FIRST)),)]
    turns += [(harm.held_out(), range(ROWS)), (tuning(), range(TUNING_FIRST, ROWS))]
    for names, ks in turns:
        for k in ks:
            for name in names:
                for model in harm.MODELS:
                    yield name, model, rows_in_turn(name)[k]


def stored() -> dict[tuple[str, str, int], dict[str, str]]:
    """The harm that is known so far."""
    if not TRUTH.exists():
        return {}
    with TRUTH.open(encoding="utf-8", newline="") as lines:
        return {(r["table"], r["model"], int(r["row"])): r for r in csv.DictReader(lines)}


def truth(seconds: float) -> None:
    """Compute the harm of further rows for so long."""
    known, start, done = stored(), time.time(), 0
    with TRUTH.open("a", encoding="utf-8", newline="") as lines:
        out = csv.writer(lines, lineterminator="\n")
        if not known:
            out.writerow(FIELDS)
        for case in cases():
            if case in known:
                continue
            if time.time() - start > seconds:
                break
            name, model, row = case
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = harm.harm(table_of(name), model, model_of(name, model), row)
            reasons = "; ".join(f"{j} {value:+.3g}" for j, value in found.reasons.items())
            kinds = ["; ".join(found.kinds[kind]) for kind in harm.KINDS]
            out.writerow([*case, reasons, *kinds])
            lines.flush()
            done += 1
    print(f"{done} rows in {time.time() - start:.0f} s; {len(stored())} in all")


def audits(names: list[str]) -> Iterator[dict[str, Any]]:
    """The audits of the rows of some tables whose harm is known."""
    known = stored()
    for name, model in sorted({case[:2] for case in known if case[0] in names}):
        table, rows = table_of(name), sorted(case[2] for case in known if case[:2] == (name, model))
        predict, explainer = model_of(name, model), table.explainer(0)
        classes = predict(table.X[rows]).argmax(axis=1) if table.classifies else [None] * len(rows)
        for label in dict.fromkeys(classes):
            some = [row for row, of in zip(rows, classes, strict=True) if of == label]
            options = {} if label is None else {"label": int(label)}
            made = lt.audit(explainer, predict, table.X[some], data=table.X, **options)
            for row, verdict, audited in zip(some, made.frame["verdict"], made.rows, strict=True):
                told = [f"{f.severity} {f.code} {', '.join(f.features)}" for f in audited.findings]
                case, key = (
                    {"table": name, "model": model, "row": row},
                    KEYS[verdict.split(" without")[0]],
                )
                yield case | {"verdict": key, "findings": "; ".join(map(str.strip, told))}


def write_audits(names: list[str], path: Path) -> None:
    """All audits of some tables, in place of those that the file had of them."""
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline=""))) if path.exists() else []
    rows = [row for row in rows if row["table"] not in names] + list(audits(names))
    with path.open("w", encoding="utf-8", newline="") as lines:
        out = csv.DictWriter(lines, AUDIT_FIELDS, lineterminator="\n")
        out.writeheader()
        out.writerows(sorted(rows, key=lambda row: (row["table"], row["model"], int(row["row"]))))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["truth", "audits"])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--tables", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--to", type=Path, default=AUDITS)
    options = parser.parse_args(arguments)
    if options.what == "truth":
        truth(options.seconds)
    else:
        write_audits(tuning() if options.tables == "tuning" else harm.held_out(), options.to)


if __name__ == "__main__":
    sys.exit(main())
