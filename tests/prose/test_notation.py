"""Every symbol has one meaning, is defined before it is used, and is linked where it is used again."""

import re
from pathlib import Path
from types import SimpleNamespace

import notation
import pytest
from browser import ROOT
from cases import cases
from docutils import nodes
from docutils.utils import new_document

PAGES = {notation.label_of(path): path for path in notation.reading_order()}
ORDER = list(PAGES)
CHAPTERS = [label for label in ORDER if label.startswith("ch-")]
SYMBOLS = notation.symbols()

# What a symbol must not be used for, and what to write instead.
TAKEN = {
    r"\\varphi": "the density is \\phi, Shapley values are \\operatorname{Sh}_j",
    r"\\phi_": "\\phi is the density of N(0, 1) and has no index",
}


def text_of(label):
    return "\n\n".join(notation.markdown_cells(PAGES[label]))


def named(symbol):
    return symbol.forms[0]


def test_the_page_is_read():
    assert len(SYMBOLS) > 30 and len(CHAPTERS) > 12
    assert len({s.anchor for s in SYMBOLS}) == len(SYMBOLS)
    forms = [form for s in SYMBOLS for form in s.forms]
    assert len(set(forms)) == len(forms), "a symbol has two rows"
    assert not [named(s) for s in SYMBOLS if s.enters not in CHAPTERS]


@pytest.mark.parametrize("symbol", SYMBOLS, ids=named)
def test_a_symbol_enters_where_the_page_says_and_is_explained_there(symbol):
    using = [label for label in CHAPTERS if notation.uses(symbol, text_of(label))]
    assert using, f"no chapter uses {named(symbol)}"
    assert using[0] == symbol.enters, f"{named(symbol)} is used first in {using[0]}"
    cells = notation.markdown_cells(PAGES[symbol.enters])
    first = next(cell for cell in cells if notation.uses(symbol, cell))
    assert symbol.word.lower() in first.lower(), (
        f"where {named(symbol)} enters ({symbol.enters}) nothing says “{symbol.word}”"
    )


def test_every_greek_letter_has_a_row():
    known = {name for s in SYMBOLS for f in s.forms for name in re.findall(r"\\([A-Za-z]+)", f)}
    local = notation.local_letters()
    assert not known & set(local), "a letter cannot be both of the book and of one page"
    for label in CHAPTERS:
        for letter in notation.greek_letters(text_of(label)) - known:
            assert label in local.get(letter, ()), f"give \\{letter} of {label} a row in Notation"


@pytest.mark.parametrize("label", CHAPTERS)
def test_no_symbol_has_a_second_meaning(label):
    math = " ".join(notation.MATH.findall(text_of(label)))
    for pattern, instead in TAKEN.items():
        found = re.search(pattern, math)
        assert not found, f"{label}: {math[found.start() : found.end() + 20]!r}: {instead}"


def symbol(*forms):
    return notation.Symbol(forms, "the **name**", "ch-weights")


@pytest.mark.parametrize(
    ("form", "used", "not_used"), cases(Path(__file__).parent / "support" / "used_symbols.txt")
)
def test_uses(form, used, not_used):
    for text in used:
        assert notation.uses(symbol(form), notation.readable(text)), text
    for text in [*not_used, f"<!-- ${form}$ -->", "`\\nu`"]:
        assert not notation.uses(symbol(form), notation.readable(text)), text


def test_a_chapter_links_the_symbols_it_takes_over():
    found = [s.forms[0] for s in notation.symbols_from_before(PAGES["ch-weights"])]
    assert r"\xi" in found and r"\mu" in found  # from earlier chapters
    assert r"\pi" not in found and "A_d" not in found  # its own, and a later one


def test_the_line_of_links():
    document = new_document("a chapter")
    section = nodes.section()
    section += [nodes.title("", "Weights"), nodes.admonition(), nodes.paragraph()]
    document += section
    app = SimpleNamespace(
        env=SimpleNamespace(doc2path=lambda name: ROOT / f"{name}.ipynb"),
        builder=SimpleNamespace(get_relative_uri=lambda here, there: "notation.html"),
    )
    notation.link_symbols(app, document, "book/weights")
    fold, line, end = section[2:5]
    assert "<details" in fold.astext() and end.astext() == "</details>"
    uris = [link["refuri"] for link in line.findall(nodes.reference)]
    assert "notation.html#sym-xi" in uris
    assert r"\mu, \sigma" in [math.astext() for math in line.findall(nodes.math)]


def test_rows_have_anchors():
    document = new_document("notation")
    row, entry = nodes.row(), nodes.entry()
    entry += nodes.math("", r"\nu")
    row += entry
    document += row
    notation.mark_rows(document)
    assert entry["ids"] == ["sym-nu"]
