"""The symbols of the book: read from the page *Notation*, found on the other pages, linked there.

The page has two tables. A row of the first is a symbol with one meaning in the whole book: its forms
in TeX, its name with the defining word in bold, its name in the package, and the page where it enters.
A row of the second is a letter that means something on the named pages only.

``link_symbols`` puts a folded line of links under the opening box of each chapter, one for each symbol
that the chapter uses and an earlier one defines. tests/prose/test_notation.py holds the pages to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

BOOK = Path(__file__).resolve().parents[1]
PAGE = BOOK / "notation.md"
GREEK = dict(
    zip(
        "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma "
        "tau phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega".split(),
        "αβγδϵεζηθκλμνξπρστϕφχψωΓΔΘΛΞΠΣΦΨΩ",
        strict=True,
    )
)
MATH = re.compile(r"(?s)\$\$.+?\$\$|(?<!\$)\$[^$\n]+\$(?!\$)")
# 2π under a root or beside another number is 3.14…, not a weight
NUMBER_PI = re.compile(r"2\s*\\pi(?![A-Za-z_])|2\}\s*\{\\pi|2/\\pi|\\pi/2|2π|\\pi\s*n\b")


FOLD = '<details class="symbols"><summary>Symbols from earlier chapters</summary>'


class Symbol(NamedTuple):
    """A row of the first table."""

    forms: tuple[str, ...]
    name: str
    enters: str  # the label of the page where it enters

    @property
    def word(self) -> str:
        """The word that defines it, in bold in its name."""
        found = re.search(r"\*\*(.+?)\*\*", self.name)
        return found[1] if found else ""

    @property
    def letters(self) -> list[str]:
        """Its forms, of those with the same letter the first only."""
        kept: dict[str, str] = {}
        for form in self.forms:
            kept.setdefault(form.partition("_")[0], form)
        return list(kept.values())

    @property
    def anchor(self) -> str:
        """Where its row is on the page."""
        return "sym-" + "-".join(re.findall(r"[A-Za-z]+|[+-]", self.forms[0]))


def cells_of(line: str) -> list[str]:
    """The cells of a row of a table; a bar within a formula is part of it."""
    inner = MATH.sub(lambda found: found[0].replace("|", "\0"), line.strip().strip("|"))
    return [cell.strip().replace("\0", "|") for cell in inner.split("|")]


def symbols(page: str | None = None) -> list[Symbol]:
    """The rows of the first table."""
    rows = [cells_of(line) for line in (page or PAGE.read_text("utf-8")).splitlines()]
    return [
        Symbol(tuple(form.strip("$") for form in MATH.findall(row[0])), row[1], reference(row[3]))
        for row in rows
        if len(row) == 4 and row[0].startswith("$")
    ]


def local_letters(page: str | None = None) -> dict[str, list[str]]:
    """The rows of the second table: Greek letters (names in TeX) and the labels of their pages."""
    rows = [cells_of(line) for line in (page or PAGE.read_text("utf-8")).splitlines()]
    return {
        letter: re.findall(r"\{ref\}`([\w-]+)`", row[1])
        for row in rows
        if len(row) == 2 and row[0].startswith("$")
        for letter in re.findall(r"\\([A-Za-z]+)", row[0])
    }


def reference(cell: str) -> str:
    """The label in a cell that holds one reference."""
    found = re.search(r"\{ref\}`([\w-]+)`", cell)
    return found[1] if found else ""


# --- where a symbol is used ------------------------------------------------------------------------


def markdown_cells(path: Path) -> list[str]:
    """The markdown of a page, cell by cell (a page in Markdown is one cell), as readers see it."""
    text = path.read_text(encoding="utf-8")
    cells = [text]
    if path.suffix == ".ipynb":
        notebook = json.loads(text)
        cells = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    return [readable(cell) for cell in cells]


def readable(markdown: str) -> str:
    """Markdown without comments, code and the number pi; one spelling for each accent."""
    text = re.sub(r"(?s)<!--.*?-->", "", markdown)
    text = re.sub(r"(?ms)^```python$.*?^```$", "", text)
    text = re.sub(r"(?<!`)`[^`\n]+`(?!`)", "", text)
    text = one_spelling(text)
    text = re.sub(r"\\(tilde|hat|bar)\s*\{\s*(\\?[A-Za-z]+)\s*\}", r"\\\1\2 ", text)
    text = re.sub(r"\\(?:mathrm|text)\{[^}]*\}|\\(?:begin|end)\{\w+\*?\}", " ", text)
    return NUMBER_PI.sub(" ", text)


def one_spelling(text: str) -> str:
    """``\\mathbb{E}`` as ``\\E``, ``\\operatorname{Sh}`` as ``\\Sh``."""
    text = re.sub(r"\\mathbb\s*\{?E\}?", r"\\E", text)
    return re.sub(r"\\operatorname\{(\w+)\}", r"\\\1", text)


def pattern(form: str) -> tuple[re.Pattern[str], str]:
    """How a form looks in a formula, and the Greek letter that stands for it in prose, if any."""
    parts = re.fullmatch(r"(\\(?:tilde|hat|bar)\s*)?(\\?[A-Za-z]+)\s*(.*)", one_spelling(form))
    assert parts, f"{form} is not a symbol with an accent and an index"
    accent, core, index = parts.groups()
    greek = core.startswith("\\")
    before = (
        r"(?<!\\tilde)(?<!\\hat)(?<!\\bar)" if not accent else re.escape(accent.strip()) + r"\s*"
    )
    letter = re.escape(core) if greek else r"(?<![\\A-Za-z_])(?<!\\hat )" * (not accent) + core
    if not index or (greek and not re.search(r"_\{?[A-Za-z]*[+-]", index)):
        after = r"(?![A-Za-z])" if greek else r"(?![A-Za-z_])"
    elif re.search(r"[+-]", index):  # an edge: q_{j+}, q_-
        after = r"_\{?[jk]?,?[+-]"
    else:
        after = re.escape(index) if index in ("_d",) else r"_(?!\{?[jk]?,?[+-])"
    in_prose = GREEK.get(core[1:], "") if greek and not accent else ""
    return re.compile(before + letter + after), in_prose


def uses(symbol: Symbol, text: str) -> bool:
    """Whether a readable text uses the symbol, in a formula or, a Greek letter, in prose."""
    math = " ".join(MATH.findall(text))
    prose = MATH.sub(" ", text)
    for found, letter in map(pattern, symbol.forms):
        if found.search(math) or (letter and re.search(letter + "(?![\u0302\u0303])", prose)):
            return True
    return False


def greek_letters(text: str) -> set[str]:
    """Names of the Greek letters that occur in the formulas of a readable text."""
    math = " ".join(MATH.findall(text))
    return {name for name in re.findall(r"\\([A-Za-z]+)", math) if name in GREEK}


def reading_order(toc: Path = BOOK.parent / "_toc.yml") -> list[Path]:
    """The pages of the book in the order of the table of contents."""
    names = re.findall(r"(?m)^\s*(?:root|- file):\s*(\S+)", toc.read_text("utf-8"))
    found = [[toc.parent / f"{name}{end}" for end in (".ipynb", ".md")] for name in names]
    return [path for ends in found for path in ends if path.exists()]


def label_of(path: Path) -> str:
    """The label above the title of a page."""
    found = re.search(r"\(((?:ch|app)-[\w-]+)\)=", path.read_text("utf-8"))
    return found[1] if found else ""


# --- the line of links -----------------------------------------------------------------------------


def symbols_from_before(path: Path, order: list[str] | None = None) -> Iterator[Symbol]:
    """The symbols that a page uses and an earlier page defines, in the order of the table."""
    order = order or [label_of(page) for page in reading_order()]
    here, text = label_of(path), "\n\n".join(markdown_cells(path))
    before = order[: order.index(here)] if here in order else []
    for symbol in symbols():
        if symbol.enters in before and uses(symbol, text):
            yield symbol


def link_symbols(app: Any, doctree: nodes.document, docname: str) -> None:
    """Mark the rows of the page of symbols; put the line of links into every other chapter."""
    notation = PAGE.relative_to(BOOK.parent).with_suffix("").as_posix()
    if docname == notation:
        mark_rows(doctree)
        return
    path = Path(app.env.doc2path(docname))
    boxes = list(doctree.findall(nodes.admonition))
    if path.parent == BOOK and boxes and label_of(path):
        uri = app.builder.get_relative_uri(docname, notation)
        line = line_of_links(symbols_from_before(path), uri)
        if line is not None:
            place = boxes[0].parent.index(boxes[0]) + 1
            boxes[0].parent.insert(place, [raw(FOLD), line, raw("</details>")])


def raw(markup: str) -> nodes.raw:
    """HTML as it is."""
    return nodes.raw("", markup, format="html")


def mark_rows(doctree: nodes.document) -> None:
    """Give each row of the first table the anchor of its symbol."""
    anchors = {tuple(s.forms): s.anchor for s in symbols()}
    for row in doctree.findall(nodes.row):
        first = row[0]
        forms = tuple(math.astext() for math in first.findall(nodes.math))
        if forms in anchors:
            first["ids"].append(anchors[forms])


def line_of_links(found: Iterator[Symbol], uri: str) -> nodes.paragraph | None:
    """The symbols, each linked to its row."""
    line = nodes.paragraph(classes=["symbols"])
    links = []
    for symbol in found:
        link = nodes.reference("", "", internal=True, refuri=f"{uri}#{symbol.anchor}")
        link["reftitle"] = without_tex(symbol.name)
        link += nodes.math("", ", ".join(symbol.letters))
        links.append(link)
    for k, link in enumerate(links):
        line += link
        line += nodes.Text("." if k + 1 == len(links) else ", ")
    return line if links else None


# what stands for a command of TeX, in this order, where there is only text
AS_TEXT = [
    (r"\*\*|\$", ""),
    (r"\\(?:text|mathbb|mathcal|operatorname)\{(\w+)\}", r"\1"),
    (r"\\([A-Za-z]+)(?=[^A-Za-z]|$)", lambda found: GREEK.get(found[1], found[0])),
    (r"\\tilde ?\{?(\w)\}?", "\\1\N{COMBINING TILDE}"),
    (r"\\hat ?\{?(\w)\}?", "\\1\N{COMBINING CIRCUMFLEX ACCENT}"),
    (r"\\sqrt\{(.*?)\}", r"√(\1)"),
    (r"\\frac(\w)(\w)", r"\1/\2"),
    (r"\\sum_\{j\\ge0\}", "the sum over j of "),
    (r"\\mid", "|"),
    (r"\^\\top|\^\{-1\}", lambda found: "ᵀ" if "top" in found[0] else "⁻¹"),
    (r"_\{?([ijk0-9]+)\}?", lambda found: found[1].translate(str.maketrans("ijk0123", "ᵢⱼₖ₀₁₂₃"))),
    (r"[\\{}]", ""),
]


def without_tex(name: str) -> str:
    """A name as a tooltip can show it: up to its first semicolon, its formulas in plain signs."""
    text = name.partition(";")[0]
    for pattern_, by in AS_TEXT:
        text = re.sub(pattern_, by, text)
    return text


def depend_on_the_page(app: Any, doctree: nodes.document) -> None:
    """Read a chapter again when the page of symbols has changed."""
    app.env.note_dependency(str(PAGE))
