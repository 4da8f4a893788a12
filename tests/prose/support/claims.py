"""Sentences of the book that say always, never or every, and what stands behind each of them.

``found_in(page)`` splits the text of a page (markdown, captions, descriptions of pictures) and the
sentences that figures write below themselves, and finds those with a word such as *always*, *never*,
*whatever*, *cannot*, *at every*. Statements and proofs are left out: tests/prose/statements has them.

``LEDGER``, in claims.yml, says for each such sentence, by a piece of it, why it may stand:

- ``stated: thm-label``: it says again what a labelled statement says.
- ``searched: test_name``: a Hypothesis search in tests/prose/test_claims_searched.py found no
  counterexample (or one elsewhere, ``tests/core/test_x.py::test_name``).
- ``no claim: reason``: it claims nothing in general, for one of the ``REASONS``.

To add a sentence with such a word: say which of the three it is. If it is none of them, weaken it.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from statements import ROOT

REASONS = {
    "question": "a question, or what an exercise asks for",
    "wrong": "a wrong answer of a quiz",
    "quoted": "what somebody else says, quoted",
    "advice": "advice to the reader",
    "heading": "a heading",
    "told": "what the code on the page was told to do",
    "printed": "what this page printed or counted once, compared by make notebooks",
    "drawn": "what a picture shows: it is drawn over this range",
    "elsewhere": "not about LIME",
}

UNIVERSAL = re.compile(
    r"""\b(?: always | never | whatever | cannot | no\ matter | if\ and\ only\ if | only\ if
    | exactly\ (?:one|when|where|then|there)
    | however\ (?:many|much|few|small|large)
    | (?:at|for|in)\ (?:every|any|no)
    | no\ (?:\w+\ ){1,4}(?:can|switches|turns|changes|reverses|brings)
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True)
class Stated:
    """It restates the statement with this label."""

    label: str


@dataclass(frozen=True)
class Searched:
    """A search for a counterexample found none."""

    test: str

    @property
    def place(self) -> tuple[Path, str]:
        """The file and the function."""
        file, _, name = self.test.rpartition("::")
        return ROOT / (file or "tests/prose/test_claims_searched.py"), name


@dataclass(frozen=True)
class NoClaim:
    """Nothing general is claimed."""

    reason: str


Ground = Stated | Searched | NoClaim


def prose(text: str) -> str:
    """The text without comments, statements, proofs, code and emphasis."""
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    for block in (r"(`{3,}|:{3,})\{(?:prf:|eval-rst)", r"(`{3,})python"):
        text = re.sub(rf"(?ms)^{block}.*?^\1[ \t]*$", "", text)
    return text.replace("*", "")


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text; a new line, a cell of a table and an item of a list begin a new one."""
    for line in re.split(r"\n+|(?<=\s)\|(?=\s)", prose(text)):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[^a-z\s])", line):
            yield sentence.strip(" |-#\n")


def universal(text: str) -> list[str]:
    """Those with a universal word."""
    return [sentence for sentence in sentences(text) if UNIVERSAL.search(sentence)]


def texts_of(path: Path) -> Iterator[str]:
    """What a reader sees of a page, or the strings of a module that draws figures."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from strings_of(text)
    elif path.suffix == ".md":
        yield text
    else:
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield source
            else:
                for pieces in re.findall(r'\balt=((?:"[^"]*"\s*)+)', source):
                    yield "".join(re.findall(r'"([^"]*)"', pieces))
                yield cell["metadata"].get("mystnb", {}).get("figure", {}).get("caption", "")


def strings_of(source: str) -> Iterator[str]:
    """The strings of a module but for docstrings; what an f-string puts in is written …"""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield "".join(getattr(p, "value", "") if _plain(p) else "…" for p in node.values)
        elif isinstance(getattr(node, "value", None), str) and id(node) not in skipped:
            yield node.value


def _plain(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant)


def pages() -> dict[str, Path]:
    """Every page by its name, and every module of figures as figures/name."""
    book = ROOT / "book"
    figures = (ROOT / "limetutor" / "course" / "figures").glob("*.py")
    pages = [*book.glob("*.ipynb"), *book.glob("[!R]*.md")]  # README.md is no page of the book
    return {path.stem: path for path in sorted(pages)} | {
        f"figures/{path.stem}": path for path in sorted(figures)
    }


def found_in(path: Path) -> list[str]:
    """The universal sentences of a page."""
    return [sentence for text in texts_of(path) for sentence in universal(text)]


GROUNDS: dict[str, Callable[[str], Ground]] = {
    "stated": Stated,
    "searched": Searched,
    "no claim": lambda reason: NoClaim(REASONS[reason]),
}


def ledger() -> dict[str, dict[str, Ground]]:
    """What claims.yml says of each sentence, by page and by a piece of the sentence."""
    pages = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
    return {
        page: {
            piece: GROUNDS[kind](of)
            for piece, ground in entries.items()
            for kind, of in ground.items()
        }
        for page, entries in pages.items()
    }


LEDGER = ledger()


def matches(piece: str, sentence: str) -> bool:
    """Whether the sentence holds the piece; ^ and $ around it mean that it is all of the sentence."""
    whole = re.fullmatch(r"\^(.*)\$", piece)
    return sentence == whole[1] if whole else piece in sentence
