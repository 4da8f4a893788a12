"""How well do the verdicts of `lt.audit` tell the rows whose explanation does harm?

``truth`` computes the harm of rows (`harm.py`, without limetutor), tables for tuning first, then those
held out, one row of every table and model after the other; it appends to `results/harm.csv` and can be
stopped and started again. It takes hours for 40 rows each.

``audits`` audits the rows whose harm is known, with ``data=``, and writes the verdicts and findings to
`results/audits.csv`; ``planted`` writes how much of what the tests plant is found, `results/planted.json`;
``tables`` makes of these three files the tables that the book shows, `results/audits.md`.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import harm
import numpy as np

import limetutor as lt
from limetutor.auditing.findings import LEVELS, VERDICTS

RESULTS = Path(__file__).parent / "results"
TRUTH = RESULTS / "harm.csv"
AUDITS = RESULTS / "audits.csv"
PLANTED, MARKDOWN = RESULTS / "planted.json", RESULTS / "audits.md"
COLUMNS = (
    "show (harmful)",
    "remark (harmful)",
    "stop (harmful)",
    "unknown (harmful)",
    "caught",
    "named",
)
NAMED_BY = {  # the codes that tell of each kind of harm
    "chance": {"noise"},
    "boxes": {"other-boxes"},
    "data": {"off-data", "size"},
    "size": {"off-data", "size"},
}
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


def planted_shares(seeds: range) -> dict[str, float]:
    """For each code, the share of planted rows that are called more severe for it than their clean twins."""
    tests = Path(__file__).parents[1] / "tests"
    sys.path[:0] = [str(tests / "support"), str(tests / "auditing/support")]
    import planted
    from audited_rows import severity_of

    found: dict[str, list[bool]] = {}
    for kind in planted.KINDS.values():
        for seed in seeds:
            twins = kind(np.random.default_rng(seed))
            levels = (severity_of(made(), twins.code) for made in (twins.planted, twins.clean))
            pairs = zip(*([LEVELS.index(word) for word in words] for words in levels), strict=True)
            found.setdefault(twins.code, []).extend(bad > good for bad, good in pairs)
    return {code: float(np.mean(rows)) for code, rows in sorted(found.items())}


Judged = tuple[dict[str, str], list[str]]  # an audit, and the kinds of harm


def judged(path: Path = AUDITS) -> list[Judged]:
    """The stored audits, each with the kinds of harm that the truth has for its row."""
    known = stored()
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    truths = [known[row["table"], row["model"], int(row["row"])] for row in rows]
    kinds = [[kind for kind in harm.KINDS if truth[kind]] for truth in truths]
    return list(zip(rows, kinds, strict=True))


def names_harm(findings: str, kinds: list[str]) -> bool:
    """Whether the remarks name every kind of harm."""
    codes = {told.split()[1] for told in findings.split("; ") if told}
    return all(codes & NAMED_BY[kind] for kind in kinds)


def confusion(rows: list[Judged]) -> list[Any]:
    """Rows, harmful ones, each verdict as "rows (harmful)", and the shares that the goals are about."""
    groups = {key: [kinds for row, kinds in rows if row["verdict"] == key] for key in VERDICTS}
    harmful = [(row, kinds) for row, kinds in rows if kinds]
    caught = [r["verdict"] == "stop" or r["verdict"] == "remark" for r, _ in harmful]
    named = [
        r["verdict"] == "stop" or (r["verdict"] == "remark" and names_harm(r["findings"], kinds))
        for r, kinds in harmful
    ]
    counts = [f"{len(of)} ({sum(map(bool, of))})" for of in groups.values()]
    return [len(rows), len(harmful), *counts, _percent(caught), _percent(named)]


def _percent(hits: list[bool]) -> str:
    return f"{np.mean(hits):.0%}" if hits else "–"


def tables() -> str:
    """What `results/audits.md` has, from the stored files alone."""
    rows = judged()
    out = [
        "| rows | audited | harmful | " + " | ".join(COLUMNS) + " |",
        "|---" * (3 + len(COLUMNS)) + "|",
    ]
    held = set(harm.held_out())
    groups = {"held out": [r for r in rows if r[0]["table"] in held]}
    groups["tuned on"] = [r for r in rows if r[0]["table"] not in held]
    for model in harm.MODELS:
        groups[f"held out, {model}"] = [r for r in groups["held out"] if r[0]["model"] == model]
    for name in sorted(held):
        groups[f"held out, {name}"] = [r for r in groups["held out"] if r[0]["table"] == name]
    for name, some in groups.items():
        if some:
            out.append("| " + " | ".join(map(str, [name, *confusion(some)])) + " |")
    planted = json.loads(PLANTED.read_text(encoding="utf-8"))
    out += [
        "",
        "<!-- codes -->",
        "",
        "| code | ordinary rows | of these harmful | planted rows |",
        "|---|---|---|---|",
    ]
    fired: dict[str, list[bool]] = {code: [] for code in planted}
    for row, kinds in rows:
        for code in {told.split()[1] for told in row["findings"].split("; ") if told}:
            fired.setdefault(code, []).append(bool(kinds))
    for code in sorted(fired):
        share = f"{planted[code]:.0%}" if code in planted else "–"
        out.append(
            f"| `{code}` | {len(fired[code]) / len(rows):.1%} | {_percent(fired[code])} | {share} |"
        )
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["truth", "audits", "planted", "tables"])
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--tables", choices=["tuning", "held-out"], default="tuning")
    parser.add_argument("--to", type=Path, default=AUDITS)
    options = parser.parse_args(arguments)
    if options.what == "truth":
        truth(options.seconds)
    elif options.what == "audits":
        write_audits(tuning() if options.tables == "tuning" else harm.held_out(), options.to)
    elif options.what == "planted":
        PLANTED.write_text(
            json.dumps(planted_shares(range(1000, 1005)), indent=1) + "\n", encoding="utf-8"
        )
    else:
        MARKDOWN.write_text(tables(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
