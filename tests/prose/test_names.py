"""Names of the package and of its files, wherever somebody reads them, are names of something."""

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
from browser import ROOT

import limetutor as lt

READMES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "limetutor").rglob("README.md")]
PAGES = [
    *(ROOT / "book").rglob("*.ipynb"),
    *(ROOT / "book").rglob("*.md"),
    *(ROOT / "docs").glob("*.md"),
]
NAME = re.compile(r"(?:lt|limetutor)(?:\.[A-Za-z_]\w*)+")
FILE = re.compile(r"(?:limetutor|tests|book|tools|benchmarks|assignments)/[\w./-]*")


def text_of(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1", "", text)  # blocks of code are run elsewhere


def in_backticks(text: str) -> list[str]:
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


def is_something(name: str) -> bool:
    """Whether a dotted name is a module, or leads from one along attributes, fields included."""
    first, *rest = name.split(".")
    thing: Any = lt
    for k, part in enumerate(rest):
        if hasattr(thing, part):
            thing = getattr(thing, part)
        elif isinstance(thing, type) and part in inspect.get_annotations(thing):
            return True
        else:
            try:
                thing = importlib.import_module(".".join(["limetutor", *rest[: k + 1]]))
            except ImportError:
                return False
    return bool(first)


def unknown(text: str) -> list[str]:
    """What stands in backticks like a name or a file of this project, and is none."""
    wrong = []
    for words in in_backticks(text):
        name, file = NAME.match(words), FILE.fullmatch(words)
        if (file and not (ROOT / words).exists()) or (
            name and not file and not words.startswith("limetutor/") and not is_something(name[0])
        ):
            wrong.append(words)
    return wrong


@pytest.mark.parametrize("page", [*READMES, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_names_on_a_page_are_names_of_something(page):
    assert unknown(text_of(page)) == []


def test_a_name_of_nothing_is_noticed():
    text = "`lt.limt`, `lt.explain(f, xi)`, `limetutor.results.limit.Limit.coef`, `limetutor.core.none`, "
    text += (
        "`lt.Explanation.coef`, `lt.Limit.nothing`, `tests/none.py`, `limetutor/core/`, `lime.x`"
    )
    assert unknown(text) == ["lt.limt", "limetutor.core.none", "lt.Limit.nothing", "tests/none.py"]


def test_every_work_that_is_cited_has_one_entry():
    keys = re.findall(r"(?m)^@\w+\{([^,]+),", (ROOT / "book" / "references.bib").read_text("utf-8"))
    assert len(set(keys)) == len(keys), "an entry that comes twice loses all that follow it"
    cited = set()
    for page in PAGES:
        found = re.findall(r"\{cite:[pt]\}`([^`]+)`", page.read_text(encoding="utf-8"))
        cited |= {key.strip() for keys_of_one in found for key in keys_of_one.split(",")}
    assert cited <= set(keys)
