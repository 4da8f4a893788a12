"""What students hand in: notebooks that were edited or damaged, and progress codes with slips.

A notebook is a list of cells, some of which are changed before it is written; what must run of it is told
from that list, cell by cell. A code is written letter by letter from what it says.
"""

import copy
import json
from functools import cache

import fuzz
from fuzz import Case, RefusedError, damaged, kind

from limetutor.classroom.marking import self_reported
from limetutor.classroom.notebooks import UnreadableNotebookError, compared, opened, source
from limetutor.course.exercises import exercises
from limetutor.course.progress import LETTERS, checksum

NAME = "lime_from_scratch"
ROLES = {"solution": "answer", "grade": "question", "locked": "locked"}
JUNK = [None, 5, "x", [], {}, [[1]], {"cells": []}, True, 1e99, {"source": {}}, {"cell_type": []}]


@cache
def original():
    return json.loads(source(NAME).read_bytes())["cells"]


def name_and_role(cell):
    grader = cell["metadata"].get("nbgrader", {})
    return grader.get("grade_id"), next((ROLES[key] for key in ROLES if grader.get(key)), "")


def text_of(cell):
    return cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])


def change(chance, cells):
    """Do something to the cells that a student, or an editor, may do."""
    k, other = chance.randrange(len(cells)), chance.randrange(len(cells))
    done = chance.choice(["text", "text", "lost", "twice", "moved", "new", "bare", "list"])
    if done == "text":
        cells[k]["source"] = f"{text_of(cells[k])}\n# {chance.random()}"
    elif done == "list":
        cells[k]["source"] = text_of(cells[k]).splitlines(keepends=True)
    elif done == "bare":
        cells[k]["metadata"] = {}
    elif done == "new":
        cells.insert(k, {"cell_type": "code", "metadata": {}, "source": "1 + 1", "outputs": []})
    else:
        cell = copy.deepcopy(cells[k])
        if done != "twice":
            del cells[k]
        cells[other:other] = [] if done == "lost" else [cell]


def to_run(cells):
    """The code that must run, and whether cells are altered that must not be."""
    known = {name_and_role(cell)[0]: cell for cell in original() if name_and_role(cell)[0]}
    names, code = [name_and_role(cell)[0] for cell in cells], []
    altered = any(names.count(name) != 1 for name in known)
    for name, cell in known.items():
        if name_and_role(cell)[1] == "locked" and cell["cell_type"] == "code" and name not in names:
            code.append(text_of(cell))
    for name, cell in zip(names, cells, strict=True):
        role = name_and_role(known[name])[1] if name in known else ""
        if role in ("locked", "question"):
            altered |= text_of(cell).split() != text_of(known[name]).split()
        shown = known[name] if role == "locked" else cell
        if shown["cell_type"] == "code" and role != "question":
            code.append(text_of(shown))
    return code, altered


def of_notebook(chance):
    """A notebook that was edited, in one of several formats, damaged or not."""
    cells, path = copy.deepcopy(original()), fuzz.FOLDER[0] / f"{NAME}.ipynb"
    for _ in range(chance.randint(0, 4)):
        change(chance, cells)
    truth, notebook = to_run(cells), {"nbformat": 4, "cells": cells}
    how = chance.choice(
        [""] * 6 + ["junk", "junk", "old", "bytes", "bytes", "deep", "wide", "number"]
    )
    if how == "junk":
        place = chance.choice([cells, chance.choice(cells)])
        place[chance.choice(list(place) if isinstance(place, dict) else range(len(place)))] = chance.choice(JUNK)  # fmt: skip
    elif how == "old":
        old = [c | ({"input": c["source"]} if c["cell_type"] == "code" else {}) for c in cells]
        notebook = {"nbformat": 3, "worksheets": [{"cells": old[:3]}, {"cells": old[3:]}]}
    elif how == "number":
        notebook["nbformat"] = chance.choice([1, 5, "4", None, 4.0, [4], 10**400])
    text = json.dumps(notebook, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5)
    text = {"deep": "[" * 50_000, "wide": f"[{'0,' * 10**6}0]"}.get(how, text)
    raw = text.encode(chance.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16"]))
    raw = damaged(chance, raw)[1] if how == "bytes" else raw

    def call():
        path.write_bytes(raw)
        try:
            return compared(opened(path), opened(source(NAME)))
        except UnreadableNotebookError as error:
            raise RefusedError(str(error)) from None

    def wrong(found, notes):
        if how in ("junk", "bytes"):  # which may be anything: code is text all the same
            return None if all(isinstance(text, str) for text in found.code) else str(found.code)
        same = (list(found.code), bool(found.altered)) == truth
        return None if same else f"{found.code} {found.altered}, not {truth}"

    return Case(f"a notebook, {how}, {len(raw)} bytes", call, wrong)


def of_code(chance):
    """A progress code, whole or with a slip, in a file of a student."""
    names, done, parts = sorted({name.partition("/")[0] for name in exercises()}), 0, ["LT1"]
    for name in chance.sample(names, 3):
        own = chance.choices(LETTERS, k=chance.randint(0, 4))
        done += sum(int(c, 32) % 2 for k, c in enumerate(own, 1) if f"{name}/{k}" in exercises())
        parts.append(f"{name}.{''.join(own)}.{chance.choice(['', '3', 'v0v'])}")
    code = "~".join([*parts, checksum("~".join(parts))])
    at, letter = chance.randrange(len(code)), chance.choice("0~.a\u0430\u202e\x00é")
    slip = chance.choice([
        code, f"\ufeff {code[:at]}\n\t{code[at:]} \r\n", code[:at] + letter + code[at + 1 :], code.upper(),
        code[:at] + code[at + 1 :], code[:at] + letter + code[at:], code + code,
    ])  # fmt: skip
    whole = "".join(slip.removeprefix("\ufeff").split()) == code

    def call():
        (fuzz.FOLDER[0] / "progress.txt").write_bytes(slip.encode())
        return self_reported(fuzz.FOLDER[0])

    def wrong(found, notes):
        truth = ("self-reported", done) if whole else ("unreadable", 0)
        return None if (found.status, found.points) == truth else f"{found} is not {truth}"

    return Case(f"a code, {slip!r}", call, wrong, may_refuse=False)


@kind("submissions", 40, 1500, around=fuzz.in_folder)
def odd_submission(chance, index):
    """Two notebooks, then a code."""
    return of_code(chance) if index % 3 == 2 else of_notebook(chance)
