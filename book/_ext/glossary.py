"""The glossary: read from its page, and explained where a chapter uses one of its words first.

``explain_terms`` finds, in every other page, the first use of each word of the glossary in running text
and makes it a link to the glossary with the explanation beside it, hidden. A link works without any
script and in print; book/_assets/book.js shows the explanation on hover, focus and tap.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes

BOOK = Path(__file__).resolve().parents[1]
PAGE = BOOK / "glossary.md"
ENTRY = re.compile(
    r"(?m)^(?P<term>[^\s:#].*)\n: (?P<text>.*)(?:\n  <!-- also: (?P<also>.*) -->)?(?:\n  <!-- (?P<quiet>not marked): .* -->)?$"
)
# Not running text: headings, what is a link already, code, formulas, labels of figures and boxes.
NOT_TEXT = (
    nodes.title,
    nodes.reference,
    nodes.literal,
    nodes.literal_block,
    nodes.math,
    nodes.math_block,
    nodes.caption,
    nodes.rubric,
    nodes.raw,
    nodes.table,
    nodes.pending,
)


class Term(NamedTuple):
    """A word of the glossary with its explanation and its other forms."""

    name: str
    text: str
    also: tuple[str, ...]
    met_in: str  # the label of the page that explains it
    marked: bool = True  # whether its uses in the chapters are explained

    @property
    def anchor(self) -> str:
        """Where it is on the page."""
        return "term-" + re.sub(r"\W+", "-", self.name.lower())

    @property
    def forms(self) -> tuple[str, ...]:
        """How it may stand in a text."""
        return (self.name, *self.also)


@cache
def terms() -> tuple[Term, ...]:
    """The words of the page."""
    found = []
    for entry in ENTRY.finditer(PAGE.read_text(encoding="utf-8")):
        text, _, label = entry["text"].partition(" See {ref}`")
        also = tuple(filter(None, (entry["also"] or "").split(", ")))
        marked = not entry["quiet"]
        found.append(Term(entry["term"], plain(text), also, label.strip("`."), marked))
    return tuple(found)


def plain(text: str) -> str:
    """Without markup: the explanation is shown as it is."""
    return re.sub(r"[*`]", "", text)


@cache
def pattern() -> re.Pattern[str]:
    """Any form of any word, the longest first: a tilted law is not a law."""
    forms = sorted(
        (form for term in terms() if term.marked for form in term.forms), key=len, reverse=True
    )
    return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, forms)) + r")(?![\w-])", re.I)


def term_of(form: str) -> Term:
    """The word of which this is a form."""
    return next(t for t in terms() if form.lower() in [f.lower() for f in t.forms])


# --- in the pages ------------------------------------------------------------------------------------


def explain_terms(app: Any, doctree: nodes.document, docname: str) -> None:
    """Mark the entries of the glossary; explain its words in every chapter and appendix."""
    page = PAGE.relative_to(BOOK.parent).with_suffix("").as_posix()
    if docname == page:
        mark_entries(doctree)
    elif app.builder.format == "html" and Path(app.env.doc2path(docname)).suffix == ".ipynb":
        mark_first_uses(doctree, app.builder.get_relative_uri(docname, page))


def mark_entries(doctree: nodes.document) -> None:
    """Give each word the anchor that the links lead to."""
    anchors = {term.name: term.anchor for term in terms()}
    for node in doctree.findall(nodes.term):
        node["ids"].append(anchors[node.astext()])


def mark_first_uses(doctree: nodes.document, uri: str) -> None:
    """Replace the first use of each word in running text by its link and explanation."""
    used: set[str] = set()
    for text in list(running_text(doctree)):
        pieces = list(pieces_of(text.astext(), used, uri))
        if len(pieces) > 1:
            text.parent.replace(text, pieces)


def running_text(doctree: nodes.document) -> Iterator[nodes.Text]:
    """The texts of paragraphs outside the opening box and outside what is folded away."""
    folded = 0
    box = next(iter(doctree.findall(nodes.admonition)), None)
    for node in doctree.findall():
        if isinstance(node, nodes.raw):
            folded += node.astext().count("<details") - node.astext().count("</details")
        elif isinstance(node, nodes.Text) and not folded and in_a_paragraph(node, box):
            yield node


def in_a_paragraph(node: nodes.Text, box: nodes.Node | None) -> bool:
    """Whether a text is part of a paragraph, and of nothing that is not running text."""
    inside, parent = False, node.parent
    while parent is not None:
        if isinstance(parent, NOT_TEXT) or parent is box:
            return False
        inside = inside or isinstance(parent, nodes.paragraph)
        parent = parent.parent
    return inside


def pieces_of(text: str, used: set[str], uri: str) -> Iterator[nodes.Node]:
    """The text cut at the words that are not yet used, each of these as a link."""
    start = 0
    for found in pattern().finditer(text):
        term = term_of(found[0])
        if term.name not in used:
            used.add(term.name)
            yield nodes.Text(text[start : found.start()])
            yield nodes.raw("", link(term, found[0], uri), format="html")
            start = found.end()
    yield nodes.Text(text[start:])


def link(term: Term, shown: str, uri: str) -> str:
    """The word as a link that a hidden explanation describes."""
    note = f"note-{term.anchor}"
    return (
        f'<a class="lt-term" href="{uri}#{term.anchor}" aria-describedby="{note}">'
        f"{html.escape(shown)}</a>"
        f'<span class="lt-note" id="{note}" role="tooltip" hidden>{html.escape(term.text)}</span>'
    )


def depend_on_the_page(app: Any, doctree: nodes.document) -> None:
    """Read a chapter again when the glossary has changed."""
    app.env.note_dependency(str(PAGE))
