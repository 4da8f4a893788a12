"""Every entry of book/paper_map.yml leads to a place in the book, a function and a test."""

import ast
import importlib
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from itertools import pairwise

import nbformat
import paper_map
import pytest
from browser import ROOT

ENTRIES = paper_map.entries()
LABELLED = [e for e in ENTRIES if not e["label"].startswith("-")]
BY_LABEL = pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e["label"])


@cache
def anchors(page: str) -> set[str]:
    """Labels of headings, statements and figures of a page."""
    path = ROOT / "book" / f"{page}.ipynb"
    if not path.exists():
        text, figures = (ROOT / "book" / f"{page}.md").read_text(encoding="utf-8"), set()
    else:
        cells = nbformat.read(path, as_version=4).cells
        text = "\n\n".join(c.source for c in cells if c.cell_type == "markdown")
        figures = {c.metadata.get("mystnb", {}).get("figure", {}).get("name") for c in cells}
    return {
        *re.findall(r"(?m)^\(([\w-]+)\)=", text),
        *re.findall(r"(?m)^:label: (\S+)", text),
    } | figures


def test_no_label_of_the_paper_is_missing_and_none_occurs_twice():
    assert len(LABELLED) == 58  # \label commands in the source, two of them commented out
    labels = [e["label"] for e in ENTRIES]
    assert len(set(labels)) == len(labels)
    assert len(ENTRIES) - len(LABELLED) > 30  # remarks, definitions and claims without a label


def test_numbers_count_without_a_gap():
    series = defaultdict(set)
    for number in {e["number"] for e in ENTRIES if "number" in e}:
        kind, _, value = number.rpartition(" ") if " " in number else ("H", "", number[1:])
        section, _, last = value.rpartition(".")
        series[kind, section].add(int(last))
    for (kind, section), found in series.items():
        assert found == set(range(1, max(found) + 1)), (kind, section)
    assert max(series["Section", ""]) == 11 and max(series["Figure", ""]) == 8
    assert max(series["Lemma", "8"]) == 5 and max(series["Eq.", "7"]) == 4


def test_entries_follow_the_paper():
    chapters = [int(e["number"].split()[1].split(".")[0]) for e in ENTRIES
                if re.match(r"(Section|Eq\.|Lemma|Theorem|Remark|Prop|Cor)", e.get("number", ""))]  # fmt: skip
    assert all(a <= b for a, b in pairwise(chapters))


@BY_LABEL
def test_the_page_has_the_place(entry):
    page, _, anchor = entry["page"].partition("#")
    assert anchor in anchors(page)


@BY_LABEL
def test_the_function_exists_and_names_the_number(entry):
    if entry["function"] == "none":
        assert entry["reason"]
        assert entry["reason"] != "a section" or entry["label"].startswith("sec:")
        return
    *parts, name = entry["function"].split(".")
    owner = None
    if parts and parts[-1][0].isupper():  # a method
        *parts, owner = parts
    module = importlib.import_module(".".join(["limetutor", *parts]))
    found = getattr(getattr(module, owner) if owner else module, name)
    assert found.__doc__
    if "number" in entry and not entry["number"].startswith("Section"):
        assert re.search(re.escape(entry["number"]) + r"(?!\d)", found.__doc__), found.__doc__


@BY_LABEL
def test_the_test_exists(entry):
    if entry["test"] == "none":
        assert entry["label"].startswith("sec:")
        return
    path, _, name = entry["test"].partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.slow
def test_the_tests_are_collected(request):
    """By this very run, or, if it is a run of some tests only, by one that collects those files."""
    wanted = {e["test"] for e in ENTRIES if e["test"] != "none"}
    collected = {item.nodeid.partition("[")[0] for item in request.session.items}
    if missing := wanted - collected:
        files = sorted({test.partition("::")[0] for test in missing})
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [*command, *files], cwd=ROOT, capture_output=True, text=True, check=True
        )
        collected |= {line.partition("[")[0] for line in done.stdout.splitlines()}
    assert wanted <= collected


def test_the_table_is_what_the_list_says():
    assert paper_map.TARGET.read_text(encoding="utf-8") == paper_map.table(), (
        "run python tools/paper_map.py"
    )
